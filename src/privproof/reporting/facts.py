"""The parts that all reports are made of: facts, and numbers as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privproof.exact import Epsilon, Rational, decimal, text
from privproof.exact.balls import rational_bounds


@dataclass(frozen=True)
class Fact:
    """A line of a report: a label and what it says."""

    label: str
    text: str


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


def enclosing(low: Rational, high: Rational, *, digits: int = 18) -> list[str]:
    """Decimals that enclose an interval, rounded outward."""
    return [_rounded(low, digits, up=False), _rounded(high, digits, up=True)]


def _rounded(value: Rational, digits: int, *, up: bool) -> str:
    if value == 0:
        return "0"
    exponent = len(str(abs(int(value.p)))) - len(str(int(value.q)))
    shift = digits - exponent
    scaled = value * Rational(10) ** shift if shift >= 0 else value / Rational(10) ** -shift
    whole = int(-((-scaled.p) // scaled.q)) if up else int(scaled.p // scaled.q)
    return f"{whole}e{-shift}"


def plain_data(value: object) -> Any:
    """A value of a mechanism as JSON has it: fractions as texts, tuples as lists."""
    if isinstance(value, dict):
        return {str(name): plain_data(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value
