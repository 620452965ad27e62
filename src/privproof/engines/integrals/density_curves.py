"""The densities and distribution functions of continuous noise, with bounds on their moduli off the real line.

On each side of its center a law is analytic, and the piece on one side continues to the whole plane.  The bounds:

* ``|Phi(x + iy)| <= Phi(x) + c phi(x)`` with ``c = |y| e^(y^2/2)``, because ``Phi(x + iy) = Phi(x) + i int_0^y phi(x + iv) dv`` and
  ``|phi(x + iv)| = phi(x) e^(v^2/2)``; the right side rises in x up to 1/c and falls afterwards;
* ``|1 - a e^-(u + iv)|^2 = 1 - 2 a E cos v + a^2 E^2`` with ``E = e^-u``, which is convex in E.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from flint import arb

from privproof.exact import Rational
from privproof.exact.normal import normal_below

Kind: TypeAlias = Literal["gaussian", "laplace", "exponential"]
What: TypeAlias = Literal["below", "above", "density"]


@dataclass(frozen=True)
class DensityLaw:
    """A law of continuous noise, at a center.

    Attributes:
        kind: which one.
        center: its mean; for exponential noise where it begins.
        scale: its scale; for Gaussian noise the standard deviation.
        turned: whether exponential noise goes to the left.
    """

    kind: Kind
    center: Rational
    scale: Rational
    turned: bool = False

    @property
    def kinks(self) -> tuple[Rational, ...]:
        """Where it is not analytic."""
        return () if self.kind == "gaussian" else (self.center,)

    def beyond(self, low: Rational, high: Rational) -> tuple[arb, arb]:
        """Its mass to the left of one point and to the right of another."""
        return self.below(low), self.above(high)

    def below(self, point: Rational) -> arb:
        """The probability of less than a point."""
        return LawCurve(self, "below").piece(point, point).value(arb(point))

    def above(self, point: Rational) -> arb:
        """The probability of more than a point."""
        return LawCurve(self, "above").piece(point, point).value(arb(point))


@dataclass(frozen=True)
class LawCurve:
    """A function of a law: the probability to be below a point, or above it, or the density."""

    law: DensityLaw
    what: What

    def piece(self, low: Rational, high: Rational) -> CurvePiece:
        """The function between two points without a kink between them; a point right at the kink belongs to either side."""
        turned = self.law.turned
        what = self.what if not turned or self.what == "density" else _OTHER[self.what]
        if turned:
            low, high = -high, -low
        center = -self.law.center if turned else self.law.center
        if (
            self.law.kind == "laplace" and what == "above"
        ):  # symmetric: the probability to be below, seen from the other side
            turned, what, low, high, center = not turned, "below", -high, -low, -center
        after = low >= center if self.law.kind != "gaussian" else True
        return CurvePiece(self.law.kind, what, center, self.law.scale, after=after, turned=turned)


_OTHER: dict[What, What] = {"below": "above", "above": "below", "density": "density"}


@dataclass(frozen=True)
class CurvePiece:
    """An analytic piece of a curve: after the center, or before it; `turned` if it is read from right to left."""

    kind: Kind
    what: What
    center: Rational
    scale: Rational
    after: bool
    turned: bool

    def value(self, point: arb) -> arb:
        """Its value at a real point."""
        x = ((-point if self.turned else point) - self.center) / self.scale
        if self.kind == "gaussian":
            if self.what == "density":
                return _phi(x) / self.scale
            return normal_below(x if self.what == "below" else -x)
        if self.kind == "laplace":
            if self.what == "density":
                return (-x if self.after else x).exp() / (2 * self.scale)
            return 1 - (-x).exp() / 2 if self.after else x.exp() / 2
        if not self.after:
            return arb(1 if self.what == "above" else 0)
        tail = (-x).exp()
        return {"below": 1 - tail, "above": tail, "density": tail / self.scale}[self.what]

    def bound(self, low: arb, high: arb, across: arb) -> arb:
        """A bound on its modulus where the real part lies between two points and the imaginary part is at most a third."""
        if self.turned:
            low, high = -high, -low
        u0, u1, v = (low - self.center) / self.scale, (high - self.center) / self.scale, across / self.scale
        if self.kind == "gaussian":
            if self.what == "density":
                nearest = u0 if u0 > 0 else (u1 if u1 < 0 else arb(0))
                return _phi(nearest) * (v * v / 2).exp() / self.scale
            return _normal_bound(u0, u1, v) if self.what == "below" else _normal_bound(-u1, -u0, v)
        if self.kind == "laplace":
            if self.what == "density":
                return (-u0 if self.after else u1).exp() / (2 * self.scale)
            return _one_minus(arb(1) / 2, u0, u1, v) if self.after else u1.exp() / 2
        if not self.after:
            return arb(1 if self.what == "above" else 0)
        if self.what == "below":
            return _one_minus(arb(1), u0, u1, v)
        return (-u0).exp() / (self.scale if self.what == "density" else 1)


def _phi(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def highest_normal(across: arb) -> arb:
    """A bound on the standard normal distribution function within some distance from the line."""
    factor = across * (across * across / 2).exp()
    return normal_below(1 / factor) + factor * _phi(1 / factor)


def _normal_bound(low: arb, high: arb, across: arb) -> arb:
    factor = across * (across * across / 2).exp()
    top = 1 / factor
    x = high if high <= top else (low if low >= top else top)
    return normal_below(x) + factor * _phi(x)


def _one_minus(share: arb, low: arb, high: arb, across: arb) -> arb:
    """A bound on ``|1 - share e^-(u + iv)|``."""
    cosine = across.cos() if across < arb.pi() else arb(-1)
    found = []
    for u in (low, high):
        weight = share * (-u).exp()
        found.append(1 - 2 * weight * cosine + weight * weight)
    return (found[0].upper() if found[0].upper() >= found[1].upper() else found[1].upper()).sqrt()
