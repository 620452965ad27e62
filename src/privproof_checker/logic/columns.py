"""Large processes and vectors in columns: arrays of whole numbers, and exact expectations on them.

A column is ``{"bits", "count", "data"}``: so many signed whole numbers of 8, 16, 32 or 64 bits each, the lowest byte first, compressed by
zlib and written in base 64.

A probability vector is in units of ``2^-52``: an entry V stands for ``V / 2^52``, and ``0 <= V <= 2^52``.  The probabilities of a choice
are ``n_j / D`` with one denominator D for the choice, at most ``2^36``, and their sum is exactly 1.  So everything is computed in
whole numbers of 64 bits without any rounding: with ``V = 2^26 h + l``, the sums of ``n_j h_j`` and of ``n_j l_j`` are at most
``2^36 2^26``.
"""

from __future__ import annotations

import zlib
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from privproof_checker.logic.decision_processes import read_missing
from privproof_checker.logic.formulas import a_state
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, names, only_members

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

ONE = 1 << 52
"""The probability 1 in units."""
_HALF = 26
"""Bits of the lower part of an entry."""
_LOWER = (1 << _HALF) - 1
"""The lower part of an entry, as a mask."""
_LARGEST_DENOMINATOR = 1 << 36
"""The denominator of a choice; with a larger one the sums would not fit into 64 bits."""
_LONGEST_CHOICE = 1 << 20
"""Entries of a choice: so many numbers of at most 2^36 are added up, before it is known that they sum to the denominator."""
_MOST_NUMBERS = 200_000_000
"""Numbers of a column; a longer one is refused before it is unpacked."""
_MOST_PROBABILITIES = 1_000_000
"""Different probabilities of a process."""
_MOST_ACTIONS = 5_000
"""A process may have so many different actions; beyond, it is refused."""


class Numbered(Sequence[str]):
    """The names 0, 1, 2, ... of states, which have no others in columns."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return [str(i) for i in range(self._size)[index]] if isinstance(index, slice) else str(range(self._size)[index])


@dataclass(frozen=True, eq=False)
class Columns:
    """A process: the choices of a state follow each other, and so do the entries of a choice.

    Attributes:
        first_choice: for every state its first choice.
        owner: for every choice its state.
        first_entry: for every choice its first entry.
        targets: for every entry the next state.
        numerators: for every entry the probability, times the denominator of its choice.
        denominators: for every choice its denominator.
        chain: whether it is a Markov chain.
        labels: where labels hold.
        neighbours: pairs of different states.
        actions: the actions; none in a chain.
        taken: for every choice its action, where the operator D needs it.
        missing: what D takes an action for in a state that does not have it: "stay", "refuse" (it leads to the last state), "enabled";
            None where every state has all.
    """

    first_choice: Ints
    owner: Ints
    first_entry: Ints
    targets: Ints
    numerators: Ints
    denominators: Ints
    chain: bool
    labels: dict[str, Flags]
    neighbours: list[tuple[int, int]]
    actions: tuple[str, ...] = ()
    taken: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    missing: str | None = None

    def __len__(self) -> int:
        return len(self.first_choice)

    def expected(self, vector: Ints) -> tuple[Ints, Ints]:
        """For every choice the expected entry of a vector times the denominator, as (h, l): ``2^26 h + l`` with l from 0 below 2^26."""
        upper = np.add.reduceat(self.numerators * (vector >> _HALF)[self.targets], self.first_entry)
        lower = np.add.reduceat(self.numerators * (vector & _LOWER)[self.targets], self.first_entry)
        return upper + (lower >> _HALF), lower & _LOWER

    def compared(self, vector: Ints) -> tuple[Flags, Flags]:
        """For every choice: whether its state's entry is at least the expected one, and whether it is at most that."""
        upper, lower = self.expected(vector)
        own = vector[self.owner]
        first = self.denominators * (own >> _HALF) - upper
        second = self.denominators * (own & _LOWER) - lower
        first += second >> _HALF
        second &= _LOWER
        return first >= 0, (first < 0) | ((first == 0) & (second == 0))

    def stepped(self, vector: Ints, *, up: bool) -> Ints:
        """For every choice the expected entry after it, rounded down, or up."""
        upper, lower = self.expected(vector)
        quotient, rest = np.divmod(upper, self.denominators)
        more, rest = np.divmod((rest << _HALF) + lower, self.denominators)
        return (quotient << _HALF) + more + ((rest > 0) if up else 0)

    def within_steps(self, begin: Ints, steps: int) -> Ints:
        """The states that so many steps lead to from some, in order; themselves included."""
        found = np.zeros(len(self), np.bool_)
        found[begin] = True
        front = np.flatnonzero(found)
        for _ in range(steps):
            onward = np.unique(self.targets[numbers_between(self.first_entry, len(self.targets), self._own(front))])
            front = onward[~found[onward]]
            if not len(front):
                break
            found[front] = True
        return np.flatnonzero(found)

    def _own(self, states: Ints) -> Ints:
        """The choices of some states."""
        return numbers_between(self.first_choice, len(self.owner), states)

    def only(self, states: Ints) -> Columns:
        """The process of some states, in order, without labels and neighbours; what leads elsewhere leads to the first of them."""
        choices = self._own(states)
        entries = numbers_between(self.first_entry, len(self.targets), choices)
        place = np.zeros(len(self), np.int64)
        place[states] = np.arange(len(states))
        owner = place[self.owner[choices]]
        lengths = np.append(self.first_entry[1:], len(self.targets))[choices] - self.first_entry[choices]
        return Columns(
            np.searchsorted(owner, np.arange(len(states))),
            owner,
            np.append(0, np.cumsum(lengths)[:-1]),
            place[self.targets[entries]],
            self.numerators[entries],
            self.denominators[choices],
            self.chain,
            {},
            [],
            self.actions,
            self.taken[choices] if len(self.taken) else self.taken,
            self.missing,
        )

    def over_choices(self, values: Ints, *, largest: bool) -> Ints:
        """For every state the largest or least of what its choices have."""
        return np.asarray((np.maximum if largest else np.minimum).reduceat(values, self.first_choice), np.int64)


def numbers_between(begins: Ints, end: int, which: Ints) -> Ints:
    """All numbers from some of the beginnings to the next one."""
    first = begins[which]
    return stretches(first, np.append(begins[1:], end)[which] - first)


def stretches(first: Ints, lengths: Ints) -> Ints:
    """The numbers of stretches of some lengths from some beginnings on, one stretch after the other."""
    return np.repeat(first - np.append(0, np.cumsum(lengths)[:-1]), lengths) + np.arange(lengths.sum())


def read_column(value: object, count: int, place: str) -> Ints:
    """A column of so many numbers."""
    given = an_object(value, place)
    only_members(given, ("bits", "count", "data"), place)
    bits = an_integer(given.get("bits"), f"{place}.bits")
    if bits not in (8, 16, 32, 64):
        refuse("a number has 8, 16, 32 or 64 bits", f"{place}.bits")
    if an_integer(given.get("count"), f"{place}.count") != count:
        refuse(f"{count} numbers are expected", f"{place}.count")
    within(count, _MOST_NUMBERS, "numbers of a column", place)
    size = count * bits // 8
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(b64decode(a_text(given.get("data"), f"{place}.data"), validate=True), size + 1)
    except (ValueError, zlib.error):
        refuse("the data cannot be unpacked", f"{place}.data")
    if len(data) != size or not unpacking.eof or unpacking.unused_data:
        refuse("the data are of another length", f"{place}.data")
    return np.frombuffer(data, np.dtype(f"<i{bits // 8}")).astype(np.int64)


def read_flags(value: object, count: int, place: str) -> Flags:
    """A column of 0 and 1."""
    column = read_column(value, count, place)
    if count and not (column.min() >= 0 and column.max() <= 1):
        refuse("a flag is 0 or 1", place)
    return np.asarray(column == 1)


def read_columns(value: object, place: str, limits: Limits) -> Columns:
    """A process, checked."""
    given = an_object(value, place)
    keys = ("count", "actions", "choices", "entries", "lengths", "targets", "which", "numbers", "labels", "neighbours")
    only_members(given, (*keys, "names", "taken", "missing"), place)
    count = an_integer(given.get("count"), f"{place}.count")
    within(count, _MOST_NUMBERS, "states", place)
    if count < 1:
        refuse("there is no state", f"{place}.count")
    listed = a_list(given.get("actions"), f"{place}.actions")
    actions = names(listed, f"{place}.actions", _MOST_ACTIONS) if listed else ()
    own = read_column(given.get("choices"), count, f"{place}.choices")
    if own.min() < 1 or own.max() > max(1, len(actions)):
        refuse("a state has a choice, and one for each action at most; in a chain it has one", f"{place}.choices")
    choices = int(own.sum())
    lengths = read_column(given.get("lengths"), choices, f"{place}.lengths")
    if lengths.min() < 1 or lengths.max() > _LONGEST_CHOICE:
        refuse("a choice has an entry, and at most 2^20", f"{place}.lengths")
    entries = an_integer(given.get("entries"), f"{place}.entries")
    if int(lengths.sum()) != entries:
        refuse("the lengths of the choices do not add up to the entries", f"{place}.lengths")
    targets = read_column(given.get("targets"), entries, f"{place}.targets")
    if targets.min() < 0 or targets.max() >= count:
        refuse("there is no such state", f"{place}.targets")
    first_entry = np.append(0, np.cumsum(lengths)[:-1])
    numerators, denominators = _probabilities(given, entries, first_entry, lengths, place, limits)
    pairs = a_list(given.get("neighbours"), f"{place}.neighbours")
    within(len(pairs), limits.pairs, "pairs of neighbours", f"{place}.neighbours")
    neighbours = [_pair(pair, count, f"{place}.neighbours[{i}]") for i, pair in enumerate(pairs)]
    owner = np.repeat(np.arange(count), own)
    taken = np.zeros(0, np.int64)
    if "taken" in given:
        taken = read_column(given["taken"], choices, f"{place}.taken")
        if not actions or taken.min() < 0 or taken.max() >= len(actions):
            refuse("there is no such action", f"{place}.taken")
        if len(np.unique(owner * len(actions) + taken)) < choices:
            refuse("a state has an action twice", f"{place}.taken")
    found = Columns(
        np.append(0, np.cumsum(own)[:-1]),
        owner,
        first_entry,
        targets,
        numerators,
        denominators,
        not actions,
        {
            name: read_flags(marks, count, f"{place}.labels.{name[:60]}")
            for name, marks in an_object(given.get("labels"), f"{place}.labels").items()
        },
        [(s, t) for s, t in neighbours if s != t],
        actions,
        taken,
        read_missing(given.get("missing"), place),
    )
    if found.missing == "refuse":
        last = count - 1
        mine = slice(int(found.first_choice[last]), choices)
        if len(taken) == 0 or own[last] != len(actions) or (targets[first_entry[mine.start] :] != last).any():
            refuse("the last state, where refused runs end, is left again", f"{place}.missing")
        if "refused" in found.labels and np.flatnonzero(found.labels["refused"]).tolist() != [last]:
            refuse("another state than the last one is labelled `refused`", f"{place}.labels.refused")
    return found


def _probabilities(
    given: dict[str, object], entries: int, first_entry: Ints, lengths: Ints, place: str, limits: Limits
) -> tuple[Ints, Ints]:
    """The numerators of entries and the denominators of choices."""
    listed = a_list(given.get("numbers"), f"{place}.numbers")
    within(len(listed), _MOST_PROBABILITIES, "different probabilities", f"{place}.numbers")
    numbers = [a_number(number, f"{place}.numbers[{i}]", limits) for i, number in enumerate(listed)]
    for i, number in enumerate(numbers):
        if not 0 < number <= 1 or number.q > _LARGEST_DENOMINATOR:
            refuse(
                "a probability is above 0 and at most 1, with a denominator of at most 2^36", f"{place}.numbers[{i}]"
            )
    which = read_column(given.get("which"), entries, f"{place}.which")
    if which.min() < 0 or which.max() >= len(numbers):
        refuse("there is no such number", f"{place}.which")
    over = np.array([int(number.q) for number in numbers], np.int64)[which]
    # a multiple that does not fit turns into something else, which the next two conditions notice
    common = np.lcm.reduceat(over, first_entry)
    if common.min() < 1 or common.max() > _LARGEST_DENOMINATOR or (np.repeat(common, lengths) % over).any():
        refuse("the probabilities of a choice have no common denominator of at most 2^36", f"{place}.numbers")
    numerators = np.array([int(number.p) for number in numbers], np.int64)[which] * (np.repeat(common, lengths) // over)
    if (np.add.reduceat(numerators, first_entry) != common).any():
        refuse("the probabilities of a choice do not sum to 1", f"{place}.which")
    return np.asarray(numerators, np.int64), np.asarray(common, np.int64)


def _pair(value: object, count: int, place: str) -> tuple[int, int]:
    pair = a_list(value, place)
    if len(pair) != 2:
        refuse("a pair of neighbours is two states", place)
    return a_state(pair[0], count, place), a_state(pair[1], count, place)
