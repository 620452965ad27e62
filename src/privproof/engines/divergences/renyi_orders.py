"""Rényi divergences, and proofs that they stay below a line through the origin.

With the parts of two laws, ``K(a) = ln sum of p^a q^(1-a) e^(a(a-1)r) M(a)`` and ``D_a = K(a)/(a-1)``: r is the rate of the Gaussian
noise in a part, M the moment of its other noise, of discrete Gaussian noise too.  Zero-concentration is ``D_a <= rho a`` for every a > 1.
Five ways to prove it for a pair, with the least rate r, the largest rate R of continuous and discrete Gaussian noise together, and L the
largest loss apart from them:

* *line*: ``D_a <= L + R a``, so ``L + R <= rho`` is enough;
* *response*: laws with losses between -L and L are made from those of randomised response with parameter L, whose zero-concentration is
  ``L tanh(L/2)``; so ``L tanh(L/2) + R <= rho`` is enough;
* *ladder*: ``E_a = D_a - r a`` is the Rényi divergence of the same parts with less Gaussian noise to tell them apart, so it does not fall
  in a.  Orders ``1 = a_0 < a_1 < ...`` with ``E(a_(i+1)) <= (rho - r) a_i`` prove it up to the last, and ``L <= (rho - R) a_m`` beyond;
* *convex start*: on an interval from 1 on which ``K'' <= 2 rho``, ``h(a) = rho a(a-1) - K(a)`` is convex; with ``h(1) = 0`` and ``h'(1) =
  rho - D_1 >= 0`` it is at least 0 there, and the ladder starts at its end;
* *cells*: between two orders around m, at most u away, ``h(a) >= h(m) - |h'(m)| u - max(0, -h'')u^2/2``, which may be at least 0 where a
  ladder hardly climbs: near an order at which the line is touched.

A Rényi divergence of one order is just computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from flint import arb, arb_series, ctx

from privproof.engines.divergences.divergence_parts import DivergencePart
from privproof.engines.runs.leaf_likelihoods import Order, positive
from privproof.exact import ONE, Epsilon, Rational, epsilon, fraction, rational
from privproof.exact.balls import precision
from privproof.exact.rounding import to_grid

BITS = 160
"""The precision of balls: divergences of orders near 1 are quotients of small numbers."""
_MOST_STEPS = 600
"""Steps of a ladder; a value that needs more is too near to the smallest one."""
_LARGEST = 10**9
"""Orders beyond which no ladder climbs."""
_BISECTIONS = 48
"""Halvings of an interval of orders."""


def log_moment(parts: Sequence[DivergencePart], order: Order, less: Rational) -> Order | None:
    """``K`` at an order, with the rates lowered; None where it is infinite, or may be."""
    total = order * 0
    for part in parts:
        if part.p.is_zero():
            continue
        if not (part.p > 0 and part.q > 0):
            return None
        exponent = (order - 1) * (part.p / part.q).log() + order * (order - 1) * arb(part.rate - less)
        term = exponent.exp() * part.p
        for law in part.laws:
            moment = law.moment(order)
            if moment is None:
                return None
            term = term * moment
        if part.lattice is not None:
            term = term * part.lattice.moment(order)
        total = total + term
    return total.log()


def divergence(parts: Sequence[DivergencePart], order: Rational, less: Rational | None = None) -> arb | None:
    """The Rényi divergence of an order, less what a rate makes of it; None where it is infinite, or may be."""
    with precision(BITS):
        lowered = rational(0) if less is None else less
        if order == 1:
            curve = _series(parts, arb(1), lowered)
            return None if curve is None else curve[1]
        found = log_moment(parts, arb(order), lowered)
        return None if found is None else found / arb(order - 1)


def _series(parts: Sequence[DivergencePart], order: arb, less: Rational) -> tuple[arb, arb, arb] | None:
    """``K`` and its first two derivatives at an order, or on a ball of orders."""
    before = ctx.cap
    ctx.cap = 3
    try:
        found = log_moment(parts, arb_series([order, 1]), less)
    finally:
        ctx.cap = before
    return None if found is None else (found[0], found[1], 2 * found[2])


@dataclass(frozen=True)
class Schedule:
    """How far the convex start goes, in pieces, and the orders behind it, each reached by a step of a ladder or by a cell."""

    convex: tuple[Rational, ...] = ()
    steps: tuple[tuple[Literal["ladder", "cell"], Rational], ...] = ()


class RhoLine:
    """Whether the Rényi divergences of some parts stay below ``rho a``."""

    def __init__(self, parts: Sequence[DivergencePart], rho: Epsilon) -> None:
        self.parts, self.rho = parts, rho
        self.least = min(part.rate for part in parts)
        self.most = max(part.slope for part in parts)
        self.even = all(part.even for part in parts)
        with precision(BITS):
            self.loss = largest_loss(parts)
            self.room = rho.ball(BITS) - arb(self.least)

    def holds(self, schedule: Schedule | None) -> bool:
        """Whether a schedule proves it; None for none."""
        if self.loss is None:
            return False
        if self.even:
            return self.rho.compare(epsilon(fraction(self.most))) >= 0
        with precision(BITS):
            rest = self.rho.ball(BITS) - arb(self.most)
            if self.loss <= rest or self.loss * (self.loss / 2).tanh() <= rest:
                return True
            if schedule is None:
                return False
            at = ONE
            if schedule.convex:
                if not self._below(ONE, ONE):
                    return False
                for low, high in pairwise((ONE, *schedule.convex)):
                    if not self._curved(low, high):
                        return False
                at = schedule.convex[-1]
            for kind, order in schedule.steps:
                if not (self._below(order, at) if kind == "ladder" else self._between(at, order)):
                    return False
                at = order
            return bool(self.loss <= rest * arb(at))

    def _below(self, order: Rational, line: Rational) -> bool:
        """Whether the divergence of an order is below the line at another one."""
        found = divergence(self.parts, order, self.least)
        return found is not None and bool(found <= self.room * arb(line))

    def _curved(self, low: Rational, high: Rational) -> bool:
        """Whether ``K''`` is at most twice rho between two orders."""
        middle, radius = arb(low + high) / 2, arb(high - low) / 2
        found = _series(self.parts, middle + arb(0, 1) * radius, self.least)
        return found is not None and bool(found[2] <= 2 * self.room)

    def _between(self, low: Rational, high: Rational) -> bool:
        """Whether ``h`` is at least 0 between two orders, by its values in the middle."""
        middle, radius = arb(low + high) / 2, arb(high - low) / 2
        here = _series(self.parts, middle, self.least)
        around = _series(self.parts, middle + arb(0, 1) * radius, self.least)
        if here is None or around is None:
            return False
        value = self.room * middle * (middle - 1) - here[0]
        slope = abs(self.room * (2 * middle - 1) - here[1])
        bend = positive(around[2] - 2 * self.room)
        return bool(value - slope * radius - bend * radius * radius / 2 >= 0)

    def schedule(self) -> Schedule | None:
        """A schedule, by search; None where none is found."""
        if self.loss is None or not self.rho.ball(BITS) > arb(self.most):
            return None
        convex = self._start()
        at = convex[-1] if convex else ONE
        steps: list[tuple[Literal["ladder", "cell"], Rational]] = []
        with precision(BITS):
            rest = self.rho.ball(BITS) - arb(self.most)
            while not self.loss <= rest * arb(at):
                climbed = self._step(at) or at
                cell = at if climbed - at > (at - 1) / _STEEP else self._cell(at) or at
                if max(climbed, cell) == at or len(steps) >= _MOST_STEPS:
                    return None
                steps.append(("ladder", climbed) if climbed >= cell else ("cell", cell))
                at = max(climbed, cell)
        return Schedule(tuple(convex), tuple(steps))

    def _cell(self, at: Rational) -> Rational | None:
        """The end of a wide cell; a wider one would do, too, as balls elsewhere may be wider."""
        length = at / 2
        while at > 1 and length > (at - 1) * _SHORTEST:
            order = _short(at + length * 3 / 4, at)
            if self._between(at, at + length) and self._between(at, order):
                return order
            length /= 2
        return None

    def _step(self, at: Rational) -> Rational | None:
        """The largest order found whose divergence is below the line at this one."""
        low, high = at, 2 * at
        while high < _LARGEST and self._below(high, at):
            low, high = high, 4 * high
        if low >= _LARGEST // 4:
            return low
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._below(middle, at) else (low, middle)
            if low > at and (high - low) * 16 < low - at:
                break
        return _short(low, at) if low > at else None

    def _start(self) -> list[Rational]:
        """The pieces of a convex start: as far as one goes, in lengths that double where they can."""
        if not self._below(ONE, ONE):
            return []
        pieces: list[Rational] = []
        at, length = ONE, ONE / 4
        while len(pieces) < _PIECES:
            if length < _SHORTEST:
                break
            if self._curved(at, at + length):
                pieces += [at + length * k / _FINE for k in range(1, _FINE + 1)]
                at += length
                length *= 2
                if self.loss is not None and self.loss <= (self.rho.ball(BITS) - arb(self.most)) * arb(at):
                    break
            else:
                length /= 2
        return pieces


_FINE = 4
"""A piece of a convex start is cut into so many, as balls elsewhere may be wider."""
_STEEP = 10
"""Where a step of a ladder climbs by a smaller part of the way from 1, a cell is tried, too."""
_PIECES = 64
"""Pieces of a convex start; more would be of no use, as a ladder climbs faster."""
_SHORTEST = rational("1/65536")
"""A piece of a convex start that would have to be shorter ends it: the second derivative is as large as it may be there."""


def largest_loss(parts: Sequence[DivergencePart]) -> arb | None:
    """The largest loss apart from Gaussian noise; None where it is infinite, or may be."""
    most = arb(0)
    for part in parts:
        if part.p.is_zero():
            continue
        loss = part.loss
        if loss is None:
            return None
        most = most.max(loss)
    return most


def _short(value: Rational, above: Rational) -> Rational:
    """A number near one, a little below it, with a short fraction; above another one."""
    grid = 1
    while to_grid(value, up=False, parts=grid) <= above + (value - above) / 2:
        grid *= 2
    return to_grid(value, up=False, parts=grid)
