"""Neighbour relations: which coordinates of two data sets may differ, and which inputs two runs may read.

On *states that stand for data sets* a relation is decided on their coordinates at once. On *inputs read one a step*
it is followed along the word by a small memory:

* ``each``: no memory; every pair of inputs at distance at most `within`;
* ``one``: whether an input has differed already;
* ``add-remove``: whether one side has read an input, and the other one nothing, already: it must happen once;
* ``monotone``: whether the right inputs have gone up (1), down (-1), or neither (0) against the left ones;
* ``pairs``: the position, and which of the listed pairs of sequences (each also reversed) agree with the inputs so
  far.

Without a relation the inputs are the same on both sides.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from privproof_checker.numbers import ONE, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_object, only_members, require_name

Memory: TypeAlias = "int | tuple[int, frozenset[int]] | None"

_PLACE = "question.scenario.neighbours"


@dataclass(frozen=True)
class Relation:
    """A neighbour relation.

    Attributes:
        kind: ``each``, ``one``, ``monotone``, ``add-remove``, ``pairs`` or ``same`` (no relation: equal inputs).
        distance: how much a coordinate may change; None for any change.
        coordinates: the data set that a state stands for.
        values: the inputs as numbers, where they are needed.
        listed: the pairs of input sequences, both directions.
    """

    kind: str = "same"
    distance: Rational | None = None
    coordinates: dict[str, tuple[Rational, ...]] = field(default_factory=dict)
    values: dict[str, Rational] = field(default_factory=dict)
    listed: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()

    def related(self, left: tuple[Rational, ...], right: tuple[Rational, ...]) -> bool:
        """Whether two data sets are neighbours; none is its own neighbour."""
        if self.kind == "add-remove":
            fewer, more = (left, right) if len(left) < len(right) else (right, left)
            return any((*more[:i], *more[i + 1 :]) == fewer for i in range(len(more)))
        differences = [y - x for x, y in zip(left, right, strict=True)]
        changes = [d for d in differences if d != 0]
        if not changes or any(not self._near(d) for d in changes):
            return False
        if self.kind == "one":
            return len(changes) == 1
        if self.kind == "monotone":
            return all(d > 0 for d in changes) or all(d < 0 for d in changes)
        return True

    def start(self) -> Memory:
        """The memory before the first input."""
        match self.kind:
            case "one" | "monotone" | "add-remove":
                return 0
            case "pairs":
                return (0, frozenset(range(len(self.listed))))
            case _:
                return None

    def may_end(self, memory: Memory) -> bool:
        """Whether the two sequences of inputs read so far may be compared as they are."""
        return self.kind != "add-remove" or memory == 1

    def after(self, memory: Memory, left: str | None, right: str | None) -> tuple[Memory] | None:
        """The memory (in a tuple) after a pair of inputs, None on a side that reads nothing; None where the pair is not allowed."""
        if left is None or right is None:
            alone = self.kind == "add-remove" and memory == 0 and left is not right
            return (1,) if alone else None
        if self.kind == "pairs":
            assert isinstance(memory, tuple)
            position, alive = memory
            rest = frozenset(
                i
                for i in alive
                if position < len(self.listed[i][0])
                and self.listed[i][0][position] == left
                and self.listed[i][1][position] == right
            )
            return ((position + 1, rest),) if rest else None
        if left == right:
            return (memory,)
        if self.kind in ("same", "add-remove") or not self._may_change(left, right):
            return None
        match self.kind:
            case "one":
                return (1,) if memory == 0 else None
            case "monotone":
                difference = self.values[right] - self.values[left]
                direction = (difference > 0) - (difference < 0)
                if direction == 0:
                    return (memory,)
                return (direction,) if memory in (0, direction) else None
            case _:
                return (None,)

    def listed_next(self, memory: Memory) -> dict[tuple[str, str], Memory]:
        """Where pairs are listed: those of inputs that may come next, each with the memory afterwards."""
        assert isinstance(memory, tuple)
        position, alive = memory
        found: dict[tuple[str, str], list[int]] = {}
        for i in alive:
            left, right = self.listed[i]
            if position < len(left):
                found.setdefault((left[position], right[position]), []).append(i)
        return {pair: (position + 1, frozenset(rest)) for pair, rest in found.items()}

    def _near(self, difference: Rational) -> bool:
        return self.distance is None or abs(difference) <= self.distance

    def _may_change(self, left: str, right: str) -> bool:
        return self.distance is None or self._near(self.values[right] - self.values[left])


def read_relation(
    value: object, *, states: Collection[str], inputs: tuple[str, ...] | None, limits: Limits
) -> Relation:
    """The relation in a scenario: on inputs, where there are any, and otherwise on states with coordinates."""
    if value is None:
        return Relation()
    given = an_object(value, _PLACE)
    only_members(given, ("relation", "within", "coordinates", "pairs"), _PLACE)
    kind = a_text(given.get("relation"), f"{_PLACE}.relation")
    if kind not in ("each", "one", "monotone", "add-remove", "pairs"):
        refuse(f"{kind[:40]!r} is none of each, one, monotone, add-remove, pairs", f"{_PLACE}.relation")
    if kind == "pairs":
        if inputs is None:
            refuse("pairs of states are listed under scenario.pairs", _PLACE)
        return Relation("pairs", listed=_read_listed_pairs(given.get("pairs"), inputs, limits))
    if kind == "add-remove":
        only_members(given, ("relation", "coordinates"), _PLACE)
        if inputs is not None:
            only_members(given, ("relation",), _PLACE)
            return Relation(kind)
        listed = _coordinates(given.get("coordinates"), states, limits, one_length=False)
        return Relation(kind, coordinates=listed)
    distance = _distance(given.get("within", 1), limits)
    if inputs is not None:
        needed = distance is not None or kind == "monotone"
        values = {name: a_number(name, "question.inputs", limits) for name in inputs} if needed else {}
        return Relation(kind, distance, values=values)
    return Relation(kind, distance, coordinates=_coordinates(given.get("coordinates"), states, limits))


def _distance(value: object, limits: Limits) -> Rational | None:
    if value == "any":
        return None
    distance = a_number(value, f"{_PLACE}.within", limits)
    if distance <= 0:
        refuse("nothing may change, so nothing is compared", f"{_PLACE}.within")
    return distance * ONE


def _coordinates(
    value: object, states: Collection[str], limits: Limits, *, one_length: bool = True
) -> dict[str, tuple[Rational, ...]]:
    place = f"{_PLACE}.coordinates"
    result: dict[str, tuple[Rational, ...]] = {}
    for state, numbers in an_object(value, place).items():
        require_name(state, states, "state", place)
        listed = numbers if isinstance(numbers, list) else [numbers]
        result[state] = tuple(a_number(number, f"{place}.{state}", limits) for number in listed)
    within(len(result) ** 2, 40 * limits.pairs, "pairs of states with coordinates", place)
    if one_length and len({len(numbers) for numbers in result.values()}) > 1:
        refuse("data sets have different sizes", place)
    return result


def _read_listed_pairs(
    value: object, inputs: tuple[str, ...], limits: Limits
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    place = f"{_PLACE}.pairs"
    listed = a_list(value, place)
    within(2 * len(listed), limits.pairs, "listed pairs", place)
    both: dict[tuple[tuple[str, ...], tuple[str, ...]], None] = {}
    for i, item in enumerate(listed):
        here = f"{place}[{i}]"
        sides = [_sequence(side, inputs, here) for side in a_list(item, here)]
        if len(sides) != 2 or len(sides[0]) != len(sides[1]):
            refuse("expected two sequences of one length", here)
        both[sides[0], sides[1]] = None
        both[sides[1], sides[0]] = None
    if not both:
        refuse("no pair is listed", place)
    return tuple(both)


def _sequence(value: object, inputs: tuple[str, ...], place: str) -> tuple[str, ...]:
    return tuple(require_name(a_text(item, place), inputs, "input", place) for item in a_list(value, place))
