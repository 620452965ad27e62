"""The parts that all reports are made of: facts, and numbers as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from privproof.evidence import Verdict
from privproof.exact import Epsilon, decimal, text
from privproof.exact.balls import precision, rational_bounds


@dataclass(frozen=True)
class Fact:
    """A line of a report: a label and what it says."""

    label: str
    text: str


def tight_fact(verdict: Verdict, words: str) -> Fact:
    """What is known about the tight epsilon, and which part of it no certificate shows."""
    return Fact("tight epsilon", f"{words} ({verdict.uncertified})" if verdict.uncertified else words)


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


def enclosing(ball: arb, *, digits: int = 18) -> list[str]:
    """Two decimals that enclose a ball of a number above zero, however small, rounded outward.

    >>> from privproof.exact.balls import precision
    >>> with precision(128):
    ...     enclosing(arb(-10**7).exp(), digits=6)
    ['1.51693e-4342945', '1.51694e-4342945']
    """
    scaled, exponent = _scaled(ball)
    low, high = (bound * 10 ** (digits - 1) for bound in rational_bounds(scaled))
    ends = (int(low.p // low.q), int(-((-high.p) // high.q)))
    return [_decimal(str(end), exponent + len(str(end)) - digits) for end in ends]


def rounded(ball: arb, *, digits: int = 6) -> str:
    """A ball of a number above zero, however small, as a decimal.

    >>> from privproof.exact.balls import precision
    >>> with precision(128):
    ...     rounded(arb(1) / 8), rounded(arb(-10**7).exp())
    ('0.125', '1.51694e-4342945')
    """
    scaled, exponent = _scaled(ball)
    if abs(exponent) < _PLAIN:
        low, high = rational_bounds(ball)
        return decimal((low + high) / 2, digits=digits)
    low, high = rational_bounds(scaled)
    return f"{decimal((low + high) / 2, digits=digits)}e{exponent}"


_PLAIN = 60


def _scaled(ball: arb) -> tuple[arb, int]:
    """A ball as one between 1 and 10, and the power of ten that is missing."""
    with precision(256):
        exponent = int(rational_bounds((ball.log() / arb(10).log()).floor())[0])
        return ball * arb(10) ** -exponent, exponent


def _decimal(digits: str, exponent: int) -> str:
    shown = f"{digits[0]}.{digits[1:]}".rstrip("0").rstrip(".")
    return shown if exponent == 0 else f"{shown}e{exponent}"


def plain_data(value: object) -> Any:
    """A value of a mechanism as JSON has it: fractions as texts, tuples as lists."""
    if isinstance(value, dict):
        return {str(name): plain_data(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value
