"""Charts as plain SVG text: curves, the noise of a series entry by entry, the quilt of an entry, and histograms.

Every chart is one self-contained ``<svg>`` element, 720 wide, without scripts or identifiers, so that several can stand in one page
(its style is about colours alone, and the same in all: `palette`).
Names stand at the ends of their lines; labels that would cover each other move apart by the least squares of their shifts.
Positions come from exact fractions (or logarithms) and are rounded to a tenth: the same data gives the same text.
A chart shows numbers that were decided elsewhere: it takes floats, and whatever is not a finite number is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, isfinite

from privproof.drawing.axes import alike, axis_for, curve_words, entry_name, short
from privproof.drawing.palette import AXIS, BLUE, DARK_ORANGE, GREY, INK, LINES, ORANGE, PALE_BLUE, RED
from privproof.drawing.plots import Plot, flag_labels, kept_apart, key_strokes
from privproof.drawing.strokes import (
    LABEL,
    LONGEST_NAME,
    MARGIN,
    WIDTH,
    Run,
    Value,
    clip_text,
    point_list,
    segment,
    svg_document,
    text_at,
    text_width,
    title_height,
    trace,
    whisker,
)

Cells = list[tuple[Value, tuple[float, float] | None]]


@dataclass(frozen=True)
class Line:
    """A curve: its name, and its points; an ordinate that is None or not finite is a gap."""

    name: str
    points: tuple[tuple[float, Value], ...]
    dashed: bool = False


@dataclass(frozen=True)
class Bar:
    """A bin of a histogram: its count before noise, after noise, and how far noise carries the latter; each may be missing."""

    name: str
    before: Value = None
    after: Value = None
    error: Value = None


def line_chart(
    series: Sequence[Line],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    y_log: bool = False,
    marks: Sequence[tuple[float, str]] = (),
) -> str:
    """Curves over a common axis, with their names at their ends.

    Args:
        series: the curves; on a logarithmic axis a number that is not above zero is a gap.
        title: what the chart shows.
        x_label: what the abscissa is.
        y_label: what the ordinate is.
        x_log: whether the abscissa is logarithmic.
        y_log: whether the ordinate is.
        marks: abscissas to be marked by a vertical line, each with its label.

    Raises:
        ValueError: there is nothing to draw, or a mark that the axis does not have.

    >>> error = Line("quilts", ((0.1, 130.2), (1, 13.02), (10, 1.302)))
    >>> chart = line_chart([error], title="Expected error", x_label="epsilon", y_label="error", x_log=True, y_log=True)
    >>> chart.startswith("<svg"), chart.count("<polyline"), "quilts" in chart
    (True, 1, True)
    """
    runs = [_runs(line.points, x_log=x_log, y_log=y_log) for line in series]
    for x, label in marks:
        if _number(x, log=x_log) is None:
            kind = "a logarithmic" if x_log else "an"
            raise ValueError(
                f"the mark {label!r} cannot stand at {x!r} on {kind} axis; give a finite number{' above 0' * x_log}"
            )
    points = [point for found in runs for run in found for point in run]
    if not points:
        raise ValueError(
            f"a chart needs a point to draw, found {len(series)} lines without a finite one (title={title!r})"
        )
    names = [clip_text(line.name, LONGEST_NAME) for line in series]
    across = axis_for([x for x, _ in points] + [float(x) for x, _ in marks], log=x_log, outward=False, count=7)
    along = axis_for([y for _, y in points], log=y_log, outward=True, count=6)
    right = max((text_width(name) + 24 for name, run in zip(names, runs, strict=True) if name and run), default=24.0)
    left, head = MARGIN + along.widest + 8, title_height(title) + 32
    flags = flag_labels([(left + (WIDTH - left - right) * across.share(x), label) for x, label in marks])
    top = head + (18 * (1 + max(row for *_, row in flags)) if flags else 0)
    plot = Plot(left, top, WIDTH - left - right, max(300.0, LABEL * sum(map(bool, runs))), across, along)
    parts = [plot.grid(x_label, y_label, head - 18)]
    rises = [(x, begin, label, top - 6 - 18 * row) for x, begin, label, row in flags]
    parts += [segment(x, height - 10, x, plot.bottom, GREY, dash="2 3") for x, _, _, height in rises]
    for x, begin, label, height in rises:
        place, anchor = (begin, "start") if begin > x else (x - 4, "end")
        parts.append(text_at(place, height, label, fill=INK, anchor=anchor, halo=True))
    ends = []
    for i, (line, found) in enumerate(zip(series, runs, strict=True)):
        stroke, ink = LINES[i % len(LINES)]
        dash = "6 4" if line.dashed else ("", "2 3", "9 3 2 3")[i // len(LINES) % 3]
        placed = [[plot.at(x, y) for x, y in run] for run in found]
        parts += [trace(_thin_points(run), stroke, dash) for run in placed]
        if placed and names[i]:
            ends.append((*max(point for run in placed for point in run), names[i], ink))
    ends.sort(key=lambda end: end[1])
    heights = kept_apart([y for _, y, _, _ in ends], LABEL, plot.top, plot.bottom)
    for (x, y, name, ink), height in zip(ends, heights, strict=True):
        if abs(height - y) > 3 or x < plot.right - 3:
            parts.append(segment(x + 4, y, plot.right + 10, height, ink, width=0.8, dash="1 3"))
        parts.append(text_at(plot.right + 14, height + 4, name, fill=ink))
    said = "; ".join(curve_words(line.name, run) for line, run in zip(series, runs, strict=True))
    noted = "".join(f"; {label} at {short(x)}" for x, label in marks)
    return svg_document(title, f"{y_label} against {x_label}. {said}{noted}.", plot.bottom + 48, parts)


def node_chart(
    blocks: Iterable[tuple[int, int, Value]],
    *,
    length: int,
    title: str,
    y_label: str,
    worst: int,
    x_label: str = "entry",
) -> str:
    """What every entry of a series needs, as steps over 1..length, with the worst entry marked.

    Args:
        blocks: ``(first, last, value)`` in ascending order; entries in no block, or without a finite value, are a gap.
        length: the length of the series.
        title: what the chart shows.
        y_label: what the values are.
        worst: the entry to be marked.
        x_label: what the entries are.

    Raises:
        ValueError: blocks that overlap or leave the series, or a worst entry without a value.

    >>> chart = node_chart([(1, 2, 9.5), (3, 100, 13.02)], length=100, title="Noise", y_label="scale", worst=8)
    >>> "X₈: 13.02" in chart
    True
    """
    steps, marked = _steps(blocks, length, worst)
    values = [y for run in steps for _, y in run]
    based = min(values) >= 0
    along = axis_for([*values, 0.0] if based else values, log=False, outward=True, count=6)
    left, top = MARGIN + along.widest + 8, title_height(title) + 46
    across = axis_for([0.5, length + 0.5], log=False, outward=False, count=min(8, length), whole=True)
    plot = Plot(left, top, WIDTH - left - 28, 230.0, across, along)
    placed = [[plot.at(x, y) for x, y in run] for run in steps]
    parts = []
    if based:
        for run in placed:
            corners = [(run[0][0], plot.bottom), *run, (run[-1][0], plot.bottom)]
            parts.append(f'<polygon points="{point_list(corners)}" fill="{PALE_BLUE}" fill-opacity="0.6"/>')
    parts.append(plot.grid(x_label, y_label, top - 30))
    parts += [trace(run, BLUE) for run in placed]
    x, y = plot.at(worst, marked)
    label = f"{entry_name(worst)}: {short(marked)}"
    half = text_width(label, bold=True) / 2
    middle = min(max(x, plot.left + half + 4), plot.right - half)
    parts += [
        segment(x, y, x, plot.bottom, RED, dash="2 3"),
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{RED}" stroke="white" stroke-width="1.5"/>',
        text_at(middle, y - 10, label, fill=RED, anchor="middle", bold=True, halo=True),
    ]
    said = f"{y_label} for the entries 1 to {length}: from {short(min(values))} to {short(max(values))}"
    return svg_document(title, f"{said}; marked is {label}.", plot.bottom + 48, parts)


def bar_chart(
    bars: Sequence[Bar],
    *,
    title: str,
    y_label: str,
    before: str = "before noise",
    after: str = "after noise",
    error: str = "",
) -> str:
    """A histogram, a row for every bin: counts before and after noise, or noisy counts with how far noise carries them.

    Args:
        bars: the bins.
        title: what the chart shows.
        y_label: what the values are.
        before: what the first bars are called.
        after: what the second bars are called.
        error: what the whiskers are called.

    Raises:
        ValueError: there is no bin with a finite value.

    >>> chart = bar_chart([Bar("rest", 61, 58.2, 9), Bar("walk", 39, 44.9, 9)], title="Minutes", y_label="count")
    >>> chart.count("58.2"), "after noise" in chart
    (2, True)
    """
    columns: list[tuple[str, str, str, Cells]] = [
        (before, BLUE, BLUE, [(_number(bar.before), None) for bar in bars]),
        (after, ORANGE, DARK_ORANGE, [(_number(bar.after), _whisker_ends(bar)) for bar in bars]),
    ]
    columns = [column for column in columns if any(value is not None for value, _ in column[3])]
    if not columns:
        raise ValueError(f"a histogram needs a finite value, found {len(bars)} bins without one (title={title!r})")
    values = [x for *_, cells in columns for value, ends in cells for x in (value, *(ends or ())) if x is not None]
    names = [clip_text(bar.name, LONGEST_NAME) for bar in bars]
    texts = [alike([value for value, _ in cells]) for *_, cells in columns]
    left = MARGIN + max(map(text_width, names)) + 10
    right = MARGIN + 8 + max(text_width(text, 11) for listed in texts for text in listed)
    keys = [(f'<rect y="-5" width="12" height="10" rx="2" fill="{fill}"/>', name) for name, fill, _, _ in columns]
    if error and any(ends for *_, cells in columns for _, ends in cells):
        keys.append((whisker(0, 12, 0), error))
    drawn, top = key_strokes(keys, title_height(title) + 20) if len(keys) > 1 else ("", title_height(title) + 2)
    thick, size = (14.0, 11.0) if len(bars) <= 24 else (11.5, 10.0)
    step = thick * len(columns) + 8
    across = axis_for([*values, 0.0], log=False, outward=True, count=6)
    plot = Plot(left, top + 14, WIDTH - left - right, step * len(bars), across, None)
    parts, zero = [drawn, plot.grid(y_label, "", 0)], plot.across(0.0)
    for i, bar in enumerate(bars):
        middle = plot.top + step * (i + 0.5)
        parts.append(text_at(left - 8, middle + 4, names[i], fill=INK, anchor="end", tip=bar.name))
        for j, (_, fill, ink, cells) in enumerate(columns):
            value, ends = cells[i]
            if value is None:
                continue
            x, y = plot.across(value), middle + thick * (j - len(columns) / 2)
            parts.append(
                f'<rect x="{min(x, zero):.1f}" y="{y + 1:.1f}" width="{max(abs(x - zero), 0.5):.1f}" '
                f'height="{thick - 2:.1f}" rx="1.5" fill="{fill}"/>'
            )
            reach = [plot.across(end) for end in ends or ()]
            parts += [whisker(reach[0], reach[1], y + thick / 2)] if reach else []
            end = max(x, zero, *reach)
            parts.append(text_at(end + 6, y + thick / 2 + 4, texts[j][i], size=size, fill=ink, halo=True))
    parts.append(segment(zero, plot.top, zero, plot.bottom, AXIS))
    listed = (f"{bar.name}: {', '.join(text[i] for text in texts if text[i])}" for i, bar in enumerate(bars))
    said = f"{y_label}, {' and '.join(name for name, *_ in columns)}. {'; '.join(listed)}."
    return svg_document(title, said, plot.bottom + 48, parts)


def _number(value: Value, *, log: bool = False) -> Value:
    """The value, if an axis has a place for it."""
    if value is None:
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) and (found > 0 or not log) else None


def _whisker_ends(bar: Bar) -> tuple[float, float] | None:
    """From where to where noise carries a count."""
    value, error = _number(bar.after), _number(bar.error)
    if value is None or error is None:
        return None
    low, high = _number(value - abs(error)), _number(value + abs(error))
    return None if low is None or high is None else (low, high)


def _runs(points: Iterable[tuple[float, Value]], *, x_log: bool, y_log: bool) -> list[Run]:
    """The points between gaps."""
    runs: list[Run] = [[]]
    for point in points:
        x, y = _number(point[0], log=x_log), _number(point[1], log=y_log)
        if x is not None and y is not None:
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _steps(blocks: Iterable[tuple[int, int, Value]], length: int, worst: int) -> tuple[list[Run], float]:
    """The corners of the steps between gaps, thinned to what can be seen, and the value of the worst entry."""
    marked: Value = None

    def corners() -> Iterator[tuple[int, float, float]]:
        nonlocal marked
        end, run = 0, 0
        for first, last, value in blocks:
            if not end < first <= last <= length:
                raise ValueError(f"blocks must ascend within 1..{length}, found ({first}, {last}) after entry {end}")
            shown = _number(value)
            if shown is None or first > end + 1:
                run += 1
            if shown is not None:
                yield run, first - 0.5, shown
                yield run, last + 0.5, shown
                if first <= worst <= last:
                    marked = shown
            end = last

    column = length / (2 * WIDTH)
    runs = [
        _thin_points(((x, y) for _, x, y in run), column) for _, run in groupby(corners(), key=lambda corner: corner[0])
    ]
    if not runs:
        raise ValueError("a chart of entries needs a block with a finite value, found none")
    if marked is None:
        raise ValueError(f"the worst entry must have a finite value, found none for worst={worst!r} of 1..{length}")
    return runs, marked


def _thin_points(points: Iterable[tuple[float, float]], column: float = 0.5) -> Run:
    """The points, but of many in one column only the first, the lowest, the highest and the last."""
    kept: Run = []
    for _, group in groupby(points, key=lambda point: floor(point[0] / column)):
        some = list(group)
        heights = [y for _, y in some]
        ends = {0, heights.index(min(heights)), heights.index(max(heights)), len(some) - 1}
        kept += [some[i] for i in sorted(ends)]
    return kept
