"""A number with noise of its own around two places: the excess of its two laws, their moments, and the largest loss.

A density of continuous noise is a list of pieces ``A e^(-a (x - low))`` on intervals.  The intervals of both laws are cut at the ends of
either; on each of them both densities are of this form, and everything is an integral of an exponential.  A staircase has infinitely
many steps: beyond some of them its mass is added as a ball.  Integer noise has probabilities instead of densities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, TypeVar

from flint import arb, arb_series, ctx

from privproof_checker.numbers import ZERO, Rational
from privproof_checker.outcomes import refuse

Order = TypeVar("Order", arb, arb_series)

Moved: TypeAlias = "tuple[tuple[str, Rational, *tuple[Rational, ...]], Rational]"
"""The law of a noise, and by how much it lies to the right on the left side, in its own units."""

_MOST_STEPS = 20_000
"""Steps of a staircase, or integers, that are gone through; beyond, it is refused."""
_SMALL = 160
"""Steps of a staircase beyond a mass of 2 to minus this are put together."""


@dataclass(frozen=True)
class _Slope:
    """A density ``height e^(-fall (x - low))`` from one point to another; None for without end."""

    low: Rational | None
    high: Rational | None
    height: arb
    fall: Rational


@dataclass(frozen=True)
class _Both:
    """An interval with a density on either side; without end it goes to the right."""

    length: Rational | None
    left: tuple[arb, Rational] | None
    right: tuple[arb, Rational] | None


@dataclass(frozen=True)
class Pairing:
    """Two laws, interval by interval or integer by integer; some mass is left out."""

    intervals: tuple[_Both, ...]
    points: tuple[tuple[arb, arb], ...]
    rest: arb
    loss_of_rest: arb

    @property
    def one_sided(self) -> bool:
        """Whether something is possible on the left and impossible on the right."""
        if any(p > 0 and q.is_zero() for p, q in self.points):
            return True
        return self.rest.is_zero() and any(each.left is not None and each.right is None for each in self.intervals)

    def excess(self, c: arb) -> arb:
        """The largest ``P(E) - c Q(E)``."""
        total = sum((_not_negative(p - c * q) for p, q in self.points), arb(0))
        total += sum((_excess(each, c) for each in self.intervals), arb(0))
        return total + _up_to(self.rest)

    def moment(self, order: Order) -> Order | None:
        """The sum or integral of ``P^order Q^(1-order)``; None where it is infinite."""
        total = order * 0
        for p, q in self.points:
            if not q > 0:
                if p.is_zero():
                    continue
                return None
            if p > 0:
                total = total + ((order - 1) * (p / q).log()).exp() * p
            elif not p.is_zero():
                return None
        for each in self.intervals:
            if each.left is None:
                continue
            if each.right is None:
                return None
            total = total + _moment(each, each.left, each.right, order)
        if not self.rest.is_zero():
            top = ((order - 1) * self.loss_of_rest).exp() * self.rest
            total = total + top * arb(0.5, 0.5)
        return total

    def cells(self) -> list[tuple[arb, arb]] | None:
        """The masses on both sides where their ratio is constant piece by piece, what is left out with nothing on the right."""
        found = list(self.points)
        for each in self.intervals:
            if each.left is not None and each.right is not None and each.left[1] != each.right[1]:
                return None
            length = None if each.length is None else arb(each.length)
            sides = [arb(0) if side is None else _mass(side, length) for side in (each.left, each.right)]
            found.append((sides[0], sides[1]))
        return found if self.rest.is_zero() else [*found, (_up_to(self.rest), arb(0))]

    def loss(self) -> arb | None:
        """The largest ``ln(P/Q)``; None where it is infinite."""
        found = [self.loss_of_rest] if not self.rest.is_zero() else [arb(0)]
        for p, q in self.points:
            if p.is_zero():
                continue
            if not (p > 0 and q > 0):
                return None
            found.append((p / q).log())
        for each in self.intervals:
            if each.left is None:
                continue
            if each.right is None:
                return None
            at_start = (each.left[0] / each.right[0]).log()
            slope = each.right[1] - each.left[1]
            found.append(at_start)
            if slope != 0:
                if each.length is None:
                    return None
                found.append(at_start + arb(slope * each.length))
        most = found[0]
        for each_loss in found[1:]:
            most = most.max(each_loss)
        return most


def _not_negative(value: arb) -> arb:
    return value if value > 0 else arb(0) if value <= 0 else _up_to(value.upper())


def _up_to(value: arb) -> arb:
    """A ball from 0 to a number."""
    half = value.upper() / 2
    return arb(half, half)


def _mass(side: tuple[arb, Rational], length: arb | None) -> arb:
    """The integral of a density over an interval from its start."""
    height, fall = side
    if length is None:
        return height / arb(fall)
    return height * length if fall == 0 else height * (1 - (-arb(fall) * length).exp()) / arb(fall)


def _excess(both: _Both, c: arb) -> arb:
    if both.left is None:
        return arb(0)
    length = None if both.length is None else arb(both.length)
    if both.right is None:
        return _mass(both.left, length)
    (one, a), (two, b) = both.left, both.right
    if a == b:
        return _not_negative(_mass(both.left, length) - c * _mass(both.right, length))
    if length is None:
        refuse("two laws of one kind fall alike at their ends", "question.trees")
    crossing = ((one / (c * two)).log() / arb(a - b)).max(arb(0)).min(length)
    near = _mass(both.left, crossing) - c * _mass(both.right, crossing)
    if a > b:
        return near
    return _mass(both.left, length) - c * _mass(both.right, length) - near


def _moment(both: _Both, left: tuple[arb, Rational], right: tuple[arb, Rational], order: Order) -> Order:
    (one, a), (two, b) = left, right
    scale = ((order - 1) * (one / two).log()).exp() * one
    if a == b:
        length = None if both.length is None else arb(both.length)
        return scale * _mass((arb(1), a), length)
    assert both.length is not None
    fall = order * arb(a) + (1 - order) * arb(b)
    return scale * (1 - (-(fall * arb(both.length))).exp()) / fall


def law_pairing(moved: Moved, place: str) -> Pairing:
    """The two laws of a number: the left one moved, the other around 0."""
    return _pair_laws(moved, place, ctx.prec)


@lru_cache(maxsize=256)
def _pair_laws(moved: Moved, place: str, bits: int) -> Pairing:
    """The same, made once for each precision."""
    (kind, *parameters), by = moved
    if kind in ("geometric", "discrete_gaussian") and by.q != 1:  # integers on one side, none on the other
        return Pairing((), ((arb(1), arb(0)), (arb(0), arb(1))), arb(0), arb(0))
    if kind == "geometric":
        return _integers(parameters[0], by, place)
    slopes, rest, loss = _density(kind, parameters, by, place)
    shifted = [_Slope(_plus(s.low, by), _plus(s.high, by), s.height, s.fall) for s in slopes]
    intervals = _cut_intervals(shifted, slopes)
    if not rest.is_zero():  # where one of the two is not followed any more, its mass is among the rest
        intervals = tuple(each for each in intervals if each.left is not None and each.right is not None)
    return Pairing(intervals, (), rest, loss)


def _plus(end: Rational | None, by: Rational) -> Rational | None:
    return None if end is None else end + by


def _density(kind: str, parameters: list[Rational], by: Rational, place: str) -> tuple[list[_Slope], arb, arb]:
    """The pieces of a density around 0, the mass that is left out, and the largest loss there."""
    none = arb(0)
    if kind == "laplace":
        height = 1 / (2 * arb(parameters[0]))
        return (
            [_Slope(None, ZERO, height, -1 / parameters[0]), _Slope(ZERO, None, height, 1 / parameters[0])],
            none,
            none,
        )
    if kind == "exponential":
        return [_Slope(ZERO, None, 1 / arb(parameters[0]), 1 / parameters[0])], none, none
    if kind == "uniform_real":
        return [_Slope(-parameters[0] / 2, parameters[0] / 2, 1 / arb(parameters[0]), ZERO)], none, none
    if kind == "truncated_laplace":
        scale, reach = parameters
        height = 1 / (2 * arb(scale) * (1 - (-arb(reach / scale)).exp()))
        low = height * (-arb(reach / scale)).exp()
        return [_Slope(-reach, ZERO, low, -1 / scale), _Slope(ZERO, reach, height, 1 / scale)], none, none
    if kind == "staircase":
        step, loss, share = parameters
        return _stairs(step, loss, share, by, place)
    refuse(f"a number with {kind[:40]} noise is moved", place)


def _stairs(step: Rational, loss: Rational, share: Rational, by: Rational, place: str) -> tuple[list[_Slope], arb, arb]:
    width = int((abs(by) / step).ceil())
    count = int((Rational(_SMALL) / loss).ceil()) + width + 1
    if count > _MOST_STEPS:
        refuse(f"a staircase has {count} steps that count", place)
    fall = (-arb(loss)).exp()
    height = (1 - fall) / (2 * arb(step) * (arb(share) + fall * arb(1 - share)))
    found = []
    for k in range(count):
        high, low = height * fall**k, height * fall ** (k + 1)
        ends = (step * k, step * (k + share), step * (k + 1))
        for level, a, b in ((high, ends[0], ends[1]), (low, ends[1], ends[2])):
            if a < b:
                found += [_Slope(a, b, level, ZERO), _Slope(-b, -a, level, ZERO)]
    # what the left law has beyond the last step of the other one; a step of the move changes the level by at most one
    return found, fall ** (count - width), arb(loss) * width


def _cut_intervals(left: list[_Slope], right: list[_Slope]) -> tuple[_Both, ...]:
    ends = sorted({end for s in (*left, *right) for end in (s.low, s.high) if end is not None})
    found = []
    for low, high in pairwise(ends):
        found.append(_Both(high - low, _at(left, low, high), _at(right, low, high)))
    first, last = ends[0], ends[-1]
    found.append(_Both(None, _at(left, last, None), _at(right, last, None)))
    found.append(_Both(None, _mirrored_density(left, first), _mirrored_density(right, first)))
    return tuple(each for each in found if each.left is not None or each.right is not None)


def _at(slopes: list[_Slope], low: Rational, high: Rational | None) -> tuple[arb, Rational] | None:
    """The density from a point on, if it is possible there."""
    for s in slopes:
        begins = s.low is None or s.low <= low
        if begins and (s.high is None or (high is not None and s.high >= high)):
            # a piece without a beginning is given at its end
            start = s.high if s.low is None else s.low
            assert start is not None
            return s.height * (arb(s.fall * (start - low))).exp(), s.fall
    return None


def _mirrored_density(slopes: list[_Slope], end: Rational) -> tuple[arb, Rational] | None:
    """The density to the left of all ends, read from right to left."""
    for s in slopes:
        if s.low is None:
            assert s.high is not None
            return s.height * (arb(s.fall * (s.high - end))).exp(), -s.fall
    return None


def _integers(alpha: Rational, by: Rational, place: str) -> Pairing:
    """Two-sided geometric noise: integers between the centers one by one, those beyond them together, as their ratio is constant."""
    shift = abs(int(by))
    if shift > _MOST_STEPS:
        refuse(f"a whole number is moved by {shift}", place)
    r = arb(alpha)
    unit = (1 - r) / (1 + r)
    tail = r / (1 + r)
    points = [(unit * r**k, unit * r ** (shift - k)) for k in range(shift + 1)]
    points += [(tail, tail * r**shift), (tail * r**shift, tail)]
    return Pairing((), tuple(points), arb(0), arb(0))
