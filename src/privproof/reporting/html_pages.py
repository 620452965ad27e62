"""Verdicts as a page: the sentence, the facts, both distributions drawn, the model drawn; as self-contained HTML, or as its parts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from privproof.drawing.palette import BOX, GREY, GRID, INK, PAPER, STATUS, theme_colour
from privproof.errors import FormatError
from privproof.reporting.report_facts import Fact
from privproof.reporting.verdict_wording import SYMBOLS

STYLE = f"""
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
body {{ color: {theme_colour(INK)}; background: {theme_colour(PAPER)}; }}
h1 {{ font-size: 1.4rem; line-height: 1.3; margin-bottom: 1rem; }}
.status {{ color: #fff; border-radius: .4rem; padding: .1rem .6rem; margin-right: .6rem; white-space: nowrap; }}
table {{ border-collapse: collapse; width: 100%; }}
th {{ text-align: left; font-weight: 500; color: {theme_colour(GREY)}; }}
th {{ vertical-align: top; padding: .3rem 1.2rem .3rem 0; white-space: nowrap; }}
td {{ padding: .3rem 0; overflow-wrap: anywhere; white-space: pre-wrap; font-variant-numeric: tabular-nums; }}
.facts td {{ width: 100%; max-width: 0; }}
tr {{ border-bottom: 1px solid {theme_colour(GRID)}; }}
td.columns {{ font-family: ui-monospace, monospace; font-size: .85rem; white-space: pre; overflow-x: auto; }}
.candidates td {{ vertical-align: top; padding-right: 1.2rem; }}
.candidates td.whole {{ white-space: nowrap; }}
h2 {{ font-size: 1.05rem; margin: 2rem 0 .6rem; }}
.drawing {{ overflow-x: auto; border: 1px solid {theme_colour(GRID)}; border-radius: .4rem; padding: .5rem; }}
pre {{ background: {theme_colour(BOX)}; padding: 1rem; border-radius: .4rem; overflow-x: auto; font-size: .85rem; }}
footer {{ color: {theme_colour(GREY)}; margin-top: 2rem; font-size: .9rem; }}
@media (max-width: 40rem) {{
  .facts, .facts tbody, .facts tr, .facts th, .facts td {{ display: block; width: auto; max-width: none; }}
  .facts tr {{ padding: .3rem 0; }} .facts th, .facts td {{ padding: 0; }}
}}
@media print {{
  :root {{ color-scheme: light; }} body {{ max-width: none; margin: 0; font-size: 11pt; }}
  .status {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
  .drawing, tr {{ break-inside: avoid; }} h2 {{ break-after: avoid; }}
  pre, td.columns {{ white-space: pre-wrap; overflow: visible; }} details {{ display: none; }}
}}
"""


_FOOTER = "Probabilities and ratios are exact; decimals are rounded."


@dataclass(frozen=True)
class Page:
    """A report to be looked at; its text is one self-contained HTML page.

    Attributes:
        status: the verdict, in a word.
        sentence: the verdict in a sentence.
        facts: what a reader needs, in order.
        more: what else there is to see, drawings and sources, as HTML.
        raw: everything as plain data.
        footer: what holds of the numbers.
        latex: the same as a LaTeX document; empty where there is none.
    """

    status: str
    sentence: str
    facts: tuple[Fact, ...]
    more: str
    raw: dict[str, Any]
    footer: str = _FOOTER
    latex: str = field(default="", repr=False)

    def __str__(self) -> str:
        return _document(self)

    def data(self) -> dict[str, Any]:
        """Its parts, for another page to show."""
        return {
            "status": self.status,
            "sentence": self.sentence,
            "facts": [{"label": fact.label, "text": fact.text} for fact in self.facts],
            "more": self.more,
            "data": self.raw,
            "footer": self.footer,
        }

    def written(self, path: Path) -> str:
        """What a file of this name holds: HTML, the parts as JSON, or LaTeX, as the name ends.

        Raises:
            FormatError: there is no LaTeX of this.
        """
        if path.suffix.lower() == ".tex":
            if not self.latex:
                raise FormatError(
                    "format", "only verdicts are written as LaTeX", place=str(path), hint="--report OUT.html"
                )
            return self.latex
        if path.suffix.lower() == ".json":
            return json.dumps(self.data(), ensure_ascii=False, indent=1) + "\n"
        return str(self)


def _document(page: Page) -> str:
    """HTML: the sentence with its verdict, the facts, what else there is to see, and everything as data."""
    rows = "\n".join(
        f"<tr><th>{escape(fact.label)}</th><td{_column_class(fact)}>{escape(fact.text)}</td></tr>"
        for fact in page.facts
    )
    badge = f'<span class="status" style="background:{STATUS[page.status]}">{SYMBOLS[page.status]} {page.status}</span>'
    said = escape(json.dumps(page.raw, indent=2, ensure_ascii=False))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.sentence)}</title><style>{STYLE}</style></head><body>
<h1>{badge}{escape(page.sentence)}</h1>
<table class="facts">{rows}</table>
{page.more}
<h2>Everything, as data</h2><details><summary>JSON</summary><pre>{said}</pre></details>
<footer>privproof. {escape(page.footer)}</footer>
</body></html>
"""


def _column_class(fact: Fact) -> str:
    """Tables and code keep their columns."""
    return ' class="columns"' if "\n" in fact.text else ""
