"""Gaussian chains: given two values of an entry the series have the same law, shifted.

Given ``X_i = a`` the other entries are jointly normal.  Their covariance does not depend on a, and their means move with it: that of X_j by
its regression coefficient on X_i, the product of the correlations between them.  So one series given ``X_i = a`` and one given
``X_i = b`` can be drawn together such that all entries differ by fixed numbers, and a linear query by their sum: at most

    L  =  distance  times the largest over i and the class of  |sum over j of  c_j w_j r_ij|,

where c_j is 1, or anything from 0 to 1 where entries are cut off at a range.  Every correlation, and every c_j, occurs once in

    R_t = c_t w_t + r_t R_(t+1)        (and the same from the other end),

so interval arithmetic gives the exact range of the sum, in as many steps as there are entries.

Where the variance is at least V and nothing is cut off, what the series vary by themselves counts under Gaussian noise (`own_costs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from privproof.exact import ONE, ZERO, Rational
from privproof.exact.rounding import to_grid
from privproof.release.gaussian_chains import Ends, GaussianChain
from privproof.release.series_queries import Query

_BITS = 1024
"""Once numbers are longer than this they are rounded outwards, to multiples of one over `_UNITS`; before they are exact."""
_UNITS = 1 << 256
"""Far below anything that a step of an answer or a scale of noise depends on, so that rounding costs nothing that is seen."""

Floats: TypeAlias = "np.ndarray"


@dataclass(frozen=True)
class QueryShift:
    """How far the query moves, with the entry that moves it furthest.

    Attributes:
        length: of the series.
        node: the entry.
        distance: the distance, rounded up where numbers are long.
        surely: a distance that is reached, or nearly.
    """

    length: int
    node: int
    distance: Rational
    surely: Rational

    def steps(self, step: Rational) -> int:
        """The most steps that the rounded answer moves."""
        return int((self.distance / step).ceil())

    def least_steps(self, prior: GaussianChain, step: Rational) -> int | None:
        """So many steps it moves in some series or more; None where that is not known: series must vary, or are known at the start.

        Rounded, answers move by one step more from some places; where entries are cut off it is not known that these are reached.
        """
        if prior.variance > 0 or prior.start == "narrower":
            return None
        exact = self.surely / step
        return int(exact.ceil() if prior.values is None else exact.floor())


def largest_shift(prior: GaussianChain, query: Query, lengths: Sequence[int]) -> QueryShift:
    """The entry that moves the query furthest, in series of one of these lengths.

    >>> from privproof.release.series_queries import linear
    >>> largest_shift(GaussianChain.of("1/2", distance=10), linear(), [5])
    QueryShift(length=5, node=3, distance=25, surely=25)
    """
    worst, where, length = -ONE, 0, 0
    exact = True
    for each in sorted(set(lengths), reverse=True):
        seen: set[tuple[Ends, Ends]] = set()
        weights = _weights(query, each)
        sides, kept = _sides(prior, query, each)
        exact = exact and kept
        for node, (left, right) in enumerate(sides, 1):
            if (left, right) in seen and len(query.coefficients) == 1:
                continue
            seen.add((left, right))
            low, high = _own(weights[node - 1], cut=prior.values is not None)
            most = max(high + left[1] + right[1], -low - left[0] - right[0])
            if most > worst:
                worst, where, length = most, node, each
    slack = ZERO if exact else Rational(2 * length, _UNITS)
    return QueryShift(length, where, worst * prior.distance, (worst - slack) * prior.distance)


def _weights(query: Query, length: int) -> tuple[Rational, ...]:
    return query.coefficients * length if len(query.coefficients) == 1 else query.coefficients


def _sides(prior: GaussianChain, query: Query, length: int) -> tuple[list[tuple[Ends, Ends]], bool]:
    """For every entry the ranges of what those before it, and those after it, add when it moves by one; and whether these are exact."""
    weights, steps = _weights(query, length), list(prior.bounds(length))
    before = [_with_zero(ends) for ends in steps] if prior.start == "narrower" else steps
    cut = prior.values is not None
    left, exact = _ladder(weights[:-1], before, cut=cut)
    right, too = _ladder(weights[:0:-1], steps[::-1], cut=cut)
    return list(zip(left, right[::-1], strict=True)), exact and too


def _ladder(weights: Sequence[Rational], steps: Sequence[Ends], *, cut: bool) -> tuple[list[Ends], bool]:
    """The ranges of ``r_t R_t`` with ``R_t = c_t w_t + r_(t-1) R_(t-1)``, beginning with that of nothing."""
    found: list[Ends] = [(ZERO, ZERO)]
    alike, exact = len({*weights}) == len({*steps}) == 1, True
    for number, (weight, step) in enumerate(zip(weights, steps, strict=True)):
        low, high = found[-1]
        own = _own(weight, cut=cut)
        ends = _times(step, (low + own[0], high + own[1]))
        exact = exact and max(int(end.q).bit_length() for end in ends) <= _BITS
        if not exact:
            ends = to_grid(ends[0], up=False, parts=_UNITS), to_grid(ends[1], up=True, parts=_UNITS)
        if alike and ends == found[-1]:
            return found + [ends] * (len(weights) - number), exact
        found.append(ends)
    return found, exact


def _own(weight: Rational, *, cut: bool) -> Ends:
    return _with_zero((weight, weight)) if cut else (weight, weight)


def _times(one: Ends, other: Ends) -> Ends:
    products = [a * b for a in one for b in other]
    return min(products), max(products)


def _with_zero(ends: Ends) -> Ends:
    return min(ends[0], ZERO), max(ends[1], ZERO)


@dataclass(frozen=True)
class OwnNoise:
    """For every entry how far it moves the query, and how much the query varies given it, as floats.

    Attributes:
        moved: the distances.
        variances: of the query given the entry, at least.
    """

    moved: Floats
    variances: Floats

    def rho(self, variance: float, step: float) -> float:
        """The largest Rényi divergence, as a multiple of its order, with Gaussian noise of a variance.

        Noise covers k steps of the distance d, and the series themselves the rest:
        ``(d - k step)^2 / 2s^2 + (k step)^2 / 2 variance``, the first of which is nothing where k steps are enough.
        """
        most = np.ceil(self.moved / step)
        share = np.floor(self.moved * (variance / (variance + self.variances)) / step)
        covered = np.where(self.variances > 0, np.minimum(share, most), most) * step
        rest = np.maximum(self.moved - covered, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(rest > 0, rest**2 / (2 * self.variances), 0.0)
        return float(np.max(own + covered**2 / (2 * variance)))


def own_noise(prior: GaussianChain, query: Query, lengths: Sequence[int]) -> OwnNoise | None:
    """What the series vary by themselves; None where that does not count: a range cuts them off, or no variance is stated."""
    if prior.variance == 0 or prior.values is not None:
        return None
    moved: list[float] = []
    variances: list[float] = []
    for length in sorted(set(lengths)):
        weights, steps = [float(w) for w in _weights(query, length)], list(prior.bounds(length))
        sides, _ = _sides(prior, query, length)
        left = _least_variances([side[0] for side in sides], weights, steps)
        right = _least_variances([side[1] for side in sides][::-1], weights[::-1], steps[::-1])[::-1]
        if prior.start == "narrower":
            left = [0.0] * length
        for own, (low, high), one, other in zip(
            weights, ((a[0] + b[0], a[1] + b[1]) for a, b in sides), left, right, strict=True
        ):
            moved.append(float(prior.distance) * max(own + float(high), -own - float(low)))
            variances.append(float(prior.variance) * (one + other))
    return OwnNoise(np.array(moved), np.array(variances))


def _least_variances(ladder: Sequence[Ends], weights: Sequence[float], steps: Sequence[Ends]) -> list[float]:
    """For every entry the least variance, where an entry has 1, of what all before it add given it."""
    found = [0.0]
    for (low, high), weight, step in zip(ladder, weights, steps, strict=False):
        ends = float(low) + weight, float(high) + weight
        least = 0.0 if ends[0] <= 0 <= ends[1] else min(abs(ends[0]), abs(ends[1]))
        most = max(abs(float(step[0])), abs(float(step[1])))
        found.append(found[-1] + (1 - most * most) * least * least)
    return found
