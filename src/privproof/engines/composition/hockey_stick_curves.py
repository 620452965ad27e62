"""Hockey-stick curves of mechanisms: from the runs of a function, from points that are proved, and on samples of the data.

**Points.**  The largest curve over all neighbours, both ways, is convex, and ``H(c) = 1 - c + c H(1/c)``.  So chords through (0,
1), through what is proved, ``(e^e, delta)``, and through the mirror images ``(e^-e, 1 - e^-e (1 - delta))`` lie above it, and
beyond the last point its delta.  One point (e^epsilon, 0) gives the curve of randomised response.

**Samples.**  Let P be the law with the record in question and Q the law without it, for any rest of the sample, and p the
probability that the record is sampled.  What is compared are mixtures over the rest of ``(1-p) Q + p P`` and Q, and H is jointly
convex, so it is enough to bound it for each rest (Balle, Barthe and Gaboardi 2018; Zhu, Dong and Wang 2022):

* ``H((1-p)Q + pP, Q; c) = p H(P, Q; (c - 1 + p)/p)`` where ``c > 1 - p``, and ``1 - c`` below;
* ``H(Q, (1-p)Q + pP; c) = a H(Q, P; cp/a)`` with ``a = 1 - c(1-p)`` where that is positive, and 0 otherwise.

Uses on the same two data sets all go the same way, so each way is composed by itself, and the larger delta counts.  Without
replacement, one record being changed, the first formula holds for ``c >= 1`` with the largest curve both ways, and its mirror image
for ``c < 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from flint import arb

from privproof.engines.composition.loss_lattices import HockeyStick
from privproof.engines.divergences.divergence_parts import ComparedTrees, DivergencePart
from privproof.engines.runs.runs_divergence import LeafDivergence
from privproof.exact import ZERO, Epsilon, Rational
from privproof.exact.balls import rational_bounds
from privproof.exact.normal import normal_excess

if TYPE_CHECKING:
    from privproof.language.trees import TreeLeaf


def common_loss(parts: Sequence[DivergencePart] | None) -> Rational | None:
    """A number of which all losses are multiples, where only discrete Gaussian noise tells the sides apart; None where others may be.

    An integer x with variance v that is moved by an integer d has the loss ``d (2x - d)/(2v)``.
    """
    unit = ZERO
    for part in parts or ():
        spread = part.spread
        if not part.level or (spread is not None and (spread.square != 0 or spread.moves)):
            return None
        for variance, by in () if spread is None or spread.lattice is None else spread.lattice.moves:
            unit = common_divisor(unit, abs(by) / (2 * variance))
    return unit if unit != 0 else None


def common_divisor(one: Rational, other: Rational) -> Rational:
    """The largest number of which two are whole multiples; 0 is one of everything."""
    below = int(one.q) * int(other.q)
    return Rational(gcd(int(one.p) * int(other.q), int(other.p) * int(one.q)), below)


def alike(parts: Sequence[DivergencePart] | None) -> tuple[object, ...] | None:
    """What the curve of parts depends on: two pairs of trees for which it is the same have the same curve."""
    if parts is None:
        return None
    found = []
    for part in parts:
        spread = None if part.spread is None else (part.spread.square, part.spread.moves, part.spread.lattice)
        found.append((rational_bounds(part.p), rational_bounds(part.q), spread))
    return tuple(found)


def pair_above(pair: ComparedTrees, trees: tuple[Sequence[TreeLeaf], Sequence[TreeLeaf]]) -> HockeyStick:
    """An upper bound of the curve of two trees."""
    parts = pair.above
    if parts is None:
        return lambda c: LeafDivergence(c).excess(*trees).upper
    return lambda c: sum((part.excess(c)[0] for part in parts), arb(0))


def pair_enclosed(pair: ComparedTrees) -> HockeyStick:
    """The curve of what of two trees is known to be seen, enclosed: of numbers with noise of several kinds, only that they came."""
    parts = [part if part.excess(arb(1))[1] else DivergencePart(part.p, part.q) for part in pair.below]
    return lambda c: sum((part.excess(c)[0] for part in parts), arb(0))


def certain_mass(pair: ComparedTrees) -> arb:
    """What is possible on the left and impossible on the right, at least."""
    return sum((part.p.lower() for part in pair.below if part.q.is_zero()), arb(0))


def largest(curves: Sequence[HockeyStick]) -> HockeyStick:
    """An upper bound of several curves."""

    def bound(c: arb) -> arb:
        most = arb(0)
        for curve in curves:
            most = most.max(curve(c).upper())
        return most

    return bound


def through_points(points: Sequence[tuple[Epsilon, Rational]], bits: int) -> HockeyStick:
    """An upper bound through points that are proved, by rising epsilon."""
    seen = [(epsilon.ball(bits).exp(), arb(delta)) for epsilon, delta in points]
    mirrored = [(1 / c, 1 - (1 - delta) / c) for c, delta in reversed(seen)]
    corners = [(arb(0), arb(1)), *(each for each in mirrored if each[0] < 1), *seen]

    def bound(c: arb) -> arb:
        for (low, before), (high, after) in pairwise(corners):
            if not c > high:
                return before + (after - before) * (c - low) / (high - low) if c >= low else before
        return corners[-1][1]

    return bound


def gaussian(mu: Epsilon, bits: int) -> HockeyStick:
    """The curve of Gaussian differential privacy."""
    distance = mu.ball(bits)
    return lambda c: normal_excess(distance, c.log())


def sampled_first(curve: HockeyStick, rate: Rational) -> HockeyStick:
    """The curve of a Poisson sample of data with the record against one of data without it, from the curve in that order."""

    def sampled(c: arb) -> arb:
        p = arb(rate)
        inner = (c - 1 + p) / p
        if inner > 0:
            return p * curve(inner)
        return 1 - c if inner <= 0 else (1 - c).union(p)

    return curve if rate == 1 else sampled


def sampled_second(curve: HockeyStick, rate: Rational) -> HockeyStick:
    """The curve of a Poisson sample of data without the record against one of data with it, from the curve in that order."""

    def sampled(c: arb) -> arb:
        p = arb(rate)
        share = 1 - c * (1 - p)
        if share > 0:
            return share * curve(c * p / share)
        return arb(0) if share <= 0 else arb(0).union(share.upper())

    return curve if rate == 1 else sampled


def without_replacement(curve: HockeyStick, rate: Rational) -> HockeyStick:
    """An upper bound for samples without replacement, from one for all neighbours both ways."""

    def beyond_one(c: arb) -> arb:
        share = arb(rate)
        return share * curve(1 + (c - 1) / share)

    return lambda c: 1 - c + c * beyond_one(1 / c) if c < 1 else beyond_one(c)
