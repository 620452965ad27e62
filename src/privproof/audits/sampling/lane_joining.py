"""Joining columns: the runs of several columns in one.

Columns of one kind are joined as arrays, lists of one length position by position, and everything else by a table of all values.
Beside floats, whole numbers and fractions become floats where floats represent them exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from privproof.audits.sampling.sample_columns import (
    EXACT_FLOAT,
    LEAST,
    MOST,
    Array,
    Column,
    NumberColumn,
    Rows,
    Same,
    distinct,
    from_table,
    identity,
    row,
    rows,
    select,
    within,
)


def reorder_column(pieces: Sequence[Column], order: Array, sizes: Sequence[int]) -> Column:
    """The column whose runs, taken in an order, are the pieces one after the other."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return select(join_columns(pieces, sizes), place)


def join_columns(pieces: Sequence[Column], sizes: Sequence[int]) -> Column:
    """The pieces one after the other.  Beside floats, whole numbers and fractions that floats represent exactly become floats."""
    if len(pieces) == 1:
        return pieces[0]
    first = pieces[0]
    if isinstance(first, Same):
        kept = identity(first.value)
        if all(isinstance(p, Same) and (p.value is first.value or identity(p.value) == kept) for p in pieces):
            return first
    listed = [rows(piece) for piece in pieces]
    if all(_form(found) == _form(listed[0]) for found in listed):
        found = [r for r in listed if r is not None]
        if found:
            columns = [join_columns(position, sizes) for position in zip(*(r.columns for r in found), strict=True)]
            return row(found[0].kind, columns, shared=found[0].shared)
        kinds = set(map(_scalar, pieces))
        if "float" in kinds and all(map(_exact_as_float, pieces)):
            kinds = {"float"}
        if len(kinds) == 1 and kinds <= {"bool", "int", "float"}:
            kind = {"bool": np.bool_, "int": np.int64, "float": np.float64}[kinds.pop()]
            return NumberColumn(np.concatenate([_column_array(p, n, kind) for p, n in zip(pieces, sizes, strict=True)]))
    return _join_by_table(pieces, sizes)


def _join_by_table(pieces: Sequence[Column], sizes: Sequence[int]) -> Column:
    """The pieces one after the other, by a table of all their values."""
    known: dict[Hashable, int] = {}
    values: list[Any] = []
    parts = []
    for piece, count in zip(pieces, sizes, strict=True):
        codes, tuples = distinct([piece], count)
        places = []
        for (value,) in tuples:
            place = known.setdefault(identity(value), len(known))
            if place == len(values):
                values.append(value)
            places.append(place)
        parts.append(np.array(places, dtype=np.int64)[codes])
    return from_table(values, np.concatenate(parts))


def signatures(pieces: Sequence[Column]) -> list[Hashable]:
    """For every piece a signature; pieces with one signature can be joined without a table of all their values.

    Lists of other lengths, and floats beside what is no number, stay apart.
    """
    first = pieces[0]
    if isinstance(first, Same) and all(isinstance(p, Same) and p.value is first.value for p in pieces):
        return [None] * len(pieces)
    result: list[Hashable] = [None] * len(pieces)
    listed = [rows(piece) for piece in pieces]
    floats = any(_scalar(piece) == "float" for piece in pieces)
    forms: dict[Hashable, list[int]] = {}
    for number, (piece, found) in enumerate(zip(pieces, listed, strict=True)):
        if found is not None:
            forms.setdefault(_form(found), []).append(number)
        else:
            kind = _scalar(piece)
            result[number] = "table" if not floats else "number" if kind in ("float", "int", "fraction") else "other"
    for form, members in forms.items():
        inner = [found.columns for number in members if (found := listed[number]) is not None]
        positions = [signatures(position) for position in zip(*inner, strict=True)]
        for place, number in enumerate(members):
            result[number] = (form, tuple(position[place] for position in positions))
    return result


def _form(found: Rows | None) -> Hashable:
    return found and (found.kind, len(found.columns), found.shared)


def _scalar(column: Column) -> str:
    """What a column holds: bool, int (of 64 bits), float, one fraction, or something else."""
    match column:
        case NumberColumn(array):
            return {"b": "bool", "i": "int", "f": "float"}[array.dtype.kind]
        case Same(bool()):
            return "bool"
        case Same(int() as value) if LEAST <= value <= MOST:
            return "int"
        case Same(float()):
            return "float"
        case Same(Fraction()):
            return "fraction"
        case _:
            return "other"


def _column_array(column: Column, count: int, kind: Any) -> Array:
    match column:
        case NumberColumn(array):
            return array.astype(kind, copy=False)
        case Same(value):
            return np.full(count, value, dtype=kind)
        case _:
            raise AssertionError(column)


def _exact_as_float(column: Column) -> bool:
    """Whether a column holds floats, or whole numbers or a fraction that floats represent exactly."""
    match column:
        case NumberColumn(array) if array.dtype == np.int64:
            return within(array, -EXACT_FLOAT, EXACT_FLOAT)
        case NumberColumn(array):
            return array.dtype == np.float64
        case Same(bool()):
            return False
        case Same(float()):
            return True
        case Same(int() as value):
            return abs(value) <= EXACT_FLOAT
        case Same(Fraction() as value):
            return abs(value) <= EXACT_FLOAT and Fraction(float(value)) == value
        case _:
            return False
