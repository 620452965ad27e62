"""Integers with discrete Gaussian noise that are moved: the excess of their two laws and their Rényi moments, in balls.

Let ``z_i`` be integers around ``d_i`` on the left and around 0 on the right, both with weights ``e^(-x^2/(2 v_i))`` (Canonne, Kamath and
Steinke 2020).  The loss of an outcome is ``sum of d_i z_i / v_i - m/2`` with ``m = sum of d_i^2/v_i``.  With g the largest number of
which all ``d_i/v_i`` are multiples, ``d_i/v_i = a_i g``, it is ``g n - m/2`` at ``n = sum of a_i z_i``: a lattice.  On the right n is
distributed as ``T = sum of a_i x_i`` with the noise x, on the left as ``T + K`` with the integer ``K = sum of a_i d_i``.  So with the
least n whose loss is above e

    excess at e = P(T >= n - K) - exp(e) P(T >= n).

**Distribution function.**  The noise is no wider than normal noise, ``E exp(t x) <= exp(t^2 v/2)``, hence ``P(T >= A) <= exp(-A^2/(2V))``
with ``V = sum of a_i^2 v_i``.  Seen modulo ``2A``, T lies in ``n, ..., A - 1`` with a probability that differs from ``P(T >= n)`` by at
most twice that; and this probability is a sum over the 2A values of the characteristic function,

    phi(t) = product of  sum over k of exp(-v (a t + 2 pi k)^2/2)  /  sum over k of exp(-2 pi^2 k^2 v)

by Poisson's formula.  Each factor falls from 0 to pi (Jacobi's product), so with all ``a_i = 1`` few terms count, whatever the variance.

**Moments.**  ``E_Q (P/Q)^a = exp(a(a-1)m/2) product of theta_i((a-1) d_i)/theta_i(0)`` with ``theta(c) = sum over k of exp(-2 pi^2 k^2 v)
cos(2 pi k c)``, at most ``theta(0)``, and equal to it at every integer: ``D_a <= a m/2``, with equality at integer orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, gcd, isqrt, lcm, log, pi, sqrt
from typing import TypeVar

from flint import arb, arb_series, ctx

from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational
from privproof.exact.balls import precision, rational_bounds

Order = TypeVar("Order", arb, arb_series)
"""The order of a moment: a number, or a power series around one, for derivatives."""

_SPARE = 64
"""Bits beyond those that are asked for: rounding of some thousands of terms takes a few."""
_FEW = 500
"""Terms of a tail that are summed one by one: fewer than the characteristic function has where the variance is large."""
_MOST_TERMS = 100_000
"""Values of a characteristic function that are summed; beyond, it takes seconds, and is refused."""
_MOST_WAVES = 20_000
"""Terms of Poisson's formula: as many are needed where the variance is below a millionth, and beyond that it is refused."""
_MOST_BITS = 30_000
"""The precision up to which rare events are followed; rarer ones are enclosed between 0 and their bound."""


@dataclass(frozen=True)
class Lattice:
    """Integers with discrete Gaussian noise that are moved.

    Attributes:
        moves: for each the variance, and by how much it is moved, an integer above 0.
    """

    moves: tuple[tuple[Rational, int], ...]

    @cached_property
    def square(self) -> Rational:
        """The sum of the squares of all moves, each over its variance."""
        return sum((by * by / variance for variance, by in self.moves), ZERO)

    @cached_property
    def unit(self) -> Rational:
        """The step of the lattice of losses."""
        ratios = [by / variance for variance, by in self.moves]
        below = lcm(*(int(ratio.q) for ratio in ratios))
        return Rational(gcd(*(int((ratio * below).p) for ratio in ratios)), below)

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """How many steps one step of each number makes."""
        return tuple(int((by / variance / self.unit).p) for variance, by in self.moves)

    @cached_property
    def width(self) -> Rational:
        """The sum of the variances, each times the square of its factor."""
        return sum((a * a * variance for a, (variance, _) in zip(self.factors, self.moves, strict=True)), ZERO)

    @property
    def move(self) -> int:
        """How far T lies to the right on the left side."""
        return int((self.square / self.unit).p)

    def first(self, c: arb) -> tuple[int, int] | None:
        """The least n whose loss is above ``ln(c)``, between two integers; None where c is not known to be above 0."""
        at = (c.log() + arb(self.square) / 2) / arb(self.unit)
        if not at.is_finite():
            return None
        low, high = (int(end.floor()) + 1 for end in rational_bounds(at))
        return low, high

    def excess(self, c: arb) -> arb:
        """The largest ``P(E) - c Q(E)``."""
        ends = self.first(c)
        if ends is None:
            return arb(0.5, 0.5)
        (first, last), move = ends, self.move
        found = self.above(last - move) - c * self.above(last)
        if first != last:  # losses that may be equal to ln(c), and then add nothing
            loss = arb(self.unit * (last - 1) - self.square / 2)
            found += arb(0.5, 0.5) * (self.above(first - move) * (1 - c / loss.exp())).upper().max(arb(0))
        return found

    def above(self, n: int) -> arb:
        """The probability that T is at least n, with about as many digits as are computed with."""
        return 1 - self._tail(1 - n, ctx.prec) if n <= 0 else self._tail(n, ctx.prec)

    @lru_cache(maxsize=4096)  # noqa: B019 - kept with a few lattices
    def _tail(self, n: int, bits: int) -> arb:
        spread = float(self.width)
        size = n * n / (2 * spread) + (bits + _SPARE) * log(2)
        terms = sqrt(n * n + 2 * spread * size) - n
        if len(self.moves) == 1 and terms < _FEW:
            with precision(bits + _SPARE):
                return self._far(n, ceil(terms) + 1)
        working = ceil(size / log(2)) + _SPARE
        if working > _MOST_BITS:
            return arb(0.5, 0.5) * (-arb(Rational(n * n) / (2 * self.width))).exp()
        reach = max(isqrt(ceil(2 * spread * (size + 1))) + 1, n + 1)
        with precision(working):
            return self._summed(n, reach, working)

    def _far(self, n: int, count: int) -> arb:
        """The tail of one number, term by term: so far from 0 each is much smaller than the one before."""
        [(variance, _)] = self.moves
        rate = -1 / (2 * variance)
        total = sum((arb(rate * x * x).exp() for x in range(n, n + count)), arb(0))
        x = n + count
        rest = arb(rate * x * x).exp() / (1 - arb(rate * (2 * x + 1)).exp())
        scale = (2 * arb.pi() * arb(variance)).sqrt() * _Wave(variance, ctx.prec).whole
        return (total + arb(0.5, 0.5) * rest) / scale

    def _summed(self, n: int, reach: int, bits: int) -> arb:
        """The same modulo twice the reach: a sum over the characteristic function."""
        even = all(a == 1 for a in self.factors)
        laws: dict[tuple[int, int, int], int] = {}
        for a, (variance, _) in zip(self.factors, self.moves, strict=True):
            key = (a, int(variance.p), int(variance.q))
            laws[key] = laws.get(key, 0) + 1
        waves = [(_Wave(Rational(p, q), bits), a, times) for (a, p, q), times in laws.items()]
        total, least = arb(reach - n), arb(2) ** -bits
        for m in range(1, reach + 1):
            if m > _MOST_TERMS:
                raise LanguageError(
                    "noise", "discrete Gaussian numbers with unlike moves and large variances are shown", hint="fewer"
                )
            value = arb(1)
            for wave, a, times in waves:
                value *= wave.at(Rational(a * m, reach)) ** times
            if even and value * reach * 2 < least:
                total += arb(0, 1) * (2 * reach * reach * value).upper()
                break
            angle = arb(Rational(m, 2 * reach))  # half the angle, in units of pi
            kernel = ((2 * reach - 1) * angle).sin_pi() - ((2 * n - 1) * angle).sin_pi()
            total += value * kernel / angle.sin_pi() / (2 if m == reach else 1)
        return total / (2 * reach) + arb(0, 1) * (2 * (-arb(Rational(reach * reach) / (2 * self.width))).exp()).upper()

    def moment(self, order: Order) -> Order:
        """The sum of ``P^order Q^(1 - order)``."""
        result = (order * (order - 1) * (arb(self.square) / 2)).exp()
        for variance, by in self.moves:
            result = result * _theta_ratio(variance, (order - 1) * by)
        return result


class _Wave:
    """The characteristic function of discrete Gaussian noise."""

    def __init__(self, variance: Rational, bits: int) -> None:
        size = float(variance)
        self.count = 2 + ceil(sqrt(2 * bits * log(2) / size) / (2 * pi))
        if self.count > _MOST_WAVES:
            raise LanguageError(
                "noise", f"discrete Gaussian noise of variance {size:.3g}", hint="a variance above 1/1000000"
            )
        self.rate = arb(variance) * arb.pi() ** 2 / 2
        self.whole = self._around(arb(0))

    def _around(self, t: arb) -> arb:
        """The sum over k of ``exp(-v (pi t + 2 pi k)^2/2)``, for t from -1 to 1; what is left out is less than a geometric series."""
        total = sum(((-self.rate * (t + 2 * k) ** 2).exp() for k in range(-self.count, self.count + 1)), arb(0))
        first, ratio = (-self.rate * (2 * self.count + 1) ** 2).exp(), (-8 * self.rate * (self.count + 1)).exp()
        return total + arb(0, 1) * (2 * first / (1 - ratio)).upper()

    def at(self, angle: Rational) -> arb:
        """The value at an angle, in units of pi."""
        near = angle - 2 * ((angle + 1) / 2).floor()
        return self._around(arb(near)) / self.whole


def _theta_ratio(variance: Rational, move: Order) -> Order:
    """``theta(move)/theta(0)``, for a number, or a linear power series of which three coefficients are computed."""
    size = float(variance)
    count = 2 + ceil(sqrt(ctx.prec * log(2) / (2 * size)) / pi)
    slope = 0.0 if isinstance(move, arb) else abs(float(move[1].mid())) + float(move[1].rad()) + 1
    while 2 * pi * pi * size * (2 * count + 1) < 2 * log(
        2 + slope
    ):  # terms and derivatives fall by more than half each
        count *= 2
    if count > _MOST_WAVES:
        raise LanguageError(
            "noise", f"discrete Gaussian noise of variance {size:.3g}", hint="a variance above 1/1000000"
        )
    rate = -2 * arb.pi() ** 2 * arb(variance)
    total, whole = move * 0 + 1, arb(1)
    for k in range(1, count + 1):
        weight = 2 * (rate * k * k).exp()
        total, whole = total + (move * (2 * k)).cos_pi() * weight, whole + weight
    k = count + 1
    rest = arb(0, 1) * (4 * (rate * k * k).exp()).upper()
    if isinstance(move, arb):
        return (total + rest) / (whole + rest)
    steep = 2 * arb.pi() * k * move[1]
    errors = arb_series([rest, 4 * rest * abs(steep), 4 * rest * steep * steep])
    return (total + errors) / (whole + rest)


def lattice(moves: Sequence[tuple[Rational, int]]) -> Lattice | None:
    """The lattice of some moves, whose signs and order do not count; None where nothing is moved."""
    kept = sorted((variance, abs(by)) for variance, by in moves if by != 0)
    return Lattice(tuple(kept)) if kept else None
