"""Questions about a model whose initial distributions are not known exactly.

The entries of a pair's two sides are expressions in parameters; each side is divided by the sum of its entries, so that conditioning on a
secret is written down without denominators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from privproof.errors import NumberError, ScenarioError
from privproof.exact import Budget, Number
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import Region
from privproof.models import HiddenMarkovModel, Horizon, MarkovChain


@dataclass(frozen=True)
class ParametricPair:
    """Two initial distributions up to normalisation, with entries that are polynomials in parameters."""

    name: str
    left: Mapping[str, Polynomial]
    right: Mapping[str, Polynomial]


@dataclass(frozen=True, kw_only=True)
class ParametricQuestion:
    """A model, pairs of initial distributions in unknown parameters, a horizon, and a budget if one is claimed.

    Attributes:
        model: the mechanism.
        region: where the parameters range.
        pairs: what must not be told apart, in both directions.
        horizon: how many letters are seen.
        budget: the claim, if one is made.
        name: how reports call the mechanism.
    """

    model: HiddenMarkovModel | MarkovChain
    region: Region
    pairs: tuple[ParametricPair, ...]
    horizon: Horizon
    budget: Budget | None = None
    name: str = ""

    def under(self, budget: Budget | None) -> ParametricQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)


def parametric_pair(
    model: HiddenMarkovModel | MarkovChain,
    region: Region,
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
