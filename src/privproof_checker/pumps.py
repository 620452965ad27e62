"""Refutations for every epsilon: words ``u v^n w`` whose ratio grows without bound.

The evidence names an ordered pair (a, b), three words, non-negative vectors a' and b', and rates r1 > r2 >= 0. Vectors are indexed by
states, or by classes of states where the evidence gives some.

**Theorem.** Suppose that v leads back to the location that u leads to, and that every word u v^n w is compared. Let A and A_w be matrices
that never exceed what v and w do to the left mass, class by class, and B one that is never exceeded by what v does to the right mass.
If ``a' <= a A_u``, ``a' A >= r1 a'``, ``a' A_w f > 0``, ``b B_u <= b'`` and ``b' B <= r2 b'``, then for every n

    P(u v^n w) >= r1^n a' A_w f        and        Q(u v^n w) <= r2^n K

with a constant K, so that the ratio exceeds every bound: no finite epsilon allows all these words.

*Proof.* By induction on n the left mass after u v^n is at least r1^n a' and the right mass at most r2^n b', because all matrices are not
negative. If some Q is zero the ratio is infinite at once; otherwise the quotient of the two bounds grows like (r1/r2)^n. QED

The mass of a class is the sum of the masses of its states. A class moves at least the smallest and at most the largest mass that any
of its states moves: these are A and B. Left mass in states without a class may be forgotten, since that only lowers P. Right mass in
states without a class must be without effect: v leads from them only to their like, and w lets none of it count. This is asked of
the states that can hold right mass at all: those that u, and then v again and again, leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lcm

from privproof_checker.claims import as_rational
from privproof_checker.numbers import INFINITE, ZERO, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, an_integer, an_object, number_pairs
from privproof_checker.systems import (
    Edge,
    Final,
    Letter,
    Location,
    Question,
    Rows,
    matching_starts,
    path_edges,
    product,
    read_final,
    read_letter,
)

Masses = dict[int, Rational]
Classes = Sequence[int | None]


@dataclass(frozen=True)
class WordPath:
    """The edges of a word from one location to another."""

    edges: tuple[Edge, ...]
    end: Location

    def left(self, masses: Masses) -> Masses:
        """The left mass after the word."""
        return self._after(masses, lambda edge: edge.left)

    def right(self, masses: Masses) -> Masses:
        """The right mass after the word."""
        return self._after(masses, lambda edge: edge.right)

    def _after(self, masses: Masses, side: Callable[[Edge], Rows]) -> Masses:
        for edge in self.edges:
            scale = lcm(1, *(int(mass.q) for mass in masses.values()))
            whole = {i: int(mass.p) * (scale // int(mass.q)) for i, mass in masses.items() if mass != 0}
            below = as_rational(scale * edge.scale)
            masses = {i: as_rational(x) / below for i, x in product(whole, side(edge)).items() if x}
        return masses


def refuted_by_pump(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a pump."""
    place = "evidence"
    if question.claim.delta != 0:
        refuse("a pump refutes claims without delta alone", "question.delta")
    if question.horizon.high is not None:
        refuse("a pump needs words of every length", "question.horizon")
    starts = matching_starts(question, evidence, place, limits)
    start = starts[0]
    before = _path(question, start.location, evidence.get("before"), f"{place}.before", limits)
    repeated = _path(question, before.end, evidence.get("repeated"), f"{place}.repeated", limits)
    if not repeated.edges or repeated.end != before.end:
        refuse("the repeated word does not lead back to where it begins", f"{place}.repeated")
    after = _path(question, before.end, evidence.get("after"), f"{place}.after", limits)
    length = len(before.edges) + len(after.edges)
    if length + len(repeated.edges) < question.horizon.low:
        refuse("the words are too short to be compared", place)
    final = read_final(question, after.end, evidence, place)
    size = question.system.size(before.end)
    left_classes, right_classes = _classes(evidence.get("classes"), size, f"{place}.classes")
    a = _by_class(before.left(dict(start.left)), left_classes)
    begun = before.right(dict(start.right))
    b = _by_class(begun, right_classes)
    held = _vector(evidence.get("left_vector"), f"{place}.left_vector", limits)
    holding = _vector(evidence.get("right_vector"), f"{place}.right_vector", limits)
    left_rate = a_number(evidence.get("left_rate"), f"{place}.left_rate", limits)
    right_rate = a_number(evidence.get("right_rate"), f"{place}.right_rate", limits)
    if not 0 <= right_rate < left_rate:
        refuse("the left rate must exceed the right rate, which is not negative", f"{place}.left_rate")
    if any(mass > a.get(i, ZERO) for i, mass in held.items()):
        refuse("the left vector exceeds the left mass after the first word", f"{place}.left_vector")
    if any(mass > holding.get(i, ZERO) for i, mass in b.items()):
        refuse("the right vector does not contain the right mass after the first word", f"{place}.right_vector")
    _grows(held, left_rate, repeated, left_classes, f"{place}.left_vector")
    _wears(holding, right_rate, repeated, right_classes, f"{place}.right_vector")
    _forgettable(begun, repeated, after, final, right_classes, f"{place}.classes")
    if not _counts(held, after, final, left_classes):
        refuse("the left mass does not reach the end of the last word", f"{place}.after")
    growth = "without bound" if right_rate == 0 else f"by the factor {left_rate / right_rate} or more"
    statement = f"private for no finite epsilon: each repetition of the middle word raises the ratio {growth}"
    details = {"method": "pump", "left_rate": str(left_rate), "right_rate": str(right_rate)}
    return Accepted("refuted", f"{statement}; compared: {question.described}", details, lower=INFINITE)


def _path(question: Question, location: Location, value: object, place: str, limits: Limits) -> WordPath:
    letters: list[Letter] = [read_letter(item, place) for item in a_list(value, place)]
    within(len(letters), limits.horizon, "letters of a word", place)
    edges = path_edges(question, location, letters, place)
    return WordPath(edges, edges[-1].target if edges else location)


def _classes(value: object, size: int, place: str) -> tuple[Classes, Classes]:
    if value is None:
        return range(size), range(size)
    given = an_object(value, place)
    return _one_side(given.get("left"), size, f"{place}.left"), _one_side(given.get("right"), size, f"{place}.right")


def _one_side(value: object, size: int, place: str) -> Classes:
    listed = a_list(value, place)
    if len(listed) != size:
        refuse(f"expected one class for each of {size} states", place)
    result = [None if item is None else an_integer(item, place) for item in listed]
    if any(number is not None and not 0 <= number < size for number in result):
        refuse("a class is out of range", place)
    return result


def _by_class(masses: Masses, classes: Classes) -> Masses:
    result: Masses = {}
    for state, mass in masses.items():
        number = classes[state]
        if number is not None and mass != 0:
            result[number] = result.get(number, ZERO) + mass
    return result


def _vector(value: object, place: str, limits: Limits) -> Masses:
    result: Masses = {}
    for index, mass in number_pairs(value, "[index, mass]", place, limits):
        if index in result or index < 0 or mass < 0:
            refuse("an index stands twice or is below 0, or a mass is below 0", place)
        if mass != 0:
            result[index] = mass
    return result


def _members(classes: Classes) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {}
    for state, number in enumerate(classes):
        if number is not None:
            result.setdefault(number, []).append(state)
    return result


_ONE = as_rational(1)


def _grows(held: Masses, rate: Rational, repeated: WordPath, classes: Classes, place: str) -> None:
    """Refuse unless ``a' A >= r1 a'``."""
    members = _members(classes)
    after: Masses = {}
    for number, mass in held.items():
        if number not in members:
            refuse("there is no such class", place)
        rows = [_by_class(repeated.left({state: _ONE}), classes) for state in members[number]]
        for target in set.intersection(*(set(row) for row in rows)):
            after[target] = after.get(target, ZERO) + mass * min(row[target] for row in rows)
    if any(after.get(number, ZERO) < rate * mass for number, mass in held.items()):
        refuse("the repeated word does not keep the left vector up at this rate", place)


def _wears(holding: Masses, rate: Rational, repeated: WordPath, classes: Classes, place: str) -> None:
    """Refuse unless ``b' B <= r2 b'``."""
    members = _members(classes)
    after: Masses = {}
    for number, mass in holding.items():
        if number not in members:
            refuse("there is no such class", place)
        rows = [_by_class(repeated.right({state: _ONE}), classes) for state in members[number]]
        for target in set().union(*(set(row) for row in rows)):
            after[target] = after.get(target, ZERO) + mass * max(row.get(target, ZERO) for row in rows)
    if any(mass > rate * holding.get(number, ZERO) for number, mass in after.items()):
        refuse("the repeated word does not wear the right vector down at this rate", place)


def _forgettable(
    begun: Masses, repeated: WordPath, after: WordPath, final: Final, classes: Classes, place: str
) -> None:
    """Refuse unless right mass in states without a class is without effect."""
    for state in _occupied_states(begun, repeated):
        if classes[state] is None:
            if any(classes[target] is not None for target in repeated.right({state: _ONE})):
                refuse("a state without a class leads to one with a class", place)
            if any(target in final.counted for target in after.right({state: _ONE})):
                refuse("a state without a class counts in the end", place)


def _occupied_states(begun: Masses, repeated: WordPath) -> list[int]:
    """The states that may hold right mass after the first word and any number of repetitions."""
    waiting = [state for state, mass in begun.items() if mass != 0]
    seen = set(waiting)
    for state in waiting:  # grows while it is read
        for target in repeated.right({state: _ONE}):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return waiting


def _counts(held: Masses, after: WordPath, final: Final, classes: Classes) -> bool:
    """Whether some class of a' moves mass to the end whatever state it is in."""
    members = _members(classes)
    return any(
        all(any(target in final.counted for target in after.left({state: _ONE})) for state in members[number])
        for number in held
    )
