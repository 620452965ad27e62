"""Witnesses: what two situations produce with probabilities too far apart (or exactly as far apart as epsilon says).

There is one `Witness`: two situations, what is observed, and its probability in both.  What is observed is of a kind: a word of a model,
an output that tells secrets apart, a pattern of outputs, what is written on a stream, a released number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from flint import arb

from privproof.exact.exponentials import ExponentialSum
from privproof.exact.probabilities import Ball, Probability, exactly, is_zero, loss_of
from privproof.models import Letter
from privproof.scenarios import AnyQuestion, Family

Arguments: TypeAlias = Mapping[str, Any]


class Observation(Protocol):
    """What is observed, of the kind that questions of one family are answered with."""

    family: ClassVar[Family]

    @property
    def output(self) -> str | tuple[str, ...]:
        """As it is shown."""

    @property
    def event(self) -> object:
        """As data; for a function with continuous noise, the pattern that `output_probability` takes."""

    def called(self, question: AnyQuestion, left: Any, right: Any) -> tuple[Arguments, Arguments] | None:
        """The arguments of the mechanism in both situations, where there is one."""


O_co = TypeVar("O_co", bound=Observation, covariant=True)
P_co = TypeVar("P_co", bound=Probability, covariant=True)


@dataclass(frozen=True)
class Witness(Generic[O_co, P_co]):
    """Something that two situations produce with probabilities too far apart (or exactly as far apart as epsilon says).

    It also has the attributes of what is observed: ``witness.letters`` is ``witness.observed.letters``.

    Attributes:
        left: the situation that makes it more likely: an initial distribution, arguments, the numbers of a stream, a secret.
        right: the other situation.
        observed: what is observed.
        left_probability: its probability on the left: a fraction, a sum of exponentials, or a ball that encloses it.
        right_probability: the same on the right.
    """

    left: Any
    right: Any
    observed: O_co
    left_probability: P_co
    right_probability: P_co

    @property
    def event(self) -> object:
        """What is observed, as data: a word, an output, a pattern of outputs."""
        return self.observed.event

    @property
    def output(self) -> str | tuple[str, ...]:
        """What is observed, as it is shown."""
        return self.observed.output

    @property
    def seen(self) -> str:
        """What is observed, in words."""
        return self.output if isinstance(self.output, str) else " ".join(self.output)

    @property
    def secrets(self) -> tuple[Any, Any]:
        """Both situations, the one that makes it more likely first."""
        return self.left, self.right

    @property
    def infinite(self) -> bool:
        """Whether it is impossible on the right."""
        return is_zero(self.right_probability)

    @property
    def ratio(self) -> Fraction | None:
        """How many times likelier it is on the left; None if it is impossible on the right, or the probabilities are no fractions."""
        left, right = exactly(self.left_probability), exactly(self.right_probability)
        return left / right if left is not None and right else None

    def loss(self, bits: int = 192) -> arb:
        """The logarithm of the ratio of the probabilities, as a ball."""
        return loss_of(self.left_probability, self.right_probability, bits)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name == "observed":
                raise AttributeError(name)
            return getattr(self.observed, name)


@dataclass(frozen=True)
class ObservedWord:
    """A word of a model.

    Attributes:
        pair: the name of the pair of situations.
        letters: the word: inputs on both sides where there are any, and outputs.
        ending: whether the word is a prefix ("any") or a complete run ("complete").
        marks: the marked forms of inputs, each with the input that it marks.
        told: what is observed where the word has marked inputs: the output with their indices.
    """

    family: ClassVar[Family] = "words"

    pair: str
    letters: tuple[Letter, ...]
    ending: str
    marks: Mapping[str, str] = field(default_factory=dict, compare=False)
    told: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def output(self) -> tuple[str, ...]:
        """What is observed."""
        if self.told is not None:
            return self.told
        return tuple(letter.output for letter in self.letters if letter.output is not None)

    @property
    def event(self) -> tuple[Letter, ...]:
        """The word."""
        return self.letters

    @property
    def inputs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The inputs on both sides, empty where the mechanism reads none."""
        left = [letter.left for letter in self.letters if letter.left is not None]
        right = [letter.right for letter in self.letters if letter.right is not None]
        return tuple(self.marks.get(x, x) for x in left), tuple(self.marks.get(y, y) for y in right)

    @property
    def marked(self) -> tuple[int, ...]:
        """The indices that are foretold: where the marked inputs stand."""
        return tuple(i for i, letter in enumerate(self.letters) if letter.left in self.marks)

    def called(self, question: AnyQuestion, left: Any, right: Any) -> tuple[Arguments, Arguments] | None:
        """The arguments of the mechanism on both sides, where the model was made from one."""
        origin = getattr(question, "origin", None)
        if origin is None:
            return None
        return origin.arguments(self.pair, 0, self.inputs[0]), origin.arguments(self.pair, 1, self.inputs[1])


@dataclass(frozen=True)
class ObservedOutput:
    """An output that tells two secrets apart, at one prior; the situations are the secrets.

    Attributes:
        output: the output.
        values: the values of the prior's unknown parameters.
        left_prior: the probability of the first secret before anything is seen.
        right_prior: the same of the second.
        left_joint: the probability of the first secret together with the output.
        right_joint: the same of the second.
        limit: whether the values lie on the border and do not belong to the region: the ratio is approached there.
    """

    family: ClassVar[Family] = "secrets"

    output: str
    values: Mapping[str, Fraction]
    left_prior: Fraction
    right_prior: Fraction
    left_joint: Fraction
    right_joint: Fraction
    limit: bool = False

    @property
    def prior_odds(self) -> Fraction | None:
        """The odds of the first secret against the second before the output is seen; None for infinite."""
        return self.left_prior / self.right_prior if self.right_prior else None

    @property
    def posterior_odds(self) -> Fraction | None:
        """The odds after the output is seen; None for infinite."""
        return self.left_joint / self.right_joint if self.right_joint else None

    @property
    def event(self) -> str:
        """The output."""
        return self.output

    def called(self, question: AnyQuestion, left: Any, right: Any) -> None:
        """No arguments: the situations are not data of a mechanism."""


@dataclass(frozen=True)
class ObservedPattern:
    """Outputs of a function with continuous noise; the situations are its arguments.

    Attributes:
        event: the pattern of outputs.
        line: the line of the mechanism that breaks the claim and why, if one can be named.
        number: its number; 0 where none is named.
    """

    family: ClassVar[Family] = "program"
    one_pattern: ClassVar[bool] = True
    """Whether the event is a pattern that `output_probability` takes."""

    event: Any
    line: str = ""
    number: int = 0

    @property
    def output(self) -> str:
        """The event in words."""
        from privproof.language.patterns import pattern_text  # here, because models have no patterns

        return pattern_text(self.event)

    def called(self, question: AnyQuestion, left: Any, right: Any) -> tuple[Arguments, Arguments] | None:
        """The arguments on both sides."""
        return dict(left), dict(right)


@dataclass(frozen=True)
class ObservedOutcomes:
    """Outputs of a function with continuous noise, one by one; the situations are its arguments.

    Attributes:
        outputs: the outputs of the event, in words.
    """

    family: ClassVar[Family] = "program"
    line: ClassVar[str] = ""
    one_pattern: ClassVar[bool] = False

    outputs: tuple[str, ...]

    @property
    def output(self) -> str:
        """The event in words."""
        return outcomes_text(self.outputs)

    @property
    def event(self) -> str:
        """The same."""
        return self.output

    def called(self, question: AnyQuestion, left: Any, right: Any) -> tuple[Arguments, Arguments] | None:
        """The arguments on both sides."""
        return dict(left), dict(right)


_MOST_SHOWN = 12
"""Outputs of an event that are named; of more, the first ones and how many there are."""


def outcomes_text(outputs: Sequence[str]) -> str:
    """Outputs in words: one of them happens."""
    if len(outputs) > _MOST_SHOWN:
        return f"one of {len(outputs)}: {', '.join(outputs[:_MOST_SHOWN])}, ..."
    return " or ".join(filter(None, (", ".join(outputs[:-1]), outputs[-1]))) if outputs else "none"


@dataclass(frozen=True)
class ObservedRun:
    """What a function shows that is run as it is; the situations are its arguments.

    Attributes:
        output: the event, in words.
    """

    family: ClassVar[Family] = "runs"

    output: str

    @property
    def event(self) -> str:
        """The output."""
        return self.output

    def called(self, question: AnyQuestion, left: Any, right: Any) -> tuple[Arguments, Arguments] | None:
        """The arguments on both sides."""
        return dict(left), dict(right)


@dataclass(frozen=True)
class ObservedParts:
    """An output whose parts are drawn independently; the situations are arguments.

    Attributes:
        output: the output, in words.
        event: the output.
    """

    family: ClassVar[Family] = "draws"

    output: str
    event: Any

    def called(self, question: AnyQuestion, left: Any, right: Any) -> tuple[Arguments, Arguments] | None:
        """The arguments on both sides."""
        return dict(left), dict(right)


@dataclass(frozen=True)
class ObservedStream:
    """What is written on a stream; the situations are the numbers of two streams.

    Attributes:
        word: what is written, step by step; where a noisy number is written, the interval that it shall lie in.
        steps: the transitions that are taken.
        times: how often the cycles of a leaking structure are gone around; None where there is none.
        arguments: the arguments of the function on both sides, where the automaton was made from one.
        event: what is written, as the function's own outputs.
    """

    family: ClassVar[Family] = "stream"

    word: tuple[str, ...]
    steps: tuple[int, ...]
    times: int | None = None
    arguments: tuple[Arguments, Arguments] | None = None
    event: Any = None

    @property
    def output(self) -> str:
        """What is written, in words; what is written again and again is counted."""
        return word_with_repetitions(self.word)

    def called(self, question: AnyQuestion, left: Any, right: Any) -> tuple[Arguments, Arguments] | None:
        """The arguments of the function on both sides."""
        return None if self.arguments is None else (dict(self.arguments[0]), dict(self.arguments[1]))


@dataclass(frozen=True)
class ObservedRelease:
    """What is released; the situations are two values of one entry, in words.

    Attributes:
        output: the event, in words.
        prior: the prior under which it tells them apart.
    """

    family: ClassVar[Family] = "release"

    output: str
    prior: str

    @property
    def event(self) -> str:
        """The output."""
        return self.output

    def called(self, question: AnyQuestion, left: Any, right: Any) -> None:
        """No arguments: the situations are not data of a mechanism."""


AnyWitness: TypeAlias = Witness[Any, Any]
WordWitness: TypeAlias = Witness[ObservedWord, Fraction]
SecretWitness: TypeAlias = Witness[ObservedOutput, Fraction]
LossWitness: TypeAlias = Witness["ObservedPattern | ObservedOutcomes", "ExponentialSum | Ball"]
RunWitness: TypeAlias = Witness[ObservedRun, "ExponentialSum | Ball"]
DrawsWitness: TypeAlias = Witness[ObservedParts, Fraction]
StreamWitness: TypeAlias = Witness[ObservedStream, Probability]
ReleaseWitness: TypeAlias = Witness[ObservedRelease, Probability]


def word_with_repetitions(word: Sequence[str]) -> str:
    """A word in which equal parts in a row are counted.

    >>> word_with_repetitions(["below", "below", "below", "above"])
    'below x3, above'
    """
    runs = [(part, len(list(equal))) for part, equal in groupby(word)]
    return ", ".join(part if times == 1 else f"{part} x{times}" for part, times in runs)
