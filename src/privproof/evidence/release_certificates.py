"""Certificates about releases: the question, and quilts, distances or laws from which the checker re-establishes the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privproof.exact import Rational, rational
from privproof.scenarios.chains import Band, Chain
from privproof.scenarios.networks import Network
from privproof.scenarios.queries import Query
from privproof.scenarios.releases import Geometric, Prior, ReleaseQuestion

if TYPE_CHECKING:
    from privproof.release.networks import NetworkQuilt
    from privproof.release.quilts import Quilts


def release_document(question: ReleaseQuestion) -> dict[str, Any]:
    """The question, with its claim where it makes one."""
    noise: dict[str, Any] = (
        {"kind": "geometric", "alpha": str(question.noise.alpha), "step": str(question.noise.step)}
        if isinstance(question.noise, Geometric)
        else {"kind": "laplace", "scale": str(question.noise.scale)}
    )
    return {
        "kind": "release",
        "title": question.name or None,
        "priors": [prior_document(prior) for prior in question.priors],
        "lengths": list(question.lengths),
        "query": query_document(question.query),
        "noise": noise,
        **({} if question.budget is None else {"epsilon": str(question.budget.epsilon)}),
    }


def prior_document(prior: Prior) -> dict[str, Any]:
    """A prior in exact texts."""
    if isinstance(prior, Chain):
        start: Any = prior.start if isinstance(prior.start, str) else _texts(prior.start)
        return {
            "kind": "chain",
            "states": list(prior.states),
            "rows": [_texts(row) for row in prior.rows],
            "start": start,
        }
    if isinstance(prior, Band):
        low, high = [_texts(row) for row in prior.low], [_texts(row) for row in prior.high]
        return {"kind": "band", "states": list(prior.states), "low": low, "high": high}
    return {"kind": "network", "nodes": [_node(prior, number) for number in range(len(prior.nodes))]}


def _node(network: Network, number: int) -> dict[str, Any]:
    node = network.nodes[number]
    table = [[list(given), _texts(row)] for given, row in node.table.items()]
    return {"name": node.name, "values": list(node.values), "parents": list(node.parents), "table": table}


def query_document(query: Query) -> dict[str, Any]:
    """A query in exact texts; a function is told by its name and the constant that is stated for it."""
    if query.kind == "sum":
        weights = {state: str(weight) for state, weight in query.weights.items()}
        return {"kind": "sum", "weights": weights, "step": str(query.step)}
    if query.kind == "histogram":
        return {"kind": "histogram", "bins": list(query.bins)}
    return {"kind": "function", "name": query.name, "sensitivity": str(query.sensitivity)}


def _texts(row: Sequence[Rational]) -> list[str]:
    return [str(value) for value in row]


def quilts_evidence(question: ReleaseQuestion, found: Sequence[Quilts]) -> dict[str, Any]:
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


def network_evidence(found: Sequence[Sequence[NetworkQuilt]]) -> dict[str, Any]:
    """For every network the quilt of every node."""
    return {"method": "quilts", "quilts": [[[q.node, list(q.quilt)] for q in quilts] for quilts in found]}


def contraction_evidence(question: ReleaseQuestion, found: Sequence[Quilts]) -> dict[str, Any]:
    """For every prior and length the distances of the quilt nodes, the same for all entries."""
    cells = [quilts.worst.cell for quilts in found]
    return {"method": "contraction", "ranges": [[[cell.left, cell.right] for _ in question.lengths] for cell in cells]}


def distance_evidence() -> dict[str, Any]:
    """The distance between the laws: the checker computes it."""
    return {"method": "distance"}


def laws_evidence(attained: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The laws themselves: the checker computes them."""
    return {"method": "laws"} if attained is None else {"method": "laws", "attained": dict(attained)}


def event_evidence(
    *,
    prior: int,
    length: int,
    node: int | str,
    left: str,
    right: str,
    low: Fraction | None,
    high: Fraction | None,
    bin: str | None = None,
) -> dict[str, Any]:
    """An event that two values of an entry make with probabilities too far apart; None for an end that is open."""
    counted = {} if bin is None else {"bin": bin}
    return {
        "method": "event",
        "prior": prior,
        "length": length or None,
        "node": node,
        "left": left,
        "right": right,
        "low": "-inf" if low is None else str(rational(low)),
        "high": "inf" if high is None else str(rational(high)),
        **counted,
    }
