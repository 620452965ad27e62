"""The methods of calibration: each says how much one unit of distance may cost, and why.

Every method says how much one unit of distance may cost (its *rate*), which is the noise: Laplace noise of scale 1/rate, or
geometric noise with ``alpha = e^(-rate step)``.

| method | idea | applies to |
| --- | --- | --- |
| ``exact`` | the largest rate whose exact loss is within the budget | sums, histograms, of moderate lengths, start not ``any``; networks |
| ``wasserstein`` | the distance between the laws given two values | the same, without histograms |
| ``quilt`` | Markov quilts, exact influence | every query, every start, any length; networks |
| ``contraction`` | quilts, with the Birkhoff bound on influence | the same, and bands of chains |
| ``spectral-tight``, ``spectral`` | quilts, with influence bounded by the spectral gap | chains with positive stationary probabilities |
| ``gk16`` | Ghosh and Kleinberg's influence matrix | chains without zeros whose neighbours influence each other little |
| ``group`` | the whole series is one group | everything |

"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Literal, TypeAlias, TypeVar

from privproof.errors import BudgetError, PrivproofError
from privproof.exact import Epsilon, fraction
from privproof.exact import epsilon as exact_epsilon
from privproof.exact.rounding import shorten
from privproof.release.bayes_networks import Network
from privproof.release.influence_costs import (
    QueryLaws,
    budget_below,
    chain_of,
    laws_work,
    method_complaint,
    quilted_chain,
    sensitivity,
)
from privproof.release.influence_curves import (
    best_distances,
    contraction,
    ghosh_kleinberg,
    spectral,
    spectral_tight,
    spectrum,
)
from privproof.release.law_distances import Distance, largest_distance
from privproof.release.markov_chains import Band, Chain
from privproof.release.markov_quilts import Quilts
from privproof.release.mixture_parts import best_quilts
from privproof.release.network_quilts import NetworkQuilt, best_network_quilts
from privproof.release.release_losses import largest_rate
from privproof.release.release_question import Prior
from privproof.release.series_queries import Query

T = TypeVar("T")
Method: TypeAlias = Literal[
    "auto",
    "exact",
    "wasserstein",
    "quilt",
    "contraction",
    "spectral-tight",
    "spectral",
    "gk16",
    "group",
    "coupling",
    "own",
]
METHODS: tuple[Method, ...] = (
    "exact",
    "wasserstein",
    "quilt",
    "contraction",
    "spectral-tight",
    "spectral",
    "gk16",
    "group",
)
"""The names of the methods that `calibrate` knows; ``auto`` takes the least noise that some of them prove."""
AUTOMATIC: tuple[Method, ...] = ("quilt", "contraction", "wasserstein", "exact")
PREFERRED: tuple[Method, ...] = ("quilt", "wasserstein", "exact")
"""Of methods that need the same noise the one that is easiest to account for and to check."""
_AUTOMATIC_WORK = 400_000_000
"""Beyond so many operations the method ``auto`` leaves out those that need the exact laws of a sum; by name they can be had."""
_LEAST_BUDGET = "1e-40"
_LARGEST_BUDGET = 10_000
"""Above this, or below `_LEAST_BUDGET`, a budget is refused before a noise is looked for."""


@dataclass(frozen=True)
class CalibrationPlan:
    """What a method found.

    Attributes:
        method: the method.
        rate: what one unit of distance may cost.
        quilts: for every prior its quilts, where they are the reason.
        network: for every network the quilt of every node, where they are the reason.
        distance: the largest distance between two laws, where it is the reason.
    """

    method: Method
    rate: Fraction
    quilts: tuple[Quilts, ...] = ()
    network: tuple[tuple[NetworkQuilt, ...], ...] = ()
    distance: Distance | None = None


Planner: TypeAlias = Callable[[QueryLaws, Epsilon], CalibrationPlan]


def positive(epsilon: Epsilon, measure: str = "epsilon", place: str = "epsilon") -> None:
    """Complain about a budget that no noise can be made for; it may be one of another measure."""
    least, most = exact_epsilon(_LEAST_BUDGET), exact_epsilon(_LARGEST_BUDGET)
    if epsilon.compare(least) < 0 or epsilon.compare(most) > 0:
        hint = f"a number from {_LEAST_BUDGET} to {_LARGEST_BUDGET}, such as 1"
        raise BudgetError("budget", f"{measure} = {epsilon.decimal()}", place=place, hint=hint)


def try_methods(
    method: Method, automatic: Sequence[Method], find: Callable[[Method], T], left_out: Callable[[Method], str]
) -> tuple[dict[Method, T], dict[str, str]]:
    """What the method that is asked for finds; of ``auto`` what others find, and why some are left out or do not apply."""
    if method != "auto":
        return {method: find(method)}, {}
    found: dict[Method, T] = {}
    refused: dict[str, str] = {}
    for candidate in automatic:
        if reason := left_out(candidate):
            refused[candidate] = reason
            continue
        try:
            found[candidate] = find(candidate)
        except PrivproofError as problem:
            refused[candidate] = problem.message
    return found, refused


def _quilt(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    if isinstance(laws.priors[0], Network):
        networks = [_network(prior) for prior in laws.priors]
        best = [best_network_quilts(network, epsilon) for network in networks]
        rate = min(fraction(found.rate / sensitivity(laws.query, n)) for found, n in zip(best, networks, strict=True))
        return CalibrationPlan("quilt", rate, network=tuple(found.quilts for found in best))
    budget = budget_below(epsilon)
    longest = max(laws.lengths)
    return _by_quilts(laws, "quilt", lambda prior: best_quilts(prior, longest, budget))


def _contraction(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    budget = budget_below(epsilon)

    def planned(prior: Prior) -> Quilts:
        chain = prior if isinstance(prior, Band) else quilted_chain(prior, "contraction")
        return best_distances(contraction(chain), max(laws.lengths), budget, by_entry=isinstance(chain, Chain))

    return _by_quilts(laws, "contraction", planned)


def _spectral(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    return _by_spectrum(laws, epsilon, "spectral")


def _spectral_tight(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    return _by_spectrum(laws, epsilon, "spectral-tight")


def _by_spectrum(laws: QueryLaws, epsilon: Epsilon, method: Method) -> CalibrationPlan:
    budget = budget_below(epsilon)

    def planned(prior: Prior) -> Quilts:
        chain = chain_of(prior, method)
        seen = spectrum(chain)
        if seen is None:
            raise method_complaint(method, "a state has stationary probability 0", "quilt")
        tight = spectral_tight(seen, stationary=chain.start == "stationary")
        curves = spectral(seen.least, seen.gap) if method == "spectral" else tight
        return best_distances(curves, max(laws.lengths), budget)

    return _by_quilts(laws, method, planned)


def _by_quilts(laws: QueryLaws, method: Method, planned: Callable[[Prior], Quilts]) -> CalibrationPlan:
    found = tuple(planned(prior) for prior in laws.priors)
    rate = min(f.rate / fraction(sensitivity(laws.query, prior)) for f, prior in zip(found, laws.priors, strict=True))
    return CalibrationPlan(method, rate, quilts=found)


def _wasserstein(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    if laws.query.kind == "histogram":
        raise method_complaint("wasserstein", "the distance between laws is that of sums", "exact")
    distance = largest_distance(laws.by("wasserstein"))
    return CalibrationPlan("wasserstein", _distance_rate(distance, laws.query, epsilon), distance=distance)


def _distance_rate(distance: Distance, query: Query, epsilon: Epsilon) -> Fraction:
    steps = max(1, distance.steps)  # a distance of 0 means that the query tells nothing; a step of noise does no harm
    return shorten(Fraction(budget_below(epsilon)) / (steps * fraction(query.step)), up=False)


def _exact(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    found = laws.by("exact")
    step, budget = fraction(laws.query.step), budget_below(epsilon)
    sure = _group(laws, epsilon).rate
    distance = None
    if all(law.complete and law.counts is None for law in found):
        distance = largest_distance(found)
        sure = max(sure, _distance_rate(distance, laws.query, epsilon))
    rate = largest_rate(found, budget, low=float(sure * step) * (1 - 1e-12), high=inf)
    return CalibrationPlan(
        "exact", shorten(Fraction(rate) * (1 - Fraction(1, 10**14)) / step, up=False), distance=distance
    )


def _gk16(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    chains = tuple(chain_of(prior, "gk16") for prior in laws.priors)
    rate = ghosh_kleinberg(chains, max(laws.lengths), budget_below(epsilon))
    if rate is None:
        raise method_complaint("gk16", "neighbouring entries influence each other too much", "quilt")
    return CalibrationPlan("gk16", rate / fraction(sensitivity(laws.query, chains[0])))


def _group(laws: QueryLaws, epsilon: Epsilon) -> CalibrationPlan:
    size = max(len(p.nodes) if isinstance(p, Network) else max(laws.lengths) for p in laws.priors)
    moved = max(fraction(sensitivity(laws.query, prior)) for prior in laws.priors)
    return CalibrationPlan("group", shorten(Fraction(budget_below(epsilon)) / (size * moved), up=False))


PLANS: Mapping[str, Planner] = {
    "exact": _exact,
    "wasserstein": _wasserstein,
    "quilt": _quilt,
    "contraction": _contraction,
    "spectral-tight": _spectral_tight,
    "spectral": _spectral,
    "gk16": _gk16,
    "group": _group,
}


def _network(prior: Prior) -> Network:
    assert isinstance(prior, Network)
    return prior


def large(laws: QueryLaws) -> bool:
    """Whether the tables of laws would be large."""
    return len(laws.priors) * laws_work(laws.priors[0], laws.lengths, laws.query) > _AUTOMATIC_WORK
