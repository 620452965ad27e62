"""What the entries of a series lose together by quilts, where every entry costs a number: the sum behind `accounting`.

    total loss  =  max over entries i of  min over quilts Q of  ( influence(Q | X_i) + sum of b_j over the entries between the nodes
    of Q ).

Floats find the best quilt of every entry; entries of a long piece around which everything costs the same stand for each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from privproof.errors import QuestionError
from privproof.release.markov_chains import Chain
from privproof.release.markov_quilts import EntryRatios, Ratios, stationary_ratios
from privproof.release.transition_powers import UNIT, Powers

_NEGLIGIBLE = 1e-4
"""Quilts further away than where the influence falls below this are not looked for: they could save no more than that."""
_WIDEST = 400
"""From this distance on, quilts further away are not looked for, however strong the influence still is."""
_MOST_NODES = 200_000
"""Entries near the edges of pieces are looked at one by one; where these are more, the question is refused."""
_HAIR = 1e-9
"""Losses that are relatively this near to the worst are computed again with fractions, since floats may have confused their order."""
_AT_ONCE = 4_000_000
"""The entries of the arrays of losses that are in memory at once."""


@dataclass(frozen=True)
class Spending:
    """What one release costs.

    Attributes:
        first: the first entry that it looks at.
        last: the last one.
        cost: what it loses between two series that differ in one of these entries.
        note: what it was.
        alone: what it loses by itself, where that is proved in another way than by quilts.
        squared: with Gaussian noise, instead of a cost: the square of what one entry moves the answer, over the variance.
    """

    first: int
    last: int
    cost: Fraction
    note: str = ""
    alone: Fraction | None = None
    squared: Fraction = Fraction(0)


def pieces_of(spendings: Sequence[Spending], length: int) -> list[Spending]:
    """What every entry costs, as pieces of the series that cost the same."""
    changes: dict[int, Fraction] = {}
    for spending in spendings:
        changes[spending.first] = changes.get(spending.first, Fraction(0)) + spending.cost
        changes[spending.last + 1] = changes.get(spending.last + 1, Fraction(0)) - spending.cost
    pieces, cost, start = [], Fraction(0), 1
    for place in sorted({*changes, length + 1}):
        if place > start:
            pieces.append(Spending(start, place - 1, cost))
            start = place
        cost += changes.get(place, Fraction(0))
    return pieces


class _Paid:
    """What the entries 1..n cost together, as a function of n: floats for many n, or exactly."""

    def __init__(self, pieces: Sequence[Spending], length: int) -> None:
        self.pieces, self.length = pieces, length
        self.edges, self.sums = [0], [0.0]
        for piece in pieces:
            before = self.sums[-1]
            self.edges += [piece.first - 1, piece.last]
            self.sums += [before, before + float(piece.cost * (piece.last - piece.first + 1))]

    def upto(self, entries: np.ndarray) -> np.ndarray:
        """The sums, as floats."""
        found: np.ndarray = np.interp(np.clip(entries, 0, self.length), self.edges, self.sums)
        return found

    def between(self, first: int, last: int) -> Fraction:
        """What the entries first..last cost, exactly."""
        return sum(
            (
                piece.cost * (min(last, piece.last) - max(first, piece.first) + 1)
                for piece in self.pieces
                if piece.last >= first and piece.first <= last
            ),
            Fraction(0),
        )


def total_loss(chain: Chain, length: int, pieces: Sequence[Spending]) -> Fraction:
    """The loss of a series whose entries cost what the pieces say; entries outside cost nothing.

    Floats find the best quilt of every entry; where the loss is within a hair of the largest it is summed up exactly.
    """
    paid = _Paid(pieces, length)
    found = [columns for _, _, columns in _all_best(chain, length, pieces, paid)]
    losses, firsts, lasts, told = (np.concatenate(column) for column in zip(*found, strict=True))
    worst, hair = float(losses.max()), max(_HAIR, 64 * length * UNIT)
    near = np.flatnonzero(losses >= worst * (1 - hair))
    exact = max(Fraction(float(told[n])) + paid.between(int(firsts[n]), int(lasts[n])) for n in near)
    return max(exact, Fraction(worst * (1 - hair / 2)))


def looked_at(chain: Chain, length: int, pieces: Sequence[Spending]) -> Iterator[tuple[int, bool, int, int]]:
    """The entries that are looked at: whether each stands for others, and the first and the last entry within its best quilt."""
    for nodes, standing, (_, firsts, lasts, _) in _all_best(chain, length, pieces, _Paid(pieces, length)):
        for node, first, last in zip(nodes, firsts.tolist(), lasts.tolist(), strict=True):
            yield node, standing, first, last


_Columns: TypeAlias = "tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]"


def _all_best(
    chain: Chain, length: int, pieces: Sequence[Spending], paid: _Paid
) -> Iterator[tuple[list[int], bool, _Columns]]:
    """Entries, whether they stand for others, and their best quilts."""
    powers = Powers(chain)
    width = reach_of(powers, length)
    distances = powers.distances[:width]
    for ratios, nodes, standing in alike(chain, powers, length, pieces, int(distances[-1]) if width else 0):
        curves = influences(powers, ratios, width)
        some = max(1, _AT_ONCE // max(1, width * width))
        for listed, alone in ((nodes, True), (standing, False)):
            for start in range(0, len(listed), some):
                part = listed[start : start + some]
                yield part, not alone, _best_quilts(np.array(part), curves, distances, paid, alone=alone)


def _best_quilts(
    nodes: np.ndarray,
    curves: tuple[np.ndarray, np.ndarray, np.ndarray],
    distances: np.ndarray,
    paid: _Paid,
    *,
    alone: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For every entry the loss with its best quilt, the first and the last entry within that quilt, and its influence.

    Quilts on one side depend on the place of the entry; they count only for entries that stand for themselves alone.
    """
    two, left, right = curves
    length, number, width = paid.length, len(nodes), len(distances)
    before, whole = paid.upto(nodes - 1.0), float(paid.upto(np.array([float(length)]))[0])
    losses, told = np.full(number, whole), np.zeros(number)
    firsts, lasts = np.ones(number, dtype=np.int64), np.full(number, length, dtype=np.int64)
    if not width:
        return losses, firsts, lasts, told
    to_left = before[:, None] - paid.upto(nodes[:, None] - distances)
    to_right = paid.upto(nodes[:, None] + distances - 1.0) - before[:, None]
    starts = np.maximum(1, nodes[:, None] - distances + 1)
    ends = np.minimum(length, nodes[:, None] + distances - 1)

    def take(sums: np.ndarray, low: np.ndarray, high: np.ndarray, influence: np.ndarray) -> None:
        better = sums < losses
        for kept, new in ((losses, sums), (firsts, low), (lasts, high), (told, influence)):
            kept[better] = new[better]

    rows = np.arange(number)
    sums = (two[None] + to_left[:, :, None] + to_right[:, None, :]).reshape(number, -1)
    a, b = np.divmod(sums.argmin(axis=1), width)
    take(sums.min(axis=1), starts[rows, a], ends[rows, b], two[a, b])
    if not alone:
        return losses, firsts, lasts, told
    a, b = (left + to_left).argmin(axis=1), (right + to_right).argmin(axis=1)
    take((left + to_left).min(axis=1) + whole - before, starts[rows, a], np.full(number, length), left[a])
    take((right + to_right).min(axis=1) + before, np.ones(number, dtype=np.int64), ends[rows, b], right[b])
    return losses, firsts, lasts, told


def reach_of(powers: Powers, length: int) -> int:
    """The number of distances worth looking at: until an entry tells next to nothing."""
    width = 8
    while True:
        number = powers.reach(min(width, length - 1))
        if number == 0:
            return 0
        told = max(float(powers.forth[number - 1].max()), 0.0)
        if told < _NEGLIGIBLE or powers.furthest < width or width >= _WIDEST or width >= length - 1:
            return number
        width *= 2


def influences(powers: Powers, ratios: EntryRatios, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The influences of all quilts: two-sided, left alone, right alone."""
    forth = powers.forth[:width, ratios.pairs]
    left = ratios.left(powers.back[:width, ratios.pairs])
    two = np.zeros((width, width))
    for pair in range(left.shape[1]):
        np.maximum(two, left[:, pair, None] + forth[None, :, pair], out=two)
    wider = 1 + 4 * UNIT
    return two * wider, left.max(axis=1, initial=0.0) * wider, forth.max(axis=1, initial=0.0) * wider


def alike(
    chain: Chain, powers: Powers, length: int, pieces: Sequence[Spending], reach: int
) -> Iterator[tuple[EntryRatios, list[int], list[int]]]:
    """Entries with the same bound on their ratios: those that are looked at one by one, and those that stand for others like them.

    An entry stands for all entries of a long piece around which everything costs the same.
    """
    nodes, standing = _different(length, pieces, reach)
    if chain.start == "stationary":
        yield stationary_ratios(chain), nodes, standing
        return
    ratios = Ratios(chain, powers)
    first = 1
    while first <= length:
        last = min(2 * first - 1, length)
        if ratios.spread(first) < _NEGLIGIBLE * _NEGLIGIBLE or first > reach * 8:
            last = length
        listed = [node for node in nodes if first <= node <= last]
        others = {first, last, *(node for node in standing if first <= node <= last)} - set(listed)
        yield ratios.within(first, last), listed, sorted(others)
        first = last + 1


def _different(length: int, pieces: Sequence[Spending], reach: int) -> tuple[list[int], list[int]]:
    """Entries that differ in what the entries around them cost, and one entry for every long piece of equal cost."""
    listed: set[int] = set()
    standing: set[int] = set()
    for piece in pieces:
        if piece.last - piece.first + 1 <= 2 * reach + 1:
            listed.update(range(piece.first, piece.last + 1))
        else:
            standing.add((piece.first + piece.last) // 2)
        for edge in (piece.first, piece.last):
            listed.update(range(max(1, edge - reach), min(length, edge + reach) + 1))
        if len(listed) > _MOST_NODES:
            raise QuestionError(
                "size", f"more than {_MOST_NODES} entries differ in their surroundings", place="spendings"
            )
    return sorted(listed), sorted(standing - listed)
