"""Verdicts on a terminal, and as plain lines in a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from privproof.evidence import Verdict
from privproof.reporting.wording import SYMBOLS, Command, Fact, facts, headline

_STYLES = {"proved": "bold green", "refuted": "bold red", "unknown": "bold yellow"}
_WIDTH = 15


def print_verdict(
    console: Console, verdict: Verdict, *, command: Command | None, asked_tight: bool, more: tuple[Fact, ...] = ()
) -> None:
    """Print a verdict: one sentence, then the facts behind it, then what the caller adds."""
    status = verdict.status
    title = Text(f"{SYMBOLS[status]} {status}  ", style=_STYLES[status])
    title.append(headline(verdict, asked_tight=asked_tight), style="bold")
    console.print(title, soft_wrap=True)
    listed = [*facts(verdict, command=command, asked_tight=asked_tight), *more]
    if not console.is_terminal:
        for fact in listed:
            console.print(Text(f"  {fact.label:<{_WIDTH}}{fact.text}"), soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=_WIDTH)
    table.add_column(overflow="fold")
    for fact in listed:
        table.add_row(f"  {fact.label}", Text(fact.text))
    console.print(table)
