"""Integrals of products of densities over polyhedra, one variable after the other.

Variables with few neighbours go first (bucket elimination; Dechter, 1999).  What remains of a variable is a function of its
neighbours, and it is *piecewise*: planes cut the space into cells, and on a cell the function is a sum of terms
``c * product over i of y_i^m_i e^(r_i y_i)``.  To integrate a product of such functions over y_s, every plane of the product that
mentions y_s is solved for y_s, which gives marks, and the space of the others is cut into cells on which their order does not
change.  There the integral is the sum, over the segments between adjacent marks, of the antiderivative at the upper mark minus
that at the lower one.  The probability is 0 exactly if no cell is left.

All integrands are products of densities, so that the segments add up without cancellation, however unlikely the event; within a
segment some bits of a ball cancel.  Noises with the same law and the same planes are integrated once, and the result is raised to a
power.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, lcm
from operator import add
from typing import Generic, TypeAlias

from flint import fmpq

from privproof_checker.integrals.planes import (
    Mark,
    Plane,
    Side,
    points,
    projected,
    segments,
    side_of,
    value_at,
    whole_plane,
)
from privproof_checker.integrals.rings import K, Ring, Unresolved, Work

_FEW_TERMS = 3
"""A sum of so few terms is raised to a power by the binomial theorem; a longer one is multiplied out."""
_FEW_NEIGHBOURS = 3
"""Among nodes with equally few neighbours, up to this, the one whose elimination adds fewest links goes first."""

Terms: TypeAlias = dict[tuple[int, ...], K]
"""Coefficients by the rate and the power of each variable, one after the other; rates are in units of the `Integral`."""


@dataclass(frozen=True)
class System:
    """Noises with their kind, scale and centre by node, and planes that they must lie above (True) or below."""

    laws: Mapping[int, tuple[str, fmpq, fmpq]]
    inside: Mapping[Plane, bool]


@dataclass(frozen=True)
class Factor(Generic[K]):
    """A piecewise function: on each cell a sum of terms; it is 0 on the cells that are not listed."""

    scope: tuple[int, ...]
    planes: tuple[Plane, ...]
    cells: Mapping[Side, Terms[K]]


class Integral(Generic[K]):
    """The integration of one system."""

    def __init__(self, system: System, ring: Ring[K], work: Work) -> None:
        self._system = system
        self._ring: Ring[K] = ring
        self._work = work
        self._unit = lcm(*(int(scale.p) for _, scale, _ in system.laws.values()))
        self._exponentials: dict[tuple[int, int], K] = {}
        self._zero: K = ring.number(fmpq(0))
        self._one: K = ring.number(fmpq(1))

    def value(self) -> K:
        """The probability."""
        inside = dict(self._system.inside)
        factors: list[Factor[K]] = [self.density(node) for node in self._system.laws]
        beside: dict[int, set[int]] = {node: set() for node in self._system.laws}
        for pairs, _ in inside:
            for node, _ in pairs:
                beside[node].update(other for other, _ in pairs if other != node)
        alike = self._alike()
        total = self._one
        while beside:
            node = _cheapest(beside, inside, factors)
            same: set[int] = {other for other in alike.get(node, ()) if other in alike} or {node}
            touching = {each: above for each, above in inside.items() if any(n == node for n, _ in each[0])}
            found = self._eliminated(node, touching, factors)
            if len(same) > 1:
                powers = {side: self._raised(terms, len(same)) for side, terms in found.cells.items()}
                found = Factor(found.scope, found.planes, powers)
            if not found.cells:
                return self._zero
            inside = {each: above for each, above in inside.items() if not any(n in same for n, _ in each[0])}
            factors = [factor for factor in factors if same.isdisjoint(factor.scope)]
            for gone in same:
                del beside[gone]
            for other in found.scope:
                beside[other].update(found.scope)
                beside[other] -= {other, *same}
                alike.pop(other, None)
            if found.scope:
                factors.append(found)
            else:
                total = total * found.cells[()][()]
        return total

    def _alike(self) -> dict[int, list[int]]:
        """The noises with the same law and the same planes, by each of them."""
        own: dict[int, list[object]] = {node: [] for node in self._system.laws}
        for (pairs, constant), above in self._system.inside.items():
            for node, factor in pairs:
                sign = 1 if factor > 0 else -1
                rest = tuple((n, sign * f) for n, f in pairs if n != node)
                own[node].append((abs(factor), rest, sign * constant, above == (factor > 0)))
        groups: dict[object, list[int]] = {}
        for node, planes in own.items():
            groups.setdefault((self._system.laws[node], frozenset(planes)), []).append(node)
        return {node: group for group in groups.values() for node in group}

    def density(self, node: int) -> Factor[K]:
        """The density of a noise, in the unit of the moment."""
        kind, scale, centre = self._system.laws[node]
        rate = int((self._unit / scale).p)
        sides = ((True, -1),) if kind == "exponential" else ((False, 1), (True, -1))
        cells: dict[Side, Terms[K]] = {
            (above,): {
                (sign * rate, 0): self._exponential(-sign * rate * int(centre.p), int(centre.q))
                * (1 / (len(sides) * scale))
            }
            for above, sign in sides
        }
        return Factor((node,), (whole_plane({node: int(centre.q)}, -int(centre.p)),), cells)

    def refine(self, times: int) -> None:
        """Measure rates in a unit so many times smaller; those of terms must be made `finer`."""
        self._unit *= times
        self._exponentials.clear()

    def _exponential(self, numerator: int, below: int = 1) -> K:
        """The exponential of a fraction of the unit."""
        key = (numerator, below)
        if key not in self._exponentials:
            self._exponentials[key] = self._ring.exponential(fmpq(numerator, below * self._unit))
        return self._exponentials[key]

    def _eliminated(self, node: int, inside: Mapping[Plane, bool], everything: list[Factor[K]]) -> Factor[K]:
        """The integral over a node of the product of its factors, on the sides of planes, all of which mention it.

        Rates are made finer where a mark has fractions, in all the factors.
        """
        planes = set(inside).union(*(factor.planes for factor in everything if node in factor.scope))
        marks, others = projected(planes, node, self._work)
        times = lcm(*(mark[2] for mark in marks))
        if times > 1:
            self.refine(times)
            everything[:] = [finer(factor, times) for factor in everything]
        factors = [factor for factor in everything if node in factor.scope]
        near = {n for pairs, _ in inside for n, _ in pairs}.union(*(factor.scope for factor in factors))
        rest: tuple[int, ...] = tuple(sorted(near - {node}))
        placed = [widened(factor, (node, *rest)) for factor in sorted(factors, key=lambda f: (f.scope, f.planes))]
        ordered = tuple(sorted(others))
        sides = list(inside.items())
        cells: dict[Side, Terms[K]] = {}
        known: dict[tuple[int, tuple[Side, ...]], Terms[K]] = {}
        for point in points(rest, ordered, self._work):
            self._work.count(len(ordered))
            side = side_of(ordered, point)
            if side in cells:
                continue
            total: Terms[K] = {}
            for low, high, middle in segments(marks, point):
                here = {**point, node: middle}
                if any((value_at(*each, here) > 0) != above for each, above in sides):
                    continue
                self._work.count(len(placed))
                chosen = tuple(side_of(factor.planes, here) for factor in placed)
                if all(each in factor.cells for each, factor in zip(chosen, placed, strict=True)):
                    self.integrate(self._product(placed, chosen, 0, known), rest, low, high, total)
            cells[side] = total
        return Factor(rest, ordered, {side: total for side, total in cells.items() if total})

    def _product(
        self,
        factors: Sequence[Factor[K]],
        sides: tuple[Side, ...],
        start: int,
        known: dict[tuple[int, tuple[Side, ...]], Terms[K]],
    ) -> Terms[K]:
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
            known[start, sides] = self.product(left, right)
        return known[start, sides]

    def product(self, left: Terms[K], right: Terms[K]) -> Terms[K]:
        """The product of two sums of terms in the same variables."""
        self._work.count(len(left) * len(right))
        total: Terms[K] = {}
        get = total.get
        for key, value in left.items():
            for other, factor in right.items():
                both = tuple(map(add, key, other))
                known = get(both)
                total[both] = value * factor if known is None else known + value * factor
        self._measure(total)
        return total

    def _measure(self, terms: Terms[K]) -> None:
        self._work.count(sum(map(self._ring.size, terms.values())) - len(terms))

    def _raised(self, terms: Terms[K], exponent: int) -> Terms[K]:
        if len(terms) <= _FEW_TERMS:
            return self._power(terms, exponent)
        result = terms
        for _ in range(exponent - 1):
            result = self.product(result, terms)
        return result

    def _power(self, terms: Terms[K], exponent: int) -> Terms[K]:
        """The sum of few terms raised to a power, by the binomial theorem."""
        key, first = next(iter(terms.items()))
        others: Terms[K] = {other: terms[other] for other in terms if other != key}
        if not others:
            return {tuple([exponent * entry for entry in key]): self._ring.power(first, exponent)}
        total: Terms[K] = {}
        for lower in range(exponent + 1):
            factor = self._ring.power(first, exponent - lower) * comb(exponent, lower)
            shift = [(exponent - lower) * entry for entry in key]
            for rest, value in self._power(others, lower).items():
                _add(total, tuple(map(add, rest, shift)), value * factor)
        return total

    def integrate(
        self, terms: Terms[K], rest: Sequence[int], low: Mark | None, high: Mark | None, total: Terms[K]
    ) -> None:
        """Add the integral over the first variable, between two marks in the others."""
        self._work.count(len(terms))
        by_rate: dict[tuple[tuple[int, ...], int], dict[int, K]] = {}
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
        self._measure(total)

    def _antiderivative(self, rate: int, coefficients: Mapping[int, K]) -> list[K]:
        """The coefficients q of ``e^(r x) * sum of q_k x^k`` with derivative ``e^(r x) * sum of c_k x^k``."""
        degree, zero = max(coefficients), self._zero
        given: list[K] = [coefficients.get(power, zero) for power in range(degree + 1)]
        if rate == 0:
            found = [zero]
            found.extend(value * fmpq(1, power + 1) for power, value in enumerate(given))
            return found
        found = [zero] * (degree + 2)
        inverse = self._ring.number(fmpq(self._unit, rate))
        for power in range(degree, -1, -1):
            found[power] = (given[power] - (power + 1) * found[power + 1]) * inverse
        return found[:-1]

    def _at(
        self, mark: Mark, rate: int, polynomial: list[K], others: tuple[int, ...], rest: Sequence[int]
    ) -> Iterator[tuple[tuple[int, ...], K]]:
        """The terms of ``e^(r x) * sum of q_k x^k`` at a mark, times those of the other variables."""
        pairs, constant, below = mark
        factor = self._exponential(rate * constant, below)
        distance = constant if below == 1 else fmpq(constant, below)
        if not pairs:
            value = self._zero
            for coefficient in reversed(polynomial):
                value = value * distance + coefficient
            yield others, value * factor
            return
        moved = _moved(polynomial, distance)
        if len(pairs) == 1 and pairs[0][1] == below:
            place: int = 2 * rest.index(pairs[0][0])
            own, degree = others[place : place + 2]
            for power, coefficient in enumerate(moved):
                if not self._ring.vanishes(coefficient):
                    yield (*others[:place], own + rate, degree + power, *others[place + 2 :]), coefficient * factor
            return
        base = list(others)
        places = [2 * rest.index(node) for node, _ in pairs]
        for here, (_, slope) in zip(places, pairs, strict=True):
            base[here] += rate * slope // below
        slopes = [slope if below == 1 else fmpq(slope, below) for _, slope in pairs]
        for power, coefficient in enumerate(moved):
            if not self._ring.vanishes(coefficient):
                value = coefficient * factor
                for powers, times in _spread(slopes, power):
                    key = list(base)
                    for here, more in zip(places, powers, strict=True):
                        key[here + 1] += more
                    yield tuple(key), value if times == 1 else value * times


# Sums of terms


def _add(total: Terms[K], key: tuple[int, ...], value: K) -> None:
    known = total.get(key)
    total[key] = value if known is None else known + value


def _moved(polynomial: list[K], distance: int | fmpq) -> list[K]:
    """The coefficients of a polynomial at x plus a distance, by Horner's rule."""
    if distance == 0:
        return polynomial
    result: list[K] = []
    for coefficient in reversed(polynomial):
        result.insert(0, coefficient)
        for power in range(len(result) - 1):
            result[power] = result[power] + result[power + 1] * distance
    return result


def _spread(slopes: Sequence[int | fmpq], degree: int) -> Iterator[tuple[tuple[int, ...], int | fmpq]]:
    """The power of a linear form without a constant: powers of the variables, and coefficients."""
    slope, *others = slopes
    if not others:
        yield (degree,), slope**degree
        return
    for first in range(degree + 1):
        times = comb(degree, first) * slope**first
        for rest, factor in _spread(others, degree - first):
            yield (first, *rest), times * factor


def _cheapest(beside: Mapping[int, set[int]], inside: Iterable[Plane], factors: Iterable[Factor[K]]) -> int:
    """The node with the fewest neighbours; among several the one in the fewest planes."""
    least = min(map(len, beside.values()))
    nodes = [node for node, near in beside.items() if len(near) == least]
    if least < 2:
        return min(nodes)
    crossed = Counter(node for pairs, _ in inside for node, _ in pairs)
    crossed.update(node for factor in factors for pairs, _ in factor.planes for node, _ in pairs)
    return min(nodes, key=lambda node: (_missing(node, beside), crossed[node], node))


def _missing(node: int, beside: Mapping[int, set[int]]) -> int:
    """How many pairs of neighbours of a node are not neighbours of each other; 0 if it has many neighbours."""
    near = beside[node]
    if len(near) > _FEW_NEIGHBOURS:
        return 0
    return sum(one < two and two not in beside[one] for one in near for two in near)


def widened(factor: Factor[K], scope: tuple[int, ...]) -> Factor[K]:
    """The same factor as a function of more variables."""
    if factor.scope == scope:
        return factor
    places = {node: place for place, node in enumerate(factor.scope)}
    chosen = [entry for n in scope for entry in ((2 * places[n], 2 * places[n] + 1) if n in places else (-1, -1))]
    cells = {
        side: {tuple([0 if entry < 0 else key[entry] for entry in chosen]): value for key, value in terms.items()}
        for side, terms in factor.cells.items()
    }
    return Factor(scope, factor.planes, cells)


def finer(factor: Factor[K], times: int) -> Factor[K]:
    """The same factor with its rates in a unit so many times smaller."""
    cells = {
        side: {
            tuple([entry if place % 2 else entry * times for place, entry in enumerate(key)]): value
            for key, value in terms.items()
        }
        for side, terms in factor.cells.items()
    }
    return Factor(factor.scope, factor.planes, cells)
