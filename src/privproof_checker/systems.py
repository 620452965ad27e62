"""What a question asks, in one shape for all kinds of models: locations, letters, integer matrices, final columns.

A *word* is a sequence of letters. At every moment the left and the right copy of the mechanism are described by two
vectors of masses, and both are at one *location*, which says which letters may follow, by which matrices they
multiply the vectors, and whether a word may end there. For a start (a, b) and a word w = l1 ... lk the two
probabilities are

    P(w) = a A_l1 ... A_lk f        Q(w) = b B_l1 ... B_lk f

where f, a *final column* of zeros and ones, marks the states whose mass counts at the end.

All matrices are integers over a common denominator: an edge holds ``d A`` and ``d B`` and d. Vectors are sparse: a
mapping from index to a positive integer; what is absent is zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Protocol, TypeAlias

from flint import fmpz_mat

from privproof_checker.claims import Claim
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_distribution, a_text, a_text_or_null, an_object

Vector: TypeAlias = Mapping[int, int]
Rows: TypeAlias = Mapping[int, Sequence[tuple[int, int]]]
Location: TypeAlias = Hashable
Masses: TypeAlias = tuple[tuple[int, Rational], ...]

_MANY = 8
"""From so many vectors on it pays to build dense matrices."""
_MOST_KEPT = 20_000_000
"""Entries of dense matrices that are kept for the next vectors: 160 MB; those of further ones are made each time."""


@dataclass(frozen=True)
class Letter:
    """What is observed in one step, and the two inputs, where there are inputs."""

    output: str | None
    left: str | None = None
    right: str | None = None

    def __str__(self) -> str:
        read = self.left is not None or self.right is not None
        inputs = f"{self.left or ''}|{self.right or ''}:" if read else ""
        return f"{inputs}{'(nothing)' if self.output is None else self.output}"


@dataclass(frozen=True)
class Edge:
    """A letter at a location: where it leads, and both matrices times `scale`, by row."""

    target: Location
    left: Rows
    right: Rows
    scale: int


@dataclass(frozen=True)
class Final:
    """A way to end a word: ``any`` (all mass) or ``complete`` (the mass in halted states), and the indices counted."""

    ending: str
    counted: frozenset[int]


@dataclass(frozen=True)
class Start:
    """An ordered pair of situations.

    Attributes:
        left: the left initial distribution, by index of the state.
        right: the right one.
        own: the pair's own restriction, if it has one.
        only: the restriction in force, if there is one.
        location: where the pair starts.
    """

    left: Masses
    right: Masses
    own: str | None
    only: str | None
    location: Location


@dataclass(frozen=True)
class Horizon:
    """The lengths that are compared: from `low` to `high`, without end where high is None."""

    low: int
    high: int | None

    def counts(self, length: int) -> bool:
        """Whether words of this length are compared."""
        return self.low <= length and (self.high is None or length <= self.high)

    def goes_on(self, length: int) -> bool:
        """Whether longer words are compared."""
        return self.high is None or length < self.high

    def __str__(self) -> str:
        if self.high is None:
            return "every length"
        return f"length {self.high}" if self.low == self.high else f"lengths 1 to {self.high}"


class System(Protocol):
    """A model with a scenario, as the rest of the checker sees it."""

    @property
    def starts(self) -> Sequence[Start]:
        """Every ordered pair."""

    def size(self, location: Location) -> int:
        """The length of the vectors at a location."""

    def letters(self, location: Location) -> Sequence[Letter]:
        """The letters allowed at a location, but those that the left copy never writes there."""

    def edge(self, location: Location, letter: Letter) -> Edge | None:
        """The edge of a letter; None where it is not allowed."""

    def finals(self, location: Location) -> Sequence[Final]:
        """How a word that leads here may end; empty where no compared word ends."""


class Moves:
    """The letters of a location with their edges, computed once."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.known: dict[Location, list[tuple[Letter, Edge]]] = {}

    def at(self, location: Location) -> list[tuple[Letter, Edge]]:
        """The letters that may follow at a location, and where each leads."""
        if location not in self.known:
            edges = [(letter, self.system.edge(location, letter)) for letter in self.system.letters(location)]
            self.known[location] = [(letter, edge) for letter, edge in edges if edge is not None]
        return self.known[location]


@dataclass(frozen=True)
class Question:
    """A question, read and checked."""

    system: System
    starts: Mapping[tuple[Masses, Masses], Sequence[Start]]
    states: Mapping[str, int]
    horizon: Horizon
    claim: Claim
    ending: str
    described: str


def product(vector: Vector, rows: Rows) -> dict[int, int]:
    """The row vector times the matrix.

    >>> product({0: 2, 1: 3}, {0: [(1, 5)], 1: [(0, 1), (1, 1)]})
    {1: 13, 0: 3}
    """
    if isinstance(rows, ScaledRows):
        return rows.afterwards(product(rows.beforehand(vector), rows.middle))
    result: dict[int, int] = {}
    for index, mass in vector.items():
        for column, entry in rows.get(index, ()):
            result[column] = result.get(column, 0) + mass * entry
    return result


class ScaledRows(Mapping[int, Sequence[tuple[int, int]]]):
    """The matrix ``diag(before) middle diag(after)``: factors are large, entries are small, and many matrices share their middle.

    >>> ScaledRows({0: 10, 1: 1}, {0: [(0, 1), (1, 2)], 1: [(1, 3)]}, {1: 7})[0]
    [(1, 140)]

    Args:
        before: the factor of every row.
        middle: the entries between.
        after: the factors of columns; a column without one is zero.
    """

    def __init__(self, before: Vector, middle: Rows, after: Vector) -> None:
        self.before = before
        self.middle = middle
        self.after = after

    def __getitem__(self, index: int) -> list[tuple[int, int]]:
        factor, after = self.before[index], self.after
        return [(j, factor * entry * after[j]) for j, entry in self.middle[index] if j in after]

    def __iter__(self) -> Iterator[int]:
        return iter(self.middle)

    def __len__(self) -> int:
        return len(self.middle)

    def beforehand(self, vector: Vector) -> dict[int, int]:
        """The row vector times the factors of rows."""
        return {i: mass * self.before[i] for i, mass in vector.items() if i in self.before}

    def afterwards(self, vector: Vector) -> dict[int, int]:
        """The row vector times the factors of columns."""
        return {j: mass * self.after[j] for j, mass in vector.items() if j in self.after}


def columns(rows: Rows, index: int) -> Iterable[int]:
    """The columns at which a row is not zero."""
    if isinstance(rows, ScaledRows):
        return [j for j, _ in rows.middle.get(index, ()) if j in rows.after]
    return [j for j, _ in rows.get(index, ())]


class DenseMatrices:
    """Matrices as dense ones, where little is zero, each made once while all of them are small."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Rows, fmpz_mat | None]] = {}
        self._entries = 0

    def of(self, rows: Rows, *, worthwhile: bool) -> fmpz_mat | None:
        """The matrix; None where much is zero, or where it is not there yet and is not worth while.

        The rows are kept, so that no others take their place in memory.
        """
        if id(rows) in self._made:
            return self._made[id(rows)][1]
        if not worthwhile:
            return None
        height = 1 + max(rows, default=-1)
        columns = 1 + max((max(row, default=(-1, 0))[0] for row in rows.values()), default=-1)
        matrix = None
        if 3 * sum(map(len, rows.values())) >= columns * height:
            matrix = _dense([rows.get(i, ()) for i in range(height)], columns)
            self._entries += columns * height
        if self._entries <= _MOST_KEPT:
            self._made[id(rows)] = (rows, matrix)
        return matrix


class Stack:
    """Vectors that are multiplied by one matrix after another: all at once where they are many and little is zero.

    >>> Stack([{0: 2, 1: 3}], DenseMatrices()).after({0: [(1, 5)], 1: [(0, 1), (1, 1)]})
    [{1: 13, 0: 3}]
    """

    def __init__(self, vectors: Sequence[Vector], matrices: DenseMatrices) -> None:
        self.vectors = vectors
        self._matrices = matrices
        self._stacked: dict[int, fmpz_mat] = {}
        self._scaled: dict[tuple[int, int], tuple[ScaledRows, list[dict[int, int]]]] = {}
        size = 1 + max((i for vector in vectors for i in vector), default=-1)
        self._full = 3 * sum(map(len, vectors)) > len(vectors) * size

    def after(self, rows: Rows) -> list[dict[int, int]]:
        """Every row vector times the matrix, without zeros."""
        if isinstance(rows, ScaledRows):
            key = (id(rows.before), id(rows.middle))
            if key not in self._scaled:  # the rows are kept, so that no others take their place in memory
                before = [rows.beforehand(vector) for vector in self.vectors]
                self._scaled[key] = (rows, Stack(before, self._matrices).after(rows.middle))
            return [rows.afterwards(vector) for vector in self._scaled[key][1]]
        matrix = self._matrices.of(rows, worthwhile=len(self.vectors) >= _MANY) if self._full else None
        if matrix is None:
            return [product(vector, rows) for vector in self.vectors]
        height = matrix.nrows()
        if height not in self._stacked:
            inside = [[(i, x) for i, x in vector.items() if i < height] for vector in self.vectors]
            self._stacked[height] = _dense(inside, height)
        return [{j: int(x) for j, x in enumerate(row) if x} for row in (self._stacked[height] * matrix).tolist()]


def _dense(rows: Sequence[Iterable[tuple[int, int]]], columns: int) -> fmpz_mat:
    entries = [0] * (len(rows) * columns)
    for i, row in enumerate(rows):
        for j, entry in row:
            entries[i * columns + j] += entry
    return fmpz_mat(len(rows), columns, entries)


def total(vector: Vector, counted: frozenset[int]) -> int:
    """The mass in the counted indices."""
    return sum(mass for index, mass in vector.items() if index in counted)


def on_common_denominator(*sides: Masses) -> tuple[int, tuple[dict[int, int], ...]]:
    """The least common denominator d, and every side times d."""
    scale = lcm(1, *(int(mass.q) for side in sides for _, mass in side))
    return scale, tuple({i: int(mass.p) * (scale // int(mass.q)) for i, mass in side} for side in sides)


def integer_rows(rows: Mapping[int, Iterable[tuple[int, Rational]]], scale: int) -> dict[int, list[tuple[int, int]]]:
    """Rows of rationals times a common denominator."""
    return {i: [(j, int(e.p) * (scale // int(e.q))) for j, e in row] for i, row in rows.items()}


def masses(entries: Mapping[str, Rational], states: Mapping[str, int]) -> Masses:
    """A distribution by index of the state, in order."""
    return tuple(sorted((states[name], mass) for name, mass in entries.items()))


def read_letter(value: object, place: str) -> Letter:
    """A letter in a certificate: an object with output, left and right, each a name or null."""
    given = an_object(value, place)
    return Letter(
        a_text_or_null(given.get("output"), f"{place}.output"),
        a_text_or_null(given.get("left"), f"{place}.left"),
        a_text_or_null(given.get("right"), f"{place}.right"),
    )


def matching_starts(question: Question, value: dict[str, object], place: str, limits: Limits) -> list[Start]:
    """The ordered pairs that a piece of evidence names by its left and right distributions, and perhaps its
    restriction.

    Without ``only`` the pairs meant are those without a restriction of their own; with it, those under that
    restriction.
    """
    left = masses(a_distribution(value.get("left"), question.states, "state", f"{place}.left", limits), question.states)
    right = masses(
        a_distribution(value.get("right"), question.states, "state", f"{place}.right", limits), question.states
    )
    only = a_text_or_null(value.get("only"), f"{place}.only")
    same = list(question.starts.get((left, right), ()))
    if not same:
        refuse("the question does not compare this pair in this order", place)
    found = [start for start in same if (start.own if only is None else start.only) == only]
    if not found and only is None:
        found = same if len(same) == 1 else []
    if not found:
        refuse("the question does not compare this pair under this restriction", place)
    return found


def path_edges(question: Question, location: Location, letters: Sequence[Letter], place: str) -> tuple[Edge, ...]:
    """The edges of a word from a location on; refuses a word that cannot be read there."""
    edges: list[Edge] = []
    for letter in letters:
        edge = question.system.edge(location, letter)
        if edge is None:
            refuse(f"the letter {letter} cannot follow here", place)
        edges.append(edge)
        location = edge.target
    return tuple(edges)


def final_of(question: Question, location: Location, ending: str) -> Final | None:
    """What is counted where words end so at a location; None where none does."""
    return next((final for final in question.system.finals(location) if final.ending == ending), None)


def read_final(question: Question, location: Location, given: dict[str, object], place: str) -> Final:
    """What is counted where words end as evidence says; refuses an ending that is not compared."""
    final = final_of(question, location, a_text(given.get("ending"), f"{place}.ending"))
    if final is None:
        refuse("no compared word ends here", f"{place}.after")
    return final
