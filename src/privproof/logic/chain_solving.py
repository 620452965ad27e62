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

from privproof.logic import bound_refinement as refining
from privproof.logic.decision_process import Bools
from privproof.logic.exact_solving import TooLarge
from privproof.logic.path_probabilities import (
    FALSE,
    TRUE,
    Path,
    is_clocked,
    leaves,
    plain,
    progress,
    replace_subformulas,
    unbounded_untils,
    unfold_untils,
)
from privproof.logic.process_graphs import ProcessGraph
from privproof.models.graph_algorithms import components

_MOST_FORMULAS = 2_000_000
"""Formulas that one may progress to; beyond it the path formula is too large."""
_MANY = 200
"""A longer row of X is one power of the matrix, also in floating point."""


def groups(truths: Sequence[Bools], path: Path) -> list[tuple[Bools, list[bool]]]:
    """The states grouped by the truth of a formula's leaves: which states, and which truth."""
    used = leaves(path)
    if not used:
        return [(np.ones(len(truths[0]) if truths else 0, np.bool_), [])]
    table = np.stack([truths[i] for i in used], axis=1)
    if len(used) <= 16:
        packed = table.astype(np.int64) @ (1 << np.arange(len(used)))
        found = np.flatnonzero(np.bincount(packed, minlength=1))
        return [
            (packed == code, _spread_truths(used, [bool(code >> column & 1) for column in range(len(used))]))
            for code in found.tolist()
        ]
    packed = np.packbits(table, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return [
        (which.reshape(-1) == number, _spread_truths(used, table[example].tolist()))
        for number, example in enumerate(first.tolist())
    ]


def _spread_truths(used: list[int], truth: list[bool]) -> list[bool]:
    result = [False] * (max(used) + 1)
    for i, here in zip(used, truth, strict=True):
        result[i] = here
    return result


def probabilities(graph: ProcessGraph, truths: Sequence[Bools], path: Path, arithmetic: Any) -> Any:
    """The probability of a path formula from every state.

    The unbounded untils that stand outside each other are refined away first; what is left of the formula is clocked and progresses on
    the copies, where it ends in the weight of a copy.
    """
    if not is_clocked(path):
        return _unclocked_probabilities(graph, truths, path, arithmetic)[0]
    if path[0] == "X" and (arithmetic.exact or path[2] > _MANY):
        return arithmetic.stepped(graph, probabilities(graph, truths, path[1], arithmetic), path[2])
    if path[0] == "not" and plain(path[1]):
        return arithmetic.difference(
            arithmetic.indicator(np.ones(len(graph), np.bool_)), probabilities(graph, truths, path[1], arithmetic)
        )
    if plain(path):
        return _within(graph, *_sides(path, truths, len(graph)), path[4], arithmetic)
    count = len(graph)
    untils = unbounded_untils(path)
    copies = refining.refine_states(graph, truths, untils, arithmetic)
    truths = [copies.truth(("leaf", i)) for i in range(len(truths))] + [copies.truth(unfold_untils(f)) for f in untils]
    path = replace_subformulas(path, {f: ("leaf", len(truths) - len(untils) + i) for i, f in enumerate(untils)})
    by_leaf = _by_leaf(truths)
    graph, everywhere = copies.graph, np.ones(len(copies.owner), np.bool_)
    later: dict[Path, list[tuple[Bools, Path]]] = {}
    waiting, uses = [path], Counter({path: 1})
    known_groups: dict[tuple[int, ...], list[tuple[Bools, list[bool]]]] = {}
    while waiting:
        current = waiting.pop()
        if current in later:
            continue
        arithmetic.monitor.pause()
        later[current] = []
        if is_clocked(current):
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
            true = refining.where(current, by_leaf, len(everywhere))
            values[current] = arithmetic.masked(copies.weights, true), true, ~true
            continue
        parts, can, cannot = [], ~everywhere, ~everywhere
        for states, after in later[current]:
            vector, possible, avoidable = values[after]
            if after in (TRUE, FALSE):  # a weight is the expected weight after a step
                parts.append((states, vector))
                can |= states & possible
                cannot |= states & avoidable
            else:
                parts.append((states, arithmetic.step(graph, vector, states)))
                if not arithmetic.exact:
                    can |= states & graph.leading(possible)
                    cannot |= states & graph.leading(avoidable)
            uses[after] -= 1
            if uses[after] == 0:
                del values[after]
        values[current] = arithmetic.chosen(parts, len(everywhere)), can, cannot
    total, can, cannot = values[path]
    found = arithmetic.totals(copies.owner, count, total, everywhere)
    return refining.certain(arithmetic, found, copies.owner, can, cannot)[0]


def relevant(graph: ProcessGraph, truths: Sequence[Bools], path: Path) -> ProcessGraph:
    """The graph without the edges that do not matter: an until between state formulas is decided where it does not go on."""
    inner = path[1] if path[0] == "not" else path
    if not plain(inner):
        return graph
    stay, goal = _sides(inner, truths, len(graph))
    return graph.cut(stay & ~goal)


def _sides(path: Path, truths: Sequence[Bools], count: int) -> tuple[Bools, Bools]:
    """Where the two state formulas of an until are true."""
    known = _by_leaf(truths)
    return refining.where(path[1], known, count), refining.where(path[2], known, count)


def _by_leaf(truths: Sequence[Bools]) -> dict[Path, Bools]:
    return {("leaf", i): truth for i, truth in enumerate(truths)}


def _within(graph: ProcessGraph, stay: Bools, goal: Bools, times: int, arithmetic: Any) -> Any:
    """The probability of a bounded until between state formulas."""
    through = stay & ~goal
    found = arithmetic.repeated(graph, goal, through, times)
    if arithmetic.exact:
        return found
    can, cannot = goal, ~goal
    for _ in range(times):
        before = can, cannot
        can = goal | (through & graph.leading(can))
        cannot = ~goal & (~stay | graph.leading(cannot))
        if np.array_equal(before[0], can) and np.array_equal(before[1], cannot):
            break
    return arithmetic.pinned(found, ~cannot, ~can)


def _last_first(path: Path, later: dict[Path, list[tuple[Bools, Path]]]) -> list[Path]:
    """The formulas so that each comes after those it progresses to."""
    groups = components([path], lambda current: [after for _, after in later[current]])
    return [current for group in reversed(groups) for current in group]


def _unclocked_probabilities(
    graph: ProcessGraph, truths: Sequence[Bools], path: Path, arithmetic: Any
) -> tuple[Any, Bools, Bools]:
    if path in (TRUE, FALSE):
        sure = np.full(len(graph), path == TRUE)
        return arithmetic.indicator(sure), sure, ~sure
    return refining.probabilities(graph, truths, path, arithmetic)
