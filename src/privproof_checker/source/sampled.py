"""Numbers for those that are left open, by chance: what differs on them differs.

The comparison of a text with its instructions knows less than there is to know, so where it finds a difference there may be none.  A run
on numbers that are drawn by chance settles it: it asks nothing that these numbers do not answer.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import Any

from privproof_checker.source.facts import Asked, Path
from privproof_checker.source.symbols import Parts

_NUMBERS = tuple(Fraction(n, 2) for n in (-7, -4, -2, -1, 0, 0, 1, 2, 3, 4, 6))
_LONGEST = 4
"""Entries of the longest list that is sampled."""


class Sampled:
    """A number for every atom, drawn where it is first asked for."""

    def __init__(self, path: Path, random: Random) -> None:
        self.path, self.random = path, random
        self._numbers: dict[Any, Fraction] = {}

    def answer(self, asked: Asked) -> bool:
        """The answer to a question."""
        number = self._value(asked.parts)
        return {"above": number > 0, "at least": number >= 0, "zero": number == 0, "nonzero": number != 0}[asked.what]

    def _value(self, parts: Parts) -> Fraction:
        total = Fraction(0)
        for product, coefficient in parts.items():
            for atom in product:
                coefficient *= self._number(atom)
            total += coefficient
        return total

    def _number(self, atom: int) -> Fraction:
        name = self.path.atoms.names.get(atom, atom)
        match name:
            case ("read", listed, index):
                name = ("read", listed, self._value(dict(index)))
            case ("FloorDiv" | "Mod" as sign, above, below):
                left, right = self._value(dict(above)), self._value(dict(below))
                return Fraction(left // right) if sign == "FloorDiv" else left % right
        if name not in self._numbers:
            self._numbers[name] = self._drawn(atom, short=name == "size")
        return self._numbers[name]

    def _drawn(self, atom: int, *, short: bool) -> Fraction:
        """A number between the bounds of an atom."""
        low, high = self.path.facts.ends({(atom,): Fraction(1)})
        if short and low is not None and high is None:
            high = low + _LONGEST
        number = self.random.choice(_NUMBERS)
        number = max(number, low) if low is not None else number
        number = min(number, high) if high is not None else number
        if low is not None and high is not None:
            number = low + (high - low) * Fraction(self.random.randrange(9), 8)
        if not self.path.atoms.listed[atom].whole:
            return number
        return Fraction(floor(number) if low is None or floor(number) >= low else ceil(number))
