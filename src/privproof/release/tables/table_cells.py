"""What single cells of a table mean: numbers in bins, and times, both exactly.

A cell is a text, and a number in it is a decimal, not a float: "0.3" lies in the bin that begins at 3/10, and from "0.2" to "0.3" is
no more than one tenth.  Rounding to the nearest float is monotone, so a float that differs from the rounded edge is on the same side
of it as the decimal itself; where both are equal, the decimal is compared with the exact edge.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Literal, TypeAlias

from privproof.errors import FormatError
from privproof.exact import Number, Rational, fraction, rational, show

Clock: TypeAlias = Literal["numbers", "local times", "zoned times"]

MOST_STATES = 2_000
"""So many bins, or different values of a column, become states; beyond, the table is refused."""
PARTS = 10**18
"""Times that are numbers have 18 decimal places, so that the parts still fit 64 bits; a time with more places is none."""
_NANOSECONDS = 10**9
"""Moments are counted in nanoseconds; this is how many a second has."""
_LARGEST_EDGE = 10**300
"""Edges of bins are also compared as floats, which end at 1.8e308; an edge beyond this is refused."""
_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_MOMENT = re.compile(
    r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
    r"\s?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?\s*"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Bins:
    """Neighbouring intervals of numbers, each with its lower end and without its upper one.

    Numbers below the first interval are counted in it, numbers at or beyond the end of the last one are counted in that.

    Attributes:
        edges: the ends of the intervals, ascending.
    """

    edges: tuple[Rational, ...]

    @classmethod
    def of(cls, low: Number, width: Number, high: Number) -> Bins:
        """Bins of one width from low to high.

        Raises:
            FormatError: the width does not divide the range, or there are too many bins.

        >>> bins = Bins.of(0, "0.1", "0.4")
        >>> bins.names
        ('0..0.1', '0.1..0.2', '0.2..0.3', '0.3..0.4')
        >>> [bins.find(text) for text in ("0.3", "0.29999999999999999999", "-7", "12", "1e999", "many")]
        [3, 2, 0, 3, 3, None]
        """
        least, step, greatest = rational(low), rational(width), rational(high)
        if step <= 0 or greatest <= least:
            raise FormatError(
                "bins",
                f"low = {show(least)}, width = {show(step)}, high = {show(greatest)}",
                place="bins",
                hint="low < high and a width above 0",
            )
        many = (greatest - least) / step
        if many.q != 1:
            raise FormatError(
                "bins",
                f"the width {show(step)} goes {show(many)} times into {show(least)}..{show(greatest)}",
                place="bins",
                hint=f"high: {show(least + (int(many.p // many.q) + 1) * step)}",
            )
        _few(int(many.p))
        return cls.between([least + i * step for i in range(int(many.p) + 1)])

    @classmethod
    def between(cls, edges: Sequence[Number]) -> Bins:
        """Bins of any widths between edges that ascend.

        >>> Bins.between([0, "1/3", 2]).names
        ('0..1/3', '1/3..2')
        """
        exact = tuple(rational(edge) for edge in edges)
        if len(exact) < 2 or any(not a < b for a, b in pairwise(exact)):
            raise FormatError(
                "bins", "the edges do not ascend", place="bins", hint="two or more edges, such as 0, 10, 100"
            )
        if any(abs(edge) > _LARGEST_EDGE for edge in (exact[0], exact[-1])):
            raise FormatError("bins", "an edge is beyond 1e300", place="bins")
        _few(len(exact) - 1)
        return cls(exact)

    @property
    def middles(self) -> tuple[Rational, ...]:
        """The middle of every interval."""
        return tuple((low + high) / 2 for low, high in pairwise(self.edges))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The bins in words: lower end, two dots, upper end."""
        ends = [_short(edge) for edge in self.edges]
        return tuple(f"{low}..{high}" for low, high in pairwise(ends))

    @cached_property
    def inner(self) -> tuple[Fraction, ...]:
        """The edges between two bins."""
        return tuple(fraction(edge) for edge in self.edges[1:-1])

    @cached_property
    def rounded(self) -> tuple[float, ...]:
        """The floats nearest to the edges between two bins."""
        return tuple(float(edge) for edge in self.inner)

    def find(self, text: str) -> int | None:
        """The bin of the decimal that a text denotes; None where it denotes none."""
        if _NUMBER.fullmatch(text) is None:
            return None
        near = float(text)
        found = bisect_right(self.rounded, near)
        if isfinite(near) and (found == 0 or self.rounded[found - 1] != near):
            return found
        try:
            exact = Decimal(text.strip())
        except InvalidOperation:
            return None
        return bisect_right(self.inner, exact)


def _few(bins: int) -> None:
    if bins > MOST_STATES:
        raise FormatError("bins", f"{bins} bins, more than {MOST_STATES}", place="bins", hint="a greater width")


def _short(edge: Rational) -> str:
    """A terminating decimal as such, any other number as a fraction.

    >>> [_short(rational(text)) for text in ("200", "-0.25", "1e-3", "1/3")]
    ['200', '-0.25', '0.001', '1/3']
    """
    rest, places = int(edge.q), 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        places = max(places, power)
    if rest != 1:
        return str(edge)
    digits = str(abs(int(edge.p)) * 10**places // int(edge.q)).rjust(places + 1, "0")
    sign = "-" if edge < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def is_number(text: str) -> bool:
    """Whether a cell holds a decimal."""
    return _NUMBER.fullmatch(text) is not None


def clock_of(text: str) -> Clock | None:
    """Which kind of time a cell holds; None where it holds none.

    >>> [clock_of(text) for text in ("12.5", "2024-03-01 12:00", "2024-03-01T12:00:00Z", "noon")]
    ['numbers', 'local times', 'zoned times', None]
    """
    if _NUMBER.fullmatch(text):
        return "numbers"
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    return "zoned times" if match[6] else "local times"


def instant(text: str, clock: Clock) -> tuple[int, int] | None:
    """A time as a whole number and parts of `PARTS`; moments are whole nanoseconds.  None where the text is no such time.

    >>> instant("-0.25", "numbers"), instant("1e3", "numbers")
    ((-1, 750000000000000000), (1000, 0))
    >>> instant("1970-01-01T01:00:00.5+01:00", "zoned times")
    (500000000, 0)
    """
    if clock_of(text) != clock:
        return None
    return _decimal_instant(text.strip()) if clock == "numbers" else _moment(text)


def _decimal_instant(text: str) -> tuple[int, int] | None:
    try:
        sign, digits, power = Decimal(text).as_tuple()
    except InvalidOperation:
        return None
    written = "".join(map(str, digits)).lstrip("0")
    kept = written.rstrip("0")
    if not kept:
        return 0, 0
    scale = int(power) + len(written) - len(kept) + 18
    if scale < 0 or len(kept) + scale > 40:
        return None
    number = int(kept) * 10**scale
    whole, part = divmod(-number if sign else number, PARTS)
    return (whole, part) if -(2**63) <= whole < 2**63 else None


def _moment(text: str) -> tuple[int, int] | None:
    match = _MOMENT.fullmatch(text)
    assert match is not None
    date, hour, minute, second, part, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{hour or '00'}:{minute or '00'}:{second or '00'}")
    except ValueError:
        return None
    away = timedelta()
    if zone and zone != "Z":
        minutes = int(zone[1:3]) * 60 + int(zone.replace(":", "")[3:5] or "0")
        away = timedelta(minutes=-minutes if zone[0] == "-" else minutes)
    try:
        since = moment.replace(tzinfo=timezone(away)) - _EPOCH
    except ValueError:
        return None
    nanoseconds = (since.days * 86_400 + since.seconds) * _NANOSECONDS + int((part or "").ljust(9, "0"))
    return (nanoseconds, 0) if -(2**63) <= nanoseconds < 2**63 else None


def widest_step(gap: Rational, clock: Clock) -> tuple[int, int]:
    """The largest step that is no gap, as a whole number and parts; between moments the gap is in seconds."""
    if clock == "numbers":
        scaled = gap * PARTS
        return divmod(int(scaled.p // scaled.q), PARTS)
    scaled = gap * _NANOSECONDS
    return int(scaled.p // scaled.q), 0
