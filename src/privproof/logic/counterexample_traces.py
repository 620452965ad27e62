"""Single runs: the shortest one that settles a path formula, and runs that are drawn.

A run is followed by progression: what the formula still asks of the rest becomes true or false as soon as the states read so far
settle it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from flint import fmpq

from privproof.exact import ONE, Rational
from privproof.logic.decision_process import Bools, DecisionProcess, bounds
from privproof.logic.path_probabilities import FALSE, TRUE, Path, progress

Outcome: TypeAlias = Literal["satisfied", "violated", "open"]

FAR: Path = ("X", ("leaf", 0), 10**9)
"""A formula that no run settles within so many steps: for runs that are only to be looked at."""
_MOST_NODES = 50_000
"""Pairs of a state and what is asked there that a search for a shortest run looks at; beyond, none is shown."""


@dataclass(frozen=True)
class Trace:
    """A run, as far as it was followed.

    Attributes:
        states: the states, by number.
        actions: the actions that were taken, of a decision process.
        outcome: whether these states settle the path formula.
        probability: how likely the run begins like this; None where it depends on a scheduler or is not exact.
        stays: whether the run can only stay where it is from its last state on.
    """

    states: tuple[int, ...]
    actions: tuple[str, ...]
    outcome: Outcome
    probability: Rational | None = None
    stays: bool = False


def _outcome(asked: Path) -> Outcome:
    return "satisfied" if asked == TRUE else "violated" if asked == FALSE else "open"


class PathFollower:
    """What a path formula asks of the rest of a run, state by state; progressions are remembered."""

    def __init__(self, truths: Sequence[Bools], path: Path) -> None:
        self.first = path
        self._truths = truths
        self._known: dict[tuple[Path, tuple[bool, ...]], Path] = {}

    def after(self, asked: Path, state: int) -> Path:
        """What is asked after a state."""
        if asked in (TRUE, FALSE):
            return asked
        truth = tuple([bool(each[state]) for each in self._truths])
        if (asked, truth) not in self._known:
            self._known[asked, truth] = progress(asked, truth)
        return self._known[asked, truth]


def shortest_trace(process: DecisionProcess, truths: Sequence[Bools], path: Path, start: int) -> Trace | None:
    """A shortest run of a chain that satisfies a path formula; where none does so after finitely many steps, one that violates it.

    Of several that are equally short it is the likeliest.
    """
    follower = PathFollower(truths, path)
    begin = (start, follower.after(path, start))
    before: dict[tuple[int, Path], tuple[int, Path] | None] = {begin: None}
    level: dict[tuple[int, Path], Rational] = {begin: ONE}
    violated: tuple[int, Path] | None = None
    while level:
        likeliest = sorted(level, key=lambda node: -level[node])
        for node in likeliest:
            if node[1] == TRUE:
                return _back(process, before, node)
        violated = violated or next((node for node in likeliest if node[1] == FALSE), None)
        onward: dict[tuple[int, Path], Rational] = {}
        for node in likeliest:
            state, asked = node
            if asked == FALSE:
                continue
            if len(before) > _MOST_NODES:
                return None
            for target, number in process.entries(int(process.choices[state])):
                following = (target, follower.after(asked, target))
                likely = level[node] * bounds(number)[0]
                if following not in before or likely > onward.get(following, likely):
                    before[following] = node
                    onward[following] = likely
        level = onward
    return None if violated is None else _back(process, before, violated)


def _back(
    process: DecisionProcess, before: dict[tuple[int, Path], tuple[int, Path] | None], last: tuple[int, Path]
) -> Trace:
    states = [last[0]]
    node = before[last]
    while node is not None:
        states.append(node[0])
        node = before[node]
    states.reverse()
    probability: Rational | None = ONE
    for state, target in pairwise(states):
        number = dict(process.entries(int(process.choices[state])))[target]
        probability = probability * number if probability is not None and isinstance(number, fmpq) else None
    return Trace(tuple(states), (), _outcome(last[1]), probability)


def drawn_traces(
    process: DecisionProcess,
    truths: Sequence[Bools],
    path: Path,
    starts: Sequence[int],
    *,
    count: int,
    steps: int,
    seed: int | None,
    pause: Callable[[], None],
) -> list[Trace]:
    """So many runs from each start: until the formula is settled, the run can only stay, or so many steps are done.

    The choices of a decision process are equally likely, and enclosed probabilities are drawn by their middles.
    """
    source = random.Random(seed)
    follower = PathFollower(truths, path)
    begins = process.choices.tolist()
    found: list[Trace] = []

    def stays(state: int) -> bool:
        return all(target == state for c in range(begins[state], begins[state + 1]) for target, _ in process.entries(c))

    for start in starts:
        for _ in range(count):
            pause()
            states, actions = [start], []
            asked = follower.after(path, start)
            while len(states) <= steps and asked not in (TRUE, FALSE) and not stays(states[-1]):
                choice = source.randrange(begins[states[-1]], begins[states[-1] + 1])
                states.append(_draw_successor(process, choice, source))
                if not process.is_chain:
                    actions.append(process.action(choice))
                asked = follower.after(asked, states[-1])
            still = asked not in (TRUE, FALSE) and stays(states[-1])
            if still and path != FAR:
                asked = TRUE if _for_ever(asked, [bool(each[states[-1]]) for each in truths]) else FALSE
            found.append(Trace(tuple(states), tuple(actions), _outcome(asked), stays=still))
    return found


def _for_ever(path: Path, truth: Sequence[bool]) -> bool:
    """Whether the path that stays in one state, with this truth of the leaves, satisfies a formula."""
    match path[0]:
        case "leaf":
            return truth[path[1]]
        case "true" | "false":
            return bool(path[0] == "true")
        case "not":
            return not _for_ever(path[1], truth)
        case "and":
            return all(_for_ever(part, truth) for part in path[1:])
        case "or":
            return any(_for_ever(part, truth) for part in path[1:])
        case "X":
            return _for_ever(path[1], truth)
    _, left, right, low, _ = path
    return _for_ever(right, truth) and (low == 0 or _for_ever(left, truth))


def _draw_successor(process: DecisionProcess, choice: int, source: random.Random) -> int:
    """The next state, drawn: exactly, if the probabilities are exact."""
    entries = process.entries(choice)
    weights = [sum(bounds(number), start=fmpq(0)) for _, number in entries]
    total = sum(weights, start=fmpq(0))
    whole = int(total.q)
    for weight in weights:
        whole *= int(weight.q)
    at = source.randrange(int((total * whole).p))
    for (target, _), weight in zip(entries, weights, strict=True):
        at -= int((weight * whole).p)
        if at < 0:
            return target
    raise AssertionError(choice)
