"""Proofs by enumeration: the checker goes through all compared words itself, level by level.

The state of the search is (location, alpha, beta, s): both vectors as integers, and s, the denominator they stand
over. What is equal is merged; where only ratios matter (delta = 0) s is dropped and vectors are merged up to a common
factor, because the condition ``alpha f <= c beta f`` is the same for all multiples. A word with ``alpha = 0`` needs
no attention, nor does any that continues it.

**Pointwise.** ``alpha f <= c beta f + delta s`` is checked at every node where a compared word ends; these are all
compared words with P(w) > 0, so the claim holds.

**Events.** For one outcome space (see `words`), let V(x) be the largest value of ``sum max(0, P(w) - c Q(w))`` over
the words that follow the node x, where an adversary chooses inputs by the outputs before. Then

    V(x) = [a word ends at x] max(0, alpha f - c beta f) + max over inputs (v, w) of the sum over outputs o of V(x
    M_(v,w,o)),

V is homogeneous, ``V(t x) = t V(x)`` for t > 0, so it is enough to know it for primitive integer vectors, and the
claim is ``V(start) <= delta``. Numbers ``p - c q`` are kept as pairs (p, q) of rationals and compared exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import TypeAlias

from privproof_checker.claims import as_rational
from privproof_checker.machines import TransducerSystem
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import text
from privproof_checker.systems import (
    Location,
    Moves,
    Question,
    Start,
    Vector,
    on_common_denominator,
    product,
    total,
)

Entries: TypeAlias = tuple[tuple[int, int], ...]
Key: TypeAlias = tuple[Location, Entries, Entries, int]
Value: TypeAlias = tuple[Rational, Rational]


def proved_by_enumeration(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a claim by going through all compared words."""
    if question.claim.events and isinstance(question.system, TransducerSystem) and question.system.open_ended:
        refuse("events of lists of every length are not enumerated", "evidence.method")
    run = _Enumeration(question, limits)
    for start in question.system.starts:
        if question.claim.events:
            run.events(start)
        else:
            run.pointwise(start)
    if run.comparisons == 0:
        refuse("no word is compared", "question")
    details: dict[str, object] = {"method": "enumeration", "nodes": run.nodes, "comparisons": run.comparisons}
    if question.claim.events:
        details["largest_excess"] = run.largest
    return Accepted("proved", f"private with {question.claim}; compared: {question.described}", details)


def primitive(left: Vector, right: Vector, weight: int) -> tuple[Entries, Entries, int, int]:
    """Both vectors and the weight divided by their greatest common factor, and that factor.

    >>> primitive({0: 4, 1: 0}, {1: 6}, 0)
    (((0, 2),), ((1, 3),), 0, 2)
    """
    factor = gcd(weight, *left.values(), *right.values()) or 1
    one = tuple(sorted((i, entry // factor) for i, entry in left.items() if entry))
    other = tuple(sorted((i, entry // factor) for i, entry in right.items() if entry))
    return one, other, weight // factor, factor


@dataclass
class _Point:
    """A node of the tree for events: how words may end here, and the children, grouped by the inputs to them."""

    ends: dict[str, Value]
    groups: dict[tuple[str | None, str | None], list[tuple[int, Rational]]] = field(default_factory=dict)


class _Enumeration:
    """One enumeration: counts the nodes and the comparisons of all starts together."""

    def __init__(self, question: Question, limits: Limits) -> None:
        self.question = question
        self.system = question.system
        self.moves = Moves(question.system)
        self.limits = limits
        self.nodes = 0
        self.comparisons = 0
        self.largest = "0"

    def count(self) -> None:
        self.nodes += 1
        if self.nodes > self.limits.words:
            refuse(f"the enumeration is beyond the limit of {self.limits.words} nodes", "evidence")

    def pointwise(self, start: Start) -> None:
        horizon, claim = self.question.horizon, self.question.claim
        scale, (left, right) = on_common_denominator(start.left, start.right)
        level: dict[Key, None] = {self._key(start.location, left, right, scale): None}
        seen: set[Key] = set()
        length = 0
        while level and horizon.goes_on(length):
            length += 1
            following: dict[Key, None] = {}
            for location, one, other, weight in level:
                for key in self._children(location, dict(one), dict(other), weight):
                    if key in following or key in seen:
                        continue
                    self.count()
                    following[key] = None
            if horizon.low == 1:
                # What came up at a smaller length has been followed for at least as many letters.
                seen.update(following)
            if horizon.counts(length):
                for location, one, other, weight in following:
                    for final in self.system.finals(location):
                        p = as_rational(total(dict(one), final.counted))
                        q = as_rational(total(dict(other), final.counted))
                        self.comparisons += 1
                        if not claim.holds(p, q, weight):
                            refuse(f"a word of length {length} violates the claim: {_ratio(p, q)}", "evidence")
            level = following

    def _children(self, location: Location, left: Vector, right: Vector, weight: int) -> list[Key]:
        found = []
        for _, edge in self.moves.at(location):
            after = product(left, edge.left)
            if any(after.values()):
                found.append(self._key(edge.target, after, product(right, edge.right), weight * edge.scale))
        return found

    def _key(self, location: Location, left: Vector, right: Vector, weight: int) -> Key:
        one, other, weight, _ = primitive(left, right, weight if self.question.claim.delta != 0 else 0)
        return (location, one, other, weight)

    def events(self, start: Start) -> None:
        """Build the tree of primitive nodes once, then find the value of every outcome space from its leaves up."""
        horizon = self.question.horizon
        scale, (left, right) = on_common_denominator(start.left, start.right)
        one, other, _, factor = primitive(left, right, 0)
        levels: list[list[_Point]] = [[_Point({})]]
        frontier: list[tuple[Location, Entries, Entries]] = [(start.location, one, other)]
        while frontier and horizon.goes_on(len(levels) - 1):
            frontier, points = self._grow(frontier, levels[-1])
            levels.append(points)
        longest = len(levels) - 1
        if self.question.ending == "complete":
            self._allowed(self._value(levels, longest, None), as_rational(factor, scale))
            return
        # Where no word goes on (the last level is empty) all longer spaces hold the same outcomes as the last one.
        for space in range(min(horizon.low, longest), longest + 1):
            self._allowed(self._value(levels, longest, space), as_rational(factor, scale))

    def _grow(
        self, frontier: list[tuple[Location, Entries, Entries]], points: list[_Point]
    ) -> tuple[list[tuple[Location, Entries, Entries]], list[_Point]]:
        numbers: dict[tuple[Location, Entries, Entries], int] = {}
        for (location, one, other), point in zip(frontier, points, strict=True):
            for letter, edge in self.moves.at(location):
                after = product(dict(one), edge.left)
                if not any(after.values()):
                    continue
                left, right, _, factor = primitive(after, product(dict(other), edge.right), 0)
                key = (edge.target, left, right)
                if key not in numbers:
                    self.count()
                    numbers[key] = len(numbers)
                group = point.groups.setdefault((letter.left, letter.right), [])
                group.append((numbers[key], as_rational(factor, edge.scale)))
        return list(numbers), [self._point(*key) for key in numbers]

    def _point(self, location: Location, left: Entries, right: Entries) -> _Point:
        ends: dict[str, Value] = {}
        for final in self.system.finals(location):
            p, q = as_rational(total(dict(left), final.counted)), as_rational(total(dict(right), final.counted))
            self.comparisons += 1
            ends[final.ending] = (ZERO, ZERO) if self.question.claim.holds_without_delta(p, q) else (p, q)
        return _Point(ends)

    def _value(self, levels: list[list[_Point]], longest: int, space: int | None) -> Value:
        """The value of the root for the space of words of length `space`, or for all complete words together."""
        last = longest if space is None else space
        below: list[Value] = []
        for length in range(last, -1, -1):
            below = [self._worth(point, length, space, below if length < last else None) for point in levels[length]]
        return below[0]

    def _worth(self, point: _Point, length: int, space: int | None, below: list[Value] | None) -> Value:
        best: Value = (ZERO, ZERO)
        if below is not None:
            for children in point.groups.values():
                p = sum((factor * below[child][0] for child, factor in children), ZERO)
                q = sum((factor * below[child][1] for child, factor in children), ZERO)
                if self.question.claim.sign(p - best[0], q - best[1]) > 0:
                    best = (p, q)
        end = point.ends.get(self._ending(length, space), (ZERO, ZERO))
        return best[0] + end[0], best[1] + end[1]

    def _ending(self, length: int, space: int | None) -> str:
        """Which ending of a word of this length is an outcome of the space; empty for none."""
        if length == 0:
            return ""
        if space is None:
            return "complete" if self.question.horizon.counts(length) else ""
        if length == space:
            return "any"
        return "complete" if self.question.ending == "visible" else ""

    def _allowed(self, value: Value, factor: Rational) -> None:
        p, q = value[0] * factor, value[1] * factor
        excess = f"{text(p)} - e^epsilon * {text(q)}" if q != 0 else text(p)
        if not self.question.claim.holds(p, q * ONE):
            refuse(f"an event exceeds delta: {excess}", "evidence")
        if p != 0:
            self.largest = excess


def _ratio(left: Rational, right: Rational) -> str:
    return f"the ratio is {text(left / right)}" if right != 0 else "it is impossible on the right"
