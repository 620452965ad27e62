"""Outputs of ordinary Python callables, as columns.

Outputs of one kind (truth values, whole numbers, floats, texts; lists, tuples and arrays of one length) become columns at once.
Anything else is made plain first: a dictionary is a tuple in its own order, which whoever prints it sees, a set a sorted tuple, an
enumeration its name, not-a-number the text ``nan``, a run that fails what it raises.
Outputs that print alike are one output; to merge outputs never makes a mechanism look less private than it is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AnySet
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from privproof.audits.sampling.sample_columns import MOST, Array, Column, Kind, NumberColumn, from_table, row

Piece: TypeAlias = tuple[Array, Column]
"""Some of the runs, and the column of their outputs."""

_TRUTHS = frozenset((bool, np.bool_))
_FLOATS = frozenset((float, np.float16, np.float32, np.float64))
_WHOLES = frozenset((int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32))
_OTHERS = frozenset((str, bytes, Fraction, type(None)))


@dataclasses.dataclass(frozen=True)
class RaisedOutput:
    """What a run shows that fails: the kind of its exception."""

    kind: str

    def __repr__(self) -> str:
        return f"raises {self.kind}"


class Unprintable(Exception):
    """An output that prints its address: no two of them are the same."""


def pieces(outputs: Sequence[Any] | Array) -> list[Piece]:
    """The outputs of runs, as columns for some of the runs each.

    >>> [(runs.tolist(), type(column).__name__) for runs, column in pieces([1, 2.5, 3])]
    [([0, 2], 'NumberColumn'), ([1], 'NumberColumn')]

    Raises:
        Unprintable: an output prints its address.
    """
    whole = _from_array(outputs) if isinstance(outputs, np.ndarray) else _column(outputs)
    if whole is not None:
        return [(np.arange(len(outputs)), whole)]
    values = list(map(plain, outputs))
    forms: dict[Any, list[int]] = {}
    for run, value in enumerate(values):
        forms.setdefault(_form(value), []).append(run)
    result = []
    for runs in forms.values():
        alike = [values[run] for run in runs]
        column = _column(alike)
        result.append((np.array(runs), _table_column(alike) if column is None else column))
    return result


def _column(values: Sequence[Any]) -> Column | None:
    """The column of values that are of one kind; nothing if they are not, or not-a-number is among them."""
    kinds = set(map(type, values))
    if kinds <= _FLOATS:
        return _from_array(np.array(values, dtype=np.float64))
    if kinds <= _TRUTHS:
        return NumberColumn(np.array(values, dtype=np.bool_))
    if kinds <= _WHOLES:
        try:
            return NumberColumn(np.array(values, dtype=np.int64))
        except OverflowError:
            return _table_column(list(map(int, values)))
    if kinds <= _OTHERS:
        return _table_column(values)
    if kinds == {np.ndarray}:
        if len({(array.shape, array.dtype.kind) for array in values}) > 1:
            return None
        return _from_array(np.stack(list(values)))
    if kinds in ({list}, {tuple}) and len(set(map(len, values))) == 1:
        kind: Kind = "list" if list in kinds else "tuple"
        columns = []
        for position in zip(*values, strict=True):
            column = _column(position)
            if column is None:
                return None
            columns.append(column)
        return row(kind, columns)
    return None


def _from_array(array: Array) -> Column | None:
    """The column of an array whose first axis counts the runs."""
    if array.dtype.kind not in "biuf":
        return None
    if array.ndim > 1:
        columns = [_from_array(array[:, place]) for place in range(array.shape[1])]
        found = [column for column in columns if column is not None]
        return row("list", found) if len(found) == len(columns) else None
    if array.dtype.kind == "f":
        floats = array.astype(np.float64)
        return None if np.isnan(floats).any() else NumberColumn(floats)
    if array.dtype == np.uint64 and len(array) and int(array.max()) > MOST:
        return _table_column(array.tolist())
    return NumberColumn(array.astype(np.bool_ if array.dtype.kind == "b" else np.int64))


def _table_column(values: Iterable[Any]) -> Column:
    """The column of plain values without floats, by a table of them."""
    known: dict[Any, int] = {}
    codes = [known.setdefault((type(value), value), len(known)) for value in values]
    return from_table([value for _, value in known], np.array(codes))


def _form(value: Any) -> Any:
    """The lengths of a plain value, and the kinds of what is in it."""
    if isinstance(value, list | tuple):
        return (type(value), tuple(map(_form, value)))
    return type(value) if isinstance(value, bool | int | float) else None


def plain(value: Any) -> Any:
    """An output made of truth values, whole numbers, floats, fractions, texts, None, lists and tuples only.

    >>> plain({"b": 1, "a": float("nan")})
    (('b', 1), ('a', 'nan'))

    Raises:
        Unprintable: it prints its address.
    """
    match value:
        case RaisedOutput():
            return repr(value)
        case None | str() | bytes() | Fraction() if type(value) in _OTHERS:
            return value
        case Enum():
            return str(value) if value.name is None else f"{type(value).__name__}.{value.name}"
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return "nan" if math.isnan(value) else float(value)
        case complex() | np.complexfloating():
            return (plain(float(value.real)), plain(float(value.imag)))
        case str():
            return str(value)
        case list() | range():
            return [plain(item) for item in value]
        case tuple():
            return tuple(plain(item) for item in value)
        case Mapping():
            return tuple((plain(key), plain(item)) for key, item in value.items())
        case AnySet():
            return tuple(sorted(map(plain, value), key=repr))
        case np.ndarray():
            return _nested_lists(value)
    if hasattr(value, "__array__"):
        return _nested_lists(np.asarray(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(plain(getattr(value, field.name)) for field in dataclasses.fields(value)))
    text = repr(value)
    if " at 0x" in text:
        raise Unprintable(f"{text}, a {type(value).__name__} that prints its address")
    return text


def _nested_lists(array: Array) -> Any:
    listed = array.tolist()
    return repr(listed) if array.ndim == 0 and hasattr(listed, "__array__") else plain(listed)
