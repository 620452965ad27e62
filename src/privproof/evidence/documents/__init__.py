"""Questions as plain data, for the certificate and its checker: one module for each kind of question."""
