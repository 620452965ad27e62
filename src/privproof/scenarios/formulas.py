"""Questions about formulas: in which states of a process does a formula of dpCTL* hold?"""

from __future__ import annotations

from dataclasses import dataclass

from privproof.exact import Budget
from privproof.formulas import Formula
from privproof.models import DecisionProcess


@dataclass(frozen=True, eq=False)
class FormulaQuestion:
    """A process, a formula, and the states that it is asked about.

    Attributes:
        process: the Markov chain or decision process.
        formula: the formula; what is claimed stands in it.
        states: the states that the verdict is about.
    """

    process: DecisionProcess
    formula: Formula
    states: tuple[int, ...]

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.process.name

    @property
    def budget(self) -> Budget | None:
        """None: the budgets stand in the formula."""
        return None
