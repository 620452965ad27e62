"""Questions about a model whose initial distributions are not known exactly.

The entries of a pair's two sides are expressions in parameters; each side is divided by the sum of its entries, so that conditioning on a
secret is written down without denominators.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Self

from privproof.errors import NumberError, ScenarioError
from privproof.exact import Budget, Number
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion
from privproof.models import HiddenMarkovModel, Horizon, MarkovChain
from privproof.scenarios.any_question import AnyQuestion, Family, no_such_pair


@dataclass(frozen=True)
class ParametricPair:
    """Two initial distributions up to normalisation, with entries that are polynomials in parameters."""

    name: str
    left: Mapping[str, Polynomial]
    right: Mapping[str, Polynomial]


class UnderPriors(AnyQuestion):
    """A question about secrets under priors with unknown parameters.

    Attributes:
        rows: what the rows of its table are.
    """

    family: ClassVar[Family] = "secrets"
    private: ClassVar[str] = "Pufferfish private"
    rows: ClassVar[str]

    @property
    @abstractmethod
    def unknowns(self) -> ParameterRegion:
        """Where the unknown parameters range."""

    @property
    def place(self) -> str:
        """Where the prior is written, for messages."""
        return "scenario.pairs"

    def pinned(self) -> Self:
        """The question about the functions that would run now, and about no others."""
        return self


@dataclass(frozen=True, kw_only=True)
class ParametricQuestion(UnderPriors):
    """A model, pairs of initial distributions in unknown parameters, a horizon, and a budget if one is claimed.

    Attributes:
        model: the mechanism.
        region: where the parameters range.
        pairs: what must not be told apart, in both directions.
        horizon: how many letters are seen.
        budget: the claim, if one is made.
        name: how reports call the mechanism.
    """

    rows: ClassVar[str] = "entries"

    model: HiddenMarkovModel | MarkovChain
    region: ParameterRegion
    pairs: tuple[ParametricPair, ...]
    horizon: Horizon
    budget: Budget | None = None
    name: str = ""

    def under(self, budget: Budget | None) -> ParametricQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)

    @property
    def unknowns(self) -> ParameterRegion:
        """Where the unknown parameters range."""
        return self.region

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> ParametricQuestion:
        """The same question about words of another length."""
        return replace(self, horizon=horizon)

    def only(self, pair: str, *, place: str = "pair") -> ParametricQuestion:
        """The same question about one of its pairs alone."""
        chosen = tuple(each for each in self.pairs if each.name == pair)
        if not chosen:
            no_such_pair(pair, [each.name for each in self.pairs])
        return replace(self, pairs=chosen)


def parametric_pair(
    model: HiddenMarkovModel | MarkovChain,
    region: ParameterRegion,
    name: str,
    left: Mapping[str, Number],
    right: Mapping[str, Number],
) -> ParametricPair:
    """A pair on the states of a model, with entries such as ``(1 - p)^2``.

    Raises:
        ScenarioError: an unknown state, an expression that cannot be read, or a side that is zero.
    """

    def side(entries: Mapping[str, Number], which: str) -> Mapping[str, Polynomial]:
        place = f"pairs.{name}.{which}"
        result = {}
        for state, value in entries.items():
            if state not in model.states:
                raise ScenarioError(
                    "unknown-name",
                    f"unknown state {state!r}",
                    place=place,
                    hint=f"known: {', '.join(model.states[:8])}",
                )
            try:
                if isinstance(value, str):
                    result[state] = Polynomial.of(value, region.names)
                else:
                    result[state] = Polynomial.constant(value, region.names)
            except NumberError as problem:
                raise ScenarioError(
                    "expression", problem.message, place=f"{place}.{state}", hint=problem.hint
                ) from None
        if all(entry.is_zero for entry in result.values()):
            raise ScenarioError("distribution", "every entry is zero", place=place, hint="an entry above 0")
        return MappingProxyType(result)

    return ParametricPair(name, side(left, "left"), side(right, "right"))
