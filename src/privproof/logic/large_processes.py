"""Probabilities of path formulas on large processes, bounded in every state by vectors that the checker can check again.

Of path formulas those with one temporal operator over state formulas are taken, below negations and nexts: ``F``, ``G``, ``U``, ``W``,
``R`` with or without bounds, ``X^k``; and ``G F``, ``F G``.  Unbounded untils by `bounding`, repetition by `recurrences`; steps are taken
one by one, rounded down and up.  On chains others are taken beside deterministic monitors (`monitored`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from flint import fmpq

from privproof.engines.search_monitor import Monitor
from privproof.exact import Rational
from privproof.logic.decision_process import Bools, Ints
from privproof.logic.formulas import And, Formula, NextState, Not, ProbabilityRange, StepBound, Truth, Unary, Until
from privproof.logic.formulas.sublogics import is_state_formula
from privproof.logic.linear_recurrences import often_bounds
from privproof.logic.path_measures import Probabilities, Truths, ValueBetween
from privproof.logic.path_monitors import Monitored, monitored_bounds
from privproof.logic.query_vectors import UNITS, Columns
from privproof.logic.value_bounds import Bounds, until_bounds

Ends: TypeAlias = "tuple[Ints, Ints]"
Decided: TypeAlias = "Callable[[Formula], Bools | None]"
"""Where a state formula holds; None where that is not decided everywhere."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What bounds the probability of ``left U right``: from both sides the least and, in a decision process, the greatest.

    Where there is no left side, it is about ``G F right``.
    """

    left: Formula | None
    right: Formula
    least: Bounds
    most: Bounds | None


@dataclass(frozen=True, eq=False)
class EvidenceByMonitors:
    """What bounds the probability of a path formula of a chain, beside monitors."""

    path: Formula
    found: Monitored


@dataclass(frozen=True, eq=False)
class PathBounds:
    """Bounds on the least and the greatest probability of a path formula from every state, in units, and what is behind them."""

    least: Ends
    most: Ends
    evidence: tuple[Evidence | EvidenceByMonitors, ...] = ()

    def probabilities(self, *, largest: bool) -> Probabilities:
        """The bounds on the least or greatest probability as rationals."""
        low, high = self.most if largest else self.least
        return lambda s: ValueBetween(fmpq(int(low[s]), UNITS), fmpq(int(high[s]), UNITS))

    def within(self, asked: ProbabilityRange) -> Truths:
        """Where the probability lies in a range under every scheduler, where it does not, and where that is open (-1)."""
        inside = _beyond(self.least[0], asked.low, strictly=not asked.low_included)
        inside &= ~_beyond(self.most[1], asked.high, strictly=asked.high_included)
        outside = ~_beyond(self.least[1], asked.low, strictly=not asked.low_included)
        outside |= _beyond(self.most[0], asked.high, strictly=asked.high_included)
        return np.where(inside, 1, np.where(outside, 0, -1)).astype(np.int8)


def path_bounds(
    columns: Columns, path: Formula, decided: Decided, monitor: Monitor, wanted: Ints | None = None
) -> PathBounds | None:
    """Bounds on the probabilities of a path formula; None where it is not of the kind, or not decided inside.

    Args:
        columns: the process.
        path: the path formula.
        decided: where state formulas hold.
        monitor: a time limit, an interrupt.
        wanted: where the bounds are needed, in order; elsewhere they may be 0 and 1.

    Raises:
        TooLarge: no bounds were found.
    """
    if is_state_formula(path):
        truth = decided(path)
        if truth is None:
            return None
        units = np.where(truth, UNITS, 0)
        return PathBounds((units, units), (units, units))
    match path:
        case Not(inner):
            return _complement(path_bounds(columns, inner, decided, monitor, wanted))
        case NextState(inner, times):
            last = path_bounds(columns, inner, decided, monitor)
            if last is None:
                return None
            return _bounds_after_rounds(
                columns, last, [(times.constant, np.ones(len(columns), np.bool_), None)], wanted, monitor
            )
        case Unary("G", Unary("F", inner, within), bound) if within == bound == StepBound() and is_state_formula(inner):
            return _recurrence_bounds(columns, inner, decided, monitor)
        case Unary("F", Unary("G", inner, within), bound) if within == bound == StepBound() and is_state_formula(inner):
            return _complement(_recurrence_bounds(columns, Not(inner), decided, monitor))
        case Unary(operator, inner, bound):
            until = Until("U", Truth(value=True), inner if operator == "F" else Not(inner), bound)
            found = path_bounds(columns, until, decided, monitor, wanted)
            return found if operator == "F" else _complement(found)
        case Until("R", left, right, bound):
            return _complement(path_bounds(columns, Until("U", Not(left), Not(right), bound), decided, monitor, wanted))
        case Until("W", left, right, bound):
            fails = And((Not(left), Not(right)))
            return _complement(path_bounds(columns, Until("U", Not(right), fails, bound), decided, monitor, wanted))
        case Until("U", left, right, bound) if is_state_formula(left) and is_state_formula(right):
            keep, goal = decided(left), decided(right)
            if keep is None or goal is None:
                return None
            low = max(0, bound.low.constant)
            if bound.high is None:
                last = _endless(columns, left, right, keep, goal, monitor)
                return _bounds_after_rounds(columns, last, [(low, keep, None)], wanted, monitor)
            units = np.where(goal, UNITS, 0)
            steps = bound.high.constant - low
            if steps < 0:
                units, steps, low = np.zeros_like(units), 0, 0
            last = PathBounds((units, units), (units, units))
            return _bounds_after_rounds(columns, last, [(steps, keep, goal), (low, keep, None)], wanted, monitor)
    return _beside_monitors(columns, path, decided, monitor) if columns.process.is_chain else None


def _beside_monitors(columns: Columns, path: Formula, decided: Decided, monitor: Monitor) -> PathBounds | None:
    found = monitored_bounds(columns, path, decided, monitor)
    if found is None:
        return None
    ends = (found.low[: len(columns)], found.high[: len(columns)])
    return PathBounds(ends, ends, (EvidenceByMonitors(path, found),))


def _complement(found: PathBounds | None) -> PathBounds | None:
    if found is None:
        return None
    least, most = ((UNITS - high, UNITS - low) for low, high in (found.most, found.least))
    return PathBounds(least, most, found.evidence)


def _endless(columns: Columns, left: Formula, right: Formula, keep: Bools, goal: Bools, monitor: Monitor) -> PathBounds:
    return _extreme_bounds(
        columns, left, right, lambda *, largest: until_bounds(columns, keep, goal, monitor, largest=largest)
    )


def _recurrence_bounds(columns: Columns, inner: Formula, decided: Decided, monitor: Monitor) -> PathBounds | None:
    often = decided(inner)
    if often is None:
        return None
    return _extreme_bounds(
        columns, None, inner, lambda *, largest: often_bounds(columns, often, monitor, largest=largest)
    )


class _Find(Protocol):
    def __call__(self, *, largest: bool) -> Bounds: ...


def _extreme_bounds(columns: Columns, left: Formula | None, right: Formula, find: _Find) -> PathBounds:
    """The least probability and, in a decision process, the greatest."""
    least = find(largest=False)
    ends = (least.low.values, least.high.values)
    if columns.process.is_chain:
        return PathBounds(ends, ends, (Evidence(left, right, least, None),))
    most = find(largest=True)
    return PathBounds(ends, (most.low.values, most.high.values), (Evidence(left, right, least, most),))


Rounds: TypeAlias = "list[tuple[int, Bools, Bools | None]]"
"""Numbers of steps, each with where one may go on, and the goal that ends them."""


def _bounds_after_rounds(
    columns: Columns, last: PathBounds, rounds: Rounds, wanted: Ints | None, monitor: Monitor
) -> PathBounds:
    """The expected value after some steps: 0 where one may not go on, 1 where the goal is met before.

    Where only some states are wanted, on the states alone that so many steps lead to: a state that is n steps from a wanted one counts
    with the steps that are left after n.
    """
    total = sum(steps for steps, _, _ in rounds)
    if total == 0 or wanted is None:
        return _step_rounds(columns, last, rounds, monitor)
    near = columns.within_steps(wanted, total)
    listed = [(steps, keep[near], None if goal is None else goal[near]) for steps, keep, goal in rounds]
    (a, b), (c, d) = last.least, last.most
    some = PathBounds((a[near], b[near]), (c[near], d[near]), last.evidence)
    found = _step_rounds(columns.only(near), some, listed, monitor)
    place = np.searchsorted(near, wanted)

    def spread(ends: Ends) -> Ends:
        low, high = np.zeros(len(columns), np.int64), np.full(len(columns), UNITS)
        low[wanted], high[wanted] = ends[0][place], ends[1][place]
        return low, high

    return PathBounds(spread(found.least), spread(found.most), last.evidence)


def _step_rounds(columns: Columns, last: PathBounds, rounds: Rounds, monitor: Monitor) -> PathBounds:
    least, most = last.least, last.most
    for steps, keep, goal in rounds:
        for _ in range(steps):
            monitor.pause()
            before = (*least, *most)
            least = _bounds_after_step(columns, least, keep, goal, largest=False)
            most = least if columns.process.is_chain else _bounds_after_step(columns, most, keep, goal, largest=True)
            if all(np.array_equal(one, other) for one, other in zip(before, (*least, *most), strict=True)):
                break
    return PathBounds(least, most, last.evidence)


def _bounds_after_step(columns: Columns, ends: Ends, keep: Bools, goal: Bools | None, *, largest: bool) -> Ends:
    """Both bounds after one step more."""
    low, high = (
        np.where(keep, columns.stepped(vector, up=up, largest=largest), 0)
        for vector, up in zip(ends, (False, True), strict=True)
    )
    return (low, high) if goal is None else (np.where(goal, UNITS, low), np.where(goal, UNITS, high))


def _beyond(vector: Ints, number: Rational, *, strictly: bool) -> Bools:
    """Where an entry is at least a number, or above it."""
    scaled = number * UNITS
    floor = int(scaled.p // scaled.q)
    return np.asarray(vector > floor if strictly else vector >= floor + (scaled.q != 1))
