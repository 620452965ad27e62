"""The exact loss of a noisy sum or histogram, and the least noise that keeps it within a budget.

Given X_i = x the released value has the density ``p_x(z) ~ sum over c of mu_x(c) e^(-|z - c| rho)``.  Between two neighbouring sums
the ratio of two such mixtures is a Moebius function of e^(2 z rho), so it is monotone there, and it is constant outside: the
largest ratio is at a sum.  So

    loss = max over entries, values x, x' and sums c of  log p_x(c) / p_x'(c),

for Laplace noise and for geometric noise alike, with ``alpha = e^(-rho step)``; of a histogram, over its box (`counts`).  More noise
is less noise with noise added to it, so the loss falls with the scale and bisection finds the least one.

Sums are of positive floats, with known relative errors; losses are enclosed, and a scale is accepted only where the upper end is
within the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

import numpy as np

from privproof.release.histogram_sums import Counts
from privproof.release.sum_laws import SumLaws
from privproof.release.transition_powers import UNIT

_TINY = 1e-265
"""Below this mixtures have lost digits, and the loss counts as infinite from above."""
_TIED = 1e-9
"""Losses this near to each other, relatively, count as equal when a witness is chosen: the first, or the likeliest."""
_WIDEST = 2000
"""Outcomes up to which half-lines are looked at: the table of all of them is a square."""
_BATCH = 400_000
"""Numbers computed at once, for memory."""


@dataclass(frozen=True)
class ReleaseLoss:
    """A loss, enclosed, and where it is attained.

    Attributes:
        low: the loss is at least this.
        high: it is at most this.
        laws: the entry.
        left: the value that makes the output likelier.
        right: the other value.
        output: the released sum, in steps; of a histogram the place in its box.
    """

    low: float
    high: float
    laws: SumLaws
    left: str
    right: str
    output: int


Batch: TypeAlias = "tuple[SumLaws, ...]"
"""Laws of the same shape, which are looked at side by side; side by side they stand only meanwhile."""


def batch_laws(found: Sequence[SumLaws]) -> list[Batch]:
    """The laws in batches of moderate size, in their order."""
    groups: list[list[SumLaws]] = []
    for laws in found:
        room = _BATCH // (laws.outputs * len(laws.values))
        if not groups or _shape(groups[-1][0]) != _shape(laws) or len(groups[-1]) >= max(1, room):
            groups.append([])
        groups[-1].append(laws)
    return [tuple(group) for group in groups]


def _shape(laws: SumLaws) -> tuple[object, ...]:
    return laws.masses.shape, laws.counts


def largest_loss(found: Sequence[SumLaws], alpha: float) -> ReleaseLoss:
    """The largest loss under noise ``alpha^|z - c|``, over all entries, pairs of values, and outputs.

    Losses that are equal up to rounding are told apart by their place: the first entry is named, and its likeliest output.
    """
    return _largest(batch_laws(found), alpha)


def _largest(found: Sequence[Batch], alpha: float) -> ReleaseLoss:
    highs = [high for batch in found for high in _highs(batch, alpha)]
    highest = max(highs)
    listed = (laws for batch in found for laws in batch)
    first = next(laws for laws, high in zip(listed, highs, strict=True) if high >= highest * (1 - _TIED))
    return replace(loss_of(first, alpha), high=highest)


def _highs(batch: Batch, alpha: float) -> list[float]:
    """For every law of a batch a bound from above on its loss."""
    number, values = len(batch), len(batch[0].values)
    mixed = noisy_masses(np.concatenate([laws.masses for laws in batch]), alpha, batch[0].counts)
    mixed = mixed.reshape(number, values, -1)
    least = mixed.min(axis=(1, 2))
    logs = np.log(np.maximum(mixed, _TINY))
    losses = (logs.max(axis=1) - logs.min(axis=1)).max(axis=1)
    error = max(laws.error for laws in batch)
    rounding = _rounding_error(error, _terms(batch[0]), float(np.abs(logs).max()))
    return [inf if small < _TINY else float(loss) + rounding for small, loss in zip(least, losses, strict=True)]


def _terms(laws: SumLaws) -> int:
    """How many terms are added up for one output, all coordinates together."""
    return laws.masses.shape[1] if laws.counts is None else laws.counts.bins * (laws.counts.entries + 64)


def _rounding_error(error: float, width: int, largest: float) -> float:
    """How far the difference of two logarithms of mixtures may be off."""
    return 2 * (error + (6 * width + 64) * UNIT) + 8 * UNIT * largest + 1e-15


def loss_of(laws: SumLaws, alpha: float) -> ReleaseLoss:
    """The largest loss at one entry."""
    logs, rounding = _logarithms(laws, alpha)
    if logs is None:
        return ReleaseLoss(0.0, inf, laws, laws.values[0], laws.values[-1], laws.lowest)
    losses = logs.max(axis=0) - logs.min(axis=0)
    highest = float(losses.max())
    tied = np.where(losses >= highest * (1 - _TIED), logs.min(axis=0), -inf)
    return _at(laws, logs, int(np.argmax(tied)), rounding, highest)


@dataclass(frozen=True)
class HalfLine:
    """All released sums up to one, or from one on, that two values of an entry make with different probabilities."""

    left: str
    right: str
    output: int
    upwards: bool


def likeliest_half_line(laws: SumLaws, alpha: float, above: float, *, continuous: bool) -> HalfLine | None:
    """The likeliest half-line whose loss is above a number, at one entry: a more convincing witness than the worst single output.

    Floats choose; what is claimed of the choice is computed anew.

    Args:
        laws: the laws given the values of the entry.
        alpha: the ratio of neighbouring probabilities of the noise.
        above: the number.
        continuous: whether the noise is Laplace noise, which has no mass at a single number.
    """
    width = laws.masses.shape[1]
    if width > _WIDEST or laws.counts is not None:
        return None
    away = np.subtract.outer(np.arange(width), np.arange(width)).astype(float)
    share = 0.5 if continuous else 1 / (1 + alpha)
    decay = alpha ** np.abs(away)
    upto = np.where(away >= 0, 1 - share * decay * (1.0 if continuous else alpha), share * decay)
    best, chosen = -inf, None
    for upwards, table in ((False, upto), (True, upto.T)):
        logs = np.log(np.maximum(laws.masses @ table.T, 1e-300))
        likely = np.where(logs.max(axis=0) - logs.min(axis=0) > above, logs.min(axis=0), -inf)
        at = int(np.argmax(likely))
        if likely[at] > best:
            best = float(likely[at])
            left, right = (laws.values[int(place)] for place in (np.argmax(logs[:, at]), np.argmin(logs[:, at])))
            chosen = HalfLine(left, right, laws.lowest + at, upwards)
    return chosen


def _logarithms(laws: SumLaws, alpha: float) -> tuple[np.ndarray | None, float]:
    """The logarithms of the densities up to a common factor, and a bound on the error of a difference; None below the floats' range."""
    mixed = noisy_masses(laws.masses, alpha, laws.counts)
    if mixed.min() < _TINY:
        return None, 0.0
    logs = np.log(mixed)
    return logs, _rounding_error(laws.error, _terms(laws), float(np.abs(logs).max()))


def _at(laws: SumLaws, logs: np.ndarray, place: int, rounding: float, highest: float) -> ReleaseLoss:
    left, right = int(np.argmax(logs[:, place])), int(np.argmin(logs[:, place]))
    loss = float(logs[left, place] - logs[right, place])
    output = laws.lowest + place
    return ReleaseLoss(
        max(0.0, loss - rounding), highest + rounding, laws, laws.values[left], laws.values[right], output
    )


def noisy_masses(masses: np.ndarray, alpha: float, counts: Counts | None) -> np.ndarray:
    """The laws with noise, row by row, at every sum; of a histogram with noise on every count, at every place of its box."""
    if counts is None:
        return mixtures(masses, alpha)
    box = counts.boxed(masses)
    for axis in range(1, counts.bins + 1):
        turned = np.moveaxis(box, axis, -1)
        mixed = mixtures(turned.reshape(-1, turned.shape[-1]), alpha)
        box = np.moveaxis(mixed.reshape(turned.shape), -1, axis)
    return box.reshape(len(masses), -1)


def mixtures(masses: np.ndarray, alpha: float) -> np.ndarray:
    """``sum over c of mu(c) alpha^|z - c|`` for every z, row by row; sums of positive terms alone."""
    result = _decaying_sums(masses, alpha)
    falling = _decaying_sums(masses[:, ::-1], alpha)[:, ::-1]
    result[:, :-1] += alpha * falling[:, 1:]
    return result


def _decaying_sums(masses: np.ndarray, alpha: float) -> np.ndarray:
    """``sum over m of alpha^m mu(z - m)`` for every z: windows of 1, 2, 4, ... terms, each from two of the size before."""
    result, window, factor = masses.copy(), 1, alpha
    while window < masses.shape[1] and factor > 0.0:
        result[:, window:] += factor * result[:, :-window]
        window, factor = 2 * window, factor * factor
    return result


def largest_rate(found: Sequence[SumLaws], epsilon: float, *, low: float, high: float, digits: float = 1e-9) -> float:
    """The largest rate ``rho`` per step, up to relative digits, whose loss is surely within the budget.

    Args:
        found: the laws.
        epsilon: the budget, rounded down.
        low: a rate that is known to be within it.
        high: a rate that need not be.
        digits: how close to the largest.
    """
    active: list[SumLaws] = []
    everything = batch_laws(found)

    def allowed(rate: float) -> bool:
        return max(loss_of(laws, _alpha(rate)).high for laws in active) <= epsilon

    def violating(rate: float) -> SumLaws | None:
        worst = _largest(everything, _alpha(rate))
        return worst.laws if worst.high > epsilon else None

    if not np.isfinite(high):
        high = 2 * low
        while violating(high) is None:
            low, high = high, 2 * high
            if high > 700:
                return low
    start = violating(high)
    if start is None:
        return high
    active.append(start)
    top = high
    while True:
        below, above = low, top
        while above - below > digits * above:
            middle = (below + above) / 2
            if allowed(middle):
                below = middle
            else:
                above = middle
        worse = violating(below)
        if worse is None or below == low:
            return below
        active.append(worse)
        top = below


def _alpha(rate: float) -> float:
    """A float alpha that is not above ``e^-rate``: less noise, so the loss is not underestimated."""
    return float(np.nextafter(np.exp(-rate) * (1 - 4 * UNIT), 0.0))
