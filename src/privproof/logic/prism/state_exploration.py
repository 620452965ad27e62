"""The reachable states of a system and what leads from one to the next, breadth first."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import overload

import numpy as np

from privproof.errors import FormatError
from privproof.exact import ONE, rational
from privproof.logic.decision_process import DecisionProcess, Ints, deadlock, mark_states
from privproof.logic.prism.columnwise_steps import distinct
from privproof.logic.prism.expression_meanings import Trouble
from privproof.logic.prism.initial_states import initial_states
from privproof.logic.prism.label_states import CHUNK, states_satisfying
from privproof.logic.prism.module_steps import SILENT, Found, Row, Stepper
from privproof.logic.prism.module_system import Slot, System
from privproof.logic.prism.state_batches import Batches, StateBatch, Unfit
from privproof.logic.prism.state_collecting import TakenActions, collect
from privproof.logic.prism.transition_tables import ProbabilityNumbers, State, StateNumbers

_MOST_UNBOUNDED = 2_000_000
"""States of a model with an unbounded variable: with more there is probably no end of them."""
_WIDE = 1_000
"""If so many states wait, they are taken at once: it costs as much as some hundred states one by one, whatever their number."""
_NARROW = 100
"""Below so many that wait one by one is quicker."""
_PATIENCE = 50
"""If so few wait so many times one after the other, the rest is taken one by one."""


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


def explore_states(system: System, *, self_loops: bool, most_states: int) -> DecisionProcess:
    """The process of the reachable states; the neighbour relation is left empty.

    Args:
        system: the system.
        self_loops: let a state without any choice stay where it is.
        most_states: how many states there may be at most.
    """
    numbers = ProbabilityNumbers()
    most = min(most_states, _MOST_UNBOUNDED) if system.unbounded else most_states
    found = _Exploration(system, numbers, most)
    found.explore()
    columns = found.columns()
    names = StateNames(system.slots, columns)
    stuck = found.stuck
    if stuck and not self_loops:
        raise deadlock([names[state] for state in stuck[:6]] + [""] * (len(stuck) - 6), place=system.source.name)
    labels = {"init": mark_states(len(names), range(found.first))}
    if stuck:
        labels["deadlock"] = mark_states(len(names), stuck)
    begin, numbered = _ints(found.choices), _ints(found.values)
    actions = _ints(found.actions)
    present = np.bincount(numbered, minlength=len(numbers.all)) > 0
    stepper = found.stepper
    called, action_of = ((), _ints(array("q"))) if found.chain else distinct_actions(stepper.actions, begin, actions)
    marks = {name: states_satisfying(meaning, len(names), columns) for name, meaning in system.labels.items()}
    taken = found.taken
    if taken is None:
        taken = TakenActions(np.repeat(np.arange(len(names)), np.diff(begin)), actions)
    collected = collect(system, stepper, columns, taken, len(actions))
    return DecisionProcess(
        names=names,
        actions=called,
        choices=begin,
        action_of=action_of,
        rows=_ints(found.rows),
        targets=_ints(found.targets),
        values=numbered if present.all() else (np.cumsum(present) - 1)[numbered],
        numbers=tuple(number for number, there in zip(numbers.all, present, strict=True) if there),
        labels=marks | labels,
        initial=tuple(range(found.first)),
        variables={slot.name: column for slot, column in zip(system.slots, columns, strict=True)},
        rewards=collected,
    )


class _Exploration:
    """The states and choices found so far: one by one, and many at once as soon as many wait.

    Attributes:
        stepper: gives the choices of one state.
        chain: whether a state has one choice in the end.
        first: how many initial states there are.
        stuck: the states without a choice of their own.
        taken: of a chain with rewards of choices, which actions its states have.
    """

    def __init__(self, system: System, numbers: ProbabilityNumbers, most: int) -> None:
        self._system, self._numbers, self._most = system, numbers, most
        self._index = StateNumbers(most, lambda number: _too_many(system, number))
        self._batches: Batches | None = None
        self.stepper = Stepper(system, self._index, numbers)
        for state in initial_states(system, most):
            self._index[state]
        self.first = len(self._index.states)
        self.chain = system.kind == "dtmc"
        rewarded = any(line.action is not None for lines in system.rewards.values() for line in lines)
        self.taken = TakenActions() if self.chain and rewarded else None
        self.stuck: list[int] = []
        self.choices, self.actions, self.rows = array("q", [0]), array("q"), array("q", [0])
        self.targets, self.values = array("q"), array("q")
        self._one = numbers.number(ONE)

    def explore(self) -> None:
        """Find everything."""
        fit = True
        while fit and self._one_by_one(_WIDE):
            fit = self._at_once()
        self._one_by_one(None)

    def columns(self) -> list[Ints]:
        """The values of the variables in all states."""
        if self._batches is not None:
            return self._batches.columns()
        return _columns(self._index.states, len(self._system.slots))

    def _one_by_one(self, wide: int | None) -> bool:
        """Go on state by state, to the end, or until so many wait; whether they do."""
        if self._batches is not None:
            return False
        states, numbers = self._index.states, self._numbers
        at = begin = len(self.choices) - 1
        try:
            for at, state in enumerate(islice(states, begin, None), begin):
                if wide is not None and len(states) - at >= wide:
                    return True
                found = self.stepper.choices(state)
                if not found:
                    self.stuck.append(at)
                    found = [(-1, {at: self._one})]
                elif self.taken is not None:
                    self.taken.note([at] * len(found), [action for action, _ in found])
                if self.chain and len(found) > 1:
                    found = [(-1, _blend(found, numbers))]
                for action, row in found:
                    self.targets.extend(row)
                    self.values.extend(row.values())
                    self.rows.append(len(self.targets))
                    self.actions.append(action)
                self.choices.append(len(self.actions))
        except Trouble as trouble:
            where = f" in the state {state_name(self._system.slots, states[at])}"
            raise FormatError(trouble.code, trouble.message + where, place=trouble.place, hint=trouble.hint) from None
        return False

    def _at_once(self) -> bool:
        """Go on with all that wait at once, to the end; False where the rest is better taken state by state."""
        batches = Batches(self._system, self.stepper, self._numbers, self._most)
        if not batches.fit:
            return False
        batches.begin(self._index.states)
        known = len(batches)
        narrow = 0
        try:
            while (at := len(self.choices) - 1) < len(batches):
                narrow = narrow + 1 if len(batches) - at < _NARROW else 0
                if narrow > _PATIENCE:
                    raise Unfit
                self._add(batches.step(at, self._one), at)
        except Unfit:
            for state in zip(*[column.tolist() for column in batches.columns(known)], strict=True):
                self._index[state]
            return False
        self._batches = batches
        self._index.clear()
        self._index.states.clear()
        return True

    def _add(self, batch: StateBatch, at: int) -> None:
        for numbers, base, added in (
            (self.choices, len(self.actions), np.cumsum(batch.choices)),
            (self.rows, len(self.targets), np.cumsum(batch.lengths)),
            (self.actions, 0, batch.actions),
            (self.targets, 0, batch.targets),
            (self.values, 0, batch.values),
        ):
            numbers.frombytes((added + base if base else added).tobytes())
        self.stuck += (batch.stuck + at).tolist()
        if self.taken is not None:
            own = batch.actions >= 0
            states = np.repeat(np.arange(at, at + len(batch.choices)), batch.choices)
            self.taken.note(states[own], batch.actions[own])


def _blend(found: Found, numbers: ProbabilityNumbers) -> Row:
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
    turn = np.zeros(len(actions), np.int64)
    own = np.diff(choices)
    several = np.flatnonzero(np.repeat(own > 1, own))  # the second of a name needs a second choice
    if len(several):
        key = np.repeat(np.arange(len(own)), own)[several] * len(known) + actions[several]
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        fresh = np.ones(len(key), np.bool_)
        fresh[1:] = ordered[1:] != ordered[:-1]
        position = np.arange(len(key))
        turn[several[order]] = position - np.maximum.accumulate(np.where(fresh, position, 0))
    most = int(turn.max()) + 1
    kinds, which = distinct(actions * most + turn, len(known) * most)
    seen = np.full(len(kinds), len(actions))
    seen[which[::-1]] = np.arange(len(actions))[::-1]
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
