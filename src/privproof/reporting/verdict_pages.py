"""The HTML page of a verdict: its facts, both distributions, the mechanism."""

from __future__ import annotations

from html import escape

from privproof.evidence.verdicts import Verdict
from privproof.reporting.html_pages import Page
from privproof.reporting.latex_tables import latex
from privproof.reporting.law_pictures import distribution_picture
from privproof.reporting.model_drawings import drawing_element
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_registry import report_of
from privproof.reporting.verdict_wording import data, facts, headline


def page(verdict: Verdict, *, command: ReplayCommand | None, asked_tight: bool, certificate: str | None) -> Page:
    """The page of a verdict."""
    sentence = headline(verdict, asked_tight=asked_tight)
    listed = facts(verdict, command=command, asked_tight=asked_tight)
    laws = distribution_picture(verdict)
    bars = "" if laws is None else f"<h2>Both distributions</h2>{drawing_element(laws)}"
    parts = report_of(verdict.question).drawn(verdict, verdict.question)
    drawn = f"<h2>The mechanism</h2>{''.join(parts)}" if parts else ""
    more = f"{bars}\n{drawn}"
    if verdict.explanation is not None:
        more += f"<h2>The two runs as one program</h2><pre>{escape(verdict.explanation.program)}</pre>"
    return Page(
        verdict.status, sentence, tuple(listed), more, data(verdict, certificate=certificate), latex=latex(verdict)
    )
