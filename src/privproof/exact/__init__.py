"""Exact numbers, used by all other parts and importing `errors` alone: rationals, budgets, rigorous balls, matrices."""

from privproof.exact import frozen_pickling as frozen_pickling
from privproof.exact.budgets import INFINITE, Budget, Epsilon, EpsilonLike, delta, epsilon, log, smallest_epsilon
from privproof.exact.number_texts import show, text
from privproof.exact.rationals import (
    ONE,
    ZERO,
    Number,
    Rational,
    decimal,
    float_refused,
    fraction,
    from_float,
    rational,
    simplest,
)

__all__ = [
    "INFINITE",
    "ONE",
    "ZERO",
    "Budget",
    "Epsilon",
    "EpsilonLike",
    "Number",
    "Rational",
    "decimal",
    "delta",
    "epsilon",
    "float_refused",
    "fraction",
    "from_float",
    "log",
    "rational",
    "show",
    "simplest",
    "smallest_epsilon",
    "text",
]
