"""A decision process as D reads it: every state has every action, whatever the states of the model have.

A query scheduler asks both neighbours for the same actions, and does not see where they are.  Where states lack actions the process says
what that means (`DecisionProcess.missing`).  *Stay* and *refuse* complete the process state by state (`DecisionProcess.completed`).

*Enabled* leaves out every sequence that asks, at some step, for an action that a state does not have in which either run may be.  Which
sequences are left depends on the pair (s, t), and on nothing but supports: begin with ``U = {s, t}``, and an action a leads from U to the
set of all states that it leads to from states of U.  An action is *enabled* in U if every state of U has it.  Supports without an enabled
action are dead ends; they are deleted, with the actions that lead to them, until none is left (what is left is the largest set of
supports in which one can go on for ever).  So the admissible sequences of the pair are the endless walks from U that remain.

The process that D is asked of has the states (x, U), x in U.  An action that remains in U leads as in x, to the next support; one that
does not remain *acts as* the first that does.  Every state has every action, so all that is known of such processes holds; and **its
sequences do exactly what the admissible ones do**: an admissible sequence acts as itself, and any sequence acts as the admissible one in
which each action is replaced by what it acts as, which depends on the earlier actions only.  Where U itself is deleted, no sequence is
admissible, and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.logic.decision_process import Builder, DecisionProcess, Ints, Numbered
from privproof.logic.exact_solving import TooLarge

_MOST_SUPPORTED = 400_000
"""Members of all supports together: as many as a product of process and formula may have nodes."""

Support: TypeAlias = "frozenset[int]"
Pair: TypeAlias = "tuple[int, int]"
Moves: TypeAlias = "dict[int, Support]"


@dataclass(frozen=True, eq=False)
class VacuityReading:
    """A process in which every state has every action.

    Attributes:
        process: the process.
        shows: for each of its states the state of the model.
        starts: for pairs of states of the model the two states in which their runs begin; no entry where no sequence is admissible.
        supports: for each of its states the support it belongs to, where sequences are left out.
        moves: what each action acts as in a support, and the next support.
    """

    process: DecisionProcess
    shows: Ints
    starts: Mapping[Pair, Pair]
    supports: tuple[Support, ...] = ()
    moves: Mapping[Support, Moves] = field(default_factory=dict)

    def acted(self, state: int, before: tuple[int, ...], repeated: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """The admissible sequence that a sequence (some actions, then others for ever) acts as from a state."""
        if not self.supports:
            return before, repeated
        support, done = self.supports[state], list[int]()
        for action in before:
            support = self._act(support, action, done)
        seen: dict[Support, int] = {}
        while support not in seen:
            seen[support] = len(done)
            for action in repeated:
                support = self._act(support, action, done)
        return tuple(done[: seen[support]]), tuple(done[seen[support] :])

    def _act(self, support: Support, action: int, done: list[int]) -> Support:
        moves = self.moves[support]
        done.append(effective_action(moves, action))
        return moves[done[-1]]


def effective_action(moves: Moves, action: int) -> int:
    """What an action acts as: itself where it remains, otherwise the first that does."""
    return action if action in moves else min(moves)


def vacuity_reading(process: DecisionProcess, pairs: Iterable[Pair], monitor: Monitor) -> VacuityReading:
    """The process as D reads it for some pairs of neighbours."""
    if process.missing != "enabled" or not process.lacking:
        whole = process.completed
        return VacuityReading(whole, np.arange(len(whole)), {pair: pair for pair in pairs})
    rows = _rows(process)
    begins = {pair: frozenset(pair) for pair in pairs}
    moves = _lasting_supports(_explore_supports(rows, begins.values(), monitor))
    places: dict[tuple[int, Support], int] = {}
    for (s, t), support in begins.items():
        if support in moves:
            places.setdefault((s, support), len(places))
            places.setdefault((t, support), len(places))
    build, waiting = Builder(process.actions), list(places)
    for state, support in waiting:
        monitor.pause()
        if len(places) > _MOST_SUPPORTED:
            raise TooLarge
        for action in range(len(process.actions)):
            done = effective_action(moves[support], action)
            onward = []
            for target, number in process.entries(rows[state][done][0]):
                node = (target, moves[support][done])
                if node not in places:
                    places[node] = len(places)
                    waiting.append(node)
                onward.append((places[node], number))
            build.choice(action, onward)
        build.state()
    starts = {
        (s, t): (places[s, support], places[t, support]) for (s, t), support in begins.items() if support in moves
    }
    whole = build.process(names=Numbered(len(places)), labels={}, name=process.name)
    shows = np.array([state for state, _ in waiting], np.int64)
    return VacuityReading(whole, shows, starts, tuple(support for _, support in waiting), moves)


def _rows(process: DecisionProcess) -> list[dict[int, tuple[int, frozenset[int]]]]:
    """For every state its actions: the choice, and where it may lead."""
    result: list[dict[int, tuple[int, frozenset[int]]]] = []
    begins, rows, targets, actions = (
        array.tolist() for array in (process.choices, process.rows, process.targets, process.action_of)
    )
    for state in range(len(process)):
        choices = range(begins[state], begins[state + 1])
        result.append({actions[c]: (c, frozenset(targets[rows[c] : rows[c + 1]])) for c in choices})
    return result


def _explore_supports(
    rows: list[dict[int, tuple[int, frozenset[int]]]], begins: Iterable[Support], monitor: Monitor
) -> dict[Support, Moves]:
    """All supports within reach, with the next support by every action that all members have."""
    found: dict[Support, Moves] = {}
    waiting = list(dict.fromkeys(begins))
    size = 0
    while waiting:
        support = waiting.pop()
        if support in found:
            continue
        monitor.pause()
        size += len(support)
        if size > _MOST_SUPPORTED:
            raise TooLarge
        members = [rows[state] for state in support]
        common = set(members[0]).intersection(*members[1:])
        found[support] = {a: frozenset[int]().union(*(own[a][1] for own in members)) for a in sorted(common)}
        waiting.extend(found[support].values())
    return found


def _lasting_supports(found: dict[Support, Moves]) -> dict[Support, Moves]:
    """The supports in which one can go on for ever, with the actions that lead to such."""
    into: dict[Support, list[tuple[Support, int]]] = {support: [] for support in found}
    for support, moves in found.items():
        for action, onward in moves.items():
            into[onward].append((support, action))
    left = {support: dict(moves) for support, moves in found.items()}
    ended = [support for support, moves in left.items() if not moves]
    while ended:
        support = ended.pop()
        del left[support]
        for before, action in into[support]:
            if before in left:
                del left[before][action]
                if not left[before]:
                    ended.append(before)
    return left
