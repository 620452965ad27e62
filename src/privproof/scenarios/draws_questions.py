"""Questions about separate draws: what is drawn from the entries of one private input.

The model lists the values of an entry and the laws of what is drawn for it.  The parts of the output are independent given the data, at
one size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

from privproof.errors import QuestionError
from privproof.exact import Budget
from privproof.models import Horizon
from privproof.models.draws_model import Draws
from privproof.scenarios.any_question import AnyQuestion, Family
from privproof.scenarios.word_questions import Question

if TYPE_CHECKING:
    from privproof.language import Mechanism


@dataclass(frozen=True, kw_only=True)
class DrawsQuestion(AnyQuestion):
    """A mechanism of separate draws, with one private input, and a claim or none.

    Attributes:
        mechanism: the function and what it reads.
        model: the passes over the data, the values of an entry, and the laws of the parts.
        as_words: the same question about the words of a transducer, made when it is asked for.
        size: the length of its list, where the declaration leaves it open and one is asked about.
        budget: the claim, if one is made.
    """

    family: ClassVar[Family] = "draws"

    mechanism: Mechanism
    model: Draws
    as_words: Callable[[], Question] = field(compare=False, repr=False)
    size: int | None = None
    budget: Budget | None = None

    @property
    def input(self) -> str:
        """The name of the private input, which is the only one."""
        return next(iter(self.mechanism.inputs))

    @property
    def relation(self) -> str:
        """Which data are neighbours: each, one or monotone."""
        return str(self.mechanism.neighbours)

    def data(self, numbers: Sequence[int]) -> dict[str, object]:
        """The arguments of the mechanism for data that are given by the numbers of their values."""
        values = [self.model.values[number] for number in numbers]
        return {self.input: values if self.mechanism.inputs[self.input].shape == "list" else values[0]}

    def under(self, budget: Budget | None) -> Self:
        """The same question with another budget."""
        return replace(self, budget=budget)

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> Self:
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

    @property
    def name(self) -> str:
        """How reports call the mechanism."""
        declared = self.mechanism.inputs[self.input]
        if declared.shape != "list":
            return self.mechanism.name
        what = "records" if declared.within is None else "queries"
        return f"{self.mechanism.name} ({self.model.size} {what})"

    def words(self, *, place: str) -> Question:
        """The same question about the words of a model, with the same budget."""
        return self.as_words().under(self.budget)

    def listed(self) -> Question:
        """The same question about the words of a model."""
        return self.words(place="question")

    @property
    def list_size(self) -> int | None:
        """The length of its list."""
        return self.model.size if self.mechanism.inputs[self.input].shape == "list" else None
