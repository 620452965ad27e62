"""Verdicts and other answers as text, verdicts as a page and as data, each from the answer alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from privproof.auditing.audits import Audit
from privproof.engines.logic.satisfaction import Satisfaction
from privproof.evidence.verdicts import Verdict
from privproof.reporting.audits import print_audit
from privproof.reporting.html import page
from privproof.reporting.latex import latex
from privproof.reporting.logic import print_satisfaction
from privproof.reporting.text import plain_console, print_verdict
from privproof.reporting.wording import data


def _written(show: Callable[[Console], None]) -> str:
    file = StringIO()
    show(plain_console(file))
    return file.getvalue().rstrip("\n")


@singledispatch
def text_of(thing: object) -> str:
    """What the command prints about an answer."""
    return repr(thing)


@text_of.register
def _(thing: Audit) -> str:
    return _written(lambda console: print_audit(console, thing, command=None))


@text_of.register
def _(thing: Satisfaction) -> str:
    return _written(lambda console: print_satisfaction(console, thing, every=False))


class VerdictPresenter:
    """Turns verdicts into text."""

    def text(self, verdict: Verdict) -> str:
        """What the command prints."""
        return _written(lambda console: print_verdict(console, verdict, command=None, asked_tight=verdict.asked_tight))

    def page(self, verdict: Verdict, path: Path) -> str:
        """A page of its own, in the form that the name of its file says."""
        return page(verdict, command=None, asked_tight=verdict.asked_tight, certificate=None).written(path)

    def latex(self, verdict: Verdict, *, standalone: bool) -> str:
        """A section of a paper."""
        return latex(verdict, standalone=standalone)

    def data(self, verdict: Verdict) -> dict[str, Any]:
        """The object that the command prints with ``--json``."""
        return data(verdict, certificate=None)
