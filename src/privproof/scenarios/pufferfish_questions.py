"""Pufferfish: secrets under a prior (Kifer and Machanavajjhala 2014).

A mechanism is epsilon-Pufferfish private if for every pair of secrets (s, t), every prior of the class and every output o

    Pr(o | s) <= e^epsilon Pr(o | t)

whenever both secrets are possible: whatever the adversary believed before, seeing the output changes the odds between s and t by a factor
of at most e^epsilon.  The class of priors is one function with unknown parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from privproof.errors import ScenarioError
from privproof.exact import Budget, EpsilonLike, Number
from privproof.exact.regions import ParameterRegion
from privproof.language import Mechanism, Prior
from privproof.scenarios.parametric_questions import UnderPriors

Secret: TypeAlias = Callable[[Any], object]


@dataclass(frozen=True)
class PufferfishQuestion(UnderPriors):
    """A mechanism, a prior, secrets, the pairs of them that must not be told apart, and a claim.

    Attributes:
        mechanism: the mechanism.
        prior: draws the data.
        secrets: predicates on the data, by name.
        pairs: which secrets must not be told apart; both directions count.
        query: what the mechanism reads of the data; None for the data itself.
        budget: the claim, if one is made.
        name: how reports call it.
    """

    rows: ClassVar[str] = "classes of data sets"

    mechanism: Mechanism
    prior: Prior
    secrets: Mapping[str, Secret]
    pairs: tuple[tuple[str, str], ...]
    query: Callable[[Any], Any] | None = None
    budget: Budget | None = None
    name: str = ""

    def under(self, budget: Budget | None) -> PufferfishQuestion:
        """The same question with another claim."""
        return replace(self, budget=budget)

    @property
    def unknowns(self) -> ParameterRegion:
        """Where the prior's unknown parameters range."""
        return self.prior.region

    @property
    def place(self) -> str:
        """Where the prior is written, for messages."""
        return self.prior.name

    def pinned(self) -> PufferfishQuestion:
        """The question about the functions that would run now, and about no others."""
        return replace(self, mechanism=self.mechanism.pinned(), prior=self.prior.pinned())

    @property
    def functions(self) -> tuple[Mechanism | Prior, ...]:
        """The mechanism and the prior."""
        return self.mechanism, self.prior


def pufferfish(
    mechanism: Mechanism,
    *,
    prior: Prior,
    secrets: Mapping[str, Secret],
    pairs: Iterable[tuple[str, str]] | None = None,
    query: Callable[[Any], Any] | None = None,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    name: str | None = None,
) -> PufferfishQuestion:
    """The question whether a mechanism keeps secrets under a prior.

    Args:
        mechanism: a mechanism in the mechanism language.
        prior: a function marked with `prior`.
        secrets: predicates on the data that the prior returns, by name.
        pairs: which secrets must not be told apart; without it, every two of them.
        query: what the mechanism reads, as a function of the data: the value of its only input, or a dict of its inputs by name.
        epsilon: the claim, if one is made.
        delta: its delta, for each output.
        name: how reports call the question.

    >>> from privproof.language import bernoulli, integer, prior, truncated_geometric
    >>> from privproof.language import mechanism as mark
    >>> @mark
    ... def noisy_count(count: integer(0, 2)):
    ...     return truncated_geometric(count, alpha="1/2", low=0, high=2)
    >>> @prior(p="0 < p < 1")
    ... def contagious(p):
    ...     ill = bernoulli(p)
    ...     return ill, ill
    >>> john = pufferfish(
    ...     noisy_count, prior=contagious, query=sum,
    ...     secrets={"John is ill": lambda data: data[0], "John is well": lambda data: not data[0]})
    >>> john.pairs
    (('John is ill', 'John is well'),)
    """
    for what, value, kind in (("mechanism", mechanism, Mechanism), ("prior", prior, Prior)):
        if not isinstance(value, kind):
            raise ScenarioError(
                what, f"{value!r} is no {what}", place="pufferfish", hint=f"mark the function with @{what}"
            )
    names = list(secrets)
    if len(names) < 2:
        raise ScenarioError("secrets", "fewer than two secrets", place="secrets", hint="a secret and its contrary")
    listed = (
        tuple((s, t) for i, s in enumerate(names) for t in names[i + 1 :])
        if pairs is None
        else tuple(map(tuple, pairs))
    )
    for pair in listed:
        for secret in pair:
            if secret not in secrets:
                raise ScenarioError(
                    "unknown-name", f"unknown secret {secret!r}", place="pairs", hint=f"known: {', '.join(names)}"
                )
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ScenarioError("pairs", f"{pair} is no pair of two secrets", place="pairs", hint='("ill", "well")')
    if not listed:
        raise ScenarioError(
            "empty-relation", "no pair of secrets is named", place="pairs", hint='pairs=[("ill", "well")]'
        )
    budget = None if epsilon is None else Budget.of(epsilon, delta, pointwise=True)
    if epsilon is None and mechanism.claim is not None:
        budget = mechanism.budget(1)
    title = name or f"{mechanism.name} under the prior {prior.name}"
    return PufferfishQuestion(mechanism, prior, MappingProxyType(dict(secrets)), listed, query, budget, title)  # type: ignore[arg-type]
