"""Verdicts about accounts, in words and as plain data."""

from __future__ import annotations

from typing import Any

from privproof.evidence.verdicts import Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.release.account_document import document
from privproof.release.account_question import AccountQuestion
from privproof.release.release_report import loss_words
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import Report


class AccountReport(Report[AccountQuestion, AnyWitness]):
    """How questions about accounts are told."""

    def compared(self, question: AccountQuestion) -> list[Fact]:
        """What is compared, and how much was released."""
        many = sum(len(spent.notes) for spent in question.spendings)
        more = "" if len(question.chains) == 1 else f" and {len(question.chains) - 1} more"
        told = f"any two values of one entry of a series of length {question.length}, under {question.chains[0]}{more}"
        return [Fact("compared", told), Fact("releases", str(many))]

    def tight(self, verdict: Verdict, question: AccountQuestion) -> str:
        """What all releases lose together."""
        return loss_words(verdict)

    def question_data(self, question: AccountQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return {**document(question, None), "horizon": None, "scenario": self.compared(question)[0].text}
