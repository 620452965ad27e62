"""The mechanism language: mechanisms as Python functions, their inputs, their noise, and the representation of their source.

Imports `exact` and nothing else of the package.
"""

from privproof.language.inputs import (
    Input,
    integer,
    one_of,
    public,
    queries,
    real,
    real_queries,
    real_stream,
    records,
    stream,
    stream_of,
)
from privproof.language.mechanism import Mechanism, mechanism
from privproof.language.noise import (
    NOISES,
    bernoulli,
    choice,
    exponential,
    exponential_mechanism,
    geometric,
    laplace,
    randomized_response,
    truncated_geometric,
    uniform,
)
from privproof.language.priors import Prior, prior
from privproof.language.randomness import seeded

__all__ = [
    "NOISES",
    "Input",
    "Mechanism",
    "Prior",
    "bernoulli",
    "choice",
    "exponential",
    "exponential_mechanism",
    "geometric",
    "integer",
    "laplace",
    "mechanism",
    "one_of",
    "prior",
    "public",
    "queries",
    "randomized_response",
    "real",
    "real_queries",
    "real_stream",
    "records",
    "seeded",
    "stream",
    "stream_of",
    "truncated_geometric",
    "uniform",
]
