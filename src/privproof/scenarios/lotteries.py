"""Questions about lotteries on lists of every length: one of the elements with the highest noisy level is drawn by lot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from privproof.errors import QuestionError
from privproof.exact import Budget, rational
from privproof.language import Mechanism
from privproof.models import Horizon
from privproof.models.lotteries import Lottery
from privproof.scenarios.asked import AnyQuestion, Family


@dataclass(frozen=True, kw_only=True)
class LotteryQuestion(AnyQuestion):
    """A mechanism, its lottery, and a claim or none.

    Attributes:
        mechanism: the function and what it reads.
        model: the lottery.
        budget: the claim, if one is made.
    """

    family: ClassVar[Family] = "lottery"

    mechanism: Mechanism
    model: Lottery
    budget: Budget | None = None

    @property
    def name(self) -> str:
        """How reports call the mechanism."""
        return f"{self.mechanism.name} (every length)"

    @property
    def input(self) -> str:
        """The name of the private list, which is the only input."""
        return next(iter(self.mechanism.inputs))

    @property
    def relation(self) -> str:
        """Which data are neighbours: each, one or monotone."""
        return str(self.mechanism.neighbours)

    def near(self) -> Iterator[tuple[int, int]]:
        """The pairs of different values, by their numbers, that an element may have on the two sides."""
        within = self.mechanism.inputs[self.input].within
        values = self.model.values
        for x, one in enumerate(values):
            for y, other in enumerate(values):
                if x != y and (within is None or abs(rational(one) - rational(other)) <= rational(within)):
                    yield x, y

    def data(self, numbers: Sequence[int]) -> dict[str, object]:
        """The arguments of the mechanism for a list that is given by the numbers of its values."""
        return {self.input: [self.model.values[number] for number in numbers]}

    def under(self, budget: Budget | None) -> LotteryQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> LotteryQuestion:
        """Nothing: it reads no stream.

        Raises:
            QuestionError: always.
        """
        raise QuestionError(
            "horizon", "the mechanism reads no stream, so its size counts", place=place, hint="--size 3"
        )

    @property
    def functions(self) -> tuple[Mechanism, ...]:
        """The mechanism, unless it is only proposed and nothing runs."""
        return () if self.mechanism.proposed is not None else (self.mechanism,)
