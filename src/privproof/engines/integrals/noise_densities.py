"""The density of a noisy number, where comparisons of its noise with constants and with other noises agree: balls around it and its slope.

In the coordinate of the number every noise that it is compared with lies between ``y + low`` and ``y + high`` (`enclosures`), and
between ends of its own.  Between the places where such ends meet and where a law has a kink, the density is

    weight * f(y) * product of (G_i(y + high_i) - G_i(y + low_i))

with distribution functions G.  On an interval the value of a factor is that in the middle, plus its slope times the way from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from flint import arb

from privproof.engines.integrals.density_curves import DensityLaw, LawCurve
from privproof.engines.integrals.integral_enclosures import (
    FormCondition,
    IntegralNode,
    Noise,
    NoiseInterval,
    ZoneGraph,
    interval_mass,
    probability,
)
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational

_REACH = {"gaussian": 17, "laplace": 140, "exponential": 140}
"""A number is followed so many scales from its center: what lies beyond has a mass below 2^-200."""

Value: TypeAlias = tuple[arb, arb]
"""Balls around a function and its derivative on an interval."""
Exponent: TypeAlias = tuple[Rational, Rational, Rational]
"""A polynomial ``a y^2 + b y + c``."""


@dataclass(frozen=True)
class NumberDensity:
    """The density of a number ``factor x + constant`` on one way, times the probability of what has nothing to do with it.

    Attributes:
        weight: that probability.
        noises: the noises that x is compared with, one by one or through others.
        conditions: the comparisons.
        atom: the number of x among the noises.
        factor: its factor.
        constant: what is added.
    """

    weight: arb
    noises: tuple[Noise, ...]
    conditions: tuple[FormCondition, ...]
    atom: int
    factor: Rational
    constant: Rational
    root: IntegralNode = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        graph = ZoneGraph(self.noises)
        for condition in self.conditions:
            graph.add(condition)
        graph.refuse_cycles()
        root = graph.tree(self.atom, self.factor, self.constant)
        if any(child.children for child in root.children):
            raise LanguageError(
                "integral",
                "a noisy number is shown after it was compared with noise that others were compared with",
                hint="show a number with fresh noise",
            )
        object.__setattr__(self, "root", root)

    @property
    def law(self) -> DensityLaw:
        """The law of the number before anything is compared."""
        return self.root.law

    @property
    def ends(self) -> tuple[Rational, Rational]:
        """Between which points it is followed."""
        law = self.law
        return law.center - _REACH[law.kind] * law.scale, law.center + _REACH[law.kind] * law.scale

    @property
    def compared(self) -> bool:
        """Whether other noises take part in it."""
        return bool(self.root.children)

    @property
    def cuts(self) -> set[Rational]:
        """Where it is not smooth."""
        return {*self.law.kinks, *_ends(self.root.interval), *(c for child in self.root.children for c in _cuts(child))}

    @property
    def key(self) -> tuple[object, ...]:
        """What it depends on, but for its weight."""
        conditions = tuple((tuple(sorted(each.factors.items())), each.constant) for each in self.conditions)
        return self.noises, conditions, self.atom, self.factor, self.constant

    def exponent(self, point: Rational) -> Exponent | None:
        """The logarithm of its noise's density near a point that is no cut, less that of `height`; None where the density is 0."""
        law = self.law
        if not _holds(self.root.interval, point):
            return None
        if law.kind == "gaussian":
            square = 2 * law.scale**2
            return -1 / square, 2 * law.center / square, -(law.center**2) / square
        after = point >= law.center
        if law.kind == "exponential" and after == law.turned:
            return None
        slope = (-1 if after else 1) / law.scale
        return ZERO, slope, -slope * law.center

    @property
    def height(self) -> arb:
        """The largest value of its noise's density."""
        if self.law.kind == "gaussian":
            return 1 / ((2 * arb.pi()).sqrt() * arb(self.law.scale))
        return 1 / arb(self.law.scale * (2 if self.law.kind == "laplace" else 1))

    def agreement(self, low: Rational, high: Rational) -> Value:
        """The probability that all other noises agree with a number in an interval without a cut inside."""
        value, slope = arb(1), arb(0)
        for child in self.root.children:
            factor, rise = _share(child, low, high)
            value, slope = value * factor, slope * factor + value * rise
        return value, slope

    def beyond(self, low: Rational, high: Rational) -> arb:
        """A bound on the probability to lie outside of two points."""
        return self.weight * sum(self.law.beyond(low, high), arb(0))

    def mass(self, low: Rational | None, high: Rational | None) -> arb:
        """The probability to lie between two points."""
        if not self.root.children:
            interval = replace(self.root.interval)
            _narrow(interval, low, high)
            return arb(0) if interval.empty else self.weight * interval_mass(self.law, interval)
        own = {self.atom: self.factor}
        within = [] if low is None else [FormCondition(own, self.constant - low)]
        within += [] if high is None else [FormCondition({self.atom: -self.factor}, high - self.constant)]
        return self.weight * probability(self.noises, (*self.conditions, *within))


def _holds(interval: NoiseInterval, point: Rational) -> bool:
    return (interval.low is None or point >= interval.low) and (interval.high is None or point <= interval.high)


def _narrow(interval: NoiseInterval, low: Rational | None, high: Rational | None) -> None:
    if low is not None:
        interval.above(low)
    if high is not None:
        interval.below(high)


def _ends(interval: NoiseInterval) -> Iterable[Rational]:
    return (end for end in (interval.low, interval.high) if end is not None)


def _cuts(node: IntegralNode) -> set[Rational]:
    """Where the probability of a noise that is compared with the number is not smooth, in the coordinate of the number."""
    fixed = {*node.law.kinks, *_ends(node.interval)}
    return {point - offset for point in fixed for offset in _ends(node.offsets)}


def ball_of(low: Rational, high: Rational) -> arb:
    """A ball around an interval."""
    return arb(low) if low == high else arb(low).union(arb(high))


def _share(node: IntegralNode, low: Rational, high: Rational) -> Value:
    """The probability that a noise agrees with a number in an interval."""
    middle = (low + high) / 2
    slope = arb(0)
    within = replace(node.interval)
    density = LawCurve(node.law, "density")
    least, most = node.offsets.low, node.offsets.high
    if least is not None and (within.low is None or middle + least > within.low):
        within.low = middle + least
        slope -= density.piece(low + least, high + least).value(ball_of(low + least, high + least))
    if most is not None and (within.high is None or middle + most < within.high):
        within.high = middle + most
        slope += density.piece(low + most, high + most).value(ball_of(low + most, high + most))
    if within.empty:
        return arb(0), arb(0)
    return interval_mass(node.law, within) + slope * (ball_of(low, high) - arb(middle)), slope
