"""The density of the sum of two noises, such as the gap between the best of several values and the next: an integral at every point.

Let the number be ``y = v - t`` with Gaussian noise v that nothing but t is compared with, and only by bounds on y.  With the density
W of t, where everything else that t is compared with agrees,

    f(y) = integral of W(t) f_v(y + t) dt   for y between its bounds.

W is computed at the nodes of a grid once (`panels`); its product with f_v, which is entire, is integrated for any y, an interval of
them among them: the rule is off by at most ``r (64/15) M rho^(-2N)/(1 - rho^-2)`` on a panel, and ``|f_v|`` is at most ``phi(0)
e^(u^2/2)/s`` at a distance of ``u s`` from the line; its derivative at most ``(1 + u)`` times that over s, since ``x e^(-x^2/2) < 1``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import arb

from privproof.engines.integrals.density_curves import DensityLaw
from privproof.engines.integrals.integral_enclosures import (
    FormCondition,
    Noise,
    NoiseInterval,
    ZoneGraph,
    all_nodes,
    node_density,
    probability,
    tree_grid,
)
from privproof.engines.integrals.integration_panels import Analytic, Grid, errors, evenly, rule
from privproof.engines.integrals.noise_densities import Exponent, Value, ball_of
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational
from privproof.exact.normal import normal_below

_REACH = 9
"""The number is followed so many standard deviations of both noises together: what lies beyond has a mass below 10^-18."""
_TINY = 90
"""Nodes that weigh less than 2 to the minus this are left out, and added to the error."""


@dataclass(frozen=True)
class GapDensity:
    """The density of ``sum of factors * noises + constant`` of two noises on one way, times a probability that is independent of it."""

    weight: arb
    noises: tuple[Noise, ...]
    conditions: tuple[FormCondition, ...]
    factors: tuple[tuple[int, Rational], ...]
    constant: Rational
    law: DensityLaw = field(init=False, compare=False, repr=False)
    interval: NoiseInterval = field(init=False, compare=False, repr=False)
    nodes: tuple[tuple[arb, arb], ...] = field(init=False, compare=False, repr=False)
    error: arb = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        end = next((atom for atom, _ in self.factors if self._ends_at(atom)), None)
        if end is None:
            raise LanguageError(
                "integral", "a sum of two noises is shown, and both are compared with others", hint="one of them"
            )
        own = dict(self.factors)
        [hub] = own.keys() - {end}
        _, scale = self.noises[end]
        if any(each != "gaussian" for each, _ in self.noises):
            raise LanguageError("integral", "a gap between noises that are not all Gaussian is shown", hint="one noise")
        interval, rest = NoiseInterval(), []
        for condition in self.conditions:
            if end not in condition.factors:
                rest.append(condition)
                continue
            slope = condition.factors[end] / own[end]  # slope * (y - constant) + condition.constant >= 0
            bound = self.constant - condition.constant / slope
            (interval.above if slope > 0 else interval.below)(bound)
        if any(len(condition.factors) < 2 for condition in rest):
            raise LanguageError(
                "integral", "a gap is shown of noises that are compared with constants", hint="one noise"
            )
        graph = ZoneGraph(self.noises)
        for condition in rest:
            graph.add(condition)
        graph.refuse_cycles()
        root = graph.tree(hub, -own[hub], -self.constant)
        law = DensityLaw("gaussian", ZERO, abs(own[end]) * scale)
        grid = evenly(*tree_grid(root).ends, (), min(law.scale, *(each.law.scale for each in all_nodes(root))))
        measure = node_density(grid, root)
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "interval", interval)
        nodes, error = _weight_nodes(grid, measure.inside, law)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "error", (error + measure.left + measure.right).upper())

    def _ends_at(self, atom: int) -> bool:
        """Whether a noise is compared with nothing but the other one, and only as the number is."""
        own = dict(self.factors)
        for condition in self.conditions:
            factors = {a: f for a, f in condition.factors.items() if f != 0}
            if atom in factors:
                slope = factors[atom] / own[atom]
                if factors.keys() != own.keys() or any(factors[a] != slope * own[a] for a in own):
                    return False
        return True

    @property
    def ends(self) -> tuple[Rational, Rational]:
        """Between which points it is followed."""
        far = _REACH * sum((abs(factor) * self.noises[atom][1] for atom, factor in self.factors), ZERO)
        return self.constant - far, self.constant + far

    compared = True
    """Other noises take part in it."""

    @property
    def cuts(self) -> set[Rational]:
        """Where it is not smooth."""
        return {end for end in (self.interval.low, self.interval.high) if end is not None}

    @property
    def key(self) -> tuple[object, ...]:
        """What it depends on, but for its weight."""
        conditions = tuple((tuple(sorted(each.factors.items())), each.constant) for each in self.conditions)
        return self.noises, conditions, self.factors, self.constant

    def exponent(self, point: Rational) -> Exponent | None:
        """That of the normal law that the number would have if nothing were compared, but for a constant; None where it is 0."""
        low, high = self.interval.low, self.interval.high
        if (low is not None and point < low) or (high is not None and point > high):
            return None
        double = 2 * sum((factor**2 * self.noises[atom][1] ** 2 for atom, factor in self.factors), ZERO)
        return -1 / double, 2 * self.constant / double, ZERO

    @property
    def height(self) -> arb:
        """The largest value of the density of v."""
        return 1 / ((2 * arb.pi()).sqrt() * arb(self.law.scale))

    def agreement(self, low: Rational, high: Rational) -> Value:
        """The density on an interval over that normal law, and the slope of this quotient.

        Each node t adds ``e^(-(y + t)^2/(2 s^2) - a y^2 - b y)``; the exponent is put together around the middle, since what falls in one
        of its parts rises in the other.
        """
        middle = (low + high) / 2
        exponent = self.exponent(middle)
        assert exponent is not None
        a, b, _ = exponent
        q = 1 / (2 * self.law.scale**2)
        away = arb(0, arb((high - low) / 2).upper()) if low < high else arb(0)
        fixed, along, bent = arb(-a * middle**2 - b * middle), arb(-2 * a * middle - b), arb(-q - a)
        value, slope = arb(0), arb(0)
        for place, weight in self.nodes:
            x = arb(middle) + place
            rate = along - arb(2 * q) * x
            power = weight * (fixed - arb(q) * x * x + away * (rate + bent * away)).exp()
            value += power
            slope += power * (rate + 2 * bent * away)
        y = ball_of(low, high)
        size = self.error * (fixed + away * along - arb(a) * away * away).exp()
        steep = 2 / arb(self.law.scale) + abs(arb(2 * a) * y + arb(b))
        return value + arb(0, size.upper()), slope + arb(0, (size * steep).upper())

    def beyond(self, low: Rational, high: Rational) -> arb:
        """A bound on the probability to lie outside of two points that are not within its ends: one of the noises goes far."""
        mine = self.ends
        if low > mine[0] or high < mine[1]:
            return self.weight
        return self.weight * 2 * len(self.factors) * normal_below(arb(-_REACH))

    def mass(self, low: Rational | None, high: Rational | None) -> arb:
        """The probability to lie between two points."""
        own = dict(self.factors)
        within = [] if low is None else [FormCondition(own, self.constant - low)]
        turned = {a: -f for a, f in own.items()}
        within += [] if high is None else [FormCondition(turned, high - self.constant)]
        return self.weight * probability(self.noises, (*self.conditions, *within))


def _weight_nodes(grid: Grid, measure: Analytic, law: DensityLaw) -> tuple[tuple[tuple[arb, arb], ...], arb]:
    """The nodes with their weights, and the error of the rule in units of the largest value of the density of v."""
    _, weights, _ = rule(grid.bits)
    _, whole = errors()
    nodes = []
    error = arb(0)
    for panel, places, values, bound in zip(grid.panels, grid.nodes, measure.values, measure.bounds, strict=True):
        away = panel.reach[2] / arb(law.scale)
        error += panel.radius * whole * bound * (away * away / 2).exp()
        for place, weight, value in zip(places, weights, values, strict=True):
            size = panel.radius * weight * value
            if size > arb(2) ** -_TINY:
                nodes.append((place, size))
            else:
                error += size.upper()
    return tuple(nodes), error
