"""The Wasserstein mechanism for any finite Pufferfish framework: a prior as a function, secrets as predicates, and a query.

The prior is written in the mechanism language and may have unknown parameters.  That ``W_infinity <= w`` for every value of them is
a set of polynomial inequalities,

    Pr(F <= t, s) Pr(s')  <=  Pr(F <= t + w, s') Pr(s)        for all t,

which the parametric engine proves on the region.  The query has whole values, so w is a whole number, and the least one is found by
bisection.  The noisy query is then an ordinary question about a mechanism under a prior: the parametric engine proves it, with its
exact epsilon and a certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privproof.compiling.pufferfish import data_sets
from privproof.engines.parametric import non_negative
from privproof.engines.search_monitor import Monitor
from privproof.errors import QuestionError, ScenarioError
from privproof.exact import Epsilon, EpsilonLike, rational
from privproof.exact import epsilon as exact_epsilon
from privproof.exact.polynomials import Polynomial
from privproof.exact.rounding import shorten
from privproof.language.noise import drawing, sample
from privproof.language.randomness import drawing_from, release_source
from privproof.release.calibration_methods import positive
from privproof.release.influence_costs import budget_below
from privproof.release.locations.clamped_maps import clamped_mechanism
from privproof.release.noise_steps import noise_of
from privproof.release.release_losses import largest_rate
from privproof.release.release_question import Geometric
from privproof.release.series_queries import Query
from privproof.release.sum_laws import SumLaws, listed_laws
from privproof.scenarios import PufferfishQuestion, pufferfish
from privproof.scenarios.pufferfish_questions import Secret

if TYPE_CHECKING:
    from privproof.language import Mechanism, Prior
    from privproof.language.randomness import Seed


@dataclass(frozen=True)
class Framework:
    """Secrets under a prior, and a query with whole values.

    Attributes:
        prior: draws the data; may have unknown parameters.
        secrets: predicates on the data, by name.
        pairs: which secrets must not be told apart.
        query: a function of the data with whole values.
        joint: for every secret and every value of the query their probability together, as polynomials in the parameters.
        chances: the probability of every secret.
    """

    prior: Prior
    secrets: Mapping[str, Secret]
    pairs: tuple[tuple[str, str], ...]
    query: Callable[[Any], int]
    joint: Mapping[str, Mapping[int, Polynomial]]
    chances: Mapping[str, Polynomial]

    @classmethod
    def of(
        cls,
        prior: Prior,
        *,
        secrets: Mapping[str, Secret],
        query: Callable[[Any], int],
        pairs: Iterable[tuple[str, str]] | None = None,
    ) -> Framework:
        """The framework, with the tables of its prior.

        Raises:
            ScenarioError: a query value that is no whole number, or a secret that is impossible.
        """
        asked = pufferfish(clamped_mechanism(0, 1, "1/2"), prior=prior, secrets=secrets, pairs=pairs)
        zero = Polynomial.constant(0, prior.region.names)
        joint: dict[str, dict[int, Polynomial]] = {secret: {} for secret in secrets}
        for data, weight in data_sets(prior):
            value = query(data)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ScenarioError(
                    "query", f"it gives {value!r} on {data!r}", place="query", hint="a whole number, such as a count"
                )
            for secret, holds in secrets.items():
                if holds(data):
                    joint[secret][value] = joint[secret].get(value, zero) + weight
        chances = {secret: sum(table.values(), zero) for secret, table in joint.items()}
        for secret, chance in chances.items():
            if chance.is_zero:
                raise ScenarioError("secrets", f"{secret!r} is impossible under {prior.name}", place="secrets")
        return cls(prior, dict(secrets), asked.pairs, query, joint, chances)

    @property
    def values(self) -> tuple[int, int]:
        """The least and the greatest value of the query."""
        listed = [value for table in self.joint.values() for value in table]
        return min(listed), max(listed)

    @property
    def parametric(self) -> bool:
        """Whether the prior has unknown parameters."""
        return bool(self.prior.region.names)

    def laws(self) -> list[SumLaws]:
        """The laws of the query given the secrets of every pair; for priors without parameters."""
        result = []
        for pair in self.pairs:
            given = {s: {v: p.at({}) / self.chances[s].at({}) for v, p in self.joint[s].items()} for s in pair}
            result.append(listed_laws(given, node=f"{pair[0]} | {pair[1]}"))
        return result


def wasserstein_distance(framework: Framework, *, monitor: Monitor | None = None) -> int:
    """The least whole w that is proved to bound ``W_infinity`` for every pair of secrets and every value of the parameters."""
    low, high = framework.values
    watched = monitor or Monitor()
    below, above = -1, high - low
    while above - below > 1:
        middle = (below + above) // 2
        if _within(framework, middle, watched):
            above = middle
        else:
            below = middle
    return above


def _within(framework: Framework, distance: int, monitor: Monitor) -> bool:
    """Whether the distance is proved to be at most so much."""
    low, high = framework.values
    zero = Polynomial.constant(0, framework.prior.region.names)
    conditions = []
    for pair in framework.pairs:
        for s, t in (pair, pair[::-1]):
            for value in range(low, high - distance):
                some = sum((p for v, p in framework.joint[s].items() if v <= value), zero)
                more = sum((p for v, p in framework.joint[t].items() if v <= value + distance), zero)
                conditions.append(more * framework.chances[s] - some * framework.chances[t])
    needed = [c for c in conditions if not c.is_zero]
    if not framework.parametric:
        return all(c.at({}) >= 0 for c in needed)
    return all(tree is not None for tree in non_negative(needed, framework.prior.region, monitor))


@dataclass(frozen=True)
class Protected:
    """A query with geometric noise that keeps the secrets of a framework within a budget.

    Attributes:
        framework: the secrets and the prior.
        epsilon: the budget.
        noise: the noise.
        distance: the distance W_infinity.
        method: how the noise was found.
    """

    framework: Framework
    epsilon: Epsilon
    noise: Geometric
    distance: int
    method: str

    @property
    def mechanism(self) -> Mechanism:
        """The release as a mechanism: noise, clamped to the values that the query can take, which changes no loss."""
        low, high = self.framework.values
        return clamped_mechanism(low, high, self.noise.alpha)

    @property
    def question(self) -> PufferfishQuestion:
        """The question whether it keeps the secrets: `privproof.check` proves it, `privproof.tight_epsilon` measures it."""
        framework = self.framework
        return pufferfish(
            self.mechanism,
            prior=framework.prior,
            secrets=framework.secrets,
            pairs=framework.pairs,
            query=framework.query,
            epsilon=self.epsilon,
            name=f"{getattr(framework.query, '__name__', 'query')} with {self.noise}",
        )


def protect(
    prior: Prior,
    *,
    secrets: Mapping[str, Secret],
    query: Callable[[Any], int],
    epsilon: EpsilonLike,
    pairs: Iterable[tuple[str, str]] | None = None,
    method: str = "auto",
) -> Protected:
    """Noise for a query that keeps secrets under a prior, which may have unknown parameters.

    Args:
        prior: a function marked with `prior`.
        secrets: predicates on the data, by name.
        query: a function of the data with whole values.
        epsilon: the budget.
        pairs: which secrets must not be told apart; without it, every two of them.
        method: ``wasserstein``; ``exact`` for the least noise, where the prior has no parameters; ``auto`` for the best that applies.
    """
    framework = Framework.of(prior, secrets=secrets, query=query, pairs=pairs)
    budget = exact_epsilon(epsilon)
    positive(budget)
    if method not in ("auto", "wasserstein", "exact"):
        raise QuestionError("method", f"unknown method {method!r}", place="method", hint="auto, wasserstein, exact")
    if method == "exact" and framework.parametric:
        raise QuestionError(
            "method",
            "exact does not apply: the prior has unknown parameters",
            place="method",
            hint='method="wasserstein"',
        )
    distance = wasserstein_distance(framework)
    rate = shorten(Fraction(budget_below(budget)) / max(1, distance), up=False)
    if method != "wasserstein" and not framework.parametric:
        found = largest_rate(framework.laws(), budget_below(budget), low=float(rate) * (1 - 1e-12), high=float("inf"))
        rate = max(rate, shorten(Fraction(found) * (1 - Fraction(1, 10**14)), up=False))
    whole = Query("sum", "value", rational(1))
    noise = noise_of(rate, whole, "geometric")
    assert isinstance(noise, Geometric)
    taken = "wasserstein" if method == "wasserstein" or framework.parametric else "exact"
    return Protected(framework, budget, noise, distance, taken)


def protected_value(protected: Protected, data: Any, *, seed: Seed = None) -> int:
    """The noisy value of the query on a data set: noise drawn exactly, from the operating system's generator.

    With a seed, for tests alone, it can be repeated; whoever knows the seed knows the truth.
    """
    value = protected.framework.query(data)
    with drawing_from(release_source(seed)), drawing(sample):
        drawn = protected.mechanism(value)
    return int(rational(drawn))
