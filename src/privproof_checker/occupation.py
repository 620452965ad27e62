"""Which states can hold mass at a location, and which of them still matter.

A state is *occupied* at a location, on the left or on the right, if a path of positive probability leads there from
a start. A state of the left side is *live* at a location if a path of positive probability leads from there to a state
that a final column counts. Both are properties of the graph alone: lengths play no part, so both sets are large enough.
What is not occupied holds no mass; what is not live contributes to no compared word.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from privproof_checker.outcomes import Limits, within
from privproof_checker.systems import Edge, Location, Moves, Rows, Start, System, columns

Occupied: TypeAlias = dict[Location, set[int]]


class Occupation:
    """The occupied states of both sides and the live states of the left, by location."""

    def __init__(self, system: System, moves: Moves, starts: Iterable[Start], limits: Limits) -> None:
        self.limits = limits
        self.left: Occupied = {}
        self.right: Occupied = {}
        self.system = system
        listed = list(starts)
        self._fill(self.left, moves, [(s.location, {i for i, _ in s.left}) for s in listed], on_left=True)
        self._fill(self.right, moves, [(s.location, {i for i, _ in s.right}) for s in listed], on_left=False)
        self.live = self._live(system, moves)

    def targets(self, edge: Edge, states: Iterable[int], *, on_left: bool = True) -> set[int]:
        """The states that a letter leads to from some states on one side."""
        rows: Rows = edge.left if on_left else edge.right
        size = self.system.size(edge.target)
        found: set[int] = set()
        for i in states:
            found.update(columns(rows, i))
            if len(found) == size:  # there are no more
                break
        return found

    def on_left(self, location: Location) -> set[int]:
        """The states that may hold mass on the left."""
        return self.left.get(location, set())

    def on_right(self, location: Location) -> set[int]:
        """The states that may hold mass on the right."""
        return self.right.get(location, set())

    def matters(self, location: Location, state: int) -> bool:
        """Whether the mass of a state on the left may contribute to a compared word."""
        return state in self.live.get(location, ())

    def _fill(self, occupied: Occupied, moves: Moves, roots: list[tuple[Location, set[int]]], *, on_left: bool) -> None:
        waiting = roots
        count = 0
        while waiting:
            location, states = waiting.pop()
            new = states - occupied.setdefault(location, set())
            if not new:
                continue
            occupied[location] |= new
            count += len(new)
            within(count, 10 * self.limits.explored, "states at locations", "question")
            for _, edge in moves.at(location):
                onward = self.targets(edge, new, on_left=on_left)
                if onward:
                    waiting.append((edge.target, onward))

    def _live(self, system: System, moves: Moves) -> Occupied:
        counted = {
            location: states & set[int]().union(*(final.counted for final in system.finals(location)))
            for location, states in self.left.items()
        }
        live, unsettled = counted, dict[Location, set[int]]()
        for location, states in reversed(self.left.items()):  # what was found late tends to be near an end
            there = [(edge.left, live.get(edge.target, set())) for _, edge in moves.at(location)]
            left_over = states - live[location]
            found = {i for i in left_over if any(not good.isdisjoint(columns(rows, i)) for rows, good in there)}
            live[location] |= found
            unsettled[location] = left_over - found
        before: dict[tuple[Location, int], list[tuple[Location, int]]] = {}
        waiting: list[tuple[Location, int]] = []
        for location, states in unsettled.items():
            for _, edge in moves.at(location):
                good = live.get(edge.target, set())
                for i in states:
                    for j in columns(edge.left, i):
                        if j in good:
                            waiting.append((location, i))
                            break
                        before.setdefault((edge.target, j), []).append((location, i))
        while waiting:
            location, i = waiting.pop()
            if i not in live[location]:
                live[location].add(i)
                waiting.extend(before.get((location, i), ()))
        return live
