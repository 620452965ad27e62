"""Proofs by cones: finitely many safe generators, and multipliers that keep everything reachable among them.

A generator is a triple (alpha, beta, s) of non-negative left and right vectors and a weight.

**Theorem.** Let every node of a finite graph hold finitely many generators, and suppose that, for every combination
of location, length and node that can be reached,

1. *ends*: if a compared word may end there, every generator has ``alpha f <= c beta f + delta s`` for every final
   column f;
2. *steps*: if longer words are compared, then for every generator and every letter l with ``alpha A_l != 0`` the graph
   has an edge to a node with generators (alpha_i, beta_i, s_i) and multipliers lambda_i >= 0 such that
   ``alpha A_l <= sum lambda_i alpha_i``, ``sum lambda_i beta_i <= beta B_l`` and ``sum lambda_i s_i <= s``;
3. *starts*: every ordered pair (a, b) has multipliers with
   ``a <= sum lambda_i alpha_i``, ``sum lambda_i beta_i <= b`` and ``sum lambda_i s_i <= 1``.

Then ``P(w) <= c Q(w) + delta`` for every compared word w.

*Proof.* Call a generator safe for a word w if ``alpha A_w f <= c beta B_w f + delta s``.  At every combination that is
reached all generators are safe for every word that may follow and end, by induction on its length.  The empty word is
(1).  For ``w = l v``: if ``alpha A_l = 0`` the left side is 0 and the right side is not negative.  Otherwise, because
matrices and final columns are not negative,

    alpha A_l A_v f  <=  sum lambda_i alpha_i A_v f
                     <=  sum lambda_i (c beta_i B_v f + delta s_i)  <=  c beta B_l B_v f + delta s,

where the middle step is the safety of the target's generators for v.  The same step from (3) gives the claim.  With c
infinite read ``c x`` as 0 for x = 0: the middle step holds because either all ``lambda_i beta_i B_v f`` vanish or the
right side is infinite.  QED

**Classes.** A node may index its vectors by classes of states, on each side; a generator then bounds the class sums of
vectors on occupied states (see `occupation`). Let u_v(i) be the entry of ``A_v f`` for the state i. Checked is, for
occupied states, that final columns and the row sums into every class of the next node are the same for all states of
a class, and on the left 0 for states without a class. By induction u_v(i) is then the same for all states of a class,
and 0 for states without one, so that ``x A_v f`` depends on the class sums of x alone. On the right states without a
class need no condition: leaving out their mass makes Q smaller.

**Finish.** The starts of a transducer with ``finish`` may be given for each output by itself: each covers the words
that end in that output. A start whose left mass can contribute to no compared word needs nothing, and neither does a
letter that leads only such mass onwards.

The weights matter only where delta > 0.  A claim over events is proved here with delta = 0, which is more than it
needs.
"""

from __future__ import annotations

from collections import deque

from privproof_checker.claims import as_rational
from privproof_checker.cone_documents import ConeNode, Multipliers, read_nodes
from privproof_checker.node_documents import (
    Beginning,
    Classes,
    checked_by_output,
    class_matrix,
    class_sums,
    counted_classes,
    read_starts,
)
from privproof_checker.numbers.patience import pause
from privproof_checker.occupation import Occupation
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.systems import (
    DenseMatrices,
    Edge,
    Letter,
    Location,
    Moves,
    Question,
    Rows,
    Stack,
    Vector,
    on_common_denominator,
    total,
)


class Cone:
    """A cone certificate under check, for the words of one system."""

    def __init__(
        self, question: Question, nodes: list[ConeNode], beginnings: list[Beginning[Multipliers]], limits: Limits
    ) -> None:
        self.question = question
        self.system = question.system
        self.nodes = nodes
        self.beginnings = beginnings
        self.limits = limits
        self.weighted = question.claim.delta != 0 and not question.claim.events
        self.moves = Moves(question.system)
        self.occupation = Occupation(self.system, self.moves, (begin.start for begin in beginnings), limits)
        self.steps: dict[tuple[Location, int, bool], tuple[tuple[Location, int], ...]] = {}
        self.matrices: dict[tuple[Location, Letter, Classes, Classes, bool], Rows] = {}
        self.dense = DenseMatrices()
        self.ended: set[tuple[Location, int]] = set()
        self.comparisons = 0

    def check(self) -> int:
        """Check all; the number of comparisons made where words end."""
        self.explore(list(dict.fromkeys(root for begin in self.beginnings for root in self.begin(begin))))
        return self.comparisons

    def begin(self, begin: Beginning[Multipliers]) -> list[tuple[Location, int]]:
        """Condition 3 of the theorem, and where the start leads."""
        location = begin.start.location
        if not any(self.occupation.matters(location, i) for i, _ in begin.start.left):
            return []
        node = self.nodes[begin.node]
        self.fits(node, location)
        scale, (left, right) = on_common_denominator(begin.start.left, begin.start.right)
        one, other = class_sums(left.items(), node.left), class_sums(right.items(), node.right)
        self.dominated(one, other, scale, 1, begin.node, begin.multipliers, f"{begin.place}.multipliers")
        return [(location, begin.node)]

    def explore(self, roots: list[tuple[Location, int]]) -> None:
        """Check everything that can be reached, by length.

        Where all lengths up to the horizon are compared, what has been reached at a smaller length need not be repeated
        at a larger one: fewer words follow there, and the conditions are the same. A claim over events where halting is
        visible also compares complete words shorter than the horizon, so there words may end at every length.
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
            self.fits(self.nodes[node], location)
            if horizon.counts(length) or (always and length > 0):
                self.end(location, node)
            if horizon.goes_on(length):
                reached = self.step(location, node, last=not horizon.goes_on(length + 1))
                waiting.extend((target, onward, length + 1) for target, onward in reached)

    def fits(self, node: ConeNode, location: Location) -> None:
        """Refuse a node whose vectors or classes do not fit the states of a location."""
        size = self.system.size(location)
        for classes, length in ((node.left, node.left_size), (node.right, node.right_size)):
            if classes is None and length not in (size, None):
                refuse(f"the vectors here must have the size {size}", node.place)
            if classes is not None and len(classes) != size:
                refuse(f"there must be a class, or null, for each of {size} states", f"{node.place}.classes")

    def end(self, location: Location, number: int) -> None:
        """Condition 1 of the theorem."""
        if (location, number) in self.ended:
            return
        self.ended.add((location, number))
        node = self.nodes[number]
        for final in self.system.finals(location):
            on_left, on_right = self.occupation.on_left(location), self.occupation.on_right(location)
            left = counted_classes(final.counted, on_left, node.left, node.place)
            right = counted_classes(final.counted, on_right, node.right, node.place, needed=False)
            for i, generator in enumerate(node.generators):
                p, q = as_rational(total(generator.left, left)), as_rational(total(generator.right, right))
                self.comparisons += 1
                if not self.question.claim.holds(p, q, generator.weight if self.weighted else 0):
                    refuse("the generator violates the claim where a word ends", f"{node.place}.generators[{i}]")

    def step(self, location: Location, number: int, *, last: bool) -> tuple[tuple[Location, int], ...]:
        """Condition 2 of the theorem, and what is reached; `last`: whether words end after this letter."""
        if (location, number, last) in self.steps:
            return self.steps[location, number, last]
        node = self.nodes[number]
        filled = frozenset(i for generator in node.generators for i in generator.left)
        sources = [i for i in self.occupation.on_left(location) if _may_hold(i, node.left, filled)]
        lefts = Stack([g.left for g in node.generators], self.dense)
        rights = Stack([g.right for g in node.generators], self.dense)
        reached: list[tuple[Location, int]] = []
        for letter, edge in self.moves.at(location):
            targets = self.occupation.targets(edge, sources)
            if not targets:
                continue
            onward = node.onward.get(letter)
            if onward is None:
                if any(self.matters(edge.target, j, last=last) for j in targets):
                    refuse(f"the letter {letter} is allowed and has no next entry", node.place)
                continue
            target = self.nodes[onward.node]
            self.fits(target, edge.target)
            left = self.matrix(location, letter, edge, node, target, on_left=True)
            right = self.matrix(location, letter, edge, node, target, on_left=False)
            needed = target.left is not None and any(target.left[j] is None for j in targets)
            for i, (after, other) in enumerate(zip(lefts.after(left), rights.after(right), strict=True)):
                if after:
                    needed = True
                    place, weight = f"{onward.place}.multipliers[{i}]", node.generators[i].weight
                    self.dominated(after, other, edge.scale, weight, onward.node, onward.multipliers[i], place)
            if needed:
                reached.append((edge.target, onward.node))
        self.steps[location, number, last] = tuple(reached)
        return self.steps[location, number, last]

    def matters(self, location: Location, state: int, *, last: bool) -> bool:
        """Whether mass that comes to a state may contribute to a compared word; `last`: if no letter follows."""
        if last:
            return any(state in final.counted for final in self.system.finals(location))
        return self.occupation.matters(location, state)

    def matrix(
        self, location: Location, letter: Letter, edge: Edge, source: ConeNode, target: ConeNode, *, on_left: bool
    ) -> Rows:
        """The matrix of a letter from the classes of a node to the classes of the next."""
        rows, occupied = edge.left, self.occupation.on_left(location)
        before, after = source.left, target.left
        if not on_left:
            rows, occupied = edge.right, self.occupation.on_right(location)
            before, after = source.right, target.right
        if before is None and after is None:
            return rows
        key = (location, letter, before, after, on_left)
        if key not in self.matrices:
            sums = class_matrix(rows, letter, occupied, (before, after), source.place, needed=on_left)
            self.matrices[key] = {number: list(row.items()) for number, row in sums.items()}
        return self.matrices[key]

    def dominated(
        self, left: Vector, right: Vector, scale: int, weight: int, node: int, multipliers: Multipliers, place: str
    ) -> None:
        """Refuse unless left/scale <= sum lambda alpha, sum lambda beta <= right/scale, sum lambda s <= weight.

        Everything is multiplied by `scale` and by the common denominator of the multipliers.
        """
        pause()
        common = multipliers.over
        generators = self.nodes[node].generators
        above: dict[int, int] = {}
        below: dict[int, int] = {}
        weights = 0
        for index, factor in multipliers.by:
            generator = generators[index]
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


def _may_hold(state: int, classes: Classes, filled: frozenset[int]) -> bool:
    """Whether a state may hold mass where these entries of the generators are not zero; unknown without a class."""
    number = state if classes is None else classes[state]
    return number is None or number in filled


def proved_by_cone(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a proof by cones."""
    weighted = question.claim.delta != 0 and not question.claim.events
    nodes, reading = read_nodes(evidence, limits, weighted=weighted)
    beginnings = read_starts(question, evidence, reading, limits)
    comparisons = checked_by_output(
        question, beginnings, lambda part, chosen: Cone(part, nodes, chosen, limits).check()
    )
    generators = sum(len(node.generators) for node in nodes)
    details = {"method": "cone", "nodes": len(nodes), "generators": generators, "comparisons": comparisons}
    stronger = "" if weighted or question.claim.delta == 0 else ", even with delta = 0"
    return Accepted("proved", f"private with {question.claim}{stronger}; compared: {question.described}", details)
