"""Small linear programs, solved exactly: the simplex method on rational numbers, with Bland's rule, so that it ends."""

from __future__ import annotations

from collections.abc import Sequence

from privproof.exact import ONE, ZERO, Rational


def least(
    costs: Sequence[Rational], rows: Sequence[Sequence[Rational]], values: Sequence[Rational]
) -> list[Rational] | None:
    """The x with ``rows x = values`` and ``x >= 0`` whose cost is least; None if there is none, or none is least.

    >>> from privproof.exact import rational
    >>> least([rational(1), rational(2)], [[rational(1), rational(1)]], [rational(3)])
    [3, 0]
    """
    width = len(costs)
    table = []
    for number, (row, value) in enumerate(zip(rows, values, strict=True)):
        sign = -ONE if value < 0 else ONE
        artificial = [ONE if k == number else ZERO for k in range(len(rows))]
        table.append([*(sign * a for a in row), *artificial, sign * value])
    basis = [width + k for k in range(len(rows))]
    first = [*(ZERO for _ in range(width)), *(ONE for _ in rows)]
    if not _descend(table, basis, first, width + len(rows)):
        return None
    if any(table[k][-1] != 0 for k, column in enumerate(basis) if column >= width):
        return None
    _drive_out(table, basis, width)
    if not _descend(table, basis, [*costs, *(ZERO for _ in rows)], width):
        return None
    result = [ZERO] * width
    for k, column in enumerate(basis):
        if column < width:
            result[column] = table[k][-1]
    return result


def _descend(table: list[list[Rational]], basis: list[int], costs: Sequence[Rational], usable: int) -> bool:
    """Pivot until no column lowers the cost; False if it can be lowered without end."""
    while True:
        entering = -1
        for column in range(usable):
            if column in basis:
                continue
            reduced = costs[column]
            for k, row in enumerate(table):
                if row[column] != 0:
                    reduced -= costs[basis[k]] * row[column]
            if reduced < 0:
                entering = column
                break
        if entering < 0:
            return True
        leaving, ratio = -1, ZERO
        for k, row in enumerate(table):
            if row[entering] > 0:
                bound = row[-1] / row[entering]
                if leaving < 0 or bound < ratio or (bound == ratio and basis[k] < basis[leaving]):
                    leaving, ratio = k, bound
        if leaving < 0:
            return False
        _pivot(table, basis, leaving, entering)


def _drive_out(table: list[list[Rational]], basis: list[int], width: int) -> None:
    """Take artificial columns out of the basis where they can be; a row without any other column says nothing."""
    for k in range(len(basis)):
        if basis[k] >= width:
            column = next((j for j in range(width) if table[k][j] != 0), None)
            if column is not None:
                _pivot(table, basis, k, column)


def _pivot(table: list[list[Rational]], basis: list[int], leaving: int, entering: int) -> None:
    scale = table[leaving][entering]
    table[leaving] = [entry / scale for entry in table[leaving]]
    pivot = table[leaving]
    for k, row in enumerate(table):
        if k != leaving and row[entering] != 0:
            factor = row[entering]
            table[k] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
    basis[leaving] = entering
