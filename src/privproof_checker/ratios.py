"""Proofs by ratio cones: how much likelier every future is from one state than from another, and which pasts there are.

At a location let ``h = A_w f`` and ``g = B_w f`` be the columns of a word w that may follow and end. A node is of one of three kinds and
says about every location at which it is used:

* ``same``: for every such w either h = 0 or h = g; and for each of its ratios (s, t, rho): ``h_s <= rho h_t``;
* ``pair``: for each of its ratios: ``h_s <= rho g_t``;
* ``past``: with the letters so far the left and the right vector are the same, a non-negative combination of its generators, or the left
  one is zero.

**Theorem.** Suppose that, for every combination of location and node that can be reached from the starts,

1. *ends*: for every final column f and ratio (s, t, rho) of the node: ``f_s <= rho f_t``;
2. *futures*: at a node ``same`` every letter has equal matrices on both sides, unless the left one is zero, and leads to a node ``same``.
   At both kinds every ratio (s, t, rho) and letter l with ``row_s(A_l) != 0`` have multipliers that show
   ``row_s(A_l) h <= rho row_t(B_l) g`` at the target (see below);
3. *pasts*: at a node ``past`` every generator x and letter l with ``x A_l != 0`` either lead to a node ``past``, ``A_l = B_l``, and
   ``x A_l`` is the sum of multiples of its generators, exactly; or have multipliers at the target that show ``x A_l h <= c x B_l g``;
4. *starts*: a start (a, b) at a node ``past`` has a = b, a sum of multiples of its generators; elsewhere multipliers show ``a h <= c b g``.

Then ``P(w) <= c Q(w)`` for every compared word w.

*Multipliers.* Non-negative numbers m_k for the ratios (s_k, t_k, rho_k) of the target show ``u h <= r v g``

* at a node ``pair``, if ``u_i <= sum of m_k over s_k = i`` and ``sum of m_k rho_k over t_k = j  <=  r v_j`` for all i and j;
* at a node ``same``, if ``u_i - sum of m_k over s_k = i + sum of m_k rho_k over t_k = i  <=  r v_i`` for all i.

Indeed ``u h <= sum m_k h_(s_k) <= sum m_k rho_k g_(t_k) <= r v g``; with h = g the sum over i of the second condition times h_i is
``u h + sum m_k (rho_k h_(t_k) - h_(s_k)) <= r v h``, and where h = 0 there is nothing to show.

*Proof.* What nodes say about futures holds by induction on the length of w: the empty word is (1), the step is (2). What they say about
pasts holds by induction on the letters so far, by (3) and (4). Let a word leave the pasts with the letter l, after letters that led to a
vector x in the cone of the generators of a node ``past``, and go on with w. Then ``P = x A_l h <= c x B_l g = Q c``, because both sides
are linear in x. A word that never leaves the pasts has P = Q or P = 0, and c >= 1. A start elsewhere is (4). With c infinite read
``c y`` as 0 for y = 0: if the right side vanishes, so does every term that bounds the left. QED

**Classes.** A node may speak of classes of states, on each side, as in `cones`: on the states that may hold mass, final columns and the row
sums into every class of the next node are checked to be the same for all states of a class, and 0 for states without one. Then columns
are the same for all states of a class, and 0 without one, products with them depend on class sums alone, and the theorem is about these:
vectors, rows and matrices are those of classes. Nodes ``same`` and ``past`` have the same classes on both sides.

The lengths that are compared play no part: what is shown holds for all words. It needs no delta.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from privproof_checker.node_documents import (
    Beginning,
    checked_by_output,
    class_matrix,
    class_sums,
    counted_classes,
    read_starts,
)
from privproof_checker.numbers import ZERO, Rational
from privproof_checker.numbers.patience import pause
from privproof_checker.occupation import Occupation
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.ratio_documents import Multipliers, RatioNode, Sums, read_ratio_nodes
from privproof_checker.systems import Edge, Letter, Location, Moves, Question, Rows

_Row = dict[int, Rational]


class RatioCheck:
    """A ratio certificate under check, for the words of one system."""

    def __init__(
        self, question: Question, nodes: list[RatioNode], starts: list[Beginning[Multipliers]], limits: Limits
    ) -> None:
        self.question, self.system, self.claim = question, question.system, question.claim
        self.nodes, self.starts, self.limits = nodes, starts, limits
        self.moves = Moves(question.system)
        self.occupation = Occupation(self.system, self.moves, (each.start for each in starts), limits)
        self.comparisons = 0

    def check(self) -> int:
        """Check all; the number of comparisons made where words end."""
        waiting: list[tuple[Location, int]] = []
        for each in self.starts:
            self.begin(each)
            waiting.append((each.start.location, each.node))
        seen: set[tuple[Location, int]] = set()
        while waiting:
            location, number = waiting.pop()
            if (location, number) in seen:
                continue
            seen.add((location, number))
            within(len(seen), self.limits.explored, "combinations of location and node", "evidence.nodes")
            waiting.extend(self.visit(location, number))
        return self.comparisons

    def begin(self, each: Beginning[Multipliers]) -> None:
        """Condition 4 of the theorem."""
        node, place = self.nodes[each.node], f"{each.place}.multipliers"
        self.fits(node, each.start.location)
        left, right = class_sums(each.start.left, node.left), class_sums(each.start.right, node.right)
        if node.kind == "past":
            if each.start.left != each.start.right:
                refuse("both sides must begin alike where nothing has differed", each.place)
            self.equal(left, node, each.multipliers, place)
        else:
            self.shown(left, right, None, node, each.multipliers, place)

    def visit(self, location: Location, number: int) -> list[tuple[Location, int]]:
        """Conditions 1 to 3 of the theorem, and what is reached."""
        node = self.nodes[number]
        self.fits(node, location)
        self.end(location, node)
        reached: list[tuple[Location, int]] = []
        for letter, edge in self.moves.at(location):
            if not any(edge.left.get(i) for i in self.states(location, node, on_left=True)):
                continue
            onward = node.onward.get(letter)
            if onward is None:
                if node.kind == "pair" and not node.ratios and node.left is None:
                    continue  # what is shown here is of vectors that are zero
                refuse(f"the letter {letter} is allowed and has no next entry", node.place)
            target = self.nodes[onward.node]
            self.fits(target, edge.target)
            left = self.matrix(location, letter, edge, node, target, on_left=True)
            right = self.matrix(location, letter, edge, node, target, on_left=False)
            if node.kind == "past":
                self.step_of_past(node, target, left, right, onward.multipliers, onward.place)
            else:
                self.step_of_futures(node, target, left, right, onward.multipliers, onward.place)
            reached.append((edge.target, onward.node))
        return reached

    def step_of_futures(
        self,
        node: RatioNode,
        target: RatioNode,
        left: Mapping[int, _Row],
        right: Mapping[int, _Row],
        multipliers: tuple[Multipliers, ...],
        place: str,
    ) -> None:
        """Condition 2 for one letter."""
        if node.kind == "same":
            if target.kind != "same":
                refuse("from a node `same` a letter leads to such a node", place)
            if left != right:
                refuse("the matrices of the two sides differ at a node `same`", place)
        if target.kind == "past":
            refuse("from futures nothing leads to a node `past`", place)
        for i, (ratio, shares) in enumerate(zip(node.ratios, multipliers, strict=True)):
            above, below = left.get(ratio.above, {}), right.get(ratio.below, {})
            if above:
                self.shown(above, below, ratio.factor, target, shares, f"{place}.multipliers[{i}]")

    def step_of_past(
        self,
        node: RatioNode,
        target: RatioNode,
        left: Mapping[int, _Row],
        right: Mapping[int, _Row],
        multipliers: tuple[Multipliers, ...],
        place: str,
    ) -> None:
        """Condition 3 for one letter."""
        if target.kind == "past" and left != right:
            refuse("the matrices of the two sides differ between two nodes `past`", place)
        for i, (generator, shares) in enumerate(zip(node.generators, multipliers, strict=True)):
            one, other = _product(generator, left), _product(generator, right)
            here = f"{place}.multipliers[{i}]"
            if not one:
                continue
            if target.kind == "past":
                self.equal(one, target, shares, here)
            else:
                self.shown(one, other, None, target, shares, here)

    def end(self, location: Location, node: RatioNode) -> None:
        """Condition 1, and that classes agree where words end."""
        for final in self.system.finals(location):
            left = self.counted(location, node, final.counted, on_left=True)
            right = self.counted(location, node, final.counted, on_left=False)
            self.comparisons += 1
            for i, ratio in enumerate(node.ratios):
                if ratio.above in left and not (ratio.below in right and ratio.factor >= 1):
                    refuse("the ratio does not hold where a word ends", f"{node.place}.ratios[{i}]")

    def shown(
        self, left: Sums, right: Sums, factor: Rational | None, target: RatioNode, shares: Multipliers, place: str
    ) -> None:
        """Refuse unless the multipliers show ``left h <= factor right g`` at the target; without a factor, e^epsilon."""
        taken: _Row = {}
        given: _Row = {}
        for index, share in shares:
            ratio = target.ratios[index]
            taken[ratio.above] = taken.get(ratio.above, ZERO) + share
            given[ratio.below] = given.get(ratio.below, ZERO) + share * ratio.factor
        if target.kind == "same":
            for i in {*left, *given}:
                rest = left.get(i, ZERO) - taken.get(i, ZERO) + given.get(i, ZERO)
                self.at_most(rest, right.get(i, ZERO), factor, place)
            return
        for i, entry in left.items():
            if entry > taken.get(i, ZERO):
                refuse(f"the multipliers do not cover the class {i} of the left side", place)
        for j, entry in given.items():
            self.at_most(entry, right.get(j, ZERO), factor, place)

    def at_most(self, value: Rational, room: Rational, factor: Rational | None, place: str) -> None:
        """Refuse unless ``value <= factor room``; without a factor, e^epsilon."""
        if value <= 0:
            return
        fits = self.claim.holds_without_delta(value, room) if factor is None else value <= factor * room
        if not fits:
            refuse("the multipliers do not show the inequality", place)

    def equal(self, vector: Sums, target: RatioNode, shares: Multipliers, place: str) -> None:
        """Refuse unless the vector is the sum of these multiples of the generators."""
        rest = dict(vector)
        for index, share in shares:
            for i, entry in target.generators[index].items():
                rest[i] = rest.get(i, ZERO) - share * entry
        if any(entry != 0 for entry in rest.values()):
            refuse("the vector is not this sum of multiples of generators", place)

    def states(self, location: Location, node: RatioNode, *, on_left: bool) -> Set[int]:
        """The states that may hold mass; where both sides are alike, on either of them."""
        if node.kind != "pair":
            return self.occupation.on_left(location) | self.occupation.on_right(location)
        return self.occupation.on_left(location) if on_left else self.occupation.on_right(location)

    def fits(self, node: RatioNode, location: Location) -> None:
        """Refuse classes that do not fit the states of a location, or differ where both sides are alike."""
        size = self.system.size(location)
        for classes in (node.left, node.right):
            if classes is not None and len(classes) != size:
                refuse(f"there must be a class, or null, for each of {size} states", f"{node.place}.classes")
        if node.kind != "pair" and node.left != node.right:
            refuse("both sides have the same classes here", f"{node.place}.classes")

    def counted(self, location: Location, node: RatioNode, counted: frozenset[int], *, on_left: bool) -> frozenset[int]:
        """The classes that a final column counts."""
        classes = node.left if on_left else node.right
        return counted_classes(counted, self.states(location, node, on_left=on_left), classes, node.place)

    def matrix(
        self, location: Location, letter: Letter, edge: Edge, source: RatioNode, target: RatioNode, *, on_left: bool
    ) -> dict[int, _Row]:
        """The matrix of a letter from the classes of a node to those of the next, without rows that are zero."""
        pause()
        rows: Rows = edge.left if on_left else edge.right
        classes = (source.left, target.left) if on_left else (source.right, target.right)
        states = self.states(location, source, on_left=on_left)
        sums = class_matrix(rows, letter, states, classes, source.place, needed=True)
        scale = edge.scale
        return {number: {j: Rational(x, scale) for j, x in row.items()} for number, row in sums.items() if row}


def _product(vector: Sums, matrix: Mapping[int, _Row]) -> _Row:
    result: _Row = {}
    for i, weight in vector.items():
        for j, entry in matrix.get(i, {}).items():
            result[j] = result.get(j, ZERO) + weight * entry
    return {j: entry for j, entry in result.items() if entry != 0}


def proved_by_ratios(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a proof by ratio cones."""
    nodes, reading = read_ratio_nodes(evidence, limits)
    starts = read_starts(question, evidence, reading, limits)
    comparisons = checked_by_output(
        question, starts, lambda part, chosen: RatioCheck(part, nodes, chosen, limits).check()
    )
    counts = {
        "ratios": sum(len(node.ratios) for node in nodes),
        "generators": sum(len(node.generators) for node in nodes),
    }
    details = {"method": "ratios", "nodes": len(nodes), **counts, "comparisons": comparisons}
    stronger = "" if question.claim.delta == 0 else ", even with delta = 0"
    return Accepted("proved", f"private with {question.claim}{stronger}; compared: {question.described}", details)
