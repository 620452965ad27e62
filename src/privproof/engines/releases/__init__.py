"""Noisy queries of correlated data: exact laws and losses, quilts, and the engine that asks about a release.

Read it in this order: `powers` and `quilts` (Markov quilts on chains), `curves` (bounds on influence), `networks` (quilts on Bayesian
networks), `laws`, `distances` and `losses` (the exact law of a sum, the Wasserstein distance, the exact loss), `engine`.
"""
