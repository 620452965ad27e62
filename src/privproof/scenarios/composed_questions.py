"""Questions about several uses together: of one mechanism or of different ones, on all data or on samples of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from privproof.errors import QuestionError
from privproof.exact import Budget, Number, Rational, rational
from privproof.scenarios.any_question import AnyQuestion, Family
from privproof.scenarios.runs_questions import RunsQuestion

SamplingKind: TypeAlias = Literal["poisson", "without-replacement"]
_RELATION: dict[SamplingKind, str] = {"poisson": "add-remove", "without-replacement": "one"}
"""The neighbours that a way of sampling is about."""
_MOST_USES = 10**6
"""Uses of a mechanism; beyond, a composition is refused."""


@dataclass(frozen=True)
class Sampling:
    """How the data of a use are sampled.

    Attributes:
        kind: *poisson*: every record by itself, with a probability; *without-replacement*: that share of all records.
        rate: the probability, or the share.
    """

    kind: SamplingKind
    rate: Rational

    def __str__(self) -> str:
        if self.kind == "poisson":
            return f"a Poisson sample of rate {self.rate}"
        return f"a sample of {self.rate} of all records, without replacement"


@dataclass(frozen=True)
class Use:
    """Uses of one mechanism.

    Attributes:
        of: the mechanism and its neighbours, as a question without a budget.
        times: how often it is used.
        sampling: how the data of each use are sampled, every time anew; None for all data.
    """

    of: AnyQuestion
    times: int = 1
    sampling: Sampling | None = None

    def __str__(self) -> str:
        said = self.of.name if self.times == 1 else f"{self.times} uses of {self.of.name}"
        return said if self.sampling is None else f"{said} on {self.sampling}"


@dataclass(frozen=True)
class ComposedQuestion(AnyQuestion):
    """Uses on the same data, each chosen with the results of those before in view; what is seen are all results.

    Two situations are neighbouring data sets, which give every use neighbouring inputs or equal ones.  With Poisson samples the one with a
    record more shows the use that record with the probability of the sample, whatever else is in the sample.

    Attributes:
        uses: the uses.
        budget: the claim, if one is made.
    """

    family: ClassVar[Family] = "composed"
    continuous: ClassVar[bool] = True

    uses: tuple[Use, ...]
    budget: Budget | None = None

    @property
    def name(self) -> str:
        """How reports call it."""
        return " and ".join(map(str, self.uses))

    def under(self, budget: Budget | None) -> ComposedQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)

    def used(self, times: int, sampling: Sampling | None = None) -> tuple[Use, ...]:
        """Its own uses."""
        return self.uses

    def rewritten(self, change: Callable[[AnyQuestion], AnyQuestion | None]) -> AnyQuestion | None:
        """The question with something else in the place of every mechanism."""
        found = []
        for use in self.uses:
            of = change(use.of)
            if of is None:
                return None
            found.append(replace(use, of=of))
        return replace(self, uses=tuple(found))

    def relied_on(self) -> tuple[str, ...]:
        """What a verdict relies on outside the text of these functions."""
        return tuple(dict.fromkeys(sentence for use in self.uses for sentence in use.of.relied_on()))


def composed_question(*uses: Use) -> ComposedQuestion:
    """The question about uses together.

    Raises:
        QuestionError: a number of uses or a rate is out of range, or the mechanism is of a kind that cannot be composed or sampled.
    """
    for use in uses:
        if not 1 <= use.times <= _MOST_USES:
            raise QuestionError(
                "composition",
                f"times={use.times}: a mechanism is used from once to {_MOST_USES} times",
                place=use.of.name,
                hint="times=10",
            )
        if use.of.family not in ("words", "program", "runs", "draws"):
            raise QuestionError(
                "composition",
                f"{use.of.name} is no mechanism with laws that can be composed",
                place=use.of.name,
                hint="a function or a model with neighbours",
            )
        if use.of.family == "words" and not use.of.functions:
            raise QuestionError(
                "composition",
                f"{use.of.name} is a model, whose profile is composed exactly",
                place=use.of.name,
                hint=f"privacy_profile(question).composed({use.times})",
            )
        if use.sampling is not None:
            _check_sampling(use, use.sampling)
    return ComposedQuestion(tuple(replace(use, of=use.of.under(None)) for use in uses))


def _check_sampling(use: Use, sampling: Sampling) -> None:
    if not 0 < sampling.rate <= 1:
        raise QuestionError(
            "sampling", f"rate={sampling.rate} is not above 0 and at most 1", place=use.of.name, hint="1/100"
        )
    needed = _RELATION[sampling.kind]
    of = use.of.mechanism if isinstance(use.of, RunsQuestion) else next(iter(use.of.functions), None)
    relation = getattr(of, "neighbours", None)
    if relation != needed:
        raise QuestionError(
            "sampling",
            f"sampling ({sampling.kind}) is for data of which one record is {'added' if needed == 'add-remove' else 'changed'}, "
            f"and here the neighbours are {relation!r}",
            place=use.of.name,
            hint=f'neighbours="{needed}"',
        )
    if sampling.kind != "poisson" and not _any_record(of):
        raise QuestionError(
            "sampling",
            "without replacement, any record may take the place of another one, and here records change by amounts",
            place=use.of.name,
            hint="records(...), which change in any way",
        )


def _any_record(mechanism: object) -> bool:
    """Whether a record may be changed in any way: the place of one that is not sampled goes to any other one."""
    inputs = getattr(mechanism, "inputs", {}).values()
    return all(each.public or (each.shape == "list" and each.within is None and not each.fields) for each in inputs)


def sampling_of_kind(kind: str, rate: Number) -> Sampling:
    """A way of sampling.

    >>> print(sampling_of_kind("poisson", "1/100"))
    a Poisson sample of rate 1/100
    """
    for known in _RELATION:
        if kind == known:
            return Sampling(known, rational(rate))
    raise QuestionError("sampling", f"sampling {kind!r} is not known", hint=" or ".join(_RELATION))
