"""Private for some epsilon, or for none: the decision, in time linear in the automaton.

A coupling of finite cost pays nothing on cycles: there every sample is shifted by just what the data differ by.  This asks

* of a cycle by itself that what it compares and writes allows it: otherwise it is a *disclosing cycle* (a noisy answer is
  written again and again) or a *leaking cycle* (a threshold is replaced and compared again and again);
* of the thresholds that it compares that they are shifted as far as the data can differ: up for ``sample < x``, down for
  ``sample >= x``.  A path on which these demands, and those of written samples, contradict each other is a *leaking pair* of cycles, or a
  *privacy violating path*.

The second kind is found as a reachable pair of a node and an empty set of shifts.  For one threshold there are six sets that
are not empty, so the search is linear; for several it is done for each of them by itself (the others isolated away), and for few of
them together.  This replaces the printed constraint graph of Farzan et al., which joins constraints of different executions and
has no node for what is written (`docs/explanation/streams.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import inf
from typing import TypeAlias

from privproof.engines.streams.cost_cycles import CycleFamily, Segment, cycles_along_path, demands, free
from privproof.engines.streams.coupling_arena import Arena, ArenaEdge
from privproof.engines.streams.threshold_shifts import SHIFTS, Shifts
from privproof.models.graph_algorithms import reachable
from privproof.models.stream_automaton import Term, Transition

_TOGETHER = 4
"""So many thresholds are searched together for a contradiction: the number of sets grows fast. What is missed stays unknown."""

Point: TypeAlias = tuple[int, ...]
"""A shift for each of some thresholds."""

_Place: TypeAlias = "tuple[int, frozenset[Point]]"
_Came: TypeAlias = "dict[_Place, tuple[_Place, int, int] | None]"


@dataclass(frozen=True)
class Leak(CycleFamily):
    """A structure for which no coupling has a finite cost.

    Attributes:
        segments: the path with its cycles.
        kind: leaking cycle, leaking pair, disclosing cycle, privacy violating path, or noiseless comparison.
        thresholds: the thresholds that it needs.
    """

    kind: str
    thresholds: tuple[str, ...]


def leak(arena: Arena) -> Leak | None:
    """A reason against privacy that one threshold by itself gives, or a cycle by itself; None if there is none.

    For one threshold this decides: without a leak the automaton is private.
    """
    return on_cycles(arena) or next(contradictions(arena, ((name,) for name in arena.automaton.thresholds)), None)


def joint_leak(arena: Arena) -> Leak | None:
    """A contradiction between several thresholds."""
    names = arena.automaton.thresholds
    sets = (chosen for size in range(2, _TOGETHER + 1) for chosen in combinations(names, size))
    return next(contradictions(arena, sets), None)


def on_cycles(arena: Arena) -> Leak | None:
    """A disclosing or a leaking cycle."""
    for number, inside in enumerate(arena.inner):
        for edge in inside:
            for change in arena.edges[edge].changes:
                if not _free_alone(arena.step(edge), change):
                    tour = arena.tour(edge)
                    kind = "disclosing cycle" if arena.step(edge).values else "leaking cycle"
                    return _cycle(arena, kind, tour, {0: change}, ())
        found = _leaking_cycle(arena, number)
        if found is not None:
            return found
    return None


def _free_alone(step: Transition, change: int) -> bool:
    """Whether a step costs nothing, as far as thresholds have no part in it."""

    def own(term: Term) -> int | None:
        if isinstance(term, str):
            return None
        return 0 if term is None else step.samples[term].reads * change

    for order in step.guard:
        low, high = own(order.low), own(order.high)
        if low is not None and high is not None and low > high:
            return False
    for value in step.values:
        plus, minus = own(value.plus), own(value.minus)
        if plus is not None and minus is not None and plus != minus:
            return False
    return True


def _leaking_cycle(arena: Arena, component: int) -> Leak | None:
    """A cycle that replaces a threshold and compares it, such that some data make that cost."""
    inside = arena.inner[component]
    writers: dict[str, list[int]] = {}
    readers: dict[str, list[int]] = {}
    for number in inside:
        step = arena.step(number)
        for name in step.stored:
            writers.setdefault(name, []).append(number)
        for name in free(arena, number):
            readers.setdefault(name, []).append(number)
    for name in writers.keys() & readers.keys():
        plain = [number for number in inside if number not in set(writers[name])]
        for writer in writers[name]:
            for change, shift in _stored_shifts(arena, writer, name):
                for reader in readers[name]:
                    for other in arena.edges[reader].changes:
                        if shift in _free_shifts(arena, reader, name, other):
                            continue
                        between = arena.path(arena.edges[writer].target, arena.edges[reader].source, plain)
                        back = arena.path(arena.edges[reader].target, arena.edges[writer].source, inside)
                        if between is None or back is None:
                            continue
                        tour = [writer, *between, reader, *back]
                        marks = {0: change, len(between) + 1: other}
                        return _cycle(arena, "leaking cycle", tour, marks, (name,))
    return None


def _stored_shifts(arena: Arena, number: int, name: str) -> list[tuple[int, int]]:
    """What an edge may leave as the shift of a threshold at no cost: the difference of the data, and the shift."""
    step, changes = arena.step(number), arena.edges[number].changes
    sample = step.samples[dict(step.stores)[name]]
    return [(change, sample.reads * change) for change in changes]


def _free_shifts(arena: Arena, number: int, name: str, change: int) -> frozenset[int]:
    return free(arena, number, (change,)).get(name, frozenset(SHIFTS))


def _cycle(arena: Arena, kind: str, tour: list[int], marks: dict[int, int], names: tuple[str, ...]) -> Leak | None:
    """The leak of a cycle: the way to it, and the cycle with differences where they matter."""
    before = arena.path(0, arena.edges[tour[0]].source)
    assert before is not None
    changes = tuple(marks.get(place, 0) for place in range(len(tour)))
    segments = (Segment(tuple(before), (0,) * len(before)), Segment(tuple(tour), changes, repeated=True))
    found = Leak(tuple(s for s in segments if s.edges), kind, names)
    return found if cost_is_unbounded(Isolated(arena, names), found) else None


class Isolated:
    """The steps of an arena with some thresholds only, as relations between sets of shifts."""

    def __init__(self, arena: Arena, names: tuple[str, ...]) -> None:
        self.arena, self.names = arena, names
        self.points = tuple(product(SHIFTS, repeat=len(names)))
        self.all = frozenset(self.points)
        self.shifts = Shifts(arena)
        self._tables: dict[object, dict[Point, dict[Point, float]]] = {}
        self._images: dict[object, frozenset[Point]] = {}
        self._asked: dict[int, frozenset[Point]] = {}

    def table(self, edge: ArenaEdge, change: int) -> dict[Point, dict[Point, float]]:
        """From old shifts to new ones, with the least cost."""
        key = (self.shifts.form(edge.step), change)
        if key not in self._tables:
            self._tables[key] = self._table(edge.step, change)
        return self._tables[key]

    def _table(self, number: int, change: int) -> dict[Point, dict[Point, float]]:
        kept = set(self.names)
        step = self.arena.automaton.transitions[number]
        alone = restrict_step(step, kept)
        parts = self.shifts.alone(alone, change)
        found: dict[Point, dict[Point, float]] = {}
        for old in self.points:
            own = dict(zip(self.names, old, strict=True))
            ways: list[tuple[dict[str, int], float]] = [(own, 0)]
            for part in parts:
                looked = tuple(own[name] for name in part.looked)
                ways = [
                    ({**new, **dict(zip(part.stored, after, strict=True))}, total + cost)
                    for new, total in ways
                    for before, after, cost in part.moves
                    if before == looked
                ]
            row: dict[Point, float] = {}
            for new, total in ways:
                point = tuple(new[name] for name in self.names)
                row[point] = min(total, row.get(point, total))
            found[old] = row
        return found

    def image(self, edge: ArenaEdge, change: int, shifts: frozenset[Point]) -> frozenset[Point]:
        """The shifts that are possible after a step."""
        key = (self.shifts.form(edge.step), change, shifts)
        if key not in self._images:
            table = self.table(edge, change)
            self._images[key] = frozenset(new for old in shifts for new in table[old])
        return self._images[key]

    def asked(self, node: int) -> frozenset[Point]:
        """The shifts that the cycles through a node allow."""
        label = self.arena.components[0][node]
        if label not in self._asked:
            limits = demands(self.arena, label)
            self._asked[label] = frozenset(
                point
                for point in self.points
                if all(s in limits.get(name, SHIFTS) for name, s in zip(self.names, point, strict=True))
            )
        return self._asked[label]

    def onward(self, costs: dict[Point, float], edge: ArenaEdge, change: int) -> dict[Point, float]:
        """The least costs of shifts after a step, from those before it."""
        table = self.table(edge, change)
        after: dict[Point, float] = {}
        for old, cost in costs.items():
            for new, more in table[old].items():
                after[new] = min(cost + more, after.get(new, inf))
        return after


def restrict_step(step: Transition, names: set[str]) -> Transition:
    """A step that knows some thresholds only."""

    def known(*terms: Term) -> bool:
        return all(not isinstance(term, str) or term in names for term in terms)

    return replace(
        step,
        guard=tuple(order for order in step.guard if known(order.low, order.high)),
        values=tuple(value for value in step.values if known(value.plus, value.minus)),
        stores=tuple((name, sample) for name, sample in step.stores if name in names),
    )


def contradictions(arena: Arena, sets: Iterable[tuple[str, ...]]) -> Iterator[Leak]:
    """For sets of thresholds: paths on which no shifts of them are possible."""
    for names in sets:
        found = _contradiction(arena, names)
        if found is not None:
            yield found


def _contradiction(arena: Arena, names: tuple[str, ...]) -> Leak | None:
    view = Isolated(arena, names)
    begin = (0, view.all & view.asked(0))
    came: _Came = {begin: None}
    waiting = [begin]
    for here in waiting:  # grows while it is read
        node, shifts = here
        for number in arena.leaving[node]:
            edge = arena.edges[number]
            for change in edge.changes:
                after = view.image(edge, change, shifts) & view.asked(edge.target)
                there = (edge.target, after)
                if there in came:
                    continue
                came[there] = (here, number, change)
                if after:
                    waiting.append(there)
                elif (found := _smallest(arena, view, *_way(came, there))) is not None:
                    return found
    return None


def _way(came: _Came, there: _Place) -> tuple[list[int], list[int]]:
    edges, changes = [], []
    while (before := came[there]) is not None:
        there, number, change = before
        edges.append(number)
        changes.append(change)
    return edges[::-1], changes[::-1]


def _smallest(arena: Arena, view: Isolated, edges: list[int], changes: list[int]) -> Leak | None:
    """The leak of a path: with the cycles on the way that are needed, and no others."""
    found = cycles_along_path(arena, edges, changes, lambda _: view.names)
    if not cost_is_unbounded(view, found):
        return None
    found = found.fewer(lambda less: cost_is_unbounded(view, less))
    return Leak(found.segments, _kind(arena, found), view.names)


def _kind(arena: Arena, found: CycleFamily) -> str:
    cycles = sum(segment.repeated for segment in found.segments)
    if cycles >= 2:
        return "leaking pair"
    steps = [arena.step(number) for segment in found.segments for number in segment.edges]
    bare = any(sample.rate is None for step in steps for sample in step.samples)
    written = any(step.values for step in steps)
    return "noiseless comparison" if not cycles or (bare and not written) else "privacy violating path"


def cost_is_unbounded(view: Isolated, found: CycleFamily) -> bool:
    """Whether the cost of a structure grows without bound as its cycles are repeated.

    What a coupling of bounded cost can do, however often a cycle is repeated, is to come to shifts from which the cycle leads back
    to the same shifts at no cost, and to leave again.  If nothing is left at the end, the cost is unbounded.
    """
    possible = view.all
    for segment in found.segments:
        whole = _compose_segment(view, segment)
        if not segment.repeated:
            possible = frozenset(new for old in possible for new in whole[old])
            continue
        steps = {old: set(row) for old, row in whole.items()}
        nothing = {old: {new for new, cost in row.items() if cost == 0} for old, row in whole.items()}
        reached = reachable(possible, steps.__getitem__)
        resting = frozenset(point for point in reached if point in reachable(nothing[point], nothing.__getitem__))
        possible = frozenset(reachable(resting, steps.__getitem__))
    return not possible


def _compose_segment(view: Isolated, segment: Segment) -> dict[Point, dict[Point, float]]:
    whole: dict[Point, dict[Point, float]] = {point: {point: 0.0} for point in view.points}
    for number, change in zip(segment.edges, segment.changes, strict=True):
        edge = view.arena.edges[number]
        whole = {point: view.onward(row, edge, change) for point, row in whole.items()}
    return whole
