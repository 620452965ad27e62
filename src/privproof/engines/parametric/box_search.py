"""Trees of boxes: floats look for one that shows a sign, integers decide.

A *tree* cuts the unit cube in halves until every box is settled.  It is written in preorder, one character a node:

* a small letter bisects the box along that axis (``a`` the first parameter); the lower half follows, then the upper;
* a small letter with a number in parentheses, ``a(1/3)``, cuts the box at that share of its width instead;
* ``<`` and two letters order the box by two axes: the part in which the first coordinate is at most the second follows, then
  the other (see `bernstein_boxes.split_by_order`); a capital letter says that its coordinate is measured from the upper end;
* ``.`` is a box on which no Bernstein coefficient of the polynomial is negative;
* a capital letter is a box outside the region: all coefficients of that constraint are below zero (``A`` the first
  constraint), or at most zero where the constraint is strict.

`grow` walks level by level in floats, all boxes of a level at once, and bisects along the axis that promises most;
`settle` follows the tree in integers and bisects further where the floats were too hopeful.  Only what `settle` returns is
a proof.  Effort is counted in boxes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from privproof.engines.parametric.bernstein_boxes import Corner, Tensor, floats, halves, split_by_order
from privproof.engines.search_monitor import Monitor

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LARGEST = 100_000
"""The largest number of coefficients of one polynomial."""

_LEAF, _OPEN, _ORDERED, _OUTSIDE = -1, -2, -3, -4
"""Kinds of nodes of a tree; from 0 on a number is the axis that a box is divided along."""
_TOLERANCE = 1e-14
"""Coefficients this little below zero, relatively, count as zero in the search; the tree is checked exactly afterwards."""
_NEGATIVE = 1e-13
"""A corner is suspected of a violation only below this; the suspicion is confirmed exactly."""
_DEEPEST = 120
"""Divisions of a box, after which floats cannot tell its corners apart; what is open then stays open."""
_HELD = 20_000_000
"""Coefficients of all open boxes together, which are in memory at once."""
_TRIED = 12
"""So many suspicious corners are confirmed exactly on each level, the most negative first."""
_FURTHER = 1_000
"""Boxes that may be divided further when a tree found in floats does not hold exactly."""
_PATIENCE = 4
"""Divisions along each axis before a box that stays open is ordered by a corner at which the polynomial vanishes."""
_NESTED = 4
"""How often this may be done inside one another."""
_VANISHING = 1e-9
"""Coefficients below this, relatively, are taken for zero when such a corner is looked for."""

Floats = NDArray[np.float64]
Point = tuple[float, ...]


def boxes_of(tree: str) -> int:
    """How many boxes a tree has.

    >>> boxes_of("a(1/3).<aB..")
    5
    """
    return len(re.sub(r"\(.*?\)|<..", lambda found: "<" if found[0][0] == "<" else "", tree))


@dataclass(frozen=True)
class ConstraintSide:
    """A constraint in the coordinates: its number among the constraints of the region, and its coefficients."""

    number: int
    tensor: Tensor
    strict: bool


@dataclass
class Grown:
    """A tree found in floats: for every node the axis of its bisection or what settles it, and its first child.

    A box that was ordered has a corner and two trees of its own instead of children.
    """

    kinds: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    ordered: dict[int, tuple[Corner, Grown, Grown]] = field(default_factory=dict)
    complete: bool = False
    reason: str = ""

    def add(self) -> int:
        self.kinds.append(_OPEN)
        self.children.append(-1)
        return len(self.kinds) - 1

    def count(self) -> int:
        """How many boxes the tree has."""
        return len(self.kinds) + sum(a.count() + b.count() for _, a, b in self.ordered.values())


def grow(
    tensor: Tensor, sides: Sequence[ConstraintSide], monitor: Monitor, *, boxes: int, confirm: Callable[[Point], bool]
) -> Grown:
    """Look for a tree in floats.

    Args:
        tensor: the coefficients of the polynomial whose sign is in question.
        sides: the constraints.
        monitor: asked to go on before every level.
        boxes: how many boxes may be looked at.
        confirm: called with a point of the cube where the polynomial looks negative; true ends the search.
    """
    outer = [floats(side.tensor) for side in sides]
    return _Growth(sides, monitor, boxes, confirm).grow(floats(tensor), outer, 0)


@dataclass
class _Growth:
    """A search in floats; what is counted and asked is shared by the trees inside the tree."""

    sides: Sequence[ConstraintSide]
    monitor: Monitor
    boxes: int
    confirm: Callable[[Point], bool]

    def grow(self, tensor: Floats, sides: Sequence[Floats], nested: int) -> Grown:
        tree = Grown()
        dimension = tensor.ndim
        axes = tuple(range(1, dimension + 1))
        values, outer = tensor[np.newaxis], [side[np.newaxis] for side in sides]
        lows, widths = np.zeros((1, dimension)), np.ones((1, dimension))
        nodes = np.array([tree.add()])
        self.boxes -= 1
        for depth in range(_DEEPEST + 1):
            self.monitor.pause()
            proved = values.min(axis=axes) >= -_TOLERANCE * np.abs(values).max(axis=axes)
            outside = np.full(len(nodes), -1)
            for number, (side, bounds) in enumerate(zip(self.sides, outer, strict=True)):
                highest = bounds.max(axis=axes)
                outside = np.where((highest <= 0) if side.strict else (highest < 0), number, outside)
            for node, done, beyond in zip(nodes, proved, outside, strict=True):
                tree.kinds[node] = _LEAF if done else (_OUTSIDE - int(beyond) if beyond >= 0 else _OPEN)
            keep = ~proved & (outside < 0)
            if nested < _NESTED and depth >= _PATIENCE * dimension > 1:
                for box in np.flatnonzero(keep):
                    corner = _ordering_corner(values[box])
                    if corner is not None:
                        keep[box] = False
                        inner = self.order(values[box], [b[box] for b in outer], corner, lows[box], widths[box], nested)
                        tree.kinds[nodes[box]] = _ORDERED
                        tree.ordered[int(nodes[box])] = (corner, *inner)
                        reason = next((part.reason for part in inner if not part.complete), "")
                        if reason:
                            tree.reason = reason
                            return tree
            if not keep.any():
                tree.complete = True
                return tree
            values, outer = values[keep], [bounds[keep] for bounds in outer]
            lows, widths, nodes = lows[keep], widths[keep], nodes[keep]
            if self.looks_negative(values, outer, lows, widths):
                tree.reason = "violated"
                return tree
            if dimension == 0 or depth == _DEEPEST:
                break
            self.boxes -= 2 * len(nodes)
            if self.boxes < 0:
                tree.reason = f"{len(nodes)} boxes remain open"
                return tree
            if 2 * values.size > _HELD:
                tree.reason = f"{len(nodes)} boxes of {tensor.size} coefficients are too many to hold"
                return tree
            chosen = _axes(values, outer, widths)
            values, outer, lows, widths, nodes = _bisect_boxes(tree, values, outer, lows, widths, nodes, chosen)
        tree.reason = "a box does not close however small it becomes"
        return tree

    def order(
        self, values: Floats, outer: Sequence[Floats], corner: Corner, low: Floats, width: Floats, nested: int
    ) -> tuple[Grown, Grown]:
        """Trees for both parts of a box that is ordered."""
        parts = split_by_order(values, corner)
        if max(part.size for part in parts) > LARGEST:
            return Grown(reason="the coefficients are too many"), Grown()
        sides = [split_by_order(bounds, corner) for bounds in outer]
        result = []
        for lesser, greater, part, which in (
            (corner.first, corner.second, parts[0], 0),
            (corner.second, corner.first, parts[1], 1),
        ):
            confirm, outside = self.confirm, [pair[which] for pair in sides]

            def back(
                point: Point,
                lesser: int = lesser,
                greater: int = greater,
                confirm: Callable[[Point], bool] = confirm,
            ) -> bool:
                local = list(point)
                local[lesser] *= local[greater]
                for axis, is_high in ((corner.first, corner.first_high), (corner.second, corner.second_high)):
                    local[axis] = 1 - local[axis] if is_high else local[axis]
                return confirm(tuple(float(a + w * x) for a, w, x in zip(low, width, local, strict=True)))

            inner = _Growth(self.sides, self.monitor, self.boxes, back)
            result.append(inner.grow(part, outside, nested + 1))
            self.boxes = inner.boxes
            if not result[-1].complete:
                return result[-1], Grown()
        return result[0], result[1]

    def looks_negative(self, values: Floats, outer: Sequence[Floats], lows: Floats, widths: Floats) -> bool:
        """Whether the polynomial is confirmed negative at a corner of a box."""
        dimension = lows.shape[1]
        at_corners = _corners(values)
        inside = np.ones(at_corners.shape, dtype=bool)
        for bounds in outer:
            inside &= _corners(bounds) >= -_NEGATIVE
        suspicious = np.where(inside & (at_corners < -_NEGATIVE), at_corners, 0.0)
        for index in np.argsort(suspicious, axis=None)[:_TRIED]:
            box, corner = divmod(int(index), at_corners.shape[1])
            if suspicious[box, corner] >= 0:
                break
            ends = np.array([(corner >> (dimension - 1 - axis)) & 1 for axis in range(dimension)], dtype=float)
            if self.confirm(tuple(float(x) for x in lows[box] + widths[box] * ends)):
                return True
        return False


def _ordering_corner(values: Floats) -> Corner | None:
    """The corner and the two axes to order a box by, if the polynomial vanishes at a corner and is negative beside it."""
    bound = _VANISHING * float(np.abs(values).max())
    worst = np.unravel_index(int(values.argmin()), values.shape)
    for ends in product((False, True), repeat=values.ndim):
        steps = [n - 1 - i if high else i for i, n, high in zip(worst, values.shape, ends, strict=True)]
        moved = [axis for axis, step in enumerate(steps) if step]
        if len(moved) < 2:
            continue
        at: tuple[int | slice, ...] = tuple(-1 if high else 0 for high in ends)
        edges: list[Floats] = [values[(*at[:axis], slice(None), *at[axis + 1 :])] for axis in range(values.ndim)]
        if abs(values[at]) <= bound and all(edge.min() >= -bound for edge in edges):
            first, second = sorted(moved, key=lambda axis: steps[axis])[:2]
            return Corner(first, second, ends[first], ends[second])
    return None


def _corners(values: Floats) -> Floats:
    """The coefficients at the corners of every box, which are values of the polynomial: boxes x corners."""
    for axis in range(1, values.ndim):
        values = values.take([0, -1], axis=axis)
    return values.reshape(len(values), -1)


def _axes(values: Floats, outer: Sequence[Floats], widths: Floats) -> NDArray[np.intp]:
    """The axis to bisect for every box.

    Where the polynomial is negative at a corner only a constraint can settle the box, so the axis along which the open
    constraints change most is taken; elsewhere the one along which the coefficients bend most, since along an axis without
    a bend they are exact already.
    """
    dimension = widths.shape[1]
    reduced = tuple(range(1, dimension + 1))
    scores = np.zeros((len(values), dimension))
    changes = np.zeros((len(values), dimension))
    largest = np.abs(values).max(axis=reduced)
    for axis in range(dimension):
        degree = values.shape[axis + 1] - 1
        if degree >= 2:
            scores[:, axis] = np.abs(np.diff(values, n=2, axis=axis + 1)).max(axis=reduced) * degree / largest
        if degree >= 1:
            changes[:, axis] = np.abs(np.diff(values, axis=axis + 1)).max(axis=reduced) * degree / largest
    cut = np.zeros((len(values), dimension))
    for bounds in outer:
        open_ = (bounds.min(axis=reduced) < 0) & (bounds.max(axis=reduced) >= 0)
        scale = np.maximum(np.abs(bounds).max(axis=reduced), 1e-300)
        for axis in range(dimension):
            degree = bounds.shape[axis + 1] - 1
            if degree >= 1:
                step = np.abs(np.diff(bounds, axis=axis + 1)).max(axis=reduced) * degree / scale
                cut[:, axis] += np.where(open_, step, 0.0)
    cornered = (_corners(values).min(axis=1) < 0) & (cut.max(axis=1) > 0)
    total = np.where(cornered[:, np.newaxis], cut, scores)
    flat = total.max(axis=1) <= 0
    total = np.where(flat[:, np.newaxis], changes + 1e-9 * widths, total)
    return np.asarray(total.argmax(axis=1))


def _bisect_boxes(
    tree: Grown,
    values: Floats,
    outer: Sequence[Floats],
    lows: Floats,
    widths: Floats,
    nodes: NDArray[np.intp],
    chosen: NDArray[np.intp],
) -> tuple[Floats, list[Floats], Floats, Floats, NDArray[np.intp]]:
    """Both halves of every box along its axis."""
    parts: list[Floats] = []
    outer_parts: list[list[Floats]] = [[] for _ in outer]
    low_parts, width_parts, node_parts = [], [], []
    for axis in range(widths.shape[1]):
        picked = chosen == axis
        if not picked.any():
            continue
        parts += halves(values[picked], axis + 1)
        for number, bounds in enumerate(outer):
            outer_parts[number] += halves(bounds[picked], axis + 1)
        narrow = widths[picked].copy()
        narrow[:, axis] *= 0.5
        upper = lows[picked].copy()
        upper[:, axis] += narrow[:, axis]
        low_parts += [lows[picked], upper]
        width_parts += [narrow, narrow]
        first, second = [], []
        for node in nodes[picked]:
            tree.kinds[node] = axis
            tree.children[node] = tree.add()
            first.append(tree.children[node])
            second.append(tree.add())
        node_parts += [np.array(first), np.array(second)]
    return (
        np.concatenate(parts),
        [np.concatenate(each) for each in outer_parts],
        np.concatenate(low_parts),
        np.concatenate(width_parts),
        np.concatenate(node_parts),
    )


def settle(tensor: Tensor, sides: Sequence[ConstraintSide], tree: Grown, monitor: Monitor) -> str | None:
    """The tree decided in integers, bisected further where it must be; None where that does not end soon."""
    written: list[str] = []
    further = 0
    waiting: list[_WaitingBox] = [_WaitingBox(tensor, [side.tensor for side in sides], tree, 0, 0)]
    while waiting:
        box = waiting.pop()
        assert box.values.dtype == object
        kind = _LEAF if box.tree is None else box.tree.kinds[box.node]
        if len(written) % 64 == 0:
            monitor.pause()
        if box.tree is not None and kind == _ORDERED:
            corner, first, second = box.tree.ordered[box.node]
            both = split_by_order(box.values, corner)
            outer = [split_by_order(bounds, corner) for bounds in box.outer]
            written.append("<" + _letter(corner.first, corner.first_high) + _letter(corner.second, corner.second_high))
            waiting.append(_WaitingBox(both[1], [pair[1] for pair in outer], second, 0, box.depth + 1))
            waiting.append(_WaitingBox(both[0], [pair[0] for pair in outer], first, 0, box.depth + 1))
            continue
        if kind < 0:
            settled = _settling_letter(box.values, box.outer, sides)
            if settled:
                written.append(settled)
                continue
            further += 1
            if further > _FURTHER or box.depth > 2 * _DEEPEST or not box.values.ndim:
                return None
            kind = _exact_axis(box.values, box.outer)
        written.append(LETTERS[kind])
        low, high = halves(box.values, kind)
        outer = [halves(bounds, kind) for bounds in box.outer]
        child = -1 if box.tree is None else box.tree.children[box.node]
        below = box.tree if child >= 0 else None
        waiting.append(_WaitingBox(high, [pair[1] for pair in outer], below, child + 1, box.depth + 1))
        waiting.append(_WaitingBox(low, [pair[0] for pair in outer], below, child, box.depth + 1))
    return "".join(written)


@dataclass(frozen=True)
class _WaitingBox:
    """A box to be settled, and the tree found for it, if there is one."""

    values: Tensor
    outer: list[Tensor]
    tree: Grown | None
    node: int
    depth: int


def _letter(axis: int, high: bool) -> str:  # noqa: FBT001
    return LETTERS[axis].upper() if high else LETTERS[axis]


def _settling_letter(values: Tensor, outer: Sequence[Tensor], sides: Sequence[ConstraintSide]) -> str:
    """How a box is settled in integers, or an empty text."""
    if np.min(values) >= 0:
        return "."
    for side, bounds in zip(sides, outer, strict=True):
        highest = np.max(bounds)
        if highest < 0 or (side.strict and highest == 0):
            return LETTERS[side.number].upper()
    return ""


def _exact_axis(values: Tensor, outer: Sequence[Tensor]) -> int:
    """The axis to bisect a box that was too hopeful."""
    batch = floats(values)[np.newaxis]
    ones = np.ones((1, values.ndim))
    return int(_axes(batch, [floats(bounds)[np.newaxis] for bounds in outer], ones)[0])
