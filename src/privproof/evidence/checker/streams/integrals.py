"""Balls for the probability that independent Laplace noises satisfy bounds on their differences.

The noises are integrated out one after the other, those with few neighbours first (bucket elimination; Dechter, 1999).
What remains of a noise is a function of its neighbours, and it is *piecewise*: planes ``y_j - y_i = d`` and ``y_i = d``
cut the space into cells, and on a cell the function is a sum of terms ``c * product over i of y_i^m_i e^(r_i y_i)``.  To
integrate a product of such functions over y_s, every plane of the product that mentions y_s is solved for y_s, which
gives *marks* ``y_i + d`` or d.  The planes on which two marks agree, and those without y_s, cut the space of the others
into cells on which the order of the marks does not change (a cylindrical decomposition; Collins, 1975).  There the
integral is the sum, over the segments between adjacent marks, of the antiderivative at the upper mark minus that at the
lower one.

A cell is known by a point inside, and cells are compared by rational arithmetic.  All integrands are products of
densities, so that the segments add up without cancellation, however unlikely the event; within a segment some bits
cancel, and the precision is doubled until enough of them are left.

Three simplifications keep this small.  Lengths are measured in a unit that makes all scales and offsets integers, and
each noise is moved so that as many offsets as possible are 0.  A difference that follows from others is dropped.  Noises
with the same law and the same differences to the same neighbours are integrated once, and the result is raised to a
power.

    >>> one = fmpq(1)
    >>> probability([one, one], [(0, 1, fmpq(0))]).contains(fmpq(1, 2))
    True
    >>> probability([one], [(None, 0, fmpq(1))]).overlaps(arb(-1).exp() / 2)
    True
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, lcm
from operator import add
from typing import TypeAlias

from flint import arb, ctx, fmpq

ORIGIN = -1
"""The node that stands for the constant 0; the other nodes are the positions of the noises."""

MOST_BITS = 16384
"""The precision beyond which the integration gives up."""

_ENOUGH_BITS = 44
"""A probability known to so many bits is exact enough; with fewer it is computed again with twice the precision."""
_MOST_PRODUCTS = 200_000_000
"""Products of terms of one integral; beyond, it is `Unresolved` and the evidence is refused."""
_FEW_TERMS = 3
"""A sum of so few terms is raised to a power by the binomial theorem; a longer one is multiplied out."""
_FEW_NEIGHBOURS = 3
"""Among nodes with equally few neighbours, up to this, the one whose elimination adds fewest links goes first."""

Plane: TypeAlias = tuple[int, int, int]
"""Nodes i < j and a distance d: the points with ``y_j - y_i = d``; they lie below those with ``y_j - y_i > d``."""

Mark: TypeAlias = tuple[int, int]
"""A node i and a distance d: the end ``y_i + d`` of a segment."""

Point: TypeAlias = dict[int, fmpq]
Side: TypeAlias = tuple[bool, ...]
"""For each plane, whether a point lies above."""

Terms: TypeAlias = dict[tuple[int, ...], arb]
"""Coefficients by the rate and the power of each variable, one after the other; rates are in units of the `_Integral`."""

Edges: TypeAlias = dict[tuple[int, int], int]
"""The least value of ``y_high - y_low``, by low and high."""


class Unresolved(ArithmeticError):
    """The probability takes more precision or more work than allowed."""


@dataclass(frozen=True)
class Factor:
    """A piecewise function: on each cell a sum of terms; it is 0 on the cells that are not listed."""

    scope: tuple[int, ...]
    planes: tuple[Plane, ...]
    cells: Mapping[Side, Terms]


@dataclass(frozen=True)
class System:
    """Laplace noises by node, with integer scales and centres, and the least values of their differences."""

    scales: Mapping[int, int]
    centres: Mapping[int, int]
    edges: Edges


def probability(
    scales: Sequence[fmpq], differences: Sequence[tuple[int | None, int | None, fmpq]], bits: int = 256
) -> arb:
    """The probability that independent Laplace noises have ``x_high - x_low >= offset`` for all (low, high, offset).

    The noise at position i has density ``e^(-|x| / b) / (2 b)`` with b the scale at position i; None stands for the
    constant 0.  A difference of a noise with itself holds or not; otherwise ``>=`` means the same as ``>``.

    Args:
        scales: positive numbers.
        differences: triples of low, high and offset.
        bits: the precision to begin with.

    Returns:
        A ball that contains the probability, with a relative error below 2^-40; exactly 0 if there is no solution, or
        only solutions on a plane.

    Raises:
        ValueError: if a scale is not positive or a position does not exist.
        Unresolved: if the precision `MOST_BITS` or a bound on the work does not suffice.
    """
    system = _system(scales, differences)
    if system is None:
        return arb(0)
    while bits <= MOST_BITS:
        with ctx.workprec(bits):
            found = _Integral(system).value()
        if found.rel_accuracy_bits() >= _ENOUGH_BITS:
            return found
        bits *= 2
    raise Unresolved(f"{MOST_BITS} bits do not separate a probability of {len(scales)} noises from 0")


# Simplifying the question


def _system(scales: Sequence[fmpq], differences: Sequence[tuple[int | None, int | None, fmpq]]) -> System | None:
    """The noises that matter, moved and in a unit of their own; None if the probability is 0."""
    if any(scale <= 0 for scale in scales):
        raise ValueError("a scale is not positive")
    offsets: dict[tuple[int, int], fmpq] = {}
    for low, high, offset in differences:
        ends = (ORIGIN if low is None else low, ORIGIN if high is None else high)
        if not all(end is None or 0 <= end < len(scales) for end in (low, high)):
            raise ValueError(f"{low!r} or {high!r} is no position among {len(scales)} noises")
        if ends[0] != ends[1]:
            offsets[ends] = max(offset, offsets.get(ends, offset))
        elif offset > 0:
            return None
    unit = lcm(*(int(value.q) for value in (*scales, *offsets.values())))
    edges = {ends: int((offset * unit).p) for ends, offset in sorted(offsets.items())}
    if _has_cycle(edges):
        return None
    edges = _needed(edges)
    centres = _centres(edges)
    moved = {(low, high): offset + centres.get(high, 0) - centres.get(low, 0) for (low, high), offset in edges.items()}
    return System({node: int((scales[node] * unit).p) for node in centres}, centres, moved)


def _has_cycle(edges: Edges) -> bool:
    """Whether the offsets around some cycle add up to 0 or more.

    With N nodes in all, each offset d becomes ``d * (N + 1) + 1``.  A cycle of n of them with sum s then has the sum
    ``s * (N + 1) + n``, which is positive if and only if s is not negative, and Bellman and Ford's algorithm finds it.
    """
    nodes = {node for ends in edges for node in ends}
    stretched = {ends: offset * (len(nodes) + 1) + 1 for ends, offset in edges.items()}
    least = dict.fromkeys(nodes, 0)
    for _ in range(len(nodes) + 1):
        changed = False
        for (low, high), offset in stretched.items():
            if least[low] + offset > least[high]:
                least[high] = least[low] + offset
                changed = True
        if not changed:
            return False
    return True


def _needed(edges: Edges) -> Edges:
    """The edges that do not follow from others, where the sum around every cycle is negative.

    Among the paths between two nodes with the largest sum, one with the most edges uses none that follows from others; so
    all of these can go at once.
    """
    after: dict[int, list[tuple[int, int]]] = {}
    for (low, high), offset in edges.items():
        after.setdefault(low, []).append((high, offset))
    largest = {node: _largest(node, after) for node in {high for _, high in edges}}
    return {
        (low, high): offset
        for (low, high), offset in edges.items()
        if not any(
            middle != high and high in largest[middle] and first + largest[middle][high] >= offset
            for middle, first in after[low]
        )
    }


def _largest(start: int, after: Mapping[int, list[tuple[int, int]]]) -> dict[int, int]:
    """The largest sum of a path from a node to each node that it reaches, where the sum around every cycle is negative."""
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        low = waiting.popleft()
        for high, offset in after.get(low, ()):
            if high not in found or found[low] + offset > found[high]:
                found[high] = found[low] + offset
                if high not in waiting:
                    waiting.append(high)
    return found


def _centres(edges: Edges) -> dict[int, int]:
    """How far to move each noise, so that the offsets along a spanning forest become 0."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for (low, high), offset in edges.items():
        beside.setdefault(low, []).append((high, -offset))
        beside.setdefault(high, []).append((low, offset))
    centres: dict[int, int] = {}
    for root in sorted(beside.keys() - {ORIGIN}, key=lambda node: (-len(beside[node]), node)):
        if root in centres:
            continue
        centres[root] = 0
        waiting = deque([root])
        while waiting:
            node = waiting.popleft()
            for other, step in sorted(beside[node]):
                if other != ORIGIN and other not in centres:
                    centres[other] = centres[node] + step
                    waiting.append(other)
    return centres


# Planes and cells


def _plane(low: int, high: int, distance: int) -> Plane:
    return (low, high, distance) if low < high else (high, low, -distance)


def _mark(plane: Plane, node: int) -> Mark:
    """The plane, solved for a node."""
    low, high, distance = plane
    return (low, distance) if node == high else (high, -distance)


def _side(planes: Iterable[Plane], point: Point) -> Side:
    return tuple(point[high] - point[low] > distance for low, high, distance in planes)


def _projected(planes: Iterable[Plane], node: int) -> tuple[list[Mark], set[Plane]]:
    """The marks of a node, and the planes of the others between which the order of the marks does not change."""
    marks = set()
    others = set()
    for plane in planes:
        if node in plane[:2]:
            marks.add(_mark(plane, node))
        else:
            others.add(plane)
    ordered = sorted(marks)
    for place, (one, here) in enumerate(ordered):
        others.update(_plane(one, two, here - there) for two, there in ordered[place + 1 :] if one != two)
    return ordered, others


def _segments(marks: Sequence[Mark], point: Point) -> Iterator[tuple[Mark | None, Mark | None, fmpq]]:
    """The segments between the marks in their order at a point: the lower and the upper end, and a number inside."""
    ordered = sorted((point[node] + distance, node, distance) for node, distance in marks)
    if not ordered:
        yield None, None, fmpq(0)
        return
    yield None, ordered[0][1:], ordered[0][0] - 1
    for low, high in pairwise(ordered):
        assert low[0] < high[0], "the point lies on a plane"
        yield low[1:], high[1:], (low[0] + high[0]) / 2
    yield ordered[-1][1:], None, ordered[-1][0] + 1


def _points(scope: Sequence[int], planes: Iterable[Plane]) -> Iterator[Point]:
    """Points on no plane, at least one in every cell."""
    if not scope:
        yield {ORIGIN: fmpq(0)}
        return
    marks, others = _projected(planes, scope[-1])
    for point in _points(scope[:-1], others):
        for _, _, inside in _segments(marks, point):
            yield {**point, scope[-1]: inside}


# Sums of terms


def _add(total: Terms, key: tuple[int, ...], value: arb) -> None:
    known = total.get(key)
    total[key] = value if known is None else known + value


def _power(terms: Terms, exponent: int) -> Terms:
    """The sum of few terms raised to a power, by the binomial theorem."""
    (key, first), *others = terms.items()
    if not others:
        return {tuple(exponent * entry for entry in key): first**exponent}
    total: Terms = {}
    for lower in range(exponent + 1):
        factor = first ** (exponent - lower) * comb(exponent, lower)
        shift = [(exponent - lower) * entry for entry in key]
        for rest, value in _power(dict(others), lower).items():
            _add(total, tuple(map(add, rest, shift)), value * factor)
    return total


class _Integral:
    """The integration at the precision of its time, with a bound on the work."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._unit = lcm(*system.scales.values())
        self._exponentials: dict[int, arb] = {}
        self._products = 0

    def value(self) -> arb:
        """The probability."""
        edges = dict(self._system.edges)
        factors = [self._density(node) for node in self._system.scales]
        beside: dict[int, set[int]] = {node: set() for node in self._system.scales}
        for low, high in edges:
            if low != ORIGIN and high != ORIGIN:
                beside[low].add(high)
                beside[high].add(low)
        alike = self._alike()
        total = arb(1)
        while beside:
            node = min(beside, key=lambda n: (len(beside[n]), _missing(n, beside), n))
            same = [other for other in alike.get(node, ()) if other in alike] or [node]
            touching = [(*ends, offset) for ends, offset in edges.items() if node in ends]
            found = self._eliminated(node, touching, [factor for factor in factors if node in factor.scope])
            if len(same) > 1:
                powers = {side: self._raised(terms, len(same)) for side, terms in found.cells.items()}
                found = Factor(found.scope, found.planes, powers)
            edges = {ends: offset for ends, offset in edges.items() if not set(same) & set(ends)}
            factors = [factor for factor in factors if not set(same) & set(factor.scope)]
            for gone in same:
                del beside[gone]
            for other in found.scope:
                beside[other] |= set(found.scope)
                beside[other] -= {other, *same}
                alike.pop(other, None)
            if found.scope:
                factors.append(found)
            else:
                total *= found.cells[()][()]
        return total

    def _alike(self) -> dict[int, list[int]]:
        """The noises with the same law and the same edges, by each of them."""
        own: dict[int, list[tuple[int, int, int]]] = {node: [] for node in self._system.scales}
        for (low, high), offset in self._system.edges.items():
            if low != ORIGIN:
                own[low].append((1, high, offset))
            if high != ORIGIN:
                own[high].append((-1, low, offset))
        groups: dict[object, list[int]] = {}
        for node, ends in own.items():
            law = (self._system.scales[node], self._system.centres[node])
            groups.setdefault((law, tuple(sorted(ends))), []).append(node)
        return {node: group for group in groups.values() for node in group}

    def _density(self, node: int) -> Factor:
        scale, centre = self._system.scales[node], self._system.centres[node]
        rate = self._unit // scale
        cells: dict[Side, Terms] = {
            (above,): {(sign * rate, 0): self._exponential(-sign * rate * centre) / (2 * scale)}
            for above, sign in ((False, 1), (True, -1))
        }
        return Factor((node,), ((ORIGIN, node, centre),), cells)

    def _exponential(self, numerator: int) -> arb:
        """The exponential of an integer over the unit."""
        if numerator not in self._exponentials:
            self._exponentials[numerator] = arb(fmpq(numerator, self._unit)).exp()
        return self._exponentials[numerator]

    def _eliminated(self, node: int, edges: Sequence[tuple[int, int, int]], factors: Sequence[Factor]) -> Factor:
        """The integral over a node of the product of the factors, where the edges (all of this node) are satisfied."""
        planes = {_plane(*edge) for edge in edges}.union(*(factor.planes for factor in factors))
        near = {end for edge in edges for end in edge[:2]}.union(*(factor.scope for factor in factors))
        rest = tuple(sorted(near - {node, ORIGIN}))
        whole = (node, *rest)
        placed = [_widened(factor, whole) for factor in sorted(factors, key=lambda f: (f.scope, f.planes))]
        marks, others = _projected(planes, node)
        ordered = tuple(sorted(others))
        cells: dict[Side, Terms] = {}
        known: dict[tuple[int, tuple[Side, ...]], Terms] = {}
        for point in _points(rest, ordered):
            side = _side(ordered, point)
            if side in cells:
                continue
            total: Terms = {}
            for low, high, inside in _segments(marks, point):
                here = {**point, node: inside}
                if not all(here[above] - here[below] > offset for below, above, offset in edges):
                    continue
                self._count(len(placed))
                sides = tuple(_side(factor.planes, here) for factor in placed)
                if all(each in factor.cells for each, factor in zip(sides, placed, strict=True)):
                    self._integrate(self._product(placed, sides, 0, known), rest, low, high, total)
            cells[side] = total
        return Factor(rest, ordered, {side: total for side, total in cells.items() if total})

    def _count(self, products: int) -> None:
        self._products += products
        if self._products > _MOST_PRODUCTS:
            raise Unresolved(f"more than {_MOST_PRODUCTS} products of terms are needed")

    def _product(
        self,
        factors: Sequence[Factor],
        sides: tuple[Side, ...],
        start: int,
        known: dict[tuple[int, tuple[Side, ...]], Terms],
    ) -> Terms:
        """The product of factors on one side each, by halves, which are the same for many cells.

        Args:
            factors: all factors.
            sides: the sides of those to multiply.
            start: the position of the first of these.
            known: products of consecutive factors, by the first position and the sides.
        """
        if len(sides) == 1:
            return factors[start].cells[sides[0]]
        if (start, sides) not in known:
            middle = len(sides) // 2
            left = self._product(factors, sides[:middle], start, known)
            right = self._product(factors, sides[middle:], start + middle, known)
            known[start, sides] = self._times(left, right)
        return known[start, sides]

    def _times(self, left: Terms, right: Terms) -> Terms:
        self._count(len(left) * len(right))
        total: Terms = {}
        get = total.get
        for key, value in left.items():
            for other, factor in right.items():
                both = tuple(map(add, key, other))
                known = get(both)
                total[both] = value * factor if known is None else known + value * factor
        return total

    def _raised(self, terms: Terms, exponent: int) -> Terms:
        if len(terms) <= _FEW_TERMS:
            return _power(terms, exponent)
        result = terms
        for _ in range(exponent - 1):
            result = self._times(result, terms)
        return result

    def _integrate(self, terms: Terms, rest: Sequence[int], low: Mark | None, high: Mark | None, total: Terms) -> None:
        """Add the integral over the first variable, between two marks in the others."""
        self._count(len(terms))
        by_rate: dict[tuple[tuple[int, ...], int], dict[int, arb]] = {}
        for key, value in terms.items():
            by_rate.setdefault((key[2:], key[0]), {})[key[1]] = value
        for (others, rate), coefficients in by_rate.items():
            if (low is None and rate <= 0) or (high is None and rate >= 0):
                raise Unresolved("a term does not fall off towards infinity")
            antiderivative = self._antiderivative(rate, coefficients)
            for mark, positive in ((low, False), (high, True)):
                if mark is not None:
                    for key, value in self._at(mark, rate, antiderivative, others, rest):
                        _add(total, key, value if positive else -value)

    def _antiderivative(self, rate: int, coefficients: Mapping[int, arb]) -> list[arb]:
        """The coefficients q of ``e^(r x) * sum of q_k x^k`` with derivative ``e^(r x) * sum of c_k x^k``."""
        degree = max(coefficients)
        given = [coefficients.get(power, arb(0)) for power in range(degree + 1)]
        if rate == 0:
            return [arb(0), *(value / (power + 1) for power, value in enumerate(given))]
        found = [arb(0)] * (degree + 2)
        inverse = arb(fmpq(self._unit, rate))
        for power in range(degree, -1, -1):
            found[power] = (given[power] - (power + 1) * found[power + 1]) * inverse
        return found[:-1]

    def _at(
        self, mark: Mark, rate: int, polynomial: list[arb], others: tuple[int, ...], rest: Sequence[int]
    ) -> Iterator[tuple[tuple[int, ...], arb]]:
        """The terms of ``e^(r x) * sum of q_k x^k`` at a mark, times those of the other variables."""
        node, distance = mark
        factor = self._exponential(rate * distance)
        if node == ORIGIN:
            value = arb(0)
            for coefficient in reversed(polynomial):
                value = value * distance + coefficient
            yield others, value * factor
            return
        place = 2 * rest.index(node)
        for power, coefficient in enumerate(_moved(polynomial, distance)):
            if not coefficient.is_zero():
                middle = (others[place] + rate, others[place + 1] + power)
                yield (*others[:place], *middle, *others[place + 2 :]), coefficient * factor


def _moved(polynomial: list[arb], distance: int) -> list[arb]:
    """The coefficients of a polynomial at x plus a distance, by Horner's rule."""
    if distance == 0:
        return polynomial
    result: list[arb] = []
    for coefficient in reversed(polynomial):
        result = [arb(0), *result]
        for power in range(len(result) - 1):
            result[power] += result[power + 1] * distance
        result[0] += coefficient
    return result


def _missing(node: int, beside: Mapping[int, set[int]]) -> int:
    """How many pairs of neighbours of a node are not neighbours of each other; 0 if it has many neighbours."""
    near = beside[node]
    if len(near) > _FEW_NEIGHBOURS:
        return 0
    return sum(one < two and two not in beside[one] for one in near for two in near)


def _widened(factor: Factor, scope: tuple[int, ...]) -> Factor:
    """The same factor as a function of more variables."""
    if factor.scope == scope:
        return factor
    places = {node: place for place, node in enumerate(factor.scope)}
    chosen = [entry for n in scope for entry in ((2 * places[n], 2 * places[n] + 1) if n in places else (-1, -1))]
    cells = {
        side: {tuple(0 if entry < 0 else key[entry] for entry in chosen): value for key, value in terms.items()}
        for side, terms in factor.cells.items()
    }
    return Factor(scope, factor.planes, cells)
