"""The checker's own numbers: rationals, balls, epsilons and sums of exponentials, written apart from those of the engines."""

from privproof_checker.numbers.budgets import INFINITE, Epsilon, epsilon, smallest_epsilon
from privproof_checker.numbers.rationals import ONE, ZERO, Rational, fraction, rational

__all__ = [
    "INFINITE",
    "ONE",
    "ZERO",
    "Epsilon",
    "Rational",
    "epsilon",
    "fraction",
    "rational",
    "smallest_epsilon",
]
