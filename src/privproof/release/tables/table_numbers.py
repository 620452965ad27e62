"""Columns of real numbers, added up exactly in one pass; series, gaps and missing entries are told as for states (`tables`).

A cell is a decimal, not a float, and so is the sum.  Numbers beyond a range count as its ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np

from privproof.errors import FormatError
from privproof.exact import Rational, fraction, rational
from privproof.release.tables.table_cells import is_number
from privproof.release.tables.table_columns import NOTHING, CellRefusal, Column, Ints, TableStates
from privproof.release.tables.table_counting import Counting, table_parts
from privproof.release.tables.table_files import ROWS_AT_ONCE, TableReading
from privproof.release.tables.table_streams import stream_name

_DIGITS = 10_000
"""Digits that are kept while numbers are added up; where they are not enough, the cell is refused."""
_EXACTLY = Context(prec=_DIGITS, traps=[Inexact])


@dataclass(frozen=True)
class Summed:
    """What a release needs of a column of numbers.

    Attributes:
        total: the sum.
        entries: how many numbers there are.
        rows: how many rows, missing entries included.
        missing: how many entries are missing.
        series: how many series there are.
        lengths: how many chains there are of every length, where gaps and missing entries split series.
        totals: how many series there are with so many entries, whatever gaps they have.
    """

    total: Rational
    entries: int
    rows: int
    missing: int
    series: int
    lengths: Mapping[int, int]
    totals: Mapping[int, int]

    @property
    def chains(self) -> int:
        """How many chains there are."""
        return sum(self.lengths.values())


class _Numbers(TableStates):
    """In the place of states: every number is the same state, and is added up."""

    def __init__(self, limits: tuple[Rational, Rational] | None, missing: tuple[str, ...]) -> None:
        super().__init__(("number",), missing=missing)
        self._limits = None if limits is None else tuple(map(fraction, limits))
        self._inside = Decimal(0)
        self._beyond = Fraction(0)

    @property
    def total(self) -> Rational:
        return rational(Fraction(self._inside) + self._beyond)

    def codes(self, column: Column) -> Ints:
        numbers, texts = column.factors()
        many = np.bincount(numbers, minlength=len(texts)).tolist()
        table = np.zeros(len(texts), dtype=np.int64)
        with localcontext(_EXACTLY):
            for i, (text, times) in enumerate(zip(texts, many, strict=True)):
                if text is None or text in self._missing:
                    table[i] = NOTHING
                    continue
                try:
                    self._add(text, times)
                except (Inexact, ValueError):
                    row = int(np.argmax(numbers == i))
                    hint = f"a decimal such as 12.5; if it marks a missing entry: missing: [{text[:40]!r}]"
                    raise CellRefusal(row, "number", f"{text[:40]!r} is no number", hint) from None
        read: Ints = table[numbers]
        return read

    def _add(self, text: str, times: int) -> None:
        if not is_number(text):
            raise ValueError(text)
        value = Decimal(text.strip())
        if self._limits is not None and not self._limits[0] <= value <= self._limits[1]:
            self._beyond += times * self._limits[0 if value < self._limits[0] else 1]
        else:
            self._inside += value * times


def add_up(
    reading: TableReading,
    limits: tuple[Rational, Rational] | None,
    *,
    rows: int = ROWS_AT_ONCE,
    told: Callable[[str], None] = lambda _: None,
) -> Summed:
    """Read a table once and add its numbers up; those beyond the limits count as these.

    Raises:
        FormatError: with the file, the row and the column at fault.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "meter.csv")
    ...     _ = path.write_text("watts\\n0.1\\n0.2\\n\\n250\\n")
    ...     found = add_up(TableReading.of(path, column="watts"), (rational(0), rational(100)))
    >>> found.total, found.entries, dict(found.lengths)
    (1003/10, 3, {1: 1, 2: 1})
    """
    counting = Counting(reading)
    numbers = _Numbers(limits, reading.missing)
    counting.states, counting.alone = numbers, False
    for part in table_parts(reading, split=False):
        counting.read(part, rows=rows, backend="auto", told=told)
    tally = counting.tally
    if tally.rows == tally.missing:
        first = reading.sources[0]
        name = str(first) if isinstance(first, Path) else stream_name(first)
        raise FormatError(
            "empty", "there are no numbers", place=f"{name}: {reading.column}", hint="a table with entries"
        )
    return Summed(
        numbers.total,
        int(tally.counts.sum()),
        tally.rows,
        tally.missing,
        tally.series,
        dict(tally.lengths()),
        dict(tally.totals()),
    )
