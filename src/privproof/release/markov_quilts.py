"""Markov quilts on chains (Song, Wang and Chaudhuri 2017), exactly and fast.

A *quilt* of the entry X_i is a pair X_{i-a}, X_{i+b} (or one of them, or none): given the quilt, what lies beyond it does not
depend on X_i. Its *influence* e is the largest logarithm of Pr(quilt | X_i = x) / Pr(quilt | X_i = x').  With n entries strictly
between, noise of which every entry costs r keeps X_i secret within ``e + n r``: so the quilt allows ``r = (epsilon - e)/n``, its
*score* is 1/r, and

    noise for the series  =  max over entries of min over quilts of the score.

For a fixed pair (x, x') the influence is the sum of what the two sides tell:

    log Pr(X_i = x')/Pr(X_i = x)  +  back(a)[x, x']  +  forth(b)[x, x'],

and only then comes the maximum over pairs.  What makes it fast:

* a quilt around epsilon * score entries or more cannot win, so tables end there;
* few pairs matter: the best cell (a, b) is found for some pairs, checked against all, and the violated pair is added;
* where the series ends before a quilt node, the missing node only helps (fewer entries between, less influence), so one choice (a,
  b) serves all entries with the same ratios of probabilities;
* entries are treated in blocks, with the largest ratios in the block, and only blocks that may hold the worst entry are cut in two.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import Protocol

import numpy as np

from privproof.exact.rounding import shorten
from privproof.release.markov_chains import Chain
from privproof.release.transition_powers import UNIT, Powers, widest

_FIRST = 32
"""Distances that are looked at first; more, until no longer quilt can be better."""
_SPREAD = 1e-9
"""Entries from one on count as alike, and get one quilt, where their ratios differ by less."""
_NEAR = 1e-2
"""Up to this spread entries are first looked at in blocks that double in length."""
_PATIENCE = 512
"""Distance after which a search that has found nothing must make progress, or ends."""
_FALLING = 0.95
"""Progress: what the furthest entries tell has fallen to this share since the last look."""
_MOST_NODES = 4096
"""Entries up to which each gets its own quilt; those beyond share one, which is valid for all of them."""


@dataclass(frozen=True)
class Score:
    """How much noise a quilt needs at a budget: ``size / (epsilon - influence)``, for each unit of sensitivity."""

    epsilon: float

    def of(self, sizes: np.ndarray | int, told: np.ndarray | float) -> np.ndarray:
        """The scores of quilts, by their sizes and influences."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(told < self.epsilon, sizes / (self.epsilon - told), inf)

    def largest(self, score: float) -> float:
        """The size that a better quilt stays below."""
        return self.epsilon * score

    def rate(self, size: int, influence: float) -> Fraction:
        """What an entry may cost."""
        return (Fraction(self.epsilon) - Fraction(influence)) / size


@dataclass(frozen=True)
class QuiltCost:
    """How much a quilt loses where every entry costs so much already: ``influence + size * rate``."""

    rate: float

    def of(self, sizes: np.ndarray | int, told: np.ndarray | float) -> np.ndarray:
        """The losses of quilts, by their sizes and influences."""
        return np.asarray(told + sizes * self.rate)

    def largest(self, score: float) -> float:
        """The size that a better quilt stays below."""
        return score / self.rate


class Objective(Protocol):
    """What quilts are compared by."""

    def of(self, sizes: np.ndarray | int, told: np.ndarray | float) -> np.ndarray:
        """The scores of quilts, by their sizes and influences."""

    def largest(self, score: float) -> float:
        """The size that a better quilt stays below."""


class Allowing(Objective, Protocol):
    """An objective that says what one entry may cost."""

    def rate(self, size: int, influence: float) -> Fraction:
        """What an entry may cost."""


@dataclass(frozen=True)
class QuiltCell:
    """A choice of distances for quilt nodes, or none on a side, with a bound on its influence."""

    left: int | None
    right: int | None
    influence: float


@dataclass(frozen=True)
class Block:
    """Entries first..last that one choice of quilt serves.

    Attributes:
        first: the first entry.
        last: the last one.
        cell: the choice.
        size: a bound on the number of entries between the quilt nodes.
        score: what the objective makes of it.
    """

    first: int
    last: int
    cell: QuiltCell
    size: int
    score: float


@dataclass(frozen=True)
class Quilts:
    """The quilts that keep every entry of a series secret.

    Attributes:
        length: the length of the series.
        blocks: the choice for every entry.
        node: the entry that needs the most noise.
        worst: the block it is in.
        rate: what an entry may cost, rounded down: ``influence + size * rate <= epsilon`` in every block.
    """

    length: int
    blocks: tuple[Block, ...]
    node: int
    worst: Block
    rate: Fraction

    @property
    def score(self) -> Fraction:
        """The noise that a query needs for each unit of its sensitivity: the scale of a Laplace distribution."""
        return 1 / self.rate

    @property
    def quilt(self) -> tuple[int, ...]:
        """The quilt nodes of the worst entry."""
        cell, node = self.worst.cell, self.node
        left = () if cell.left is None or cell.left >= node else (node - cell.left,)
        right = () if cell.right is None or node + cell.right > self.length else (node + cell.right,)
        return (*left, *right)

    @property
    def influence(self) -> float:
        """The influence of the worst entry's quilt."""
        return self.worst.cell.influence


def quilts(chain: Chain, length: int, budget: float | Allowing) -> Quilts:
    """The best quilts for every entry of a series, under one chain.

    Args:
        chain: the prior.
        length: the length of the series.
        budget: the budget, rounded down; or what quilts are compared by.

    >>> theta = Chain.of({"0": {"0": "0.8", "1": "0.2"}, "1": {"0": "0.3", "1": "0.7"}}, initial={"0": "0.9", "1": "0.1"})
    >>> found = quilts(theta, 100, 1.0)
    >>> found.node, found.quilt, f"{float(found.score):.4f}"
    (6, (10,), '10.6402')
    """
    objective = Score(budget) if isinstance(budget, float) else budget
    blocks, node, worst = _search_quilts(chain, length, objective)
    rate = min(objective.rate(block.size, block.cell.influence) for block in blocks)
    return Quilts(length, tuple(blocks), node, worst, shorten(rate, up=False))


def spent(chain: Chain, length: int, rate: Fraction) -> tuple[Fraction, Quilts]:
    """What a series loses where every entry costs so much, rounded up: the largest, over entries, of the least influence + size * rate."""
    blocks, node, worst = _search_quilts(chain, length, QuiltCost(float(rate)))
    loss = max(Fraction(block.cell.influence) + block.size * rate for block in blocks)
    return loss, Quilts(length, tuple(blocks), node, worst, rate)


def _search_quilts(chain: Chain, length: int, objective: Objective) -> tuple[list[Block], int, Block]:
    search = _QuiltSearch(chain, length, objective)
    return search.stationary() if chain.start == "stationary" else search.in_blocks()


@dataclass(frozen=True)
class FoundQuilt:
    """A cell with its size and score, where it is used."""

    cell: QuiltCell
    size: int
    score: float

    def serving(self, first: int, last: int) -> Block:
        """The block of entries that it serves."""
        return Block(first, last, self.cell, self.size, self.score)


@dataclass(order=True)
class _WaitingBlock:
    """A block that may hold the worst entry; one that is final is not cut any further."""

    priority: float
    block: Block = field(compare=False)
    final: bool = field(compare=False)


class _QuiltSearch:
    def __init__(self, chain: Chain, length: int, objective: Objective) -> None:
        self.chain, self.length, self.objective = chain, length, objective
        self.powers = Powers(chain)
        self.pairs: list[int] = []
        self._rights: dict[bytes, np.ndarray] = {}
        self.whole = self._found(None, None, 0.0, length)

    def _within_size(self, score: float, *, less: int = 0) -> int:
        """The distance that a quilt with a better score stays within."""
        return min(self.length - 1, max(1, ceil(min(self.objective.largest(score), 1e12)) - less))

    def two_sided(self, ratios: EntryRatios, enough: float) -> FoundQuilt | None:
        """The best quilt X_{i-a}, X_{i+b} for entries with these ratios, if its score is below `enough`."""
        if ratios.unbounded:
            return None
        width, found, before = _FIRST, None, inf
        while True:
            most = self._within_size(enough if found is None else found.score)
            number = self.powers.reach(min(width, most))
            if number == 0:
                return None
            found = self._within(number, ratios)
            reached = int(self.powers.distances[number - 1])
            furthest = float(self._told(number - 1, number - 1, ratios).max(initial=0.0))
            most = min(most, self._within_size(found.score)) if found is not None else most
            stuck = found is None and width > _PATIENCE and not furthest < _FALLING * before
            if reached >= most or reached < min(width, most) or stuck:
                return found if found is not None and found.score < enough else None
            before, width = furthest, max(2 * width, min(most, 4 * width))

    def _told(self, left: int, right: int, ratios: EntryRatios) -> np.ndarray:
        """What the two nodes at given places of the tables tell, pair by pair."""
        pairs = ratios.pairs
        found: np.ndarray = ratios.left(self.powers.back[left, pairs]) + self.powers.forth[right, pairs]
        return found

    def _within(self, number: int, ratios: EntryRatios) -> FoundQuilt | None:
        """The best cell among the first so many distances."""
        distances = self.powers.distances[:number]
        sizes = distances[:, None] + distances[None, :] - 1
        influence = np.zeros((number, number))

        def take(pair: int) -> None:
            if ratios.values[pair] > -inf:
                back = self.powers.back[:number, pair]
                left = np.where(np.isneginf(back), 0.0, np.maximum(back + ratios.values[pair], 0.0))
                np.maximum(influence, left[:, None] + self.powers.forth[None, :number, pair], out=influence)

        for pair in self.pairs:
            take(pair)
        while True:
            scores = self.objective.of(sizes, influence)
            a, b = divmod(int(np.argmin(scores)), number)
            if scores[a, b] == inf:
                return None
            told = self._told(a, b, ratios)
            worst = int(np.argmax(told)) if len(told) else 0
            if not len(told) or told[worst] <= influence[a, b]:
                return self._found(int(distances[a]), int(distances[b]), float(influence[a, b]), int(sizes[a, b]))
            self.pairs.append(int(ratios.pairs[worst]))
            take(self.pairs[-1])

    def as_in(self, cell: QuiltCell, ratios: EntryRatios) -> FoundQuilt:
        """A known cell, with the influence that it has under these ratios."""
        assert cell.left is not None
        assert cell.right is not None
        left, right = (self.powers.reach(distance) - 1 for distance in (cell.left, cell.right))
        told = float(self._told(left, right, ratios).max(initial=0.0))
        return self._found(cell.left, cell.right, told, cell.left + cell.right - 1)

    def right_only(self, last: int, ratios: EntryRatios) -> FoundQuilt | None:
        """The best quilt X_{i+b} alone for entries up to `last`: at most last + b - 1 entries lie before it."""
        key = ratios.pairs.tobytes()

        def told() -> np.ndarray:
            known = self._rights.get(key, np.zeros(0))
            if len(known) < len(self.powers.distances):
                more = self.powers.forth[len(known) :, ratios.pairs].max(axis=1, initial=0.0)
                known = self._rights[key] = np.concatenate([known, more])
            return known

        return self._one_sided(told, last, left=False)

    def left_only(self, first: int, ratios: EntryRatios) -> FoundQuilt | None:
        """The best quilt X_{i-a} alone for entries from `first` on."""
        beyond = self.length - first + 1

        def told() -> np.ndarray:
            found: np.ndarray = ratios.left(self.powers.back[:, ratios.pairs]).max(axis=1, initial=0.0)
            return found

        return self._one_sided(told, beyond, left=True)

    def _one_sided(self, tables: Callable[[], np.ndarray], beyond: int, *, left: bool) -> FoundQuilt | None:
        """The best quilt on one side, with so many entries on the other side, the entry itself among them."""
        while True:
            told, distances = tables(), self.powers.distances
            sizes = beyond + distances - 1
            scores = np.where(distances < self.length, self.objective.of(sizes, told), inf)
            best = int(np.argmin(scores)) if len(scores) else 0
            if not len(scores) or scores[best] == inf:
                return None
            needed = self._within_size(float(scores[best]), less=beyond)
            if self.powers.furthest >= needed or len(distances) == self.powers.reach(needed):
                distance = int(distances[best])
                near, far = (distance, None) if left else (None, distance)
                return self._found(near, far, float(told[best]), int(sizes[best]))

    def _found(self, left: int | None, right: int | None, told: float, size: int) -> FoundQuilt:
        influence = max(0.0, told) * (1 + 4 * UNIT)
        return FoundQuilt(QuiltCell(left, right, influence), size, float(self.objective.of(size, influence)))

    def stationary(self) -> tuple[list[Block], int, Block]:
        """All entries have the same ratios: one cell for all, or where the series is short a choice for every entry."""
        ratios = stationary_ratios(self.chain)
        length, middle = self.length, (self.length + 1) // 2
        best = self.two_sided(ratios, self.whole.score) or self.whole
        if length > 2 * min(self._within_size(best.score), _MOST_NODES):
            block = best.serving(1, length)
            return [block], middle, block
        blocks = []
        for node in range(1, length + 1):
            options = [best, self.right_only(node, ratios), self.left_only(node, ratios)]
            chosen = min((option for option in options if option is not None), key=lambda option: option.score)
            blocks.append(chosen.serving(node, node))
        worst = max(blocks, key=lambda block: (block.score, -abs(block.first - middle)))
        return _merge_blocks(blocks), worst.first, worst

    def in_blocks(self) -> tuple[list[Block], int, Block]:
        """Entries have ratios of their own; beyond some entry the chain has forgotten its start, and one block holds the rest."""
        ratios = Ratios(self.chain, self.powers)
        waiting: list[_WaitingBlock] = []
        done: list[Block] = []
        floor = 0.0
        known: QuiltCell | None = None

        def put(first: int, last: int) -> None:
            nonlocal floor, known
            final = first == last or (last == self.length and ratios.spread(first) < _SPREAD) or first > _MOST_NODES
            found = self._best(first, last, ratios.within(first, last), known, floor)
            if found.cell.left is not None and found.cell.right is not None:
                known = found.cell
            if final:
                floor = max(floor, found.score)
            if found.score <= floor and not final:
                done.append(found.serving(first, last))
            else:
                heapq.heappush(waiting, _WaitingBlock(-found.score, found.serving(first, last), final))

        first = 1
        while ratios.spread(first) > _NEAR and 2 * first <= min(self.length, _MOST_NODES):
            first *= 2
        put(first, self.length)
        while first > 1:
            first //= 2
            put(first, 2 * first - 1)
        while not waiting[0].final:
            wide = heapq.heappop(waiting).block
            middle = 2 * wide.first - 1 if wide.last == self.length else (wide.first + wide.last) // 2
            middle = middle if wide.first <= middle < wide.last else (wide.first + wide.last) // 2
            for low, high in ((middle + 1, wide.last), (wide.first, middle)):
                put(low, high)
        worst = waiting[0].block
        blocks = sorted([*done, *(item.block for item in waiting)], key=lambda block: block.first)
        return blocks, worst.first, worst

    def _best(self, first: int, last: int, ratios: EntryRatios, known: QuiltCell | None, floor: float) -> FoundQuilt:
        """The best choice for a block; one that is known to be good enough is taken at once."""
        best = self.whole
        for option in (self.right_only(last, ratios), None if known is None else self.as_in(known, ratios)):
            if option is not None and option.score < best.score:
                best = option
        if best.score <= floor:
            return best
        best = self.two_sided(ratios, best.score) or best
        if self.length - first < self.objective.largest(best.score):
            left = self.left_only(first, ratios)
            best = left if left is not None and left.score < best.score else best
        again = self.right_only(last, ratios)
        return again if again is not None and again.score < best.score else best


@dataclass(frozen=True)
class EntryRatios:
    """Bounds on ``log Pr(X_i = x')/Pr(X_i = x)`` for some entries, pair by pair; minus infinity for pairs that are not possible."""

    values: np.ndarray

    @cached_property
    def pairs(self) -> np.ndarray:
        """The pairs of values that are possible."""
        return np.flatnonzero(self.values > -inf)

    @property
    def unbounded(self) -> bool:
        """Whether some ratio has no bound."""
        return bool(np.isposinf(self.values).any())

    def left(self, back: np.ndarray) -> np.ndarray:
        """What left quilt nodes tell, for the possible pairs.

        It is never negative; where a node does not exist, because the series starts later, zero is what it tells.  A value that is
        impossible so many steps on (minus infinity in the table) is possible only where the node does not exist.
        """
        missing = np.isneginf(back)
        found: np.ndarray = np.where(
            missing, 0.0, np.maximum(np.where(missing, 0.0, back) + self.values[self.pairs], 0.0)
        )
        return found


class Ratios:
    """The ratios log Pr(X_i = x')/Pr(X_i = x) of entries, for a given start or all starts.

    Whatever the start, the ratio at entry i is at most ``back(n)[x', x]`` for every n < i, which falls with n.
    """

    def __init__(self, chain: Chain, powers: Powers) -> None:
        self.powers, self.chain = powers, chain
        self.given: list[np.ndarray] | None = None
        if chain.law is not None:
            self.given = []
            self.row = np.array([float(p) for p in chain.law])
            self.support = np.array([p != 0 for p in chain.law])

    def _whatever_the_start(self, entry: int) -> np.ndarray:
        """Bounds on the ratios of entries from this one on, for every start; minus infinity where a value is impossible."""
        size = self.powers.size
        table = self.powers.back_at(entry - 1).reshape(size, size).T
        impossible = np.asarray(np.isneginf(table).all(axis=0))
        return np.where(impossible[:, None] | impossible[None, :], -inf, table)

    def spread(self, entry: int) -> float:
        """How far apart the ratios of entries from this one on may lie, whatever the start."""
        if entry == 1:
            return inf
        table = self._whatever_the_start(entry)
        return float((table + table.T).max(initial=0.0))

    def within(self, first: int, last: int) -> EntryRatios:
        """A bound on the ratios of all entries first..last."""
        size = self.powers.size
        if self.given is not None and last <= 2 * _MOST_NODES and last < 2 * first:
            while len(self.given) < last:
                error = ((len(self.given) + 1) * (size + 3) + 2) * UNIT
                self.given.append(_log_ratios(self.row, self.support, error).ravel())
                self.row, self.support = (
                    self.row @ self.powers.matrix,
                    self.chain.following(self.support),
                )
            return EntryRatios(np.max(self.given[first - 1 : last], axis=0))
        if first == 1:
            return EntryRatios(np.where(np.eye(size, dtype=bool), -inf, inf).ravel())
        return EntryRatios(self._whatever_the_start(first).ravel())


def _log_ratios(row: np.ndarray, support: np.ndarray, error: float) -> np.ndarray:
    """``log m(x')/m(x)`` for all pairs of values that are possible, widened; minus infinity for others."""
    result = widest(row[:, None], support[:, None], 2 * error).T.copy()
    result[~support, :] = -inf
    result[:, ~support] = -inf
    return result


def stationary_ratios(chain: Chain) -> EntryRatios:
    """The ratios of every entry of a chain that is stationary."""
    law = chain.stationary
    row = np.array([float(p) for p in law])
    return EntryRatios(_log_ratios(row, np.array([p != 0 for p in law]), 2 * UNIT).ravel())


def _merge_blocks(blocks: list[Block]) -> list[Block]:
    """Blocks of neighbours with the same choice, as one."""
    result: list[Block] = []
    for block in blocks:
        if result and result[-1].cell == block.cell and result[-1].size == block.size:
            result[-1] = Block(result[-1].first, block.last, block.cell, block.size, block.score)
        else:
            result.append(block)
    return result
