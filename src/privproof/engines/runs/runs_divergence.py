"""How far the likeliest event of one tree of runs is beyond what epsilon allows on another tree: enclosures, for noise of any kind.

The *excess* of two trees at epsilon is the largest ``P(E) - e^epsilon Q(E)`` over all events E: the least delta.  Events split by what is
shown besides noisy numbers:

* nothing else: ``max(0, p - e^epsilon q)``;
* numbers with noise of their own, that no test looked at (`groups`).  With Gaussian noise at a distance mu, and with the probabilities p
  and q of getting there, the excess is ``p H(mu, e)`` with ``e = epsilon + ln(q/p)`` and ``H(mu, e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2
  - e/mu)``, reached on a halfspace.  Other noise is cut into likelihoods (`likelihoods`).  Where numbers of more than one kind are
  moved, losses of at most B change no probability by more than ``e^B``: at most ``p H(mu, e - B)``.  Integers with discrete Gaussian noise
  have their losses on a lattice, and an excess of their own in the place of H;
* one number that a test looked at before it was shown, or that comes from several ways: by its densities (`numbers`).

Something that was done to noisy numbers (rounding, formatting) tells no more than the numbers do: a bound from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from flint import arb

from privproof.engines.integrals.density_curves import DensityLaw
from privproof.engines.integrals.integral_enclosures import BITS
from privproof.engines.runs.leaf_groups import Group, Spread, group_leaves, looked_at, spread_of, way_probability
from privproof.engines.runs.leaf_likelihoods import Likelihoods, likelihoods, positive, product
from privproof.engines.runs.noise_orders import in_a_circle, join_ways
from privproof.engines.runs.runs_measures import has_atoms, may_agree
from privproof.engines.runs.shown_numbers import Interval, number_laws
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.normal import normal_below
from privproof.exact.rounding import to_grid
from privproof.language.linear import Linear

if TYPE_CHECKING:
    from privproof.language.trees import TreeLeaf

_DECIMALS = 10**6
"""The end of a halfspace is rounded to so many parts of 1: the excess is flat where it is largest."""
_MOST_SHAPES = 200
"""Shapes with whole numbers in them that are compared with one another; beyond, nothing is known from below."""


@dataclass(frozen=True)
class OutcomeRegion:
    """Outcomes of one shape; where it has noisy numbers, those in a halfspace: ``sum of factors * numbers >= end``.

    Or those of which one number, the one called `part`, lies in one of some intervals.
    """

    shape: str
    text: str
    factors: tuple[Rational, ...] = ()
    end: Rational = field(default_factory=lambda: ZERO)
    part: int | None = None
    within: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class Excess:
    """The largest excess of an event, enclosed.

    Attributes:
        upper: no event has more.
        least: some event has as much.
        regions: an event, in words.
        p: its probability on the left.
        q: its probability on the right.
        followed: whether a number was followed by its densities: then the event is all that is known from below.
    """

    upper: arb
    least: arb
    regions: tuple[OutcomeRegion, ...]
    p: arb
    q: arb
    followed: bool = False

    def lower(self, bound: arb) -> arb:
        """The excess of its event, where that is largest."""
        return self.p - bound * self.q


class LeafDivergence:
    """Excesses of pairs of trees at one epsilon; what is computed for a tree is kept.

    Args:
        bound: e^epsilon.
        by_density: whether numbers that were tested, or that come from several ways, are followed by their densities.
    """

    def __init__(self, bound: arb, *, by_density: bool = False) -> None:
        self.bound = bound
        self.by_density = by_density
        self.shown: dict[int, dict[str, _Shown]] = {}

    def excess(self, left: Sequence[TreeLeaf], right: Sequence[TreeLeaf]) -> Excess:
        """The excess of two trees.

        Raises:
            LanguageError: noise is compared in ways for which there is no integral here.
        """
        upper, least, p, q = arb(0), arb(0), arb(0), arb(0)
        regions: list[OutcomeRegion] = []
        followed = False
        with precision(BITS):
            others = self._by_shape(right)
            for shape, mine in self._by_shape(left).items():
                if not mine.leaves:  # no noise leads there
                    continue
                found = self._of_shape(mine, others.get(shape, _Shown(())))
                upper, least = upper + found.upper, least + found.least
                followed = followed or found.followed
                if found.regions and found.p - self.bound * found.q > 0:
                    p, q = p + found.p, q + found.q
                    regions += found.regions
        if not told_apart(left, right):
            return Excess(upper, arb(0), (), arb(0), arb(0), followed)
        least = positive(p - self.bound * q) if followed else least
        return Excess(upper, least, tuple(regions), p, q, followed)

    def _by_shape(self, tree: Sequence[TreeLeaf]) -> dict[str, _Shown]:
        if id(tree) not in self.shown:
            leaves: dict[str, list[TreeLeaf]] = {}
            for leaf in tree:
                leaves.setdefault(leaf.outcome.shape, []).append(leaf)
            self.shown[id(tree)] = {shape: _Shown(_join_leaves(listed)) for shape, listed in leaves.items()}
        return self.shown[id(tree)]

    def _of_shape(self, mine: _Shown, others: _Shown) -> Excess:
        """The excess of outcomes of one shape."""
        if self.by_density and (mine.tested or others.tested):
            return _of_number(mine, others, self.bound)
        if len(mine.groups) == 1 and len(others.groups) <= 1:
            return _of_group(mine.groups[0], others.groups[0] if others.groups else None, self.bound)
        if self.by_density and mine.numbers == 1:
            try:
                return _of_number(mine, others, self.bound)
            except LanguageError as problem:
                if problem.code not in ("noise", "integral"):
                    raise
        return Excess(_matched_excess(mine.groups, others.groups, self.bound), arb(0), (), arb(0), arb(0))


@dataclass(frozen=True)
class _Shown:
    """The leaves of one shape."""

    leaves: tuple[TreeLeaf, ...]

    @cached_property
    def groups(self) -> list[Group]:
        """The same by their numbers."""
        return group_leaves(self.leaves)

    @cached_property
    def tested(self) -> bool:
        """Whether a test looked at a number that is shown."""
        return any(looked_at(leaf) for leaf in self.leaves)

    @cached_property
    def probability(self) -> arb:
        """How likely it is."""
        return sum((way_probability(leaf, leaf.tests) for leaf in self.leaves), arb(0))

    @property
    def numbers(self) -> int:
        """How many noisy numbers it has."""
        return len(self.leaves[0].outcome.parts)


def told_apart(left: Sequence[TreeLeaf], right: Sequence[TreeLeaf]) -> bool:
    """Whether outcomes of different shapes are different, so that what is known of one shape bounds the excess from below.

    A whole number, or one that something was done to, may be equal to what is shown elsewhere; not where everything has one shape, or where
    shapes differ in what surrounds their numbers.
    """
    if any(leaf.guesses for leaf in right):
        return False
    if not any(has_atoms(leaf) for leaf in right):
        return True
    everything = (*left, *right)
    whole = all(isinstance(part, Linear) for leaf in everything for part in leaf.outcome.parts)
    shapes = {leaf.outcome.shape for leaf in everything}
    return whole and len(shapes) <= _MOST_SHAPES and not any(may_agree(a, b) for a, b in combinations(shapes, 2))


def _join_leaves(leaves: Sequence[TreeLeaf]) -> tuple[TreeLeaf, ...]:
    """Leaves of a shape; where tests looked at its numbers, or noises are compared in a circle, as few as can be."""
    return join_ways(leaves) if any(looked_at(leaf) or in_a_circle(leaf) for leaf in leaves) else tuple(leaves)


def _of_number(mine: _Shown, others: _Shown, bound: arb) -> Excess:
    """The excess of outcomes by the densities of a number in them."""
    shape, text = mine.leaves[0].outcome.shape, mine.leaves[0].outcome.text
    opaque = any(leaf.guesses or not all(isinstance(p, Linear) for p in leaf.outcome.parts) for leaf in mine.leaves)
    if not others.leaves:
        p = mine.probability
        return Excess(p.upper(), arb(0), () if opaque else (OutcomeRegion(shape, text),), p, arb(0), followed=True)
    laws = number_laws(mine.leaves, others.leaves)
    found = laws.excess(bound)
    region = OutcomeRegion(
        shape, _interval_words(text, laws.part, found.intervals), part=laws.part, within=found.intervals
    )
    regions = (region,) if found.intervals else ()
    return Excess(found.upper, arb(0), regions, found.p, found.q, followed=True)


def _matched_excess(mine: Sequence[Group], others: Sequence[Group], bound: arb) -> arb:
    """A bound for groups that show the same around different numbers: each is compared with the one in its place."""
    if len(mine) != len(others):
        return sum((group.p.upper() for group in mine), arb(0))
    return sum((_of_group(a, b, bound).upper for a, b in zip(mine, others, strict=True)), arb(0))


def _of_group(mine: Group, other: Group | None, bound: arb) -> Excess:
    """The excess of one group on each side."""
    everything = OutcomeRegion(mine.shape, mine.text)
    if other is None:
        least = arb(0) if mine.opaque else mine.p
        return Excess(mine.p.upper(), least, () if mine.opaque else (everything,), mine.p, arb(0))
    spread = None
    if mine.shown == other.shown:
        move = tuple(a - b for a, b in zip(mine.means, other.means, strict=True))
        if not any(move):
            more = mine.p - bound * other.p
            return Excess(positive(more), positive(more), (everything,) if more > 0 else (), mine.p, other.p)
        spread = spread_of(mine.shown, move)
    if spread is None:
        return Excess(mine.p.upper(), positive(mine.p - bound * other.p), (), arb(0), arb(0))
    upper, _ = height(mine.p.upper(), other.p.lower(), bound, spread)
    least, exact = height(mine.p, other.p, bound, spread)
    least = least if exact and not mine.opaque else positive(mine.p - bound * other.p)
    halved = spread.alone or spread.stepped or (spread.square != 0 and not spread.moves and spread.lattice is None)
    region = _halfspace(mine, other, spread, bound) if halved and not mine.opaque else None
    if region is None:
        return Excess(upper.upper(), least, (), arb(0), arb(0))
    p, q = (group.p * _beyond(region, group, spread) for group in (mine, other))
    return Excess(upper.upper(), least, (region,), p, q)


def height(p: arb, q: arb, bound: arb, spread: Spread) -> tuple[arb, bool]:
    """The largest ``P(E) - bound Q(E)`` of laws that are reached with probabilities p and q, and whether it is that or only a bound.

    Numbers without ramps are cut into their cells.  What is left is one number with a ramp, or Gaussian noise: ``p H(mu, e)`` with
    ``e = ln(bound q/p)``.  Where there is more, losses of at most B change e by at most B.
    """
    laws = [likelihoods(move) for move in spread.moves]
    ramps = [law for law in laws if law.ramps]
    exact = not ramps or (len(ramps) == 1 and spread.square == 0 and spread.lattice is None)
    if spread.lattice is not None and spread.square != 0:
        raise LanguageError(
            "noise", "numbers with Gaussian and with discrete Gaussian noise are moved", hint="one kind"
        )
    total = arb(0)
    for x, y in product([law for law in laws if not law.ramps]):
        total += _height_left(p * x, q * y, bound, spread, ramps)
    return positive(total), exact


def _height_left(p: arb, q: arb, bound: arb, spread: Spread, ramps: Sequence[Likelihoods]) -> arb:
    """The same for what is left of the numbers, in one cell of the others."""
    if not p > 0 or not q > 0:  # a ball around 0 may still hold a number that counts, where the bound is large
        most = p if p >= 0 else positive(p)
        return most if q <= 0 else most.union(positive(p - bound * q.upper()))
    c = bound * q / p
    square = spread.square
    if len(ramps) == 1 and square == 0 and spread.lattice is None:
        return p * ramps[0].excess(c)
    for ramp in ramps:
        loss = ramp.loss
        if loss is None:
            return p
        c /= loss.exp()
    if spread.lattice is not None:
        return positive(p * spread.lattice.excess(c))
    if square == 0:
        return positive(p * (1 - c))
    mu, e = arb(square).sqrt(), c.log()
    return positive(p * (normal_below(mu / 2 - e / mu) - c * normal_below(-mu / 2 - e / mu)))


def _halfspace(mine: Group, other: Group, spread: Spread, bound: arb) -> OutcomeRegion | None:
    """The halfspace where the densities differ by more than epsilon allows, its end rounded."""
    if not mine.p > 0 or not other.p > 0:
        return None
    c = bound * other.p / mine.p
    if spread.lattice is not None:
        first = spread.lattice.first(c)
        if first is None:
            return None
        middle = sum((f * m for f, m in zip(spread.direction, other.means, strict=True)), ZERO)
        return OutcomeRegion(
            mine.shape, _words(mine.text, spread.direction, middle + first[1]), spread.direction, middle + first[1]
        )
    e = c.log()
    if spread.alone:
        [move] = spread.moves
        if not abs(e) < abs(move.by) / move.law[1]:
            return None
        e *= spread.variance / 2
    middle = sum((f * (a + b) for f, a, b in zip(spread.direction, mine.means, other.means, strict=True)), ZERO) / 2
    low, _ = rational_bounds(e)
    least = min(abs(f) for f in spread.direction if f != 0)
    factors = tuple(f / least for f in spread.direction)
    end = (middle + low) / least
    end = to_grid(end, up=False, parts=_DECIMALS)
    return OutcomeRegion(mine.shape, _words(mine.text, factors, end), factors, end)


def _beyond(region: OutcomeRegion, group: Group, spread: Spread) -> arb:
    """The probability of a halfspace, around the means of a group."""
    place = sum((f * m for f, m in zip(region.factors, group.means, strict=True)), ZERO)
    if spread.lattice is not None:
        return spread.lattice.above(int((region.end - place).p))
    scale = next(f / d for f, d in zip(region.factors, spread.direction, strict=True) if d != 0)
    if spread.alone:
        return DensityLaw("laplace", place, spread.variance).above(region.end)
    return normal_below(arb(place - region.end) / (arb(spread.variance).sqrt() * arb(scale)))


def _words(text: str, factors: Sequence[Rational], end: Rational) -> str:
    names = [f"y{k}" for k in range(len(factors))]
    if len(factors) == 1:
        return text.replace("*", f"{'≥' if factors[0] > 0 else '≤'}{float(end / factors[0]):.6g}")
    pieces = text.split("*")
    filled = (
        "".join(a + b for a, b in zip(pieces, [*names, ""], strict=False)) if len(pieces) == len(names) + 1 else text
    )
    shown = " + ".join(
        name if f == 1 else f"-{name}" if f == -1 else f"{float(f):.6g} {name}"
        for name, f in zip(names, factors, strict=True)
        if f != 0
    ).replace("+ -", "- ")
    return f"{filled} with {shown} ≥ {float(end):.6g}"


def _interval_words(text: str, part: int, intervals: Sequence[Interval]) -> str:
    """An outcome with a number in some intervals."""
    listed = []
    for low, high in intervals:
        if low is None:
            listed.append("any number" if high is None else f"≤{float(high):.6g}")
        else:
            listed.append(f"≥{float(low):.6g}" if high is None else f"{float(low):.6g} to {float(high):.6g}")
    where = " or ".join(listed)
    pieces = text.split("*")
    if len(pieces) <= part + 1:
        return f"{text} with its number {where}"
    return "*".join(pieces[: part + 1]) + where + "*".join(["", *pieces[part + 1 :]])[1:]


def distinct_pairs(pairs: Sequence[tuple[int, int]], places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """One pair of data sets for every pair of trees that are compared."""
    seen: set[tuple[int, int]] = set()
    for i, j in pairs:
        if (places[i], places[j]) not in seen:
            seen.add((places[i], places[j]))
            yield i, j
