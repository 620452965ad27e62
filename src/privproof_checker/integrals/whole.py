"""Integers with discrete Gaussian noise, weights ``e^(-x^2/(2v))``, around two places: the excess of their two laws, and their moments.

The left law of each integer is that of the right one, moved by d.  An outcome z has ``ln(P/Q) = sum of d z/v - m/2`` with ``m = sum of
d^2/v``, so everything about the two laws is in ``n = sum of a z`` with integers ``a = d/(v g)``: on the right ``n = T = sum of a x``, on
the left ``n = T + K`` with ``K = sum of a d``.  The best event for a factor c is ``n > (ln c + m/2)/g``, and its excess ``P(T >= n - K) -
c P(T >= n)`` for the first such integer n.

*Probabilities* are summed, term by term.  One integer: its weights from n on, until what is left is less than a geometric series that
counts for nothing.  Several: the law of T as a polynomial with integer coefficients, multiples of ``2^-bits`` that are rounded down in
every step; what is missing from 1 in the end, exactly known, is all that any event lacks.

*Moments*: ``sum of P^a Q^(1-a) = e^(a(a-1)m/2) product of theta(c)/theta(0)`` with ``c = (a-1) d`` and ``theta(c) = sum over x of
e^(-(x-c)^2/(2v))``, because ``a (x-d)^2 + (1-a) x^2 = (x - a d)^2 - a(a-1) d^2`` and theta has period 1.  By Poisson's formula theta(c)
is a sum of cosines with positive factors, so at most theta(0), and it is theta(0) at integers: ``D_a <= a m/2``, with equality at
integers a.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, isqrt, lcm
from typing import TypeAlias, TypeVar

from flint import arb, arb_series, ctx, fmpz_poly

from privproof_checker.numbers import ZERO, Rational
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import refuse

Order = TypeVar("Order", arb, arb_series)

Shifted: TypeAlias = "tuple[tuple[Rational, int], ...]"
"""Integers that are moved: the variance of each, and by how much it lies to the right on the left side."""

Shares: TypeAlias = "list[tuple[Rational, Rational]]"
"""Noises by their variances, each with its factor in a form, which is not 0."""

_MORE = 64
"""Bits beyond those asked for, which sums of millions of terms do not use up."""
_MOST_INTEGERS = 2_000_000
"""Integers that are gone through; beyond, it is refused."""
_MOST_BITS = 40_000
"""Precision of probabilities of rare events; rarer ones are only known to be below their bound."""
_PLACE = "question.trees"


def square_of(moved: Shifted) -> Rational:
    """The sum of the squares of the moves, each over its variance."""
    return sum((by * by / variance for variance, by in moved), ZERO)


def whole_share(noises: Shares, constant: Rational) -> arb:
    """The probability that ``constant + sum of factors * x`` is at least 0, for discrete Gaussian noises x."""
    shared = lcm(*(int(factor.q) for _, factor in noises))
    unit = Rational(gcd(*(int((factor * shared).p) for _, factor in noises)), shared)
    steps = tuple((variance, abs(int((factor / unit).p))) for variance, factor in noises)
    return _from(steps, int((-constant / unit).ceil()), ctx.prec)


def whole_excess(moved: Shifted, c: arb) -> arb:
    """The largest ``P(E) - c Q(E)``."""
    ratios = [abs(by) / variance for variance, by in moved]
    shared = lcm(*(int(r.q) for r in ratios))
    unit = Rational(gcd(*(int((r * shared).p) for r in ratios)), shared)
    total = square_of(moved)
    steps = tuple((variance, int((r / unit).p)) for r, (variance, _) in zip(ratios, moved, strict=True))
    back = int((total / unit).p)
    edge = (c.log() + arb(total) / 2) / arb(unit)
    if not edge.is_finite():
        return arb(0.5, 0.5)
    low, high = (int(end.floor()) + 1 for end in rational_bounds(edge))
    if low == high:
        return _from(steps, high - back, ctx.prec) - c * _from(steps, high, ctx.prec)
    # between the two the ratio is as good as c; any of these events is one, and the best one gains no more than this
    found = _from(steps, high - back, ctx.prec) - c * _from(steps, high, ctx.prec)
    gain = _from(steps, low - back, ctx.prec) * (1 - c * arb(total / 2 - unit * (high - 1)).exp())
    return found + arb(0.5, 0.5) * gain.upper().max(arb(0))


@lru_cache(maxsize=4096)
def _from(steps: tuple[tuple[Rational, int], ...], n: int, bits: int) -> arb:
    """The probability that T is n or more."""
    if n <= 0:
        return 1 - _from(steps, 1 - n, bits)
    if len(steps) == 1:  # then the one factor is 1
        with precision(bits + _MORE):
            return _weights_from(steps[0][0], n) / _theta(steps[0][0], ctx.prec)
    spread = sum((a * a * variance for variance, a in steps), ZERO)
    rare = Rational(n * n) / (2 * spread)
    fine = bits + _MORE + 3 * int(rare.ceil()) // 2  # more than rare/ln(2)
    if fine > _MOST_BITS:
        return arb(0.5, 0.5) * (-arb(rare)).exp()
    masses, middle = _law(tuple(sorted(steps, key=str)), fine)
    found = sum(masses[middle + n :])
    missing = (1 << fine) - sum(masses)
    with precision(fine):
        return (arb(found) + arb(0.5, 0.5) * missing) / arb(1 << fine)


def _weights_from(variance: Rational, n: int) -> arb:
    """The sum of the weights of n, n + 1, ..., for n >= 0, as precise as it is computed with."""
    need = 2 * variance * (ctx.prec + 2)  # more than 2v ln(2^prec)
    count = isqrt(int((n * n + need).ceil())) + 1 - n + 1
    if count > _MOST_INTEGERS:
        refuse(f"{count} integers with discrete Gaussian noise", _PLACE)
    total, weight = arb(0), arb(-Rational(n * n) / (2 * variance)).exp()
    ratio, fall = arb(-Rational(2 * n + 1) / (2 * variance)).exp(), (-1 / arb(variance)).exp()
    for _ in range(count):
        total += weight
        weight *= ratio
        ratio *= fall
    return total + arb(0.5, 0.5) * (weight / (1 - ratio)).upper()


@lru_cache(maxsize=256)
def _theta(variance: Rational, bits: int) -> arb:
    """The sum of all weights."""
    with precision(bits):
        return 2 * _weights_from(variance, 1) + 1


@lru_cache(maxsize=64)
def _law(steps: tuple[tuple[Rational, int], ...], bits: int) -> tuple[list[int], int]:
    """Lower bounds of the probabilities of all values of T, in units of ``2^-bits``, and where 0 stands among them."""
    total, middle = fmpz_poly([1 << bits]), 0
    done: set[tuple[Rational, int]] = set()
    for variance, a in steps:
        if (variance, a) in done:
            continue
        done.add((variance, a))
        power, place = _masses(variance, bits)
        power, place = power.inflate(a), place * a
        times = steps.count((variance, a))
        while times:
            if times & 1:
                total, middle = _cut_product(total * power, middle + place, bits)
            times >>= 1
            if times:
                power, place = _cut_product(power * power, 2 * place, bits)
    return [int(mass) for mass in total.coeffs()], middle


def _masses(variance: Rational, bits: int) -> tuple[fmpz_poly, int]:
    """Lower bounds of the probabilities of one integer, and where 0 stands."""
    side = one_law(variance, bits)
    return fmpz_poly(side[:0:-1] + side), len(side) - 1


@lru_cache(maxsize=64)
def one_law(variance: Rational, bits: int) -> list[int]:
    """Lower bounds of the probabilities of 0, 1, 2, ... in units of ``2^-bits``, up to where they are rounded to 0."""
    with precision(bits + _MORE):
        whole = _theta(variance, ctx.prec)
        scale = arb(1 << bits) / whole
        side: list[int] = []
        weight, ratio, fall = scale, arb(-1 / (2 * variance)).exp(), (-1 / arb(variance)).exp()
        while True:
            mass = int(weight.lower().floor().unique_fmpz() or 0)
            if mass <= 0 or len(side) > _MOST_INTEGERS:
                break
            side.append(mass)
            weight *= ratio
            ratio *= fall
    return side


def _cut_product(product: fmpz_poly, middle: int, bits: int) -> tuple[fmpz_poly, int]:
    """A product of laws, rounded down, without what is rounded to 0 at its ends."""
    if product.length() > _MOST_INTEGERS:
        refuse("integers with discrete Gaussian noise have too many sums", _PLACE)
    masses = [int(mass) >> bits for mass in product.coeffs()]
    first = next((k for k, mass in enumerate(masses) if mass), 0)
    return fmpz_poly(masses[first:]), middle - first


def whole_moment(moved: Shifted, order: Order) -> Order:
    """The sum of ``P^order Q^(1 - order)``, for a number or a linear power series of which three coefficients are computed."""
    result = (order * (order - 1) * (arb(square_of(moved)) / 2)).exp()
    for variance, by in moved:
        result = result * _shifted_theta(variance, (order - 1) * by) / _theta(variance, ctx.prec)
    return result


def _shifted_theta(variance: Rational, c: Order) -> Order:
    """``sum over x of e^(-(x-c)^2/(2v))``.

    A coefficient of the series in t of the weight at a distance u, moved by ``s t``, is at most ``(1 + s^2/v) e^(-u^2/(4v))`` where u is
    at least 8 s: the first two derivatives have the factors ``s u/v`` and ``(s u/v)^2/2 + s^2/(2v)``, and ``(1 + s u/v)^2 <= e^(2 s u/v)``.
    """
    first = c if isinstance(c, arb) else c[0]
    near = first.mid().floor().unique_fmpz()
    assert near is not None
    c = c - int(near)
    loose = int((c if isinstance(c, arb) else c[0]).abs_upper().ceil().unique_fmpz() or 0) + 1
    slope = arb(0) if isinstance(c, arb) else c[1].abs_upper()
    steep = int(slope.ceil().unique_fmpz() or 0)
    reach = isqrt(int((4 * variance * (ctx.prec + 2)).ceil())) + 1 + loose + 8 * steep
    if reach > _MOST_INTEGERS // 10:
        refuse(f"{reach} integers with discrete Gaussian noise", _PLACE)
    rate = arb(-1 / (2 * variance))
    total = c * 0
    for x in range(-reach, reach + 1):
        total = total + ((c - x) * (c - x) * rate).exp()
    u = reach + 1 - loose
    rest = 2 * (1 + slope * slope / arb(variance)) * arb(-Rational(u * u) / (4 * variance)).exp()
    rest = arb(0, 1) * (rest / (1 - arb(-Rational(2 * u + 1) / (4 * variance)).exp())).upper()
    return total + (rest if isinstance(c, arb) else arb_series([rest] * 3))
