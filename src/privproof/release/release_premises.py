"""What a release starts from: priors of one kind, lengths of series, and a query that fits them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privproof.errors import QuestionError, ScenarioError
from privproof.models.finite_distributions import known_name
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.hidden_chains import Hidden
from privproof.release.influence_costs import sensitivity
from privproof.release.markov_chains import Band, Chain
from privproof.release.release_question import Prior
from privproof.release.series_queries import Query

BY_LAWS: tuple[str, ...] = ("exact", "wasserstein", "gk16", "coupling")
"""Methods that ask for series without gaps."""


def listed_priors(priors: Prior | Sequence[Prior]) -> tuple[Prior, ...]:
    listed = (priors,) if isinstance(priors, Prior) else priors
    listed = tuple(listed) if isinstance(listed, list | tuple) else ()
    if not listed or not all(isinstance(prior, Prior) for prior in listed):
        raise ScenarioError(
            "prior",
            f"{priors!r} is no prior",
            place="priors",
            hint="a Chain, a Hidden, a Band, a Network or a GaussianChain",
        )
    if any(isinstance(prior, GaussianChain) for prior in listed):
        if len(listed) > 1:
            hint = 'GaussianChain.of(("0.8", "0.9"), ...)'
            raise ScenarioError("prior", "a Gaussian chain stands alone", place="priors", hint=hint)
        return listed
    kinds = {Chain if isinstance(prior, Hidden) else type(prior) for prior in listed}
    if len(kinds) > 1 or (Band in kinds and len(listed) > 1):
        raise ScenarioError("prior", "chains, networks and a band do not mix", place="priors", hint="chains alone")
    hidden = any(isinstance(prior, Hidden) for prior in listed)
    if len({tuple(sorted(map(str, _places(prior)))) if hidden else _places(prior) for prior in listed}) > 1:
        raise ScenarioError("prior", "the priors are about different states", place="priors", hint="the same states")
    return listed


def _places(prior: Prior) -> tuple[object, ...]:
    return tuple((n.name, n.values) for n in prior.nodes) if isinstance(prior, Network) else prior.states


def listed_lengths(
    priors: tuple[Prior, ...], length: int | None, lengths: Sequence[int]
) -> tuple[tuple[int, ...], int]:
    """The different lengths, and the number of all entries."""
    if isinstance(priors[0], Network):
        if length is not None or lengths:
            raise ScenarioError("length", "a network has the nodes it has", place="length", hint="drop it")
        return (), len(priors[0].nodes)
    listed = [*([] if length is None else [length]), *lengths]
    if not listed:
        raise ScenarioError("length", "how long is the series?", place="length", hint="length=100")
    for each in listed:
        if not isinstance(each, int) or isinstance(each, bool) or each < 1:
            raise ScenarioError("length", f"{each!r} is no length", place="length", hint="length=100")
    return tuple(sorted(set(listed))), sum(listed)


def check_query(priors: tuple[Prior, ...], query: Query, longest: int) -> None:
    """Complain about a query that speaks of other states, or never changes."""
    if not isinstance(query, Query):
        raise ScenarioError(
            "query", f"{query!r} is no query", place="query", hint='count("walk"), parse_query("count:walk", ...)'
        )
    if query.kind == "linear":
        raise ScenarioError(
            "query",
            f"{query.name} is of real numbers, and the prior has states",
            place="query",
            hint="weighted_sum, mean",
        )
    for prior in priors:
        states = (
            tuple(dict.fromkeys(value for node in prior.nodes for value in node.values))
            if isinstance(prior, Network)
            else prior.states
        )
        for state in (*query.weights, *query.bins):
            known_name(state, among=states, what="state", place="query", error=ScenarioError)
        if isinstance(prior, Chain | Hidden):
            if not hides(prior, longest):
                raise ScenarioError("secrets", f"no entry has two possible values under {prior}", place="priors")
            states = _reachable(prior)
        if sensitivity(query, prior) == 0 or (query.kind == "sum" and query.moved(states) == 0):
            raise ScenarioError(
                "query", f"{query.name} is the same for all data that are possible", place="query", hint="other weights"
            )


def check_gaps(priors: tuple[Prior, ...], method: str) -> None:
    """Complain about what does not hold where entries are missing."""
    if method in BY_LAWS:
        raise QuestionError(
            "method", f"{method} does not apply: entries are missing", place="method", hint='method="quilt"'
        )
    for prior in priors:
        chain = prior.chain if isinstance(prior, Hidden) else prior
        if isinstance(chain, Chain) and not isinstance(chain.start, str):
            raise QuestionError(
                "prior",
                "which entries are missing changes the laws of the others where the start is given",
                place="initial",
                hint='initial="any", or "stationary"',
            )


def _reachable(prior: Chain | Hidden) -> tuple[str, ...]:
    """The values that an entry may have."""
    chain, values = (prior.chain, prior.values) if isinstance(prior, Hidden) else (prior, prior.states)
    reached = np.array([chain.law is None or chain.law[i] != 0 for i in range(len(chain.states))])
    for _ in chain.states:
        reached |= chain.following(reached)
    return tuple(dict.fromkeys(value for value, there in zip(values, reached, strict=True) if there))


def hides(prior: Chain | Hidden, longest: int) -> bool:
    """Whether some entry of a series has two possible values."""
    chain, values = (prior.chain, prior.values) if isinstance(prior, Hidden) else (prior, prior.states)
    if chain.law is None:
        return True
    support = np.array([p != 0 for p in chain.law])
    for _ in range(min(longest, len(chain.states) + 1)):
        if len({value for value, there in zip(values, support, strict=True) if there}) > 1:
            return True
        support = chain.following(support)
    return False
