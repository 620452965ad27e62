"""The standard normal law in balls."""

from __future__ import annotations

from flint import arb


def normal_below(x: arb) -> arb:
    """The standard normal distribution function."""
    return (-x / arb(2).sqrt()).erfc() / 2


def normal_excess(mu: arb, e: arb) -> arb:
    """The largest ``P(E) - e^e Q(E)`` of two standard normal laws that are mu > 0 apart."""
    return normal_below(mu / 2 - e / mu) - e.exp() * normal_below(-mu / 2 - e / mu)
