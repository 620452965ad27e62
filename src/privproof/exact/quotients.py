"""Quotients of exponential sums: the probabilities of choices by weights that are powers of e.

``e^(s_i) / (e^(s_1) + ... + e^(s_n))`` is no exponential sum, but a quotient of two whose denominator is above 0.  Such quotients are
closed under sums and products, and their signs are those of their numerators: they are decided as exactly as sums are.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, fmpq

from privproof.errors import NumberError
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum, Term
from privproof.exact.rationals import Number, Rational


class ExponentialQuotient(ExponentialSum):
    """An immutable exact quotient of two exponential sums; every term of the denominator is above 0.

    >>> one, two = ExponentialSum.term(1, 0, 1), ExponentialSum.term(1, 0, 2)
    >>> first, second = ExponentialQuotient(one, one + two), ExponentialQuotient(two, one + two)
    >>> str(first)
    '(e^(1))/(e^(2) + e^(1))'
    >>> first + second == ExponentialSum.constant(1), (second - first).sign(1), (1 - second) == first
    (True, 1, True)
    """

    __slots__ = ("above", "below")

    above: ExponentialSum
    below: ExponentialSum

    def __init__(self, above: ExponentialSum, below: ExponentialSum) -> None:
        """The quotient.

        Raises:
            NumberError: a term of the denominator is not above 0, or there is none.
        """
        if below.is_zero or any(factor <= 0 for factor, _, _ in below.terms):
            raise NumberError("number", f"{below.text('ε')} is no sum of terms above 0")
        super().__init__()
        self.above, self.below = above, below

    @property
    def is_zero(self) -> bool:
        """Whether the numerator is zero."""
        return self.above.is_zero

    @property
    def rational(self) -> Rational | None:
        """The number itself, where it is seen to be a rational one: 0, or a multiple of the denominator."""
        if self.is_zero:
            return self.above.rational
        share: Rational = self.above.terms[0][0] / self.below.terms[0][0]
        return share if (self.above - self.below * share).is_zero else None

    @property
    def size(self) -> int:
        """How many terms both parts have."""
        return self.above.size + self.below.size

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of both parts."""
        return (*self.above.terms, *self.below.terms)

    __eq__ = ExponentialSum.__eq__

    def __hash__(self) -> int:
        """Equal quotients may be written in many ways."""
        return hash("quotient")

    def __add__(self, other: ExponentialSum | int | Fraction | fmpq) -> ExponentialSum:
        above, below = _parts(other)
        if below == self.below:
            return ExponentialQuotient(self.above + above, self.below)
        return ExponentialQuotient(self.above * below + above * self.below, self.below * below)

    __radd__ = __add__

    def __neg__(self) -> ExponentialSum:
        return ExponentialQuotient(-self.above, self.below)

    def __rsub__(self, other: ExponentialSum | int | Fraction | fmpq) -> ExponentialSum:
        return -self + other

    def __mul__(self, other: ExponentialSum | int | Fraction | fmpq) -> ExponentialSum:
        above, below = _parts(other)
        return ExponentialQuotient(self.above * above, self.below * below)

    __rmul__ = __mul__

    def at(self, epsilon: Number) -> ExponentialSum:
        """The same number at this ε > 0, written with ε = 1."""
        return ExponentialQuotient(self.above.at(epsilon), self.below.at(epsilon))

    def ball(self, epsilon: Number, bits: int = 128) -> arb:
        """A ball that contains the number at this ε, computed with so many bits."""
        with precision(bits):
            return self.above.ball(epsilon, bits) / self.below.ball(epsilon, bits)

    def sign(self, epsilon: Number) -> int:
        """The sign of the number at this rational ε > 0, exactly."""
        return self.above.sign(epsilon)

    def text(self, symbol: str = "") -> str:
        """The closed form with this symbol; without a symbol ε is 1."""
        return f"({self.above.text(symbol)})/({self.below.text(symbol)})"


def _parts(value: ExponentialSum | int | Fraction | fmpq) -> tuple[ExponentialSum, ExponentialSum]:
    """Numerator and denominator."""
    if isinstance(value, ExponentialQuotient):
        return value.above, value.below
    whole = value if isinstance(value, ExponentialSum) else ExponentialSum.constant(value)
    return whole, ExponentialSum.constant(1)
