"""Sizes at which a claim far from the truth fails: what many numbers with Gaussian noise give away together grows with how many they are.

Numbers with Gaussian noise that no test looks at move by ``mu^2`` in squares of standard deviations between two data sets, the sum over
all of them, and give away ``H_mu(epsilon)``.  What a few moderate sizes come to tells how the sum grows, and so at which size more than
delta is given away.  This is a guess in floats: the function is then run at that size, and what it shows there is decided in balls.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, erfc, exp, log, sqrt
from typing import TYPE_CHECKING

from privproof.compiling.runs import trees_on
from privproof.compiling.sampled import sampled_pairs
from privproof.errors import LanguageError
from privproof.exact import Budget
from privproof.exact.balls import rational_bounds
from privproof.language.inputs import ADD_REMOVE
from privproof.language.linear import Linear

if TYPE_CHECKING:
    from privproof.language.mechanism import Mechanism
    from privproof.language.trees import TreeLeaf

_MODERATE = (6, 12)
"""The sizes whose squares tell how they grow."""
_LARGEST = 450
"""The largest size that is tried: runs with so many numbers, and their check, take seconds."""
_LARGEST_EPSILON = 300.0
"""Beyond, floats do not tell what is given away."""
_CLEARLY = 1.5
"""So many times delta shall be given away: the size is a guess."""


def far_size(mechanism: Mechanism, budget: Budget | None, pause: Callable[[], None]) -> int | None:
    """The size at which a claim with a delta is expected to fail; None where nothing is known, or no so large size is needed."""
    opened = [each for each in mechanism.inputs.values() if each.shape == "list" and each.size is None]
    if budget is None or not 0 < budget.delta < 1 or budget.epsilon.infinite or not opened:
        return None
    if mechanism.neighbours == ADD_REMOVE or not isinstance(mechanism.neighbours, str):
        return None
    claimed = float(rational_bounds(budget.epsilon.ball())[1])
    if claimed > _LARGEST_EPSILON:
        return None
    few, more = (_squares(mechanism, size, pause) for size in _MODERATE)
    if few is None or more is None or not 0 < few < more:
        return None
    power = log(more / few) / log(_MODERATE[1] / _MODERATE[0])
    needed = _least_squares(claimed, _CLEARLY * float(budget.delta))
    size = ceil(_MODERATE[1] * (needed / more) ** (1 / power)) + 1
    return size if _MODERATE[1] < size <= _LARGEST else None


def _squares(mechanism: Mechanism, size: int, pause: Callable[[], None]) -> float | None:
    """How far the numbers that are shown move together at a size, on the data that are tried; None where something else is shown."""
    most = 0.0
    try:
        for left, right in sampled_pairs(mechanism, size):
            pause()
            one, other = (tree[0] if len(tree) == 1 else None for tree in trees_on(mechanism, [left, right], most=1))
            moved = None if one is None or other is None else _squared_shifts(one, other)
            if moved is None:
                return None
            most = max(most, moved)
    except LanguageError:  # there are tests, or it is no function of open numbers
        return None
    return most


def _squared_shifts(one: TreeLeaf, other: TreeLeaf) -> float | None:
    """The squares of what numbers move by, each with Gaussian noise of its own."""
    if one.steps or other.steps or one.outcome.shape != other.outcome.shape:
        return None
    total, seen = 0.0, set[object]()
    for a, b in zip(one.outcome.parts, other.outcome.parts, strict=True):
        if not isinstance(a, Linear) or not isinstance(b, Linear) or a.terms != b.terms or len(a.terms) != 1:
            return None
        [(atom, factor)] = a.terms.items()
        if not isinstance(atom, int) or atom in seen or one.noises[atom].kind != "gaussian":
            return None
        seen.add(atom)
        total += (float(a.constant - b.constant) / float(factor * one.noises[atom].scale)) ** 2
    return total


def given_away(squares: float, claimed: float) -> float:
    """What Gaussian noise gives away beyond an epsilon, about.

    >>> round(given_away(0.25, 0.5), 6)
    0.05244
    """
    mu = sqrt(squares)

    def below(x: float) -> float:
        return erfc(-x / sqrt(2)) / 2

    return below(mu / 2 - claimed / mu) - exp(claimed) * below(-mu / 2 - claimed / mu)


def _least_squares(claimed: float, delta: float) -> float:
    """The least squares that give away so much, by halving."""
    low, high = 1e-6, 1.0
    while given_away(high, claimed) < min(delta, 0.99):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if given_away(middle, claimed) < min(delta, 0.99) else (low, middle)
    return high
