"""Smoothed ratios: how likely rare events are, foretold by a simple model of all of them.

A list of yes and no with no end of answers (sparse vector without a cut-off) loses most at outputs that hardly ever occur on one side: a
search counts too few of them to rank them.  But the counts in groups of places (`features.GroupCounts`) have a ratio that is smooth in
these counts.  Logistic regression on the counts, their squares and products, over all cells at once, estimates every ratio with the
strength of all runs; the cells by falling ratio, one after the other, are the events.

What is foretold only ranks events.  It is compared with fresh counts of the search, and dropped where these speak against it; the bound
comes from the runs of the test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privproof.engines.sampling.columns import Array
from privproof.engines.sampling.events import Having
from privproof.engines.sampling.features import NO_CODE, GroupCounts
from privproof.engines.sampling.intervals import Floats
from privproof.engines.sampling.samples import Samples

_ROUNDS = 25
"""Steps of Newton's method."""
_RIDGE = 1e-3
"""A little weight against large coefficients, so that a model of few runs is defined."""
_LEAST = 20
"""Occurrences on the left that an event needs: its probability there is not smoothed."""
_FAR = 3.0
"""Standard errors by which fresh counts may differ from what was foretold."""


@dataclass(frozen=True)
class Foretold:
    """An event, and its probabilities on both sides by the model."""

    event: Having
    left: float
    right: float

    def holds(self, left: int, right: int, runs: int) -> bool:
        """Whether fresh counts agree with it."""
        return all(
            abs(count - chance * runs) <= _FAR * np.sqrt(chance * runs + 1.0)
            for count, chance in ((left, self.left), (right, self.right))
        )


def foretold_unions(feature: GroupCounts, left: Samples, right: Samples) -> list[Foretold]:
    """Nested unions of cells by falling ratio, as the model has it, likelier on the left."""
    sides = [feature.codes(samples) for samples in (left, right)]
    known = np.unique(np.concatenate(sides))
    known = known[known != NO_CODE]
    counts = np.array([feature.counts(int(code)) for code in known], dtype=np.float64)
    if len(known) <= 2 * _terms(counts[:1]).shape[1]:
        return []  # fewer cells than a model of them is worth
    a, b = (np.bincount(np.searchsorted(known, codes[codes != NO_CODE]), minlength=len(known)) for codes in sides)
    logs = _fitted(_terms(counts / np.maximum(counts.max(axis=0), 1.0)), a, b)
    order = np.argsort(-logs, kind="stable")
    likely, unlikely = np.cumsum(a[order]), np.cumsum((a * np.exp(-logs))[order])
    return [
        Foretold(
            Having(feature, tuple(sorted(known[order[: i + 1]].tolist()))),
            float(likely[i]) / len(left),
            float(unlikely[i]) / len(left),
        )
        for i in range(len(order) - 1)
        if likely[i] >= _LEAST and logs[order[i]] > 0
    ]


def _terms(counts: Floats) -> Floats:
    """One, the counts, their squares and their products."""
    size = counts.shape[1]
    products = [counts[:, i] * counts[:, j] for i in range(size) for j in range(i, size)]
    return np.column_stack([np.ones(len(counts)), counts, *products])


def _fitted(terms: Floats, a: Array, b: Array) -> Floats:
    """The logarithm of the ratio of every cell, by logistic regression on its counts."""
    weights, total = np.zeros(terms.shape[1]), (a + b).astype(np.float64)
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(terms @ weights, -30, 30)))
        slope = terms.T @ (a - total * chance) - _RIDGE * weights
        curve = (terms * (total * chance * (1 - chance))[:, None]).T @ terms + _RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    found: Floats = np.clip(terms @ weights, -30, 30)
    return found
