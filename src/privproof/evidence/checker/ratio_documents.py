"""Ratio certificates as data: nodes with ratios or generators, multipliers and starts, read from a document, their form checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from privproof.evidence.checker.cone_documents import Classes
from privproof.evidence.checker.documents import (
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    only_members,
)
from privproof.evidence.checker.outcomes import Limits, refuse, within
from privproof.evidence.checker.systems import Letter, Question, Start, matching_starts, read_letter
from privproof.exact import Rational

Sums: TypeAlias = Mapping[int, Rational]
"""A vector by class; what is absent is zero."""
Multipliers: TypeAlias = tuple[tuple[int, Rational], ...]
"""By the number of a ratio or of a generator of the target."""

KINDS = ("past", "same", "pair")


@dataclass(frozen=True)
class Ratio:
    """That every future is at most so many times likelier from one class than from another."""

    above: int
    below: int
    factor: Rational


@dataclass(frozen=True)
class Onward:
    """What follows a letter: the node, and multipliers for every ratio or generator of the source."""

    node: int
    multipliers: tuple[Multipliers, ...]
    place: str


@dataclass(frozen=True)
class RatioNode:
    """A node: its kind, its ratios or generators, its edges by letter, and the classes of states on each side."""

    kind: str
    ratios: tuple[Ratio, ...]
    generators: tuple[Sums, ...]
    onward: dict[Letter, Onward]
    left: Classes
    right: Classes
    place: str

    @property
    def count(self) -> int:
        """How many ratios, or generators, it has."""
        return len(self.generators if self.kind == "past" else self.ratios)


@dataclass(frozen=True)
class RatioStart:
    """Where an ordered pair begins: for all words, or for those that end in one output."""

    start: Start
    finish: str | None
    node: int
    multipliers: Multipliers
    place: str


def read_ratio_nodes(evidence: dict[str, object], limits: Limits) -> list[RatioNode]:
    """The nodes of a certificate."""
    listed = a_list(evidence.get("nodes"), "evidence.nodes")
    within(len(listed), limits.nodes, "nodes", "evidence.nodes")
    given = [an_object(item, f"evidence.nodes[{i}]") for i, item in enumerate(listed)]
    count = 0
    nodes: list[RatioNode] = []
    for i, item in enumerate(given):
        place = f"evidence.nodes[{i}]"
        only_members(item, ("kind", "ratios", "generators", "classes", "next"), place)
        kind = a_text(item.get("kind"), f"{place}.kind")
        if kind not in KINDS:
            refuse(f"{kind[:40]!r} is none of {', '.join(KINDS)}", f"{place}.kind")
        other = "ratios" if kind == "past" else "generators"
        if other in item:
            refuse(f"a node of kind {kind} has no {other}", place)
        ratios = tuple(
            _ratio(each, f"{place}.ratios[{j}]", limits)
            for j, each in enumerate(a_list(item.get("ratios", []), f"{place}.ratios"))
        )
        generators = tuple(
            _sums(each, f"{place}.generators[{j}]", limits)
            for j, each in enumerate(a_list(item.get("generators", []), f"{place}.generators"))
        )
        count += len(ratios) + len(generators)
        within(count, limits.generators, "ratios and generators", place)
        left, right = _classes(item.get("classes"), f"{place}.classes")
        nodes.append(RatioNode(kind, ratios, generators, {}, left, right, place))
    for item, node in zip(given, nodes, strict=True):
        _read_onward(item, node, nodes, limits)
    return nodes


def _read_onward(item: dict[str, object], node: RatioNode, nodes: list[RatioNode], limits: Limits) -> None:
    for j, value in enumerate(a_list(item.get("next", []), f"{node.place}.next")):
        place = f"{node.place}.next[{j}]"
        entry = an_object(value, place)
        only_members(entry, ("letter", "node", "multipliers"), place)
        letter = read_letter(entry.get("letter"), f"{place}.letter")
        if letter in node.onward:
            refuse(f"the letter {letter} has two next entries", place)
        target = _number(entry.get("node"), len(nodes), f"{place}.node")
        tables = a_list(entry.get("multipliers"), f"{place}.multipliers")
        if len(tables) != node.count:
            refuse("expected one list of multipliers for every ratio, or generator", f"{place}.multipliers")
        multipliers = tuple(
            _multipliers(table, nodes[target].count, f"{place}.multipliers[{i}]", limits)
            for i, table in enumerate(tables)
        )
        node.onward[letter] = Onward(target, multipliers, place)


def read_ratio_starts(
    question: Question, evidence: dict[str, object], nodes: list[RatioNode], outputs: frozenset[str], limits: Limits
) -> list[RatioStart]:
    """The starts of a certificate, each with the ordered pairs that it names."""
    result: list[RatioStart] = []
    for i, item in enumerate(a_list(evidence.get("starts"), "evidence.starts")):
        place = f"evidence.starts[{i}]"
        given = an_object(item, place)
        only_members(given, ("left", "right", "only", "finish", "node", "multipliers"), place)
        node = _number(given.get("node"), len(nodes), f"{place}.node")
        multipliers = _multipliers(given.get("multipliers"), nodes[node].count, f"{place}.multipliers", limits)
        finish = a_text_or_null(given.get("finish"), f"{place}.finish")
        if finish is not None and finish not in outputs:
            refuse("no word ends by writing this output", f"{place}.finish")
        starts = matching_starts(question, given, place, limits)
        result.extend(RatioStart(start, finish, node, multipliers, place) for start in starts)
    return result


def _ratio(value: object, place: str, limits: Limits) -> Ratio:
    listed = a_list(value, place)
    if len(listed) != 3:
        refuse("expected [class, class, number]", place)
    above, below = (an_integer(each, place) for each in listed[:2])
    factor = a_number(listed[2], place, limits)
    if above < 0 or below < 0 or factor < 0:
        refuse("a class or a ratio is below 0", place)
    return Ratio(above, below, factor)


def _sums(value: object, place: str, limits: Limits) -> Sums:
    result: dict[int, Rational] = {}
    for item in a_list(value, place):
        pair = a_list(item, place)
        if len(pair) != 2:
            refuse("expected [class, number]", place)
        index, entry = an_integer(pair[0], place), a_number(pair[1], place, limits)
        if index < 0 or index in result or entry < 0:
            refuse("a class is below 0 or stands twice, or an entry is below 0", place)
        result[index] = entry
    return {index: entry for index, entry in result.items() if entry != 0}


def _classes(value: object, place: str) -> tuple[Classes, Classes]:
    if value is None:
        return None, None
    given = an_object(value, place)
    only_members(given, ("left", "right"), place)
    left, right = (_one_side(given.get(side), f"{place}.{side}") for side in ("left", "right"))
    return left, right


def _one_side(value: object, place: str) -> tuple[int | None, ...]:
    numbers = [None if item is None else an_integer(item, place) for item in a_list(value, place)]
    if any(number is not None and number < 0 for number in numbers):
        refuse("a class is below 0", place)
    return tuple(numbers)


def _number(value: object, count: int, place: str) -> int:
    number = an_integer(value, place)
    if not 0 <= number < count:
        refuse("there is no node of this number", place)
    return number


def _multipliers(value: object, count: int, place: str, limits: Limits) -> Multipliers:
    result = []
    for item in a_list(value, place):
        pair = a_list(item, place)
        if len(pair) != 2:
            refuse("expected [index, multiplier]", place)
        index, factor = an_integer(pair[0], place), a_number(pair[1], place, limits)
        if not 0 <= index < count:
            refuse("there is no ratio, or generator, of this index", place)
        if factor < 0:
            refuse("a multiplier is below 0", place)
        result.append((index, factor))
    return tuple(result)
