"""Verdicts as text, as a page, and as data, from the verdict alone."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from privproof.evidence.verdicts import Verdict
from privproof.reporting.html import page
from privproof.reporting.latex import latex
from privproof.reporting.text import plain_console, print_verdict
from privproof.reporting.wording import data


class VerdictPresenter:
    """Turns verdicts into text."""

    def text(self, verdict: Verdict) -> str:
        """What the command prints."""
        file = StringIO()
        print_verdict(plain_console(file), verdict, command=None, asked_tight=verdict.asked_tight)
        return file.getvalue().rstrip("\n")

    def page(self, verdict: Verdict, path: Path) -> str:
        """A page of its own, in the form that the name of its file says."""
        return page(verdict, command=None, asked_tight=verdict.asked_tight, certificate=None).written(path)

    def latex(self, verdict: Verdict, *, standalone: bool) -> str:
        """A section of a paper."""
        return latex(verdict, standalone=standalone)

    def data(self, verdict: Verdict) -> dict[str, Any]:
        """The object that the command prints with ``--json``."""
        return data(verdict, certificate=None)
