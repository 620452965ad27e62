"""The engine of composition: privacy losses of several uses, from curves of each; imports `engines.runs` and `engines.divergences`."""
