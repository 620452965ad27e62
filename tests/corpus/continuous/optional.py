"""Values that may be None, shown."""

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

# %% a value that may be None beside whether it is | agrees
@mechanism
def m(x: real()):
    y = laplace(x, scale=1)
    best = None
    if y > 0:
        best = y
    return best is None, best

# %% several outputs, some of them None | agrees
@mechanism
def m(x: real()):
    best = None
    yield best
    y = laplace(x, scale=1)
    if y > 0:
        best = y
    yield best
    yield 'end'
