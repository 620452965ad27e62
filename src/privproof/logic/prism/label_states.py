"""In which states a condition holds: over the values of the variables in all states at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privproof.errors import FormatError
from privproof.logic.decision_process import Bools, Ints
from privproof.logic.prism.columnwise_steps import ColumnExpressions, ColumnwiseStates
from privproof.logic.prism.expression_meanings import ExpressionMeaning, Trouble
from privproof.logic.prism.state_coding import used_slots

CHUNK = 1 << 16
"""States are turned into columns, and conditions evaluated on them, so many at once, so that the lists in between stay small."""
_FARTHEST = 2**62
"""Stands for no bound in a range of values, which are 64 bits wide; a condition with a larger constant is evaluated state by state."""


def states_satisfying(meaning: ExpressionMeaning, count: int, columns: Sequence[Ints | Bools]) -> Bools:
    """The states, of so many, in which a condition holds, given the values of the variables in every state."""
    if meaning.op == "const":
        return np.full(count, bool(meaning.value))
    intervals = ranges_of(meaning)
    if intervals is not None:
        low, high = (np.array(ends, np.int64) for ends in zip(*sorted(intervals), strict=True))
        column = columns[used_slots(meaning.uses)[0]]
        last = np.searchsorted(low, column, side="right") - 1
        inside: Bools = (last >= 0) & (column <= np.maximum.accumulate(high)[last])
        return inside
    states = ColumnwiseStates(count, columns)
    ranges = [(int(column.min()), int(column.max())) for column in columns]
    expressions = ColumnExpressions(ranges)
    try:
        result = expressions.values(expressions.shared(meaning), states)
    except Trouble as trouble:
        raise FormatError(trouble.code, trouble.message, place=trouble.place, hint=trouble.hint) from None
    return np.broadcast_to(result, (count,)).astype(np.bool_)


def ranges_of(meaning: ExpressionMeaning) -> list[tuple[int, int]] | None:
    """The ranges of values of one integer variable that a condition is about, if it is as simple as that."""
    if meaning.uses & (meaning.uses - 1):
        return None
    if meaning.op == "|":
        parts = [ranges_of(part) for part in meaning.args]
        return None if None in parts else [ends for part in parts for ends in part or ()]
    if meaning.op == "&" and len(meaning.args) == 2:
        first, second = (ranges_of(part) for part in meaning.args)
        if first and second and len(first) == len(second) == 1:
            return [(max(first[0][0], second[0][0]), min(first[0][1], second[0][1]))]
        return None
    if meaning.op not in ("=", "<=", ">=") or meaning.args[0].op != "var" or meaning.args[1].op != "const":
        return None
    value = meaning.args[1].value
    if meaning.args[1].kind != "int" or abs(value) > _FARTHEST:
        return None
    return [(-_FARTHEST if meaning.op == "<=" else value, _FARTHEST if meaning.op == ">=" else value)]
