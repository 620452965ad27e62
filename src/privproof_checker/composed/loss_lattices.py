"""Losses on a lattice: two measures whose ratio is ``e^(j h)`` at the point j, above or below a given pair of laws, and many of them.

For measures with masses ``p_j`` (of P) and r with an infinite loss, ``H(c) = r + sum p_j max(0, 1 - c e^(-j h))``.

*Order.*  For a product, ``H(c) = sum over o of p_2(o) H_1(c q_2(o)/p_2(o))``, which is monotone in ``H_1``; so is it in ``H_2``.
Where the second law depends on what the first has shown, each term has its own curve instead, below the bound for all.  No total is
assumed to be 1.

*Above*: a convex function is below its chords.  With corners (0, 1) and ``(c_j, u_j)``, ``u_j >= H(c_j)``, and the constant ``u_J``
behind the last, the masses are ``q_j`` = how much the slope rises at ``c_j``, ``p_j = c_j q_j``.  A mass that comes out negative is
left out, which makes every term of H larger.

*Below*: for every cell of the lattice a line that is at most s above H on all of ``c >= 0``; the function through the lower ends of
these lines at every ``c_j`` is then at most s above H as well, and so is the convex function below it.  Lines: ``1 - c`` at the
left end, a constant at the right end, and between them secants of H through two near points, of which the part between the two is
above H by less than their distance, slopes being at least -1.  Leaving out negative masses adds no more than their sum.  If P has s
more at an infinite loss, the product has at most ``prod (1 + s) - 1`` more, which is taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from flint import arb, fmpz

from privproof_checker.numbers import Epsilon
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import within

Curve: TypeAlias = Callable[[arb], arb]
"""``H(c)`` in a ball, for c in a ball of positive numbers."""

BITS = 288
"""The precision of balls."""
_PLACES = 176
"""Masses are whole numbers of 2 to the minus this."""
_DUST = 2**52
"""Masses at the ends of a product with less than this in all are moved inwards, outwards or away."""
_MOST_POINTS = 3_000_000
"""Points of a product; beyond, it is refused."""
_NEAR = 76
"""Two points of a secant are 2 to the minus this apart, relative to their place, or further where H is not known so well."""


@dataclass(frozen=True)
class Lattice:
    """Masses at the points from `first` on; `end` with an infinite loss; `slack` is how much less counts, as a whole number, too."""

    upper: bool
    first: int
    masses: tuple[int, ...]
    end: int
    slack: int

    def product(self, other: Lattice) -> Lattice:
        """Both together: the masses as digits of two whole numbers, whose product has those of the product as digits."""
        points = len(self.masses) + len(other.masses)
        within(points, _MOST_POINTS, "points of a composition", "evidence.uses")
        if not self.masses or not other.masses:
            return self._tidy(0, [], self._ends(other), self._slack(other))
        width = (2 * _PLACES + min(len(self.masses), len(other.masses)).bit_length() + 64) // 8 + 1
        numbers = [
            fmpz(int.from_bytes(b"".join(mass.to_bytes(width, "little") for mass in each.masses), "little"))
            for each in (self, other)
        ]
        digits = int(numbers[0] * numbers[1]).to_bytes(width * points, "little")
        found = [self._down(int.from_bytes(digits[width * k : width * (k + 1)], "little")) for k in range(points - 1)]
        return self._tidy(self.first + other.first, found, self._ends(other), self._slack(other))

    def _ends(self, other: Lattice) -> int:
        here, there = sum(self.masses), sum(other.masses)
        return self._down(self.end * other.end + self.end * there + here * other.end)

    def _slack(self, other: Lattice) -> int:
        """``(1 + s)(1 + t) - 1``, rounded up."""
        return self.slack + other.slack - (-(self.slack * other.slack) >> _PLACES)

    def _down(self, value: int) -> int:
        return -(-value >> _PLACES) if self.upper else value >> _PLACES

    def _tidy(self, first: int, masses: list[int], end: int, slack: int) -> Lattice:
        start, stop, before, after = 0, len(masses), 0, 0
        while start < stop and before + masses[start] < _DUST:
            before += masses[start]
            start += 1
        while stop > start and after + masses[stop - 1] < _DUST:
            stop -= 1
            after += masses[stop]
        kept = masses[start:stop]
        if self.upper:
            end += after
            if kept:
                kept[0] += before
            else:
                end += before
        return Lattice(self.upper, first + start, tuple(kept), end, slack)

    def power(self, times: int) -> Lattice:
        """So many of them: the binary digits of the number from the first one on."""
        found = self
        for digit in bin(times)[3:]:
            found = found.product(found)
            if digit == "1":
                found = found.product(self)
        return found

    def excess(self, at: Epsilon, step: Epsilon) -> arb:
        """``H(e^at)``, or what it is at least."""
        with precision(BITS):
            total = arb(self.end)
            start, h = at.ball(BITS), step.ball(BITS)
            for k, mass in enumerate(self.masses):
                if not mass:
                    continue
                part = 1 - (start - h * (self.first + k)).exp()
                if part > 0 or (self.upper and not part <= 0):
                    total += arb(mass) * part
            total = (total - self.slack) / arb(2) ** _PLACES
            return total.upper() if self.upper else total.lower()


def value_at(curve: Curve, at: Epsilon) -> arb:
    """``H(e^at)`` of one use alone."""
    with precision(BITS):
        return curve(at.ball(BITS).exp())


def lattice_above(curve: Curve, step: Epsilon, reach: int) -> Lattice:
    """Masses whose curve is nowhere below a curve."""
    with precision(BITS):
        corners = [(arb(0), arb(1))]
        for j in range(-reach, reach + 1):
            c = (step.ball(BITS) * j).exp()
            corners.append((c, curve(c).upper().min(arb(1))))
        masses, _ = _masses(corners, list(range(len(corners))), upper=True)
        return Lattice(upper=True, first=-reach, masses=masses, end=_whole(corners[-1][1], upper=True), slack=0)


def lattice_below(curve: Curve, step: Epsilon, reach: int, end: arb) -> Lattice:
    """Masses whose curve is nowhere above a curve by more than their slack; with an infinite loss there is `end` at least."""
    with precision(BITS):
        h = step.ball(BITS)
        places = [(h * j).exp() for j in range(-reach, reach + 1)]
        lines: list[Curve] = [lambda c: 1 - c]
        worst = arb(0)
        for low, high in pairwise(places):
            line, distance = _secant(curve, ((low + high) / 2).mid())
            if line(high).mid() < 0:  # at an end, where it is not below 0 or 1 - c in the cell
                line, distance = _secant(curve, (high - high * arb(2) ** (8 - _NEAR)).mid())
            elif line(low).mid() < (1 - low).mid():
                line, distance = _secant(curve, (low + low * arb(2) ** (8 - _NEAR)).mid())
            lines.append(line)
            worst = worst.max(distance)
        lines.append(lambda _: end.lower())
        corners, over = [(arb(0), arb(1))], arb(0)
        for number, c in enumerate(places):
            height = lines[number](c).min(lines[number + 1](c))
            chosen = height.mid().min(corners[-1][1])
            chosen = chosen if chosen > 0 else arb(0)
            over = over.max((chosen - height).upper())
            corners.append((c, chosen))
        masses, left_out = _masses(corners, _hull(corners), upper=False)
        slack = _whole(worst + over + left_out, upper=True)
        return Lattice(upper=False, first=-reach, masses=masses, end=_whole(corners[-1][1], upper=False), slack=slack)


def _hull(corners: list[tuple[arb, arb]]) -> list[int]:
    """The corners that are not for sure on or above a line between two others."""
    kept = [0]
    for number in range(1, len(corners)):
        c, value = corners[number]
        while len(kept) > 1:
            (a, u), (b, v) = corners[kept[-2]], corners[kept[-1]]
            if not v >= u + (value - u) * (b - a) / (c - a):
                break
            kept.pop()
        kept.append(number)
    return kept


def _secant(curve: Curve, place: arb) -> tuple[Curve, arb]:
    """The line through two near points of a curve, and how far they are apart."""
    here = curve(place)
    exponent = -_NEAR
    while exponent < -20 and arb(2) ** (2 * exponent) < here.rad():
        exponent += 1
    other = (place + place * arb(2) ** exponent).mid()
    slope = (curve(other) - here) / (other - place)
    return (lambda c: here + slope * (c - place)), other - place


def _masses(corners: list[tuple[arb, arb]], kept: list[int], *, upper: bool) -> tuple[tuple[int, ...], arb]:
    """The masses at the corners from the second on, of the chords through those that are kept, and the sum of those that were left out."""
    found, left_out = [0] * (len(corners) - 1), arb(0)
    (a, u), (b, v) = corners[kept[0]], corners[kept[1]]
    slope = (v - u) / (b - a)
    for place, number in enumerate(kept[1:], 1):
        c, value = corners[number]
        after = arb(0)
        if place + 1 < len(kept):
            beyond, lower = corners[kept[place + 1]]
            after = (lower - value) / (beyond - c)
        mass = c * (after - slope)
        if mass.lower() < 0:
            left_out -= mass.lower()
        found[number - 1] = _whole(mass, upper=upper)
        slope = after
    return tuple(found), left_out


def _whole(mass: arb, *, upper: bool) -> int:
    low, high = rational_bounds(mass)
    scaled = (high if upper else low) * fmpz(2) ** _PLACES
    return max(0, int(scaled.ceil() if upper else scaled.floor()))
