"""Questions about formulas: in which states of a process does a formula of dpCTL* hold?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privproof.errors import QuestionError
from privproof.exact import Budget
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import Formula
from privproof.scenarios.any_question import AnyQuestion, Family


@dataclass(frozen=True, eq=False)
class FormulaQuestion(AnyQuestion):
    """A process, a formula, and the states that it is asked about.

    Attributes:
        process: the Markov chain or decision process.
        formula: the formula; what is claimed stands in it.
        states: the states that the verdict is about.
        in_columns: whether its document has the process in columns, which is for large ones.
    """

    family: ClassVar[Family] = "formula"

    process: DecisionProcess
    formula: Formula
    states: tuple[int, ...]
    in_columns: bool = False

    def under(self, budget: Budget | None) -> FormulaQuestion:
        """The same question.

        Raises:
            QuestionError: a budget is given.
        """
        if budget is not None:
            raise QuestionError("budget", "the budgets stand in the formula", place="epsilon", hint="D[ln(2), 0](...)")
        return self

    @property
    def claims(self) -> bool:
        """Always: the claim is the formula."""
        return True

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.process.name

    @property
    def budget(self) -> Budget | None:
        """None: the budgets stand in the formula."""
        return None
