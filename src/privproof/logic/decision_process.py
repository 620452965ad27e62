"""Labelled Markov chains and Markov decision processes, as the logic reads them (dpCTL* paper, Section 2.2).

A decision process has states, in every state one or more *choices* (each an action and a distribution over next states), labels
on states, and a neighbour relation.  A Markov chain is a decision process with one choice in every state.  States are numbers
inside, so that a million of them fit; `names` says what to call them.

A probability is an exact rational or, where continuous noise enters, an `Enclosure`: two rationals between which the true number
lies.  What is then said holds for the true chain, whichever it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from privproof.drawing.showing import ShownCard
from privproof.errors import ModelError, PrivproofError, QuestionError, ScenarioError
from privproof.exact import ZERO, Number, Rational, rational, show
from privproof.logic.reward_structures import Rewards
from privproof.models.finite_distributions import distinct_names, known_name

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


def mark_states(count: int, states: Iterable[int]) -> Bools:
    """Some of so many states, marked."""
    marks = np.zeros(count, np.bool_)
    marks[list(states)] = True
    return marks


@dataclass(frozen=True)
class Enclosure:
    """A probability known between two rationals: ``low <= p <= high``, and ``low > 0``."""

    low: Rational
    high: Rational

    def __str__(self) -> str:
        return f"[{self.low}, {self.high}]"


Probability: TypeAlias = "Rational | Enclosure"
ProbabilityLike: TypeAlias = "Number | Enclosure | tuple[Number, Number] | list[Number]"
Row: TypeAlias = Mapping[str, ProbabilityLike]

Missing: TypeAlias = Literal["stay", "refuse", "enabled"]
"""What an action does, for the operator D, in a state that does not have it: nothing, or it ends the run in the state `refused`, or it is
never asked for: only sequences are compared that are enabled wherever either run may be."""

REFUSED = "refused"
"""The state (and its label) in which a run ends that is asked for an action it does not have, where such actions are refused."""

_SILENT = "-"


class Numbered(Sequence[str]):
    """The names 0, 1, 2, ... of numbered states, made when they are asked for."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [str(i) for i in range(self._count)[index]]
        return str(range(self._count)[index])


@dataclass(frozen=True, kw_only=True, eq=False)
class DecisionProcess(ShownCard):
    """A labelled Markov chain or decision process on numbered states.

    Build one from names with `of`, or give the arrays: state ``s`` has the choices ``choices[s] .. choices[s+1]-1``, the choice
    ``c`` the entries ``rows[c] .. rows[c+1]-1``, and the entry ``e`` leads to ``targets[e]`` with probability
    ``numbers[values[e]]``.

    Attributes:
        names: what the states are called.
        actions: the names of the actions; empty for a chain.
        choices: where the choices of a state begin; one longer than the states.
        action_of: the action (its index) of every choice; empty for a chain.
        rows: where the entries of a choice begin; one longer than the choices.
        targets: the next state of every entry.
        values: for every entry which of `numbers` is its probability.
        numbers: the distinct probabilities.
        labels: the states that carry each label.
        initial: the states a run may start in, where the model says so.
        neighbours: pairs of states that must look alike; reflexive and symmetric closure is understood.
        variables: for models that have them, the value of each variable in each state.
        rewards: what runs collect, by name; the first is meant where none is named.  Of rewards that cannot be used, what is wrong.
        missing: what the operator D takes an action for in a state that does not have it.
        name: how reports call the process.
        relies: what it relies on outside the text it was made from, as sentences for the notes of verdicts.
    """

    names: Sequence[str]
    actions: tuple[str, ...] = ()
    choices: Ints
    action_of: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Ints
    targets: Ints
    values: Ints
    numbers: tuple[Probability, ...]
    labels: Mapping[str, Bools] = field(default_factory=dict)
    initial: tuple[int, ...] = ()
    neighbours: tuple[tuple[int, int], ...] = ()
    variables: Mapping[str, Ints] = field(default_factory=dict)
    rewards: Mapping[str, Rewards | PrivproofError] = field(default_factory=dict)
    missing: Missing = "stay"
    name: str = ""
    relies: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        states: Collection[str],
        transitions: Mapping[str, Row] | Mapping[str, Mapping[str, Row]],
        actions: Collection[str] = (),
        labels: Mapping[str, str | Collection[str]] | None = None,
        initial: Collection[str] = (),
        neighbours: Iterable[tuple[str, str]] = (),
        self_loops: bool = False,
        name: str = "",
    ) -> DecisionProcess:
        """A process from names: rows ``state: {next: p}`` for a chain, ``state: {action: {next: p}}`` where actions are named.

        Args:
            states: the names of the states.
            transitions: the rows; a probability is a number, or two numbers between which it lies.
            actions: the names of the actions of a decision process; none for a chain.
            labels: the labels of the states.
            initial: where runs may start.
            neighbours: pairs of states that must look alike.
            self_loops: give every state without a row (a deadlock) a loop to itself.
            name: how reports call it.

        >>> survey = DecisionProcess.of(
        ...     states=["plus", "minus", "yes", "no"], labels={"yes": "out1", "no": "out0"},
        ...     transitions={"plus": {"yes": "3/4", "no": "1/4"}, "minus": {"yes": "1/4", "no": "3/4"}},
        ...     neighbours=[("plus", "minus")], self_loops=True)
        >>> len(survey), survey.is_chain, survey.neighbours
        (4, True, ((0, 1),))
        """
        known = {state: i for i, state in enumerate(distinct_names(states, what="state", place="states"))}
        acts = distinct_names(actions, what="action", place="actions") if actions else ()
        for state in transitions:
            known_name(state, among=known, what="state", place="transitions")
        build = Builder(acts)
        stuck: list[str] = []
        for state, number in known.items():
            given = transitions.get(state)
            if not given:
                stuck.append(state)
                build.loop(number)
            elif acts:
                for action, row in given.items():
                    known_name(action, among=acts, what="action", place=f"transitions.{state}")
                    here = f"transitions.{state}.{action}"
                    if not isinstance(row, Mapping):
                        raise ModelError("transitions", "expected a row for each action", place=here)
                    build.choice(acts.index(action), checked_row(row, known, here))
            else:
                build.choice(None, checked_row(cast(Row, given), known, f"transitions.{state}"))
            build.state()
        if stuck and not self_loops:
            raise deadlock(stuck)
        marks: dict[str, Bools] = {}
        for state, carried in (labels or {}).items():
            known_name(state, among=known, what="state", place="labels")
            for label in (carried,) if isinstance(carried, str) else carried:
                marks.setdefault(label, np.zeros(len(known), np.bool_))[known[state]] = True
        begin, related = [], []
        for state in initial:
            known_name(state, among=known, what="state", place="initial")
            begin.append(known[state])
        for left, right in neighbours:
            for state in (left, right):
                known_name(state, among=known, what="state", place="neighbours", error=ScenarioError)
            related.append((known[left], known[right]))
        return build.process(
            names=tuple(known), labels=marks, initial=tuple(begin), neighbours=tuple(related), name=name
        )

    def __len__(self) -> int:
        return len(self.choices) - 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))
        object.__setattr__(self, "variables", MappingProxyType(dict(self.variables)))
        object.__setattr__(self, "rewards", MappingProxyType(dict(self.rewards)))

    @property
    def is_chain(self) -> bool:
        """Whether there is nothing to choose: a Markov chain."""
        return not self.actions

    @cached_property
    def exact(self) -> bool:
        """Whether every probability is an exact rational."""
        return not any(isinstance(number, Enclosure) for number in self.numbers)

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def state(self, name: str, *, place: str = "state") -> int:
        """The number of a state by its name."""
        known_name(name, among=self._index, what="state", place=place)
        return self._index[name]

    def reward_name(self, name: str) -> str:
        """The name of the rewards that a name, or a number from 1, stands for; without one those of the first."""
        if not self.rewards:
            raise QuestionError(
                "reward",
                "the model has no rewards",
                place="formula",
                hint='rewards "cost" true : 1; endrewards, in a PRISM model',
            )
        listed = list(self.rewards)
        if not name:
            return listed[0]
        if name not in self.rewards and name.isdigit() and 1 <= int(name) <= len(listed):
            return listed[int(name) - 1]
        known_name(name, among=self.rewards, what="rewards", place="formula", error=QuestionError)
        return name

    def reward(self, name: str) -> Rewards:
        """The rewards that a name, or a number from 1, stands for; without one the first ones.

        Raises:
            PrivproofError: the model has no such rewards, or they cannot be used.
        """
        found = self.rewards[self.reward_name(name)]
        if isinstance(found, PrivproofError):
            raise copy(found)
        return found

    def having(self, *, neighbours: Iterable[tuple[int, int]]) -> DecisionProcess:
        """The same process under another neighbour relation."""
        return replace(self, neighbours=tuple(neighbours))

    def having_only(self, pairs: Iterable[tuple[str, str]]) -> DecisionProcess:
        """The same process where only these states are neighbours."""
        return self.having(neighbours=[(self.state(s), self.state(t)) for s, t in pairs])

    @cached_property
    def lacking(self) -> int:
        """How many pairs of a state and an action there are such that the state does not have the action."""
        return len(self) * len(self.actions) - len(self.action_of)

    def refusing(self) -> DecisionProcess:
        """The same process, where D ends a run that is asked for an action it does not have, in a state and label `refused`.

        Nothing else leads there, so that all but D is as it was.

        >>> door = DecisionProcess.of(states=["open", "shut"], actions=["go", "knock"],
        ...     transitions={"open": {"go": {"open": 1}}, "shut": {"knock": {"shut": 1}}})
        >>> door.completed.entries(1), list(door.refusing().names), door.refusing().completed.entries(1)
        ([(0, 1)], ['open', 'shut', 'refused'], [(2, 1)])
        """
        if REFUSED in self.labels or REFUSED in self._index:
            raise ModelError(
                "refused",
                f"the model has a state or label {REFUSED!r} of its own",
                place="labels",
                hint="rename it, or let missing actions stay",
            )
        if not self.lacking:
            return self
        here, actions = len(self), len(self.actions)
        entries = np.arange(1, actions + 1)
        values, numbers = self._surely
        extended = {label: np.append(marks, False) for label, marks in self.labels.items()}
        return replace(
            self,
            names=(*self.names, REFUSED),
            choices=np.append(self.choices, self.choices[-1] + actions),
            action_of=np.append(self.action_of, np.arange(actions)),
            rows=np.append(self.rows, self.rows[-1] + entries),
            targets=np.append(self.targets, np.full(actions, here)),
            values=np.append(self.values, np.full(actions, values)),
            numbers=numbers,
            labels={**extended, REFUSED: mark_states(here + 1, [here])},
            variables={name: np.append(values, 0) for name, values in self.variables.items()},
            rewards={
                name: one if isinstance(one, PrivproofError) else one.extended(actions)
                for name, one in self.rewards.items()
            },
            missing="refuse",
        )

    @property
    def _surely(self) -> tuple[int, tuple[Probability, ...]]:
        """The place of the probability 1 among the numbers, and the numbers with it."""
        numbers = self.numbers if rational(1) in self.numbers else (*self.numbers, rational(1))
        return numbers.index(rational(1)), numbers

    @cached_property
    def completed(self) -> DecisionProcess:
        """The process in which every state has every action, in order, as D reads it: what a state lacks it does as `missing` says.

        It has no rewards: D speaks of probabilities.  Where missing actions are not asked for, the process depends on the pair that is
        compared (`engines.logic.readings`), and is none of this one's states alone.
        """
        actions = len(self.actions)
        if not self.lacking and (not actions or (self.action_of == np.tile(np.arange(actions), len(self))).all()):
            return self
        assert self.missing != "enabled" or not self.lacking
        owners = np.repeat(np.arange(len(self)), np.diff(self.choices))
        present = np.zeros((len(self), actions), np.bool_)
        present[owners, self.action_of] = True
        states, missing = np.nonzero(~present)
        order = np.argsort(np.append(owners, states) * actions + np.append(self.action_of, missing))
        lengths = np.append(np.diff(self.rows), np.ones(len(states), np.int64))[order]
        rows = np.append(0, np.cumsum(lengths))
        begins = np.append(self.rows[:-1], self.rows[-1] + np.arange(len(states)))[order]
        picked = np.repeat(begins - rows[:-1], lengths) + np.arange(rows[-1])
        value, numbers = self._surely
        towards = np.full(len(states), self.state(REFUSED)) if self.lacking and self.missing == "refuse" else states
        return replace(
            self,
            choices=np.arange(len(self) + 1) * actions,
            action_of=np.append(self.action_of, missing)[order],
            rows=rows,
            targets=np.append(self.targets, towards)[picked],
            values=np.append(self.values, np.full(len(states), value))[picked],
            numbers=numbers,
            rewards={},
        )

    @cached_property
    def loosened(self) -> DecisionProcess:
        """The process in which every transition is a choice of its own, taken for sure: its schedulers are the paths of this one."""
        begins = self.rows[self.choices]
        counts = np.diff(begins)
        return replace(
            self,
            actions=tuple(str(number) for number in range(int(counts.max(initial=0)))),
            choices=begins,
            action_of=np.arange(len(self.targets)) - np.repeat(begins[:-1], counts),
            rows=np.arange(len(self.targets) + 1),
            values=np.zeros(len(self.targets), np.int64),
            numbers=(rational(1),),
            rewards={},
        )

    @cached_property
    def related(self) -> tuple[tuple[int, int], ...]:
        """The neighbour relation as unordered pairs of different states, each once."""
        return tuple(sorted({(min(pair), max(pair)) for pair in self.neighbours if pair[0] != pair[1]}))

    def entries(self, choice: int) -> list[tuple[int, Probability]]:
        """The distribution of a choice: next states with their probabilities."""
        begin, end = int(self.rows[choice]), int(self.rows[choice + 1])
        return [(int(self.targets[e]), self.numbers[int(self.values[e])]) for e in range(begin, end)]

    def action(self, choice: int) -> str:
        """The name of a choice's action."""
        return self.actions[int(self.action_of[choice])] if self.actions else _SILENT


class Builder:
    """Collects choices state by state into the arrays of a `DecisionProcess`: `choice`, ..., then `state`, for every state."""

    def __init__(self, actions: tuple[str, ...] = ()) -> None:
        self.actions = actions
        self._choices = [0]
        self._action_of: list[int] = []
        self._rows = [0]
        self._targets: list[int] = []
        self._values: list[int] = []
        self._numbers: dict[Probability, int] = {}

    def choice(self, action: int | None, entries: Iterable[tuple[int, Probability]]) -> None:
        """Add a choice to the present state."""
        for target, number in entries:
            self._targets.append(target)
            self._values.append(self._numbers.setdefault(number, len(self._numbers)))
        self._rows.append(len(self._targets))
        self._action_of.append(-1 if action is None else action)

    def loop(self, state: int) -> None:
        """Add choices that stay: one for a chain, one an action for a decision process."""
        for action in range(len(self.actions)) if self.actions else (None,):
            self.choice(action, [(state, rational(1))])

    def state(self) -> None:
        """The present state has all its choices."""
        self._choices.append(len(self._rows) - 1)

    def process(
        self,
        *,
        names: Sequence[str],
        labels: Mapping[str, Bools],
        initial: tuple[int, ...] = (),
        neighbours: tuple[tuple[int, int], ...] = (),
        variables: Mapping[str, Ints] | None = None,
        name: str = "",
    ) -> DecisionProcess:
        """The process of what was collected."""
        return DecisionProcess(
            names=names,
            actions=self.actions,
            choices=np.array(self._choices, np.int64),
            action_of=np.array(self._action_of if self.actions else [], np.int64),
            rows=np.array(self._rows, np.int64),
            targets=np.array(self._targets, np.int64),
            values=np.array(self._values, np.int64),
            numbers=tuple(self._numbers),
            labels=labels,
            initial=initial,
            neighbours=neighbours,
            variables=variables or {},
            name=name,
        )


def deadlock(stuck: Sequence[str], *, place: str = "transitions") -> ModelError:
    """The complaint about states that have no transition."""
    listed = ", ".join(stuck[:5]) + (", ..." if len(stuck) > 5 else "")
    count = "one state has" if len(stuck) == 1 else f"{len(stuck)} states have"
    return ModelError(
        "deadlock",
        f"{count} no transition: {listed}",
        place=place,
        hint="the logic speaks of infinite paths; --self-loops (self_loops=True) lets such a state stay where it is",
    )


def checked_row(row: Row, known: Mapping[str, int], place: str) -> list[tuple[int, Probability]]:
    """A row of a process: numbers in [0, 1] that sum to one, or enclosures that can."""
    result: list[tuple[int, Probability]] = []
    low, high = ZERO, ZERO
    for name, given in row.items():
        known_name(name, among=known, what="state", place=place)
        try:
            number = probability(given)
        except PrivproofError as problem:
            raise problem.at(f"{place}.{name}") from None
        bottom, top = bounds(number)
        low, high = low + bottom, high + top
        if top != 0:
            result.append((known[name], number))
    if low > 1 or high < 1:
        if low == high:
            raise ModelError(
                "row-sum",
                f"the probabilities sum to {show(low)} instead of 1: {show(abs(1 - low))} is "
                + ("too much" if low > 1 else "missing"),
                place=place,
                hint="the probabilities of a row sum to exactly one",
            )
        raise ModelError(
            "row-sum",
            f"the probabilities sum to something between {show(low)} and {show(high)}, which is never 1",
            place=place,
            hint="widen the enclosures, or mend the row",
        )
    return result


def probability(given: ProbabilityLike) -> Probability:
    """A probability: an exact number, or an enclosure given as two numbers."""
    if isinstance(given, Enclosure):
        low, high = given.low, given.high
    elif isinstance(given, tuple | list):
        if len(given) != 2:
            raise ModelError("probability", f"{list(given)} are not two ends", hint='write ["0.12", "0.13"]')
        low, high = rational(given[0]), rational(given[1])
    else:
        low = high = rational(given)
    if low > high:
        raise ModelError(
            "probability", f"the enclosure [{show(low)}, {show(high)}] ends before it begins", hint="low <= high"
        )
    if not 0 <= low <= high <= 1:
        shown = show(low) if low == high else f"[{show(low)}, {show(high)}]"
        raise ModelError("probability", f"the probability {shown} is outside [0, 1]", hint="0 <= low <= high <= 1")
    if low == high:
        return low
    if low == 0:
        raise ModelError(
            "probability",
            f"the enclosure [0, {show(high)}] leaves open whether the transition exists",
            hint="a probability is exactly 0 or enclosed above 0",
        )
    return Enclosure(low, high)


def bounds(number: Probability) -> tuple[Rational, Rational]:
    """The rationals between which a probability lies; equal where it is exact."""
    return (number.low, number.high) if isinstance(number, Enclosure) else (number, number)
