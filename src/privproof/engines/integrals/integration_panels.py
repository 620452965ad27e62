"""Functions on the line that are analytic between cuts, by their values at Gauss-Legendre nodes; integrals with their errors.

A *grid* cuts the line into panels, panel k with the middle ``c_k`` and the half length ``r_k``, and has N nodes in each.  A function
is known by balls around its values at the nodes, and by a bound M on its modulus on the ellipse with foci at the ends of each panel
whose half axes sum to ``rho r_k``.  Then (all Chebyshev coefficients are at most ``2 M rho^-k``):

* the rule's integral over a panel is off by at most ``r (64/15) M rho^(-2N) / (1 - rho^-2)``;
* the integral of the interpolant from the left end to a node is off by at most ``8 r M rho^-N / (1 - 1/rho)``, since an interpolant p
  of a Chebyshev polynomial has ``integral |p| <= 2``: the rule is exact on ``p^2``;
* a running integral continues to the ellipse, whose points are within ``r (rho - 1/rho)/2`` of the panel, so that its modulus there is
  at most its largest value on the panel plus that distance times M.

Densities also carry bounds on the mass that lies beyond the grid on either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

from flint import arb, arb_mat, ctx

from privproof.engines.integrals.density_curves import LawCurve
from privproof.exact import Rational

NODES = 32
"""Nodes of a panel: with the ellipse below, errors of 10^-15 times the bound."""
RHO = 3
"""The sum of the half axes of the ellipse, in half lengths of the panel: it leaves the line by two thirds of a scale at most."""


@lru_cache(maxsize=4)
def rule(bits: int) -> tuple[tuple[arb, ...], tuple[arb, ...], arb_mat]:
    """Nodes, weights, and the matrix that integrates the interpolant from -1 to each node."""
    found = [arb.legendre_p_root(NODES, k, weight=True) for k in range(NODES)]
    found.sort(key=lambda each: float(each[0].mid()))
    nodes, weights = tuple(x for x, _ in found), tuple(w for _, w in found)
    legendre = [_legendre(x) for x in nodes]
    entries = []
    for k in range(NODES):
        for i in range(NODES):
            total = (1 + nodes[k]) / 2
            for m in range(1, NODES):
                total += legendre[i][m] * (legendre[k][m + 1] - legendre[k][m - 1]) / 2
            entries.append(weights[i] * total)
    return nodes, weights, arb_mat(NODES, NODES, entries)


def errors() -> tuple[arb, arb]:
    """The errors of a running integral and of an integral over a panel, for half length 1 and modulus 1."""
    rho = arb(RHO)
    return 8 * rho**-NODES / (1 - 1 / rho), arb(64) / 15 * rho ** (-2 * NODES) / (1 - rho**-2)


def _legendre(x: arb) -> list[arb]:
    """The Legendre polynomials up to degree N at a point."""
    values = [arb(1), x]
    for m in range(1, NODES):
        values.append(((2 * m + 1) * x * values[m] - m * values[m - 1]) / (m + 1))
    return values


@dataclass(frozen=True)
class Panel:
    """An interval between two cuts."""

    low: Rational
    high: Rational

    @cached_property
    def middle(self) -> arb:
        """Its middle."""
        return arb((self.low + self.high) / 2)

    @cached_property
    def radius(self) -> arb:
        """Half its length."""
        return arb((self.high - self.low) / 2)

    @cached_property
    def reach(self) -> tuple[arb, arb, arb]:
        """The real parts of the ellipse around it, and the largest imaginary part."""
        rho = arb(RHO)
        along, across = self.radius * (rho + 1 / rho) / 2, self.radius * (rho - 1 / rho) / 2
        return (self.middle - along).lower(), (self.middle + along).upper(), across.upper()


@dataclass(frozen=True)
class Grid:
    """Panels, one after the other."""

    panels: tuple[Panel, ...]
    bits: int = field(default_factory=lambda: int(ctx.prec))
    kept: dict[LawCurve, Analytic] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def nodes(self) -> tuple[tuple[arb, ...], ...]:
        """The nodes of every panel."""
        places = rule(self.bits)[0]
        return tuple(tuple(panel.middle + panel.radius * x for x in places) for panel in self.panels)

    @property
    def ends(self) -> tuple[Rational, Rational]:
        """Where it begins and ends."""
        return self.panels[0].low, self.panels[-1].high


@dataclass(frozen=True)
class Analytic:
    """A function that is at least 0 on the line and analytic on every panel.

    Attributes:
        values: around its values at the nodes, by panel.
        bounds: bounds on its modulus on the ellipses, by panel.
    """

    values: tuple[tuple[arb, ...], ...]
    bounds: tuple[arb, ...]

    def times(self, other: Analytic) -> Analytic:
        """The product."""
        values = tuple(
            tuple(a * b for a, b in zip(one, two, strict=True))
            for one, two in zip(self.values, other.values, strict=True)
        )
        return Analytic(values, tuple((a * b).upper() for a, b in zip(self.bounds, other.bounds, strict=True)))


@dataclass(frozen=True)
class Density:
    """A measure on the line: its density on the grid, and bounds on its mass to the left and to the right of it."""

    inside: Analytic
    left: arb
    right: arb

    def times(self, factor: Analytic) -> Density:
        """The measure with a density that is multiplied by a probability, so by at most 1 anywhere."""
        return Density(self.inside.times(factor), self.left, self.right)


def tabulate_curve(grid: Grid, curve: LawCurve) -> Analytic:
    """A curve on a grid whose cuts include its kinks; kept with the grid, since the same laws come again and again."""
    if curve not in grid.kept:
        grid.kept[curve] = _evaluate_curve(grid, curve)
    return grid.kept[curve]


def _evaluate_curve(grid: Grid, curve: LawCurve) -> Analytic:
    values, bounds = [], []
    for panel, nodes in zip(grid.panels, grid.nodes, strict=True):
        piece = curve.piece(panel.low, panel.high)
        values.append(tuple(piece.value(x) for x in nodes))
        bounds.append(piece.bound(*panel.reach).upper())
    return Analytic(tuple(values), tuple(bounds))


def _ball_up_to(top: arb) -> arb:
    """Some number from 0 to a bound."""
    half = top.upper() / 2
    return arb(half, half)


def running_integral(grid: Grid, density: Density, *, upwards: bool) -> Analytic:
    """How much of a measure lies below each point, or above it."""
    _, weights, matrix = rule(grid.bits)
    rho, count = arb(RHO), NODES
    within, whole = errors()
    across = (rho - 1 / rho) / 2
    order = range(len(grid.panels)) if upwards else range(len(grid.panels) - 1, -1, -1)
    before = _ball_up_to(density.left if upwards else density.right)
    values: list[tuple[arb, ...]] = [()] * len(grid.panels)
    bounds = [arb(0)] * len(grid.panels)
    parts = arb_mat(count, len(grid.panels), [v for row in zip(*density.inside.values, strict=True) for v in row])
    below = matrix * parts
    for k in order:
        radius, bound = grid.panels[k].radius, density.inside.bounds[k]
        mass = radius * sum((w * v for w, v in zip(weights, density.inside.values[k], strict=True)), arb(0))
        mass += arb(0, (radius * whole * bound).upper())
        error = arb(0, (radius * within * bound).upper())
        steps = [radius * below[i, k] + error for i in range(count)]
        values[k] = tuple(_at_least_zero(before + (step if upwards else mass - step)) for step in steps)
        before = _at_least_zero(before + mass)
        bounds[k] = (before.upper() + radius * across * bound).upper()
    return Analytic(tuple(values), tuple(bounds))


def total(grid: Grid, density: Density) -> arb:
    """The mass of a measure."""
    _, weights, _ = rule(grid.bits)
    _, whole = errors()
    mass = _ball_up_to(density.left) + _ball_up_to(density.right)
    for panel, values, bound in zip(grid.panels, density.inside.values, density.inside.bounds, strict=True):
        part = panel.radius * sum((w * v for w, v in zip(weights, values, strict=True)), arb(0))
        mass += part + arb(0, (panel.radius * whole * bound).upper())
    return _at_least_zero(mass)


def _at_least_zero(ball: arb) -> arb:
    """A ball around a number that is known to be at least 0: what of it lies below is cut off."""
    return ball if ball.lower() >= 0 else _ball_up_to(ball.upper() if ball.upper() > 0 else arb(0))


def cut_grid(
    low: Rational, high: Rational, cuts: Iterable[Rational], longest: Sequence[tuple[Rational, Rational]]
) -> Grid:
    """A grid from one end to another.

    Args:
        low: its beginning.
        high: its end.
        cuts: places where a panel has to end.
        longest: laws by center and scale: near a center no panel is longer than the scale.
    """
    stops = sorted({low, high, *(c for c in cuts if low < c < high)})
    panels: list[Panel] = []
    for start, end in pairwise(stops):
        waiting = [(start, end)]
        while waiting:
            one, two = waiting.pop()
            if two - one <= _longest(one, two, longest):
                panels.append(Panel(one, two))
                continue
            middle = (one + two) / 2
            waiting += [(middle, two), (one, middle)]
    return Grid(tuple(panels))


def evenly(low: Rational, high: Rational, cuts: Iterable[Rational], longest: Rational) -> Grid:
    """A grid from one end to another, between cuts in panels of equal length, none longer than a bound."""
    panels: list[Panel] = []
    for start, end in pairwise(sorted({low, high, *(c for c in cuts if low < c < high)})):
        count = int(((end - start) / longest).ceil())
        ends = [start + (end - start) * k / count for k in range(count + 1)]
        panels += [Panel(one, two) for one, two in pairwise(ends)]
    return Grid(tuple(panels))


_FAR = 9
"""Beyond so many scales a law is as good as constant, and panels may be as long as a third of the way to its center."""


def _longest(low: Rational, high: Rational, laws: Sequence[tuple[Rational, Rational]]) -> Rational:
    """How long a panel may be where it lies."""
    result = high - low
    for center, scale in laws:
        distance = max(low - center, center - high, Rational(0))
        result = min(result, max(scale, (distance - _FAR * scale) / 3))
    return result
