"""Verdicts as text, as a page, and as data, from the verdict alone."""

from __future__ import annotations

from io import StringIO
from typing import Any

from privproof.evidence.verdicts import Verdict
from privproof.reporting.html import page
from privproof.reporting.text import plain_console, print_verdict
from privproof.reporting.wording import data


class VerdictPresenter:
    """Turns verdicts into text."""

    def text(self, verdict: Verdict) -> str:
        """What the command prints."""
        file = StringIO()
        print_verdict(plain_console(file), verdict, command=None, asked_tight=verdict.asked_tight)
        return file.getvalue().rstrip("\n")

    def page(self, verdict: Verdict) -> str:
        """A page of its own."""
        return str(page(verdict, command=None, asked_tight=verdict.asked_tight, certificate=None))

    def data(self, verdict: Verdict) -> dict[str, Any]:
        """The object that the command prints with ``--json``."""
        return data(verdict, certificate=None)
