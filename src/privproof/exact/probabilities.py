"""Probabilities, however they are known: as a fraction, as a sum of exponentials, or enclosed in a ball."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb, fmpz

from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum, loss
from privproof.exact.rationals import fraction, rational


@dataclass(frozen=True)
class Ball:
    """A number between ``middle * 2^power - radius * 2^small`` and ``middle * 2^power + radius * 2^small``.

    Two are equal if they are the same interval.

    >>> from flint import arb
    >>> Ball.of(arb("0.5")), Ball.of(arb("0.5")) == Ball.of(arb(1) / 2), Ball.of(arb(1) / 3).exact()
    (Ball(middle=1, power=-1, radius=0, small=0), True, None)
    """

    middle: int
    power: int
    radius: int = 0
    small: int = 0

    @classmethod
    def of(cls, value: arb) -> Ball:
        """A ball of python-flint, as it is."""
        middle, power = value.mid().man_exp()
        radius, small = value.rad().man_exp()
        return cls(int(middle), int(power), int(radius), int(small))

    def exact(self) -> Fraction | None:
        """The number, where nothing else is enclosed."""
        return None if self.radius else self.middle * Fraction(2) ** self.power

    def ball(self, bits: int = 128) -> arb:
        """The ball, as python-flint takes it."""
        with precision(max(bits, self.middle.bit_length() + 64)):
            return arb((fmpz(self.middle), fmpz(self.power)), (fmpz(self.radius), fmpz(self.small)))

    def __float__(self) -> float:
        return float(self.ball().mid())

    def __str__(self) -> str:
        return str(self.ball())


Probability: TypeAlias = Fraction | ExponentialSum | Ball


def exactly(value: Probability) -> Fraction | None:
    """A probability as a fraction, where it is known to be one."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Ball):
        return value.exact()
    number = value.at(1).rational
    return None if number is None else fraction(number)


def ball_of_probability(value: Probability, bits: int = 128) -> arb:
    """A probability as a ball."""
    if isinstance(value, ExponentialSum):
        return value.ball(1, bits)
    if isinstance(value, Ball):
        return value.ball(bits)
    with precision(bits):
        return arb(rational(value))


def is_zero(value: Probability) -> bool:
    """Whether something is impossible."""
    return value.is_zero if isinstance(value, ExponentialSum) else exactly(value) == 0


def loss_of(left: Probability, right: Probability, bits: int = 128) -> arb:
    """The logarithm of the ratio of two probabilities, as a ball."""
    if isinstance(left, ExponentialSum) and isinstance(right, ExponentialSum):
        return loss(left, right, 1, bits)
    with precision(bits):
        return (ball_of_probability(left, bits) / ball_of_probability(right, bits)).log()
