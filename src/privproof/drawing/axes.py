"""Axes: where values stand between two ends, ticks at round numbers, and numbers as charts write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10

from privproof.drawing.strokes import Run, Value, text_width

_FINEST = Fraction(1, 10**9)
"""Values that differ relatively by less count as equal, and a tick this near to an end of the axis counts as its end."""


@dataclass(frozen=True)
class Axis:
    """An axis from low to high (logarithms of them, where it is logarithmic); its ticks are shares of the way, with labels."""

    low: Fraction
    high: Fraction
    log: bool
    ticks: tuple[tuple[float, str], ...]

    def share(self, value: float) -> float:
        where = Fraction(log10(value)) if self.log else Fraction(value)
        return float((where - self.low) / (self.high - self.low))

    @property
    def widest(self) -> float:
        return max((text_width(label, 11) for _, label in self.ticks), default=0.0)


def axis_for(values: Iterable[float], *, log: bool, outward: bool, count: int, whole: bool = False) -> Axis:
    """The axis for values, with about so many ticks: outward, if it is to end at ticks; whole, for ticks at whole numbers only."""
    listed = [Fraction(value) for value in values]
    low, high = min(listed), max(listed)
    if high - low <= _FINEST * max(abs(low), abs(high)):
        half = abs(high) / 2 or Fraction(1)
        low, high = low - half, high + half
    ticks = _powers(low, high, count) if log and high > 4 * low else _rounds(low, high, count, whole=whole)
    if log:
        ticks = [(Fraction(_logarithm(tick)), label) for tick, label in ticks if tick > 0]
        low, high = Fraction(_logarithm(low)), Fraction(_logarithm(high))
    slack = (high - low) * _FINEST
    if outward:
        low = max((tick for tick, _ in ticks if tick <= low + slack), default=low)
        high = min((tick for tick, _ in ticks if tick >= high - slack), default=high)
    inside = [(tick, label) for tick, label in ticks if low - slack <= tick <= high + slack]
    return Axis(low, high, log, tuple((float((tick - low) / (high - low)), label) for tick, label in inside))


def _rounds(low: Fraction, high: Fraction, count: int, *, whole: bool) -> list[tuple[Fraction, str]]:
    """Multiples of 1, 2 or 5 times a power of ten, from below the range to above it."""
    finest = (high - low) / count
    unit = Fraction(10) ** _magnitude(finest)
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= finest)
    step = max(step, Fraction(1)) if whole else step
    ticks = [step * i for i in range(floor(low / step), ceil(high / step) + 1)]
    digits = _magnitude(step)
    plain = [format_decimals(tick, -digits) for tick in ticks]
    scientific = [_scientific(tick, digits) for tick in ticks]
    longest = max(map(len, plain))
    return list(zip(ticks, plain if longest <= max(9, *map(len, scientific)) else scientific, strict=True))


def _powers(low: Fraction, high: Fraction, count: int) -> list[tuple[Fraction, str]]:
    """Powers of ten, with some multiples between them in a short range, from below the range to above it."""
    begin, end = _magnitude(low), _magnitude(high) + 1
    span = _logarithm(high) - _logarithm(low)
    factors = (1, 2, 5) if span <= 2.5 else (1, 3) if span <= 4 else (1,)
    stride = next(stride for stride in (1, 2, 5, 10, 20, 50, 100) if span <= stride * (count + 1))
    ticks = [(f, e) for e in range(begin - begin % stride, end + stride, stride) for f in factors]
    plain = begin >= -4 and end <= 5
    return [
        (value, format_decimals(value, -e) if plain else _scientific(value, e))
        for f, e in ticks
        for value in (f * Fraction(10) ** e,)
    ]


def _logarithm(value: Fraction) -> float:
    return log10(value.numerator) - log10(value.denominator)


def _magnitude(value: Fraction) -> int:
    """The largest e with 10^e at most the value."""
    guess = floor(_logarithm(value))
    return next(e for e in (guess + 1, guess, guess - 1) if Fraction(10) ** e <= value)


def format_decimals(value: Fraction, decimals: int) -> str:
    """A number with so many decimals (0 for fewer), in groups of three from 10 000 on."""
    places = max(decimals, 0)
    scaled = round(abs(value) * 10**places)
    whole, rest = divmod(scaled, 10**places)
    grouped = f"{whole:,}".replace(",", " ") if whole >= 10_000 else str(whole)
    return ("\u2212" if value < 0 and scaled else "") + grouped + (f".{rest:0{places}d}" if places else "")


def _scientific(value: Fraction, last: int) -> str:
    """A number times a power of ten, down to the digit that counts 10^last."""
    if value == 0:
        return "0"
    exponent = _magnitude(abs(value))
    mantissa = format_decimals(value / Fraction(10) ** exponent, exponent - last)
    power = f"10{str(exponent).translate(_RAISED)}"
    return power if mantissa == "1" else f"{mantissa}·{power}"


_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def short(value: float, digits: int = 4) -> str:
    """A number with so many digits that count.

    >>> [short(value) for value in (13.02194, 0.25, 12345.6, -3.0, 0.0, 1.5e-9)]
    ['13.02', '0.25', '12 346', '−3', '0', '1.5·10⁻⁹']
    """
    exact = Fraction(value)
    if exact == 0:
        return "0"
    exponent = _magnitude(abs(exact))
    if -4 <= exponent < 7:
        shown = format_decimals(exact, digits - 1 - exponent)
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    unit = Fraction(10) ** (exponent - digits + 1)
    kept = round(exact / unit) * unit
    last = exponent - digits + 1
    while kept % (Fraction(10) ** (last + 1)) == 0:
        last += 1
    return _scientific(kept, last)


def alike(values: Sequence[Value]) -> list[str]:
    """Numbers with as many decimals as give the largest four digits, fewer if these are zeros; nothing for None.

    >>> alike([103.91, 5.387, None]), alike([61.0, 3.0])
    (['103.9', '5.4', ''], ['61', '3'])
    """
    exact = [None if value is None else Fraction(value) for value in values]
    largest = max((abs(value) for value in exact if value is not None), default=Fraction(0))
    places = 3 - _magnitude(largest) if largest else 0
    if not -4 < places < 8:
        return ["" if value is None else short(value) for value in values]
    while places > 0 and all(value is None or round(value * 10**places) % 10 == 0 for value in exact):
        places -= 1
    return ["" if value is None else format_decimals(value, places) for value in exact]


def percent(share: float) -> str:
    return f"{short(100 * share, 3)} %"


def entry_name(index: int) -> str:
    return f"X{str(index).translate(_LOWERED)}"


def counted_entries(size: int) -> str:
    return "1 entry" if size == 1 else f"{format_decimals(Fraction(size), 0)} entries"


def entry_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    return ", ".join(
        entry_name(low) if low == high else f"{entry_name(low)}{', ' if high == low + 1 else ' … '}{entry_name(high)}"
        for low, high in ranges
    )


def curve_words(name: str, runs: Sequence[Run]) -> str:
    if not runs:
        return f"{name}: nothing to draw"
    (a, b), (c, d) = runs[0][0], runs[-1][-1]
    return f"{name}: {short(b)} at {short(a)}" + ("" if (a, b) == (c, d) else f", {short(d)} at {short(c)}")
