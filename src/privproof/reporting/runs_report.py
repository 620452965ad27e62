"""Verdicts about functions that are run as they are, in words and as plain data."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from html import escape
from typing import Any

from privproof.evidence.verdicts import Refuted, Verdict
from privproof.evidence.witnesses import RunWitness
from privproof.profiles.output_laws import SeenOutput, run_rows
from privproof.reporting.program_report import (
    arguments_words,
    delta_facts,
    event_data,
    event_facts,
    public_words,
    tight_words,
)
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, plain_data
from privproof.reporting.report_registry import Report
from privproof.scenarios import RunsQuestion


class RunsReport(Report[RunsQuestion, RunWitness]):
    """How questions about functions that are run are told."""

    def compared(self, question: RunsQuestion) -> list[Fact]:
        """What is compared."""
        return [
            Fact("compared", compared_words(question)),
            Fact("way", "the function itself, run on all its random choices"),
        ]

    def shown(
        self, verdict: Verdict, question: RunsQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The event on two data sets, and the smallest delta where it was computed."""
        found: list[Fact] = []
        if verdict.witness is not None:
            budget = question.budget
            broken = isinstance(verdict, Refuted) and not asked_tight and budget is not None
            allowed = budget.epsilon.show() if broken and budget is not None else None
            found += event_facts(verdict.witness, verdict, allowed)
        return [*found, *delta_facts(verdict)]

    def tight(self, verdict: Verdict, question: RunsQuestion) -> str:
        """What is known about the smallest epsilon."""
        return tight_words(verdict)

    def sides(self, witness: RunWitness, question: RunsQuestion) -> str:
        """Both data sets of a witness and its event, in one line."""
        return f"{arguments_words(witness.left)} against {arguments_words(witness.right)}, output {witness.output}"

    def question_data(self, question: RunsQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return {
            "kind": "runs",
            "horizon": None,
            "scenario": compared_words(question),
            "parameters": plain_data(dict(question.mechanism.parameters)),
            "sizes": list(question.sizes or ()),
        }

    def witness_data(self, witness: RunWitness, question: RunsQuestion) -> dict[str, Any]:
        """A witness as plain data."""
        return event_data(witness)

    def situations(self, witness: RunWitness, question: RunsQuestion) -> tuple[str, str]:
        """Both data sets of a witness, in words."""
        return arguments_words(witness.left), arguments_words(witness.right)

    def law_rows(self, witness: RunWitness, question: RunsQuestion) -> Sequence[SeenOutput] | None:
        """All outputs on both data sets, or the cells of a noisy number."""
        return run_rows(question.mechanism, witness.left, witness.right)

    def drawn(self, verdict: Verdict, question: RunsQuestion) -> list[str]:
        """The function."""
        try:
            text = inspect.getsource(inspect.unwrap(question.mechanism.function))
        except (OSError, TypeError):
            return []
        return [f"<pre>{escape(text)}</pre>"]


def compared_words(question: RunsQuestion) -> str:
    """Which data are compared, at which sizes."""
    mechanism = question.mechanism
    private = {name: declared for name, declared in mechanism.inputs.items() if not declared.public}
    relation = mechanism.neighbours
    amounts = sorted({"in any way" if d.within is None else f"by at most {d.within}" for d in private.values()})
    amount = amounts[0] if len(amounts) == 1 else "within its sensitivity"
    what = f"of {', '.join(f'{name}: {declared}' for name, declared in private.items())}"
    told = {
        "each": f"every value {what} may change {amount}",
        "one": f"one value {what} changes {amount}",
        "add-remove": f"one element {what} is added or removed",
        "monotone": f"all values {what} that change go in one direction, each {amount}",
        "l1": f"all values {what} change together {amount}: the sum of their changes",
        "l2": f"all values {what} change together {amount}: the root of the sum of their squared changes",
    }.get(relation if isinstance(relation, str) else "", f"data sets {what}, as the function of neighbours says")
    parts = [told] + ([f"lists of {question.sizes_words}"] if question.sizes else [])
    return "; ".join([*parts, *public_words(mechanism)])
