"""Bundles of ways, and the rules that change them and never their probability: mark, join and release (see `registers`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import refuse
from privproof_checker.programs.program_expressions import Expression

MOST_MARKS = 4
"""Marks at one time; a program that keeps more noisy numbers is refused."""
Number = tuple[Rational, tuple[tuple[str, Rational], ...]]
"""A constant, and multiples of entries of the data (``q[3]``), of noisy numbers (``~5``) and of marks (``^0``), in order."""
Value = Number | bool | int
"""A number, a truth value, or the number of a tag."""
Shown = tuple[tuple[object, ...], ...]
"""What is emitted and returned, each by its parts: numbers, truth values, or ``("tag", n)``."""


@dataclass(frozen=True)
class Noisy:
    """A noisy number: the draw, its law, and its center, a constant plus a multiple of one entry at most."""

    draw: tuple[int, int]
    kind: str
    scale: Rational
    center: Number
    turned: bool = False

    @property
    def entry(self) -> str | None:
        """The entry of the data in its center."""
        return self.center[1][0][0] if self.center[1] else None


@dataclass(frozen=True)
class Bundle:
    """A sum of integrals over marks."""

    marks: int
    ways: frozenset[tuple[int, ...]]
    gaps: Mapping[int, int]


@dataclass
class Here:
    at: int
    held: dict[str, Value]
    ways: frozenset[tuple[int, ...]]
    gaps: dict[int, int]
    drawn: tuple[tuple[int, int], ...]
    shown: Shown
    marks: int

    def again(self, **changes: object) -> Here:
        return Here(**{**vars(self), "held": dict(self.held), **changes})

    @property
    def all_gaps(self) -> int:
        return (1 << (self.marks + 1)) - 1

    def names(self) -> set[str]:
        """The noisy numbers and marks that variables hold."""
        return {n for v in self.held.values() if isinstance(v, tuple) for n, _ in v[1] if n[0] in "~^"}

    def marked(self, who: int, gap: int) -> Here:
        """With a noisy number on a new mark in a gap."""

        def moved(bits: int) -> int:
            lower, upper = bits & ((1 << gap) - 1), bits >> (gap + 1)
            return lower | (3 if bits >> gap & 1 else 0) << gap | upper << (gap + 2)

        names = {f"^{k}": f"^{k + 1}" for k in range(gap, self.marks)} | {f"~{who}": f"^{gap}"}
        return self.again(
            held={name: _rename_value(value, names) for name, value in self.held.items()},
            ways=frozenset((*w[:gap], who, *w[gap:]) for w in self.ways),
            gaps={j: moved(bits) for j, bits in self.gaps.items() if j != who},
            marks=self.marks + 1,
        )

    def released(self, mark: int) -> Here | None:
        """Without a mark that no variable holds; None where the rule does not apply."""
        sitting: dict[tuple[int, ...], set[int]] = {}
        for way in self.ways:
            sitting.setdefault(way[:mark] + way[mark + 1 :], set()).add(way[mark])
        near, far = 1 << mark, 2 << mark
        depending = {j for j, bits in self.gaps.items() if bool(bits & near) != bool(bits & far)}
        gone: set[int] = set()
        for others, members in sitting.items():
            if not depending - set(others) <= members:
                return None
            if len(members) > 1 and {self.gaps.get(j) for j in members} not in ({near}, {far}):
                return None
            gone |= members

        def merged(bits: int) -> int:
            return bits & (far - 1) | bits >> (mark + 2) << (mark + 1)

        gaps = {j: near if j in gone else merged(bits) for j, bits in self.gaps.items()} | dict.fromkeys(gone, near)
        for others, members in sitting.items():
            for j in gone - members - set(others):
                if j not in self.gaps or merged(self.gaps[j]) != near or j in depending:
                    return None
        everywhere = (1 << self.marks) - 1
        names = {f"^{k}": f"^{k - 1}" for k in range(mark + 1, self.marks)}
        return self.again(
            held={name: _rename_value(value, names) for name, value in self.held.items()},
            ways=frozenset(sitting),
            gaps={j: bits for j, bits in gaps.items() if bits != everywhere},
            marks=self.marks - 1,
        )

    def freed(self) -> Here:
        """Without all marks that can go."""
        here = self
        while True:
            names = here.names()
            tries = (here.released(mark) for mark in range(here.marks) if f"^{mark}" not in names)
            found = next((each for each in tries if each is not None), None)
            if found is None:
                return here
            here = found

    def joined(self, other: Here) -> Here | None:
        """Both together; None where they are no bundle."""
        if self.ways == other.ways:
            full = self.all_gaps
            unlike = [j for j in {**self.gaps, **other.gaps} if self.gaps.get(j, full) != other.gaps.get(j, full)]
            if len(unlike) != 1 or any(unlike[0] in way for way in self.ways):
                return None
            one, two = self.gaps.get(unlike[0], full), other.gaps.get(unlike[0], full)
            if one & two:
                return None
            gaps = {**self.gaps, unlike[0]: one | two}
            return self.again(gaps={j: bits for j, bits in gaps.items() if bits != full})
        if self.ways & other.ways:
            return None
        always = [set.intersection(*map(set, each.ways)) for each in (self, other)]
        for j in {**self.gaps, **other.gaps}:
            if j in self.gaps and j in other.gaps:
                if self.gaps[j] != other.gaps[j]:
                    return None
            elif j not in always[0 if j in other.gaps else 1]:
                return None
        return self.again(ways=self.ways | other.ways, gaps={**self.gaps, **other.gaps})


def joined_together(found: list[Here]) -> list[Here]:
    """Bundles that exclude one another at one instruction, as few as the rules make them."""
    while True:
        kept: list[Here] = []
        for each in found:
            here = each.freed()
            for number, other in enumerate(kept):
                both = other.joined(here) if other.marks == here.marks and other.held == here.held else None
                if both is not None:
                    kept[number] = both
                    break
            else:
                kept.append(here)
        after = [here.freed() for here in kept]
        if len(after) == len(found) and all(a is b for a, b in zip(after, kept, strict=True)):
            return after
        if len(after) == 1:
            return after
        found = after


def _rename_value(value: Value, names: Mapping[str, str]) -> Value:
    if not isinstance(value, tuple) or not any(name in names for name, _ in value[1]):
        return value
    return value[0], tuple(sorted((names.get(name, name), factor) for name, factor in value[1]))


def as_number(value: Value) -> Number:
    if not isinstance(value, tuple):
        refuse("a number is expected", "question.code")
    return value


def plain_value(value: Value, expression: Expression) -> int:
    constant, terms = as_number(value)
    if terms or constant.q != 1:
        refuse("a whole number that neither data nor noise change is expected", expression.place)
    return int(constant.p)


def added_numbers(one: Number, two: Number) -> Number:
    terms = dict(one[1])
    for name, factor in two[1]:
        terms[name] = terms.get(name, ZERO) + factor
    return one[0] + two[0], tuple(sorted((name, factor) for name, factor in terms.items() if factor != 0))


def scaled_number(one: Number, factor: Rational) -> Number:
    return (ZERO, ()) if factor == 0 else (one[0] * factor, tuple((name, f * factor) for name, f in one[1]))


def computed_number(head: str, values: list[Number], expression: Expression) -> Number:
    if head == "+":
        return added_numbers(values[0], values[1])
    if head == "-":
        return added_numbers(values[0], scaled_number(values[1], -ONE))
    if head == "neg":
        return scaled_number(values[0], -ONE)
    if head in ("*", "/"):
        one, two = values if not values[1][1] or head == "/" else (values[1], values[0])
        if two[1]:
            refuse("a product of two open numbers", expression.place)
        return scaled_number(one, two[0] if head == "*" else 1 / two[0])
    if head in ("//", "%"):
        one_, two_ = (plain_value(value, expression) for value in values)
        if two_ == 0:
            refuse("a division by 0", expression.place)
        return Rational(one_ // two_ if head == "//" else one_ % two_), ()
    refuse(f"{head[:40]} is not computed with open numbers", expression.place)


def written_value(value: Value, expression: Expression) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return ("tag", value)
    if value[1]:
        refuse("a noisy number, or one that the data change, is shown", expression.place)
    return value[0]
