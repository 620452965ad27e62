"""Markov chains and decision processes of a certificate: read, checked, and ready to walk on.

A probability is exact, or an enclosure ``["low", "high"]`` of one true but unknown number; its lower end is above 0, so
which steps are possible is certain.  What is said about a process with enclosures must be true of all numbers in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from flint import arb

from privproof_checker.graph_algorithms import reachable
from privproof_checker.logic.formulas import a_state, states_of
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.numbers.balls import rational_bounds
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, names, only_members, text

Value: TypeAlias = "Rational | arb"
Row: TypeAlias = tuple[tuple[int, Value], ...]

BITS = 256
"""The precision of balls where the probabilities of a process are intervals; what such balls leave open is not established."""
_MOST_TRANSITIONS = 2_000_000
"""All rows of a process together may have so many entries; beyond, the process is refused."""
_REFUSED = "refused"
"""Where a run ends that is asked for an action it does not have, if such actions are refused: a state and its label."""
_MOST_ACTIONS = 5_000
"""A process may have so many different actions; beyond, it is refused."""


@dataclass(frozen=True)
class Rewards:
    """What is collected in states, and by choices (a state and an action, None in a chain); nothing where there is no entry."""

    states: dict[int, Rational]
    choices: dict[tuple[int, int | None], Rational]


@dataclass(frozen=True)
class Process:
    """A process; a Markov chain has no actions, and one choice (of no action) in every state.

    Attributes:
        names: the states.
        actions: the actions.
        choices: for every state the rows by action (None in a chain).
        labels: the labels and where they hold.
        neighbours: for every state the others that are its neighbours.
        exact: whether there is no enclosure.
        missing: what D takes an action for in a state that does not have it: "stay", "refuse", "enabled", or None where every state
            has all.
        rewards: what is collected in states and by choices, by name.
    """

    names: tuple[str, ...]
    actions: tuple[str, ...]
    choices: tuple[dict[int | None, Row], ...]
    labels: dict[str, frozenset[int]]
    neighbours: tuple[frozenset[int], ...]
    exact: bool
    missing: str | None = None
    rewards: dict[str, Rewards] = field(default_factory=dict)

    @property
    def chain(self) -> bool:
        """Whether nothing is chosen."""
        return not self.actions


@dataclass(frozen=True)
class ProcessWalk:
    """What is walked on: states with their possible rows, and the state of the process that each one shows."""

    rows: tuple[tuple[Row, ...], ...]
    shows: tuple[int, ...]
    exact: bool

    def reached(self, starts: Iterable[int]) -> list[int]:
        """The states reachable from some, themselves included."""
        return list(reachable(starts, lambda state: [target for row in self.rows[state] for target, _ in row]))


def walk_of(process: Process) -> ProcessWalk:
    """The process itself; a decision process with every choice, in the order of the actions."""
    rows = tuple(
        tuple(row for _, row in sorted(choices.items(), key=lambda choice: choice[0] or 0))
        for choices in process.choices
    )
    return ProcessWalk(rows, tuple(range(len(rows))), process.exact)


def paths_of(walk: ProcessWalk) -> ProcessWalk:
    """The walk in which every step is a choice of its own, taken for sure: a scheduler of it is a path."""
    rows = tuple(
        tuple(((target, ONE),) for target in dict.fromkeys(t for row in own for t, _ in row)) for own in walk.rows
    )
    return ProcessWalk(rows, walk.shows, exact=True)


def walk_along(
    walk: ProcessWalk, before: Sequence[int], repeated: Sequence[int], limit: int, place: str
) -> ProcessWalk:
    """The chain of a walk with a row for every action, under the actions ``before`` once and ``repeated`` for ever.

    Its state ``position * n + s`` is the state s with that position in the sequence as the next action.
    """
    n, sequence = len(walk.rows), [*before, *repeated]
    size = len(sequence) * sum(len(row) for choices in walk.rows for row in choices)
    within(size, limit, "transitions of a process along a sequence of actions", place)
    rows: list[tuple[Row, ...]] = []
    for position, action in enumerate(sequence):
        following = (position + 1 if position + 1 < len(sequence) else len(before)) * n
        moves = (choices[action] for choices in walk.rows)
        rows.extend((tuple((following + target, p) for target, p in row),) for row in moves)
    return ProcessWalk(tuple(rows), tuple(state for _ in sequence for state in walk.shows), walk.exact)


def ends(value: Value) -> tuple[Rational, Rational]:
    """Rationals between which a probability lies."""
    if isinstance(value, arb):
        if not value.is_finite():
            return ZERO, ONE
        low, high = rational_bounds(value)
        return max(ZERO, low), min(ONE, high)
    return value, value


def in_words(value: Value) -> str:
    """A probability in words."""
    low, high = ends(value)
    return text(low) if low == high else f"between {text(low)} and {text(high)}"


def read_process(value: object, place: str, limits: Limits) -> Process:
    """A process, checked."""
    given = an_object(value, place)
    only_members(given, ("states", "actions", "rows", "labels", "neighbours", "missing", "rewards"), place)
    states = names(given.get("states"), f"{place}.states", limits.states)
    listed = a_list(given.get("actions"), f"{place}.actions")
    actions = names(listed, f"{place}.actions", _MOST_ACTIONS) if listed else ()
    reading = _RowReading(len(states), len(actions), limits)
    rows = a_list(given.get("rows"), f"{place}.rows")
    if len(rows) != len(states):
        refuse(f"{len(rows)} rows are given for {len(states)} states", f"{place}.rows")
    choices = tuple(reading.choices(item, f"{place}.rows[{s}]") for s, item in enumerate(rows))
    labels = {
        name: frozenset(states_of(members, len(states), f"{place}.labels.{name[:60]}"))
        for name, members in an_object(given.get("labels"), f"{place}.labels").items()
    }
    neighbours = _neighbours(given.get("neighbours"), len(states), f"{place}.neighbours", limits)
    rewards = {
        name: _rewards(item, choices, f"{place}.rewards.{name[:60]}", limits)
        for name, item in an_object(given.get("rewards", {}), f"{place}.rewards").items()
    }
    missing = read_missing(given.get("missing"), place)
    process = Process(states, actions, choices, labels, neighbours, reading.exact, missing, rewards)
    if process.missing == "refuse":
        _check_refused(process, f"{place}.states")
    return process


def read_missing(value: object, place: str) -> str | None:
    """What D takes an action for that a state does not have."""
    if value is None:
        return None
    found = a_text(value, f"{place}.missing")
    if found not in ("stay", "refuse", "enabled"):
        refuse(f"{found[:40]!r} is nothing that a missing action does", f"{place}.missing")
    return found


def _rewards(value: object, choices: tuple[dict[int | None, Row], ...], place: str, limits: Limits) -> Rewards:
    given = an_object(value, place)
    only_members(given, ("states", "choices"), place)
    of_states: dict[int, Rational] = {}
    of_choices: dict[tuple[int, int | None], Rational] = {}
    for i, item in enumerate(a_list(given.get("states"), f"{place}.states")):
        here = f"{place}.states[{i}]"
        pair = a_list(item, here)
        if len(pair) != 2:
            refuse("a state and its reward are expected", here)
        state = a_state(pair[0], len(choices), here)
        if state in of_states:
            refuse("a state has two rewards", here)
        of_states[state] = _reward(pair[1], here, limits)
    for i, item in enumerate(a_list(given.get("choices"), f"{place}.choices")):
        here = f"{place}.choices[{i}]"
        triple = a_list(item, here)
        if len(triple) != 3:
            refuse("a state, an action (or null) and a reward are expected", here)
        state = a_state(triple[0], len(choices), here)
        action = None if triple[1] is None else an_integer(triple[1], here)
        if action not in choices[state]:
            refuse("the state does not have this choice", here)
        if (state, action) in of_choices:
            refuse("a choice has two rewards", here)
        of_choices[state, action] = _reward(triple[2], here, limits)
    return Rewards(of_states, of_choices)


def _reward(value: object, place: str, limits: Limits) -> Rational:
    number = a_number(value, place, limits)
    if number < 0:
        refuse("a reward is negative", place)
    return number


def _check_refused(process: Process, place: str) -> None:
    """Refuse unless there is a state `refused` with that label alone, where runs stay."""
    here = process.names.index(_REFUSED) if _REFUSED in process.names else None
    if here is None or process.labels.get(_REFUSED) != frozenset({here}):
        refuse("there is no state `refused` that alone has this label", place)
    if process.choices[here] != dict.fromkeys(range(len(process.actions)), ((here, ONE),)):
        refuse("the state `refused` is left again", place)


class _RowReading:
    """Reads rows; turns all numbers into balls once there is an enclosure."""

    def __init__(self, states: int, actions: int, limits: Limits) -> None:
        self.states, self.actions, self.limits = states, actions, limits
        self.exact = True
        self.count = 0

    def choices(self, value: object, place: str) -> dict[int | None, Row]:
        listed = a_list(value, place)
        result: dict[int | None, Row] = {}
        for i, item in enumerate(listed):
            here = f"{place}[{i}]"
            choice = a_list(item, here)
            if len(choice) != 2:
                refuse("a choice is an action (or null) and a row", here)
            action = self.action(choice[0], f"{here}[0]")
            if action in result:
                refuse("an action is given twice", f"{here}[0]")
            result[action] = self.row(choice[1], f"{here}[1]")
        if not result:
            refuse("nothing can be chosen", place)
        return result

    def action(self, value: object, place: str) -> int | None:
        if value is None:
            if self.actions:
                refuse("a choice of a decision process has an action", place)
            return None
        action = an_integer(value, place)
        if not 0 <= action < self.actions:
            refuse("there is no such action", place)
        return action

    def row(self, value: object, place: str) -> Row:
        entries: dict[int, Value] = {}
        lows, highs = ZERO, ZERO
        for i, item in enumerate(a_list(value, place)):
            here = f"{place}[{i}]"
            pair = a_list(item, here)
            if len(pair) != 2:
                refuse("an entry is a target and its probability", here)
            target = a_state(pair[0], self.states, f"{here}[0]")
            if target in entries:
                refuse("a target is given twice", f"{here}[0]")
            low, high = self.ends(pair[1], f"{here}[1]")
            lows, highs = lows + low, highs + high
            entries[target] = low if low == high else arb(low).union(arb(high))
            self.exact = self.exact and low == high
        self.count += len(entries)
        within(self.count, _MOST_TRANSITIONS, "transitions", place)
        if not lows <= 1 <= highs:
            found = text(lows) if lows == highs else f"something from {text(lows)} to {text(highs)}"
            refuse(f"the probabilities sum to {found} instead of 1", place)
        return tuple(entries.items())

    def ends(self, value: object, place: str) -> tuple[Rational, Rational]:
        given = value if isinstance(value, list) else [value, value]
        if len(given) != 2:
            refuse("an enclosure has a low and a high end", place)
        low, high = (a_number(end, place, self.limits) for end in given)
        if not 0 < low <= high <= 1:
            refuse("a probability is above 0 and at most 1, its low end at most its high end", place)
        return low, high


def _neighbours(value: object, count: int, place: str, limits: Limits) -> tuple[frozenset[int], ...]:
    """The neighbours of every state without itself; the relation is completed to a symmetric one."""
    listed = a_list(value, place)
    within(len(listed), limits.pairs, "pairs of neighbours", place)
    result: list[set[int]] = [set() for _ in range(count)]
    for i, item in enumerate(listed):
        pair = a_list(item, f"{place}[{i}]")
        if len(pair) != 2:
            refuse("a pair of neighbours is two states", f"{place}[{i}]")
        s, t = (a_state(end, count, f"{place}[{i}]") for end in pair)
        if s != t:
            result[s].add(t)
            result[t].add(s)
    return tuple(frozenset(each) for each in result)


def read_word(value: object, actions: int, place: str, limits: Limits) -> tuple[int, ...]:
    """A sequence of actions."""
    listed = a_list(value, place)
    within(len(listed), limits.horizon, "actions", place)
    word = tuple(an_integer(item, f"{place}[{i}]") for i, item in enumerate(listed))
    if not all(0 <= action < actions for action in word):
        refuse("there is no such action", place)
    return word


def a_kind(value: object, place: str) -> tuple[dict[str, object], str]:
    """An object with its kind."""
    given = an_object(value, place)
    return given, a_text(given.get("kind"), f"{place}.kind")
