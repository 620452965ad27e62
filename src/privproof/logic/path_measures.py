"""What is behind a verdict of the logic: the probabilities of a path formula, and how close they are between neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privproof.exact import ONE, ZERO, Epsilon, Rational, smallest_epsilon
from privproof.logic.counterexample_traces import Trace
from privproof.logic.formulas import Expected, Private, ProbabilityRange, Probable, Steady

if TYPE_CHECKING:
    from privproof.logic.far_query_pairs import FarPairs, NearPairs
    from privproof.logic.large_processes import PathBounds

Truths: TypeAlias = NDArray[np.int8]
"""For every state 1 (true), 0 (false) or -1 (not decided)."""


class ValueBetween(NamedTuple):
    """A probability or expected reward that lies between two rationals; known exactly where they are equal.

    A reward may be infinite; that is written by two numbers below 0, which no probability or reward has.
    """

    low: Rational
    high: Rational

    @property
    def exact(self) -> bool:
        """Whether the number itself is known."""
        return bool(self.low == self.high)

    @property
    def infinite(self) -> bool:
        """Whether it is an infinite reward."""
        return bool(self.low < 0)

    @property
    def amount(self) -> Rational | None:
        """The number, where it is known; None where it is infinite."""
        return None if self.infinite else self.low


INFINITE = ValueBetween(-ONE, -ONE)
"""The infinite reward."""

Probabilities: TypeAlias = "Callable[[int], ValueBetween]"
"""The probability of a path formula, or the expected reward, from each state."""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """What is known of ``P_J φ``, of the expected reward of ``R_J``, or of the share of steps of ``S_J``.

    Attributes:
        formula: the formula.
        truth: where it holds.
        least: the smallest probability (or reward) over all schedulers, from each state; on a chain the probability.
        most: the largest.
        how: how the numbers were found.
        bounds: the vectors that bound them, where they were found so.
    """

    formula: Probable | Expected | Steady
    truth: Truths
    least: Probabilities
    most: Probabilities
    how: str
    bounds: PathBounds | None = None

    @property
    def side(self) -> Literal["", "min", "max"]:
        """Which extreme over the schedulers is asked for; both where it is empty."""
        return "" if isinstance(self.formula, Steady) else self.formula.side


@dataclass(frozen=True)
class Gap:
    """Two neighbours, and how much likelier the formula is from the left one than from the right one.

    Attributes:
        left: the state from which it is likelier than allowed, or comes closest to it.
        right: its neighbour.
        left_probability: the probability from the left state.
        right_probability: the probability from the right one.
        epsilon: bounds on the smallest epsilon that this direction needs, at the formula's delta.
        delta: bounds on the smallest delta that it needs, at the formula's epsilon.
        holds: whether the direction is within the budget; None where that is not decided.
        actions: on a decision process, the actions (before, repeated) after which these are the probabilities.
        reason: how it was decided, or why not.
        proof: what shows it, on a decision process.
    """

    left: int
    right: int
    left_probability: ValueBetween
    right_probability: ValueBetween
    epsilon: tuple[Epsilon, Epsilon]
    delta: ValueBetween
    holds: bool | None
    actions: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    reason: str = ""
    proof: object = None


@dataclass(frozen=True, eq=False)
class Closeness:
    """What is known of ``D_{ε,δ} φ``.

    Attributes:
        formula: the formula.
        truth: where it holds.
        gap: the worse direction of a pair of neighbours.
        pairs: the pairs of neighbours.
        how: how the numbers were found.
        directions: on a decision process, what is known of each ordered pair.
        trace: on a chain, a shortest run from a state that settles the formula.
        bounds: the vectors that bound the probabilities, where they were found so.
        far: on a large decision process, what shows the directions, where that was found in columns.
    """

    formula: Private
    truth: Truths
    gap: Callable[[int, int], Gap]
    pairs: tuple[tuple[int, int], ...]
    how: str
    directions: tuple[Gap, ...] = ()
    trace: Callable[[int], Trace | None] | None = None
    bounds: PathBounds | None = None
    far: NearPairs | FarPairs | None = None

    @cached_property
    def _near(self) -> dict[int, list[int]]:
        near: dict[int, list[int]] = {}
        for left, right in self.pairs:
            near.setdefault(left, []).append(right)
            near.setdefault(right, []).append(left)
        return near

    def worst(self, state: int) -> Gap | None:
        """The worst neighbour of a state; None where it has none but itself."""
        return worst_of([self.gap(state, other) for other in self._near.get(state, ())])


def worst_of(gaps: list[Gap]) -> Gap | None:
    """The gap that needs the most: a violation first, then what is not decided, then the largest epsilon, then the largest delta."""
    worst: Gap | None = None
    for gap in gaps:
        if worst is None or _worse(gap, worst):
            worst = gap
    return worst


def _worse(gap: Gap, other: Gap) -> bool:
    order = {False: 0, None: 1, True: 2}
    if order[gap.holds] != order[other.holds]:
        return order[gap.holds] < order[other.holds]
    for mine, theirs in zip(gap.epsilon, other.epsilon, strict=True):
        compared = mine.compare(theirs)
        if compared != 0:
            return compared > 0
    return (gap.delta.high, gap.delta.low) > (other.delta.high, other.delta.low)


def gap_between(left: int, right: int, p: ValueBetween, q: ValueBetween, formula: Private) -> Gap:
    """The gap in one direction, from the two probabilities."""
    budget, share = formula.epsilon, formula.delta
    assert isinstance(budget, Epsilon)
    assert not isinstance(share, str)
    holds: bool | None = None
    if budget.allows(p.high, q.low, share):
        holds = True
    elif not budget.allows(p.low, q.high, share):
        holds = False
    least = smallest_epsilon(p.low, q.high, share)
    most = least if p.exact and q.exact else smallest_epsilon(p.high, q.low, share)
    return Gap(left, right, p, q, (least, most), needed_delta(p, q, budget), holds)


def needed_delta(p: ValueBetween, q: ValueBetween, budget: Epsilon) -> ValueBetween:
    """Bounds on ``max(0, p - e^epsilon q)``."""
    if budget.infinite:
        return ValueBetween(p.low if q.high == 0 else ZERO, p.high if q.low == 0 else ZERO)
    low, high = budget.enclosure(128)
    return ValueBetween(max(ZERO, p.low - high * q.high), max(ZERO, p.high - low * q.low))


def worse_direction(left: int, right: int, p: ValueBetween, q: ValueBetween, formula: Private) -> Gap:
    """The worse of the two directions between two neighbours."""
    worst = worst_of([gap_between(left, right, p, q, formula), gap_between(right, left, q, p, formula)])
    assert worst is not None
    return worst


def lower(truth: Truths, states: Sequence[int], *, holds: bool | None) -> None:
    """Take the truth of states down by one more condition."""
    for state in states:
        if holds is False:
            truth[state] = 0
        elif holds is None and truth[state] == 1:
            truth[state] = -1


def inside(within: ProbabilityRange, least: ValueBetween, most: ValueBetween) -> int:
    """Whether every probability between the least and the most lies in a range: 1, 0, or -1 where that is open."""
    if within.contains(least.low) and within.contains(most.high):
        return 1
    for number in (least, most):
        above = number.low > within.high or (number.low == within.high and not within.high_included)
        below = number.high < within.low or (number.high == within.low and not within.low_included)
        if above or below:
            return 0
    return -1
