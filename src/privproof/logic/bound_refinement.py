"""Path probabilities without automata: the refinement of Courcoubetis and Yannakakis (J. ACM 1995), kept unnormalised.

Temporal operators are removed from the inside out.  Each removal splits every state into *copies*, by whether the operator's formula
holds of the path that begins there, and weighs each copy with the probability of that.  Because the truth of ``X f`` and ``f U g`` at a
state follows from the state and the truth at its successor, every edge to a copy comes from exactly one copy; and because we keep
the joint weight ``w(s, b) = Pr_s(the formulas removed so far have truth b)`` instead of conditional probabilities, the edges keep the
chain's own numbers and nothing is ever divided:

    X f:     u(s, b) = sum over edges to (t, b') with f there of p(s, t) w(t, b')
    f U g:   u(s, b) = w(s, b) where g holds, 0 where neither f nor g does, and otherwise
             u(s, b) = sum over edges to (t, b') of p(s, t) u(t, b').

Which copies exist (have a weight above zero) is decided on the graph alone, without arithmetic.  When no temporal operator is left, the
probability of the formula is the sum of the weights of the copies where it is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privproof.logic.decision_process import Bools, Ints
from privproof.logic.exact_solving import TooLarge
from privproof.logic.path_probabilities import Path, unfold_untils
from privproof.logic.process_graphs import ProcessGraph

_MOST_COPIES = 40_000_000
"""Copies of states, at most two for each and each operator; beyond it arrays would fill the memory."""


@dataclass(frozen=True, eq=False)
class Copies:
    """A chain whose states are split by the truth of the temporal formulas removed so far.

    Attributes:
        graph: edges between copies.
        owner: the state that a copy belongs to.
        weights: the joint weight of every copy, in the arithmetic at hand.
        truths: for every removed formula and every leaf its truth in every copy.
    """

    graph: ProcessGraph
    owner: Ints
    weights: Any
    truths: dict[Path, Bools]

    def truth(self, path: Path) -> Bools:
        """Where a formula whose temporal parts are all removed is true."""
        return where(path, self.truths, len(self.owner))


def where(path: Path, known: Mapping[Path, Bools], count: int) -> Bools:
    """Where a Boolean combination of formulas of known truth is true."""
    found = known.get(path)
    if found is not None:
        return found
    match path[0]:
        case "true" | "false":
            return np.full(count, path[0] == "true")
        case "not":
            return ~where(path[1], known, count)
        case "and":
            return np.asarray(np.all([where(part, known, count) for part in path[1:]], axis=0))
        case "or":
            return np.asarray(np.any([where(part, known, count) for part in path[1:]], axis=0))
    raise KeyError(path)


def probabilities(
    graph: ProcessGraph, leaves: Sequence[Bools], path: Path, arithmetic: Any
) -> tuple[Any, Bools, Bools]:
    """The probability of a path formula from every state, by refinement, and where the graph alone says that it is one or zero."""
    path = unfold_untils(path)
    count = len(graph)
    copies = initial_copies(graph, leaves, arithmetic)
    operators = removable(path)
    for number, operator in enumerate(operators):
        last = number == len(operators) - 1
        if last:  # the copies are not needed any more, only their weights
            holds, (can, cannot) = _split_by_truth(copies, operator, arithmetic)
            fails = arithmetic.difference(copies.weights, holds)
            where = [
                replace(copies, truths=copies.truths | {operator: np.full(len(can), sign)}).truth(path)
                for sign in (True, False)
            ]
            weights = arithmetic.joined(holds, fails)
            owner, true = np.concatenate([copies.owner] * 2), np.concatenate(where)
            exists = np.concatenate([can, cannot])
            total = arithmetic.totals(owner, count, weights, true & exists)
            return certain(arithmetic, total, owner, true & exists, ~true & exists)
        copies = _refine_copies(copies, operator, arithmetic)
    true = copies.truth(path)
    total = arithmetic.totals(copies.owner, count, copies.weights, true)
    return certain(arithmetic, total, copies.owner, true, ~true)


def initial_copies(graph: ProcessGraph, leaves: Sequence[Bools], arithmetic: Any) -> Copies:
    """Every state once."""
    count = len(graph)
    truths: dict[Path, Bools] = {("leaf", i): truth for i, truth in enumerate(leaves)}
    return Copies(graph, np.arange(count, dtype=np.int64), arithmetic.indicator(np.ones(count, np.bool_)), truths)


def refine_states(graph: ProcessGraph, leaves: Sequence[Bools], paths: Sequence[Path], arithmetic: Any) -> Copies:
    """The copies in which each of the paths is true or false."""
    copies = initial_copies(graph, leaves, arithmetic)
    for path in paths:
        for operator in removable(unfold_untils(path)):
            if operator not in copies.truths:
                copies = _refine_copies(copies, operator, arithmetic)
    return copies


def certain(arithmetic: Any, total: Any, owner: Ints, can: Bools, cannot: Bools) -> tuple[Any, Bools, Bools]:
    """The totals with the certain ones put right, given which copies can hold and can fail."""
    count = int(owner.max()) + 1
    ones, zeros = np.ones(count, np.bool_), np.ones(count, np.bool_)
    ones[owner[cannot]] = False
    zeros[owner[can]] = False
    return arithmetic.pinned(total, ones, zeros), ones, zeros


def removable(path: Path) -> list[Path]:
    """The temporal subformulas, inner ones before outer ones."""
    found: dict[Path, None] = {}

    def visit(f: Path) -> None:
        if f in found or f[0] in ("leaf", "true", "false"):
            return
        for part in (f[1],) if f[0] == "X" else f[1:3] if f[0] == "U" else f[1:]:
            visit(part)
        if f[0] in ("X", "U"):
            found[f] = None

    visit(path)
    return list(found)


def _split_by_truth(copies: Copies, operator: Path, arithmetic: Any) -> tuple[Any, tuple[Bools, Bools]]:
    """The weight with which the operator's formula holds in every copy, and where it can hold and can fail."""
    graph = copies.graph
    everywhere = np.ones(len(graph), np.bool_)
    if operator[0] == "X":
        inner = copies.truth(operator[1])
        holds = arithmetic.step(graph, arithmetic.masked(copies.weights, inner), everywhere)
        return holds, (graph.leading(inner), graph.leading(~inner))
    stay, goal = copies.truth(operator[1]), copies.truth(operator[2])
    open_ = stay & ~goal
    can = graph.reaching(goal, open_)
    cannot = graph.reaching(~can, open_)
    unknown = can & cannot
    holds = arithmetic.solve(graph, arithmetic.masked(copies.weights, ~cannot), unknown)
    return holds, (can, cannot)


def _refine_copies(copies: Copies, operator: Path, arithmetic: Any) -> Copies:
    """The copies split by the truth of one more operator."""
    holds, (can, cannot) = _split_by_truth(copies, operator, arithmetic)
    graph = copies.graph
    positive, negative = np.flatnonzero(can), np.flatnonzero(cannot)
    count = len(positive) + len(negative)
    if count > _MOST_COPIES:
        raise TooLarge
    place = np.full((2, len(graph)), -1, np.int64)
    place[1, positive] = np.arange(len(positive))
    place[0, negative] = len(positive) + np.arange(len(negative))
    origin = np.concatenate([positive, negative])
    sources, targets, values = [], [], []
    for sign in (0, 1):
        exists = place[sign, graph.targets] >= 0
        tails, heads, numbers = graph.sources[exists], graph.targets[exists], graph.values[exists]
        if operator[0] == "X":
            side = copies.truth(operator[1])[heads]
        else:
            stay, goal = copies.truth(operator[1])[tails], copies.truth(operator[2])[tails]
            side = goal | (stay & bool(sign))
        sources.append(place[side.astype(np.int64), tails])
        targets.append(place[sign, heads])
        values.append(numbers)
    finer = ProcessGraph.sorted_by_source(
        count, np.concatenate(sources), np.concatenate(targets), np.concatenate(values)
    )
    fails = arithmetic.difference(copies.weights, holds)
    split = np.zeros(count, np.bool_)
    split[: len(positive)] = True
    weights = arithmetic.joined(arithmetic.select(holds, positive), arithmetic.select(fails, negative))
    truths = {path: truth[origin] for path, truth in copies.truths.items()} | {operator: split}
    return Copies(finer, copies.owner[origin], weights, truths)
