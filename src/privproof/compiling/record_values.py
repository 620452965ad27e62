"""All values of what is computed of a record whose values are listed: which entries a table or a list is read at."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final

from privproof.language.inputs import Input
from privproof.language.syntax import Constant, Expression, Operation, Variable
from privproof.language.walking import within

OPEN: Final = object()
"""The value of an expression that is not known."""
_MOST_VALUES = 10_000
"""Values of records at which an index is computed."""
_COMPUTED: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "neg": operator.neg,
    "whole": lambda value: value,
    "min": min,
    "max": max,
    "tuple of": lambda *parts: parts,
}


def all_values(index: Expression, inputs: Mapping[str, Input]) -> list[Any] | None:
    """The values of what is computed of a record; None where these are not known."""
    read = {_key(part): _listed(part, inputs) for part in within(index) if _key(part) is not None}
    known = {name: values for name, values in read.items() if values is not None}
    if len(known) < len(read) or math.prod(map(len, known.values())) > _MOST_VALUES:
        return None
    found = [value_at(index, dict(zip(known, values, strict=True))) for values in product(*known.values())]
    return None if any(each is OPEN for each in found) else found


def value_at(expression: Expression, read: Mapping[object, object]) -> Any:
    """The value of an expression, where records have some values; `OPEN` where it is not known.

    >>> two, here = Constant(2, None), None
    >>> value_at(Operation("tuple of", (two, Operation("*", (two, two), here)), here), {})
    (2, 4)
    """
    if (key := _key(expression)) is not None:
        return read.get(key, OPEN)
    match expression:
        case Constant(value):
            return value
        case Operation(name, arguments) if name in _COMPUTED:
            parts = [value_at(each, read) for each in arguments]
            if any(part is OPEN for part in parts) or (
                name != "tuple of" and not all(isinstance(part, int) for part in parts)
            ):
                return OPEN
            if (name in ("//", "%") and parts[1] == 0) or (name in ("min", "max") and len(parts) < 2):
                return OPEN
            return _COMPUTED[name](*parts)
        case _:
            return OPEN


def _key(part: Expression) -> object:
    """What tells a record, or a field of one, from others; None for anything else."""
    match part:
        case Operation("field", (Operation("record", (Variable(name),)), Constant(str() as field))):
            return name, field
        case Operation("record", (Variable(name),)):
            return name
        case _:
            return None


def _listed(part: Expression, inputs: Mapping[str, Input]) -> tuple[object, ...] | None:
    """The values that a record, or a field of one, may have; of a record with fields, which is read by these, one."""
    match _key(part):
        case str(name):
            return (OPEN,) if inputs[name].fields else inputs[name].values
        case (str(name), str(field)):
            return dict(inputs[name].fields)[field].values
        case _:
            return None
