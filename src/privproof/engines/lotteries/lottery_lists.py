"""Two neighbouring lists, of a length that is looked for, on which an element wins with probabilities that are far apart.

All elements but one or two are alike on each side: the winner has the values x and x', one loser may have others, and all further ones
have y and y'.  The loss of such lists has a limit as they grow, and comes near to it fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from privproof.engines.lotteries.lottery_stretching import Pair
from privproof.engines.search_monitor import Monitor
from privproof.exact import ONE, ZERO, Rational
from privproof.models.lottery_model import Lottery, win_probability

_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96)
"""Lengths that are tried, the shortest first: losses come near to their limit geometrically."""
_RANKED_AT = 5
"""Forms of lists are ranked by their loss at this length: those that are best there are best at longer ones, as a rule."""
_KEPT = 4
"""Forms that are looked at in other lengths."""
_MOST_FORMS = 3_000
"""Forms that are ranked; beyond so many only every other one, or fewer."""


@dataclass(frozen=True)
class LotteryLists:
    """Two lists: the winner in front, then others with how often they occur; and both probabilities that it wins."""

    winner: Pair
    others: tuple[tuple[Pair, int], ...]
    left: Rational = ZERO
    right: Rational = ZERO

    @property
    def length(self) -> int:
        """How long the lists are."""
        return 1 + sum(count for _, count in self.others)

    def side(self, number: int) -> list[int]:
        """One of the two lists, by the numbers of values."""
        return [self.winner[number], *(pair[number] for pair, count in self.others for _ in range(count))]

    @property
    def ratio(self) -> Rational | None:
        """The ratio; None where it is infinite."""
        return None if self.right == 0 else self.left / self.right

    def beats(self, other: LotteryLists | None) -> bool:
        """Whether it loses more than another pair of lists."""
        if self.left == 0 or (other is not None and other.right == 0):
            return False
        return other is None or self.right == 0 or self.left * other.right > other.left * self.right


Side: TypeAlias = tuple[object, ...]
"""One of two lists: the winner's value, and how often others occur."""
Form: TypeAlias = "tuple[Pair, Pair | None, Pair]"
"""The winner, one loser with values of its own or None, and all others."""


def forms(lottery: Lottery, relation: str, near: list[Pair]) -> Iterator[Form]:
    """The forms of neighbouring lists."""
    equal = [(x, x) for x in range(len(lottery.values))]
    if relation == "one":
        yield from ((pair, None, rest) for pair, rest in product(near, equal))
        yield from ((rest, pair, rest) for pair, rest in product(near, equal))
        return
    upwards = [(x, y) for x, y in near if relation == "monotone" and lottery.values[x] < lottery.values[y]]
    downwards = [(x, y) for x, y in near if relation == "monotone" and lottery.values[x] > lottery.values[y]]
    for moved in (near,) if relation == "each" else (upwards, downwards):
        allowed = [*moved, *equal]
        yield from ((one, None, other) for one, other in product(allowed, allowed) if one != other or one in moved)


def at_length(lottery: Lottery, form: Form, length: int, known: dict[Side, Rational]) -> LotteryLists | None:
    """The lists of a form at a length; None where there are none.  Probabilities that were computed before are known."""
    winner, loser, rest = form
    groups: list[tuple[Pair, int]] = [] if loser is None else [(loser, 1)]
    left_over = length - 1 - len(groups)
    if left_over < 0:
        return None
    if left_over:
        groups.append((rest, left_over))
    if all(x == y for (x, y), _ in ((winner, 1), *groups)):
        return None
    sides = []
    for number in (0, 1):
        others: dict[int, int] = {}
        for pair, count in groups:
            others[pair[number]] = others.get(pair[number], 0) + count
        side = (winner[number], *sorted(others.items()))
        if side not in known:
            known[side] = win_probability(lottery, winner[number], others)
        sides.append(known[side])
    return LotteryLists(winner, tuple(groups), *sides)


def worst_lists(
    lottery: Lottery, relation: str, near: list[Pair], bound: Rational | None, monitor: Monitor
) -> Iterator[LotteryLists]:
    """Pairs of lists, each worse than those before and none shorter; it ends where the bound is nearly attained."""
    listed = list(forms(lottery, relation, near))
    listed = listed[:: 1 + len(listed) // _MOST_FORMS]
    ranked: list[tuple[bool, Rational, int]] = []
    known: dict[Side, Rational] = {}
    best: LotteryLists | None = None
    for length in (1, 2, _RANKED_AT):
        ranked = []
        for number, form in enumerate(listed):
            monitor.pause()
            found = at_length(lottery, form, length, known)
            if found is not None and found.left != 0:
                ratio = found.ratio
                ranked.append((ratio is None, ONE if ratio is None else ratio, number))
                if length < _RANKED_AT and found.beats(best):
                    best = found
                    yield found
    ranked.sort(reverse=True)
    kept = [listed[number] for _, _, number in ranked[:_KEPT]]
    for length in _LENGTHS[2:]:
        for form in kept:
            monitor.pause()
            found = at_length(lottery, form, length, known)
            if found is not None and found.beats(best):
                best = found
                yield found
        if best is not None and bound is not None and best.left * _NEARLY >= bound * best.right * (_NEARLY - 1):
            return


_NEARLY = 10**15
"""A bound is nearly attained where the loss is within a part in so many: no reader is told more digits."""
