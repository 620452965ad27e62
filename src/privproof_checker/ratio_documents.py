"""Ratio certificates as data: nodes with ratios or generators, multipliers and starts, read from a document, their form checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from privproof_checker.node_documents import Classes, NodeReading, Onward, listed_nodes, read_edges
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text,
    an_integer,
    an_object,
    number_pairs,
    only_members,
)
from privproof_checker.systems import Letter

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
class RatioNode:
    """A node: its kind, its ratios or generators, its edges by letter, and the classes of states on each side."""

    kind: str
    ratios: tuple[Ratio, ...]
    generators: tuple[Sums, ...]
    onward: dict[Letter, Onward[Multipliers]]
    left: Classes
    right: Classes
    place: str

    @property
    def count(self) -> int:
        """How many ratios, or generators, it has."""
        return len(self.generators if self.kind == "past" else self.ratios)


def read_ratio_nodes(evidence: dict[str, object], limits: Limits) -> tuple[list[RatioNode], NodeReading[Multipliers]]:
    """The nodes of a certificate, and how its starts are read."""
    given = listed_nodes(evidence, limits)
    count = 0
    nodes: list[RatioNode] = []
    for item, place in given:
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
    missing = "expected one list of multipliers for every ratio, or generator"
    counts = [node.count for node in nodes]
    reading = NodeReading(
        counts, missing, lambda value, count, place: _multipliers(value, count, place, limits), strict=True
    )
    for number, (item, place) in enumerate(given):
        nodes[number].onward.update(read_edges(item, number, place, reading))
    return nodes, reading


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
    for index, entry in number_pairs(value, "[class, number]", place, limits):
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


def _multipliers(value: object, count: int, place: str, limits: Limits) -> Multipliers:
    found = number_pairs(value, "[index, multiplier]", place, limits)
    for index, factor in found:
        if not 0 <= index < count:
            refuse("there is no ratio, or generator, of this index", place)
        if factor < 0:
            refuse("a multiplier is below 0", place)
    return tuple(found)
