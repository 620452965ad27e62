"""Cone certificates as data: nodes, generators, multipliers and starts, read from a document, their form checked."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TypeAlias

from privproof.evidence.checker.documents import a_list, a_number, a_text_or_null, an_integer, an_object
from privproof.evidence.checker.outcomes import Limits, refuse, within
from privproof.evidence.checker.systems import Letter, Question, Start, Vector, matching_starts, read_letter
from privproof.exact import Rational


@dataclass(frozen=True)
class Multipliers:
    """Multiples of generators: the index of a generator, and the numerator of its multiplier over a common denominator."""

    over: int
    by: tuple[tuple[int, int], ...]


Classes: TypeAlias = tuple[int | None, ...] | None
"""For every state its class, None for a state that does not count; None as a whole: every state is its own class."""


@dataclass(frozen=True)
class Generator:
    """A safe triple."""

    left: Vector
    right: Vector
    weight: int


@dataclass(frozen=True)
class Onward:
    """An edge of the certificate: the target node, and for every generator of the source its multipliers."""

    node: int
    multipliers: tuple[Multipliers, ...]
    place: str


@dataclass(frozen=True)
class Node:
    """A node: its generators, its edges by letter, and the classes that index its left and right vectors.

    The sizes are the lengths of the vectors; None where there is no generator.
    """

    generators: tuple[Generator, ...]
    onward: dict[Letter, Onward]
    left_size: int | None
    right_size: int | None
    left: Classes
    right: Classes
    place: str


@dataclass(frozen=True)
class Beginning:
    """How an ordered pair is covered: by multiples of generators of a node; for all words, or by the last output."""

    start: Start
    finish: str | None
    node: int
    multipliers: Multipliers
    place: str


def read_nodes(evidence: dict[str, object], limits: Limits, *, weighted: bool) -> list[Node]:
    """The nodes of a certificate."""
    listed = a_list(evidence.get("nodes"), "evidence.nodes")
    within(len(listed), limits.nodes, "nodes", "evidence.nodes")
    places = [f"evidence.nodes[{i}]" for i in range(len(listed))]
    given = [an_object(item, place) for item, place in zip(listed, places, strict=True)]
    count = 0
    known: dict[Classes, Classes] = {}
    nodes: list[Node] = []
    for item, place in zip(given, places, strict=True):
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
        nodes.append(Node(generators, {}, left_size, right_size, left, right, place))
    for item, node in zip(given, nodes, strict=True):
        _read_onward(item, node, nodes, limits)
    return nodes


def _read_onward(item: dict[str, object], node: Node, nodes: list[Node], limits: Limits) -> None:
    for j, value in enumerate(a_list(item.get("next", []), f"{node.place}.next")):
        place = f"{node.place}.next[{j}]"
        entry = an_object(value, place)
        letter = read_letter(entry.get("letter"), f"{place}.letter")
        if letter in node.onward:
            refuse(f"the letter {letter} has two next entries", place)
        target = _node_number(entry.get("node"), len(nodes), f"{place}.node")
        tables = a_list(entry.get("multipliers"), f"{place}.multipliers")
        if len(tables) != len(node.generators):
            refuse("expected one list of multipliers a generator", f"{place}.multipliers")
        multipliers = tuple(
            _multipliers(table, nodes[target], f"{place}.multipliers[{i}]", limits) for i, table in enumerate(tables)
        )
        node.onward[letter] = Onward(target, multipliers, place)


def read_beginnings(
    question: Question, evidence: dict[str, object], nodes: list[Node], outputs: frozenset[str], limits: Limits
) -> list[Beginning]:
    """The starts of a certificate, each with the ordered pairs that it names."""
    result: list[Beginning] = []
    for i, item in enumerate(a_list(evidence.get("starts"), "evidence.starts")):
        place = f"evidence.starts[{i}]"
        given = an_object(item, place)
        node = _node_number(given.get("node"), len(nodes), f"{place}.node")
        multipliers = _multipliers(given.get("multipliers"), nodes[node], f"{place}.multipliers", limits)
        finish = a_text_or_null(given.get("finish"), f"{place}.finish")
        if finish is not None and finish not in outputs:
            refuse("no word ends by writing this output", f"{place}.finish")
        starts = matching_starts(question, given, place, limits)
        result.extend(Beginning(start, finish, node, multipliers, place) for start in starts)
    return result


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


def _node_number(value: object, count: int, place: str) -> int:
    number = an_integer(value, place)
    if not 0 <= number < count:
        refuse("there is no node of this number", place)
    return number


def _multipliers(value: object, target: Node, place: str, limits: Limits) -> Multipliers:
    """Pairs [index, multiplier], or ``{"over": d, "by": [[index, integer], ...]}`` for the integers divided by d."""
    if isinstance(value, dict):
        over = an_integer(value.get("over"), f"{place}.over")
        if over < 1:
            refuse("a denominator is below 1", f"{place}.over")
        by = [_pair(item, f"{place}.by") for item in a_list(value.get("by"), f"{place}.by")]
    else:
        read: list[tuple[int, Rational]] = []
        for item in a_list(value, place):
            pair = a_list(item, place)
            if len(pair) != 2:
                refuse("expected [index, multiplier]", place)
            read.append((an_integer(pair[0], place), a_number(pair[1], place, limits)))
        over = lcm(1, *(int(number.q) for _, number in read))
        by = [(index, int(number.p) * (over // int(number.q))) for index, number in read]
    count = len(target.generators)
    for index, factor in by:
        if not 0 <= index < count:
            refuse("there is no generator of this index", place)
        if factor < 0:
            refuse("a multiplier is below 0", place)
    return Multipliers(over, tuple(by))
