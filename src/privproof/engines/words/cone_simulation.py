"""Simulation matrices: what one side does from a state, another mixture of states does at least as well on the other side.

A *simulation* is a non-negative matrix X for every location (left states by right states) with

    A_l X' <= X B_l  for every letter l (X' at its target),        f <= X g  for every final column.

By induction ``A_w f <= X B_w g`` for every word w, so ``alpha X <= k beta`` implies ``P <= k Q`` for every continuation, of any length.
The identity over the margin (see `margins`) is one, and says nothing of a vector with left mass where the right has none.  Where such
states are left for good after a while, other mixtures cover them: a linear program looks for X with small k for given vectors.

States that are never left for good keep their own row, because there the inequalities hold with equality.  For the others the solution is
moved a little into the interior, rounded to rationals, and checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from privproof.engines.words.word_vectors import Reached
from privproof.exact import rational
from privproof.exact.rational_matrices import Matrix, Vector
from privproof.models import WordProblem
from privproof.models.graph_algorithms import components, reachable

_MOST_VARIABLES, _MOST_CONSTRAINTS = 400, 4_000
"""Larger linear programs are not tried: their tables are dense, and simulations are one way among several."""
_INWARD = (1e-6, 1e-4, 1e-2)
"""How far the optimum is moved towards the interior, so that it survives rounding: the least that passes the exact check."""
_TINY = 1e-11
"""Entries of the linear program's solution below this are noise of the solver, and become zero."""
_STEP = 2**44
"""Entries are rounded to multiples of 1 over this: fine beside the move inwards, and short in a certificate."""
_SCALE, _PRICE = 1e4, 1e-7
"""The largest entry that is looked for, and what an entry costs beside the bound: enough to keep needless ones at zero."""

Entry: TypeAlias = tuple[int, int, int]
"""A location, a left state and a right state."""
Terms: TypeAlias = dict[Entry, float]


@dataclass(frozen=True)
class Simulation:
    """A simulation; see the module's docstring.

    Attributes:
        scales: by location the common denominator of X.
        rows: by location the rows of X times that.
    """

    scales: Mapping[int, int]
    rows: Mapping[int, tuple[tuple[int, ...], ...]]

    def image(self, location: int, left: Sequence[int]) -> list[int]:
        """``alpha X`` times the scale of the location."""
        rows = self.rows[location]
        result = [0] * len(rows[0])
        for x, row in zip(left, rows, strict=True):
            if x:
                result = [y + x * entry for y, entry in zip(result, row, strict=True)]
        return result

    def quotient(self, location: int, vector: Reached) -> Fraction | None:
        """The smallest k with ``alpha X <= k beta``; None if there is none."""
        if location not in self.rows:
            return None
        p, q = 0, 1
        for x, y in zip(self.image(location, vector.left), vector.right, strict=True):
            if x and not y:
                return None
            if x * q > p * y:
                p, q = x, y
        return Fraction(p, q * self.scales[location])


def simulation(
    problem: WordProblem, margins: Sequence[Fraction], vectors: Iterable[tuple[int, Reached]]
) -> Simulation | None:
    """A simulation that bounds vectors well, each given with its location; None where none was found."""
    listed = list(vectors)
    roots = {location for location, _ in listed}
    search = _SimulationSearch(problem, margins, roots)
    if not listed or any(margins[location] == 0 for location in search.locations) or not search.small():
        return None
    return search.solve(listed)


class _SimulationSearch:
    def __init__(self, problem: WordProblem, margins: Sequence[Fraction], roots: set[int]) -> None:
        self.problem, self.margins = problem, margins
        self.locations = _onward(problem, roots)
        self.kept = _recurrent(problem, self.locations)
        places = problem.locations
        self.entries = [
            (location, s, j)
            for location in self.locations
            for s in range(places[location].left_size)
            if (location, s) not in self.kept
            for j in range(places[location].right_size)
        ]
        self.numbers = {entry: number for number, entry in enumerate(self.entries)}

    def small(self) -> bool:
        """Whether the linear program is of a size that is solved in a moment."""
        rows = sum(
            self.problem.locations[location].left_size * self.problem.locations[edge.target].right_size
            for location in self.locations
            for edge in self.problem.locations[location].edges
        )
        return 0 < len(self.entries) <= _MOST_VARIABLES and rows <= _MOST_CONSTRAINTS

    def solve(self, vectors: Sequence[tuple[int, Reached]]) -> Simulation | None:
        from scipy.optimize import linprog  # here, because it is slow to import and seldom needed

        terms, limits = zip(*self._steps(), strict=True)
        above, least = self._table(terms), np.array(limits)
        count, width = above.shape
        bounding = self._bounding(vectors)
        if not bounding:
            return None
        below = self._table([row for _, row, _, _ in bounding])
        own = np.zeros((len(bounding), len(vectors)))
        for i, (vector, _, _, y) in enumerate(bounding):
            own[i, vector] = -y
        empty = [bool(column.any()) for column in below[[y == 0 for _, _, _, y in bounding]].T]
        bounds = [(0.0, 0.0 if nothing else _SCALE) for nothing in empty]
        inner = linprog(
            np.append(np.zeros(width), -np.ones(count)),
            A_ub=np.hstack([-above, np.eye(count)]),
            b_ub=-least,
            bounds=[*bounds, *[(0.0, 1.0)] * count],
            method="highs",
        )
        outer = linprog(
            np.append(np.full(width, _PRICE), np.ones(len(vectors))),
            A_ub=np.vstack([np.hstack([-above, np.zeros((count, len(vectors)))]), np.hstack([below, own])]),
            b_ub=np.append(-least, [-fixed for _, _, fixed, _ in bounding]),
            bounds=[*bounds, *[(0.0, np.inf)] * len(vectors)],
            method="highs",
        )
        if inner.x is None or outer.x is None:
            return None
        for inward in _INWARD:
            found = self._exactly((1 - inward) * outer.x[:width] + inward * inner.x[:width])
            if found is not None:
                return found
        return None

    def _table(self, rows: Sequence[Terms]) -> NDArray[np.float64]:
        table = np.zeros((len(rows), len(self.entries)))
        for i, terms in enumerate(rows):
            for entry, x in terms.items():
                table[i, self.numbers[entry]] = x
        return table

    def _steps(self) -> list[tuple[Terms, float]]:
        """The inequalities of the definition as sums of entries that are at least a number."""
        result: list[tuple[Terms, float]] = []
        places = self.problem.locations
        for location in self.locations:
            place = places[location]
            free = [s for s in range(place.left_size) if (location, s) not in self.kept]
            for s in free:
                for final in place.finals:
                    if final.left[s] != 0:
                        mixture = {(location, s, j): _float(g) for j, g in enumerate(final.right) if g != 0}
                        result.append((mixture, _float(final.left[s])))
            for edge in place.edges:
                columns = _columns(edge.right)
                for s in free:
                    if not edge.left.rows[s]:
                        continue
                    for j in range(places[edge.target].right_size):
                        terms: Terms = {(location, s, i): _float(x) for i, x in columns.get(j, ())}
                        limit = 0.0
                        for t, x in edge.left.rows[s]:
                            if (edge.target, t) not in self.kept:
                                entry = (edge.target, t, j)
                                terms[entry] = terms.get(entry, 0.0) - _float(x)
                            elif t == j:
                                limit += _float(x) / float(self.margins[edge.target])
                        result.append((terms, limit))
        return result

    def _bounding(self, vectors: Sequence[tuple[int, Reached]]) -> list[tuple[int, Terms, float, float]]:
        """``alpha X <= k beta`` for the vectors that any simulation may bound: which, terms, what is fixed, and beta."""
        result = []
        for number, (location, vector) in enumerate(vectors):
            total = sum(vector.left)
            alpha, beta = [x / total for x in vector.left], [y / total for y in vector.right]
            free = [s for s, x in enumerate(alpha) if x and (location, s) not in self.kept]
            if any(x and not beta[s] and s not in free for s, x in enumerate(alpha)):
                continue
            for j, y in enumerate(beta):
                fixed = alpha[j] / float(self.margins[location]) if (location, j) in self.kept else 0.0
                result.append((number, {(location, s, j): alpha[s] for s in free}, fixed, y))
        return result

    def _exactly(self, solution: NDArray[np.float64]) -> Simulation | None:
        """The solution in rationals, if it is a simulation."""
        matrices: dict[int, fmpq_mat] = {}
        for location in self.locations:
            place = self.problem.locations[location]
            matrix = fmpq_mat(place.left_size, place.right_size)
            for s in range(place.left_size):
                if (location, s) in self.kept:
                    matrix[s, s] = 1 / rational(self.margins[location])
                else:
                    for j in range(place.right_size):
                        x = float(solution[self.numbers[location, s, j]])
                        matrix[s, j] = fmpq(round(x * _STEP), _STEP) if x > _TINY else fmpq(0)
            matrices[location] = matrix
        if not is_simulation(self.problem, matrices):
            return None
        scales, rows = {}, {}
        for location, matrix in matrices.items():
            scale = scales[location] = lcm(1, *(int(x.q) for row in matrix.tolist() for x in row))
            rows[location] = tuple(tuple(int((x * scale).p) for x in row) for row in matrix.tolist())
        return Simulation(scales, rows)


def is_simulation(problem: WordProblem, matrices: Mapping[int, fmpq_mat]) -> bool:
    """Whether the inequalities of the definition hold, exactly."""
    for location, matrix in matrices.items():
        place = problem.locations[location]
        if any(x < 0 for row in matrix.tolist() for x in row):
            return False
        for final in place.finals:
            if not _below(_column(final.left), matrix * _column(final.right)):
                return False
        for edge in place.edges:
            if not _below(_dense(edge.left) * matrices[edge.target], matrix * _dense(edge.right)):
                return False
    return True


def _below(one: fmpq_mat, other: fmpq_mat) -> bool:
    return all(x <= y for x, y in zip(one.entries(), other.entries(), strict=True))


def _column(vector: Vector) -> fmpq_mat:
    return fmpq_mat(len(vector), 1, list(vector))


def _dense(matrix: Matrix) -> fmpq_mat:
    result = fmpq_mat(len(matrix.rows), matrix.columns)
    for i, row in enumerate(matrix.rows):
        for j, entry in row:
            result[i, j] = entry
    return result


def _columns(matrix: Matrix) -> dict[int, list[tuple[int, fmpq]]]:
    result: dict[int, list[tuple[int, fmpq]]] = {}
    for i, row in enumerate(matrix.rows):
        for j, entry in row:
            result.setdefault(j, []).append((i, entry))
    return result


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def _onward(problem: WordProblem, roots: set[int]) -> list[int]:
    """The locations that can be reached, in order."""
    return sorted(reachable(roots, lambda location: [edge.target for edge in problem.locations[location].edges]))


def _recurrent(problem: WordProblem, locations: Sequence[int]) -> frozenset[tuple[int, int]]:
    """The pairs of location and left state that go on, and to which everything that follows them leads back."""
    onward = {
        (location, s): {(edge.target, t) for edge in problem.locations[location].edges for t, _ in edge.left.rows[s]}
        for location in locations
        for s in range(problem.locations[location].left_size)
    }
    groups = [set(group) for group in components(onward, onward.__getitem__)]
    return frozenset(
        node for group in groups for node in group if onward[node] and all(onward[other] <= group for other in group)
    )
