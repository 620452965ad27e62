"""What an engine is: it says whether it can answer a request, and answers it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from privproof.engines.search_monitor import Monitor
from privproof.evidence.engine_answers import Answer
from privproof.exact import INFINITE, ZERO, Budget, Rational
from privproof.models import Letter
from privproof.scenarios import AnyQuestion

T = TypeVar("T")
Answers: TypeAlias = Generator[Answer, None, None]


@dataclass(frozen=True, eq=False)
class EngineRequest:
    """A question and what is wanted: whether its claim holds, how small epsilon may be, or what one word says.

    Attributes:
        question: the question.
        tight: whether the smallest epsilon is wanted instead.
        delta: the delta at which it is wanted.
        pointwise: whether that delta counts for each output instead of each event.
        word: the one word that is asked about; None for all of them.
        prepared: what is known already, by name; whatever engines prepare for each other is kept here.
    """

    question: AnyQuestion
    tight: bool = False
    delta: Rational = ZERO
    pointwise: bool = False
    word: tuple[Letter, ...] | None = None
    prepared: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def budget(self) -> Budget | None:
        """The claim; where the smallest epsilon is wanted, an infinite one with its delta."""
        return Budget(INFINITE, self.delta, self.pointwise) if self.tight else self.question.budget

    def once(self, what: str, make: Callable[[], T]) -> T:
        """Something that several engines need of the question with its claim, made by the first of them."""
        return self.shared(f"{what}, {self.budget!r}", make)

    def shared(self, what: str, make: Callable[[], T]) -> T:
        """Something that is the same whatever is claimed: requests with other claims may share what is prepared."""
        if what not in self.prepared:
            self.prepared[what] = make()
        found: T = self.prepared[what]
        return found


class Remark(str):
    """Why an engine does not answer, worth saying beside the answer of another engine."""

    __slots__ = ()


class Engine(Protocol):
    """Answers questions of some families."""

    name: str

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        ...

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """What it has to say: the first of its answers that passes the gate counts.

        Where the gate turns an answer down, the engine is asked to go on.  The last answer is one that always passes: a plain one, or that
        nothing is known.
        """
        ...
