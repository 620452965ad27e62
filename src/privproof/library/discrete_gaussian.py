"""Counts, sums and histograms with discrete Gaussian noise, for lists of every length (Canonne, Kamath and Steinke 2020)."""

# mypy: ignore-errors

from __future__ import annotations

from privproof.language import discrete_gaussian, mechanism, records

AGES = tuple(range(0, 101, 10))
"""What people say, rounded."""


@mechanism(epsilon=1, delta="0.0380", neighbours="one")
def discrete_histogram(data: records("a", "b", "c")):
    """How many there are of each kind: one person who changes moves two counts by 1."""
    return [discrete_gaussian(data.count(kind), variance=4) for kind in ("a", "b", "c")]


@mechanism(epsilon=1, delta="0.00683", neighbours="add-remove")
def discrete_sum(data: records(*AGES)):
    """The sum of ages that are rounded to tens and at most 100: one person more moves it by at most 100."""
    return discrete_gaussian(sum(data), variance=40_000)


@mechanism(epsilon=1, delta="0.00683")
def normal_delta(data: records(0, 1)):
    """Wrong: a count with the delta of normal noise of the same variance, which discrete noise exceeds."""
    return discrete_gaussian(sum(data), variance=4)
