"""Pasts: the vectors that both sides may have before anything differs, within a cone of finitely many generators.

The vectors at a location are the start's, times the matrices of the letters so far.  A cone holds them all if it holds the starts and every
letter leads from generators into the cone at its target, as multiples that sum up exactly: in what follows both sides are linear in the
vector, and nothing else is known of it.

Where the vectors that are reached close, the generators are words.  Otherwise all but the last k letters are forgotten: the generators are
the vectors of words of less than k letters, and of k letters from every state that is possible before them.  One letter more leads from
``e_s M_1 ... M_k`` to ``e_s M_1 ... M_k M``, which is the sum of the ``e_t M_2 ... M_k M`` with the entries of row s of M_1.  With k = 0
these are the unit vectors.  An upper bound follows, and it may be too large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import fmpq_mat

from privproof.engines.search_monitor import Monitor
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.rational_matrices import Vector, along
from privproof.models import WordProblem

Multiples: TypeAlias = dict[int, Rational]
"""Multipliers of generators, by number."""

_GENERATORS_A_STATE, _MORE_GENERATORS = 2, 6
"""So many vectors are kept at a location before the past is forgotten: by state, and besides. Cones with more seldom close."""
_LETTERS, _MOST_REMEMBERED = 4, 120
"""So many letters are remembered at the most, as long as there are not more vectors than this: each is compared with every change."""
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


def find_pasts(problem: WordProblem, locations: Sequence[int], *, monitor: Monitor) -> Iterator[Pasts]:
    """Cones for the pasts at some locations, smaller and smaller: of words if they close, otherwise remembering more and more letters."""
    found = _Closing(problem, frozenset(locations), monitor).run()
    if found is not None:
        yield found
        return
    for letters in range(_LETTERS + 1):
        remembered = _Remembering(problem, frozenset(locations), letters).run()
        if remembered is None:
            return
        yield remembered


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


_Path: TypeAlias = "tuple[tuple[int, int], ...]"
"""Letters, each by its location and the number of its edge there."""
_Remembered: TypeAlias = "tuple[int | tuple[int, int], _Path]"
"""What a generator is the vector of: the letters so far from a start (its number), or the last ones from a state at a location."""


class _Remembering:
    """Remembers the last letters, and forgets what was before them."""

    def __init__(self, problem: WordProblem, locations: frozenset[int], letters: int) -> None:
        self.problem, self.locations, self.letters = problem, locations, letters
        self.generators: dict[int, list[Vector]] = {}
        self.numbers: dict[tuple[int, Vector], int] = {}
        self.count = 0
        self.waiting: list[tuple[int, int, _Remembered]] = []

    def run(self) -> Pasts | None:
        """The generators; None where there would be too many."""
        starts = {
            number: self._sum(start.location, self._begun(number))
            for number, start in enumerate(self.problem.starts)
            if start.location in self.locations
        }
        steps: dict[tuple[int, int, int], Multiples] = {}
        while self.waiting:
            if self.count > _MOST_REMEMBERED:
                return None
            location, number, remembered = self.waiting.pop()
            for e, edge in enumerate(self.problem.locations[location].edges):
                if edge.target in self.locations:
                    after = self._after(remembered, (location, e))
                    steps[location, number, e] = self._sum(edge.target, after)
        kept = {location: tuple(listed) for location, listed in self.generators.items()}
        return Pasts(kept, steps, starts, exact=False)

    def _begun(self, number: int) -> Iterator[tuple[_Remembered, Rational]]:
        """The vector of a start."""
        start = self.problem.starts[number]
        if self.letters:
            yield (number, ()), ONE
            return
        for state, mass in enumerate(start.left):
            if mass != 0:
                yield ((start.location, state), ()), mass

    def _after(self, remembered: _Remembered, letter: tuple[int, int]) -> Iterator[tuple[_Remembered, Rational]]:
        """What a letter leads to, as a sum of what is remembered."""
        origin, path = remembered
        longer = (*path, letter)
        if isinstance(origin, int):
            start = self.problem.starts[origin]
            if len(longer) < self.letters:
                yield (origin, longer), ONE
                return
            for state, mass in enumerate(start.left):
                if mass != 0:
                    yield ((start.location, state), longer), mass
            return
        (location, e), *rest = longer
        edge = self.problem.locations[location].edges[e]
        for column, entry in edge.left.rows[origin[1]]:
            yield ((edge.target, column), tuple(rest)), entry

    def _vector(self, remembered: _Remembered) -> Vector:
        origin, path = remembered
        if isinstance(origin, int):
            begin = self.problem.starts[origin].left
        else:
            size = self.problem.locations[origin[0]].left_size
            begin = tuple(ONE if i == origin[1] else ZERO for i in range(size))
        return along(begin, (self.problem.locations[location].edges[e].left for location, e in path))

    def _sum(self, location: int, terms: Iterator[tuple[_Remembered, Rational]]) -> Multiples:
        """A sum of vectors as multiples of generators, new ones where need be."""
        result: Multiples = {}
        for remembered, share in terms:
            vector = self._vector(remembered)
            if not any(vector):
                continue
            key = (location, vector)
            if key not in self.numbers:
                listed = self.generators.setdefault(location, [])
                self.numbers[key] = len(listed)
                listed.append(vector)
                self.count += 1
                self.waiting.append((location, self.numbers[key], remembered))
            number = self.numbers[key]
            result[number] = result.get(number, ZERO) + share
        return result
