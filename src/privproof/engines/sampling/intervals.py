"""What counts say with confidence: bounds on a probability, on epsilon, on delta, and p-values.

An event occurred ``left`` times among ``runs`` runs on one data set and ``right`` times among ``runs`` runs on a neighbour.  The intervals
of Clopper and Pearson (1934) hold at *every* probability and number of runs, without an approximation: with probability at least
``1 - alpha`` both true probabilities lie on the safe side of their bounds, half of alpha being spent on each.  So

    epsilon >= ln((P - delta) / Q)        with P the lower bound on the left, Q the upper bound on the right,
    delta   >= P - e^epsilon Q.

The p-value of an epsilon is the smallest alpha at which it is rejected; a bound at confidence ``1 - alpha`` is therefore the epsilon whose
p-value is alpha.  Whoever looks at k events divides alpha by k, or multiplies the p-values.
"""

from __future__ import annotations

from importlib import import_module
from math import exp, inf, log
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]

_SAFE = 1e-9
"""Every bound is moved outward by this share, more than the rounding of the incomplete beta function."""
_HALVINGS = 90
"""Bisections from [0, 1]: past the precision of doubles, also near zero."""


def _special() -> Any:
    """The incomplete beta functions; loaded when they are first asked for."""
    return import_module("scipy.special")


def at_least(count: ArrayLike, runs: ArrayLike, alpha: ArrayLike) -> Floats:
    """A probability is at least this, with confidence ``1 - alpha``.

    >>> f"{at_least(3, 10, 0.025):.4f}", float(at_least(0, 10, 0.025))
    ('0.0667', 0.0)
    """
    k, n = np.asarray(count, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    found = _special().betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, alpha)
    return np.asarray(np.where(k > 0, found * (1 - _SAFE), 0.0))


def at_most(count: ArrayLike, runs: ArrayLike, alpha: ArrayLike) -> Floats:
    """A probability is at most this, with confidence ``1 - alpha``.

    >>> f"{at_most(3, 10, 0.025):.4f}", float(at_most(10, 10, 0.025))
    ('0.6525', 1.0)
    """
    k, n = np.asarray(count, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    rest = np.maximum(n - k, 1)
    found = _special().betainccinv(n - rest + 1, rest, alpha)
    return np.asarray(np.where(k < n, np.minimum(found * (1 + _SAFE), 1.0), 1.0))


def epsilon_at_least(left: ArrayLike, right: ArrayLike, runs: ArrayLike, alpha: float, delta: float = 0.0) -> Floats:
    """Epsilon is at least this at the given delta, with confidence ``1 - alpha``; zero where the counts say nothing.

    >>> f"{epsilon_at_least(30_000, 10_000, 100_000, 0.05):.4f}"
    '1.0705'
    """
    above = at_least(left, runs, alpha / 2) - delta
    below = at_most(right, runs, alpha / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(above > below, np.log(above / below) - _SAFE, 0.0))


def delta_at_least(left: ArrayLike, right: ArrayLike, runs: ArrayLike, alpha: float, epsilon: float) -> Floats:
    """Delta is at least this at the given epsilon, with confidence ``1 - alpha``; zero where the counts say nothing."""
    above = at_least(left, runs, alpha / 2)
    below = at_most(right, runs, alpha / 2)
    return np.asarray(np.maximum(above - exp(min(epsilon, 700.0)) * (1 + _SAFE) * below - _SAFE, 0.0))


def p_values(left: int, right: int, runs: int, epsilons: ArrayLike, delta: float = 0.0) -> Floats:
    """For every epsilon the p-value of "the mechanism keeps epsilon and delta": the smallest alpha that rejects it.

    With Q the unknown probability on the right, the left one is at most ``e^epsilon Q + delta``.  The p-value is twice the
    two tails where they are equal.

    >>> p_values(30_000, 10_000, 100_000, [1.0, 1.0705, 1.2]).round(3).tolist()
    [0.0, 0.05, 1.0]
    """
    with np.errstate(over="ignore"):
        factor = np.exp(np.atleast_1d(np.asarray(epsilons, dtype=np.float64)))
    low, high = np.zeros_like(factor), np.ones_like(factor)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rising, falling = _tails(left, right, runs, factor, middle, delta)
        go = rising < falling
        low, high = np.where(go, middle, low), np.where(go, high, middle)
    rising, falling = _tails(left, right, runs, factor, high, delta)
    return np.asarray(np.minimum(1.0, 2 * np.maximum(rising, falling)))


def _tails(left: int, right: int, runs: int, factor: Floats, probability: Floats, delta: float) -> tuple[Any, Any]:
    """How likely so many or more are on the left, and so many or fewer on the right."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.minimum(np.nan_to_num(factor * probability, nan=0.0, posinf=1.0) + delta, 1.0)
    rising = _special().betainc(left, runs - left + 1, largest) if left > 0 else np.ones_like(largest)
    falling = _special().betaincc(right + 1, runs - right, probability) if right < runs else np.ones_like(probability)
    return rising, falling


def loss(left: float, right: float) -> float:
    """The logarithm of a ratio of probabilities; infinite where only the right one is zero."""
    if left <= 0:
        return -inf
    return log(left / right) if right > 0 else inf
