"""Counting a table piece by piece: entries, first values, transitions, and the lengths of chains.

Rows of different series may be mixed.  Of every series only its last state, its last time and the length of its open chain are kept;
a chain ends where an entry is missing or a step of time is wider than the gap, and the next entry of the series begins another one.
Inside a piece the rows are sorted by series, stably, and everything is counted at once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from privproof.formats.table_cells import PARTS
from privproof.formats.table_columns import NOTHING, Ints, Refusal, Times

_MOST = 2**64 - 1
"""The largest difference of two 64-bit times: as the widest step it makes no step a gap."""


class Tally:
    """What has been counted so far."""

    def __init__(self) -> None:
        self.rows = 0
        self.missing = 0
        self.series = 0
        self.counts: Ints = np.zeros(0, dtype=np.int64)
        self.firsts: Ints = np.zeros(0, dtype=np.int64)
        self.transitions: Ints = np.zeros((0, 0), dtype=np.int64)
        self._closed: dict[int, int] = {}
        self._last: Ints = np.zeros(0, dtype=np.int64)
        self._length: Ints = np.zeros(0, dtype=np.int64)
        self._entries: Ints = np.zeros(0, dtype=np.int64)
        self._whole: Ints = np.zeros(0, dtype=np.int64)
        self._parts: Ints = np.zeros(0, dtype=np.int64)
        self._with_parts = False

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

        missing = self._count(codes, before, linked, begins)
        self._measure(codes, begins, starts, owners, missing=missing)
        self._last[owners] = codes[ends]
        self._entries[owners] += np.add.reduceat((codes != NOTHING).astype(np.int64), starts)
        self.rows += len(codes)
        self.missing += missing

    def lengths(self) -> Mapping[int, int]:
        """How many chains there are of every length; chains that are still open end here."""
        lengths = dict(self._closed)
        _put(lengths, self._length[: self.series])
        return dict(sorted(lengths.items()))

    def totals(self) -> Mapping[int, int]:
        """How many series there are with so many entries, whatever gaps they have."""
        totals: dict[int, int] = {}
        _put(totals, self._entries[: self.series])
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
        _put(self._closed, self._length[owners[begun]])
        sizes[first] += np.where(begun, 0, self._length[owners])
        open_ones = sizes[last]
        sizes[last] = 0
        _put(self._closed, sizes)
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
        back = whole < earlier
        steps = whole.view(np.uint64) - earlier.view(np.uint64)
        wide = np.zeros(len(whole), dtype=np.bool_)
        most, most_parts = widest if widest is not None else (_MOST, PARTS)
        most, most_parts = (most, most_parts) if most <= _MOST else (_MOST, PARTS)
        if self._with_parts:
            parts = np.zeros_like(whole) if parts is None else parts
            parts = parts if order is None else parts[order]
            before = np.empty_like(parts)
            before[1:] = parts[:-1]
            before[starts] = np.where(fresh, parts[starts], self._parts[owners])
            back |= (whole == earlier) & (parts < before)
            rest = parts - before
            steps -= rest < 0
            rest += (rest < 0) * np.int64(PARTS)
            wide = (steps == np.uint64(most)) & (rest > most_parts)
            self._parts[owners] = parts[ends]
        if back.any():
            rows = np.flatnonzero(back) if order is None else order[back]
            raise Refusal(
                int(rows.min()), "time-order", "the time is before the one before it in its series", "sort by time"
            )
        wide |= steps > np.uint64(most)
        self._whole[owners] = whole[ends]
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
            self._last = np.pad(self._last, (0, more), constant_values=NOTHING)
            self._length = np.pad(self._length, (0, more))
            self._entries = np.pad(self._entries, (0, more))
            self._whole = np.pad(self._whole, (0, more))
            self._parts = np.pad(self._parts, (0, more))
        self.series = max(self.series, series)


def _put(lengths: dict[int, int], sizes: Ints) -> None:
    """Add chains of these sizes; a size of 0 is none."""
    which, many = np.unique(sizes[sizes > 0], return_counts=True)
    for length, number in zip(which.tolist(), many.tolist(), strict=True):
        lengths[length] = lengths.get(length, 0) + number
