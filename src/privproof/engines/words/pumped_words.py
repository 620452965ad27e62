"""Pumping: words u v^n w whose ratio grows without bound, so that no epsilon is enough.

A pump is a start, three words and two vectors: after u the left mass contains a' (``0 <= a' <= a A_u``), v keeps it up
(``a' A_v >= r1 a'``), w turns it into an output (``a' A_w f > 0``); the right mass is contained in b' (``b B_u <= b'``)
and v wears it down (``b' B_v <= r2 b'``), with r1 > r2, all rational.  Then ``P(u v^n w) >= r1^n a' A_w f`` and
``Q(u v^n w) <= r2^n b' B_w g``: the ratio grows at least like (r1/r2)^n.

Floating point looks for v by comparing the Perron roots of what the two sides can do under it.  The vectors are then
rational: a' approximates the Perron vector of the strongest component, r1 is its exact Collatz-Wielandt bound, and
``b' = b B_u (I - B_v/r2)^-1``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import inf

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from privproof.engines.search_monitor import Monitor, Progress
from privproof.exact import ZERO, Epsilon, Rational, fraction, rational, simplest
from privproof.exact.rational_matrices import Matrix, Vector, dot
from privproof.models import Edge, Letter, Word, WordProblem
from privproof.models.graph_algorithms import components, reachable

_MOST_CYCLES = 1200
"""So many repeated words of one length are tried at each location; beyond them a pump may be overlooked."""
_LARGEST = 400
"""Locations with more states are not searched: every cycle needs a dense matrix of this size and its eigenvalues."""
_MOST_SUPPORTS = 6
"""So many ways to reach a state are kept, by the right states that they leave possible."""


@dataclass(frozen=True)
class Pump:
    """A pump; see the module's docstring.

    Attributes:
        start: the number of the start.
        before: u.
        repeated: v.
        after: w.
        final: the name of the final column.
        left: a'.
        right: b'.
        left_rate: r1.
        right_rate: r2.
        location: where v begins and ends.
    """

    start: int
    before: tuple[Letter, ...]
    repeated: tuple[Letter, ...]
    after: tuple[Letter, ...]
    final: str
    left: Vector
    right: Vector
    left_rate: Rational
    right_rate: Rational
    location: int

    @property
    def growth(self) -> Rational | None:
        """By how much the ratio grows with each repetition, at least; None for without bound."""
        return self.left_rate / self.right_rate if self.right_rate != 0 else None

    def word(self, times: int) -> tuple[Letter, ...]:
        """u v^n w."""
        return self.before + self.repeated * times + self.after


def find_pump(problem: WordProblem, *, longest: int = 4, monitor: Monitor | None = None) -> Pump | None:
    """Among the pumps with the shortest repeated word (of at most `longest` letters) the one that grows fastest."""
    if max((max(p.left_size, p.right_size) for p in problem.locations), default=0) > _LARGEST:
        return None
    monitor = monitor or Monitor()
    search = _PumpSearch(problem)
    for length in range(1, longest + 1):
        monitor.listen(Progress(f"pumping, repeated words of length {length}"))
        best: Pump | None = None
        for location in search.reached:
            for cycle in islice(search.cycles(location, length), _MOST_CYCLES):
                if monitor.stopped() is not None:
                    return best
                pump = search.pump(location, cycle)
                if pump is not None and (best is None or _faster(pump, best)):
                    best = pump
        if best is not None:
            return best
    return None


def _faster(one: Pump, other: Pump) -> bool:
    if one.growth is None or other.growth is None:
        return other.growth is not None
    return one.growth > other.growth


def breaking_word(problem: WordProblem, pump: Pump, epsilon: Epsilon, *, most: int = 20_000) -> Word | None:
    """The word u v^n w with the smallest n that breaks epsilon; None if n would be too large."""
    begin = problem.starts[pump.start]
    location, left, right = begin.location, begin.left, begin.right
    for letter in pump.before:
        edge = problem.edge(location, letter)
        assert edge is not None
        location, left, right = edge.target, edge.left.after(left), edge.right.after(right)
    for times in range(most):
        at, p, q = location, left, right
        for letter in pump.after:
            edge = problem.edge(at, letter)
            assert edge is not None
            at, p, q = edge.target, edge.left.after(p), edge.right.after(q)
        for final in problem.locations[at].finals:
            if final.name == pump.final and not epsilon.allows(dot(p, final.left), dot(q, final.right)):
                return problem.word(pump.start, pump.word(times), final=pump.final)
        for letter in pump.repeated:
            edge = problem.edge(location, letter)
            assert edge is not None
            location, left, right = edge.target, edge.left.after(left), edge.right.after(right)
    return None


class _PumpSearch:
    """What is known about a problem while looking for pumps."""

    def __init__(self, problem: WordProblem) -> None:
        self.problem = problem
        self.dense: dict[int, NDArray[np.float64]] = {}
        self.words = self._shortest_words()
        self.endings = self._shortest_endings()
        self.reached = sorted({location for location, _ in self.words})

    def _shortest_words(self) -> dict[tuple[int, int], list[tuple[int, tuple[Letter, ...]]]]:
        """For every location and left state starts and short words that lead there, one for each smallest right support."""
        words: dict[tuple[int, int], list[tuple[int, tuple[Letter, ...]]]] = {}
        supports: dict[tuple[int, int], list[frozenset[int]]] = {}
        queue: deque[tuple[int, int, frozenset[int], int, tuple[Letter, ...]]] = deque()

        def arrive(location: int, state: int, right: frozenset[int], number: int, letters: tuple[Letter, ...]) -> None:
            known = supports.setdefault((location, state), [])
            if len(known) < _MOST_SUPPORTS and not any(smaller <= right for smaller in known):
                known.append(right)
                words.setdefault((location, state), []).append((number, letters))
                queue.append((location, state, right, number, letters))

        for number, start in enumerate(self.problem.starts):
            right = frozenset(i for i, p in enumerate(start.right) if p != 0)
            for state, p in enumerate(start.left):
                if p != 0:
                    arrive(start.location, state, right, number, ())
        while queue:
            location, state, right, number, letters = queue.popleft()
            for edge in self.problem.locations[location].edges:
                row = edge.left.rows[state]
                if row:
                    after = frozenset(column for i in right for column, _ in edge.right.rows[i])
                    for target, _ in row:
                        arrive(edge.target, target, after, number, (*letters, edge.letter))
        return words

    def _shortest_endings(self) -> dict[tuple[int, int], tuple[str, tuple[Letter, ...]]]:
        """For every location and left state a shortest word from there that counts."""
        endings: dict[tuple[int, int], tuple[str, tuple[Letter, ...]]] = {}
        before: dict[tuple[int, int], list[tuple[int, int, Edge]]] = {}
        for location, place in enumerate(self.problem.locations):
            for edge in place.edges:
                for state, row in enumerate(edge.left.rows):
                    for target, _ in row:
                        before.setdefault((edge.target, target), []).append((location, state, edge))
        queue: list[tuple[int, int]] = []
        for location, place in enumerate(self.problem.locations):
            for final in place.finals:
                for state, x in enumerate(final.left):
                    if x != 0 and (location, state) not in endings:
                        endings[location, state] = (final.name, ())
                        queue.append((location, state))
        for node in queue:
            name, letters = endings[node]
            for location, state, edge in before.get(node, ()):
                if (location, state) not in endings:
                    endings[location, state] = (name, (edge.letter, *letters))
                    queue.append((location, state))
        return endings

    def cycles(self, location: int, length: int) -> Iterator[tuple[Edge, ...]]:
        """The words of the given length that lead from a location back to it, powers of shorter words left out."""

        def extend(at: int, path: tuple[Edge, ...]) -> Iterator[tuple[Edge, ...]]:
            if len(path) == length:
                if at == location and not _power(path):
                    yield path
                return
            for edge in self.problem.locations[at].edges:
                yield from extend(edge.target, (*path, edge))

        return extend(location, ())

    def _floats(self, matrix: Matrix) -> NDArray[np.float64]:
        if id(matrix) not in self.dense:
            result = np.zeros((len(matrix.rows), matrix.columns))
            for i, row in enumerate(matrix.rows):
                for j, entry in row:
                    result[i, j] = int(entry.p) / int(entry.q)
            self.dense[id(matrix)] = result
        return self.dense[id(matrix)]

    def pump(self, location: int, cycle: tuple[Edge, ...]) -> Pump | None:
        """A pump that repeats the cycle, if the left side outgrows the right under it."""
        left, right = self._floats(cycle[0].left), self._floats(cycle[0].right)
        for edge in cycle[1:]:
            left, right = left @ self._floats(edge.left), right @ self._floats(edge.right)
        for component in _cyclic(left):
            states = [s for s in component if (location, s) in self.words and (location, s) in self.endings]
            if len(states) < len(component):
                continue
            rate, vector = _perron(left[np.ix_(component, component)])
            if rate <= 0:
                continue
            for number, before in dict.fromkeys(word for s in component for word in self.words[location, s]):
                built = self._built(location, cycle, component, rate, vector, number, before, right)
                if built is not None:
                    return built
        return None

    def _after(self, number: int, letters: tuple[Letter, ...]) -> tuple[Vector, Vector]:
        start = self.problem.starts[number]
        location, left, right = start.location, start.left, start.right
        for letter in letters:
            edge = self.problem.edge(location, letter)
            assert edge is not None
            location, left, right = edge.target, edge.left.after(left), edge.right.after(right)
        return left, right

    def _built(
        self,
        location: int,
        cycle: tuple[Edge, ...],
        component: list[int],
        rate: float,
        vector: NDArray[np.float64],
        number: int,
        before: tuple[Letter, ...],
        right_floats: NDArray[np.float64],
    ) -> Pump | None:
        left, right = self._after(number, before)
        support = _closure(right_floats, [i for i, x in enumerate(right) if x != 0])
        other = _radius(right_floats[np.ix_(support, support)])
        if rate <= other * (1 + 1e-9):
            return None
        letters = tuple(edge.letter for edge in cycle)
        for _ in range(len(component) + 1):
            if all(left[s] != 0 for s in component):
                break
            before += letters
            left, right = _times(cycle, left, on_left=True), _times(cycle, right, on_left=False)
        else:
            return None
        mass = [ZERO] * len(left)
        for s, x in zip(component, vector, strict=True):
            mass[s] = rational(Fraction(float(x)).limit_denominator(10**6))
            if mass[s] <= 0:
                return None
        shrink = min(left[s] / mass[s] for s in component)
        a = tuple(x * shrink for x in mass)
        grown = _times(cycle, a, on_left=True)
        left_rate = min(grown[s] / a[s] for s in component)
        held = _containing_vector(cycle, right, support, other, left_rate)
        if held is None:
            return None
        b, right_rate = held
        name, after = self.endings[location, component[0]]
        return Pump(number, before, letters, after, name, a, b, left_rate, right_rate, location)


def _containing_vector(
    cycle: tuple[Edge, ...], right: Vector, support: list[int], radius: float, left_rate: Rational
) -> tuple[Vector, Rational] | None:
    """A vector that contains the right mass and a rate below the left one at which the cycle wears it down."""
    worn = _times(cycle, right, on_left=False)
    if all(x == 0 or right[i] != 0 for i, x in enumerate(worn)):
        rate = max((x / right[i] for i, x in enumerate(worn) if x != 0), default=ZERO)
        if rate < left_rate:
            return right, rate
    low = Fraction(radius * (1 + 1e-7)) + Fraction(1, 10**12)
    high = fraction(left_rate)
    if low >= high:
        return None
    rate = rational(simplest(low + (high - low) / 16, low + (high - low) / 2))
    size = len(support)
    rows = [_times(cycle, _unit(len(right), i), on_left=False) for i in support]
    matrix = fmpq_mat(
        size, size, [rational(int(r == c)) - rows[r][support[c]] / rate for r in range(size) for c in range(size)]
    )
    try:
        solved = matrix.transpose().solve(fmpq_mat(size, 1, [right[i] for i in support]))
    except ZeroDivisionError:
        return None
    b = [ZERO] * len(right)
    for k, i in enumerate(support):
        b[i] = solved[k, 0]
    held = tuple(b)
    after = _times(cycle, held, on_left=False)
    if any(x < y for x, y in zip(held, right, strict=True)) or any(
        x > rate * y for x, y in zip(after, held, strict=True)
    ):
        return None
    return held, rate


def _times(cycle: tuple[Edge, ...], vector: Vector, *, on_left: bool) -> Vector:
    for edge in cycle:
        vector = (edge.left if on_left else edge.right).after(vector)
    return vector


def _unit(size: int, index: int) -> Vector:
    return tuple(rational(int(i == index)) for i in range(size))


def _power(path: tuple[Edge, ...]) -> bool:
    letters = [edge.letter for edge in path]
    return any(
        len(letters) % n == 0 and letters == letters[:n] * (len(letters) // n) for n in range(1, len(letters) // 2 + 1)
    )


def _cyclic(matrix: NDArray[np.float64]) -> list[list[int]]:
    """The strongly connected components with a cycle, the strongest first."""
    found = sorted(
        sorted(group) for group in components(range(len(matrix)), lambda i: np.flatnonzero(matrix[i] > 0).tolist())
    )
    cyclic = [c for c in found if len(c) > 1 or matrix[c[0], c[0]] > 0]
    return sorted(cyclic, key=lambda c: -_radius(matrix[np.ix_(c, c)]))


def _radius(matrix: NDArray[np.float64]) -> float:
    if matrix.shape[0] == 0:
        return 0.0
    if matrix.shape[0] == 1:
        return float(matrix[0, 0])
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def _perron(matrix: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The Perron root of an irreducible matrix and its left vector, scaled to largest entry one."""
    if matrix.shape[0] == 1:
        return float(matrix[0, 0]), np.array([1.0])
    vector = np.ones(matrix.shape[0])
    shifted = matrix + np.eye(matrix.shape[0]) * max(float(matrix.max()), 1e-300)
    for _ in range(2000):
        following = vector @ shifted
        following /= following.max()
        if np.abs(following - vector).max() < 1e-13:
            break
        vector = following
    grown = vector @ matrix
    rate = float(np.min(np.divide(grown, vector, out=np.full_like(vector, inf), where=vector > 0)))
    return rate, vector


def _closure(matrix: NDArray[np.float64], states: list[int]) -> list[int]:
    """The states that can be reached from the given ones."""
    return sorted(reachable(states, lambda state: np.flatnonzero(matrix[state] > 0).tolist()))
