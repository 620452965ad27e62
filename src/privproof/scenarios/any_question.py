"""What every question has: a name, a claim or none, an extent, and the functions that it is about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn, Self, TypeAlias

from privproof.drawing.showing import ShownCard
from privproof.errors import QuestionError
from privproof.exact import Rational, rational

if TYPE_CHECKING:
    from privproof.exact import Budget
    from privproof.exact.measures import MeasuredBudget
    from privproof.language import Mechanism, Prior
    from privproof.models import Horizon
    from privproof.scenarios.composed_questions import Sampling, Use
    from privproof.scenarios.word_questions import Question

Family: TypeAlias = Literal[
    "words",
    "secrets",
    "program",
    "stream",
    "runs",
    "draws",
    "release",
    "formula",
    "location",
    "measured",
    "composed",
    "account",
]
"""The kinds of questions, by what is compared."""


class AnyQuestion(ShownCard, ABC):
    """A mechanism, what must not be told apart, and a budget ("is it private?") or none ("how private is it?").

    Attributes:
        family: the kind of question; engines, documents and reports are registered by it.
        private: what is claimed, as an adjective.
        continuous: whether single outputs have probability 0.
    """

    family: ClassVar[Family]
    private: ClassVar[str] = "private"
    continuous: ClassVar[bool] = False

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """How reports call the mechanism."""

        @property
        def budget(self) -> Budget | None:
            """The claim, if one is made."""

    @abstractmethod
    def under(self, budget: Budget | None) -> Self:
        """The same question with another budget."""

    @property
    def claims(self) -> bool:
        """Whether it makes a claim, so that it asks whether and not how much."""
        return self.budget is not None

    @property
    def own_budgets(self) -> tuple[MeasuredBudget, ...]:
        """The budgets of another measure than epsilon that its function claims of itself."""
        found: tuple[MeasuredBudget, ...] = next((getattr(each, "measures", ()) for each in self.functions), ())
        return found

    @property
    def below_measure(self) -> AnyQuestion | None:
        """Where it is about another measure than epsilon: what must not be told apart, as a question without a budget."""
        return None

    @property
    def measured_words(self) -> str:
        """What is claimed of another measure than epsilon; empty where nothing is."""
        return ""

    def measured(self, budgets: tuple[MeasuredBudget, ...]) -> AnyQuestion:
        """The same question about another measure than epsilon.

        Raises:
            QuestionError: it compares no laws that a measure is about.
        """
        if self.family not in ("words", "program", "runs", "draws", "release"):
            raise QuestionError(
                "measure",
                f"{budgets[0].measure} is asked about functions and releases",
                place=self.name,
                hint="ask for an epsilon",
            )
        from privproof.scenarios.measured_questions import MeasuredQuestion

        known, names = self.claim_names
        return MeasuredQuestion(self.under(None), tuple(each.filled(known, names) for each in budgets))

    @property
    def claim_names(self) -> tuple[dict[str, Rational], tuple[str, ...]]:
        """The names that a claim may speak of: those whose values are known, and those that stand for any number."""
        given = next((getattr(each, "parameters", {}) for each in self.functions), {})
        known = {
            name: rational(value)
            for name, value in given.items()
            if isinstance(value, int | Fraction) and not isinstance(value, bool)
        }
        return ({**known, "size": rational(self.list_size)} if self.list_size is not None else known), ()

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> Self:
        """The same question about words of other lengths.

        Raises:
            QuestionError: it has no horizon.
        """
        raise QuestionError("horizon", "a prior and secrets have no horizon", place=place, hint="drop it")

    def only(self, pair: str, *, place: str = "pair") -> Self:
        """The same question about one of its pairs alone.

        Raises:
            QuestionError: it has no such pair.
        """
        raise QuestionError("pair", "this question has no pairs", place=place, hint="drop it")

    def words(self, *, place: str) -> Question:
        """The question, if it is one about the words of a model.

        Raises:
            QuestionError: it is another one.
        """
        what = "continuous noise or numbers without bounds" if self.continuous else "secrets under a prior"
        hint = "privproof check, privproof epsilon" + (", privproof explain" if self.continuous else "")
        raise QuestionError("question", f"this does not apply to {what}", place=place, hint=hint)

    def listed(self) -> AnyQuestion:
        """The same question in a form that takes a delta, one word and every engine; itself, unless it was put more shortly."""
        return self

    def used(self, times: int, sampling: Sampling | None = None) -> tuple[Use, ...]:
        """The uses of a composition: so many of this, or those that it is made of."""
        from privproof.scenarios.composed_questions import Use

        return (Use(self, times, sampling),)

    def rewritten(self, change: Callable[[AnyQuestion], AnyQuestion | None]) -> AnyQuestion | None:
        """The question with something else in the place of every mechanism; None where there is nothing else for one."""
        return change(self)

    @property
    def functions(self) -> tuple[Mechanism | Prior, ...]:
        """The functions that it is about."""
        return ()

    @property
    def list_size(self) -> int | None:
        """The length of the lists that its function reads, where the question fixes it."""
        return None

    @property
    def of_every_length(self) -> bool:
        """Whether it is about the words of a model that reads lists of every length."""
        return False

    def relied_on(self) -> tuple[str, ...]:
        """What a verdict relies on outside the text of these functions, as sentences for its notes.

        Raises:
            LanguageError: what would run now is not what the question was asked about, so that there is no verdict.
        """
        told = [function.program.relies_on() for function in self.functions]
        return tuple(sentence for sentence in told if sentence is not None)


def no_such_pair(name: str, known: list[str]) -> NoReturn:
    """The complaint about a pair that is not there."""
    listed = ", ".join(known[:6]) + (", ..." if len(known) > 6 else "")
    raise QuestionError("pair", f"there is no pair {name!r}", place="pair", hint=f"pairs: {listed}")
