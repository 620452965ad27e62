"""Equal numbers that print differently, and so tell more."""

from fractions import Fraction

from privproof import (
    bernoulli,
    choice,
    exponential_mechanism,
    geometric,
    integer,
    mechanism,
    one_of,
    public,
    queries,
    randomized_response,
    records,
    stream,
    stream_of,
    truncated_geometric,
    uniform,
)
from privproof.language import exponential, laplace, real, real_queries, real_stream

# %% a fraction and a whole number | not proved
@mechanism
def m(x: real()):
    y = laplace(x, scale=1)
    return y > 0, Fraction(1) if x > 0 else 1

# %% a fraction that is computed | not proved
@mechanism
def m(x: real()):
    y = laplace(x, scale=1)
    z = 1
    if x > 0:
        z = Fraction(1, 2) + Fraction(1, 2)
    return y > 0, z
