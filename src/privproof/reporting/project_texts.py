"""Results of a project for readers: a table with what is wrong above it, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from rich.console import Console
from rich.text import Text

from privproof.drawing.palette import STATUS as COLOURS
from privproof.projects.project_results import WORST, CheckResult, summary
from privproof.reporting.console_texts import STYLES
from privproof.reporting.html_pages import STYLE
from privproof.reporting.verdict_wording import SYMBOLS

_SYMBOLS = {**SYMBOLS, "error": "!"}
_STYLES = {**STYLES, "error": "bold red"}
_COLOURS = {**COLOURS, "error": COLOURS["refuted"]}


def print_results(
    console: Console, results: Sequence[CheckResult], *, more: bool = False, less: bool = False, reason: str = ""
) -> None:
    """Print what is said about everything that is not proved, then a line for each, then how many there are.

    Args:
        console: where.
        results: the results.
        more: whether what is proved is said in full, too.
        less: whether only the lines of what is not proved are wanted.
        reason: why it ends before its end.
    """
    told = [result for result in results if result.shown and (more or result.outcome != "proved")]
    for result in () if less else told:
        console.print(Text.from_ansi(result.shown.rstrip("\n")), soft_wrap=True)
        console.print()
    listed = [result for result in results if not (less and result.outcome == "proved")]
    width = min(_WIDE, max((len(result.target.text) for result in listed), default=0))
    for result in listed:
        line = Text(f"{_SYMBOLS[result.outcome]} {result.outcome:<8} ", style=_STYLES[result.outcome])
        line.append(f"{result.target.text:<{width}}  {_claim_or_fault(result)}".rstrip(), style="default not bold")
        console.print(line, soft_wrap=True)
    console.print(Text(summary(results), style="bold"), soft_wrap=True)
    if reason:
        console.print(Text(f"  {'reason':<15}{reason}"), soft_wrap=True)


_WIDE = 50
"""Characters of the column of names; a longer one moves the rest of its line to the right."""
_NARROW = 60
"""Characters of a table's last column."""


def _claim_or_fault(result: CheckResult) -> str:
    """The end of a result's line: what is claimed, or what is wrong."""
    said = result.sentence.splitlines()[0] if result.sentence else ""
    if result.outcome in ("proved", "refuted"):
        said = said.partition(" is ")[2] or said
    return said if len(said) <= _NARROW else f"{said[: _NARROW - 1]}…"


def results_data(results: Sequence[CheckResult]) -> list[dict[str, Any]]:
    """Results as plain data: the objects that ``--json`` prints, each with where its mechanism is."""
    return [
        {
            "target": result.target.text,
            "file": result.target.file,
            "line": result.line,
            "verdict": None if result.outcome == "error" else result.outcome,
            **result.data,
            "kept": result.kept,
        }
        for result in results
    ]


def results_page(results: Sequence[CheckResult], title: str = "privproof") -> str:
    """One self-contained page: the table, then what is said about each."""
    rows = "\n".join(
        f'<tr><td><span class="status" style="background:{_COLOURS[result.outcome]}">{_SYMBOLS[result.outcome]} '
        f'{result.outcome}</span></td><td><a href="#r{number}">{escape(result.target.text)}</a></td>'
        f"<td>{escape(_claim_or_fault(result))}</td><td>{result.seconds:.2f} s</td></tr>"
        for number, result in enumerate(results)
    )
    parts = "\n".join(
        f'<h2 id="r{number}">{escape(result.target.text)}, line {result.line}</h2><pre>{escape(result.text)}</pre>'
        for number, result in sorted(enumerate(results), key=lambda each: WORST.index(each[1].outcome))
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}: {escape(summary(results))}</title><style>{STYLE}</style></head><body>
<h1>{escape(summary(results))}</h1>
<table>{rows}</table>
{parts}
<footer>privproof. Probabilities and ratios are exact; decimals are rounded.</footer>
</body></html>
"""
