"""Mechanisms for locations: the triangle inequality, comparisons of all sites, densities at one output.

Read it in this order: `findings`, `comparing` (finitely many sites), `densities` (the plane), `certificates`, `engine`.
"""
