"""Two runs of a pass on neighbouring data: which pairs of states they reach, and the largest ratio of what they draw.

A node is a pair of states and the memory of the neighbour relation (has the one change happened? in which direction do values move?).
All nodes that data of the size reach are listed; the largest ratio over all of them that may be an end bounds the loss from above, and a
way of exactly the right length to the best of them shows data that attain it.  Where parts are drawn on the way, the largest product
is found backwards, step by step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privproof.engines.draws.draws_laws import DrawsLaws
from privproof.engines.search_monitor import Monitor
from privproof.exact import ONE, Rational
from privproof.memory import entries_within, memory_words
from privproof.models.draws_model import Draws, Pass

_MOST_NODES = 1_000_000
"""Nodes that are listed: some hundred bytes each."""
_MOST_CODES = 200_000_000
"""Combinations of two states and a memory that are marked as seen or not, a byte each."""
_OF_STATE = 4_096
"""Bytes of a state besides: its moves, its draws, and the nodes that it is in."""
_MOST_MARKS = 50_000_000
"""Marks of which nodes are reached after how many entries, a byte each."""
_MOST_WORK = 3_000_000
"""Nodes times letters times steps, where products are found backwards step by step, about a microsecond each."""

Letter: TypeAlias = tuple[int, int]
"""The numbers of the values that both sides read."""


class TooManyNeighbours(Exception):
    """More than can be listed."""


@dataclass(frozen=True)
class Relation:
    """A neighbour relation on data by the numbers of their values.

    Attributes:
        kind: each, one or monotone.
        near: the pairs of different values that one entry may have on both sides.
        directions: for monotone, which way each of them goes.
    """

    kind: str
    near: tuple[Letter, ...]
    directions: dict[Letter, int] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: str, values: tuple[Any, ...], within: Rational | None) -> Relation:
        """The relation on the values of an input."""
        order = list(range(len(values)))
        if within is not None:
            order.sort(key=lambda number: values[number])
        near = []
        for place, i in enumerate(order):
            for j in order[place + 1 :]:
                if within is not None and values[j] - values[i] > within:
                    break
                near += [(i, j), (j, i)]
        directions = {} if kind != "monotone" else {(i, j): 1 if values[i] < values[j] else -1 for i, j in near}
        return cls(kind, tuple(near), directions)

    @property
    def memories(self) -> int:
        """How many memories there are; 0 is the first."""
        return {"each": 1, "one": 2, "monotone": 3}[self.kind]

    def after(self, memory: int, letter: Letter) -> int | None:
        """The memory after two different values, or None where they may not differ any more."""
        if self.kind == "each":
            return 0
        if self.kind == "one":
            return 1 if memory == 0 else None
        direction = 1 if self.directions[letter] > 0 else 2
        return direction if memory in (0, direction) else None


@dataclass(frozen=True)
class FoundPair:
    """What two runs of a pass may draw at most.

    Attributes:
        ratio: the largest ratio of all that is listed; None where it is infinite.
        data: data on both sides that attain it, where such were found.
    """

    ratio: Rational | None
    data: tuple[tuple[int, ...], tuple[int, ...]] | None


class PairProduct:
    """Two runs of one pass on neighbouring data.

    Args:
        draws: the model.
        made: the pass.
        relation: which data are neighbours.
        laws: the laws of the model.
        monitor: asked whether to stop.
        changes: the pairs of different values that are looked at; all, unless others are given.
    """

    def __init__(
        self,
        draws: Draws,
        made: Pass,
        relation: Relation,
        laws: DrawsLaws,
        monitor: Monitor,
        changes: tuple[Letter, ...] | None = None,
    ) -> None:
        self.size, self.made, self.relation, self.laws, self.monitor = draws.size, made, relation, laws, monitor
        self.classes = _classes(made, len(draws.values))
        self.letters = self._letters(relation.near if changes is None else changes)
        self.states = len(made.moves)
        nowhere = (-1,) * len(draws.values)
        self.moves: NDArray[np.int64] = np.array([row or nowhere for row in made.moves], dtype=np.int64).T

    def _letters(self, changes: tuple[Letter, ...]) -> list[Letter]:
        """Letters that the pass tells apart: one for each class of equal values, and for each pair of classes and direction."""
        equal = {c: (v, v) for v, c in reversed(list(enumerate(self.classes)))}
        found: dict[Any, Letter] = {}
        for letter in changes:
            name = (self.classes[letter[0]], self.classes[letter[1]], self.relation.directions.get(letter))
            found.setdefault(name, letter)
        return [*equal.values(), *found.values()]

    def explore(self) -> None:
        """List the nodes that are reached within the size, with the way to each."""
        states, memories = self.states, self.relation.memories
        marks = states * states * memories
        needed, room = marks + _OF_STATE * states, entries_within(_MOST_CODES, 1)
        if needed > room:
            said = f"marks and rows of {memory_words(needed)}, more than {memory_words(room)}"
            raise TooManyNeighbours(f"{states} states on both sides, {said}")
        seen = np.zeros(marks, dtype=bool)
        seen[0] = True
        codes, parents, letters, levels = [np.array([0])], [np.array([-1])], [np.array([-1])], [np.array([0])]
        frontier, count = np.array([0]), 1
        for level in range(1, self.size + 1):
            self.monitor.pause()
            reached, came, by = self._step(frontier)
            new = ~seen[reached]
            reached, first = np.unique(reached[new], return_index=True)
            if not len(reached):
                break
            seen[reached] = True
            codes.append(reached)
            parents.append(came[new][first])
            letters.append(by[new][first])
            levels.append(np.full(len(reached), level))
            frontier, count = reached, count + len(reached)
            if count > _MOST_NODES:
                raise TooManyNeighbours(f"more than {_MOST_NODES} pairs of states")
        self.codes = np.concatenate(codes)
        self.parents = dict(zip(self.codes.tolist(), np.concatenate(parents).tolist(), strict=True))
        self.by = dict(zip(self.codes.tolist(), np.concatenate(letters).tolist(), strict=True))
        self.levels = dict(zip(self.codes.tolist(), np.concatenate(levels).tolist(), strict=True))

    def _step(self, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """What one letter leads to: the codes, where each comes from, and by which letter."""
        square = self.states * self.states
        memory, pair = np.divmod(codes, square)
        left, right = np.divmod(pair, self.states)
        reached, came, by = [], [], []
        for number, (x, y) in enumerate(self.letters):
            after = memory
            kept = np.ones(len(codes), dtype=bool)
            if x != y:
                table = [self.relation.after(m, (x, y)) for m in range(self.relation.memories)]
                after = np.array([-1 if m is None else m for m in table])[memory]
                kept = after >= 0
            a, b = self.moves[x][left], self.moves[y][right]
            kept &= (a >= 0) & (b >= 0)
            reached.append((after * square + a * self.states + b)[kept])
            came.append(codes[kept])
            by.append(np.full(int(kept.sum()), number))
        return np.concatenate(reached), np.concatenate(came), np.concatenate(by)

    def _sides(self, code: int) -> tuple[int, int]:
        return divmod(code % (self.states * self.states), self.states)

    def largest(self) -> FoundPair:
        """The largest ratio, and data that attain it."""
        self.explore()
        return self._backwards() if self.made.written else self._at_the_end()

    def _ends(self) -> Iterator[tuple[int, Rational | None]]:
        """The nodes at which both runs may end, with the largest ratio there."""
        ends = self.made.ends
        for code in self.codes.tolist():
            left, right = (ends[state] for state in self._sides(code))
            if left is not None and right is not None:
                yield code, self.laws.ratio(left, right)

    def _at_the_end(self) -> FoundPair:
        best: Rational | None = ONE
        codes: list[int] = []
        for number, (code, ratio) in enumerate(self._ends()):
            if number % 1000 == 0:
                self.monitor.pause()
            if ratio == best:
                codes.append(code)
            elif best is not None and (ratio is None or ratio > best):
                best, codes = ratio, [code]
        for code in codes[:_TRIED]:
            way = self._way(code)
            if way is not None:
                return FoundPair(best, way)
        return FoundPair(best, None)

    def _way(self, code: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Data of the size that lead to a node: the shortest way, with a letter that changes nothing repeated."""
        letters: list[int] = []
        nodes = [code]
        while self.parents[nodes[-1]] >= 0:
            letters.append(self.by[nodes[-1]])
            nodes.append(self.parents[nodes[-1]])
        word = [self.letters[number] for number in reversed(letters)]
        missing = self.size - len(word)
        if missing:
            for place, node in enumerate(reversed(nodes)):
                left, right = self._sides(node)
                stay = [
                    letter
                    for letter in self.letters
                    if letter[0] == letter[1] and self.moves[letter[0]][left] == left
                    if self.moves[letter[1]][right] == right
                ]
                if stay:
                    word[place:place] = stay[:1] * missing
                    break
            else:
                return self._way_by_levels(code)
        return tuple(x for x, _ in word), tuple(y for _, y in word)

    def _way_by_levels(self, code: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Data of the size that lead to a node: what is reached after every number of entries is listed, and followed back."""
        order = np.sort(self.codes)
        if len(order) * self.size > entries_within(_MOST_MARKS, 1):
            return None
        steps = []
        reached, came, by = self._step(order)
        listed = np.isin(reached, order)
        for number in range(len(self.letters)):
            kept = listed & (by == number)
            steps.append((np.searchsorted(order, reached[kept]), np.searchsorted(order, came[kept])))
        levels = [order == 0]
        for _ in range(self.size):
            self.monitor.pause()
            following = np.zeros(len(order), dtype=bool)
            for target, source in steps:
                following[target[levels[-1][source]]] = True
            levels.append(following)
        here = int(np.searchsorted(order, code))
        if not levels[-1][here]:
            return None
        word: list[Letter] = []
        for level in reversed(levels[:-1]):
            for number, (target, source) in enumerate(steps):
                before = source[(target == here) & level[source]]
                if len(before):
                    here = int(before[0])
                    word.append(self.letters[number])
                    break
        word.reverse()
        return tuple(x for x, _ in word), tuple(y for _, y in word)

    def _backwards(self) -> FoundPair:
        """The largest product of what is drawn on the way and at the end, step by step from the end."""
        nodes = self.codes.tolist()
        if len(nodes) * len(self.letters) * self.size > _MOST_WORK:
            raise TooManyNeighbours(f"{len(nodes)} pairs of states, {self.size} steps")
        place = {code: number for number, code in enumerate(nodes)}
        edges: list[list[tuple[int, int, Rational | None]]] = [[] for _ in nodes]
        for code in nodes:
            left, right = self._sides(code)
            for number, (x, y) in enumerate(self.letters):
                memory: int | None = code // (self.states * self.states)
                memory = memory if x == y or memory is None else self.relation.after(memory, (x, y))
                a, b = int(self.moves[x][left]), int(self.moves[y][right])
                target = None if memory is None or a < 0 or b < 0 else (memory * self.states + a) * self.states + b
                if target in place:
                    drawn = self.laws.ratio(self.made.written[left][x], self.made.written[right][y])
                    edges[place[code]].append((number, place[target], drawn))
        infinite = object()
        ends = {code: infinite if ratio is None else ratio for code, ratio in self._ends()}
        values: list[Any] = [ends.get(code) for code in nodes]
        choices: list[list[int]] = []
        for _ in range(self.size):
            self.monitor.pause()
            following: list[Any] = [None] * len(nodes)
            chosen = [-1] * len(nodes)
            for here, listed in enumerate(edges):
                for which, (_, target, drawn) in enumerate(listed):
                    onward = values[target]
                    if onward is None:
                        continue
                    value = infinite if drawn is None or onward is infinite else drawn * onward
                    held = following[here]
                    if held is None or (held is not infinite and (value is infinite or value > held)):
                        following[here], chosen[here] = value, which
            values = following
            choices.append(chosen)
        here, word = place[0], []
        for chosen in reversed(choices):
            number, here, _ = edges[here][chosen[here]]
            word.append(self.letters[number])
        data = tuple(x for x, _ in word), tuple(y for _, y in word)
        best = values[place[0]]
        return FoundPair(None if best is infinite else best, data)


_TRIED = 20
"""Nodes with the largest ratio to which a way of the right length is looked for."""


def _classes(made: Pass, count: int) -> list[int]:
    """The values that a pass does not tell apart have one class."""
    numbers: dict[Any, int] = {}
    result = []
    for value in range(count):
        column = tuple(row[value] for row in made.moves if row)
        drawn = tuple(row[value] for row in made.written)
        result.append(numbers.setdefault((column, drawn), len(numbers)))
    return result
