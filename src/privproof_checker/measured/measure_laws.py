"""Two trees of runs as pairs of laws: from above, with an observer who is told more, and from below, with one who is told less.

*From above*: everything that is shown (`runs.shown`), each with what stands in its place on the other tree.  *From below*: outcomes by
shape; a shape with one vector on both sides, to which nothing was done, counts with its numbers, any other as an event.  That needs
shapes that are never shown by the same value: no whole number, and nothing that something was done to, on the right; or shapes that
differ in what surrounds their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from privproof_checker.integrals.whole import square_of
from privproof_checker.numbers import ZERO, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, refuse
from privproof_checker.plain_documents import an_integer, only_members, text
from privproof_checker.programs.open_trees import WHOLE, Linear
from privproof_checker.runs.divergence import excess, plain
from privproof_checker.runs.moved import Pairing, law_pairing
from privproof_checker.runs.run_leaves import Ran, Tree
from privproof_checker.runs.shown import BITS, Apart, Observed, Seen, distance_between, observe_tree, pair_observations

_NOWHERE = Apart(ZERO, ())


@dataclass(frozen=True)
class Piece:
    """Something that is shown with probabilities p and q, its numbers at a distance; `equal` if p and q are the same fraction."""

    p: arb
    q: arb
    distance: Apart = _NOWHERE
    equal: bool = False

    @property
    def rate(self) -> Rational:
        """What continuous Gaussian noise adds to a Rényi divergence, for each unit of the order."""
        return self.distance.square / 2

    @property
    def slope(self) -> Rational:
        """What all Gaussian noise adds at most; discrete noise as much at integer orders."""
        return self.rate + square_of(self.distance.whole) / 2

    @property
    def pairings(self) -> list[Pairing]:
        """Its other numbers."""
        return [law_pairing(moved, "question.of.trees") for moved in self.distance.moved]

    @property
    def normal(self) -> bool:
        """Whether nothing but Gaussian noise, continuous or discrete, tells the sides apart."""
        return self.equal and not self.distance.moved

    @property
    def certain(self) -> bool:
        """Whether something in it is possible on the left and impossible on the right."""
        return bool(self.p > 0) and (self.q.is_zero() or any(each.one_sided for each in self.pairings))

    def loss(self) -> arb | None:
        """The largest loss apart from Gaussian noise; None where it is infinite."""
        if not (self.p > 0 and self.q > 0):
            return None
        total = arb(0) if self.equal else (self.p / self.q).log()
        for each in self.pairings:
            loss = each.loss()
            if loss is None:
                return None
            total += loss
        return total

    def most(self, bound: arb) -> arb:
        """No event in it has a larger excess."""
        return excess(self.p.upper(), self.q.lower(), bound, self.distance)[0]

    def least(self, bound: arb) -> arb:
        """Some event in it has this excess, or more."""
        found, exact = excess(self.p, self.q, bound, self.distance)
        if not exact:
            found = self.p - bound * self.q
        return found if found > 0 else arb(0)


def from_above(left: Observed, right: Observed) -> list[Piece] | None:
    """The pieces that bound every divergence from above; None where one may be impossible on the right."""
    pieces = []
    for mine, other in pair_observations(left, right):
        distance = None if other is None else distance_between(mine, other)
        if other is None or distance is None:
            if mine.probability <= 0:
                continue
            return None
        pieces.append(_piece(mine, other, distance))
    return pieces


def _piece(mine: Seen, other: Seen, distance: Apart) -> Piece:
    equal = mine.weight is not None and mine.weight == other.weight
    return Piece(mine.probability, other.probability, distance, equal)


def from_below(left: Observed, right: Observed, trees: tuple[Tree, Tree]) -> list[Piece]:
    """The pieces that bound every divergence from below."""
    _shapes_differ(*trees)
    pieces = []
    sides = [_by_shape(left), _by_shape(right)]
    for shape, mine in sides[0].items():
        others = sides[1].get(shape, [])
        if len(mine) == len(others) == 1 and mine[0][0] == others[0][0] and not mine[0][1].opaque:
            one, two = mine[0][1], others[0][1]
            distance = distance_between(one, two)
            if distance is not None:
                pieces.append(_piece(one, two, distance))
                continue
        p, q = (sum((seen.probability for _, seen in side), arb(0)) for side in (mine, others))
        pieces.append(Piece(p, q))
    pieces += [
        Piece(arb(0), sum((seen.probability for _, seen in side), arb(0)))
        for shape, side in sides[1].items()
        if shape not in sides[0]
    ]
    return pieces


def _by_shape(seen: Observed) -> dict[str, list[tuple[object, Seen]]]:
    found: dict[str, list[tuple[object, Seen]]] = {}
    for key, listed in seen.items():
        for each in listed:
            found.setdefault(each.shape, []).append((key, each))
    return found


def _shapes_differ(left: Tree, right: Tree) -> None:
    if any(leaf.guesses for leaf in right):
        refuse("something was decided by opaque numbers, so that nothing is known from below", "evidence")
    smooth = all(
        isinstance(part, Linear) and any(leaf.noises[j][0] not in WHOLE for j, _ in part.factors)
        for leaf in right
        for part in leaf.parts
    )
    if smooth:
        return
    if not plain(left, right):
        refuse("whole or opaque numbers may be shown in more than one way", "evidence")


def refuted_by_excess(ran: Ran, evidence: dict[str, object]) -> Accepted:
    """Check that two neighbours have an event beyond an epsilon by more than delta: the sum of the excesses of all pieces from below."""
    only_members(evidence, ("method", "left", "right"), "evidence")
    left, right = (an_integer(evidence.get(side), f"evidence.{side}") for side in ("left", "right"))
    if (left, right) not in ran.neighbours.pairs:
        refuse("these are no neighbours", "evidence.right")
    claim = ran.claim
    if claim.epsilon.infinite or (claim.pointwise and claim.delta != 0):
        refuse("this is evidence about events at a finite epsilon", "evidence.method")
    trees = ran.trees[ran.places[left]], ran.trees[ran.places[right]]
    with precision(BITS):
        one, two = (observe_tree(tree, "question.trees") for tree in trees)
        pieces = from_below(one, two, trees)
        bound = claim.epsilon.ball(BITS).exp()
        found = sum((piece.least(bound) for piece in pieces), arb(0))
        if not found > claim.delta:
            refuse(f"an excess of {found.str(8)} is not shown to be above {text(claim.delta)}", "evidence")
    return Accepted(
        "refuted",
        f"an event is {found.str(10)} beyond what epsilon allows, more than {text(claim.delta)}",
        {"method": "excess", "excess": found.str(20)},
        lower=claim.epsilon,
    )
