"""Testing: fresh runs of two data sets, events that were fixed before, and what their counts say with confidence.

One event is tested for epsilon, or for the measure that is claimed; another one may be tested for delta, and some for a curve of deltas.
They share alpha (`sampling.aims`), so that with probability at least ``1 - alpha`` *all* bounds hold together, whichever is reported.
A test may also end as soon as its runs refute the claim; then what it says rests on bets (`sampling.betting`), not on intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.audits.sampling.betting import Stakes, grid
from privproof.audits.sampling.confidence_intervals import Floats, loss
from privproof.audits.sampling.confidence_regions import ConfidenceRegion, best_weight
from privproof.audits.sampling.event_tallies import Crew, tally
from privproof.audits.sampling.output_events import Event
from privproof.audits.sampling.output_forms import FLOAT
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.sample_columns import Array
from privproof.audits.sampling.search_aims import Aim, Planned
from privproof.audits.sampling.tradeoff_curves import EpsilonAt, Tradeoff
from privproof.engines.search_monitor import Monitor

_BINS = 24
"""Bars of a histogram of numbers: as many as can be told apart in a report."""
_LISTED = 20
"""Outputs that a histogram shows by name; the others are counted together."""
CURVE_CELLS = 100
"""Cells behind every p-value of a curve: few, since a curve has many points; they err to the safe side."""
_POINTS = 80
"""Points of the curve of p-values, and as many again where it rises."""


@dataclass(frozen=True)
class EventCount:
    """An event, and how often it occurred in fresh runs on both data sets.

    Attributes:
        pair: the data sets.
        event: the event, which was fixed before the runs.
        left: how often it occurred on the left.
        right: how often on the right.
        runs: how many runs there were on each side.
        weight: how the confidence is shared between the two sides, fixed before the runs (`sampling.regions`).
        share: the share of alpha that is spent on this event.
    """

    pair: Adjacent
    event: Event
    left: int
    right: int
    runs: int
    weight: float = 0.5
    share: float = 1.0

    @property
    def region(self) -> ConfidenceRegion:
        """The probabilities that the counts do not reject."""
        return ConfidenceRegion(self.left, self.right, self.runs, self.weight)

    @property
    def estimate(self) -> float:
        """The loss that the counts suggest; infinite where the event never occurred on the right."""
        return loss(self.left / self.runs, self.right / self.runs)

    def at_least(self, tradeoff: Tradeoff, alpha: float) -> float:
        """A lower bound; all events that share alpha hold theirs together with confidence ``1 - alpha``."""
        return self.region.at_least(tradeoff, self.share * alpha)

    def epsilon_at_least(self, alpha: float, delta: float = 0.0) -> float:
        """A lower bound on epsilon at a delta, with the same confidence."""
        return self.at_least(EpsilonAt(delta), alpha)


@dataclass(frozen=True)
class Histogram:
    """How often outputs, or intervals of outputs, occurred on both data sets: rows of a name and two counts."""

    rows: tuple[tuple[str, int, int], ...]
    runs: int


def count_events(
    crew: Crew,
    tested: Sequence[Planned],
    aim: Aim,
    alpha: float,
    runs: int,
    seeds: np.random.SeedSequence,
    monitor: Monitor,
) -> tuple[tuple[EventCount, ...], Histogram]:
    """How often events occur in fresh runs on both data sets, and what was written how often in the first of them.

    Args:
        crew: what is run, and who runs it.
        tested: the events of one pair, with the counts of the search: these alone fix the weights.
        aim: what is looked for.
        alpha: one minus the confidence.
        runs: how many runs on each side.
        seeds: where the seeds of the runs come from.
        monitor: progress, a time limit.
    """
    pair, generator = tested[0].candidate.pair, np.random.default_rng(seeds.spawn(1)[0])
    shares = aim.shares([planned.tradeoff for planned in tested])
    weights = [
        best_weight(c.left, c.right, c.runs, runs, share * alpha, planned.tradeoff, generator)
        for planned, share in zip(tested, shares, strict=True)
        for c in (planned.candidate,)
    ]
    found = tally(crew, pair, [planned.candidate.event for planned in tested], runs, seeds, monitor)
    counts = tuple(
        EventCount(pair, planned.candidate.event, a, b, found.runs, weight, share)
        for planned, (a, b), weight, share in zip(tested, found.counts.tolist(), weights, shares, strict=True)
    )
    return counts, histogram(*found.first)


def counted_until(
    crew: Crew,
    tested: Planned,
    claimed: float,
    delta: float,
    level: float,
    runs: int,
    seeds: np.random.SeedSequence,
    monitor: Monitor,
) -> tuple[tuple[EventCount, ...], Histogram, Stakes]:
    """How often an event occurs in fresh runs, until they refute a claim, or all are made; what they say is in the stakes alone.

    Args:
        crew: what is run, and who runs it.
        tested: the event, with the counts of the search.
        claimed: the claimed epsilon.
        delta: the claimed delta.
        level: the p-value that refutes the claim.
        runs: how many runs on each side at most.
        seeds: where the seeds of the runs come from.
        monitor: progress, a time limit.
    """
    c = tested.candidate
    expected = loss((c.left + 0.5) / (c.runs + 1), (c.right + 0.5) / (c.runs + 1))
    stakes = Stakes(grid(claimed, expected), delta, (c.left, c.right), c.runs)

    def enough(counts: Array, made: int) -> bool:
        (left, right), *_ = counts.tolist()
        stakes.add(left, right, made)
        return stakes.p_value(claimed) <= level

    found = tally(crew, c.pair, [c.event], runs, seeds, monitor, enough)
    (left, right), *_ = found.counts.tolist()
    return (EventCount(c.pair, c.event, left, right, found.runs),), histogram(*found.first), stakes


def curve(
    counts: Sequence[EventCount], tradeoff: Tradeoff, values: Sequence[float], cells: int = CURVE_CELLS
) -> Floats:
    """For every value the p-value of "it is kept", over all events with their shares of alpha."""
    lowest = np.ones(len(values))
    for count in counts:
        lowest = np.minimum(lowest, count.region.p_values(tradeoff, values, cells) / count.share)
    return lowest


def histogram(left: Samples, right: Samples) -> Histogram:
    """What was written how often: outputs by name where they repeat, otherwise intervals of the only number in them."""
    runs = min(len(left), len(right))
    if all(samples.outputs == (FLOAT,) for samples in (left, right)):
        return Histogram(_bin_counts(left.floats[0], right.floats[0]), runs)
    one, other = left.counts(), right.counts()
    names = sorted({*one, *other}, key=lambda name: -max(one.get(name, 0), other.get(name, 0)))
    if len(names) > _LISTED and all(isinstance(o, int) for s in (left, right) for o in s.outputs):
        return Histogram(_bin_counts(left.values().astype(float), right.values().astype(float), whole=True), runs)
    rows = [(name, one.get(name, 0), other.get(name, 0)) for name in _in_order(names[:_LISTED])]
    more, others = (sum(counts.get(name, 0) for name in names[_LISTED:]) for counts in (one, other))
    rows += [(f"{len(names) - _LISTED} other outputs", more, others)] if more or others else []
    return Histogram(tuple(rows), runs)


def _in_order(names: Sequence[str]) -> list[str]:
    """Numbers by size, everything else by how often it occurs."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return list(names)


def _bin_counts(one: Floats, other: Floats, *, whole: bool = False) -> tuple[tuple[str, int, int], ...]:
    pooled = np.concatenate([one, other])
    pooled = pooled[np.isfinite(pooled)]
    if not len(pooled):
        return (("no finite number", len(one), len(other)),)
    low, high = (float(x) for x in np.percentile(pooled, [0.5, 99.5]))
    if whole:
        step = max(1.0, float(np.ceil((high - low + 1) / _BINS)))
        ends = np.arange(np.floor(low), high + step + 1, step)
    else:
        ends = np.linspace(low, high, _BINS + 1) if isfinite(high - low) and high > low else np.array([low, low + 1])
    columns = [np.histogram(side, bins=[-np.inf, *ends.tolist(), np.inf])[0].tolist() for side in (one, other)]
    names = [f"below {ends[0]:.4g}"]
    for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        names.append(
            f"{a:.0f}" if whole and b - a == 1 else f"{a:.0f} to {b - 1:.0f}" if whole else f"{a:.4g} to {b:.4g}"
        )
    names.append(f"{ends[-1]:.4g} and above")
    return tuple((name, int(a), int(b)) for name, a, b in zip(names, *columns, strict=True) if a or b)


def epsilons_for(bound: float, counts: Sequence[EventCount], marks: Sequence[float]) -> list[float]:
    """The epsilons at which a curve is drawn: from zero until beyond everything of interest, closely where it rises."""
    estimates = [count.estimate for count in counts if isfinite(count.estimate)]
    reach = max([0.5, *(1.25 * value for value in (bound, *marks, *estimates) if isfinite(value))])
    middle = max([bound, *estimates])
    low, high = max(0.0, bound - (middle - bound)), min(reach, middle + (middle - bound))
    spread = [reach * i / _POINTS for i in range(_POINTS + 1)]
    return sorted({*spread, *(low + (high - low) * i / _POINTS for i in range(_POINTS + 1))})
