"""Tables of data, read in one pass with bounded memory and reduced to what a release needs.

A `TableReading` says which column of a table holds the entries and how rows belong together; `summarise` counts what a
release asks for: entries in every state, chains and their lengths, first values, and transitions.  All counts are exact.  Memory
depends on the number of series and of states, not on the number of rows.

What is *found* in private data is not public: states that were discovered in it, the number of its rows and the lengths of its chains
are facts about the data.  For a release, name the states (or bins) beforehand; transitions are for fitting a prior to public data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from privproof.errors import FormatError
from privproof.exact import ZERO, Number, Rational, rational, show
from privproof.release.tables.table_cells import Bins
from privproof.release.tables.table_counting import Mapped, count_parts
from privproof.release.tables.table_sources import Backend
from privproof.release.tables.table_streams import stream_name

__all__ = ["ROWS_AT_ONCE", "Bins", "Summary", "TableReading", "summarise"]

ROWS_AT_ONCE = 1 << 17
"""The rows that are held in memory at once unless the caller says otherwise; the counts do not depend on it."""


@dataclass(frozen=True)
class TableReading:
    """What to read of a table, and how.

    Attributes:
        sources: files, folders of files, and objects that are tables (`table_streams`); several are read one after another as one
            table, so that a series may go on in the next one.
        column: the column with the entries.
        series: the column that says to which series a row belongs; None if all rows are one series.
        time: the column with numbers or ISO timestamps, which never descend within a series; None if the rows have no times.
        gap: the largest step of time within a chain, between timestamps in seconds; a larger one begins another chain.
        bins: for a column of numbers, the bins that are its states.
        mapping: the state that every value, or name of a bin, stands for.
        states: the states that may occur; None to discover them, in the order of their first appearance.
        missing: texts that, like the empty cell, mean that an entry is missing; a missing entry ends its chain.
        delimiter: what stands between two cells of a CSV file; None for a tab in .tsv files and a comma elsewhere.
        header: whether the first row of a CSV file names the columns; otherwise they are called 1, 2, 3.
    """

    sources: tuple[Any, ...]
    column: str
    series: str | None = None
    time: str | None = None
    gap: Rational | None = None
    bins: Bins | None = None
    mapping: Mapping[str, str] | None = None
    states: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    header: bool = True

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        column: str,
        series: str | None = None,
        time: str | None = None,
        gap: Number | None = None,
        bins: Bins | None = None,
        mapping: Mapping[str, str] | None = None,
        states: Sequence[str] | None = None,
        missing: Sequence[str] = (),
        delimiter: str | None = None,
        header: bool = True,
    ) -> TableReading:
        """A reading that makes sense; its states are known if bins, a mapping or states are given.

        Raises:
            FormatError: a gap without times, a bin without a state, a state that is not among the states.

        >>> TableReading.of("meter.csv", column="watts", bins=Bins.of(0, 200, 600)).states
        ('0..200', '200..400', '400..600')
        """
        several = tuple(source) if isinstance(source, list | tuple) else (source,)
        sources = tuple(Path(one) if isinstance(one, str | Path) else one for one in several)
        if not sources:
            raise FormatError("file", "no file is named", place="path", hint="data.csv")
        for one in sources:
            if not isinstance(one, Path):
                stream_name(one)
        exact = None if gap is None else rational(gap)
        if exact is not None and (time is None or exact < 0):
            raise FormatError(
                "gap",
                f"gap = {show(exact)}, time = {time!r}",
                place="gap",
                hint="a gap of 0 or more, and a time column",
            )
        for what, texts in (("states", states), ("missing", missing)):
            if isinstance(texts, str):
                raise FormatError(what, f"{texts!r} is one text, not a list of texts", place=what, hint=f"[{texts!r}]")
        return cls(
            sources=sources,
            column=column,
            series=series,
            time=time,
            gap=exact,
            bins=bins,
            mapping=None if mapping is None else MappingProxyType(dict(mapping)),
            states=_known_states(bins, mapping, states),
            missing=tuple(missing),
            delimiter=delimiter,
            header=header,
        )


@dataclass(frozen=True, eq=False)
class Summary:
    """What a release needs of a table.

    Attributes:
        states: the states, in the order of all counts.
        counts: how many entries are in every state.
        rows: how many rows there are, missing entries included.
        missing: how many entries are missing.
        series: how many series there are; before gaps split them into chains.
        lengths: how many chains there are of every length, ascending.
        totals: how many series there are with so many entries, whatever gaps they have, ascending.
        firsts: how many chains begin in every state.
        transitions: how often a state (the row) is followed by another one (the column) in a chain; not writable.
    """

    states: tuple[str, ...]
    counts: tuple[int, ...]
    rows: int
    missing: int
    series: int
    lengths: Mapping[int, int]
    totals: Mapping[int, int]
    firsts: tuple[int, ...]
    transitions: npt.NDArray[np.int64]

    @property
    def entries(self) -> int:
        """How many entries there are, missing ones not included."""
        return sum(self.counts)

    @property
    def chains(self) -> int:
        """How many chains there are."""
        return sum(self.lengths.values())

    def total(self, weights: Mapping[str, Rational]) -> Rational:
        """The sum of a weight for every entry; states without a weight weigh nothing."""
        return sum(
            (count * weights.get(state, ZERO) for state, count in zip(self.states, self.counts, strict=True)), ZERO
        )

    def merge(self, other: Summary) -> Summary:
        """Both tables together, where no series of one goes on in the other.

        States keep their order; those that only the other table has come last.
        """
        states = tuple(dict.fromkeys((*self.states, *other.states)))
        place = {state: i for i, state in enumerate(states)}
        counts, firsts = [0] * len(states), [0] * len(states)
        transitions = np.zeros((len(states), len(states)), dtype=np.int64)
        lengths: dict[int, int] = {}
        totals: dict[int, int] = {}
        for one in (self, other):
            for state, count, first in zip(one.states, one.counts, one.firsts, strict=True):
                counts[place[state]] += count
                firsts[place[state]] += first
            at = np.array([place[state] for state in one.states], dtype=np.intp)
            transitions[np.ix_(at, at)] += one.transitions
            for mine, theirs in ((lengths, one.lengths), (totals, one.totals)):
                for length, many in theirs.items():
                    mine[length] = mine.get(length, 0) + many
        transitions.flags.writeable = False
        return Summary(
            states=states,
            counts=tuple(counts),
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            series=self.series + other.series,
            lengths=MappingProxyType(dict(sorted(lengths.items()))),
            totals=MappingProxyType(dict(sorted(totals.items()))),
            firsts=tuple(firsts),
            transitions=transitions,
        )

    def __str__(self) -> str:
        return f"{self.entries} entries in {len(self.states)} states, {self.chains} chains, {self.missing} missing"


def summarise(
    reading: TableReading,
    *,
    rows: int = ROWS_AT_ONCE,
    backend: Backend = "auto",
    mapped: Mapped | None = None,
    told: Callable[[str], None] | None = None,
) -> Summary:
    """Read the table once and count.

    Args:
        reading: what to read.
        rows: how many rows are held at once, at most.
        backend: "arrow" for pyarrow, "plain" for the standard library, "auto" for the first of them that is there.
        mapped: how files, and parts of Parquet files, are counted apart, such as ``partial(map_chunks, workers)``; the result is the same.
        told: is told now and then how many rows are counted.

    Raises:
        FormatError: with the file, the row (the first one after the header is row 1) and the column at fault.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "days.csv")
    ...     _ = path.write_text("who,state\\nann,rest\\nbob,walk\\nann,walk\\nann,walk\\nbob,\\nbob,rest\\n")
    ...     summary = summarise(TableReading.of(path, column="state", series="who", states=["rest", "walk"]))
    >>> summary.counts, dict(summary.lengths), summary.missing
    ((2, 3), {1: 2, 3: 1}, 1)
    >>> summary.transitions.tolist()
    [[0, 1], [0, 1]]
    """
    counting = count_parts(reading, rows=max(1, rows), backend=backend, mapped=mapped, told=told or (lambda _: None))
    tally = counting.tally
    if tally.rows == tally.missing:
        named = [str(one) if isinstance(one, Path) else stream_name(one) for one in reading.sources]
        what = "there are no rows" if tally.rows == 0 else f"all {tally.rows} entries are missing"
        raise FormatError("empty", what, place=f"{named[0]}: {reading.column}", hint="a table with entries")
    assert sum(length * many for length, many in tally.lengths().items()) == int(tally.counts.sum())
    tally.transitions.flags.writeable = False
    return Summary(
        states=tuple(counting.states.names),
        counts=tuple(tally.counts.tolist()),
        rows=tally.rows,
        missing=tally.missing,
        series=tally.series,
        lengths=MappingProxyType(dict(tally.lengths())),
        totals=MappingProxyType(dict(tally.totals())),
        firsts=tuple(tally.firsts.tolist()),
        transitions=tally.transitions,
    )


def _known_states(
    bins: Bins | None, mapping: Mapping[str, str] | None, states: Sequence[str] | None
) -> tuple[str, ...] | None:
    """The states that may occur: those given, or those of the mapping, or the bins; None if none of them is given."""
    values = None if bins is None else bins.names
    for value in values or ():
        if mapping is not None and value not in mapping:
            raise FormatError("mapping", f"the bin {value!r} has no state", place="mapping", hint="one for every bin")
    if mapping is not None:
        values = tuple(dict.fromkeys(mapping.values()))
    if states is None:
        return values
    known = tuple(states)
    if not known or len(set(known)) < len(known):
        raise FormatError("states", "no state, or one twice", place="states", hint="different states")
    for value in values or ():
        if value not in known:
            raise FormatError("states", f"{value!r} is not among the states", place="states", hint="add it")
    return known
