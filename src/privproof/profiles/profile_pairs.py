"""Data sets that must look alike, and the exact distributions of what a mechanism shows for each.

For a mechanism that reads its inputs first and writes one output at the end.  The distribution of the output is computed once for
every sequence of inputs, by the forward recursion over states in integers on a common denominator; then all ordered pairs of
neighbours are gone through as arrays of indices.  What matters of a pair is the multiset of (P(o), Q(o)) over outputs: numbers are
replaced by their ranks, a pair becomes a sorted row of codes, and equal rows are found by sorting.  Of the pairs with one multiset
that with the fewest changed inputs is kept to stand for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from privproof.errors import QuestionError, ScenarioError
from privproof.exact import ONE, Rational
from privproof.models import Horizon, Transducer
from privproof.profiles.compared_situations import SeenOutcome, Situation, SituationComparison
from privproof.profiles.delta_curves import Curve, hull, middles
from privproof.profiles.neighbouring_data import Indices, neighbours
from privproof.scenarios import Pair, Question, ordered_pairs

_MOST_DATA_SETS = 200_000
"""Data sets whose laws are computed; beyond, the question is refused with a hint to take a smaller size."""
_MOST_DISTINCT = 1_500_000
"""Pairs with different likelihoods that are kept in memory; beyond, the question is refused with a hint to take a smaller size."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """All pairs of data sets of a mechanism that writes one output at the end, those with the same likelihoods once.

    Attributes:
        envelope: the curve above all of them.
        single: the curve above all single outputs.
        pairs: how many ordered pairs of situations were compared.
        rows: for every distinct multiset of likelihoods the numbers of its likelihoods, by falling ratio.
        likelihoods: the distinct likelihoods, (left, right) times the common denominator.
        denominator: the common denominator.
        comparison: the comparison that stands for a row.
    """

    envelope: Curve
    single: Curve
    pairs: int
    rows: NDArray[np.int64]
    likelihoods: tuple[tuple[int, int], ...]
    denominator: int
    comparison: Callable[[int], SituationComparison]

    @property
    def distinct(self) -> int:
        """How many distinct multisets of likelihoods there are."""
        return len(self.rows)

    def sums(self, weights: Sequence[int], among: Indices | None = None) -> NDArray[Any]:
        """For every row (among the given ones) the sum of the weights of its likelihoods; exact, of any size."""
        column = np.empty(len(weights), dtype=object)
        column[:] = weights
        rows = self.rows if among is None else self.rows[among]
        return np.asarray(column[rows].sum(axis=1), dtype=object)

    def excess(self, c: Rational, among: Indices | None = None) -> NDArray[Any]:
        """For every row delta at c, times the common denominator and that of c."""
        above, below = int(c.p), int(c.q)
        return self.sums([max(0, below * p - above * q) for p, q in self.likelihoods], among)

    def worst_at(self, c: Rational) -> SituationComparison:
        """A comparison with the largest delta at c, and among those the fewest changed inputs."""
        return self.comparison(int(np.argmax(self.excess(c))))

    def attaining(self) -> SituationComparison | None:
        """A comparison that alone is the whole envelope, if there is one."""
        rows = np.arange(self.distinct, dtype=np.int64)
        for c in middles(self.envelope):
            largest = self.envelope.at(c) * self.denominator * int(c.q)
            rows = rows[self.excess(c, rows) == int(largest.p)]
            if not len(rows):
                return None
        return self.comparison(int(rows[0]))


def writes_only_at_the_end(model: Transducer) -> bool:
    """Whether nothing is seen before the last input is read."""
    return model.finish is not None and all(
        branch.output is None
        for step in model.steps
        for row in step.values()
        for branches in row.values()
        for branch in branches
    )


def table(question: Question) -> PairTable:
    """All ordered pairs of neighbouring data sets of a mechanism that writes one output at the end.

    >>> from privproof.library.noisy_max import noisy_max_question
    >>> found = table(noisy_max_question(3, improved=True))
    >>> found.pairs, found.distinct, found.attaining()
    (316, 41, None)
    """
    model = question.model
    assert isinstance(model, Transducer)
    assert model.finish is not None
    length = len(model.steps)
    if question.horizon is not None and question.horizon not in (Horizon.exactly(length + 1), Horizon.unbounded()):
        raise QuestionError(
            "horizon",
            f"the mechanism ends after {length + 1} letters, so the horizon {question.horizon} does not fit",
            place="horizon",
            hint="leave the horizon out",
        )
    if len(model.inputs) ** length > _MOST_DATA_SETS:
        raise QuestionError(
            "size",
            f"{len(model.inputs)}^{length} data sets are more than {_MOST_DATA_SETS}",
            place="size",
            hint="a smaller size",
        )
    return _Enumeration(question, model).table()


def _outputs(model: Transducer, initial: dict[str, int]) -> list[list[int]]:
    """For every sequence of inputs, in lexicographic order, the probabilities of the outputs times a common denominator."""
    level = [initial]
    for step, scale in zip(model.steps, _scales(model), strict=True):
        whole = {
            state: {
                symbol: [(b.target, int(b.probability.p) * (scale // int(b.probability.q))) for b in branches]
                for symbol, branches in row.items()
            }
            for state, row in step.items()
        }
        following = []
        for masses in level:
            for symbol in model.inputs:
                onward: dict[str, int] = {}
                for state, mass in masses.items():
                    for target, weight in whole[state][symbol]:
                        onward[target] = onward.get(target, 0) + mass * weight
                following.append(onward)
        level = following
    assert model.finish is not None
    number = {name: i for i, name in enumerate(model.outputs)}
    scale = _finishing_scale(model)
    rows = {
        state: [(number[name], int(p.p) * (scale // int(p.q))) for name, p in row.items()]
        for state, row in model.finish.items()
    }
    result = []
    for masses in level:
        line = [0] * len(model.outputs)
        for state, mass in masses.items():
            for output, weight in rows[state]:
                line[output] += mass * weight
        result.append(line)
    return result


def _scales(model: Transducer) -> list[int]:
    return [
        lcm(1, *(int(b.probability.q) for row in step.values() for branches in row.values() for b in branches))
        for step in model.steps
    ]


def _finishing_scale(model: Transducer) -> int:
    assert model.finish is not None
    return lcm(1, *(int(p.q) for row in model.finish.values() for p in row.values()))


@dataclass(frozen=True)
class _Representative:
    """A representative: the pair of initial distributions, both sequences by number, how many inputs differ."""

    pair: int
    left: int
    right: int
    changes: int


class _Enumeration:
    """Goes through all pairs of neighbours of one question."""

    def __init__(self, question: Question, model: Transducer) -> None:
        self.model = model
        self.relation = question.scenario.neighbours
        self.pairs = ordered_pairs(question)
        self.scale = lcm(
            1, *(int(p.q) for pair in self.pairs for side in (pair.left, pair.right) for p in side.values())
        )
        self.denominator = self.scale * _finishing_scale(model)
        for scale in _scales(model):
            self.denominator *= scale
        base, length = len(model.inputs), len(model.steps)
        weights = base ** np.arange(length - 1, -1, -1, dtype=np.int64)
        self.digits = (np.arange(base**length, dtype=np.int64)[:, None] // weights % base).astype(np.int32)
        self.ranks: dict[int, int] = {}
        self.count = 0
        self.found: dict[bytes, _Representative] = {}

    def _side(self, entries: Any) -> list[list[int]]:
        return _outputs(self.model, {s: int(p.p) * (self.scale // int(p.q)) for s, p in entries.items()})

    def _ranked(self, lines: list[list[int]]) -> NDArray[np.int64]:
        ranks = self.ranks
        return np.array([[ranks.setdefault(x, len(ranks)) for x in line] for line in lines], dtype=np.int64)

    def table(self) -> PairTable:
        """Everything that a profile needs."""
        sides = {}
        for pair in self.pairs:
            for side in (pair.left, pair.right):
                key = tuple(sorted(side.items()))
                if key not in sides:
                    sides[key] = self._ranked(self._side(side))
        for number, pair in enumerate(self.pairs):
            left, right = (sides[tuple(sorted(side.items()))] for side in (pair.left, pair.right))
            self._gather(number, pair, left, right)
            if len(self.found) > _MOST_DISTINCT:
                raise QuestionError(
                    "size",
                    f"more than {_MOST_DISTINCT} pairs of data sets differ in their likelihoods",
                    place="size",
                    hint="a smaller size",
                )
        if not self.found:
            raise ScenarioError(
                "empty-relation", "no two data sets are neighbours", place="neighbours", hint="widen the relation"
            )
        return self._summary(sides)

    def _gather(self, number: int, pair: Pair, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        same = pair.left == pair.right
        for lefts, rights in neighbours(self.relation, self.model):
            if same:
                differing = lefts != rights
                lefts, rights = lefts[differing], rights[differing]
            if not len(lefts):
                continue
            self.count += len(lefts)
            changes = (self.digits[lefts] != self.digits[rights]).sum(axis=1)
            order = np.argsort(changes, kind="stable")
            lefts, rights, changes = lefts[order], rights[order], changes[order]
            codes = np.sort(left[lefts] * len(self.ranks) + right[rights], axis=1)
            rows = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.dtype.itemsize * codes.shape[1]))).ravel()
            _, first = np.unique(rows, return_index=True)
            for i in first.tolist():
                key = rows[i].tobytes()
                known = self.found.get(key)
                if known is None or changes[i] < known.changes:
                    self.found[key] = _Representative(number, int(lefts[i]), int(rights[i]), int(changes[i]))

    def _summary(self, sides: dict[Any, NDArray[np.int64]]) -> PairTable:
        values, size = list(self.ranks), len(self.ranks)
        listed = sorted(self.found.items(), key=lambda item: item[1].changes)
        found = [representative for _, representative in listed]
        codes = np.frombuffer(b"".join(key for key, _ in listed), dtype=np.int64).reshape(len(listed), -1)
        distinct, rows = np.unique(codes, return_inverse=True)
        likelihoods = [(values[code // size], values[code % size]) for code in distinct.tolist()]
        order = sorted(range(len(likelihoods)), key=lambda i: _ratio(*likelihoods[i]), reverse=True)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        rows = np.sort(place[rows.reshape(codes.shape)], axis=1)
        ranked = tuple(likelihoods[i] for i in order)
        unit = ONE / self.denominator
        return PairTable(
            hull((fmpq(p), fmpq(q)) for p, q in _highest(_corners(ranked, rows))).scaled(unit),
            hull((fmpq(p), fmpq(q)) for p, q in ranked).scaled(unit),
            self.count,
            rows,
            ranked,
            self.denominator,
            lambda number: self._comparison(found[number], sides, values),
        )

    def _comparison(
        self, found: _Representative, sides: dict[Any, NDArray[np.int64]], values: list[int]
    ) -> SituationComparison:
        pair = self.pairs[found.pair]
        left, right = (sides[tuple(sorted(side.items()))] for side in (pair.left, pair.right))
        inputs = self.model.inputs
        situation = Situation(
            pair.name,
            tuple(inputs[i] for i in self.digits[found.left].tolist()),
            tuple(inputs[i] for i in self.digits[found.right].tolist()),
        )
        both = zip(left[found.left].tolist(), right[found.right].tolist(), strict=True)
        outcomes = tuple(
            SeenOutcome((name,), fmpq(values[i], self.denominator), fmpq(values[j], self.denominator))
            for name, (i, j) in zip(self.model.outputs, both, strict=True)
            if values[i] or values[j]
        )
        return SituationComparison(situation, outcomes)


def _ratio(p: int, q: int) -> tuple[bool, Rational]:
    return (True, fmpq(p)) if q == 0 and p else (False, fmpq(p, q or 1))


def _corners(likelihoods: Sequence[tuple[int, int]], rows: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """The corners of the curves of all rows: sums of the first likelihoods."""
    sides = []
    for side in (0, 1):
        column = np.empty(len(likelihoods), dtype=object)
        column[:] = [pair[side] for pair in likelihoods]
        sides.append(np.cumsum(column[rows], axis=1).ravel().tolist())
    return zip(*sides, strict=True)


def _highest(points: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The points (p, q) with a larger p than all with a smaller q: only these can be on the hull."""
    best: dict[int, int] = {}
    for p, q in points:
        if p > best.get(q, 0):
            best[q] = p
    top = 0
    for q in sorted(best):
        if best[q] > top:
            top = best[q]
            yield top, q
