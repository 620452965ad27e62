"""Polynomials with rational coefficients: a mapping from exponents to coefficients, and the texts that denote them.

Nothing here is shared with the engines.  A polynomial in n parameters is a dictionary from tuples of n exponents to
coefficients that are not zero, so that equal polynomials are equal dictionaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_number
from privproof_checker.text_reading import TextReader

Polynomial: TypeAlias = dict[tuple[int, ...], Rational]

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_TOKEN = re.compile(r"\s*(?:([0-9]+(?:\.[0-9]+)?)|([A-Za-z_][A-Za-z_0-9]*)|(\*\*|[-+*/^()]))")
_LARGEST_POWER = 1_000
"""The largest exponent that may be written in a polynomial; beyond, it is refused before it is multiplied out."""
_DEEPEST = 100
"""Parentheses nested more deeply than this are refused, long before the recursion of the reader is too deep for Python."""
_BITS = 200_000
"""The coefficients of a product may have so many bits; a product that might have more is refused before it is made."""


def constant(value: Rational, size: int) -> Polynomial:
    """A number as a polynomial."""
    return {(0,) * size: value} if value != 0 else {}


def parameter(index: int, size: int) -> Polynomial:
    """One of the parameters."""
    return {tuple(int(i == index) for i in range(size)): ONE}


def plus(left: Polynomial, right: Polynomial, factor: Rational = ONE) -> Polynomial:
    """``left + factor * right``."""
    return combine_polynomials(((left, ONE), (right, factor)))


def combine_polynomials(parts: Iterable[tuple[Polynomial, Rational]]) -> Polynomial:
    """The sum of polynomials, each times a number."""
    result: Polynomial = {}
    for polynomial, factor in parts:
        if factor != 0:
            for exponents, value in polynomial.items():
                result[exponents] = result.get(exponents, ZERO) + factor * value
    return {exponents: value for exponents, value in result.items() if value != 0}


def scale_polynomial(polynomial: Polynomial, factor: Rational) -> Polynomial:
    """``factor * polynomial``."""
    return {exponents: value * factor for exponents, value in polynomial.items()} if factor != 0 else {}


def times(left: Polynomial, right: Polynomial, place: str, limits: Limits) -> Polynomial:
    """The product."""
    within(len(left) * len(right), limits.explored, "products of terms", place)
    within(_bits(left) + _bits(right), _BITS, "bits of a coefficient", place)
    result: Polynomial = {}
    for first, a in left.items():
        for second, b in right.items():
            exponents = tuple(i + j for i, j in zip(first, second, strict=True))
            result[exponents] = result.get(exponents, ZERO) + a * b
    return {exponents: value for exponents, value in result.items() if value != 0}


def power(base: Polynomial, exponent: int, size: int, place: str, limits: Limits) -> Polynomial:
    """The power, by repeated squares."""
    result = constant(ONE, size)
    while exponent:
        if exponent % 2:
            result = times(result, base, place, limits)
        exponent //= 2
        if exponent:
            base = times(base, base, place, limits)
    return result


def _bits(polynomial: Polynomial) -> int:
    return max((max(int(v.p).bit_length(), int(v.q).bit_length()) for v in polynomial.values()), default=0)


def at(polynomial: Polynomial, point: Sequence[Rational]) -> Rational:
    """The value at a point."""
    total = ZERO
    for exponents, value in polynomial.items():
        for exponent, x in zip(exponents, point, strict=True):
            if exponent:
                value = value * x**exponent
        total += value
    return total


def compose_polynomial(
    polynomial: Polynomial, values: Sequence[Polynomial], size: int, place: str, limits: Limits
) -> Polynomial:
    """The polynomial with polynomials in place of its parameters, one parameter after another (Horner)."""
    if all(value == parameter(index, size) for index, value in enumerate(values)) and len(values) == size:
        return polynomial
    return _compose_from(polynomial, values, 0, size, place, limits)


def _compose_from(
    polynomial: Polynomial, values: Sequence[Polynomial], index: int, size: int, place: str, limits: Limits
) -> Polynomial:
    if index == len(values):
        return constant(polynomial.get((), ZERO), size)
    by_power: dict[int, Polynomial] = {}
    for exponents, value in polynomial.items():
        by_power.setdefault(exponents[0], {})[exponents[1:]] = value
    result: Polynomial = {}
    for exponent in range(max(by_power, default=0), -1, -1):
        if result:
            result = times(result, values[index], place, limits)
        rest = _compose_from(by_power.get(exponent, {}), values, index + 1, size, place, limits)
        result = plus(result, rest)
    return result


def multiple(left: Polynomial, right: Polynomial) -> Rational | None:
    """The number a with ``left = a * right``, if there is one; None for two zeros."""
    if not left or left.keys() != right.keys():
        return None
    key = next(iter(left))
    factor = left[key] / right[key]
    return factor if all(value == factor * right[exponents] for exponents, value in left.items()) else None


def has_parameter(polynomial: Polynomial, index: int) -> bool:
    """Whether a parameter occurs."""
    return any(exponents[index] for exponents in polynomial)


def read_polynomial(value: object, names: Mapping[str, int], place: str, limits: Limits) -> Polynomial:
    """The polynomial that a text denotes: ``+ - * / ^ ( )`` over numbers and parameters; an integer is one too.

    >>> sorted(read_polynomial("(1 - p)^2/2", {"p": 0}, "weight", Limits()).items())
    [((0,), 1/2), ((1,), -1), ((2,), 1/2)]
    """
    if not isinstance(value, str):
        return constant(a_number(value, place, limits), len(names))
    within(len(value), 100 * limits.digits, "characters of an expression", place)
    reader = _PolynomialReader(value, names, place, limits)
    return reader.whole(reader.sum)


class _PolynomialReader(TextReader):
    """Reads ``sum := product (+|- product)*``, ``product := signed (*|/ signed)*``, ``signed := (+|-)* power``."""

    def __init__(self, text: str, names: Mapping[str, int], place: str, limits: Limits) -> None:
        super().__init__(text, _TOKEN, limits.nodes, _DEEPEST, place)
        self.names, self.limits = names, limits

    def sum(self) -> Polynomial:
        result = dict(self.product())
        while taken := self.accept("+", "-"):
            sign = ONE if taken == "+" else -ONE
            for exponents, value in self.product().items():
                total = result.get(exponents, ZERO) + sign * value
                if total == 0:
                    del result[exponents]
                else:
                    result[exponents] = total
        return result

    def product(self) -> Polynomial:
        result = self.signed()
        while sign := self.accept("*", "/"):
            if sign == "*":
                result = times(result, self.signed(), self.place, self.limits)
            else:
                divisor = self.signed()
                number = divisor.get((0,) * len(self.names))
                if number is None or len(divisor) > 1:
                    refuse("an expression divides by something that is no number, or by zero", self.place)
                result = scale_polynomial(result, 1 / number)
        return result

    def signed(self) -> Polynomial:
        negative = False
        while sign := self.accept("+", "-"):
            negative ^= sign == "-"
        result = self.power()
        return scale_polynomial(result, -ONE) if negative else result

    def power(self) -> Polynomial:
        base = self.atom()
        if not self.accept("^", "**"):
            return base
        exponent = self.take()
        if not exponent.isdigit() or len(exponent) > 6 or int(exponent) > _LARGEST_POWER:
            refuse(f"the power {exponent[:40]!r} is no whole number up to {_LARGEST_POWER}", self.place)
        return power(base, int(exponent), len(self.names), self.place, self.limits)

    def atom(self) -> Polynomial:
        if self.accept("("):
            return self.closed(self.sum)
        if self.coming in self.names:
            return parameter(self.names[self.take()], len(self.names))
        if self.coming[:1].isdigit():
            return constant(a_number(self.take(), self.place, self.limits), len(self.names))
        if NAME.fullmatch(self.coming):
            refuse(f"unknown parameter {self.coming[:40]!r}", self.place)
        self.unexpected()
