"""Operations on columns of numbers: one numpy operation each, with Python's meaning.

A whole number that would not fit 64 bits is never wrapped round: the rule gives up, and the operation is computed for every distinct
tuple of operands instead.  Floats meet whole numbers and fractions as they do in Python: converted for arithmetic, exactly for
comparison.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from privproof.audits.sampling.sample_columns import (
    EXACT_FLOAT,
    LEAST,
    MOST,
    Array,
    Column,
    NumberColumn,
    Same,
    as_floats,
    within,
)

Rule: TypeAlias = Callable[[Sequence[Column], int], "Column | None"]
"""Computes an operation for so many runs, or gives up: then it is computed for every distinct tuple of operands."""


def _number(column: Column) -> Array | int | float | None:
    """Numbers for numpy: an array, or one number that fits."""
    match column:
        case NumberColumn(array):
            return array
        case Same(bool() | float() as value):
            return value
        case Same(int() as value) if LEAST <= value <= MOST:
            return value
        case _:
            return None


def _is_float(number: Array | int | float) -> bool:
    return number.dtype == np.float64 if isinstance(number, np.ndarray) else isinstance(number, float)


def _whole(number: Array | int | float) -> Array:
    return np.asarray(number, dtype=np.int64)


def arithmetic(function: Callable[[Any, Any], Any]) -> Rule:
    def rule(operands: Sequence[Column], _: int) -> Column | None:
        left, right = operands
        if _holds_floats(left) or _holds_floats(right):
            one, other = as_floats(left), as_floats(right)
            if one is None or other is None or (function in _DIVIDING and not np.all(other)):
                return None
            with np.errstate(all="ignore"):
                return NumberColumn(function(one, other))
        first, second = _number(left), _number(right)
        if first is None or second is None or function is operator.truediv:
            return None
        a, b = _whole(first), _whole(second)
        if function in _DIVIDING:
            if not np.all(b) or int(a.min()) == LEAST:
                return None
        else:
            corners = [function(x, y) for x in (int(a.min()), int(a.max())) for y in (int(b.min()), int(b.max()))]
            if min(corners) < LEAST or max(corners) > MOST:
                return None
        return NumberColumn(function(a, b))

    return rule


_DIVIDING = (operator.truediv, operator.floordiv, operator.mod)


def _holds_floats(column: Column) -> bool:
    number = _number(column)
    return number is not None and _is_float(number)


def comparison(name: str) -> Rule:
    function: Callable[[Any, Any], Any] = COMPARISONS[name]

    def rule(operands: Sequence[Column], _: int) -> Column | None:
        left, right = operands
        one, other = _number(left), _number(right)
        if one is not None and other is not None:
            if _is_float(one) != _is_float(other):
                whole = other if _is_float(one) else one
                if not within(_whole(whole), -EXACT_FLOAT, EXACT_FLOAT):
                    return None
            return NumberColumn(function(one, other))
        if isinstance(right, Same) and isinstance(right.value, Fraction) and one is not None and _is_float(one):
            return NumberColumn(_against_fraction(name, one, right.value))
        if isinstance(left, Same) and isinstance(left.value, Fraction) and other is not None and _is_float(other):
            return NumberColumn(_against_fraction(_MIRRORED[name], other, left.value))
        return None

    return rule


def _against_fraction(name: str, floats: Any, number: Fraction) -> Array:
    """Floats against a fraction, exactly: no float lies between the fraction and the float nearest to it."""
    nearest = float(number)
    if Fraction(nearest) == number:
        return np.asarray(COMPARISONS[name](floats, nearest))
    if name in ("==", "!="):
        return np.full(np.shape(floats), name == "!=")
    above = floats >= nearest if nearest > number else floats > nearest
    return np.asarray(above if name in (">", ">=") else ~above)


COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def negate_column(operands: Sequence[Column], _: int) -> Column | None:
    return _unary(operands[0], np.negative)


def absolute(operands: Sequence[Column], _: int) -> Column | None:
    return _unary(operands[0], np.absolute)


def _unary(column: Column, function: Callable[[Array], Any]) -> Column | None:
    if not isinstance(column, NumberColumn):
        return None
    array = column.array
    if array.dtype == np.float64:
        return NumberColumn(function(array))
    array = _whole(array)
    return None if int(array.min()) == LEAST else NumberColumn(function(array))


def integer(operands: Sequence[Column], _: int) -> Column | None:
    if not isinstance(operands[0], NumberColumn):
        return None
    array = operands[0].array
    if array.dtype == np.float64 and not np.all(np.abs(array) < 2.0**62):
        return None
    return NumberColumn(array.astype(np.int64))


def is_constant(operands: Sequence[Column], _: int) -> Column | None:
    column, constant = operands
    if not (isinstance(column, NumberColumn) and isinstance(constant, Same)):
        return None
    if column.array.dtype != np.bool_ or not isinstance(constant.value, bool):
        return Same(value=False)
    return NumberColumn(column.array == constant.value)
