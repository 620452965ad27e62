"""Cone certificates as data: nodes, generators, multipliers and starts, read from a document, their form checked."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from privproof_checker.node_documents import Classes, NodeReading, Onward, listed_nodes, read_edges
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, an_integer, an_object, number_pairs
from privproof_checker.systems import Letter, Vector


@dataclass(frozen=True)
class Multipliers:
    """Multiples of generators: the index of a generator, and the numerator of its multiplier over a common denominator."""

    over: int
    by: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Generator:
    """A safe triple."""

    left: Vector
    right: Vector
    weight: int


@dataclass(frozen=True)
class ConeNode:
    """A node: its generators, its edges by letter, and the classes that index its left and right vectors.

    The sizes are the lengths of the vectors; None where there is no generator.
    """

    generators: tuple[Generator, ...]
    onward: dict[Letter, Onward[Multipliers]]
    left_size: int | None
    right_size: int | None
    left: Classes
    right: Classes
    place: str


def read_nodes(
    evidence: dict[str, object], limits: Limits, *, weighted: bool
) -> tuple[list[ConeNode], NodeReading[Multipliers]]:
    """The nodes of a certificate, and how its starts are read."""
    given = listed_nodes(evidence, limits)
    count = 0
    known: dict[Classes, Classes] = {}
    nodes: list[ConeNode] = []
    for item, place in given:
        items = a_list(item.get("generators"), f"{place}.generators")
        count += len(items)
        within(count, limits.generators, "generators", f"{place}.generators")
        read = [_generator(g, f"{place}.generators[{j}]", limits, weighted=weighted) for j, g in enumerate(items)]
        sizes = {(one, other) for _, one, other in read}
        if len(sizes) > 1:
            refuse("the vectors of a node have one size on each side", f"{place}.generators")
        left_size, right_size = next(iter(sizes), (None, None))
        left, right = _classes(item.get("classes"), f"{place}.classes", left_size, right_size)
        left, right = known.setdefault(left, left), known.setdefault(right, right)
        generators = tuple(generator for generator, _, _ in read)
        nodes.append(ConeNode(generators, {}, left_size, right_size, left, right, place))
    counts = [len(node.generators) for node in nodes]
    missing = "expected one list of multipliers a generator"
    reading = NodeReading(
        counts, missing, lambda value, count, place: _multipliers(value, count, place, limits), strict=False
    )
    for number, (item, place) in enumerate(given):
        nodes[number].onward.update(read_edges(item, number, place, reading))
    return nodes, reading


def _generator(value: object, place: str, limits: Limits, *, weighted: bool) -> tuple[Generator, int, int]:
    given = an_object(value, place)
    left, left_size = _vector(given.get("left"), f"{place}.left", limits)
    right, right_size = _vector(given.get("right"), f"{place}.right", limits)
    if weighted and "weight" not in given:
        refuse("with delta above 0 a generator needs a weight", place)
    weight = an_integer(given.get("weight", 0), f"{place}.weight")
    if weight < 0:
        refuse("a weight is below 0", f"{place}.weight")
    return Generator(left, right, weight), left_size, right_size


def _vector(value: object, place: str, limits: Limits) -> tuple[Vector, int]:
    """A vector of non-negative integers: a list, or ``{"size": n, "entries": [[index, integer], ...]}``."""
    result: dict[int, int] = {}
    if isinstance(value, list):
        size = len(value)
        pairs = [(i, an_integer(entry, place)) for i, entry in enumerate(value)]
    else:
        given = an_object(value, place)
        size = an_integer(given.get("size"), f"{place}.size")
        pairs = [_pair(item, f"{place}.entries") for item in a_list(given.get("entries"), f"{place}.entries")]
    within(size, limits.states, "entries of a vector", place)
    for index, entry in pairs:
        if not 0 <= index < size or index in result:
            refuse("an index is out of range or stands twice", place)
        if entry < 0:
            refuse("an entry is below 0", place)
        if entry:
            result[index] = entry
    return result, size


def _pair(value: object, place: str) -> tuple[int, int]:
    listed = a_list(value, place)
    if len(listed) != 2:
        refuse("expected [index, integer]", place)
    return an_integer(listed[0], place), an_integer(listed[1], place)


def _classes(value: object, place: str, left_size: int | None, right_size: int | None) -> tuple[Classes, Classes]:
    if value is None:
        return None, None
    given = an_object(value, place)
    return (
        _one_side(given.get("left"), f"{place}.left", left_size),
        _one_side(given.get("right"), f"{place}.right", right_size),
    )


def _one_side(value: object, place: str, size: int | None) -> Classes:
    result: list[int | None] = []
    for item in a_list(value, place):
        number = None if item is None else an_integer(item, place)
        if number is not None and (number < 0 or (size is not None and number >= size)):
            refuse("there is no entry of this class", place)
        result.append(number)
    return tuple(result)


def _multipliers(value: object, count: int, place: str, limits: Limits) -> Multipliers:
    """Pairs [index, multiplier], or ``{"over": d, "by": [[index, integer], ...]}`` for the integers divided by d."""
    if isinstance(value, dict):
        over = an_integer(value.get("over"), f"{place}.over")
        if over < 1:
            refuse("a denominator is below 1", f"{place}.over")
        by = [_pair(item, f"{place}.by") for item in a_list(value.get("by"), f"{place}.by")]
    else:
        read = number_pairs(value, "[index, multiplier]", place, limits)
        over = lcm(1, *(int(number.q) for _, number in read))
        by = [(index, int(number.p) * (over // int(number.q))) for index, number in read]
    for index, factor in by:
        if not 0 <= index < count:
            refuse("there is no generator of this index", place)
        if factor < 0:
            refuse("a multiplier is below 0", place)
    return Multipliers(over, tuple(by))
