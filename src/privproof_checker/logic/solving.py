"""Linear equations of chains: the expected value where a walk leaves a component, by eliminating states.

For the states of a component that is left almost surely, ``x_i = sum_j a_ij x_j + b_i``, where the a are the
probabilities to go on inside and b is the expected value of leaving in one step.  A state k is eliminated by walking
through it: with ``d_k = 1 - a_kk``, which is the probability ``sum over j != k of a_kj + o_k`` of going elsewhere (o:
of leaving), add ``a_ik / d_k`` times the row of k to every row i.  Nothing is ever subtracted (Grassmann, Taksar and
Heyman 1985), so the same code serves rationals and balls, and the balls stay tight.  A dense rest of an exact system
is handed to python-flint.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from flint import arb, fmpq, fmpq_mat

from privproof_checker.logic.decision_processes import Row, Value
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import refuse

_DENSE = 24
"""The equations left are solved as one dense system as soon as eliminating any variable fills more than a square of this side."""
_LARGEST_DENSE = 700
"""A dense exact system has at most so many equations; beyond, variables are still eliminated one by one."""
_MOST_OPERATIONS = 3_000_000
"""Entries changed by eliminating variables one by one; a component that needs more is refused."""


def eliminate(inside: list[dict[int, Value]], worth: list[Value], outside: list[Value]) -> list[Value]:
    """The solution x of a component.

    Args:
        inside: for every state the probabilities of the states of the component.
        worth: the expected value of leaving in one step (b).
        outside: the probability of leaving in one step (o).

    >>> eliminate([{1: fmpq(1, 2)}, {0: fmpq(1, 2)}], [fmpq(1, 2), fmpq(0)], [fmpq(1, 2), fmpq(1, 2)])
    [2/3, 1/3]
    """
    size = len(inside)
    rows = [{j: p for j, p in row.items() if j != i} for i, row in enumerate(inside)]
    before: list[set[int]] = [set() for _ in range(size)]
    for i, row in enumerate(rows):
        for j in row:
            before[j].add(i)
    b, o = list(worth), list(outside)
    heap = [(len(rows[k]) * len(before[k]), k) for k in range(size)]
    heapq.heapify(heap)
    gone: list[tuple[int, Value]] = []
    alive = set(range(size))
    exact = not any(isinstance(p, arb) for row in (*rows, dict(enumerate(b)), dict(enumerate(o))) for p in row.values())
    operations = 0
    while heap:
        cost, k = heapq.heappop(heap)
        if k not in alive or cost != len(rows[k]) * len(before[k]):
            continue
        if exact and cost > _DENSE * _DENSE and _DENSE < len(alive) <= _LARGEST_DENSE:
            break
        operations += cost + 1
        if operations > _MOST_OPERATIONS:
            refuse("the equations of a component are too large to solve exactly", "question.process")
        row, alive_row = rows[k], before[k]
        away = sum(row.values(), o[k])
        alive.remove(k)
        gone.append((k, away))
        for j in row:
            before[j].discard(k)
        for i in alive_row:
            factor = rows[i].pop(k) / away
            target = rows[i]
            for j, p in row.items():
                if j != i:
                    target[j] = target[j] + factor * p if j in target else factor * p
                    before[j].add(i)
            b[i], o[i] = b[i] + factor * b[k], o[i] + factor * o[k]
        for i in (*alive_row, *row):
            heapq.heappush(heap, (len(rows[i]) * len(before[i]), i))
    x: list[Value] = [ZERO] * size
    if alive:
        _dense(sorted(alive), rows, b, o, x)
    for k, away in reversed(gone):
        x[k] = sum((p * x[j] for j, p in rows[k].items()), b[k]) / away
    return x


def _dense(states: list[int], rows: list[dict[int, Value]], b: list[Value], o: list[Value], x: list[Value]) -> None:
    """Solve for the states that are left, in one dense exact system."""
    number = {k: i for i, k in enumerate(states)}
    size = len(states)
    entries: list[Rational] = [ZERO] * (size * size)
    for i, k in enumerate(states):
        entries[i * size + i] = _exact(sum(rows[k].values(), o[k]))
        for j, p in rows[k].items():
            entries[i * size + number[j]] = -_exact(p)
    solution = fmpq_mat(size, size, entries).solve(fmpq_mat(size, 1, [_exact(b[k]) for k in states]))
    for i, k in enumerate(states):
        x[k] = solution[i, 0]


def _exact(value: Value) -> Rational:
    assert isinstance(value, fmpq)
    return value


def one_step(row: Row, values: Sequence[Value | None] | Mapping[int, Value | None]) -> Value | None:
    """The expected value after one step; None if a value is not known.

    Where all values are the same exact number the expected one is that number, whatever the probabilities.
    """
    first = values[row[0][0]]
    if not isinstance(first, arb) and all(values[target] is first for target, _ in row):
        return first
    total: Value = ZERO
    same = not isinstance(first, arb)
    for target, p in row:
        value = values[target]
        if value is None:
            return None
        same = same and (value is first or (not isinstance(value, arb) and value == first))
        if value is ONE:
            total = total + p
        elif value is not ZERO:
            total = total + p * value
    return first if same else total
