"""Verdicts on a terminal, and as plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from privproof.evidence import Explanation, Verdict
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import report_of
from privproof.reporting.verdict_wording import SYMBOLS, facts, headline

if TYPE_CHECKING:
    from privproof.profiles.size_sweeps import SizeTable as Sizes

_COLOURS = {"=": "bold green", "✓": "bold green", "✗": "bold red", "?": "bold yellow"}
STYLES = {status: _COLOURS[symbol] for status, symbol in SYMBOLS.items()}
_WIDTH = 15
"""The least width of the column of labels, so that the texts of most facts begin below each other."""
_WIDEST = 160
"""Columns of a text whose reader is not known; lines are not broken."""


def print_verdict(
    console: Console, verdict: Verdict, *, command: ReplayCommand | None, asked_tight: bool, more: tuple[Fact, ...] = ()
) -> None:
    """Print a verdict: one sentence, then the facts behind it, then what the caller adds."""
    listed = [*facts(verdict, command=command, asked_tight=asked_tight), *more]
    print_facts(console, verdict.status, headline(verdict, asked_tight=asked_tight), listed)


def print_headline(console: Console, verdict: Verdict, *, asked_tight: bool) -> None:
    """Print a verdict as one sentence."""
    _print_title(console, verdict.status, headline(verdict, asked_tight=asked_tight))


def plain_console(file: TextIO) -> Console:
    """A console for a reader that is not known: no colours, and no line is broken."""
    return Console(file=file, highlight=False, width=_WIDEST, legacy_windows=False, force_terminal=False)


def print_facts(console: Console, status: str, sentence: str, listed: list[Fact]) -> None:
    """Print a sentence with its verdict, and the facts behind it."""
    _print_title(console, status, sentence)
    if not console.is_terminal:
        for fact in listed:
            indented = fact.text.replace("\n", "\n" + " " * (_WIDTH + 2))
            console.print(Text(f"  {fact.label:<{_WIDTH}}{indented}"), soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=_WIDTH)
    table.add_column(overflow="fold")
    for fact in listed:
        table.add_row(f"  {fact.label}", Text(fact.text))
    console.print(table)


def _print_title(console: Console, status: str, sentence: str) -> None:
    title = Text(f"{SYMBOLS[status]} {status}  ", style=STYLES[status])
    title.append(sentence, style="bold")
    console.print(title, soft_wrap=True)


def print_explanation(console: Console, explanation: Explanation) -> None:
    """Print the two runs as one program, and the side conditions of the theorem."""
    console.print(Text("\nThe two runs as one program (x' is x in the second run, d(x) = x' - x):\n", style="bold"))
    console.print(Text(explanation.program), soft_wrap=True)
    console.print(Text("\nWhat the theorem asks for, as the checker verified it:\n", style="bold"))
    for condition in explanation.conditions:
        console.print(Text(f"  - {condition}"), soft_wrap=True)


def print_table(console: Console, table: Sizes, *, asked_tight: bool) -> None:
    """Print verdicts by size: a line each, then what they suggest."""
    first = table.rows[0][1]
    name = first.question.name.partition(" (")[0]
    console.print(Text(f"{SYMBOLS[table.status]} {table.status}  {name}", style=STYLES[table.status]), soft_wrap=True)
    for size, verdict in table.rows:
        told = (
            verdict.tight.show()
            if verdict.tight is not None
            else headline(verdict, asked_tight=True).partition(": ")[2]
        )
        status = "" if asked_tight else f"{SYMBOLS[verdict.status]} {verdict.status:<8} "
        witness = verdict.witness
        told_sides = "" if witness is None else report_of(verdict.question).sides(witness, verdict.question)
        where = f"   {told_sides}" if told_sides else ""
        console.print(Text(f"  n = {size:<4}{status}{told}{where}"), soft_wrap=True)
    if not asked_tight and table.boundary:
        console.print(Text(f"  {'boundary':<{_WIDTH}}{table.boundary}"), soft_wrap=True)
    console.print(Text(f"  {'trend':<{_WIDTH}}{table.trend}"), soft_wrap=True)


def printed_text(show: Callable[[Console], None]) -> str:
    """What is printed on a plain console, as text."""
    file = StringIO()
    show(plain_console(file))
    return file.getvalue().rstrip("\n")
