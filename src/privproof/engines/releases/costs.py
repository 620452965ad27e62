"""What one entry costs under a noise, the laws that say it exactly, and how much work they are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from privproof.engines.releases.laws import Laws, chain_laws, network_laws_of
from privproof.engines.releases.quilts import below
from privproof.errors import QuestionError, ScenarioError
from privproof.exact import Epsilon, Rational, fraction
from privproof.exact.balls import rational_bounds
from privproof.scenarios.chains import Band, Chain
from privproof.scenarios.networks import Network
from privproof.scenarios.queries import Query
from privproof.scenarios.releases import Laplace, Noise, Prior, ReleaseQuestion


def highest_rate(noise: Noise) -> Fraction:
    """What one unit of distance costs: exactly for Laplace noise, rounded up for geometric noise."""
    return 1 / fraction(noise.scale) if isinstance(noise, Laplace) else upper(noise.rate(192))


def entry_cost(question: ReleaseQuestion) -> Fraction:
    """What one entry costs: the loss between two series that differ in it, rounded up."""
    moved = max(sensitivity(question.query, prior) for prior in question.priors)
    return highest_rate(question.noise) * fraction(moved)


def upper(ball: arb) -> Fraction:
    """A rational that is not below a ball."""
    return fraction(rational_bounds(ball)[1])


def budget_below(epsilon: Epsilon) -> float:
    """The budget as a float that is not above it."""
    low, _ = rational_bounds(epsilon.ball(192))
    return below(fraction(low))


def sensitivity(query: Query, prior: Prior) -> Rational:
    """The most that one entry can move the query."""
    if isinstance(prior, Network):
        return max(query.moved(node.values) for node in prior.nodes)
    return query.moved(prior.states)


def laws_of(priors: tuple[Prior, ...], lengths: tuple[int, ...], query: Query, method: str = "exact") -> list[Laws]:
    """The laws of the query given every entry, under every prior."""
    result: list[Laws] = []
    for number, prior in enumerate(priors):
        if isinstance(prior, Network):
            result += network_laws_of(prior, query, number)
            continue
        chain = chain_of(prior, method)
        for length in lengths:
            result += (laws for laws in chain_laws(chain, length, query, number) if len(laws.values) > 1)
    if not result:
        raise ScenarioError("secrets", "no entry has two possible values: there is nothing to hide", place="priors")
    return result


def chain_of(prior: Prior, method: str) -> Chain:
    """The prior, if it is one chain; otherwise a complaint that the method does not apply."""
    if isinstance(prior, Band):
        raise unfit(method, "a band holds chains that change from step to step", "contraction")
    if isinstance(prior, Network):
        raise unfit(method, "a network is no chain", "quilt")
    return prior


def unfit(method: str, reason: str, other: str) -> QuestionError:
    """The complaint about a method that does not apply."""
    return QuestionError("method", f"{method} does not apply: {reason}", place="method", hint=f'method="{other}"')


def laws_work(prior: Prior, lengths: Sequence[int], query: Query) -> int:
    """About how many multiplications the laws of a sum take; they grow with the cube of the length."""
    if isinstance(prior, Network):
        return 0
    steps = query.steps(prior.states)
    width = max(steps) - min(steps)
    return sum(length * len(steps) * (width * length + 1) * (width * length + 1) // 6 for length in lengths)
