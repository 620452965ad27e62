"""Two trees of runs as pairs of laws: the parts of what is shown, each with its probability on both sides and how its numbers are moved.

Two lists of parts are kept.  Those from *above* tell an observer at least as much as what is shown (which of several groups a number comes
from, the numbers behind a rounded one); those from *below* tell at most as much (of outcomes that are not understood, only that they
came).  By data processing every divergence lies between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flint import arb

from privproof.engines.integrals.discrete_normal import Lattice
from privproof.engines.integrals.integral_enclosures import BITS
from privproof.engines.runs.leaf_groups import Group, Spread, groups_by_shape, spread_of
from privproof.engines.runs.leaf_likelihoods import Likelihoods, likelihoods, positive
from privproof.engines.runs.runs_divergence import distinct_pairs, height, told_apart
from privproof.engines.search_monitor import Monitor
from privproof.exact import ZERO, Rational
from privproof.exact.balls import precision

if TYPE_CHECKING:
    from privproof.compiling.runs import Runs
    from privproof.language.trees import TreeLeaf

_LAWS = 192
"""The precision of the likelihoods of noise: above that of divergences."""


@dataclass(frozen=True)
class DivergencePart:
    """Something that is shown with probabilities p and q, and numbers in it that are moved.

    Attributes:
        p: the probability on the left.
        q: the probability on the right.
        spread: how the numbers in it are moved; None where none is.
        level: whether p and q are known to be the same fraction.
    """

    p: arb
    q: arb
    spread: Spread | None = None
    level: bool = False

    @property
    def rate(self) -> Rational:
        """What its continuous Gaussian noise adds to a Rényi divergence, for each unit of the order."""
        return ZERO if self.spread is None else self.spread.square / 2

    @property
    def lattice(self) -> Lattice | None:
        """Its integers with discrete Gaussian noise."""
        return None if self.spread is None else self.spread.lattice

    @property
    def slope(self) -> Rational:
        """What all its Gaussian noise adds at most; discrete noise as much at integer orders."""
        return self.rate if self.lattice is None else self.rate + self.lattice.square / 2

    @cached_property
    def laws(self) -> tuple[Likelihoods, ...]:
        """The other numbers that are moved, as precisely as anything is computed from them."""
        with precision(_LAWS):
            return () if self.spread is None else tuple(likelihoods(move) for move in self.spread.moves)

    @property
    def even(self) -> bool:
        """Whether nothing but Gaussian noise, continuous or discrete, tells the sides apart."""
        return self.level and not self.laws

    @property
    def certain(self) -> bool:
        """Whether something in it is possible on the left and impossible on the right."""
        if not self.p > 0:
            return False
        return self.q.is_zero() or any(p > 0 and q.is_zero() for law in self.laws for p, q in law.cells)

    @property
    def loss(self) -> arb | None:
        """The largest loss apart from Gaussian noise; None where it is infinite, or may be."""
        if not (self.p > 0 and self.q > 0):
            return None
        total = arb(0) if self.level else (self.p / self.q).log()
        for law in self.laws:
            if law.loss is None:
                return None
            total += law.loss
        return total

    def excess(self, bound: arb) -> tuple[arb, bool]:
        """The largest excess of an event, and whether it is that or only a bound."""
        if self.spread is None:
            return positive(self.p - bound * self.q), True
        return height(self.p, self.q, bound, self.spread)


@dataclass(frozen=True)
class ComparedTrees:
    """Two trees that are compared.

    Attributes:
        left: the number of a data set with the first.
        right: the number of a data set with the second.
        above: the parts from above; None where some part is impossible on the right, or may be.
        below: the parts from below; empty where nothing is known.
    """

    left: int
    right: int
    above: tuple[DivergencePart, ...] | None
    below: tuple[DivergencePart, ...]


def compare_runs(runs: Runs, places: Sequence[int], monitor: Monitor, bits: int = BITS) -> list[ComparedTrees]:
    """All neighbours with different laws, in both orders; `places`: for every data set the number of its tree."""
    ordered = [pair for i, j in runs.pairs for pair in ((i, j), (j, i))]
    found = []
    for i, j in distinct_pairs(ordered, places):
        monitor.pause()
        found.append(_compare_trees(i, j, (runs.trees[i], runs.trees[j]), bits))
    return found


def _compare_trees(
    left: int, right: int, trees: tuple[Sequence[TreeLeaf], Sequence[TreeLeaf]], bits: int
) -> ComparedTrees:
    """The parts of two trees, their probabilities in balls of so many bits.

    Raises:
        LanguageError: noise is compared in ways for which there is no integral here, or shown after it was compared.
    """
    with precision(bits):
        one, two = (groups_by_shape(tree) for tree in trees)
        above: list[DivergencePart] = []
        below: list[DivergencePart] = []
        bounded = True
        for shape, mine in one.items():
            others = two.get(shape, [])
            exact = len(mine) == len(others) == 1
            matched = list(zip(mine, others, strict=True)) if len(mine) == len(others) else []
            for a, b in matched:
                part = _part(a, b)
                if part is None:
                    bounded = exact = False
                    continue
                above.append(part)
                exact = exact and not a.opaque
            bounded = bounded and bool(matched)
            p, q = (sum((g.p for g in side), arb(0)) for side in (mine, others))
            below.append(above[-1] if exact else DivergencePart(p, q))
        rest = [sum((g.p for g in groups), arb(0)) for shape, groups in two.items() if shape not in one]
        below += [DivergencePart(arb(0), q) for q in rest]
        seen = tuple(below) if told_apart(*trees) else ()
        return ComparedTrees(left, right, tuple(above) if bounded else None, seen)


def _part(mine: Group, other: Group) -> DivergencePart | None:
    """Two groups as a part; None where no noise makes up for what differs."""
    if mine.shown != other.shown:
        return None
    move = tuple(a - b for a, b in zip(mine.means, other.means, strict=True))
    level = mine.weight is not None and mine.weight == other.weight
    if not any(move):
        return DivergencePart(mine.p, other.p, None, level)
    spread = spread_of(mine.shown, move)
    return None if spread is None else DivergencePart(mine.p, other.p, spread, level)
