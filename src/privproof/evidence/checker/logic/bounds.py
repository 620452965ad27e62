"""Certificates about formulas on large processes: vectors that bound probabilities from below and above, checked in whole numbers.

The process is in `columns`.  Let p be the least or the greatest probability of ``f U g`` (f, g state formulas) over all schedulers; in a
chain both are the probability.  The evidence gives vectors, with entries from 0 to 1, of which it is checked at every state s:

* **high**: ``U(s) = 1`` where g holds; where f holds and g does not, ``U(s) >= sum p(t) U(t)`` for *every* choice (greatest) or for *one*
  choice that the evidence names (least).  By induction on n, U is at least the probability of succeeding within n steps, under every
  scheduler or under the named choices; so U bounds the greatest probability, or that of one scheduler, from above.
* **low**: let T be the states with ``L(s) > 0`` where g does not hold.  In T f holds, ``L(s) <= sum p(t) L(t)`` for one named choice
  (greatest) or for every choice (least), and each of these choices has a next state outside of T, or one in T of a smaller *rank*.  Ranks
  are positive whole numbers, so that T is left almost surely (within as many steps as there are ranks with at least some fixed
  probability, again and again).  So L(s) is at most the expected L where T is left, which is at most 1, and above 0 only where g holds:
  at most the probability of ``f U g`` under the named choices, or under every scheduler.

Where it is not known whether f or g holds, they count as true for bounds from above and as false for those from below; the probability
grows with both.  Steps of ``X`` and of bounded untils are taken one by one, rounded down and up; where only some states are asked about,
on the states alone that so many steps lead to: what n more steps lead to matters for the states that are n steps before the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from privproof.evidence.checker.documents import a_list, a_text, a_text_or_null, an_object, only_members
from privproof.evidence.checker.logic.columns import ONE, Columns, Flags, Ints, Numbered, read_column, read_columns
from privproof.evidence.checker.logic.formulas import (
    Leaf,
    Next,
    Not,
    Path,
    PathNot,
    Private,
    Probability,
    Range,
    Reader,
    Several,
    State,
    States,
    Until,
    a_state,
    privates,
    states_of,
    written,
)
from privproof.evidence.checker.outcomes import Accepted, Limits, refuse, within
from privproof.exact import Rational

Truths: TypeAlias = NDArray[np.int8]
"""For every state 1 (true), 0 (false) or -1 (not known)."""

_MOST_WORK = 20_000_000_000
"""Entries passed in all steps of bounded formulas; beyond, the question is refused."""
_MOST_WORDS = 2_000
"""Characters of a formula that the statement tells."""


@dataclass(frozen=True, eq=False)
class Interval:
    """For every state bounds on the least and the greatest probability over all schedulers, in units; in a chain both are one."""

    least: tuple[Ints, Ints]
    most: tuple[Ints, Ints]
    chain: bool

    def each(self, change: Callable[[Ints, bool, bool], Ints]) -> Interval:
        """The bounds changed: each with whether it is of the greatest probability, and whether it is from above."""
        least = (change(self.least[0], False, False), change(self.least[1], False, True))  # noqa: FBT003
        if self.chain:
            return Interval(least, least, chain=True)
        most = (change(self.most[0], True, False), change(self.most[1], True, True))  # noqa: FBT003
        return Interval(least, most, chain=False)


def check_bounds(verdict: str, question: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is a formula about a process in columns."""
    only_members(question, ("kind", "title", "process", "formula", "text", "states"), "question")
    a_text_or_null(question.get("text"), "question.text")
    process = read_columns(question.get("process"), "question.process", limits)
    listed = list(process.labels)
    # a label is read as the set of one number below 0, which stands for its column
    reader = Reader(Numbered(len(process)), {name: frozenset((-1 - i,)) for i, name in enumerate(listed)}, limits)
    formula = reader.state(question.get("formula"), "question.formula")
    asked = states_of(question.get("states"), len(process), "question.states")
    if not asked:
        refuse("no state is asked about", "question.states")
    if certificate.get("witness") is not None:
        refuse("a formula has no witness beside its evidence", "witness")
    evidence = an_object(certificate.get("evidence"), "evidence")
    only_members(evidence, ("method", "state", "untils"), "evidence")
    if a_text(evidence.get("method"), "evidence.method") != "bounds":
        refuse("the evidence for a formula about columns has the method bounds", "evidence.method")
    found = _Bounds(process, [process.labels[name] for name in listed], asked)
    for i, item in enumerate(a_list(evidence.get("untils"), "evidence.untils")):
        found.add(item, reader, f"evidence.untils[{i}]")
    words = written(formula)
    words = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]} ..."
    how = f"bounds on the probabilities of {len(process)} states were checked in exact arithmetic"
    details = {"method": "bounds", "states": len(process), "exact": True, "compared": len(process.neighbours)}
    if verdict == "proved":
        if any(True for _ in privates(formula)) and not process.neighbours:
            refuse("no state has a neighbour other than itself, so nothing is compared", "question.process.neighbours")
        truth = found.truth(formula)
        for s in asked:
            if truth[s] != 1:
                reason = "it fails" if truth[s] == 0 else "it is not established"
                refuse(f"{reason} in the state {s}", "question.states")
        several = f"{', '.join(map(str, asked[:20]))}{f' and {len(asked) - 20} others' if len(asked) > 20 else ''}"
        return Accepted("proved", f"{words} holds in the states {several}; {how}", details)
    state = a_state(evidence.get("state"), len(process), "evidence.state")
    if state not in asked:
        refuse("this state is not asked about", "evidence.state")
    value = found.truth(formula)[state]
    if value != 0:
        refuse("the formula holds there" if value else "it is not established that the formula fails", "evidence.state")
    return Accepted("refuted", f"{words} fails in the state {state}; {how}", details)


class _Bounds:
    """Evaluates formulas on one process, with the evidence about its untils."""

    def __init__(self, process: Columns, labels: list[Flags], asked: list[int]) -> None:
        self.process, self.labels = process, labels
        compared = {s for pair in process.neighbours for s in pair}
        self._wanted: Ints | None = np.array(sorted(compared.union(asked)), np.int64)
        self.work = 0
        self._truth: dict[tuple[State, bool], Truths] = {}
        self._evidence: dict[Until, tuple[dict[str, object], str]] = {}
        self._intervals: dict[tuple[Path, bool], Interval] = {}

    def add(self, value: object, reader: Reader, place: str) -> None:
        """Read what the evidence says about one until."""
        given = an_object(value, place)
        only_members(given, ("formula", "least", "most"), place)
        until = reader.path(given.get("formula"), f"{place}.formula")
        if not isinstance(until, Until) or (until.low, until.high) != (0, None):
            refuse("expected an until without bounds", f"{place}.formula")
        self._evidence[until] = (given, place)

    def truth(self, formula: State) -> Truths:
        """Where a state formula holds; elsewhere than in the states asked about it may be taken for not known."""
        key = (formula, self._wanted is None)
        if key not in self._truth:
            self._truth[key] = self._evaluated(formula)
        return self._truth[key]

    def _evaluated(self, formula: State) -> Truths:
        match formula:
            case States(members):
                result = np.zeros(len(self.process), np.int8)
                for member in members:
                    if member < 0:
                        result[self.labels[-1 - member]] = 1
                    else:
                        result[member] = 1
                return result
            case Not(inner):
                truth = self.truth(inner)
                return np.where(truth < 0, truth, 1 - truth).astype(np.int8)
            case Several(every, parts):
                result = np.full(len(self.process), int(every), np.int8)
                for truth in map(self.truth, parts):
                    decided = (result == (not every)) | (truth == (not every))
                    unknown = (result < 0) | (truth < 0)
                    result = np.where(decided, int(not every), np.where(unknown, -1, int(every))).astype(np.int8)
                return result
            case Probability(range_, path):
                return _within(range_, self.interval(path))
            case Private() if self.process.chain:
                return self._private(formula)
        refuse("this operator is not supported for a process in columns", "question.formula")

    def _private(self, formula: Private) -> Truths:
        """D on a chain."""
        low, high = self.interval(formula.path).least
        result = np.ones(len(self.process), np.int8)
        for pair in self.process.neighbours:
            ends = {s: (fmpq(int(low[s]), ONE), fmpq(int(high[s]), ONE)) for s in pair}
            for s, t in (pair, pair[::-1]):
                if formula.epsilon.allows(ends[s][1], ends[t][0], formula.delta):
                    continue
                broken = not formula.epsilon.allows(ends[s][0], ends[t][1], formula.delta)
                for state in pair:
                    result[state] = 0 if broken or result[state] == 0 else -1
        return result

    # --------------------------------------------------------------------------------------------------- probabilities

    def interval(self, path: Path) -> Interval:
        """Bounds on the probabilities of a path formula."""
        key = (path, self._wanted is None)
        if key not in self._intervals:
            self._intervals[key] = self._bounded(path)
        return self._intervals[key]

    def _bounded(self, path: Path) -> Interval:
        match path:
            case Leaf(state):
                truth = self._everywhere(state)
                both = (np.where(truth == 1, ONE, 0), np.where(truth == 0, 0, ONE))
                return self._both(both, both)
            case PathNot(inner):
                found = self.interval(inner)
                least = (ONE - found.most[1], ONE - found.most[0])
                return self._both(least, (ONE - found.least[1], ONE - found.least[0]))
            case Next(steps, inner):
                always = np.ones(len(self.process), np.int8)
                with self._all_states():
                    last = self.interval(inner)
                return self._iterated(last, [(steps, always, None)])
            case Until(Leaf(left), Leaf(right), low, high):
                keep, goal = self._everywhere(left), self._everywhere(right)
                if high is None:
                    return self._iterated(self._endless(replace(path, low=0), keep, goal), [(low, keep, None)])
                return self._iterated(self.interval(path.right), [(high - low, keep, goal), (low, keep, None)])
        refuse("this path formula is not supported for a process in columns", "question.formula")

    def _both(self, least: tuple[Ints, Ints], most: tuple[Ints, Ints]) -> Interval:
        return Interval(least, least if self.process.chain else most, chain=self.process.chain)

    def _everywhere(self, formula: State) -> Truths:
        """Where a state formula inside of a path formula holds: in all states, not only in those asked about."""
        with self._all_states():
            return self.truth(formula)

    @contextmanager
    def _all_states(self) -> Iterator[None]:
        """While what is inside of a path formula is evaluated."""
        before, self._wanted = self._wanted, None
        try:
            yield
        finally:
            self._wanted = before

    def _iterated(self, last: Interval, rounds: list[tuple[int, Truths, Truths | None]]) -> Interval:
        """The expected value after some steps: 0 where ``keep`` fails before, 1 where the goal is met before."""
        total = sum(steps for steps, _, _ in rounds)
        if total == 0:
            return last
        if self._wanted is None:
            return self._stepped(self.process, last, rounds)
        near = self.process.within_steps(self._wanted, total)
        some = last.each(lambda vector, largest, up: vector[near])
        listed = [(steps, keep[near], None if goal is None else goal[near]) for steps, keep, goal in rounds]
        found = self._stepped(self.process.only(near), some, listed)

        def spread(vector: Ints, largest: bool, up: bool) -> Ints:  # noqa: FBT001
            result = np.full(len(self.process), ONE if up else 0)
            assert self._wanted is not None
            result[self._wanted] = vector[np.searchsorted(near, self._wanted)]
            return result

        return found.each(spread)

    def _stepped(self, process: Columns, last: Interval, rounds: list[tuple[int, Truths, Truths | None]]) -> Interval:
        for steps, keep, goal in rounds:
            step = _step(process, keep, goal)
            for _ in range(steps):
                self.work += 4 * len(process.targets)
                within(self.work, _MOST_WORK, "entries in all steps", "question.formula")
                before, last = last, last.each(step)
                pairs = zip(before.least + before.most, last.least + last.most, strict=True)
                if all(np.array_equal(one, other) for one, other in pairs):
                    break
        return last

    def _endless(self, until: Until, keep: Truths, goal: Truths) -> Interval:
        """What the evidence says about an until without end, checked."""
        count = len(self.process)
        trivial = (np.zeros(count, np.int64), np.full(count, ONE))
        given, place = self._evidence.get(until, ({}, ""))
        if self.process.chain and "most" in given:
            refuse("in a chain the least probability is the greatest", place)
        found = []
        for key in ("least", "most"):
            sides = an_object(given.get(key, {}), f"{place}.{key}")
            only_members(sides, ("low", "high"), f"{place}.{key}")
            low, high = trivial
            if "low" in sides:
                low = self._low(sides["low"], keep == 1, goal == 1, f"{place}.{key}.low", most=key == "most")
            if "high" in sides:
                high = self._high(sides["high"], keep != 0, goal != 0, f"{place}.{key}.high", most=key == "most")
            found.append((low, high))
        return self._both(found[0], found[1])

    def _high(self, value: object, keep: Flags, goal: Flags, place: str, *, most: bool) -> Ints:
        given = an_object(value, place)
        only_members(given, ("values", "policy"), place)
        vector = self._vector(given.get("values"), f"{place}.values")
        if (vector[goal] != ONE).any():
            refuse("the bound is below 1 where the formula is satisfied", f"{place}.values")
        above, _ = self.process.compared(vector)
        considered = self._considered(given, place, everything=most)
        if (considered & (keep & ~goal)[self.process.owner] & ~above).any():
            refuse("a state's bound is below what a choice leads to", f"{place}.values")
        return vector

    def _low(self, value: object, keep: Flags, goal: Flags, place: str, *, most: bool) -> Ints:
        given = an_object(value, place)
        only_members(given, ("values", "policy", "ranks"), place)
        vector = self._vector(given.get("values"), f"{place}.values")
        inside = (vector > 0) & ~goal
        if (inside & ~keep).any():
            refuse("the bound is above 0 where the formula fails", f"{place}.values")
        ranks = read_column(given.get("ranks"), len(self.process), f"{place}.ranks")
        if inside.any() and ranks[inside].min() < 1:
            refuse("a rank is below 1", f"{place}.ranks")
        ranks = np.where(inside, ranks, 0)
        process = self.process
        considered = self._considered(given, place, everything=not most) & inside[process.owner]
        _, below = process.compared(vector)
        if (considered & ~below).any():
            refuse("a state's bound is above what a choice leads to", f"{place}.values")
        nearest = np.minimum.reduceat(ranks[process.targets], process.first_entry)
        if (considered & (nearest >= ranks[process.owner])).any():
            refuse("a choice leads to no state of a smaller rank", f"{place}.ranks")
        return vector

    def _vector(self, value: object, place: str) -> Ints:
        vector = read_column(value, len(self.process), place)
        if vector.min() < 0 or vector.max() > ONE:
            refuse("a bound is from 0 to 1, in units of 2^-52", place)
        return vector

    def _considered(self, given: dict[str, object], place: str, *, everything: bool) -> Flags:
        """The choices that a condition is about: all of them, or one that is named for every state."""
        process = self.process
        if everything or process.chain:
            if "policy" in given:
                refuse("no choice is to be named here", f"{place}.policy")
            return np.ones(len(process.owner), np.bool_)
        policy = read_column(given.get("policy"), len(process), f"{place}.policy")
        last = np.append(process.first_choice[1:], len(process.owner)) - process.first_choice
        if policy.min() < 0 or (policy >= last).any():
            refuse("a state does not have the choice that is named", f"{place}.policy")
        result = np.zeros(len(process.owner), np.bool_)
        result[process.first_choice + policy] = True
        return result


def _step(process: Columns, keep: Truths, goal: Truths | None) -> Callable[[Ints, bool, bool], Ints]:
    """One step of a bounded formula, for a bound that is of the greatest probability or the least, from above or below."""

    def step(vector: Ints, largest: bool, up: bool) -> Ints:  # noqa: FBT001
        moved = process.over_choices(process.stepped(vector, up=up), largest=largest)
        moved = np.where(keep != 0 if up else keep == 1, moved, 0)
        return moved if goal is None else np.where(goal != 0 if up else goal == 1, ONE, moved)

    return step


def _within(range_: Range, found: Interval) -> Truths:
    """Where the probability lies in a range under every scheduler, and where it certainly does not."""
    lowest, least_high = found.least
    most_low, highest = found.most
    inside = _beyond(lowest, range_.low, strictly=not range_.low_included) & ~_beyond(
        highest, range_.high, strictly=range_.high_included
    )
    outside = ~_beyond(least_high, range_.low, strictly=not range_.low_included) | _beyond(
        most_low, range_.high, strictly=range_.high_included
    )
    return np.where(inside, 1, np.where(outside, 0, -1)).astype(np.int8)


def _beyond(vector: Ints, number: Rational, *, strictly: bool) -> Flags:
    """Where an entry is at least a number, or above it."""
    scaled = number * ONE
    floor = int(scaled.p // scaled.q)
    return np.asarray(vector > floor if strictly else vector >= floor + (scaled.q != 1))
