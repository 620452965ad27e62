"""Columns: the values that one variable has in many runs.

A column is `Same` while all runs agree, `NumberColumn` where they hold truth values, whole numbers (of 64 bits) or floats, `Rows` where
they hold lists or tuples of one length (a column for every position), and `Coded` for everything else: texts, None, fractions,
large numbers, mixed kinds, as numbers into a table of values.  A column does not know how many runs it has unless it must; the
functions that need the number take it as an argument.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privproof.language.values import Bag, Cells, Lookup, Named

Array: TypeAlias = NDArray[Any]
Kind: TypeAlias = Literal["list", "tuple"]

LEAST, MOST = -(2**63), 2**63 - 1
"""What a column of integers holds; larger numbers are kept as Python's own."""
EXACT_FLOAT = 2**53
"""Integers up to this are exact as floats, so that both may be compared there."""


@dataclass(frozen=True, eq=False)
class Same:
    """One value for all runs."""

    value: Any


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Truth values, whole numbers or floats: an array of bool, int64 or float64."""

    array: Array


@dataclass(frozen=True, eq=False)
class Coded:
    """Values from a table without repetitions."""

    codes: Array
    table: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """Lists or tuples of one length: the column of every position.

    Attributes:
        kind: ``list`` or ``tuple``.
        columns: the columns.
        shared: for a list, whether it has a second name; then it may not be changed.
    """

    kind: Kind
    columns: tuple[Column, ...]
    shared: bool = False


Column: TypeAlias = "Same | NumberColumn | Coded | Rows"


_ATOMS = {bool, int, str}


def identity(value: Any) -> Hashable:
    """Something hashable that tells values apart as their kind and their print do: 1, True, 1.0 and Fraction(1) are four."""
    match value:
        case Cells(items, shared):
            kinds = set(map(type, items))
            if len(kinds) == 1 and kinds <= _ATOMS:
                return ("list", shared, *kinds, tuple(items))
            return ("list", shared, tuple(map(identity, items)))
        case Lookup(rows):
            return ("table", tuple((identity(key), identity(item)) for key, item in rows))
        case tuple():
            return (type(value), tuple(map(identity, value)))
        case Named(shape, items):
            return ("named", shape, tuple(map(identity, items)))
        case Bag(items):
            return ("set", frozenset(map(identity, items)))
        case float():
            return (float, value.hex())
        case _:
            return (type(value), value)


def from_table(values: Sequence[Any], codes: Array) -> Column:
    """The column that has ``values[code]`` where the codes have a code; every value occurs."""
    known: dict[Hashable, Any] = {}
    for value in values:
        known.setdefault(identity(value), value)
    if len(known) == 1:
        return Same(values[0])
    array = numeric_array(values)
    if array is not None:
        return NumberColumn(array[codes])
    first = values[0]
    if all(_alike(first, value) for value in values):
        kind: Kind = "list" if isinstance(first, Cells) else "tuple"
        listed = [value.items if isinstance(value, Cells) else value for value in values]
        columns = tuple(from_table(position, codes) for position in zip(*listed, strict=True))
        return Rows(kind, columns, isinstance(first, Cells) and first.shared)
    if len(known) < len(values):
        places = {kept: place for place, kept in enumerate(known)}
        codes = np.array([places[identity(value)] for value in values])[codes]
    return Coded(codes, tuple(known.values()))


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are lists, or tuples, of one length."""
    if isinstance(one, Cells) and isinstance(other, Cells):
        return len(one.items) == len(other.items) and one.shared == other.shared
    return type(one) is tuple and type(other) is tuple and len(one) == len(other)


def numeric_array(values: Sequence[Any]) -> Array | None:
    """The values as an array, if all are truth values, all whole numbers that fit, or all floats."""
    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, dtype=np.bool_)
    if kinds == {int} and min(values) >= LEAST and max(values) <= MOST:
        return np.array(values, dtype=np.int64)
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    return None


def row(kind: Kind, columns: Iterable[Column], *, shared: bool = False) -> Column:
    """The column of lists or tuples made of the columns of their positions."""
    listed = tuple(columns)
    if all(isinstance(column, Same) for column in listed):
        items = tuple(column.value for column in listed if isinstance(column, Same))
        return Same(Cells(items, shared) if kind == "list" else items)
    return Rows(kind, listed, shared)


def rows(column: Column) -> Rows | None:
    """The column as the columns of its positions, if it holds lists or tuples of one length."""
    match column:
        case Rows():
            return column
        case Same(Cells(items, shared)):
            return Rows("list", tuple(map(Same, items)), shared)
        case Same(tuple() as items):
            return Rows("tuple", tuple(map(Same, items)))
        case _:
            return None


def mark_column_shared(column: Column) -> Column:
    """The column, its lists marked as having a second name."""
    match column:
        case Same(Cells() as cells):
            return Same(replace(cells, shared=True))
        case Rows("list"):
            return replace(column, shared=True)
        case Coded(codes, table):
            return Coded(codes, tuple(replace(v, shared=True) if isinstance(v, Cells) else v for v in table))
        case _:
            return column


def values_at(column: Column, runs: Array) -> list[Any]:
    """The values of some runs."""
    match column:
        case Same(value):
            return [value] * len(runs)
        case NumberColumn(array):
            listed: list[Any] = array[runs].tolist()
            return listed
        case Coded(codes, table):
            return [table[code] for code in codes[runs].tolist()]
        case Rows(kind, columns, is_shared):
            tuples = zip(*(values_at(inner, runs) for inner in columns), strict=True)
            return [Cells(items, is_shared) for items in tuples] if kind == "list" else list(tuples)


def select(column: Column, runs: Array) -> Column:
    """The column of some runs only."""
    match column:
        case Same():
            return column
        case NumberColumn(array):
            return NumberColumn(array.take(runs))
        case Coded(codes, table):
            return _narrow_table(codes.take(runs), table)
        case Rows(kind, columns, is_shared):
            return row(kind, [select(inner, runs) for inner in columns], shared=is_shared)


def _narrow_table(codes: Array, table: tuple[Any, ...]) -> Column:
    """The column of a table; values of one kind become numbers again, once no others occur."""
    present = np.flatnonzero(np.bincount(codes, minlength=len(table)))
    if len(present) == len(table):
        return Coded(codes, table)
    places = np.zeros(len(table), dtype=np.int64)
    places[present] = np.arange(len(present))
    return from_table([table[code] for code in present.tolist()], places[codes])


def _column_codes(column: Column, count: int) -> tuple[Array, int] | None:
    """For every run a number below a bound, alike where the values are; nothing if all values are."""
    match column:
        case Same():
            return None
        case NumberColumn(array) if array.dtype == np.bool_:
            return array.astype(np.int64), 2
        case NumberColumn(array) if array.dtype == np.int64:
            low, high = int(array.min()), int(array.max())
            if high - low < 4 * count + 1024:
                return array - low, high - low + 1
            return _rank_values(array)
        case NumberColumn(array):
            return _rank_values(array.view(np.int64))
        case Coded(codes, table):
            return codes, len(table)
        case Rows(_, columns):
            return _combine_codes(columns, count)


def _rank_values(array: Array) -> tuple[Array, int]:
    found, codes = np.unique(array, return_inverse=True)
    return codes, len(found)


def _combine_codes(columns: Iterable[Column], count: int) -> tuple[Array, int] | None:
    result: tuple[Array, int] | None = None
    for column in columns:
        numbered = _column_codes(column, count)
        if numbered is None:
            continue
        if result is None:
            result = numbered
        elif result[1] * numbered[1] < 4 * count + 1024:
            result = result[0] * numbered[1] + numbered[0], result[1] * numbered[1]
        else:
            ranked = _rank_values(result[0])
            result = _rank_values(ranked[0] * numbered[1] + numbered[0])
    return result


def distinct(columns: Sequence[Column], count: int) -> tuple[Array, list[tuple[Any, ...]]]:
    """The distinct tuples of values in some columns, and for every run the number of its tuple.

    >>> codes, tuples = distinct([NumberColumn(np.array([5, 3, 5])), Same("a")], 3)
    >>> codes.tolist(), tuples
    ([1, 0, 1], [(3, 'a'), (5, 'a')])
    """
    numbered = _combine_codes(columns, count)
    if numbered is None:
        codes, size = np.zeros(count, dtype=np.int64), 1
    else:
        codes, bound = numbered
        present = np.flatnonzero(np.bincount(codes, minlength=bound))
        size = len(present)
        if size < bound:
            places = np.zeros(bound, dtype=np.int64)
            places[present] = np.arange(size)
            codes = places[codes]
    example = np.zeros(size, dtype=np.int64)
    example[codes] = np.arange(count)
    listed = [values_at(column, example) for column in columns]
    return codes, list(zip(*listed, strict=True)) if listed else [()] * size


def groups(codes: Array, size: int) -> tuple[Array, list[Array]]:
    """The runs ordered by their codes, and the runs of every code."""
    small = codes.astype(np.uint16) if size <= 2**16 else codes
    order = np.argsort(small, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=size))[:-1]
    return order, np.split(order, ends)


def within(array: Array, low: int, high: int) -> bool:
    """Whether all whole numbers of an array are within bounds."""
    return low <= int(array.min()) and int(array.max()) <= high


def as_floats(column: Column) -> Array | float | None:
    """The numbers of a column as floats, rounded as Python does; nothing if it holds anything else."""
    match column:
        case NumberColumn(array):
            return array.astype(np.float64)
        case Same(bool() | int() | float() | Fraction() as value):
            return float(value)
        case _:
            return None
