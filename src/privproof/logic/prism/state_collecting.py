"""The rewards of a PRISM model: what its states and its choices gain, line by line over all states at once.

A line ``guard : value;`` is of states, ``[action] guard : value;`` of every choice by this action.  In a chain the choices of a state are
taken with equal chances, and what they gain is blended as they are.  A state that only stays because it has no choice of its own gains
nothing by staying.

Rewards that cannot be used (a negative one, a division by zero, an action that no command has) stand in the way only of those who ask
about them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from privproof.errors import FormatError
from privproof.exact import ZERO, Rational, rational, show
from privproof.logic.decision_process import Bools, Ints
from privproof.logic.prism.columnwise_steps import ColumnwiseStates, distinct
from privproof.logic.prism.expression_meanings import ExpressionMeaning, Trouble
from privproof.logic.prism.label_states import states_satisfying
from privproof.logic.prism.module_steps import Stepper
from privproof.logic.prism.module_system import Gain, System
from privproof.logic.prism.state_coding import Code, used_slots
from privproof.logic.reward_structures import Rewards


@dataclass
class TakenActions:
    """Which actions the choices of a process are by, before those of a chain's state are blended into one.

    Attributes:
        states: for every choice its state.
        actions: for every choice the number of its action.
    """

    states: array[int] | Ints = field(default_factory=lambda: array("q"))
    actions: array[int] | Ints = field(default_factory=lambda: array("q"))

    def note(self, states: Iterable[int] | Ints, actions: Iterable[int] | Ints) -> None:
        """Note the states and actions of choices."""
        assert isinstance(self.states, array)
        assert isinstance(self.actions, array)
        self.states.extend(states)
        self.actions.extend(actions)


@dataclass(frozen=True, eq=False)
class _Column:
    """A number for each of some things: which of the distinct ones it is."""

    which: Ints
    numbers: tuple[Rational, ...]

    def plus(self, other: _Column) -> _Column:
        pairs, which = distinct(self.which * len(other.numbers) + other.which, len(self.numbers) * len(other.numbers))
        sums = [
            self.numbers[pair // len(other.numbers)] + other.numbers[pair % len(other.numbers)]
            for pair in pairs.tolist()
        ]
        return _Column(which, tuple(sums))


def collect(
    system: System, stepper: Stepper, columns: Sequence[Ints], taken: TakenActions, choices: int
) -> dict[str, Rewards | FormatError]:
    """The rewards of a model, by name; of those that cannot be used, what is wrong with them.

    Args:
        system: the model.
        stepper: knows the numbers of actions.
        columns: the values of the variables in every state.
        taken: the choices before those of a chain are blended.
        choices: how many choices there are in the end: of a chain one for each state.
    """
    states, actions = np.asarray(taken.states, np.int64), np.asarray(taken.actions, np.int64)
    count = len(columns[0])
    places = states if system.kind == "dtmc" else np.arange(len(states))
    owner = np.arange(count) if system.kind == "dtmc" else states
    among = np.bincount(places, minlength=choices)

    def of(lines: Iterable[Gain]) -> Rewards:
        of_states = _Column(np.zeros(count, np.int64), (ZERO,))
        of_choices = _Column(np.zeros(choices, np.int64), (ZERO,))
        for line in lines:
            marks = states_satisfying(line.guard, count, columns)
            values = _values(system, line, marks, columns)
            if line.action is None:
                of_states = of_states.plus(values)
                continue
            hit = np.isin(actions, _action_numbers(system, stepper, line)) & marks[states]
            times = np.bincount(places[hit], minlength=choices)
            of_choices = of_choices.plus(_share_gains(values, owner, times, among))
        known = dict.fromkeys((*of_states.numbers, *of_choices.numbers))
        numbers = {number: place for place, number in enumerate(known)}
        listed = [
            np.array([numbers[number] for number in column.numbers], np.int64)[column.which]
            for column in (of_states, of_choices)
        ]
        return Rewards(listed[0], listed[1], tuple(known))

    result: dict[str, Rewards | FormatError] = {}
    for name, lines in system.rewards.items():
        try:
            result[name] = of(lines)
        except FormatError as problem:
            result[name] = problem
    return result


def _action_numbers(system: System, stepper: Stepper, line: Gain) -> list[int]:
    known = {joint.action for joint in system.joints}
    if line.action and line.action not in known:
        system.source.unknown(line.at, "action", line.action, tuple(filter(None, known)))
    if stepper.silence and stepper.silence in known and line.action in ("", stepper.silence):
        system.source.refuse(
            line.at,
            "action",
            f"the action {stepper.silence!r} and the commands without an action are not told apart",
            hint="rename the action",
        )
    return stepper.numbered(line.action or "")


def _values(system: System, line: Gain, marks: Bools, columns: Sequence[Ints]) -> _Column:
    """What a line gives to every state; nothing where its condition fails."""
    meaning = line.value
    place = system.source.place(line.at)
    if meaning.op == "const":
        value = rational(meaning.value)
        _check(value, place)
        return _Column(marks.astype(np.int64), (ZERO, value))
    numbers: dict[Rational, int] = {ZERO: 0}
    which = np.zeros(len(marks), np.int64)
    chosen = np.flatnonzero(marks)
    rows, kinds = ColumnwiseStates(len(chosen), columns, chosen).combinations(used_slots(meaning.uses))
    which[chosen] = np.array(
        [numbers.setdefault(value, len(numbers)) for value in _compute_values(meaning, rows)], np.int64
    )[kinds]
    for value in numbers:
        _check(value, place)
    return _Column(which, tuple(numbers))


def _compute_values(meaning: ExpressionMeaning, rows: Iterable[tuple[int, ...]]) -> list[Rational]:
    try:
        return [rational(value) for value in Code().column(meaning)(rows)]
    except Trouble as trouble:
        raise FormatError(trouble.code, trouble.message, place=trouble.place, hint=trouble.hint) from None


def _check(value: Rational, place: str) -> None:
    if value < 0:
        raise FormatError("reward", f"the reward {show(value)} is negative", place=place, hint="rewards are 0 or more")


def _share_gains(values: _Column, owner: Ints, times: Ints, among: Ints) -> _Column:
    """What a line gives to choices: the value of the state, so many times among so many that are blended."""
    most, parts = int(times.max(initial=0)) + 1, np.maximum(among, 1)
    across = int(parts.max(initial=0)) + 1
    keys, which = distinct((values.which[owner] * most + times) * across + parts, len(values.numbers) * most * across)
    numbers = [
        values.numbers[key // (most * across)] * (key // across % most) / (key % across) for key in keys.tolist()
    ]
    return _Column(which, tuple(numbers))
