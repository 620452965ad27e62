"""Exact rational numbers as certificates write them: integers, decimals, and quotients of two of them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq, fmpz

Rational: TypeAlias = fmpq
Number: TypeAlias = "int | str | Fraction | fmpq | fmpz"

ZERO = fmpq(0)
"""What is impossible has this probability."""
ONE = fmpq(1)
"""What is certain has this one."""

_WRITTEN = re.compile(
    r"\s*(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]{1,5}))?\s*", re.ASCII
)
_LARGEST_POWER = 10_000
"""A power of ten beyond this is refused: a text of eight characters must not fill the memory."""


def rational(value: Number) -> Rational:
    """The number that a value or a text is.

    >>> rational("2/6"), rational("-0.25"), rational("1e-2/.5"), rational(Fraction(1, 7))
    (1/3, -1/4, 1/50, 1/7)

    Raises:
        ValueError: it is none.
    """
    match value:
        case fmpq():
            return value
        case bool():
            raise ValueError(f"{value} is no number")
        case int() | fmpz():
            return fmpq(value)
        case Fraction(numerator=above, denominator=below):
            return fmpq(above, below)
        case str():
            parts = [_read_decimal(part) for part in value.split("/")]
            if len(parts) > 2 or (len(parts) == 2 and parts[1] == 0):
                raise ValueError(f"{value[:60]!r} is no number")
            return parts[0] if len(parts) == 1 else parts[0] / parts[1]
    raise ValueError(f"a {type(value).__name__} is no exact number")


def _read_decimal(text: str) -> Rational:
    found = _WRITTEN.fullmatch(text)
    digits = "" if found is None else found["whole"] + (found["part"] or "")
    if found is None or not digits:
        raise ValueError(f"{text[:60]!r} is no number")
    power = int(found["power"] or 0)
    if abs(power) > _LARGEST_POWER:
        raise ValueError(f"the power {power} of ten is out of range")
    value = fmpq(fmpz(digits)) * fmpq(10) ** (power - len(found["part"] or ""))
    return -value if found["sign"] == "-" else value


def fraction(value: Number) -> Fraction:
    """The same number as Python has it.

    >>> fraction("0.25")
    Fraction(1, 4)
    """
    exact = rational(value)
    return Fraction(int(exact.p), int(exact.q))


def decimal(value: Rational, digits: int = 6) -> str:
    """The number rounded to some digits, as text.

    >>> decimal(rational("24/7")), decimal(rational("2e-400/3"))
    ('3.42857', '6.66667e-401')
    """
    exact = fraction(value)
    tens = len(str(fmpz(abs(exact.numerator)))) - len(str(fmpz(exact.denominator)))
    if exact == 0 or abs(tens) < _FLOATS:
        return f"{float(exact):.{digits}g}"
    near = f"{float(exact / Fraction(10) ** tens):.{digits}e}"
    mantissa, _, more = near.partition("e")
    return f"{float(mantissa):.{digits}g}e{tens + int(more):+d}"


_FLOATS = 300
"""Powers of ten that floats have, with room for a digit more or less."""
