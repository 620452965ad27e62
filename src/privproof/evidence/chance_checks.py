"""Differences between a text and its instructions, looked for on numbers that are drawn by chance.

The checker's comparison of a text with its instructions (`privproof_checker.source.proofs`) knows less than there is to know, so where it
finds a difference there may be none, and it gives up.  Before the gate takes the instructions from the compiler instead, both are run on
numbers drawn by chance, which answer all that is asked: what differs on them differs, and there is no verdict.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import ceil, floor
from random import Random
from typing import Any

from privproof_checker.outcomes import Limits
from privproof_checker.programs.program_inputs import Declared
from privproof_checker.source.facts import Asked, Path
from privproof_checker.source.following import HEAD
from privproof_checker.source.observing import Both
from privproof_checker.source.proofs import Comparison
from privproof_checker.source.running import Work
from privproof_checker.source.source_member import Source
from privproof_checker.source.symbols import Parts
from privproof_checker.source.values import Beyond

_RUNS = 100
"""Runs that a difference has to show on."""
_LONGEST_RUN = 200
"""Steps of one run."""
_NUMBERS = tuple(Fraction(n, 2) for n in (-7, -4, -2, -1, 0, 0, 1, 2, 3, 4, 6))
_LONGEST = 4
"""Entries of the longest list that is sampled."""


def differ_by_chance(source: Source, asked: dict[str, object], declared: Declared, limits: Limits, work: Work) -> None:
    """Refuse, as the checker does, if the text and the instructions of a question differ on numbers that are drawn by chance."""
    _ByChance(source, asked, declared, limits, work).run()


class _ByChance(Comparison):
    """A comparison that goes one way, where chance leads."""

    def run(self) -> None:
        """Compare both sides on many runs."""
        random = Random(0)
        beginnings = list(islice(self.given.beginnings(self.program.tags), _RUNS))
        for _ in range(_RUNS):
            self.numbers_drawn = _Sampled(self.path, random)
            self.steps = max(0, self.most - _LONGEST_RUN)
            try:
                self.begin(*random.choice(beginnings))
            except Beyond:
                continue
        self.observer.recoding.finish()

    def answers(self, asked: Asked) -> tuple[bool, ...]:
        """What the numbers that were drawn say."""
        return (self.numbers_drawn.answer(asked),)

    def arrive(self, both: Both) -> list[Both]:
        """Loops are gone through turn by turn."""
        self.at_head = True
        both.ours.leaving |= both.stop is None
        both.text.leaving |= both.halt == HEAD
        both.stopped, both.halt = both.stop is not None, None if both.halt == HEAD else both.halt
        both.facts = self.path.facts
        return [both]

    def onward(self, both: Both) -> list[Both]:
        """One of the ways on."""
        self.at_head = False
        found = super().onward(both)
        return found if self.at_head or not found else [self.numbers_drawn.random.choice(found)]


class _Sampled:
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
