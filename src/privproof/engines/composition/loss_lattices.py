"""From a hockey-stick curve to privacy losses on a lattice, above it and below it, both to the second order of the step.

``H(c)``, the largest ``P(E) - c Q(E)``, is convex in c and does not rise, ``H(0) = 1``, and lines ``P(E) - c Q(E)`` lie below it.
With ``c_j = e^(j h)`` and j from -J to J:

* *from above* (connect the dots: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022).  By convexity the chords through ``(0, 1)``
  and the points ``(c_j, H(c_j))`` lie above H, and beyond ``c_J`` the constant ``H(c_J)`` does.  That is the curve of the masses
  ``p_j = c_j (s_j - s_(j-1))``, with the slopes s, and of ``H(c_J)`` with an infinite loss.  Negative masses, from the radii of
  balls, are set to 0, which raises the curve;
* *from below*.  Take a line below H + s in every cell of the lattice, ``1 - c`` in that up to ``c_(-J)`` and a constant in that
  from ``c_J`` on.  In ``c_j`` put the smaller value of the two lines that meet there; in every cell the chord of these values is
  below the line, and so is the convex function through the lowest of them.  As a line, any chord of H over a short stretch ``[t, t
  + w]``: outside of it, it is below H by convexity, and inside above H by at most ``w``, because no slope is below -1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from flint import arb

from privproof.engines.composition.composed_losses import BITS, Losses
from privproof.exact import Epsilon
from privproof.exact.balls import precision

HockeyStick: TypeAlias = Callable[[arb], arb]
"""A hockey-stick curve: for a ball around c > 0 one around the largest ``P(E) - c Q(E)``; or an upper bound, where that is said."""

_SHORTEST, _LONGEST = arb(2) ** -80, arb(2) ** -20
"""How long the stretch of a line is, relative to its place: about the root of the radius of a value."""
_NEXT = arb(2) ** -70
"""A line at an end of a cell is taken so near to it, relative to its place."""


def losses_above(curve: HockeyStick, step: Epsilon, reach: int) -> Losses:
    """Losses whose curve is nowhere below a curve, of which upper bounds are enough."""
    with precision(BITS):
        places = [(step.ball(BITS) * j).exp() for j in range(-reach, reach + 1)]
        corners = [(-reach - 1, arb(0), arb(1))]
        corners += [(j, c, curve(c).upper().min(arb(1))) for j, c in enumerate(places, -reach)]
        return Losses.of(step, -reach, _masses(corners), corners[-1][2], arb(0), up=True)


def losses_below(curve: HockeyStick, step: Epsilon, reach: int, certain: arb) -> Losses:
    """Losses whose curve is nowhere above a curve by more than their slack.

    Args:
        curve: the curve, enclosed.
        step: the step of the lattice.
        reach: its largest loss, in steps.
        certain: a bound from below on the mass of an infinite loss.
    """
    with precision(BITS):
        h = step.ball(BITS)
        places = [(h * j).exp() for j in range(-reach, reach + 1)]
        lines = [_Line(arb(0), arb(1), arb(-1), arb(0))]
        lines += [_cell(curve, low, high) for low, high in pairwise(places)]
        lines.append(_Line(arb(0), certain.lower(), arb(0), arb(0)))
        above = arb(0)
        corners = [(-reach - 1, arb(0), arb(1))]
        for j, (c, (left, right)) in enumerate(zip(places, pairwise(lines), strict=True), -reach):
            value = left.at(c).min(right.at(c))
            kept = value.mid().max(arb(0)).min(corners[-1][2])
            above = above.max((kept - value).upper())
            corners.append((j, c, kept))
        slack = above + max(line.above for line in lines)
        lowest = _lowest(corners)
        masses = [arb(0)] * len(places)
        for (j, _, _), mass in zip(lowest[1:], _masses(lowest), strict=True):
            masses[j + reach] = mass
        return Losses.of(step, -reach, masses, corners[-1][2], slack, up=False)


Corner: TypeAlias = tuple[int, arb, arb]
"""A point of a curve: its number on the lattice, c, and the value."""


def _lowest(corners: Sequence[Corner]) -> list[Corner]:
    """The corners of the largest convex function below some points; those that may be on it are kept."""
    kept: list[Corner] = []
    for corner in corners:
        while len(kept) > 1:
            (_, a, u), (_, b, v), (_, c, w) = kept[-2], kept[-1], corner
            if not (v - u) * (c - a) >= (w - u) * (b - a):
                break
            kept.pop()
        kept.append(corner)
    return kept


def _masses(corners: Sequence[Corner]) -> list[arb]:
    """The masses at all corners but the first, of the curve that goes through them and is constant beyond the last."""
    slopes = [(v - u) / (b - a) for (_, a, u), (_, b, v) in pairwise(corners)]
    return [
        c * (after - before)
        for (_, c, _), (before, after) in zip(corners[1:], pairwise([*slopes, arb(0)]), strict=True)
    ]


def _cell(curve: HockeyStick, low: arb, high: arb) -> _Line:
    """A line below a curve for one cell: in the middle, unless it leaves ``max(0, 1 - c)`` there; then at that end."""
    middle = _line(curve, ((low + high) / 2).mid())
    if middle.at(high).mid() < 0:
        return _line(curve, (high * (1 - _NEXT)).mid())
    if middle.at(low).mid() < (1 - low).mid():
        return _line(curve, (low * (1 + _NEXT)).mid())
    return middle


@dataclass(frozen=True)
class _Line:
    """A line through a point, and by how much it may be above a curve."""

    place: arb
    value: arb
    slope: arb
    above: arb

    def at(self, c: arb) -> arb:
        return self.value + self.slope * (c - self.place)


def _line(curve: HockeyStick, place: arb) -> _Line:
    """The chord of a curve over a short stretch from a point on: no shorter than the radii of its values allow."""
    value = curve(place)
    width = _SHORTEST
    while width < _LONGEST and width * width < value.rad():
        width *= 4
    beyond = (place * (1 + width)).mid()
    return _Line(place, value, (curve(beyond) - value) / (beyond - place), beyond - place)
