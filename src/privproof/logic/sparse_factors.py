"""Solving ``x = A x + b`` in floating point where every run leaves: part by part, by sparse factors or by iteration; nothing is promised.

The strongly connected parts are put in an order in which each comes after those it leads to, and neighbouring small parts are taken
together.  ``I - A`` restricted to parts is a non-singular M-matrix, which needs no pivoting.  The factors of a large part fill up where it
mixes fast, and just there an iteration (BiCGSTAB) ends soon; so it is tried first.  Factoring cannot be interrupted: where a time limit
leaves no room for it, sweeps are made until the time is over.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.logic.enclosed_processes import Floats
from privproof.logic.exact_solving import TooLarge
from privproof.logic.process_graphs import parts_in_order

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SMALL = 200
"""States of a part; smaller ones are taken together, in their natural order, which fills little."""
_WINDOW = 50_000
"""States of parts that are taken together."""
_ITERATED = 20_000
"""States of parts that are factored at once; for larger ones an iteration is tried first."""
_ITERATIONS = 100
"""Of an iteration that is tried: where it mixes fast far fewer are needed."""
_CLOSE = 1e-7
"""The relative residual at which an iteration ends; a second and a third one are about what it has left."""
_SECONDS = 150.0
"""What factoring a part of a million states may take on a slow machine; it grows with the power 3/2 of the states."""
_LARGEST = 1_500_000
"""States of one part; beyond it the factors would not fit into the memory of a usual machine."""


class _Large:
    """One large part."""

    def __init__(self, matrix: csr_matrix, monitor: Monitor) -> None:
        self._matrix, self._monitor = matrix, monitor
        self._factors: Any = None

    def solve(self, right: Floats) -> Floats:
        from scipy.sparse import identity

        size = len(right)
        if self._factors is None:
            system = (identity(size, format="csr") - self._matrix).tocsr()
            found, missed = self._approached(system, right)
            if not missed:
                for _ in range(2):  # what is left, as far as rounding allows
                    more, missed = self._approached(system, np.asarray(right - system @ found, np.float64))
                    if missed:
                        break
                    found = found + more
                return found
            self._make_room(size)
            self._factors = _factor_system(system, large=True)
        return np.asarray(self._factors.solve(right), np.float64)

    def _approached(self, system: csr_matrix, right: Floats) -> tuple[Floats, bool]:
        """What an iteration comes to, and whether it has missed its aim."""
        from scipy.sparse.linalg import bicgstab

        size = float(np.max(np.abs(right)))
        if size == 0.0:
            return right, False
        # of size one, for the iteration takes small numbers for its end
        found, missed = bicgstab(
            system, right / size, rtol=_CLOSE, maxiter=_ITERATIONS, callback=lambda _: self._monitor.pause()
        )
        result = np.asarray(found, np.float64).reshape(-1) * size
        return result, bool(missed) or not bool(np.isfinite(result).all())

    def _make_room(self, size: int) -> None:
        """Return where a part of this size can be factored within the limits; otherwise go on until the time is over."""
        if size > _LARGEST:
            raise TooLarge("a strongly connected part is too large")
        deadline = self._monitor.deadline
        vector: Any = np.ones(size)
        while deadline is not None and deadline - time.monotonic() < _SECONDS * (size / 1e6) ** 1.5:
            self._monitor.pause()
            vector = self._matrix @ vector


def _factor_system(system: csr_matrix, *, large: bool) -> Any:
    from scipy.sparse.linalg import splu

    try:
        return splu(
            system.tocsc(),
            permc_spec="MMD_AT_PLUS_A" if large else "NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except (RuntimeError, MemoryError):
        raise TooLarge("a system of equations has no factors") from None


class Factors:
    """The factors of ``I - A``."""

    def __init__(self, matrix: csr_matrix, monitor: Monitor) -> None:
        from scipy.sparse import identity

        self._order, starts = parts_in_order(matrix)
        self._matrix = matrix[self._order]
        place = np.empty(len(self._order), self._matrix.indices.dtype)
        place[self._order] = np.arange(len(place), dtype=place.dtype)
        self._matrix.indices[:] = place[self._matrix.indices]  # in place: a second permuted copy would be large
        self._matrix.has_sorted_indices = False
        self._matrix.sort_indices()
        self._windows: list[tuple[int, int, Any]] = []
        for begin, end, large in _windows(starts.tolist()):
            monitor.pause()
            part = self._matrix[begin:end, begin:end]
            factors: Any
            if large and end - begin > _ITERATED:
                factors = _Large(part, monitor)
            else:
                factors = _factor_system((identity(end - begin, format="csr") - part).tocsr(), large=large)
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
