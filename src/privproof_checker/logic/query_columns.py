"""The operator D of a large decision process: for ordered pairs of neighbours, all action sequences or one (see `pairs`), in columns.

What a sequence of actions does is said by the process as D reads it: an action that a state does not have stays there, or leads to the
state `refused`, which is the last one.  The evidence about a formula of D is of one of two kinds.

* **near**: the pairs are checked as in a small process, that of the states alone that as many steps lead to as the path formula looks
  ahead, from the states of the pairs; all states within reach where it looks ahead without end, or where sequences must be enabled.
  The probability of the path formula from a pair depends on nothing else, whatever is chosen.
* **by vectors**: ``extremes`` compares bounds on the greatest probability at s with bounds on the least one at t, over all schedulers of
  the completed process.  ``lasso`` compares bounds on the probabilities along one sequence of actions, which is a chain: its states are
  a position of the sequence and a state, and only those that are reached from the pair.  The bounds are checked as those of any other
  process in columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import fmpq

from privproof_checker.logic.columns import Columns, Ints, Numbered, numbers_between, stretches
from privproof_checker.logic.decision_processes import Process, Row, a_kind, read_word
from privproof_checker.logic.formulas import Leaf, Next, Path, PathNot, PathSeveral, Private, State, Until, a_state
from privproof_checker.logic.query_pairs import PairFacts, Pairs
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, an_object, only_members

Intervals = Callable[
    [Columns, Ints, Path, list[int], dict[str, object], str], tuple[tuple[Ints, Ints], tuple[Ints, Ints]]
]
"""Bounds on the least and the greatest probability of a path formula on a process whose states show others, by given evidence."""

_MOST_ALONG = 50_000_000
"""Entries of the chain along a sequence of actions; beyond, it is refused."""
_MOST_POSITIONS = 200_000_000
"""Positions of a sequence of actions, or actions, times states; beyond, the sequence or the process is refused."""
_MOST_NEAR = 500_000
"""Entries of a process that is checked as a small one; beyond, it is refused."""


def looks_ahead(path: Path) -> int | None:
    """After how many steps a path formula is decided; None where there is no such number."""
    match path:
        case Leaf():
            return 0
        case PathNot(inner):
            return looks_ahead(inner)
        case Next(steps, inner):
            last = looks_ahead(inner)
            return None if last is None else last + steps
        case PathSeveral(_, parts):
            return _latest([looks_ahead(part) for part in parts])
        case Until(left, right, _, high):
            last = _latest([looks_ahead(left), looks_ahead(right)])
            return None if last is None or high is None else last + high
    raise AssertionError(path)


def _latest(found: list[int | None]) -> int | None:
    return None if None in found else max((steps for steps in found if steps is not None), default=0)


class QueryPairs:
    """Checks the pairs of formulas of D on one process in columns.

    Args:
        process: the process, with the action of every choice.
        holds: where a state formula holds, for every state 1, 0, or -1 where it is not known.
        intervals: bounds on probabilities on another process.
        limits: limits.
    """

    def __init__(
        self, process: Columns, holds: Callable[[State], np.ndarray], intervals: Intervals, limits: Limits
    ) -> None:
        self.process, self.holds, self.intervals, self.limits = process, holds, intervals, limits
        self._completed: Columns | None = None

    def facts(self, formula: Private, given: dict[str, object], place: str) -> PairFacts:
        """What the evidence establishes about the pairs of a formula."""
        listed = a_list(given.get("pairs"), f"{place}.pairs")
        within(len(listed), self.limits.pairs, "pairs", f"{place}.pairs")
        if "near" in given:
            only_members(given, ("formula", "near", "pairs", "certificates"), place)
            return self._near(formula, given, place)
        only_members(given, ("formula", "pairs", "untils", "often"), place)
        related = set(self.process.neighbours)
        found = PairFacts()
        compared: list[tuple[int, int, str]] = []
        for i, item in enumerate(listed):
            here = f"{place}.pairs[{i}]"
            pair = an_object(item, here)
            only_members(pair, ("left", "right", "how"), here)
            left, right = (a_state(pair.get(side), len(self.process), f"{here}.{side}") for side in ("left", "right"))
            if (left, right) not in related and (right, left) not in related:
                refuse("the states are not different neighbours", here)
            how, kind = a_kind(pair.get("how"), f"{here}.how")
            if kind == "extremes":
                only_members(how, ("kind",), f"{here}.how")
                compared.append((left, right, here))
                found.holding.add((left, right))
            elif kind == "lasso":
                self._lasso(formula, (left, right), how, f"{here}.how")
                found.violated[left, right] = ""
            else:
                refuse(f"{kind[:40]!r} is no evidence for a pair of a large process", f"{here}.how.kind")
        if compared:
            self._extremes(formula, compared, given, place)
        if found.holding & found.violated.keys():
            refuse("the evidence contradicts itself", f"{place}.pairs")
        return found

    def _extremes(
        self, formula: Private, pairs: list[tuple[int, int, str]], given: dict[str, object], place: str
    ) -> None:
        """Refuse unless the greatest probability at the left of each pair, and the least at its right, satisfy the claim."""
        process = self.completed()
        every = np.arange(len(process))
        starts = sorted({s for left, right, _ in pairs for s in (left, right)})
        least, most = self.intervals(process, every, formula.path, starts, given, place)
        for left, right, here in pairs:
            if not formula.epsilon.allows(_share(most[1][left]), _share(least[0][right]), formula.delta):
                refuse("the greatest probability on the left against the least on the right is not allowed", here)

    def _lasso(self, formula: Private, pair: tuple[int, int], how: dict[str, object], place: str) -> None:
        """Refuse unless one sequence of actions violates the claim."""
        only_members(how, ("kind", "before", "repeated", "untils", "often"), place)
        actions = len(self.process.actions)
        before, repeated = (
            read_word(how.get(part), actions, f"{place}.{part}", self.limits) for part in ("before", "repeated")
        )
        if not repeated:
            refuse("no action is repeated", f"{place}.repeated")
        chain, shows, starts = self._along(pair, before, repeated, place)
        (low, high), _ = self.intervals(chain, shows, formula.path, starts, how, place)
        if formula.epsilon.allows(_share(low[starts[0]]), _share(high[starts[1]]), formula.delta):
            refuse("the sequence is not seen to violate it", place)

    def completed(self) -> Columns:
        """The process in which every state has every action, in order; its choices are numbered by state and action."""
        process = self.process
        if process.missing == "enabled":
            refuse("where sequences must be enabled, only what is near is checked", "evidence")
        if self._completed is None:
            states, actions = len(process), len(process.actions)
            within(states * actions, _MOST_POSITIONS, "actions of all states", "question.process")
            place = process.owner * actions + process.taken
            own = np.full(states * actions, -1)
            own[place] = np.arange(len(place))
            lacking = np.flatnonzero(own < 0)
            if len(lacking) and process.missing is None:
                refuse("D needs every action in every state, or what a missing one does", "question.process.missing")
            lengths = np.ones(states * actions, np.int64)
            lengths[place] = np.append(process.first_entry[1:], len(process.targets)) - process.first_entry
            first = np.append(0, np.cumsum(lengths)[:-1])
            targets, numerators = (np.ones(int(lengths.sum()), np.int64) for _ in range(2))
            denominators = np.ones(states * actions, np.int64)
            denominators[place] = process.denominators
            entries = numbers_between(first, len(targets), place)
            targets[entries], numerators[entries] = process.targets, process.numerators
            targets[first[lacking]] = lacking // actions if process.missing == "stay" else states - 1
            self._completed = Columns(
                np.arange(states) * actions,
                np.repeat(np.arange(states), actions),
                first,
                targets,
                numerators,
                denominators,
                chain=False,
                labels={},
                neighbours=[],
                actions=process.actions,
                taken=np.tile(np.arange(actions), states),
            )
        return self._completed

    def _along(
        self, pair: tuple[int, int], before: tuple[int, ...], repeated: tuple[int, ...], place: str
    ) -> tuple[Columns, Ints, list[int]]:
        """The chain along a sequence from a pair, the state that each of its states shows, and where the pair begins."""
        process = self.completed()
        sequence, actions, count = (*before, *repeated), len(process.actions), len(process)
        within(len(sequence) * count, _MOST_POSITIONS, "positions of a sequence times states", place)
        onward = np.array([*range(1, len(sequence)), len(before)], np.int64)
        asked = np.array(sequence, np.int64)
        reached = np.zeros(len(sequence) * count, np.bool_)  # by position * count + state
        front, size = np.unique(np.array(pair, np.int64)), 0
        ends = np.append(process.first_entry[1:], len(process.targets))
        while len(front):
            reached[front] = True
            position, state = np.divmod(front, count)
            choices = state * actions + asked[position]
            lengths = ends[choices] - process.first_entry[choices]
            size += int(lengths.sum())
            within(size, _MOST_ALONG, "transitions along a sequence of actions", place)
            entries = stretches(process.first_entry[choices], lengths)
            ahead = np.unique(np.repeat(onward[position], lengths) * count + process.targets[entries])
            front = ahead[~reached[ahead]]
        keys = np.flatnonzero(reached)
        position, shows = np.divmod(keys, count)
        choices = shows * actions + asked[position]
        entries = numbers_between(process.first_entry, len(process.targets), choices)
        lengths = ends[choices] - process.first_entry[choices]
        ahead = np.repeat(onward[position], lengths) * count + process.targets[entries]
        chain = Columns(
            np.arange(len(shows)),
            np.arange(len(shows)),
            np.append(0, np.cumsum(lengths)[:-1]),
            np.searchsorted(keys, ahead),
            process.numerators[entries],
            process.denominators[choices],
            chain=True,
            labels={},
            neighbours=[],
        )
        return chain, shows, np.searchsorted(keys, np.array(pair)).tolist()

    def _near(self, formula: Private, given: dict[str, object], place: str) -> PairFacts:
        """What the evidence establishes about the pairs in a small process."""
        process = self.process
        pairs = a_list(given.get("pairs"), f"{place}.pairs")
        number = {"left": 0, "right": 0}
        begin = sorted(
            {
                a_state(an_object(pair, f"{place}.pairs[{i}]").get(side), len(process), f"{place}.pairs[{i}].{side}")
                for i, pair in enumerate(pairs)
                for side in number
            }
        )
        steps = None if process.missing == "enabled" else looks_ahead(formula.path)
        near = process.within_steps(np.array(begin, np.int64), len(process) if steps is None else steps)
        if process.missing == "refuse":
            near = np.union1d(near, [len(process) - 1])
        within(len(near), self.limits.states, "states near the pairs", place)
        small = self._small(near, place)
        placed = {int(s): i for i, s in enumerate(near)}
        moved = [
            {**an_object(pair, place), **{side: placed[an_object(pair, place)[side]] for side in number}}  # type: ignore[index]
            for pair in pairs
        ]
        truths: dict[State, np.ndarray] = {}

        def holds(state: State, states: object) -> dict[int, bool | None]:
            if state not in truths:
                truths[state] = self.holds(state)[near]
            return {s: None if value < 0 else bool(value) for s, value in enumerate(truths[state])}

        checked = Pairs(small, formula, holds, self.limits)
        checked.check(moved, a_list(given.get("certificates", []), f"{place}.certificates"), place)
        found = PairFacts({(int(near[s]), int(near[t])) for s, t in checked.facts.holding})
        found.violated.update({(int(near[s]), int(near[t])): how for (s, t), how in checked.facts.violated.items()})
        return found

    def _small(self, near: Ints, place: str) -> Process:
        """The process of some states; what leads elsewhere leads to the first of them."""
        process = self.process
        part = process.only(near)
        within(len(part.targets), _MOST_NEAR, "transitions near the pairs", place)
        targets, numerators, denominators = (
            each.tolist() for each in (part.targets, part.numerators, part.denominators)
        )
        begins = [*part.first_entry.tolist(), len(targets)]
        choices: list[dict[int | None, Row]] = [{} for _ in range(len(near))]
        shares: dict[tuple[int, int], fmpq] = {}
        for choice, (owner, action) in enumerate(zip(part.owner.tolist(), part.taken.tolist(), strict=True)):
            row: dict[int, fmpq] = {}
            below = denominators[choice]
            for entry in range(begins[choice], begins[choice + 1]):
                share = numerators[entry], below
                p = shares.get(share)
                if p is None:
                    p = shares[share] = fmpq(*share)
                target = targets[entry]
                row[target] = row[target] + p if target in row else p
            choices[owner][action] = tuple(row.items())
        named = list(Numbered(len(near)))
        if process.missing == "refuse":
            named[-1] = "refused"
        place_of = {int(s): i for i, s in enumerate(near)}
        neighbours: list[set[int]] = [set() for _ in named]
        for s, t in process.neighbours:
            if s in place_of and t in place_of:
                neighbours[place_of[s]].add(place_of[t])
                neighbours[place_of[t]].add(place_of[s])
        return Process(
            tuple(named),
            process.actions,
            tuple(choices),
            {},
            tuple(map(frozenset, neighbours)),
            exact=True,
            missing=process.missing,
        )


def _share(units: int) -> fmpq:
    return fmpq(int(units), 1 << 52)
