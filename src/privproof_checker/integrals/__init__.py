"""The integrator of the checker: probabilities of linear inequalities between independent Laplace and exponential noises.

Read it in this order: `rings` (where coefficients live), `planes` (cells between planes), `buckets` (noises are integrated out one
after the other), `polyhedra` (the same for dense inequalities), `probabilities` (all of it, exactly), `differences` (bounds on
differences, as balls).
"""
