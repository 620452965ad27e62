"""What happens in the long run in a Markov chain, exactly.

A run ends almost surely in a bottom component, and the mean of a number per step tends to its mean under the component's stationary
distribution (the ergodic theorem).  A vector ``y > 0`` with ``y P = y`` on the component is that distribution up to a factor, and
is unique up to it; the equations are checked, however y was found.  From elsewhere it is the expected value of the component that
the run ends in.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from privproof_checker.graph_algorithms import bottom, components
from privproof_checker.logic.decision_processes import Row, Value
from privproof_checker.logic.measures import solve_component
from privproof_checker.logic.solving import eliminate, one_step
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import refuse


def long_run(rows: Sequence[Row], numbers: Sequence[Rational], starts: Sequence[int]) -> dict[int, Rational]:
    """The mean of a number of each state, per step in the long run, from some states of an exact chain."""
    following = [[target for target, _ in row] for row in rows]
    values: list[Value | None] = [None] * len(rows)
    for part in components(starts, following.__getitem__):
        first = part[0]
        if bottom(part, following):
            weights = _stationary(rows, part)
            total = sum((weights[s] * numbers[s] for s in part), ZERO) / sum(weights.values(), ZERO)
            for s in part:
                values[s] = total
        elif len(part) == 1 and first not in following[first]:
            values[first] = one_step(rows[first], values)
        else:
            solve_component(part, [rows[s] for s in part], values)
    return {s: _exact(values[s]) for s in starts}


def _stationary(rows: Sequence[Row], part: list[int]) -> dict[int, Rational]:
    """Weights of the states of a bottom component that a step leaves as they are."""
    first, others = part[0], part[1:]
    local = {s: i for i, s in enumerate(others)}
    into: list[dict[int, Value]] = [{} for _ in others]
    begin: list[Value] = [ZERO for _ in others]
    for s in part:
        for target, p in rows[s]:
            if target == first:
                continue
            if s == first:
                begin[local[target]] = p
            else:
                into[local[target]][local[s]] = p
    rest: list[Value] = [ONE - sum(column.values(), ZERO) for column in into]
    found = eliminate(into, begin, rest)
    weights = {first: ONE} | {s: _exact(found[i]) for s, i in local.items()}
    after = dict.fromkeys(part, ZERO)
    for s in part:
        for target, p in rows[s]:
            after[target] = after[target] + weights[s] * _exact(p)
    if after != weights or min(weights.values()) <= 0:
        refuse("the stationary distribution of a component was not found", "question.process")
    return weights


def _exact(value: object) -> Rational:
    assert isinstance(value, fmpq)
    return value
