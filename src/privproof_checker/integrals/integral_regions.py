"""Polyhedra as sets of linear inequalities with integer factors, in real numbers or in integers.

In real numbers only volume counts: ``>=`` and ``>`` are the same, and what has no interior is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import gcd
from typing import TypeAlias

Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""Integer factors by noise, none of them 0, sorted."""
Form: TypeAlias = tuple[Pairs, int, int]
"""Factors without a common divisor and a fraction: their sum is at least 0."""
Region: TypeAlias = frozenset[Form]
Mark: TypeAlias = tuple[Pairs, int, int]
"""A form with integers, divided by a positive integer: a bound of a noise."""

_MOST_FORMS = 300
"""With more inequalities, it is no longer looked whether a polyhedron is empty: it is integrated, and gives 0 if it is."""


def form_of(factors: Mapping[int, int], above: int, below: int, *, whole: bool) -> Form | bool:
    """An inequality in its normal form, or whether it holds if it is about nothing (for real numbers: with room to spare)."""
    pairs = tuple(sorted((node, factor) for node, factor in factors.items() if factor))
    if not pairs:
        return above >= 0 if whole else above > 0
    shared = gcd(*(factor for _, factor in pairs))
    if shared > 1:
        pairs, below = tuple((node, factor // shared) for node, factor in pairs), below * shared
    if below == 1:
        return pairs, above, 1
    if whole:
        return pairs, above // below, 1
    shared = gcd(above, below)
    return pairs, above // shared, below // shared


def region_of(forms: Iterable[Form], *, whole: bool) -> Region | None:
    """The tightest form of each direction; None if two of them exclude each other."""
    tightest: dict[Pairs, Form] = {}
    for form in forms:
        known = tightest.get(form[0])
        if known is None or form[1] * known[2] < known[1] * form[2]:
            tightest[form[0]] = form
    for pairs, above, below in tightest.values():
        if pairs[0][1] > 0:
            other = tightest.get(tuple([(node, -factor) for node, factor in pairs]))
            if other is not None:
                room = above * other[2] + other[1] * below
                if room < 0 or (room == 0 and not whole):
                    return None
    return frozenset(tightest.values())


def _mark(form: Form, node: int, factor: int) -> Mark:
    """The bound of a noise, which has some factor in a form."""
    pairs, above, below = form
    sign = below if factor < 0 else -below
    return tuple([(n, sign * f) for n, f in pairs if n != node]), -above if factor > 0 else above, below * abs(factor)


def bounds(region: Iterable[Form], node: int) -> tuple[list[Mark], list[Mark], list[Form]]:
    """The lower and the upper bounds of a noise, and the forms without it."""
    lowers: list[Mark] = []
    uppers: list[Mark] = []
    others: list[Form] = []
    for form in region:
        for n, factor in form[0]:
            if n == node:
                (lowers if factor > 0 else uppers).append(_mark(form, node, factor))
                break
        else:
            others.append(form)
    return lowers, uppers, others


def order_condition(low: Mark, high: Mark, less: int, *, whole: bool) -> Form | bool:
    """That a mark is at most another one, less a number."""
    factors = {node: factor * low[2] for node, factor in high[0]}
    for node, factor in low[0]:
        factors[node] = factors.get(node, 0) - factor * high[2]
    return form_of(factors, high[1] * low[2] - low[1] * high[2] - less * low[2] * high[2], 1, whole=whole)


def is_hollow(region: Region, *, whole: bool) -> bool:
    """Whether nothing lies on all sides; False also if this takes too long to find out."""
    found: Region | None = region
    while found and len(found) > 2:  # two that do not exclude each other leave room
        sides: dict[int, list[int]] = {}
        for pairs, _, _ in found:
            for node, factor in pairs:
                sides.setdefault(node, [0, 0])[factor > 0] += 1
        free = {node for node, (below, above) in sides.items() if below * above == 0}
        if free:  # nothing bounds these on one side, so that their forms can be met
            found = frozenset(form for form in found if free.isdisjoint([n for n, _ in form[0]]))
            continue
        lowers, uppers, others = bounds(found, min(sides, key=lambda n: (sides[n][0] * sides[n][1] - sum(sides[n]), n)))
        for low, high in product(lowers, uppers):
            between = order_condition(low, high, 0, whole=whole)
            if between is False:
                return True
            if between is not True:
                others.append(between)
        if len(others) > _MOST_FORMS:
            return False
        found = region_of(others, whole=whole)
    return found is None
