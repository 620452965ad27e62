"""Functions that are proved at an epsilon, and at no smaller one."""

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

# %% a sum | proved at 1/2
@mechanism(neighbours="one")
def m(q: real_queries()):
    return laplace(sum(q), scale=2)

# %% two numbers | proved at 5/4
@mechanism
def m(x: real(), y: real(sensitivity=2)):
    yield laplace(x, scale=4)
    yield laplace(x + y, scale=3)

# %% a threshold | proved at 1/2
@mechanism
def m(q: real_queries(size=2)):
    limit = laplace(0, scale=2)
    for value in q:
        if laplace(value, scale=4) >= limit:
            yield True
            return
        yield False

# %% a histogram | proved at 1/2
@mechanism(neighbours="one")
def m(q: queries(sensitivity=2)):
    for value in q:
        yield laplace(value, scale=4)

# %% the larger | proved at 1
@mechanism
def m(x: real(), y: real()):
    return laplace(x, scale=2) > laplace(y, scale=2)
