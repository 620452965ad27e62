"""Points of a region: simple ones to try first, and simple ones near a point that a search has found.

A counterexample is for a reader, so ``p = 1/2`` is better than ``p = 0.4931640625``: points with small denominators come
first, and a point found by floats is rounded as coarsely as it stays a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from privproof.engines.parametric.bernstein_boxes import Coordinate
from privproof.exact import Rational, fraction, rational
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import Interval, ParameterRegion

Values = dict[str, Rational]

_DENOMINATORS = (2, 3, 4, 5, 6, 8, 10, 7, 9, 12, 11)
"""In the order in which people find fractions simple: a counterexample at 3/10 is read more easily than one at 3/7."""
_COARSE = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 50, 64, 100, 200, 500, *(10**k for k in range(3, 13)))
"""Denominators to which a point found in floats is rounded; the first at which the violation still holds exactly is taken."""
_MANY = 4_000
"""Simple points in all: every condition is evaluated at each."""


def simple_points(region: ParameterRegion, *, most: int = _MANY, closed: bool = False) -> list[Values]:
    """Points of the region with small denominators, the simplest first; of its closed box, if so asked.

    >>> [str(point["p"]) for point in simple_points(ParameterRegion.of({"p": "0 < p <= 1"}), most=6)]
    ['1/2', '1', '1/3', '2/3', '1/4', '3/4']
    """
    if not region.names:
        return [{}]
    found: dict[tuple[Rational, ...], None] = {}
    for denominator in _DENOMINATORS:
        lines = [_line(interval, denominator, closed=closed) for interval in region.box]
        count = 1
        for line in lines:
            count *= len(line)
        if count > most and found:
            continue
        for point in _in_order(lines, most):
            if point not in found:
                values = dict(zip(region.names, point, strict=True))
                if closed or all(constraint.holds(values) for constraint in region.constraints):
                    found[point] = None
        if len(found) >= most:
            break
    return [dict(zip(region.names, point, strict=True)) for point in list(found)[:most]]


def _line(interval: Interval, denominator: int, *, closed: bool) -> list[Rational]:
    """The multiples of a unit fraction in an interval, the inner ones first; parts of the interval where it is short."""
    low, high = interval.low, interval.high
    if low == high:
        return [low]
    first, last = (low * denominator).floor(), (high * denominator).ceil()
    inner = [x for k in range(int(first), int(last) + 1) if low < (x := Rational(k, denominator)) < high]
    if not inner or len(inner) > 4 * denominator:
        inner = [low + (high - low) * Rational(k, denominator) for k in range(1, denominator)]
    ends = [(low, interval.low_open), (high, interval.high_open)]
    return inner + [end for end, is_open in ends if closed or not is_open]


def _in_order(lines: Sequence[Sequence[Rational]], most: int) -> Iterator[tuple[Rational, ...]]:
    for number, point in enumerate(product(*lines)):
        if number >= 4 * most:
            return
        yield point


class Evaluator:
    """Polynomials at many points at once, in floats."""

    def __init__(self, polynomials: Sequence[Polynomial]) -> None:
        monomials: dict[tuple[int, ...], int] = {}
        for polynomial in polynomials:
            for exponents in polynomial.terms:
                monomials.setdefault(exponents, len(monomials))
        self.names = polynomials[0].names if polynomials else ()
        self.exponents = np.array(list(monomials), dtype=np.int64).reshape(len(monomials), len(self.names))
        self.matrix = np.zeros((len(monomials), len(polynomials)))
        for column, polynomial in enumerate(polynomials):
            for exponents, value in polynomial.terms.items():
                self.matrix[monomials[exponents], column] = float(value)

    def at(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values: points x polynomials."""
        result = np.ones((len(points), len(self.exponents)))
        for axis in range(points.shape[1]):
            highest = int(self.exponents[:, axis].max(initial=0))
            powers = np.cumprod(np.column_stack([np.ones(len(points)), *([points[:, axis]] * highest)]), axis=1)
            result *= powers[:, self.exponents[:, axis]]
        return np.asarray(result @ self.matrix)


def as_floats(points: Sequence[Mapping[str, Rational]], names: Sequence[str]) -> NDArray[np.float64]:
    """The points as rows of floats."""
    rows = [[float(point[name]) for name in names] for point in points]
    return np.array(rows, dtype=np.float64).reshape(len(points), len(names))


def parameters_at(point: Sequence[float], names: Sequence[str], coordinates: Sequence[Coordinate]) -> Values:
    """The parameters, exactly, that a point of the unit cube (by the order of the names) stands for."""
    return _locate_point([Fraction(share) for share in point], names, coordinates)


def _locate_point(point: Sequence[Fraction], names: Sequence[str], coordinates: Sequence[Coordinate]) -> Values:
    shares = {name: rational(share) for name, share in zip(names, point, strict=True)}
    values: Values = {name: Rational(0) for name in names}
    for each in coordinates:
        low = each.low.at(values)
        values[each.name] = low + (each.high.at(values) - low) * shares[each.name]
    return values


def shares_of(values: Values, coordinates: Sequence[Coordinate]) -> Values:
    """The point of the unit cube that stands for parameters; 0 for a coordinate whose ends meet."""
    result: Values = {}
    for each in coordinates:
        low, high = each.low.at(values), each.high.at(values)
        result[each.name] = Rational(0) if low == high else (values[each.name] - low) / (high - low)
    return result


def simplify_point(
    values: Values, region: ParameterRegion, inner: Values | None, holds: Callable[[Values], bool]
) -> Values | None:
    """A simple point of the region near a given one at which something holds; None if none is found.

    The given point may lie on an open border: it is moved towards an inner point then.
    """
    for denominator in _COARSE:
        near = {n: rational(fraction(x).limit_denominator(denominator)) for n, x in values.items()}
        rounded = [near]
        rounded.append({n: _inside(near[n], region, n, denominator) for n in region.names})
        for point in rounded:
            if region.contains(point) and holds(point):
                return point
    if region.contains(values) and holds(values):
        return values
    if inner is not None:
        for power in range(1, 80):
            share = Rational(1, 2**power)
            moved = {n: values[n] + (inner[n] - values[n]) * share for n in region.names}
            if region.contains(moved) and holds(moved):
                return moved
    return None


def _inside(value: Rational, region: ParameterRegion, name: str, denominator: int) -> Rational:
    """A value moved off an open end of its interval by a unit fraction."""
    interval = region.box[region.names.index(name)]
    step = min(Rational(1, denominator), (interval.high - interval.low) / 2)
    if value <= interval.low:
        return interval.low + (step if interval.low_open else Rational(0))
    if value >= interval.high:
        return interval.high - (step if interval.high_open else Rational(0))
    return value


def inner_point(region: ParameterRegion, coordinates: Sequence[Coordinate]) -> Values | None:
    """Some point of the region, away from its ends and borders if one is found."""
    tried = simple_points(region, most=400)
    shares = [(Fraction(1, 2),) * len(region.names), (Fraction(1, 3),) * len(region.names)]
    shares += [tuple(Fraction(1 + (3 * i + k) % 7, 8) for i in range(len(region.names))) for k in range(7)]
    tried += [p for p in (_locate_point(share, region.names, coordinates) for share in shares) if region.contains(p)]

    def depth(point: Values) -> bool:
        away = all(i.low < point[n] < i.high or i.low == i.high for n, i in zip(region.names, region.box, strict=True))
        return away and all(constraint.expression.at(point) > 0 for constraint in region.constraints)

    return next((point for point in tried if depth(point)), tried[0] if tried else None)
