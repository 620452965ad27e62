"""What many runs of a mechanism have written, as arrays.

The outputs of all runs are numbers into a table of distinct outputs; two outputs are the same if they print alike.  A float (from
continuous noise) is no part of that: the table says ``float`` in its place, and the floats themselves stand in arrays beside
it, so that no Python object is made for a run.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from privproof.audits.sampling.output_forms import (
    FLOAT,
    Items,
    OutputBits,
    Sheet,
    bits_of,
    identity_of,
    items_of,
    sheets,
)
from privproof.audits.sampling.sample_columns import (
    Array,
    Coded,
    Column,
    NumberColumn,
    Rows,
    Same,
    distinct,
    identity,
    row,
    select,
)
from privproof.errors import LanguageError
from privproof.language.values import Cells, plain


@dataclass(frozen=True, eq=False)
class Samples:
    """The outputs of independent runs.

    Attributes:
        codes: for every run, in the order of the runs, the number of its output in the table.
        outputs: the table: Python values, with `FLOAT` in the place of every float.
        floats: the floats: the first ones of all runs, the second ones, ...; not a number where a run has not as many.
    """

    codes: Array
    outputs: tuple[Any, ...]
    floats: tuple[Array, ...] = ()

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def texts(self) -> tuple[str, ...]:
        """How the outputs of the table print."""
        return tuple(map(repr, self.outputs))

    @cached_property
    def places(self) -> dict[Hashable, int]:
        """The number of every output in the table, by what tells it apart."""
        return {identity_of(output): code for code, output in enumerate(self.outputs)}

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """The outputs with numbers, form by form."""
        return sheets(self.outputs)

    @cached_property
    def items(self) -> Items:
        """The outputs that are lists or tuples."""
        return items_of(self.outputs)

    @cached_property
    def number_bits(self) -> OutputBits:
        """The outputs that are whole numbers from 0 on, as binary digits."""
        return bits_of(self.outputs, listed=False)

    @cached_property
    def list_bits(self) -> OutputBits:
        """The outputs that are lists of bits."""
        return bits_of(self.outputs, listed=True)

    def part(self, start: int, stop: int) -> Samples:
        """Some of the runs, with the same table."""
        made = Samples(self.codes[start:stop], self.outputs, tuple(floats[start:stop] for floats in self.floats))
        for name in ("places", "sheets", "items", "number_bits", "list_bits"):
            if name in vars(self):
                vars(made)[name] = vars(self)[name]
        return made

    def counts(self) -> dict[str, int]:
        """How often each output occurs, by its text, the most frequent first; ``float`` stands for any float."""
        found = np.bincount(self.codes, minlength=len(self.outputs)).tolist()
        pairs = sorted(zip(self.texts, found, strict=True), key=lambda pair: (-pair[1], pair[0]))
        return dict(pairs)

    def values(self) -> Array:
        """The outputs of all runs as one array of truth values, whole numbers or floats.

        Raises:
            LanguageError: an output is no number.
        """
        return self._array(list(self.outputs), [0] * len(self.outputs))

    def column(self, position: int) -> Array:
        """One position of outputs that are lists or tuples, as an array.

        Raises:
            LanguageError: an output has no number there.
        """
        for output in self.outputs:
            if not isinstance(output, list | tuple) or position >= len(output):
                raise LanguageError("output", f"the output {output!r} has no position {position}", place="column")
        before = [sum(1 for _ in _floats(output[:position])) for output in self.outputs]
        return self._array([output[position] for output in self.outputs], before)

    def _array(self, values: list[Any], slots: list[int]) -> Array:
        for value in values:
            if value is not FLOAT and not isinstance(value, int | Fraction):
                raise LanguageError("output", f"the output {value!r} is no number", place="values", hint="counts()")
        if all(isinstance(value, bool) for value in values):
            return np.array(values, dtype=np.bool_)[self.codes]
        if all(isinstance(value, int) for value in values):
            return np.array(list(map(int, values)), dtype=np.int64)[self.codes]
        result = np.array([np.nan if value is FLOAT else float(value) for value in values])[self.codes]
        for code, (value, slot) in enumerate(zip(values, slots, strict=True)):
            if value is FLOAT:
                result = np.where(self.codes == code, self.floats[slot], result)
        return result


def together(parts: Sequence[Samples]) -> Samples:
    """The runs of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    table: dict[str, int] = {}
    outputs: list[Any] = []
    codes: list[Array] = []
    for part in parts:
        places = [table.setdefault(text, len(table)) for text in part.texts]
        outputs += [o for o, place in zip(part.outputs, places, strict=True) if place >= len(outputs)]
        codes.append(np.array(places, dtype=np.int64)[part.codes])
    slots = max(len(part.floats) for part in parts)
    rows = ((*p.floats, *[np.full(len(p), np.nan)] * (slots - len(p.floats))) for p in parts)
    return Samples(np.concatenate(codes), tuple(outputs), tuple(map(np.concatenate, zip(*rows, strict=True))))


def _floats(value: Any) -> Iterator[None]:
    if value is FLOAT:
        yield None
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _floats(item)


class SampleRecorder:
    """Collects what runs write: a tree of all sequences written so far, and for every run its place in it.

    Attributes:
        generator: whether an output is everything that a run has written, or the one value it has returned.
    """

    def __init__(self, count: int, *, generator: bool) -> None:
        self.generator = generator
        self.places = np.zeros(count, dtype=np.int64)
        self.filled = np.zeros(count, dtype=np.int64)
        self.floats: list[Array] = []
        self.known: dict[Hashable, int] = {}
        self.tree: list[tuple[int, Any]] = [(0, None)]

    def write(self, runs: Array, column: Column) -> None:
        """Every run writes a value."""
        mixed = _main_form_mask(column)
        if mixed is not None:
            for part in (np.flatnonzero(mixed), np.flatnonzero(~mixed)):
                self.write(runs[part], select(column, part))
            return
        found: list[Array] = []
        column = _without_floats(column, found)
        codes, tuples = distinct([NumberColumn(self.places[runs]), column], len(runs))
        following = []
        for place, value in tuples:
            key = (place, identity(value))
            if key not in self.known:
                self.known[key] = len(self.tree)
                self.tree.append((place, value))
            following.append(self.known[key])
        self.places[runs] = np.array(following, dtype=np.int64)[codes]
        for floats in found:
            slots = self.filled[runs]
            for slot in np.unique(slots).tolist():
                if slot == len(self.floats):
                    self.floats.append(np.full(len(self.places), np.nan))
                here = slots == slot
                self.floats[slot][runs[here]] = floats[here]
            self.filled[runs] += 1

    def samples(self) -> Samples:
        """Everything that was written."""
        codes, ends = distinct([NumberColumn(self.places)], len(self.places))
        table: dict[str, int] = {}
        outputs: list[Any] = []
        merged = []
        for (end,) in ends:
            output = plain(self._output(end))
            place = table.setdefault(repr(output), len(table))
            if place == len(outputs):
                outputs.append(output)
            merged.append(place)
        return Samples(np.array(merged, dtype=np.int64)[codes], tuple(outputs), tuple(self.floats))

    def _output(self, place: int) -> Any:
        if not self.generator:
            return self.tree[place][1]
        written = []
        while place:
            place, value = self.tree[place]
            written.append(value)
        return Cells(tuple(written[::-1]))


def _without_floats(column: Column, found: list[Array]) -> Column:
    """The column with `FLOAT` in the place of floats, which are put aside from left to right."""
    match column:
        case NumberColumn(array) if array.dtype == np.float64:
            found.append(array)
            return Same(FLOAT)
        case Rows(kind, columns, is_shared):
            return row(kind, [_without_floats(inner, found) for inner in columns], shared=is_shared)
        case _:
            return column


def _main_form_mask(column: Column) -> Array | None:
    """Where a column has values of one form, if it has floats beside values of other forms."""
    match column:
        case Coded(codes, table):
            forms = list(map(_form, table))
            if "float" not in repr(forms):
                return None
            return np.array([form == forms[codes[0]] for form in forms])[codes]
        case Rows(_, columns):
            return next((mask for inner in columns if (mask := _main_form_mask(inner)) is not None), None)
        case _:
            return None


def _form(value: Any) -> Any:
    """Where a value has floats."""
    match value:
        case Cells(items, is_shared):
            return ("list", is_shared, tuple(map(_form, items)))
        case tuple():
            return tuple(map(_form, value))
        case _:
            return "float" if isinstance(value, float) else ""
