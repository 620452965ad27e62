"""Expressions over many states at once: the values of the variables are columns, and so is the result.

What is made of integers and conditions by ``+ - *``, comparisons, ``min``, ``max``, ``mod`` by a positive constant, ``?:`` and the
connectives becomes one numpy expression, if by the ranges of its variables nothing in it leaves 62 bits: 64-bit integers would overflow
without a word.  Everything else (rationals, quotients, powers, operations that may fail) is computed exactly, by the generated Python of
`coding`, once for every combination of values that occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from privproof.logic.decision_process import Ints
from privproof.logic.prism.expression_meanings import FAILING, ExpressionMeaning
from privproof.logic.prism.state_coding import Code, used_slots

Column: TypeAlias = Any
"""An array of integers or truth values, or one of them for all states."""
Range: TypeAlias = "tuple[int, int]"

_FARTHEST = 2**62
"""Beyond, a number is not computed in 64-bit integers."""
_SMALL = 1_000
"""Up to so many values are marked in a table, which is quicker than sorting."""
_COMPARING: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "<=>": np.equal,
    "=>": np.less_equal,
}


class ColumnExpressions:
    """Evaluates expressions over columns of one model.

    Args:
        ranges: the least and the largest value of every variable.
    """

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._ranges = ranges
        self._known: dict[ExpressionMeaning, ExpressionMeaning] = {}
        self._bounds: dict[int, Range | None] = {}
        self._failing: dict[int, bool] = {}
        self._exactly: dict[int, Callable[[Any], list[Any]]] = {}

    def shared(self, meaning: ExpressionMeaning) -> ExpressionMeaning:
        """The same expression, with equal parts made one, so that they are computed once."""
        found = self._known.get(meaning)
        if found is None:
            found = meaning._replace(args=tuple([self.shared(part) for part in meaning.args]))
            self._known[meaning] = found
        return found

    def values(self, meaning: ExpressionMeaning, states: ColumnwiseStates) -> Column:
        """The values of an expression that is shared; an array, or one value for all states.

        Raises:
            Trouble: it has no value in some state.
        """
        found = states.computed.get(id(meaning))
        if found is None:
            if self._whole(meaning) is None and not self._parts(meaning):
                found = self._one_by_one(meaning, states)
            else:
                found = self._at_once(meaning, states)
            states.computed[id(meaning)] = found
        return found

    def _parts(self, meaning: ExpressionMeaning) -> bool:
        """Whether a condition is put together of others, in which nothing may fail that an earlier one would have kept from it."""
        return meaning.op in ("&", "|", "!", "=>", "<=>") and not self._fails(meaning)

    def _fails(self, meaning: ExpressionMeaning) -> bool:
        if id(meaning) not in self._failing:
            here = meaning.op in FAILING or (meaning.op == "*" and isinstance(meaning.value, tuple))
            self._failing[id(meaning)] = here or any(map(self._fails, meaning.args))
        return self._failing[id(meaning)]

    def _one_by_one(self, meaning: ExpressionMeaning, states: ColumnwiseStates) -> Column:
        """Exactly, for each combination of values that occurs."""
        computed = self._exactly.get(id(meaning))
        if computed is None:
            computed = self._exactly[id(meaning)] = Code().column(meaning)
        rows, which = states.combinations(used_slots(meaning.uses))
        return np.array([int(value) for value in computed(rows)], np.int64 if meaning.kind == "int" else np.bool_)[
            which
        ]

    def _at_once(self, meaning: ExpressionMeaning, states: ColumnwiseStates) -> Column:
        op, args = meaning.op, meaning.args
        if op == "const":
            return meaning.value
        if op == "var":
            column = states.column(meaning.value)
            return column.astype(np.bool_) if meaning.kind == "bool" else column
        parts = [self.values(part, states) for part in args]
        if op in ("&", "|"):
            return reduce(np.logical_and if op == "&" else np.logical_or, parts)
        if op in _COMPARING:
            return _COMPARING[op](parts[0], parts[1])
        if op == "!":
            return np.logical_not(parts[0])
        if op == "neg":
            return -parts[0]
        if op == "?":
            return np.where(parts[0], parts[1], parts[2])
        if op == "+":
            total = parts[0] if meaning.value[0] == "+" else -parts[0]
            for sign, part in zip(meaning.value[1:], parts[1:], strict=True):
                total = total + part if sign == "+" else total - part
            return total
        if op == "*":
            return reduce(np.multiply, parts)
        if op == "mod":
            return np.mod(parts[0], parts[1])
        return reduce(np.minimum if op == "min" else np.maximum, parts)

    def _whole(self, meaning: ExpressionMeaning) -> Range | None:
        """Between which integers an expression and all of its parts lie; None where it is not computed in 64-bit integers."""
        if id(meaning) not in self._bounds:
            found = self._between(meaning)
            inside = found is not None and found[0] > -_FARTHEST and found[1] < _FARTHEST
            self._bounds[id(meaning)] = found if inside else None
        return self._bounds[id(meaning)]

    def _between(self, meaning: ExpressionMeaning) -> Range | None:
        op = meaning.op
        if meaning.kind == "double":
            return None
        if op == "const":
            return int(meaning.value), int(meaning.value)
        if op == "var":
            low, high = self._ranges[meaning.value]
            return low, high
        parts = []
        for part in meaning.args:
            bounds = self._whole(part)
            if bounds is None:
                return None
            parts.append(bounds)
        if meaning.kind == "bool":
            return 0, 1
        lows, highs = ([bounds[end] for bounds in parts] for end in (0, 1))
        if op == "neg":
            return -highs[0], -lows[0]
        if op == "?":
            return min(lows[1:]), max(highs[1:])
        if op == "min":
            return min(lows), min(highs)
        if op == "max":
            return max(lows), max(highs)
        if op == "mod" and meaning.args[1].op == "const" and lows[1] > 0:
            return 0, lows[1] - 1
        if op == "+":
            signed = [
                bounds if sign == "+" else (-bounds[1], -bounds[0])
                for sign, bounds in zip(meaning.value, parts, strict=True)
            ]
            largest = sum(max(abs(low), abs(high)) for low, high in signed)  # also of what is added up on the way
            return None if largest >= _FARTHEST else (sum(low for low, _ in signed), sum(high for _, high in signed))
        if op == "*" and isinstance(meaning.value, str) and set(meaning.value[1:]) == {"*"}:
            low, high = parts[0]
            for bounds in parts[1:]:
                ends = [a * b for a, b in product((low, high), bounds)]
                low, high = min(ends), max(ends)
                if max(-low, high) >= _FARTHEST:
                    return None
            return low, high
        return None


class ColumnwiseStates:
    """Some states as columns; remembers what was computed of them.

    Args:
        count: how many they are.
        columns: the values of the variables.
        rows: which of the entries of the columns they are; all, without.
    """

    def __init__(self, count: int, columns: Sequence[Column], rows: Ints | None = None) -> None:
        self.count, self._columns, self._rows = count, columns, rows
        self.computed: dict[int, Column] = {}
        self._taken: dict[int, Column] = {}

    def column(self, slot: int) -> Column:
        """The values of a variable."""
        if self._rows is None:
            return self._columns[slot]
        if slot not in self._taken:
            self._taken[slot] = self._columns[slot][self._rows]
        return self._taken[slot]

    def combinations(self, slots: Sequence[int]) -> tuple[Iterator[tuple[int, ...]], Ints]:
        """The combinations of values of some variables that occur, and for every state which it has."""
        key, size = np.zeros(self.count, np.int64), 1
        for slot in slots:
            column = self.column(slot).astype(np.int64)
            low = int(column.min(initial=0))
            width = int(column.max(initial=0)) - low + 1
            if size * width >= _FARTHEST:
                known, key = distinct(key, size)
                size = max(1, len(known))
            if size * width >= _FARTHEST:
                known, column = distinct(column - low, width)
                low, width = 0, len(known)
            key, size = key * width + (column - low), size * width
        known, which = distinct(key, size)
        first = np.zeros(len(known), np.int64)
        first[which] = np.arange(self.count)
        return zip(*[self.column(slot)[first].tolist() for slot in slots], strict=True), which


def distinct(keys: Ints, size: int) -> tuple[Ints, Ints]:
    """The distinct integers, in order, of some from 0 to below a size, and for each of them which it is."""
    if size > 4 * len(keys) + _SMALL:
        known, which = np.unique(keys, return_inverse=True)
        return known, which.reshape(-1)
    there = np.zeros(size, np.bool_)
    there[keys] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]
