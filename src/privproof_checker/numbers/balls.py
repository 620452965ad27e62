"""Rigorous balls of python-flint: with how many bits they are computed, and rationals around them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flint import arb, ctx, fmpq

from privproof_checker.numbers.rationals import Rational

_MORE_BITS = 64
"""Bits beyond those of a ball, so that its ends are hardly moved outwards by rounding."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Inside this context balls are computed with so many bits."""
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


def rational_bounds(ball: arb) -> tuple[Rational, Rational]:
    """Two rationals that a ball lies between.

    >>> low, high = rational_bounds(arb(2).sqrt())
    >>> bool(low**2 < 2 < high**2), float(high - low) < 1e-14
    (True, True)
    """
    with precision(max(ctx.prec, _MORE_BITS) + _MORE_BITS):
        return _exactly(ball.lower()), _exactly(ball.upper())


def whole_bounds(ball: arb) -> tuple[int, int]:
    """Two whole numbers that a ball lies between.

    >>> whole_bounds(10 * arb(2).sqrt()), whole_bounds(arb(-3)), whole_bounds(arb(2) ** 500 + 0.5)[0] <= 2**500
    ((14, 15), (-3, -3), True)
    """
    low, high = ball.lower().floor().unique_fmpz(), ball.upper().ceil().unique_fmpz()
    if low is None or high is None:  # more digits than are computed with
        least, most = rational_bounds(ball)
        return int(least.floor()), int(most.ceil())
    return int(low), int(high)


def _exactly(point: arb) -> Rational:
    mantissa, power = point.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(power)
