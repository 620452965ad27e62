"""Arithmetic on values: Python's rules for numbers, lists and texts, and a refusal where they cannot be followed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from privproof_checker.source.forms import Form
from privproof_checker.source.operations import (
    LARGEST_BITS,
    by_python,
    elements,
    exact_float,
    fails,
    number,
    real,
    short,
    small,
    truth,
    unknown,
    whole,
)
from privproof_checker.source.values import Cells, Table, Tail, Value


def _numbers(left: Value, right: Value) -> None:
    for side in (left, right):
        if isinstance(side, Tail):
            unknown("an unbounded noisy number takes part in this operation")
        if isinstance(side, Form):
            unknown("noise takes part in an operation that is not linear")
        if not number(side):
            fails(f"{type(side).__name__} is no number")


def add(left: Value, right: Value) -> Value:
    """``left + right``."""
    if isinstance(left, Form) or isinstance(right, Form):
        return Form.of(exact_float(left)) + Form.of(exact_float(right))
    if isinstance(left, float) or isinstance(right, float):
        return by_python(operator.add, left, right)
    if isinstance(left, Tail) or isinstance(right, Tail):
        return _shifted(left, right)
    if isinstance(left, Cells) and isinstance(right, Cells):
        short(len(left.items) + len(right.items))
        return Cells([*elements(left), *elements(right)])
    if (isinstance(left, str) and isinstance(right, str)) or (isinstance(left, tuple) and isinstance(right, tuple)):
        short(len(left) + len(right))
        joined: Value = left
        return joined + right
    _numbers(left, right)
    return small(left + right)


def _shifted(left: Value, right: Value) -> Value:
    if isinstance(left, Tail) and isinstance(right, Tail):
        if left.identity == right.identity and left.sign == -right.sign:
            return left.offset + right.offset
        unknown("two unbounded noisy numbers are added")
    tail, other = (left, right) if isinstance(left, Tail) else (right, left)
    if isinstance(other, Fraction):
        unknown("a fraction is added to an unbounded noisy number")
    return replace(tail, offset=tail.offset + whole(other, "a summand"))


def negated(value: Value) -> Value:
    """``-value``."""
    if isinstance(value, Form):
        return value.times(Fraction(-1))
    if isinstance(value, Tail):
        return replace(value, offset=-value.offset, sign=-value.sign)
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return -value


def subtract(left: Value, right: Value) -> Value:
    """``left - right``."""
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.sub, left, right)
    left, right = exact_float(left), exact_float(right)
    if isinstance(left, Form | Tail) or isinstance(right, Form | Tail):
        return add(left, negated(right))
    _numbers(left, right)
    return small(left - right)


def multiply(left: Value, right: Value) -> Value:
    """``left * right``."""
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.mul, left, right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Cells | tuple | str):
            count = max(0, whole(other, "how often a list is repeated"))
            short(len(one.items if isinstance(one, Cells) else one) * count)
            return Cells(list(elements(one)) * count) if isinstance(one, Cells) else one * count
        if isinstance(one, Form):
            if not real(other):
                unknown("noise is multiplied by something else than a number")
            return one.times(Fraction(other))
        if isinstance(one, Tail):
            if isinstance(other, int) and other in (0, 1, -1):
                return 0 if other == 0 else one if other == 1 else negated(one)
            unknown("an unbounded noisy number is multiplied")
    _numbers(left, right)
    return small(left * right)


def divide(left: Value, right: Value) -> Value:
    """``left / right``; of whole numbers it is a float."""
    if isinstance(left, Form):
        if not real(right):
            unknown("noise is divided by something else than a number")
        not_zero(right)
        return left.times(1 / Fraction(right))
    if isinstance(left, float) or isinstance(right, float):
        return by_python(operator.truediv, left, right)
    _numbers(left, right)
    if not (isinstance(left, Fraction) or isinstance(right, Fraction)):
        return by_python(operator.truediv, left, right)
    not_zero(right)
    return small(left / right)


def exact_divide(left: Value, right: Value) -> Value:
    """``left / right`` in programs with continuous noise: the exact quotient."""
    if number(left) and number(right):
        not_zero(right)
        return small(Fraction(left) / Fraction(right))
    return divide(left, right)


def not_zero(value: Value) -> None:
    """Fail where the divisor is zero."""
    if value == 0:
        fails("division by zero")


def floor_divide(left: Value, right: Value) -> Value:
    """``left // right``."""
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.floordiv, left, right)
    _numbers(left, right)
    not_zero(right)
    return left // right


def modulo(left: Value, right: Value) -> Value:
    """``left % right``."""
    if isinstance(left, str):
        unknown("a text is formatted")
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.mod, left, right)
    _numbers(left, right)
    not_zero(right)
    return left % right


def power(left: Value, right: Value) -> Value:
    """``left ** right``."""
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.pow, left, right)
    _numbers(left, right)
    if not isinstance(right, int) or abs(right) > LARGEST_BITS:
        unknown("an exponent that is no whole number, or too large")
    if right < 0 and not isinstance(left, Fraction):
        unknown("a negative power of a whole number is a float")
    size = max(left.numerator.bit_length(), left.denominator.bit_length())
    if size * abs(right) > LARGEST_BITS:
        unknown("a number with too many digits")
    if left == 0 and right < 0:
        fails("division by zero")
    return left**right


def _on_bits(function: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """An operator on the binary digits of whole numbers."""

    def applied(left: Value, right: Value) -> Value:
        if any(isinstance(side, Tail | Form | Table) for side in (left, right)):
            unknown("the binary digits of noise, or of a table")
        if not (isinstance(left, int) and isinstance(right, int)):
            fails("the binary digits of what is no whole number")
        if function in (operator.lshift, operator.rshift) and not 0 <= right <= LARGEST_BITS:
            unknown("a number that is moved too far")
        return small(function(left, right))

    return applied


OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = {
    "BitAnd": _on_bits(operator.and_),
    "BitOr": _on_bits(operator.or_),
    "BitXor": _on_bits(operator.xor),
    "LShift": _on_bits(operator.lshift),
    "RShift": _on_bits(operator.rshift),
    "Add": add,
    "Sub": subtract,
    "Mult": multiply,
    "Div": divide,
    "FloorDiv": floor_divide,
    "Mod": modulo,
    "Pow": power,
}


def _positive(value: Value) -> Value:
    if isinstance(value, Tail | Form):
        return value
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return +value


SIGNS: Mapping[str, Callable[[Value], Value]] = {
    "USub": negated,
    "UAdd": _positive,
    "Not": lambda value: not truth(value),
}
