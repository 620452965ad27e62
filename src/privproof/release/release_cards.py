"""Releases in a notebook."""

from __future__ import annotations

from privproof.exact import decimal, show
from privproof.release import release_records as records
from privproof.release.noisy_release import Released
from privproof.release.table_release import Record
from privproof.reporting.model_drawings import drawing_element
from privproof.reporting.notebook_cards import card
from privproof.reporting.report_facts import Fact


def record_card(thing: Record) -> str:
    """The card of a record."""
    parts = [drawing_element(chart) for chart in records.charts(thing)]
    return card(records.headline(thing), records.facts(thing), parts[:1], thing.verdict.status)


def released_card(thing: Released) -> str:
    """The card of released values."""
    made = thing.made
    listed = [Fact(name, show(value)) for name, value in thing.values.items()]
    listed += [Fact("method", made.method), Fact("error", f"expected {decimal(made.expected_error)}")]
    listed += [Fact("noise drawn", "FROM A SEED: for tests, not for release")] if thing.seeded else []
    return card(f"{made.question.query.name}, released", listed)
