"""One number of an outcome by its densities: where a test looked at it before it was shown, or where it comes from several ways.

The leaves of an outcome give the number a density on either side, f and g: sums over leaves of a constant times the density of its noise,
cut at its ends, times for each noise that it is compared with the probability that this agrees (`integrals.normal`).  The excess of
every event is at most the integral of ``max(0, f - c g)``.

The line is cut at the ends and kinks, and then in halves.  On a cell all densities are divided by one of them: exponents are
polynomials with rational coefficients, so that their differences are exact.  If the ball around ``f - c g`` on the cell is above 0, the
cell counts with its probabilities, which are computed from the leaves; if it is below, with nothing; if neither, with the top of the ball
times the length, once that is small.

All other numbers of the outcome must have nothing to do with it, and be alike in all leaves of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from flint import acb, arb

from privproof_checker.integrals.gaps import is_void, largest_gaps, needed_inequalities
from privproof_checker.integrals.normal_enclosures import (
    KINDS,
    Blend,
    Inequality,
    Vertex,
    blend,
    density_of,
    share_near,
    tree_around,
)
from privproof_checker.numbers import ZERO, Rational
from privproof_checker.outcomes import refuse
from privproof_checker.programs.open_trees import Linear
from privproof_checker.runs.run_leaves import RunLeaf
from privproof_checker.runs.shown import probability_of

_REACH = {"gaussian": 20, "laplace": 150, "exponential": 150}
"""A number is followed so many scales from its center; what lies beyond is added as a whole."""
_GAP_REACH = 9
"""The same for the sum of two noises, in standard deviations of both."""
_SMALL = 78
"""A cell that adds at most 2 to the minus this is not cut further."""
_SMALL_INTEGRAL = 56
"""The same where a density at a point is an integral."""
_MOST_CELLS = 10_000
"""Cells of an outcome; beyond, a certificate is refused."""
_MOST_INTEGRALS = 2_000
"""The same where a density at a point is an integral."""

Exponent: TypeAlias = tuple[Rational, Rational, Rational]
"""A polynomial ``a y^2 + b y + c``."""


def has_tested_number(leaf: RunLeaf) -> bool:
    """Whether a test looked at noise of a number that is shown."""
    tested = {j for form in _tests(leaf) for j, _ in form.factors}
    return any(isinstance(part, Linear) and any(j in tested for j, _ in part.factors) for part in leaf.parts)


def is_of_numbers(leaf: RunLeaf) -> bool:
    """Whether an outcome has numbers to which nothing was done, and nothing was decided by what was done to others."""
    return bool(leaf.parts) and not leaf.guesses and all(isinstance(part, Linear) for part in leaf.parts)


def _tests(leaf: RunLeaf) -> list[Linear]:
    return leaf.conditions[: sum(step.kind == "test" for step in leaf.steps)]


@dataclass(frozen=True)
class _NumberTerm:
    """The number on one way: its value is that of a vertex, and the rest of the way has some probability."""

    weight: arb
    vertex: Vertex
    blend = None
    key = None

    @property
    def below(self) -> list[Vertex]:
        """The noises that it is compared with."""
        return self.vertex.below

    @property
    def reach(self) -> tuple[Rational, Rational]:
        """Where it is, and how far around it is followed."""
        return self.vertex.zero, _REACH[self.vertex.kind] * self.vertex.spread

    @property
    def marks(self) -> set[Rational]:
        """Where its density is not smooth."""
        found = {end for end in self.vertex.ends if end is not None}
        if self.vertex.kind != "gaussian":
            found.add(self.vertex.zero)
        return found.union(*(_marks(child) for child in self.vertex.below))

    def exponent(self, middle: Rational) -> Exponent | None:
        """The logarithm of the density of its noise as a polynomial of degree 2, but for a constant; None where it is 0."""
        vertex = self.vertex
        low, high = vertex.ends
        if (low is not None and middle < low) or (high is not None and middle > high):
            return None
        if vertex.kind == "gaussian":
            v = vertex.spread**2
            return -1 / (2 * v), vertex.zero / v, -(vertex.zero**2) / (2 * v)
        after = middle >= vertex.zero
        if vertex.kind == "exponential" and vertex.turned == after:
            return None
        slope = (-1 if after else 1) / vertex.spread
        return ZERO, slope, -slope * vertex.zero

    @property
    def height(self) -> arb:
        """The constant: the largest value of the density of its noise."""
        return density_of(self.vertex, acb(arb(self.vertex.zero)), after=not self.vertex.turned).real


@dataclass(frozen=True)
class _Gap:
    """The sum of two noises on one way: Gaussian noise less the value of a tree, between two ends.

    Attributes:
        weight: the probability of the rest of the way.
        blend: its density.
        ends: its ends.
        reach: where it is, and how far around it is followed.
        variance: that of the sum.
        key: what tells the density.
    """

    weight: arb
    blend: Blend
    ends: tuple[Rational | None, Rational | None]
    reach: tuple[Rational, Rational]
    variance: Rational
    key: object
    below = ()

    @property
    def marks(self) -> set[Rational]:
        """Where its density is not smooth."""
        return {end for end in self.ends if end is not None}

    def exponent(self, middle: Rational) -> Exponent | None:
        """That of the normal law of the sum, as if nothing were compared; None where it is 0."""
        low, high = self.ends
        if (low is not None and middle < low) or (high is not None and middle > high):
            return None
        return -1 / (2 * self.variance), self.reach[0] / self.variance, ZERO

    @property
    def height(self) -> arb:
        """Nothing is taken out."""
        return arb(1)


def _marks(vertex: Vertex) -> set[Rational]:
    own = {vertex.zero, *(end for end in vertex.ends if end is not None)}
    return {point - gap for point in own for gap in vertex.gaps if gap is not None}


def _hull(low: Rational, high: Rational) -> arb:
    return arb(low).union(arb(high))


@dataclass(frozen=True)
class NumberLaws:
    """The leaves of an outcome on both sides, and which of its numbers is not alike in all of them."""

    part: int
    left: tuple[RunLeaf, ...]
    right: tuple[RunLeaf, ...]

    def most(self, bound: arb, place: str) -> arb:
        """A bound on the excess of every event."""
        one, two = ([term_of(leaf, self.part, place) for leaf in side] for side in (self.left, self.right))
        terms = [(term, arb(1)) for term in one if term is not None] + [(t, -bound) for t in two if t is not None]
        if not terms:
            return arb(0)
        reach = [term.reach for term, _ in terms]
        low, high = min(zero - far for zero, far in reach), max(zero + far for zero, far in reach)
        marks = sorted({low, high}.union(*({m for m in term.marks if low < m < high} for term, _ in terms)))
        plain = all(term.blend is None for term, _ in terms)
        left, small = (_MOST_CELLS, _SMALL) if plain else (_MOST_INTEGRALS, _SMALL_INTEGRAL)
        total, taken = arb(0), list[tuple[Rational, Rational]]()
        for start, stop in pairwise(marks):
            pieces = _pieces(terms, (start + stop) / 2)
            waiting = [(start, stop)]
            while waiting:
                cell = waiting.pop()
                sign, top = _sign(pieces, *cell, place)
                if sign > 0:
                    taken.append(cell)
                elif sign == 0 and top <= arb(2) ** -small:
                    total += top
                elif sign == 0:
                    middle = (cell[0] + cell[1]) / 2
                    waiting += [(middle, cell[1]), (cell[0], middle)]
                    left -= 1
                    if left < 0:
                        refuse("too many cells are needed to tell two laws of a number apart", place)
        for start, stop in [*_unions(taken)]:
            p, q = self.probabilities([(start, stop)], place)
            total += (p - bound * q).upper()
        p, _ = self.probabilities([(None, low), (high, None)], place)
        return (total + p).upper().max(arb(0))

    def probabilities(
        self, intervals: Sequence[tuple[Rational | None, Rational | None]], place: str
    ) -> tuple[arb, arb]:
        """How likely the outcome is with its number in some intervals, on either side."""
        p, q = (
            sum((probability_within(leaf, self.part, ends, place) for leaf in side for ends in intervals), arb(0))
            for side in (self.left, self.right)
        )
        return p, q


def probability_within(leaf: RunLeaf, part: int, ends: tuple[Rational | None, Rational | None], place: str) -> arb:
    """The probability of a leaf with one of its numbers between two ends."""
    form = leaf.parts[part]
    assert isinstance(form, Linear)
    low, high = ends
    also = [] if low is None else [Linear(form.factors, form.constant - low)]
    also += [] if high is None else [Linear(form.turned().factors, high - form.constant)]
    return probability_of(leaf, tuple(also), place)


def _unions(cells: list[tuple[Rational, Rational]]) -> list[tuple[Rational, Rational]]:
    found: list[tuple[Rational, Rational]] = []
    for low, high in sorted(cells):
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


@dataclass
class _Piece:
    """``factor * e^exponent`` times the probability that the noises below agree."""

    factor: arb
    exponent: Exponent
    below: Sequence[Vertex]
    blend: Blend | None
    key: object

    def agreement(self, low: Rational, high: Rational, place: str) -> arb:
        """That probability, where the number lies in an interval; for a gap its density over e^exponent."""
        result = arb(1)
        if self.blend is not None:
            half = arb(0, arb((high - low) / 2).upper())
            result = self.blend.density((low + high) / 2, half, *self.exponent[:2])
        for child in self.below:
            if child.below:
                refuse("a number is shown that was compared with noise that others were compared with", place)
            result *= share_near(child, (low + high) / 2)(acb(_hull(low, high))).real
        return result


def _pieces(terms: Sequence[tuple[_NumberTerm | _Gap, arb]], middle: Rational) -> list[_Piece]:
    """What ``f - c g`` is the sum of around a point; multiples of one another are added up, so that ties cancel."""
    found: list[_Piece] = []
    for term, factor in terms:
        exponent = term.exponent(middle)
        if exponent is None:
            continue
        size = factor * term.weight * term.height
        for piece in found:
            if piece.exponent[:2] == exponent[:2] and piece.below == term.below and piece.key == term.key:
                piece.factor += size * arb(exponent[2] - piece.exponent[2]).exp()
                break
        else:
            found.append(_Piece(size, exponent, term.below, term.blend, term.key))
    return found


def _sign(pieces: Sequence[_Piece], low: Rational, high: Rational, place: str) -> tuple[int, arb]:
    """Whether ``f - c g`` is above 0 on a cell (1), nowhere above (-1) or neither (0); a bound on the integral of what is above."""
    if not pieces:
        return -1, arb(0)
    middle = (low + high) / 2
    half = arb(0, arb((high - low) / 2).upper())
    base = pieces[0].exponent
    total = arb(0)
    for piece in pieces:
        total += piece.factor * _exp(piece.exponent, base, middle, half) * piece.agreement(low, high, place)
    if total <= 0:
        return -1, arb(0)
    if total > 0:
        return 1, arb(0)
    scale = _exp(base, (ZERO, ZERO, ZERO), middle, half)
    return 0, (total.upper() * scale * arb(high - low)).upper()


def _exp(one: Sequence[Rational], other: Sequence[Rational], middle: Rational, half: arb) -> arb:
    """The exponential of the difference of two polynomials, around a point."""
    a, b, c = (x - y for x, y in zip(one, other, strict=True))
    return (arb(a * middle**2 + b * middle + c) + arb(2 * a * middle + b) * half + arb(a) * half * half).exp()


def number_laws(left: Sequence[RunLeaf], right: Sequence[RunLeaf]) -> NumberLaws | None:
    """The one number in which the leaves of an outcome differ; None where there are several, or it is not of this kind."""
    leaves = (*left, *right)
    if not all(is_of_numbers(leaf) for leaf in leaves):
        return None
    first = leaves[0]
    other = [k for k in range(len(first.parts)) if any(_about(leaf, k) != _about(first, k) for leaf in leaves)]
    part = other[0] if other else 0
    if len(other) > 1:
        return None
    for leaf in leaves:
        form = leaf.parts[part]
        assert isinstance(form, Linear)
        atoms = _connected_noises(leaf, form)
        if not 1 <= len(form.factors) <= 2 or any(leaf.noises[j][0] not in KINDS for j in atoms):
            return None
        if any(k != part and atoms & _atoms(each) for k, each in enumerate(leaf.parts)):
            return None
    return NumberLaws(part, tuple(left), tuple(right))


def _atoms(part: object) -> set[int]:
    assert isinstance(part, Linear)
    return {j for j, _ in part.factors}


def _connected_noises(leaf: RunLeaf, form: Linear) -> set[int]:
    """The noises that a form has to do with, through tests and numbers that are shown."""
    found = _atoms(form)
    forms = [_atoms(each) for each in (*_tests(leaf), *leaf.parts)]
    while any(each & found and not each <= found for each in forms):
        found = found.union(*(each for each in forms if each & found))
    return found


def _about(leaf: RunLeaf, part: int) -> object:
    """All that a leaf says of a number: laws, tests and numbers, its noises called by their order."""
    form = leaf.parts[part]
    assert isinstance(form, Linear)
    atoms = sorted(_connected_noises(leaf, form))
    name = {j: k for k, j in enumerate(atoms)}

    def called(each: Linear) -> object:
        return tuple(sorted((name[j], c) for j, c in each.factors)), each.constant

    tests = tuple(called(each) for each in _tests(leaf) if _atoms(each) & set(atoms))
    shown = tuple((k, called(each)) for k, each in enumerate(leaf.parts) if _atoms(each) & set(atoms))  # type: ignore[arg-type]
    return tuple(leaf.noises[j] for j in atoms), tests, shown


def term_of(leaf: RunLeaf, part: int, place: str) -> _NumberTerm | _Gap | None:
    """The number on the way to a leaf; None if nothing leads there."""
    form = leaf.parts[part]
    assert isinstance(form, Linear)
    atoms = sorted(_connected_noises(leaf, form))
    order = {j: k for k, j in enumerate(atoms)}
    apart = [step for step in leaf.steps if step.kind != "test" or not _atoms(step.about) & set(atoms)]
    weight = probability_of(replace(leaf, steps=tuple(apart)), (), place)
    inequalities = [
        ({order[j]: c for j, c in each.factors}, each.constant) for each in _tests(leaf) if _atoms(each) & set(atoms)
    ]
    laws = [leaf.noises[j][:2] for j in atoms]
    own = {order[j]: c for j, c in form.factors}
    if len(own) == 2:
        return _gap(weight, own, form.constant, laws, inequalities, place)
    [(atom, unit)] = own.items()
    vertex = tree_around(atom, unit, form.constant, laws, inequalities, place)
    return None if vertex is None else _NumberTerm(weight, vertex)


def _gap(
    weight: arb,
    own: dict[int, Rational],
    constant: Rational,
    laws: Sequence[tuple[str, Rational]],
    inequalities: Sequence[Inequality],
    place: str,
) -> _Gap | None:
    """The sum of two noises, of which one is compared with the other alone, and only as their sum is."""
    gaps = largest_gaps(inequalities)
    if gaps is not None:
        if is_void(gaps):
            return None
        inequalities = needed_inequalities(gaps)
    for free in own:
        [hub] = own.keys() - {free}
        mine = [each for each in inequalities if each[0].get(free, ZERO) != 0]
        along = [factors[free] / own[free] for factors, _ in mine]
        if any(f != {j: slope * c for j, c in own.items()} for (f, _), slope in zip(mine, along, strict=True)):
            continue
        ends: list[Rational | None] = [None, None]
        for (_, more), slope in zip(mine, along, strict=True):  # slope * (y - constant) + more >= 0
            side, value = (0 if slope > 0 else 1), constant - more / slope
            before = ends[side]
            ends[side] = value if before is None else max(before, value) if side == 0 else min(before, value)
        rest = [each for each in inequalities if each not in mine]
        root = tree_around(hub, -own[hub], -constant, laws, rest, place)
        kind, scale = laws[free]
        found = None if root is None or kind != "gaussian" else blend(root, abs(own[free]) * scale, place)
        if found is not None:
            width = _GAP_REACH * sum((abs(c) * laws[j][1] for j, c in own.items()), ZERO)
            key = (tuple(laws), repr(inequalities), tuple(own.items()), constant)
            variance = sum((c**2 * laws[j][1] ** 2 for j, c in own.items()), ZERO)
            return _Gap(weight, found, (ends[0], ends[1]), (constant, width), variance, key)
    refuse("the noises of a gap are compared with others, or are not Gaussian", place)
