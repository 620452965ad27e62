"""Privacy losses on a lattice, and their composition: integers, rounded up for bounds from above and down for bounds from below.

A pair of measures (P, Q) with likelihood ratios ``e^(j h)``, j whole, has the hockey-stick curve ``H(c) = r + sum over j of p_j
max(0, 1 - c e^(-j h))``, where ``p_j`` is the mass of P with the loss ``j h`` and r its mass with an infinite one.  The product of
two pairs adds up losses, so its masses are the product of two polynomials.

**Monotony.**  The curve of a product is ``sum over o of p_2(o) H_1(c q_2(o)/p_2(o))``: it rises with the curve of each factor, for
measures of any total.  So what lies above (below) the curves of the factors lies above (below) that of the product.  The same sum
with a curve ``H_1`` that depends on o, each below one bound, shows it for adaptive composition (Zhu, Dong and Wang 2022, theorem
10).

**Slack.**  Losses from below may lie above the true curve by a constant s: then they are below that of P with s more of infinite
loss, and the product is above the true one by at most ``(1 + s_1)(1 + s_2)... - 1``, which is taken off in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from flint import arb, fmpz, fmpz_poly

from privproof.exact import Epsilon, Rational
from privproof.exact.balls import precision, rational_bounds

_UNIT = 160
"""Masses are whole multiples of 2 to the minus this."""
_ONE = fmpz(2) ** _UNIT
_NEGLIGIBLE = fmpz(2) ** 40
"""Ends of a composition with less mass in all are cut off: to an infinite loss or upwards from above, away or downwards from below."""
BITS = 256
"""The precision of balls: losses of thousands of steps are powers of one."""
MOST_LOSSES = 2_000_000
"""Losses of a composition; beyond, it is refused: a product would take minutes."""


class TooManyLosses(ValueError):
    """A composition would have more losses than there is room for."""


@dataclass(frozen=True)
class Losses:
    """Masses of P by privacy loss, in whole multiples of a step.

    Attributes:
        step: the step h.
        up: whether everything is rounded up, so that the curve is a bound from above, or down.
        least: the smallest loss, in steps.
        masses: the masses from there on, in units of 2^-160.
        infinite: the mass of an infinite loss, in the same units.
        slack: from below, s: by how much the curve may be above the true one, in the same units; 0 from above.
    """

    step: Epsilon
    up: bool
    least: int
    masses: fmpz_poly
    infinite: fmpz
    slack: fmpz = field(default_factory=lambda: fmpz(0))

    @classmethod
    def of(cls, step: Epsilon, least: int, masses: Sequence[arb], infinite: arb, slack: arb, *, up: bool) -> Losses:
        """Losses from balls around masses; negative ones count as 0, and from below they are added to the slack."""
        whole = []
        more = _units(rational_bounds(slack)[1], up=True)
        for mass in masses:
            low, high = rational_bounds(mass)
            if not up:
                more += _units(-low, up=True)
            whole.append(_units(high if up else low, up=up))
        end = rational_bounds(infinite)[up]
        return cls(step, up, least, fmpz_poly(whole), _units(end, up=up), more)

    @property
    def probabilities(self) -> list[Rational]:
        """The masses as fractions."""
        return [Rational(mass, _ONE) for mass in self.masses.coeffs()]

    @property
    def certain(self) -> Rational:
        """The mass of an infinite loss as a fraction."""
        return Rational(self.infinite, _ONE)

    def joined(self, other: Losses) -> Losses:
        """The losses of both together."""
        if self.masses.length() + other.masses.length() > MOST_LOSSES:
            raise TooManyLosses(f"more than {MOST_LOSSES} losses")
        found = [self._rounded(each) for each in (self.masses * other.masses).coeffs()]
        totals = [sum(each.masses.coeffs(), each.infinite) for each in (self, other)]
        infinite = self._rounded(
            self.infinite * totals[1] + other.infinite * (totals[0] - self.infinite)
        )  # one of the two is infinite
        return self._cut(self.least + other.least, found, infinite, _more(self.slack, other.slack))

    def _rounded(self, value: fmpz) -> fmpz:
        return -((-value) >> _UNIT) if self.up else value >> _UNIT

    def _cut(self, least: int, found: list[fmpz], infinite: fmpz, slack: fmpz) -> Losses:
        """The losses without ends of no weight."""
        low, gone = 0, fmpz(0)
        while low < len(found) and gone + found[low] < _NEGLIGIBLE:
            gone += found[low]
            low += 1
        high, beyond = len(found), fmpz(0)
        while high > low and beyond + found[high - 1] < _NEGLIGIBLE:
            high -= 1
            beyond += found[high]
        kept = found[low:high]
        if self.up:
            infinite += beyond
            if kept:
                kept[0] += gone
            else:
                infinite += gone
        elif kept:
            kept[-1] += beyond
        return Losses(self.step, self.up, least + low, fmpz_poly(kept), infinite, slack)

    def times(self, number: int) -> Losses:
        """The losses of so many uses."""
        result: Losses | None = None
        square = self
        while True:
            if number % 2:
                result = square if result is None else result.joined(square)
            number //= 2
            if result is not None and not number:
                return result
            square = square.joined(square)

    def without_slack(self) -> Losses:
        """Losses from below whose curve is nowhere above the true one: for those who know of no slack.

        An infinite loss of at least s loses s.  Otherwise let ``H(c_k) >= s``, k as large as it may be, and leave out all losses above ``k
        h``: what is left is 0 from ``c_k`` on, and before it lacks ``sum over j > k of p_j (1 - c/c_j) >= H(c_k) >= s``.
        """
        if self.infinite >= self.slack:
            return replace(self, infinite=self.infinite - self.slack, slack=fmpz(0))
        masses = list(self.masses.coeffs())
        with precision(BITS):
            factor = (-self.step.ball(BITS)).exp()
            above = below = arb(0)  # of the losses beyond, as seen from c_k: their masses, and masses times c_k/c_j
            while masses and not self.infinite + above - below >= self.slack:
                mass = arb(masses.pop())
                above, below = above + mass, (below + mass) * factor
        return replace(self, masses=fmpz_poly(masses), infinite=fmpz(0), slack=fmpz(0))

    def delta(self, at: Epsilon) -> arb:
        """A bound on the excess at an epsilon: no less than it from above, no more from below."""
        with precision(BITS):
            e, h = at.ball(BITS), self.step.ball(BITS)
            total = arb(self.infinite)
            ratio, factor = (e - h * self.least).exp(), (-h).exp()
            for mass in self.masses.coeffs():
                if ratio < 1:
                    total += arb(mass) * (1 - ratio)
                elif self.up and not ratio >= 1:
                    total += arb(mass) * (1 - ratio.lower())
                ratio *= factor
            total = (total - arb(self.slack)) / arb(_ONE)
            return total.upper() if self.up else total.lower()


def _more(one: fmpz, other: fmpz) -> fmpz:
    """``(1 + s)(1 + t) - 1``, rounded up."""
    return one + other - (-(one * other) >> _UNIT)


def _units(value: Rational, *, up: bool) -> fmpz:
    """A mass in units; none where it is negative."""
    scaled = value * _ONE
    return max(fmpz(0), scaled.ceil() if up else scaled.floor())
