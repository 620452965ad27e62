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

from privproof.exact import Rational
from privproof.exact.rational_matrices import Matrix
from privproof.models import Letter

Integers = tuple[int, ...]


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


def _coprime_vector(
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
    return _coprime_vector(whole_left, whole_right, scale if weighted else 0, scale, start, None, None)


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


def round_outwards(vector: Reached, bits: int) -> Reached:
    """A vector of shorter numbers that dominates the vector: left entries rounded up, right ones down.

    The smallest entry keeps `bits` binary digits, so that every entry moves by a factor of less than ``1 + 2^(1-bits)``, and none
    becomes zero.

    >>> round_outwards(Reached((1023, 0), (1027, 512), 0, 0), 4)
    Reached(left=(16, 0), right=(16, 8), weight=0, start=0, letter=None, parent=None, scale=Fraction(64, 1))
    """
    shift = min((x.bit_length() for x in (*vector.left, *vector.right) if x), default=0) - bits
    if shift <= 0:
        return vector
    left = tuple(-(-x >> shift) for x in vector.left)
    right = tuple(x >> shift for x in vector.right)
    return replace(vector, left=left, right=right, scale=vector.scale * 2**shift)


class TensorProduct:
    """Multiplication of many vectors at once by the two matrices of a letter."""

    def __init__(self, left: Matrix, right: Matrix) -> None:
        self.scale = lcm(left.denominator, right.denominator)
        self._left, self._right = left, right

    def __call__(self, vectors: Sequence[Reached], letter: Letter) -> list[Reached | None]:
        """The vectors after the letter, in order; None where the left part vanishes."""
        result: list[Reached | None] = []
        lefts = self._times(self._left, [v.left for v in vectors])
        rights = self._times(self._right, [v.right for v in vectors])
        for vector, left, right in zip(vectors, lefts, rights, strict=True):
            if not any(left):
                result.append(None)
            else:
                result.append(
                    _coprime_vector(left, right, vector.weight * self.scale, self.scale, vector.start, letter, vector)
                )
        return result

    def _times(self, matrix: Matrix, vectors: Sequence[Integers]) -> list[list[int]]:
        products, factor = matrix.times(vectors), self.scale // matrix.denominator
        return products if factor == 1 else [[factor * x for x in row] for row in products]
