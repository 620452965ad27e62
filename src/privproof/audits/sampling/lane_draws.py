"""Drawing noise for many runs at once; exactly, where it is discrete.

An outcome of a table is found from random bits: the bits drawn so far are the beginning of a uniform number between 0 and 1, and as soon
as all numbers that begin so fall on one outcome, it is drawn.  Sixteen bits settle nearly every run, sixty-two nearly all of the
others; the rest is settled with whole numbers of any length.  Nothing is rounded, whatever the denominators (Knuth and Yao 1976).
The two-sided geometric law is a table of the values near its center and two tails; a tail is geometric again, so it is drawn as a
table of the values near its own end and a tail, and so on.  The probabilities of discrete Gaussian noise are irrational: its table has
their first 128 binary digits, and what is missing, rarer than 2^-100, is drawn by the sampler that runs.
"""

from __future__ import annotations

import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil, isqrt, lcm
from typing import Any

import numpy as np
from flint import arb

from privproof.audits.sampling.column_operations import apply
from privproof.audits.sampling.lane_joining import reorder_column
from privproof.audits.sampling.sample_columns import (
    Array,
    Column,
    NumberColumn,
    Same,
    as_floats,
    distinct,
    from_table,
    groups,
    identity,
    numeric_array,
)
from privproof.exact import rational
from privproof.exact.balls import precision, rational_bounds
from privproof.language.laws import (
    TRUNCATED,
    WEIGHED,
    WHOLE,
    Continuous,
    DiscreteGaussian,
    Geometric,
    Law,
    Shaped,
    TableLaw,
    draw_by_scores,
)
from privproof.language.noise import NOISES
from privproof.language.randomness import discrete_normal, drawing_from
from privproof.language.values import plain

_FIRST, _SECOND = 16, 62
"""Random bits that a draw begins with, and that are added while they leave the outcome open; nothing is rounded."""
_DIGITS = 128
"""Binary digits of the probabilities of discrete Gaussian noise that are kept in a table."""
_WIDEST = 20_000
"""Such a table reaches so far on each side; wider noise is drawn one by one."""
_RARE = Fraction(1, 2**12)
"""A table of geometric noise reaches so far that what lies beyond is rarer than this, and is drawn in a second step."""
_FARTHEST = 256
"""It has at most so many entries on each side."""
_LONGEST = 2**13
"""Binary digits of the last entry, about: its numbers are powers of alpha, and exact."""


class LaneWeights:
    """Draws numbers 0, 1, ..., each with exactly its weight as probability; the weights sum to one."""

    def __init__(self, weights: Sequence[Fraction]) -> None:
        self.scale = lcm(*(weight.denominator for weight in weights))
        self.bounds = list(accumulate(weight.numerator * (self.scale // weight.denominator) for weight in weights))
        if self.bounds.pop() != self.scale:
            raise AssertionError("the weights do not sum to one")
        self.first = self._cuts(_FIRST)
        self.second = self._cuts(_SECOND)
        below, above = self.first
        kind = np.int16 if len(weights) < 2**15 else np.int32
        sizes = np.diff(above, prepend=0, append=2**_FIRST)
        self.settled = np.repeat(np.arange(len(weights), dtype=kind), sizes)
        self.settled[below[below < above]] = -1

    def _cuts(self, bits: int) -> tuple[Array, Array]:
        """Where outcomes meet, in units of 2^-bits, rounded down and up."""
        scaled = [bound << bits for bound in self.bounds]
        below = [value // self.scale for value in scaled]
        above = [-(-value // self.scale) for value in scaled]
        return np.array(below, dtype=np.int64), np.array(above, dtype=np.int64)

    def draw(self, count: int, bits: np.random.Generator) -> Array:
        """So many independent numbers."""
        words = bits.integers(0, 2**_FIRST, count, dtype=np.uint16)
        drawn: Array = self.settled[words]
        left = np.flatnonzero(drawn < 0)
        if len(left):
            more = bits.integers(0, 2 ** (_SECOND - _FIRST), len(left), dtype=np.int64)
            longer = (words[left].astype(np.int64) << (_SECOND - _FIRST)) | more
            below, above = self.second
            low = np.searchsorted(above, longer, side="right")
            high = np.searchsorted(below, longer, side="right")
            for i in np.flatnonzero(low != high).tolist():
                low[i] = self._settle(int(longer[i]), bits)
            drawn[left] = low
        return drawn

    def _settle(self, word: int, bits: np.random.Generator) -> int:
        """The outcome of a number of which the first bits are known."""
        length = _SECOND
        while True:
            low = bisect_right(self.bounds, word * self.scale >> length)
            high = bisect_left(self.bounds, -(-(word + 1) * self.scale >> length))
            if low == high:
                return low
            word = word << _SECOND | int(bits.integers(0, 2**_SECOND))
            length += _SECOND


class TwoSided:
    """Draws the distance from the center of the two-sided geometric law."""

    def __init__(self, alpha: Fraction) -> None:
        longest = min(_FARTHEST, max(1, _LONGEST // alpha.denominator.bit_length()))
        self.reach = next((k for k in range(1, longest) if alpha**k < _RARE), longest)
        tail = alpha**self.reach
        near = [(1 - alpha) / (1 + alpha) * alpha**k for k in range(self.reach)]
        side = [*near[1:], tail / (1 + alpha)]
        self.around = LaneWeights([*side[::-1], near[0], *side])
        self.onward = LaneWeights([*((1 - alpha) * alpha**k for k in range(self.reach)), tail])

    def draw(self, count: int, bits: np.random.Generator) -> Array:
        """So many independent distances."""
        drawn = self.around.draw(count, bits).astype(np.int64) - self.reach
        far = np.flatnonzero(np.abs(drawn) == self.reach)
        sign = np.sign(drawn[far])
        while len(far):
            more = self.onward.draw(len(far), bits).astype(np.int64)
            drawn[far] += sign * more
            again = more == self.reach
            far, sign = far[again], sign[again]
        return drawn


def _float(number: Any) -> float:
    """A number, perhaps written as a text, as a float."""
    return float(rational(number)) if isinstance(number, str) else float(number)


def _floats(law: Law) -> tuple[float, ...]:
    """The centre, the scale and what else there is of continuous noise."""
    if isinstance(law, Shaped):
        return (_float(law.center), *map(float, law.parameters))
    assert isinstance(law, Continuous)
    return _float(law.center), _float(law.scale)


@dataclass(frozen=True)
class _Bits:
    """A generator of numpy as a source of uniform whole numbers."""

    bits: np.random.Generator

    def below(self, bound: int) -> int:
        words = -(-bound.bit_length() // 32)
        while True:
            drawn = int.from_bytes(self.bits.bytes(4 * words), "little") >> (32 * words - bound.bit_length())
            if drawn < bound:
                return drawn

    def unit(self) -> float:
        return float(self.bits.random())


class Bell:
    """Draws discrete Gaussian noise."""

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        self.reach = isqrt(ceil(2 * variance * _DIGITS)) + 1
        self.table: LaneWeights | None = None
        if self.reach > _WIDEST:
            return
        with precision(_DIGITS + 64):
            weights = [arb(-rational(Fraction(x * x) / (2 * variance))).exp() for x in range(self.reach + 1)]
            beyond = weights[-1] / (1 - weights[1])  # more than all that follows, on one side
            scale = arb(1 << _DIGITS) / (2 * sum(weights[1:], weights[0] / 2) + arb(0, 1) * 2 * beyond)
            side = [int(rational_bounds(weight * scale)[0].floor()) for weight in weights]
        masses = [Fraction(max(mass, 0), 1 << _DIGITS) for mass in (*side[:0:-1], *side)]
        self.table = LaneWeights([*masses, 1 - sum(masses, Fraction(0))])

    def draw(self, count: int, bits: np.random.Generator) -> Array:
        """So many independent numbers."""
        if self.table is None:
            drawn = np.full(count, self.reach + 1, dtype=np.int64)
        else:
            drawn = self.table.draw(count, bits).astype(np.int64) - self.reach
        with drawing_from(_Bits(bits)):
            for place in np.flatnonzero(drawn > self.reach).tolist():
                drawn[place] = discrete_normal(self.variance)
        return drawn


class LaneDraws:
    """A source of noise for many runs."""

    def __init__(self, seed: int | None = None) -> None:
        self.bits = np.random.Generator(np.random.PCG64(secrets.randbits(128) if seed is None else seed))
        self.laws: dict[Hashable, Law] = {}
        self.weights: dict[int, tuple[LaneWeights, list[Any], Array | None]] = {}
        self.sides: dict[Fraction, TwoSided] = {}
        self.bells: dict[Fraction, Bell] = {}

    def draw(self, noise: str, operands: Sequence[Column], count: int) -> Column:
        """Noise with the given arguments, independent for every run."""
        if noise != WEIGHED and not NOISES[noise].discrete:
            return self._continuous(noise, operands, count)
        if noise in WHOLE and isinstance(operands[0], NumberColumn) and operands[0].array.dtype != np.float64:
            around_zero = self.draw(noise, [Same(0), *operands[1:]], count)
            return apply("+", [operands[0], around_zero], count)
        codes, tuples = distinct(operands, count)
        if len(tuples) == 1:
            return self._from(self._law(noise, tuples[0]), count)
        order, members = groups(codes, len(tuples))
        sizes = [len(runs) for runs in members]
        pieces = [self._from(self._law(noise, a), n) for a, n in zip(tuples, sizes, strict=True)]
        return reorder_column(pieces, order, sizes)

    def _law(self, noise: str, arguments: tuple[object, ...]) -> Law:
        key = (noise, identity(arguments))
        if key not in self.laws:
            law = draw_by_scores if noise == WEIGHED else NOISES[noise].law
            self.laws[key] = law(*map(plain, arguments))
        return self.laws[key]

    def _from(self, law: Law, count: int) -> Column:
        match law:
            case TableLaw(outcomes):
                if id(law) not in self.weights:  # laws live as long as their source
                    values = [value for value, _ in outcomes]
                    self.weights[id(law)] = LaneWeights([p for _, p in outcomes]), values, numeric_array(values)
                weights, values, array = self.weights[id(law)]
                codes = weights.draw(count, self.bits)
                if array is not None:
                    return NumberColumn(array[codes])
                present = np.flatnonzero(np.bincount(codes, minlength=len(values)))
                places = np.zeros(len(values), dtype=np.int64)
                places[present] = np.arange(len(present))
                return from_table([values[code] for code in present.tolist()], places[codes])
            case Geometric(center, alpha):
                if alpha not in self.sides:
                    self.sides[alpha] = TwoSided(alpha)
                return apply("+", [Same(center), NumberColumn(self.sides[alpha].draw(count, self.bits))], count)
            case DiscreteGaussian(center, variance):
                if variance not in self.bells:
                    self.bells[variance] = Bell(variance)
                return apply("+", [Same(center), NumberColumn(self.bells[variance].draw(count, self.bits))], count)
            case Continuous() | Shaped():
                raise AssertionError(law)

    def _continuous(self, noise: str, operands: Sequence[Column], count: int) -> Column:
        known = [each for each in map(as_floats, operands) if each is not None]
        if len(known) < len(operands):
            codes, tuples = distinct(operands, count)
            laws = [NOISES[noise].law(*map(plain, arguments)) for arguments in tuples]
            known = list(np.array([_floats(law) for law in laws]).T[:, codes])
        center, scale, *bound = known
        if noise == "gaussian":
            return NumberColumn(center + self.bits.standard_normal(count) * scale)
        if noise == "gumbel":
            return NumberColumn(center + self.bits.gumbel(size=count) * scale)
        size = self.bits.standard_exponential(count) * scale
        if bound:
            size = -np.log1p(self.bits.random(count) * np.expm1(-bound[0] / scale)) * scale
        if noise in ("laplace", TRUNCATED):
            size = np.where(self.bits.integers(0, 2, count, dtype=np.bool_), size, -size)
        return NumberColumn(center + size)
