"""What two counts say with confidence: one region for both probabilities, and every bound as its minimum.

An event occurred ``left`` times among ``runs`` runs on one data set, with the unknown probability p, and ``right`` times among as many on
a neighbour, with q.  Write U(p) for the probability of so many or more on the left and V(q) for the probability of so many or fewer on the
right, and z for the upper quantile of the normal law.  With a *weight* w that was fixed before the runs, (p, q) is rejected where

    sqrt(w) z(U(p)) + sqrt(1 - w) z(V(q)) > z(a - 2 g),   or U(p) < g,   or V(q) < g,        g = a / 200.

**Theorem.** The true pair is rejected with probability at most a.  *Proof.* At the true pair U and V are independent, and each is at most x
with probability at most x.  So z(U) and z(V) are stochastically at most normal, and so is their sum with weights whose squares sum to one.
The union bound gives (a - 2 g) + g + g.  QED (Stouffer's combination of two p-values; g cuts off what is far away.)

So with confidence ``1 - a`` the true pair lies in what is not rejected, and *every* minimum over that region holds, all of them together:
epsilon at each delta, delta at each epsilon, mu, rho, Rényi divergences (`sampling.tradeoffs`), for the event and for its complement.  No
further share of a is spent on them.

The minima are taken over cells in q.  The least p that is not rejected rises with q; every cell takes it at its lower end, and q at its
upper end, so that the grid errs to the safe side only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from privproof.audits.sampling.confidence_intervals import SAFE, Floats, at_least, at_most, special
from privproof.audits.sampling.tradeoff_curves import EpsilonAt, Tradeoff, roughly

_CUT = 200
"""The share of alpha that each of the two single tails gets: enough to cut off what is far away, too little to be missed."""
_CELLS = 750
"""Cells from either end of the probabilities: their width costs a bound less than 0.001."""
_COARSE = 60
"""The same where weights are compared: the cells cost all of them the same."""
_TINY = 1e-5
"""The first cell ends at this share of the largest q that is not rejected: below it p is not small enough to be the least quotient."""
_NEVER = 1e-100
"""Larger probabilities on the right make a count so unlikely that no p-value of interest rests on them; none below it times 200 is told."""
_WEIGHTS = (0.0, 0.0005, 0.002, 0.007, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""The weights that are compared: densely near zero, which is best for events that hardly occur on the right."""
_DRAWN = 10
"""Pairs of counts over which weights are compared; one pair is chance, and the optimum is flat."""


@dataclass(frozen=True)
class ConfidenceRegion:
    """The probabilities that two counts do not reject, whatever the level.

    Attributes:
        left: how often the event occurred on the left.
        right: how often on the right.
        runs: how many runs there were on each side.
        weight: the weight of the left side, fixed before the runs.
    """

    left: int
    right: int
    runs: int
    weight: float = 0.5

    def at_least(self, tradeoff: Tradeoff, alpha: float, cells: int = _CELLS) -> float:
        """The number that a notion of privacy asks for is at least this, with confidence ``1 - alpha``; zero where the counts say nothing.

        >>> f"{ConfidenceRegion(30_000, 10_000, 100_000, 0.2).at_least(EpsilonAt(), 0.05):.4f}"
        '1.0800'
        """
        return float(tradeoff.least(*self._corners(alpha, cells)).min())

    def epsilon_at_least(self, alpha: float, delta: float = 0.0, cells: int = _CELLS) -> float:
        """Epsilon is at least this at a delta, with confidence ``1 - alpha``."""
        return self.at_least(EpsilonAt(delta), alpha, cells)

    def p_values(self, tradeoff: Tradeoff, values: Sequence[float] | Floats, cells: int = _CELLS) -> Floats:
        """For every value the p-value of "it is kept": no smaller alpha rejects it.

        >>> ConfidenceRegion(30_000, 10_000, 100_000, 0.2).p_values(EpsilonAt(), [1.0, 1.08, 1.2]).round(2).tolist()
        [0.0, 0.05, 1.0]
        """
        lower, upper = self._edges(at_most(self.right, self.runs, _NEVER), cells)
        falling = self._falling(lower)
        return np.array([self._p_value(falling, tradeoff.largest(upper, value)) for value in values])

    def _p_value(self, falling: tuple[Floats, Floats], largest: Floats) -> float:
        """The largest p-value of the pairs in all cells, the probability on the left being at most so large there."""
        rising = self._rising(largest)
        joint = special().ndtr(-_combined_score(self.weight, _score(*rising), _score(*falling))) / (1 - 2 / _CUT)
        single = _CUT * np.minimum(rising[0], falling[0])
        return min(1.0, max(float(np.minimum(joint, single).max()) * (1 + SAFE), _CUT * _NEVER))

    def _corners(self, alpha: float, cells: int) -> tuple[Floats, Floats]:
        """For every cell the least probability on the left and the largest on the right that are not rejected."""
        cut = alpha / _CUT
        quantile = float(special().ndtri(1 - (alpha - 2 * cut)))
        lower, upper = self._edges(at_most(self.right, self.runs, cut), cells)
        score = _score(*self._falling(lower))
        single = at_least(self.left, self.runs, cut)
        if self.weight == 0:
            kept = score <= quantile
            return np.full(int(kept.sum()), single), upper[kept]
        needed = special().ndtr(-(quantile - sqrt(1 - self.weight) * score) / sqrt(self.weight))
        return np.maximum(single, at_least(self.left, self.runs, needed)), upper

    def _edges(self, largest: Floats, cells: int) -> tuple[Floats, Floats]:
        """Cells of the probabilities on the right up to the largest one, narrow in proportion near both ends of [0, 1]."""
        end = float(largest)
        start = max(_TINY * end, float(at_least(self.right, self.runs, 1e-9)) / 2)
        near_zero = np.geomspace(start, end, cells)
        rest = max(1 - end, _TINY / self.runs)
        near_one = 1 - np.geomspace(max(1 - start, rest), rest, cells)
        upper = np.unique(np.concatenate([near_zero, near_one[(near_one > start) & (near_one < end)], [end]]))
        return np.concatenate([[0.0], upper[:-1]]), upper

    def _rising(self, p: Floats) -> tuple[Floats, Floats]:
        """The probability of so many or more on the left, and of fewer."""
        if self.left == 0:
            return np.ones_like(p), np.zeros_like(p)
        k, n = self.left, self.runs
        return special().betainc(k, n - k + 1, p), special().betaincc(k, n - k + 1, p)

    def _falling(self, q: Floats) -> tuple[Floats, Floats]:
        """The probability of so many or fewer on the right, and of more."""
        if self.right == self.runs:
            return np.ones_like(q), np.zeros_like(q)
        k, n = self.right, self.runs
        return special().betaincc(k + 1, n - k, q), special().betainc(k + 1, n - k, q)


def _score(tail: Floats, rest: Floats) -> Floats:
    """The upper normal quantile of a tail, from the smaller of the tail and what is left of one."""
    return np.asarray(np.where(tail < rest, -special().ndtri(tail), special().ndtri(rest)))


def _combined_score(weight: float, rising: Floats, falling: Floats) -> Floats:
    """The weighted sum of two scores; what has no weight does not count, not even if it is infinite."""
    one = np.zeros_like(rising) if weight == 0 else sqrt(weight) * rising
    with np.errstate(invalid="ignore"):
        total = one + sqrt(1 - weight) * falling
    return np.asarray(np.nan_to_num(total, nan=-inf, posinf=inf, neginf=-inf))


def best_weight(
    left: int, right: int, searched: int, runs: int, alpha: float, tradeoff: Tradeoff, generator: np.random.Generator
) -> float:
    """The weight that promises most for so many runs, from the counts of an event among others that were searched."""
    shares = [(count + 0.5) / (searched + 1) for count in (left, right)]
    drawn = generator.binomial(runs, shares, size=(_DRAWN, 2)).tolist()

    compared = roughly(tradeoff)

    def promised(weight: float) -> float:
        return sum(ConfidenceRegion(a, b, runs, weight).at_least(compared, alpha, _COARSE) for a, b in drawn)

    return max(_WEIGHTS, key=promised)
