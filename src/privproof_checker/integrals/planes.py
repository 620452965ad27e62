"""Planes in the space of some variables, and the cells between them.

A cell is known by a point inside, and cells are compared by rational arithmetic.  To find a point in every cell, the planes that
mention the last variable are solved for it, which gives *marks*, linear in the others; the planes on which two marks agree, and
those without the variable, cut the space of the others into cells on which the order of the marks does not change (a cylindrical
decomposition; Collins, 1975).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import gcd, lcm
from typing import TypeAlias

from flint import fmpq

from privproof_checker.integrals.rings import Work

Plane: TypeAlias = tuple[tuple[tuple[int, int], ...], int]
"""The points where a form with integers without a common divisor is 0; its first coefficient is positive."""

Mark: TypeAlias = tuple[tuple[tuple[int, int], ...], int, int]
"""A form with integers, divided by a positive integer: the end of a segment."""

Point: TypeAlias = dict[int, fmpq]
Side: TypeAlias = tuple[bool, ...]
"""For each plane, whether a point lies above."""


def plane(pairs: Iterable[tuple[int, fmpq]], constant: fmpq) -> tuple[Plane, bool]:
    """The plane on which a form is 0, and whether the form is positive above it."""
    listed = list(pairs)
    below = lcm(int(constant.q), *(int(factor.q) for _, factor in listed))
    whole = {node: int((factor * below).p) for node, factor in listed}
    found = whole_plane(whole, int((constant * below).p))
    return found, whole[found[0][0][0]] > 0


def whole_plane(factors: Mapping[int, int], constant: int) -> Plane:
    """The plane of a form with integers."""
    nodes = sorted(node for node, factor in factors.items() if factor)
    shared = gcd(constant, *(factors[node] for node in nodes))
    if factors[nodes[0]] < 0:
        shared = -shared
    return tuple((node, factors[node] // shared) for node in nodes), constant // shared


def mark_of(plane: Plane, node: int) -> Mark | None:
    """The plane, solved for a node; None if it does not mention it."""
    pairs, constant = plane
    for each, factor in pairs:
        if each == node:
            sign = -1 if factor > 0 else 1
            return tuple((n, sign * f) for n, f in pairs if n != node), sign * constant, abs(factor)
    return None


def order(low: Mark, high: Mark) -> tuple[Plane, bool] | bool:
    """The plane and its side on which a mark is below another; whether it is anywhere, if they are parallel."""
    factors = {node: factor * low[2] for node, factor in high[0]}
    for node, factor in low[0]:
        factors[node] = factors.get(node, 0) - factor * high[2]
    constant = high[1] * low[2] - low[1] * high[2]
    if not any(factors.values()):
        return constant > 0
    found = whole_plane(factors, constant)
    return found, factors[found[0][0][0]] > 0


def value_at(pairs: tuple[tuple[int, int], ...], constant: int, point: Point) -> fmpq:
    """The value of a form with integers at a point."""
    total = fmpq(constant)
    for node, factor in pairs:
        total += point[node] if factor == 1 else -point[node] if factor == -1 else factor * point[node]
    return total


def side_of(planes: Iterable[Plane], point: Point) -> Side:
    """Where a point lies."""
    return tuple([value_at(pairs, constant, point) > 0 for pairs, constant in planes])


def projected(planes: Iterable[Plane], node: int, work: Work) -> tuple[list[Mark], set[Plane]]:
    """The marks of a node, and the planes of the others between which the order of the marks does not change."""
    marks: set[Mark] = set()
    others: set[Plane] = set()
    for each in planes:
        mark = mark_of(each, node)
        if mark is None:
            others.add(each)
        else:
            marks.add(mark)
    ordered = sorted(marks)
    work.count(len(ordered) ** 2)
    for place, one in enumerate(ordered):
        for two in ordered[place + 1 :]:
            if one[0] != two[0] or one[2] != two[2]:
                meeting = order(one, two)
                if not isinstance(meeting, bool):
                    others.add(meeting[0])
    return ordered, others


def segments(marks: Sequence[Mark], point: Point) -> Iterator[tuple[Mark | None, Mark | None, fmpq]]:
    """The segments between the marks in their order at a point: the lower and the upper end, and a number inside."""
    ordered = sorted([(value_at(mark[0], mark[1], point) / mark[2], mark) for mark in marks])
    if not ordered:
        yield None, None, fmpq(0)
        return
    yield None, ordered[0][1], ordered[0][0] - 1
    for low, high in pairwise(ordered):
        assert low[0] < high[0], "the point lies on a plane"
        yield low[1], high[1], (low[0] + high[0]) / 2
    yield ordered[-1][1], None, ordered[-1][0] + 1


def points(scope: Sequence[int], planes: Iterable[Plane], work: Work) -> Iterator[Point]:
    """Points on no plane, at least one in every cell."""
    if not scope:
        yield {}
        return
    marks, others = projected(planes, scope[-1], work)
    for point in points(scope[:-1], others, work):
        work.count(len(marks))
        for _, _, inside in segments(marks, point):
            yield {**point, scope[-1]: inside}
