"""Proofs by cones: finitely many safe generators, and multipliers that keep everything reachable among them.

A generator is a triple (alpha, beta, s) of non-negative left and right vectors and a weight. It is *safe* at a
location, with so many letters still to come, if ``alpha A_w f <= c beta B_w f + delta s`` for every word w that may
follow there and end.

**Theorem.** Let every node of a finite graph hold finitely many generators, and suppose that, for every combination
of location, length and node that can be reached,

1. *ends*: if a compared word may end there, every generator has ``alpha f <= c beta f + delta s`` for every final
   column f;
2. *steps*: for every generator and every letter l with ``alpha A_l != 0`` the graph has an edge to a node with
   generators (alpha_i, beta_i, s_i) and multipliers lambda_i >= 0 with ``alpha A_l <= sum lambda_i alpha_i``, ``sum
   lambda_i beta_i <= beta B_l`` and ``sum lambda_i s_i <= s``;
3. *starts*: every ordered pair (a, b) has multipliers with
   ``a <= sum lambda_i alpha_i``, ``sum lambda_i beta_i <= b`` and ``sum lambda_i s_i <= 1``.

Then ``P(w) <= c Q(w) + delta`` for every compared word w.

*Proof.* All generators are safe, by induction on the length of w. The empty word is (1). For ``w = l v``: if ``alpha
A_l = 0`` the left side is 0 and the right side is not negative. Otherwise, because matrices and final columns are not
negative, ``alpha A_l A_v f <= sum lambda_i alpha_i A_v f <= sum lambda_i (c beta_i B_v f + delta s_i) <= c beta B_l
B_v f + delta s``, where the middle step is the safety of the target's generators for v. The same step from (3) gives
the claim. With c infinite read ``c x`` as 0 for x = 0: the middle step holds because either all ``lambda_i beta_i B_v
f`` vanish or the right side is infinite. QED

The weights matter only where delta > 0. A claim over events is proved here with delta = 0, which is more than it
needs.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import lcm

from privproof.evidence.checker.chains import Chain
from privproof.evidence.checker.claims import as_rational
from privproof.evidence.checker.documents import a_list, a_number, an_integer, an_object
from privproof.evidence.checker.outcomes import Accepted, Limits, refuse, within
from privproof.evidence.checker.systems import (
    Letter,
    Location,
    Moves,
    Question,
    Start,
    Vector,
    matching_starts,
    on_common_denominator,
    product,
    read_letter,
    total,
)
from privproof.exact import Rational


@dataclass(frozen=True)
class Generator:
    """A safe triple."""

    left: Vector
    right: Vector
    weight: int


Multipliers = tuple[tuple[int, Rational], ...]


@dataclass(frozen=True)
class Onward:
    """An edge of the certificate: the target node, and for every generator of the source its multipliers."""

    node: int
    multipliers: tuple[Multipliers, ...]
    place: str


@dataclass(frozen=True)
class Node:
    """A node of the certificate: the size of its vectors, its generators, its edges by letter."""

    size: int
    generators: tuple[Generator, ...]
    onward: dict[Letter, Onward]
    place: str


class Cone:
    """A cone certificate under check."""

    def __init__(self, question: Question, nodes: list[Node], limits: Limits) -> None:
        self.question = question
        self.system = question.system
        self.moves = Moves(question.system)
        self.nodes = nodes
        self.limits = limits
        self.weighted = question.claim.delta != 0 and not question.claim.events
        self.steps: dict[tuple[Location, int], tuple[tuple[Location, int], ...]] = {}
        self.ended: set[tuple[Location, int]] = set()
        self.comparisons = 0

    def explore(self, roots: list[tuple[Location, int]]) -> None:
        """Check everything that can be reached, by length.

        Where all lengths up to the horizon are compared, what has been reached at a smaller length need not be
        repeated at a larger one: fewer words follow there, and the conditions are the same. A claim over events where
        halting is visible also compares complete words shorter than the horizon, so there words may end at every
        length.
        """
        horizon = self.question.horizon
        always = self.question.claim.events and self.question.ending == "visible"
        waiting = deque((location, node, 0) for location, node in roots)
        seen: set[tuple[Location, int, int]] = set()
        while waiting:
            location, node, length = waiting.popleft()
            key = (location, node, min(length, 1) if horizon.low == 1 else length)
            if key in seen:
                continue
            seen.add(key)
            within(len(seen), self.limits.explored, "combinations of location, length and node", "evidence.nodes")
            if self.nodes[node].size != self.system.size(location):
                refuse(f"the vectors here must have the size {self.system.size(location)}", self.nodes[node].place)
            if horizon.counts(length) or (always and length > 0):
                self.end(location, node)
            if horizon.goes_on(length):
                waiting.extend((target, onward, length + 1) for target, onward in self.step(location, node))

    def end(self, location: Location, number: int) -> None:
        """Condition 1 of the theorem."""
        if (location, number) in self.ended:
            return
        self.ended.add((location, number))
        claim = self.question.claim
        for i, generator in enumerate(self.nodes[number].generators):
            for final in self.system.finals(location):
                left = as_rational(total(generator.left, final.counted))
                right = as_rational(total(generator.right, final.counted))
                weight = generator.weight if self.weighted else 0
                self.comparisons += 1
                if not claim.holds(left, right, weight):
                    place = f"{self.nodes[number].place}.generators[{i}]"
                    refuse("the generator violates the claim where a word ends", place)

    def step(self, location: Location, number: int) -> tuple[tuple[Location, int], ...]:
        """Condition 2 of the theorem, and what is reached."""
        if (location, number) in self.steps:
            return self.steps[location, number]
        node = self.nodes[number]
        reached: list[tuple[Location, int]] = []
        for letter, edge in self.moves.at(location):
            onward = node.onward.get(letter)
            for i, generator in enumerate(node.generators):
                left = product(generator.left, edge.left)
                if not any(left.values()):
                    continue
                if onward is None:
                    refuse(f"the letter {letter} is allowed and has no next entry", node.place)
                right = product(generator.right, edge.right)
                place = f"{onward.place}.multipliers[{i}]"
                self.dominated(left, right, edge.scale, generator.weight, onward.node, onward.multipliers[i], place)
                if (edge.target, onward.node) not in reached[-1:]:
                    reached.append((edge.target, onward.node))
        self.steps[location, number] = tuple(reached)
        return self.steps[location, number]

    def dominated(
        self, left: Vector, right: Vector, scale: int, weight: int, node: int, multipliers: Multipliers, place: str
    ) -> None:
        """Refuse unless ``left/scale <= sum lambda alpha``, ``sum lambda beta <= right/scale``, ``sum lambda s <=
        weight``.

        Everything is multiplied by `scale` and by the common denominator of the multipliers.
        """
        common = lcm(1, *(int(number.q) for _, number in multipliers))
        above: dict[int, int] = {}
        below: dict[int, int] = {}
        weights = 0
        for index, number in multipliers:
            factor = int(number.p) * (common // int(number.q))
            generator = self.nodes[node].generators[index]
            weights += factor * generator.weight
            for i, entry in generator.left.items():
                above[i] = above.get(i, 0) + factor * entry
            for i, entry in generator.right.items():
                below[i] = below.get(i, 0) + factor * entry
        for i, entry in left.items():
            if entry * common > above.get(i, 0) * scale:
                refuse(f"the multiples of the generators do not cover the left vector at {i}", place)
        for i, entry in below.items():
            if entry * scale > right.get(i, 0) * common:
                refuse(f"the multiples of the generators exceed the right vector at {i}", place)
        if self.weighted and weights > weight * common:
            refuse("the multiples of the weights exceed the weight", place)


def proved_by_cone(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a proof by cones."""
    if evidence.get("classes") is not None:
        if not isinstance(question.system, Chain):
            refuse("only the states of a hidden Markov model or a Markov chain are put in classes", "evidence.classes")
        question.system.lump(evidence["classes"], "evidence.classes", limits)
    weighted = question.claim.delta != 0 and not question.claim.events
    nodes = _nodes(evidence, limits, weighted=weighted)
    cone = Cone(question, nodes, limits)
    roots: dict[Start, tuple[Location, int]] = {}
    for i, item in enumerate(a_list(evidence.get("starts"), "evidence.starts")):
        place = f"evidence.starts[{i}]"
        given = an_object(item, place)
        node = _node_number(given.get("node"), len(nodes), f"{place}.node")
        multipliers = _multipliers(given.get("multipliers"), nodes[node], f"{place}.multipliers", limits)
        for start in matching_starts(question, given, place, limits):
            if nodes[node].size != question.system.size(start.location):
                refuse("the vectors of a start are indexed by the states", place)
            scale, (left, right) = on_common_denominator(start.left, start.right)
            cone.dominated(left, right, scale, 1, node, multipliers, f"{place}.multipliers")
            roots.setdefault(start, (start.location, node))
    missing = [start for start in question.system.starts if start not in roots]
    if missing:
        refuse(f"{len(missing)} of the ordered pairs have no start", "evidence.starts")
    cone.explore(list(dict.fromkeys(roots.values())))
    if cone.comparisons == 0:
        refuse("no word is compared", "question")
    generators = sum(len(node.generators) for node in nodes)
    details = {"method": "cone", "nodes": len(nodes), "generators": generators, "comparisons": cone.comparisons}
    if cone.weighted or question.claim.delta == 0:
        return Accepted("proved", f"private with {question.claim}; compared: {question.described}", details)
    statement = f"private with {question.claim}, even with delta = 0; compared: {question.described}"
    return Accepted("proved", statement, details)


# ------------------------------------------------------------------------------------------------ reading the evidence


def _nodes(evidence: dict[str, object], limits: Limits, *, weighted: bool) -> list[Node]:
    listed = a_list(evidence.get("nodes"), "evidence.nodes")
    within(len(listed), limits.nodes, "nodes", "evidence.nodes")
    places = [f"evidence.nodes[{i}]" for i in range(len(listed))]
    given = [an_object(item, place) for item, place in zip(listed, places, strict=True)]
    count = 0
    nodes: list[Node] = []
    for item, place in zip(given, places, strict=True):
        items = a_list(item.get("generators"), f"{place}.generators")
        count += len(items)
        within(count, limits.generators, "generators", f"{place}.generators")
        read = [_generator(g, f"{place}.generators[{j}]", limits, weighted=weighted) for j, g in enumerate(items)]
        sizes = {size for _, one, other in read for size in (one, other)}
        if len(sizes) != 1:
            refuse("a node needs at least one generator, and all its vectors have one size", f"{place}.generators")
        nodes.append(Node(sizes.pop(), tuple(generator for generator, _, _ in read), {}, place))
    for item, node in zip(given, nodes, strict=True):
        for j, onward in enumerate(a_list(item.get("next", []), f"{node.place}.next")):
            place = f"{node.place}.next[{j}]"
            entry = an_object(onward, place)
            letter = read_letter(entry.get("letter"), f"{place}.letter")
            if letter in node.onward:
                refuse(f"the letter {letter} has two next entries", place)
            target = _node_number(entry.get("node"), len(nodes), f"{place}.node")
            tables = a_list(entry.get("multipliers"), f"{place}.multipliers")
            if len(tables) != len(node.generators):
                refuse("expected one list of multipliers a generator", f"{place}.multipliers")
            multipliers = tuple(
                _multipliers(table, nodes[target], f"{place}.multipliers[{i}]", limits)
                for i, table in enumerate(tables)
            )
            node.onward[letter] = Onward(target, multipliers, place)
    return nodes


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


def _node_number(value: object, count: int, place: str) -> int:
    number = an_integer(value, place)
    if not 0 <= number < count:
        refuse("there is no node of this number", place)
    return number


def _multipliers(value: object, target: Node, place: str, limits: Limits) -> Multipliers:
    result: list[tuple[int, Rational]] = []
    for item in a_list(value, place):
        pair = a_list(item, place)
        if len(pair) != 2:
            refuse("expected [index, multiplier]", place)
        index, number = an_integer(pair[0], place), a_number(pair[1], place, limits)
        if not 0 <= index < len(target.generators):
            refuse("there is no generator of this index", place)
        if number < 0:
            refuse("a multiplier is below 0", place)
        result.append((index, number))
    return tuple(result)
