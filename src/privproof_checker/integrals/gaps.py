"""Conditions ``x_j - x_i >= c`` on noises, and on one noise, as the largest gaps that follow from them.

Between any two noises, 0 among them, the conditions imply a largest gap: the longest path.  Conditions with the same largest gaps hold
for the same noises.  A gap that is the sum of two others need not be said.  Two sets of noises whose gaps are those of a third, once with
``x_j - x_i >= c`` and once with ``x_i - x_j >= -c``, are together the third, but for a set of measure 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from privproof_checker.numbers import ZERO, Rational

NOUGHT = -1
"""Stands for 0 among the noises."""

Gaps: TypeAlias = dict[tuple[int, int], Rational]
"""``(i, j): c`` for ``x_j - x_i >= c``, the largest that follows."""


def largest_gaps(inequalities: Iterable[tuple[dict[int, Rational], Rational]]) -> Gaps | None:
    """The largest gaps that follow; None where an inequality is about something else than a difference."""
    found: Gaps = {}
    for factors, constant in inequalities:
        kept = {j: c for j, c in factors.items() if c != 0}
        above = [j for j, c in kept.items() if c > 0]
        under = [j for j, c in kept.items() if c < 0]
        size = {abs(c) for c in kept.values()}
        if not kept or len(above) > 1 or len(under) > 1 or len(size) != 1:
            return None
        pair = (under[0] if under else NOUGHT, above[0] if above else NOUGHT)
        gap = -constant / size.pop()
        found[pair] = max(gap, found.get(pair, gap))
    return _extend_gaps(found)


def _extend_gaps(gaps: Gaps) -> Gaps:
    found = dict(gaps)
    for middle in {node for pair in gaps for node in pair}:
        for (i, a), one in list(found.items()):
            if a != middle:
                continue
            for (b, j), two in list(found.items()):
                if b == middle and ((i, j) not in found or found[i, j] < one + two):
                    found[i, j] = one + two
    return found


def is_void(gaps: Gaps) -> bool:
    """Whether no noises satisfy them, or only a set of measure 0."""
    return any(gap >= 0 if i == j else gap + gaps.get((j, i), -gap - 1) >= 0 for (i, j), gap in gaps.items())


def needed_inequalities(gaps: Gaps) -> list[tuple[dict[int, Rational], Rational]]:
    """Inequalities from which all gaps follow, none of them from two others; the gaps are not void."""
    nodes = {node for pair in gaps for node in pair}
    found = []
    for (i, j), gap in gaps.items():
        ways = (gaps[i, k] + gaps[k, j] for k in nodes - {i, j} if (i, k) in gaps and (k, j) in gaps)
        if i != j and all(way != gap for way in ways):
            found.append(({node: f for node, f in ((j, Rational(1)), (i, Rational(-1))) if node != NOUGHT}, -gap))
    return found


def union_of(one: Gaps, two: Gaps) -> Gaps | None:
    """The gaps of two sets together, where these are the halves of one."""
    whole = {pair: min(gap, two[pair]) for pair, gap in one.items() if pair in two}
    for (i, j), gap in one.items():
        if i != j and two.get((j, i)) == -gap and whole.get((i, j)) != gap:
            halves = (_extend_gaps({**whole, (i, j): gap}), _extend_gaps({**whole, (j, i): -gap}))
            if _same(halves[0], one) and _same(halves[1], two):
                return whole
    return None


def _same(one: Gaps, two: Gaps) -> bool:
    """Whether gaps between different noises are the same; from a noise to itself a gap says nothing unless it is above 0."""
    return all(
        {pair: gap for pair, gap in each.items() if pair[0] != pair[1]}
        == {pair: gap for pair, gap in one.items() if pair[0] != pair[1]}
        for each in (one, two)
    ) and all(each.get((k, k), ZERO) <= 0 for each in (one, two) for k, _ in each)


def unions(sets: list[Gaps]) -> list[Gaps]:
    """Disjoint sets of noises with the same union, fewer where some fit."""
    left = [gaps for gaps in sets if not is_void(gaps)]
    number = 0
    while number < len(left):
        for other in range(number):
            whole = union_of(left[other], left[number])
            if whole is not None:
                left = [gaps for k, gaps in enumerate(left) if k not in (other, number)] + [whole]
                number = -1
                break
        number += 1
    return left
