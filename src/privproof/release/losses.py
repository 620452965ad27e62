"""The exact loss of a noisy sum, and the least noise that keeps it within a budget.

Given X_i = x the released value has the density ``p_x(z) ~ sum over c of mu_x(c) e^(-|z - c| rho)``.  Between two neighbouring sums
the ratio of two such mixtures is a Moebius function of e^(2 z rho), so it is monotone there, and it is constant outside: the
largest ratio is at a sum.  So

    loss = max over entries, values x, x' and sums c of  log p_x(c) / p_x'(c),

for Laplace noise and for geometric noise alike, with ``alpha = e^(-rho step)``.  More noise is less noise with noise added to it,
so the loss falls with the scale and bisection finds the least one.

Sums are of positive floats, with known relative errors; losses are enclosed, and a scale is accepted only where the upper end is
within the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from privproof.release.laws import Laws
from privproof.release.powers import UNIT

_TINY = 1e-265


@dataclass(frozen=True)
class Loss:
    """A loss, enclosed, and where it is attained.

    Attributes:
        low: the loss is at least this.
        high: it is at most this.
        laws: the entry.
        left: the value that makes the output likelier.
        right: the other value.
        output: the released sum, in steps.
    """

    low: float
    high: float
    laws: Laws
    left: str
    right: str
    output: int


def largest_loss(found: Sequence[Laws], alpha: float) -> Loss:
    """The largest loss under noise ``alpha^|z - c|``, over all entries, pairs of values, and outputs."""
    worst: Loss | None = None
    for laws in found:
        here = loss_of(laws, alpha)
        if worst is None or here.high > worst.high:
            worst = here
    assert worst is not None
    return worst


def loss_of(laws: Laws, alpha: float) -> Loss:
    """The largest loss at one entry."""
    width = laws.masses.shape[1]
    mixed = mixtures(laws.masses, alpha)
    error = laws.error + (6 * width + 64) * UNIT
    if mixed.min() < _TINY:
        return Loss(0.0, inf, laws, laws.values[0], laws.values[-1], laws.lowest)
    logs = np.log(mixed)
    most, least = logs.max(axis=0), logs.min(axis=0)
    at = int(np.argmax(most - least))
    loss = float(most[at] - least[at])
    rounding = 2 * error + 8 * UNIT * float(np.abs(logs).max()) + 1e-15
    left, right = int(np.argmax(logs[:, at])), int(np.argmin(logs[:, at]))
    return Loss(
        max(0.0, loss - rounding), loss + rounding, laws, laws.values[left], laws.values[right], laws.lowest + at
    )


def mixtures(masses: np.ndarray, alpha: float) -> np.ndarray:
    """``sum over c of mu(c) alpha^|z - c|`` for every z, row by row; sums of positive terms alone."""
    result = _decaying(masses, alpha)
    falling = _decaying(masses[:, ::-1], alpha)[:, ::-1]
    result[:, :-1] += alpha * falling[:, 1:]
    return result


def _decaying(masses: np.ndarray, alpha: float) -> np.ndarray:
    """``sum over m of alpha^m mu(z - m)`` for every z: windows of 1, 2, 4, ... terms, each from two of the size before."""
    result, window, factor = masses.copy(), 1, alpha
    while window < masses.shape[1] and factor > 0.0:
        result[:, window:] += factor * result[:, :-window]
        window, factor = 2 * window, factor * factor
    return result


def largest_rate(found: Sequence[Laws], epsilon: float, *, low: float, high: float, digits: float = 1e-9) -> float:
    """The largest rate ``rho`` per step, up to relative digits, whose loss is surely within the budget.

    Args:
        found: the laws.
        epsilon: the budget, rounded down.
        low: a rate that is known to be within it.
        high: a rate that need not be.
        digits: how close to the largest.
    """
    active: list[Laws] = []

    def allowed(rate: float, some: Sequence[Laws]) -> bool:
        return largest_loss(some, _alpha(rate)).high <= epsilon

    def violating(rate: float) -> Laws | None:
        worst = largest_loss(found, _alpha(rate))
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
            if allowed(middle, active):
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


def rate_of(alpha: float) -> float:
    """The rate per step of an alpha."""
    return -log(alpha)
