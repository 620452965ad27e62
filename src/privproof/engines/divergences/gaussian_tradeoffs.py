"""Gaussian differential privacy: proofs that no test tells two laws better apart than N(0, 1) and N(mu, 1).

That is ``delta(e) <= H(mu, e)`` for every e >= 0 and both orders of the two laws, with the excess delta of `engines.runs.divergence` and
``H(mu, e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)``.  Both sides are convex in ``c = e^e``.  Three ways, with the largest distance m
of the Gaussian noise in a part and the largest loss L apart from it:

* nothing but Gaussian noise tells them apart: ``m <= mu``;
* *response*: no Gaussian noise, and ``e^L/(1 + e^L) <= Phi(mu/2)``: randomised response with parameter L has one test that counts;
* *points* ``0 = e_0 < ... < e_k``: between two of them delta lies below its chord, and H above its tangent at a place between; so it is
  enough that delta is below the tangent at both.  Beyond the last, ``delta(e) <= H(m, e - L)``, and ``m/2 + (e - L)/m >= mu/2 + e/mu``
  there, with m < mu, makes the derivative of ``H(mu, e) - H(m, e - L)`` negative, and its limit is 0; without Gaussian noise delta is 0
  from L on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flint import arb

from privproof.engines.divergences.divergence_parts import DivergencePart
from privproof.engines.divergences.renyi_orders import largest_loss
from privproof.exact import ZERO, Epsilon, Rational, epsilon, fraction
from privproof.exact.balls import precision
from privproof.exact.normal import normal_below, normal_excess

_BITS = 128
"""The precision of balls."""
_MOST_POINTS = 4_000
"""Points of a proof; a value that needs more is too near to the smallest one."""
_NARROWEST = Rational(1, 2**24)
"""A cell that would have to be narrower ends the search."""


def largest_excess(parts: Sequence[DivergencePart], e: arb) -> arb:
    """A bound on the excess of all events at epsilon e."""
    bound = e.exp()
    return sum((part.excess(bound)[0] for part in parts), arb(0))


def least_excess(parts: Sequence[DivergencePart], e: arb) -> arb:
    """What the excess of some event is at least."""
    bound, total = e.exp(), arb(0)
    for part in parts:
        found, exact = part.excess(bound)
        if not exact:
            more = part.p - bound * part.q
            found = more if more > 0 else arb(0)
        total += found
    return total


class Tests:
    """Whether two laws are told apart no better than N(0, 1) and N(mu, 1)."""

    def __init__(self, parts: Sequence[DivergencePart], mu: Epsilon) -> None:
        self.parts, self.mu = parts, mu
        self.square = max(2 * part.rate for part in parts)
        self.even = all(part.even and part.lattice is None for part in parts)
        with precision(_BITS):
            self.loss = None if any(part.lattice is not None for part in parts) else largest_loss(parts)

    def holds(self, points: Sequence[Rational] | None) -> bool:
        """Whether some points prove it; None for none."""
        if self.mu.compare(epsilon(0)) <= 0:
            return self.even and self.square == 0
        with precision(_BITS):
            mu = self.mu.ball(_BITS)
            if self.even:
                if self.mu.ratio == 1:
                    return bool(self.square <= self.mu.shift**2)
                return bool(arb(self.square) <= mu * mu)
            if self.loss is None:
                return False
            if self.square == 0 and self.loss.exp() / (1 + self.loss.exp()) <= normal_below(mu / 2):
                return True
            if points is None or not points or points[0] != 0 or not self._beyond(points[-1], mu):
                return False
            return all(self._cell(low, high, mu) for low, high in pairwise(points))

    def _beyond(self, last: Rational, mu: arb) -> bool:
        if self.loss is None:
            return False
        if self.square == 0:
            return bool(self.loss <= last)
        m = arb(self.square).sqrt()
        return bool(m < mu) and bool(m / 2 + (arb(last) - self.loss) / m >= mu / 2 + arb(last) / mu)

    def _cell(self, low: Rational, high: Rational, mu: arb) -> bool:
        """Whether delta is below a tangent of H at both ends."""
        e = arb(low + high) / 2
        slope = -normal_below(-mu / 2 - e / mu)
        height, c = normal_excess(mu, e), e.exp()
        return all(
            bool(largest_excess(self.parts, arb(end)) <= height + slope * (arb(end).exp() - c)) for end in (low, high)
        )

    def points(self) -> tuple[Rational, ...] | None:
        """Points, by search; None where none are found."""
        if self.loss is None or self.mu.compare(epsilon(0)) <= 0:
            return None
        with precision(_BITS):
            mu = self.mu.ball(_BITS)
            last = Rational(1)
            while not self._beyond(last, mu):
                last *= 2
                if last > _MOST_POINTS:
                    return None
            found = [ZERO]
            waiting = [(ZERO, last)]
            while waiting:
                low, high = waiting.pop()
                if self._cell(low, high, mu):
                    found.append(high)
                    continue
                if high - low < _NARROWEST or len(found) > _MOST_POINTS:
                    return None
                middle = (low + high) / 2
                waiting += [(middle, high), (low, middle)]
        return tuple(found)


def needed_mu(parts: Sequence[DivergencePart], e: Rational, *, above: float = 0.0) -> float:
    """The smallest mu that allows the excess at one epsilon, in floating point, if it is well above a number; otherwise that number."""
    with precision(_BITS):
        excess, low, high = least_excess(parts, arb(e)), 0.0, 1.0
        if not excess > 0 or (above > 0 and not normal_excess(arb(above * (1 + _MORE)), arb(e)) < excess):
            return above
        while high < _LARGEST_MU and normal_excess(arb(high), arb(e)) < excess:
            low, high = high, 2 * high
        while low == 0 and high > _SMALLEST_MU:
            low, high = (high / 2, high) if normal_excess(arb(high / 2), arb(e)) < excess else (0.0, high / 2)
        for _ in range(60):
            middle = _tangent(low, excess, arb(e))
            if 0 <= middle - low <= _NARROW * low:
                break
            middle = middle if low < middle < high else (low + high) / 2
            if normal_excess(arb(middle), arb(e)) < excess:
                low = middle
            else:
                high = middle
    return low


def _tangent(mu: float, excess: arb, e: arb) -> float:
    """Where the tangent to the logarithm of the excess of normal laws reaches an excess: not beyond, for the logarithm is concave."""
    if mu <= 0:
        return -1.0
    at = arb(mu)
    density = (-((at / 2 - e / at) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
    now = normal_excess(at, e)
    return mu + float((now / density * (excess / now).log()).mid()) if now > 0 and excess > 0 else -1.0


_LARGEST_MU = 2.0**12
"""A test that needs more tells as good as surely."""
_SMALLEST_MU = 2.0**-60
"""What needs less than this counts as 0, as it did for 60 halvings of 1."""
_MORE = 2.0**-42
"""By how much, relatively, a mu must be above another to be looked for: less is taken off in the end, for rounding."""
_NARROW = 2.0**-50
"""Relative steps that floating point does not tell from none."""


def mu_of_rate(rate: Rational) -> Epsilon | None:
    """``sqrt(2 rate)`` where it is rational."""
    square = fraction(2 * rate)
    roots = [_whole_root(n) for n in (square.numerator, square.denominator)]
    return None if None in roots else epsilon(fraction(Rational(roots[0] or 0, roots[1] or 1)))


def _whole_root(value: int) -> int | None:
    from math import isqrt

    root = isqrt(value)
    return root if root * root == value else None
