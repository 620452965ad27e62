"""Boxes and arrows as self-contained SVG, with a simple layout of our own: automata, chains and hidden Markov models.

States stand in columns by their distance from the initial states (breadth first); within a column they are ordered
by the mean of their neighbours in the columns before, which keeps arrows short.  Forward moves leave to the right,
backward moves run in an arc below or above, a move to the state itself is a loop on top.  A label is put where it hides
neither a box nor another label; where there is no such place, everything moves further apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

from privproof.drawing.palette import BOX, DARK_ORANGE, GREY, INK, PALE_BLUE, PALE_ORANGE, PALE_VIOLET, RED
from privproof.drawing.strokes import clip_text, svg_element, text_at, text_width

MOST_STATES = 60
"""So many states are drawn, those nearest to the start; a note below the drawing says how many are left out."""
_TALLEST_COLUMN = 12
"""A column of more states is broken into several side by side."""
_MOST_CAREFUL = 400  # beyond so many arrows no choice of places makes the drawing clear
_MOST_TOLD_APART = 60  # beyond so many arrows labels cannot all keep away from the others' arrows
_LINE, _LABEL, _PADDING = 15.0, 13.0, 10.0
"""In pixels: the height of a line of text in a box and on an arrow, and the space around the text in a box."""
_WIDEST = 270.0
"""In pixels: a longer line of text is cut."""
_ROOMIER, _TRIES = 1.3, 5
"""Where labels cover each other, the gaps grow by this factor, so many times at most."""
_GAP_X, _GAP_Y, _MARGIN = 110.0, 46.0, 30.0
"""In pixels: between columns, where the arrows and their labels go; between the boxes of a column; around the drawing."""
_FILL = {(True, False): PALE_BLUE, (False, True): PALE_ORANGE, (True, True): PALE_VIOLET}
_LEGEND = (((True, False), "left"), ((False, True), "right"), ((True, True), "left and right"))


@dataclass(frozen=True)
class Box:
    """A state: its name, what it shows, and its role.

    Attributes:
        name: the name of the state.
        lines: what the state emits, is labelled with, or writes at the end.
        left: whether a left initial distribution gives it mass.
        right: whether a right one does.
        initial: whether a transducer starts here.
        halts: whether a run makes no further step from here.
        failing: whether what is asked fails here: its border is red.
    """

    name: str
    lines: tuple[str, ...] = ()
    left: bool = False
    right: bool = False
    initial: bool = False
    halts: bool = False
    failing: bool = False


@dataclass(frozen=True)
class Arrow:
    """A move between two states, by their index, and its texts; marked where it is a part of what a reader should look at."""

    source: int
    target: int
    lines: tuple[str, ...]
    marked: bool = False


@dataclass(frozen=True)
class Picture:
    """What is drawn of a model: a title, boxes and arrows."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


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

    def holds(self, points: Sequence[Point]) -> bool:
        return any(self.x < x < self.x + self.width and self.y < y < self.y + self.height for x, y in points)


def graph_drawing(whole: Picture) -> str:
    """A picture as an SVG drawing; of more than 60 boxes the first ones (breadth first), and it says so.

    >>> drawing = graph_drawing(Picture("", (Box("a"), Box("b")), (Arrow(0, 1, ("1",)),)))
    >>> drawing.startswith("<svg"), drawing.count("<rect"), drawing.count("<polygon")
    (True, 2, 1)
    """
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
    ordered = _order_columns([column for column in shown if column], drawn.arrows)
    note = ""
    if len(kept) < len(whole.boxes):
        note = f"{len(kept)} of {len(whole.boxes)} states are drawn: those nearest to the start"
    best, room = _route_arrows(drawn, _places(drawn, ordered, 1.0)), 1.0
    for _ in range(_TRIES if len(drawn.arrows) <= _MOST_CAREFUL else 0):
        if not best.hidden:
            break
        room *= _ROOMIER
        best = min(best, _route_arrows(drawn, _places(drawn, ordered, room)), key=lambda found: found.hidden)
    return _render_picture(drawn, best, note)


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
        _spread_distances(distance, onward)
    result: list[list[int]] = [[] for _ in range(max(distance.values(), default=0) + 1)]
    for state in everything:
        result[distance[state]].append(state)
    return result


def _spread_distances(distance: dict[int, int], onward: dict[int, list[int]]) -> None:
    current = list(distance)
    while current:
        following = []
        for state in current:
            for target in onward.get(state, ()):
                if target not in distance:
                    distance[target] = distance[state] + 1
                    following.append(target)
        current = following


def _order_columns(columns: list[list[int]], arrows: Iterable[Arrow]) -> list[list[int]]:
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


def _places(drawn: Picture, columns: list[list[int]], room: float) -> dict[int, _Rectangle]:
    sizes = {i: _size(box) for i, box in enumerate(drawn.boxes)}
    loops = {arrow.source: len(arrow.lines) for arrow in drawn.arrows if arrow.source == arrow.target}
    headroom = {i: 30.0 + _LABEL * loops[i] if i in loops else 0.0 for i in sizes}
    looped = {a.source: _label_width(a) for a in drawn.arrows if a.source == a.target}
    gap_x, gap_y = (_GAP_X * room, _GAP_Y * room) if drawn.arrows else (_GAP_X / 4, _GAP_Y / 2)
    heights = [sum(sizes[i][1] + headroom[i] + gap_y for i in column) - gap_y for column in columns]
    home = {state: number for number, column in enumerate(columns) for state in column}
    between = [gap_x] * len(columns)
    for arrow in drawn.arrows:
        if arrow.source != arrow.target:
            first = min(home[arrow.source], home[arrow.target])
            between[first] = max(between[first], 60.0 * room + _label_width(arrow))
    tallest = max(heights)
    x, result = _MARGIN, {}
    for number, (column, height) in enumerate(zip(columns, heights, strict=True)):
        width = max(max(sizes[i][0], looped.get(i, 0.0)) for i in column)
        y = _MARGIN + (tallest - height) / 2
        for i in column:
            y += headroom[i]
            result[i] = _Rectangle(x + (width - sizes[i][0]) / 2, y, *sizes[i])
            y += sizes[i][1] + gap_y
        x += width + between[number]
    return result


def _size(box: Box) -> tuple[float, float]:
    longest = max(text_width(clip_text(line, _WIDEST), bold=i == 0) for i, line in enumerate((box.name, *box.lines)))
    return max(54.0, longest + 2 * _PADDING), (1 + len(box.lines)) * _LINE + 1.4 * _PADDING


def _label_width(arrow: Arrow) -> float:
    return max((text_width(clip_text(line, _WIDEST, 11), 11) for line in arrow.lines), default=0.0) + 4


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


def _label_places(arrow: Arrow, curve: Curve) -> Iterator[_Rectangle]:
    """Where the label of an arrow may stand, the best place first: above its middle, below it, on it, along it."""
    width, height = _label_width(arrow), _LABEL * len(arrow.lines)
    if arrow.source == arrow.target:
        x, y = _point(curve, 0.5)
        for lift in (0.0, 0.5, 1.0):
            yield _Rectangle(x - width / 2, y - height - 3 - lift * height, width, height)
        return
    for away in (-1.0, 1.0, 0.0, -1.8, 1.8):
        for t in (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8):
            x, y = _point(curve, t)
            yield _Rectangle(x - width / 2, y - height / 2 + away * (height / 2 + 8), width, height)


@dataclass(frozen=True)
class _Routed:
    """Where everything stands: the boxes, the curves of the arrows, their labels, and how many things these hide."""

    places: dict[int, _Rectangle]
    curves: tuple[Curve, ...]
    spots: tuple[_Rectangle, ...]
    hidden: int


def _route_arrows(drawn: Picture, places: dict[int, _Rectangle]) -> _Routed:
    directions = {(arrow.source, arrow.target) for arrow in drawn.arrows}
    careful = len(drawn.arrows) <= _MOST_CAREFUL
    curves = tuple(
        _curve(arrow, places, both=(arrow.target, arrow.source) in directions, careful=careful)
        for arrow in drawn.arrows
    )
    taken, spots, covered = list(places.values()), {}, 0
    passed = [[_point(curve, t / 40) for t in range(41)] for curve in curves] if careful else []
    others = list(enumerate(passed)) if len(curves) <= _MOST_TOLD_APART else []
    loops_first = sorted(range(len(curves)), key=lambda i: drawn.arrows[i].source != drawn.arrows[i].target)
    for i in loops_first:
        options = _label_places(drawn.arrows[i], curves[i])
        if not careful:
            spots[i] = next(options)
            continue
        best: _Rectangle | None = None
        least: tuple[int, int, bool] | None = None
        for spot in options:
            hidden = sum(spot.meets(other) for other in taken)
            if least is not None and hidden > least[0]:
                continue
            # a label on another arrow would be taken for that one's
            strange = sum(spot.holds(points) for j, points in others if j != i)
            found = (hidden, strange, spot.holds(passed[i]))
            if least is None or found < least:
                best, least = spot, found
            if least == (0, 0, False):
                break
        assert best is not None
        assert least is not None
        covered += least[0]
        taken.append(best)
        spots[i] = best
    return _Routed(places, curves, tuple(spots[i] for i in range(len(curves))), covered)


def _render_picture(drawn: Picture, found: _Routed, note: str) -> str:
    places = found.places
    rectangles = (*places.values(), *found.spots)
    corners: list[Point] = [(r.x + r.width, r.y + r.height) for r in rectangles] + [(r.x, r.y) for r in rectangles]
    corners += [_point(curve, t / 10) for curve in found.curves for t in range(11)]
    paths = [arrow_path(curve, RED if a.marked else GREY) for a, curve in zip(drawn.arrows, found.curves, strict=True)]
    labels = [_label(arrow, spot) for arrow, spot in zip(drawn.arrows, found.spots, strict=True)]
    for i, box in enumerate(drawn.boxes):
        if box.initial:
            x, y = places[i].x, places[i].middle[1]
            paths.append(arrow_path(((x - 26, y), (x - 18, y), (x - 10, y), (x, y)), GREY))
            corners.append((x - 28, y))
    left, top = min(x for x, _ in corners) - _MARGIN / 2, min(y for _, y in corners) - _MARGIN / 2
    right, bottom = max(x for x, _ in corners) + _MARGIN / 2, max(y for _, y in corners) + _MARGIN / 2
    title = clip_text(drawn.title, 560, 15, bold=True)
    header = 28.0 if title else 0.0
    legend, footer = _legend(drawn, note, left + 14, bottom + 12)
    width = max(right - left, 240.0, text_width(title, 15, bold=True) + 28, text_width(note, 11) + 30)
    height = bottom - top + header + footer
    named = [text_at(left + 14, top - 8, title, size=15, fill=INK, bold=True)] if title else []
    boxes = [_box(box, places[i]) for i, box in enumerate(drawn.boxes)]
    said = f"{len(drawn.boxes)} states, {len(drawn.arrows)} arrows"
    frame = (round(left, 1), round(top - header, 1), width, height)
    return svg_element(title or "model", said, frame, (*named, *paths, *boxes, *labels, *legend))


def arrow_path(curve: Curve, colour: str) -> str:
    """An arrow: its line, and its head as a triangle."""
    (ax, ay), (px, py), (qx, qy), (bx, by) = curve
    wide, size = (2.0, 9.0) if colour == RED else (1.2, 8.0)
    length = max(((bx - qx) ** 2 + (by - qy) ** 2) ** 0.5, 1e-9)
    ux, uy = (bx - qx) / length, (by - qy) / length
    end_x, end_y = bx - ux * size * 0.8, by - uy * size * 0.8
    sides = ((bx, by), *((bx - ux * size - s * uy * size * 0.4, by - uy * size + s * ux * size * 0.4) for s in (1, -1)))
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in sides)
    return (
        f'<path d="M{ax:.1f} {ay:.1f} C{px:.1f} {py:.1f} {qx:.1f} {qy:.1f} {end_x:.1f} {end_y:.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="{wide:g}"/><polygon points="{head}" fill="{colour}"/>'
    )


def _box(box: Box, place: _Rectangle) -> str:
    fill = _FILL.get((box.left, box.right), BOX)
    x, y = place.x, place.y
    border, wide = (RED, 2.4) if box.failing else (GREY, 1.2)
    shape = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}" height="{place.height:.1f}" rx="8" '
        f'fill="{fill}" stroke="{border}" stroke-width="{wide}"/>'
    )
    if box.halts:
        inner, high = place.width - 6, place.height - 6
        shape += (
            f'<rect x="{x + 3:.1f}" y="{y + 3:.1f}" width="{inner:.1f}" height="{high:.1f}" rx="5.5" fill="none" '
            f'stroke="{GREY}" stroke-width="0.8"/>'
        )
    middle = place.middle[0]
    texts = [
        text_at(
            middle, y + 18 + _LINE * i, clip_text(line, _WIDEST), fill=GREY if i else INK, anchor="middle", bold=i == 0
        )
        for i, line in enumerate((box.name, *box.lines))
    ]
    return shape + "".join(texts)


def _label(arrow: Arrow, spot: _Rectangle) -> str:
    middle = spot.middle[0]
    return "".join(
        text_at(
            middle,
            spot.y + 10 + _LABEL * i,
            clip_text(line, _WIDEST, 11),
            size=11,
            fill=RED if line.startswith("● ") else INK,
            anchor="middle",
            halo=True,
        )
        for i, line in enumerate(arrow.lines)
    )


def _legend(drawn: Picture, note: str, x: float, y: float) -> tuple[list[str], float]:
    """The explanation of colours and borders that occur, and how much height it takes."""
    parts: list[str] = []
    height = 0.0
    if note:
        parts.append(text_at(x, y, note, size=11, fill=DARK_ORANGE))
        height += 18.0
    keys = [(_FILL[role], GREY, name) for role, name in _LEGEND if any((b.left, b.right) == role for b in drawn.boxes)]
    keys += [(BOX, GREY, "halts")] if any(b.halts for b in drawn.boxes) else []
    keys += [(BOX, RED, "the formula fails")] if any(b.failing for b in drawn.boxes) else []
    at = x
    for fill, border, name in keys:
        top = y + height - 9
        parts.append(
            f'<rect x="{at:.1f}" y="{top:.1f}" width="14" height="10" rx="3" fill="{fill}" stroke="{border}"/>'
        )
        if name == "halts":
            parts.append(
                f'<rect x="{at + 2.5:.1f}" y="{top + 2.5:.1f}" width="9" height="5" rx="1.5" fill="none" '
                f'stroke="{GREY}" stroke-width="0.7"/>'
            )
        parts.append(text_at(at + 19, y + height, name, size=11, fill=INK))
        at += 38 + text_width(name, 11)
    height += 18.0 if keys else 0.0
    return parts, height + (6 if height else 0)
