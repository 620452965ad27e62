"""Calibration: the least noise that is proved to keep the secrets of correlated data within a budget.

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

``auto`` takes the largest rate of the first four.  Gaussian noise, with a delta, is found by coupling the laws of a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Literal, TypeAlias

import numpy as np
from flint import arb

from privproof.engines.releases.costs import (
    QueryLaws,
    budget_below,
    chain_of,
    entry_cost,
    laws_work,
    sensitivity,
    unfit,
    upper,
)
from privproof.engines.releases.couplings import all_moves, least_variance
from privproof.engines.releases.curves import (
    best_distances,
    contraction,
    ghosh_kleinberg,
    spectral,
    spectral_tight,
    spectrum,
)
from privproof.engines.releases.distances import Distance, largest_distance
from privproof.engines.releases.losses import largest_rate
from privproof.engines.releases.networks import NetworkQuilt, best_network_quilts
from privproof.engines.releases.quilts import Quilts, down, quilts, up
from privproof.errors import BudgetError, PrivproofError, QuestionError, ScenarioError
from privproof.exact import Budget, Epsilon, EpsilonLike, Number, fraction, rational, show, simplest
from privproof.exact import epsilon as exact_epsilon
from privproof.exact.balls import precision, rational_bounds
from privproof.models.distributions import known_name
from privproof.scenarios.chains import Band, Chain
from privproof.scenarios.networks import Network
from privproof.scenarios.queries import Query
from privproof.scenarios.releases import Gaussian, Geometric, Laplace, Noise, Prior, ReleaseQuestion

Method: TypeAlias = Literal[
    "auto", "exact", "wasserstein", "quilt", "contraction", "spectral-tight", "spectral", "gk16", "group", "coupling"
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
_AUTOMATIC: tuple[Method, ...] = ("quilt", "contraction", "wasserstein", "exact")
_PREFERRED: tuple[Method, ...] = ("quilt", "wasserstein", "exact")
"""Of methods that need the same noise the one that is easiest to account for and to check."""
BY_LAWS: tuple[Method, ...] = ("exact", "wasserstein", "gk16", "coupling")
"""Methods that ask for series without gaps."""
_COARSER = Fraction(1, 10**6)
"""The alpha of geometric noise is the simplest fraction that spends at most this share of the cost too little."""
_AUTOMATIC_WORK = 400_000_000
"""Beyond so many operations the method ``auto`` leaves out those that need the exact laws of a sum; by name they can be had."""
_LEAST_BUDGET = "1e-40"
_LARGEST_BUDGET = 10_000
"""Above this, or below `_LEAST_BUDGET`, a budget is refused before a noise is looked for."""
_FEW = 5_000
"""With fewer steps than this it is decided exactly whether one less is enough; otherwise the error may be stated a step too large."""
_TIED = Fraction(1, 10**9)
"""Methods whose rates differ relatively by less than this are equally good, and the preferred one is taken."""
_LEAST_DELTA = rational("1e-30")
"""A smaller delta is refused: floats look for the noise."""
_SLACK = 1e-6
"""The share of delta that is kept back for the rounding of floats; the checker decides."""
_CHEAPEST = 69
"""No step of geometric noise costs more than this: e^-69 is 1e-30."""


@dataclass(frozen=True)
class Plan:
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


@dataclass(frozen=True)
class Calibrated:
    """A query with noise that keeps the secrets within the budget.

    Attributes:
        question: the query, the priors, the noise and the budget.
        plan: the method that was taken, and why its noise is enough.
        others: what other methods would need: the expected error, or why they do not apply.
        laws: the laws of the query, which the verdict on the release needs again.
    """

    question: ReleaseQuestion
    plan: Plan
    others: Mapping[str, Fraction | str] = field(default_factory=dict, kw_only=True)
    laws: QueryLaws = field(repr=False, compare=False, kw_only=True)

    @property
    def method(self) -> str:
        """The method that was taken."""
        return self.plan.method

    @property
    def noise(self) -> Noise:
        """The noise."""
        return self.question.noise

    @property
    def scale(self) -> Fraction:
        """The scale of Laplace noise at this rate, in the unit of the query before a division; of Gaussian noise its deviation."""
        return 1 / self.plan.rate

    @property
    def cost(self) -> Fraction:
        """What one entry costs: the loss between two series that differ in it; what an accountant is told."""
        return entry_cost(self.question)

    @property
    def expected_error(self) -> Fraction:
        """The expected distance (all components together) between what is released and the truth."""
        return expected_error(self.question.query, self.question.noise, self.question.entries)

    def accuracy(self, beta: Number = "1/20") -> Fraction:
        """A distance that one component's noise exceeds with probability at most beta, in whole steps for geometric noise."""
        divisor = self.question.entries if self.question.query.divided else 1
        return accuracy(self.question.noise, fraction(beta), divisor)

    @property
    def quilt(self) -> tuple[int, ...] | tuple[str, ...] | None:
        """The quilt of the entry that needs the most noise."""
        worst = self.worst_quilts
        return None if worst is None else worst.quilt

    @property
    def worst_quilts(self) -> Quilts | None:
        """The quilts of the prior that needs the most noise."""
        return min(self.plan.quilts, key=lambda found: found.rate) if self.plan.quilts else None


def calibrate(
    priors: Prior | Sequence[Prior],
    *,
    query: Query,
    epsilon: EpsilonLike,
    length: int | None = None,
    lengths: Sequence[int] = (),
    entries: int | None = None,
    gaps: bool = False,
    method: Method = "auto",
    noise: Literal["geometric", "laplace", "gaussian"] = "geometric",
    delta: Number = 0,
    name: str = "",
) -> Calibrated:
    """The least noise for a query that a method proves to be enough.

    Args:
        priors: a chain, a band, a network, or several chains or networks.
        query: what is released.
        epsilon: the budget.
        length: the length of the series.
        lengths: the lengths of several series, drawn independently of each other.
        entries: how many entries all series have together; without it the sum of the lengths.
        gaps: whether entries may be missing inside the series, so that neighbours are one step apart or more; lengths count those that are
            there.  Quilts hold all the same, because what lies further away tells less; the start is then stationary or any.
        method: see the module; ``auto`` takes the least noise.
        noise: geometric noise in whole steps, or Laplace noise; or, with a delta, discrete Gaussian noise for a sum.
        delta: with Gaussian noise, the second part of the budget.
        name: how reports call the release.

    Raises:
        QuestionError: the method does not apply, with the reason.

    >>> from privproof.scenarios.queries import count
    >>> chain = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
    >>> made = calibrate(chain, length=100, query=count("walk"), epsilon=1, method="quilt", noise="laplace")
    >>> f"{float(made.scale):.4f}", made.quilt
    ('12.8400', (45, 55))
    """
    laws, total = laws_about(priors, query, length, lengths)
    entries = total if entries is None else entries
    if noise == "gaussian":
        if method != "auto" or gaps:
            raise QuestionError(
                "method",
                "Gaussian noise is found by coupling laws, and by nothing else; not where entries are missing",
                place="method",
                hint="drop it",
            )
        return _gaussian(laws, Budget.of(epsilon, delta), entries, name)
    if delta != 0:
        raise QuestionError(
            "delta", f"{noise} noise needs no delta", place="delta", hint='noise="gaussian", or without it'
        )
    return calibrated(laws, epsilon=epsilon, entries=entries, gaps=gaps, method=method, noise=noise, name=name)


def laws_about(
    priors: Prior | Sequence[Prior], query: Query, length: int | None, lengths: Sequence[int]
) -> tuple[QueryLaws, int]:
    """The laws that a calibration is about, not computed yet, and the number of all entries."""
    listed = _priors(priors)
    sizes, total = _lengths(listed, length, lengths)
    return QueryLaws(listed, sizes, query), total


def calibrated(
    laws: QueryLaws,
    *,
    epsilon: EpsilonLike,
    entries: int,
    gaps: bool,
    method: Method,
    noise: Literal["geometric", "laplace"],
    name: str = "",
    told: Callable[[str], None] = lambda _: None,
) -> Calibrated:
    """The least noise for a query whose laws may be known already; see `calibrate`.  Which method is tried, `told` is told."""
    priors, sizes, query = laws.priors, laws.lengths, laws.query
    if isinstance(entries, bool) or not isinstance(entries, int) or entries < 1:
        raise ScenarioError("entries", f"entries = {entries!r}", place="entries", hint="how many there are in all")
    budget = Budget.of(epsilon)
    positive(budget.epsilon)
    _fits(priors, query, max(sizes, default=1))
    if method != "auto" and method not in METHODS:
        raise QuestionError("method", f"unknown method {method!r}", place="method", hint=f"auto, {', '.join(METHODS)}")
    if gaps:
        _over_gaps(priors, method)
    found: dict[str, Plan] = {}
    refused: dict[str, str] = {}
    for candidate in _AUTOMATIC if method == "auto" else (method,):
        if method == "auto" and candidate in BY_LAWS:
            if gaps:
                refused[candidate] = "entries are missing"
                continue
            if _large(laws) and not (candidate == "wasserstein" and query.kind == "histogram"):
                refused[candidate] = "the tables of laws would be large; it may still be asked for by name"
                continue
        told(f"looking for the least noise by the method {candidate}, {entries:,} entries")
        try:
            found[candidate] = _PLANS[candidate](laws, budget.epsilon)
        except PrivproofError as problem:
            if method != "auto":
                raise
            refused[candidate] = problem.message
    if not found:
        found["group"] = _group(laws, budget.epsilon)
    largest = max(each.rate for each in found.values()) * (1 - _TIED)
    plan = next(found[each] for each in (*_PREFERRED, *METHODS) if each in found and found[each].rate >= largest)
    drawn = noise_of(plan.rate, query, noise)
    question = ReleaseQuestion(
        priors=priors,
        lengths=sizes,
        entries=entries,
        gaps=gaps,
        query=query,
        noise=drawn,
        budget=budget,
        name=name or f"noisy {query.name}",
    )
    others: dict[str, Fraction | str] = {
        each: expected_error(query, noise_of(other.rate, query, noise), entries) for each, other in found.items()
    }
    return Calibrated(question, plan, others={**others, **refused}, laws=laws)


def _gaussian(laws: QueryLaws, budget: Budget, entries: int, name: str) -> Calibrated:
    """The least discrete Gaussian noise for a sum, of which a coupling of its laws shows that it is enough."""
    query = laws.query
    positive(budget.epsilon)
    _fits(laws.priors, query, max(laws.lengths, default=1))
    if query.kind != "sum":
        raise unfit("coupling", f"{query.name} is no sum", "quilt")
    if not _LEAST_DELTA <= budget.delta < 1:
        raise BudgetError(
            "budget", f"delta = {show(budget.delta)}", place="delta", hint=f"between {_LEAST_DELTA} and 1, such as 1e-6"
        )
    moves = all_moves(laws.by("coupling"))
    steps = least_variance(moves, budget_below(budget.epsilon), float(budget.delta) * (1 - _SLACK))
    noise = Gaussian(rational(steps) * query.step * query.step, query.step)
    question = ReleaseQuestion(
        priors=laws.priors,
        lengths=laws.lengths,
        entries=entries,
        query=query,
        noise=noise,
        budget=budget,
        name=name or f"noisy {query.name}",
    )
    error = expected_error(query, noise, entries)
    return Calibrated(question, Plan("coupling", 1 / fraction(noise.expected)), others={"coupling": error}, laws=laws)


def asked_about(
    priors: Prior | Sequence[Prior],
    *,
    query: Query,
    noise: Noise,
    length: int | None = None,
    lengths: Sequence[int] = (),
    name: str = "",
) -> ReleaseQuestion:
    """The question how private a query is with given noise.

    Raises:
        ScenarioError: the noise moves in steps that do not fit the query.
    """
    listed = _priors(priors)
    sizes, entries = _lengths(listed, length, lengths)
    _fits(listed, query, max(sizes, default=1))
    step = query.step
    if not isinstance(noise, Laplace) and int((step / noise.step).q) != 1:
        raise ScenarioError(
            "noise", f"steps of {noise.step} do not reach all multiples of {step}", place="noise", hint=f'step="{step}"'
        )
    said = name or f"{query.name} with {noise}"
    return ReleaseQuestion(priors=listed, lengths=sizes, entries=entries, query=query, noise=noise, name=said)


# ------------------------------------------------------------------------------------------------------------ the noise


def noise_of(rate: Fraction, query: Query, kind: Literal["geometric", "laplace"]) -> Noise:
    """Noise of which a unit of distance costs at most the rate: rounded up, to simple numbers."""
    if kind == "laplace":
        return Laplace(rational(up(1 / rate)))
    if kind != "geometric":
        raise QuestionError("noise", f"unknown noise {kind!r}", place="noise", hint="geometric, laplace")
    step = query.step
    cost = min(rate * fraction(step), Fraction(_CHEAPEST))  # a chance of 1e-30 to differ from the truth at all
    with precision(512):  # costs of a step go down to 1e-80 and further
        least = upper((-arb(rational(cost))).exp())
        most = upper((-arb(rational(cost * (1 - _COARSER)))).exp())
    return Geometric.of(simplest(least, most), step=step)


def expected_error(query: Query, noise: Noise, entries: int) -> Fraction:
    """The expected distance, over all components, after a division if there is one."""
    components = len(query.bins) if query.kind == "histogram" else 1
    return fraction(noise.expected) * components / (entries if query.divided else 1)


def accuracy(noise: Noise, beta: Fraction, divisor: int = 1) -> Fraction:
    """A distance that the noise exceeds with probability at most beta.

    For Laplace noise ``scale ln(1/beta)``; for Gaussian noise ``deviation sqrt(2 ln(2/beta))``; for geometric noise the least t with
    ``2 alpha^(t+1)/(1+alpha) <= beta`` steps.
    """
    if not 0 < beta < 1:
        raise BudgetError("beta", f"it is {beta}", place="beta", hint="between 0 and 1, such as 1/20")
    with precision(128):
        if isinstance(noise, Laplace):
            return upper(arb(noise.scale) * -arb(rational(beta)).log()) / divisor
        if isinstance(noise, Gaussian):
            return upper((-2 * arb(noise.variance) * (arb(rational(beta)) / 2).log()).sqrt()) / divisor
        alpha = arb(noise.alpha)
        wanted = ((arb(rational(beta)) * (1 + alpha) / 2).log() / alpha.log() - 1).ceil()
        steps = max(0, int(rational_bounds(wanted)[1]))
    exact = fraction(noise.alpha)
    if 0 < steps < _FEW and 2 * exact**steps <= beta * (1 + exact):
        steps -= 1  # the ball could not tell that the smaller one is enough
    return steps * fraction(noise.step) / divisor


# ---------------------------------------------------------------------------------------------------------- the methods


Planner: TypeAlias = Callable[[QueryLaws, Epsilon], Plan]


def positive(epsilon: Epsilon) -> None:
    """Complain about a budget that no noise can be made for."""
    least, most = exact_epsilon(_LEAST_BUDGET), exact_epsilon(_LARGEST_BUDGET)
    if epsilon.compare(least) < 0 or epsilon.compare(most) > 0:
        hint = f"a number from {_LEAST_BUDGET} to {_LARGEST_BUDGET}, such as 1"
        raise BudgetError("budget", f"epsilon = {epsilon.decimal()}", place="epsilon", hint=hint)


def _quilt(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    if isinstance(laws.priors[0], Network):
        networks = [_network(prior) for prior in laws.priors]
        best = [best_network_quilts(network, epsilon) for network in networks]
        rate = min(fraction(found.rate / sensitivity(laws.query, n)) for found, n in zip(best, networks, strict=True))
        return Plan("quilt", rate, network=tuple(found.quilts for found in best))
    budget = budget_below(epsilon)
    longest = max(laws.lengths)
    return _by_quilts(laws, "quilt", lambda chain: quilts(chain_of(chain, "quilt"), longest, budget))


def _contraction(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    budget = budget_below(epsilon)

    def planned(prior: Prior) -> Quilts:
        if isinstance(prior, Network):
            raise unfit("contraction", "a network is no chain", "quilt")
        return best_distances(contraction(prior), max(laws.lengths), budget, by_entry=isinstance(prior, Chain))

    return _by_quilts(laws, "contraction", planned)


def _spectral(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    return _by_spectrum(laws, epsilon, "spectral")


def _spectral_tight(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    return _by_spectrum(laws, epsilon, "spectral-tight")


def _by_spectrum(laws: QueryLaws, epsilon: Epsilon, method: Method) -> Plan:
    budget = budget_below(epsilon)

    def planned(prior: Prior) -> Quilts:
        chain = chain_of(prior, method)
        seen = spectrum(chain)
        if seen is None:
            raise unfit(method, "a state has stationary probability 0", "quilt")
        tight = spectral_tight(seen, stationary=chain.start == "stationary")
        curves = spectral(seen.least, seen.gap) if method == "spectral" else tight
        return best_distances(curves, max(laws.lengths), budget)

    return _by_quilts(laws, method, planned)


def _by_quilts(laws: QueryLaws, method: Method, planned: Callable[[Prior], Quilts]) -> Plan:
    found = tuple(planned(prior) for prior in laws.priors)
    rate = min(f.rate / fraction(sensitivity(laws.query, prior)) for f, prior in zip(found, laws.priors, strict=True))
    return Plan(method, rate, quilts=found)


def _wasserstein(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    if laws.query.kind == "histogram":
        raise unfit("wasserstein", "the distance between laws is that of sums", "exact")
    distance = largest_distance(laws.by("wasserstein"))
    return Plan("wasserstein", _distance_rate(distance, laws.query, epsilon), distance=distance)


def _distance_rate(distance: Distance, query: Query, epsilon: Epsilon) -> Fraction:
    steps = max(1, distance.steps)  # a distance of 0 means that the query tells nothing; a step of noise does no harm
    return down(Fraction(budget_below(epsilon)) / (steps * fraction(query.step)))


def _exact(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    found = laws.by("exact")
    step, budget = fraction(laws.query.step), budget_below(epsilon)
    sure = _group(laws, epsilon).rate
    distance = None
    if all(law.complete and law.counts is None for law in found):
        distance = largest_distance(found)
        sure = max(sure, _distance_rate(distance, laws.query, epsilon))
    rate = largest_rate(found, budget, low=float(sure * step) * (1 - 1e-12), high=inf)
    return Plan("exact", down(Fraction(rate) * (1 - Fraction(1, 10**14)) / step), distance=distance)


def _gk16(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    chains = tuple(chain_of(prior, "gk16") for prior in laws.priors)
    rate = ghosh_kleinberg(chains, max(laws.lengths), budget_below(epsilon))
    if rate is None:
        raise unfit("gk16", "neighbouring entries influence each other too much", "quilt")
    return Plan("gk16", rate / fraction(sensitivity(laws.query, chains[0])))


def _group(laws: QueryLaws, epsilon: Epsilon) -> Plan:
    size = max(len(p.nodes) if isinstance(p, Network) else max(laws.lengths) for p in laws.priors)
    moved = max(fraction(sensitivity(laws.query, prior)) for prior in laws.priors)
    return Plan("group", down(Fraction(budget_below(epsilon)) / (size * moved)))


_PLANS: Mapping[str, Planner] = {
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


def _large(laws: QueryLaws) -> bool:
    """Whether the tables of laws would be large."""
    return len(laws.priors) * laws_work(laws.priors[0], laws.lengths, laws.query) > _AUTOMATIC_WORK


# ---------------------------------------------------------------------------------------------------- what is asked for


def _priors(priors: Prior | Sequence[Prior]) -> tuple[Prior, ...]:
    listed = (priors,) if isinstance(priors, Chain | Band | Network) else priors
    listed = tuple(listed) if isinstance(listed, list | tuple) else ()
    if not listed or not all(isinstance(prior, Chain | Band | Network) for prior in listed):
        raise ScenarioError("prior", f"{priors!r} is no prior", place="priors", hint="a Chain, a Band or a Network")
    kinds = {type(prior) for prior in listed}
    if len(kinds) > 1 or (Band in kinds and len(listed) > 1):
        raise ScenarioError("prior", "chains, networks and a band do not mix", place="priors", hint="chains alone")
    if len({_places(prior) for prior in listed}) > 1:
        raise ScenarioError("prior", "the priors are about different states", place="priors", hint="the same states")
    return listed


def _places(prior: Prior) -> tuple[object, ...]:
    return tuple((n.name, n.values) for n in prior.nodes) if isinstance(prior, Network) else prior.states


def _lengths(priors: tuple[Prior, ...], length: int | None, lengths: Sequence[int]) -> tuple[tuple[int, ...], int]:
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


def _fits(priors: tuple[Prior, ...], query: Query, longest: int) -> None:
    """Complain about a query that speaks of other states, or never changes."""
    if not isinstance(query, Query):
        raise ScenarioError(
            "query", f"{query!r} is no query", place="query", hint='count("walk"), parse_query("count:walk", ...)'
        )
    for prior in priors:
        states = (
            tuple(dict.fromkeys(value for node in prior.nodes for value in node.values))
            if isinstance(prior, Network)
            else prior.states
        )
        for state in (*query.weights, *query.bins):
            known_name(state, among=states, what="state", place="query", error=ScenarioError)
        if isinstance(prior, Chain) and not _hides(prior, longest):
            raise ScenarioError("secrets", f"no entry has two possible values under {prior}", place="priors")
        if isinstance(prior, Chain):
            states = _reachable(prior)
        if sensitivity(query, prior) == 0 or (query.kind == "sum" and query.moved(states) == 0):
            raise ScenarioError(
                "query", f"{query.name} is the same for all data that are possible", place="query", hint="other weights"
            )


def _over_gaps(priors: tuple[Prior, ...], method: Method) -> None:
    """Complain about what does not hold where entries are missing."""
    if method in BY_LAWS:
        raise QuestionError(
            "method", f"{method} does not apply: entries are missing", place="method", hint='method="quilt"'
        )
    for prior in priors:
        if isinstance(prior, Chain) and not isinstance(prior.start, str):
            raise QuestionError(
                "prior",
                "which entries are missing changes the laws of the others where the start is given",
                place="initial",
                hint='initial="any", or "stationary"',
            )


def _reachable(chain: Chain) -> tuple[str, ...]:
    """The states that an entry may be in."""
    reached = np.array([chain.law is None or chain.law[i] != 0 for i in range(len(chain.states))])
    for _ in chain.states:
        reached |= chain.following(reached)
    return tuple(state for state, there in zip(chain.states, reached, strict=True) if there)


def _hides(chain: Chain, longest: int) -> bool:
    """Whether some entry of a series has two possible values."""
    if chain.law is None:
        return True
    support = np.array([p != 0 for p in chain.law])
    for _ in range(min(longest, len(chain.states) + 1)):
        if support.sum() > 1:
            return True
        support = chain.following(support)
    return False
