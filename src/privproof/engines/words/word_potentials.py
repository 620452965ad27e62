"""Potentials: how much a vector can still exceed the bound, counted coordinate by coordinate, where a delta is granted to each output.

For a coordinate i of a location and a ratio t let ``h_i(t)`` be the supremum, over all words w from there, of
``P_i(w) - c t Q_i(w)``: what mass one on the left, with mass t on the right, can gain.  Splitting a vector by coordinates,

    P(w) - c Q(w)  <=  sum over i of alpha_i h_i(beta_i / alpha_i)  for every word w,

so a vector whose sum is at most delta is safe for words of every length.  h is convex and falling in t, so it is bounded by values at
finitely many ratios and straight lines between them.  Such values H are a proof as soon as

    H_i(t) >= f_i - c t g_i                                     (words may end here)
    H_i(t) >= sum over j of A_ij H_j(t B_ij / A_ij)             for every letter (A, B),

which is one step of value iteration.  In the words of `dominance`: the vectors (e_i, t e_i) of weight H_i(t)/delta are generators whose
products they dominate themselves.  Value iteration in floating point finds H; rationals decide.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from privproof.engines.words.dominance import Dominated
from privproof.engines.words.word_vectors import Reached, quotient
from privproof.exact import Rational, fraction
from privproof.models import WordProblem

_GRID = 24
"""The grid of ratios around 1/c reaches half as many doublings down and a third as many up: a wider one costs time."""
_STEPS_PER_DOUBLING = 6
"""Between two points of the grid values are interpolated, so a coarser grid proves less; what is found is checked exactly."""
_SLACK = 1e-9
"""Room in every inequality for the rounding that follows; so a delta very near to the least one is not proved."""
_ROUNDS = 20_000
"""Value iteration that has not settled after so many rounds is given up, and there is no potential."""
_MOST_ENTRIES = 6_000
"""Problems with more transitions have no potential: a round of the iteration would take too long."""
_DIGITS = 48
"""Values are rounded up to so many binary digits, so that the numbers in a certificate stay short."""


@dataclass(frozen=True)
class LetterMove:
    """One letter from one coordinate: where it leads, with the entries of the left and of the right matrix."""

    target: int
    entries: tuple[tuple[int, Fraction, Fraction], ...]


class Potential:
    """Values H on a grid of ratios for every location and coordinate, proved; build one with `potential_of`.

    Attributes:
        ratios: the grid.
        values: by location and coordinate the value at every ratio.
    """

    def __init__(self, ratios: tuple[Fraction, ...], values: list[list[tuple[Fraction, ...]]], delta: Fraction) -> None:
        self.ratios, self.values, self.delta = ratios, values, delta
        self._rough = np.array([float(t) for t in ratios])
        self._tables = [np.array([[float(x) for x in row] for row in place]) for place in values]
        self.scales: dict[tuple[int, int, int], int] = {}

    def generators(self, location: int, left_size: int, right_size: int) -> Iterator[Reached]:
        """The generators of a location: for every coordinate one at each ratio."""
        for i in range(left_size):
            for k, t in enumerate(self.ratios):
                weight = self.values[location][i][k] / self.delta
                scale = lcm(t.denominator, weight.denominator)
                left, right = [0] * left_size, [0] * right_size
                left[i] = scale
                if i < right_size:
                    right[i] = int(t * scale)
                self.scales[location, i, k] = scale
                yield Reached(tuple(left), tuple(right), int(weight * scale), 0)

    def number(self, i: int, k: int) -> int:
        """The number of a generator at its location."""
        return i * len(self.ratios) + k

    def cover(self, location: int, vector: Reached) -> Dominated | None:
        """Multiples of generators that dominate a vector, if its potential is at most delta."""
        if self._estimate(location, vector) > float(self.delta) * (1 + 1e-9):
            return None
        allowed = self.delta * vector.weight
        by: dict[int, Fraction] = {}
        total = Fraction(0)
        for i, x in enumerate(vector.left):
            if x:
                y = vector.right[i] if i < len(vector.right) else 0
                for k, share in self._shares(Fraction(y, x)):
                    if share:
                        total += x * share * self.values[location][i][k]
                        by[self.number(i, k)] = x * share / self.scales[location, i, k]
        if total > allowed:
            return None
        return Dominated(by=tuple(by.items()), scale=vector.scale)

    def _shares(self, ratio: Fraction) -> list[tuple[int, Fraction]]:
        """The two ratios of the grid around a ratio, with their shares."""
        k = bisect_right(self.ratios, ratio) - 1
        if k == len(self.ratios) - 1:
            return [(k, Fraction(1))]
        low, high = self.ratios[k], self.ratios[k + 1]
        share = (ratio - low) / (high - low)
        return [(k, 1 - share), (k + 1, share)]

    def _estimate(self, location: int, vector: Reached) -> float:
        """The potential, rounded; quotients of integers, because these may be beyond any float."""
        total = 0.0
        for i, x in enumerate(vector.left):
            if x:
                y = vector.right[i] if i < len(vector.right) else 0
                total += x / vector.weight * float(np.interp(quotient(y, x), self._rough, self._tables[location][i]))
        return total

    def value(self, location: int, i: int, ratio: Fraction) -> Fraction:
        """The value at a ratio, by the straight line between its neighbours on the grid."""
        row = self.values[location][i]
        return sum((share * row[k] for k, share in self._shares(ratio)), Fraction(0))


def potential_of(problem: WordProblem, bound: Rational, delta: Rational) -> Potential | None:
    """A proved potential, or None where none is found: the problem is too large, or mass circles without loss.

    Without a bound (an infinite epsilon) there is none either: the ratios of its grid lie around ``1/c``.

    Args:
        problem: the word problem.
        bound: a lower bound on ``e^epsilon``.
        delta: the delta granted to each output.
    """
    if bound == 0:
        return None
    moves = [list(_moves(problem, location)) for location in range(len(problem.locations))]
    if sum(len(move.entries) for place in moves for each in place for move in each) > _MOST_ENTRIES:
        return None
    c = fraction(bound)
    ratios = _grid(c)
    rough = np.array([float(t) for t in ratios])
    ends = [_ends(problem, location, float(c), rough) for location in range(len(problem.locations))]
    found = _iterate_values(moves, ends, rough)
    if found is None:
        return None
    unit = 2**_DIGITS
    values = [[tuple(Fraction(-int(-(float(x) * unit) // 1), unit) for x in row) for row in place] for place in found]
    result = Potential(ratios, values, fraction(delta))
    return result if _inductive(result, problem, moves, c) else None


def _grid(c: Fraction) -> tuple[Fraction, ...]:
    """Zero, and ratios around 1/c, evenly spaced in the logarithm."""
    count = _GRID * _STEPS_PER_DOUBLING
    middle = float(1 / c)
    low = -count // 2
    listed = {Fraction(0)}
    for k in range(low, count // 3):
        listed.add(Fraction(middle * 2 ** (k / _STEPS_PER_DOUBLING)).limit_denominator(10**9))
    listed |= {Fraction(1), 1 / c if c.denominator < 10**6 else Fraction(1)}
    return tuple(sorted(listed))


def _moves(problem: WordProblem, location: int) -> Iterator[list[LetterMove]]:
    """By coordinate the letters that move its mass; those that leave it as it is are left out."""
    place = problem.locations[location]
    for i in range(place.left_size):
        found = []
        for edge in place.edges:
            left = {j: fraction(x) for j, x in edge.left.rows[i]}
            right = {j: fraction(x) for j, x in edge.right.rows[i]} if i < place.right_size else {}
            entries = tuple((j, x, right.get(j, Fraction(0))) for j, x in left.items())
            if entries and not (edge.target == location and entries == ((i, Fraction(1), Fraction(1)),)):
                found.append(LetterMove(edge.target, entries))
        yield found


def _ends(problem: WordProblem, location: int, c: float, ratios: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    place = problem.locations[location]
    result = []
    for i in range(place.left_size):
        best = np.zeros(len(ratios))
        for final in place.finals:
            g = float(final.right[i]) if i < place.right_size else 0.0
            best = np.maximum(best, float(final.left[i]) - c * ratios * g)
        result.append(best)
    return result


def _iterate_values(
    moves: list[list[list[LetterMove]]], ends: list[list[NDArray[np.float64]]], ratios: NDArray[np.float64]
) -> list[list[NDArray[np.float64]]] | None:
    """Value iteration with a little slack in every step; None where it does not settle."""
    values = [[row + _SLACK for row in place] for place in ends]
    steps = [
        [[[(j, float(x), ratios * float(y / x)) for j, x, y in move.entries] for move in each] for each in place]
        for place in moves
    ]
    for _ in range(_ROUNDS):
        change = 0.0
        for location, place in enumerate(moves):
            for i, each in enumerate(place):
                best = ends[location][i]
                for move, entries in zip(each, steps[location][i], strict=True):
                    total = np.zeros(len(ratios))
                    for j, x, scaled in entries:
                        total += x * np.interp(scaled, ratios, values[move.target][j])
                    best = np.maximum(best, total)
                best = best + _SLACK
                change = max(change, float(np.max(best - values[location][i])))
                values[location][i] = best
        if change < _SLACK / 64:
            return [[row + _SLACK / 16 for row in place] for place in values]
        if change > 0 and max(float(row[0]) for place in values for row in place) > 2:
            return None
    return None


def _inductive(found: Potential, problem: WordProblem, moves: list[list[list[LetterMove]]], c: Fraction) -> bool:
    """Whether the values prove themselves, exactly."""
    for location, place in enumerate(problem.locations):
        for i in range(place.left_size):
            for k, t in enumerate(found.ratios):
                value = found.values[location][i][k]
                for final in place.finals:
                    g = fraction(final.right[i]) if i < place.right_size else Fraction(0)
                    if fraction(final.left[i]) - c * t * g > value:
                        return False
                for move in moves[location][i]:
                    total = Fraction(0)
                    for j, x, y in move.entries:
                        total += x * found.value(move.target, j, t * y / x)
                    if total > value:
                        return False
    return True
