"""Verdicts that are kept from one run to the next: found by the digest of what was asked, checked again when they are read."""
