"""Many states at once: all choices of the states that wait, as columns, where a state by itself would be slow.

A state is one integer, a few bits for every variable.  A guard is evaluated in all waiting states (`columnwise`); a branch adds to the
integer what it changes.  Commands of several modules are put together over the states in which those before are enabled, so that only
combinations are met that are enabled somewhere.  New states are found in a table of hashes and numbered as they come first, in the order
of states, choices and branches: states, choices and entries have the order that they have by `Stepper`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from privproof.logic.decision_process import Ints
from privproof.logic.prism.columnwise_steps import ColumnExpressions, ColumnwiseStates, distinct
from privproof.logic.prism.expression_meanings import ExpressionMeaning, Trouble
from privproof.logic.prism.module_steps import Stepper
from privproof.logic.prism.module_system import CommandRule, System
from privproof.logic.prism.transition_tables import Probabilities, ProbabilityNumbers, State

_MOST_BITS = 62
"""Of the integer that a state is."""
_LONGEST = 1 << 17
"""States that are taken at once: so that what is computed of them fits into the caches."""
_WIDEST_ROW = 64
"""Branches of a choice among which equal targets are looked for pair by pair."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio, times 2^64: multiplied by it, neighbouring integers are far apart (Knuth)."""


class Unfit(Exception):
    """These states are to be taken one by one: something fails in one of them, or they are of a kind that is not for this way."""


class StateBatch(NamedTuple):
    """The choices of some states, in order.

    Attributes:
        choices: for every state how many it has.
        actions: for every choice its action.
        lengths: for every choice how many entries it has.
        targets: for every entry the next state.
        values: for every entry the number of its probability.
        stuck: which of the states have no choice of their own; their one choice is to stay.
    """

    choices: Ints
    actions: Ints
    lengths: Ints
    targets: Ints
    values: Ints
    stuck: Ints


class _Branch(NamedTuple):
    at: int
    changes: tuple[tuple[int, ExpressionMeaning], ...]


class _Command(NamedTuple):
    rule: CommandRule
    guard: ExpressionMeaning
    branches: tuple[_Branch, ...]
    slots: list[int]
    table: Probabilities


class _ChoicePart(NamedTuple):
    """Choices of one kind: of which states, the action, and for every state and branch the target and the number.

    Numbers that are the same for all states are one row.
    """

    states: Ints
    action: int
    targets: Ints
    numbers: Ints


class Batches:
    """Explores a system by columns, from states that are known."""

    def __init__(self, system: System, stepper: Stepper, numbers: ProbabilityNumbers, most: int) -> None:
        self._system, self._numbers = system, numbers
        ranges = [(slot.low, slot.high) for slot in system.slots]
        self._widths = [max(1, (high - low).bit_length()) for low, high in ranges]
        self._shifts = np.append(0, np.cumsum(self._widths)[:-1]).tolist()
        self._lows = [low for low, _ in ranges]
        self._highs = [high for _, high in ranges]
        self.fit = sum(self._widths) <= _MOST_BITS
        self._expressions = ColumnExpressions(ranges)
        self._stepper = stepper
        self._alone = [(stepper.alone_number(rule), self._command(rule)) for rule in stepper.alone]
        self._joint = [
            (stepper.number(joint), [[self._command(rule) for rule in rules] for rules in system.commands(joint)])
            for joint in stepper.joint
        ]
        self._table = _Hashes(most)

    def _command(self, rule: CommandRule) -> _Command:
        shared = self._expressions.shared
        branches = tuple(
            _Branch(outcome.at, tuple((slot, shared(value)) for slot, value in outcome.changes))
            for outcome in rule.outcomes
        )
        return _Command(rule, shared(rule.guard), branches, *self._stepper.probabilities(rule))

    def __len__(self) -> int:
        return len(self._table)

    def begin(self, states: Sequence[State]) -> None:
        """Take over the states that are known, in their order."""
        table = np.array(states, np.int64)
        keys = np.zeros(len(states), np.int64)
        for slot, (low, shift) in enumerate(zip(self._lows, self._shifts, strict=True)):
            keys |= (table[:, slot] - low) << shift
        self._table.numbers(keys)

    def columns(self, begin: int = 0, end: int | None = None) -> list[Ints]:
        """The values of the variables in some of the states."""
        keys = self._table.keys(begin, len(self) if end is None else end)
        parts = zip(self._lows, self._shifts, self._widths, strict=True)
        return [((keys >> shift) & ((1 << width) - 1)) + low for low, shift, width in parts]

    def step(self, begin: int, one: int) -> StateBatch:
        """The choices of waiting states, from one of a number on; one is the number of the probability 1.

        Raises:
            Unfit: they are to be taken one by one; nothing has changed.
        """
        end = min(len(self), begin + _LONGEST)
        columns = self.columns(begin, end)
        states = ColumnwiseStates(end - begin, columns)
        keys = self._table.keys(begin, end)
        try:
            parts = [part for alone in self._alone for part in self._by_itself(*alone, states, columns, keys)]
            for joint in self._joint:
                parts += self._together(*joint, states, columns, keys)
        except Trouble:
            raise Unfit from None
        return self._put_together(parts, keys, one)

    def _by_itself(
        self, action: int, command: _Command, states: ColumnwiseStates, columns: Sequence[Ints], keys: Ints
    ) -> Iterator[_ChoicePart]:
        rows = self._enabled(command, states)
        if len(rows):
            numbers, moves = self._branches(command, columns, rows)
            yield _ChoicePart(rows, action, keys[rows][:, None] + moves, numbers)

    def _enabled(self, command: _Command, states: ColumnwiseStates) -> Ints:
        marks = self._expressions.values(command.guard, states)
        return np.flatnonzero(np.broadcast_to(marks, (states.count,)))

    def _together(
        self, action: int, modules: list[list[_Command]], states: ColumnwiseStates, columns: Sequence[Ints], keys: Ints
    ) -> Iterator[_ChoicePart]:
        """All combinations of commands, one of each module, over the states in which they are enabled."""
        marks: list[list[tuple[_Command, np.ndarray]]] = []
        for commands in modules:
            found = [
                (command, np.broadcast_to(self._expressions.values(command.guard, states), (states.count,)))
                for command in commands
            ]
            marks.append([(command, enabled) for command, enabled in found if enabled.any()])
            if not marks[-1]:
                return
        every = np.logical_and.reduce([np.logical_or.reduce([enabled for _, enabled in each]) for each in marks])
        known: dict[int, tuple[Ints, Ints, Ints]] = {}

        def branches(command: _Command, enabled: np.ndarray, rows: Ints) -> tuple[Ints, Ints]:
            """What a command does in some rows, computed once for all rows in which it and some command of each module are enabled."""
            if id(command) not in known:
                where = enabled & every
                known[id(command)] = (
                    np.cumsum(where) - 1,
                    *self._branches(command, columns, np.flatnonzero(where)),
                )
            place, numbers, moves = known[id(command)]
            return numbers if len(numbers) == 1 else numbers[place[rows]], moves[place[rows]]

        def combined(turn: int, rows: Ints, chosen: list[tuple[_Command, np.ndarray]]) -> Iterator[_ChoicePart]:
            if turn == len(marks):
                numbers, moves = branches(*chosen[0], rows)
                for each in chosen[1:]:
                    more_numbers, more_moves = branches(*each, rows)
                    numbers = self._products(numbers, more_numbers)
                    moves = (moves[:, :, None] + more_moves[:, None, :]).reshape(len(rows), -1)
                yield _ChoicePart(rows, action, keys[rows][:, None] + moves, numbers)
                return
            for command, enabled in marks[turn]:
                left = rows[enabled[rows]]
                if len(left):
                    yield from combined(turn + 1, left, [*chosen, (command, enabled)])

        yield from combined(0, np.flatnonzero(every), [])

    def _branches(self, command: _Command, columns: Sequence[Ints], rows: Ints) -> tuple[Ints, Ints]:
        """For some states and every branch the number of its probability (-1 for 0), and what it adds to the state's integer.

        Numbers that are the same for all states are one row.
        """
        states = ColumnwiseStates(len(rows), columns, rows)
        numbers = self._probabilities(command, states)
        moves = np.zeros((len(rows), len(command.branches)), np.int64)
        for branch, (_, changes) in enumerate(command.branches):
            for slot, meaning in changes:
                value = self._expressions.values(meaning, states)
                low, high = self._lows[slot], self._highs[slot]
                outside = (value < low) | (value > high)
                if np.any(outside) and np.any(outside & (numbers[:, branch] >= 0)):
                    raise Unfit
                moves[:, branch] += (value - states.column(slot)) << self._shifts[slot]
        return numbers, moves

    def _probabilities(self, command: _Command, states: ColumnwiseStates) -> Ints:
        if not command.slots:
            return np.array([command.table[()]], np.int64)
        rows, which = states.combinations(command.slots)
        single = len(command.slots) == 1
        return np.array([command.table[row[0] if single else row] for row in rows], np.int64)[which]

    def _products(self, left: Ints, right: Ints) -> Ints:
        """For every state the numbers of the products of all pairs of probabilities."""
        shape = (max(len(left), len(right)), left.shape[1], right.shape[1])
        pairs = [np.broadcast_to(each, shape).reshape(-1) for each in (left[:, :, None], right[:, None, :])]
        return _paired_entries(self._numbers.times, *pairs).reshape(shape[0], -1)

    def _put_together(self, parts: list[_ChoicePart], keys: Ints, one: int) -> StateBatch:
        count = len(keys)
        choices = np.zeros(count, np.int64)
        for part in parts:
            choices[part.states] += 1  # a state is in a part once
        if self._system.kind == "dtmc" and (choices > 1).any():
            raise Unfit
        stuck = np.flatnonzero(choices == 0)
        if len(stuck):
            parts.append(_ChoicePart(stuck, -1, keys[stuck][:, None], np.full((len(stuck), 1), one, np.int64)))
            choices[stuck] = 1
        merged = [self._merged(part) for part in parts]
        present = [np.broadcast_to(part.numbers >= 0, part.targets.shape) for part in merged]
        # where a part's choice of a state stands: behind those of the state's earlier parts
        begins = np.append(0, np.cumsum(choices)[:-1])
        total = int(choices.sum())
        actions, lengths = np.empty(total, np.int64), np.empty(total, np.int64)
        places = []
        for part, there in zip(merged, present, strict=True):
            place = begins[part.states]
            begins[part.states] += 1
            actions[place], lengths[place] = part.action, there.sum(axis=1)
            places.append(place)
        first = np.append(0, np.cumsum(lengths)[:-1])
        size = int(lengths.sum())
        targets, values = np.empty(size, np.int64), np.empty(size, np.int64)
        for part, there, place in zip(merged, present, places, strict=True):
            entry = first[place]
            for branch in range(part.targets.shape[1]):
                numbers = part.numbers[:, branch]
                if len(numbers) > 1 and not there[:, branch].all():
                    kept = there[:, branch]
                    targets[entry[kept]], values[entry[kept]] = part.targets[kept, branch], numbers[kept]
                    entry += kept
                elif numbers[0] >= 0:
                    targets[entry], values[entry] = part.targets[:, branch], numbers
                    entry += 1
        return StateBatch(choices, actions, lengths, self._table.numbers(targets), values, stuck)

    def _merged(self, part: _ChoicePart) -> _ChoicePart:
        """The choices with equal targets made one: the first has the sum."""
        width = part.targets.shape[1]
        if width == 1:
            return part
        ordered = np.where(part.numbers >= 0, part.targets, -1 - np.arange(width))
        if width > 2:
            ordered = np.sort(ordered, axis=1)
        if not (ordered[:, 1:] == ordered[:, :-1]).any():
            return part
        if width > _WIDEST_ROW:
            raise Unfit
        numbers = np.broadcast_to(part.numbers, part.targets.shape).copy()
        for later in range(1, width):
            for earlier in range(later):
                same = (part.targets[:, earlier] == part.targets[:, later]) & (numbers[:, later] >= 0)
                same &= numbers[:, earlier] >= 0
                if same.any():
                    numbers[same, earlier] = _paired_entries(
                        self._numbers.plus, numbers[same, earlier], numbers[same, later]
                    )
                    numbers[same, later] = -1
        return part._replace(numbers=numbers)


def _paired_entries(table: dict[tuple[int, int], int], left: Ints, right: Ints) -> Ints:
    """The entries of a table at pairs of numbers; -1 where one of them is."""
    base = int(right.max(initial=0)) + 2
    pairs, which = distinct((left + 1) * base + right + 1, (int(left.max(initial=0)) + 2) * base)
    found = [
        -1 if pair < base or pair % base == 0 else table[pair // base - 1, pair % base - 1] for pair in pairs.tolist()
    ]
    return np.array(found, np.int64)[which]


class _Hashes:
    """Integers, from 0 on, and their numbers in the order in which they came: a table with open addressing, for many at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._keys = np.zeros(1 << 12, np.int64)
        self._count = 0
        self._bits = 14
        self._slots = np.full(1 << self._bits, -1, np.int64)

    def __len__(self) -> int:
        return self._count

    def keys(self, begin: int, end: int) -> Ints:
        """The integers of some numbers."""
        return self._keys[begin:end]

    def numbers(self, keys: Ints) -> Ints:
        """The numbers of integers; new ones get the next, in their order.

        Raises:
            Unfit: there would be too many; none is new then.
        """
        result, missing = self._found(keys)
        if not len(missing):
            return result
        fresh, first, which = np.unique(keys[missing], return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        if self._count + len(fresh) > self._most:
            raise Unfit
        result[missing] = self._count + rank[which.reshape(-1)]
        self._add(fresh[order])
        return result

    def _hashed(self, keys: Ints) -> Ints:
        spread: Ints = ((keys.astype(np.uint64) * _SPREAD) >> np.uint64(64 - self._bits)).astype(np.int64)
        return spread

    def _found(self, keys: Ints) -> tuple[Ints, Ints]:
        """The numbers of integers that are known, and the places of the others."""
        result = np.full(len(keys), -1, np.int64)
        waiting, place = np.arange(len(keys)), self._hashed(keys)
        missing = []
        while len(waiting):
            there = self._slots[place]
            empty = there < 0
            if empty.any():
                missing.append(waiting[empty])
                waiting, place, there = waiting[~empty], place[~empty], there[~empty]
            hit = self._keys[there] == keys[waiting]
            result[waiting[hit]] = there[hit]
            waiting, place = waiting[~hit], (place[~hit] + 1) & (len(self._slots) - 1)
        return result, np.sort(np.concatenate(missing)) if missing else np.zeros(0, np.int64)

    def _add(self, fresh: Ints) -> None:
        count = self._count + len(fresh)
        if count > len(self._keys):
            self._keys = np.concatenate([self._keys, np.zeros(max(count, len(self._keys)), np.int64)])
        self._keys[self._count : count] = fresh
        begin, self._count = self._count, count
        if 2 * count > len(self._slots):
            self._bits = (2 * count).bit_length() + 1
            self._slots, begin = np.full(1 << self._bits, -1, np.int64), 0
        waiting = np.arange(begin, count)
        place = self._hashed(self._keys[waiting])
        while len(waiting):
            free = self._slots[place] < 0
            self._slots[place[free]] = waiting[free]
            put = self._slots[place] == waiting
            waiting, place = waiting[~put], (place[~put] + 1) & (len(self._slots) - 1)
