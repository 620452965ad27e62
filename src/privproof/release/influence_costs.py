"""What one entry costs under a noise, the laws that say it exactly, and how much work they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from privproof.errors import QuestionError, ScenarioError
from privproof.exact import Epsilon, Rational, fraction, rational
from privproof.exact.balls import rational_bounds
from privproof.exact.rounding import float_below
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.hidden_chains import Hidden
from privproof.release.histogram_sums import pack_counts
from privproof.release.markov_chains import Band, Chain
from privproof.release.release_question import Laplace, Noise, Prior, ReleaseQuestion
from privproof.release.series_queries import Query
from privproof.release.sum_laws import SumLaws, chain_laws, network_laws_of

_NOISE_WORK = 30
"""Multiplications for noise on one count at one output: two directions, some windows each, for two or three scales."""


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
    return float_below(low)


def sensitivity(query: Query, prior: Prior) -> Rational:
    """The most that one entry can move the query."""
    if isinstance(prior, Network):
        return max(query.moved(node.values) for node in prior.nodes)
    if isinstance(prior, GaussianChain):
        low, high = prior.values or (rational(0), prior.distance)
        return query.sensitivity * (high - low)
    return query.moved(prior.states)


@dataclass(frozen=True, eq=False)
class QueryLaws:
    """The laws of a query given every entry, under every prior: computed when they are first asked for, and known from then on.

    Attributes:
        priors: the priors.
        lengths: the lengths of the series; none for networks.
        query: the query.
    """

    priors: tuple[Prior, ...]
    lengths: tuple[int, ...]
    query: Query

    @classmethod
    def of(cls, question: ReleaseQuestion) -> QueryLaws:
        """The laws that a question is about."""
        return cls(question.priors, question.lengths, question.query)

    def fit(self, question: ReleaseQuestion) -> bool:
        """Whether a question is about these laws."""
        same = self.priors is question.priors and self.query is question.query
        return same and self.lengths == question.lengths

    def by(self, method: str) -> tuple[SumLaws, ...]:
        """The laws, for a method; a prior that has none is refused in its name."""
        for prior in self.priors:
            if not isinstance(prior, Network):
                visible_chain(prior, method)
        return self._all

    @cached_property
    def _all(self) -> tuple[SumLaws, ...]:
        result: list[SumLaws] = []
        for number, prior in enumerate(self.priors):
            if isinstance(prior, Network):
                result += network_laws_of(prior, self.query, number)
                continue
            chain, shown = visible_chain(prior, "exact")
            for length in self.lengths:
                found = chain_laws(chain, length, self.query, number, shown=shown)
                result += (laws for laws in found if len(laws.values) > 1)
        if not result:
            raise ScenarioError("secrets", "no entry has two possible values: there is nothing to hide", place="priors")
        return tuple(result)

    def __reduce__(self) -> tuple[type[QueryLaws], tuple[object, ...]]:
        """It crosses processes without its tables."""
        return QueryLaws, (self.priors, self.lengths, self.query)


def visible_chain(prior: Prior, method: str) -> tuple[Chain, tuple[str, ...] | None]:
    """The chain of a prior, and what its states show where that is not themselves; otherwise a complaint."""
    return (prior.chain, prior.values) if isinstance(prior, Hidden) else (chain_of(prior, method), None)


def quilted_chain(prior: Prior, method: str) -> Chain:
    """The chain whose quilts protect the entries of a prior.

    Quilts keep any two states of a hidden chain apart by so much, and so any two values: given a value, the law of what is released
    is a mixture over the states that show it, and a ratio of mixtures is at most the largest ratio of their members.
    """
    return prior.chain if isinstance(prior, Hidden) else chain_of(prior, method)


def chain_of(prior: Prior, method: str) -> Chain:
    """The prior, if it is one chain; otherwise a complaint that the method does not apply."""
    if isinstance(prior, Band):
        raise method_complaint(method, "a band holds chains that change from step to step", "contraction")
    if isinstance(prior, Network):
        raise method_complaint(method, "a network is no chain", "quilt")
    if isinstance(prior, GaussianChain):
        raise method_complaint(method, "its entries are real numbers", "coupling")
    if isinstance(prior, Hidden):
        raise method_complaint(method, "only a value of the chain is seen", "exact")
    return prior


def method_complaint(method: str, reason: str, other: str) -> QuestionError:
    """The complaint about a method that does not apply."""
    return QuestionError("method", f"{method} does not apply: {reason}", place="method", hint=f'method="{other}"')


def laws_work(prior: Prior, lengths: Sequence[int], query: Query) -> int:
    """About how many multiplications the laws of a sum take; they grow with the cube of the length.

    Of a histogram the noise takes most: so many for every output of every law.
    """
    if query.kind in ("function", "linear") or (query.kind == "sum" and isinstance(prior, Network)):
        return 0
    values = (
        [node.values for node in prior.nodes]
        if isinstance(prior, Network)
        else [prior.values if isinstance(prior, Hidden) else prior.states]
    )
    work = 0
    for length in lengths or (len(values),):
        counted = query if query.kind == "sum" else pack_counts(query, values, length)[0]
        steps = [step for each in values for step in counted.steps(each)]
        width, laws = (max(steps) - min(steps)) * length + 1, len(steps) * (1 if isinstance(prior, Network) else length)
        work += laws * width * width // 6
        if query.kind == "histogram":
            work += laws * _NOISE_WORK * len(query.bins) * (length + 1) ** len(query.bins)
    return work
