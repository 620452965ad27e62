"""Proofs by contraction (Birkhoff 1957): every transition brings distributions closer in Hilbert's metric.

With ``Delta = max ln [P(x, z) P(x', z') / (P(x, z') P(x', z))]`` any two rows, and any two columns, of P are within Delta
of each other, and every further step multiplies the distance by ``tau = tanh(Delta / 4)`` at most.  So a quilt node at the
distance a has an influence of at most ``Delta tau^(a-1)``, on either side, whatever the start is, and even if the matrix
changes from step to step, as long as its Delta is bounded.  For matrices between two bounds, Delta is at most the
expression with the upper bound above and the lower one below.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from privproof_checker.numbers import ONE, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import a_list, an_integer, only_members
from privproof_checker.release.release_losses import Allowance
from privproof_checker.release.release_priors import Band, Chain, Row
from privproof_checker.release.release_questions import Release, given_by_prior
from privproof_checker.release.transition_powers import OperationWork, Supports

_BITS = (128, 512)
"""The precisions at which the influence is compared with the claim, in this order; what the last leaves open is refused."""


def proved_by_contraction(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that the claim affords the quilts given for all nodes of a series."""
    only_members(evidence, ("method", "ranges"), "evidence")
    compared, work = False, OperationWork()
    for prior, series in given_by_prior(release, evidence, "pairs"):
        assert isinstance(prior, Band | Chain)
        work.add(30 * prior.size**3)
        spread = (
            _projective_diameter(prior.low, prior.high)
            if isinstance(prior, Band)
            else _projective_diameter(prior.rows, prior.rows)
        )
        allowance = release.allowance(prior)
        supports = None if isinstance(prior, Band) else Supports(prior)
        for length, pair, place in series:
            left, right = _distances(pair, length, place)
            _check(left, right, length, spread, allowance, place)
            compared = compared or (prior.size > 1 if supports is None else supports.compares(length))
    if not compared:
        refuse("no entry has two possible values, so nothing is compared", "question.priors")
    return Accepted("proved", release.claim(), {"method": "contraction", "priors": len(release.priors)})


def _distances(value: object, length: int, place: str) -> tuple[int | None, int | None]:
    """Both distances; one beyond the series is none."""
    both = a_list(value, place)
    if len(both) != 2:
        refuse("expected the distances to the left and to the right", place)
    result: list[int | None] = []
    for i, item in enumerate(both):
        distance = None if item is None else an_integer(item, f"{place}[{i}]")
        if distance is not None and distance < 1:
            refuse("a quilt node is at a distance of at least 1", f"{place}[{i}]")
        result.append(None if distance is None or distance >= length else distance)
    return result[0], result[1]


def _projective_diameter(low: Sequence[Row], high: Sequence[Row]) -> Rational | None:
    """``e^Delta``, or None if it is infinite.

    >>> q = Rational
    >>> _projective_diameter(((q(9, 10), q(1, 10)), (q(4, 10), q(6, 10))), ((q(9, 10), q(1, 10)), (q(4, 10), q(6, 10))))
    27/2
    """
    if any(entry == 0 for row in low for entry in row):
        return None
    size = len(low)
    largest = [
        [max(above / below for above, below in zip(high[x], low[other], strict=True)) for other in range(size)]
        for x in range(size)
    ]
    return max((largest[x][y] * largest[y][x] for x in range(size) for y in range(x)), default=ONE)


def _check(
    left: int | None, right: int | None, length: int, spread: Rational | None, allowance: Allowance, place: str
) -> None:
    """Refuse unless the claim affords the quilts of all nodes.

    With both distances given, a node without one of its quilt nodes has no more nodes between and less influence.  With
    one of them missing, the nodes that lack the other one too have all nodes of the series between.
    """
    given = [distance for distance in (left, right) if distance is not None]
    if len(given) < 2 and allowance.affords(ONE, length) is not True:
        refuse(f"the claim does not afford moving all {length} nodes at once, as some node needs", place)
    if not given:
        return
    if spread is None:
        refuse("a transition may be impossible, so nothing bounds the influence", place)
    entries = min(sum(given) - 1, length) if len(given) == 2 else length - 1
    if spread == 1:
        if allowance.affords(ONE, entries) is not True:
            refuse(f"the claim does not afford moving {entries} nodes at once", place)
        return
    for bits in _BITS:
        with precision(bits):
            delta = arb(spread).log()
            tau = (delta / 4).tanh()
            influence = sum((delta * tau ** (distance - 1) for distance in given), arb(0))
            rest = allowance.left(entries) - influence
            if rest > 0:
                return
            if rest < 0:
                break
    refuse("the claim does not afford the bound of the influence and the nodes between", place)
