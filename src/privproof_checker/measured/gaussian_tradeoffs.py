"""Gaussian differential privacy: that two laws are told apart no better than N(0, 1) and N(mu, 1).

To prove, for both orders of the two laws (Dong, Roth, Su 2022): for all e >= 0 the excess delta of every event at e is
at most ``H(mu, e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)``.  As functions of ``c = e^e`` both are convex:
suprema of lines ``P(E) - c Q(E)``.

* If nothing but Gaussian noise tells them apart, each piece has ``p H(m, e)`` with ``m <= mu``, and H rises in mu.
* Losses at most L, no Gaussian noise: the laws come by one channel from randomised response, whose trade-off has one corner besides its
  ends, (1/(1+e^L), 1/(1+e^L)).  The trade-off of the normal laws is convex, so it lies below the chords if it is below at the corner:
  ``Phi(Phi^-1(1 - x) - mu) <= x`` with ``x = 1/(1+e^L)``, that is ``1 - x <= Phi(mu/2)``.
* Between two points a chord lies above delta, and the tangent of H at the middle below H: enough that delta is below the tangent at both
  points.  ``dH/dc = -Phi(-mu/2 - e/mu)``.
* Beyond the last point: pieces with ``m <= M`` and losses at most L besides have ``delta(e) <= H(M, e - L)``.  Both sides of ``H(M, e-L) <=
  H(mu, e)`` tend to 0, and the derivatives are ``-e^(e-L) Phi(-M/2 - (e-L)/M)`` and ``-e^e Phi(-mu/2 - e/mu)``; with ``M < mu`` and ``M/2 +
  (e-L)/M >= mu/2 + e/mu`` at the last point, hence beyond, the first is the smaller one in size.  Without Gaussian noise delta is 0 from
  L on.
"""

from __future__ import annotations

from itertools import pairwise

from flint import arb

from privproof_checker.integrals.normal_enclosures import normal_excess, normal_share
from privproof_checker.measured.measure_laws import Piece
from privproof_checker.measured.measure_orders import BITS, most_loss
from privproof_checker.numbers import ZERO, Epsilon, Rational, epsilon
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number

_MOST_POINTS = 20_000
"""Points of a proof; beyond, it is refused."""


def read_points(value: object, limits: Limits) -> list[list[Rational]]:
    """The lists of points of evidence."""
    found = []
    for number, item in enumerate(a_list(value, "evidence.points")):
        place = f"evidence.points[{number}]"
        listed = a_list(item, place)
        within(len(listed), _MOST_POINTS, "points", place)
        points = [a_number(each, place, limits) for each in listed]
        if not points or points[0] != 0 or any(a >= b for a, b in pairwise(points)):
            refuse("points rise, from 0 on", place)
        found.append(points)
    return found


def told_no_better(pieces: list[Piece], mu: Epsilon, lists: list[list[Rational]]) -> bool:
    """Whether two laws are told apart no better than N(0, 1) and N(mu, 1)."""
    square = max((2 * piece.rate for piece in pieces), default=ZERO)
    if any(piece.distance.whole for piece in pieces):
        return False
    normal = all(piece.normal for piece in pieces)
    if mu.compare(epsilon(0)) <= 0:
        return normal and square == 0
    claimed = mu.ball(BITS)
    if normal:
        exact = mu.ratio == 1
        return bool(square <= mu.shift**2) if exact else bool(arb(square) <= claimed * claimed)
    loss = most_loss(pieces)
    if loss is None:
        return False
    if square == 0 and 1 / (1 + (-loss).exp()) <= normal_share(claimed / 2):
        return True
    return any(_point_by_point(pieces, claimed, square, loss, points) for points in lists)


def _point_by_point(pieces: list[Piece], mu: arb, square: Rational, loss: arb, points: list[Rational]) -> bool:
    last = arb(points[-1])
    if square == 0:
        if not loss <= last:
            return False
    else:
        m = arb(square).sqrt()
        if not (m < mu and m / 2 + (last - loss) / m >= mu / 2 + last / mu):
            return False
    heights = {}
    for point in points:
        bound = arb(point).exp()
        heights[int(point.p), int(point.q)] = bound, sum((piece.most(bound) for piece in pieces), arb(0))
    for low, high in pairwise(points):
        e = arb(low + high) / 2
        slope, height, c = -normal_share(-mu / 2 - e / mu), normal_excess(mu, e), e.exp()
        for point in (low, high):
            bound, excess = heights[int(point.p), int(point.q)]
            if not excess <= height + slope * (bound - c):
                return False
    return True


def some_test_is_better(pieces: list[Piece], mu: Epsilon, e: Rational) -> bool:
    """Whether some event has a larger excess at an epsilon than the normal laws have."""
    excess = sum((piece.least(arb(e).exp()) for piece in pieces), arb(0))
    if mu.compare(epsilon(0)) <= 0:
        return bool(excess > 0)
    return bool(excess > normal_excess(mu.ball(BITS), arb(e)))
