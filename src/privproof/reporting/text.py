"""Verdicts on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from privproof.evidence import Verdict
from privproof.reporting.wording import SYMBOLS, facts, headline

_STYLES = {"proved": "bold green", "refuted": "bold red", "unknown": "bold yellow"}


def print_verdict(console: Console, verdict: Verdict, *, source: str, asked_tight: bool) -> None:
    """Print a verdict: one sentence, then the facts behind it."""
    status = verdict.status
    title = Text(f"{SYMBOLS[status]} {status}  ", style=_STYLES[status])
    title.append(headline(verdict, asked_tight=asked_tight), style="bold")
    console.print(title, soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=13)
    table.add_column(overflow="fold")
    for fact in facts(verdict, source=source, asked_tight=asked_tight):
        table.add_row(f"  {fact.label}", Text(fact.text))
    console.print(table)
