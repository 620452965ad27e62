"""Smoothed ratios: how likely rare events are, foretold by a simple model of all of them.

A list of yes and no with no end of answers (sparse vector without a cut-off) loses most at outputs that hardly ever occur on one side: a
search counts too few of them to rank them.  But the counts in groups of places (`features.GroupCounts`) have a ratio that is smooth in
these counts.  Logistic regression on the counts, their squares and products, over all cells at once, estimates every ratio with the
strength of all runs; the cells by falling ratio, one after the other, are the events.

What is foretold only ranks events.  It is compared with fresh counts of the search, and dropped where these speak against it; the bound
comes from the runs of the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from privproof.audits.sampling.confidence_intervals import Floats
from privproof.audits.sampling.features import NO_CODE, GroupCounts
from privproof.audits.sampling.output_events import Having
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.sample_columns import Array

_ROUNDS = 25
"""Steps of Newton's method."""
_RIDGE = 1e-3
"""A little weight against large coefficients, so that a model of few runs is defined."""
_LEAST = 20
"""Occurrences on the left that an event needs: its probability there is not smoothed."""
_FAR = 3.0
"""Standard errors by which fresh counts may differ from what was foretold."""
_CUBES = 20_000
"""Runs on each side from which on cubes are known well enough; without them a ratio at the ends is off by a third."""
_TRUSTED = 30.0
"""Occurrences that a forecast is worth at most: no polynomial is the truth."""


@dataclass(frozen=True)
class ForetoldCount:
    """An event, and its probabilities on both sides by the model.

    Attributes:
        event: the event.
        left: its probability on the left.
        right: its probability on the right.
        occurrences: how many occurrences on the right the forecast is worth.
    """

    event: Having
    left: float
    right: float
    occurrences: float

    def holds(self, left: int, right: int, runs: int) -> bool:
        """Whether fresh counts agree with it."""
        likely, unlikely = self.left * runs, self.right * runs
        return bool(
            abs(left - likely) <= _FAR * np.sqrt(likely + 1.0)
            and abs(right - unlikely) <= _FAR * np.sqrt(unlikely + 1.0 + unlikely**2 / self.occurrences)
        )

    def joined(self, right: int, runs: int) -> tuple[float, float]:
        """Its probability on the right, and how many occurrences that rests on, by the model and by fresh counts together."""
        known = right + self.occurrences
        return known / (runs + self.occurrences / self.right), known


def foretold_unions(feature: GroupCounts, left: Samples, right: Samples) -> list[ForetoldCount]:
    """Nested unions of cells by falling ratio, as the model has it, likelier on the left."""
    sides = [feature.codes(samples) for samples in (left, right)]
    known = np.unique(np.concatenate(sides))
    known = known[known != NO_CODE]
    if not len(known):
        return []  # every output of these runs ends before the last of the places
    counts = np.array([feature.counts(int(code)) for code in known], dtype=np.float64)
    shares = counts / np.maximum(counts.max(axis=0), 1.0)
    degrees = (3, 2) if min(len(left), len(right)) >= _CUBES else (2,)
    listed = (_terms(shares, degree) for degree in degrees)
    terms = next((terms for terms in listed if len(known) > 2 * terms.shape[1]), None)
    if terms is None:
        return []  # fewer cells than a model of them is worth
    a, b = (np.bincount(np.searchsorted(known, codes[codes != NO_CODE]), minlength=len(known)) for codes in sides)
    logs, doubt = _fit_ratios(terms, a, b)
    order = np.argsort(-logs, kind="stable")
    each = (a * np.exp(-logs))[order]
    likely, unlikely = np.cumsum(a[order]), np.cumsum(each)
    slopes = np.cumsum(each[:, None] * terms[order], axis=0) / np.maximum(unlikely, 1e-300)[:, None]
    doubts = np.einsum("ij,jk,ik->i", slopes, doubt, slopes)  # of the logarithm of the right probability
    return [
        ForetoldCount(
            Having(feature, tuple(sorted(known[order[: i + 1]].tolist()))),
            float(likely[i]) / len(left),
            float(unlikely[i]) / len(left),
            float(1 / (doubts[i] + 1 / _TRUSTED)),
        )
        for i in range(len(order) - 1)
        if likely[i] >= _LEAST and logs[order[i]] > 0
    ]


def _terms(counts: Floats, degree: int) -> Floats:
    """All products of so many counts, or fewer."""
    columns = [counts[:, chosen].prod(axis=1) for chosen in _choices_of_terms(counts.shape[1], degree)]
    return np.column_stack(columns)


def _choices_of_terms(size: int, degree: int) -> Iterator[list[int]]:
    for number in range(degree + 1):
        yield from map(list, combinations_with_replacement(range(size), number))


def _fit_ratios(terms: Floats, a: Array, b: Array) -> tuple[Floats, Floats]:
    """The logarithm of the ratio of every cell, by logistic regression on its terms, and the covariance of their weights."""
    weights, total = np.zeros(terms.shape[1]), (a + b).astype(np.float64)
    curve = np.eye(terms.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(terms @ weights, -30, 30)))
        slope = terms.T @ (a - total * chance) - _RIDGE * weights
        curve = (terms * (total * chance * (1 - chance))[:, None]).T @ terms + _RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    found: Floats = np.clip(terms @ weights, -30, 30)
    doubt: Floats = np.asarray(np.linalg.inv(curve), dtype=np.float64)
    return found, doubt
