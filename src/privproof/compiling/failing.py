"""Which expressions may fail: Python raises an error instead of giving a value.

Whether a function fails is seen like any output.  A computation whose result nobody needs may be left out where it never fails, and
nowhere else: ``5 // r.x`` tells of a record that is 0, whatever becomes of the quotient.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

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
            return held is None or not set(held) <= {key.value for key in entries[::2] if isinstance(key, Constant)}
        case _:
            return True


def _values(index: Expression, inputs: Mapping[str, Input]) -> tuple[object, ...] | None:
    """The values that a record, or a field of one, may have."""
    match index:
        case Operation("record", (Variable(name),)):
            return inputs[name].values
        case Operation("field", (Operation("record", (Variable(name),)), Constant(str() as field))):
            return dict(inputs[name].fields)[field].values
        case _:
            return None
