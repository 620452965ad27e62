"""Questions about releases as plain data: priors, query, noise and claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privproof.exact import Rational
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.hidden_chains import Hidden
from privproof.release.markov_chains import Band, Chain
from privproof.release.release_question import Geometric, Laplace, Noise, Prior, ReleaseQuestion
from privproof.release.series_queries import Query

if TYPE_CHECKING:
    pass


def document(question: ReleaseQuestion, compiled: object) -> dict[str, object]:
    """The question as plain data."""
    return release_document(question)


def release_document(question: ReleaseQuestion) -> dict[str, object]:
    """The question, with its claim where it makes one."""
    return {
        "kind": "release",
        "title": question.name or None,
        "priors": [prior_document(prior) for prior in question.priors],
        "lengths": list(question.lengths),
        "query": query_document(question.query),
        "noise": noise_document(question.noise),
        **({} if question.budget is None else {"epsilon": str(question.budget.epsilon)}),
        **({} if question.budget is None or question.budget.delta == 0 else {"delta": str(question.budget.delta)}),
    }


def noise_document(noise: Noise) -> dict[str, object]:
    """The noise in exact texts."""
    if isinstance(noise, Laplace):
        return {"kind": "laplace", "scale": str(noise.scale)}
    if isinstance(noise, Geometric):
        return {"kind": "geometric", "alpha": str(noise.alpha), "step": str(noise.step)}
    return {"kind": "gaussian", "variance": str(noise.variance), "step": str(noise.step)}


def prior_document(prior: Prior) -> dict[str, object]:
    """A prior in exact texts."""
    if isinstance(prior, Chain):
        start: object = prior.start if isinstance(prior.start, str) else _texts(prior.start)
        return {
            "kind": "chain",
            "states": list(prior.states),
            "rows": [_texts(row) for row in prior.rows],
            "start": start,
        }
    if isinstance(prior, Hidden):
        return {**prior_document(prior.chain), "kind": "hidden", "values": list(prior.values)}
    if isinstance(prior, Band):
        low, high = [_texts(row) for row in prior.low], [_texts(row) for row in prior.high]
        return {"kind": "band", "states": list(prior.states), "low": low, "high": high}
    if isinstance(prior, GaussianChain):
        return {
            "kind": "gaussian-chain",
            "steps": [_texts(ends) for ends in prior.steps],
            "distance": str(prior.distance),
            "values": None if prior.values is None else _texts(prior.values),
            "start": prior.start,
            "variance": str(prior.variance),
        }
    return {"kind": "network", "nodes": [_node(prior, number) for number in range(len(prior.nodes))]}


def _node(network: Network, number: int) -> dict[str, object]:
    node = network.nodes[number]
    table = [[list(given), _texts(row)] for given, row in node.table.items()]
    return {"name": node.name, "values": list(node.values), "parents": list(node.parents), "table": table}


def query_document(query: Query) -> dict[str, object]:
    """A query in exact texts; a function is told by its name and the constant that is stated for it."""
    if query.kind == "sum":
        weights = {state: str(weight) for state, weight in query.weights.items()}
        return {"kind": "sum", "weights": weights, "step": str(query.step)}
    if query.kind == "linear":
        return {"kind": "linear", "weights": _texts(query.coefficients), "step": str(query.step)}
    if query.kind == "histogram":
        return {"kind": "histogram", "bins": list(query.bins)}
    return {"kind": "function", "name": query.name, "sensitivity": str(query.sensitivity)}


def _texts(row: Sequence[Rational]) -> list[str]:
    return [str(value) for value in row]
