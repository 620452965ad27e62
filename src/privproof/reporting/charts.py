"""Charts as plain SVG text: curves, the noise of a series entry by entry, the quilt of an entry, and histograms.

Every chart is one self-contained ``<svg>`` element, 720 wide, without scripts, styles or identifiers, so that several can stand in
one page.  Names stand at the ends of their lines; labels that would cover each other move apart by the least squares of their shifts.
Positions come from exact fractions (or logarithms) and are rounded to a tenth: the same data gives the same text.
A chart shows numbers that were decided elsewhere: it takes floats, and whatever is not a finite number is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from math import floor, inf, isfinite

from privproof.reporting.axes import (
    Axis,
    alike,
    axis_for,
    counted_entries,
    curve_words,
    entry_name,
    fixed,
    percent,
    short,
    spanned,
)
from privproof.reporting.strokes import (
    AXIS,
    BLUE,
    DARK_ORANGE,
    GREY,
    GRID,
    INK,
    LABEL,
    LINES,
    LONGEST_NAME,
    MARGIN,
    ORANGE,
    PALE_BLUE,
    RED,
    WIDTH,
    Run,
    Value,
    clipped,
    dot,
    listed,
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
    names = [clipped(line.name, LONGEST_NAME) for line in series]
    across = axis_for([x for x, _ in points] + [float(x) for x, _ in marks], log=x_log, outward=False, count=7)
    along = axis_for([y for _, y in points], log=y_log, outward=True, count=6)
    right = max((text_width(name) + 24 for name, run in zip(names, runs, strict=True) if name and run), default=24.0)
    left, head = MARGIN + along.widest + 8, title_height(title) + 32
    flags = _flags([(left + (WIDTH - left - right) * across.share(x), label) for x, label in marks])
    top = head + (18 * (1 + max(row for *_, row in flags)) if flags else 0)
    plot = _Plot(left, top, WIDTH - left - right, max(300.0, LABEL * sum(map(bool, runs))), across, along)
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
        parts += [trace(_thinned(run), stroke, dash) for run in placed]
        if placed and names[i]:
            ends.append((*max(point for run in placed for point in run), names[i], ink))
    ends.sort(key=lambda end: end[1])
    heights = _apart([y for _, y, _, _ in ends], LABEL, plot.top, plot.bottom)
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
    plot = _Plot(left, top, WIDTH - left - 28, 230.0, across, along)
    placed = [[plot.at(x, y) for x, y in run] for run in steps]
    parts = []
    if based:
        for run in placed:
            corners = [(run[0][0], plot.bottom), *run, (run[-1][0], plot.bottom)]
            parts.append(f'<polygon points="{listed(corners)}" fill="{PALE_BLUE}" fill-opacity="0.6"/>')
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


def quilt_chart(
    *,
    length: int,
    node: int,
    left: int | None,
    right: int | None,
    influence_share: float,
    title: str,
    states: Sequence[str] | None = None,
    epsilon: float | None = None,
    entry_share: float | None = None,
) -> str:
    """The quilt of an entry in its series, and what epsilon is spent on.

    Args:
        length: the length of the series.
        node: the entry that is kept secret.
        left: the distance of the quilt node before it; None, or a distance that the series does not have, for none.
        right: the distance of the quilt node after it, likewise.
        influence_share: the share of epsilon that the influence of the quilt takes, at least 0 and below 1.
        title: what the chart shows.
        states: the values of an entry, to be named.
        epsilon: the budget, for the sum in numbers.
        entry_share: the share of epsilon that each local entry takes; all that is left, in equal parts, where not given.

    Raises:
        ValueError: an entry outside the series, a distance below 1, shares that are no shares or more than all.

    >>> chart = quilt_chart(length=100, node=8, left=5, right=5, influence_share=0.3089, title="The quilt of X_8", epsilon=1)
    >>> "0.309 + 9 × 0.0768 = 1" in chart
    True
    """
    if epsilon is not None and not 0 < epsilon < inf:
        raise ValueError(f"the budget must be a finite number above 0, found epsilon={epsilon!r}")
    if not 1 <= node <= length:
        raise ValueError(f"the entry must be one of 1..{length}, found node={node!r}")
    for side, distance in (("left", left), ("right", right)):
        if distance is not None and distance < 1:
            raise ValueError(f"a quilt node stands at distance 1 or more, found {side}={distance!r}; None for none")
    before = None if left is None or left >= node else node - left
    after = None if right is None or right > length - node else node + right
    first, last = 1 if before is None else before + 1, length if after is None else after - 1
    size = last - first + 1
    each = (1 - influence_share) / size if entry_share is None else entry_share
    if not 0 <= influence_share < 1 or not each >= 0 or not influence_share + size * each <= 1 + 1e-9:
        spent = f"influence_share={influence_share!r}, entry_share={each!r}, {size} local entries"
        raise ValueError(f"shares must be at least 0 and together at most 1, influence below 1; found {spent}")
    quilt = [i for i in (before, after) if i is not None]
    top = title_height(title) + 22
    parts = _chain(length, node, quilt, first, last, top)
    remote = [(low, high) for low, high in ((1, first - 2), (last + 2, length)) if low <= high]
    keys = [
        (dot(BLUE, BLUE), f"secret {entry_name(node)}"),
        (dot("white", RED), f"quilt {', '.join(map(entry_name, quilt))}" if quilt else "no quilt node"),
        (
            f'<rect y="-6" width="12" height="12" rx="3" fill="{PALE_BLUE}"/>',
            f"local set {spanned([(first, last)])} ({counted_entries(size)})",
        ),
    ]
    if remote:
        many = sum(high - low + 1 for low, high in remote)
        keys.append((dot("#d5d8dc", "#d5d8dc"), f"remote set {spanned(remote)} ({counted_entries(many)})"))
    drawn, height = _keys(keys, top + 62)
    parts.append(drawn)
    if states:
        height += 22
        said = f"each entry is one of {', '.join(states)}"
        parts.append(text_at(MARGIN, height + 4, clipped(said, WIDTH - 2 * MARGIN)))
    parts.append(_budget(influence_share, each, size, epsilon, height + 44))
    said = f"The secret is entry {node} of {length}; quilt: {', '.join(map(str, quilt)) or 'none'}; local: {first} to {last}"
    return svg_document(title, f"{said}; influence takes {percent(influence_share)} of epsilon.", height + 100, parts)


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
    names = [clipped(bar.name, LONGEST_NAME) for bar in bars]
    texts = [alike([value for value, _ in cells]) for *_, cells in columns]
    left = MARGIN + max(map(text_width, names)) + 10
    right = MARGIN + 8 + max(text_width(text, 11) for listed in texts for text in listed)
    keys = [(f'<rect y="-5" width="12" height="10" rx="2" fill="{fill}"/>', name) for name, fill, _, _ in columns]
    if error and any(ends for *_, cells in columns for _, ends in cells):
        keys.append((whisker(0, 12, 0), error))
    drawn, top = _keys(keys, title_height(title) + 20) if len(keys) > 1 else ("", title_height(title) + 2)
    thick, size = (14.0, 11.0) if len(bars) <= 24 else (11.5, 10.0)
    step = thick * len(columns) + 8
    across = axis_for([*values, 0.0], log=False, outward=True, count=6)
    plot = _Plot(left, top + 14, WIDTH - left - right, step * len(bars), across, None)
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


# ------------------------------------------------------------------------------------------------------------------ data


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
        _thinned(((x, y) for _, x, y in run), column) for _, run in groupby(corners(), key=lambda corner: corner[0])
    ]
    if not runs:
        raise ValueError("a chart of entries needs a block with a finite value, found none")
    if marked is None:
        raise ValueError(f"the worst entry must have a finite value, found none for worst={worst!r} of 1..{length}")
    return runs, marked


def _thinned(points: Iterable[tuple[float, float]], column: float = 0.5) -> Run:
    """The points, but of many in one column only the first, the lowest, the highest and the last."""
    kept: Run = []
    for _, group in groupby(points, key=lambda point: floor(point[0] / column)):
        some = list(group)
        heights = [y for _, y in some]
        ends = {0, heights.index(min(heights)), heights.index(max(heights)), len(some) - 1}
        kept += [some[i] for i in sorted(ends)]
    return kept


# ---------------------------------------------------------------------------------------------------------------- layout


@dataclass(frozen=True)
class _Plot:
    """A rectangle with an axis below and, for curves, one to its left."""

    left: float
    top: float
    width: float
    height: float
    x_axis: Axis
    y_axis: Axis | None

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def across(self, x: float) -> float:
        return self.left + self.width * self.x_axis.share(x)

    def at(self, x: float, y: float) -> tuple[float, float]:
        assert self.y_axis is not None
        return self.across(x), self.bottom - self.height * self.y_axis.share(y)

    def grid(self, x_label: str, y_label: str, label_height: float) -> str:
        """Lines and labels of the ticks, and what the axes are."""
        parts, taken = [], 0.0
        for share, label in self.x_axis.ticks:
            x, half = self.left + self.width * share, text_width(label, 11) / 2
            middle = min(max(x, half + 2), WIDTH - half - 2)
            parts.append(segment(x, self.top, x, self.bottom, GRID))
            if middle - half >= taken:
                parts.append(text_at(middle, self.bottom + 16, label, size=11, anchor="middle"))
                taken = middle + half + 8
        for share, label in self.y_axis.ticks if self.y_axis is not None else ():
            y = self.bottom - self.height * share
            parts.append(segment(self.left, y, self.right, y, GRID))
            parts.append(text_at(self.left - 8, y + 4, label, size=11, anchor="end"))
        if self.y_axis is not None:
            parts.append(segment(self.left, self.bottom, self.right, self.bottom, AXIS))
            parts.append(text_at(MARGIN, label_height, clipped(y_label, WIDTH - 2 * MARGIN)))
        named = clipped(x_label, WIDTH - 2 * MARGIN)
        half = text_width(named) / 2
        middle = min(max(self.left + self.width / 2, half + MARGIN), WIDTH - half - MARGIN)
        parts.append(text_at(middle, self.bottom + 36, named, anchor="middle"))
        return "\n".join(parts)


def _apart(wished: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending places as near as can be to the wished ones (least squares), with a gap between them, from low to high.

    >>> _apart([10.0, 10.0, 49.0], 4, 0, 100)
    [8.0, 12.0, 49.0]
    """
    pools: list[tuple[float, int]] = []
    for i, place in enumerate(wished):
        mean, many = place - gap * i, 1
        while pools and pools[-1][0] >= mean:
            other, size = pools.pop()
            mean, many = (mean * many + other * size) / (many + size), many + size
        pools.append((mean, many))
    spread = [mean for mean, many in pools for _ in range(many)]
    top = high - gap * (len(spread) - 1)
    return [min(max(mean, low), max(top, low)) + gap * i for i, mean in enumerate(spread)]


def _flags(marks: Sequence[tuple[float, str]]) -> list[tuple[float, float, str, int]]:
    """Marks with where their labels begin and in which row above the chart: a mark ends below the labels that it would cross."""
    flags = []
    for x, label in sorted(marks, reverse=True):
        shown = clipped(label, WIDTH / 2)
        wide = text_width(shown)
        flags.append((x, x + 4 if x + 4 + wide <= WIDTH - 4 else x - 4 - wide, wide, shown))
    rows = [0] * len(flags)

    def crosses(i: int, j: int) -> bool:
        return flags[j][1] - 2 < flags[i][0] < flags[j][1] + flags[j][2] + 2

    for _ in flags:
        for j, (_, begin, wide, _) in enumerate(flags):
            for i, (_, other, width, _) in enumerate(flags):
                meet = i < j and rows[i] == rows[j] and begin < other + width + 6 and other < begin + wide + 6
                if meet or (rows[j] <= rows[i] and crosses(i, j) and not crosses(j, i)):
                    rows[j] = rows[i] + 1
    return [(x, begin, label, row) for (x, begin, _, label), row in zip(flags, rows, strict=True)]


def _keys(keys: Sequence[tuple[str, str]], y: float) -> tuple[str, float]:
    """Symbols with their meanings, in as many rows as they need, and the height of the last row."""
    parts, x = [], MARGIN
    for symbol, meaning in keys:
        wide = 18 + text_width(meaning)
        if x > MARGIN and x + wide > WIDTH - MARGIN:
            x, y = MARGIN, y + 20
        parts.append(
            f'<g transform="translate({x:.1f} {y:.1f})">{symbol}</g>{text_at(x + 18, y + 4, meaning, fill=INK)}'
        )
        x += wide + 14
    return "\n".join(parts), y


def _shown(length: int, node: int, quilt: Sequence[int], most: int) -> list[int | None]:
    """The entries that are drawn in at most so many places; None for some that are left out."""

    def row(kept: set[int]) -> list[int | None]:
        places: list[int | None] = []
        for i in sorted(kept):
            before = places[-1] if places else 0
            assert before is not None
            places += [] if i == before + 1 else [i - 1] if i == before + 2 else [None]
            places.append(i)
        return places

    kept = {1, node, length, *quilt}
    inside = range(
        min((i for i in quilt if i < node), default=1), max((i for i in quilt if i > node), default=length) + 1
    )
    for distance in range(1, most):
        for centre in (node, *quilt, 1, length):
            for near in (centre - distance, centre + distance):
                if (
                    (distance <= 2 or length <= most or near in inside)
                    and 1 <= near <= length
                    and len(row(kept | {near})) <= most
                ):
                    kept.add(near)
    return row(kept)


def _chain(length: int, node: int, quilt: Sequence[int], first: int, last: int, y: float) -> list[str]:
    """The series as a row of circles."""
    slot = max(30.0, text_width(str(length), 11, bold=True) + 8)
    places = _shown(length, node, quilt, int((WIDTH - 2 * MARGIN) / slot))
    begin = (WIDTH - slot * len(places)) / 2
    centres = [begin + slot * (j + 0.5) for j in range(len(places))]
    borders = [j for j, i in enumerate(places) if i in quilt]
    start = max((j for j in borders if j < places.index(node)), default=-1) + 1
    stop = min((j for j in borders if j > places.index(node)), default=len(places))
    x, wide = begin + slot * start + 1, slot * (stop - start) - 2
    parts = [f'<rect x="{x:.1f}" y="{y - 16:.1f}" width="{wide:.1f}" height="32" rx="14" fill="{PALE_BLUE}"/>']
    radii = [10.0 if i is not None else 9.0 for i in places]
    parts += [
        segment(a + p, y, b - q, y, AXIS, width=1.2) for (a, p), (b, q) in pairwise(zip(centres, radii, strict=True))
    ]
    for x, i in zip(centres, places, strict=True):
        if i is None:
            parts += [f'<circle cx="{x + shift:.1f}" cy="{y:.1f}" r="1.6" fill="{GREY}"/>' for shift in (-5, 0, 5)]
            continue
        fill, stroke, ink, thick = (
            (BLUE, BLUE, BLUE, 1.5)
            if i == node
            else ("white", RED, RED, 3.0)
            if i in quilt
            else ("white", "#91a3ec", GREY, 1.2)
            if first <= i <= last
            else ("#d5d8dc", "#d5d8dc", GREY, 1.2)
        )
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{10 - thick / 2:.1f}" fill="{fill}" stroke="{stroke}" stroke-width="{thick}"/>'
        )
        parts.append(text_at(x, y + 32, str(i), size=11, fill=ink, anchor="middle", bold=i == node or i in quilt))
    return parts


def _budget(influence: float, each: float, size: int, epsilon: float | None, y: float) -> str:
    """A bar of epsilon: what influence takes, what every local entry takes, and what is left."""
    wide, x = WIDTH - 2 * MARGIN, MARGIN
    split, end = x + wide * influence, x + wide * min(influence + size * each, 1.0)
    parts = [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="20" fill="{GRID}"/>',
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{split - x:.1f}" height="20" fill="{ORANGE}"/>',
        f'<rect x="{split:.1f}" y="{y:.1f}" width="{end - split:.1f}" height="20" fill="{BLUE}"/>',
    ]
    if (end - split) / size >= 4:
        cuts = [split + (end - split) * i / size for i in range(size)]
        parts += [segment(cut, y, cut, y + 20, "white") for cut in cuts[influence == 0 :]]
    left = 1 - influence - size * each
    rest = f", {percent(left)} is left" if left > 5e-4 else ""
    parts.append(text_at(x, y - 7, f"influence {percent(influence)}", fill=DARK_ORANGE))
    apiece = f" of {percent(each)} each" if size > 1 else f", {percent(each)}"
    spent = f"distance {percent(size * each)}: {counted_entries(size)}{apiece}{rest}"
    parts.append(text_at(x + wide, y - 7, spent, fill=BLUE, anchor="end"))
    total = influence + size * each
    many = fixed(Fraction(size), 0)
    if epsilon is None:
        said = f"{percent(influence)} + {many} × {percent(each)} = {percent(total)} of epsilon"
    else:
        ending = f"of epsilon {short(epsilon)}" if rest else "= epsilon"
        terms = f"{short(influence * epsilon, 3)} + {many} × {short(each * epsilon, 3)}"
        said = f"influence {terms} = {short(total * epsilon)} {ending}"
    parts.append(text_at(WIDTH / 2, y + 40, said, fill=INK, anchor="middle"))
    return "\n".join(parts)
