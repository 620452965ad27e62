"""The best expected reward until a part of a decision process is left, over all schedulers: policy iteration in exact arithmetic.

A node has *options*: a gain and a distribution over next nodes.  Begin with a policy that leaves the strongly connected part almost
surely, and improve it strictly.  **No improvement makes a policy that stays for ever**, if (largest) no set in which one can stay
has a positive gain, or (least) no gain is negative.  Let v be the value of a policy that leaves, and let C be a set that the
improved policy never leaves, with stationary distribution m.  For the least, ``v - gain - E v >= 0`` on C, strictly where the
policy changed; the mean of ``v - E v`` under m is 0, so the mean of ``-gain`` is at least 0: the gains on C vanish, nothing changed
there, and the policy before did not leave C.  For the largest it is the same with the other sign, where the gains on C are 0 by the
condition.  So there are finitely many rounds.

At the end no option improves.  *Least*: v is at most the expected gains of n steps plus the expected v after them, under every
scheduler, hence at most what a scheduler collects that leaves almost surely.  *Largest*: v is at least that, and v is not negative,
hence at least what any scheduler collects.  With gains 0 and exits worth probabilities this is the reachability of a goal
(`schedulers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from flint import fmpq

from privproof.exact import ZERO, Rational
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.exact_solving import Exactly
from privproof.logic.process_graphs import ProcessGraph

_FEW = 40
"""Nodes of a part; of a larger one a policy is improved in floating point first, so that exact arithmetic has less to improve."""
_ROUNDS = 60
"""Policies that are tried in floating point at most; a few are usual."""
_CLOSE = 1e-11
"""What an option must gain at least to be better in floating point; less may be rounding."""

Row: TypeAlias = "tuple[tuple[int, Rational], ...]"
Option: TypeAlias = "tuple[Rational, Row]"
Options: TypeAlias = "Sequence[Sequence[Option]]"
"""For every node its options: what is gained, and the next nodes with their probabilities."""


def graph_of(options: Options) -> ProcessGraph:
    """Every edge of every option."""
    sources = [node for node, own in enumerate(options) for _, row in own for _ in row]
    targets = [target for own in options for _, row in own for target, _ in row]
    tails, heads = np.array(sources, np.int64), np.array(targets, np.int64)
    return ProcessGraph.sorted_by_source(len(options), tails, heads, np.zeros(len(tails), np.int64))


def exact_row(process: DecisionProcess, choice: int) -> Row:
    """The distribution of a choice of a process without enclosures."""
    return tuple((target, number) for target, number in process.entries(choice) if isinstance(number, fmpq))


def worth(option: Option, values: Sequence[Rational]) -> Rational:
    """What an option gains, and is expected to gain afterwards."""
    total, row = option
    for target, number in row:
        total += number * values[target]
    return total


def settle(options: Options, part: list[int], values: list[Rational], arithmetic: Exactly, *, largest: bool) -> None:
    """Fill in the values of one strongly connected part, those outside being known; nothing where it cannot be left."""
    first = part[0]
    if len(part) == 1 and not any(target == first for _, row in options[first] for target, _ in row):
        worths = [worth(option, values) for option in options[first]]
        values[first] = max(worths) if largest else min(worths)
        return
    policy = _leaving_policy([[row for _, row in options[node]] for node in part], part)
    if not policy:
        return
    if len(part) > _FEW:
        better = _improve_policy(options, part, values, policy, largest=largest)
        if len(_leaving_policy([[options[node][better[node]][1]] for node in part], part)) == len(part):
            policy = better
    while True:
        arithmetic.monitor.pause()
        chosen = [options[node][policy[node]] for node in part]
        edges = [[(number, target) for target, number in row] for _, row in chosen]
        arithmetic.settle(part, edges, values, gains=[gain for gain, _ in chosen])
        changed = False
        for node in part:
            best = values[node]
            for c, option in enumerate(options[node]):
                found = worth(option, values)
                if found > best if largest else found < best:
                    best, policy[node], changed = found, c, True
        if not changed:
            return


def _improve_policy(
    options: Options, part: list[int], values: Sequence[Rational], policy: dict[int, int], *, largest: bool
) -> dict[int, int]:
    """The policy, improved as long as floating point sees how; nothing is promised, and where it fails it is the policy given."""
    from scipy.sparse import csr_matrix, identity
    from scipy.sparse.linalg import splu

    place = {node: k for k, node in enumerate(part)}
    first = np.append(0, np.cumsum([len(options[node]) for node in part]))
    owner = np.repeat(np.arange(len(part)), np.diff(first))
    gain = np.zeros(int(first[-1]))
    rows: list[int] = []
    heads: list[int] = []
    numbers: list[float] = []
    for at, (got, row) in enumerate(option for node in part for option in options[node]):
        gain[at] = float(got)
        for target, number in row:
            k = place.get(target)
            if k is None:
                gain[at] += float(number) * float(values[target])
            else:
                rows.append(at)
                heads.append(k)
                numbers.append(float(number))
    matrix = csr_matrix((numbers, (rows, heads)), shape=(len(gain), len(part)))
    chosen = first[:-1] + np.array([policy[node] for node in part])
    sign = 1.0 if largest else -1.0
    for _ in range(_ROUNDS):
        try:
            factors = splu((identity(len(part), format="csr") - matrix[chosen]).tocsc())
        except RuntimeError:
            return policy
        x = np.asarray(factors.solve(gain[chosen]), np.float64)
        found = sign * (matrix @ x + gain)
        best = np.maximum.reduceat(found, first[:-1])
        changed = best > sign * x + _CLOSE * np.maximum(1.0, np.abs(x))
        if not np.isfinite(x).all() or not changed.any():
            break
        places = np.where(found == best[owner], np.arange(len(found)), len(found))
        chosen = np.where(changed, np.minimum.reduceat(places, first[:-1]), chosen)
    return dict(zip(part, (chosen - first[:-1]).tolist(), strict=True))


def _leaving_policy(rows: Sequence[Sequence[Row]], part: list[int]) -> dict[int, int]:
    """For every node one of its rows so that the part is left almost surely; only for those nodes from which it can be left."""
    inside = set(part)
    policy: dict[int, int] = {}
    into: dict[int, list[tuple[int, int]]] = {}
    waiting: list[int] = []
    for node, own in zip(part, rows, strict=True):
        for c, row in enumerate(own):
            for target, _ in row:
                if target not in inside:
                    if node not in policy:
                        policy[node] = c
                        waiting.append(node)
                else:
                    into.setdefault(target, []).append((node, c))
    while waiting:
        for node, c in into.get(waiting.pop(), ()):
            if node not in policy:
                policy[node] = c
                waiting.append(node)
    return policy


def without_gain(choices: Sequence[Sequence[tuple[int, Row]]]) -> list[list[Option]]:
    """The options of choices that gain nothing."""
    return [[(ZERO, row) for _, row in own] for own in choices]
