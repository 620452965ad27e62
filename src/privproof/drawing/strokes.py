"""The strokes that drawings are made of: texts, lines and dots as SVG, and widths of texts as far as they can be known."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from unicodedata import east_asian_width

from privproof.drawing.palette import GREY, INK, colour_style

WIDTH, MARGIN = 720.0, 16.0
"""In pixels: how wide every chart is, and its margin."""
LABEL, LONGEST_NAME = 15.0, 200.0
"""In pixels: how far labels at the ends of lines stay apart, and how wide a name may be before it is cut."""

Value = float | None
Run = list[tuple[float, float]]


def svg_document(title: str, description: str, height: float, parts: Iterable[str], width: float = WIDTH) -> str:
    """A chart with its title above it."""
    lines = _wrap_title(title)
    named = [text_at(MARGIN, 26 + 20 * i, line, size=15, fill=INK, bold=True) for i, line in enumerate(lines)]
    return svg_element(title or "chart", description, (0, 0, width, height), [*named, *parts])


def svg_element(title: str, description: str, box: tuple[float, float, float, float], parts: Iterable[str]) -> str:
    """A drawing as one self-contained element: the box (left, top, width, height) that it shows, and what is in it."""
    body = [part for part in parts if part]
    left, top, width, height = box
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="privproof" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:g} {top:g} {width:.0f} {height:.0f}" style="max-width:100%;height:auto" '
            f'font-family="system-ui, sans-serif" font-size="12">',
            f"<title>{escape_text(title)}</title>",
            f"<desc>{escape_text(description)}</desc>",
            colour_style("\n".join(body)),
            *body,
            "</svg>",
            "",
        )
    )


def title_height(title: str) -> float:
    return 14 + 20.0 * len(_wrap_title(title))


def _wrap_title(title: str) -> list[str]:
    """A title in at most three lines."""
    lines: list[str] = []
    for word in plain(title).split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and (text_width(joined, 15, bold=True) <= WIDTH - 2 * MARGIN or len(lines) == 3):
            lines[-1] = joined
        else:
            lines.append(word)
    return [clip_text(line, WIDTH - 2 * MARGIN, 15, bold=True) for line in lines]


def printable(text: str) -> str:
    """The text without characters that cannot be shown."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def plain(text: str) -> str:
    return printable(" ".join(text.split()))


def escape_text(text: str) -> str:
    return escape(plain(text), quote=False)


def text_width(text: str, size: float = 12, *, bold: bool = False) -> float:
    """About how wide a text is, rather too wide than too narrow."""
    total = 0.0
    for c in text:
        if c in " .,:;'|!ijlt()[]⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉·":
            total += 0.42
        elif east_asian_width(c) in "WF" or c in "mwMW@%…":
            total += 0.98
        else:
            total += 0.72 if c.isupper() else 0.62
    return size * total * (1.07 if bold else 1.0)


def clip_text(text: str, widest: float, size: float = 12, *, bold: bool = False) -> str:
    """A text that is not wider than it may be: its end is left out."""
    shown = plain(text)
    if text_width(shown, size, bold=bold) <= widest:
        return shown
    shown = shown[: int(widest)]
    while shown and text_width(shown + "…", size, bold=bold) > widest:
        shown = shown[: -max(1, len(shown) // 50)]
    return shown.rstrip() + "…"


def text_at(
    x: float,
    y: float,
    content: str,
    *,
    size: float = 12,
    fill: str = GREY,
    anchor: str = "start",
    bold: bool = False,
    halo: bool = False,
    tip: str = "",
) -> str:
    style = "" if anchor == "start" else f' text-anchor="{anchor}"'
    style += "" if size == 12 else f' font-size="{size:g}"'
    style += ' font-weight="600"' if bold else ""
    style += ' stroke="white" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    whole = f"<title>{escape_text(tip)}</title>" if tip and plain(tip) != content else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{style}>{escape_text(content)}{whole}</text>'


def segment(a: float, b: float, c: float, d: float, stroke: str, *, width: float = 1.0, dash: str = "") -> str:
    style = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="{stroke}" stroke-width="{width:g}"{style}/>'
    )


def point_list(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(place for place, _ in groupby(f"{x:.1f},{y:.1f}" for x, y in points))


def trace(run: Run, stroke: str, dash: str = "") -> str:
    """A curve through points; a dot for a single one."""
    if len(run) == 1:
        return f'<circle cx="{run[0][0]:.1f}" cy="{run[0][1]:.1f}" r="3.5" fill="{stroke}"/>'
    style = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<polyline points="{point_list(run)}" fill="none" stroke="{stroke}" stroke-width="2" '
        f'stroke-linejoin="round" stroke-linecap="round"{style}/>'
    )


def dot(fill: str, stroke: str) -> str:
    return f'<circle cx="6" cy="0" r="5" fill="{fill}" stroke="{stroke}" stroke-width="2"/>'


def whisker(low: float, high: float, y: float) -> str:
    caps = "".join(segment(x, y - 3, x, y + 3, INK) for x in (low, high))
    return segment(low, y, high, y, INK) + caps
