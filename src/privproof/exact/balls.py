"""Rigorous balls: real numbers enclosed in an interval of python-flint's `arb`, and their rational ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flint import arb, ctx, fmpq, fmpz

from privproof.exact.rationals import Rational


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with so many bits inside the block; the former precision returns afterwards."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def _exactly(point: arb) -> Rational:
    mantissa, exponent = point.man_exp()
    power = int(exponent)
    return fmpq(mantissa * fmpz(2) ** power) if power >= 0 else fmpq(mantissa, fmpz(2) ** -power)


def rational_bounds(ball: arb) -> tuple[Rational, Rational]:
    """Rationals that enclose the ball.

    >>> with precision(32):
    ...     low, high = rational_bounds(arb(2).log())
    >>> float(low) < 0.6931471805 < float(high)
    True
    """
    with precision(max(ctx.prec, 64) + 64):
        return _exactly(ball.lower()), _exactly(ball.upper())
