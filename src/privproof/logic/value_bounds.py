"""Bounds on the least and the greatest probability of ``f U g`` on large processes: floating point finds them, whole numbers decide.

Graph first: where the probability is 0 or 1.  On the rest, for the greatest probability, sets in which a scheduler can stay (maximal end
components) are one node each, since all of their states have the same value; for the least there is none.  So every choice of policies
leaves, a policy is improved in floating point by sparse factors, and its value x is close to the solution.  Then

* on the side of one policy (from below for the greatest, from above for the least), ``x -+ r`` with ``(I - A) r`` at least the residual
  of x and the rounding to units meets the conditions of `vectors`;
* on the side of all choices, ``x +- w`` does, where ``w >= A_c w + g_c`` for every choice c, and ``g_c`` is what c gains on x, and the
  rounding.  A gain below 0 is slack, and kept.  The w of one policy is found by factors; where another choice asks for more, w follows it.

Every vector is checked in whole numbers before it is given (`Columns.is_low`, `is_high`); nothing depends on how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.logic.decision_process import Bools, Ints
from privproof.logic.enclosed_processes import Floats
from privproof.logic.exact_solving import TooLarge
from privproof.logic.process_graphs import index_kind
from privproof.logic.query_vectors import UNITS, Columns, VectorBound
from privproof.logic.sparse_factors import Factors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SWEEPS = 40
"""Rounds of value iteration before the first policy is taken."""
_ROUNDS = 60
"""Policies that are tried at most; a few are usual."""
_GAIN = 1e-12
"""A choice is better if it gains more; less may be rounding."""
_FLOOR = 16
"""Units that a residual counts for beside itself: rounding to units twice, and that of the factors."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """What bounds a probability from both sides."""

    low: VectorBound
    high: VectorBound


def until_bounds(columns: Columns, stay: Bools, goal: Bools, monitor: Monitor, *, largest: bool) -> Bounds:
    """Bounds on the greatest (or least) probability of ``stay U goal`` over all schedulers, from every state.

    Raises:
        TooLarge: none were found.
    """
    columns.fractions  # noqa: B018  (raises where numbers are too long)
    search = BoundSearch(columns, stay & ~goal, goal, monitor)
    found = search.greatest() if largest else search.least()
    if not columns.is_low(found.low, stay, goal) or not columns.is_high(found.high, stay, goal):
        raise TooLarge("no bounds were found in floating point that exact arithmetic confirms")
    return found


class BoundSearch:
    """For bounds on the probability of reaching a goal through some moving states."""

    def __init__(self, columns: Columns, moving: Bools, goal: Bools, monitor: Monitor) -> None:
        self.columns, self.moving, self.goal, self.monitor = columns, moving, goal, monitor
        self.single = columns.process.is_chain
        self.targets = columns.process.targets

    def greatest(self, *, falling: bool = False) -> Bounds:
        """Bounds on the greatest probability; `falling`: that from above, where not 1, falls by all choices outside of end components."""
        if self.single:
            return self.least()
        columns, count = self.columns, len(self.columns)
        sure, policy = self._surely_for_some()
        rest = self.moving & ~sure
        if not falling:
            rest &= columns.graph.reaching(self.goal, self.moving)
        node, inner, leaving = self._collapsed(rest)
        problem = Options.of(columns, node, leaving, self.goal | sure, self.monitor)
        x, chosen, factors = problem.improved(largest=True)
        low = x - problem.policy_margin(x, chosen, factors)
        high = x + problem.margin(x, chosen, factors, largest=True)
        exits = np.zeros(count, np.bool_)
        taken = problem.choices[chosen]
        policy[columns.owner[taken]] = taken
        exits[columns.owner[taken]] = True
        routed, _ = self.towards(exits, inner)
        policy = np.where(rest & ~exits, routed, policy)
        lower = self.vector(low, node, self.goal | sure, down=True)
        upper = self.vector(high, node, self.goal | sure, down=False)
        policy = np.where(policy >= 0, policy, columns.first)
        inside = (lower > 0) & ~self.goal
        marks = np.zeros(len(columns.begins), np.bool_)
        marks[policy[inside]] = True
        _, ranks = self.towards(~inside, marks)
        return Bounds(VectorBound(lower, policy - columns.first, ranks), VectorBound(upper))

    def least(self) -> Bounds:
        columns = self.columns
        if self.single:
            _, ranks = self.towards(self.goal, self.moving[columns.owner])
            levels = np.where(self.goal, 0, ranks)
            hit = np.ones(0, np.bool_)
        else:
            levels, hit = self.attracted()
        positive = (levels > 0) & self.moving
        bad = ~self.goal & ~positive
        sure = positive & ~columns.graph.reaching(bad, positive)
        rest = positive & ~sure
        node = np.where(rest, np.cumsum(rest) - 1, -1)
        problem = Options.of(columns, node, rest[columns.owner], self.goal | sure, self.monitor)
        x, chosen, factors = problem.improved(largest=False)
        around = problem.policy_margin(x, chosen, factors)
        below = around if self.single else problem.margin(x, chosen, factors, largest=False)
        taken = problem.choices[chosen]
        del problem, factors  # they are large
        lower = self.vector(x - below, node, self.goal | sure, down=True)
        upper = self.vector(x + around, node, self.goal | sure, down=False)
        if self.single:
            return Bounds(VectorBound(lower, None, levels), VectorBound(upper))
        policy = columns.first.copy()
        safe = np.flatnonzero(~hit)
        policy[columns.owner[safe]] = safe
        policy[columns.owner[taken]] = taken
        return Bounds(VectorBound(lower, None, levels), VectorBound(upper, policy - columns.first))

    def vector(self, values: Floats, node: Ints, ones: Bools, *, down: bool) -> Ints:
        """The vector in units: of nodes, 1 where that is known, and 0 elsewhere."""
        scaled = np.clip(values, 0.0, 1.0) * UNITS
        units = (np.floor(scaled) if down else np.ceil(scaled)).astype(np.int64)
        result = np.zeros(len(node), np.int64)
        result[node >= 0] = units[node[node >= 0]]
        result[ones] = UNITS
        return result

    def towards(self, begin: Bools, choices: Bools) -> tuple[Ints, Ints]:
        """For every state from which some choices lead to the beginning: one of them (or -1), and a rank that falls on the way (or 0)."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import breadth_first_order

        columns, count = self.columns, len(self.columns)
        narrow = index_kind(count)
        taken = choices & ~begin[columns.owner]
        lengths = np.diff(columns.process.rows) * taken
        targets = self.targets[np.repeat(taken, np.diff(columns.process.rows))].astype(narrow)
        sources = np.repeat(columns.owner.astype(narrow), lengths)
        hits = np.flatnonzero(begin).astype(narrow)
        tails = np.append(targets, np.full(len(hits), count, narrow))
        heads = np.append(sources, hits)
        backwards = csr_matrix((np.ones(len(tails), np.int8), (tails, heads)), shape=(count + 1, count + 1))
        del tails, heads
        order, before = breadth_first_order(backwards, count, directed=True, return_predecessors=True)
        ranks = np.zeros(count + 1, np.int64)
        ranks[order] = np.arange(len(order))
        policy = np.full(count, -1, np.int64)
        match = before[sources] == targets
        policy[sources[match]] = np.repeat(np.arange(len(taken)), lengths)[match]
        return policy, np.where(begin, 0, ranks[:count])

    def _surely_for_some(self) -> tuple[Bools, Ints]:
        """The moving states from which some scheduler reaches the goal almost surely, and its choices (-1 elsewhere)."""
        columns = self.columns
        inside = self.moving | self.goal
        while True:
            self.monitor.pause()
            inner = (
                np.logical_and.reduceat(inside[self.targets], columns.begins) & (inside & self.moving)[columns.owner]
            )
            policy, ranks = self.towards(self.goal, inner)
            reached = self.goal | (ranks > 0)
            if np.array_equal(reached, inside):
                sure = inside & self.moving
                return sure, np.where(sure, policy, -1)
            inside = reached & inside

    def attracted(self) -> tuple[Ints, Bools]:
        """Levels of the moving states that reach the goal with positive probability whatever is chosen; and which choices do so."""
        from scipy.sparse import csr_matrix

        columns, count = self.columns, len(self.columns)
        entries = len(self.targets)
        into = csr_matrix((np.ones(entries, np.bool_), (self.targets, np.arange(entries))), shape=(count, entries))
        begins, listed = into.indptr.astype(np.int64), into.indices
        left = np.diff(columns.process.choices).copy()
        hit = np.zeros(len(columns.begins), np.bool_)
        levels = np.zeros(count, np.int64)
        done = self.goal.copy()
        front, level = np.flatnonzero(self.goal), 0
        while len(front):
            self.monitor.pause()
            level += 1
            sizes = begins[front + 1] - begins[front]
            places = np.repeat(begins[front] - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())
            choices = np.unique(columns.choice[listed[places]])
            choices = choices[~hit[choices]]
            hit[choices] = True
            owners, times = np.unique(columns.owner[choices], return_counts=True)
            left[owners] -= times
            front = owners[(left[owners] == 0) & ~done[owners] & self.moving[owners]]
            done[front] = True
            levels[front] = level
        return levels, hit

    def parted(self, states: Bools) -> tuple[Ints, Bools, Bools]:
        """End components among some states: for every state the number of its own, the choices inside of them, and the others."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        columns, count = self.columns, len(self.columns)
        own = states[columns.owner]
        inner = own & np.logical_and.reduceat(states[self.targets], columns.begins)
        while True:
            self.monitor.pause()
            used = inner[columns.choice]
            tails, heads = columns.owner[columns.choice[used]], self.targets[used]
            links = csr_matrix((np.ones(len(tails), np.int8), (tails, heads)), shape=(count, count))
            _, part = connected_components(links, directed=True, connection="strong")
            same = part[self.targets] == part[columns.owner[columns.choice]]
            kept = inner & np.logical_and.reduceat(same, columns.begins)
            if np.array_equal(kept, inner):
                return part.astype(np.int64), inner, own & ~inner
            inner = kept

    def _collapsed(self, rest: Bools) -> tuple[Ints, Bools, Bools]:
        """The nodes of states, where end components are one; the choices inside of them; and those that leave.

        The node is -1 elsewhere, and where nothing leaves.
        """
        part, inner, leaving = self.parted(rest)
        left = np.zeros(len(part), np.bool_)
        left[part[self.columns.owner[leaving]]] = True
        among = rest & left[part]
        _, node = np.unique(part[among], return_inverse=True)
        nodes = np.full(len(part), -1, np.int64)
        nodes[among] = node.reshape(-1)
        return nodes, inner, leaving


@dataclass(frozen=True, eq=False)
class Options:
    """Options of nodes in floating point: what an option leads to (a row), and the probability that it succeeds at once.

    Attributes:
        choices: for every option its choice; the options of a node follow each other.
        owner: for every option its node.
        first: the first option of every node.
        rows: the probabilities of the nodes that options lead to.
        gain: the probability of success at once.
        units: what rounding counts for, of every option.
        monitor: a time limit, an interrupt.
    """

    choices: Ints
    owner: Ints
    first: Ints
    rows: csr_matrix
    gain: Floats
    units: Floats
    monitor: Monitor

    @classmethod
    def of(cls, columns: Columns, node: Ints, choices: Bools, ones: Bools, monitor: Monitor) -> Options:
        """The problem of some choices, between nodes of states; success is where it is known to be sure."""
        from scipy.sparse import csr_matrix

        listed = np.flatnonzero(choices)
        owner = node[columns.owner[listed]]
        order = np.argsort(owner, kind="stable")
        listed, owner = listed[order], owner[order]
        place = np.full(len(columns.begins), -1, np.int64)
        place[listed] = np.arange(len(listed))
        size = int(owner[-1]) + 1 if len(owner) else 0
        used = np.flatnonzero(choices[columns.choice])
        targets, option = columns.process.targets[used], place[columns.choice[used]]
        weights = columns.floats[used]
        gain = np.bincount(option, weights=weights * ones[targets], minlength=len(listed)).astype(np.float64)
        going = node[targets] >= 0
        rows = csr_matrix((weights[going], (option[going], node[targets[going]])), shape=(len(listed), max(size, 1)))
        first = np.searchsorted(owner, np.arange(size))
        lengths = np.diff(columns.process.rows)[listed]
        return cls(listed, owner, first, rows, gain, (_FLOOR + 2.0 * lengths) / UNITS, monitor)

    def improved(self, *, largest: bool) -> tuple[Floats, Ints, Factors | None]:
        """The value of a policy that no option improves by much, the policy (an option of every node), and its factors."""
        size = len(self.first)
        x, chosen = np.zeros(max(size, 1)), self.first.copy()
        if not size:
            return x, chosen, None
        single = len(self.choices) == size
        for _ in range(0 if single else _SWEEPS):
            self.monitor.pause()
            x, chosen = self._best(self.rows @ x + self.gain, largest=largest)
        factors = Factors(self._taken(chosen), self.monitor)
        for _ in range(_ROUNDS):
            x = factors.solve(self.gain[chosen])
            best, better = self._best(self.rows @ x + self.gain, largest=largest)
            changed = best > x + _GAIN if largest else best < x - _GAIN
            if single or not changed.any():
                break
            chosen = np.where(changed, better, chosen)
            factors = Factors(self._taken(chosen), self.monitor)
        return x, chosen, factors

    def _taken(self, chosen: Ints) -> csr_matrix:
        """The rows of some options, one for each node; where a node has one, all of them, without a copy."""
        return self.rows if len(self.choices) == len(chosen) else self.rows[chosen]

    def _best(self, worth: Floats, *, largest: bool) -> tuple[Floats, Ints]:
        """For every node the best worth of an option, and the first option that has it."""
        best = (np.maximum if largest else np.minimum).reduceat(worth, self.first)
        places = np.where(worth == best[self.owner], np.arange(len(worth)), len(worth))
        return best, np.minimum.reduceat(places, self.first)

    def policy_margin(self, x: Floats, chosen: Ints, factors: Factors | None) -> Floats:
        """How far x may be off the value of the policy, and some more."""
        if factors is None:
            return np.zeros(1)
        residual = np.abs(self._taken(chosen) @ x + self.gain[chosen] - x)
        return factors.solve(2 * residual + self.units[chosen])

    def margin(self, x: Floats, chosen: Ints, factors: Factors | None, *, largest: bool) -> Floats:
        """How far x may be off the optimum over all options, and some more."""
        if factors is None:
            return np.zeros(1)
        sign = 1.0 if largest else -1.0
        gained = sign * (self.rows @ x + self.gain - x[self.owner]) + self.units
        for _ in range(_ROUNDS):
            w = factors.solve(gained[chosen])
            most, better = self._best(self.rows @ w + gained, largest=True)
            changed = most > w + 1.0 / UNITS
            if not changed.any():
                return w
            chosen = np.where(changed, better, chosen)
            factors = Factors(self._taken(chosen), self.monitor)
        raise TooLarge("no bounds were found in floating point")
