"""Numbers as text: exactly, rounded, or rounded outward so that what is said stays true."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from privproof.exact.balls import precision, rational_bounds
from privproof.exact.budgets import Epsilon
from privproof.exact.rationals import Rational, decimal, rational

_PLAIN = 60
"""Powers of ten up to which a decimal is written out."""
_SHORT = 11
"""Characters of a fraction that fits into a drawing."""


def text(value: Rational | Fraction) -> str:
    """The exact form: ``24/7``."""
    return str(rational(value))


def show(value: Rational | Fraction, *, digits: int = 6) -> str:
    """Both forms, the exact one first; a very long fraction is shown by its decimal alone.

    >>> show(rational("24/7")), show(rational(8)), show(rational("0.5"))
    ('24/7 ≈ 3.42857', '8', '1/2 = 0.5')
    """
    exact = text(value)
    if "/" not in exact and len(exact) <= 24:
        return exact
    rounded = decimal(value, digits=digits)
    sign = "=" if rational(rounded) == rational(value) else "≈"
    return f"{exact} {sign} {rounded}" if len(exact) <= 60 else f"{sign} {rounded}"


def short(value: Rational) -> str:
    """The exact number, or about what it is where that is long."""
    exact = str(value)
    return exact if len(exact) <= _SHORT else f"≈{decimal(value, digits=4)}"


def bound_words(value: Epsilon) -> str:
    """``e^epsilon``, exactly where it is rational."""
    if value.infinite:
        return "inf"
    return text(value.bound) if value.bound is not None else decimal(value.enclosure(64)[0])


def outward(value: Epsilon, *, up: bool, digits: int = 12) -> str:
    """A decimal that is not above (below) the value."""
    if value.infinite:
        return "inf"
    low, high = rational_bounds(value.ball(256))
    bound = high if up else low
    scale = 10**digits
    scaled = bound * scale
    whole = int(-((-scaled.p) // scaled.q)) if up else int(scaled.p // scaled.q)
    return f"{whole // scale}.{whole % scale:0{digits}d}".rstrip("0").rstrip(".")


def enclosing_decimals(ball: arb, *, digits: int = 18) -> list[str]:
    """Two decimals that enclose a ball of a number above zero, however small, rounded outward.

    >>> from privproof.exact.balls import precision
    >>> with precision(128):
    ...     enclosing_decimals(arb(-10**7).exp(), digits=6)
    ['1.51693e-4342945', '1.51694e-4342945']
    """
    scaled, exponent = _scale_ball(ball)
    low, high = (bound * 10 ** (digits - 1) for bound in rational_bounds(scaled))
    ends = (int(low.p // low.q), int(-((-high.p) // high.q)))
    return [_decimal(str(end), exponent + len(str(end)) - digits) for end in ends]


def rounded_decimal(ball: arb, *, digits: int = 6) -> str:
    """A ball of a number above zero, however small, as a decimal.

    >>> from privproof.exact.balls import precision
    >>> with precision(128):
    ...     rounded_decimal(arb(1) / 8), rounded_decimal(arb(-10**7).exp())
    ('0.125', '1.51694e-4342945')
    """
    scaled, exponent = _scale_ball(ball)
    if abs(exponent) < _PLAIN:
        low, high = rational_bounds(ball)
        return decimal((low + high) / 2, digits=digits)
    low, high = rational_bounds(scaled)
    return f"{decimal((low + high) / 2, digits=digits)}e{exponent}"


def _scale_ball(ball: arb) -> tuple[arb, int]:
    """A ball as one between 1 and 10, and the power of ten that is missing."""
    with precision(256):
        exponent = int(rational_bounds((ball.log() / arb(10).log()).floor())[0])
        return ball * arb(10) ** -exponent, exponent


def _decimal(digits: str, exponent: int) -> str:
    shown = f"{digits[0]}.{digits[1:]}".rstrip("0").rstrip(".")
    return shown if exponent == 0 else f"{shown}e{exponent}"


def rounded_ball(ball: arb) -> str:
    """A ball as a decimal, infinite and unknown ones included."""
    if not ball.is_finite():
        return "inf" if ball > 0 else "unknown"
    low, high = rational_bounds(ball)
    return decimal((low + high) / 2)
