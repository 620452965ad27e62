"""Aims: what an audit wants to bound, what counts of a search are worth for it, and how the events that are tested share the confidence.

While events are learnt, one is worth the number that the two intervals of its counts ask for (`sampling.tradeoffs`).  Pairs, and the
events that are tested, are chosen by what they *promise*: about the bound that a test of its length would give, less what the search itself
may have got wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.audits.sampling.confidence_intervals import (
    SEARCH_ERRORS,
    Floats,
    at_least,
    at_most,
    epsilon_at_least,
    errors_of,
    loss,
    promised_epsilon,
    promised_jointly,
)
from privproof.audits.sampling.event_kinds import Score
from privproof.audits.sampling.output_events import Event
from privproof.audits.sampling.sample_columns import Array
from privproof.audits.sampling.smoothed_counts import ForetoldCount
from privproof.audits.sampling.tradeoff_curves import DeltaAt, EpsilonAt, Tradeoff, roughly

_DOUBT = 0.1
"""How sure the search is of what it prefers."""
_ANGLES = 9
"""Directions in which two probabilities may both be off, between the first alone and the second alone."""
_DELTA_ERRORS = 1.0
"""Standard errors of the search that the promise of a delta is lowered by: fewer than of others, which rare events overstate."""
_PAIR_ERRORS = 1.0
"""The same where pairs are compared, which get more runs if they look good: with two, old pairs win for having more runs."""
_CLAIM_SHARES = (0.9, 0.1)
"""How two events share alpha: the one for epsilon decides about a claim; the one for delta is frequent, and needs little."""
_CURVE_SHARE = 0.5
"""The share of a curve of deltas where a claim is tested beside it."""


@dataclass(frozen=True)
class Aim:
    """What is looked for.

    Attributes:
        claim: what is bounded first, by which data sets and events are compared; others beside it, as delta at the claimed epsilon.
        curve: the deltas at some epsilons that are bounded as well, all together.
    """

    claim: tuple[Tradeoff, ...] = (EpsilonAt(),)
    curve: tuple[DeltaAt, ...] = ()

    @property
    def first(self) -> Tradeoff:
        """What data sets are compared by: the claim, or else the delta in the middle of the curve."""
        return self.claim[0] if self.claim else self.curve[len(self.curve) // 2]

    def shares(self, tested: Sequence[Tradeoff]) -> list[float]:
        """The shares of alpha of events that are tested for these: they sum to at most one."""
        claims = sum(tradeoff in self.claim for tradeoff in tested)
        curves = len(tested) - claims
        for_curve = 0.0 if not curves else _CURVE_SHARE if claims else 1.0
        parts = _CLAIM_SHARES if claims > 1 else (1.0,)
        return [(1 - for_curve) * part for part in parts[:claims]] + [for_curve / max(1, curves)] * curves


def worth_of(tradeoff: Tradeoff, runs: int) -> Score:
    """What counts among so many runs are worth."""

    def worth(left: Array, right: Array) -> Floats:
        if isinstance(tradeoff, EpsilonAt):
            return epsilon_at_least(left, right, runs, _DOUBT, tradeoff.delta)
        return roughly(tradeoff).least(at_least(left, runs, _DOUBT / 2), at_most(right, runs, _DOUBT / 2))

    return worth


def shows(tradeoff: Tradeoff, runs: int) -> bool:
    """Whether so many runs can show anything about it: not about a delta whose epsilon is beyond their logarithm."""
    return not isinstance(tradeoff, DeltaAt) or exp(min(tradeoff.epsilon, 700)) <= runs


def promise_of(tradeoff: Tradeoff, searched: int, runs: int) -> Score:
    """By what pairs are compared: what counts among so many runs of a search promise for a test of so many others.

    Unlike what counts are worth by themselves it hardly grows with the runs of the search, so that a new pair with few runs is not beaten
    by an old one for having many.
    """

    def promise(left: Array, right: Array) -> Floats:
        return bound_from_counts(tradeoff, left, right, searched, runs, _PAIR_ERRORS)

    return promise


def bound_from_counts(
    tradeoff: Tradeoff, left: ArrayLike, right: ArrayLike, searched: int, runs: int, errors: float | None = None
) -> Floats:
    """About the bound that so many fresh runs promise, from counts of a search: the least over an ellipse around the estimates.

    Args:
        tradeoff: what is bounded.
        left: counts on the left.
        right: counts on the right.
        searched: the runs of the search.
        runs: the runs of the test.
        errors: standard errors of the search that it is lowered by; without it as many as one event among many needs.
    """
    doubts = (_DELTA_ERRORS if isinstance(tradeoff, DeltaAt) else SEARCH_ERRORS) if errors is None else errors
    radius = errors_of(searched, runs, doubts)
    if isinstance(tradeoff, EpsilonAt):
        return promised_epsilon(left, right, radius, searched, tradeoff.delta)
    p, q = ((np.asarray(count, dtype=np.float64) + 0.5) / (searched + 1) for count in (left, right))
    found = np.full(p.shape, np.inf)
    for angle in np.linspace(0, pi / 2, _ANGLES).tolist():
        low = np.maximum(p - radius * np.cos(angle) * np.sqrt(p * (1 - p)), 0.0)
        high = np.minimum(q + radius * np.sin(angle) * np.sqrt(q * (1 - q)), 1.0)
        found = np.minimum(found, roughly(tradeoff).least(low, high))
    return found


@dataclass(frozen=True)
class Candidate:
    """Two data sets and an event that seems likelier on the left.

    Attributes:
        pair: the data sets.
        event: the event.
        left: how often it occurred on the left, among runs that did not propose it.
        right: the same on the right.
        runs: how many runs there were on each side.
        worth: what these counts promise for the test.
        outputs: the distinct outputs that occurred.
        foretold: what a model of all outputs says about the event, if there is one.
    """

    pair: Adjacent
    event: Event
    left: int
    right: int
    runs: int
    worth: float
    outputs: tuple[Any, ...] = field(repr=False, default=())
    foretold: ForetoldCount | None = None

    @property
    def estimate(self) -> float:
        """The loss that the counts suggest."""
        return loss(self.left / self.runs, self.right / self.runs)


def promised_bound(candidate: Candidate, tradeoff: Tradeoff, runs: int) -> float:
    """What its counts and a model of all outputs promise together for so many runs; zero where the counts speak against the model."""
    model = candidate.foretold
    if model is None or not isinstance(tradeoff, EpsilonAt):
        return 0.0
    if not model.holds(candidate.left, candidate.right, candidate.runs):
        return 0.0
    right, occurrences = model.joined(candidate.right, candidate.runs)
    left = candidate.left / candidate.runs
    return promised_jointly(left, candidate.runs, right, occurrences, runs, tradeoff.delta)


@dataclass(frozen=True)
class Planned:
    """An event that is to be tested on fresh runs.

    Attributes:
        candidate: the event, and what the search counted.
        tradeoff: what it is to show.
    """

    candidate: Candidate
    tradeoff: Tradeoff
