"""Proofs by coupling: the delta of a sum with discrete Gaussian noise.

Let mu and nu be the laws of the sum given two values of an entry, and pi a coupling: masses ``pi(x, y)`` whose sums are mu and nu.  Both
released laws are mixtures with the weights pi, of noise around x and noise around y.  ``H(P, Q) = sum of max(0, P - e^epsilon Q)`` is
jointly convex, so the delta of the release is at most the sum of ``pi(x, y) D(|x - y|)``, D(d) being H of noise and noise
shifted by d.  The coupling that takes the masses of both in their order is computed in integers; every coupling would do.

Noise of variance v: k steps with probability ``e^(-k^2/2v) / Z``.  The ratio of the noise shifted by d and the noise grows with k, so H is
the largest ``T(k - d) - e^epsilon T(k)`` over all k, T(k) the probability of k or more, and it is reached at the least
whole k above ``epsilon v/d + d/2``.  Where a ball leaves open which number that is, the largest over those that it may be is taken.
Tails are added up from afar, beginning with a bound: from m on terms fall at least by the factor ``e^(-(2m + 1)/2v)``, so their sum is
at most a geometric series.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isqrt
from typing import Any

from flint import arb

from privproof_checker.numbers import Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import only_members, text
from privproof_checker.release.release_losses import Gaussian
from privproof_checker.release.release_questions import Release, Sum
from privproof_checker.release.sum_laws import SumLaw, every

_BITS = 192
"""The precision at which deltas are compared; what it leaves open is refused."""
_REACH = 30
"""Tails begin so many standard deviations out: below 10^-190."""
_MOST_STEPS = 100_000
"""Steps of the noise whose tails are added up, some seconds; more are refused."""


def proved_by_coupling(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that delta is enough for the coupled laws of every node."""
    only_members(evidence, ("method",), "evidence")
    noise = release.noise
    assert isinstance(noise, Gaussian)
    if not isinstance(release.query, Sum):
        refuse("this method is for sums", "question.query")
    largest, compared = arb(0), 0
    with precision(_BITS):
        for place, allowance, found in every(release):
            steps = found.unit / noise.step
            if steps.q != 1:
                refuse("the sums are no multiples of the step of the noise", "question.noise.step")
            nodes: Collection[Any] = found.nodes
            moved = [
                (node, couple_laws(laws[x], laws[y]))
                for node, laws in found.exactly(nodes)
                for x in laws
                for y in laws
                if x < y
            ]
            furthest = max((max(each) for _, each in moved), default=0) * int(steps.p)
            tails = Tails(noise.variance / (noise.step * noise.step), furthest, place)
            known: dict[int, arb] = {}
            for node, each in moved:
                for d in each:
                    if d not in known:
                        known[d] = tails.delta(allowance.claimed(), d * int(steps.p))
                total = sum(each.values())
                bound = sum((known[d] * arb(mass) for d, mass in each.items()), arb(0)) / arb(total)
                if not bound <= arb(release.delta):
                    refuse(f"at the node {node} a delta of {bound.str(6, radius=False)} is needed", place)
                largest, compared = largest.max(bound), compared + 1
    if not compared:
        refuse("no entry has two possible values, so nothing is compared", "question.priors")
    shown = str(largest.str(6, radius=False))
    return Accepted("proved", release.claim(), {"method": "coupling", "pairs": compared, "delta": shown})


def couple_laws(law: SumLaw, other: SumLaw) -> Mapping[int, Any]:
    """For every distance the mass that is moved so far, in integers whose sum is the product of both masses.

    >>> couple_laws(SumLaw(0, [1, 1], 2), SumLaw(0, [1, 2], 3))
    {0: 5, 1: 1}
    """
    moved: dict[int, Any] = {}
    rest, left, right = [law.terms[0] * other.mass, other.terms[0] * law.mass], 0, 0
    while True:
        piece = min(rest)
        if piece > 0:
            distance = abs(law.low + left - other.low - right)
            moved[distance] = moved.get(distance, 0) + piece
        rest = [rest[0] - piece, rest[1] - piece]
        if rest[0] == 0:
            left += 1
            if left == len(law.terms):
                break
            rest[0] = law.terms[left] * other.mass
        if rest[1] == 0:
            right += 1
            if right == len(other.terms):
                break
            rest[1] = other.terms[right] * law.mass
    if sum(moved.values()) != law.mass * other.mass:
        refuse("the masses of two laws differ", "question.priors")
    return moved


def few_steps(variance: Rational, furthest: int) -> bool:
    """Whether tails up to a distance have few enough steps to be added up."""
    return _REACH * (isqrt(int(variance.p // variance.q)) + 1) + furthest <= _MOST_STEPS


class Tails:
    """The tails of discrete Gaussian noise, enclosed at the current precision."""

    def __init__(self, variance: Rational, furthest: int, place: str) -> None:
        self.variance = variance
        self.reach = _REACH * (isqrt(int(variance.p // variance.q)) + 1) + furthest
        within(self.reach, _MOST_STEPS, "steps of the noise", place)
        scale = -1 / (2 * arb(variance))
        first = (scale * (self.reach + 1) ** 2).exp()
        falls = (scale * (2 * self.reach + 3)).exp()
        beyond = first / (1 - falls)
        total = beyond.union(arb(0))
        tails = [total]
        weights = [(scale * k * k).exp() for k in range(self.reach + 1)]
        for k in range(self.reach, -self.reach - 1, -1):
            total = total + weights[abs(k)]
            tails.append(total)
        self.tails = tails[::-1]
        self.total = total + beyond.union(arb(0))

    def tail(self, k: int) -> arb:
        """The probability of k steps or more."""
        if k > self.reach:
            return (self.tails[-1] / self.total).union(arb(0))
        if k < -self.reach:
            return (self.tails[0] / self.total).union(arb(1))
        return self.tails[k + self.reach] / self.total

    def delta(self, epsilon: arb, d: int) -> arb:
        """An upper bound on H of noise shifted by d and noise, as a ball whose upper end counts."""
        if d == 0:
            return arb(0)
        turn = epsilon * arb(self.variance) / d + arb(d) / 2
        low, high = turn.lower().floor().unique_fmpz(), turn.upper().floor().unique_fmpz()
        if low is None or high is None:
            refuse(f"where {text(Rational(d))} steps turn the ratio is not known", "question.epsilon")
        found = arb(0)
        for k in range(int(low), int(high) + 2):
            found = found.max(self.tail(k - d) - epsilon.exp() * self.tail(k))
        return found
