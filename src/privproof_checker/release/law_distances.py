"""Proofs by distance: how far the law of the sum moves with one entry (Song, Wang and Chaudhuri, SIGMOD 2017).

The distance of two laws is that of their best coupling in the worst case (Wasserstein, of infinite order).  On a line it
is at most w if and only if ``F(t) <= G(t + w)`` and ``G(t) <= F(t + w)`` for all t, with F and G the cumulative sums; so
all laws of a node are within w if and only if the largest of their cumulative sums at t is at most the least at t + w.

Balls bound the distance from above.  Sums of what lies above t are compared as well: they are precise at the upper end.
If the claim does not afford the bound, the distance is computed exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Any

from flint import arb

from privproof_checker.numbers import ONE, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import only_members, text
from privproof_checker.release.release_events import add_attained_loss
from privproof_checker.release.release_losses import Allowance
from privproof_checker.release.release_questions import Release, Sum
from privproof_checker.release.sum_laws import Laws, SumLaw, Sums, every

_BITS = 256
"""The precision at which the distances of laws are bounded first; nodes for which the bound is too large are decided exactly."""


def proved_by_distance(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that the claim affords the largest distance between the laws of any node."""
    only_members(evidence, ("method", "attained"), "evidence")
    largest, compared = Rational(0), False
    if not isinstance(release.query, Sum):
        refuse("this method is for sums", "question.query")
    for place, allowance, found in every(release):
        distance = _distance(found, allowance, place)
        compared = compared or distance is not None
        largest = max(largest, distance or Rational(0))
    if not compared:
        refuse("no entry has two possible values, so nothing is compared", "question.priors")
    details = {"method": "distance", "distance": text(largest)}
    return add_attained_loss(release, evidence, Accepted("proved", release.claim(), details), limits)


def _distance(found: Sums, allowance: Allowance, place: str) -> Rational | None:
    """A distance that the claim affords and no two laws of a node exceed; None if no node has two laws."""
    furthest = -1
    far: list[Any] = []
    nodes: Collection[Any] = found.nodes
    with precision(_BITS):
        for node, laws in found.balls(nodes):
            if len(laws) > 1:
                moved = apart(laws)
                if allowance.affords_distance(ONE, found.unit * moved):
                    furthest = max(furthest, moved)
                else:
                    far.append(node)
    for node, laws in found.exactly(far) if far else ():
        moved = max(least_shift(law, laws[y]) for x, law in laws.items() for y in laws if y != x)
        if not allowance.affords_distance(ONE, found.unit * moved):
            refuse(f"the claim does not afford the distance {text(found.unit * moved)} at the node {node}", place)
        furthest = max(furthest, moved)
    return None if furthest < 0 else found.unit * furthest


def apart(laws: Laws) -> int:
    """A bound of the distance between any two laws of a node, given in balls.

    >>> apart({"a": SumLaw(0, [arb(1), arb(1)], arb(2)), "b": SumLaw(1, [arb(1), arb(1)], arb(2))})
    1
    """
    low, high = min(law.low for law in laws.values()), max(law.high for law in laws.values())
    sums = [_cumulative(law, low, high, 1 / law.mass) for law in laws.values()]
    below, above = [each[0] for each in sums], [each[1] for each in sums]
    return _least_reach(
        *(_extreme(below, largest=True), _extreme(below, largest=False)),
        *(_extreme(above, largest=False), _extreme(above, largest=True)),
    )


def least_shift(law: SumLaw, other: SumLaw) -> int:
    """The least w with ``F(t) <= G(t + w)`` for all t, for laws in integers.

    >>> least_shift(SumLaw(0, [1, 1], 2), SumLaw(1, [1, 1], 2)), least_shift(SumLaw(1, [1, 1], 2), SumLaw(0, [1, 1], 2))
    (1, 0)
    """
    low, high = min(law.low, other.low), max(law.high, other.high)
    below, above = _cumulative(law, low, high, other.mass)
    below_, above_ = _cumulative(other, low, high, law.mass)
    return _least_reach(below, below_, above, above_)


def _least_reach(below: Sequence[Any], below_: Sequence[Any], above: Sequence[Any], above_: Sequence[Any]) -> int:
    """The least w such that, at every t, either kind of sum shows that the first is at most the second at t + w."""
    result, there, end = 0, 0, len(below) - 1
    for here in range(len(below)):
        there = max(there, here)
        while there < end and not (below[here] <= below_[there] or above[here] >= above_[there]):
            there += 1
        result = max(result, there - here)
    return result


def _extreme(lists: Sequence[Sequence[arb]], *, largest: bool) -> list[arb]:
    """The largest or the least of several lists, place by place."""
    result = list(lists[0])
    for each in lists[1:]:
        result = [a.max(b) if largest else a.min(b) for a, b in zip(result, each, strict=True)]
    return result


def _cumulative(law: SumLaw, low: int, high: int, factor: Any) -> tuple[list[Any], list[Any]]:
    """The sums up to every point from low to high, and of what lies after it, times a factor."""
    terms = [0] * (law.low - low) + [term * factor for term in law.terms] + [0] * (high - law.high)
    zero = terms[-1] * 0 if law.high == high else 0 * law.mass
    below = list(accumulate(terms, initial=zero))[1:]
    after = list(accumulate(reversed(terms), initial=zero))[:-1]
    return below, after[::-1]
