"""Histograms as sums: a number whose digits are the counts.

In series of T entries every entry of the j-th bin adds ``(T + 1)^j``.  No count exceeds T, so the digits of the sum in base T + 1 are the
counts, and the laws of histograms are laws of sums (`laws`).  Where every value has a bin, the last count is T less the others
and adds nothing.

Noise is added to every count.  Given X_i = x the output z has a probability proportional to ``sum over h of mu_x(h) times the product of
B^|z_j - h_j|``.  In one coordinate this is a mixture as for a sum (`outputs`): the ratio of two of them does not get larger by moving the
coordinate to the right whole number from 0 to T.  So comparing at all points of the box ``{0, ..., T}^bins`` is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import within
from privproof_checker.release.release_questions import Histogram, Sum

_MOST_OUTPUTS = 1_000_000
"""The points of the box at which a histogram is compared, for memory; beyond, the question is refused (shorter series, fewer bins)."""


@dataclass(frozen=True)
class Counts:
    """How numbers tell the counts of a histogram.

    Attributes:
        bins: how many counts there are.
        entries: the greatest count.
        rest: whether the last count is what the others leave of all entries.
    """

    bins: int
    entries: int
    rest: bool

    @property
    def base(self) -> int:
        """Of the digits."""
        return self.entries + 1

    @property
    def outputs(self) -> int:
        """The points of the box; each has a place, the number with these digits."""
        return int(self.base**self.bins)

    def point(self, place: int) -> list[int]:
        """The counts at a place of the box.

        >>> Counts(2, 2, rest=True).point(5), Counts(2, 2, rest=True).of(1)
        ([2, 1], [1, 1])
        """
        return [place // self.base**j % self.base for j in range(self.bins)]

    def of(self, number: int) -> list[int]:
        """The counts that a sum tells."""
        digits = self.point(number)
        if self.rest:
            digits[-1] = self.entries - sum(digits[:-1])
        return digits

    def place(self, number: int) -> int:
        """The place in the box of the counts that a sum tells."""
        return sum(count * self.base**j for j, count in enumerate(self.of(number)))

    def distance(self, number: int, place: int) -> int:
        """How far the counts that a sum tells are from a point of the box, all together."""
        return sum(abs(a - b) for a, b in zip(self.of(number), self.point(place), strict=True))


def sum_of_counts(query: Histogram, values: Sequence[Sequence[str]], entries: int, place: str) -> tuple[Sum, Counts]:
    """The sum that tells all counts, for entries that take these values."""
    within(len(query.bins) * (entries + 1).bit_length(), 64, "bits of the outputs of a histogram", place)
    rest = all(value in query.bins for each in values for value in each)
    counts = Counts(len(query.bins), entries, rest)
    within(counts.outputs, _MOST_OUTPUTS, "outputs of a histogram", place)
    told = query.bins[:-1] if rest else query.bins
    return Sum({name: Rational(counts.base**j) for j, name in enumerate(told)}, Rational(1)), counts
