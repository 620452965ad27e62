"""Columns of a piece of a table, and what whole columns mean: states, series and times as arrays of numbers.

A column is a list of texts, or an Arrow array.  Both know their *factors*: the distinct texts in the order of their first appearance,
and for every row the number of its text.  An Arrow array also parses all its cells at once where it can; where it cannot, the
distinct texts are understood one by one, with the same result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from privproof.release.tables.table_cells import MOST_STATES, PARTS, Bins, Clock, clock_of, instant

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Times: TypeAlias = "tuple[Ints, Ints | None]"

NOTHING = -1
"""Stands for a missing entry among the numbers of states, which begin at 0."""
_AT_HAND = 1 << 12
"""Distinct texts of a piece that are looked at although no row may have them; each costs a look into a dictionary."""
_OF_INTEGERS = frozenset("0123456789-")
_OF_DECIMALS = frozenset("0123456789+-.eE")


class CellRefusal(Exception):
    """A cell that cannot be understood: its row in the piece, counted from 0, its column, and what to say about it."""

    column = ""

    def __init__(self, row: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.row = row
        self.code = code
        self.message = message
        self.hint = hint


class Column(Protocol):
    """One column of a piece of a table."""

    def __len__(self) -> int: ...

    def factors(self) -> tuple[Ints, list[str | None]]:
        """For every row the number of its text, and the distinct texts; a cell without any is None."""
        ...

    def coded(self) -> tuple[npt.NDArray[np.integer[Any]], list[str | None]]:
        """As the factors, from what is at hand: among the texts there may be some that no row has, in any order."""
        ...

    def identities(self) -> Column:
        """The column as names of series: a float that is no number is no name, and there is one zero."""
        ...

    def whole(self) -> tuple[Ints, Ints] | None:
        """The factors where all texts are whole numbers, written as usual; None where one is not, or it costs a look at each."""
        ...

    def floats(self) -> Floats | None:
        """The float nearest to every cell, not finite where there is none; None where not all cells can be parsed at once."""
        ...

    def times(self, clock: Clock) -> Times | None:
        """The instants of all cells; None where they cannot be parsed at once."""
        ...

    def at(self, rows: Ints) -> Column:
        """The column of some of the rows."""
        ...


class TextColumn:
    """A column of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def factors(self) -> tuple[Ints, list[str | None]]:
        number = {text: i for i, text in enumerate(dict.fromkeys(self._texts))}
        codes = np.fromiter(map(number.__getitem__, self._texts), dtype=np.int64, count=len(self._texts))
        return codes, list(number)

    def coded(self) -> tuple[Ints, list[str | None]]:
        return self.factors()

    def identities(self) -> TextColumn:
        return self

    def whole(self) -> tuple[Ints, Ints] | None:
        return None

    def floats(self) -> Floats | None:
        if not self._written_with(_OF_DECIMALS):
            return None
        try:
            return np.array([float(text or "nan") for text in self._texts], dtype=np.float64)
        except ValueError:
            return None

    def times(self, clock: Clock) -> Times | None:
        if clock != "numbers" or not self._written_with(_OF_INTEGERS):
            return None
        try:
            return np.array(list(map(int, self._texts)), dtype=np.int64), None
        except (ValueError, OverflowError):
            return None

    def _written_with(self, characters: frozenset[str]) -> bool:
        return characters.issuperset("".join(self._texts))

    def at(self, rows: Ints) -> TextColumn:
        return TextColumn([self._texts[row] for row in rows.tolist()])


class ArrowColumn:
    """An Arrow array; `arrow` and `compute` are the modules pyarrow and pyarrow.compute."""

    def __init__(self, array: Any, *, arrow: Any, compute: Any) -> None:
        self._arrow = arrow
        self._compute = compute
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def factors(self) -> tuple[Ints, list[str | None]]:
        numbers, distinct = self._factors()
        return numbers, self._texts(distinct)

    def coded(self) -> tuple[npt.NDArray[np.integer[Any]], list[str | None]]:
        array = self._array
        if not self._arrow.types.is_dictionary(array.type) or len(array.dictionary) > _AT_HAND:
            return self.factors()
        numbers, distinct = array.indices, self._texts(array.dictionary)
        if numbers.null_count:
            numbers = numbers.cast(self._arrow.int32()).fill_null(len(distinct))
            distinct.append(None)
        if not self._arrow.types.is_signed_integer(numbers.type):
            numbers = numbers.cast(self._arrow.int64())
        return numbers.to_numpy(), distinct

    def _texts(self, distinct: Any) -> list[str | None]:
        if not self._arrow.types.is_string(distinct.type):
            distinct = distinct.cast(self._arrow.string())
        found: list[str | None] = distinct.to_pylist()
        return found

    def identities(self) -> ArrowColumn:
        array, arrow, compute = self._decoded(), self._arrow, self._compute
        if not arrow.types.is_floating(array.type):
            return self
        none, zero = arrow.scalar(None, array.type), arrow.scalar(0.0, array.type)
        return ArrowColumn(
            compute.if_else(compute.is_nan(array), none, compute.add(array, zero)), arrow=arrow, compute=compute
        )

    def whole(self) -> tuple[Ints, Ints] | None:
        arrow, types = self._arrow, self._arrow.types
        numbers, distinct = self._factors()
        texts = types.is_string(distinct.type) or types.is_large_string(distinct.type)
        if distinct.null_count or not (texts or types.is_integer(distinct.type)):
            return None
        try:
            found = distinct.cast(arrow.int64())
            if texts and not found.cast(distinct.type).equals(distinct):
                return None
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
            return None
        return numbers, found.to_numpy()

    def _factors(self) -> tuple[Ints, Any]:
        array = self._array
        values = None
        if self._arrow.types.is_dictionary(array.type):
            values = array.dictionary
            array = array.indices
        coded = self._compute.dictionary_encode(array, null_encoding="encode")
        distinct = coded.dictionary if values is None else values.take(coded.dictionary)
        return coded.indices.to_numpy().astype(np.int64), distinct

    def floats(self) -> Floats | None:
        arrow, types = self._arrow, self._arrow.types
        array = self._decoded()
        if types.is_integer(array.type):
            array = array.cast(arrow.float64(), safe=False)
        elif not types.is_float64(array.type):
            try:
                array = array.cast(arrow.string()).cast(arrow.float64())
            except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
                return None
        floats: Floats = array.to_numpy(zero_copy_only=False)
        return floats

    def times(self, clock: Clock) -> Times | None:
        array = self._decoded()
        if array.null_count:
            return None
        try:
            return self._numbers(array) if clock == "numbers" else (self._moments(array, clock), None)
        except (self._arrow.ArrowInvalid, self._arrow.ArrowNotImplementedError):
            return None

    def _numbers(self, array: Any) -> Times | None:
        arrow, compute = self._arrow, self._compute
        if arrow.types.is_integer(array.type):
            return array.cast(arrow.int64()).to_numpy(), None
        texts = array.cast(arrow.string())
        try:
            whole = texts.cast(arrow.int64()).to_numpy()
            hexadecimal = any(compute.any(compute.match_substring(texts, mark)).as_py() for mark in "xX")
            return None if hexadecimal else (whole, None)
        except arrow.ArrowInvalid:
            exact = texts.cast(arrow.decimal128(38, 18))
        whole = exact.cast(arrow.decimal128(38, 0), safe=False).cast(arrow.int64())
        parts = compute.subtract(exact, whole.cast(arrow.decimal128(19, 0))).cast(arrow.decimal128(38, 18))
        low = np.frombuffer(parts.buffers()[1], dtype=np.int64)[2 * parts.offset :: 2][: len(parts)]
        below = low < 0
        return whole.to_numpy() - below, low + below * np.int64(PARTS)

    def _moments(self, array: Any, clock: Clock) -> Ints:
        arrow, types = self._arrow, self._arrow.types
        if types.is_date(array.type):
            array = array.cast(arrow.timestamp("s"))
        zone = "UTC" if clock == "zoned times" else None
        if types.is_timestamp(array.type) and (array.type.tz is None) != (zone is None):
            raise arrow.ArrowInvalid("another clock")
        moments: Ints = array.cast(arrow.timestamp("ns", zone)).cast(arrow.int64()).to_numpy()
        return moments

    def at(self, rows: Ints) -> ArrowColumn:
        return ArrowColumn(self._array.take(self._arrow.array(rows)), arrow=self._arrow, compute=self._compute)

    def _decoded(self) -> Any:
        return self._array.dictionary_decode() if self._arrow.types.is_dictionary(self._array.type) else self._array


class TableStates:
    """The states as they are met: what every cell of a column stands for.

    Without `known` states, every new text is a new state.
    """

    def __init__(
        self,
        known: Sequence[str] | None,
        *,
        bins: Bins | None = None,
        mapping: Mapping[str, str] | None = None,
        missing: Sequence[str] = (),
    ) -> None:
        self.names: list[str] = list(known or ())
        self._number = {name: i for i, name in enumerate(self.names)}
        self._open = known is None
        self._bins = bins
        self._mapping = mapping
        self._missing = {"", *missing}
        self._met: dict[str | None, int] = {}
        self._edges = np.array(bins.rounded if bins else (), dtype=np.float64)
        if bins:
            self._of_bin = np.array([self._state(name) for name in bins.names], dtype=np.int64)

    def table(self, column: Column) -> tuple[npt.NDArray[np.integer[Any]], Ints]:
        """For every row the number of its text, and for every text that some row has the number of its state, or `NOTHING`."""
        numbers, texts = column.coded()
        table = np.full(len(texts), NOTHING, dtype=np.int64)
        new = []
        for i, text in enumerate(texts):
            code = self._met.get(text)
            if code is None:
                new.append(i)
            else:
                table[i] = code
        if new:
            there = np.bincount(numbers, minlength=len(texts)) > 0
            rows = {i: int(np.argmax(numbers == i)) for i in new if there[i]}
            for i in sorted(rows, key=rows.__getitem__):
                text = texts[i]
                try:
                    table[i] = NOTHING if text is None or text in self._missing else self._meant(text)
                except CellRefusal as refusal:
                    refusal.row = rows[i]
                    raise
                if self._bins is None:
                    self._met[text] = int(table[i])
        return numbers, table

    def numbers(self, others: TableStates) -> Ints:
        """For every state of others its number here; a new one is added.

        Raises:
            Refusal: there are too many.
        """
        return np.array(
            [self._number[name] if name in self._number else self._new(name) for name in others.names], dtype=np.int64
        )

    def _meant(self, text: str) -> int:
        return self._state(text) if self._bins is None else int(self._of_bin[self._bin(text)])

    def codes(self, column: Column) -> Ints:
        """The number of every cell's state, or `NOTHING` where an entry is missing."""
        floats = column.floats() if self._bins else None
        if floats is None:
            numbers, table = self.table(column)
            read: Ints = table[numbers]
            return read
        found = np.searchsorted(self._edges, floats, side="right")
        doubtful = ~np.isfinite(floats)
        if len(self._edges):
            doubtful |= self._edges[np.maximum(found - 1, 0)] == floats
        if not doubtful.any():
            return self._of_bin[found]
        rows = np.flatnonzero(doubtful)
        found[rows] = 0
        codes = self._of_bin[found]
        try:
            numbers, table = self.table(column.at(rows))
            codes[rows] = table[numbers]
        except CellRefusal as refusal:
            refusal.row = int(rows[refusal.row])
            raise
        return codes

    def _bin(self, text: str) -> int:
        assert self._bins is not None
        found = self._bins.find(text)
        if found is None:
            raise CellRefusal(
                0,
                "number",
                f"{_quote_cell(text)} is no number",
                f"a decimal such as 12.5; if it marks a missing entry: missing: [{_quote_cell(text)}]",
            )
        return found

    def _state(self, text: str) -> int:
        name = text
        if self._mapping is not None:
            if text not in self._mapping:
                raise CellRefusal(
                    0,
                    "unknown-value",
                    f"the mapping has no state for {_quote_cell(text)}",
                    _near(text, list(self._mapping)),
                )
            name = self._mapping[text]
        code = self._number.get(name)
        if code is not None:
            return code
        if not self._open:
            raise CellRefusal(0, "unknown-state", f"{_quote_cell(name)} is none of the states", _near(name, self.names))
        return self._new(name)

    def _new(self, name: str) -> int:
        if len(self.names) >= MOST_STATES:
            raise CellRefusal(
                0,
                "states",
                f"more than {MOST_STATES} different values, among them {_quote_cell(name)}",
                "bins for a column of numbers, or a mapping to fewer states",
            )
        self._number[name] = len(self.names)
        self.names.append(name)
        return self._number[name]


class Identities:
    """The series as they are met, each with a number.

    As long as all are called by whole numbers these are kept in a sorted array; otherwise their names are kept.
    """

    def __init__(self, missing: Sequence[str] = ()) -> None:
        self._missing = {"", None, *missing}
        self._named: dict[str | None, int] | None = {} if missing else None
        self._whole: Ints = np.zeros(0, dtype=np.int64)
        self._numbers: Ints = np.zeros(0, dtype=np.int64)

    def numbers(self, column: Column) -> tuple[Ints, Ints]:
        """For every row the number of its series in the column, and the numbers of these series among all.

        Raises:
            Refusal: a row without a series.
        """
        column = column.identities()
        factors = column.whole() if self._named is None else None
        if factors is not None:
            return factors[0], self._of_whole(factors[1])
        named = self._by_name()
        inside, names = column.factors()
        found = list(map(named.get, names))
        if None in found:
            for i, name in enumerate(names):
                if found[i] is None:
                    if name in self._missing:
                        row = int(np.argmax(inside == i))
                        raise CellRefusal(row, "series", "there is no series", "every row says to which one it belongs")
                    found[i] = named.setdefault(name, len(named))
        return inside, np.array(found, dtype=np.int64)

    def owners(self, others: Identities) -> Ints:
        """For every series of others, in the order of their numbers, its number here."""
        if self._named is None and others._named is None:
            found = self._of_whole(others._whole)
            result = np.empty_like(found)
            result[others._numbers] = found
            return result
        self._by_name()
        assert self._named is not None
        named, here = others._by_name(), self._named
        return np.fromiter((here.setdefault(name, len(here)) for name in named), dtype=np.int64, count=len(named))

    def _by_name(self) -> dict[str | None, int]:
        """The series by their names, in the order of their numbers."""
        if self._named is None:
            order = np.argsort(self._numbers)
            self._named = dict(zip(map(str, self._whole[order].tolist()), range(len(order)), strict=True))
        return self._named

    def _of_whole(self, names: Ints) -> Ints:
        at = np.searchsorted(self._whole, names)
        if len(self._whole):
            near = np.minimum(at, len(self._whole) - 1)
            new = self._whole[near] != names
            found = self._numbers[near]
        else:
            new, found = np.ones(len(names), dtype=np.bool_), np.zeros(len(names), dtype=np.int64)
        if new.any():
            added = np.unique(names[new])
            places = np.searchsorted(self._whole, added)
            self._numbers = np.insert(self._numbers, places, len(self._whole) + np.arange(len(added)))
            self._whole = np.insert(self._whole, places, added)
            found = self._numbers[np.searchsorted(self._whole, names)]
        return found


def times(column: Column, clock: Clock | None) -> tuple[Clock, Times]:
    """The instants of a column, and the kind of clock, which the first cell decides.

    Raises:
        Refusal: a cell without a time, or with a time of another kind.
    """
    numbers: Ints | None = None
    if clock is None:
        first = column.at(np.zeros(1, dtype=np.int64)).factors()[1][0]
        clock = clock_of(first) if first else None
        if clock is None:
            raise CellRefusal(
                0, "time", f"{_quote_cell(first)} is no time", "a number, or a time such as 2024-03-01T12:00:00"
            )
    found = column.times(clock)
    if found is not None:
        return clock, found
    numbers, texts = column.factors()
    table = np.zeros((len(texts), 2), dtype=np.int64)
    for i, text in enumerate(texts):
        read = None if text is None else instant(text, clock)
        if read is None:
            other = None if text is None else clock_of(text)
            message = (
                "there is no time"
                if not text
                else f"{_quote_cell(text)} is no time"
                if other is None
                else f"{_quote_cell(text)} is one of the {other}, and the times before are {clock}"
                if other != clock
                else f"the time {_quote_cell(text)} is beyond what is read exactly: 18 decimals, the years 1678 to 2261"
            )
            raise CellRefusal(
                int(np.argmax(numbers == i)), "time", message, "every row has a number, or a time 2024-03-01T12:00:00"
            )
        table[i] = read
    read_all = table[numbers]
    return clock, (read_all[:, 0], read_all[:, 1] if table[:, 1].any() else None)


def _quote_cell(text: str | None) -> str:
    """A text for a message: quoted, and not without end."""
    return repr(text) if text is None or len(text) <= 60 else repr(text[:60]) + "..."


def _near(text: str, known: Sequence[str]) -> str:
    near = get_close_matches(text, known, n=1)
    listed = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
    return f"did you mean {near[0]!r}?" if near else f"known: {listed}"
