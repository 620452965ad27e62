"""Certificates about secrets under a prior with unknown parameters: the question, polynomials and their Bernstein coefficients."""
