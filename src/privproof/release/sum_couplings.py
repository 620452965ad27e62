"""Gaussian noise: the delta of a noisy sum, by coupling its laws (general Wasserstein mechanism, Pierquin et al. 2024).

Let mu and nu be the laws of the sum given two values of an entry, and pi any coupling of them.  With discrete Gaussian noise the
released laws are mixtures, with the same weights ``pi(x, y)``, of the noise around x and the noise around y.  The divergence behind
(epsilon, delta), ``H(P, Q) = sum of max(0, P - e^epsilon Q)``, is jointly convex, so

    delta  <=  sum over x, y of  pi(x, y) D(|x - y|),        D(d) = H(noise shifted by d, noise).

Pieces of mass that are moved far count with their mass alone, so that no distance has to hold for all of them (the *delta-near*
distance is the case where D is replaced by 0 up to a distance and by 1 beyond).  On a line the coupling that moves mass in order is
used; it is as good as any for convex costs, and any is sound.

``D(d) = T(k - d) - e^epsilon T(k)`` with T the tails of the noise and k the least whole number above ``epsilon v/d + d/2`` (v the
variance), beyond which the left side is the larger one (Canonne, Kamath and Steinke 2020).

Floats search here; the checker couples exact laws, and encloses D in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, floor, sqrt

import numpy as np

from privproof.release.sum_laws import SumLaws

_REACH = 40.0
"""Tails of the noise are followed for so many standard deviations, where they are below the range of floats."""
_SURELY = 1 + 1e-9
"""What floats find is taken to be larger by this share, more than their rounding; the checker decides."""
_DIGITS = 6
"""A variance is rounded up to so many digits, which spends a millionth of delta or so."""
_HALVINGS = 60
"""Steps of the search for a variance, more than floats have digits."""


@dataclass(frozen=True)
class Moves:
    """How far mass is moved between the laws of two values of an entry.

    Attributes:
        laws: the entry.
        left: a value of it.
        right: the other value.
        chances: for every distance in steps, from 0 on, the mass that is moved so far.
    """

    laws: SumLaws
    left: str
    right: str
    chances: np.ndarray


def all_moves(found: Iterable[SumLaws]) -> list[Moves]:
    """The moves between any two values of every entry, by the coupling in order."""
    result: list[Moves] = []
    for laws in found:
        assert laws.counts is None
        ends, values = np.cumsum(laws.masses, axis=1), laws.values
        pairs = combinations(range(len(values)), 2)
        result += (Moves(laws, values[x], values[y], _moved_masses(ends[x], ends[y])) for x, y in pairs)
    return result


def _moved_masses(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The mass that the coupling in order moves by every distance; cumulative sums are given."""
    cuts = np.union1d(left, right)
    pieces = np.diff(cuts, prepend=0.0)
    ends = len(left) - 1
    here = np.minimum(np.searchsorted(left, cuts, side="left"), ends)
    there = np.minimum(np.searchsorted(right, cuts, side="left"), ends)
    return np.bincount(np.abs(here - there), weights=pieces, minlength=1)


def deltas(variance: float, epsilon: float, furthest: int, *, alone: bool = False) -> np.ndarray:
    """D for all distances up to one, or for that alone, in steps, for a variance in steps."""
    reach = floor(_REACH * sqrt(variance)) + furthest + 2
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    tails = np.cumsum(weights[::-1])[::-1] / weights.sum()

    def tail(number: float) -> float:
        return 0.0 if number > reach else float(tails[max(0, floor(number) + reach)])

    result = np.zeros(furthest + 1)
    for d in range(furthest if alone else 1, furthest + 1):
        first = floor(epsilon * variance / d + d / 2) + 1
        result[d] = max(0.0, tail(first - d) - exp(epsilon) * tail(first))
    return result


def largest_delta(moves: Sequence[Moves], variance: float, epsilon: float, *, finer: int = 1) -> tuple[float, Moves]:
    """The largest bound on delta over all entries and pairs of values, and where it is.

    Args:
        moves: how far mass is moved, in steps of the query.
        variance: of the noise, in its own steps.
        epsilon: the claim.
        finer: how many steps of the noise are one of the query.
    """
    known = deltas(variance, epsilon, (max(len(each.chances) for each in moves) - 1) * finer)[::finer]
    bounds = [float(each.chances @ known[: len(each.chances)]) for each in moves]
    worst = max(range(len(moves)), key=bounds.__getitem__)
    return bounds[worst] * _SURELY, moves[worst]


def least_variance(moves: Sequence[Moves], epsilon: float, delta: float) -> Fraction:
    """A variance, in steps, that is nearly the least for which delta is enough."""

    return bisected_variance(lambda variance: largest_delta(moves, variance, epsilon)[0] <= delta)


def bisected_variance(enough: Callable[[float], bool]) -> Fraction:
    """A variance that is nearly the least for which something holds that holds for all larger ones, from 1/16 on."""
    low, high = 1 / 16, 1.0
    while not enough(high):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
        if high - low <= high * 1e-6:
            break
    digits = 10 ** max(0, _DIGITS - len(str(floor(high))))
    return Fraction(floor(high * digits) + 1, digits)
