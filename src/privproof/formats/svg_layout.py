"""Drawings of models as self-contained SVG, with a simple layout of our own.

States stand in columns by their distance from the initial states (breadth first); within a column they are ordered
by the mean of their neighbours in the columns before, which keeps arrows short.  Forward moves leave to the right,
backward moves run in an arc below or above, a move to the state itself is a loop on top.  A label is put where it hides
neither a box nor another label, if there is such a place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isqrt
from xml.sax.saxutils import escape

from privproof.formats.pictures import Arrow, Box, Picture, picture, printable
from privproof.scenarios import Model, Question, StreamQuestion

MOST_STATES = 60
"""So many states are drawn, those nearest to the start; a note below the drawing says how many are left out."""
_TALLEST_COLUMN = 12
"""A column of more states is broken into several side by side."""
_MOST_CAREFUL = 400  # beyond so many arrows no choice of places makes the drawing clear
_LINE, _CHARACTER, _PADDING = 15.0, 6.7, 10.0
"""In pixels: the height of a line of text, the width of a character at 12 pixels, and the space around the text in a box."""
_GAP_X, _GAP_Y, _MARGIN = 110.0, 46.0, 30.0
"""In pixels: between columns, where the arrows and their labels go; between the boxes of a column; around the drawing."""
_GREY, _RED = "#5b6570", "#b42318"
_FILL = {(True, False): "#dbe9ff", (False, True): "#ffe3c7", (True, True): "#e7e0f5"}
_LEGEND = (((True, False), "left"), ((False, True), "right"), ((True, True), "left and right"))

Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]


@dataclass(frozen=True)
class _Rectangle:
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2

    def meets(self, other: _Rectangle) -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


def svg(subject: Question | Model | StreamQuestion | Picture) -> str:
    """The model as an SVG drawing; of more than 60 states the first ones (breadth first), and it says so.

    >>> from privproof.models import MarkovChain
    >>> drawing = svg(MarkovChain(states=["a", "b"], transitions={"a": {"b": 1}}))
    >>> drawing.startswith("<svg"), drawing.count("<rect"), drawing.count("marker-end")
    (True, 6, 1)
    """
    whole = picture(subject)
    columns = _columns(whole)
    kept = [state for column in columns for state in column][:MOST_STATES]
    number = {old: new for new, old in enumerate(kept)}
    drawn = Picture(
        whole.title,
        tuple(whole.boxes[old] for old in kept),
        tuple(
            Arrow(number[a.source], number[a.target], a.lines, a.marked)
            for a in whole.arrows
            if a.source in number and a.target in number
        ),
    )
    shown = [[number[old] for old in column if old in number] for column in columns]
    places = _places(drawn, _ordered([column for column in shown if column], drawn.arrows))
    note = ""
    if len(kept) < len(whole.boxes):
        note = f"{len(kept)} of {len(whole.boxes)} states are drawn: those nearest to the start"
    return _rendered(drawn, places, note)


# ------------------------------------------------------------------------------------------------------------ layout


def _columns(drawn: Picture) -> list[list[int]]:
    """The states by distance from the initial ones; what cannot be reached begins again at distance zero."""
    onward: dict[int, list[int]] = {}
    incoming: set[int] = set()
    for arrow in drawn.arrows:
        if arrow.source != arrow.target:
            onward.setdefault(arrow.source, []).append(arrow.target)
            incoming.add(arrow.target)
    everything = range(len(drawn.boxes))
    roots = [i for i in everything if drawn.boxes[i].initial or drawn.boxes[i].left or drawn.boxes[i].right]
    roots = roots or [i for i in everything if i not in incoming] or [0]
    distance: dict[int, int] = {}
    for root in (*roots, *everything):
        if root in distance or (root not in roots and any(r not in distance for r in roots)):
            continue
        distance[root] = 0
        if root in roots:
            distance |= dict.fromkeys(roots, 0)
        _spread(distance, onward)
    result: list[list[int]] = [[] for _ in range(max(distance.values(), default=0) + 1)]
    for state in everything:
        result[distance[state]].append(state)
    return result


def _spread(distance: dict[int, int], onward: dict[int, list[int]]) -> None:
    current = list(distance)
    while current:
        following = []
        for state in current:
            for target in onward.get(state, ()):
                if target not in distance:
                    distance[target] = distance[state] + 1
                    following.append(target)
        current = following


def _ordered(columns: list[list[int]], arrows: Iterable[Arrow]) -> list[list[int]]:
    """Each column sorted by the mean position of its neighbours in the columns before; tall columns are split."""
    near: dict[int, set[int]] = {}
    for arrow in arrows:
        near.setdefault(arrow.target, set()).add(arrow.source)
        near.setdefault(arrow.source, set()).add(arrow.target)
    position: dict[int, float] = {}
    result: list[list[int]] = []
    tallest = _TALLEST_COLUMN if near else max(4, isqrt(len(columns[0]) - 1) + 1)
    for column in columns:

        def mean(state: int) -> float:
            known = [position[other] for other in near.get(state, ()) if other in position]
            return sum(known) / len(known) if known else 0.0

        ordered = sorted(column, key=mean) if result else column
        for row, state in enumerate(ordered):
            position[state] = row - (len(ordered) - 1) / 2
        pieces = -(-len(ordered) // tallest)
        size = -(-len(ordered) // pieces)
        result += [ordered[i : i + size] for i in range(0, len(ordered), size)]
    return result


def _places(drawn: Picture, columns: list[list[int]]) -> dict[int, _Rectangle]:
    sizes = {i: _size(box) for i, box in enumerate(drawn.boxes)}
    loops = {arrow.source: len(arrow.lines) for arrow in drawn.arrows if arrow.source == arrow.target}
    headroom = {i: 26.0 + 13.0 * loops[i] if i in loops else 0.0 for i in sizes}
    gap_x, gap_y = (_GAP_X, _GAP_Y) if drawn.arrows else (_GAP_X / 4, _GAP_Y / 2)
    heights = [sum(sizes[i][1] + headroom[i] + gap_y for i in column) - gap_y for column in columns]
    home = {state: number for number, column in enumerate(columns) for state in column}
    between = [gap_x] * len(columns)
    for arrow in drawn.arrows:
        if arrow.source != arrow.target:
            first = min(home[arrow.source], home[arrow.target])
            longest = max((len(line) for line in arrow.lines), default=0)
            between[first] = max(between[first], 60.0 + longest * 6.2)
    tallest = max(heights)
    x, result = _MARGIN, {}
    for number, (column, height) in enumerate(zip(columns, heights, strict=True)):
        width = max(sizes[i][0] for i in column)
        y = _MARGIN + (tallest - height) / 2
        for i in column:
            y += headroom[i]
            result[i] = _Rectangle(x + (width - sizes[i][0]) / 2, y, *sizes[i])
            y += sizes[i][1] + gap_y
        x += width + between[number]
    return result


def _clipped(text: str, most: int = 40) -> str:
    shown = printable(text).replace("\n", " ")
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _size(box: Box) -> tuple[float, float]:
    longest = max([len(_clipped(box.name)) * 1.12, *(len(_clipped(line)) for line in box.lines)])
    return max(54.0, longest * _CHARACTER + 2 * _PADDING), (1 + len(box.lines)) * _LINE + 1.4 * _PADDING


# ------------------------------------------------------------------------------------------------------------ curves


def _curve(arrow: Arrow, places: dict[int, _Rectangle], *, both: bool, careful: bool) -> Curve:
    """The path of an arrow as a cubic Bézier curve: of a few candidates the first that crosses the fewest boxes."""
    a = places[arrow.source]
    if arrow.source == arrow.target:
        x, spread = a.middle[0], min(16.0, a.width / 4)
        return (x - spread, a.y), (x - spread - 14, a.y - 40), (x + spread + 14, a.y - 40), (x + spread, a.y)
    others = [place for i, place in places.items() if i not in (arrow.source, arrow.target)]

    def crossings(curve: Curve) -> int:
        points = [_Rectangle(*_point(curve, t / 16), 1, 1) for t in range(1, 16)]
        return sum(any(other.meets(point) for point in points) for other in others)

    candidates = _candidates(a, places[arrow.target], both=both)
    return min(candidates, key=crossings) if careful else candidates[0]


def _candidates(a: _Rectangle, b: _Rectangle, *, both: bool) -> list[Curve]:
    (ax, ay), (bx, by) = a.middle, b.middle
    if b.x > a.x + a.width:
        x, lift, reach = a.x + a.width, -8.0 if both else 0.0, max(40.0, (b.x - a.x - a.width) / 2)
        bows = (0.0, -50.0, 50.0, -100.0, 100.0)
        return [
            ((x, ay + lift), (x + reach, ay + lift + d), (b.x - reach, by + lift + d), (b.x, by + lift)) for d in bows
        ]
    if b.x + b.width < a.x:
        drop = 34.0 + 0.13 * (ax - bx)
        low, high = max(a.y + a.height, b.y + b.height) + drop, min(a.y, b.y) - drop
        below = ((ax - 10, a.y + a.height), (ax - 30, low), (bx + 30, low), (bx + 10, b.y + b.height))
        above = ((ax - 10, a.y), (ax - 30, high), (bx + 30, high), (bx + 14, b.y))
        return [below, above]
    down = by > ay
    start, end, side = (a.y + a.height, b.y, 18.0) if down else (a.y, b.y + b.height, -18.0)
    straight = ((ax, start), (ax, start + side), (bx, end - side), (bx, end))
    bow, tilt = 30.0 + 0.18 * abs(by - ay), 6.0 if down else -6.0
    x, y = a.x + a.width, b.x + b.width
    right = ((x, ay + tilt), (x + bow, ay + tilt), (y + bow, by - tilt), (y, by - tilt))
    left = ((a.x, ay + tilt), (a.x - bow, ay + tilt), (b.x - bow, by - tilt), (b.x, by - tilt))
    bowed = [right, left] if down else [left, right]
    return bowed if both else [straight, *bowed]


def _point(curve: Curve, t: float) -> Point:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    return (
        sum(w * p[0] for w, p in zip(weights, curve, strict=True)),
        sum(w * p[1] for w, p in zip(weights, curve, strict=True)),
    )


def _label_place(arrow: Arrow, curve: Curve, taken: list[_Rectangle]) -> _Rectangle:
    width = max((len(_clipped(line)) for line in arrow.lines), default=0) * 6.0 + 4
    height = 13.0 * len(arrow.lines)
    if arrow.source == arrow.target:
        x, y = _point(curve, 0.5)
        return _Rectangle(x - width / 2, y - height - 3, width, height)
    best: tuple[int, _Rectangle] | None = None
    for t in (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8):
        x, y = _point(curve, t)
        spot = _Rectangle(x - width / 2, y - height / 2, width, height)
        hidden = sum(spot.meets(other) for other in taken)
        if best is None or hidden < best[0]:
            best = (hidden, spot)
        if hidden == 0:
            break
    assert best is not None
    return best[1]


# --------------------------------------------------------------------------------------------------------- rendering


def _rendered(drawn: Picture, places: dict[int, _Rectangle], note: str) -> str:
    directions = {(arrow.source, arrow.target) for arrow in drawn.arrows}
    taken = list(places.values())
    paths, labels = [], []
    careful = len(drawn.arrows) <= _MOST_CAREFUL
    corners: list[Point] = [(r.x + r.width, r.y + r.height) for r in taken] + [(r.x, r.y) for r in taken]
    for arrow in drawn.arrows:
        curve = _curve(arrow, places, both=(arrow.target, arrow.source) in directions, careful=careful)
        spot = _label_place(arrow, curve, taken)
        if careful:
            taken.append(spot)
        paths.append(_path(curve, _RED if arrow.marked else _GREY))
        labels.append(_label(arrow, spot))
        corners += [_point(curve, t / 10) for t in range(11)]
        corners += [(spot.x, spot.y), (spot.x + spot.width, spot.y + spot.height)]
    for i, box in enumerate(drawn.boxes):
        if box.initial:
            x, y = places[i].x, places[i].middle[1]
            paths.append(_path(((x - 26, y), (x - 18, y), (x - 10, y), (x, y))))
            corners.append((x - 28, y))
    left, top = min(x for x, _ in corners) - _MARGIN / 2, min(y for _, y in corners) - _MARGIN / 2
    right, bottom = max(x for x, _ in corners) + _MARGIN / 2, max(y for _, y in corners) + _MARGIN / 2
    header = 28.0 if drawn.title else 0.0
    legend, footer = _legend(drawn, note, left + 14, bottom + 12)
    width = max(right - left, 240.0, 7.0 * len(_clipped(drawn.title, 80)), 6.2 * len(note) + 30)
    height = bottom - top + header + footer
    title = escape(_clipped(drawn.title, 80)) or "model"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{left:.1f} {top - header:.1f} {width:.1f} {height:.1f}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#1b1f24">'
    )
    parts = [
        head,
        f"<title>{title}</title>",
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 1 L10 5 L0 9 z" fill="{_GREY}"/></marker>'
        '<marker id="red" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="5" markerHeight="5" orient="auto">'
        f'<path d="M0 1 L10 5 L0 9 z" fill="{_RED}"/></marker></defs>',
        f'<rect x="{left:.1f}" y="{top - header:.1f}" width="{width:.1f}" height="{height:.1f}" fill="white"/>',
    ]
    if drawn.title:
        parts.append(f'<text x="{left + 14:.1f}" y="{top - 8:.1f}" font-size="15" font-weight="bold">{title}</text>')
    boxes = [_box(box, places[i]) for i, box in enumerate(drawn.boxes)]
    return "\n".join((*parts, *paths, *boxes, *labels, *legend, "</svg>", ""))


def _path(curve: Curve, colour: str = _GREY) -> str:
    (ax, ay), (px, py), (qx, qy), (bx, by) = curve
    return (
        f'<path d="M{ax:.1f} {ay:.1f} C{px:.1f} {py:.1f} {qx:.1f} {qy:.1f} {bx:.1f} {by:.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="{2 if colour == _RED else 1.2}" '
        f'marker-end="url(#{"red" if colour == _RED else "arrow"})"/>'
    )


def _box(box: Box, place: _Rectangle) -> str:
    fill = _FILL.get((box.left, box.right), "#f6f8fa")
    x, y = place.x, place.y
    shape = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}" height="{place.height:.1f}" rx="8" '
        f'fill="{fill}" stroke="#3d4650" stroke-width="1.2"/>'
    )
    if box.halts:
        wide, high = place.width - 6, place.height - 6
        shape += (
            f'<rect x="{x + 3:.1f}" y="{y + 3:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="5.5" fill="none" '
            'stroke="#3d4650" stroke-width="0.8"/>'
        )
    middle = place.middle[0]
    texts = [
        f'<text x="{middle:.1f}" y="{y + 18 + _LINE * i:.1f}" text-anchor="middle" {style}>'
        f"{escape(_clipped(line))}</text>"
        for i, line in enumerate((box.name, *box.lines))
        for style in ('fill="#3d4650"' if i else 'font-weight="bold"',)
    ]
    return shape + "".join(texts)


def _label(arrow: Arrow, spot: _Rectangle) -> str:
    middle = spot.middle[0]
    colours = [f'fill="{_RED}" ' if line.startswith("● ") else "" for line in arrow.lines]
    return "".join(
        f'<text x="{middle:.1f}" y="{spot.y + 10 + 13 * i:.1f}" text-anchor="middle" font-size="11" {colours[i]}'
        f'stroke="white" stroke-width="4" stroke-linejoin="round" paint-order="stroke">{escape(_clipped(line))}</text>'
        for i, line in enumerate(arrow.lines)
    )


def _legend(drawn: Picture, note: str, x: float, y: float) -> tuple[list[str], float]:
    """The explanation of colours and borders that occur, and how much height it takes."""
    rows: list[str] = []
    if note:
        rows.append(f'<text x="{x:.1f}" y="{{y:.1f}}" font-size="11" fill="#8a3b12">{escape(note)}</text>')
    keys = [(_FILL[role], 0, name) for role, name in _LEGEND if any((b.left, b.right) == role for b in drawn.boxes)]
    keys += [("#f6f8fa", 1, "halts")] if any(b.halts for b in drawn.boxes) else []
    if keys:
        line, at = "", x
        for fill, double, name in keys:
            line += f'<rect x="{at:.1f}" y="{{top:.1f}}" width="14" height="10" rx="3" fill="{fill}" stroke="#3d4650"/>'
            if double:
                line += (
                    f'<rect x="{at + 2.5:.1f}" y="{{inner:.1f}}" width="9" height="5" rx="1.5" fill="none" '
                    'stroke="#3d4650" stroke-width="0.7"/>'
                )
            line += f'<text x="{at + 19:.1f}" y="{{y:.1f}}" font-size="11">{name}</text>'
            at += 40 + 6.2 * len(name)
        rows.append(line)
    placed = [row.format(y=y + 18 * i, top=y + 18 * i - 9, inner=y + 18 * i - 6.5) for i, row in enumerate(rows)]
    return placed, 18.0 * len(rows) + (6 if rows else 0)
