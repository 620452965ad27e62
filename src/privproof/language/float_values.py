"""Floats beside data: where they may stand for the numbers that they are.

In ordinary code ``total = 0.0``, ``min(max(x, 0.0), 10.0)`` and ``0.5 * x`` are common.  A float counts with its exact value as long as
two things cannot tell it from that number.

* **Its type.**  ``0.0`` and ``0`` are one number to the model, and two outputs to who sees them.  So no output may be a float on some
  ways and another number on others, unless continuous noise has a part in it, whose sums are floats on all ways.
* **Its rounding.**  What Python adds up and multiplies is rounded; what it selects (``min``, ``max``, a branch) is not.  A rounded number
  may meet continuous noise, which stands for an ideal noise anyway; it may not be compared, counted with, or put out.  Where all inputs
  have listed values, the function can also be run as it is, and then rounding counts: there only floats of few binary digits, such as
  0.0 and 0.5, are added up and multiplied, which is exact.

The analysis looks at every assignment, and does not follow their order: what it does not see to be right is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NoReturn, TypeAlias

from privproof.errors import LanguageError
from privproof.language.laws import CONTINUOUS
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Conditional,
    Constant,
    Each,
    Element,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Place,
    Replace,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import blocks, statements, writes

_ARITHMETIC = frozenset(("+", "-", "*", "/", "extend", "repeat"))
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "in", "not in", "is", "is not"))
_KEEPING = frozenset(("neg", "pos", "abs", "and", "or", "list", "tuple", "copied", "sorted"))
_LISTING = frozenset(("list of", "tuple of"))
_COUNTING = frozenset(("len", "turns", "length", "count", "not", "holds", "fails"))
_SHORT = 2**20
"""Numerators and denominators of floats that are computed with exactly, as long as data are below 2**32."""
_HINT = "a whole number or a Fraction; or add the noise first"


Kind: TypeAlias = Literal["float", "other", "either", "noise"]


@dataclass(frozen=True)
class Look:
    """What a value is, as far as floats go.

    Attributes:
        kind: whether it is a float, another number, or a float on some ways; noise, where continuous noise makes it a float that no
            other output is equal to.
        rounded: whether Python may have rounded it.
        short: whether that needs numbers of many digits.
        noisy: whether continuous noise has a part in it on all ways.
        listed: whether it is a list of such values.
    """

    kind: Kind = "other"
    rounded: bool = False
    noisy: bool = False
    listed: bool = False
    short: bool = True

    def joined(self, other: Look) -> Look:
        """What is one of two values."""
        return Look(
            _joined_kinds(self.kind, other.kind),
            self.rounded or other.rounded,
            self.noisy and other.noisy,
            self.listed or other.listed,
            self.short and other.short,
        )


_OTHER = Look()
_NOISE = Look("noise", noisy=True)


def check_floats(
    body: Block, floats: frozenset[tuple[Place, Fraction]], lists: Iterable[str], *, runnable: bool
) -> None:
    """Refuse a function in which a float is not the number that it stands for.

    Args:
        body: the function.
        floats: the floats in it, by their places and values.
        lists: the inputs that are lists.
        runnable: whether all inputs have listed values.

    Raises:
        LanguageError: a float's type or its rounding may be seen.
    """
    if floats:
        _Floats(body, floats, lists, runnable=runnable).check()


class _Floats:
    def __init__(
        self, body: Block, floats: frozenset[tuple[Place, Fraction]], lists: Iterable[str], *, runnable: bool
    ) -> None:
        self.body = body
        self.runnable = runnable
        self.floats = floats
        self.known: dict[str, Look] = {name: Look(listed=True) for name in lists}
        self.written = {name for statement in statements(body) if (name := writes(statement)) is not None}
        self.strict = False
        self.shown: list[tuple[Look, Place]] = []

    def check(self) -> None:
        """Go through the function until nothing new is known, then once more to refuse."""
        before: dict[str, Look] | None = None
        while before != self.known:
            before = dict(self.known)
            self.block(self.body, None)
        self.strict, self.shown = True, []
        self.block(self.body, None)
        kinds = {look.kind for look, _ in self.shown} - {"noise"}
        for look, place in self.shown:
            told_apart = look.kind == "either" or (len(kinds) > 1 and look.kind == "float")
            if told_apart or (look.rounded and not look.noisy):
                self.refuse(place, "is put out without noise")

    def refuse(self, place: Place, what: str) -> NoReturn:
        where, first = min(self.floats, key=lambda each: (each[0].file, each[0].line, each[0].column))
        told = f"{float(first)!r} is a float, and what is computed with floats {what} in line {place.line}"
        raise LanguageError("float", told, place=str(where), hint=_HINT)

    def block(self, block: Block, result: str | None) -> None:
        for statement in block:
            self.statement(statement, result)
            inside = statement.result if isinstance(statement, Inline) else result
            for inner in blocks(statement):
                self.block(inner, inside)

    def statement(self, statement: Statement, result: str | None) -> None:
        match statement:
            case Assign(name, value):
                self.store(name, self.look(value))
            case Append(name, value):
                self.store(name, self.element(value))
            case Replace(name, index, value):
                self.plain(index)
                self.store(name, self.element(value))
            case Sample(name, noise, (centre, *others)):
                look = self.look(centre)
                for other in others:
                    self.exact(other)
                if noise in CONTINUOUS:
                    self.meet_noise([look], statement.place)
                    self.store(name, _NOISE)
                else:
                    if self.strict and look is not None and look != _OTHER and not look.listed:
                        self.refuse(statement.place, "is the centre of discrete noise")
                    self.store(name, _OTHER)
            case Sample(name):
                self.store(name, _OTHER)
            case If(test) | While(test):
                self.exact(test)
            case Each(name):
                self.store(name, _OTHER)
            case Result(value):
                if result is not None:
                    self.store(result, self.look(value))
            case Emit(value) | Return(value):
                self.put_out(value)
            case _:
                pass

    def meet_noise(self, looks: Iterable[Look | None], place: Place) -> None:
        """Refuse what is rounded beside noise where a run as it is would tell."""
        if self.strict and self.runnable and any(look and look.rounded and not look.short for look in looks):
            self.refuse(place, "is rounded, and runs of the function count that")

    def store(self, name: str, look: Look | None) -> None:
        """Join what is known of a variable with what it is given."""
        if look is not None:
            known = self.known.get(name)
            self.known[name] = look if known is None else known.joined(look)

    def element(self, value: Expression) -> Look | None:
        """What a list becomes by an element; a list in a list is not followed."""
        look = self.look(value)
        if look is None:
            return None
        return Look("either", rounded=True, listed=True, short=False) if look.listed else replace(look, listed=True)

    def put_out(self, value: Expression) -> None:
        """Note what is put out, part by part."""
        match value:
            case Operation(name, parts) if name in _LISTING:
                for part in parts:
                    self.put_out(part)
            case Constant(str() | None):
                pass
            case _:
                look = self.look(value)
                if look is not None:
                    self.shown.append((look, value.place))

    def exact(self, value: Expression) -> None:
        """Refuse what is rounded where it decides something."""
        look = self.look(value)
        if self.strict and look is not None and look.rounded and not look.noisy:
            self.refuse(value.place, "decides something without noise")

    def plain(self, value: Expression) -> None:
        """Refuse a float where a whole number is meant."""
        look = self.look(value)
        if self.strict and look is not None and look.kind != "other" and not look.noisy:
            self.refuse(value.place, "is an index")

    def look(self, value: Expression) -> Look | None:
        """What a value is; None while nothing is known of a variable in it."""
        match value:
            case Constant(Fraction() as number, place):
                return Look("float", short=_is_short(number)) if (place, number) in self.floats else _OTHER
            case Constant():
                return _OTHER
            case Variable(name):
                return self.known.get(name, None if name in self.written else _OTHER)
            case Element(sequence, index):
                self.plain(index)
                found = self.look(sequence)
                return None if found is None else replace(found, listed=False)
            case Conditional(test, then, otherwise):
                self.exact(test)
                return self.either((then, otherwise))
            case Operation(name, arguments):
                return self.operation(name, arguments, value.place)

    def either(self, values: Iterable[Expression]) -> Look | None:
        """What is one of several values."""
        found: Look | None = None
        for value in values:
            look = self.look(value)
            if look is not None:
                found = look if found is None else found.joined(look)
        return found

    def operation(self, name: str, arguments: tuple[Expression, ...], place: Place) -> Look | None:
        looks = [look for each in arguments if (look := self.look(each)) is not None]
        if len(looks) < len(arguments) and name not in ("min", "max", "and", "or", *_LISTING):
            return None
        if not looks:
            return replace(_NOISE, listed=True) if name in _LISTING else _OTHER  # of an empty list nothing is seen
        joined = looks[0]
        for look in looks[1:]:
            joined = joined.joined(look)
        if name in _ARITHMETIC and not joined.listed:
            found = _computed(name, looks)
            if found.noisy:
                self.meet_noise(looks, place)
            return found
        if name in ("min", "max") and not joined.listed:
            return replace(joined, rounded=False, noisy=True) if any(look.noisy for look in looks) else joined
        if name in ("min", "max"):
            return replace(joined, listed=False)
        if name in _ARITHMETIC or name in _KEEPING:
            return joined
        if name in _LISTING:
            return (
                Look("either", rounded=True, listed=True, short=False)
                if joined.listed
                else replace(joined, listed=True)
            )
        if name in ("sum", "total", "part"):
            if joined.kind == "other" and not joined.rounded:
                return _OTHER
            return Look("either", rounded=True, short=joined.short)
        if name in _COUNTING:
            return _OTHER
        for each, look in zip(arguments, looks, strict=True):
            seen = look.rounded if name in _COMPARING else look.rounded or look.kind != "other"
            if self.strict and seen and not look.noisy:
                self.refuse(each.place if each.place.line else place, "decides something without noise")
        return _OTHER if name in _COMPARING or not any(look.noisy for look in looks) else _NOISE


def _joined_kinds(one: Kind, other: Kind) -> Kind:
    """The kind of what is one of two values: noise is equal to no other."""
    if "noise" in (one, other):
        return other if one == "noise" else one
    return one if one == other else "either"


def _is_short(number: Fraction) -> bool:
    return abs(number.numerator) <= _SHORT and number.denominator <= _SHORT


def _computed(name: str, looks: list[Look]) -> Look:
    """A sum or a product."""
    if any(look.noisy for look in looks):
        return _NOISE
    kinds = {look.kind for look in looks}
    kind: Kind = "float" if kinds & {"float", "noise"} else "either" if "either" in kinds else "other"
    rounded = kind != "other" or any(look.rounded for look in looks)
    return Look(kind, rounded, short=name != "/" and all(look.short for look in looks))
