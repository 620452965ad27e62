"""Histograms as sums: one number that tells all counts of a series, and noise that is added to each of them.

With ``n = T + 1``, T being the number of entries, an entry of the j-th bin adds ``n^j``: the digits of the sum in base n are the counts.
Where every entry falls into some bin, the last count is what the others leave of T, and its digit is left out.  So the laws of
histograms are laws of sums, computed and checked as all of them are; only the noise is another.

Noise of its own on every count makes the density of the outputs ``z`` given a value ``sum over h of mu(h) product of
alpha^|z_j - h_j|``.  As a function of one coordinate it is a mixture as for sums, so with all others fixed the ratio of two of them is
largest at a whole number from 0 to T (`losses`); coordinate by coordinate, it is largest at a point of the *box* ``{0, ..., T}^bins``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from privproof.exact import ONE, rational
from privproof.release.series_queries import Query

MOST_OUTPUTS = 1_000_000
"""Points of the box of one histogram, for memory: an array of them, for every value of an entry, is 8 MB; the checker refuses more."""


@dataclass(frozen=True)
class Counts:
    """How the digits of a number are the counts of a histogram.

    Attributes:
        bins: how many counts there are.
        entries: how many entries there are, the most that a count can be.
        rest: whether the last count is what the others leave of all entries.
    """

    bins: int
    entries: int
    rest: bool

    @property
    def outputs(self) -> int:
        """How many points the box has."""
        return int((self.entries + 1) ** self.bins)

    def point(self, place: int) -> tuple[int, ...]:
        """The counts at a place of the box."""
        return tuple(place // (self.entries + 1) ** j % (self.entries + 1) for j in range(self.bins))

    def counts(self, number: int) -> tuple[int, ...]:
        """The counts that a number tells.

        >>> Counts(2, 3, rest=True).counts(1), Counts(2, 3, rest=False).counts(6)
        ((1, 2), (2, 1))
        """
        digits = self.point(number)
        return (*digits[:-1], self.entries - sum(digits[:-1])) if self.rest else digits

    def boxed(self, masses: np.ndarray) -> np.ndarray:
        """Laws of numbers, row by row, as laws on the box: an array of rows, by the counts from the last bin to the first."""
        base, rows = self.entries + 1, len(masses)
        digits = self.bins - self.rest
        flat = np.zeros((rows, base**digits))
        flat[:, : masses.shape[1]] = masses
        if not self.rest:
            return flat.reshape(rows, *[base] * self.bins)
        numbers = np.arange(base**digits)
        last = self.entries - sum(numbers // base**j % base for j in range(digits))
        there = np.flatnonzero(last >= 0)
        box = np.zeros((rows, base**self.bins))
        box[:, there + base**digits * last[there]] = flat[:, there]
        return box.reshape(rows, *[base] * self.bins)


def pack_counts(query: Query, values: Iterable[Sequence[str]], entries: int) -> tuple[Query, Counts]:
    """The sum that tells all counts of a histogram.

    Args:
        query: the histogram.
        values: what each kind of entry may be: the states of a chain, or the values of every node.
        entries: how many entries there are.
    """
    rest = all(value in query.bins for each in values for value in each)
    told = query.bins[:-1] if rest else query.bins
    weights = {name: rational((entries + 1) ** j) for j, name in enumerate(told)}
    return Query("sum", query.name, query.sensitivity, ONE, weights), Counts(len(query.bins), entries, rest)
