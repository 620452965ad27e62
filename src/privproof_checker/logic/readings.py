"""A decision process as the operator D reads it: a walk in which every action can be taken everywhere.

A query scheduler is one infinite sequence of actions, for both neighbours.  What it means to ask for an action that a state does not have
is part of the question (``missing``).

* ``stay``: the walk stays.  ``refuse``: it goes to the state `refused`, for ever.  The states are those of the process.
* ``enabled``: a sequence counts for the pair (s, t) only if at every step all states have its action in which the walk from s, or the one
  from t, may be.  Let the *support* after some actions be the set of these states; the first is {s, t}, and the next depends on it and the
  action only.  A support is *lasting* if some action that all of its states have leads to a lasting support (the largest set with this
  property): exactly then an endless sequence goes on from it.  A state of the walk is a state of the process with a lasting support
  that contains it.  An action that all states of the support have, and that leads to a lasting one, leads on as in the process; any
  other is taken for the first action of this kind.  So a sequence that counts does in the walk what it does in the process, and each
  other one does what some sequence does that counts: "for every sequence" means the same for both.  If {s, t} does not last, no
  sequence counts, and nothing about the pair is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from privproof_checker.logic.decision_processes import Process, ProcessWalk, Row
from privproof_checker.numbers import ONE
from privproof_checker.outcomes import refuse, within

_REFUSED = "refused"
"""Where a run ends that is asked for an action it does not have, if such actions are refused."""

Support = frozenset[int]


@dataclass(frozen=True)
class ActionWalk:
    """A walk with a row for every action in every state, in the order of the actions.

    Attributes:
        walk: the walk.
        starts: for pairs of states of the process where their walks begin.
        supports: where sequences are left out, the support of every state of the walk.
        lasting: and the lasting supports, with the next one by each action that goes on.
    """

    walk: ProcessWalk
    starts: dict[tuple[int, int], tuple[int, int]]
    supports: list[Support] = field(default_factory=list)
    lasting: dict[Support, dict[int, Support]] = field(default_factory=dict)

    def begin(self, left: int, right: int, place: str) -> tuple[int, int]:
        """Where the walks of a pair begin; refuses a pair for which no sequence counts."""
        found = self.starts.get((left, right))
        if found is None:
            refuse("no endless sequence of actions is enabled in both states", place)
        return found

    def counts(self, state: int, before: Sequence[int], repeated: Sequence[int], place: str) -> None:
        """Refuse a sequence (some actions, then others for ever) that does not count from a state of the walk."""
        if not self.supports:
            return
        support, seen = self.supports[state], set[Support]()
        part = before
        while support not in seen:
            if part is repeated:
                seen.add(support)
            for action in part:
                if action not in self.lasting[support]:
                    refuse("the sequence asks for an action that is not enabled", place)
                support = self.lasting[support][action]
            part = repeated


def read_for(process: Process, pairs: Iterable[tuple[int, int]], limit: int, place: str) -> ActionWalk:
    """The reading of a process for some pairs of its states."""
    if process.missing == "enabled":
        return _read_enabled(process, list(pairs), limit, place)
    rows = tuple(
        tuple(given.get(action) or _elsewhere(process, state) for action in range(len(process.actions)))
        for state, given in enumerate(process.choices)
    )
    return ActionWalk(ProcessWalk(rows, tuple(range(len(rows))), process.exact), {pair: pair for pair in pairs})


def _elsewhere(process: Process, state: int) -> Row:
    """Where an action leads that a state does not have."""
    if process.missing is None:
        refuse("the operator D needs every action in every state, or what a missing one does", "question.process.rows")
    return ((state if process.missing == "stay" else process.names.index(_REFUSED), ONE),)


def _read_enabled(process: Process, pairs: list[tuple[int, int]], limit: int, place: str) -> ActionWalk:
    lasting = _lasting_supports(process, {frozenset(pair) for pair in pairs}, limit, place)
    begins = [(state, frozenset(pair)) for pair in pairs if frozenset(pair) in lasting for state in pair]
    listed = list(dict.fromkeys(begins))
    number = {node: i for i, node in enumerate(listed)}
    rows: list[tuple[Row, ...]] = []
    size = 0
    for state, support in listed:
        going, own = lasting[support], []
        for action in range(len(process.actions)):
            taken = action if action in going else min(going)
            entries = []
            for target, p in process.choices[state][taken]:
                node = (target, going[taken])
                if node not in number:
                    number[node] = len(listed)
                    listed.append(node)
                entries.append((number[node], p))
            own.append(tuple(entries))
            size += len(entries)
        rows.append(tuple(own))
        within(size, limit, "transitions between states with supports", place)
    starts = {
        (s, t): (number[s, frozenset((s, t))], number[t, frozenset((s, t))])
        for s, t in pairs
        if frozenset((s, t)) in lasting
    }
    walk = ProcessWalk(tuple(rows), tuple(state for state, _ in listed), process.exact)
    return ActionWalk(walk, starts, [support for _, support in listed], lasting)


def _lasting_supports(
    process: Process, begins: set[Support], limit: int, place: str
) -> dict[Support, dict[int, Support]]:
    """The lasting supports within reach, with the next one by each action that all of their states have and that leads to a lasting one."""
    found: dict[Support, dict[int, Support]] = {}
    waiting = list(begins)
    size = 0
    while waiting:
        support = waiting.pop()
        if support in found:
            continue
        size += len(support)
        within(size, limit, "states of supports", place)
        found[support] = {
            action: frozenset(target for state in support for target, _ in process.choices[state][action])
            for action in range(len(process.actions))
            if all(action in process.choices[state] for state in support)
        }
        waiting += found[support].values()
    before: dict[Support, list[Support]] = {support: [] for support in found}
    for support, following in found.items():
        for onward in following.values():
            before[onward].append(support)
    gone: set[Support] = set()
    ending = [support for support, following in found.items() if not following]
    while ending:
        support = ending.pop()
        if support not in gone:
            gone.add(support)
            ending += [
                earlier for earlier in before[support] if all(onward in gone for onward in found[earlier].values())
            ]
    return {
        support: {action: onward for action, onward in following.items() if onward not in gone}
        for support, following in found.items()
        if support not in gone
    }
