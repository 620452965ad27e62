"""Bounds for lists of every length: a stretch of the scale on which levels and priorities are compared.

With priorities (`models.lotteries`) an element wins with probability ``integral of p_i(floor(y)) prod F_j(y) dy``.  Let phi be increasing
and linear in pieces, with ``F_x(y) <= F_x'(phi(y))`` and ``p_x(floor(y)) <= c phi'(y) p_x'(floor(phi(y)))`` for all x, x' that an element
may have on the two sides, equal ones too.  Substitute z = phi(y): the probability is at most c times that on the other side, whatever the
length of the list.  Here phi is the upper envelope of ``F_x'^-1(F_x(y))``, the smallest that the first condition allows.

Where one element changes no stretch is needed: either the winner changes, or one factor F_j, which is at most the largest ratio of the
probabilities of a level times that of the other side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from privproof.exact import ONE, ZERO, Rational
from privproof.exact.patience import pause
from privproof.models.lottery_model import Lottery

Pair: TypeAlias = tuple[int, int]
Piece: TypeAlias = tuple[Rational, Rational, Rational, Rational]
"""A piece of a stretch: from y0 to y1, onto z0 to z1."""


@dataclass(frozen=True)
class Stretch:
    """A stretch and the bound that it shows; None where it shows none."""

    pieces: tuple[Piece, ...]
    ratio: Rational | None


def stretched(lottery: Lottery, pairs: Iterable[Pair]) -> Stretch:
    """The envelope of some pairs of values and their bound; equal values are always among them.

    >>> from privproof.exact import rational
    >>> half = Lottery((0, 1), ((rational("2/3"), rational("1/3")), (rational("1/3"), rational("2/3"))))
    >>> found = stretched(half, [(0, 1), (1, 0)])
    >>> found.ratio, found.pieces
    (4, ((0, 1/2, 0, 1), (1/2, 1, 1, 3/2), (1, 3/2, 3/2, 7/4), (3/2, 2, 7/4, 2)))
    """
    related = list(dict.fromkeys((*pairs, *((x, x) for x in range(len(lottery.values))))))
    below = [_sums(law) for law in lottery.laws]
    cuts = sorted(set(_cuts(lottery, below, related)))
    pieces: list[Piece] = []
    for start, end in pairwise(cuts):
        pause()
        pieces += _envelope([_line(lottery, below, pair, start, end) for pair in related], start, end)
    return Stretch(tuple(pieces), _ratio(lottery, related, pieces))


def _sums(law: Sequence[Rational]) -> list[Rational]:
    """How likely it is that a level is below each of the levels, and below all of them."""
    found = [ZERO]
    for probability in law:
        found.append(found[-1] + probability)
    return found


def _cuts(lottery: Lottery, below: Sequence[Sequence[Rational]], related: Iterable[Pair]) -> Iterable[Rational]:
    """Where the level changes on one of the two sides."""
    yield from (Rational(level) for level in range(lottery.levels + 1))
    for x, y in related:
        for level, own in enumerate(lottery.laws[x]):
            for share in below[y] if own != 0 else ():
                place = (share - below[x][level]) / own
                if 0 < place < 1:
                    yield level + place


def _line(
    lottery: Lottery, below: Sequence[Sequence[Rational]], pair: Pair, start: Rational, end: Rational
) -> tuple[Rational, Rational]:
    """Where ``F_x'^-1(F_x(y))`` begins and ends between two cuts."""
    x, y = pair
    level = _floor(start)
    first, last = (below[x][level] + (place - level) * lottery.laws[x][level] for place in (start, end))
    middle = (first + last) / 2
    other = next(k for k in range(lottery.levels) if below[y][k + 1] >= middle and lottery.laws[y][k] != 0)
    own = lottery.laws[y][other]
    return other + (first - below[y][other]) / own, other + (last - below[y][other]) / own


def _envelope(lines: Iterable[tuple[Rational, Rational]], start: Rational, end: Rational) -> list[Piece]:
    """The largest of some lines between two cuts, piece by piece."""
    left = set(lines)
    at = ZERO
    pieces: list[Piece] = []
    while at < 1:
        here = max(left, key=lambda line: (line[0] + at * (line[1] - line[0]), line[1] - line[0]))
        slope = here[1] - here[0]
        until = ONE
        for line in left:
            steeper = (line[1] - line[0]) - slope
            if steeper > 0:
                until = min(until, (here[0] - line[0]) / steeper)
        ends = [here[0] + share * slope for share in (at, until)]
        pieces.append((start + at * (end - start), start + until * (end - start), ends[0], ends[1]))
        at = until
    return pieces


def _ratio(lottery: Lottery, related: Iterable[Pair], pieces: Iterable[Piece]) -> Rational | None:
    """The bound that pieces show; None where it is infinite."""
    pairs = list(related)
    best = ONE
    for start, end, low, high in pieces:
        one, other = _floor(start), _floor((low + high) / 2)
        for x, y in pairs:
            own, theirs = lottery.laws[x][one] * (end - start), (high - low)
            if own != 0:
                if theirs == 0 or other >= lottery.levels or lottery.laws[y][other] == 0:
                    return None
                best = max(best, own / (theirs * lottery.laws[y][other]))
    return best


def largest_level_ratio(lottery: Lottery, pairs: Iterable[Pair]) -> Rational | None:
    """The largest ratio of the probabilities of a level; None where it is infinite."""
    best = ONE
    for x, y in pairs:
        for own, other in zip(lottery.laws[x], lottery.laws[y], strict=True):
            if own != 0:
                if other == 0:
                    return None
                best = max(best, own / other)
    return best


def _floor(number: Rational) -> int:
    return int(number.p // number.q)
