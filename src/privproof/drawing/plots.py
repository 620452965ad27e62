"""The frame that charts draw in: a rectangle with its axes, labels that keep apart, and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privproof.drawing.axes import Axis
from privproof.drawing.palette import AXIS, GRID, INK
from privproof.drawing.strokes import MARGIN, WIDTH, clip_text, segment, text_at, text_width


@dataclass(frozen=True)
class Plot:
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
            parts.append(text_at(MARGIN, label_height, clip_text(y_label, WIDTH - 2 * MARGIN)))
        named = clip_text(x_label, WIDTH - 2 * MARGIN)
        half = text_width(named) / 2
        middle = min(max(self.left + self.width / 2, half + MARGIN), WIDTH - half - MARGIN)
        parts.append(text_at(middle, self.bottom + 36, named, anchor="middle"))
        return "\n".join(parts)


def kept_apart(wished: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending places as near as can be to the wished ones (least squares), with a gap between them, from low to high.

    >>> kept_apart([10.0, 10.0, 49.0], 4, 0, 100)
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


def flag_labels(marks: Sequence[tuple[float, str]]) -> list[tuple[float, float, str, int]]:
    """Marks with where their labels begin and in which row above the chart: a mark ends below the labels that it would cross."""
    flags = []
    for x, label in sorted(marks, reverse=True):
        shown = clip_text(label, WIDTH / 2)
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


def key_strokes(keys: Sequence[tuple[str, str]], y: float) -> tuple[str, float]:
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
