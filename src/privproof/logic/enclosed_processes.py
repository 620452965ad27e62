"""Probabilities on a large graph in floating point, each with a rigorous bound on its error.

A vector is a pair of arrays, middles and radii: the true number lies between middle minus radius and middle plus radius.  Sums of
non-negative products carry the textbook bound on rounding.  A linear system ``x = A x + b`` is solved by a sparse factorisation
without any guarantee, and then enclosed: if ``v > 0`` and ``(I - A) v >= c > 0`` then ``I - A`` is a non-singular M-matrix, its
inverse is non-negative, and an approximation whose residual is at most ``η c`` is within ``η v`` of the solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from privproof.engines.search_monitor import Monitor
from privproof.exact import Rational, from_float
from privproof.logic.decision_process import Bools, Ints, Probability, bounds
from privproof.logic.exact_solving import TooLarge
from privproof.logic.process_graphs import ProcessGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats: TypeAlias = NDArray[np.float64]

_UNIT = 2.0**-52
"""The rounding unit of doubles, twice: error bounds count with it instead of 2^-53 to be on the safe side."""
_TINY = 1e-290
"""Added to every radius, for products that underflow to zero."""
_LARGEST_PART = 20_000
"""Strongly connected parts with more states are not factored, which would fill the memory, but iterated."""


@dataclass(frozen=True, eq=False)
class BallColumns:
    """Middles and radii."""

    middle: Floats
    radius: Floats


class Enclosed:
    """Vectors are balls of floats, one for every node of a graph."""

    exact = False

    def __init__(self, numbers: Sequence[Probability], monitor: Monitor) -> None:
        ends = [bounds(number) for number in numbers]
        self.numbers = np.array([float((low + high) / 2) for low, high in ends], np.float64)
        widths = [float((high - low) / (low + high)) if high != 0 else 0.0 for low, high in ends]
        self.relative = 2 * _UNIT + 1.01 * max(widths, default=0.0)
        self.monitor = monitor
        self._last: tuple[ProcessGraph, csr_matrix] | None = None
        self._sliced: list[tuple[Ints, csr_matrix]] = []

    def _matrix(self, graph: ProcessGraph) -> csr_matrix:
        from scipy.sparse import csr_matrix

        if self._last is None or self._last[0] is not graph:
            shape = (len(graph), len(graph))
            self._sliced = []
            self._last = (graph, csr_matrix((self.numbers[graph.values], graph.targets, graph.rows), shape=shape))
        return self._last[1]

    def indicator(self, nodes: Bools) -> BallColumns:
        """One where the nodes are, zero elsewhere."""
        return BallColumns(nodes.astype(np.float64), np.zeros(len(nodes)))

    def masked(self, vector: BallColumns, nodes: Bools) -> BallColumns:
        """The vector where the nodes are, zero elsewhere."""
        return BallColumns(np.where(nodes, vector.middle, 0.0), np.where(nodes, vector.radius, 0.0))

    def difference(self, left: BallColumns, right: BallColumns) -> BallColumns:
        """Left minus right, for left at least right."""
        middle = left.middle - right.middle
        rounded = np.where((right.middle == 0) | (middle == 0), 0.0, _UNIT * np.abs(middle))
        return BallColumns(middle, (left.radius + right.radius + rounded) * (1 + 4 * _UNIT))

    def select(self, vector: BallColumns, indices: Ints) -> BallColumns:
        """The entries at the indices."""
        return BallColumns(vector.middle[indices], vector.radius[indices])

    def pinned(self, vector: BallColumns, ones: Bools, zeros: Bools) -> BallColumns:
        """The vector with numbers that are known to be one or zero put there exactly."""
        middle = np.where(ones, 1.0, np.where(zeros, 0.0, vector.middle))
        return BallColumns(middle, np.where(ones | zeros, 0.0, vector.radius))

    def joined(self, first: BallColumns, second: BallColumns) -> BallColumns:
        """One vector after the other."""
        return BallColumns(np.concatenate([first.middle, second.middle]), np.concatenate([first.radius, second.radius]))

    def chosen(self, parts: Sequence[tuple[Bools, BallColumns]], count: int) -> BallColumns:
        """The vector put together from parts, each given where its nodes are."""
        middle, radius = np.zeros(count), np.zeros(count)
        for nodes, vector in parts:
            np.copyto(middle, vector.middle, where=nodes)
            np.copyto(radius, vector.radius, where=nodes)
        return BallColumns(middle, radius)

    def step(self, graph: ProcessGraph, vector: BallColumns, nodes: Bools) -> BallColumns:
        """The expected value after one step, for the nodes; zero elsewhere."""
        self.monitor.pause()
        matrix = self._matrix(graph)
        chosen = np.flatnonzero(nodes)
        if 2 * len(chosen) < len(graph):
            return self._step_at(graph, self._rows(graph, chosen), vector, chosen)
        middle = np.asarray(matrix @ vector.middle, np.float64)
        size = matrix @ np.abs(vector.middle)
        spread = matrix @ vector.radius
        error = self._rounding(graph)
        radius = (spread * (1 + error) + error * size) * (1 + 8 * _UNIT) + _TINY
        return self.masked(BallColumns(middle, radius), nodes)

    def _rows(self, graph: ProcessGraph, chosen: Ints) -> csr_matrix:
        for known, rows in self._sliced:
            if np.array_equal(known, chosen):
                return rows
        self._sliced.append((chosen, self._matrix(graph)[chosen]))
        return self._sliced[-1][1]

    def _step_at(self, graph: ProcessGraph, matrix: csr_matrix, vector: BallColumns, chosen: Ints) -> BallColumns:
        error = self._rounding(graph)[chosen]
        middle, radius = np.zeros(len(graph)), np.zeros(len(graph))
        middle[chosen] = matrix @ vector.middle
        size, spread = matrix @ np.abs(vector.middle), matrix @ vector.radius
        radius[chosen] = (spread * (1 + error) + error * size) * (1 + 8 * _UNIT) + _TINY
        return BallColumns(middle, radius)

    def stepped(self, graph: ProcessGraph, vector: BallColumns, times: int) -> BallColumns:
        """The expected value after so many steps."""
        everywhere = np.ones(len(graph), np.bool_)
        for _ in range(times):
            vector = self.step(graph, vector, everywhere)
        return vector

    def repeated(self, graph: ProcessGraph, goal: Bools, through: Bools, times: int) -> BallColumns:
        """The probability of reaching the goal within so many steps, through some other nodes."""
        chosen = np.flatnonzero(through)
        matrix = self._matrix(graph)[chosen]
        error = self._rounding(graph)[chosen]
        middle, radius = goal.astype(np.float64), np.zeros(len(graph))
        for _ in range(times):
            self.monitor.pause()
            expected, spread = matrix @ middle, matrix @ radius  # middles are not negative
            middle[chosen] = expected
            radius[chosen] = (spread * (1 + error) + error * expected) * (1 + 8 * _UNIT) + _TINY
        return BallColumns(middle, radius)

    def solve(self, graph: ProcessGraph, known: BallColumns, unknown: Bools) -> BallColumns:
        """The vector that is the expected value after one step at unknown nodes, and known elsewhere."""
        from scipy.sparse import csr_matrix

        self.monitor.pause()
        order, starts = graph.order(unknown)
        if not len(order):
            return known
        outer = self.step(graph, self.masked(known, ~unknown), unknown)
        place = np.full(len(graph), -1, np.int64)
        place[order] = np.arange(len(order))
        inside = unknown[graph.sources] & unknown[graph.targets]
        tails, heads = place[graph.sources[inside]], place[graph.targets[inside]]
        weights = self.numbers[graph.values[inside]]
        shape = (len(order), len(order))
        inner = csr_matrix((weights, (tails, heads)), shape=shape)
        goal, width = outer.middle[order], outer.radius[order]
        largest = int(np.diff(starts).max())
        solution, times = self._approximate(inner, goal, largest)
        error = self._rounding(graph)[order]
        reached = inner @ times
        margin = times - reached - error * (times + reached) * (1 + 8 * _UNIT) - _TINY
        if not (np.all(times > 0) and np.all(margin > 0)):
            raise TooLarge
        step = inner @ solution
        size = np.abs(solution) + inner @ np.abs(solution) + np.abs(goal)
        residual = np.abs(solution - step - goal) + error * size * (1 + 8 * _UNIT) + width + _TINY
        scale = float(np.max(residual / margin)) * (1 + 8 * _UNIT)
        if not np.isfinite(scale):
            raise TooLarge
        middle, radius = known.middle.copy(), known.radius.copy()
        middle[order] = solution
        radius[order] = scale * times * (1 + 8 * _UNIT)
        return BallColumns(middle, radius)

    def _approximate(self, inner: csr_matrix, goal: Floats, largest: int) -> tuple[Floats, Floats]:
        """Approximate solutions of ``x = A x + goal`` and ``v = A v + 1``; nothing is promised about them."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import bicgstab, splu

        size = len(goal)
        diagonal = np.arange(size)
        entries = inner.tocoo()
        system = csc_matrix(
            (
                np.concatenate([np.ones(size), -entries.data]),
                (np.concatenate([diagonal, entries.row]), np.concatenate([diagonal, entries.col])),
            ),
            shape=(size, size),
        )
        if largest <= _LARGEST_PART:
            try:
                factors = splu(
                    system,
                    permc_spec="NATURAL" if largest <= 200 else "COLAMD",
                    diag_pivot_thresh=0.0 if largest <= 200 else 1.0,
                    options={"SymmetricMode": largest <= 200},
                )
            except (RuntimeError, MemoryError):
                raise TooLarge from None
            return factors.solve(goal), factors.solve(np.ones(size))
        solution, _ = bicgstab(system, goal, rtol=1e-14, maxiter=5_000)
        times, _ = bicgstab(system, np.ones(size), rtol=1e-8, maxiter=5_000)
        return solution, times

    def totals(self, owner: Ints, count: int, vector: BallColumns, nodes: Bools) -> BallColumns:
        """For every owner the sum of the vector over its nodes."""
        owners = owner[nodes]
        many = int(np.bincount(owners, minlength=1).max()) if len(owners) else 0
        middle = np.bincount(owners, weights=vector.middle[nodes], minlength=count).astype(np.float64)
        size = np.bincount(owners, weights=np.abs(vector.middle[nodes]), minlength=count)
        radius = np.bincount(owners, weights=vector.radius[nodes], minlength=count)
        return BallColumns(middle, (radius + many * _UNIT * size) * (1 + (many + 8) * _UNIT))

    def ends(self, vector: BallColumns) -> tuple[Floats, Floats]:
        """Floats that enclose every number."""
        low, high = vector.middle - vector.radius, vector.middle + vector.radius
        loose = vector.radius > 0
        low, high = np.where(loose, np.nextafter(low, -1.0), low), np.where(loose, np.nextafter(high, 2.0), high)
        return np.maximum(low, 0.0), np.minimum(high, 1.0)

    def bounds(self, vector: BallColumns, index: int) -> tuple[Rational, Rational]:
        """Rationals that enclose one number."""
        middle, radius = from_float(float(vector.middle[index])), from_float(float(vector.radius[index]))
        return max(middle - radius, fmpq(0)), min(middle + radius, fmpq(1))

    def _rounding(self, graph: ProcessGraph) -> Floats:
        """A bound on the relative error of a sum over a node's edges: of the numbers themselves and of rounding."""
        return self.relative + (np.diff(graph.rows) + 4) * _UNIT
