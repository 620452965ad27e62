"""Large processes as plain data: arrays in columns, packed into texts."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from privproof.logic.comparison_states import satisfying_states
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import Atom, Comparison, Formula, Private
from privproof.logic.formulas.sublogics import subformulas

_EFFORT = 1
"""Of zlib, from 1 to 9: more makes columns a little shorter and takes several times as long."""
_MOST_NAMES = 20
"""Names of states beside a process in columns, for readers: of those asked about."""


def column(values: NDArray[np.integer] | NDArray[np.bool_]) -> dict[str, object]:
    """An array of whole numbers, packed: in as few bytes as the largest needs, compressed, as a text.

    >>> column(np.array([1, 2, 3]))["bits"], column(np.array([300]))["bits"]
    (8, 16)
    """
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    bits = next(bits for bits in (8, 16, 32, 64) if -(1 << (bits - 1)) <= least and most < 1 << (bits - 1))
    data = np.ascontiguousarray(values, np.dtype(f"<i{bits // 8}")).tobytes()
    return {"bits": bits, "count": len(values), "data": b64encode(zlib.compress(data, _EFFORT)).decode("ascii")}


def comparison_name(comparison: Comparison, process: DecisionProcess) -> str:
    """The label that stands for a comparison in columns; no label of the process has the name."""
    name = str(comparison)
    while name in process.labels:
        name += "'"
    return name


def process_columns(process: DecisionProcess, formula: Formula, states: Iterable[int]) -> dict[str, object]:
    """A process without enclosures, with the labels and comparisons of a formula."""
    labels: dict[str, dict[str, object]] = {}
    for part in subformulas(formula):
        if isinstance(part, Atom) and part.name in process.labels:
            labels[part.name] = column(process.labels[part.name])
        elif isinstance(part, Comparison):
            labels[comparison_name(part, process)] = column(satisfying_states(part, process))
    queried = process.actions and any(isinstance(part, Private) for part in subformulas(formula))
    return {
        "count": len(process),
        "actions": list(process.actions),
        "choices": column(np.diff(process.choices)),
        "lengths": column(np.diff(process.rows)),
        "entries": len(process.targets),
        "targets": column(process.targets),
        "which": column(process.values),
        "numbers": [str(number) for number in process.numbers],
        "labels": labels,
        "neighbours": [list(pair) for pair in process.related],
        **({"taken": column(process.action_of)} if queried else {}),
        **({"missing": process.missing} if queried and process.lacking else {}),
        "names": [[s, process.names[s]] for s, _ in zip(states, range(_MOST_NAMES), strict=False)],
    }
