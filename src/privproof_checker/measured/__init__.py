"""The checker of certificates about other measures than epsilon and delta: zCDP, Gaussian and Rényi differential privacy.

The question holds a measure, values of it, and another question without an epsilon.  Read it in this order: `laws` (two trees of runs as
pairs of laws), `orders` (Rényi divergences), `tradeoffs` (Gaussian differential privacy), `checking` (what is put together from these).
"""
