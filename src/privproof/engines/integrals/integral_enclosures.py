"""Rigorous enclosures of probabilities of comparisons between independent noises, Gaussian noise among them.

Conditions that compare two noises are the edges of a graph.  Where the graph is a forest, nothing is integrated inside something
else: every noise gets a coordinate in which all comparisons with its neighbours are plain (``y_i <= y_j``), and sends its neighbour
on the way to the root the probability that it and everything behind it agree, as a function of the neighbour's value.  That is a
distribution function, or a running integral (`panels`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from flint import arb

from privproof.engines.integrals.density_curves import DensityLaw, Kind, LawCurve
from privproof.engines.integrals.integration_panels import (
    Analytic,
    Density,
    Grid,
    cut_grid,
    running_integral,
    tabulate_curve,
    total,
)
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.balls import precision
from privproof.models.graph_algorithms import group_numbers

BITS = 96
"""The precision of balls: rounding stays far below the errors of quadrature."""
_REACH = {"gaussian": 9, "laplace": 42, "exponential": 42}
"""A grid reaches so many scales beyond a center: what lies beyond has a mass below 10^-18."""

Noise: TypeAlias = tuple[Kind, Rational]
"""Noise around 0: its kind and its scale."""


@dataclass(frozen=True)
class FormCondition:
    """That a linear form in noises, by number, is at least 0."""

    factors: Mapping[int, Rational]
    constant: Rational


@dataclass
class NoiseInterval:
    """From one end to another; None for no end."""

    low: Rational | None = None
    high: Rational | None = None

    def above(self, value: Rational) -> None:
        """Leave out what is below a number."""
        self.low = value if self.low is None else max(self.low, value)

    def below(self, value: Rational) -> None:
        """Leave out what is above a number."""
        self.high = value if self.high is None else min(self.high, value)

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return self.low is not None and self.high is not None and self.low >= self.high

    @property
    def open(self) -> bool:
        """Whether it has no end."""
        return self.low is None and self.high is None

    def moved(self, factor: Rational, constant: Rational) -> NoiseInterval:
        """The interval of ``factor x + constant``."""
        ends = [None if end is None else factor * end + constant for end in (self.low, self.high)]
        return NoiseInterval(*(ends if factor > 0 else reversed(ends)))


@dataclass
class IntegralNode:
    """A noise in its coordinate ``factor x + constant``; `offsets` from its parent's value bound it."""

    law: DensityLaw
    interval: NoiseInterval
    offsets: NoiseInterval = field(default_factory=NoiseInterval)
    children: list[IntegralNode] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        """Whether nothing but its parent bounds it."""
        return not self.children and self.interval.open


def probability(noises: Sequence[Noise], conditions: Iterable[FormCondition]) -> arb:
    """The probability that all conditions hold.

    Raises:
        LanguageError: more than two noises are compared at once, or comparisons form a cycle.

    >>> from privproof.exact import rational
    >>> two = [("gaussian", rational(1)), ("laplace", rational(3))]
    >>> found = probability(two, [FormCondition({0: rational(1), 1: rational(-1)}, rational(0))])
    >>> abs(found - 0.5) < 1e-12
    True
    """
    with precision(BITS):
        graph = ZoneGraph(noises)
        for condition in conditions:
            graph.add(condition)
        return graph.probability()


class ZoneGraph:
    """Conditions on noises: ends of each by itself, and comparisons of two."""

    def __init__(self, noises: Sequence[Noise]) -> None:
        self.noises = noises
        self.intervals = [NoiseInterval() for _ in noises]
        self.edges: dict[tuple[int, int], list[FormCondition]] = {}
        self.possible = True

    def add(self, condition: FormCondition) -> None:
        """Add a condition."""
        factors = {atom: factor for atom, factor in condition.factors.items() if factor != 0}
        if not factors:
            self.possible = self.possible and condition.constant >= 0
        elif len(factors) == 1:
            [(atom, factor)] = factors.items()
            bound = -condition.constant / factor
            if factor > 0:
                self.intervals[atom].above(bound)
            else:
                self.intervals[atom].below(bound)
        elif len(factors) == 2:
            first, second = sorted(factors)
            self.edges.setdefault((first, second), []).append(condition)
        else:
            _refuse(f"{len(factors)} noises are compared at once, Gaussian noise among them or beside them")

    def probability(self) -> arb:
        """The product over the trees of the forest."""
        if not self.possible or any(each.empty for each in self.intervals):
            return arb(0)
        result = arb(1)
        for members in self._trees():
            if len(members) == 1:
                [atom] = members
                law = DensityLaw(self.noises[atom][0], ZERO, self.noises[atom][1])
                result *= interval_mass(law, self.intervals[atom])
            else:
                degree = {atom: sum(atom in edge for edge in self.edges) for atom in members}
                result *= tree_integral(self.tree(max(members, key=lambda atom: degree[atom])))
        return result

    def _trees(self) -> list[list[int]]:
        """The connected noises."""
        groups = group_numbers([*([atom] for atom in range(len(self.noises))), *self.edges])
        found: list[list[int]] = [[] for _ in range(len(set(groups.values())))]
        for atom, number in groups.items():
            found[number].append(atom)
        if len(self.edges) != len(self.noises) - len(found):
            _refuse("comparisons of noises form a cycle, Gaussian noise among them or beside them")
        return found

    def refuse_cycles(self) -> None:
        """Refuse comparisons that are no forest."""
        self._trees()

    def tree(self, root: int, factor: Rational = ONE, constant: Rational = ZERO) -> IntegralNode:
        """The noises that are connected with one, in the coordinate ``factor x + constant`` of that; it has no cycle."""
        kind, scale = self.noises[root]
        law = DensityLaw(kind, constant, abs(factor) * scale, turned=factor < 0)
        node = IntegralNode(law, self.intervals[root].moved(factor, constant))
        waiting = [(root, -1, node, factor, constant)]
        while waiting:
            atom, parent, here, factor, constant = waiting.pop()
            for edge, conditions in self.edges.items():
                if atom not in edge or parent in edge:
                    continue
                other = edge[0] if edge[1] == atom else edge[1]
                child, scale, offset = self._child(other, atom, conditions, factor, constant)
                here.children.append(child)
                waiting.append((other, atom, child, scale, offset))
        return node

    def _child(
        self, child: int, parent: int, conditions: Sequence[FormCondition], factor: Rational, constant: Rational
    ) -> tuple[IntegralNode, Rational, Rational]:
        """A child in a coordinate in which it is compared with the parent's ``factor x + constant`` itself."""
        first = conditions[0]
        slope = first.factors[parent] / factor
        scale = -first.factors[child] / slope
        offset = constant - first.constant / slope
        kind, spread = self.noises[child]
        law = DensityLaw(kind, offset, abs(scale) * spread, turned=scale < 0)
        node = IntegralNode(law, self.intervals[child].moved(scale, offset))
        for condition in conditions:
            along = condition.factors[parent] / factor
            if condition.factors[child] / along != first.factors[child] / slope:
                _refuse("two noises are compared in two ways that are not parallel")
            # along * (value of the parent - value of the child + gap) >= 0
            gap = condition.constant / along - first.constant / slope
            if along > 0:
                node.offsets.below(gap)
            else:
                node.offsets.above(gap)
        return node, scale, offset


def interval_mass(law: DensityLaw, interval: NoiseInterval) -> arb:
    """The probability of an interval."""
    if interval.low is None:
        return arb(1) if interval.high is None else law.below(interval.high)
    if interval.high is None:
        return law.above(interval.low)
    if interval.low >= law.center:
        return law.above(interval.low) - law.above(interval.high)
    return law.below(interval.high) - law.below(interval.low)


def tree_integral(root: IntegralNode) -> arb:
    """The probability that a noise and everything behind it agree."""
    if any(node.offsets.empty for node in all_nodes(root)):  # two comparisons of the same noises contradict one another
        return arb(0)
    if root.offsets.low is not None or root.offsets.high is not None:
        raise AssertionError("a root has no parent")
    grid = tree_grid(root)
    return total(grid, node_density(grid, root))


def tree_grid(root: IntegralNode) -> Grid:
    """A grid for the values of a root and of all noises behind it."""
    nodes = list(all_nodes(root))
    laws = [node.law for node in nodes]
    inner = [node.law for node in nodes if node.children or not node.plain or node is root]
    low = min(law.center - _REACH[law.kind] * law.scale for law in inner)
    high = max(law.center + _REACH[law.kind] * law.scale for law in inner)
    cuts = [kink for law in laws for kink in law.kinks]
    for node in nodes:
        cuts += [end for end in (node.interval.low, node.interval.high) if end is not None]
        ends = [end for end in (node.offsets.low, node.offsets.high) if end]
        cuts += [kink - end for kink in node.law.kinks for end in ends]
    shifts = [end for node in nodes for end in (node.offsets.low, node.offsets.high) if end]
    near = [(law.center - by, law.scale) for law in laws for by in (ZERO, *shifts)]
    return cut_grid(low, high, cuts, near)


def all_nodes(node: IntegralNode) -> Iterable[IntegralNode]:
    """A noise and everything behind it."""
    yield node
    for child in node.children:
        yield from all_nodes(child)


def node_density(grid: Grid, node: IntegralNode) -> Density:
    """The measure of a noise, where it and everything behind it agree."""
    inside = tabulate_curve(grid, LawCurve(node.law, "density"))
    left, right = node.law.beyond(*grid.ends)
    low, high = node.interval.low, node.interval.high
    if not node.interval.open:
        zero = (arb(0),) * len(inside.values[0])
        kept = [(low is None or p.low >= low) and (high is None or p.high <= high) for p in grid.panels]
        inside = Analytic(
            tuple(v if k else zero for v, k in zip(inside.values, kept, strict=True)),
            tuple(b if k else arb(0) for b, k in zip(inside.bounds, kept, strict=True)),
        )
        left = arb(0) if low is not None and low >= grid.ends[0] else left
        right = arb(0) if high is not None and high <= grid.ends[1] else right
    result = Density(inside, left, right)
    for child in node.children:
        result = result.times(_kernel(grid, child))
    return result


def _kernel(grid: Grid, node: IntegralNode) -> Analytic:
    """The probability that a noise, and everything behind it, agrees with each value of its parent."""
    low, high = node.offsets.low, node.offsets.high
    if node.plain:
        below = None if high is None else tabulate_curve(grid, LawCurve(_shift_law(node.law, high), "below"))
        if low is None:
            assert below is not None
            return below
        if below is None:
            return tabulate_curve(grid, LawCurve(_shift_law(node.law, low), "above"))
        return _difference(below, tabulate_curve(grid, LawCurve(_shift_law(node.law, low), "below")))
    if (low or ZERO) != 0 or (high or ZERO) != 0 or (low is not None and high is not None):
        _refuse("two noises are compared twice, and one of them with others, too")
    return running_integral(grid, node_density(grid, node), upwards=high is not None)


def _shift_law(law: DensityLaw, by: Rational) -> DensityLaw:
    """The law, seen from a parent's value to which an offset is added."""
    return DensityLaw(law.kind, law.center - by, law.scale, law.turned)


def _difference(one: Analytic, other: Analytic) -> Analytic:
    values = tuple(
        tuple(a - b for a, b in zip(x, y, strict=True)) for x, y in zip(one.values, other.values, strict=True)
    )
    return Analytic(values, tuple((a + b).upper() for a, b in zip(one.bounds, other.bounds, strict=True)))


def _refuse(what: str) -> NoReturn:
    raise LanguageError("integral", what, hint="a smaller size, or comparisons of two noises at a time")
