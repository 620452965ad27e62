"""Verdicts and other answers as text, verdicts as a page and as data, each from the answer alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privproof.capabilities import load_named, shown_as
from privproof.evidence.verdicts import Verdict
from privproof.reporting.console_texts import print_verdict, printed_text
from privproof.reporting.latex_tables import latex
from privproof.reporting.verdict_pages import page
from privproof.reporting.verdict_wording import data


def text_of(thing: object) -> str:
    """What the command prints about an answer."""
    texts = (way.text for way in shown_as(thing) if way.text is not None)
    return next((str(load_named(text)(thing)) for text in texts), repr(thing))


class VerdictPresenter:
    """Turns verdicts into text."""

    def text(self, verdict: Verdict) -> str:
        """What the command prints."""
        return printed_text(
            lambda console: print_verdict(console, verdict, command=None, asked_tight=verdict.asked_tight)
        )

    def page(self, verdict: Verdict, path: Path) -> str:
        """A page of its own, in the form that the name of its file says."""
        return page(verdict, command=None, asked_tight=verdict.asked_tight, certificate=None).written(path)

    def latex(self, verdict: Verdict, *, standalone: bool) -> str:
        """A section of a paper."""
        return latex(verdict, standalone=standalone)

    def data(self, verdict: Verdict) -> dict[str, Any]:
        """The object that the command prints with ``--json``."""
        return data(verdict, certificate=None)
