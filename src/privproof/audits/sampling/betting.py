"""Betting against a claim: a test that may stop whenever it likes, by e-processes.

An event has probability p on one data set and q on a neighbour.  A claim (epsilon, delta) permits the pairs of a polygon H,

    p <= e^epsilon q + delta   and   1 - q <= e^epsilon (1 - p) + delta.

From earlier runs there is a guess (p*, q*).  Let (p', q') be a pair of H near it, in the sense of Kullback and Leibler.  A pair of runs,
one on each side, with x and y for "the event occurred", multiplies the stake by

    E = P*(x)/P'(x) · Q*(y)/Q'(y) / c^2,      P(1) = p, P(0) = 1 - p and so on,

with c the largest value of ``(A + B)/2`` on H, where ``A = p p*/p' + (1 - p)(1 - p*)/(1 - p')`` and B is the same for q.

**Theorem.** If the claim holds, E has mean at most 1.  *Proof.* The two runs are independent, so the mean is ``A B/c^2``, which is at most
``((A + B)/2)^2/c^2``.  A + B is linear in (p, q), so its largest value on H is that at one of the corners, and (A + B)/2 <= c.  QED

(At the nearest pair c is 1; Turner, Ly and Grünwald 2024 have this for two streams.  Here c is computed from the corners, so that the
proof does not rest on how near the pair is.)

So the stake, with a new guess from all earlier runs for every chunk, is a nonnegative supermartingale.  By Ville's inequality it reaches
1/alpha at *any* time with probability at most alpha: whoever stops when it does, or when the time is up, errs no more often.

A lower bound for epsilon bets against every epsilon of a grid that was fixed before, and is the largest one that was refuted, together
with all smaller ones.  If it is above the truth, then the least epsilon of the grid that is not below the truth was refuted, *one* true
claim; so the bound holds with the same confidence, at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, log1p

_LARGEST = 50.0
"""Nobody bets against a larger epsilon: no number of runs shows it."""
_THIRDS = 40
"""Steps that narrow a search down by a third: to 1e-7 of the edge, where the divergence is flat, and its excess below 1e-14."""
_ROUNDING = 1e-13
"""More than the rounding of four logarithms and of the certificate; a billion pairs of runs cost a stake a ten-thousandth of itself."""
_POINTS = 32
"""Epsilons of a grid beside the claimed one: a bound is lower by one step at most."""
_REACH = 1.25
"""The grid ends at so many times the loss that the search expects, and not before the claim."""
_LEAST_GROWTH = 1e-9
"""A bet that promises less for every pair of runs is not made."""


@dataclass(frozen=True)
class Bet:
    """What the logarithm of a stake grows by, on either side with and without the event, less what the certificate costs."""

    left: tuple[float, float]
    right: tuple[float, float]
    cost: float

    def growth(self, left: int, right: int, runs: int) -> float:
        """The growth by a chunk of runs with so many occurrences."""
        return (
            left * self.left[0]
            + (runs - left) * self.left[1]
            + right * self.right[0]
            + (runs - right) * self.right[1]
            - runs * self.cost
        )


NO_BET = Bet((0.0, 0.0), (0.0, 0.0), 0.0)


def corners(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """Pairs (p, q) whose convex hull holds all that a claim permits.

    >>> [(round(p, 3), round(q, 3)) for p, q in corners(log(3), 0.0)]
    [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.75, 0.25), (1.0, 1.0)]
    """
    middle = (1 - delta) / (1 + exp(epsilon))
    return [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (delta, 0.0), (1 - middle, middle), (1.0, 1 - delta)]


def best_bet(guess: tuple[float, float], epsilon: float, delta: float) -> Bet:
    """A bet against a claim that pays if the guess is right; none where the guess keeps the claim."""
    p, q = guess
    if not 0 < q < p < 1 or epsilon > _LARGEST:
        return NO_BET
    near = _nearest(p, q, epsilon, delta)
    if near is None:
        return NO_BET
    one, other = near
    largest = max(
        (a * p / one + (1 - a) * (1 - p) / (1 - one) + b * q / other + (1 - b) * (1 - q) / (1 - other)) / 2
        for a, b in corners(epsilon, delta)
    )
    bet = Bet(
        (log(p / one), log1p(-p) - log1p(-one)),
        (log(q / other), log1p(-q) - log1p(-other)),
        2 * log(max(1.0, largest)) + _ROUNDING,
    )
    expected = p * bet.left[0] + (1 - p) * bet.left[1] + q * bet.right[0] + (1 - q) * bet.right[1] - bet.cost
    return bet if expected > _LEAST_GROWTH else NO_BET


def _nearest(p: float, q: float, epsilon: float, delta: float) -> tuple[float, float] | None:
    """The pair on the two edges of the polygon that is nearest to a guess outside; None where the guess is inside.

    It only has to be near: the certificate of a bet looks at the corners.
    """
    factor = exp(epsilon)
    if p <= factor * q + delta and 1 - q <= factor * (1 - p) + delta:
        return None

    def event(y: float) -> float:
        return factor * y + delta

    def complement(y: float) -> float:
        return 1 - (1 - y - delta) / factor

    middle = (1 - delta) / (1 + factor)
    found = []
    for low, high, line in ((0.0, middle, event), (middle, 1 - delta, complement)):
        a, b = low, high
        for _ in range(_THIRDS):
            one, other = a + (b - a) / 3, b - (b - a) / 3
            if _distance(p, q, line(one), one) <= _distance(p, q, line(other), other):
                b = other
            else:
                a = one
        y = (a + b) / 2
        found.append((_distance(p, q, line(y), y), line(y), y))
    distance, x, y = min(found)
    return (x, y) if distance < inf and 0 < y < 1 and 0 < x < 1 else None


def _distance(p: float, q: float, x: float, y: float) -> float:
    """The sum of the divergences of p from x and of q from y."""
    if not (0 < x < 1 and 0 < y < 1):
        return inf
    return p * log(p / x) + (1 - p) * log((1 - p) / (1 - x)) + q * log(q / y) + (1 - q) * log((1 - q) / (1 - y))


def grid(claimed: float, expected: float) -> list[float]:
    """The epsilons to bet against, from what is known before the runs: the claim, and others until beyond what is expected."""
    reach = _REACH * max(min(claimed, _LARGEST), min(expected, _LARGEST))
    return sorted({claimed, *(reach * (k + 1) / _POINTS for k in range(_POINTS))})


class Stakes:
    """Stakes against several epsilons at one delta, chunk after chunk.

    Args:
        epsilons: the epsilons, which were fixed before the runs.
        delta: the delta.
        counts: how often the event occurred on the left and on the right in runs of the search, for the first guess.
        searched: how many runs that were on each side.
    """

    def __init__(self, epsilons: Sequence[float], delta: float, counts: tuple[int, int], searched: int) -> None:
        self.epsilons, self.delta = tuple(sorted(epsilons)), delta
        self.counts, self.guessed = counts, searched
        self.logarithms = [0.0] * len(self.epsilons)
        self.highest = [0.0] * len(self.epsilons)
        self.runs = 0

    def add(self, left: int, right: int, runs: int) -> None:
        """The counts of one more chunk; the bets on it are made from all that was known before."""
        guess = tuple((count + 0.5) / (self.guessed + 1) for count in self.counts)
        for place, epsilon in enumerate(self.epsilons):
            self.logarithms[place] += best_bet((guess[0], guess[1]), epsilon, self.delta).growth(left, right, runs)
            self.highest[place] = max(self.highest[place], self.logarithms[place])
        self.counts = (self.counts[0] + left, self.counts[1] + right)
        self.guessed += runs
        self.runs += runs

    def p_value(self, epsilon: float) -> float:
        """The p-value of one epsilon of the grid, which holds at any time."""
        return min(1.0, exp(-self.highest[self.epsilons.index(epsilon)]))

    def at_least(self, alpha: float) -> float:
        """The largest epsilon that is refuted together with all smaller ones; zero where there is none."""
        found = 0.0
        for epsilon, highest in zip(self.epsilons, self.highest, strict=True):
            if highest < -log(alpha):
                break
            found = epsilon
        return found
