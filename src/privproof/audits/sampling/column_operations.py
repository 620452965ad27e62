"""The operations of the language on columns.

Operations on numbers are those of `sampling.arithmetic`; an operation on lists works on the columns of their positions.  Everything
else is computed once for every *distinct* tuple of operands with the operation of `language.operations` itself, so nothing needs a
rule here to be right, only to be fast.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from privproof.audits.sampling.column_arithmetic import (
    Rule,
    absolute,
    arithmetic,
    comparison,
    integer,
    is_constant,
    negate_column,
)
from privproof.audits.sampling.lane_joining import join_columns, reorder_column
from privproof.audits.sampling.sample_columns import (
    Array,
    Coded,
    Column,
    NumberColumn,
    Rows,
    Same,
    distinct,
    from_table,
    groups,
    mark_column_shared,
    row,
    rows,
    select,
    values_at,
    within,
)
from privproof.compiling.exploring import changeable
from privproof.language import operations as scalar
from privproof.language import values
from privproof.language.operations import OPERATIONS
from privproof.language.values import Cells


def apply(name: str, operands: Sequence[Column], count: int) -> Column:
    """The column of an operation's results.

    >>> apply("+", [NumberColumn(np.array([1, 2])), Same(10)], 2).array.tolist()
    [11, 12]
    """
    if all(isinstance(operand, Same) for operand in operands):
        return Same(OPERATIONS[name](*(o.value for o in operands if isinstance(o, Same))))
    rule = RULES.get(name)
    result = rule(operands, count) if rule is not None else None
    return by_cases(OPERATIONS[name], operands, count) if result is None else result


def by_cases(function: Callable[..., Any], operands: Sequence[Column], count: int) -> Column:
    """The column of a function's results, computed once for every distinct tuple of operands."""
    codes, tuples = distinct(operands, count)
    return from_table([function(*operands) for operands in tuples], codes)


def truth(column: Column, count: int) -> bool | Array:
    """Where a column counts as true: everywhere, nowhere, or in the runs of a mask."""
    match column:
        case Same(value):
            return values.truth(value)
        case NumberColumn(array):
            return array if array.dtype == np.bool_ else array != 0
        case Rows(_, columns):
            return bool(columns)
        case Coded():
            return truth(by_cases(values.truth, [column], count), count)


def element(sequence: Column, index: Column, count: int) -> Column:
    """``sequence[index]``."""
    if isinstance(sequence, Same) and isinstance(index, Same):
        return Same(scalar.element_at(sequence.value, index.value))
    listed = None if isinstance(sequence, Same) else rows(sequence)
    if listed is not None and isinstance(index, Same) and isinstance(index.value, int):
        return listed.columns[index.value]
    if listed is not None and isinstance(index, NumberColumn) and index.array.dtype != np.float64:
        places = _places(index.array, len(listed.columns))
        order, members = groups(places, len(listed.columns))
        found = [(listed.columns[place], runs) for place, runs in enumerate(members) if len(runs)]
        pieces = [select(column, runs) for column, runs in found]
        return reorder_column(pieces, order, [len(runs) for _, runs in found])
    return by_cases(scalar.element_at, [sequence, index], count)


def change_list(name: str, operands: Sequence[Column], count: int) -> Column:
    """A list after a value is appended, or put at an index: the operands are the list, the value and perhaps the index."""
    listed = rows(operands[0])
    if listed is None:
        return by_cases(lambda *case: _change_cells(name, *case), operands, count)
    changeable({name: values_at(operands[0], np.zeros(1, dtype=np.int64))[0]}, name)
    value, *index = operands[1:]
    if not index:
        return row("list", (*listed.columns, value))
    columns = list(listed.columns)
    if isinstance(index[0], Same):
        columns[index[0].value] = value
    elif isinstance(index[0], NumberColumn) and index[0].array.dtype != np.float64:
        places = _places(index[0].array, len(columns))
        for place in np.flatnonzero(np.bincount(places)).tolist():
            columns[place] = blend_columns(places == place, value, columns[place])
    else:
        raise TypeError("list indices must be integers")
    return row("list", columns)


def _change_cells(name: str, cells: Any, value: Any, *index: Any) -> Cells:
    """One list after the change."""
    changeable({name: cells}, name)
    items = list(cells.items)
    if index:
        items[index[0]] = value
    else:
        items.append(value)
    return Cells(tuple(items))


def _places(index: Array, length: int) -> Array:
    places = index.astype(np.int64)
    if not within(places, -length, length - 1):
        raise IndexError("list index out of range")
    return np.where(places < 0, places + length, places)


def blend_columns(mask: Array, one: Column, other: Column) -> Column:
    """The values of one column where the mask is true, of the other elsewhere."""
    if isinstance(one, NumberColumn) and isinstance(other, NumberColumn) and one.array.dtype == other.array.dtype:
        return NumberColumn(np.where(mask, one.array, other.array))
    chosen, rest = np.flatnonzero(mask), np.flatnonzero(~mask)
    if not len(chosen) or not len(rest):
        return one if len(chosen) else other
    return merge_columns(chosen, select(one, chosen), rest, select(other, rest))


def merge_columns(first: Array, one: Column, second: Array, other: Column) -> Column:
    """The column of two parts, given with their runs."""
    return reorder_column([one, other], np.concatenate([first, second]), [len(first), len(second)])


def _equal(operands: Sequence[Column], count: int) -> Column | None:
    one, other = rows(operands[0]), rows(operands[1])
    if one is None or other is None:
        return _SAME(operands, count)
    if one.kind != other.kind or len(one.columns) != len(other.columns):
        return Same(value=False)
    pairs = zip(one.columns, other.columns, strict=True)
    return _quantifier_rule("all")([Rows("tuple", tuple(apply("==", pair, count) for pair in pairs))], count)


def _truth(operands: Sequence[Column], count: int) -> Column | None:
    found = truth(operands[0], count)
    return Same(found) if isinstance(found, bool) else NumberColumn(found)


def _negation_rule(rule: Rule) -> Rule:
    """The opposite of a rule that computes truth values."""

    def denied(operands: Sequence[Column], count: int) -> Column | None:
        match rule(operands, count):
            case NumberColumn(array):
                return NumberColumn(np.logical_not(array))
            case Same(value):
                return Same(not value)
            case _:
                return None

    return denied


def _add(operands: Sequence[Column], count: int) -> Column | None:
    one, other = rows(operands[0]), rows(operands[1])
    if one is None or other is None:
        return _PLUS(operands, count)
    return row(one.kind, map(mark_column_shared, one.columns + other.columns)) if one.kind == other.kind else None


def _extend(operands: Sequence[Column], count: int) -> Column | None:
    one, other = rows(operands[0]), rows(operands[1])
    if one is None or other is None:
        return _PLUS(operands, count)
    if one.kind == "list" and one.shared:
        return None
    if one.kind == "tuple" and other.kind != "tuple":
        return None
    return row(one.kind, map(mark_column_shared, one.columns + other.columns))


def _times(operands: Sequence[Column], count: int) -> Column | None:
    for sequence, times in (operands, operands[::-1]):
        listed = rows(sequence)
        if listed is not None and isinstance(times, Same) and isinstance(times.value, int):
            OPERATIONS["*"]((None,) * len(listed.columns), times.value)  # refuses what is too long
            return row(listed.kind, map(mark_column_shared, listed.columns * times.value))
    return _MULTIPLY(operands, count)


def _sequence_rule(kind: Any) -> Rule:
    return lambda operands, _: row(kind, map(mark_column_shared, operands))


def _conversion_rule(kind: Any) -> Rule:
    def rule(operands: Sequence[Column], _: int) -> Column | None:
        listed = rows(operands[0])
        return None if listed is None else row(kind, map(mark_column_shared, listed.columns))

    return rule


def _length(operands: Sequence[Column], _: int) -> Column | None:
    listed = rows(operands[0])
    return None if listed is None else Same(len(listed.columns))


def _unpack(operands: Sequence[Column], _: int) -> Column | None:
    listed, names = rows(operands[0]), operands[1]
    if listed is None or not isinstance(names, Same) or names.value != len(listed.columns):
        return None
    return row("tuple", listed.columns)


def _slice(operands: Sequence[Column], _: int) -> Column | None:
    sequence, *bounds = operands
    listed = rows(sequence)
    known = [bound.value for bound in bounds if isinstance(bound, Same)]
    if listed is None or len(known) < len(bounds):
        return None
    return row(listed.kind, listed.columns[slice(*known)])


def _sum(operands: Sequence[Column], count: int) -> Column | None:
    listed = rows(operands[0])
    if listed is None:
        return None
    total = operands[1] if len(operands) > 1 else Same(0)
    for column in listed.columns:
        total = apply("+", [total, column], count)
    return total


def _extreme(name: str) -> Rule:
    def rule(operands: Sequence[Column], count: int) -> Column | None:
        if len(operands) == 1:
            listed = rows(operands[0])
            return None if listed is None or not listed.columns else fold(listed.columns, count)
        return fold(operands, count)

    def fold(columns: Sequence[Column], count: int) -> Column | None:
        best = columns[0]
        for column in columns[1:]:
            better = truth(apply("<" if name == "max" else ">", [best, column], count), count)
            if isinstance(better, bool):
                best = column if better else best
            else:
                best = blend_columns(better, column, best)
        return best

    return rule


def _extreme_or(name: str) -> Rule:
    def rule(operands: Sequence[Column], count: int) -> Column | None:
        listed = rows(operands[0])
        if listed is None:
            return None
        return apply(name, [operands[0]], count) if listed.columns else operands[1]

    return rule


def _quantifier_rule(name: str) -> Rule:
    def rule(operands: Sequence[Column], count: int) -> Column | None:
        listed = rows(operands[0])
        if listed is None:
            return None
        found: Any = name == "all"
        for column in listed.columns:
            holds = truth(column, count)
            found = found & holds if name == "all" else found | holds
        return Same(found) if isinstance(found, bool) else NumberColumn(found)

    return rule


def _count(operands: Sequence[Column], count: int) -> Column | None:
    listed = rows(operands[0])
    if listed is None:
        return None
    return _sum([Rows("tuple", tuple(apply("==", [c, operands[1]], count) for c in listed.columns))], count)


def _contains(operands: Sequence[Column], count: int) -> Column | None:
    value, sequence = operands
    listed = rows(sequence)
    if listed is None or isinstance(sequence, Same):
        return None
    found = tuple(apply("==", [value, column], count) for column in listed.columns)
    return _quantifier_rule("any")([Rows("tuple", found)], count)


def _sort_columns(operands: Sequence[Column], count: int) -> Column | None:
    listed = rows(operands[0])
    if listed is None or len(listed.columns) < 2:
        return None
    stacked = join_columns(listed.columns, [count] * len(listed.columns))
    if not isinstance(stacked, NumberColumn):
        return None
    arrays = np.sort(stacked.array.reshape(len(listed.columns), count), axis=0, kind="stable")
    return row("list", map(NumberColumn, arrays))


_PLUS, _MULTIPLY, _SAME = arithmetic(operator.add), arithmetic(operator.mul), comparison("==")

RULES: dict[str, Rule] = {
    "+": _add,
    "extend": _extend,
    "-": arithmetic(operator.sub),
    "*": _times,
    "/": arithmetic(operator.truediv),
    "//": arithmetic(operator.floordiv),
    "%": arithmetic(operator.mod),
    "neg": negate_column,
    "abs": absolute,
    "int": integer,
    "not": _negation_rule(_truth),
    "bool": _truth,
    **{name: comparison(name) for name in ("<", "<=", ">", ">=")},
    "==": _equal,
    "!=": _negation_rule(_equal),
    "is not": _negation_rule(is_constant),
    "is": is_constant,
    "in": _contains,
    "not in": _negation_rule(_contains),
    "all": _quantifier_rule("all"),
    "any": _quantifier_rule("any"),
    "len": _length,
    "list": _conversion_rule("list"),
    "tuple": _conversion_rule("tuple"),
    "list of": _sequence_rule("list"),
    "tuple of": _sequence_rule("tuple"),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "max or": _extreme_or("max"),
    "min or": _extreme_or("min"),
    "sorted": _sort_columns,
    "sum": _sum,
    "count": _count,
    "unpack": _unpack,
    "slice": _slice,
}
