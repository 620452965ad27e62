"""Counting a table piece by piece: entries, first values, transitions, and the lengths of chains.

Rows of different series may be mixed.  Of every series only its last state, its last time and the length of its open chain are kept;
a chain ends where an entry is missing or a step of time is wider than the gap, and the next entry of the series begins another one.
Inside a piece the rows are sorted by series, stably, and everything is counted at once.

**Tallies form a monoid**: `Tally.join` adds the tally of the rows that follow, which was made without knowing what came before.  Whether
the first row of a series goes on with the chain before it depends on its state and its time alone.  So a tally that will be joined keeps
those for every series (its *heads*), with the length of the chain that begins there once that has ended.  Where a chain goes on, one
first value less and one transition more is counted, and the two lengths become one.  The tally of a table is therefore the same however
its rows are split into parts, in whichever order neighbouring parts are joined; a tally of no rows is the unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from privproof.release.tables.table_cells import PARTS
from privproof.release.tables.table_columns import NOTHING, CellRefusal, Ints, Times

_MOST = 2**64 - 1
"""The largest difference of two 64-bit times: as the widest step it makes no step a gap."""
_FEW = 181
"""Distinct texts whose pairs are numbered by 16 bits with a sign: the square of 181 is below 2**15."""
_LAST = {"_last": NOTHING, "_length": 0, "_entries": 0, "_whole": 0, "_parts": 0}
"""What is kept of every series, and what stands there before its first row."""
_HEADS = {"_head": NOTHING, "_head_length": 0, "_head_whole": 0, "_head_parts": 0, "_head_row": 0}
"""What is also kept for joining: the first row, and the length of the chain that begins there, or 0 before it has ended."""


class TableTally:
    """What has been counted so far.

    Args:
        heads: whether it may be joined to what comes before; that takes as much memory for every series again.
    """

    def __init__(self, *, heads: bool = False) -> None:
        self.rows = 0
        self.missing = 0
        self.series = 0
        self.counts: Ints = np.zeros(0, dtype=np.int64)
        self.firsts: Ints = np.zeros(0, dtype=np.int64)
        self.transitions: Ints = np.zeros((0, 0), dtype=np.int64)
        self._closed: dict[int, int] = {}
        self._last: Ints
        self._length: Ints
        self._entries: Ints
        self._whole: Ints
        self._parts: Ints
        self._head: Ints
        self._head_length: Ints
        self._head_whole: Ints
        self._head_parts: Ints
        self._head_row: Ints
        self._kept = _LAST | _HEADS if heads else _LAST
        for name in self._kept:
            setattr(self, name, np.zeros(0, dtype=np.int64))
        self._with_parts = False

    @property
    def _heads(self) -> bool:
        return self._kept is not _LAST

    def add(
        self,
        codes: Ints,
        states: int,
        *,
        series: tuple[Ints, Ints] | None = None,
        times: Times | None = None,
        widest: tuple[int, int] | None = None,
    ) -> None:
        """Count a piece.

        Args:
            codes: the states of the rows, or `NOTHING`.
            states: how many states there are by now.
            series: for every row the number of its series within the piece, and the numbers of these series in the whole table.
            times: the instants of the rows.
            widest: the largest step that is no gap.

        Raises:
            Refusal: a time that comes before the one before it in its series.
        """
        if not len(codes):
            return
        self._widen(states)
        order: npt.NDArray[np.intp] | None = None
        starts, owners = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        if series is not None:
            inside, numbers = series
            if np.any(inside[1:] < inside[:-1]):
                small = inside.astype(np.uint16) if len(numbers) <= 1 << 16 else inside
                order = np.argsort(small, kind="stable")
                inside, codes = inside[order], codes[order]
            starts = np.concatenate(([0], np.flatnonzero(inside[1:] != inside[:-1]) + 1))
            owners = numbers[inside[starts]]
        fresh = owners >= self.series
        self._lengthen(int(owners.max()) + 1)
        ends = np.concatenate((starts[1:], [len(codes)])) - 1

        before = np.empty_like(codes)
        before[1:] = codes[:-1]
        before[starts] = self._last[owners]
        linked = (codes != NOTHING) & (before != NOTHING)
        if times is not None:
            linked &= ~self._gaps(times, widest, order=order, starts=starts, ends=ends, owners=owners, fresh=fresh)
        begins = (codes != NOTHING) & ~linked

        if self._heads:
            new, at = owners[fresh], starts[fresh]
            self._head[new] = codes[at]
            self._head_row[new] = self.rows + (at if order is None else order[at])
        missing = self._count(codes, before, linked, begins)
        self._measure(codes, begins, starts, owners, missing=missing)
        self._last[owners] = codes[ends]
        self._entries[owners] += np.add.reduceat((codes != NOTHING).astype(np.int64), starts)
        self.rows += len(codes)
        self.missing += missing

    def lengths(self) -> Mapping[int, int]:
        """How many chains there are of every length; chains that are still open end here."""
        lengths = dict(self._closed)
        _add_lengths(lengths, self._length[: self.series])
        return dict(sorted(lengths.items()))

    def totals(self) -> Mapping[int, int]:
        """How many series there are with so many entries, whatever gaps they have."""
        totals: dict[int, int] = {}
        _add_lengths(totals, self._entries[: self.series])
        return dict(sorted(totals.items()))

    def _count(self, codes: Ints, before: Ints, linked: npt.NDArray[np.bool_], begins: npt.NDArray[np.bool_]) -> int:
        """Count entries, first values and transitions; how many entries are missing."""
        states = len(self.counts)
        found = np.bincount(codes + 1, minlength=states + 1)
        self.counts += found[1:]
        self.firsts += np.bincount(codes[begins], minlength=states)
        pairs = np.where(linked, before * states + codes, states * states)
        if states * states <= 4 * len(codes):
            self.transitions += np.bincount(pairs, minlength=states * states + 1)[:-1].reshape(states, states)
        else:
            which, many = np.unique(pairs[linked], return_counts=True)
            self.transitions.reshape(-1)[which] += many
        return int(found[0])

    def _measure(self, codes: Ints, begins: npt.NDArray[np.bool_], starts: Ints, owners: Ints, *, missing: int) -> None:
        """Add to the lengths of the chains: close those that another one follows, leave the last of every series open."""
        cut = begins.copy()
        cut[starts] = True
        at = np.flatnonzero(cut)
        if missing:
            sizes = np.add.reduceat((codes != NOTHING).astype(np.int64), at)
        else:
            sizes = np.diff(at, append=len(codes))
        first = np.searchsorted(at, starts)
        last = np.append(first[1:], len(at)) - 1
        begun = begins[starts]
        _add_lengths(self._closed, self._length[owners[begun]])
        if self._heads:
            self._end_heads(owners[begun], self._length[owners[begun]])
        sizes[first] += np.where(begun, 0, self._length[owners])
        if self._heads:
            self._end_heads(owners[last > first], sizes[first[last > first]])
        open_ones = sizes[last]
        sizes[last] = 0
        _add_lengths(self._closed, sizes)
        self._length[owners] = open_ones

    def _gaps(
        self,
        times: Times,
        widest: tuple[int, int] | None,
        *,
        order: npt.NDArray[np.intp] | None,
        starts: Ints,
        ends: Ints,
        owners: Ints,
        fresh: npt.NDArray[np.bool_],
    ) -> npt.NDArray[np.bool_]:
        """Where the step from the row before it in the series is wider than the gap."""
        whole, parts = times
        self._with_parts |= parts is not None
        if order is not None:
            whole = whole[order]
        earlier = np.empty_like(whole)
        earlier[1:] = whole[:-1]
        earlier[starts] = np.where(fresh, whole[starts], self._whole[owners])
        before = None
        if self._with_parts:
            parts = np.zeros_like(whole) if parts is None else parts
            parts = parts if order is None else parts[order]
            before = np.empty_like(parts)
            before[1:] = parts[:-1]
            before[starts] = np.where(fresh, parts[starts], self._parts[owners])
            self._parts[owners] = parts[ends]
        back, wide = _steps((whole, parts), (earlier, before), widest)
        if back.any():
            raise _backwards(np.flatnonzero(back) if order is None else order[back])
        self._whole[owners] = whole[ends]
        if self._heads:
            self._head_whole[owners[fresh]] = whole[starts[fresh]]
            if parts is not None:
                self._head_parts[owners[fresh]] = parts[starts[fresh]]
        return wide

    def _widen(self, states: int) -> None:
        more = states - len(self.counts)
        if more > 0:
            self.counts = np.pad(self.counts, (0, more))
            self.firsts = np.pad(self.firsts, (0, more))
            self.transitions = np.pad(self.transitions, ((0, more), (0, more)))

    def _lengthen(self, series: int) -> None:
        room = len(self._last)
        if series > room:
            more = max(series, room + room // 2) - room
            for name, empty in self._kept.items():
                setattr(self, name, np.pad(getattr(self, name), (0, more), constant_values=empty))
        self.series = max(self.series, series)

    def add_run(self, numbers: npt.NDArray[np.integer[Any]], table: Ints, states: int) -> None:
        """Count a piece of a table that is one series without times: its steps are counted by the numbers of texts, not row by row.

        Args:
            numbers: for every row the number of its text.
            table: for every text its state, or `NOTHING`.
            states: how many states there are by now.
        """
        if len(table) > _FEW or len(table) ** 2 > len(numbers):
            self.add(table[numbers], states)
            return
        wide = len(table)
        small = numbers.astype(np.int16)
        pairs = small[:-1] * np.int16(wide)
        pairs += small[1:]
        steps = np.bincount(pairs, minlength=wide * wide).reshape(wide, wide)
        first = int(table[small[0]])
        entered = steps.sum(axis=0)
        entered[small[0]] += 1
        if entered[table == NOTHING].any():
            self.add(table[numbers], states)
            return
        self._widen(states)
        fresh = self.series == 0
        self._lengthen(1)
        known = np.flatnonzero(entered)
        np.add.at(self.counts, table[known], entered[known])
        known = np.flatnonzero(steps.any(axis=0) | steps.any(axis=1))
        np.add.at(self.transitions, np.ix_(table[known], table[known]), steps[np.ix_(known, known)])
        if self._heads and fresh:
            self._head[0] = first
        if self._last[0] == NOTHING:
            self.firsts[first] += 1
            _add_lengths(self._closed, self._length[:1])
            if self._heads:
                self._end_heads(np.zeros(1, dtype=np.int64), self._length[:1])
            self._length[0] = 0
        else:
            self.transitions[self._last[0], first] += 1
        self._length[0] += len(numbers)
        self._entries[0] += len(numbers)
        self._last[0] = table[small[-1]]
        self.rows += len(numbers)

    def join(
        self, after: TableTally, *, codes: Ints, owners: Ints | None, states: int, widest: tuple[int, int] | None
    ) -> None:
        """Add what was counted, with heads, in the rows that follow.

        Args:
            after: their tally.
            codes: for every state of theirs its number here.
            owners: for every series of theirs its number here; None where there is one.
            states: how many states there are together.
            widest: the largest step that is no gap; None where every step is none.

        Raises:
            Refusal: a series of theirs begins before its last time here; the row is counted from the first of theirs.
        """
        assert after._heads
        if not after.rows:
            return
        self._widen(states)
        before = self.series
        theirs = np.arange(after.series)
        owners = theirs if owners is None else owners
        fresh = owners >= before
        self._lengthen(max(before, int(owners.max()) + 1))
        head, last = _translate_states(after._head[theirs], codes), _translate_states(after._last[theirs], codes)
        linked = (head != NOTHING) & (self._last[owners] != NOTHING)
        linked &= ~self._wide_steps(after, owners, fresh, widest)

        codes = codes[: len(after.counts)]
        self.counts[codes] += after.counts
        self.firsts[codes] += after.firsts
        self.transitions[np.ix_(codes, codes)] += after.transitions
        np.subtract.at(self.firsts, head[linked], 1)
        np.add.at(self.transitions, (self._last[owners[linked]], head[linked]), 1)

        length, ended, open_ones = self._length[owners], after._head_length[theirs], after._length[theirs]
        for size, many in after._closed.items():
            self._closed[size] = self._closed.get(size, 0) + many
        _add_lengths(self._closed, length[~linked])
        gone = linked & (ended > 0)
        _add_lengths(self._closed, ended[gone], sign=-1)
        _add_lengths(self._closed, (length + ended)[gone])
        if self._heads:
            self._end_heads(owners[~linked], length[~linked])
            self._end_heads(owners[gone], (length + ended)[gone])
            new = owners[fresh]
            for name in _HEADS:
                getattr(self, name)[new] = getattr(after, name)[theirs][fresh]
            self._head[new] = head[fresh]
            self._head_row[new] += self.rows
        self._length[owners] = open_ones + np.where(linked & ~gone, length, 0)
        self._entries[owners] += after._entries[theirs]
        self._last[owners] = last
        self._whole[owners], self._parts[owners] = after._whole[theirs], after._parts[theirs]
        self._with_parts |= after._with_parts
        self.rows += after.rows
        self.missing += after.missing

    def _wide_steps(
        self, after: TableTally, owners: Ints, fresh: npt.NDArray[np.bool_], widest: tuple[int, int] | None
    ) -> npt.NDArray[np.bool_]:
        """Where the step from the last row here to the first one there is wider than the gap; for every series of theirs."""
        there = slice(after.series)
        starts = (after._head_whole[there], after._head_parts[there])
        ends = tuple(
            np.where(fresh, mine, theirs[owners])
            for mine, theirs in zip(starts, (self._whole, self._parts), strict=True)
        )
        back, wide = _steps(starts, (ends[0], ends[1]), widest)
        if back.any():
            raise _backwards(after._head_row[there][back])
        return wide

    def _end_heads(self, owners: Ints, lengths: Ints) -> None:
        """Note the lengths of chains that have ended, where they are the first of their series and begin with its first row."""
        first = (self._head[owners] != NOTHING) & (self._head_length[owners] == 0)
        self._head_length[owners[first]] = lengths[first]


def _steps(
    later: Times, earlier: Times, widest: tuple[int, int] | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which steps of time go back, and which are wider than the widest one."""
    (whole, parts), (whole_before, parts_before) = later, earlier
    back = whole < whole_before
    steps = whole.view(np.uint64) - whole_before.view(np.uint64)
    wide = np.zeros(len(whole), dtype=np.bool_)
    most, most_parts = widest if widest is not None else (_MOST, PARTS)
    most, most_parts = (most, most_parts) if most <= _MOST else (_MOST, PARTS)
    if parts is not None and parts_before is not None:
        back |= (whole == whole_before) & (parts < parts_before)
        rest = parts - parts_before
        steps -= rest < 0
        rest += (rest < 0) * np.int64(PARTS)
        wide = (steps == np.uint64(most)) & (rest > most_parts)
    return back, wide | (steps > np.uint64(most))


def _backwards(rows: npt.NDArray[np.signedinteger[Any]]) -> CellRefusal:
    return CellRefusal(
        int(rows.min()), "time-order", "the time is before the one before it in its series", "sort by time"
    )


def _translate_states(numbers: Ints, codes: Ints) -> Ints:
    """The numbers of states here for those there."""
    return np.append(codes, NOTHING)[numbers]


def _add_lengths(lengths: dict[int, int], sizes: Ints, *, sign: int = 1) -> None:
    """Add chains of these sizes, or take them away; a size of 0 is none."""
    which, many = np.unique(sizes[sizes > 0], return_counts=True)
    for length, number in zip(which.tolist(), many.tolist(), strict=True):
        lengths[length] = lengths.get(length, 0) + sign * number
        if not lengths[length]:
            del lengths[length]
