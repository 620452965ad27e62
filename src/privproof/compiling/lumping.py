"""Exact lumping: states that no continuation tells apart become one coordinate, states without a future none.

Two states of a location are merged when their final columns agree and every letter moves the same mass into every class of the
next location (probabilistic bisimulation, on each side by itself).  If ``L`` is the 0/1 matrix of the classes, then
``M_l L = L M'_l`` for every letter and ``f = L f'``: a word has the same probabilities in the lumped problem.
The coarsest such partition is found by refinement from the final columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from privproof.exact import ZERO, Rational
from privproof.exact.patience import pause
from privproof.exact.rational_matrices import Matrix, Vector
from privproof.models import Edge, Final, Location, WordProblem
from privproof.models.graph_algorithms import reachable

Classes: TypeAlias = tuple[int | None, ...]
"""For every state its class, None for a state without a future."""


@dataclass(frozen=True)
class Lumped:
    """A lumped problem and, for every location, the classes of its former states on each side."""

    problem: WordProblem
    left: tuple[Classes, ...]
    right: tuple[Classes, ...]


def lump(problem: WordProblem) -> Lumped:
    """The smallest problem with the same word probabilities that lumping yields."""
    left = _classes(problem, [p.left_size for p in problem.locations], lambda e: e.left, lambda f: f.left)
    right = left
    if not problem.common:
        right = _classes(problem, [p.right_size for p in problem.locations], lambda e: e.right, lambda f: f.right)
    sizes = [(_count(x), _count(y)) for x, y in zip(left, right, strict=True)]
    if all((p.left_size, p.right_size) == size for p, size in zip(problem.locations, sizes, strict=True)):
        return Lumped(problem, left, right)
    cache: dict[tuple[int, int, int, bool], Matrix] = {}

    def matrix(given: Matrix, source: int, target: int, *, on_left: bool) -> Matrix:
        key = (id(given), source, target, on_left)
        if key not in cache:
            rows, columns = (left[source], left[target]) if on_left else (right[source], right[target])
            cache[key] = _lumped(given, rows, columns)
        return cache[key]

    locations = tuple(
        Location(
            *sizes[number],
            tuple(
                replace(
                    edge,
                    left=(one := matrix(edge.left, number, edge.target, on_left=True)),
                    right=one if problem.common else matrix(edge.right, number, edge.target, on_left=False),
                )
                for edge in place.edges
            ),
            tuple(Final(f.name, _first(f.left, left[number]), _first(f.right, right[number])) for f in place.finals),
        )
        for number, place in enumerate(problem.locations)
    )
    starts = tuple(
        replace(s, left=_summed(s.left, left[s.location]), right=_summed(s.right, right[s.location]))
        for s in problem.starts
    )
    return Lumped(replace(problem, locations=locations, starts=starts), left, right)


def _count(classes: Classes) -> int:
    return 1 + max((c for c in classes if c is not None), default=-1)


_Rows: TypeAlias = "tuple[tuple[tuple[int, int], ...], ...]"
"""A matrix in integers: for every row the pairs (column, entry)."""


def _classes(
    problem: WordProblem, sizes: Sequence[int], matrix: Callable[[Edge], Matrix], column: Callable[[Final], Vector]
) -> tuple[Classes, ...]:
    whole: dict[int, _Rows] = {}
    moves: list[list[tuple[_Rows, int]]] = []
    for place in problem.locations:
        for edge in place.edges:
            if id(matrix(edge)) not in whole:
                whole[id(matrix(edge))] = matrix(edge).integers
        distinct = dict.fromkeys((id(matrix(edge)), edge.target) for edge in place.edges)
        moves.append([(whole[key], target) for key, target in distinct])
    alive = _alive(problem, sizes, moves, column)
    block: list[list[int | None]] = []
    for number, place in enumerate(problem.locations):
        keys: list[object] = [tuple(column(final)[s] for final in place.finals) for s in range(sizes[number])]
        block.append(_numbered(keys, alive[number]))
    before: dict[int, set[int]] = {}
    for number, listed in enumerate(moves):
        for _, target in listed:
            before.setdefault(target, set()).add(number)
    waiting = dict.fromkeys(range(len(moves)))
    while waiting:
        pause()
        number, _ = waiting.popitem()
        keys = [
            (block[number][s], tuple(_onward(rows[s], block[target]) for rows, target in moves[number]))
            for s in range(sizes[number])
        ]
        finer = _numbered(keys, alive[number])
        if finer != block[number]:
            block[number] = finer
            waiting.update(dict.fromkeys(sorted(before.get(number, ()))))
    return tuple(tuple(classes) for classes in block)


def _alive(
    problem: WordProblem, sizes: Sequence[int], moves: list[list[tuple[_Rows, int]]], column: Callable[[Final], Vector]
) -> list[list[bool]]:
    """Which states can still contribute to a final column."""
    before: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for number, listed in enumerate(moves):
        for rows, target in listed:
            there = before.setdefault(target, {})
            for s, row in enumerate(rows):
                here = (number, s)
                for t, _ in row:
                    there.setdefault(t, []).append(here)
    useful = [
        (number, s)
        for number, place in enumerate(problem.locations)
        for s in range(sizes[number])
        if any(column(final)[s] != 0 for final in place.finals)
    ]
    alive = reachable(useful, lambda state: before.get(state[0], {}).get(state[1], ()))
    return [[(number, s) in alive for s in range(size)] for number, size in enumerate(sizes)]


def _onward(row: Sequence[tuple[int, int]], block: list[int | None]) -> tuple[tuple[int, int], ...]:
    sums: dict[int, int] = {}
    for column, entry in row:
        target = block[column]
        if target is not None:
            sums[target] = sums.get(target, 0) + entry
    return tuple(sorted(sums.items()))


def _numbered(keys: Sequence[object], alive: Sequence[bool]) -> list[int | None]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) if lives else None for key, lives in zip(keys, alive, strict=True)]


def _lumped(matrix: Matrix, rows: Classes, columns: Classes) -> Matrix:
    first: dict[int, int] = {}
    for s, c in enumerate(rows):
        if c is not None:
            first.setdefault(c, s)
    result = []
    for c in range(len(first)):
        sums: dict[int, Rational] = {}
        for column, entry in matrix.rows[first[c]]:
            target = columns[column]
            if target is not None:
                sums[target] = sums.get(target, ZERO) + entry
        result.append(sums)
    return Matrix.of(_count(columns), result)


def _first(column: Vector, classes: Classes) -> Vector:
    values = {c: x for c, x in zip(classes, column, strict=True) if c is not None}
    return tuple(values[c] for c in range(len(values)))


def _summed(vector: Vector, classes: Classes) -> Vector:
    sums = [ZERO] * _count(classes)
    for c, x in zip(classes, vector, strict=True):
        if c is not None:
            sums[c] += x
    return tuple(sums)
