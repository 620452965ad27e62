"""Forms: outputs that differ in their numbers only, so that many of them are compared with a pattern at once.

The table of what many runs have written may have thousands of outputs.  A *sheet* holds those of one form as one array of numbers, a row
for every output; *items* hold lists as rows of codes, so that what they begin with is compared in one go; *bits* hold whole numbers, or
lists of truth values, as rows of binary digits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from privproof.audits.sampling.sample_columns import EXACT_FLOAT, Array, identity


class _FloatForm:
    """Stands for a float in an output."""

    def __repr__(self) -> str:
        return "float"

    def __reduce__(self) -> str:
        return "FLOAT"  # there is one in every process


class _Slot:
    """Stands for a number in the form of outputs."""

    def __repr__(self) -> str:
        return "number"

    def __reduce__(self) -> str:
        return "SLOT"


SIMPLE = {bool, int, str}
_WHOLE = {bool, int}
_NO_NUMBERS = {bool, str, type(None)}
_WIDEST = 4096
"""Bits of an output that parities are made of."""
FLOAT: Final = _FloatForm()
SLOT: Final = _Slot()


def is_number(value: Any) -> bool:
    """Whether a value in the table of outputs is a number: whole, a fraction, or a float that stands beside the table."""
    return value is FLOAT or (isinstance(value, int | Fraction) and not isinstance(value, bool))


def form_of(output: Any) -> Any:
    """An output with slots in the place of its numbers."""
    if is_number(output):
        return SLOT
    if isinstance(output, list | tuple):
        if set(map(type, output)) <= _NO_NUMBERS:
            return output
        return type(output)(form_of(part) for part in output)
    return output


def numbers_of(output: Any) -> Iterator[Any]:
    """The numbers of an output from left to right, `FLOAT` for those that stand beside the table."""
    if is_number(output):
        yield output
    elif isinstance(output, list | tuple) and not set(map(type, output)) <= _NO_NUMBERS:
        for part in output:
            yield from numbers_of(part)


def fill_form(form: Any, places: Sequence[Any]) -> Any:
    """A form with patterns in its slots, from left to right."""
    remaining = iter(places)

    def fill(part: Any) -> Any:
        if part is SLOT:
            return next(remaining)
        if isinstance(part, list | tuple):
            return type(part)(fill(inner) for inner in part)
        return part

    return fill(form)


def identity_of(output: Any) -> Hashable:
    """Something hashable that tells outputs of a table apart as their kind and their print do."""
    if isinstance(output, list | tuple):
        kinds = set(map(type, output))
        if len(kinds) == 1 and kinds <= SIMPLE:
            return (type(output), *kinds, tuple(output))
        return (type(output), tuple(map(identity_of, output)))
    return repr(output) if isinstance(output, dict) else identity(output)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The outputs of one form that have numbers of the same kinds in the same places.

    Attributes:
        form: the form.
        kinds: the kind of the number in every slot: int, Fraction or `FLOAT`.
        codes: the numbers of the outputs in their table.
        numbers: their numbers, a row for every output: floats where those are exact; zero where a float stands beside the table.
    """

    form: str
    kinds: tuple[Any, ...]
    codes: Array
    numbers: Array

    def beside(self, slot: int) -> int:
        """Which of the floats of a run stands in a slot."""
        return sum(kind is FLOAT for kind in self.kinds[:slot])


def sheets(outputs: Sequence[Any]) -> tuple[Sheet, ...]:
    """A table of outputs, form by form."""
    grouped: dict[tuple[str, tuple[Any, ...]], tuple[list[int], list[list[Any]]]] = {}
    for code, output in enumerate(outputs):
        flat = isinstance(output, list | tuple) and set(map(type, output)) == {int}
        numbers = list(output) if flat else list(numbers_of(output))
        if numbers:
            kinds = tuple(FLOAT if number is FLOAT else type(number) for number in numbers)
            form = repr(type(output)([SLOT] * len(numbers)) if flat else form_of(output))
            codes, rows = grouped.setdefault((form, kinds), ([], []))
            codes.append(code)
            rows.append([0 if number is FLOAT else number for number in numbers])
    result = []
    for (form, kinds), (codes, rows) in grouped.items():
        exact = Fraction not in kinds and all(abs(x) <= EXACT_FLOAT for row in rows for x in row)
        array = np.array(rows, dtype=np.float64 if exact else object)
        result.append(Sheet(form, kinds, np.array(codes, dtype=np.int64), array))
    return tuple(result)


@dataclass(frozen=True, eq=False)
class Items:
    """The lists and tuples of a table of outputs, as rows of codes.

    Attributes:
        codes: the numbers of the outputs in their table.
        rows: the codes of their items; -1 beyond their ends.
        known: the code of every item, by what tells it apart.
    """

    codes: Array
    rows: Array
    known: dict[Hashable, int]


def item_identity(item: Any) -> Hashable:
    """What tells an item of a list apart from others."""
    return (type(item), item) if type(item) in SIMPLE else identity_of(item)


def items_of(outputs: Sequence[Any]) -> Items:
    """The lists and tuples of a table of outputs."""
    listed = [(code, output) for code, output in enumerate(outputs) if isinstance(output, list | tuple)]
    known: dict[Hashable, int] = {}
    rows = np.full((len(listed), max((len(output) for _, output in listed), default=0)), -1, dtype=np.int64)
    for row, (_, output) in enumerate(listed):
        rows[row, : len(output)] = [known.setdefault(item_identity(item), len(known)) for item in output]
    return Items(np.array([code for code, _ in listed], dtype=np.int64), rows, known)


@dataclass(frozen=True, eq=False)
class OutputBits:
    """Outputs of a table as rows of binary digits, the lowest first; `rows` says which outputs they are."""

    rows: Array
    digits: Array


def bits_of(outputs: Sequence[Any], *, listed: bool) -> OutputBits:
    """The outputs that are whole numbers from 0 on, or those that are lists of bits, as rows of binary digits.

    Shorter outputs have zeros at the end, so that a digit depends on its output alone.
    """
    if not listed:
        numbers = [(i, o) for i, o in enumerate(outputs) if isinstance(o, int) and not isinstance(o, bool) and o >= 0]
        width = min(_WIDEST, max((o.bit_length() for _, o in numbers), default=0))
        size = -(-width // 8)
        raw = b"".join((o % (1 << width)).to_bytes(size, "little") for _, o in numbers)
        packed = np.frombuffer(raw, dtype=np.uint8).reshape(len(numbers), size)
        digits = np.unpackbits(packed, axis=1, bitorder="little")[:, :width]
        return OutputBits(np.array([i for i, _ in numbers], dtype=np.int64), digits)
    lists = [
        (i, o)
        for i, o in enumerate(outputs)
        if isinstance(o, list | tuple) and set(map(type, o)) <= _WHOLE and set(o) <= {0, 1}
    ]
    width = min(_WIDEST, max((len(o) for _, o in lists), default=0))
    digits = np.zeros((len(lists), width), dtype=np.uint8)
    for row, (_, output) in enumerate(lists):
        digits[row, : len(output)] = output[:width]
    return OutputBits(np.array([i for i, _ in lists], dtype=np.int64), digits)
