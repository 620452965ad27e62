"""Rules for integrals of densities times powers of shares of any laws, with a bound on their error.

Between the places where a law has a kink everything is entire.  There the line is cut into panels of middle m and half width r, each with
the n points of the Gauss-Legendre rule.  Where ``|f| <= M`` in the ellipse with foci ``m - r`` and ``m + r`` and half axes
``r (q + 1/q)/2`` and ``r (q - 1/q)/2``, that rule is off by at most ``r 64 M/(15 (q-1) q^(2n-1))`` (Rabinowitz 1969; Trefethen,
*Approximation theory and approximation practice*, theorem 19.3).  A panel is halved until this is as small as wanted.

M comes from the laws, at ``w = u + iy`` in units of the scale from the center: with ``v`` the least ``|u|`` and y the largest there,

* Gaussian: the density is at most ``e^((y^2 - v^2)/2)/(s sqrt(2 pi))``; a share, above or below, at most ``1 + c phi(v)`` and at most
  ``Phi(1/c) + c phi(1/c)``, ``c = y e^(y^2/2)``, because ``|Phi(u+iy)| <= Phi(u) + c phi(u)``;
* Laplace and exponential: with E the largest ``e^u`` or ``e^-u`` the density is at most ``E/2s`` and ``E/s``, a share ``1 + E``.

All integrals have one rule: the points and what a law is there are shared, and M is a bound for the products of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from flint import arb, ctx

from privproof_checker.integrals.normal_enclosures import TAIL, highest_share, normal_share
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import within

_POINTS = 32
"""Points of a panel."""
_RATIO = 4
"""The sum of the half axes of the ellipse, in half widths of the panel."""
_BITS = 80
"""A panel is off by at most 2 to minus this."""
_MOST_PANELS = 3_000
"""Panels of a rule; laws that ask for more are refused."""


@dataclass(frozen=True)
class PanelLaw:
    """A continuous law; exponential noise goes to the right, or to the left where it is turned."""

    kind: str
    center: Rational
    scale: Rational
    turned: bool = False


@dataclass(frozen=True)
class _Panel:
    middle: Rational
    half: Rational

    def after(self, law: PanelLaw) -> bool:
        """Whether it lies after the center of a law; no center of one with a kink is inside."""
        return self.middle >= law.center


@dataclass(frozen=True)
class QuadratureRule:
    """Points on the line with their weights, panel by panel; by how much the sum over them may be off."""

    panels: tuple[_Panel, ...]
    points: tuple[tuple[arb, ...], ...]
    error: arb

    def densities(self, law: PanelLaw) -> list[arb]:
        """The density of a law times the weight, at all points."""
        found = []
        weights = [weight for _, weight in _roots(int(ctx.prec))]
        for panel, points in zip(self.panels, self.points, strict=True):
            after, half = panel.after(law), arb(panel.half)
            found += [half * weight * _density(law, x, after=after) for x, weight in zip(points, weights, strict=True)]
        return found

    def shares(self, law: PanelLaw) -> list[arb]:
        """The probability to be below a point, at all points."""
        found = []
        for panel, points in zip(self.panels, self.points, strict=True):
            after = panel.after(law)
            found += [_share(law, x, after=after, below=True) for x in points]
        return found

    def outside(self, law: PanelLaw) -> arb:
        """How much of a law lies before the first panel and after the last."""
        start, stop = self.panels[0], self.panels[-1]
        first, last = arb(start.middle - start.half), arb(stop.middle + stop.half)
        before = _share(law, first, after=start.after(law), below=True)
        return before + _share(law, last, after=stop.after(law), below=False)


def rule_for(hubs: Iterable[PanelLaw], shares: Sequence[tuple[PanelLaw, int]], most: int) -> QuadratureRule:
    """A rule for products of one density and powers of shares.

    Args:
        hubs: the laws of the densities.
        shares: the laws of the shares, each with the highest power that it is raised to.
        most: the highest sum of powers in a product.
    """
    hubs = list(hubs)
    start = min(hub.center - TAIL[hub.kind] * hub.scale for hub in hubs)
    stop = max(hub.center + TAIL[hub.kind] * hub.scale for hub in hubs)
    kinks = {law.center for law in (*hubs, *(law for law, _ in shares)) if law.kind != "gaussian"}
    cuts = sorted({start, stop, *(kink for kink in kinks if start < kink < stop)})
    waiting = [_Panel((a + b) / 2, (b - a) / 2) for a, b in pairwise(cuts)][::-1]
    enough, error, panels = arb(2) ** -_BITS, arb(0), []
    while waiting:
        panel = waiting.pop()
        off = _off(panel, hubs, shares, most)
        if off <= enough:
            panels.append(panel)
            error += off
        else:
            quarter = panel.half / 2
            waiting += [_Panel(panel.middle + quarter, quarter), _Panel(panel.middle - quarter, quarter)]
        within(len(panels) + len(waiting), _MOST_PANELS, "panels of an integral", "evidence")
    roots = [root for root, _ in _roots(int(ctx.prec))]
    points = tuple(tuple(arb(each.middle) + arb(each.half) * root for root in roots) for each in panels)
    return QuadratureRule(tuple(panels), points, error.upper())


@lru_cache(maxsize=4)
def _roots(bits: int) -> tuple[tuple[arb, arb], ...]:
    """The points and the weights of the Gauss-Legendre rule from -1 to 1, at a precision."""
    return tuple(arb.legendre_p_root(_POINTS, k, weight=True) for k in range(_POINTS))


def _off(panel: _Panel, hubs: Iterable[PanelLaw], shares: Sequence[tuple[PanelLaw, int]], most: int) -> arb:
    """By how much the rule may be off on a panel."""
    tops = [(max(arb(1), _largest(law, panel)[1]), power) for law, power in shares]
    each = together = arb(1)
    for top, power in tops:
        each *= top**power
        together = max(together, top)
    density = arb(0)
    for hub in hubs:
        density = max(density, _largest(hub, panel)[0])
    factor = arb(64) / (15 * (_RATIO - 1) * arb(_RATIO) ** (2 * _POINTS - 1))
    return (arb(panel.half) * factor * density * min(each.upper(), (together**most).upper())).upper()


def _largest(law: PanelLaw, panel: _Panel) -> tuple[arb, arb]:
    """Bounds on the density and on the shares of a law in the ellipse of a panel."""
    along = panel.half * (Rational(_RATIO) + Rational(1, _RATIO)) / 2
    low, high = (panel.middle - along - law.center) / law.scale, (panel.middle + along - law.center) / law.scale
    if law.kind != "gaussian":
        rises = not panel.after(law)
        grown = (arb(high) if rises else arb(-low)).exp().upper()
        if law.kind == "exponential" and law.turned != rises:
            return arb(0), arb(1)
        return (grown / arb(law.scale)).upper(), (1 + grown).upper()
    across = arb(panel.half * (Rational(_RATIO) - Rational(1, _RATIO)) / 2 / law.scale)
    nearest = arb(max(low, -high, Rational(0)))
    rise, root = (across * across / 2).exp(), (2 * arb.pi()).sqrt()
    bell = (-nearest * nearest / 2).exp() / root
    share = 1 + across * rise * bell
    return (rise * bell / arb(law.scale)).upper(), min(share.upper(), highest_share(across).upper())


def _density(law: PanelLaw, x: arb, *, after: bool) -> arb:
    w = (x - law.center) / law.scale
    if law.kind == "gaussian":
        return (-w * w / 2).exp() / (2 * arb.pi()).sqrt() / law.scale
    if law.kind == "laplace":
        return (-w if after else w).exp() / 2 / law.scale
    return arb(0) if law.turned == after else (w if law.turned else -w).exp() / law.scale


def _share(law: PanelLaw, x: arb, *, after: bool, below: bool) -> arb:
    """The probability to be below a number, or above it; the number lies after the center of the law, or before it."""
    w = (x - law.center) / law.scale
    if law.kind == "gaussian":
        return normal_share(w if below else -w)
    if law.kind == "exponential" and law.turned == after:
        return arb(after == below)
    tail = (-w if after else w).exp() / (2 if law.kind == "laplace" else 1)
    return tail if after != below else 1 - tail
