"""Exact rational numbers: `fmpq` of python-flint inside, `int`, `Fraction` and `str` at the border.

A float is refused: ``0.1`` is not one tenth but the nearest binary fraction, and a verdict about the one
is not a verdict about the other.  `from_float` is the explicit way in for numbers that really are floats.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq, fmpz

from privproof.errors import FloatRefused, NumberError

Rational: TypeAlias = fmpq
Number: TypeAlias = "int | str | Fraction | fmpq | fmpz"

ZERO = fmpq(0)
"""Exact numbers never change, so that all may share this one and the next."""
ONE = fmpq(1)
"""The probability of what is certain."""

_DECIMAL = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,5}))?")
_LARGEST_EXPONENT = 10_000
"""A decimal number such as 1e20000, with a larger exponent, is refused before its digits fill the memory."""


def rational(value: Number) -> Rational:
    """The exact rational that `value` denotes.

    >>> rational("2/6"), rational("0.25"), rational(Fraction(1, 7)), rational(3)
    (1/3, 1/4, 1/7, 3)
    >>> rational(0.1)
    Traceback (most recent call last):
    ...
    privproof.errors.FloatRefused: 0.1 is a float: its exact value is 3602879701896397/36028797018963968 [float]
      hint: write "0.1" for exactly 1/10, or privproof.from_float(0.1) if you mean the float
    """
    if isinstance(value, fmpq):
        return value
    if isinstance(value, bool):
        raise NumberError("number", f"{value!r} is a truth value, not a number")
    if isinstance(value, int | fmpz):
        return fmpq(value)
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, str):
        return _parse(value)
    if isinstance(value, float):
        raise float_refused(value)
    raise NumberError("number", f"{value!r} is a {type(value).__name__}, not an exact number", hint=_FORMS)


_FORMS = 'an exact number is an integer, a fraction such as "1/3" or a decimal such as "0.25"'


def float_refused(value: float) -> FloatRefused:
    """The refusal of a float, with the exact value that it is and the ways out."""
    if value != value or value in (float("inf"), float("-inf")):
        return FloatRefused("float", f"{value} is a float and no number", hint=_FORMS)
    exact, meant = Fraction(value), Fraction(repr(value))
    return FloatRefused(
        "float",
        f"{value!r} is a float: its exact value is {exact}",
        hint=f'write "{value!r}" for exactly {meant}, or privproof.from_float({value!r}) if you mean the float',
    )


def from_float(value: float) -> Rational:
    """The exact value of a float: a fraction whose denominator is a power of two.

    >>> from_float(0.5), from_float(0.1) == rational("0.1")
    (1/2, False)
    """
    return rational(Fraction(value))


def _parse(text: str) -> Rational:
    stripped = text.strip()
    numerator, slash, denominator = stripped.partition("/")
    if numerator.isdigit() and numerator.isascii() and (not slash or (denominator.isdigit() and denominator.isascii())):
        whole = fmpz(denominator) if slash else fmpz(1)
        if whole != 0:
            return fmpq(fmpz(numerator), whole)
    try:
        if slash:
            below = _decimal(denominator.strip())
            if below == 0:
                raise NumberError("number", f"{text!r} divides by zero")
            return _decimal(numerator.strip()) / below
        return _decimal(stripped)
    except KeyError:
        raise NumberError("number", f"{text!r} is not an exact number", hint=_FORMS) from None


def _decimal(text: str) -> Rational:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise KeyError(text)
    sign, digits, exponent = match.groups()
    whole, _, fraction = digits.partition(".")
    power = int(exponent or "0")
    if abs(power) > _LARGEST_EXPONENT:
        raise NumberError("number", f"the exponent {power} is beyond ±{_LARGEST_EXPONENT}")
    scale = power - len(fraction)
    value = fmpq(fmpz((whole + fraction) or "0"))
    value = value * fmpq(fmpz(10) ** scale) if scale >= 0 else value / fmpq(fmpz(10) ** -scale)
    return -value if sign == "-" else value


def fraction(value: Number) -> Fraction:
    """The exact number that `value` denotes, as a `fractions.Fraction`: what users are given.

    >>> fraction(rational("24/7")), fraction("0.25")
    (Fraction(24, 7), Fraction(1, 4))
    """
    if isinstance(value, Fraction):
        return value
    exact = rational(value)
    return Fraction(int(exact.p), int(exact.q))


def decimal(value: Rational | Fraction, *, digits: int = 6) -> str:
    """The number rounded to so many significant digits, as text.

    >>> decimal(rational("24/7")), decimal(rational("1/4")), decimal(rational("2/3000000000"))
    ('3.42857', '0.25', '6.66667e-10')
    """
    exact = fraction(value)
    if exact == 0:
        return "0"
    power = len(str(fmpz(abs(exact.numerator)))) - len(str(fmpz(exact.denominator)))
    if abs(power) < 300:
        return f"{float(exact):.{digits}g}"
    shifted = exact / Fraction(10) ** power
    return f"{float(shifted):.{digits}g}e{power:+d}"


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator between two numbers, 0 <= low <= high, both included.

    >>> simplest(Fraction(31, 100), Fraction(34, 100)), simplest(Fraction(314, 100), Fraction(315, 100))
    (Fraction(1, 3), Fraction(22, 7))
    """
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / simplest(1 / (high - below), 1 / (low - below))
