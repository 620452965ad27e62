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

Of ``G F a`` (a a state formula) they are bounds in the same way:

* **high**: where ``U(s) < 1``, ``U(s) >= sum p(t) U(t)`` and ``V(s) >= sum p(t) V(t)``, the second strictly where a holds, for every choice
  (greatest) or the named one (least); V is another vector, or U itself.  Stopped where U is 1, V is a non-negative supermartingale that
  falls by at least some c > 0 on average whenever a is visited.  So the expected number of visits before is at most V(s) / c: almost
  surely a run that visits a for ever comes to where U is 1, and the probability of that is at most U(s).
* **low**: let T be the states with ``L(s) > 0``.  In T ``L(s) <= sum p(t) L(t)`` for the named choice (greatest) or every choice (least),
  and where a does not hold, each of these choices has a next state outside of T, or in T where a holds, or of a smaller rank.  Then
  L(s) is at most the probability of staying in T for ever, since L is 0 outside and at most 1; and a run that stays there visits a for
  ever, almost surely, since within so many steps as there are ranks it does so, or leaves, with at least some fixed probability.

Where it is not known whether f, g or a holds, they count as true for bounds from above and as false for those from below; the probability
grows with each.  Steps of ``X`` and of bounded untils are taken one by one, rounded down and up; where only some states are asked about,
on the states alone that so many steps lead to: what n more steps lead to matters for the states that are n steps before the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from privproof_checker.logic.columns import ONE, Columns, Flags, Ints, Numbered, read_column, read_columns
from privproof_checker.logic.formula_questions import read_asked
from privproof_checker.logic.formulas import (
    FormulaReader,
    Leaf,
    Next,
    Not,
    Path,
    PathNot,
    Private,
    Probability,
    ProbabilityRange,
    Several,
    State,
    States,
    Until,
)
from privproof_checker.logic.monitors import check_monitored
from privproof_checker.logic.query_columns import QueryPairs
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, an_object, only_members

Truths: TypeAlias = NDArray[np.int8]
"""For every state 1 (true), 0 (false) or -1 (not known)."""

_MOST_WORK = 20_000_000_000
"""Entries passed in all steps of bounded formulas; beyond, the question is refused."""


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
    process = read_columns(question.get("process"), "question.process", limits)
    listed = list(process.labels)
    # a label is read as the set of one number below 0, which stands for its column
    reader = FormulaReader(
        Numbered(len(process)), {name: frozenset((-1 - i,)) for i, name in enumerate(listed)}, limits
    )
    asked = read_asked(question, certificate, reader, "bounds", ("untils", "often", "monitored", "operators"))
    found = _Bounds(process, [process.labels[name] for name in listed], asked.states, reader, limits)
    found.read_evidence(asked.evidence, "evidence")
    for i, item in enumerate(a_list(asked.evidence.get("monitored", []), "evidence.monitored")):
        found.add_monitored(item, f"evidence.monitored[{i}]")
    for i, item in enumerate(a_list(asked.evidence.get("operators", []), "evidence.operators")):
        found.add_operator(item, f"evidence.operators[{i}]")

    def holds(states: list[int]) -> dict[int, bool | None]:
        truth = found.truth(asked.formula)
        return {s: None if truth[s] < 0 else bool(truth[s]) for s in states}

    settled, _, statement = asked.settled(verdict, holds, compared=bool(process.neighbours))
    how = f"bounds on the probabilities of {len(process)} states were checked in exact arithmetic"
    details = {"method": "bounds", "states": len(process), "exact": True, "compared": len(process.neighbours)}
    return Accepted(settled, f"{statement}; {how}", details)


@dataclass(frozen=True, eq=False)
class GivenBound:
    """A bound as the evidence gives it: a vector from 0 to 1, and the rest of its document."""

    values: Ints
    document: dict[str, object]
    place: str


class BoundSide(Protocol):
    """Refuses a bound that is not checked from one side; the vector otherwise."""

    def __call__(self, given: GivenBound, *, most: bool) -> Ints: ...


class _Bounds:
    """Evaluates formulas on one process, with the evidence about its untils."""

    def __init__(
        self, process: Columns, labels: list[Flags], asked: list[int], reader: FormulaReader, limits: Limits
    ) -> None:
        self.process, self.labels, self.reader, self.limits = process, labels, reader, limits
        compared = {s for pair in process.neighbours for s in pair}
        self._wanted: Ints | None = np.array(sorted(compared.union(asked)), np.int64)
        self.work = 0
        self._truth: dict[tuple[State, bool], Truths] = {}
        self._evidence: dict[Until | State, tuple[dict[str, object], str]] = {}
        self._monitored: dict[Path, tuple[dict[str, object], str]] = {}
        self._intervals: dict[tuple[Path, bool], Interval] = {}
        self._operators: dict[Private, tuple[dict[str, object], str]] = {}
        self._outside: Callable[[State], Truths] | None = None

    def read_evidence(self, given: dict[str, object], place: str) -> None:
        """Read what the evidence says about untils and repetition."""
        for i, item in enumerate(a_list(given.get("untils", []), f"{place}.untils")):
            self.add_until(item, f"{place}.untils[{i}]")
        for i, item in enumerate(a_list(given.get("often", []), f"{place}.often")):
            self.add_often(item, f"{place}.often[{i}]")

    def add_until(self, value: object, place: str) -> None:
        """Read what the evidence says about one until."""
        given = self._members(value, place)
        until = self.reader.path(given.get("formula"), f"{place}.formula")
        if not isinstance(until, Until) or (until.low, until.high) != (0, None):
            refuse("expected an until without bounds", f"{place}.formula")
        self._evidence[until] = (given, place)

    def add_often(self, value: object, place: str) -> None:
        """Read what the evidence says about a state formula that holds again and again."""
        given = self._members(value, place)
        self._evidence[self.reader.state(given.get("formula"), f"{place}.formula")] = (given, place)

    def add_monitored(self, value: object, place: str) -> None:
        """Read what the evidence says about a path formula of a chain, by monitors."""
        given = an_object(value, place)
        self._monitored[self.reader.path(given.get("formula"), f"{place}.formula")] = (given, place)

    def add_operator(self, value: object, place: str) -> None:
        """Read what the evidence says about a formula of D of a decision process."""
        given = an_object(value, place)
        if self.process.chain or not len(self.process.taken):
            refuse("pairs are compared in a decision process, whose choices have actions", place)
        self._operators[self.reader.private(given.get("formula"), f"{place}.formula")] = (given, place)

    def _members(self, value: object, place: str) -> dict[str, object]:
        given = an_object(value, place)
        only_members(given, ("formula", "least", "most"), place)
        if self.process.chain and "most" in given:
            refuse("in a chain the least probability is the greatest", place)
        return given

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
            case Private() if formula in self._operators:
                return self._queried(formula)
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

    def _queried(self, formula: Private) -> Truths:
        """D on a decision process, by the pairs of the evidence."""
        pairs = QueryPairs(self.process, self._everywhere, self._on_another, self.limits)
        facts = pairs.facts(formula, *self._operators[formula])
        result = np.ones(len(self.process), np.int8)
        for pair in self.process.neighbours:
            directions = (pair, pair[::-1])
            broken = any(side in facts.violated for side in directions)
            if not broken and all(side in facts.holding for side in directions):
                continue
            for state in pair:
                result[state] = 0 if broken or result[state] == 0 else -1
        return result

    def _on_another(
        self, process: Columns, shows: Ints, path: Path, starts: list[int], given: dict[str, object], place: str
    ) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """Bounds on the probabilities of a path formula on a process whose states show states of this one."""
        other = _Bounds(process, [], starts, self.reader, self.limits)
        other._outside = lambda formula: self._everywhere(formula)[shows]
        other.read_evidence(given, place)
        found = other.interval(path)
        return found.least, found.most

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
                return self._complement(self.interval(inner))
            case Next(steps, inner):
                always = np.ones(len(self.process), np.int8)
                with self._all_states():
                    last = self.interval(inner)
                return self._iterated(last, [(steps, always, None)])
            case Until(Leaf(Several(True, ())), PathNot(Until(Leaf(Several(True, ())), Leaf(inner), 0, None)), 0, None):
                # F G not inner: not G F inner
                return self._complement(self._often(inner, self._everywhere(inner)))
            case Until(Leaf(left), Leaf(right), low, high):
                keep, goal = self._everywhere(left), self._everywhere(right)
                if high is None:
                    return self._iterated(self._endless(replace(path, low=0), keep, goal), [(low, keep, None)])
                return self._iterated(self.interval(path.right), [(high - low, keep, goal), (low, keep, None)])
        if path in self._monitored and self.process.chain:
            both = check_monitored(self.process, path, self._known, *self._monitored[path])
            return self._both(both, both)
        refuse("this path formula is not supported for a process in columns", "question.formula")

    def _both(self, least: tuple[Ints, Ints], most: tuple[Ints, Ints]) -> Interval:
        return Interval(least, least if self.process.chain else most, chain=self.process.chain)

    def _complement(self, found: Interval) -> Interval:
        least = (ONE - found.most[1], ONE - found.most[0])
        return self._both(least, (ONE - found.least[1], ONE - found.least[0]))

    def _everywhere(self, formula: State) -> Truths:
        """Where a state formula inside of a path formula holds: in all states, not only in those asked about."""
        if self._outside is not None:
            return self._outside(formula)
        with self._all_states():
            return self.truth(formula)

    def _known(self, formula: State) -> Flags:
        """Where a state formula inside of a path formula holds, which must be known."""
        truth = self._everywhere(formula)
        if (truth < 0).any():
            refuse("it is not known everywhere whether a formula inside holds", "question.formula")
        return np.asarray(truth == 1)

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

        def low(given: GivenBound, *, most: bool) -> Ints:
            inside = (given.values > 0) & (goal != 1)
            if (inside & (keep != 1)).any():
                refuse("the bound is above 0 where the formula fails", f"{given.place}.values")
            self._at_most_expected(given, inside, inside, everything=not most)
            return given.values

        def high(given: GivenBound, *, most: bool) -> Ints:
            if (given.values[goal != 0] != ONE).any():
                refuse("the bound is below 1 where the formula is satisfied", f"{given.place}.values")
            above, _ = self.process.compared(given.values)
            considered = self._considered(given, everything=most)
            if (considered & ((keep != 0) & (goal == 0))[self.process.owner] & ~above).any():
                refuse("a state's bound is below what a choice leads to", f"{given.place}.values")
            return given.values

        return self._given(until, low, high)

    def _often(self, formula: State, truth: Truths) -> Interval:
        """What the evidence says about a state formula that holds again and again, checked."""

        def low(given: GivenBound, *, most: bool) -> Ints:
            inside = given.values > 0
            self._at_most_expected(given, inside, inside & (truth != 1), everything=not most)
            return given.values

        def high(given: GivenBound, *, most: bool) -> Ints:
            above, below = self.process.compared(given.values)
            if "falls" in given.document:
                kept = above
                above, below = self.process.compared(self._vector(given.document["falls"], f"{given.place}.falls"))
                above &= kept
            falling = above & ~(below & (truth != 0)[self.process.owner])
            considered = self._considered(given, everything=most)
            if (considered & (given.values < ONE)[self.process.owner] & ~falling).any():
                refuse("a state's bound does not fall by a choice", f"{given.place}.values")
            return given.values

        return self._given(formula, low, high, ("falls",))

    def _given(
        self, about: Until | State, check_low: BoundSide, check_high: BoundSide, members: tuple[str, ...] = ()
    ) -> Interval:
        """The bounds that the evidence gives, each checked; 0 and 1 where it gives none."""
        count = len(self.process)
        given, place = self._evidence.get(about, ({}, ""))
        found = []
        for key in ("least", "most"):
            sides = an_object(given.get(key, {}), f"{place}.{key}")
            only_members(sides, ("low", "high"), f"{place}.{key}")
            low, high = np.zeros(count, np.int64), np.full(count, ONE)
            if "low" in sides:
                low = check_low(self._read(sides["low"], f"{place}.{key}.low", ("ranks",)), most=key == "most")
            if "high" in sides:
                high = check_high(self._read(sides["high"], f"{place}.{key}.high", members), most=key == "most")
            found.append((low, high))
        return self._both(found[0], found[1])

    def _read(self, value: object, place: str, members: tuple[str, ...] = ()) -> GivenBound:
        document = an_object(value, place)
        only_members(document, ("values", "policy", *members), place)
        return GivenBound(self._vector(document.get("values"), f"{place}.values"), document, place)

    def _vector(self, value: object, place: str) -> Ints:
        vector = read_column(value, len(self.process), place)
        if vector.min() < 0 or vector.max() > ONE:
            refuse("a bound is from 0 to 1, in units of 2^-52", place)
        return vector

    def _at_most_expected(self, given: GivenBound, inside: Flags, ranked: Flags, *, everything: bool) -> None:
        """Refuse unless the considered choices of the states inside lead to as much, and from the ranked ones to a smaller rank."""
        process, place = self.process, given.place
        considered = self._considered(given, everything=everything) & inside[process.owner]
        _, below = process.compared(given.values)
        if (considered & ~below).any():
            refuse("a state's bound is above what a choice leads to", f"{place}.values")
        ranks = read_column(given.document.get("ranks"), len(process), f"{place}.ranks")
        if ranked.any() and ranks[ranked].min() < 1:
            refuse("a rank is below 1", f"{place}.ranks")
        ranks = np.where(ranked, ranks, 0)
        nearest = np.minimum.reduceat(ranks[process.targets], process.first_entry)
        if (considered & ranked[process.owner] & (nearest >= ranks[process.owner])).any():
            refuse("a choice leads to no state of a smaller rank", f"{place}.ranks")

    def _considered(self, given: GivenBound, *, everything: bool) -> Flags:
        """The choices that a condition is about: all of them, or one that is named for every state."""
        process, place = self.process, given.place
        if everything or process.chain:
            if "policy" in given.document:
                refuse("no choice is to be named here", f"{place}.policy")
            return np.ones(len(process.owner), np.bool_)
        policy = read_column(given.document.get("policy"), len(process), f"{place}.policy")
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


def _within(range_: ProbabilityRange, found: Interval) -> Truths:
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
