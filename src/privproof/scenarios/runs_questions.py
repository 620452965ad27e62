"""Questions about functions that are run as they are: on every data set of a few sizes, on every random choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from privproof.errors import LanguageError, QuestionError
from privproof.exact import Budget, Rational, rational
from privproof.exact.measures import MeasuredBudget
from privproof.language.inputs import ADD_REMOVE
from privproof.models import Horizon
from privproof.scenarios.any_question import AnyQuestion, Family

if TYPE_CHECKING:
    from privproof.language import Mechanism


@dataclass(frozen=True, kw_only=True)
class RunsQuestion(AnyQuestion):
    """A function, the neighbours of its data, the sizes at which it is run, and a claim or none.

    Attributes:
        mechanism: the function and what it reads.
        sizes: the lengths of its lists; empty where none is open, None for as many as there is time for.
        budget: the claim, if one is made.
        reason: why the function is run and not translated.
        sampled: whether it is run on a few of infinitely many data sets: then it is refuted, or nothing is known.
    """

    family: ClassVar[Family] = "runs"

    mechanism: Mechanism
    sizes: tuple[int, ...] | None = None
    budget: Budget | None = None
    reason: str = ""
    sampled: bool = False

    @property
    def name(self) -> str:
        """How reports call the mechanism."""
        return f"{self.mechanism.name}{f' ({self.sizes_words})' if self.sizes else ''}"

    @property
    def own_budgets(self) -> tuple[MeasuredBudget, ...]:
        """The budgets of another measure than epsilon that the function claims of itself."""
        return self.mechanism.measures

    @property
    def claim_names(self) -> tuple[dict[str, Rational], tuple[str, ...]]:
        """The names that a claim may speak of: parameters, and the size where one is asked about."""
        known, names = super().claim_names
        return {**known, **({"size": rational(self.sizes[-1])} if self.sizes else {})}, names

    @property
    def sizes_words(self) -> str:
        """The sizes, in words."""
        if not self.sizes:
            return ""
        if len(self.sizes) == 1:
            return f"size {self.sizes[0]}"
        return f"sizes {self.sizes[0]} to {self.sizes[-1]}"

    @property
    def sized(self) -> bool:
        """Whether the sizes were asked for."""
        return self.sizes is not None

    def under(self, budget: Budget | None) -> RunsQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> RunsQuestion:
        """Nothing: a function that is run as it is reads no stream.

        Raises:
            QuestionError: always.
        """
        raise QuestionError("horizon", "a function that is run as it is has no horizon", place=place, hint="drop it")


def runs_question(
    mechanism: Mechanism, *, size: int | None = None, reason: LanguageError | None = None, sampled: bool = False
) -> RunsQuestion:
    """The question that a function poses when it is run as it is: on all its data sets, or on some of them.

    Raises:
        LanguageError: there are infinitely many data sets, or it reads a stream; if it could not be translated, that is said too.
        QuestionError: there is no list that a size is for.
    """
    endless = [f"{name}: {declared}" for name, declared in mechanism.inputs.items() if declared.values is None]
    streams = [f"{name}: {declared}" for name, declared in mechanism.inputs.items() if declared.shape == "stream"]
    if (endless and not sampled) or streams:
        if reason is not None:
            raise reason
        raise LanguageError(
            "input",
            f"{(endless or streams)[0]} has no end, so that a function cannot be run on all of it",
            place=mechanism.place,
            hint="queries(0, 2), records('yes', 'no')",
        )
    opened = [name for name, declared in mechanism.inputs.items() if declared.shape == "list" and declared.size is None]
    if size is not None and not opened:
        raise QuestionError("size", "no list of open length takes it", place="size", hint="drop the size")
    if size is not None and size < 1:
        raise QuestionError("size", f"size={size}: a list has at least one element", place="size", hint="size=3")
    if mechanism.neighbours == ADD_REMOVE and not opened:
        raise LanguageError(
            "neighbours",
            "no list has an open length, so nothing can be added or removed",
            place=mechanism.place,
            hint="records('yes', 'no') without a size",
        )
    shorter = (size - 1,) if size is not None and mechanism.neighbours == ADD_REMOVE else ()
    sizes = (*shorter, size) if size is not None else None if opened else ()
    told = "" if reason is None else reason.message
    told += f" ({PurePath(reason.place).name})" if reason is not None and reason.place else ""
    return RunsQuestion(mechanism=mechanism, sizes=sizes, budget=mechanism.budget(size), reason=told, sampled=sampled)
