"""Probabilities on a graph in exact arithmetic, or in rigorous balls: one number at a time, in the order of the graph.

The graph is solved part by part in reverse topological order: where it has no cycle, one pass; a strongly connected part by a linear
system.  Numbers are rationals (`fmpq`), or balls (`arb`) where the model has enclosures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from flint import arb, fmpq, fmpq_mat

from privproof.engines.search_monitor import Monitor
from privproof.exact import Rational
from privproof.exact.balls import rational_bounds
from privproof.logic.decision_process import Bools, Enclosure, Ints, Probability
from privproof.logic.process_graphs import ProcessGraph
from privproof.logic.rational_reconstruction import reconstruct_rationals

Value: TypeAlias = Any  # fmpq or arb

PRECISION = 256
"""Bits of balls, where probabilities are not rational."""
_FEW = 40
"""Parts of at most so many states are solved by flint at once; of larger ones the solution is guessed first."""
_DENSE = 400
"""Parts of at most so many states are solved as dense matrices by flint; larger ones are eliminated state by state."""
_ELIMINATIONS = 3_000_000
"""Updates of entries while states are eliminated; beyond it the exact way is too large."""
_LONGEST = 400_000
"""So many binary digits a number may have; beyond it the exact way is too large."""
LONG = 30_000
"""The same where numbers grow with every step."""
_PAUSE = 4_096
"""States between two looks at the monitor."""


class TooLarge(Exception):
    """Numbers, systems of equations or formulas grow beyond what is worth waiting for; never leaves the engine."""

    def __init__(self, reason: str = "exact numbers grow beyond what is worth waiting for") -> None:
        super().__init__(reason)


class Exactly:
    """Vectors are lists of exact numbers (or balls), one for every node of a graph.

    Attributes:
        exact: whether results are exact, not only enclosed.
    """

    def __init__(self, numbers: Sequence[Probability], monitor: Monitor) -> None:
        self.exact = not any(isinstance(number, Enclosure) for number in numbers)
        self.numbers: list[Value] = list(numbers) if self.exact else [_ball(number) for number in numbers]
        self.zero: Value = fmpq(0) if self.exact else arb(0)
        self.one: Value = fmpq(1) if self.exact else arb(1)
        self.monitor = monitor

    def indicator(self, nodes: Bools) -> list[Value]:
        """One where the nodes are, zero elsewhere."""
        return [self.one if here else self.zero for here in nodes.tolist()]

    def masked(self, vector: list[Value], nodes: Bools) -> list[Value]:
        """The vector where the nodes are, zero elsewhere."""
        zero = self.zero
        return [x if here else zero for x, here in zip(vector, nodes.tolist(), strict=True)]

    def difference(self, left: list[Value], right: list[Value]) -> list[Value]:
        """Left minus right."""
        return [x - y for x, y in zip(left, right, strict=True)]

    def select(self, vector: list[Value], indices: Ints) -> list[Value]:
        """The entries at the indices."""
        return [vector[i] for i in indices.tolist()]

    def pinned(self, vector: list[Value], ones: Bools, zeros: Bools) -> list[Value]:
        """The vector with numbers that are known to be one or zero put there exactly."""
        if self.exact:
            return vector
        result = list(vector)
        for nodes, number in ((ones, self.one), (zeros, self.zero)):
            for i in np.flatnonzero(nodes).tolist():
                result[i] = number
        return result

    def joined(self, first: list[Value], second: list[Value]) -> list[Value]:
        """One vector after the other."""
        return first + second

    def chosen(self, parts: Sequence[tuple[Bools, list[Value]]], count: int) -> list[Value]:
        """The vector put together from parts, each given where its nodes are."""
        result = [self.zero] * count
        for nodes, vector in parts:
            for i in np.flatnonzero(nodes).tolist():
                result[i] = vector[i]
        return result

    def step(self, graph: ProcessGraph, vector: list[Value], nodes: Bools) -> list[Value]:
        """The expected value after one step, for the nodes; zero elsewhere."""
        rows, targets, values = graph.lists
        numbers, zero = self.numbers, self.zero
        result = [zero] * len(graph)
        for count, i in enumerate(np.flatnonzero(nodes).tolist()):
            if count % _PAUSE == 0:
                self.monitor.pause()
            total = zero
            for e in range(rows[i], rows[i + 1]):
                total += numbers[values[e]] * vector[targets[e]]
            result[i] = total
        return result

    def stepped(self, graph: ProcessGraph, vector: list[Value], times: int) -> list[Value]:
        """The expected value after so many steps."""
        everywhere = np.ones(len(graph), np.bool_)
        for number in range(times):
            vector = self.step(graph, vector, everywhere)
            if number % 16 == 0:
                for value in vector:
                    self._small(value, LONG)
        return vector

    def repeated(self, graph: ProcessGraph, goal: Bools, through: Bools, times: int) -> list[Value]:
        """The probability of reaching the goal within so many steps, through some other nodes."""
        rows, targets, values = graph.lists
        numbers, zero = self.numbers, self.zero
        result = self.indicator(goal)
        nodes = np.flatnonzero(through).tolist()
        edges = [[(numbers[values[e]], targets[e]) for e in range(rows[i], rows[i + 1])] for i in nodes]
        for _ in range(times):
            self.monitor.pause()
            following = []
            for own in edges:
                total = zero
                for number, target in own:
                    total += number * result[target]
                following.append(total)
            changed = False
            for i, value in zip(nodes, following, strict=True):
                changed = changed or value != result[i]
                result[i] = value
            if self.exact and not changed:
                break
            if following:
                self._small(following[0], LONG)
        return result

    def solve(self, graph: ProcessGraph, known: list[Value], unknown: Bools) -> list[Value]:
        """The vector that is the expected value after one step at unknown nodes, and known elsewhere."""
        order, starts = graph.order(unknown)
        rows, targets, values = graph.lists
        numbers, zero, one = self.numbers, self.zero, self.one
        result = list(known)
        nodes, begins = order.tolist(), starts.tolist()
        for part in range(len(begins) - 1):
            if part % _PAUSE == 0:
                self.monitor.pause()
            begin, end = begins[part], begins[part + 1]
            if end - begin == 1:
                i = nodes[begin]
                total, stay = zero, zero
                for e in range(rows[i], rows[i + 1]):
                    t = targets[e]
                    if t == i:
                        stay += numbers[values[e]]
                    else:
                        total += numbers[values[e]] * result[t]
                result[i] = total if stay == 0 else total / (one - stay)
                if part % _PAUSE == 0:
                    self._small(result[i])
            elif end > begin:
                members = nodes[begin:end]
                edges = [
                    [(numbers[values[e]], targets[e]) for e in range(rows[node], rows[node + 1])] for node in members
                ]
                self.settle(members, edges, result)
        return result

    def totals(self, owner: Ints, count: int, vector: list[Value], nodes: Bools) -> list[Value]:
        """For every owner the sum of the vector over its nodes."""
        result = [self.zero] * count
        owners = owner.tolist()
        for i in np.flatnonzero(nodes).tolist():
            result[owners[i]] += vector[i]
        return result

    def bounds(self, value: Value) -> tuple[Rational, Rational]:
        """Rationals that enclose a number; equal where it is exact."""
        if self.exact:
            return value, value
        if not value.is_finite():
            return fmpq(0), fmpq(1)
        low, high = rational_bounds(value)
        return max(low, fmpq(0)), min(high, fmpq(1))

    def _small(self, value: Value, most: int = _LONGEST) -> None:
        if self.exact and max(int(value.p).bit_length(), int(value.q).bit_length()) > most:
            raise TooLarge

    def settle(
        self,
        part: list[int],
        edges: list[list[tuple[Value, int]]],
        result: list[Value] | dict[int, Value],
        *,
        gains: Sequence[Value] | None = None,
    ) -> None:
        """Solve one strongly connected part in place, given the edges (number, target) and gains of its nodes, and the values outside."""
        place = {node: k for k, node in enumerate(part)}
        inside: list[dict[int, Value]] = []
        outside: list[Value] = []
        for at, own in enumerate(edges):
            row: dict[int, Value] = {}
            total = self.zero if gains is None else gains[at]
            for number, target in own:
                k = place.get(target)
                if k is None:
                    total += number * result[target]
                else:
                    row[k] = row[k] + number if k in row else number
            inside.append(row)
            outside.append(total)
        if self.exact and len(part) > _FEW:
            found = reconstruct_rationals(inside, outside, self.monitor)
            if found is not None:
                for node, value in zip(part, found, strict=True):
                    result[node] = value
                return
        if self.exact and len(part) <= _DENSE:
            size = len(part)
            matrix = fmpq_mat(size, size)
            for i, row in enumerate(inside):
                matrix[i, i] = 1
                for k, number in row.items():
                    matrix[i, k] = matrix[i, k] - number
            solution = matrix.solve(fmpq_mat(size, 1, outside))
            for i, node in enumerate(part):
                result[node] = solution[i, 0]
            return
        for node, value in zip(part, self._eliminated(inside, outside), strict=True):
            result[node] = value

    def _eliminated(self, inside: list[dict[int, Value]], outside: list[Value]) -> list[Value]:
        """State elimination: each state is replaced by the ways through it, the least connected first."""
        size = len(inside)
        into: list[set[int]] = [set() for _ in range(size)]
        for i, row in enumerate(inside):
            for k in row:
                into[k].add(i)
        left = set(range(size))
        done: list[int] = []
        work = 0
        while left:
            i = min(left, key=lambda k: (len(inside[k]) * len(into[k]), k)) if size <= 2_000 else next(iter(left))
            left.discard(i)
            row = inside[i]
            stay = row.pop(i, None)
            into[i].discard(i)
            if stay is not None:
                scale = self.one / (self.one - stay)
                for k in row:
                    row[k] = row[k] * scale
                outside[i] = outside[i] * scale
            for before in into[i]:
                if before not in left:
                    continue
                weight = inside[before].pop(i)
                outside[before] += weight * outside[i]
                target = inside[before]
                for k, number in row.items():
                    work += 1
                    target[k] = target[k] + weight * number if k in target else weight * number
                    into[k].add(before)
            for k in row:
                into[k].discard(i)
            if work > _ELIMINATIONS:
                raise TooLarge
            self.monitor.pause()
            self._small(outside[i])
            done.append(i)
        values = list(outside)
        for i in reversed(done):
            for k, number in inside[i].items():
                values[i] = values[i] + number * values[k]
        return values


def _ball(number: Probability) -> arb:
    if isinstance(number, Enclosure):
        return arb(number.low).union(arb(number.high))
    return arb(number)
