"""Solving ``x = A x + b`` in floating point where every run leaves: sparse factors, part by part; nothing is promised about the result.

The strongly connected parts are put in an order in which each comes after those it leads to, and neighbouring small parts are taken
together.  ``I - A`` restricted to parts is a non-singular M-matrix, which needs no pivoting.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from privproof.engines.logic.enclosed import Floats
from privproof.engines.logic.exactly import TooLarge
from privproof.engines.logic.graphs import Graph
from privproof.engines.monitor import Monitor

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SMALL = 200
"""States of a part; smaller ones are taken together, in their natural order, which fills little."""
_WINDOW = 50_000
"""States of parts that are taken together."""
_LARGEST = 1_500_000
"""States of one part; beyond it the factors would not fit into the memory of a usual machine."""


class Factors:
    """The factors of ``I - A``."""

    def __init__(self, matrix: csr_matrix, monitor: Monitor) -> None:
        from scipy.sparse import identity
        from scipy.sparse.linalg import splu

        count = matrix.shape[0]
        graph = Graph(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), np.zeros(len(matrix.indices), np.int64)
        )
        self._order, starts = graph.order(np.ones(count, np.bool_))
        self._matrix = matrix[self._order][:, self._order].tocsr()
        self._windows: list[tuple[int, int, Any]] = []
        for begin, end, large in _windows(starts.tolist()):
            monitor.pause()
            if large and end - begin > _LARGEST:
                raise TooLarge("a strongly connected part is too large")
            part = (identity(end - begin, format="csc") - self._matrix[begin:end, begin:end]).tocsc()
            try:
                factors = splu(
                    part,
                    permc_spec="MMD_AT_PLUS_A" if large else "NATURAL",
                    diag_pivot_thresh=0.0,
                    options={"SymmetricMode": True},
                )
            except (RuntimeError, MemoryError):
                raise TooLarge("a system of equations has no factors") from None
            self._windows.append((begin, end, factors))
        self._monitor = monitor

    def solve(self, right: Floats) -> Floats:
        """The approximate solution for one right side."""
        given = right[self._order]
        found = np.zeros(len(given))
        for begin, end, factors in self._windows:
            self._monitor.pause()
            found[begin:end] = factors.solve(given[begin:end] + self._matrix[begin:end] @ found)
        result = np.empty(len(given))
        result[self._order] = found
        if not np.isfinite(result).all():
            raise TooLarge("a system of equations has no solution in floating point")
        return result


def _windows(starts: list[int]) -> list[tuple[int, int, bool]]:
    """Ranges of states that are factored together, and whether a range is one large part."""
    found: list[tuple[int, int, bool]] = []
    begin = 0
    for first, last in pairwise(starts):
        if last - first >= _SMALL:
            if begin < first:
                found.append((begin, first, False))
            found.append((first, last, True))
            begin = last
        elif last - begin >= _WINDOW:
            found.append((begin, last, False))
            begin = last
    if begin < starts[-1]:
        found.append((begin, starts[-1], False))
    return found
