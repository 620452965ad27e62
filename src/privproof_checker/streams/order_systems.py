"""Systems of orders ``high - low >= offset``: whether they contradict each other, and what follows from them.

A system of orders is a graph with weights, and its solutions are potentials: it has none if the weights around some cycle
add up to more than 0 (Bellman and Ford).  If they add up to exactly 0, the terms on the cycle have fixed differences in
every solution, which has probability 0 for terms with independent noise, and not for terms without noise or with the
same noise; `conflict` tells these cases apart.

    >>> one, two = ("x", 0, rational(0)), (0, "x", rational(0))
    >>> conflict([one, two], lambda one, two: True), conflict([one, two], lambda one, two: False), conflict([one])
    (<Conflict.ALWAYS: 2>, <Conflict.TIES: 1>, <Conflict.NONE: 0>)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import combinations
from typing import TypeAlias

from privproof_checker.graph_algorithms import components
from privproof_checker.numbers import Rational, rational

Term: TypeAlias = int | str | None
"""A sample of the step by its number, a threshold by its name, or None for the constant 0."""

Order: TypeAlias = tuple[Term, Term, Rational]
"""Low, high and offset: ``high - low >= offset``."""

Different: TypeAlias = Callable[[Term, Term], bool]
"""Whether the difference of two different terms has no atoms: it equals any given number with probability 0."""

ZERO = rational(0)
"""The offset from a term to itself, with which every path of orders begins."""


class Conflict(Enum):
    """Whether orders can hold together: with some probability, only where terms tie, or never (with probability 0)."""

    NONE = 0
    TIES = 1
    ALWAYS = 2


def always(one: Term, two: Term) -> bool:
    """That all terms have independent noise."""
    return True


def conflict(orders: Sequence[Order], different: Different = always) -> Conflict:
    """Whether orders can hold together."""
    least: dict[Term, Rational] = {}
    for low, high, _ in orders:
        least[low] = least[high] = ZERO
    for _ in range(len(least) + 1):
        changed = False
        for low, high, offset in orders:
            bound = least[low] + offset
            if bound > least[high]:
                least[high] = bound
                changed = True
        if not changed:
            break
    else:
        return Conflict.ALWAYS
    # A cycle adds up to 0 if and only if all its orders are tight at the potentials found.
    tight: dict[Term, list[Term]] = {node: [] for node in least}
    for low, high, offset in orders:
        if least[low] + offset == least[high]:
            tight[low].append(high)
    found = Conflict.NONE
    for component in components(tight, tight.__getitem__):
        if any(different(one, two) for one, two in combinations(component, 2)):
            return Conflict.ALWAYS
        if len(component) > 1:
            found = Conflict.TIES
    return found


class OrderBounds:
    """Values, and all that follows about their differences from the orders added so far, each of them strict.

    The table is closed: the bound of a pair is the best that a chain of orders gives.  Therefore to forget a value is to
    drop its row and column.

    >>> bounds = OrderBounds([0])
    >>> bounds.value(1), bounds.value(2), bounds.add(0, 1, rational(1)), bounds.add(1, 2, rational(1))
    (None, None, True, True)
    >>> bounds.after[0][2], bounds.add(2, 0, rational(-2)), bounds.add(2, 0, rational(-3))
    (2, False, True)
    """

    def __init__(self, values: Iterable[int]) -> None:
        self.after: dict[int, dict[int, Rational]] = {value: {} for value in values}
        self._before: dict[int, set[int]] = {value: set() for value in self.after}

    def value(self, value: int) -> None:
        """Add a value about which nothing is known."""
        self.after[value] = {}
        self._before[value] = set()

    def add(self, low: int, high: int, offset: Rational) -> bool:
        """Add an order; False if no solution is left (or, of a value with itself, if it does not hold)."""
        if low == high:
            return offset <= 0
        back = self.after[high].get(low)
        if back is not None and back + offset >= 0:
            return False
        known = self.after[low].get(high)
        if known is not None and known >= offset:
            return True
        ends = [(high, offset), *((end, offset + bound) for end, bound in self.after[high].items())]
        for start, bound in [(low, ZERO), *((start, self.after[start][low]) for start in self._before[low])]:
            row = self.after[start]
            for end, more in ends:
                if start != end and (end not in row or row[end] < bound + more):
                    row[end] = bound + more
                    self._before[end].add(start)
        return True

    def keep(self, values: set[int]) -> None:
        """Forget all other values."""
        for gone in self.after.keys() - values:
            for start in self._before.pop(gone):
                self.after[start].pop(gone, None)
            for end in self.after.pop(gone):
                if end in self._before:
                    self._before[end].discard(gone)
