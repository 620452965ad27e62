"""Quilts for claims about Rényi divergences: those that need the least noise, and what shows that noise is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, log, nextafter, sqrt

from privproof.exact import epsilon, fraction, rational
from privproof.exact.balls import rational_bounds
from privproof.exact.measures import MeasuredBudget
from privproof.exact.rounding import float_below
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_quilts import squared_move
from privproof.release.influence_costs import highest_rate, quilted_chain, sensitivity
from privproof.release.influence_curves import best_distances, contraction
from privproof.release.markov_chains import Band
from privproof.release.markov_quilts import Block, QuiltCell, Quilts, quilts
from privproof.release.mixture_parts import parts_of
from privproof.release.network_quilts import NetworkQuilt, best_network_quilts
from privproof.release.release_certificates import (
    contraction_evidence,
    network_evidence,
    parts_evidence,
    quilts_evidence,
)
from privproof.release.release_divergences import DivergenceReach, Kind
from privproof.release.release_question import Gaussian, Laplace, Noise, Prior, ReleaseQuestion
from privproof.release.series_queries import Query

_BUDGETS = (1.0, 0.5, 0.25)
"""Shares of the largest influence that a claim allows, as budgets for which quilts of a network are looked for."""
_HAIR = 1 + 1e-9
"""Noise of which floats say that it is too little by less than this share is left to the checker."""


@dataclass(frozen=True)
class DivergencePlan:
    """What quilts allow under a claim about divergences.

    Attributes:
        rate: the most that one unit of distance may cost: of Gaussian noise, in deviations.
        quilts: for every chain or band its quilts.
        networks: for every network the quilt of every node.
        parts: where mixtures need it, for every prior the quilts of each of its parts.
    """

    rate: Fraction
    quilts: tuple[Quilts, ...] = ()
    networks: tuple[tuple[NetworkQuilt, ...], ...] = ()
    parts: tuple[tuple[Quilts, ...], ...] = field(default=())

    def allows(self, noise: Noise) -> bool:
        """Whether floats say that noise is enough, or nearly."""
        most = self.rate * Fraction(_HAIR)
        if isinstance(noise, Gaussian):
            return most * most * fraction(noise.variance) >= 1
        return highest_rate(noise) <= most

    def evidence(self, question: ReleaseQuestion) -> dict[str, object]:
        """What shows it."""
        if self.networks:
            return network_evidence(self.networks)
        if self.parts:
            return parts_evidence(question, self.parts)
        if isinstance(question.priors[0], Band):
            return contraction_evidence(question, self.quilts)
        return quilts_evidence(question, self.quilts)


def kind_of(noise: Noise) -> Kind:
    """The name of a noise."""
    return "gaussian" if isinstance(noise, Gaussian) else "laplace" if isinstance(noise, Laplace) else "geometric"


def divergence_plan(
    priors: Sequence[Prior],
    lengths: Sequence[int],
    query: Query,
    budget: MeasuredBudget,
    kind: Kind,
    *,
    whole: bool = False,
) -> DivergencePlan:
    """The quilts that need the least noise for a claim about divergences.

    Args:
        priors: chains, a band or networks.
        lengths: of the series.
        query: what is released.
        budget: the claim.
        kind: the noise.
        whole: take the whole series, or all nodes that hang together, as one group.
    """
    assert budget.value is not None
    order = None if budget.measure.order is None else float(budget.measure.order)
    value = float_below(rational_bounds(budget.value.ball(192))[0])
    single = query.kind != "histogram" or len(query.bins) == 1
    objective = DivergenceReach(order, value, kind, single)
    plans = [_plan_quilts(prior, lengths, objective, whole=whole) for prior in priors]
    rates = [plan.rate / _one_move(query, prior, kind) for plan, prior in zip(plans, priors, strict=True)]
    return DivergencePlan(
        min(rates),
        tuple(each for plan in plans for each in plan.quilts),
        tuple(each for plan in plans for each in plan.networks),
        tuple(each for plan in plans for each in plan.parts or (plan.quilts,))
        if any(plan.parts for plan in plans)
        else (),
    )


def _one_move(query: Query, prior: Prior, kind: Kind) -> Fraction:
    """What one entry moves, rounded up."""
    if kind != "gaussian":
        return fraction(sensitivity(query, prior))
    squared = squared_move(query, prior)
    root = Fraction(sqrt(float(squared)))
    return root if root * root == fraction(squared) else root * Fraction(_HAIR)


def _plan_quilts(prior: Prior, lengths: Sequence[int], objective: DivergenceReach, *, whole: bool) -> DivergencePlan:
    """The quilts of one prior."""
    if isinstance(prior, Network):
        chosen, rate = _network_quilts(prior, objective, whole=whole)
        return DivergencePlan(rate, networks=(chosen,))
    longest = max(lengths)
    if whole:
        block = Block(1, longest, QuiltCell(None, None, 0.0), longest, float(objective.of(longest, 0.0)))
        group = Quilts(longest, (block,), (longest + 1) // 2, block, objective.rate(longest, 0.0))
        return DivergencePlan(group.rate, (group,))
    if isinstance(prior, Band):
        found = best_distances(contraction(prior), longest, objective, by_entry=False)
        return DivergencePlan(found.rate, (found,))
    found = quilts(quilted_chain(prior, "quilt"), longest, objective)
    parts = parts_of(prior)
    if parts is not None and len(parts.chains) > 1:
        told = nextafter(float(parts.told), inf)
        rest = replace(objective, before=told)
        each = tuple(quilts(chain, longest, rest) for chain in parts.chains) if rest.most > 0 else ()
        if each and min(one.rate for one in each) > found.rate:
            worst = min(each, key=lambda one: one.rate)
            return DivergencePlan(worst.rate, (worst,), parts=(each,))
    return DivergencePlan(found.rate, (found,))


def _network_quilts(
    network: Network, objective: DivergenceReach, *, whole: bool
) -> tuple[tuple[NetworkQuilt, ...], Fraction]:
    """For every node the best of the quilts that are good for some pure epsilons, and of all nodes that hang together with it."""
    budgets = [epsilon(rational(Fraction(max(objective.most, 1e-9) * share))) for share in _BUDGETS]
    kinds = [best_network_quilts(network, budgets[0], largest=0).quilts]
    kinds += [] if whole else [best_network_quilts(network, budget).quilts for budget in budgets]

    def rate(quilt: NetworkQuilt) -> Fraction:
        if quilt.ratio is None:
            return Fraction(0)
        return objective.rate(quilt.size, nextafter(log(float(quilt.ratio)) * (1 + 1e-12), inf))

    chosen = tuple(max(options, key=rate) for options in zip(*kinds, strict=True))
    return chosen, min(map(rate, chosen))
