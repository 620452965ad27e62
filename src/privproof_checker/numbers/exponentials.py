"""Sums of exponentials ``sum q e^s`` with rational q and s, and quotients of two of them: probabilities under continuous noise, exactly.

Theorem (Lindemann and Weierstrass).  Exponentials at different rationals are linearly independent over the rationals.  So a sum is 0 if
and only if all its coefficients are, and the sign of any other is settled by balls of more and more bits.

A quotient is a sum over another one, whose coefficients are all above 0, so that the denominator is above 0 as well and the sign of
the quotient is that of its numerator.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm

from flint import arb, fmpq

from privproof_checker.numbers.balls import precision
from privproof_checker.numbers.budgets import Epsilon
from privproof_checker.numbers.rationals import ONE, ZERO, Rational

_MOST_BITS = 8192
"""With a root of a logarithm equality cannot be excluded: what so many bits do not tell apart counts as not exceeding."""

Sum = dict[int, Rational]
"""The coefficients by exponents, in parts of one; none is 0."""


class ExponentialSum:
    """``sum q e^s`` over another sum, which is 1 as a rule; the exponents are whole numbers of a common part of one.

    >>> half, tail = ExponentialSum.constant(fmpq(1, 2)), ExponentialSum.term(fmpq(1, 8), fmpq(-9, 2))
    >>> str(half - tail), (half - tail).sign(), ((half - tail) * (half + tail) - half * half + tail * tail).is_zero
    ('1/2 - 1/8*e^(-9/2)', 1, True)
    >>> one, two = ExponentialSum.term(ONE, ONE), ExponentialSum.term(ONE, fmpq(2))
    >>> str(one.over(one + two)), (one.over(one + two) + two.over(one + two)).rational
    ('(e^(1))/(e^(2) + e^(1))', 1)
    """

    __slots__ = ("_above", "_below", "_parts")

    def __init__(self, above: Sum, below: Sum, parts: int) -> None:
        self._above, self._below, self._parts = above, below, parts

    @classmethod
    def constant(cls, value: Rational | int) -> ExponentialSum:
        """A rational number."""
        return cls({0: fmpq(value)} if value != 0 else {}, _ONE, 1)

    @classmethod
    def term(cls, factor: Rational | int, exponent: Rational) -> ExponentialSum:
        """``factor * e^exponent``."""
        parts = int(exponent.q)
        return cls({int(exponent.p): fmpq(factor)} if factor != 0 else {}, _ONE, parts)

    def over(self, other: ExponentialSum) -> ExponentialSum:
        """The quotient by a sum whose coefficients are all above 0.

        Raises:
            ValueError: they are not, or it is a quotient itself.
        """
        one, two, parts = _together(self, other)
        if other._below is not _ONE or not two[0] or min(two[0].values()) <= 0:
            raise ValueError(f"{other} is no sum of numbers above 0")
        return ExponentialSum(one[0], _product(one[1], two[0]), parts)

    @property
    def is_zero(self) -> bool:
        """Whether it is 0."""
        return not self._above

    @property
    def rational(self) -> Rational | None:
        """The number, where it is seen to be rational: 0, or a multiple of the denominator."""
        if not self._above:
            return ZERO
        exponent, factor = next(iter(self._above.items()))
        share = factor / self._below.get(exponent, ONE)
        return share if self._above == _scale_terms(self._below, share) else None

    @property
    def size(self) -> int:
        """How many terms it has."""
        return len(self._above) + (0 if self._below is _ONE else len(self._below))

    @property
    def exponents(self) -> tuple[Rational, ...]:
        """All exponents in it."""
        return tuple(fmpq(each, self._parts) for each in (*self._above, *self._below))

    def __eq__(self, other: object) -> bool:
        return (self - other).is_zero if isinstance(other, ExponentialSum) else NotImplemented

    def __hash__(self) -> int:
        return hash("sum")  # a quotient may be written in many ways, and none is looked up often

    def ball(self, bits: int = 128) -> arb:
        """A ball around it, computed with so many bits."""
        with precision(bits):
            above = self._ball(self._above)
            return above if self._below is _ONE else above / self._ball(self._below)

    def _ball(self, terms: Sum) -> arb:
        return sum((arb(factor) * arb(fmpq(each, self._parts)).exp() for each, factor in terms.items()), arb(0))

    def sign(self) -> int:
        """Its sign, exactly."""
        signs = {1 if factor > 0 else -1 for factor in self._above.values()}
        if len(signs) < 2:
            return next(iter(signs), 0)
        bits = 128
        while True:
            with precision(bits):
                ball = self._ball(self._above)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            bits *= 2

    def __str__(self) -> str:
        above = self._text(self._above)
        return above if self._below is _ONE else f"({above})/({self._text(self._below)})"

    def _text(self, terms: Sum) -> str:
        words = ""
        for exponent, factor in sorted(terms.items(), reverse=True):
            power = [f"e^({fmpq(exponent, self._parts)})"] if exponent else []
            shown = "*".join(([str(abs(factor))] if abs(factor) != 1 else []) + power) or "1"
            words += (" - " if factor < 0 else " + ") + shown if words else ("-" if factor < 0 else "") + shown
        return words or "0"

    def __add__(self, other: ExponentialSum | Rational | int) -> ExponentialSum:
        right = other if isinstance(other, ExponentialSum) else ExponentialSum.constant(other)
        if not right._above:
            return self
        if not self._above:
            return right
        one, two, parts = _together(self, right)
        if one[1] is two[1] or one[1] == two[1]:
            return ExponentialSum(_total(one[0], two[0]), one[1], parts)
        above = _total(_product(one[0], two[1]), _product(two[0], one[1]))
        return ExponentialSum(above, _product(one[1], two[1]), parts)

    __radd__ = __add__

    def __neg__(self) -> ExponentialSum:
        return self * -1

    def __sub__(self, other: ExponentialSum | Rational | int) -> ExponentialSum:
        return self + (-other)

    def __rsub__(self, other: Rational | int) -> ExponentialSum:
        return -self + other

    def __mul__(self, other: ExponentialSum | Rational | int) -> ExponentialSum:
        if not isinstance(other, ExponentialSum):
            return ExponentialSum(_scale_terms(self._above, fmpq(other)), self._below, self._parts)
        one, two, parts = _together(self, other)
        return ExponentialSum(_product(one[0], two[0]), _product(one[1], two[1]), parts)

    __rmul__ = __mul__

    def scaled(self, exponent: Rational) -> ExponentialSum:
        """It times ``e^exponent``."""
        return self * ExponentialSum.term(1, exponent)


_ONE: Sum = {0: ONE}
"""The denominator of what is no quotient: this very object, in whatever parts exponents are counted."""


def _total(one: Sum, two: Sum) -> Sum:
    result = dict(one)
    for exponent, factor in two.items():
        more = result.get(exponent, ZERO) + factor
        if more == 0:
            del result[exponent]
        else:
            result[exponent] = more
    return result


def _scale_terms(terms: Mapping[int, Rational], factor: Rational) -> Sum:
    return {exponent: each * factor for exponent, each in terms.items()} if factor != 0 else {}


def _product(one: Sum, two: Sum) -> Sum:
    if one is _ONE:
        return two
    if two is _ONE:
        return one
    if len(one) > len(two):
        one, two = two, one
    result: Sum = {}
    for exponent, factor in one.items():
        for other, more in two.items():
            place = exponent + other
            result[place] = result.get(place, ZERO) + factor * more
    return {exponent: factor for exponent, factor in result.items() if factor != 0}


def _together(one: ExponentialSum, two: ExponentialSum) -> tuple[tuple[Sum, Sum], tuple[Sum, Sum], int]:
    """Numerators and denominators of both, in the same parts of one."""
    parts = one._parts if one._parts == two._parts else lcm(one._parts, two._parts)
    return _finer(one, parts), _finer(two, parts), parts


def _finer(value: ExponentialSum, parts: int) -> tuple[Sum, Sum]:
    times = parts // value._parts
    if times == 1:
        return value._above, value._below
    above = {exponent * times: factor for exponent, factor in value._above.items()}
    if value._below is _ONE:
        return above, _ONE
    return above, {exponent * times: factor for exponent, factor in value._below.items()}


def exceeds(left: ExponentialSum, right: ExponentialSum, budget: Epsilon) -> bool:
    """Whether ``left > e^budget * right``; infinity times 0 is 0.

    Exactly where the budget has no root of a logarithm; with one, False also means "not established with 8192 bits".

    >>> one, two = ExponentialSum.term(fmpq(1, 8), fmpq(-9, 2)), ExponentialSum.term(fmpq(1, 8), fmpq(-6))
    >>> exceeds(one, two, Epsilon(shift=fmpq(149, 100))), exceeds(one, two, Epsilon(shift=fmpq(3, 2)))
    (True, False)
    """
    if left.sign() <= 0 and right.sign() >= 0:
        return False
    if right.is_zero:
        return True
    if budget.infinite:
        return right.sign() < 0
    if budget.root == 1:
        return (left - (right * budget.ratio).scaled(budget.shift)).sign() > 0
    bits = 128
    while bits <= _MOST_BITS:
        with precision(bits):
            difference = left.ball(bits) - budget.ball(bits).exp() * right.ball(bits)
        if difference > 0 or difference < 0:
            return bool(difference > 0)
        bits *= 2
    return False


def loss(left: ExponentialSum, right: ExponentialSum, bits: int = 128) -> arb:
    """A ball around ``ln(left/right)`` with so many bits, infinite where one of the two numbers is 0.

    >>> ball = loss(ExponentialSum.term(fmpq(1, 8), fmpq(-9, 2)), ExponentialSum.term(fmpq(1, 8), fmpq(-6)))
    >>> bool(abs(ball - fmpq(3, 2)) < fmpq(1, 10**30))
    True
    """
    signs = left.sign(), right.sign()
    if min(signs) < 0 or signs == (0, 0):
        raise ValueError(f"the quotient of {left} and {right} has no logarithm")
    if 0 in signs:
        return arb("inf") if signs[1] == 0 else arb("-inf")
    work = bits
    while True:
        work *= 2
        one, two = left.ball(work), right.ball(work)
        if one > 0 and two > 0 and min(one.rel_accuracy_bits(), two.rel_accuracy_bits()) >= bits:
            with precision(work):
                return (one / two).log()
