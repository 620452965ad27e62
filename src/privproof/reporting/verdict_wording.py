"""Verdicts in words and in plain data: what every report says, whatever its form."""

from __future__ import annotations

from typing import Any

from privproof.evidence.verdicts import Unknown, Verdict
from privproof.exact import text
from privproof.exact.number_texts import outward
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import report_of

SYMBOLS = {
    "computed": "=",
    "proved": "✓",
    "refuted": "✗",
    "unknown": "?",
    "ledger": "=",
    "spent": "✓",
    "refused": "✗",
    "sound": "✓",
    "unsound": "✗",
}
"""How a verdict begins, and what a ledger says."""


def headline(verdict: Verdict, *, asked_tight: bool) -> str:
    """The verdict in one sentence."""
    return report_of(verdict.question).headline(verdict, verdict.question, asked_tight=asked_tight)


def facts(verdict: Verdict, *, command: ReplayCommand | None, asked_tight: bool) -> list[Fact]:
    """Everything a reader needs, in order."""
    return report_of(verdict.question).facts(verdict, verdict.question, command=command, asked_tight=asked_tight)


def data(verdict: Verdict, *, certificate: str | None) -> dict[str, Any]:
    """The verdict as plain data, the object that ``--json`` prints."""
    question, budget, tight = verdict.question, verdict.question.budget, verdict.tight
    report = report_of(question)
    infinite = verdict.lower.infinite
    result: dict[str, Any] = {
        "verdict": verdict.status,
        "engine": verdict.engine,
        "question": {
            "mechanism": question.name,
            "epsilon": None if budget is None else str(budget.epsilon),
            "delta": "0" if budget is None else str(budget.delta),
            "pointwise": budget is not None and budget.pointwise,
            **report.question_data(question),
        },
        "tight": {
            "ratio": text(tight.bound) if tight is not None and tight.bound is not None else None,
            "epsilon": "inf" if infinite else tight.decimal(digits=10) if tight is not None else None,
            "exact": "inf" if infinite else str(tight) if tight is not None else None,
            "lower": outward(verdict.lower, up=False),
            "upper": outward(verdict.upper, up=True),
            "certified": verdict.certified.lower and verdict.certified.upper,
            "certified_lower": verdict.certified.lower,
            "certified_upper": verdict.certified.upper,
        },
        "witness": None if verdict.witness is None else report.witness_data(verdict.witness, question),
        "certificate": certificate,
        "seconds": round(verdict.seconds, 6),
        "notes": list(verdict.notes),
    }
    if isinstance(verdict, Unknown):
        result["reason"] = verdict.reason
    return result | report.more_data(verdict, question)
