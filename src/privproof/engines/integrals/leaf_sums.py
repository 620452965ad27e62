"""Exact probabilities of polyhedra under independent two-sided geometric noise, ``P(k) = (1-α)/(1+α) * α^|k|``.

The same elimination of leaves as in `leaves`, with sums over the integers in place of integrals: functions are
``sum c * x^k * ρ^x`` on intervals of integers, and the antidifference of ``x^k * ρ^x`` is again of this form.  Bounds must move
in unit steps there, so that a bound of an integer is an integer; what is left, cycles and sums of several noises and multiples of
them, is summed cell by cell (`lattices`).  All results are rational.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, gcd, lcm
from typing import NamedTuple, TypeAlias

from flint import fmpq

from privproof.engines.integrals.integer_lattices import Form, antidifference, gather, lattice_sum
from privproof.engines.integrals.leaf_integrals import Core, Halfspace, eliminate
from privproof.engines.integrals.piecewise_functions import End, Line, highest, lowest, regions
from privproof.errors import LanguageError
from privproof.exact.rationals import ONE, ZERO, Rational, fraction
from privproof.models.graph_algorithms import group_numbers

_Terms: TypeAlias = dict[tuple[int, Rational], Rational]
"""``sum c * x^k * ρ^x`` over the entries ``(k, ρ): c``."""


class _IntegerPiece(NamedTuple):
    """A function on the integers from `low` up to but not `high`."""

    low: End
    high: End
    terms: _Terms


def geometric_probability(
    alphas: Sequence[Rational], halfspaces: Sequence[Halfspace], strict: Sequence[bool]
) -> Fraction:
    """The probability that all halfspaces hold, with ``> 0`` instead of ``>= 0`` where strict.

    >>> tie = Halfspace(((0, fmpq(1)), (1, fmpq(-1))), fmpq(0))
    >>> geometric_probability([fmpq(1, 2), fmpq(1, 2)], [tie], [False])
    Fraction(16, 27)
    >>> geometric_probability([fmpq(1, 2), fmpq(1, 2)], [tie], [True])
    Fraction(11, 27)
    >>> double = Halfspace(((0, fmpq(2)), (1, fmpq(-3)), (2, fmpq(1))), fmpq(0))
    >>> geometric_probability([fmpq(1, 2)] * 3, [double], [False])
    Fraction(15718, 29295)

    Raises:
        LanguageError: there is no such noise, or the sum takes too long.
    """
    for alpha in alphas:
        if not 0 < alpha < 1:
            raise LanguageError("noise", f"alpha={alpha} is not between 0 and 1", hint="alpha is e^(-epsilon/scale)")
    sums = _LeafSums()
    whole = [_whole(*pair) for pair in zip(halfspaces, strict, strict=True)]
    groups = group_numbers([number for number, _ in halfspace.coefficients] for halfspace in whole)
    uneven = {groups[halfspace.coefficients[0][0]] for halfspace in whole if not _has_unit_steps(halfspace)}
    plain = [h for h in whole if not h.coefficients or groups[h.coefficients[0][0]] not in uneven]
    cores = eliminate(alphas, plain, sums)
    if cores is None:
        return Fraction(0)
    result = ONE
    for group in uneven:
        rest = [
            halfspace for halfspace in whole if halfspace.coefficients and groups[halfspace.coefficients[0][0]] == group
        ]
        numbers = {number for halfspace in rest for number, _ in halfspace.coefficients}
        cores.append(Core({number: sums.prior(alphas[number], None, None) for number in sorted(numbers)}, rest))
    for functions, rest in cores:
        if len(functions) > 1:
            places = {number: place for place, number in enumerate(functions)}
            result *= lattice_sum(list(functions.values()), [_form(halfspace, places) for halfspace in rest])
        else:
            [function] = functions.values()
            result *= sums.total(function)
    return fraction(result)


def _whole(halfspace: Halfspace, strict: bool) -> Halfspace:  # noqa: FBT001
    """The same integer points, with coprime integer coefficients, an integer constant and ``>= 0``."""
    if not halfspace.coefficients:
        return Halfspace((), -ONE if strict and halfspace.constant == 0 else halfspace.constant)
    below = lcm(*(int(factor.q) for _, factor in halfspace.coefficients))
    unit = fmpq(gcd(*(int(factor.p) * below // int(factor.q) for _, factor in halfspace.coefficients)), below)
    constant = halfspace.constant / unit
    rounded = fmpq(constant.ceil()) - 1 if strict else fmpq(constant.floor())
    return Halfspace(tuple((number, factor / unit) for number, factor in halfspace.coefficients), rounded)


def _has_unit_steps(halfspace: Halfspace) -> bool:
    """Whether bounds move in unit steps."""
    return all(abs(factor) == 1 for _, factor in halfspace.coefficients)


def _form(halfspace: Halfspace, places: Mapping[int, int]) -> Form:
    coefficients = [0] * len(places)
    for number, factor in halfspace.coefficients:
        coefficients[places[number]] = int(factor.p)
    return tuple(coefficients), int(halfspace.constant.p)


class _LeafSums:
    """Mass functions, products, messages and totals; upper ends and bounds come in inclusive and are kept exclusive."""

    def prior(self, noise: Rational, low: End, high: End) -> list[_IntegerPiece]:
        height = (1 - noise) / (1 + noise)
        pieces = [_IntegerPiece(None, ZERO, {(0, 1 / noise): height}), _IntegerPiece(ZERO, None, {(0, noise): height})]
        return self.product(pieces, [_IntegerPiece(low, None if high is None else high + 1, {(0, ONE): ONE})])

    def product(self, left: list[_IntegerPiece], right: list[_IntegerPiece]) -> list[_IntegerPiece]:
        pieces: list[_IntegerPiece] = []
        for one in left:
            for two in right:
                low, high = highest((one.low, two.low)), lowest((one.high, two.high))
                if low is None or high is None or low < high:
                    pieces.append(_IntegerPiece(low, high, _times(one.terms, two.terms)))
        return pieces

    def message(
        self, function: list[_IntegerPiece], lowers: Sequence[Line], uppers: Sequence[Line]
    ) -> list[_IntegerPiece]:
        ends = [(slope, intercept + 1) for slope, intercept in uppers]
        inner = [_antidifference(piece.terms) for piece in function]
        made: list[_IntegerPiece] = []
        spans = [(piece.low, piece.high) for piece in function]
        for low, high, (first, last, start, stop) in regions(spans, lowers, ends, integers=True):
            terms: _Terms = {}
            for place in range(first, last + 1):
                if stop is not None and place == last:
                    gather(terms, _substitute_line(inner[place], ends[stop]))
                else:
                    gather(terms, {(0, ONE): _value(inner[place], function[place].high)})
                if start is not None and place == first:
                    gather(terms, _substitute_line(inner[place], lowers[start]), -ONE)
                else:
                    gather(terms, {(0, ONE): _value(inner[place], function[place].low)}, -ONE)
            made.append(_IntegerPiece(low, high, terms))
        return made

    def total(self, function: list[_IntegerPiece]) -> Rational:
        result = ZERO
        for piece in function:
            inside = _antidifference(piece.terms)
            result += _value(inside, piece.high) - _value(inside, piece.low)
        return result


def _times(left: _Terms, right: _Terms) -> _Terms:
    product: _Terms = {}
    for (k, one), factor in left.items():
        gather(product, {(k + j, one * two): other for (j, two), other in right.items()}, factor)
    return product


def _antidifference(terms: _Terms) -> _Terms:
    """The function G with ``G(x+1) - G(x)`` equal to the given one, which vanishes wherever a summable one ends."""
    made: _Terms = {}
    for (k, ratio), value in terms.items():
        for power, factor in enumerate(antidifference(k, ratio)):
            gather(made, {(power, ratio): factor}, value)
    return made


def _value(inside: _Terms, end: End) -> Rational:
    """The value at an integer; at infinity, where masses decay, it is zero."""
    if end is None:
        return ZERO
    return sum((value * end**k * ratio ** int(end.p) for (k, ratio), value in inside.items()), ZERO)


def _substitute_line(terms: _Terms, line: Line) -> _Terms:
    """The function of ``±x + intercept``."""
    slope, intercept = line
    made: _Terms = {}
    for (k, ratio), value in terms.items():
        base, scale = ratio ** int(slope.p), value * ratio ** int(intercept.p)
        for power in range(k + 1):
            gather(made, {(power, base): comb(k, power) * slope**power * intercept ** (k - power)}, scale)
    return made
