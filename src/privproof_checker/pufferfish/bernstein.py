"""Trees of boxes: a polynomial is shown to be non-negative on a region by its Bernstein coefficients.

**Theorem.** On the cube [0, 1]^n a polynomial of degree d_k in its k-th variable is ``sum over i of b_i prod over k of
C(d_k, i_k) t_k^i_k (1 - t_k)^(d_k - i_k)``.  These products are non-negative there, so the polynomial is non-negative
where all b_i are, and negative (at most zero) where all b_i are negative (at most zero).

A tree, written in preorder, covers the cube by boxes:

* a small letter bisects the box along that axis (``a`` the first); a tree for the lower half follows, then one for the
  upper half; with a number between 0 and 1 in parentheses, ``a(1/3)``, it cuts the box at that share of its width;
* ``<`` and two letters, of different axes, order the box: with x and y the two coordinates, measured from the lower end
  for a small letter and from the upper end for a capital one, the box is the union of ``x = u y`` and of ``y = u x``
  with u in [0, 1]; a tree for the first follows, where u takes the axis of x, then one for the second, where u takes the
  axis of y;
* ``.`` says that no coefficient of the polynomial is negative on the box;
* a capital letter says that the box is outside the region: all coefficients of that constraint (``A`` the first) are
  negative there, or at most zero if the constraint is strict.

If the whole text is one tree and every leaf is right, the polynomial is non-negative at all points of the cube at which
the constraints hold.  All numbers are integers; coefficients are kept up to positive factors, which change no sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, lcm, prod

from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_number, text
from privproof_checker.pufferfish.polynomials import Polynomial

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CAPITALS = _LETTERS.upper()
_DEEPEST = 1_000
"""How many cuts may lie inside each other in a tree of boxes; a deeper tree is refused."""
_WORK = 100
"""All boxes of a question together may have so many times `Limits.tensor` coefficients; beyond, the evidence is refused."""
_LONGEST = 200
"""How far the parenthesis that closes a number in a tree is looked for; a number that does not end by then is refused."""


@dataclass(frozen=True)
class Grid:
    """Coefficients by index along every axis, row by row."""

    shape: tuple[int, ...]
    values: list[int]

    def layers(self, axis: int) -> list[list[int]]:
        """The coefficients by their index along one axis."""
        stride = prod(self.shape[axis + 1 :])
        step = stride * self.shape[axis]
        result: list[list[int]] = []
        for i in range(self.shape[axis]):
            layer: list[int] = []
            for start in range(i * stride, len(self.values), step):
                layer += self.values[start : start + stride]
            result.append(layer)
        return result

    def relayered(self, axis: int, layers: Sequence[Sequence[int]]) -> Grid:
        """The grid with other layers along one axis."""
        stride = prod(self.shape[axis + 1 :])
        values: list[int] = []
        for start in range(0, len(layers[0]), stride):
            for layer in layers:
                values += layer[start : start + stride]
        return Grid((*self.shape[:axis], len(layers), *self.shape[axis + 1 :]), values)

    def mapped(self, axis: int, rows: Sequence[Sequence[int]]) -> Grid:
        """The grid with every line along an axis multiplied by a matrix."""
        layers = self.layers(axis)
        result = []
        for row in rows:
            total = [0] * len(layers[0])
            for factor, layer in zip(row, layers, strict=True):
                if factor:
                    total = [t + factor * x for t, x in zip(total, layer, strict=True)]
            result.append(total)
        return self.relayered(axis, result)


def _to_bernstein(degree: int) -> list[list[int]]:
    """From powers to Bernstein coefficients, times a positive integer: ``b_i = sum over j of C(i, j) / C(d, j) a_j``."""
    common = lcm(*(comb(degree, j) for j in range(degree + 1)))
    return [[comb(i, j) * (common // comb(degree, j)) for j in range(degree + 1)] for i in range(degree + 1)]


def _to_powers(degree: int) -> list[list[int]]:
    """From Bernstein coefficients to powers: ``a_j = C(d, j) sum over i of (-1)^(j - i) C(j, i) b_i``."""
    return [
        [comb(degree, j) * comb(j, i) * (-1) ** (j - i) if i <= j else 0 for i in range(degree + 1)]
        for j in range(degree + 1)
    ]


def grid(polynomial: Polynomial, size: int, place: str, limits: Limits) -> Grid:
    """The Bernstein coefficients on the cube.

    >>> from privproof_checker.numbers import Rational
    >>> grid({(0,): Rational(1), (1,): Rational(-4), (2,): Rational(4)}, 1, "tree", Limits()).values
    [2, -2, 2]
    """
    degrees = [max((exponents[k] for exponents in polynomial), default=0) for k in range(size)]
    shape = tuple(degree + 1 for degree in degrees)
    within(prod(shape), limits.tensor, "coefficients", place)
    common = lcm(1, *(int(value.q) for value in polynomial.values()))
    values = [0] * prod(shape)
    for exponents, value in polynomial.items():
        index = 0
        for exponent, length in zip(exponents, shape, strict=True):
            index = index * length + exponent
        values[index] = int(value.p) * (common // int(value.q))
    result = Grid(shape, values)
    for axis, degree in enumerate(degrees):
        if degree:
            result = result.mapped(axis, _to_bernstein(degree))
    return result


def halves(whole: Grid, axis: int, upper: int = 1, width: int = 2) -> tuple[Grid, Grid]:
    """The coefficients on both parts of the box, cut along an axis at ``upper / width`` (de Casteljau), up to a factor."""
    layers = whole.layers(axis)
    degree = len(layers) - 1
    lower = width - upper
    low, high = [[x * width**degree for x in layers[0]]], [[x * width**degree for x in layers[-1]]]
    for level in range(1, degree + 1):
        layers = [[lower * x + upper * y for x, y in zip(a, b, strict=True)] for a, b in pairwise(layers)]
        scale = width ** (degree - level)
        low.append([x * scale for x in layers[0]])
        high.append([x * scale for x in layers[-1]])
    high.reverse()
    return whole.relayered(axis, low), whole.relayered(axis, high)


def split_by_order(whole: Grid, first: tuple[int, bool], second: tuple[int, bool]) -> tuple[Grid, Grid]:
    """The coefficients on both parts of an ordered box: axes with whether they are measured from the upper end."""
    for axis, upper in (first, second):
        if upper:
            whole = whole.relayered(axis, whole.layers(axis)[::-1])
    return _below(whole, first[0], second[0]), _below(whole, second[0], first[0])


def _below(whole: Grid, lesser: int, greater: int) -> Grid:
    """With x on the lesser axis and y on the greater: ``x = u y``, so that x^i y^j becomes u^i y^(i + j)."""
    m, n = whole.shape[lesser] - 1, whole.shape[greater] - 1
    powers = whole.mapped(lesser, _to_powers(m)).mapped(greater, _to_powers(n))
    moved: list[list[int]] = []
    for i, layer in enumerate(powers.layers(lesser)):
        plane = Grid(tuple(1 if k == lesser else length for k, length in enumerate(powers.shape)), layer)
        shifted = (
            [[0] * (len(layer) // (n + 1))] * i + plane.layers(greater) + [[0] * (len(layer) // (n + 1))] * (m - i)
        )
        moved.append(plane.relayered(greater, shifted).values)
    taller = Grid(tuple(m + n + 1 if k == greater else length for k, length in enumerate(powers.shape)), [])
    return taller.relayered(lesser, moved).mapped(lesser, _to_bernstein(m)).mapped(greater, _to_bernstein(m + n))


@dataclass
class Boxes:
    """Counts the boxes of all trees of a certificate."""

    limits: Limits
    count: int = 0
    work: int = 0

    def add(self, coefficients: int, place: str) -> None:
        self.count += 1
        self.work += coefficients
        within(self.count, self.limits.nodes, "boxes", place)
        within(self.work, _WORK * self.limits.tensor, "coefficients of boxes", place)


@dataclass(frozen=True)
class CubeSide:
    """A constraint on the cube."""

    grid: Grid
    strict: bool


def check_tree(tree: str, whole: Grid, sides: Sequence[CubeSide], boxes: Boxes, place: str) -> None:
    """Refuse unless the tree shows the polynomial to be non-negative where the constraints hold."""
    carried = {k: side.grid for k, (side, letter) in enumerate(zip(sides, _CAPITALS, strict=False)) if letter in tree}
    waiting: list[tuple[Grid, dict[int, Grid], int]] = [(whole, carried, 0)]
    at = 0
    while waiting:
        values, outer, depth = waiting.pop()
        if at >= len(tree):
            refuse("the tree ends too early", place)
        sign, at = tree[at], at + 1
        boxes.add(len(values.values) + sum(len(each.values) for each in outer.values()), place)
        within(depth, _DEEPEST, "boxes inside each other", place)
        if sign == ".":
            if min(values.values) < 0:
                refuse(f"a coefficient is negative on the box of character {at}", place)
        elif sign in _CAPITALS:
            number = _CAPITALS.index(sign)
            if number >= len(sides):
                refuse(f"there is no constraint {sign!r}", place)
            highest = max(outer[number].values)
            if highest > 0 or (highest == 0 and not sides[number].strict):
                refuse(f"the box of character {at} is not outside the constraint {sign!r}", place)
        else:
            if sign == "<":
                first, second = (_axis(tree, at + k, len(whole.shape), place) for k in (0, 1))
                at += 2
                if first[0] == second[0]:
                    refuse("a box is ordered by one axis", place)
                pairs = split_by_order(values, first, second)
                others = {k: split_by_order(each, first, second) for k, each in outer.items()}
            else:
                axis, _ = _axis(tree, at - 1, len(whole.shape), place)
                upper, width, at = _share(tree, at, boxes.limits, place)
                pairs = halves(values, axis, upper, width)
                others = {k: halves(each, axis, upper, width) for k, each in outer.items()}
            waiting.append((pairs[1], {k: each[1] for k, each in others.items()}, depth + 1))
            waiting.append((pairs[0], {k: each[0] for k, each in others.items()}, depth + 1))
    if at < len(tree):
        refuse("the tree goes on after its last box", place)


def _axis(tree: str, at: int, size: int, place: str) -> tuple[int, bool]:
    """The axis that a letter names, and whether it is a capital one."""
    letter = tree[at : at + 1]
    if not letter:
        refuse("the tree ends too early", place)
    upper = letter in _CAPITALS
    number = (_CAPITALS if upper else _LETTERS).find(letter)
    if number < 0 or number >= size:
        refuse(f"{letter!r} names no axis of a box", place)
    return number, upper


def _share(tree: str, at: int, limits: Limits, place: str) -> tuple[int, int, int]:
    """Where a box is cut, as a fraction, and where the tree goes on: in the middle unless a number in parentheses follows."""
    if tree[at : at + 1] != "(":
        return 1, 2, at
    end = tree.find(")", at, at + _LONGEST)
    if end < 0:
        refuse(f"a number in the tree does not end within {_LONGEST} characters", place)
    share = a_number(tree[at + 1 : end], place, limits)
    if not 0 < share < 1:
        refuse(f"a box is cut at {text(share)}, which is not between 0 and 1", place)
    return int(share.p), int(share.q), end + 1
