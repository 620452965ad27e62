"""The engine of other measures than epsilon and delta: Rényi divergences, zCDP, Gaussian differential privacy; imports `engines.runs`."""
