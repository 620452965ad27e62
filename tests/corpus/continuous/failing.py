"""Functions that fail with a small probability."""

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

# %% a sum with None | refused
@mechanism
def m(x: real()):
    y = laplace(x, scale=1)
    if y > 1000:
        return None + 1
    return 1

# %% a variable without a value | refused
@mechanism
def m(x: real()):
    y = laplace(x, scale=1)
    if y > -1000:
        z = 1
    return z

# %% an argument without a value | refused
def h(a):
    return 1


@mechanism
def m(x: real()):
    y = laplace(x, scale=1)
    if y < 1000:
        z = 1
    return h(z)

# %% a variable without a value on a stream | refused
@mechanism
def m(q: real_stream()):
    t = laplace(0, scale=2)
    for v in q:
        if laplace(v, scale=4) > t - 1000000:
            z = 1
        yield z
