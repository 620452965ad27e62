"""A decision process together with what a path formula still asks: the product by progression.

A node is (state, formula): the formula is asked of the paths that begin in the state.  Reading the state's labels progresses it, and
the process moves on.  For a co-safe formula a path satisfies it exactly if it arrives at a node whose formula is ``true``; so the
probability of the formula is the probability of reaching such a node.  A safe formula is the negation of a co-safe one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from flint import fmpq

from privproof.engines.search_monitor import Monitor
from privproof.exact import Rational
from privproof.logic.decision_process import Bools, DecisionProcess
from privproof.logic.exact_solving import TooLarge
from privproof.logic.path_probabilities import FALSE, TRUE, Path, cosafe, leaves, negation, progress
from privproof.logic.process_graphs import ProcessGraph

_MOST_NODES = 400_000
"""Nodes of the product of process and formula; beyond it the question is too large."""


@dataclass(frozen=True, eq=False)
class MonitorProduct:
    """The product of a process and a co-safe formula.

    Attributes:
        process: the process.
        nodes: for every node its state and the formula asked there; the nodes ``goal`` and ``lost`` come first.
        start: the node of every state from which the product was built.
        choices: for every node its choices: the action's index, and the next nodes with their probabilities.
        complemented: whether the formula was negated to make it co-safe, so that probabilities are one minus what is computed.
    """

    GOAL = 0
    LOST = 1

    process: DecisionProcess
    nodes: tuple[tuple[int, Path], ...]
    start: dict[int, int]
    choices: tuple[tuple[tuple[int, tuple[tuple[int, Rational], ...]], ...], ...]
    complemented: bool

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def graph(self) -> ProcessGraph:
        """Every edge of every choice."""
        sources, targets = [], []
        for node, options in enumerate(self.choices):
            for _, row in options:
                for target, _ in row:
                    sources.append(node)
                    targets.append(target)
        tails, heads = np.array(sources, np.int64), np.array(targets, np.int64)
        return ProcessGraph.sorted_by_source(len(self), tails, heads, np.zeros(len(tails), np.int64))


def product_decides(path: Path) -> bool:
    """Whether the product decides a formula: it or its negation is co-safe."""
    return cosafe(path) or cosafe(negation(path))


def product(
    process: DecisionProcess, truths: Sequence[Bools], path: Path, states: Iterable[int], monitor: Monitor
) -> MonitorProduct:
    """The product of a process with a safe or co-safe formula, from the given states."""
    complemented = not cosafe(path)
    asked = negation(path) if complemented else path
    tables = [truth.tolist() for truth in truths]
    numbers: dict[tuple[int, Path], int] = {(-1, TRUE): MonitorProduct.GOAL, (-1, FALSE): MonitorProduct.LOST}
    nodes: list[tuple[int, Path]] = list(numbers)
    progressed: dict[tuple[Path, tuple[bool, ...]], Path] = {}
    used: dict[Path, list[int]] = {}

    def node(state: int, formula: Path) -> int:
        key = (-1, formula) if formula in (TRUE, FALSE) else (state, formula)
        if key not in numbers:
            numbers[key] = len(nodes)
            nodes.append(key)
        return numbers[key]

    start = {state: node(state, asked) for state in states}
    listed = list(zip(process.targets.tolist(), [process.numbers[i] for i in process.values.tolist()], strict=True))
    entries_of = [listed[begin:end] for begin, end in pairwise(process.rows.tolist())]
    acting = process.action_of.tolist() if process.actions else [-1] * len(entries_of)
    rows = [
        list(zip(acting[begin:end], entries_of[begin:end], strict=True))
        for begin, end in pairwise(process.choices.tolist())
    ]
    choices: list[tuple[tuple[int, tuple[tuple[int, Rational], ...]], ...]] = [(), ()]
    at = 2
    while at < len(nodes):
        if at % 1_024 == 0:
            monitor.pause()
        if len(nodes) > _MOST_NODES:
            raise TooLarge
        state, formula = nodes[at]
        at += 1
        if formula not in used:
            used[formula] = leaves(formula)
        signature = tuple(tables[i][state] for i in used[formula])
        onward = progressed.get((formula, signature))
        if onward is None:
            truth = [False] * len(tables)
            for i, value in zip(used[formula], signature, strict=True):
                truth[i] = value
            onward = progressed[formula, signature] = progress(formula, truth)
        options = []
        for action, row in rows[state]:
            entries: dict[int, Rational] = {}
            for target, number in row:
                assert isinstance(number, fmpq)
                following = node(target, onward)
                entries[following] = entries[following] + number if following in entries else number
            options.append((action, tuple(entries.items())))
        choices.append(tuple(options))
    return MonitorProduct(process, tuple(nodes), start, tuple(choices), complemented)
