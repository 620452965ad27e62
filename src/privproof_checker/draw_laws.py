"""The laws of separate draws: tables and geometric noise, and the largest ratio of two of them."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from privproof_checker.numbers import ONE, ZERO, Rational, rational
from privproof_checker.outcomes import refuse
from privproof_checker.source.laws import SIGNATURES, Geometric, law
from privproof_checker.source.values import Value, key

MOST_OUTCOMES = 20_000_000
"""Outcomes of tables that are compared in all; beyond, the certificate is refused."""
_LARGEST_EXPONENT = 100_000
"""The largest distance of two centers, or of a center from a bound; beyond, the certificate is refused."""
Ratio: TypeAlias = Rational | None
"""A largest ratio; None where it is infinite."""


class DrawLaw:
    """A law: a table of outcomes, or geometric with or without bounds."""

    def __init__(self, noise: str, given: list[Value], place: str) -> None:
        self.center, self.alpha, self.low, self.high = 0, Fraction(0), 0, 0
        self.noise = noise
        self.table: dict[object, Rational] = {}
        if noise == "exactly":
            if len(given) != 1:
                refuse("a part without noise has one value", place)
            self.table = {key(given[0]): ONE}
            return
        if noise not in SIGNATURES:
            refuse(f"{noise[:40]!r} is no noise", place)
        if len(given) != len(SIGNATURES[noise].names):
            refuse("not as many arguments as the noise takes", place)
        arguments = dict(zip(SIGNATURES[noise].names, given, strict=True))
        self.bounded = noise == "truncated_geometric"
        self.centered = noise in ("geometric", "truncated_geometric") and type(given[0]) is int
        if self.centered:
            free = {name: arguments[name] for name in ("value", "alpha", "epsilon", "sensitivity")}
            found = law("geometric", free)
            assert isinstance(found, Geometric)
            self.center, self.alpha = _whole(given[0], place), found.alpha
            if self.bounded:
                self.low, self.high = _whole(given[1], place), _whole(given[2], place)
                if self.low > self.high:
                    refuse("low is above high", place)
            return
        rows = law(noise, arguments)
        if not isinstance(rows, list):
            refuse("noise that is no table", place)
        for value, p in rows:
            if key(value) in self.table:
                refuse("an outcome is listed twice", place)
            self.table[key(value)] = p

    def probability(self, outcome: Value) -> Rational:
        """The probability of an outcome."""
        if self.table:
            return self.table.get(key(outcome), ZERO)
        if type(outcome) is not int:
            return ZERO
        if not self.bounded:
            return rational((1 - self.alpha) / (1 + self.alpha)) * rational(self.alpha) ** abs(outcome - self.center)
        if not self.low <= outcome <= self.high:
            return ZERO
        if self.low == self.high:
            return ONE
        if outcome == self.low:
            return self._at_most(self.low - self.center)
        if outcome == self.high:
            return self._at_most(self.center - self.high)
        return rational((1 - self.alpha) / (1 + self.alpha)) * rational(self.alpha) ** abs(outcome - self.center)

    def _at_most(self, distance: int) -> Rational:
        """The probability that geometric noise around 0 is at most a number."""
        base = rational(self.alpha)
        return base**-distance / (1 + base) if distance < 0 else 1 - base ** (distance + 1) / (1 + base)

    @property
    def family(self) -> object:
        """What two geometric laws share that are compared by their centers; None for a table."""
        return None if self.table else (self.noise, self.alpha, self.low, self.high)


def largest_ratio(one: DrawLaw, other: DrawLaw) -> Ratio:
    """The largest ratio of the probabilities of an outcome under two laws."""
    if one.family is not None and one.family == other.family:
        i, j = one.center, other.center
        if i == j or (one.bounded and one.low == one.high):
            return ONE
        if max(abs(i - j), abs(i - one.low), abs(j - one.high)) > _LARGEST_EXPONENT:
            refuse("a center is too far away", "question.laws")
        if not one.bounded or one.low <= min(i, j) <= max(i, j) <= one.high:
            return 1 / rational(one.alpha) ** abs(i - j)
        end = one.low if i < j else one.high
        return one.probability(end) / other.probability(end)
    if one.family is not None or other.family is not None:
        refuse("geometric noise beside other noise is not compared", "question.laws")
    best = ZERO
    for outcome, p in one.table.items():
        q = other.table.get(outcome, ZERO)
        if q == 0:
            return None
        best = max(best, p / q)
    return best


def _whole(value: Value, place: str) -> int:
    if type(value) is not int:
        refuse("expected a whole number", place)
    if abs(value) > 10**9:
        refuse("a number is too large", place)
    return value
