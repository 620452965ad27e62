"""Questions about accounts: what several releases about the same series lose together, each at what it costs by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from privproof.exact import Budget
from privproof.release.markov_chains import Chain
from privproof.scenarios.any_question import AnyQuestion, Family


@dataclass(frozen=True)
class Spent:
    """What one release costs, or several alike.

    Attributes:
        first: the first entry that it looks at.
        last: the last one.
        cost: what it loses between two series that differ in one of these entries; 0 with Gaussian noise.
        squared: with Gaussian noise the square of what one entry moves the answer, over the variance.
        notes: what these releases were; as many as there are.
    """

    first: int
    last: int
    cost: Fraction
    squared: Fraction
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AccountQuestion(AnyQuestion):
    """Releases about a series under a class of chains, and what they are claimed to lose together.

    Attributes:
        chains: the class of priors.
        length: the length of the series.
        spendings: the releases.
        budget: the claim, if one is made.
        name: how reports call it.
    """

    family: ClassVar[Family] = "account"
    private: ClassVar[str] = "Pufferfish private"

    chains: tuple[Chain, ...]
    length: int
    spendings: tuple[Spent, ...]
    budget: Budget | None = None
    name: str = "account"

    def under(self, budget: Budget | None) -> AccountQuestion:
        """The same question with another claim."""
        return replace(self, budget=budget)
