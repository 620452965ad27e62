"""The colours of every drawing, on light and on dark pages, and the part of a drawing that says so.

A drawing names its colours as plain attributes, ``fill="#1c2024"``, which every program that knows SVG can show: those of a light page.
A style inside of it gives each of them its counterpart on a dark page (``light-dark()`` of CSS), so that the same text looks well inline
in a page, in a notebook, and as a picture file.  Which of the two holds is asked of the page: its ``color-scheme``, or what notebooks
say about their theme; a picture file follows the preference of the reader.  There is no background.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

INK, GREY, GRID, AXIS, PAPER = "#1c2024", "#60646c", "#eceef0", "#b9bec4", "white"
BLUE, ORANGE, RED, GREEN = "#3b5bdb", "#f08c00", "#b42318", "#1a7f37"
DARK_ORANGE, PALE_BLUE, PALE_ORANGE, PALE_VIOLET, PALE_RED = "#a35200", "#e3e9fc", "#ffe3c7", "#e7e0f5", "#fbe0dd"
BOX, SILVER = "#f6f8fa", "#d5d8dc"
VIOLET, TEAL, DARK_TEAL, BROWN, DARK_BROWN = "#862e9c", "#0c8599", "#0b7285", "#8d6e4a", "#755a3a"
LINES = (
    (BLUE, BLUE),
    (ORANGE, DARK_ORANGE),
    (GREEN, GREEN),
    (RED, RED),
    (VIOLET, VIOLET),
    (TEAL, DARK_TEAL),
    (BROWN, DARK_BROWN),
    (GREY, GREY),
)
"""The colours of lines in their order: of the line, and of its name, which must be dark enough to be read."""
DARK = {
    INK: "#e6e8eb",
    GREY: "#a6adb8",
    GRID: "#30353d",
    AXIS: "#646c77",
    PAPER: "#1e2129",
    BLUE: "#849dff",
    ORANGE: "#e8951f",
    RED: "#ff8577",
    GREEN: "#4cc06e",
    DARK_ORANGE: "#ffb765",
    PALE_BLUE: "#28345f",
    PALE_ORANGE: "#55381a",
    PALE_VIOLET: "#3d335c",
    PALE_RED: "#5a2722",
    BOX: "#282d36",
    SILVER: "#454c56",
    VIOLET: "#d195e2",
    TEAL: "#3fbdd0",
    DARK_TEAL: "#5fd0e2",
    BROWN: "#c9a67a",
    DARK_BROWN: "#dcbf98",
}
"""Every colour with its counterpart on a dark page."""
STATUS = {"computed": GREEN, "proved": GREEN, "refuted": RED, "unknown": "#9a6700"}
"""The colour of a verdict; white letters on it can be read, and it can be read on white."""
DARK["#9a6700"] = "#e3b341"

DARK_PAGES = ("[data-jp-theme-light=false]", ".vscode-dark", "[data-theme=dark]")
"""How notebooks (JupyterLab, Visual Studio Code, Colab) say that their page is dark."""
_USED = re.compile(r'\b(fill|stroke)="(#[0-9a-f]{6}|white)"')


def theme_colour(colour: str) -> str:
    """A colour as CSS has it for light and dark pages.

    >>> theme_colour(PAPER)
    'light-dark(white,#1e2129)'
    """
    return f"light-dark({colour},{DARK[colour]})"


def colour_style(drawn: str) -> str:
    """The style element of a drawing: its colours on a dark page, those only that occur.

    >>> colour_style('<line stroke="#1c2024"/>').count("light-dark")
    1
    """
    rules = _rules(sorted(set(_USED.findall(drawn))))
    return (
        f"<style>svg.privproof:root{{color-scheme:light dark}}:is({','.join(DARK_PAGES)}) svg.privproof{{color-scheme:dark}}"
        f"{rules}</style>"
    )


def colour_sheet() -> str:
    """A style sheet for a page that shows drawings without styles of their own: every colour, and as variables for the page itself.

    >>> "--ink:light-dark(#1c2024,#e6e8eb)" in colour_sheet()
    True
    """
    names = {
        "ink": INK,
        "grey": GREY,
        "grid": GRID,
        "axis": AXIS,
        "paper": PAPER,
        "blue": BLUE,
        "red": RED,
        "green": GREEN,
    }
    names |= {
        "box": BOX,
        "orange": DARK_ORANGE,
        "amber": STATUS["unknown"],
        "pale-red": PALE_RED,
        "pale-blue": PALE_BLUE,
    }
    names |= {"violet": VIOLET, "teal": DARK_TEAL, "brown": DARK_BROWN}
    variables = "".join(f"--{name}:{theme_colour(colour)};" for name, colour in names.items())
    return f":root{{{variables}}}{_rules([(name, colour) for colour in DARK for name in ('fill', 'stroke')])}\n"


def _rules(used: Iterable[tuple[str, str]]) -> str:
    return "".join(f'svg.privproof [{name}="{colour}"]{{{name}:{theme_colour(colour)}}}' for name, colour in used)
