"""Exponential sums: numbers ``sum q * ε^a * e^(s*ε)`` with q and s rational and a an integer, in a symbol ε.

They are what probabilities of polyhedra under Laplace and exponential noise of scale ``c/ε`` look like.  At a rational
ε > 0 such a sum is a combination of exponentials at distinct rationals, and these are linearly independent over the
rationals (Lindemann and Weierstrass): the number is zero if and only if every combined coefficient is.  So signs are
decided exactly: zero by looking at the coefficients, and anything else by balls whose precision rises until zero is out.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from flint import arb, fmpq

from privproof.errors import NumberError
from privproof.exact.balls import precision
from privproof.exact.budgets import Epsilon
from privproof.exact.rationals import ZERO, Number, Rational, rational

Term: TypeAlias = tuple[Rational, int, Rational]
"""``(q, a, s)``: the summand ``q * ε^a * e^(s*ε)``."""

_MOST_BITS = 8192
"""With a root of a logarithm equality cannot be excluded: what so many bits do not tell apart counts as not exceeding."""
_GUARD = 32
"""Bits beyond those asked for, so that the first attempt is precise enough as a rule; if it is not, the precision grows."""


class ExponentialSum:
    """An immutable exact sum of terms ``q * ε^a * e^(s*ε)``.

    Exponents are kept as integers over a denominator shared by the whole sum; two sums are equal when they are formally
    the same, which is when they are the same function of ε.

    >>> half, tail = ExponentialSum.constant("1/2"), ExponentialSum.term("1/8", 1, -1)
    >>> half - tail
    ExponentialSum('1/2 - 1/8*ε*e^(-ε)')
    >>> (half - tail) * (half + tail) == half * half - tail * tail
    True
    >>> (half - tail).sign(rational(1)), (half - tail).compare(half, rational(1)), (half - half).is_zero
    (1, -1, True)
    """

    __slots__ = ("_coefficients", "_denominator")

    _coefficients: dict[tuple[int, int], Rational]
    _denominator: int

    def __init__(self) -> None:
        """The empty sum; `constant`, `term` and `of` make others."""
        self._coefficients = {}
        self._denominator = 1

    @classmethod
    def constant(cls, value: Number) -> ExponentialSum:
        """The sum that is a rational number.

        >>> str(ExponentialSum.constant("3/4"))
        '3/4'
        """
        return cls.term(value, 0, 0)

    @classmethod
    def term(cls, coefficient: Number, power: int, exponent: Number, *, denominator: int = 1) -> ExponentialSum:
        """The single term ``coefficient * ε^power * e^(exponent*ε)``.

        `denominator` is a guess of a multiple of every denominator the term will meet; it only makes sums faster.

        >>> ExponentialSum.term("1/8", 0, "-9/2").text("ε")
        '1/8*e^(-9/2 ε)'
        """
        factor, rate = rational(coefficient), rational(exponent)
        if factor == 0:
            return _NOTHING
        below = int(rate.q)
        grid = denominator if denominator % below == 0 else lcm(denominator, below)
        return _make_sum({(power, int(rate.p) * (grid // below)): factor}, grid)

    @classmethod
    def of(cls, terms: Iterable[tuple[Number, int, Number]]) -> ExponentialSum:
        """The sum of such terms.

        >>> str(ExponentialSum.of([(1, 0, -1), (2, 0, -1), ("1/2", 0, 0)]))
        '1/2 + 3*e^(-1)'
        """
        total = _NOTHING
        for coefficient, power, exponent in terms:
            total = total + cls.term(coefficient, power, exponent)
        return total

    @property
    def is_zero(self) -> bool:
        """Whether no term is left."""
        return not self._coefficients

    @property
    def rational(self) -> Rational | None:
        """The number itself, where it is a rational one.

        >>> ExponentialSum.constant("1/2").rational, ExponentialSum.term(2, 0, -1).rational
        (1/2, None)
        """
        if self.is_zero:
            return rational(0)
        terms = self.terms
        return terms[0][0] if len(terms) == 1 and terms[0][1] == 0 and terms[0][2] == 0 else None

    @property
    def size(self) -> int:
        """How many terms there are."""
        return len(self._coefficients)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms ``(q, a, s)``, the largest exponent first and among equal ones the smallest power.

        >>> (ExponentialSum.term(2, 0, -1) + 1).terms
        ((1, 0, 0), (2, 0, -1))
        """
        below = self._denominator
        ordered = sorted(self._coefficients.items(), key=lambda item: (-item[0][1], item[0][0]))
        return tuple((factor, power, fmpq(exponent, below)) for (power, exponent), factor in ordered)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExponentialSum):
            return NotImplemented
        return (self - other).is_zero

    def __hash__(self) -> int:
        return hash(self.terms)

    def __repr__(self) -> str:
        return f"ExponentialSum({self.text('ε')!r})"

    def __str__(self) -> str:
        return self.text()

    def __add__(self, other: ExponentialSum | int | Fraction | fmpq) -> ExponentialSum:
        right = other if isinstance(other, ExponentialSum) else ExponentialSum.constant(other)
        if not right._coefficients:
            return self
        if not self._coefficients:
            return right
        one, two, below = _common(self, right)
        total = dict(one)
        for key, factor in two.items():
            before = total.get(key)
            if before is None:
                total[key] = factor
            else:
                together = before + factor
                if together:
                    total[key] = together
                else:
                    del total[key]
        return _make_sum(total, below)

    __radd__ = __add__

    def __neg__(self) -> ExponentialSum:
        return _make_sum({key: -factor for key, factor in self._coefficients.items()}, self._denominator)

    def __sub__(self, other: ExponentialSum | int | Fraction | fmpq) -> ExponentialSum:
        return self + (-other)

    def __rsub__(self, other: int | Fraction | fmpq) -> ExponentialSum:
        return -self + other

    def __mul__(self, other: ExponentialSum | int | Fraction | fmpq) -> ExponentialSum:
        if not isinstance(other, ExponentialSum):
            scalar = rational(other)
            if scalar == 0:
                return _NOTHING
            return _make_sum({key: factor * scalar for key, factor in self._coefficients.items()}, self._denominator)
        one, two, below = _common(self, other)
        if len(one) > len(two):
            one, two = two, one
        if len(one) == 1:
            [((power, exponent), scalar)] = one.items()
            return _make_sum({(a + power, s + exponent): factor * scalar for (a, s), factor in two.items()}, below)
        product: dict[tuple[int, int], Rational] = {}
        for (power, exponent), scalar in one.items():
            for (a, s), factor in two.items():
                key = (a + power, s + exponent)
                before = product.get(key)
                product[key] = factor * scalar if before is None else before + factor * scalar
        return _make_sum({key: factor for key, factor in product.items() if factor}, below)

    __rmul__ = __mul__

    def scaled(self, shift: Number) -> ExponentialSum:
        """The sum times ``e^(shift*ε)``.

        >>> str(ExponentialSum.constant(3).scaled("-1/2"))
        '3*e^(-1/2)'
        """
        return self * ExponentialSum.term(1, 0, shift)

    def at(self, epsilon: Number) -> ExponentialSum:
        """The same number at this ε > 0, written with ε = 1: no powers are left, and exponents are distinct rationals.

        >>> (ExponentialSum.term(1, 2, -1) - ExponentialSum.term(2, 1, -1)).at(2).is_zero
        True
        """
        value = _positive(epsilon)
        below = self._denominator * int(value.q)
        combined: dict[tuple[int, int], Rational] = {}
        for (power, exponent), factor in self._coefficients.items():
            key = (0, exponent * int(value.p))
            combined[key] = combined.get(key, ZERO) + factor * value**power
        return _make_sum({key: factor for key, factor in combined.items() if factor}, below)

    def ball(self, epsilon: Number, bits: int = 128) -> arb:
        """A ball that contains the number at this ε, computed with so many bits.

        >>> ball = ExponentialSum.term("1/8", 0, "-9/2").ball(1)
        >>> bool(ball > rational("0.00138862")), bool(ball < rational("0.00138863"))
        (True, True)
        """
        number = self.at(epsilon)
        with precision(bits):
            return sum(
                (arb(factor) * arb(fmpq(exponent, number._denominator)).exp())
                for (_, exponent), factor in number._coefficients.items()
            ) + arb(0)

    def sign(self, epsilon: Number) -> int:
        """The sign of the number at this rational ε > 0, exactly.

        >>> (ExponentialSum.constant("1/3") - ExponentialSum.term(1, 0, -1)).sign(1)
        -1
        """
        number = self.at(epsilon)
        if number.is_zero:
            return 0
        if len({factor > 0 for factor in number._coefficients.values()}) == 1:
            return 1 if next(iter(number._coefficients.values())) > 0 else -1
        bits = 128
        while True:
            ball = number.ball(1, bits)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            bits *= 2

    def compare(self, other: ExponentialSum, epsilon: Number) -> int:
        """The sign of ``self - other`` at this ε, exactly."""
        return (self - other).sign(epsilon)

    def text(self, symbol: str = "") -> str:
        """The closed form with this symbol; without a symbol ε is 1.

        >>> ExponentialSum.of([("1/2", 0, 0), ("-1/8", 1, -1), (1, -2, "1/3")]).text("ε")
        'ε^(-2)*e^(1/3 ε) + 1/2 - 1/8*ε*e^(-ε)'
        """
        words = ""
        for factor, power, exponent in (self if symbol else self.at(1)).terms:
            factors = [] if abs(factor) == 1 else [str(abs(factor))]
            if power:
                factors.append(symbol if power == 1 else f"{symbol}^{power}" if power > 0 else f"{symbol}^({power})")
            if exponent:
                factors.append(f"e^({_exponent(exponent, symbol)})")
            sign = ("-" if factor < 0 else "") if not words else (" - " if factor < 0 else " + ")
            words += sign + ("*".join(factors) or "1")
        return words or "0"


def exceeds(left: ExponentialSum, right: ExponentialSum, budget: Epsilon, epsilon: Number) -> bool:
    """Whether ``left > e^budget * right`` at this ε; infinity times zero is zero.

    Exact when the budget is ``ln(ratio) + shift``.  With a root of a logarithm equality cannot be excluded by balls, and
    False then also means "not established with 8192 bits".

    >>> from privproof.exact.budgets import epsilon
    >>> left, right = ExponentialSum.term("1/8", 0, "-9/2"), ExponentialSum.term("1/8", 0, -6)
    >>> exceeds(left, right, epsilon("1.49"), 1), exceeds(left, right, epsilon("3/2"), 1)
    (True, False)
    """
    above, below = left.at(epsilon), right.at(epsilon)
    if above.sign(1) <= 0 and below.sign(1) >= 0:
        return False
    if below.is_zero:
        return True
    if budget.infinite:
        return below.sign(1) < 0
    if budget.root == 1:
        return (above - (below * budget.ratio).scaled(budget.shift)).sign(1) > 0
    bits = 128
    while bits <= _MOST_BITS:
        with precision(bits):
            difference = above.ball(1, bits) - budget.ball(bits).exp() * below.ball(1, bits)
        if difference > 0:
            return True
        if difference < 0:
            return False
        bits *= 2
    return False


def loss(left: ExponentialSum, right: ExponentialSum, epsilon: Number, bits: int = 128) -> arb:
    """A ball around ``ln(left/right)`` at this ε, infinite when one of them is zero.

    >>> ball = loss(ExponentialSum.term("1/8", 0, "-9/2"), ExponentialSum.term("1/8", 0, -6), 1)
    >>> bool(abs(ball - rational("3/2")) < rational("1e-30"))
    True
    """
    above, below = left.at(epsilon), right.at(epsilon)
    signs = (above.sign(1), below.sign(1))
    if min(signs) < 0 or signs == (0, 0):
        raise NumberError(
            "number", f"the quotient of {left.text('ε')} and {right.text('ε')} has no logarithm at ε={epsilon}"
        )
    if 0 in signs:
        return arb("inf") if signs[1] == 0 else arb("-inf")
    work = bits + _GUARD
    while True:
        one, two = above.ball(1, work), below.ball(1, work)
        if one > 0 and two > 0 and min(one.rel_accuracy_bits(), two.rel_accuracy_bits()) >= bits:
            with precision(work):
                return (one / two).log()
        work *= 2


def _exponent(value: Rational, symbol: str) -> str:
    if not symbol:
        return str(value)
    if abs(value) == 1:
        return symbol if value > 0 else f"-{symbol}"
    return f"{value} {symbol}"


def _positive(epsilon: Number) -> Rational:
    value = rational(epsilon)
    if value <= 0:
        raise NumberError("number", f"epsilon={value} is not above zero", hint="the noise has scale c/epsilon")
    return value


def _make_sum(coefficients: dict[tuple[int, int], Rational], denominator: int) -> ExponentialSum:
    """A sum of nonzero coefficients by ``(power, exponent*denominator)``."""
    made = ExponentialSum.__new__(ExponentialSum)
    made._coefficients = coefficients
    made._denominator = denominator
    return made


def _common(
    left: ExponentialSum, right: ExponentialSum
) -> tuple[dict[tuple[int, int], Rational], dict[tuple[int, int], Rational], int]:
    """The coefficients of both over one denominator."""
    if left._denominator == right._denominator:
        return left._coefficients, right._coefficients, left._denominator
    below = lcm(left._denominator, right._denominator)
    return _finer(left, below), _finer(right, below), below


def _finer(value: ExponentialSum, denominator: int) -> dict[tuple[int, int], Rational]:
    times = denominator // value._denominator
    if times == 1:
        return value._coefficients
    return {(power, exponent * times): factor for (power, exponent), factor in value._coefficients.items()}


_NOTHING = ExponentialSum()
