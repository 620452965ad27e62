"""Verdicts about formulas, told from the verdict alone."""

from __future__ import annotations

from typing import Any

from privproof.evidence.verdicts import Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.logic.formula_question import FormulaQuestion
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import Report

_LISTED = 8
"""States that are named."""


class FormulaReport(Report[FormulaQuestion, AnyWitness]):
    """How questions about formulas are told."""

    def headline(self, verdict: Verdict, question: FormulaQuestion, *, asked_tight: bool) -> str:
        """The verdict in one sentence."""
        name = question.name or "the model"
        if verdict.status == "unknown":
            return f"{name}: not known whether {question.formula} holds"
        return f"{name}: {question.formula} {'holds' if verdict.status == 'proved' else 'fails in a state'}"

    def compared(self, question: FormulaQuestion) -> list[Fact]:
        """The states that are asked about."""
        return [Fact("states", _states(question))]

    def facts(self, verdict: Verdict, question: FormulaQuestion, **given: Any) -> list[Fact]:
        """Everything a reader needs; a formula has no tight epsilon."""
        return [fact for fact in super().facts(verdict, question, **given) if fact.label != "tight epsilon"]

    def question_data(self, question: FormulaQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return {"kind": "formula", "formula": str(question.formula), "scenario": _states(question)}


def _states(question: FormulaQuestion) -> str:
    names = [str(question.process.names[number]) for number in question.states[:_LISTED]]
    more = len(question.states) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
