"""Questions about stream automata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from privproof.errors import QuestionError
from privproof.exact import ONE, Budget, Rational
from privproof.models import Horizon
from privproof.models.stream_automaton import StreamAutomaton
from privproof.scenarios.any_question import AnyQuestion, Family

if TYPE_CHECKING:
    from privproof.language import Mechanism

Relation: TypeAlias = Literal["each", "one", "monotone"]


@dataclass(frozen=True, kw_only=True)
class StreamQuestion(AnyQuestion):
    """A stream automaton, the neighbours of its data, and a budget or none.

    Attributes:
        automaton: the automaton.
        relation: whether every number of the stream may change, all in one direction, or one of them.
        within: by how much a number may change.
        budget: the claim, if one is made.
        name: how reports call the mechanism.
        mechanism: the function that the automaton was made from, if it was made from one.
        outputs: for every transition what the function writes in it, with `ANY` in the place of noisy numbers.
        lines: for every transition the lines of the function that it runs through.
        free: whether the numbers of the stream may be any numbers; bounds make proofs no less true, and losses smaller.
        trials: what running the function beside the automaton has shown, in a sentence; empty without a function.
    """

    family: ClassVar[Family] = "stream"
    continuous: ClassVar[bool] = True

    automaton: StreamAutomaton
    relation: Relation = "each"
    within: Rational = ONE
    budget: Budget | None = None
    name: str = ""
    mechanism: Mechanism | None = None
    outputs: tuple[tuple[Any, ...], ...] = ()
    lines: tuple[tuple[int, ...], ...] = ()
    free: bool = True
    trials: str = ""

    def under(self, budget: Budget | None) -> StreamQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> StreamQuestion:
        """The same question: it is about streams of every length.

        Raises:
            QuestionError: the horizon is bounded.
        """
        if horizon.high is not None:
            raise QuestionError(
                "horizon", "a stream automaton is decided for streams of every length", place=place, hint="drop it"
            )
        return self

    @property
    def functions(self) -> tuple[Mechanism, ...]:
        """The function that the automaton was made from, if it was made from one."""
        return () if self.mechanism is None else (self.mechanism,)


def as_stream(question: AnyQuestion) -> StreamQuestion | None:
    """The question, if it is about a stream automaton."""
    return question if isinstance(question, StreamQuestion) else None
