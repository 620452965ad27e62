"""Claims over events where Gaussian noise is drawn, or noisy numbers are shown: bounds on ``P(E) - e^epsilon Q(E)`` in balls.

*Proof.*  What is shown on either side is (`shown`) with probability p (q) a vector ``B x + m`` (``B x + n``) of noises that no test
looked at.

* ``m = n``: at most ``max(0, p - e^epsilon q)``.
* All noise in it Gaussian, ``S = B diag(sigma^2) B'`` invertible: two normal laws at distance ``mu^2 = (m-n)' S^-1 (m-n)``, hence with
  ``e = epsilon + ln(q/p)`` exactly ``p (Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu))``.
* One number with noise of its own is moved: the integral of ``max(0, p f - e^epsilon q g)`` for its two densities (`moved`).
* Several numbers whose densities have constant ratios piece by piece: the same for all combinations of pieces, with Gaussian noise in each.
* Integers with discrete Gaussian noise are moved: their own excess in the place of the normal one (`integrals.whole`).
* Other numbers that are moved change a density by at most ``e^loss``: the above, with e less the sum of the losses.
* One number that a test looked at before, or that comes from several ways: the integral of the positive part (`numbers`).
* Anything else: at most p.

It rises in p and falls in q, so the ends of the balls are taken.  Sums over everything that is shown bound the excess of every event.

*Refutation.*  An event is a list of shapes, each whole, or a halfspace of its noisy numbers, or one of them in some intervals; its
probabilities are computed from the trees.
Shapes must be told apart: a whole number may be equal to something shown elsewhere, unless what surrounds it differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from flint import arb

from privproof_checker.events import beyond, too_likely
from privproof_checker.integrals.normal_enclosures import normal_excess, normal_share
from privproof_checker.integrals.whole import whole_excess, whole_share
from privproof_checker.numbers import ZERO, Rational
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members, text
from privproof_checker.programs.open_trees import WHOLE, Linear, Part
from privproof_checker.runs.moved import law_pairing
from privproof_checker.runs.noise_orders import ways_joined
from privproof_checker.runs.run_leaves import Ran, RunLeaf, Tree
from privproof_checker.runs.shown import (
    BITS,
    Apart,
    Observed,
    distance_between,
    observe_tree,
    pair_observations,
    probability_of,
    tests_of,
)
from privproof_checker.runs.shown_numbers import has_tested_number, number_laws, probability_within
from privproof_checker.runs.sums import may_agree

_MOST_SHAPES = 200
"""Shapes with whole numbers that are compared with one another; beyond, they are taken to agree."""
_MOST_CELLS = 200_000
"""Combinations of cells of several numbers; beyond, a certificate is refused."""


def proved_by_divergence(ran: Ran, evidence: dict[str, object]) -> Accepted:
    """Check that no event is more than delta beyond what epsilon allows."""
    only_members(evidence, ("method",), "evidence")
    claim = ran.claim
    if claim.pointwise and claim.delta != 0:
        refuse("this is evidence about events, and the delta is for each output", "evidence.method")
    if claim.epsilon.infinite:
        refuse("an infinite epsilon has no excess", "evidence.method")
    if claim.delta >= 1:
        return Accepted("proved", "no event is more than 1 beyond anything", {"method": "divergence"})
    with precision(BITS):
        bound = claim.epsilon.ball(BITS).exp()
        seen = [_Shown(tree, f"question.trees[{k}]") for k, tree in enumerate(ran.trees)]
        largest = arb(0)
        for i, j in sorted(ran.compared):
            found = _most_excess(seen[i], seen[j], bound, claim.delta)
            if not found <= claim.delta:
                refuse(
                    f"an event may be {found.upper().str(8, radius=False)} beyond what epsilon allows, more than {text(claim.delta)}",
                    "evidence",
                )
            largest = found if found > largest else largest
    pairs = len(ran.neighbours.pairs)
    return Accepted(
        "proved",
        f"on {pairs} ordered pairs of neighbours no event is more than {text(claim.delta)} beyond what epsilon allows",
        {"method": "divergence", "pairs": pairs, "runs": sum(len(tree) for tree in ran.trees)},
    )


class _Shown:
    """What a tree shows, by shape; the outcomes with a number that a test looked at stand for themselves."""

    def __init__(self, tree: Tree, place: str) -> None:
        self.place = place
        leaves: dict[str, list[RunLeaf]] = {}
        for leaf in tree:
            leaves.setdefault(leaf.shape, []).append(leaf)
        self.leaves = {shape: joined for shape, listed in leaves.items() if (joined := ways_joined(listed))}
        self.tested = {shape for shape, leaves in self.leaves.items() if any(map(has_tested_number, leaves))}
        self._seen: dict[str, Observed] = {}

    def observed(self, shape: str) -> Observed:
        """What the leaves of a shape show, none of them a number that a test looked at."""
        if shape not in self._seen:
            self._seen[shape] = observe_tree(tuple(self.leaves.get(shape, ())), self.place)
        return self._seen[shape]


def _most_excess(left: _Shown, right: _Shown, bound: arb, delta: Rational) -> arb:
    """A bound on the excess of every event; numbers from several ways are followed by their densities where it is too large without."""
    total = arb(0)
    several: dict[str, arb] = {}
    for shape, mine in left.leaves.items():
        others = right.leaves.get(shape, [])
        if shape in left.tested or shape in right.tested:
            total += _by_density(mine, others, bound, left.place)
            continue
        seen = left.observed(shape), right.observed(shape)
        found = sum((term.most(bound) for term in upper_terms(*seen)), arb(0))
        if len(mine[0].parts) == 1 and any(sum(map(len, each.values())) > 1 for each in seen):
            several[shape] = found
        total += found
    for shape, found in several.items() if not total <= delta else ():
        laws = number_laws(left.leaves[shape], right.leaves.get(shape, []))
        if laws is not None:
            total += laws.most(bound, left.place) - found
    return total


def _by_density(mine: list[RunLeaf], others: list[RunLeaf], bound: arb, place: str) -> arb:
    if not others:
        return sum((probability_of(leaf, (), place) for leaf in mine), arb(0)).upper()
    laws = number_laws(mine, others)
    if laws is None:
        refuse("a noisy number is shown that a test looked at", place)
    return laws.most(bound, place)


@dataclass(frozen=True)
class ShownTerm:
    """Something that is shown with probability p at most on the left, and q at least on the right; None for no distance that is known."""

    p: arb
    q: arb
    distance: Apart | None

    def most(self, bound: arb) -> arb:
        """A bound on the excess of every event in it."""
        if self.distance is None or not self.q > 0:
            return self.p
        found, _ = excess(self.p, self.q, bound, self.distance)
        return arb(0) if found <= 0 else found.upper()

    @property
    def key(self) -> object:
        """What the bound depends on."""
        return rational_bounds(self.p), rational_bounds(self.q), self.distance


def upper_terms(left: Observed, right: Observed) -> list[ShownTerm]:
    """What the left tree shows, with what stands in its place on the right."""
    found = []
    for mine, other in pair_observations(left, right):
        p = mine.probability.upper()
        if p > 0:
            q = arb(0) if other is None else other.probability.lower()
            found.append(ShownTerm(p, q, None if other is None else distance_between(mine, other)))
    return found


def excess(p: arb, q: arb, bound: arb, distance: Apart) -> tuple[arb, bool]:
    """The largest ``P(E) - bound Q(E)`` of two vectors that are shown with probabilities p and q, and whether it is that or a bound."""
    pairings = [law_pairing(moved, "question.trees") for moved in distance.moved]
    if distance.whole and distance.square != 0:
        return p, False
    if len(pairings) == 1 and distance.square == 0 and not distance.whole and q > 0 and p > 0:
        return p * pairings[0].excess(bound * q / p), True
    flat = [each.cells() for each in pairings]
    cost = arb(1)
    combined = [(arb(1), arb(1))]
    for each, cells in zip(pairings, flat, strict=True):
        if cells is None:
            loss = each.loss()
            if loss is None:
                return p, False
            cost *= loss.exp()
            continue
        within(len(combined) * len(cells), _MOST_CELLS, "cells", "question.trees")
        combined = [(x * a, y * b) for x, y in combined for a, b in cells]
    total = arb(0)
    for x, y in combined:
        total += _normal_excess(p * x, q * y, bound / cost, distance)
    return total, None not in flat


def _normal_excess(p: arb, q: arb, bound: arb, distance: Apart) -> arb:
    if not p > 0:
        return arb(0) if p <= 0 else arb(p.upper() / 2, p.upper() / 2)
    if not q > 0:  # a ball around 0 may still hold a number that counts, where the bound is large
        return p if q <= 0 else p.union((p - bound * q.upper()).max(arb(0)))
    if distance.whole:
        found = p * whole_excess(distance.whole, bound * q / p)
    elif distance.square == 0:
        found = p - bound * q
    else:
        mu = arb(distance.square).sqrt()
        e = (bound * q / p).log()
        found = p * normal_excess(mu, e)
    if found <= 0:
        return arb(0)
    return found if found > 0 else arb(found.upper() / 2, found.upper() / 2)


def refuted_by_region(ran: Ran, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that a list of outcomes and halfspaces is an event beyond the claim."""
    only_members(evidence, ("method", "left", "right", "regions"), "evidence")
    left, right = (an_integer(evidence.get(side), f"evidence.{side}") for side in ("left", "right"))
    if (left, right) not in ran.neighbours.pairs:
        refuse("these are no neighbours", "evidence.right")
    claim = ran.claim
    if claim.delta != 0 and claim.pointwise:
        refuse("a delta for each output is refuted by one output", "evidence.regions")
    if claim.epsilon.infinite:
        refuse("an infinite epsilon has no excess", "evidence.method")
    regions: dict[str, _Region] = {}
    for number, item in enumerate(a_list(evidence.get("regions"), "evidence.regions")):
        place = f"evidence.regions[{number}]"
        given = an_object(item, place)
        shape = a_text(given.get("shape"), place)
        if shape in regions:
            refuse("a shape is named twice", place)
        regions[shape] = _intervals(given, place, limits) if "part" in given else _halfspace(given, place, limits)
    trees = ran.trees[ran.places[left]], ran.trees[ran.places[right]]
    if not (all(_continuous(part, leaf) for tree in trees for leaf in tree for part in leaf.parts) or plain(*trees)):
        refuse("whole or opaque numbers may be shown in more than one way", "evidence.regions")
    if any(leaf.guesses for tree in trees for leaf in tree):
        refuse("something was decided by opaque numbers", "evidence.regions")
    with precision(BITS):
        p, q = (_likelihood(tree, regions) for tree in trees)
        lower = beyond(p, q, claim.epsilon, claim.delta, BITS)
    return too_likely(p, q, claim.epsilon, claim.delta, lower, told="data", method="regions")


@dataclass(frozen=True)
class _Halfspace:
    factors: tuple[Rational, ...]
    end: Rational


@dataclass(frozen=True)
class _Intervals:
    part: int
    within: tuple[tuple[Rational | None, Rational | None], ...]


_Region: TypeAlias = _Halfspace | _Intervals


def _halfspace(given: dict[str, object], place: str, limits: Limits) -> _Halfspace:
    only_members(given, ("shape", "factors", "end"), place)
    factors = tuple(a_number(each, place, limits) for each in a_list(given.get("factors"), place))
    return _Halfspace(factors, a_number(given.get("end"), place, limits))


def _intervals(given: dict[str, object], place: str, limits: Limits) -> _Intervals:
    """Intervals that do not overlap, in order."""
    only_members(given, ("shape", "part", "within"), place)
    found: list[tuple[Rational | None, Rational | None]] = []
    for item in a_list(given.get("within"), place):
        ends = [None if end is None else a_number(end, place, limits) for end in a_list(item, place)]
        if len(ends) != 2:
            refuse("expected two ends, or null for none", place)
        low, high = ends
        before = found[-1][1] if found else None
        if (found and (before is None or low is None or low < before)) or (
            low is not None and high is not None and low >= high
        ):
            refuse("intervals follow one another", place)
        found.append((low, high))
    return _Intervals(an_integer(given.get("part"), place), tuple(found))


def _likelihood(tree: Tree, regions: dict[str, _Region]) -> arb:
    """The probability of an event on a tree."""
    total = arb(0)
    for number, leaf in enumerate(tree):
        place = f"leaf {number}"
        if leaf.shape not in regions:
            continue
        region = regions[leaf.shape]
        if isinstance(region, _Intervals):
            if not 0 <= region.part < len(leaf.parts):
                refuse("an outcome has no such number", "evidence.regions")
            total += sum((probability_within(leaf, region.part, ends, place) for ends in region.within), arb(0))
            continue
        factors, end = region.factors, region.end
        if not factors:
            total += probability_of(leaf, (), place)
            continue
        if len(factors) != len(leaf.parts):
            refuse("a halfspace has a factor for every noisy number", "evidence.regions")
        sum_of: dict[int, Rational] = {}
        constant = -end
        for factor, part in zip(factors, leaf.parts, strict=True):
            assert isinstance(part, Linear)
            constant += factor * part.constant
            for j, c in part.factors:
                sum_of[j] = sum_of.get(j, ZERO) + factor * c
        kept = {j: c for j, c in sum_of.items() if c != 0}
        tests = leaf.conditions[: tests_of(leaf)]
        if any(j in kept for t in tests for j, _ in t.factors):
            refuse("a halfspace is of numbers that no test looked at", "evidence.regions")
        if len(kept) == 1 and all(leaf.noises[j][0] == "laplace" for j in kept):
            [(j, c)] = kept.items()
            away = arb(constant / (abs(c) * leaf.noises[j][1]))  # the noise is symmetric: it is above -away
            tail = (-abs(away)).exp() / 2
            total += probability_of(leaf, (), place) * (1 - tail if constant > 0 else tail)
            continue
        if kept and all(leaf.noises[j][0] == "discrete_gaussian" for j in kept):
            share = whole_share([(leaf.noises[j][1], c) for j, c in kept.items()], constant)
            total += probability_of(leaf, (), place) * share
            continue
        if any(leaf.noises[j][0] != "gaussian" for j in kept):
            refuse("a halfspace is of numbers with Gaussian noise, or of one with Laplace noise", "evidence.regions")
        variance = sum((c * c * leaf.noises[j][1] ** 2 for j, c in kept.items()), ZERO)
        if variance == 0:
            refuse("a halfspace without noise", "evidence.regions")
        total += probability_of(leaf, (), place) * normal_share(arb(constant) / arb(variance).sqrt())
    return total


def plain(left: Tree, right: Tree) -> bool:
    """Whether nothing was done to the noisy numbers of two trees, and no two shapes can be shown by one value."""
    leaves = (*left, *right)
    shapes = {leaf.shape for leaf in leaves}
    if len(shapes) > _MOST_SHAPES or any(not isinstance(part, Linear) for leaf in leaves for part in leaf.parts):
        return False
    return not any(may_agree(one, other) for one, other in combinations(shapes, 2))


def _continuous(part: Part, leaf: RunLeaf) -> bool:
    """Whether a noisy number takes every value with probability 0."""
    return isinstance(part, Linear) and any(leaf.noises[j][0] not in WHOLE for j, _ in part.factors)
