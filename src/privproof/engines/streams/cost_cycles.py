"""Cycles of an arena: what they ask of thresholds, and paths that go around them.

A coupling of finite cost pays nothing on a cycle, so every sample there is shifted by just what the data differ by, whatever the
adversary chooses.  `demands` is what that leaves for the thresholds that are compared.  A `CycleFamily` of executions is a path that
goes around some cycles as often as one likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from privproof.engines.streams.coupling_arena import Arena
from privproof.engines.streams.threshold_shifts import SHIFTS
from privproof.models.stream_automaton import Term


def free(arena: Arena, number: int, changes: tuple[int, ...] | None = None) -> dict[str, frozenset[int]]:
    """For a cyclic edge: the shifts of thresholds for which it costs nothing, whatever the adversary chooses (among some changes)."""
    step = arena.step(number)
    changes = arena.edges[number].changes if changes is None else changes
    found: dict[str, set[int]] = {}
    for change in changes:
        own = [sample.reads * change for sample in step.samples]
        limits: list[tuple[Term, Term, bool, bool]] = []  # a threshold, the other term, whether at most, at least that
        for order in step.guard:
            limits += [(order.low, order.high, True, False), (order.high, order.low, False, True)]
        for value in step.values:
            limits += [(value.plus, value.minus, True, True), (value.minus, value.plus, True, True)]
        for name, other, below, above in limits:
            if isinstance(name, str) and not isinstance(other, str):
                limit = 0 if other is None else own[other]
                fits = {s for s in SHIFTS if (s <= limit or not below) and (s >= limit or not above)}
                found.setdefault(name, set(SHIFTS)).intersection_update(fits)
    return {name: frozenset(shifts) for name, shifts in found.items()}


def demands(arena: Arena, component: int) -> dict[str, frozenset[int]]:
    """The shifts of thresholds for which the cycles of a component cost nothing, whatever the data."""
    found: dict[str, frozenset[int]] = {}
    for number in arena.inner[component]:
        for name, shifts in free(arena, number).items():
            if name not in arena.replaced[component]:
                found[name] = found.get(name, frozenset(SHIFTS)) & shifts
    return found


@dataclass(frozen=True)
class Segment:
    """Edges in a row, with the difference of the data on each, once or again and again."""

    edges: tuple[int, ...]
    changes: tuple[int, ...]
    repeated: bool = False


@dataclass(frozen=True)
class CycleFamily:
    """A path through an arena with cycles on it."""

    segments: tuple[Segment, ...]

    def unrolled(self, times: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The edges and the differences, with every cycle gone around so often."""
        edges: list[int] = []
        changes: list[int] = []
        for segment in self.segments:
            for _ in range(times if segment.repeated else 1):
                edges += segment.edges
                changes += segment.changes
        return tuple(edges), tuple(changes)

    def fewer(self, enough: Callable[[CycleFamily], bool]) -> CycleFamily:
        """The same without cycles that are not needed, and with steps that are taken once joined."""
        segments = self.segments
        for segment in self.segments:
            if segment.repeated:
                less = tuple(other for other in segments if other is not segment)
                if enough(CycleFamily(less)):
                    segments = less
        return CycleFamily(segments).with_steps_joined()

    def with_steps_joined(self) -> CycleFamily:
        """The same with steps in a row that are taken once as one segment."""
        found: list[Segment] = []
        for once, several in groupby(self.segments, key=lambda segment: not segment.repeated):
            if once:
                row = list(several)
                edges = tuple(chain.from_iterable(segment.edges for segment in row))
                found.append(Segment(edges, tuple(chain.from_iterable(segment.changes for segment in row))))
            else:
                found += several
        return CycleFamily(tuple(found))


def cycles_along_path(
    arena: Arena, edges: Sequence[int], changes: Sequence[int], names: Callable[[int], Iterable[str]]
) -> CycleFamily:
    """A path with all cycles on the way that make demands on thresholds.

    Args:
        arena: the arena.
        edges: the path.
        changes: how the data differ on it.
        names: for a component the thresholds that count.
    """
    label = arena.components[0]
    nodes = [0, *(arena.edges[number].target for number in edges)]
    segments: list[Segment] = []
    visited: set[int] = set()
    for place, node in enumerate(nodes):
        if label[node] not in visited:
            visited.add(label[node])
            segments += _tours(arena, names(label[node]), node)
        if place < len(edges):
            segments.append(Segment((edges[place],), (changes[place],)))
    return CycleFamily(tuple(segments))


def _tours(arena: Arena, names: Iterable[str], node: int) -> list[Segment]:
    """Cycles through a node that make all demands on thresholds; one cycle for every difference of the data that makes some."""
    label = arena.components[0][node]
    inside = arena.inner[label]
    listed = set(names)
    chosen: dict[tuple[str, frozenset[int]], tuple[int, int]] = {}
    for number in inside:
        for change in arena.edges[number].changes:
            for name, shifts in free(arena, number, (change,)).items():
                if name in listed and len(shifts) < len(SHIFTS):
                    chosen.setdefault((name, shifts), (number, change))
    demands: dict[str, list[frozenset[int]]] = {}
    for name, shifts in chosen:
        demands.setdefault(name, []).append(shifts)
    wanted: dict[int, set[int]] = {}
    for (name, shifts), (number, change) in chosen.items():
        if not any(shifts > fewer for fewer in demands[name]):
            wanted.setdefault(change, set()).add(number)
    return [_around(arena, node, numbers, change, inside) for change, numbers in wanted.items()]


def _around(arena: Arena, node: int, numbers: set[int], change: int, inside: list[int]) -> Segment:
    """A closed walk from a node over some edges, on which the data differ."""
    edges: list[int] = []
    changes: list[int] = []
    here, left = node, set(numbers)
    while left:
        way = _nearest(arena, here, left, inside)
        edges += way
        changes += [*(0 for _ in way[1:]), change]
        left.discard(way[-1])
        here = arena.edges[way[-1]].target
    back = arena.path(here, node, inside)
    assert back is not None
    return Segment((*edges, *back), (*changes, *(0 for _ in back)), repeated=True)


def _nearest(arena: Arena, here: int, numbers: set[int], inside: list[int]) -> list[int]:
    """The shortest way over one of some edges, which is the last of it."""
    ways = []
    for number in numbers:
        if arena.edges[number].source == here:
            return [number]
        way = arena.path(here, arena.edges[number].source, inside)
        assert way is not None
        ways.append([*way, number])
    return min(ways, key=len)
