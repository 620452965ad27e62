"""Path probabilities on a Markov chain: clocked operators step by step, unbounded ones by refinement.

While a formula is clocked, its probability at a state is the expected probability, at the next state, of the formula progressed by the
state; the states are grouped by the truth of the formula's leaves.  The formulas met form a finite acyclic graph, because progression
runs the clocks down.  What is not clocked is left to `refining`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from privproof.engines.logic import refining
from privproof.engines.logic.exactly import TooLarge
from privproof.engines.logic.graphs import Graph
from privproof.engines.logic.paths import FALSE, TRUE, Path, clocked, leaves, progress
from privproof.models.process import Bools

_MOST_FORMULAS = 2_000_000


def groups(truths: Sequence[Bools], path: Path) -> list[tuple[Bools, list[bool]]]:
    """The states grouped by the truth of a formula's leaves: which states, and which truth."""
    used = leaves(path)
    if not used:
        return [(np.ones(len(truths[0]) if truths else 0, np.bool_), [])]
    table = np.stack([truths[i] for i in used], axis=1)
    packed = np.packbits(table, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    result = []
    for number, example in enumerate(first.tolist()):
        truth = [False] * (max(used) + 1)
        for column, i in enumerate(used):
            truth[i] = bool(table[example, column])
        result.append((which.reshape(-1) == number, truth))
    return result


def probabilities(graph: Graph, truths: Sequence[Bools], path: Path, arithmetic: Any) -> Any:
    """The probability of a path formula from every state.

    Args:
        graph: the chain.
        truths: where each leaf of the formula is true.
        path: the formula.
        arithmetic: `Exactly` or `Enclosed`.
    """
    count = len(graph)
    everywhere = np.ones(count, np.bool_)
    later: dict[Path, list[tuple[Bools, Path]]] = {}
    waiting, uses = [path], Counter({path: 1})
    known_groups: dict[tuple[int, ...], list[tuple[Bools, list[bool]]]] = {}
    while waiting:
        current = waiting.pop()
        if current in later:
            continue
        arithmetic.monitor.pause()
        later[current] = []
        if clocked(current):
            used = tuple(leaves(current))
            if used not in known_groups:
                known_groups[used] = groups(truths, current) if truths else [(everywhere, [])]
            for states, truth in known_groups[used]:
                after = progress(current, truth)
                later[current].append((states, after))
                uses[after] += 1
                waiting.append(after)
            if len(later) > _MOST_FORMULAS:
                raise TooLarge
    values: dict[Path, tuple[Any, Bools, Bools]] = {}
    for current in _last_first(path, later):
        if not later[current]:
            values[current] = _unclocked(graph, truths, current, arithmetic)
            continue
        parts, ones, zeros = [], np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for states, after in later[current]:
            vector, surely, never = values[after]
            parts.append((states, arithmetic.step(graph, vector, states)))
            ones |= states & _leading_only(graph, surely)
            zeros |= states & _leading_only(graph, never)
            uses[after] -= 1
            if uses[after] == 0:
                del values[after]
        values[current] = arithmetic.pinned(arithmetic.chosen(parts, count), ones, zeros), ones, zeros
    return values[path][0]


def _leading_only(graph: Graph, nodes: Bools) -> Bools:
    """The states from which every step leads into the nodes."""
    result = np.ones(len(graph), np.bool_)
    if not nodes.any():
        return ~result
    result[graph.sources[~nodes[graph.targets]]] = False
    return result


def _last_first(path: Path, later: dict[Path, list[tuple[Bools, Path]]]) -> list[Path]:
    """The formulas so that each comes after those it progresses to."""
    order: list[Path] = []
    seen: set[Path] = set()
    stack: list[tuple[Path, bool]] = [(path, False)]
    while stack:
        current, done = stack.pop()
        if done:
            order.append(current)
        elif current not in seen:
            seen.add(current)
            stack.append((current, True))
            stack.extend((after, False) for _, after in later[current] if after not in seen)
    return order


def _unclocked(graph: Graph, truths: Sequence[Bools], path: Path, arithmetic: Any) -> tuple[Any, Bools, Bools]:
    if path in (TRUE, FALSE):
        sure = np.full(len(graph), path == TRUE)
        return arithmetic.indicator(sure), sure, ~sure
    return refining.probabilities(graph, truths, path, arithmetic)
