"""Expressions of constants, computed while a function is read: with Python's own operations, floats included.

A float is what Python makes of it: ``1 / 3`` is the float next to a third, and every operation on floats rounds.  So what a function
computes from its parameters and constants alone is computed here by the very operations that the function would use, and the
result counts with the exact value that it has.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from privproof.language.resolving import ResolvedName

Lookup = Callable[[ast.expr], ResolvedName]
"""What a name, or a dotted name, stands for; `Unfoldable` if it is no constant."""

_ATOMS: Final = (bool, int, float, str, Fraction, type(None))
_LARGEST: Final = 10**6
"""Whole numbers beyond this are not raised to powers, nor are lists or texts made so long: it would take long."""

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_COMPARED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_BUILTINS: Final[Mapping[str, Callable[..., Any]]] = {
    "float": float,
    "int": int,
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
    "len": len,
    "bool": bool,
    "sum": sum,
    "tuple": tuple,
    "list": list,
    "str": str,
    "pow": pow,
    "Fraction": Fraction,
}
_KINDS: Final[Mapping[str, type]] = {
    "float": float,
    "int": int,
    "bool": bool,
    "str": str,
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "Fraction": Fraction,
}
"""The types that `isinstance` may ask for."""
_MATH: Final[Mapping[str, Callable[..., Any]]] = {
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "expm1": math.expm1,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "pow": math.pow,
    "fabs": math.fabs,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "isclose": math.isclose,
}


class Unfoldable(Exception):
    """An expression whose value is not known while it is read."""


def evaluate_constants(node: ast.expr, lookup: Lookup) -> Any:
    """The value of an expression of constants.

    Raises:
        Unfoldable: it depends on data or noise, uses what is not known here, or fails.
    """
    try:
        value = _value(node, lookup)
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError, RecursionError):
        raise Unfoldable from None
    return value


def _value(node: ast.expr, lookup: Lookup) -> Any:
    match node:
        case ast.Constant(value=value):
            return _plain(value)
        case ast.Name() | ast.Attribute():
            found = lookup(node)
            if found.kind != "constant":
                raise Unfoldable
            return found.value
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_value(operand, lookup))
        case ast.BinOp(left=left, op=op, right=right):
            sides = _value(left, lookup), _value(right, lookup)
            _bounded(op, *sides)
            return _plain(_BINARY[type(op)](*sides))
        case ast.BoolOp(op=op, values=values):
            result: Any = None
            for each in values:
                result = _value(each, lookup)
                if bool(result) == isinstance(op, ast.Or):
                    break
            return result
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            before = _value(left, lookup)
            for op_, each in zip(ops, comparators, strict=True):
                after = _value(each, lookup)
                if not _COMPARED[type(op_)](before, after):
                    return False
                before = after
            return True
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, lookup) else orelse, lookup)
        case ast.Tuple(elts=elements):
            return tuple(_value(each, lookup) for each in elements)
        case ast.List(elts=elements):
            return [_value(each, lookup) for each in elements]
        case ast.Subscript(value=held, slice=index) if not isinstance(index, ast.Slice):
            return _plain(_value(held, lookup)[_value(index, lookup)])
        case ast.Call(func=function, args=arguments, keywords=[]):
            return _called(function, arguments, lookup)
        case _:
            raise Unfoldable


def _called(function: ast.expr, arguments: list[ast.expr], lookup: Lookup) -> Any:
    found = lookup(function)
    if found.kind == "builtin" and found.value == "isinstance" and len(arguments) == 2:
        asked = arguments[1].elts if isinstance(arguments[1], ast.Tuple) else [arguments[1]]
        kinds = []
        for each in asked:
            named = lookup(each)
            if named.kind != "builtin":
                raise Unfoldable
            kinds.append(_KINDS[str(named.value)])
        return isinstance(_value(arguments[0], lookup), tuple(kinds))
    values = [_value(each, lookup) for each in arguments]
    if found.kind == "builtin" and found.value in _BUILTINS:
        return _plain(_BUILTINS[str(found.value)](*values))
    if found.kind == "library" and str(found.value).startswith("math."):
        name = str(found.value).removeprefix("math.")
        if name not in _MATH or any(isinstance(value, int) and abs(value) > _LARGEST for value in values):
            raise Unfoldable
        return _plain(_MATH[name](*values))
    if found.kind == "library" and str(found.value) in _OF_NUMPY and len(values) == 1 and type(values[0]) in _NUMBERS:
        return _of_numpy(str(found.value).removeprefix("numpy."), values[0])
    raise Unfoldable


_OF_NUMPY: Final = tuple(
    f"numpy.{name}" for name in ("exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "absolute", "floor", "ceil")
)
_NUMBERS: Final = (int, float)


def _of_numpy(name: str, value: float) -> Any:
    """What a function of numpy makes of one number; what is no number then is not known."""
    import numpy as np

    with np.errstate(all="ignore"):
        result = getattr(np, name)(value)
    if not np.isfinite(result):
        raise Unfoldable
    return int(result) if isinstance(result, np.integer) else float(result)


def _plain(value: Any) -> Any:
    if type(value) in (tuple, list) or type(value) in _ATOMS:
        return value
    raise Unfoldable


def _bounded(op: ast.operator, left: Any, right: Any) -> None:
    """Refuse what would be too large."""
    numbers = [side for side in (left, right) if isinstance(side, int)]
    if isinstance(op, ast.Pow) and (any(abs(n) > _LARGEST for n in numbers) or abs(right) > 1000):
        raise Unfoldable
    if isinstance(op, ast.Mult) and len(numbers) < 2 and any(isinstance(s, str | tuple | list) for s in (left, right)):
        raise Unfoldable


def exact(value: Any) -> Fraction | None:
    """The exact value of a float; None for what is none, or has none."""
    return Fraction(value) if type(value) is float and math.isfinite(value) else None


def unchanging(value: Any) -> bool:
    """Whether a value is one that nobody can change.

    >>> unchanging((1, 0.5)), unchanging([1])
    (True, False)
    """
    return all(map(unchanging, value)) if type(value) is tuple else type(value) in _ATOMS
