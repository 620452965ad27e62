"""Rationals rounded to a chosen side: to the next float, to a grid, to some digits."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf, log, nextafter

from flint import fmpq

from privproof.exact.rationals import Rational, fraction, rational

GRID = 10**12
"""Bounds on epsilon are multiples of one over this, unless said otherwise."""


def float_above(value: Rational | Fraction) -> float:
    """The smallest float that is at least the value.

    >>> float_above(rational("1/2")), float_above(rational("1/10")) >= 0.1
    (0.5, True)
    """
    exact = fraction(value)
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else nextafter(nearest, inf)


def float_below(value: Rational | Fraction) -> float:
    """The largest float that is at most the value.

    >>> float_below(rational("1/2")), float_below(rational("1/10")) <= 0.1
    (0.5, True)
    """
    exact = fraction(value)
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else nextafter(nearest, -inf)


def to_grid(value: Rational | Fraction, *, up: bool, parts: int = GRID) -> Rational:
    """The multiple of ``1/parts`` next to a number, on one side of it.

    >>> to_grid(rational("1/3"), up=True, parts=100), to_grid(rational("1/3"), up=False, parts=100)
    (17/50, 33/100)
    """
    scaled = rational(value) * parts
    return fmpq(scaled.ceil() if up else scaled.floor(), parts)


def to_digits(value: Rational | Fraction, *, up: bool, digits: int = 12) -> Fraction:
    """A number of at least 0, rounded to one side, with so many digits or one more.

    >>> to_digits(Fraction(2, 3000), up=True, digits=3), to_digits(Fraction(2, 3000), up=False, digits=3)
    (Fraction(667, 1000000), Fraction(333, 500000))
    """
    exact = fraction(value)
    if exact <= 0:
        return Fraction(0)
    scale = 10 ** max(0, digits - len(str(exact.numerator)) + len(str(exact.denominator)))
    return Fraction(ceil(exact * scale) if up else floor(exact * scale), scale)


def shorten(value: Fraction, *, up: bool, digits: int = 15) -> Fraction:
    """A number above zero rounded to one side, to so many significant digits; a simple fraction stays as it is.

    >>> shorten(Fraction(1, 3), up=True), shorten(Fraction(10**20 + 1, 3 * 10**20), up=True, digits=3)
    (Fraction(1, 3), Fraction(167, 500))
    """
    if value.denominator < 10**digits:
        return value
    unit = Fraction(10) ** (floor(log(float(value), 10)) - digits + 1)
    return (ceil(value / unit) if up else floor(value / unit)) * unit
