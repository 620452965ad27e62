"""The quilt of an entry, drawn on its chain."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf

from privproof.drawing.axes import counted_entries, entry_name, entry_ranges, format_decimals, percent, short
from privproof.drawing.palette import AXIS, BLUE, DARK_ORANGE, GREY, GRID, INK, ORANGE, PALE_BLUE, RED, SILVER
from privproof.drawing.plots import key_strokes
from privproof.drawing.strokes import (
    MARGIN,
    WIDTH,
    clip_text,
    dot,
    segment,
    svg_document,
    text_at,
    text_width,
    title_height,
)


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
            f"local set {entry_ranges([(first, last)])} ({counted_entries(size)})",
        ),
    ]
    if remote:
        many = sum(high - low + 1 for low, high in remote)
        keys.append((dot(SILVER, SILVER), f"remote set {entry_ranges(remote)} ({counted_entries(many)})"))
    drawn, height = key_strokes(keys, top + 62)
    parts.append(drawn)
    if states:
        height += 22
        said = f"each entry is one of {', '.join(states)}"
        parts.append(text_at(MARGIN, height + 4, clip_text(said, WIDTH - 2 * MARGIN)))
    parts.append(_budget(influence_share, each, size, epsilon, height + 44))
    said = f"The secret is entry {node} of {length}; quilt: {', '.join(map(str, quilt)) or 'none'}; local: {first} to {last}"
    return svg_document(title, f"{said}; influence takes {percent(influence_share)} of epsilon.", height + 100, parts)


def _drawn_entries(length: int, node: int, quilt: Sequence[int], most: int) -> list[int | None]:
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
    places = _drawn_entries(length, node, quilt, int((WIDTH - 2 * MARGIN) / slot))
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
            else ("white", BLUE, GREY, 1.2)
            if first <= i <= last
            else (SILVER, SILVER, GREY, 1.2)
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
    many = format_decimals(Fraction(size), 0)
    if epsilon is None:
        said = f"{percent(influence)} + {many} × {percent(each)} = {percent(total)} of epsilon"
    else:
        ending = f"of epsilon {short(epsilon)}" if rest else "= epsilon"
        terms = f"{short(influence * epsilon, 3)} + {many} × {short(each * epsilon, 3)}"
        said = f"influence {terms} = {short(total * epsilon)} {ending}"
    parts.append(text_at(WIDTH / 2, y + 40, said, fill=INK, anchor="middle"))
    return "\n".join(parts)
