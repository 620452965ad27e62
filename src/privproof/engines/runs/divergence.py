"""How far the likeliest event of one tree of runs is beyond what epsilon allows on another tree: enclosures, for noise of any kind.

The *excess* of two trees at epsilon is the largest ``P(E) - e^epsilon Q(E)`` over all events E: the least delta.  Events split by what is
shown besides noisy numbers:

* nothing else: ``max(0, p - e^epsilon q)``;
* numbers with noise of their own, that no test looked at (`groups`).  With Gaussian noise at a distance mu, and with the probabilities p
  and q of getting there, the excess is ``p H(mu, e)`` with ``e = epsilon + ln(q/p)`` and ``H(mu, e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2
  - e/mu)``, reached on a halfspace.  Other noise is cut into likelihoods (`likelihoods`).  Where numbers of more than one kind are
  moved, losses of at most B change no probability by more than ``e^B``: at most ``p H(mu, e - B)``.  Integers with discrete Gaussian noise
  have their losses on a lattice, and an excess of their own in the place of H.

Something that was done to noisy numbers (rounding, formatting) tells no more than the numbers do: a bound from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from flint import arb

from privproof.engines.integrals.curves import Law
from privproof.engines.integrals.enclosures import BITS
from privproof.engines.runs.groups import Group, Spread, grouped, spread_of
from privproof.engines.runs.likelihoods import Likelihoods, likelihoods, positive, product
from privproof.engines.runs.measures import has_atoms, may_agree
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.normal import normal_below
from privproof.language.linear import Linear
from privproof.language.trees import Leaf

_DECIMALS = 10**6
"""The end of a halfspace is rounded to so many parts of 1: the excess is flat where it is largest."""
_MOST_SHAPES = 200
"""Shapes with whole numbers in them that are compared with one another; beyond, nothing is known from below."""


@dataclass(frozen=True)
class Region:
    """Outcomes of one shape; where it has noisy numbers, those in a halfspace: ``sum of factors * numbers >= end``."""

    shape: str
    text: str
    factors: tuple[Rational, ...] = ()
    end: Rational = field(default_factory=lambda: ZERO)


@dataclass(frozen=True)
class Excess:
    """The largest excess of an event, enclosed.

    Attributes:
        upper: no event has more.
        least: some event has as much.
        regions: an event, in words.
        p: its probability on the left.
        q: its probability on the right.
    """

    upper: arb
    least: arb
    regions: tuple[Region, ...]
    p: arb
    q: arb

    def lower(self, bound: arb) -> arb:
        """The excess of its event, where that is largest."""
        return self.p - bound * self.q


class Divergence:
    """Excesses of pairs of trees at one epsilon; what is computed for a tree is kept."""

    def __init__(self, bound: arb) -> None:
        self.bound = bound
        self.groups: dict[int, dict[str, list[Group]]] = {}

    def excess(self, left: Sequence[Leaf], right: Sequence[Leaf]) -> Excess:
        """The excess of two trees.

        Raises:
            LanguageError: noise is compared in ways for which there is no integral here.
        """
        with precision(BITS):
            found = self._excess(self._grouped(left), self._grouped(right))
        if not told_apart(left, right):
            return Excess(found.upper, arb(0), (), arb(0), arb(0))
        return found

    def _grouped(self, tree: Sequence[Leaf]) -> dict[str, list[Group]]:
        if id(tree) not in self.groups:
            self.groups[id(tree)] = grouped(tree)
        return self.groups[id(tree)]

    def _excess(self, left: dict[str, list[Group]], right: dict[str, list[Group]]) -> Excess:
        upper, least, p, q = arb(0), arb(0), arb(0), arb(0)
        regions: list[Region] = []
        for shape, mine in left.items():
            others = right.get(shape, [])
            if len(mine) == 1 and len(others) <= 1:
                found = _of_group(mine[0], others[0] if others else None, self.bound)
                upper, least = upper + found.upper, least + found.least
                if found.regions and found.p - self.bound * found.q > 0:
                    p, q = p + found.p, q + found.q
                    regions += found.regions
            else:
                upper += _matched(mine, others, self.bound)
        return Excess(upper, least, tuple(regions), p, q)


def told_apart(left: Sequence[Leaf], right: Sequence[Leaf]) -> bool:
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


# ---------------------------------------------------------------------------------------------------------- excesses


def _matched(mine: Sequence[Group], others: Sequence[Group], bound: arb) -> arb:
    """A bound for groups that show the same around different numbers: each is compared with the one in its place."""
    if len(mine) != len(others):
        return sum((group.p.upper() for group in mine), arb(0))
    return sum((_of_group(a, b, bound).upper for a, b in zip(mine, others, strict=True)), arb(0))


def _of_group(mine: Group, other: Group | None, bound: arb) -> Excess:
    """The excess of one group on each side."""
    everything = Region(mine.shape, mine.text)
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


def _halfspace(mine: Group, other: Group, spread: Spread, bound: arb) -> Region | None:
    """The halfspace where the densities differ by more than epsilon allows, its end rounded."""
    if not mine.p > 0 or not other.p > 0:
        return None
    c = bound * other.p / mine.p
    if spread.lattice is not None:
        first = spread.lattice.first(c)
        if first is None:
            return None
        middle = sum((f * m for f, m in zip(spread.direction, other.means, strict=True)), ZERO)
        return Region(
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
    end = Rational(int((end * _DECIMALS).floor()), _DECIMALS)
    return Region(mine.shape, _words(mine.text, factors, end), factors, end)


def _beyond(region: Region, group: Group, spread: Spread) -> arb:
    """The probability of a halfspace, around the means of a group."""
    place = sum((f * m for f, m in zip(region.factors, group.means, strict=True)), ZERO)
    if spread.lattice is not None:
        return spread.lattice.above(int((region.end - place).p))
    scale = next(f / d for f, d in zip(region.factors, spread.direction, strict=True) if d != 0)
    if spread.alone:
        return Law("laplace", place, spread.variance).above(region.end)
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


def distinct_pairs(pairs: Sequence[tuple[int, int]], places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """One pair of data sets for every pair of trees that are compared."""
    seen: set[tuple[int, int]] = set()
    for i, j in pairs:
        if (places[i], places[j]) not in seen:
            seen.add((places[i], places[j]))
            yield i, j
