"""The reachable states of a system and what leads from one to the next, breadth first."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import overload

import numpy as np

from privproof.errors import FormatError
from privproof.exact import ONE, rational
from privproof.formats.prism.collecting import Taken, collect
from privproof.formats.prism.meanings import Trouble
from privproof.formats.prism.satisfying import CHUNK, satisfied
from privproof.formats.prism.starting import initial_states
from privproof.formats.prism.stepping import SILENT, Found, Row, Stepper
from privproof.formats.prism.system import Slot, System
from privproof.formats.prism.tables import Index, Numbers, State
from privproof.models.process import DecisionProcess, Ints, deadlock, marked

_MOST_UNBOUNDED = 2_000_000
"""States of a model with an unbounded variable: with more there is probably no end of them."""


class StateNames(Sequence[str]):
    """The names ``(x=0,b=true)`` of states, made when they are asked for."""

    def __init__(self, slots: Sequence[Slot], columns: Sequence[Ints]) -> None:
        self._slots, self._columns = slots, columns

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        here = range(len(self))[index]
        return state_name(self._slots, tuple(int(column[here]) for column in self._columns))


def state_name(slots: Sequence[Slot], state: State) -> str:
    """What a state is called."""
    return "(" + ",".join(f"{slot.name}={slot.show(value)}" for slot, value in zip(slots, state, strict=True)) + ")"


def explored(system: System, *, self_loops: bool, most_states: int) -> DecisionProcess:
    """The process of the reachable states; the neighbour relation is left empty.

    Args:
        system: the system.
        self_loops: let a state without any choice stay where it is.
        most_states: how many states there may be at most.
    """
    numbers = Numbers()
    most = min(most_states, _MOST_UNBOUNDED) if system.unbounded else most_states
    index = Index(most, lambda number: _too_many(system, number))
    stepper = Stepper(system, index, numbers)
    for state in initial_states(system, most):
        index[state]
    first = len(index.states)
    stuck: list[int] = []
    choices, actions, rows, targets, values = (array("q", [0]), array("q"), array("q", [0]), array("q"), array("q"))
    chain, one = system.kind == "dtmc", numbers.number(ONE)
    taken = (
        Taken()
        if chain and any(line.action is not None for lines in system.rewards.values() for line in lines)
        else None
    )
    at = 0
    try:
        for at, state in enumerate(index.states):
            found = stepper.choices(state)
            if not found:
                stuck.append(at)
                found = [(-1, {at: one})]
            elif taken is not None:
                taken.note(at, [action for action, _ in found])
            if chain and len(found) > 1:
                found = [(-1, _blend(found, numbers))]
            for action, row in found:
                targets.extend(row)
                values.extend(row.values())
                rows.append(len(targets))
                actions.append(action)
            choices.append(len(actions))
    except Trouble as trouble:
        where = f" in the state {state_name(system.slots, index.states[at])}"
        raise FormatError(trouble.code, trouble.message + where, place=trouble.place, hint=trouble.hint) from None
    columns = _columns(index.states, len(system.slots))
    names = StateNames(system.slots, columns)
    if stuck and not self_loops:
        raise deadlock([names[state] for state in stuck[:6]] + [""] * (len(stuck) - 6), place=system.source.name)
    labels = {"init": marked(len(names), range(first))}
    if stuck:
        labels["deadlock"] = marked(len(names), stuck)
    begin, numbered = _ints(choices), _ints(values)
    present = np.bincount(numbered, minlength=len(numbers.all)) > 0
    called, action_of = ((), _ints(array("q"))) if chain else distinct_actions(stepper.actions, begin, _ints(actions))
    marks = {name: satisfied(meaning, len(names), columns) for name, meaning in system.labels.items()}
    if taken is None:
        taken = Taken(np.repeat(np.arange(len(names)), np.diff(begin)), _ints(actions))
    collected = collect(system, stepper, columns, taken, len(actions))
    return DecisionProcess(
        names=names,
        actions=called,
        choices=begin,
        action_of=action_of,
        rows=_ints(rows),
        targets=_ints(targets),
        values=(np.cumsum(present) - 1)[numbered],
        numbers=tuple(number for number, there in zip(numbers.all, present, strict=True) if there),
        labels=marks | labels,
        initial=tuple(range(first)),
        variables={slot.name: column for slot, column in zip(system.slots, columns, strict=True)},
        rewards=collected,
    )


def _blend(found: Found, numbers: Numbers) -> Row:
    """The row of a chain's state with several choices: each is as likely as the others."""
    share = numbers.number(rational(1) / len(found))
    row: Row = {}
    for _, part in found:
        for target, number in part.items():
            added = numbers.times[number, share]
            row[target] = numbers.plus[row[target], added] if target in row else added
    return row


def distinct_actions(known: Sequence[str], choices: Ints, actions: Ints) -> tuple[tuple[str, ...], Ints]:
    """The actions of choices, made distinct within a state: the second of a name is ``name#2``."""
    if (actions < 0).any():
        known = [*known, *([] if SILENT in known else [SILENT])]
        actions = np.where(actions < 0, known.index(SILENT), actions)
    state = np.repeat(np.arange(len(choices) - 1), np.diff(choices))
    key = state * len(known) + actions
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.ones(len(key), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    position = np.arange(len(key))
    turn = np.empty_like(position)
    turn[order] = position - np.maximum.accumulate(np.where(fresh, position, 0))
    most = int(turn.max()) + 1
    kinds, seen, which = np.unique(actions * most + turn, return_index=True, return_inverse=True)
    by_appearance = np.argsort(seen)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(kinds))
    names = []
    for kind in kinds[by_appearance].tolist():
        action, turns = divmod(kind, most)
        names.append(known[action] + (f"#{turns + 1}" if turns else ""))
    return tuple(names), rank[which].astype(np.int64)


def _columns(states: Sequence[State], width: int) -> list[Ints]:
    columns = [np.empty(len(states), np.int64) for _ in range(width)]
    for begin in range(0, len(states), CHUNK):
        chunk = np.array(states[begin : begin + CHUNK], np.int64)
        for column, part in zip(columns, chunk.T, strict=True):
            column[begin : begin + CHUNK] = part
    return columns


def _too_many(system: System, number: int) -> FormatError:
    return FormatError(
        "size",
        f"the model has more than {number} reachable states",
        place=system.source.name,
        hint="bound the variables without a range: perhaps there is no end of states"
        if system.unbounded
        else "make the ranges smaller, or allow more: most_states",
    )


def _ints(numbers: array[int]) -> Ints:
    return np.frombuffer(numbers, np.int64) if numbers else np.zeros(0, np.int64)
