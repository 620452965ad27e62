"""Lotteries: every element of a list draws a level, and one of those with the highest level is drawn by lot.

Every element draws its level by itself, from a law that depends on its value alone; the output is the index of an element whose level is
the highest, each of them with the same probability.  How the lot is drawn does not matter: give every element a priority, uniform on
[0, 1) and independent of all else; the one with the largest sum of level and priority is a highest one, and each of them is as likely.
So element i wins with probability ``integral of p_i(floor(y)) * product over j != i of F_j(y) dy``, where ``p_j(k)`` is the probability
that element j draws level k, and ``F_j`` the distribution function of its level and priority together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq_poly

from privproof.exact import ZERO, Rational


@dataclass(frozen=True)
class Lottery:
    """The laws of a lottery.

    Attributes:
        values: what an element may be.
        laws: for every value the probabilities of the levels, the lowest first.
    """

    values: tuple[Any, ...]
    laws: tuple[tuple[Rational, ...], ...]

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return len(self.laws[0])


def win_probability(lottery: Lottery, winner: int, others: Mapping[int, int]) -> Rational:
    """The probability that one element wins.

    Args:
        lottery: the lottery.
        winner: the number of the value of this element.
        others: how many other elements have which value, by its number.

    >>> from privproof.exact import rational
    >>> coin = Lottery((0, 1), ((rational("2/3"), rational("1/3")), (rational("1/3"), rational("2/3"))))
    >>> win_probability(coin, 0, {1: 1}), win_probability(coin, 1, {0: 1}), win_probability(coin, 0, {})
    (1/3, 2/3, 1)
    """
    below = dict.fromkeys((winner, *others), ZERO)
    total = ZERO
    for level in range(lottery.levels):
        own = lottery.laws[winner][level]
        if own != 0:
            product = fmpq_poly([1])
            for value, count in others.items():
                product *= fmpq_poly([below[value], lottery.laws[value][level]]) ** count
            total += own * product.integral()(Rational(1))
        for value in below:
            below[value] += lottery.laws[value][level]
    return total
