"""What counts say with confidence: bounds on a probability and on epsilon.

An event occurred ``left`` times among ``runs`` runs on one data set and ``right`` times among ``runs`` runs on a neighbour.  The intervals
of Clopper and Pearson (1934) hold at *every* probability and number of runs, without an approximation: with probability at least
``1 - alpha`` both true probabilities lie on the safe side of their bounds, half of alpha being spent on each.  So

    epsilon >= ln((P - delta) / Q)        with P the lower bound on the left, Q the upper bound on the right.

They are quick and rank events while an audit searches; what it reports rests on one region for both probabilities (`sampling.regions`).
"""

from __future__ import annotations

from importlib import import_module
from math import inf, log
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]

_TEST_ERRORS = 1.64
"""Standard errors of the test that a bound costs, at 95 per cent."""
SEARCH_ERRORS = 2.0
"""Standard errors of the search that are taken off what it promises: more loses where ratios grow in a tail, less where they do not."""
SAFE = 1e-9
"""Every bound is moved outward by this share, more than the rounding of the incomplete beta function."""


def special() -> Any:
    """The incomplete beta functions; loaded when they are first asked for.  Their inverses are nan at some levels below 1e-100."""
    return import_module("scipy.special")


def at_least(count: ArrayLike, runs: ArrayLike, alpha: ArrayLike) -> Floats:
    """A probability is at least this, with confidence ``1 - alpha``.

    >>> f"{at_least(3, 10, 0.025):.4f}", float(at_least(0, 10, 0.025))
    ('0.0667', 0.0)
    """
    k, n = np.asarray(count, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    found = special().betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, alpha)
    return np.asarray(np.where(k > 0, np.nan_to_num(found, nan=0.0) * (1 - SAFE), 0.0))


def at_most(count: ArrayLike, runs: ArrayLike, alpha: ArrayLike) -> Floats:
    """A probability is at most this, with confidence ``1 - alpha``.

    >>> f"{at_most(3, 10, 0.025):.4f}", float(at_most(10, 10, 0.025))
    ('0.6525', 1.0)
    """
    k, n = np.asarray(count, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    rest = np.maximum(n - k, 1)
    found = special().betainccinv(n - rest + 1, rest, alpha)
    return np.asarray(np.where(k < n, np.minimum(np.nan_to_num(found, nan=1.0) * (1 + SAFE), 1.0), 1.0))


def epsilon_at_least(left: ArrayLike, right: ArrayLike, runs: ArrayLike, alpha: float, delta: float = 0.0) -> Floats:
    """Epsilon is at least this at the given delta, with confidence ``1 - alpha``; zero where the counts say nothing.

    >>> f"{epsilon_at_least(30_000, 10_000, 100_000, 0.05):.4f}"
    '1.0705'
    """
    above = at_least(left, runs, alpha / 2) - delta
    below = at_most(right, runs, alpha / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(above > below, np.log(above / below) - SAFE, 0.0))


def promised_epsilon(left: ArrayLike, right: ArrayLike, errors: float, searched: int, delta: float = 0.0) -> Floats:
    """About the bound on epsilon that fresh runs promise, from counts of a search, less so many standard deviations of one run.

    An event that was chosen among many for its estimate is worth less than that; how much less depends on the runs of the search, and what
    a test can show depends on its own (`errors_of`).  So frequent events are preferred where ratios are equal, and rare ones where theirs
    grow.
    """
    p, q = ((np.asarray(count, dtype=np.float64) + 0.5) / (searched + 1) for count in (left, right))
    above = np.maximum(p - delta, SAFE)
    spread = np.sqrt(p * (1 - p) / above**2 + (1 - q) / q)
    return np.asarray(np.maximum(np.log(above / q) - errors * spread, 0.0))


def promised_jointly(
    left: float, searched: int, right: float, occurrences: float, runs: int, delta: float = 0.0
) -> float:
    """The same where the right probability is known by so many occurrences, of counts and of a model together.

    It is lowered by one error of the search: of the events of a model only a few are tried, and none is chosen for its counts alone.

    Args:
        left: the estimated probability on the left.
        searched: the runs that it rests on.
        right: the estimated probability on the right.
        occurrences: how many occurrences that is worth.
        runs: the runs of the test.
        delta: the delta of the bound.
    """
    above = left - delta
    if above <= 0:
        return 0.0
    likely, unlikely = left * (1 - left) / above**2, (1 - right) / right
    spread, doubt = np.sqrt(likely + unlikely), np.sqrt(likely / searched + 1 / occurrences)
    return max(float(np.log(above / right) - _TEST_ERRORS / np.sqrt(runs) * spread - doubt), 0.0)


def errors_of(searched: int, runs: int, of_search: float) -> float:
    """By how many standard deviations of one run a promise is lowered: for the test, and for so many errors of the search."""
    return float(_TEST_ERRORS / np.sqrt(runs) + of_search / np.sqrt(searched))


def loss(left: float, right: float) -> float:
    """The logarithm of a ratio of probabilities; infinite where only the right one is zero."""
    if left <= 0:
        return -inf
    return log(left / right) if right > 0 else inf
