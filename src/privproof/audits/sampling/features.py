"""Features of outputs: whole numbers that a single output has, by which runs on two data sets may differ although their sizes do not.

Noise that is added in floating point leaves traces in the lowest bits of the sum (Mironov 2012): ``y - x`` is a number that the generator
can produce only for the right x.  Noise that is drawn bit by bit leaves traces in parities, noise on a lattice in residues, and lists of
answers are told apart by how many of each kind there are.  No interval of numbers shows that, but a feature does: its *codes* are whole
numbers, and an event is a set of codes.

A feature is data: it says by itself what it computes, and it is computed anew on the runs of a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, TypeAlias

import numpy as np

from privproof.audits.sampling.output_forms import item_identity
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.sample_columns import Array

NO_CODE: Final = np.iinfo(np.int64).min
"""The code of an output that does not have a feature."""
_MANTISSA = 53
"""Binary digits of a double."""
_ZERO, _INFINITE = 1 << 20, 1 << 21
"""Codes of the numbers without a lowest bit, far beyond the exponents of doubles; one more where the sign is set."""
_BASE = 1 << 13
"""Makes one code of two exponents: doubles have exponents between -1074 and 1024."""
_SHOWN = 8
"""Positions of a parity, and codes of a set, that are written out."""
_FLOATS = 4
"""Floats of an output that are looked at: a leak shows in each that has noise of its kind."""
_REFERENCES = 10
"""References that are tried: sums and means of the data before single numbers."""
_READ = 4096
"""Numbers of a data set that references are made of; of longer data only the beginning is read."""


def low(y: Array) -> Array:
    """The exponent of the lowest bit that is set: y is a multiple of two to it, and of no larger power.

    >>> low(np.array([3.0, 0.75, 0.1])).tolist()
    [0, -2, -55]
    """
    digits, exponent = np.frexp(np.where(np.isfinite(y), y, 0.0))
    whole = np.abs(np.ldexp(digits, _MANTISSA)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return _mark_special_values(y, exponent.astype(np.int64) - _MANTISSA + lowest)


def _exponent(y: Array) -> Array:
    return _mark_special_values(y, np.frexp(np.where(np.isfinite(y), y, 0.0))[1].astype(np.int64))


def _mark_special_values(y: Array, codes: Array) -> Array:
    """The codes, with codes of their own for zero and infinity, and none where there is no number."""
    sign = np.signbit(y).astype(np.int64)
    codes = np.where(y == 0, _ZERO + sign, np.where(np.isinf(y), _INFINITE + sign, codes))
    return np.asarray(np.where(np.isnan(y), NO_CODE, codes))


def _both(first: Array, second: Array) -> Array:
    """Two codes as one."""
    codes = first * _BASE + second
    return np.asarray(np.where((first == NO_CODE) | (second == NO_CODE), NO_CODE, codes))


def _casts(y: Array) -> Array:
    """Whether a number is one of half precision, of single precision, or neither."""
    with np.errstate(over="ignore"):
        half, single = (y.astype(kind).astype(np.float64) == y for kind in (np.float16, np.float32))
    return _mark_special_values(y, np.where(half, 0, np.where(single, 1, 2)))


def _last_bits(y: Array) -> Array:
    digits = np.frexp(np.where(np.isfinite(y), y, 0.0))[0]
    return _mark_special_values(y, np.abs(np.ldexp(digits, _MANTISSA)).astype(np.int64) & 7)


_OF_NUMBERS: Final[Mapping[str, Callable[[Array], Array]]] = {
    "the lowest bit of y": low,
    "the lowest bit and the exponent of y": lambda y: _both(low(y), _exponent(y)),
    "the last three binary digits of y": _last_bits,
    "the precision that y needs": _casts,
}
_OF_DIFFERENCES: Final[Mapping[str, Callable[[Array, Array], Array]]] = {
    "the lowest bit of y - x": lambda y, d: low(d),
    "the lowest bit and the exponent of y - x": lambda y, d: _both(low(d), _exponent(d)),
    "the lowest bits of y - x and of y": lambda y, d: _both(low(d), low(y)),
    "the exponents of y - x and of y": lambda y, d: _both(_exponent(d), _exponent(y)),
}


@dataclass(frozen=True)
class FloatBits:
    """What the binary digits of a float in the output say.

    Attributes:
        position: which of the floats of an output, from 0.
        what: the feature, in words: y is the float, x the reference.
        reference: a number that the data suggest: the float may be the sum of it and noise.
    """

    position: int
    what: str
    reference: float | None = None

    def codes(self, samples: Samples) -> Array:
        """The feature of every run."""
        if self.position >= len(samples.floats):
            return np.full(len(samples), NO_CODE)
        y = samples.floats[self.position]
        if self.reference is None:
            return _OF_NUMBERS[self.what](y)
        with np.errstate(invalid="ignore", over="ignore"):
            difference = y - self.reference
            codes = _OF_DIFFERENCES[self.what](y, difference)
            exact = difference + self.reference == y
        return np.asarray(np.where(codes == NO_CODE, NO_CODE, 2 * codes + exact))

    def code_words(self, codes: Sequence[int]) -> str:
        """What a set of codes says, in words."""
        powers = [code if self.reference is None else code // 2 for code in codes]
        if self.what not in ("the lowest bit of y", "the lowest bit of y - x") or max(powers) >= _ZERO:
            return f"one of {len(codes)} values"
        return " or ".join(
            f"2^{first}" if first == last else f"2^{first} to 2^{last}" for first, last in _ranges(sorted(set(powers)))
        )

    def __str__(self) -> str:
        number = "the output" if self.position == 0 else f"number {self.position + 1} of the output"
        where = f"y is {number}" + ("" if self.reference is None else f", x = {self.reference!r}")
        return f"{self.what} ({where})"


@dataclass(frozen=True)
class Parity:
    """The parity of some of the bits of an output: of a whole number, or of a list of truth values or bits."""

    positions: tuple[int, ...]
    listed: bool

    def codes(self, samples: Samples) -> Array:
        """The feature of every run."""
        bits = samples.list_bits if self.listed else samples.number_bits
        inside = [position for position in self.positions if position < bits.digits.shape[1]]
        rows = np.full(len(samples.outputs), NO_CODE)
        rows[bits.rows] = bits.digits[:, inside].sum(axis=1) % 2
        return np.asarray(rows[samples.codes])

    def code_words(self, codes: Sequence[int]) -> str:
        """What a set of codes says, in words."""
        return " or ".join("odd" if code else "even" for code in codes)

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.positions[:_SHOWN])) + ("" if len(self.positions) <= _SHOWN else ", ...")
        return f"the parity of the {'items' if self.listed else 'binary digits'} {shown} of the output"


@dataclass(frozen=True)
class Residue:
    """What is left of a whole number after division."""

    modulus: int

    def codes(self, samples: Samples) -> Array:
        """The feature of every run."""
        left = [
            output % self.modulus if isinstance(output, int) and not isinstance(output, bool) else NO_CODE
            for output in samples.outputs
        ]
        return np.array(left, dtype=np.int64)[samples.codes]

    def code_words(self, codes: Sequence[int]) -> str:
        """What a set of codes says, in words."""
        return _few(list(map(str, codes)))

    def __str__(self) -> str:
        return f"the output modulo {self.modulus}"


@dataclass(frozen=True)
class GroupCounts:
    """How often an item stands in several groups of places of a list.

    Places at which the two data sets have the same values are exchangeable if they get the same noise: then these counts tell all that the
    list tells.
    """

    groups: tuple[tuple[int, ...], ...]
    item: Any

    def codes(self, samples: Samples) -> Array:
        """The feature of every run."""
        last, items = max(place for group in self.groups for place in group), samples.items
        found = np.full(len(samples.outputs), NO_CODE)
        if items.rows.shape[1] > last:
            same = items.rows == items.known.get(item_identity(self.item), len(items.known))
            codes = np.zeros(len(items.rows), dtype=np.int64)
            for group in self.groups:
                codes = codes * (len(group) + 1) + same[:, group].sum(axis=1)
            found[items.codes] = np.where(items.rows[:, last] >= 0, codes, NO_CODE)
        return found[samples.codes]

    def code_words(self, codes: Sequence[int]) -> str:
        """What a set of codes says, in words."""
        return _few([" and ".join(map(str, self.counts(code))) for code in codes])

    def counts(self, code: int) -> list[int]:
        """The counts that a code stands for."""
        counts = []
        for group in reversed(self.groups):
            code, count = divmod(code, len(group) + 1)
            counts.append(count)
        return counts[::-1]

    def __str__(self) -> str:
        shown = " and ".join("{" + ", ".join(map(str, group)) + "}" for group in self.groups)
        return f"how often {self.item!r} stands at the places {shown}"


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers, by their first and last one."""
    first = numbers[0]
    for number, following in zip(numbers, [*numbers[1:], numbers[-1] + 2], strict=True):
        if following != number + 1:
            yield first, number
            first = following


def _few(texts: Sequence[str]) -> str:
    more = f" or one of {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


Feature: TypeAlias = FloatBits | Parity | Residue | GroupCounts


def float_features(samples: Samples, references: Sequence[float]) -> list[Feature]:
    """The features of the floats of outputs, alone and against references."""
    found: list[Feature] = []
    for position in range(min(len(samples.floats), _FLOATS)):
        found += [FloatBits(position, what) for what in _OF_NUMBERS]
        found += [FloatBits(position, what, x) for x in references if x != 0 for what in _OF_DIFFERENCES]
    return found


def references(*data: object) -> list[float]:
    """Numbers that an output may be the sum of and noise: sums, means and single numbers of the data.

    >>> references([1, 2, 3], [1, 2, 4])
    [6.0, 2.0, 7.0, 2.3333333333333335, 1.0, 3.0, 4.0]
    """
    sides = [_floats(value) for value in data]
    summed = [number for side in sides if side for number in (sum(side), sum(side) / len(side))]
    listed = [number for number in (*summed, *(x for side in sides for x in side)) if isfinite(number)]
    return list(dict.fromkeys(listed))[:_REFERENCES]


def _floats(value: object) -> list[float]:
    """The numbers in a value, from left to right."""
    if isinstance(value, Mapping):
        return [x for inner in value.values() for x in _floats(inner)][:_READ]
    if isinstance(value, list | tuple | set | frozenset):
        return [x for inner in list(value)[:_READ] for x in _floats(inner)][:_READ]
    if isinstance(value, str | bytes) or value is None:
        return []
    array: Any = np.asarray(value)
    try:
        return [float(x) for x in array.ravel()[:_READ].tolist()]
    except (TypeError, ValueError, OverflowError):
        return []
