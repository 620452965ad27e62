"""Sparse matrices of rationals with non-negative entries in mind: frozen rows, and the row-vector product."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import TypeAlias

from flint import fmpq, fmpz_mat

from privproof.exact.rationals import ZERO, Rational

Vector: TypeAlias = tuple[Rational, ...]

_DENSE_ENTRIES = 1_000_000
"""Matrices with more entries, or with few that are not zero, are multiplied row by row, without a dense copy: 8 MB for one."""
_WIDE = 30
"""Columns from which on even a single vector is multiplied faster by the dense copy than by loops."""


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix: for every row the pairs (column, entry), entries not zero, columns ascending.

    >>> from privproof.exact import rational as q
    >>> m = Matrix.of(2, [{0: q("1/2"), 1: q("1/2")}, {}])
    >>> m.after((q(1), q(5)))
    (1/2, 1/2)
    """

    columns: int
    rows: tuple[tuple[tuple[int, Rational], ...], ...]

    @classmethod
    def of(cls, columns: int, rows: Iterable[Mapping[int, Rational]]) -> Matrix:
        """A matrix from one mapping (column to entry) a row; zeros are dropped."""
        return cls(columns, tuple(tuple(sorted((j, e) for j, e in row.items() if e != 0)) for row in rows))

    @classmethod
    def diagonal(cls, entries: Sequence[Rational]) -> Matrix:
        """The diagonal matrix of the entries."""
        return cls.of(len(entries), ({i: e} for i, e in enumerate(entries)))

    def after(self, vector: Sequence[Rational]) -> Vector:
        """The row vector ``vector * self``."""
        result = [ZERO] * self.columns
        for weight, row in zip(vector, self.rows, strict=True):
            if weight != 0:
                for column, entry in row:
                    result[column] += weight * entry
        return tuple(result)

    def before(self, vector: Sequence[Rational]) -> Vector:
        """The column vector ``self * vector``."""
        return tuple(sum((entry * vector[column] for column, entry in row), ZERO) for row in self.rows)

    def scaled_columns(self, factors: Sequence[Rational]) -> Matrix:
        """Every column times its factor."""
        return Matrix.of(self.columns, ({j: e * factors[j] for j, e in row} for row in self.rows))

    @cached_property
    def denominator(self) -> int:
        """The least common denominator of the entries."""
        return lcm(1, *(int(entry.q) for row in self.rows for _, entry in row))

    @cached_property
    def integers(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The rows times the denominator."""
        scale = self.denominator
        return tuple(tuple((j, int(e.p) * (scale // int(e.q))) for j, e in row) for row in self.rows)

    @cached_property
    def dense(self) -> tuple[list[int], fmpz_mat] | None:
        """A factor for every row, and the rows of the integers without them; None where that would be large, or mostly zeros.

        A row has few digits on its own denominator, however many the common one has.
        """
        size = len(self.rows) * self.columns
        if size > _DENSE_ENTRIES or 6 * sum(map(len, self.rows)) <= size:
            return None
        factors, entries = [], [0] * size
        for i, row in enumerate(self.rows):
            scale = lcm(1, *(int(entry.q) for _, entry in row))
            factors.append(self.denominator // scale)
            for j, entry in row:
                entries[i * self.columns + j] = int(entry.p) * (scale // int(entry.q))
        return factors, fmpz_mat(len(self.rows), self.columns, entries)

    def times(self, vectors: Sequence[Sequence[int]]) -> list[list[int]]:
        """Every row vector of integers times the integers of the matrix, which are its entries times the denominator.

        >>> Matrix.of(2, [{0: fmpq(1, 2), 1: fmpq(1, 3)}, {1: fmpq(1)}]).times([[1, 1], [0, 5]])
        [[3, 8], [0, 30]]
        """
        if (len(vectors) > 1 or self.columns >= _WIDE) and self.dense is not None:
            factors, rows = self.dense
            scaled = [x * factor for vector in vectors for x, factor in zip(vector, factors, strict=True)]
            stacked = fmpz_mat(len(vectors), len(factors), scaled)
            return [[int(x) for x in row] for row in (stacked * rows).tolist()]
        return [self._sparsely(vector) for vector in vectors]

    def _sparsely(self, vector: Sequence[int]) -> list[int]:
        result = [0] * self.columns
        for weight, row in zip(vector, self.integers, strict=True):
            if weight:
                for column, entry in row:
                    result[column] += weight * entry
        return result

    @property
    def is_zero(self) -> bool:
        """Whether every entry is zero."""
        return not any(self.rows)


def along(vector: Sequence[Rational], matrices: Iterable[Matrix]) -> Vector:
    """The row vector times one matrix after the other, in integers until the end.

    >>> from privproof.exact import rational as q
    >>> along((q(1), q(0)), [Matrix.of(2, [{0: q("1/2"), 1: q("1/3")}, {}])] * 1)
    (1/2, 1/3)
    """
    scale = lcm(1, *(int(x.q) for x in vector))
    current = [int(x.p) * (scale // int(x.q)) for x in vector]
    for matrix in matrices:
        (current,) = matrix.times([current])
        scale *= matrix.denominator
    return tuple(fmpq(x, scale) for x in current)


def dot(left: Sequence[Rational], right: Sequence[Rational]) -> Rational:
    """The inner product."""
    return sum((x * y for x, y in zip(left, right, strict=True) if x != 0 and y != 0), ZERO)
