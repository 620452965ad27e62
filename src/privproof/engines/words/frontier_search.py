"""Frontier search: every word of a bounded horizon, level by level, with the vectors that cone dominance lets us forget left out.

At level t the frontier holds, for every location, a set of vectors that dominates every vector reachable by a word of length t
(`dominance`).  So a violation exists iff a kept vector violates at some level, the shortest violating word has the level at which the
first one appears, and the largest ratio of kept vectors is the largest ratio of all words: exact, without a guess at c.
The kept vectors with the multipliers of the forgotten ones are a certificate.

Where left and right share their matrices (or their `margins` are positive) the best ratio R known so far prunes more: a vector with
``alpha <= R m beta`` can never exceed R.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import TypeAlias, TypeVar

from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.engines.words.cone_margins import margins
from privproof.engines.words.cone_simulation import Simulation
from privproof.engines.words.dominance import Antichain, Dominated, is_dominated
from privproof.engines.words.word_endings import Ending, Goal, Hit, Judge
from privproof.engines.words.word_vectors import Reached, TensorProduct, initial, potential
from privproof.exact import ZERO, Rational
from privproof.exact.rational_matrices import Matrix, Vector
from privproof.models import Edge, Final, ProblemStart, Word, WordProblem

Place: TypeAlias = tuple[int, int]
"""A level and a location."""

Origin: TypeAlias = tuple[Place, int, int]
"""Where a product comes from: a place, the number of the generator there, the number of the edge."""

Candidates: TypeAlias = dict[int, list[tuple[Origin, Reached]]]
Counted: TypeAlias = tuple[int | None, ...]
"""For every coordinate which of the distinct final entries it has; None where no final column counts it."""

Active: TypeAlias = tuple[int, ...]
"""Coordinates of a location, ascending."""

Key = TypeVar("Key", bound=Hashable)


@dataclass
class SearchTrace:
    """What a finished search has established, in the form of a certificate.

    Attributes:
        kept: the generators at every place.
        forgotten: how each product is dominated at the place it leads to; absent where the left part vanishes.
        starts: how the vector of each start is dominated at its place.
        bound: the bound behind diagonal generators and those of simulations, where they were used.
        simulations: the simulations that cover vectors.
        inductive: whether one set of generators serves every level (all places are then at level 0).
        last: the last level, where only what the final columns count is kept.
        counted: by location the classes that the final columns tell apart, on both sides.
        active: by place the coordinates that the two sides can occupy there; vectors list only those.
    """

    kept: dict[Place, list[Reached]] = field(default_factory=dict)
    forgotten: dict[Origin, Dominated] = field(default_factory=dict)
    starts: dict[int, Dominated] = field(default_factory=dict)
    bound: Fraction | None = None
    simulations: list[Simulation] = field(default_factory=list)
    last: int = 0
    inductive: bool = False
    counted: dict[int, tuple[Counted, Counted]] = field(default_factory=dict)
    active: dict[Place, tuple[Active, Active]] = field(default_factory=dict)


@dataclass(frozen=True)
class Searched:
    """The outcome of a search.

    Attributes:
        found: the shortest word that the search looked for, with the fewest changed inputs among those seen.
        best: the word with the largest ratio seen.
        trace: the evidence that nothing was missed, when the whole horizon was searched.
        stopped: why the search ended early, or None.
        level: the last length that was searched completely.
        kept: how many vectors were kept in all.
    """

    found: Word | None
    best: Word | None
    trace: SearchTrace | None
    stopped: str | None
    level: int
    kept: int


class Frontier:
    """One search; see the module's docstring.

    Args:
        problem: a word problem with a bounded horizon.
        goal: what to look for; without one the largest ratio is sought.
        delta: what is subtracted from P, for each output.
        threshold: words whose ratio stays at or below it are of no interest: a rational bound on the budget, or the
            ratio of a known word.
        strictly: whether words that attain the threshold are of interest.
        monitor: progress and interrupts.
    """

    def __init__(
        self,
        problem: WordProblem,
        *,
        goal: Goal | None = None,
        delta: Rational = ZERO,
        threshold: Rational = ZERO,
        strictly: bool = False,
        monitor: Monitor | None = None,
    ) -> None:
        self.problem = problem
        self.monitor = monitor or Monitor()
        self.judge = Judge(problem, goal=goal, delta=delta, threshold=threshold, monitor=self.monitor)
        self.goal, self.weighted, self.threshold = goal, delta != 0, self.judge.threshold
        self.strictly = strictly
        self.products: dict[tuple[int, ...], TensorProduct] = {}
        self.interned: dict[Active, Active] = {}
        self.reach: dict[tuple[int, int], frozenset[int]] = {}
        self.margins = (Fraction(0),) * len(problem.locations) if self.weighted else margins(problem)
        self.trace = SearchTrace(last=problem.horizon.high or 0)
        self.kept = 0

    def run(self) -> Searched:
        """Search the horizon."""
        horizon = self.problem.horizon
        assert horizon.high is not None
        level = 0
        try:
            frontier = self._begin()
            for level in range(1, horizon.high + 1):
                candidates = self._expand(frontier, level - 1)
                if horizon.counts(level):
                    found = self._judge(candidates, level)
                    if found is not None or (self.goal is None and self.judge.ratio == inf):
                        return self._outcome(found, None, level, complete=False)
                frontier = {location: self._prune(level, location, c) for location, c in candidates.items()}
                kept = sum(map(len, frontier.values()))
                self.kept += kept
                event = Progress(
                    "frontier search", level, kept, self.judge.lower(), established=self.judge.established()
                )
                self.monitor.listen(event)
                if not kept:
                    break
        except Stopped:
            return self._outcome(None, self.monitor.stopped(), max(level - 1, 0))
        return self._outcome(None, None, horizon.high)

    def _outcome(self, found: Word | None, stopped: str | None, level: int, *, complete: bool = True) -> Searched:
        best = self.judge.best_word()
        trace = self.trace if complete and stopped is None else None
        return Searched(found, best, trace, stopped, level, self.kept)

    def _begin(self) -> dict[int, list[Reached]]:
        grouped: dict[int, list[tuple[int, ProblemStart]]] = defaultdict(list)
        for number, start in enumerate(self.problem.starts):
            if any(x != 0 for x in start.left):
                grouped[start.location].append((number, start))
        frontier = {}
        for location, members in grouped.items():
            left, right = self._occupy(
                0,
                location,
                {i for _, s in members for i, x in enumerate(s.left) if x != 0},
                {i for _, s in members for i, x in enumerate(s.right) if x != 0},
            )
            vectors = [
                (n, initial(n, [s.left[i] for i in left], [s.right[i] for i in right], weighted=self.weighted))
                for n, s in members
            ]
            chain, reasons = self._antichain(vectors, self._diagonal_bound(location))
            frontier[location] = self.trace.kept[0, location] = chain
            self.trace.starts |= reasons
        return frontier

    def _occupy(self, level: int, location: int, left: set[int], right: set[int]) -> tuple[Active, Active]:
        """Remember which coordinates vectors can occupy at a place; equal sets are one object.

        Where both sides have the same coordinates they list the same ones, so that entries can be compared.
        """
        place = self.problem.locations[location]
        if place.left_size == place.right_size:
            left = right = left | right
        one, other = tuple(sorted(left)), tuple(sorted(right))
        active = (self.interned.setdefault(one, one), self.interned.setdefault(other, other))
        self.trace.active[level, location] = active
        return active

    def _expand(self, frontier: dict[int, list[Reached]], level: int) -> Candidates:
        """Every product of a kept vector with a letter, by the location it leads to.

        At the last level only what the final columns count is computed.
        """
        last = level + 1 == self.trace.last
        sources = {location: vectors for location, vectors in frontier.items() if vectors}
        if not last:
            self._spread(list(sources), level)
        candidates: Candidates = defaultdict(list)
        for location, vectors in sources.items():
            for number, edge in enumerate(self.problem.locations[location].edges):
                self.monitor.pause()
                product = self._last_product(level, location, edge) if last else self._product(level, location, edge)
                for i, vector in enumerate(product(vectors, edge.letter)):
                    if vector is not None:
                        candidates[edge.target].append((((level, location), i, number), vector))
        return candidates

    def _spread(self, locations: list[int], level: int) -> None:
        """Which coordinates can be occupied one letter later."""
        left: dict[int, set[int]] = defaultdict(set)
        right: dict[int, set[int]] = defaultdict(set)
        for location in locations:
            one, other = self.trace.active[level, location]
            for edge in self.problem.locations[location].edges:
                left[edge.target] |= self._reached(edge.left, one)
                right[edge.target] |= self._reached(edge.right, other)
        for location in left:
            self._occupy(level + 1, location, left[location], right[location])

    def _reached(self, matrix: Matrix, active: Active) -> frozenset[int]:
        key = (id(matrix), id(active))
        if key not in self.reach:
            found: set[int] = set()
            for i in active:
                if len(found) == matrix.columns:
                    break
                found.update(column for column, _ in matrix.rows[i])
            self.reach[key] = frozenset(found)
        return self.reach[key]

    def _product(self, level: int, location: int, edge: Edge) -> TensorProduct:
        source, target = self.trace.active[level, location], self.trace.active[level + 1, edge.target]
        key = (id(edge), *(id(active) for active in (*source, *target)))
        if key not in self.products:
            one = _restrict_matrix(edge.left, source[0], target[0])
            same = edge.right is edge.left and source[0] is source[1] and target[0] is target[1]
            self.products[key] = TensorProduct(one, one if same else _restrict_matrix(edge.right, source[1], target[1]))
        return self.products[key]

    def _last_product(self, level: int, location: int, edge: Edge) -> TensorProduct:
        source = self.trace.active[level, location]
        if edge.target not in self.trace.counted:
            place = self.problem.locations[edge.target]
            self.trace.counted[edge.target] = (
                _entry_classes([f.left for f in place.finals], place.left_size),
                _entry_classes([f.right for f in place.finals], place.right_size),
            )
        left, right = self.trace.counted[edge.target]
        one = _collapse_columns(edge.left, source[0], left)
        same = edge.right is edge.left and source[0] is source[1] and left == right
        return TensorProduct(one, one if same else _collapse_columns(edge.right, source[1], right))

    def _endings(self, level: int, location: int) -> list[Ending]:
        finals = self.problem.locations[location].finals
        if level == self.trace.last:
            return [Ending(_final(final, finals)) for final in finals]
        left, right = self.trace.active[level, location]
        return [Ending(Final(f.name, tuple(f.left[i] for i in left), tuple(f.right[i] for i in right))) for f in finals]

    def _judge(self, candidates: Candidates, level: int) -> Word | None:
        """Update the best word; return a word of this level that meets the goal, with the fewest changed inputs."""
        hits: list[Hit] = []
        for location, members in candidates.items():
            hits += self.judge.hits((vector for _, vector in members), self._endings(level, location))
        return self.judge.simplest(hits)

    def _prune(self, level: int, location: int, members: Sequence[tuple[Origin, Reached]]) -> list[Reached]:
        chain, reasons = self._antichain(members, None if level == self.trace.last else self._diagonal_bound(location))
        self.trace.kept[level, location] = chain
        self.trace.forgotten |= reasons
        return chain

    def _antichain(
        self, members: Sequence[tuple[Key, Reached]], bound: Fraction | None
    ) -> tuple[list[Reached], dict[Key, Dominated]]:
        """The members that no others dominate, and for every member why it is covered."""
        chain = Antichain(weighted=self.weighted)
        reasons: dict[Key, Dominated] = {}
        for key, vector in sorted(members, key=lambda member: potential(member[1]), reverse=True):
            self.monitor.pause()
            if bound is not None and is_dominated(vector, bound, strictly=self.strictly):
                reasons[key] = Dominated(diagonal=vector.left, scale=vector.scale)
                self.trace.bound = self._interest()
                continue
            by = chain.dominator(vector)
            if by is None:
                by = ((chain.add(vector), Fraction(1)),)
            reasons[key] = Dominated(by=by, scale=vector.scale)
        return chain.generators, reasons

    def _interest(self) -> Fraction:
        """A ratio that is of no interest any more."""
        return self.threshold if self.goal is not None else self.judge.attained()

    def _diagonal_bound(self, location: int) -> Fraction | None:
        """Vectors with ``alpha <= bound * beta`` lead to nothing of interest; None where the margin says nothing."""
        return self._interest() * self.margins[location] or None


def _restrict_matrix(matrix: Matrix, rows: Active, columns: Active) -> Matrix:
    """The matrix between the coordinates that can be occupied; itself where those are all."""
    if len(rows) == len(matrix.rows) and len(columns) == matrix.columns:
        return matrix
    number = {column: i for i, column in enumerate(columns)}
    return Matrix.of(len(columns), ({number[c]: e for c, e in matrix.rows[i]} for i in rows))


def _collapse_columns(matrix: Matrix, rows: Active, classes: Counted) -> Matrix:
    """The matrix from the coordinates that can be occupied, with its columns added up by class."""
    result = []
    for i in rows:
        sums: dict[int, Rational] = {}
        for column, entry in matrix.rows[i]:
            target = classes[column]
            if target is not None:
                sums[target] = sums.get(target, ZERO) + entry
        result.append(sums)
    return Matrix.of(1 + max((c for c in classes if c is not None), default=-1), result)


def _final(final: Final, finals: Sequence[Final]) -> Final:
    """The final column on classes of equal entries."""
    left = _entry_classes([f.left for f in finals], len(final.left))
    right = _entry_classes([f.right for f in finals], len(final.right))
    return Final(final.name, _by_class(final.left, left), _by_class(final.right, right))


def _by_class(column: Vector, classes: Counted) -> Vector:
    values = {c: x for c, x in zip(classes, column, strict=True) if c is not None}
    return tuple(values[c] for c in range(len(values)))


def _entry_classes(columns: Sequence[Vector], size: int) -> Counted:
    """For so many coordinates which of the distinct entries of the columns each has; where no word ends, none counts."""
    numbers: dict[tuple[Rational, ...], int] = {}
    entries = list(zip(*columns, strict=True)) if columns else [()] * size
    return tuple(numbers.setdefault(e, len(numbers)) if any(x != 0 for x in e) else None for e in entries)
