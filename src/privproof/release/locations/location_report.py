"""Verdicts about locations, told from the verdict alone."""

from __future__ import annotations

from typing import Any

from privproof.evidence.witnesses import AnyWitness
from privproof.release.locations.location_question import LocationQuestion
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import Report


class LocationReport(Report[LocationQuestion, AnyWitness]):
    """How questions about locations are told."""

    def compared(self, question: LocationQuestion) -> list[Fact]:
        """The places that are compared."""
        sites = "all places" if question.sites is None else f"{len(question.sites)} sites"
        return [Fact("compared", f"{sites}, epsilon for each unit of distance")]

    def question_data(self, question: LocationQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return {"kind": "location", "scenario": self.compared(question)[0].text}
