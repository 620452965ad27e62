"""Gaussian noise by quilts: sums, histograms and functions of series of any length, with an epsilon and a delta.

Discrete Gaussian noise of variance v on every component makes a move of Euclidean length d, in whole steps, cost Rényi divergences of at
most ``alpha rho`` with ``rho = d^2/2v`` (Canonne, Kamath and Steinke 2020, proposition 5), and so, for every alpha above 1, a loss of

    alpha rho + ln(1/(alpha delta))/(alpha - 1) + ln(1 - 1/alpha)        (their proposition 12)

beside delta.  Given a quilt Q of X_i, only the n entries between its nodes are moved when X_i is: the law of the answer given all others
changes by that loss beside delta, with d = n times what one entry moves; and the law of all others changes by the factor
``e^influence``.  Averaging over them, the answer keeps ``P <= e^(influence + loss) Q + delta``.  So a quilt allows one entry to move the
answer by ``reach(epsilon - influence) / n`` standard deviations, where reach(e) is the largest d/sqrt(v) whose loss is e.

Floats search here; the checker evaluates the loss in balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, log, log1p, nextafter, sqrt

import numpy as np

from privproof.exact import Budget, Rational, fraction
from privproof.exact.rounding import float_below, shorten
from privproof.release.bayes_networks import Network
from privproof.release.influence_costs import budget_below, quilted_chain, sensitivity
from privproof.release.influence_curves import best_distances, contraction
from privproof.release.markov_chains import Band
from privproof.release.markov_quilts import Block, QuiltCell, Quilts, quilts
from privproof.release.network_quilts import NetworkQuilt, best_network_quilts
from privproof.release.release_certificates import contraction_evidence, network_evidence, quilts_evidence
from privproof.release.release_question import Prior, ReleaseQuestion
from privproof.release.series_queries import Query

_ROUNDS = 40
"""Rounds of the search for alpha, as in the checker."""
_HALVINGS = 80
"""Bisections for a reach: more than floats have digits."""
_GRID = 2000
"""Numbers between which the reach is interpolated where quilts are compared; the chosen ones are computed."""
_DIGITS = 6
"""A variance is rounded up to so many digits."""
_SAFELY = 1 - 1e-9
"""A reach is taken to be smaller by this share, more than floats err; the checker decides."""


def loss_beside(rho: float, delta: float) -> float:
    """The loss beside delta of Rényi divergences of at most ``alpha rho``.

    >>> f"{loss_beside(0.01, 1e-6):.4f}"
    '0.6217'
    """
    if rho <= 0:
        return 0.0
    wanted = -log(delta)
    order = 1 + sqrt(wanted / rho)
    for _ in range(_ROUNDS):
        order = (order + 1 + sqrt(max(wanted - log(order), wanted / 1000) / rho)) / 2
    order = min(order, 1e12)
    return max(0.0, order * rho + (wanted - log(order)) / (order - 1) + log1p(-1 / order))


def losses_beside(rhos: np.ndarray, delta: float) -> np.ndarray:
    """The losses beside delta of many rhos above 0."""
    wanted = -log(delta)
    order = 1 + np.sqrt(wanted / rhos)
    for _ in range(_ROUNDS):
        order = (order + 1 + np.sqrt(np.maximum(wanted - np.log(order), wanted / 1000) / rhos)) / 2
    order = np.minimum(order, 1e12)
    found: np.ndarray = np.maximum(0.0, order * rhos + (wanted - np.log(order)) / (order - 1) + np.log1p(-1 / order))
    return found


@lru_cache(maxsize=1024)
def reach(epsilon: float, delta: float) -> float:
    """The largest move, in standard deviations, whose loss beside delta is at most epsilon, rounded down.

    >>> f"{reach(1.0, 1e-6):.4f}"
    '0.2207'
    """
    if epsilon <= 0:
        return 0.0
    low, high = 0.0, 1.0
    while loss_beside(high * high / 2, delta) <= epsilon:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if loss_beside(middle * middle / 2, delta) <= epsilon else (low, middle)
    return low * _SAFELY


@dataclass(frozen=True)
class Reach:
    """How much noise a quilt needs at a budget: ``size / reach(epsilon - influence)`` standard deviations for what one entry moves."""

    epsilon: float
    delta: float

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        moved = reach(self.epsilon, self.delta) * np.linspace(0.0, 1.0, _GRID + 1)[1:]
        return np.append(0.0, losses_beside(moved * moved / 2, self.delta)), np.append(0.0, moved)

    def of(self, sizes: np.ndarray | int, told: np.ndarray | float) -> np.ndarray:
        """The scores of quilts, by their sizes and influences."""
        lefts, reaches = self._table
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.interp(np.maximum(self.epsilon - np.asarray(told), 0.0), lefts, reaches)
            moved = np.where(
                np.asarray(told) < self.epsilon, moved, 0.0
            )  # small moves cost nothing beside a large delta
            return np.where(moved > 0, sizes / np.where(moved > 0, moved, 1.0), inf)

    def largest(self, score: float) -> float:
        """The size that a better quilt stays below."""
        return reach(self.epsilon, self.delta) * score

    def rate(self, size: int, influence: float) -> Fraction:
        """By how many standard deviations one entry may move the answer."""
        return Fraction(reach(self.epsilon - influence, self.delta)) / size


def squared_move(query: Query, prior: Prior) -> Rational:
    """The square of the most that one entry moves the vector of all components: of a histogram, two counts by one each."""
    most = sensitivity(query, prior)
    return min(most, Rational(len(query.bins))) if query.kind == "histogram" else most * most


@dataclass(frozen=True)
class GaussianPlan:
    """What quilts allow under Gaussian noise.

    Attributes:
        quilts: for every chain or band its quilts.
        networks: for every network the quilt of every node.
        variance: the least variance of the noise, rounded up.
    """

    quilts: tuple[Quilts, ...]
    networks: tuple[tuple[NetworkQuilt, ...], ...]
    variance: Fraction

    def evidence(self, question: ReleaseQuestion) -> dict[str, object]:
        """What shows that noise of this variance is enough."""
        if self.networks:
            return network_evidence(self.networks)
        if isinstance(question.priors[0], Band):
            return contraction_evidence(question, self.quilts)
        return quilts_evidence(question, self.quilts)


def gaussian_plan(
    priors: Sequence[Prior], lengths: Sequence[int], query: Query, budget: Budget, *, whole: bool = False
) -> GaussianPlan:
    """The quilts that need the least Gaussian noise.

    Args:
        priors: chains, a band or networks.
        lengths: of the series.
        query: what is released.
        budget: epsilon and delta.
        whole: take the whole series, or all nodes that hang together, as one group.
    """
    objective = Reach(budget_below(budget.epsilon), float_below(budget.delta))
    found: list[Quilts] = []
    networks: list[tuple[NetworkQuilt, ...]] = []
    needed: list[Fraction] = []
    for prior in priors:
        if isinstance(prior, Network):
            chosen, rate = _network_quilts(prior, budget, objective, whole=whole)
            networks.append(chosen)
        else:
            each = _whole_series(max(lengths), objective) if whole else _prior_quilts(prior, max(lengths), objective)
            found.append(each)
            rate = each.rate
        needed.append(fraction(squared_move(query, prior)) / (rate * rate))
    return GaussianPlan(tuple(found), tuple(networks), shorten(max(needed), up=True, digits=_DIGITS))


def _prior_quilts(prior: Prior, length: int, objective: Reach) -> Quilts:
    if isinstance(prior, Band):
        return best_distances(contraction(prior), length, objective, by_entry=False)
    return quilts(quilted_chain(prior, "quilt"), length, objective)


def _whole_series(length: int, objective: Reach) -> Quilts:
    block = Block(1, length, QuiltCell(None, None, 0.0), length, float(objective.of(length, 0.0)))
    return Quilts(length, (block,), (length + 1) // 2, block, objective.rate(length, 0.0))


def _network_quilts(
    network: Network, budget: Budget, objective: Reach, *, whole: bool
) -> tuple[tuple[NetworkQuilt, ...], Fraction]:
    """For every node the better of the quilt that is best for a pure epsilon and of all nodes that hang together with it."""
    kinds = [best_network_quilts(network, budget.epsilon, largest=most).quilts for most in ((0,) if whole else (0, 3))]

    def rate(quilt: NetworkQuilt) -> Fraction:
        if quilt.ratio is None:
            return Fraction(0)
        return objective.rate(quilt.size, nextafter(log(float(quilt.ratio)) * (1 + 1e-12), inf))

    chosen = tuple(max(options, key=rate) for options in zip(*kinds, strict=True))
    return chosen, min(map(rate, chosen))
