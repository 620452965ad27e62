"""Bounds on the least and the greatest probability of ``G F a`` on large processes, by vectors as those for untils.

A vector that meets the conditions (`Columns.is_low_often`, `is_high_often`) bounds the probability of visiting a for ever, however it was
found:

* ``U >= E U`` where ``U < 1``, and for U itself or another vector V also ``V >= E V`` there, and strictly where a holds: before U is 1, a
  visit costs at least some fixed amount of V on average, so that almost surely there are finitely many; and U is at least the
  probability that it is ever 1.
* Where ``L > 0``, ``L <= E L``, and a choice outside of a has a next state with ``L = 0``, or in a, or of a smaller rank.  So a run that
  stays where L is above 0 visits a for ever, almost surely; and L is at most the probability of staying.

Found are they by reachability.  The greatest probability is that of reaching an end component in which a holds somewhere; the least is
one minus the greatest probability of reaching an end component without a (in a chain they are the bottom components).  The few units that
`bounding` adds for rounding make it fall everywhere: by every choice outside of end components, or by those of one policy.  Where the
graph says that the probability is 0, so is U, and V is what it was before.
"""

from __future__ import annotations

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.logic.decision_process import Bools, Ints
from privproof.logic.exact_solving import TooLarge
from privproof.logic.query_vectors import UNITS, Columns, VectorBound
from privproof.logic.value_bounds import Bounds, BoundSearch, Options


def often_bounds(columns: Columns, often: Bools, monitor: Monitor, *, largest: bool) -> Bounds:
    """Bounds on the greatest (or least) probability of ``G F often`` over all schedulers, from every state.

    Raises:
        TooLarge: none were found.
    """
    columns.fractions  # noqa: B018  (raises where numbers are too long)
    found = (_most if largest and not columns.process.is_chain else _least)(columns, often, monitor)
    if not columns.is_low_often(found.low, often) or not columns.is_high_often(found.high, often):
        raise TooLarge("no bounds were found in floating point that exact arithmetic confirms")
    return found


def end_parts(columns: Columns, states: Bools, monitor: Monitor) -> tuple[Ints, Bools, Bools]:
    """End components among some states: for every state the number of its own, the choices inside, and the states that are in one."""
    part, inner, _ = BoundSearch(columns, states, ~states, monitor).parted(states)
    member = np.zeros(len(columns), np.bool_)
    member[columns.owner[inner]] = True
    return part, inner, member


def _most(columns: Columns, often: Bools, monitor: Monitor) -> Bounds:
    count = len(columns)
    part, inner, member = end_parts(columns, np.ones(count, np.bool_), monitor)
    meeting = np.zeros(int(part.max()) + 1, np.bool_)
    meeting[part[member & often]] = True
    won = member & meeting[part]
    search = BoundSearch(columns, ~won, won, monitor)
    reached = search.greatest(falling=True)
    assert reached.low.policy is not None
    inside = inner & won[columns.owner]
    towards, _ = search.towards(often & won, inside)
    staying = columns.first.copy()
    staying[columns.owner[inside]] = np.flatnonzero(inside)
    policy = np.where(won, np.where(towards >= 0, towards, staying) - columns.first, reached.low.policy)
    values = reached.low.values
    marks = np.zeros(len(columns.begins), np.bool_)
    marks[(columns.first + policy)[values > 0]] = True
    _, ranks = search.towards(often | (values == 0), marks)
    never = ~columns.graph.reaching(won, ~won)
    return Bounds(VectorBound(values, policy, ranks), _falling_bound(reached.high.values, None, never))


def _least(columns: Columns, often: Bools, monitor: Monitor) -> Bounds:
    """One minus the greatest probability of reaching an end component in which a holds nowhere."""
    _, _, lost = end_parts(columns, ~often, monitor)
    chain = columns.process.is_chain
    search = BoundSearch(columns, ~lost, lost, monitor)
    inside = ~lost & columns.graph.reaching(lost, ~lost)
    marks = inside[columns.owner]
    policy = columns.first
    if not chain:
        reached = search.greatest()
        assert reached.low.policy is not None
        policy = reached.low.policy
        inside &= reached.low.values > 0
        marks = np.zeros(len(columns.begins), np.bool_)
        marks[(columns.first + policy)[inside]] = True
    node = np.where(inside, np.cumsum(inside) - 1, -1)
    problem = Options.of(columns, node, marks, lost, monitor)
    x, chosen, factors = problem.improved(largest=True)
    margin = problem.policy_margin(x, chosen, factors)
    del problem, factors  # they are large
    falls = UNITS - search.vector(x - margin, node, lost, down=True)
    low = UNITS - (search.vector(x + margin, node, lost, down=False) if chain else reached.high.values)
    ending = often | (low == 0)
    if chain:
        _, ranks = search.towards(ending, np.ones(len(columns.begins), np.bool_))
        surely = lost | (inside & ~columns.graph.reaching(~inside & ~lost, inside))
        return Bounds(VectorBound(low, None, ranks), _falling_bound(falls, None, surely))
    ranks, _ = BoundSearch(columns, ~ending, ending, monitor).attracted()
    staying = _within(columns, lost)
    surely = reached.low.values == UNITS
    return Bounds(VectorBound(low, None, ranks), _falling_bound(falls, np.where(lost, staying, policy), surely))


def _falling_bound(values: Ints, policy: Ints | None, never: Bools) -> VectorBound:
    """A bound from above that falls everywhere, made 0 where the graph says so."""
    sharp = np.where(never, 0, values)
    return VectorBound(sharp, policy, None, None if np.array_equal(sharp, values) else values)


def _within(columns: Columns, states: Bools) -> Ints:
    """For every one of the states a choice that stays among them, by its number among its own."""
    kept = np.logical_and.reduceat(states[columns.process.targets], columns.begins) & states[columns.owner]
    policy = columns.first.copy()
    policy[columns.owner[kept]] = np.flatnonzero(kept)
    return np.asarray(policy - columns.first)
