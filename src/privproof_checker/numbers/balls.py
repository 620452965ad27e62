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


def _exactly(point: arb) -> Rational:
    mantissa, power = point.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(power)
