"""``H(c)``, the largest ``P(E) - c Q(E)``, of one use: from trees of runs, from what certificates prove, and on samples.

*Proved points.*  The supremum over all neighbours, in both orders, is convex with ``H(0) = 1``, does not rise, and ``P(E) - c Q(E)
= 1 - c + c (Q(F) - P(F)/c)`` with F the rest of E, so ``H(1/c) = 1 - 1/c + H(c)/c``.  Between known points it is below the chord.

*Samples.*  The record in question is in the sample with probability p, and given the rest of the sample the laws are ``(1-p)Q +
pP`` and Q, P with and Q without the record, neighbours both; H of mixtures is at most the largest of the parts.  ``(1-p)q + pp' -
cq = p (p' - c'q)`` with ``c' = (c-1+p)/p``; ``q - c((1-p)q + pp') = a (q - (cp/a) p')`` with ``a = 1 - c(1-p)``.  Of a fixed share
of all records, one of which is changed: ``H(c) <= g H(1 + (c-1)/g)`` for ``c >= 1`` (Balle, Barthe and Gaboardi 2018, theorem 9).
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from privproof_checker.composed.loss_lattices import BITS, Curve
from privproof_checker.integrals.normal_enclosures import normal_excess
from privproof_checker.measured.measure_laws import Piece, from_below
from privproof_checker.numbers import Epsilon, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.runs.divergence import ShownTerm, excess, upper_terms
from privproof_checker.runs.run_leaves import Ran
from privproof_checker.runs.shown import Observed, observe_tree


class Laws:
    """The laws of a function that was run."""

    def __init__(self, ran: Ran) -> None:
        self.ran = ran
        self._seen: dict[int, Observed] = {}

    def _of(self, number: int) -> Observed:
        if number not in self._seen:
            with precision(BITS):
                self._seen[number] = observe_tree(self.ran.trees[number], f"trees[{number}]")
        return self._seen[number]

    def above(self) -> Curve:
        """A bound for all neighbours in both orders; those for which it is the same are counted once."""
        sums: dict[object, list[ShownTerm]] = {}
        with precision(BITS):
            for i, j in sorted(self.ran.compared):
                terms = upper_terms(self._of(i), self._of(j))
                sums[tuple(term.key for term in terms)] = terms

        def curve(c: arb) -> arb:
            largest = arb(0)
            for terms in sums.values():
                largest = largest.max(sum((term.most(c) for term in terms), arb(0)).upper())
            return largest

        return curve

    def pair(self, left: int, right: int) -> tuple[Curve, arb]:
        """The curve of what is seen of two data sets at least, and what is possible on the left alone."""
        i, j = self.ran.places[left], self.ran.places[right]
        with precision(BITS):
            pieces = from_below(self._of(i), self._of(j), (self.ran.trees[i], self.ran.trees[j]))
            known = [
                each if excess(each.p, each.q, arb(1), each.distance)[1] else Piece(each.p, each.q) for each in pieces
            ]
            alone = sum((each.p.lower() for each in known if each.q.is_zero()), arb(0))

        def curve(c: arb) -> arb:
            return sum((excess(each.p, each.q, c, each.distance)[0] for each in known), arb(0))

        return curve, alone


def from_points(points: Sequence[tuple[Epsilon, Rational]], mus: Sequence[Epsilon]) -> Curve:
    """A bound from proofs of deltas at epsilons, and of Gaussian differential privacy."""
    corners = [(arb(0), arb(1))]
    with precision(BITS):
        for epsilon, delta in points:
            c = epsilon.ball(BITS).exp()
            corners += [(c, arb(delta)), (1 / c, 1 - (1 - arb(delta)) / c)]
        corners.sort(key=lambda corner: float(corner[0].log()) if corner[0] > 0 else float("-inf"))
        distances = [mu.ball(BITS) for mu in mus]

    def curve(c: arb) -> arb:
        best = arb(1)
        for mu in distances:
            best = best.min(normal_excess(mu, c.log()).upper())
        for number, (low, before) in enumerate(corners):
            if c >= low:
                best = best.min(before.upper())  # it does not rise
            for high, after in corners[number + 1 : number + 3]:
                if c >= low and not c > high and low < high:  # behind `high`, in a ball around it, it does not rise
                    best = best.min((before + (after - before) * (c - low) / (high - low)).upper())
        return best

    return curve


def with_record_first(curve: Curve, rate: Rational) -> Curve:
    """Data with the record, sampled, against data without it, sampled."""

    def sampled(c: arb) -> arb:
        p = arb(rate)
        inner = 1 - (1 - c) / p
        if inner <= 0:
            return 1 - c
        return p * curve(inner) if inner > 0 else p.union(1 - c)

    return sampled


def with_record_second(curve: Curve, rate: Rational) -> Curve:
    """Data without the record, sampled, against data with it, sampled."""

    def sampled(c: arb) -> arb:
        p = arb(rate)
        factor = 1 - c + c * p
        if factor <= 0:
            return arb(0)
        return factor * curve(c * p / factor) if factor > 0 else arb(0).union(factor.upper())

    return sampled


def of_a_share(curve: Curve, share: Rational) -> Curve:
    """Of a fixed share of all records, one of which is changed."""

    def more(c: arb) -> arb:
        return arb(share) * curve(1 + (c - 1) / arb(share))

    def sampled(c: arb) -> arb:
        if c >= 1:
            return more(c)
        found = 1 - c + c * more(1 / c)
        return found if c < 1 else found.upper().max(more(c).upper())

    return sampled
