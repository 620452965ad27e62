"""Plain values: exact, of Python's own types and of no subclass, so that they mean what they print.

A mechanism may use numbers, truth values, texts, None, tuples of such and tables that cannot change (`types.MappingProxyType`).  What
others can change behind its back (a list, a dictionary, an object with attributes) is no constant, and an object of a subclass
may add, compare or count as true in a way of its own.  Both are refused with what to write instead.
"""

from __future__ import annotations

import gc
import math
from enum import Enum, EnumType
from fractions import Fraction
from types import MappingProxyType, NoneType
from typing import Any

from privproof.language.row import Row
from privproof.language.values import Member, Named

ATOMS = (bool, int, str, Fraction, NoneType)
_LONGEST = 120
"""A text longer than this is cut where constants are listed; the record of the program holds it whole."""
_MOST_BITS = 13_000
"""Python writes no larger number in decimal digits (4300 of them), unless it is told to."""


class NotPlain(Exception):
    """A value that is no constant: what it is, and what to write instead; the code is that of the message."""

    def __init__(self, what: str, hint: str, code: str = "constant") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.code = code


def frozen_copy(value: object, name: str, *, lists: bool = False, floats: bool = False) -> Any:
    """A copy of a plain value that nobody else holds.

    Args:
        value: the value.
        name: what it is called, for the hint.
        lists: whether lists and dictionaries may stand in it, because its user gets a copy of their own.
        floats: whether floats may stand in it, because its user computes with them as Python does.

    Raises:
        NotPlain: it is of another type, or could change.

    >>> frozen_copy((1, "a"), "PAIR")
    (1, 'a')
    """
    kind = type(value)
    if kind is Fraction:
        assert isinstance(value, Fraction)
        if type(value.numerator) is not int or type(value.denominator) is not int:
            raise NotPlain("a fraction of numbers of another kind", f"{name} = Fraction(1, 3)")
        frozen_copy(value.numerator, name)
        frozen_copy(value.denominator, name)
        return Fraction(value.numerator, value.denominator)
    if kind is int and isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise NotPlain(f"a number of {value.bit_length()} binary digits", f"a number of at most {_MOST_BITS}")
    if kind in ATOMS:
        return value
    if kind is float:
        if floats and not math.isnan(value):  # type: ignore[arg-type]
            return value
        raise NotPlain(f"{value!r}, a float", f'Fraction("{value!r}") for exactly that number', "float")
    if kind is tuple and isinstance(value, tuple):
        return tuple(frozen_copy(item, name, lists=lists, floats=floats) for item in value)
    if kind is MappingProxyType:
        (held,) = gc.get_referents(value)  # the table itself: a view shows whatever its holder answers
        if type(held) is not dict:
            raise NotPlain(f"a view of a {type(held).__name__}", f"{name} = MappingProxyType({{...}})")
        return MappingProxyType(
            {frozen_copy(k, name): frozen_copy(v, name, floats=floats) for k, v in dict(held).items()}
        )
    if kind is list and isinstance(value, list):
        if lists:
            return [frozen_copy(item, name, lists=True, floats=floats) for item in value]
        raise NotPlain("a list, which can change", f"a tuple: {name} = tuple(...)")
    if kind is dict and isinstance(value, dict):
        if lists:
            return {frozen_copy(k, name): frozen_copy(v, name, lists=True, floats=floats) for k, v in value.items()}
        raise NotPlain(
            "a dictionary, which can change", f"from types import MappingProxyType; {name} = MappingProxyType({{...}})"
        )
    if isinstance(value, Enum) and plain_enumeration(kind):
        return Member(kind.__name__, value._name_, frozen_copy(value._value_, name, floats=floats))
    if kind is Member:
        return value
    for plain in (bool, int, str, tuple, list, dict, Fraction):
        if issubclass(kind, plain):
            what = f"a {kind.__name__}, a subclass of {plain.__name__}, which may compute in a way of its own"
            made = {"list": "tuple(...)", "dict": "MappingProxyType(dict(...))"}.get(
                plain.__name__, f"{plain.__name__}(...)"
            )
            raise NotPlain(what, f"{name} = {made}")
    raise NotPlain(
        f"a {kind.__name__}", "whole numbers, Fraction, texts, True, False, None, tuples, MappingProxyType of such"
    )


_WAYS = ("__eq__", "__hash__", "__repr__", "__str__", "__format__", "__bool__", "__getattribute__", "__getattr__")


def plain_enumeration(kind: type) -> bool:
    """Whether a class is an enumeration whose members are nothing but themselves: no numbers or texts, with no ways of their own.

    >>> plain_enumeration(Enum("Answer", "YES NO")), plain_enumeration(int)
    (True, False)
    """
    if type(kind) is not EnumType or kind.__bases__ != (Enum,):
        return False
    return all(vars(kind)[way] is vars(Enum).get(way) for way in _WAYS if way in vars(kind))


def fresh(value: Any) -> Any:
    """The value with new lists and dictionaries, so that what one run does to them another does not see."""
    if type(value) is list:
        return [fresh(item) for item in value]
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    if type(value) is tuple:
        return tuple(fresh(item) for item in value)
    return value


def typed_document(value: Any) -> dict[str, Any]:
    """A plain value as JSON data that tells 1, True and "1" apart; a row as the tuple of its fields.

    >>> typed_document((1, Fraction(1, 3)))
    {'tuple': [{'int': '1'}, {'fraction': '1/3'}]}
    """
    kind = type(value)
    if kind is bool:
        return {"bool": value}
    if kind is int:
        return {"int": str(value)}
    if kind is str:
        return {"text": value}
    if kind is Fraction:
        return {"fraction": str(value)}
    if kind is float:
        return {"float": value.hex()}
    if value is None:
        return {"none": None}
    if kind is tuple or kind is list:
        return {kind.__name__: [typed_document(item) for item in value]}
    if kind is Row:
        return typed_document(tuple(value.items()))
    if kind is dict or kind is MappingProxyType:
        return {"dict": [[typed_document(key), typed_document(item)] for key, item in value.items()]}
    if kind is Member:
        return {"member": [value.kind, value.name, typed_document(value.value)]}
    if kind is Named:
        fields = [typed_document(item) for item in value.items]
        return {"record": [value.shape.name, list(value.shape.fields), fields]}
    raise NotPlain(f"a {kind.__name__}", "a plain value")


def constant_text(value: Any) -> str:
    """A plain value as a reader knows it, cut where it is long.

    >>> constant_text((Fraction(1, 2), "a"))
    "(1/2, 'a')"
    """
    text = _whole(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _whole(value: Any) -> str:
    match value:
        case Fraction():
            return str(value)
        case tuple():
            return f"({', '.join(map(_whole, value))}{',' if len(value) == 1 else ''})"
        case list():
            return f"[{', '.join(map(_whole, value))}]"
        case dict() | MappingProxyType():
            return "{" + ", ".join(f"{_whole(key)}: {_whole(item)}" for key, item in value.items()) + "}"
        case _:
            return repr(value)
