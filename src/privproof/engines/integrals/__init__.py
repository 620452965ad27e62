"""Exact probabilities of linear inequalities between independent noises: the one integrator of the engines.

Read it in this order: `functions` (piecewise exponential polynomials of one noise), `leaves` (noises that meet one other),
`differences` and `polyhedra` (what is left), `probabilities` (all of it), `sums` (the same over the integers).
"""
