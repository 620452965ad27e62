"""Verdicts as text, as a part of a page, as a page, and as data, from the verdict alone."""

from __future__ import annotations

from html import escape
from io import StringIO
from typing import Any

from privproof.drawing.palette import STATUS
from privproof.evidence.verdicts import Verdict
from privproof.reporting.html import page
from privproof.reporting.text import plain_console, print_verdict
from privproof.reporting.wording import SYMBOLS, data, facts, headline


class VerdictPresenter:
    """Turns verdicts into text."""

    def text(self, verdict: Verdict) -> str:
        """What the command prints."""
        file = StringIO()
        print_verdict(plain_console(file), verdict, command=None, asked_tight=verdict.asked_tight)
        return file.getvalue().rstrip("\n")

    def html(self, verdict: Verdict) -> str:
        """A part of a page: the sentence and the facts."""
        sentence = headline(verdict, asked_tight=verdict.asked_tight)
        rows = "".join(
            f'<tr><th style="text-align:left;vertical-align:top">{escape(fact.label)}</th>'
            f'<td style="text-align:left;white-space:pre-wrap">{escape(fact.text)}</td></tr>'
            for fact in facts(verdict, command=None, asked_tight=verdict.asked_tight)
        )
        colour = STATUS[verdict.status]
        badge = f'<strong style="color:{colour}">{SYMBOLS[verdict.status]} {verdict.status}</strong>'
        return f"<div><p>{badge} {escape(sentence)}</p><table>{rows}</table></div>"

    def page(self, verdict: Verdict) -> str:
        """A page of its own."""
        return str(page(verdict, command=None, asked_tight=verdict.asked_tight, certificate=None))

    def data(self, verdict: Verdict) -> dict[str, Any]:
        """The object that the command prints with ``--json``."""
        return data(verdict, certificate=None)
