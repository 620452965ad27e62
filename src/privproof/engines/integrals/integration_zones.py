"""Zones: sets of noises that are bounded by differences, ``x_i - x_j <= b`` and ``x_i <= b``; what follows is dropped, what fits is joined.

A zone is kept by the least bound of every difference (the shortest paths of a graph; a further node stands for 0), which is unique.  A
bound that follows from two others says nothing.  Two zones that are the halves of a third, on both sides of ``x_i - x_j = b``, are that
zone, but for a set of measure 0: so the orders in which a loop meets its values are put together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from privproof.engines.integrals.integral_enclosures import FormCondition
from privproof.exact import ONE, ZERO, Rational

Bound: TypeAlias = "Rational | None"
"""None for no bound."""


@dataclass(frozen=True)
class Zone:
    """A set of noises by the least bounds of all differences; the last row and column are for 0."""

    bounds: tuple[tuple[Bound, ...], ...]

    @property
    def empty(self) -> bool:
        """Whether it has measure 0."""
        return any(
            b is not None and (back := self.bounds[j][i]) is not None and b + back <= 0
            for i, row in enumerate(self.bounds)
            for j, b in enumerate(row)
            if i != j
        )

    def conditions(self) -> list[FormCondition]:
        """Those of its bounds that do not follow from others, as conditions."""
        last = len(self.bounds) - 1
        found = []
        for i, j in product(range(last + 1), repeat=2):
            bound = self.bounds[i][j]
            if i == j or bound is None:
                continue
            if any(k not in (i, j) and _sum(self.bounds[i][k], self.bounds[k][j]) == bound for k in range(last + 1)):
                continue
            found.append(FormCondition({atom: f for atom, f in ((i, -ONE), (j, ONE)) if atom != last}, bound))
        return found

    def bounded(self, i: int, j: int, bound: Rational) -> Zone:
        """The part of it with ``x_i - x_j <= bound``."""
        rows = [list(row) for row in self.bounds]
        rows[i][j] = _least(rows[i][j], bound)
        return _close_bounds(rows)


def zone_of(count: int, conditions: Iterable[FormCondition]) -> Zone | None:
    """The zone of some conditions on so many noises; None where one of them bounds no difference."""
    rows: list[list[Bound]] = [[ZERO if i == j else None for j in range(count + 1)] for i in range(count + 1)]
    for condition in conditions:
        factors = {atom: f for atom, f in condition.factors.items() if f != 0}
        if not 1 <= len(factors) <= 2 or (len(factors) == 2 and sum(factors.values(), ZERO) != 0):
            return None
        low = next((atom for atom, f in factors.items() if f > 0), count)
        high = next((atom for atom, f in factors.items() if f < 0), count)
        bound = condition.constant / abs(next(iter(factors.values())))  # x_low - x_high + bound >= 0
        rows[high][low] = _least(rows[high][low], bound)
    return _close_bounds(rows)


def join_zones(one: Zone, two: Zone) -> Zone | None:
    """The union of two zones, where it is one, but for a set of measure 0."""
    size = len(one.bounds)
    hull = Zone(
        tuple(
            tuple(None if a is None or b is None else max(a, b) for a, b in zip(*rows, strict=True))
            for rows in zip(one.bounds, two.bounds, strict=True)
        )
    )
    for i, j in product(range(size), repeat=2):
        bound, back = one.bounds[i][j], two.bounds[j][i]
        if i == j or bound is None or back is None or bound != -back or hull.bounds[i][j] == bound:
            continue
        if hull.bounded(i, j, bound) == one and hull.bounded(j, i, back) == two:
            return hull
    return None


def all_joined(zones: Sequence[Zone]) -> list[Zone]:
    """Disjoint zones with the same union, fewer where some fit."""
    left = [zone for zone in zones if not zone.empty]
    while True:
        for a, one in enumerate(left):
            found = next(((b, whole) for b in range(a + 1, len(left)) if (whole := join_zones(one, left[b]))), None)
            if found is not None:
                b, whole = found
                left = [whole, *(zone for k, zone in enumerate(left) if k not in (a, b))]
                break
        else:
            return left


def _sum(one: Bound, two: Bound) -> Bound:
    return None if one is None or two is None else one + two


def _least(one: Bound, two: Bound) -> Bound:
    if one is None or two is None:
        return two if one is None else one
    return min(one, two)


def _close_bounds(rows: list[list[Bound]]) -> Zone:
    """The least bounds of all differences."""
    for k, i in product(range(len(rows)), repeat=2):
        through = rows[i][k]
        if through is None:
            continue
        for j in range(len(rows)):
            rows[i][j] = _least(rows[i][j], _sum(through, rows[k][j]))
    return Zone(tuple(map(tuple, rows)))
