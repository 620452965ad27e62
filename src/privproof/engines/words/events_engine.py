"""(epsilon, delta) over events: the exact delta of a finite mechanism.

For one pair of situations the smallest delta at ``c = e^epsilon`` is ``sum over outcomes w of max(0, P(w) - c Q(w))``: the
event that attains it is ``{w : P(w) > c Q(w)}``.  The outcomes are what an observer has seen in the end: words of the full
length, and shorter words after which the run has halted.  What is seen after fewer letters is a function of that, so the
full length decides; only where words are restricted, or inputs are listed and come to an end, every length of the horizon is
looked at.  Where an adversary chooses inputs, he may choose each after seeing the earlier outputs, so the value of a vector is
the maximum over pairs of inputs of the sum over outputs.

As a function of c the value is convex and piecewise linear, so Newton's method from below finds the tight c for a given
delta exactly in finitely many steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product
from typing import TYPE_CHECKING

from privproof.engines.search_monitor import Monitor, Progress
from privproof.engines.words.word_engine import WordEngine
from privproof.engines.words.word_findings import EnumerationProof, Finding
from privproof.exact import INFINITE, ZERO, Budget, Epsilon, Rational, decimal, epsilon, log
from privproof.exact.rational_matrices import Vector, dot
from privproof.models import Edge, Letter, Word, WordProblem

if TYPE_CHECKING:
    from privproof.compiling import Compiled

_MOST_NODES = 1_000_000
"""Beyond so many different pairs of vectors the search ends as unknown: all of them are kept in memory."""
_BITS = 192
"""Precision of e^epsilon where it is no rational; a delta that agrees to so many bits with the budget is not decided."""
_OFTEN = 1_000
"""Steps between two looks at the monitor."""


class _TooLarge(Exception):
    """More nodes than the engine is willing to look at, or told to stop."""


@dataclass(frozen=True)
class _Value:
    """The mass on both sides of the outcomes that count."""

    left: Rational = ZERO
    right: Rational = ZERO

    def at(self, c: Rational) -> Rational:
        return self.left - c * self.right

    def plus(self, other: _Value) -> _Value:
        return _Value(self.left + other.left, self.right + other.right)


_NOTHING = _Value()


def _groups(edges: tuple[Edge, ...]) -> list[list[Edge]]:
    """The edges by the pair of inputs that the adversary chooses."""
    grouped: dict[tuple[str | None, str | None], list[Edge]] = {}
    for edge in edges:
        grouped.setdefault((edge.letter.left, edge.letter.right), []).append(edge)
    return list(grouped.values())


class _EventsSearch:
    """The value of every start at one c, for outcomes after so many letters."""

    def __init__(self, problem: WordProblem, length: int, c: Rational, monitor: Monitor) -> None:
        self.problem, self.length, self.c, self.monitor = problem, length, c, monitor
        self.groups = [_groups(place.edges) for place in problem.locations]
        self.nodes = 0
        self.known: dict[tuple[int, int, Vector, Vector], _Value] = {}

    def start(self, number: int) -> _Value:
        start = self.problem.starts[number]
        return self.value(start.location, start.left, start.right, 0)

    def _ended(self, location: int, left: Vector, right: Vector, level: int) -> Iterator[tuple[str, _Value]]:
        """The outcomes that a word of this length is: complete ones on the way, everything at the end.

        Where complete words alone are compared, only those of the horizon's lengths are.
        """
        finals = {final.name: final for final in self.problem.locations[location].finals}
        name = "any" if level == self.length and "any" in finals else "complete"
        compared = "any" in finals or self.problem.horizon.counts(level)
        if level > 0 and name in finals and compared:
            value = _Value(dot(left, finals[name].left), dot(right, finals[name].right))
            if value.at(self.c) > 0:
                yield name, value

    def value(self, location: int, left: Vector, right: Vector, level: int) -> _Value:
        if not any(x != 0 for x in left):
            return _NOTHING
        if self.problem.common and all(x <= self.c * y for x, y in zip(left, right, strict=True)):
            return _NOTHING
        key = (location, level, left, right)
        if key in self.known:
            return self.known[key]
        self.nodes += 1
        if self.nodes > _MOST_NODES:
            raise _TooLarge(f"more than {_MOST_NODES} words to look at")
        if self.nodes % _OFTEN == 0:
            self._look()
            self.monitor.listen(Progress("sum over outcomes", level, self.nodes))
        result = _NOTHING
        for _, value in self._ended(location, left, right, level):
            result = result.plus(value)
        if level < self.length:
            choices = [self._sum(group, left, right, level) for group in self.groups[location]]
            result = result.plus(max(choices, key=lambda v: v.at(self.c), default=_NOTHING))
        self.known[key] = result
        return result

    def _sum(self, group: list[Edge], left: Vector, right: Vector, level: int) -> _Value:
        result = _NOTHING
        for edge in group:
            result = result.plus(self.value(edge.target, edge.left.after(left), edge.right.after(right), level + 1))
        return result

    def _look(self) -> None:
        """An opportunity to stop."""
        reason = self.monitor.stopped()
        if reason is not None:
            raise _TooLarge(reason)

    def event(self, number: int) -> list[Word]:
        """The outcomes that count, along the adversary's best choices, heaviest first."""
        start = self.problem.starts[number]
        found: list[Word] = []
        stack: list[tuple[int, Vector, Vector, tuple[Letter, ...]]] = [(start.location, start.left, start.right, ())]
        for step in count(1):
            if not stack:
                break
            if step % _OFTEN == 0:
                self._look()
            location, left, right, letters = stack.pop()
            level = len(letters)
            if self.value(location, left, right, level) == _NOTHING:
                continue
            for name, value in self._ended(location, left, right, level):
                found.append(Word(number, letters, name, value.left, value.right))
            if level < self.length and self.groups[location]:
                best = max(self.groups[location], key=lambda g: self._sum(g, left, right, level).at(self.c))
                stack.extend(
                    (edge.target, edge.left.after(left), edge.right.after(right), (*letters, edge.letter))
                    for edge in best
                )
        return sorted(found, key=lambda w: w.left - self.c * w.right, reverse=True)


def _lengths(compiled: Compiled) -> range:
    """The lengths that have to be looked at.

    Where words of every length are asked about and end by themselves, an observer may also wait for one letter more than any
    word has: by then he has seen which of the longest words are complete.
    """
    horizon, wanted, scenario = compiled.problem.horizon, compiled.question.horizon, compiled.question.scenario
    assert horizon.high is not None
    restricted = scenario.words.only is not None or scenario.words.without or any(p.only for p in scenario.pairs)
    restricted = restricted or (scenario.neighbours is not None and scenario.neighbours.kind == "pairs")
    every = (wanted is None or wanted.high is None) and horizon.low == 1
    return range(horizon.low if restricted else horizon.high, horizon.high + (2 if every else 1))


class EventsEngine(WordEngine):
    """The engine for a delta over events, by exact summation over outcomes."""

    name = "events"

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        if budget is None or budget.delta == 0 or budget.pointwise:
            return "delta over events is not asked for"
        if compiled.problem.horizon.high is None:
            return "the horizon is unbounded"
        return None

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """Whether the sum over outcomes stays within delta for every pair of situations."""
        if budget.epsilon.infinite:
            return self.tight(compiled, budget.delta, monitor, pointwise=False)
        low, high = budget.epsilon.enclosure(_BITS)
        try:
            for number, length in product(range(len(compiled.problem.starts)), _lengths(compiled)):
                search = _EventsSearch(compiled.problem, length, high, monitor)
                if search.start(number).at(high) > budget.delta:
                    event = _enough(search.event(number), high, budget.delta)
                    return Finding(budget.epsilon, event=event, length=length)
                if (
                    low != high
                    and _EventsSearch(compiled.problem, length, low, monitor).start(number).at(low) > budget.delta
                ):
                    return Finding(
                        Epsilon(), stopped=f"delta agrees with the budget to {_BITS} bits; it cannot be decided"
                    )
        except _TooLarge as reason:
            return Finding(Epsilon(), stopped=str(reason))
        return Finding(Epsilon(), budget.epsilon, proof=EnumerationProof())

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """The smallest epsilon for which delta suffices, exactly."""
        best: Rational = ZERO
        event: tuple[Word, ...] = ()
        seen = 0
        try:
            for number, length in product(range(len(compiled.problem.starts)), _lengths(compiled)):
                while True:
                    search = _EventsSearch(compiled.problem, length, best, monitor)
                    value = search.start(number)
                    if value.at(best) <= delta:
                        break
                    event, seen = tuple(search.event(number)), length
                    if value.right == 0:
                        return Finding(INFINITE, event=event, length=length)
                    best = (value.left - delta) / value.right
                    known = log(best) if best > 1 else None
                    monitor.listen(Progress("sum over outcomes", lower=decimal(best), established=known))
        except _TooLarge as reason:
            return Finding(log(best) if best > 1 else epsilon(0), stopped=str(reason))
        tight = log(best) if best > 1 else epsilon(0)
        return Finding(tight, tight, event=event, length=seen, proof=EnumerationProof())


def _enough(words: list[Word], c: Rational, delta: Rational) -> tuple[Word, ...]:
    """The heaviest words until they exceed delta."""
    total, chosen = ZERO, []
    for word in words:
        chosen.append(word)
        total += word.left - c * word.right
        if total > delta:
            break
    return tuple(chosen)
