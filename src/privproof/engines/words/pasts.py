"""Pasts: the vectors that both sides may have before anything differs, within a cone of finitely many generators.

The vectors at a location are the start's, times the matrices of the letters so far.  A cone holds them all if it holds the starts and every
letter leads from generators into the cone at its target, as multiples that sum up exactly: in what follows both sides are linear in the
vector, and nothing else is known of it.

Where the vectors that are reached close, the generators are words.  Otherwise the unit vectors serve, which forget all of the past but
which states are possible: an upper bound follows, and it may be too large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import fmpq_mat

from privproof.engines.monitor import Monitor
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.matrices import Vector
from privproof.models import WordProblem

Multiples: TypeAlias = dict[int, Rational]
"""Multipliers of generators, by number."""

_GENERATORS_A_STATE, _MORE_GENERATORS = 2, 6
"""So many vectors are kept at a location before the past is forgotten: by state, and besides. Cones with more seldom close."""
_CLOSE = 1e-9
"""A vector this near to the cone is tried exactly."""
_SMALL = 1e-12
"""Multipliers below this are taken for zero when the exact ones are looked for."""


@dataclass(frozen=True)
class Pasts:
    """Generators by location, and how starts and letters stay within their cones.

    Attributes:
        generators: by location.
        steps: for a location, a generator and an edge to another past: the multiples at its target; none where the product is zero.
        starts: for every start at a past its multiples.
        exact: whether all generators are vectors of words.
    """

    generators: Mapping[int, tuple[Vector, ...]]
    steps: Mapping[tuple[int, int, int], Multiples]
    starts: Mapping[int, Multiples]
    exact: bool


def find_pasts(problem: WordProblem, locations: Sequence[int], *, monitor: Monitor) -> Pasts:
    """Cones for the pasts at some locations: of words if they close, otherwise of unit vectors."""
    found = _Closing(problem, frozenset(locations), monitor).run()
    return _forgotten(problem, frozenset(locations)) if found is None else found


class _Closing:
    """Collects the vectors of words until all others are multiples of them."""

    def __init__(self, problem: WordProblem, locations: frozenset[int], monitor: Monitor) -> None:
        self.problem, self.locations, self.monitor = problem, locations, monitor
        self.generators: dict[int, list[Vector]] = {}
        self.numbers: dict[tuple[int, Vector], int] = {}
        self.waiting: list[tuple[int, int]] = []

    def run(self) -> Pasts | None:
        starts: dict[int, Multiples] = {}
        steps: dict[tuple[int, int, int], Multiples] = {}
        for number, start in enumerate(self.problem.starts):
            if start.location in self.locations:
                within = self._within(start.location, start.left)
                if within is None:
                    return None
                starts[number] = within
        while self.waiting:
            if self.monitor.stopped() is not None:
                return None
            location, number = self.waiting.pop(0)
            for e, edge in enumerate(self.problem.locations[location].edges):
                if edge.target not in self.locations:
                    continue
                within = self._within(edge.target, edge.left.after(self.generators[location][number]))
                if within is None:
                    return None
                steps[location, number, e] = within
        kept = {location: tuple(listed) for location, listed in self.generators.items()}
        return Pasts(kept, steps, starts, exact=True)

    def _within(self, location: int, vector: Vector) -> Multiples | None:
        """A vector as multiples of generators, itself a new one if need be; None where there are too many."""
        total = sum(vector, ZERO)
        if total == 0:
            return {}
        scaled = tuple(x / total for x in vector)
        key = (location, scaled)
        if key in self.numbers:
            return {self.numbers[key]: total}
        listed = self.generators.setdefault(location, [])
        found = _as_multiples(scaled, listed)
        if found is not None:
            return {number: share * total for number, share in found.items()}
        if len(listed) >= _GENERATORS_A_STATE * len(vector) + _MORE_GENERATORS:
            return None
        self.numbers[key] = len(listed)
        self.waiting.append((location, len(listed)))
        listed.append(scaled)
        return {self.numbers[key]: total}


def _as_multiples(vector: Vector, generators: Sequence[Vector]) -> Multiples | None:
    """Non-negative multiples of generators that sum up to a vector exactly; None if none were found."""
    if not generators:
        return None
    from scipy.optimize import nnls  # here, because it is slow to import

    columns = np.array([[int(x.p) / int(x.q) for x in each] for each in generators]).T
    wanted = np.array([int(x.p) / int(x.q) for x in vector])
    shares, distance = nnls(columns, wanted)
    if distance > _CLOSE:
        return None
    chosen = [number for number, share in enumerate(shares) if share > _SMALL]
    size = len(chosen)
    rows = [[*(generators[number][i] for number in chosen), vector[i]] for i in range(len(vector))]
    reduced, rank = fmpq_mat(len(rows), size + 1, [x for row in rows for x in row]).rref()
    if rank != size:
        return None
    found = {number: reduced[i, size] for i, number in enumerate(chosen)}
    if any(reduced[i, i] != 1 for i in range(size)) or any(share < 0 for share in found.values()):
        return None
    return {number: share for number, share in found.items() if share != 0}


def _forgotten(problem: WordProblem, locations: frozenset[int]) -> Pasts:
    """The unit vectors of the states that are possible at each location."""
    possible: dict[int, dict[int, int]] = {}
    waiting: list[tuple[int, int]] = []

    def unit(location: int, state: int) -> int:
        here = possible.setdefault(location, {})
        if state not in here:
            here[state] = len(here)
            waiting.append((location, state))
        return here[state]

    starts = {
        number: {unit(start.location, i): x for i, x in enumerate(start.left) if x != 0}
        for number, start in enumerate(problem.starts)
        if start.location in locations
    }
    steps: dict[tuple[int, int, int], Multiples] = {}
    while waiting:
        location, state = waiting.pop()
        for e, edge in enumerate(problem.locations[location].edges):
            if edge.target in locations:
                row = {unit(edge.target, column): entry for column, entry in edge.left.rows[state]}
                steps[location, possible[location][state], e] = row
    generators = {
        location: tuple(
            tuple(ONE if i == state else ZERO for i in range(problem.locations[location].left_size)) for state in here
        )
        for location, here in possible.items()
    }
    return Pasts(generators, steps, starts, exact=False)
