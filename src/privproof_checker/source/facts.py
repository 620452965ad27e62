"""What is known of numbers that are left open.

`Facts` are bounds on linear combinations of atoms.  Where they do not settle a comparison, `Open` is raised, and whoever follows the run
goes both ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from privproof_checker.source.symbols import (
    PLACE,
    Atom,
    Atoms,
    Key,
    Parts,
    Term,
    constant_of,
    is_whole,
    key_of,
    parts_of,
    plus,
)
from privproof_checker.source.values import Beyond, Value

_MOST_COMBINED = 16
"""How many other directions are looked at, at most, where one is not known by itself."""


@dataclass(frozen=True)
class Asked:
    """A question about a polynomial: whether it is ``above`` zero, ``at least`` zero, ``zero`` or ``nonzero``."""

    what: str
    parts: Parts


class Open(Exception):
    """The run asks what is not known."""

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self.asked = asked


@dataclass(frozen=True)
class Range:
    """Where a number lies; which values it does not have."""

    low: Fraction | None = None
    high: Fraction | None = None
    above: bool = False
    below: bool = False
    without: frozenset[Fraction] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether there is no such number."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (
            self.low == self.high and (self.above or self.below or self.low in self.without)
        )

    def exceeds(self, value: Fraction, *, strict: bool) -> bool | None:
        """Whether the number is above a value (or equal to it, if not strict), as far as that is known."""
        away = value in self.without
        if self.low is not None and (self.low > value or (self.low == value and (not strict or self.above or away))):
            return True
        if self.high is not None and (self.high < value or (self.high == value and (strict or self.below or away))):
            return False
        return None

    def meet(self, other: Range) -> Range:
        """Both."""
        low, above = _tighter((self.low, self.above), (other.low, other.above), largest=True)
        high, below = _tighter((self.high, self.below), (other.high, other.below), largest=False)
        return Range(low, high, above, below, self.without | other.without)

    def rounded(self) -> Range:
        """The same for a whole number."""
        without = frozenset(value for value in self.without if value.denominator == 1)
        low = None if self.low is None else Fraction(floor(self.low) + 1 if self.above else ceil(self.low))
        high = None if self.high is None else Fraction(ceil(self.high) - 1 if self.below else floor(self.high))
        while low is not None and low in without:
            low += 1
        while high is not None and high in without:
            high -= 1
        return Range(low, high, without=without)


def _tighter(
    one: tuple[Fraction | None, bool], other: tuple[Fraction | None, bool], *, largest: bool
) -> tuple[Fraction | None, bool]:
    if one[0] is None or other[0] is None:
        return other if one[0] is None else one
    if one[0] == other[0]:
        return one[0], one[1] or other[1]
    return one if (one[0] > other[0]) == largest else other


@dataclass(frozen=True)
class Facts:
    """What is known of the atoms on a path: where linear combinations of them lie."""

    atoms: Atoms
    ranges: Mapping[Key, Range] = field(default_factory=dict)

    def answer(self, asked: Asked) -> bool | None:
        """The answer to a question; None if it is open."""
        if asked.what == "nonzero":
            found_ = self.answer(Asked("zero", asked.parts))
            return None if found_ is None else not found_
        direction, factor, value = self._direction(asked.parts)
        if not direction:
            constant = constant_of(asked.parts)
            return {"above": constant > 0, "at least": constant >= 0, "zero": constant == 0}[asked.what]
        found = self._range(direction)
        settled = self._settled(asked.what, found, factor, value, direction)
        if settled is None:
            settled = self._settled(asked.what, found.meet(self._combined(direction)), factor, value, direction)
        return settled

    def _settled(self, what: str, found: Range, factor: Fraction, value: Fraction, direction: Key) -> bool | None:
        """The answer where a direction lies in a range."""
        if what == "zero":
            if found.low == found.high == value:
                return True
            apart = value in found.without or (self._integral(direction) and value.denominator != 1)
            below, above = found.exceeds(value, strict=False), found.exceeds(value, strict=True)
            return False if apart or below is False or above is True else None
        strict = what == "above"
        if factor > 0:
            return found.exceeds(value, strict=strict)
        exceeds = found.exceeds(value, strict=not strict)
        return None if exceeds is None else not exceeds

    def _combined(self, direction: Key) -> Range:
        """Where a direction lies because it is a multiple of another one, which is bounded, and a rest that is."""
        parts, found = dict(direction), Range()
        for other, known in list(self.ranges.items())[-_MOST_COMBINED:]:
            for product, factor in other:
                if product not in parts:
                    continue
                share = parts[product] / factor
                low, high = self.ends(plus(parts, dict(other), -share))
                least, most = (known.low, known.high) if share > 0 else (known.high, known.low)
                above, below = (known.above, known.below) if share > 0 else (known.below, known.above)
                found = found.meet(
                    Range(
                        None if low is None or least is None else low + share * least,
                        None if high is None or most is None else high + share * most,
                        above,
                        below,
                    )
                )
        return found.rounded() if self._integral(direction) else found

    def after(self, asked: Asked, *, outcome: bool) -> Facts | None:
        """What is known once a question is answered; None if nothing is like that."""
        if asked.what == "nonzero":
            return self.after(Asked("zero", asked.parts), outcome=not outcome)
        direction, factor, value = self._direction(asked.parts)
        if asked.what == "zero":
            more = Range(value, value) if outcome else Range(without=frozenset((value,)))
        else:
            strict = (asked.what == "above") == outcome
            more = Range(low=value, above=strict) if (factor > 0) == outcome else Range(high=value, below=strict)
        found = self._range(direction).meet(more)
        if self._integral(direction):
            found = found.rounded()
            if asked.what == "zero" and outcome and value.denominator != 1:
                return None
        return None if found.empty else replace(self, ranges={**self.ranges, direction: found})

    def ends(self, parts: Parts) -> tuple[Fraction | None, Fraction | None]:
        """Between which numbers a polynomial lies."""
        direction, factor, value = self._direction(parts)
        if not direction:
            return constant_of(parts), constant_of(parts)
        found = self._range(direction)
        low, high = (None if end is None else factor * (end - value) for end in (found.low, found.high))
        return (low, high) if factor > 0 else (high, low)

    def questions(self) -> list[Asked]:
        """What is known, as questions whose answer is yes."""
        found = []
        for direction, known in self.ranges.items():
            parts = dict(direction)
            if known.low is not None:
                found.append(Asked("above" if known.above else "at least", plus(parts, {(): -known.low})))
            if known.high is not None:
                what = "above" if known.below else "at least"
                found.append(Asked(what, plus({(): known.high}, parts, -1)))
            found += [Asked("nonzero", plus(parts, {(): -value})) for value in known.without]
        return found

    def _integral(self, direction: Key) -> bool:
        return self.atoms.whole(dict(direction))

    def _direction(self, parts: Parts) -> tuple[Key, Fraction, Fraction]:
        """A polynomial as ``factor * (direction - value)``; among whole numbers the direction has coprime coefficients."""
        rest = key_of(parts, constant=False)
        if not rest:
            return (), Fraction(1), Fraction(0)
        factor = rest[0][1]
        if self._integral(rest):
            below = lcm(*(f.denominator for _, f in rest))
            unit = Fraction(gcd(*(int(f * below) for _, f in rest)), below)
            factor = unit if factor > 0 else -unit
        return tuple((product, f / factor) for product, f in rest), factor, -constant_of(parts) / factor

    def _range(self, direction: Key) -> Range:
        found = self.ranges.get(direction, Range()).meet(Range(*self._interval(direction)))
        return found.rounded() if self._integral(direction) else found

    def _interval(self, direction: Key) -> tuple[Fraction | None, Fraction | None]:
        """Between which numbers a direction lies because of the bounds of its atoms."""
        low: Fraction | None = Fraction(0)
        high: Fraction | None = Fraction(0)
        for product, factor in direction:
            ends = self._ends(product)
            least, most = ends if factor > 0 else (ends[1], ends[0])
            low = None if low is None or least is None else low + factor * least
            high = None if high is None or most is None else high + factor * most
        return low, high

    def _ends(self, product: tuple[int, ...]) -> tuple[Fraction | None, Fraction | None]:
        """Between which numbers an atom lies."""
        if len(product) != 1:
            return None, None
        atom = self.atoms.listed[product[0]]
        known = self.ranges.get(((product, Fraction(1)),), Range()).meet(Range(atom.low, atom.high))
        return known.low, known.high


class Path:
    """What both sides of a comparison share on their way: the atoms, and what is known of them by now."""

    def __init__(self) -> None:
        self.atoms = Atoms()
        self.facts = Facts(self.atoms)

    def holds(self, what: str, parts: Parts) -> bool:
        """The answer to a question; raises `Open` where there is none."""
        asked = Asked(what, parts)
        found = self.facts.answer(asked)
        if found is None:
            raise Open(asked)
        return found

    def less(self, left: Value, right: Value) -> bool:
        """``left < right``."""
        return self.holds("above", plus(parts_of(right), parts_of(left), -1))

    def equal(self, left: Value, right: Value) -> bool:
        """``left == right``."""
        return self.holds("zero", plus(parts_of(left), parts_of(right), -1))

    def same(self, left: Parts, right: Parts) -> bool:
        """Whether two polynomials are surely equal."""
        return self.facts.answer(Asked("zero", plus(left, right, -1))) is True

    def assume(self, what: str, parts: Parts) -> None:
        """Take something for granted that is shown elsewhere."""
        asked = Asked(what, parts)
        if self.facts.answer(asked) is None:
            self.facts = self.facts.after(asked, outcome=True) or self.facts

    def term(self, atom: int) -> Term:
        """An atom as a number."""
        return Term({(atom,): Fraction(1)}, self.atoms.listed[atom].whole)

    def divided(self, left: Value, right: Value, sign: str) -> Value:
        """``left // right`` or ``left % right`` of whole numbers, the right one not 0: an atom of its own where it is open."""
        if not (is_whole(left) and is_whole(right)):
            raise Beyond("a quotient is rounded whose sides are not whole numbers", PLACE)
        if not isinstance(left, Term) and not isinstance(right, Term):
            return left // right if sign == "FloorDiv" else left % right
        above, below = parts_of(left), parts_of(right)
        stable = self.atoms.stable(above) and self.atoms.stable(below)
        name = (sign, key_of(above), key_of(below))
        return self.term(self.atoms.named(name, Atom(whole=True, stable=stable)))
