"""Questions about other measures of privacy than epsilon and delta: zCDP, Gaussian and Rényi differential privacy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from privproof.errors import QuestionError
from privproof.exact import Budget
from privproof.exact.measures import Measure, MeasuredBudget
from privproof.scenarios.any_question import AnyQuestion, Family

if TYPE_CHECKING:
    from privproof.language import Mechanism, Prior
    from privproof.models import Horizon


@dataclass(frozen=True)
class MeasuredQuestion(AnyQuestion):
    """A question without its budget, and budgets of one measure.

    No engine but those for this kind of question sees it, so that no bound on a measure is ever taken for an epsilon.

    Attributes:
        of: what must not be told apart: a question without a budget.
        budgets: the claims, all of one measure; of several Rényi orders all must hold.
    """

    family: ClassVar[Family] = "measured"

    of: AnyQuestion
    budgets: tuple[MeasuredBudget, ...]

    @property
    def name(self) -> str:
        """How reports call the mechanism."""
        return self.of.name

    @property
    def below_measure(self) -> AnyQuestion:
        """What must not be told apart."""
        return self.of

    @property
    def measured_words(self) -> str:
        """What is claimed."""
        return ", ".join(f"{each.measure}={each.claimed}" for each in self.budgets if each.claims)

    def measured(self, budgets: tuple[MeasuredBudget, ...]) -> MeasuredQuestion:
        """The same question with other budgets."""
        known, names = self.of.claim_names
        return self.within(*(each.filled(known, names) for each in budgets))

    @property
    def measure(self) -> Measure:
        """The measure; of several Rényi orders the first."""
        return self.budgets[0].measure

    @property
    def budget(self) -> None:
        """None: no epsilon is claimed."""
        return

    @property
    def claims(self) -> bool:
        """Whether values are claimed."""
        return all(each.claims for each in self.budgets)

    def under(self, budget: Budget | None) -> MeasuredQuestion:
        """The same question without values.

        Raises:
            QuestionError: an epsilon is given.
        """
        if budget is not None:
            raise QuestionError("budget", f"{self.measure} is asked about, not epsilon", hint="drop the epsilon")
        return replace(self, budgets=tuple(replace(each, value=None, growing=None) for each in self.budgets))

    def within(self, *budgets: MeasuredBudget) -> MeasuredQuestion:
        """The same question with other budgets."""
        return replace(self, budgets=budgets)

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> MeasuredQuestion:
        """The same question about words of other lengths."""
        return replace(self, of=self.of.lasting(horizon, place=place))

    @property
    def functions(self) -> tuple[Mechanism | Prior, ...]:
        """The functions that it is about."""
        return self.of.functions

    @property
    def list_size(self) -> int | None:
        """The length of the lists that its function reads, where the question fixes it."""
        return self.of.list_size

    def relied_on(self) -> tuple[str, ...]:
        """What a verdict relies on outside the text of these functions."""
        return self.of.relied_on()
