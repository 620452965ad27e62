"""Bounds on one measure over all pairs of trees: refuted by one pair, proved for all, or the smallest value searched for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from privproof.engines.divergences.divergence_parts import ComparedTrees, DivergencePart
from privproof.engines.divergences.gaussian_tradeoffs import Tests, least_excess, mu_of_rate, needed_mu
from privproof.engines.divergences.renyi_orders import BITS, RhoLine, Schedule, divergence
from privproof.engines.search_monitor import Monitor
from privproof.exact import INFINITE, ONE, Epsilon, Rational, decimal, epsilon, fraction, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.measures import Measure
from privproof.exact.normal import normal_excess
from privproof.exact.probabilities import Ball
from privproof.exact.rounding import to_digits

_SLACKS = (Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 10**3), Fraction(1, 50), Fraction(1, 4))
"""By how much a value above the largest that is refuted is tried to be proved, as a share of it."""
_ORDERS = tuple(Fraction(n, 8) for n in (9, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512, 2048))
"""Orders at which a rate is looked at first: the largest is often near 1."""
_NEAREST = Fraction(1, 2**30)
"""How near to 1 an order is taken where the largest rate is approached there."""
_SMALLEST, _HIGHEST = Fraction(1, 1024), Fraction(4096)
"""Values between which one is searched for that is proved, where the bounds from below are of no help."""
_HALVINGS = 12
"""How often the interval is halved in which the smallest value lies that is proved."""
_FINER = 24
"""How often the neighbourhood of the worst order or point is searched, each time half as wide."""
_POINTS = tuple(Fraction(n, 4) for n in range(33))
"""Epsilons at which tests are looked at first."""


@dataclass(frozen=True)
class FoundBound:
    """A lower bound on a measure.

    Attributes:
        value: the measure is at least this.
        left: the number of the data set on the left.
        right: the number of the data set on the right.
        evidence: what the checker needs to see it.
        text: what tells the sides apart, in words.
        amount: how far, as a ball; None for infinitely far.
    """

    value: Epsilon
    left: int
    right: int
    evidence: dict[str, object]
    text: str
    amount: Ball | None


class Bounding(ABC):
    """Bounds on one measure over all pairs of trees."""

    beyond = 1
    """A value that is refuted where all are."""

    def __init__(self, measure: Measure, pairs: Sequence[ComparedTrees], monitor: Monitor) -> None:
        self.measure, self.pairs, self.monitor = measure, pairs, monitor

    @property
    def reason(self) -> str:
        """Why nothing is proved; empty where something may be."""
        if any(pair.above is None for pair in self.pairs):
            return (
                "an outcome may be impossible on one side, or what is shown differs by more than noise of a known kind"
            )
        return ""

    @cached_property
    def largest(self) -> FoundBound | None:
        """The largest lower bound that is found; None where nothing is known from below."""
        best: FoundBound | None = None
        seen: set[str] = set()
        for pair in self.pairs:
            self.monitor.pause()
            told = repr([(rational_bounds(p.p), rational_bounds(p.q), p.spread, p.level) for p in pair.below])
            if not pair.below or told in seen:  # most neighbours differ in the same way
                continue
            seen.add(told)
            found = self.from_below(pair)
            if found is not None and (best is None or found.value.compare(best.value) > 0):
                best = found
        return best

    def refuted(self, value: Epsilon) -> FoundBound | None:
        """A pair for which a value is too small; None where none is found."""
        found = self.largest
        return found if found is not None and self.exceeds(found, value) else None

    def exceeds(self, found: FoundBound, value: Epsilon) -> bool:
        """Whether a lower bound is above a value."""
        return found.value.compare(value) > 0

    @abstractmethod
    def from_below(self, pair: ComparedTrees) -> FoundBound | None:
        """A lower bound from one pair."""

    @abstractmethod
    def proved(self, value: Epsilon) -> dict[str, object] | None:
        """What the checker needs to see that a value is enough for all pairs; None where it is not proved."""

    def smallest(self) -> tuple[Epsilon | None, dict[str, object] | None]:
        """The smallest value that is proved, with the proof; None where there is none."""
        if self.reason:
            return None, None
        found = self.largest
        exact = self.exactly()
        if exact is not None and (proof := self.proved(exact)) is not None:
            return exact, proof
        least = fraction(rational_bounds((epsilon(0) if found is None else found.value).ball(BITS))[1])
        for slack in _SLACKS if least > 0 else ():
            value = epsilon(to_digits(least * (1 + slack), up=True))
            proof = self.proved(value)
            if proof is not None:
                return value, proof
        return self._bracketed(least)

    def _bracketed(self, least: Fraction) -> tuple[Epsilon | None, dict[str, object] | None]:
        """A value that is proved, by doubling and halving, where the bounds from below are of no help."""
        high = max(least, _SMALLEST)
        while (best := self.proved(epsilon(high))) is None:
            high *= 2
            if high > _HIGHEST:
                return None, None
        low = max(least, high / 2)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            proof = self.proved(epsilon(middle))
            if proof is None:
                low = middle
            else:
                high, best = middle, proof
        return epsilon(high), best

    @abstractmethod
    def exactly(self) -> Epsilon | None:
        """A value where nothing but Gaussian noise tells any pair apart, and it can be written down."""

    @cached_property
    def even_rate(self) -> Rational | None:
        """The largest rate, where nothing but Gaussian noise tells any pair apart."""
        parts = [part for pair in self.pairs for part in pair.above or ()]
        if any(pair.above is None for pair in self.pairs) or not all(part.even for part in parts):
            return None
        return max(part.slope for part in parts)

    @property
    def continuous(self) -> bool:
        """Whether no discrete Gaussian noise tells a pair apart."""
        return all(part.lattice is None for pair in self.pairs for part in pair.above or ())


def _even_rate(parts: Sequence[DivergencePart] | None) -> Rational | None:
    """The one rate of parts that nothing but Gaussian noise tells apart, all at the same distance: a bound, and met at integer orders."""
    if not parts or not all(part.even for part in parts):
        return None
    rates = {fraction(part.slope) for part in parts}
    return parts[0].slope if len(rates) == 1 else None


def _met_rate(parts: Sequence[DivergencePart] | None, order: Rational) -> Rational | None:
    """The same where it is met at an order."""
    whole = order.q == 1 or all(part.lattice is None for part in parts or ())
    return _even_rate(parts) if whole else None


class RenyiBounding(Bounding):
    """The Rényi divergence of one order."""

    @property
    def order(self) -> Rational:
        """The order."""
        assert self.measure.order is not None
        return self.measure.order

    def from_below(self, pair: ComparedTrees) -> FoundBound | None:
        return _at_order(pair, self.order, per_order=False)

    def proved(self, value: Epsilon) -> dict[str, object] | None:
        for pair in self.pairs:
            self.monitor.pause()
            if pair.above is None:
                return None
            rate = _even_rate(pair.above)
            if rate is not None and value.compare(epsilon(fraction(rate * self.order))) >= 0:
                continue
            found = divergence(pair.above, self.order)
            with precision(BITS):
                if found is None or not found <= value.ball(BITS):
                    return None
        return {}

    def exactly(self) -> Epsilon | None:
        if self.even_rate is None or any(_met_rate(pair.above, self.order) is None for pair in self.pairs):
            return None
        return epsilon(fraction(self.even_rate * self.order))


class Rho(Bounding):
    """The largest Rényi divergence for each unit of the order."""

    def from_below(self, pair: ComparedTrees) -> FoundBound | None:
        parts = pair.below
        if _even_rate(parts) is not None:
            return _at_order(pair, Rational(2), per_order=True)
        orders = [ONE + rational(_NEAREST), *(rational(each) for each in _ORDERS)]
        rates = [(self._rate(parts, order), order) for order in orders]
        best, order = max(rates, key=lambda each: each[0])
        if best == float("inf"):
            return _at_order(pair, order, per_order=True)
        width = order / 8
        for _ in range(_FINER if best * 10**9 > 1 else 0):
            for near in (order - width, order + width):
                if near > orders[0] and (rate := self._rate(parts, near)) > best:
                    best, order = rate, near
            width /= 2
        return _at_order(pair, order, per_order=True)

    def _rate(self, parts: Sequence[DivergencePart], order: Rational) -> float:
        found = divergence(parts, order)
        return float("inf") if found is None else float((found / order).mid())

    def proved(self, value: Epsilon) -> dict[str, object] | None:
        schedules: list[Schedule] = []
        for pair in self.pairs:
            self.monitor.pause()
            if not pair.above:
                return None
            line = RhoLine(pair.above, value)
            if line.holds(None) or any(line.holds(each) for each in schedules):
                continue
            made = line.schedule()
            if made is None or not line.holds(made):
                return None
            schedules.append(made)
        return {
            "schedules": [
                {"convex": [str(each) for each in made.convex], "steps": [[kind, str(to)] for kind, to in made.steps]}
                for made in schedules
            ]
        }

    def exactly(self) -> Epsilon | None:
        return None if self.even_rate is None else epsilon(fraction(self.even_rate))


class Mu(Bounding):
    """The distance of two normal laws that are told apart as well."""

    beyond = 100

    def from_below(self, pair: ComparedTrees) -> FoundBound | None:
        parts = pair.below
        best, point = 0.0, _POINTS[0]
        for e in _POINTS:
            if (mu := needed_mu(parts, rational(e), above=best)) > best:
                best, point = mu, e
        width = Fraction(1, 8)
        for _ in range(_FINER):
            for near in (point - width, point + width):
                if near >= 0 and (mu := needed_mu(parts, rational(near), above=best)) > best:
                    best, point = mu, near
            width /= 2
        if any(part.certain for part in parts):
            return self._certain(pair, parts)
        rate = _even_rate(parts) if all(part.lattice is None for part in parts) else None
        value = mu_of_rate(rate) if rate is not None else None
        if value is None:
            with precision(BITS):
                value = epsilon(to_digits(Fraction(best) * (1 - Fraction(1, 10**12)), up=False))
                if value.compare(epsilon(0)) <= 0:
                    return None
                excess = least_excess(parts, arb(rational(point)))
                if not normal_excess(value.ball(BITS), arb(rational(point))) < excess:
                    return None
        return self._found(pair, parts, value, point)

    def _certain(self, pair: ComparedTrees, parts: Sequence[DivergencePart]) -> FoundBound:
        """Something that is impossible on the right: no mu is enough."""
        return self._found(pair, parts, INFINITE, Fraction(10**4))

    def _found(
        self, pair: ComparedTrees, parts: Sequence[DivergencePart], value: Epsilon, point: Fraction
    ) -> FoundBound:
        evidence = {"method": "point", "left": pair.left, "right": pair.right, "epsilon": str(point)}
        with precision(BITS):
            ball = Ball.of(least_excess(parts, arb(rational(point))))
        return FoundBound(
            value, pair.left, pair.right, evidence, f"some event is beyond epsilon {float(point):.6g} by this", ball
        )

    def proved(self, value: Epsilon) -> dict[str, object] | None:
        listed: list[tuple[Rational, ...]] = []
        for pair in self.pairs:
            self.monitor.pause()
            if not pair.above:
                return None
            tests = Tests(pair.above, value)
            if tests.holds(None) or any(tests.holds(each) for each in listed):
                continue
            points = tests.points()
            if points is None or not tests.holds(points):
                return None
            listed.append(points)
        return {"points": [[str(each) for each in points] for points in listed]}

    def exactly(self) -> Epsilon | None:
        return mu_of_rate(self.even_rate) if self.even_rate is not None and self.continuous else None


def _at_order(pair: ComparedTrees, order: Rational, *, per_order: bool) -> FoundBound | None:
    """The lower bound that one order of one pair gives."""
    evidence = {"method": "order", "left": pair.left, "right": pair.right, "order": str(order)}
    said = f"the Rényi divergence of order {decimal(order, digits=10)} is this"
    rate = _met_rate(pair.below, order)
    if rate is not None:
        value = epsilon(fraction(rate if per_order else rate * order))
        return FoundBound(value, pair.left, pair.right, evidence, said, Ball.of(arb(rate * order)))
    if any(part.certain for part in pair.below):
        return FoundBound(INFINITE, pair.left, pair.right, evidence, "the divergence is infinite", None)
    found = divergence(pair.below, order)
    if found is None:
        return None
    with precision(BITS):
        low = found / arb(order) if per_order else found
        value = epsilon(to_digits(fraction(rational_bounds(low)[0]), up=False))
    return FoundBound(value, pair.left, pair.right, evidence, said, Ball.of(found))


def bounding_of_measure(measure: Measure, pairs: Sequence[ComparedTrees], monitor: Monitor) -> Bounding:
    """What bounds a measure."""
    if measure.kind == "renyi":
        return RenyiBounding(measure, pairs, monitor)
    return (Rho if measure.kind == "rho" else Mu)(measure, pairs, monitor)
