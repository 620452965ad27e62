"""Counting a table by parts: which parts there are, what is counted in one, and how what was counted is joined.

A part is a file, some row groups of a Parquet file, or an object that is read once.  Usually all parts are counted one after another
into one tally.  Where others work, too, they are counted apart, each by `count_part` in whichever process, and joined in their order,
which gives the same (`table_tallies`): states are numbered in the order of their first appearance, and the first fault of the first
part that has one is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from privproof.errors import FormatError
from privproof.memory import MEMORY, MemoryGrowth
from privproof.release.tables.table_cells import Clock, widest_step
from privproof.release.tables.table_columns import CellRefusal, Column, Identities, TableStates, times
from privproof.release.tables.table_sources import Backend, Pieces, TableSource, file_groups, pieces
from privproof.release.tables.table_streams import stream_name, stream_pieces
from privproof.release.tables.table_tallies import TableTally

if TYPE_CHECKING:
    from privproof.release.tables.table_files import TableReading

PART_ROWS = 1 << 24
"""The rows of a Parquet file that are one part, where its row groups are not larger: a second's work, or more."""
_TOLD = 1 << 21
"""Rows between two words about how far counting has come: about a tenth of a second's."""
_ENDINGS = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".tab.gz", ".parquet", ".pq")
"""The files of a folder that are tables."""
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How folders called ``column=value`` say that there is no value."""


@dataclass(frozen=True)
class TablePart:
    """A part of a table.

    Attributes:
        source: the file, or the object.
        name: what messages call it.
        groups: of a Parquet file the first row group and the one after the last; None for all.
        first: how many rows of the same file come before it.
        constants: columns whose value folders say.
    """

    source: Any
    name: str
    groups: tuple[int, int] | None = None
    first: int = 0
    constants: Mapping[str, str] = field(default_factory=dict)


Mapped: TypeAlias = "Callable[[Callable[[TablePart], Counting], Iterable[TablePart]], Iterable[Counting]]"
"""What gives a function and all parts to others, and has their results in order."""


class Counting:
    """A table that is being read: its states, series and counts so far."""

    def __init__(self, reading: TableReading, *, heads: bool = False) -> None:
        self._reading = reading
        self.columns = tuple(
            dict.fromkeys(name for name in (reading.column, reading.series, reading.time) if name is not None)
        )
        self.states: TableStates = TableStates(
            reading.states, bins=reading.bins, mapping=reading.mapping, missing=reading.missing
        )
        self.tally = TableTally(heads=heads)
        self.alone = reading.series is None and reading.time is None and reading.bins is None
        self._identities = Identities(reading.missing)
        self._clock: Clock | None = None
        self._tell = _TOLD

    def read(
        self, part: TablePart, *, rows: int, backend: Backend, told: Callable[[str], None] = lambda _: None
    ) -> None:
        """Count a part, which follows what was counted before.

        Raises:
            FormatError: with the file, the row (the first one after the header is row 1) and the column at fault.
        """
        begun = self.tally.rows - part.first
        growth = MemoryGrowth()
        with closing(self._pieces(part, rows=rows, backend=backend)) as found:
            for piece in found:
                try:
                    self._add(piece)
                except CellRefusal as refusal:
                    raise _fault(part, refusal, self.tally.rows - begun + refusal.row) from None
                if self.tally.rows >= self._tell:
                    self._tell = self.tally.rows + _TOLD
                    told(f"{self.tally.rows:,} rows counted")
                if (said := growth.beyond()) is not None:
                    raise FormatError(
                        "memory",
                        f"{said}; there are {self.tally.series} series and {len(self.states.names)} states",
                        place=part.name,
                        hint=f"{MEMORY}=8G, or fewer series at once: sort by series, and merge the summaries of parts",
                    )

    def join(self, after: Counting, part: TablePart) -> None:
        """Add what was counted in the part that follows."""
        try:
            if self._clock is not None and after._clock not in (None, self._clock):
                raise CellRefusal(
                    0, "time", f"the times are {after._clock}, and those before are {self._clock}", "times of one kind"
                )
            self._clock = self._clock or after._clock
            gap = self._reading.gap
            widest = None if gap is None or self._clock is None else widest_step(gap, self._clock)
            owners = self._identities.owners(after._identities) if self._reading.series else None
            codes = self.states.numbers(after.states)
            self.tally.join(after.tally, codes=codes, owners=owners, states=len(self.states.names), widest=widest)
        except CellRefusal as refusal:
            refusal.column = self._reading.time or self._reading.column
            raise _fault(part, refusal, part.first + refusal.row) from None

    def _pieces(self, part: TablePart, *, rows: int, backend: Backend) -> Pieces:
        if not isinstance(part.source, Path):
            return stream_pieces(part.source, self.columns, rows=rows)
        reading = self._reading
        source = TableSource(
            part.source,
            self.columns,
            reading.delimiter,
            reading.header,
            reading.missing,
            groups=part.groups,
            constants={name: text for name, text in part.constants.items() if name in self.columns[1:]},
            few=reading.bins is None,
        )
        return pieces(source, rows=rows, backend=backend)

    def _add(self, piece: Mapping[str, Column]) -> None:
        reading = self._reading
        at = reading.column
        try:
            if self.alone:
                numbers, table = self.states.table(piece[at])
                self.tally.add_run(numbers, table, len(self.states.names))
                return
            codes = self.states.codes(piece[at])
            series = instants = widest = None
            if reading.series is not None:
                at = reading.series
                series = self._identities.numbers(piece[at])
            if reading.time is not None:
                at = reading.time
                self._clock, instants = times(piece[at], self._clock)
                widest = None if reading.gap is None else widest_step(reading.gap, self._clock)
            self.tally.add(codes, len(self.states.names), series=series, times=instants, widest=widest)
        except CellRefusal as refusal:
            refusal.column = at
            raise


def count_part(reading: TableReading, part: TablePart, *, rows: int, backend: Backend) -> Counting:
    """What is counted in a part by itself; it can be joined to what comes before."""
    counting = Counting(reading, heads=True)
    counting.read(part, rows=rows, backend=backend)
    return counting


def count_parts(
    reading: TableReading, *, rows: int, backend: Backend, mapped: Mapped | None, told: Callable[[str], None]
) -> Counting:
    """Count all parts of a table in their order.

    Raises:
        FormatError: with the file, the row and the column at fault.
    """
    parts = table_parts(reading, split=mapped is not None)
    counting = Counting(reading)
    if mapped is None or len(parts) == 1 or not all(isinstance(part.source, Path) for part in parts):
        for part in parts:
            counting.read(part, rows=rows, backend=backend, told=told)
        return counting
    apart = partial(count_part, reading, rows=rows, backend=backend)
    for part, counted in zip(parts, mapped(apart, parts), strict=True):
        counting.join(counted, part)
        told(f"{counting.tally.rows:,} rows counted")
    return counting


def table_parts(reading: TableReading, *, split: bool) -> list[TablePart]:
    """The parts of a table, in order; large Parquet files are split only if it is asked for.

    Raises:
        FormatError: a file twice, or a folder without tables.
    """
    listed = [part for source in reading.sources for part in _list_parts(source)]
    paths = [part.source.resolve() for part in listed if isinstance(part.source, Path)]
    for path, many in Counter(paths).items():
        if many > 1:
            raise FormatError("file", f"the file is named {many} times", place=str(path), hint="every file once")
    return [piece for part in listed for piece in (_split_part(part) if split else (part,))]


def _list_parts(source: Any) -> Iterator[TablePart]:
    if not isinstance(source, Path):
        yield TablePart(source, stream_name(source))
    elif source.is_dir():
        found = [
            path
            for path in source.rglob("*")
            if path.name.lower().endswith(_ENDINGS)
            and not any(name.startswith((".", "_")) for name in path.relative_to(source).parts)
            and path.is_file()
        ]
        if not found:
            raise FormatError(
                "file", "the folder has no tables", place=str(source), hint=f"files called {', '.join(_ENDINGS)}"
            )
        for path in sorted(found, key=lambda path: _in_order(path.relative_to(source))):
            yield TablePart(path, str(path), constants=_constants(path.relative_to(source)))
    else:
        yield TablePart(source, str(source))


def _in_order(path: Path) -> list[list[tuple[int, str]]]:
    """Sorts names as people do: part-2 before part-10."""
    return [
        [(int(text), "") if text.isdecimal() else (-1, text) for text in re.split(r"([0-9]+)", name)]
        for name in path.parts
    ]


def _constants(path: Path) -> dict[str, str]:
    """What folders called ``column=value`` say."""
    found = (name.partition("=") for name in path.parts[:-1])
    return {unquote(name): "" if text == _NO_VALUE else unquote(text) for name, sign, text in found if sign}


def _split_part(part: TablePart) -> Iterator[TablePart]:
    """A Parquet file as parts of whole row groups; other files, and what cannot be read, as one."""
    sizes = file_groups(part.source) if isinstance(part.source, Path) else None
    if sizes is None:
        yield part
        return
    begin = first = held = 0
    for group, size in enumerate(sizes):
        held += size
        if held >= PART_ROWS or group == len(sizes) - 1:
            yield TablePart(part.source, part.name, (begin, group + 1), first, part.constants)
            begin, first, held = group + 1, first + held, 0


def _fault(part: TablePart, refusal: CellRefusal, row: int) -> FormatError:
    place = f"{part.name}: row {row + 1}: {refusal.column}"
    return FormatError(refusal.code, refusal.message, place=place, hint=refusal.hint)


def named_values(reading: TableReading, *, rows: int, backend: Backend = "auto") -> dict[str, str]:
    """The entry of every row, by what the column of series calls the row; each name once, and no entry missing.

    Raises:
        FormatError: with the file, the row and the column at fault.
    """
    assert reading.series is not None
    counting, found = Counting(reading), dict[str, str]()
    for part in table_parts(reading, split=False):
        row = 0
        with closing(counting._pieces(part, rows=rows, backend=backend)) as read:
            for piece in read:
                texts = [_texts(piece[column], reading.missing) for column in (reading.series, reading.column)]
                for name, value in zip(*texts, strict=True):
                    said = "" if name is not None else "a row without a name"
                    said = said or ("" if value is not None else f"{name!r} has no value")
                    said = said or (f"{name!r} has two rows" if name in found else "")
                    if said or name is None or value is None:
                        refusal = CellRefusal(row, "rows", said, "one row with a value for every name")
                        refusal.column = reading.series if name is None or value is not None else reading.column
                        raise _fault(part, refusal, row)
                    found[name] = value
                    row += 1
    return found


def _texts(column: Column, missing: Sequence[str]) -> list[str | None]:
    """The cells of a column; None where one is missing."""
    codes, texts = column.factors()
    known = [None if text is None or not text or text in missing else text for text in texts]
    return [known[code] for code in codes]
