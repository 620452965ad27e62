"""Two distributions side by side, with the band that epsilon allows, and in red what lies beyond it.

A mechanism is epsilon-private on two data sets if for every output the two probabilities are within a factor e^epsilon of each other.
Around the probability on the right there is a band, from its e^epsilon-th part to e^epsilon times of it: that on the left has to end in
the band.  What it has beyond, or what the right has beyond e^epsilon times the left, is drawn in red; over all outputs the red of one
side comes to the smallest delta at this epsilon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privproof.drawing.axes import alike, axis_for, short
from privproof.drawing.palette import BLUE, DARK_ORANGE, GREY, INK, ORANGE, PALE_BLUE, RED
from privproof.drawing.plots import Plot, key_strokes
from privproof.drawing.strokes import (
    LONGEST_NAME,
    MARGIN,
    WIDTH,
    clip_text,
    point_list,
    segment,
    svg_document,
    text_at,
    text_width,
    title_height,
    trace,
)

_MOST_ROWS = 24
"""Outputs that have a row of their own; of more, those with the largest difference, and the rest together."""
_THICK, _STEP = 13.0, 40.0
"""In pixels: a bar, and a row with two of them."""


@dataclass(frozen=True)
class Twin:
    """What is seen, with its probability in both situations.

    Attributes:
        name: what is seen.
        left: its probability on the left.
        right: its probability on the right.
        beyond: whether it was found, exactly, that they differ by more than e^epsilon.
        ends: of a cell of a noisy number, where it begins and ends.
    """

    name: str
    left: float
    right: float
    beyond: bool = False
    ends: tuple[float, float] | None = None


def band_chart(
    rows: Sequence[Twin],
    *,
    title: str,
    left: str,
    right: str,
    factor: float | None,
    bound: str = "",
    shown: str = "",
) -> str:
    """Two distributions, a row for every output: two bars, the band that is allowed, and in red what lies beyond.

    Args:
        rows: what is seen; only where `beyond` says so is anything red.
        title: what the chart shows.
        left: the situation on the left, in words.
        right: the situation on the right.
        factor: e^epsilon; None where there is no finite one.
        bound: e^epsilon in words.
        shown: the name of a row that is set in bold: that of the witness.

    Raises:
        ValueError: there is no row.

    >>> rows = [Twin("yes", 0.75, 0.25, True), Twin("no", 0.25, 0.75, True)]
    >>> chart = band_chart(rows, title="Warner", left="true", right="false", factor=2.0, bound="2")
    >>> chart.count("×3"), "beyond e^ε" in chart
    (2, True)
    """
    if not rows:
        raise ValueError(f"a chart of two distributions needs an output, found none (title={title!r})")
    kept = _fewer(rows, shown)
    drawn, top = _keys(left, right, factor, bound, title, red=any(row.beyond for row in kept))
    names = [clip_text(row.name, LONGEST_NAME, bold=row.name == shown) for row in kept]
    numbers = [alike([row.left for row in kept]), alike([row.right for row in kept])]
    ratios = [_ratio(row) for row in kept]
    wide = max(text_width(text, 11) for column in numbers for text in column)
    side = max((text_width(text, bold=True) for text in ratios), default=0.0)
    begin = MARGIN + max(text_width(name, bold=True) for name in names) + 10
    axis = axis_for(
        [0.0, *(value for row in kept for value in (row.left, row.right))], log=False, outward=True, count=6
    )
    plot = Plot(begin, top + 14, WIDTH - begin - MARGIN - wide - side - 24, _STEP * len(kept), axis, None)
    parts = [drawn, plot.grid("probability", "", 0)]
    for i, row in enumerate(kept):
        middle = plot.top + _STEP * (i + 0.5)
        parts += _row(plot, row, middle, factor)
        parts.append(
            text_at(begin - 8, middle + 4, names[i], fill=INK, anchor="end", bold=row.name == shown, tip=row.name)
        )
        end = max(plot.across(row.left), plot.across(row.right))
        parts.append(text_at(end + 6, middle - 4, numbers[0][i], size=11, fill=BLUE, halo=True))
        parts.append(text_at(end + 6, middle + 11, numbers[1][i], size=11, fill=DARK_ORANGE, halo=True))
        colour = RED if row.beyond else GREY
        parts.append(text_at(WIDTH - MARGIN, middle + 4, ratios[i], fill=colour, anchor="end", bold=row.beyond))
    said = "; ".join(f"{row.name}: {short(row.left)} against {short(row.right)}" for row in kept)
    return svg_document(title, f"Probabilities given {left} and given {right}. {said}.", plot.bottom + 48, parts)


def density_chart(
    rows: Sequence[Twin],
    *,
    title: str,
    left: str,
    right: str,
    factor: float | None,
    bound: str = "",
) -> str:
    """Two distributions of one noisy number, as steps over its cells: the band that is allowed, and in red what lies beyond.

    Args:
        rows: the cells, in ascending order; what is seen without ends is told in words below.
        title: what the chart shows.
        left: the situation on the left, in words.
        right: the situation on the right.
        factor: e^epsilon; None where there is no finite one.
        bound: e^epsilon in words.

    Raises:
        ValueError: there is no cell.
    """
    cells = [(row.ends, row) for row in rows if row.ends is not None]
    if not cells:
        raise ValueError(f"a chart of a noisy number needs a cell, found none (title={title!r})")
    drawn, top = _keys(left, right, factor, bound, title, red=any(row.beyond for _, row in cells))
    tallest = max(max(row.left, row.right) for _, row in cells)
    along = axis_for([0.0, tallest], log=False, outward=True, count=5)
    across = axis_for([cells[0][0][0], cells[-1][0][1]], log=False, outward=False, count=9)
    begin = MARGIN + along.widest + 8
    plot = Plot(begin, top + 34, WIDTH - begin - 24, 240.0, across, along)
    parts = [drawn]
    ceiling = float(along.high)
    for (low, high), row in cells if factor is not None else ():
        assert factor is not None
        parts.append(_cell(plot, low, high, row.right / factor, min(row.right * factor, ceiling), PALE_BLUE, 0.8))
    for (low, high), row in cells if factor is not None else ():
        assert factor is not None
        if row.beyond:
            small, large = sorted((row.left, row.right))
            parts.append(_cell(plot, low, high, small * factor, large, RED, 0.55))
    parts.append(plot.grid("what is shown", "probability of a cell", top + 20))
    for right_side, colour in ((False, BLUE), (True, ORANGE)):
        corners = [plot.at(x, row.right if right_side else row.left) for (low, high), row in cells for x in (low, high)]
        parts.append(trace(corners, colour))
    height = plot.bottom + 48
    for row in rows:
        if row.ends is None:
            said = f"{row.name}: {short(row.left)} on the left, {short(row.right)} on the right"
            parts.append(text_at(MARGIN, height + 6, said, fill=RED if row.beyond else GREY))
            height += 18
    first = max((row for _, row in cells), key=lambda row: row.left).name
    second = max((row for _, row in cells), key=lambda row: row.right).name
    said = f"A noisy number given {left} and given {right}; most likely {first} and {second}."
    return svg_document(title, said, height + 8, parts)


def _row(plot: Plot, row: Twin, middle: float, factor: float | None) -> list[str]:
    """The two bars of an output, the band around the first, and what is beyond."""
    zero, parts = plot.across(0.0), []
    top, bottom = middle - _THICK - 1, middle + 1
    widest = float(plot.x_axis.high)
    if factor is not None and row.right > 0:
        low, high = plot.across(row.right / factor), plot.across(min(row.right * factor, widest))
        parts.append(
            f'<rect x="{low:.1f}" y="{top - 3:.1f}" width="{high - low:.1f}" height="{_THICK + 5:.1f}" fill="{PALE_BLUE}"/>'
        )
        parts.append(segment(low, top - 3, low, top + _THICK + 2, BLUE, width=0.8))
        if row.right * factor <= widest:
            parts.append(segment(high, top - 3, high, top + _THICK + 2, BLUE, width=0.8))
    for value, other, y, colour in ((row.left, row.right, top, BLUE), (row.right, row.left, bottom, ORANGE)):
        allowed = value if factor is None else min(value, other * factor)
        kept = allowed if row.beyond else value
        parts.append(_bar(zero, plot.across(kept), y, colour))
        if row.beyond and kept < value:
            parts.append(_bar(plot.across(kept), plot.across(value), y, RED))
    return parts


def _bar(start: float, end: float, y: float, colour: str) -> str:
    wide = max(end - start, 0.5)
    return f'<rect x="{start:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{_THICK - 2:.1f}" rx="1.5" fill="{colour}"/>'


def _cell(plot: Plot, low: float, high: float, bottom: float, top: float, colour: str, opacity: float) -> str:
    corners = [plot.at(low, bottom), plot.at(low, top), plot.at(high, top), plot.at(high, bottom)]
    return f'<polygon points="{point_list(corners)}" fill="{colour}" fill-opacity="{opacity:g}"/>'


def _keys(left: str, right: str, factor: float | None, bound: str, title: str, *, red: bool) -> tuple[str, float]:
    def square(colour: str) -> str:
        return f'<rect y="-5" width="12" height="10" rx="2" fill="{colour}"/>'

    half = WIDTH - 2 * MARGIN - 30
    keys = [
        (square(BLUE), clip_text(f"left: {left}" if left else "left", half)),
        (square(ORANGE), clip_text(f"right: {right}" if right else "right", half)),
    ]
    if factor is not None:
        keys.append((square(PALE_BLUE), f"within e^ε{f' = {bound}' if bound else ''} of the right"))
    if red:
        keys.append((square(RED), "beyond e^ε" if factor is not None else "impossible on the other side"))
    return key_strokes(keys, title_height(title) + 20)


def _ratio(row: Twin) -> str:
    small, large = sorted((row.left, row.right))
    return "×1" if small == large else "×∞" if small == 0 else f"×{short(large / small, 3)}"


def _fewer(rows: Sequence[Twin], shown: str) -> list[Twin]:
    """The rows that are drawn, in their order, and the rest together."""
    if len(rows) <= _MOST_ROWS:
        return list(rows)
    ranked = sorted(range(len(rows)), key=lambda i: (rows[i].name != shown, -abs(rows[i].left - rows[i].right)))
    kept = set(ranked[: _MOST_ROWS - 1])
    rest = [row for i, row in enumerate(rows) if i not in kept]
    many = Twin(f"{len(rest)} others", sum(row.left for row in rest), sum(row.right for row in rest))
    return [*(row for i, row in enumerate(rows) if i in kept), many]
