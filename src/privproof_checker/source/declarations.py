"""What the annotation of an argument declares, where it is written out: ``queries(0, 2)``, ``public(one_of("a", "b"))``.

A certificate says what may be given for every input.  Where the text of the function says it too, in numbers and texts, both must say
the same; where it does not (``queries(0, LIMIT)``) the declaration is taken on trust, and the answer of the checker says so.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from privproof_checker.numbers import Rational, rational
from privproof_checker.source.values import Value

_NUMBERS = {
    "queries": ("list", False),
    "integer": ("value", False),
    "stream": ("stream", False),
    "real_queries": ("list", True),
    "real": ("value", True),
    "real_stream": ("stream", True),
}
_RECORDS = {"records": "list", "one_of": "value", "stream_of": "stream"}


@dataclass(frozen=True)
class Declaration:
    """An input as its annotation declares it."""

    shape: str
    public: bool = False
    real: bool = False
    values: tuple[Value, ...] | None = None
    within: Rational | None = None
    low: Rational | None = None
    high: Rational | None = None
    size: int | None = None
    norm: str | None = None


class _NotWrittenOut(Exception):
    """The annotation holds something else than numbers and texts."""


def declaration(annotation: ast.expr | None) -> Declaration | None:
    """What an annotation declares; None if it is not written out.

    >>> declaration(ast.parse("public(queries(0, 2, size=3))", mode="eval").body)
    Declaration(shape='list', public=True, real=False, values=None, within=1, low=0, high=2, size=3, norm=None)
    """
    try:
        return None if annotation is None else _declared(annotation)
    except _NotWrittenOut:
        return None


def _declared(node: ast.expr) -> Declaration:
    match node:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[_, inner])):
            return _declared(inner)
        case ast.Constant(value=str(text)) if len(text) < 1000:
            try:
                return _declared(ast.parse(text, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                raise _NotWrittenOut from None
        case ast.Call(func=ast.Name(id="public"), args=[inner], keywords=[]):
            return replace(_declared(inner), public=True)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            options = {str(k.arg): _literal(k.value) for k in keywords}
            size = options.pop("size", None)
            if size is not None and type(size) is not int:
                raise _NotWrittenOut
            values = tuple(map(_literal, args))
            if name in _RECORDS and not options:
                return Declaration(_RECORDS[name], values=values, size=size)
            if name in _NUMBERS:
                return _numbers(name, values, options, size)
    raise _NotWrittenOut


def _numbers(name: str, values: tuple[Value, ...], options: dict[str, Value], size: int | None) -> Declaration:
    shape, real = _NUMBERS[name]
    listed = options.get("values")
    if name == "real_queries" and isinstance(listed, tuple) and not values and not {"low", "high"} & set(options):
        numbers = sorted(value for value in listed if type(value) is int)
        if not numbers or len(numbers) < len(listed) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise _NotWrittenOut
        real, options = False, {**options, "low": numbers[0], "high": numbers[-1]}
        del options["values"]
    norm = options.pop("norm", None) if name == "real_queries" else None
    if norm not in (None, "l1", "l2"):
        raise _NotWrittenOut
    if len(values) > 2 or not set(options) <= {"low", "high", "sensitivity"}:
        raise _NotWrittenOut
    given = {**dict(zip(("low", "high"), values, strict=False)), **options}
    within, low, high = (_number(given.get(bound, default)) for bound, default in _DEFAULTS)
    return Declaration(
        shape, real=real, within=within, low=low, high=high, size=size, norm=None if norm is None else str(norm)
    )


_DEFAULTS = (("sensitivity", 1), ("low", None), ("high", None))


def _number(value: Value) -> Rational | None:
    if value is None:
        return None
    if type(value) is int:
        return rational(value)
    raise _NotWrittenOut


def _literal(node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=value) if type(value) in (bool, int, str, type(None)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if type(value) is int:
            return -value
        case ast.Tuple(elts=elements):
            return tuple(map(_literal, elements))
    raise _NotWrittenOut
