"""Classes that only hold values: enumerations, named tuples, and data classes, as long as they have no ways of their own.

An object of such a class is its values under names, and prints as such.  A class that was given a method which Python calls by itself
(``__init__``, ``__repr__``, ``__eq__``, ...) may do anything; it is not read.
"""

from __future__ import annotations

import collections
import dataclasses
from types import FunctionType
from typing import Any

from privproof.language.constants import NotPlain, frozen_copy, plain_enumeration
from privproof.language.values import Member, Named, Shape, shared_value

_GENERATED = "<string>"
"""The file of what a library writes and executes by itself."""


def members_of(value: object) -> tuple[Member, ...] | None:
    """The members of a plain enumeration; None for anything else."""
    if not isinstance(value, type) or not plain_enumeration(value) or "_missing_" in vars(value):
        return None
    try:
        return tuple(frozen_copy(member, "") for member in value._member_map_.values())  # type: ignore[attr-defined]
    except NotPlain:
        return None


def shape_of(value: object) -> Shape | None:
    """The fields of a class of named tuples, or of a data class; None for anything else.

    >>> shape_of(collections.namedtuple("Pair", "first second"))
    Shape(name='Pair', fields=('first', 'second'), defaults=(), sequence=True)
    """
    if type(value) is not type:
        return None
    try:
        return _named_tuple(value) if value.__bases__ == (tuple,) else _data_class(value)
    except NotPlain:
        return None


def _named_tuple(kind: type) -> Shape | None:
    fields = vars(kind).get("_fields")
    made, shown = getattr(vars(kind).get("__new__"), "__func__", None), vars(kind).get("__repr__")
    if type(fields) is not tuple or not isinstance(made, FunctionType) or not isinstance(shown, FunctionType):
        return None
    if not made.__code__.co_filename.startswith("<") or shown.__code__.co_filename != collections.__file__:
        return None
    if any(way in vars(kind) for way in ("__eq__", "__hash__", "__getitem__", "__iter__", "__len__", "__bool__")):
        return None
    defaults = tuple(frozen_copy(each, "") for each in made.__defaults__ or ())
    return Shape(kind.__name__, fields, defaults, sequence=True)


def _data_class(kind: type) -> Shape | None:
    if "__dataclass_fields__" not in vars(kind) or kind.__bases__ != (object,):
        return None
    options: Any = vars(kind)["__dataclass_params__"]
    if not (options.init and options.repr and options.eq) or options.order:
        return None
    ways = [vars(kind).get(way) for way in ("__init__", "__repr__", "__eq__")]
    if not all(isinstance(way, FunctionType) and _of_library(way) for way in ways):
        return None
    if any(way in vars(kind) for way in ("__post_init__", "__new__", "__bool__", "__getattribute__", "__getattr__")):
        return None
    fields = dataclasses.fields(kind)
    if any(not (f.init and f.repr and f.compare) or f.kw_only for f in fields):
        return None
    if any(f.default_factory is not dataclasses.MISSING for f in fields):
        return None
    defaults = tuple(frozen_copy(f.default, f.name) for f in fields if f.default is not dataclasses.MISSING)
    return Shape(kind.__qualname__, tuple(f.name for f in fields), defaults)


def _of_library(function: Any) -> bool:
    return bool(getattr(function, "__wrapped__", function).__code__.co_filename == _GENERATED)


def object_of(value: Any) -> Any:
    """The value that stands for an object of a class that only holds values; any other object stands for itself."""
    kind = type(value)
    if plain_enumeration(kind):
        try:
            return frozen_copy(value, "")
        except NotPlain:
            return value
    shape = shape_of(kind)
    if shape is None:
        return value
    inner = tuple(value) if shape.sequence else tuple(getattr(value, field) for field in shape.fields)
    return Named(shape, tuple(map(shared_value, inner)))
