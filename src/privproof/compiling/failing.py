"""Which expressions may fail: Python raises an error instead of giving a value.

Whether a function fails is seen like any output.  A computation whose result nobody needs may be left out where it never fails, and
nowhere else: ``5 // r.x`` tells of a record that is 0, whatever becomes of the quotient.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, Final

from privproof.language.inputs import Input
from privproof.language.syntax import Conditional, Constant, Element, Expression, Operation, Variable
from privproof.language.walking import within

_NEVER = (
    *("+", "-", "*", "extend", "repeat", "neg", "pos", "whole", "abs", "round", "floor", "ceil", "trunc"),
    *("not", "and", "or", "bool", "==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"),
    *("record", "field", "position", "total", "count", "len", "turns", "tuple of", "list of", "table of"),
)
"""Operations that give a value whatever their operands are, if these fit the operation at all."""
_BY = ("/", "//", "%")
_EXPONENTS = ("<<", ">>", "**")


def may_fail(expression: Expression, inputs: Mapping[str, Input]) -> bool:
    """Whether an expression of records, variables and constants may fail; one of which that is not known may.

    Args:
        expression: the expression; what it reads of a list is read as `record` and `field`.
        inputs: the inputs by name, of which the values are known that a table is read at.
    """
    return any(fails(part, inputs) for part in within(expression))


def fails(part: Expression, inputs: Mapping[str, Input]) -> bool:
    """Whether an operation itself may fail where its operands do not."""
    match part:
        case Constant() | Variable() | Conditional():
            return False
        case Operation(name, (_, Constant(value))) if name in _BY:
            return not isinstance(value, int | Fraction) or value == 0
        case Operation(name, (_, Constant(value))) if name in _EXPONENTS:
            return not isinstance(value, int) or value < 0
        case Operation("min" | "max", arguments):
            return len(arguments) < 2  # the largest of a list that may be empty
        case Operation(name):
            return name not in _NEVER
        case Element(Operation("table of", entries), index):
            held = _values(index, inputs)
            keys = [_value(key, {}) for key in entries[::2]]
            return held is None or not set(held) <= {key for key in keys if key is not _OPEN}
        case Element(Operation("tuple of" | "list of", entries), index):
            held = _values(index, inputs)
            places = range(-len(entries), len(entries))
            return held is None or not all(isinstance(each, int) and each in places for each in held)
        case _:
            return True


_OPEN: Final = object()
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


def _values(index: Expression, inputs: Mapping[str, Input]) -> list[object] | None:
    """The values of what is computed of a record; None where these are not known."""
    read = {_key(part): _listed(part, inputs) for part in within(index) if _key(part) is not None}
    known = {name: values for name, values in read.items() if values is not None}
    if len(known) < len(read) or math.prod(map(len, known.values())) > _MOST_VALUES:
        return None
    found = [_value(index, dict(zip(known, values, strict=True))) for values in product(*known.values())]
    return None if any(each is _OPEN for each in found) else found


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
            return (_OPEN,) if inputs[name].fields else inputs[name].values
        case (str(name), str(field)):
            return dict(inputs[name].fields)[field].values
        case _:
            return None


def _value(expression: Expression, read: Mapping[object, object]) -> Any:
    """The value of an expression, where records have some values; `_OPEN` where it is not known."""
    if (key := _key(expression)) is not None:
        return read.get(key, _OPEN)
    match expression:
        case Constant(value):
            return value
        case Operation(name, arguments) if name in _COMPUTED:
            parts = [_value(each, read) for each in arguments]
            if any(part is _OPEN for part in parts) or (
                name != "tuple of" and not all(isinstance(p, int) for p in parts)
            ):
                return _OPEN
            if (name in _BY and parts[1] == 0) or (name in ("min", "max") and len(parts) < 2):
                return _OPEN
            return _COMPUTED[name](*parts)
        case _:
            return _OPEN
