"""Questions about mechanisms of separate draws: the parts of the output are independent given the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from privproof.errors import QuestionError
from privproof.exact import Budget
from privproof.language import Mechanism
from privproof.models import Horizon
from privproof.models.draws import Draws
from privproof.scenarios.asked import AnyQuestion, Family
from privproof.scenarios.question import Question


@dataclass(frozen=True, kw_only=True)
class DrawsQuestion(AnyQuestion):
    """A mechanism, its model of separate draws, and a claim or none.

    Attributes:
        mechanism: the function and what it reads.
        model: the model.
        size: the length of its list, where the declaration leaves it open.
        budget: the claim, if one is made.
        as_words: the same question about the words of a transducer, made when it is asked for.
    """

    family: ClassVar[Family] = "draws"

    mechanism: Mechanism
    model: Draws
    as_words: Callable[[], Question] = field(compare=False, repr=False)
    size: int | None = None
    budget: Budget | None = None

    @property
    def name(self) -> str:
        """How reports call the mechanism."""
        declared = self.mechanism.inputs[self.input]
        if declared.shape != "list":
            return self.mechanism.name
        what = "records" if declared.within is None else "queries"
        return f"{self.mechanism.name} ({self.model.size} {what})"

    @property
    def input(self) -> str:
        """The name of the private input, which is the only one."""
        return next(iter(self.mechanism.inputs))

    @property
    def relation(self) -> str:
        """Which data are neighbours: each, one or monotone."""
        return str(self.mechanism.neighbours)

    def data(self, numbers: tuple[int, ...]) -> dict[str, object]:
        """The arguments of the mechanism for data that are given by the numbers of their values."""
        values = [self.model.values[number] for number in numbers]
        return {self.input: values if self.mechanism.inputs[self.input].shape == "list" else values[0]}

    def under(self, budget: Budget | None) -> DrawsQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> DrawsQuestion:
        """Nothing: it reads no stream.

        Raises:
            QuestionError: always.
        """
        raise QuestionError(
            "horizon", "the mechanism reads no stream, so its size counts", place=place, hint="--size 3"
        )

    def words(self, *, place: str) -> Question:
        """The same question about the words of a model, with the same budget."""
        return self.as_words().under(self.budget)

    def listed(self) -> Question:
        """The same question about the words of a model."""
        return self.words(place="question")

    @property
    def functions(self) -> tuple[Mechanism, ...]:
        """The mechanism, unless it is only proposed and nothing runs."""
        return () if self.mechanism.proposed is not None else (self.mechanism,)

    @property
    def list_size(self) -> int | None:
        """The length of its list."""
        return self.model.size if self.mechanism.inputs[self.input].shape == "list" else None
