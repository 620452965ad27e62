"""Verdicts about several uses together, in words and as plain data."""

from __future__ import annotations

from typing import Any

from privproof.evidence.verdicts import Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.reporting.program_report import delta_facts
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import Report, report_of
from privproof.scenarios import ComposedQuestion


class ComposedReport(Report[ComposedQuestion, AnyWitness]):
    """How questions about several uses are told."""

    def compared(self, question: ComposedQuestion) -> list[Fact]:
        """What is used, and what is compared in each use."""
        found = []
        for use in question.uses:
            found.append(Fact("used", str(use)))
            found += [fact for fact in report_of(use.of).compared(use.of) if fact.label == "compared"]
        return found

    def shown(
        self, verdict: Verdict, question: ComposedQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """Between which numbers the smallest delta lies."""
        return delta_facts(verdict)

    def question_data(self, question: ComposedQuestion) -> dict[str, Any]:
        """The question as plain data."""
        uses = [
            {
                **report_of(use.of).question_data(use.of),
                "mechanism": use.of.name,
                "times": use.times,
                "sampling": None
                if use.sampling is None
                else {"kind": use.sampling.kind, "rate": str(use.sampling.rate)},
            }
            for use in question.uses
        ]
        return {"kind": "composed", "horizon": None, "scenario": str(question.name), "uses": uses}
