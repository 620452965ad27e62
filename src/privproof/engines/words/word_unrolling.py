"""The words of one length, unrolled: which edges may be taken at which step, and which coordinates can contribute to P and Q there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from privproof.exact import Rational
from privproof.exact.rational_matrices import Matrix, Vector
from privproof.models import Edge, Final, WordProblem

Live: TypeAlias = Mapping[int, frozenset[int]]
"""For every location that a word may be at, the coordinates that can contribute to its probability."""

_Reached: TypeAlias = dict[int, tuple[set[int], set[int]]]


@dataclass(frozen=True)
class Arc:
    """An edge that may be taken at a certain step, with the location that it leaves."""

    source: int
    edge: Edge


@dataclass(frozen=True)
class UnrolledSide:
    """One of the two forward computations: the first letter of its variables, where it starts, what is live when."""

    mark: Literal["a", "b"]
    initial: Vector
    live: tuple[Live, ...]

    def columns(self, step: int, arc: Arc) -> dict[int, list[tuple[int, Rational]]]:
        """For every live coordinate after an arc the pairs (coordinate before, entry) that flow into it."""
        result: dict[int, list[tuple[int, Rational]]] = {j: [] for j in sorted(self.live[step][arc.edge.target])}
        matrix = arc.edge.left if self.mark == "a" else arc.edge.right
        for i in sorted(self.live[step - 1][arc.source]):
            for j, entry in matrix.rows[i]:
                if j in result:
                    result[j].append((i, entry))
        return result

    def coordinates(self, step: int) -> list[int]:
        """The coordinates that are live after so many letters at some location."""
        return sorted(frozenset[int]().union(*self.live[step].values()))


@dataclass(frozen=True)
class WordWalk:
    """The words of one length from one start: the arcs of every step, both sides, and where words may end."""

    start: int
    arcs: tuple[tuple[Arc, ...], ...]
    sides: tuple[UnrolledSide, UnrolledSide]
    ends: tuple[tuple[int, Final], ...]


def unroll(problem: WordProblem, start: int, length: int) -> WordWalk:
    """Reachability of locations and coordinates, forward and then backward; without an end no word has P > 0."""
    begin = problem.starts[start]
    reached: list[_Reached] = [{begin.location: (_support(begin.left), _support(begin.right))}]
    for _ in range(length):
        onward: _Reached = {}
        for location, (left, right) in reached[-1].items():
            for edge in problem.locations[location].edges:
                if following := _image(edge.left, left):
                    known = onward.setdefault(edge.target, (set(), set()))
                    known[0].update(following)
                    known[1].update(_image(edge.right, right))
        reached.append(onward)
    ends = tuple(
        (location, final)
        for location, (left, _) in reached[-1].items()
        for final in problem.locations[location].finals
        if not left.isdisjoint(_support(final.left))
    )
    lefts: dict[int, set[int]] = {}
    rights: dict[int, set[int]] = {}
    for location, final in ends:
        left, right = reached[-1][location]
        lefts.setdefault(location, set()).update(left & _support(final.left))
        rights.setdefault(location, set()).update(right & _support(final.right))
    live = [(_freeze_sets(lefts), _freeze_sets(rights))]
    arcs: list[tuple[Arc, ...]] = []
    for here in reversed(reached[:-1]):
        after_left, after_right = live[-1]
        lefts, rights, usable = {}, {}, []
        for location, (left, right) in here.items():
            for edge in problem.locations[location].edges:
                needed = _preimage(edge.left, left, after_left.get(edge.target, frozenset()))
                if needed:
                    usable.append(Arc(location, edge))
                    lefts.setdefault(location, set()).update(needed)
                    rights.setdefault(location, set()).update(_preimage(edge.right, right, after_right[edge.target]))
        arcs.append(tuple(usable))
        live.append((_freeze_sets(lefts), _freeze_sets(rights)))
    arcs.reverse()
    live.reverse()
    left_side = UnrolledSide("a", begin.left, tuple(left for left, _ in live))
    right_side = UnrolledSide("b", begin.right, tuple(right for _, right in live))
    return WordWalk(start, tuple(arcs), (left_side, right_side), ends)


def _support(vector: Vector) -> set[int]:
    return {i for i, entry in enumerate(vector) if entry != 0}


def _image(matrix: Matrix, rows: Iterable[int]) -> set[int]:
    return {column for row in rows for column, _ in matrix.rows[row]}


def _preimage(matrix: Matrix, rows: Iterable[int], columns: frozenset[int]) -> set[int]:
    return {row for row in rows if any(column in columns for column, _ in matrix.rows[row])}


def _freeze_sets(sets: Mapping[int, set[int]]) -> Live:
    return {location: frozenset(members) for location, members in sets.items()}
