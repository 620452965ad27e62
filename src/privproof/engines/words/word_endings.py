"""Where words end: both probabilities there, what a search looks for, and the best word it has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import inf, lcm
from typing import TypeAlias

from privproof.engines.search_monitor import Monitor
from privproof.engines.words.word_vectors import Reached
from privproof.exact import ZERO, Budget, Epsilon, Rational, decimal, fraction, rational, smallest_epsilon
from privproof.models import Final, Word, WordProblem

Ratio: TypeAlias = "Fraction | float"
"""A fraction, or infinity."""

Goal: TypeAlias = Callable[[Fraction, int], bool]
"""Whether a word with ``P - delta`` and ``Q`` (on a common scale) is what the search looks for."""


def beyond(budget: Budget) -> Goal:
    """Words that break the budget, for each output."""
    epsilon = budget.epsilon

    def goal(excess: Fraction, right: int) -> bool:
        return not epsilon.allows(rational(excess), rational(right))

    return goal


def ratio_at_least(ratio: Rational) -> Goal:
    """Words whose ratio is at least the given one."""
    target = fraction(ratio)
    return lambda excess, right: right > 0 and excess >= target * right


class Ending:
    """Final columns in integers."""

    def __init__(self, final: Final) -> None:
        self.name = final.name
        self.scale = lcm(1, *(int(x.q) for x in (*final.left, *final.right)))
        self.left = [(i, int((x * self.scale).p)) for i, x in enumerate(final.left) if x != 0]
        self.right = [(i, int((x * self.scale).p)) for i, x in enumerate(final.right) if x != 0]

    def masses(self, vector: Reached) -> tuple[int, int]:
        return sum(vector.left[i] * x for i, x in self.left), sum(vector.right[i] * x for i, x in self.right)


def compare_ending(ending: Ending, vector: Reached, delta: Fraction, *, weighted: bool) -> tuple[Fraction, int]:
    """``P - delta`` and Q of a word that ends here, on a common scale."""
    left, right = ending.masses(vector)
    excess = Fraction(left)
    if weighted:
        excess -= delta * vector.weight * ending.scale
    return excess, right


Hit: TypeAlias = tuple[int, Ratio, Reached, str]
"""A vector that meets the goal: changed inputs, the ratio with its sign reversed, the vector, the final column."""


class Judge:
    """Looks at vectors where words may end.

    Args:
        problem: the word problem.
        goal: what to look for; without one the largest ratio is sought.
        delta: what is subtracted from P, for each output.
        threshold: smaller ratios meet no goal; without a goal, the ratio of a known word.
        rounded: whether vectors are rounded, so that ratios have to be computed anew.
        monitor: progress and interrupts.
    """

    def __init__(
        self,
        problem: WordProblem,
        *,
        goal: Goal | None,
        delta: Rational = ZERO,
        threshold: Rational = ZERO,
        rounded: bool = False,
        monitor: Monitor,
    ) -> None:
        self.problem, self.goal, self.rounded, self.monitor = problem, goal, rounded, monitor
        self.delta, self.threshold = fraction(delta), fraction(threshold)
        self.best: tuple[Ratio, Reached, str] | None = None

    @property
    def ratio(self) -> Ratio:
        """The largest ratio seen."""
        return self.best[0] if self.best is not None else Fraction(0)

    def attained(self) -> Fraction:
        """The largest finite ratio known."""
        return max(self.threshold, self.ratio if isinstance(self.ratio, Fraction) else Fraction(0))

    def lower(self) -> str:
        """The largest ratio seen, in words; empty without one."""
        if self.best is None:
            return ""
        return decimal(self.ratio) if isinstance(self.ratio, Fraction) else "inf"

    def established(self) -> Epsilon | None:
        """The epsilon that the best word asks for, where nothing is subtracted from it."""
        if self.best is None or self.delta != 0 or not isinstance(self.ratio, Fraction):
            return None
        return smallest_epsilon(self.ratio, 1)

    def best_word(self) -> Word | None:
        """The word with the largest ratio seen."""
        return None if self.best is None else self._word(self.best[1], self.best[2])

    def hits(self, vectors: Iterable[Reached], endings: Sequence[Ending]) -> list[Hit]:
        """The vectors that meet the goal; the best of all is remembered."""
        found: list[Hit] = []
        for vector in vectors:
            self.monitor.pause()
            for ending in endings:
                excess, right = compare_ending(ending, vector, self.delta, weighted=self.delta != 0)
                if excess <= 0:
                    continue
                ratio: Ratio = excess / right if right else inf
                if self.best is None or ratio > self.ratio:
                    self._improve(ratio, vector, ending.name)
                if self.goal is not None and ratio >= self.threshold and self.goal(excess, right):
                    found.append((vector.changes, -ratio, vector, ending.name))
        return found

    def simplest(self, hits: Sequence[Hit]) -> Word | None:
        """The word with the fewest changed inputs, then the largest ratio."""
        if not hits:
            return None
        _, _, vector, final = min(hits, key=lambda hit: hit[:2])
        return self._word(vector, final)

    def _improve(self, ratio: Ratio, vector: Reached, final: str) -> None:
        if self.rounded and ratio != inf:
            if ratio <= self.attained():
                return
            exact = self._word(vector, final).ratio
            assert exact is not None
            ratio = fraction(exact)
        if self.best is None or ratio > self.ratio:
            self.best = (ratio, vector, final)

    def _word(self, vector: Reached, final: str) -> Word:
        return self.problem.word(vector.start, vector.word(), final=final)
