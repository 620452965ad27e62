"""The word problem: the one question behind everything finite.

Left row vector ``a``, right row vector ``b`` (both non-negative), and for every letter ``l`` a pair of non-negative matrices
``(A_l, B_l)``; final columns ``f, g``.  For a word w, ``P(w) = a A_w f`` and ``Q(w) = b B_w g``.  The question is whether
``P(w) <= c Q(w) + delta`` for every word of the horizon.

Which letters may follow which is a deterministic graph of *locations* (a restriction on words, or the step of a mechanism);
matrices belong to its edges, final columns to its locations.  A problem may have several starts: they share the graph.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from privproof.errors import QuestionError
from privproof.exact import ONE, Rational
from privproof.exact.rational_matrices import Matrix, Vector, along, dot
from privproof.models.graph_algorithms import components

_LONGEST = 10**9
"""The largest number of letters in a horizon; beyond, it is refused with a hint that names unbounded."""
_HORIZONS = "a horizon reads like 3, up to 11, or unbounded"


@dataclass(frozen=True)
class Horizon:
    """The lengths of the words that are compared: from `low` to `high`, unbounded where high is None.

    >>> str(Horizon.exactly(1)), str(Horizon.up_to(11)), str(Horizon.unbounded())
    ('1', 'up to 11', 'unbounded')
    """

    low: int
    high: int | None

    def __post_init__(self) -> None:
        if self.low < 1 or self.low not in (1, self.high):
            raise QuestionError(
                "horizon",
                f"horizon={self}: words have one length, or every length from 1 on",
                hint="use Horizon.exactly, Horizon.up_to or Horizon.unbounded",
            )

    @classmethod
    def exactly(cls, length: int) -> Horizon:
        """Words of one length."""
        return cls(length, length)

    @classmethod
    def up_to(cls, length: int) -> Horizon:
        """Words of length 1, 2, ..., `length`."""
        return cls(1, length)

    @classmethod
    def unbounded(cls) -> Horizon:
        """Words of every length."""
        return cls(1, None)

    @classmethod
    def of(cls, text: str) -> Horizon:
        """The horizon that a text denotes.

        >>> Horizon.of("3"), Horizon.of("up to 11")
        (Horizon(low=3, high=3), Horizon(low=1, high=11))
        """
        said = " ".join(text.split())
        if said == "unbounded":
            return cls.unbounded()
        number = said.removeprefix("up to ")
        if re.fullmatch(r"[+-]?[0-9]{13,}", number):
            raise QuestionError("horizon", f"the horizon {said[:40]} is too long: beyond {_LONGEST}", hint=_HORIZONS)
        if not re.fullmatch(r"[+-]?[0-9]+", number):
            raise QuestionError("horizon", f"{said[:40]!r} is not a horizon", hint=_HORIZONS)
        length = int(number)
        if length < 1:
            raise QuestionError("horizon", f"horizon={length}: a word has at least one letter", hint=_HORIZONS)
        if length > _LONGEST:
            raise QuestionError("horizon", f"horizon={length} is beyond {_LONGEST}", hint=_HORIZONS)
        return cls.exactly(length) if number == said else cls.up_to(length)

    def __str__(self) -> str:
        if self.high is None:
            return "unbounded"
        if self.low == self.high:
            return str(self.high)
        return f"up to {self.high}" if self.low == 1 else f"{self.low} to {self.high}"

    def goes_on(self, length: int) -> bool:
        """Whether longer words than this are compared."""
        return self.high is None or length < self.high

    def counts(self, length: int) -> bool:
        """Whether words of this length are compared."""
        return self.low <= length and (self.high is None or length <= self.high)


@dataclass(frozen=True)
class Letter:
    """One letter of a word: what is observed, and the inputs on both sides where the adversary chooses them.

    Where one list has an element more, one side reads it and the other one reads nothing.

    >>> str(Letter("yes", "0", "1")), str(Letter("yes")), str(Letter(None, "0", None))
    ('0|1:yes', 'yes', '0|')
    """

    output: str | None = None
    left: str | None = None
    right: str | None = None

    def __str__(self) -> str:
        read = self.left is not None or self.right is not None
        inputs = f"{self.left or ''}|{self.right or ''}" if read else ""
        return ":".join(part for part in (inputs, self.output) if part) or "·"

    @property
    def changed(self) -> bool:
        """Whether the two inputs differ."""
        return self.left != self.right


@dataclass(frozen=True)
class Final:
    """A pair of final columns: P(w) and Q(w) count the mass weighted by them."""

    name: str
    left: Vector
    right: Vector


@dataclass(frozen=True)
class Edge:
    """A letter that may follow at a location, where it leads, and its matrices."""

    letter: Letter
    target: int
    left: Matrix
    right: Matrix


@dataclass(frozen=True)
class Location:
    """A point of the graph: the sizes of the two vectors there, the letters that may follow, the final columns."""

    left_size: int
    right_size: int
    edges: tuple[Edge, ...]
    finals: tuple[Final, ...]


@dataclass(frozen=True)
class ProblemStart:
    """One ordered pair of situations: its name, where it starts, and the two initial vectors."""

    name: str
    location: int
    left: Vector
    right: Vector


@dataclass(frozen=True)
class Word:
    """A word found in a problem: the start, the letters, the final column, and both probabilities."""

    start: int
    letters: tuple[Letter, ...]
    final: str
    left: Rational
    right: Rational

    @property
    def ratio(self) -> Rational | None:
        """P/Q; None where Q is zero."""
        return self.left / self.right if self.right != 0 else None

    @property
    def changes(self) -> int:
        """How many inputs differ."""
        return sum(letter.changed for letter in self.letters)


@dataclass(frozen=True)
class WordProblem:
    """A word problem; see the module's docstring.

    Attributes:
        common: whether left and right use the same matrices everywhere, so that equal vectors give equal probabilities.
    """

    locations: tuple[Location, ...]
    starts: tuple[ProblemStart, ...]
    horizon: Horizon
    common: bool = False

    def edge(self, location: int, letter: Letter) -> Edge | None:
        """The edge of a letter at a location."""
        return next((edge for edge in self.locations[location].edges if edge.letter == letter), None)

    def word(self, start: int, letters: tuple[Letter, ...], *, final: str | None = None) -> Word:
        """Both probabilities of a word, exactly.

        Where the last location has several final columns and none is named, the one with the largest ratio is taken.
        """
        begin = self.starts[start]
        location, path = begin.location, []
        for letter in letters:
            edge = self.edge(location, letter)
            if edge is None:
                raise KeyError(f"{letter} cannot follow")
            location = edge.target
            path.append(edge)
        left = along(begin.left, (edge.left for edge in path))
        right = along(begin.right, (edge.right for edge in path))
        candidates = [
            Word(start, letters, end.name, dot(left, end.left), dot(right, end.right))
            for end in self.locations[location].finals
            if final in (None, end.name)
        ]
        return max(candidates, key=_by_ratio)


def _by_ratio(word: Word) -> tuple[bool, Rational]:
    if word.right == 0:
        return (word.left > 0, ONE if word.left > 0 else -ONE)
    return (False, word.left / word.right)


def compares_something(problem: WordProblem) -> bool:
    """Whether a word of the horizon has positive probability on the left side of some start."""
    horizon = problem.horizon
    current = {(s.location, i) for s in problem.starts for i, p in enumerate(s.left) if p != 0}
    seen: set[frozenset[tuple[int, int]]] = set()
    level = 0
    while current and horizon.goes_on(level):
        level += 1
        current = {
            (edge.target, column)
            for location, state in current
            for edge in problem.locations[location].edges
            for column, _ in edge.left.rows[state]
        }
        if horizon.counts(level):
            if any(final.left[state] != 0 for place, state in current for final in problem.locations[place].finals):
                return True
            if frozenset(current) in seen:
                return False
            seen.add(frozenset(current))
    return False


def longest_word(problem: WordProblem) -> int | None:
    """The length of the longest word that can have positive probability on a left side; None if there is no longest.

    It is the longest path in the graph of (location, state), so it is exact unless a path leaves a location by a letter that
    no other path takes; it is never too small.
    """
    roots = {(s.location, i) for s in problem.starts for i, p in enumerate(s.left) if p != 0}

    @cache
    def onward(node: tuple[int, int]) -> list[tuple[int, int]]:
        location, state = node
        return [
            (edge.target, column) for edge in problem.locations[location].edges for column, _ in edge.left.rows[state]
        ]

    depth: dict[tuple[int, int], int] = {}
    for node, *cycle in components(roots, onward):
        after = onward(node)
        if cycle or node in after:
            return None
        here = depth.setdefault(node, 0)
        for target in after:
            depth[target] = max(depth.get(target, 0), here + 1)
    return max(depth.values(), default=0)
