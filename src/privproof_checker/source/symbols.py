"""Numbers that are left open: polynomials in atoms.

An atom is a number that a proof speaks of without knowing it: an input, an entry of a list, the common length of the lists, a noise that
was drawn, whatever a loop has made of a variable.  A `Term` is a polynomial in atoms with exact coefficients, and whether Python would
hold it as a whole number.  What is known of atoms is in `facts`.

Nothing else may compare a term, count it as true or look into it: that would be an answer about numbers that nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias

from privproof_checker.numbers import Rational, fraction
from privproof_checker.source.values import Beyond, Value

PLACE = "question.source"
_MOST_PARTS = 200
"""Terms of a polynomial; a longer one is not followed."""
_MOST_ATOMS = 100_000
"""Numbers that are left open in one comparison; beyond them it gives up."""
_LARGEST_BITS = 20_000
"""Bits of a coefficient; a longer one is not followed."""

Parts: TypeAlias = "Mapping[tuple[int, ...], Fraction]"
"""A polynomial: the coefficient of every product of atoms, each a sorted tuple of their numbers; () is the constant."""
Key: TypeAlias = "tuple[tuple[tuple[int, ...], Fraction], ...]"


class Opaque:
    """A value that Python's own operations may not touch."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _closed(self, *_: object) -> NoReturn:
        raise Beyond(f"{type(self).__name__.lower()} takes part in an operation that is not followed", PLACE)

    __eq__ = __bool__ = __len__ = __iter__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __int__ = _closed


@dataclass(frozen=True, eq=False, slots=True)
class Term(Opaque):
    """A number that is left open; `whole`: Python holds it as a whole number."""

    parts: Parts
    whole: bool


def parts_of(value: Value) -> Parts:
    """A number as a polynomial."""
    if isinstance(value, Term):
        return value.parts
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise Beyond(f"{type(value).__name__} is used as a number", PLACE)
    return {(): Fraction(value)} if value else {}


def is_whole(value: Value) -> bool:
    """Whether Python holds a number as a whole one."""
    return value.whole if isinstance(value, Term) else isinstance(value, int)


def number_of(parts: Parts, *, whole: bool) -> Value:
    """A polynomial as a value: Python's own number where it is one."""
    if len(parts) > _MOST_PARTS:
        raise Beyond("a number with too many parts", PLACE)
    if any(parts):
        return Term(parts, whole)
    constant = parts.get((), Fraction(0))
    return int(constant) if whole else constant


def plus(left: Parts, right: Parts, factor: Fraction | int = 1) -> Parts:
    """``left + factor * right``."""
    found = dict(left)
    for product, coefficient in right.items():
        found[product] = found.get(product, Fraction(0)) + factor * coefficient
    return {product: coefficient for product, coefficient in found.items() if coefficient}


def times(left: Parts, right: Parts) -> Parts:
    """The product."""
    found: dict[tuple[int, ...], Fraction] = {}
    if len(left) * len(right) > _MOST_PARTS**2:
        raise Beyond("a product with too many parts", PLACE)
    for one, a in left.items():
        for other, b in right.items():
            product = tuple(sorted((*one, *other)))
            if len(product) > 8:
                raise Beyond("a product of too many numbers", PLACE)
            found[product] = f = found.get(product, Fraction(0)) + a * b
            if max(f.numerator.bit_length(), f.denominator.bit_length()) > _LARGEST_BITS:
                raise Beyond("a number with too many digits", PLACE)
    return {product: coefficient for product, coefficient in found.items() if coefficient}


def constant_of(parts: Parts) -> Fraction:
    """The constant of a polynomial."""
    return parts.get((), Fraction(0))


def key_of(parts: Parts, *, constant: bool = True) -> Key:
    """What tells polynomials apart; without their constants, what tells apart those that do not differ by a constant."""
    return tuple(sorted((product, f) for product, f in parts.items() if product or constant))


@dataclass(frozen=True)
class Atom:
    """A number without a value: whether it is whole, whether it is the same throughout a run, and its declared bounds."""

    whole: bool
    stable: bool = False
    low: Fraction | None = None
    high: Fraction | None = None


class Atoms:
    """All atoms, by number and by name."""

    def __init__(self) -> None:
        self.listed: list[Atom] = []
        self.names: dict[int, Any] = {}
        self._numbers: dict[Any, int] = {}

    def new(self, atom: Atom) -> int:
        """An atom of its own."""
        if len(self.listed) >= _MOST_ATOMS:
            raise Beyond(f"more than {_MOST_ATOMS} numbers are left open", PLACE)
        self.listed.append(atom)
        return len(self.listed) - 1

    def named(self, name: Any, atom: Atom) -> int:
        """The atom of a name."""
        if name not in self._numbers:
            self._numbers[name] = number = self.new(atom)
            self.names[number] = name
        return self._numbers[name]

    def stable(self, parts: Parts) -> bool:
        """Whether a polynomial is the same throughout a run."""
        return all(self.listed[atom].stable for product in parts for atom in product)

    def whole(self, parts: Parts) -> bool:
        """Whether all atoms of a polynomial are whole numbers."""
        return all(self.listed[atom].whole for product in parts for atom in product)


def bound(value: Rational | None) -> Fraction | None:
    """A declared bound."""
    return None if value is None else fraction(value)
