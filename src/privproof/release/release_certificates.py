"""The evidence of verdicts about releases: laws, quilts, distances, an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from privproof.exact import rational
from privproof.release.release_question import ReleaseQuestion

if TYPE_CHECKING:
    from privproof.release.markov_quilts import Quilts
    from privproof.release.network_quilts import NetworkQuilt


def quilts_evidence(question: ReleaseQuestion, found: Sequence[Quilts]) -> dict[str, object]:
    """For every prior and length the ranges of entries with the distances of their quilt nodes.

    Quilts of the longest series serve the shorter ones: where a node is missing it only helps.
    """
    ranges = [
        [
            [
                [block.first, min(block.last, length), block.cell.left, block.cell.right]
                for block in quilts.blocks
                if block.first <= length
            ]
            for length in question.lengths
        ]
        for quilts in found
    ]
    return {"method": "quilts", "ranges": ranges}


def parts_evidence(question: ReleaseQuestion, found: Sequence[Sequence[Quilts]]) -> dict[str, object]:
    """For every prior and length the ranges of every part."""
    each = [quilts_evidence(question, parts)["ranges"] for parts in found]
    ranges = [[list(lists) for lists in zip(*parts, strict=True)] for parts in each]  # type: ignore[misc]
    return {"method": "parts", "ranges": ranges}


def network_evidence(found: Sequence[Sequence[NetworkQuilt]]) -> dict[str, object]:
    """For every network the quilt of every node."""
    return {"method": "quilts", "quilts": [[[q.node, list(q.quilt)] for q in quilts] for quilts in found]}


def contraction_evidence(question: ReleaseQuestion, found: Sequence[Quilts]) -> dict[str, object]:
    """For every prior and length the distances of the quilt nodes, the same for all entries."""
    cells = [quilts.worst.cell for quilts in found]
    return {"method": "contraction", "ranges": [[[cell.left, cell.right] for _ in question.lengths] for cell in cells]}


def distance_evidence() -> dict[str, object]:
    """The distance between the laws: the checker computes it."""
    return {"method": "distance"}


def laws_evidence(attained: Mapping[str, object] | None = None) -> dict[str, object]:
    """The laws themselves: the checker computes them."""
    return {"method": "laws"} if attained is None else {"method": "laws", "attained": dict(attained)}


def event_evidence(
    *,
    prior: int,
    length: int,
    node: int | str,
    left: str,
    right: str,
    event: Sequence[tuple[Fraction | None, Fraction | None]],
    bin: str | None = None,
) -> dict[str, object]:
    """An event that two values of an entry make with probabilities too far apart; None for an end that is open.

    One interval is that of the sum, or of the count of the bin; several are those of all counts.
    """
    intervals = [
        ["-inf" if low is None else str(rational(low)), "inf" if high is None else str(rational(high))]
        for low, high in event
    ]
    ends: dict[str, object] = {"low": intervals[0][0], "high": intervals[0][1]}
    return {
        "method": "event",
        "prior": prior,
        "length": length or None,
        "node": node,
        "left": left,
        "right": right,
        **(ends if len(intervals) == 1 else {"box": intervals}),
        **({} if bin is None else {"bin": bin}),
    }
