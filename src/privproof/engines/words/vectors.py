"""The vectors of a search: pairs of non-negative integer rows (alpha, beta), scale left out, and their products with letters.

After the word u the left and right vectors are ``a A_u`` and ``b B_u``.  Only their direction matters, jointly: all entries are kept
as coprime integers.  With a delta the scale matters too; it is the third part, `weight`: (alpha, beta, weight) stands for
``(alpha, beta)/weight`` with total scale one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, inf, lcm

from flint import fmpz_mat

from privproof.exact import Rational
from privproof.exact.matrices import Matrix
from privproof.models import Letter

Integers = tuple[int, ...]

_DENSE_ENTRIES = 60_000
"""Matrices with more entries, or with few that are not zero, are multiplied row by row, without a dense copy."""


@dataclass(frozen=True, eq=False, slots=True)
class Reached:
    """A vector reached by a word: the vector, the way there, and the scale: the parent's product is `scale` times the vector."""

    left: Integers
    right: Integers
    weight: int
    start: int
    letter: Letter | None = None
    parent: Reached | None = None
    scale: Fraction = Fraction(1)

    def word(self) -> tuple[Letter, ...]:
        """The letters of the word that reaches this vector."""
        letters: list[Letter] = []
        at: Reached | None = self
        while at is not None and at.letter is not None:
            letters.append(at.letter)
            at = at.parent
        return tuple(reversed(letters))

    @property
    def changes(self) -> int:
        """How many inputs differ along the way."""
        return sum(letter.changed for letter in self.word())


def _reached(
    left: Sequence[int],
    right: Sequence[int],
    weight: int,
    scale: int,
    start: int,
    letter: Letter | None,
    parent: Reached | None,
) -> Reached:
    """The vector in coprime integers; `scale` is what the integers given were multiplied by."""
    divisor = gcd(weight, *left, *right) or 1
    if divisor > 1:
        left, right, weight = [x // divisor for x in left], [x // divisor for x in right], weight // divisor
    return Reached(tuple(left), tuple(right), weight, start, letter, parent, Fraction(divisor, scale))


def initial(start: int, left: Sequence[Rational], right: Sequence[Rational], *, weighted: bool) -> Reached:
    """The vector of a start, before any letter."""
    scale = lcm(1, *(int(x.q) for x in left), *(int(x.q) for x in right))
    whole_left, whole_right = (
        [int(x.p) * (scale // int(x.q)) for x in left],
        [int(x.p) * (scale // int(x.q)) for x in right],
    )
    return _reached(whole_left, whole_right, scale if weighted else 0, scale, start, None, None)


def quotient(above: int, below: int) -> float:
    """The quotient, rounded; infinite where only `below` is zero, and at most 1e300 otherwise."""
    if above == 0:
        return 0.0
    if below == 0:
        return inf
    return above / below if above.bit_length() - below.bit_length() < 990 else 1e300


def potential(vector: Reached) -> float:
    """The quotient of sums: never smaller for a vector that dominates another."""
    return quotient(sum(vector.left), sum(vector.right))


def rounded(vector: Reached, bits: int) -> Reached:
    """A vector of shorter numbers that dominates the vector: left entries rounded up, right ones down.

    The smallest entry keeps `bits` binary digits, so that every entry moves by a factor of less than ``1 + 2^(1-bits)``, and none
    becomes zero.

    >>> rounded(Reached((1023, 0), (1027, 512), 0, 0), 4)
    Reached(left=(16, 0), right=(16, 8), weight=0, start=0, letter=None, parent=None, scale=Fraction(64, 1))
    """
    shift = min((x.bit_length() for x in (*vector.left, *vector.right) if x), default=0) - bits
    if shift <= 0:
        return vector
    left = tuple(-(-x >> shift) for x in vector.left)
    right = tuple(x >> shift for x in vector.right)
    return replace(vector, left=left, right=right, scale=vector.scale * 2**shift)


class Product:
    """Multiplication of many vectors at once by the two matrices of a letter."""

    def __init__(self, left: Matrix, right: Matrix) -> None:
        self.scale = lcm(left.denominator, right.denominator)
        self._left = _Factor(left, self.scale)
        self._right = self._left if right is left else _Factor(right, self.scale)

    def __call__(self, vectors: Sequence[Reached], letter: Letter) -> list[Reached | None]:
        """The vectors after the letter, in order; None where the left part vanishes."""
        result: list[Reached | None] = []
        lefts = self._left(tuple(v.left for v in vectors))
        rights = self._right(tuple(v.right for v in vectors))
        for vector, left, right in zip(vectors, lefts, rights, strict=True):
            if not any(left):
                result.append(None)
            else:
                result.append(
                    _reached(left, right, vector.weight * self.scale, self.scale, vector.start, letter, vector)
                )
        return result


class _Factor:
    """An integer matrix, dense (flint) where that is small, else by sparse rows."""

    def __init__(self, matrix: Matrix, scale: int) -> None:
        self.columns = matrix.columns
        self.rows = [[(j, entry * (scale // matrix.denominator)) for j, entry in row] for row in matrix.integers]
        filled = sum(map(len, self.rows))
        size = len(self.rows) * self.columns
        self.dense: fmpz_mat | None = None
        if size <= _DENSE_ENTRIES and filled * 6 > size:
            entries = [0] * size
            for i, row in enumerate(self.rows):
                for j, entry in row:
                    entries[i * self.columns + j] = entry
            self.dense = fmpz_mat(len(self.rows), self.columns, entries)

    def __call__(self, vectors: Sequence[Integers]) -> list[list[int]]:
        if self.dense is not None and len(vectors) > 1:
            stacked = fmpz_mat(len(vectors), len(self.rows), [x for vector in vectors for x in vector])
            return [[int(x) for x in row] for row in (stacked * self.dense).tolist()]
        return [self._sparse(vector) for vector in vectors]

    def _sparse(self, vector: Integers) -> list[int]:
        result = [0] * self.columns
        for weight, row in zip(vector, self.rows, strict=True):
            if weight:
                for j, entry in row:
                    result[j] += weight * entry
        return result
