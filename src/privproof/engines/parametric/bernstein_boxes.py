"""Bernstein coefficients on the unit cube, in integers: a polynomial all of whose coefficients are non-negative is non-negative.

A polynomial of degree ``d_k`` in its k-th variable is, on the cube ``[0, 1]^n``, a combination of the products of
``C(d_k, i) t^i (1 - t)^(d_k - i)``, which are non-negative there and sum to one; so its values lie between its smallest and
its largest coefficient, and at the corners of the cube the coefficients are its values (Garloff, "Convergent bounds for the
range of multivariate polynomials", 1985).  Bisection of the cube keeps the coefficients integers (de Casteljau), up to a
positive factor, which does not matter for a sign.

A region of parameters is *straightened* into the cube first: every parameter becomes ``low + (high - low) t``, where low and
high may depend on the parameters before it.  So the simplex ``p, q >= 0, p + q <= 1`` is the whole square by
``q = (1 - p) t``, and probabilities that sum to one touch the sides of the cube instead of cutting through it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from math import comb, lcm, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privproof.exact import Rational
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import Interval, ParameterRegion

Tensor: TypeAlias = NDArray[Any]
"""Coefficients by index along every axis: integers of any size, or floats in a search."""


@dataclass(frozen=True)
class Coordinate:
    """A parameter as ``low + (high - low) t`` with t in [0, 1]; the ends may depend on the parameters before it."""

    name: str
    low: Polynomial
    high: Polynomial


def coordinates(region: ParameterRegion) -> tuple[Coordinate, ...]:
    """Coordinates that straighten a region as far as its linear constraints allow; the others remain.

    >>> for each in coordinates(ParameterRegion.of({"p": "0 <= p <= 1", "q": "0 <= q <= 1"}, ["p + q <= 1"])):
    ...     print(each.name, "from", each.low, "to", each.high)
    p from 0 to 1
    q from 0 to -p + 1
    """
    boxes = dict(zip(region.names, region.box, strict=True))
    known = [constraint.expression for constraint in region.constraints]
    remaining = list(region.names)
    reversed_: list[Coordinate] = []
    while remaining:
        choices = [(_end(known, v, remaining, region, +1), _end(known, v, remaining, region, -1)) for v in remaining]
        useful = [(low is not None) + (high is not None) for low, high in choices]
        at = max(range(len(remaining)), key=lambda i: (useful[i], i))
        low, high = choices[at]
        name = remaining.pop(at)
        chosen = Coordinate(
            name,
            Polynomial.constant(boxes[name].low, region.names) if low is None else low,
            Polynomial.constant(boxes[name].high, region.names) if high is None else high,
        )
        if useful[at]:
            known.append(chosen.high - chosen.low)
        reversed_.append(chosen)
    return tuple(reversed(reversed_))


def _end(
    known: Sequence[Polynomial], name: str, remaining: Sequence[str], region: ParameterRegion, sign: int
) -> Polynomial | None:
    """The lower (+1) or upper (-1) end that a constraint gives a parameter, if it lies inside the interval throughout."""
    index = region.names.index(name)
    hidden = [i for i, n in enumerate(region.names) if n not in remaining]
    for expression in known:
        degrees = expression.degrees
        if degrees[index] != 1 or any(degrees[i] for i in hidden):
            continue
        slopes = {key: value for key, value in expression.terms.items() if key[index]}
        ((key, slope),) = slopes.items() if len(slopes) == 1 else ((None, Rational(0)),)
        if key is None or sum(key) != 1 or (slope > 0) != (sign > 0):
            continue
        end = Polynomial.parameter(name, region.names) - expression / slope
        box = region.box[index]
        inside = end - box.low if sign > 0 else box.high - end
        if (coefficients(straighten_polynomial(inside, _plain(region))) >= 0).all():
            return end
    return None


def _plain(region: ParameterRegion) -> tuple[Coordinate, ...]:
    def constant(value: Rational) -> Polynomial:
        return Polynomial.constant(value, region.names)

    pairs: Sequence[tuple[str, Interval]] = list(zip(region.names, region.box, strict=True))
    return tuple(Coordinate(name, constant(interval.low), constant(interval.high)) for name, interval in pairs)


def coordinate_polynomials(names: Sequence[str], chosen: Sequence[Coordinate]) -> dict[str, Polynomial]:
    """Every parameter as a polynomial in the coordinates, which bear the names of the parameters."""
    listed = tuple(names)
    values: dict[str, Polynomial] = {name: Polynomial.constant(0, listed) for name in listed}
    for each in chosen:
        low = compose_polynomial(each.low, values)
        width = compose_polynomial(each.high, values) - low
        values[each.name] = low + width * Polynomial.parameter(each.name, listed)
    return values


def compose_polynomial(polynomial: Polynomial, values: dict[str, Polynomial]) -> Polynomial:
    """The polynomial with polynomials (in the same parameters) in place of its parameters."""
    if not polynomial.names or polynomial.number is not None:
        return polynomial
    return Polynomial(polynomial.value.compose(*(values[n].value for n in polynomial.names)), polynomial.names)


def straighten_polynomial(polynomial: Polynomial, chosen: Sequence[Coordinate]) -> Polynomial:
    """The polynomial in the coordinates."""
    return compose_polynomial(polynomial, coordinate_polynomials(polynomial.names, chosen))


def size(polynomial: Polynomial) -> int:
    """How many coefficients the polynomial has."""
    return prod(d + 1 for d in polynomial.degrees)


def coefficients(polynomial: Polynomial) -> Tensor:
    """The Bernstein coefficients on the unit cube times a positive integer.

    >>> coefficients(Polynomial.of("(2*p - 1)^2", ("p",)))
    array([1, -1, 1], dtype=object)
    """
    degrees = polynomial.degrees
    terms = polynomial.terms
    common = lcm(1, *(int(value.q) for value in terms.values()))
    tensor: Tensor = np.zeros(tuple(d + 1 for d in degrees), dtype=object)
    for exponents, value in terms.items():
        tensor[exponents] = int(value.p) * (common // int(value.q))
    for axis, degree in enumerate(degrees):
        if degree:
            scale = lcm(*(comb(degree, i) for i in range(degree + 1)))
            rows = [
                [comb(degree - j, i - j) * (scale // comb(degree, i)) if j <= i else 0 for j in range(degree + 1)]
                for i in range(degree + 1)
            ]
            tensor = np.moveaxis(np.tensordot(np.array(rows, dtype=object), tensor, axes=(1, axis)), 0, axis)
    return _reduce_tensor(tensor)


def _reduce_tensor(tensor: Tensor) -> Tensor:
    shared = int(np.gcd.reduce(tensor, axis=None)) if tensor.size else 1
    return np.array(tensor // shared, dtype=object) if shared > 1 else tensor


def _subdivide_axis(
    tensor: Tensor, axis: int, blend: Callable[[Tensor, Tensor], Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """De Casteljau's rows along an axis: the first and the last of every round, the last ones backwards."""
    before = (slice(None),) * axis
    rows = [tensor[(*before, slice(i, i + 1))] for i in range(tensor.shape[axis])]
    low, high = [rows[0]], [rows[-1]]
    while len(rows) > 1:
        rows = [blend(a, b) for a, b in pairwise(rows)]
        low.append(rows[0])
        high.append(rows[-1])
    return low, high[::-1]


def halves(tensor: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The coefficients on the lower and upper half along an axis; integers come out times a common positive factor."""
    exact = tensor.dtype == object
    low, high = _subdivide_axis(tensor, axis, (lambda a, b: a + b) if exact else lambda a, b: (a + b) * 0.5)
    if exact:
        low = [row << (len(low) - 1 - i) for i, row in enumerate(low)]
        high = [row << i for i, row in enumerate(high)]
    return np.concatenate(low, axis=axis), np.concatenate(high, axis=axis)


def cut_box(tensor: Tensor, axis: int, share: Rational) -> tuple[Tensor, Tensor]:
    """The integer coefficients on both parts of the box when it is cut along an axis at a share of its width."""
    upper, whole = int(share.p), int(share.q)
    low, high = _subdivide_axis(tensor, axis, lambda a, b: a * (whole - upper) + b * upper)
    low = [row * whole ** (len(low) - 1 - i) for i, row in enumerate(low)]
    high = [row * whole**i for i, row in enumerate(high)]
    return np.concatenate(low, axis=axis), np.concatenate(high, axis=axis)


@dataclass(frozen=True)
class Corner:
    """Two axes and the ends of them that a corner lies at: what a box is ordered by."""

    first: int
    second: int
    first_high: bool
    second_high: bool


def split_by_order(tensor: Tensor, corner: Corner, *, offset: int = 0) -> tuple[Tensor, Tensor]:
    """The coefficients where the first coordinate is at most the second, and the other way round.

    Near a corner at which a polynomial vanishes to second order, halves look like the whole and never close.  With x and y
    measured from the corner, the box is the union of ``x = u y`` and ``y = u x`` with u in [0, 1], and on each of them the
    polynomial is a power of the larger coordinate times something that need not vanish.  In the first part the first axis
    holds u and the second y; in the second part the second axis holds u and the first x.
    """
    first, second = corner.first + offset, corner.second + offset
    if corner.first_high:
        tensor = np.flip(tensor, axis=first)
    if corner.second_high:
        tensor = np.flip(tensor, axis=second)
    return _below(tensor, first, second), _below(tensor, second, first)


def _below(tensor: Tensor, lesser: int, greater: int) -> Tensor:
    """The coefficients of the polynomial with the lesser coordinate replaced by u times the greater one."""
    m, n = tensor.shape[lesser] - 1, tensor.shape[greater] - 1
    weights = _weights(m, n)
    if tensor.dtype != object:
        weights = (weights / weights.max(axis=None)).astype(np.float64)
    result = np.tensordot(weights, tensor, axes=((2, 3), (lesser, greater)))
    return np.moveaxis(result, (0, 1), (lesser, greater))


@cache
def _weights(m: int, n: int) -> Tensor:
    """From ``B_i^m(u y) B_j^n(y)`` to ``B_a^m(u) B_b^(m+n)(y)``, times a positive integer.

    It follows from ``B_i^m(u y) = sum over k of B_i^k(u) B_k^m(y)``, raising the degree of the first factor to m.
    """
    inner = lcm(*(comb(m, a) for a in range(m + 1)))
    outer = lcm(*(comb(m + n, b) for b in range(m + n + 1)))
    weights: Tensor = np.zeros((m + 1, m + n + 1, m + 1, n + 1), dtype=object)
    for k, j in product(range(m + 1), range(n + 1)):
        along = comb(m, k) * comb(n, j) * (outer // comb(m + n, k + j))
        for i in range(k + 1):
            for a in range(i, i + m - k + 1):
                weights[a, k + j, i, j] += along * comb(k, i) * comb(m - k, a - i) * (inner // comb(m, a))
    return weights


def floats(tensor: Tensor) -> NDArray[np.float64]:
    """The coefficients as floats, the largest of them one."""
    largest = max((abs(int(x)) for x in tensor.flat), default=0) or 1
    scaled = [int(x) / largest for x in tensor.flat]
    return np.array(scaled, dtype=np.float64).reshape(tensor.shape)
