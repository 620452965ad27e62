"""The three verdicts, and the witness of a refutation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

from flint import arb

from privproof.exact import INFINITE, Epsilon, epsilon
from privproof.exact.affine import Affine
from privproof.exact.exponentials import ExponentialSum, loss
from privproof.language.patterns import shown
from privproof.models import Distribution, Letter
from privproof.scenarios import ProgramQuestion, Question, UnderPriors

Status: TypeAlias = Literal["proved", "refuted", "unknown"]


@dataclass(frozen=True)
class Witness:
    """One output that two situations produce with probabilities too far apart (or exactly as far apart as epsilon says).

    Attributes:
        pair: the name of the pair of situations.
        left: the initial distribution of the situation that makes the output more likely.
        right: the initial distribution of the other.
        letters: the word: inputs on both sides where there are any, and outputs.
        ending: whether the word is a prefix ("any") or a complete run ("complete").
        left_probability: the probability of the output in the left situation, exactly.
        right_probability: the same in the right situation.
    """

    pair: str
    left: Distribution
    right: Distribution
    letters: tuple[Letter, ...]
    ending: str
    left_probability: Fraction
    right_probability: Fraction

    @property
    def ratio(self) -> Fraction | None:
        """How many times likelier the output is on the left; None if it is impossible on the right."""
        return self.left_probability / self.right_probability if self.right_probability != 0 else None

    @property
    def output(self) -> tuple[str, ...]:
        """What is observed."""
        return tuple(letter.output for letter in self.letters if letter.output is not None)

    @property
    def inputs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The inputs on both sides, empty where the mechanism reads none."""
        read = [(letter.left, letter.right) for letter in self.letters if letter.left is not None]
        return tuple(str(x) for x, _ in read), tuple(str(y) for _, y in read)


@dataclass(frozen=True)
class PriorWitness:
    """One output that tells two secrets apart, at one prior.

    Attributes:
        secrets: the secret that makes the output more likely, and the other.
        output: the output.
        values: the values of the prior's unknown parameters.
        left_probability: the probability of the output given the first secret, exactly.
        right_probability: the same given the second.
        left_prior: the probability of the first secret before anything is seen.
        right_prior: the same of the second.
        limit: whether the values lie on the border and do not belong to the region: the ratio is approached there.
    """

    secrets: tuple[str, str]
    output: str
    values: Mapping[str, Fraction]
    left_probability: Fraction
    right_probability: Fraction
    left_prior: Fraction
    right_prior: Fraction
    limit: bool = False

    @property
    def ratio(self) -> Fraction | None:
        """How many times likelier the output is given the first secret; None if it is impossible given the second."""
        return self.left_probability / self.right_probability if self.right_probability != 0 else None

    @property
    def prior_odds(self) -> Fraction | None:
        """The odds of the first secret against the second before the output is seen; None for infinite."""
        return self.left_prior / self.right_prior if self.right_prior != 0 else None

    @property
    def posterior_odds(self) -> Fraction | None:
        """The odds after the output is seen; None for infinite."""
        below = self.right_prior * self.right_probability
        return self.left_prior * self.left_probability / below if below != 0 else None


@dataclass(frozen=True)
class LossWitness:
    """An event that two neighbouring data sets make with probabilities too far apart.

    Attributes:
        left: the arguments that make the event more likely.
        right: the other arguments.
        event: the pattern of outputs.
        left_probability: the probability of the event on the left, exactly: a sum of exponentials.
        right_probability: the same on the right.
        line: the line of the mechanism that breaks the claim, if one can be named.
    """

    left: Mapping[str, Any]
    right: Mapping[str, Any]
    event: Any
    left_probability: ExponentialSum
    right_probability: ExponentialSum
    line: str = ""

    @property
    def output(self) -> str:
        """The event in words."""
        return shown(self.event)

    @property
    def infinite(self) -> bool:
        """Whether the event is impossible on the right."""
        return self.right_probability.is_zero

    def loss(self, bits: int = 128) -> arb:
        """The logarithm of the ratio of the probabilities, as a ball."""
        return loss(self.left_probability, self.right_probability, 1, bits)


@dataclass(frozen=True)
class Charge:
    """What one line of a mechanism pays, in one situation.

    Attributes:
        line: the number of the line.
        code: the noise as it is written.
        when: in which situation, in words; empty for always.
        shift: by how much the noise is shifted in the second run.
        cost: what that costs at most.
    """

    line: int
    code: str
    when: str
    shift: str
    cost: str


@dataclass(frozen=True)
class Explanation:
    """Why a mechanism with continuous noise is private.

    Attributes:
        charges: what every line pays.
        total: what is paid in all, counter by counter.
        program: the two runs as one program, with its asserts and cost counters.
        conditions: the side conditions of the theorem, as they were checked.
    """

    charges: tuple[Charge, ...]
    total: tuple[str, ...]
    program: str
    conditions: tuple[str, ...]


@dataclass(frozen=True)
class Growth:
    """Words whose ratio grows without bound: repeat the middle as often as you like.

    Attributes:
        pair: the name of the pair of situations.
        before: the letters before the repeated word.
        repeated: the letters that are repeated.
        after: the letters after it.
        factor: by how much the ratio grows with each repetition, at least; None for without bound.
    """

    pair: str
    before: tuple[Letter, ...]
    repeated: tuple[Letter, ...]
    after: tuple[Letter, ...]
    factor: Fraction | None


@dataclass(frozen=True)
class Verdict:
    """What was established about a question; see `Proved`, `Refuted` and `Unknown`.

    Attributes:
        question: the question, with the budget that the verdict is about.
        engine: the engine that answered.
        lower: the tight epsilon is at least this.
        upper: the tight epsilon is at most this; infinite where nothing better is proved.
        witness: the word behind the lower bound, if one is known.
        event: where a delta counts over events: the outcomes behind the lower bound.
        growth: words whose ratio grows without bound, where there is no epsilon at all because of them.
        formula: an upper bound that is proved for every size and all public numbers, as an expression in them.
        explanation: for a proof by alignment, what every line pays.
        repairs: changes after which the claim is proved.
        certificate: data from which `recheck` re-establishes the verdict.
        seconds: how long it took.
        notes: restrictions, assumptions, and what other engines said.
    """

    status: ClassVar[Status] = "unknown"

    question: Question | UnderPriors | ProgramQuestion
    engine: str
    lower: Epsilon = field(default_factory=lambda: epsilon(0))
    upper: Epsilon = INFINITE
    witness: Witness | PriorWitness | LossWitness | None = None
    event: tuple[Witness, ...] = ()
    growth: Growth | None = None
    formula: Affine | None = None
    explanation: Explanation | None = None
    repairs: tuple[str, ...] = ()
    certificate: Mapping[str, Any] | None = field(default=None, repr=False)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def tight(self) -> Epsilon | None:
        """The tight epsilon, where lower and upper bound meet or there is no epsilon at all."""
        return self.lower if self.lower.compare(self.upper) == 0 else None

    @property
    def arguments(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The arguments of the mechanism on both sides of the witness, where the model was made from a mechanism."""
        if isinstance(self.witness, LossWitness):
            return dict(self.witness.left), dict(self.witness.right)
        if not isinstance(self.question, Question) or not isinstance(self.witness, Witness):
            return None
        origin, witness = self.question.origin, self.witness
        if origin is None:
            return None
        left, right = (origin.arguments(witness.pair, side, witness.inputs[side]) for side in (0, 1))
        return left, right

    def __bool__(self) -> bool:
        raise TypeError("a verdict is proved, refuted or unknown, not true or false: look at verdict.status")


@dataclass(frozen=True)
class Proved(Verdict):
    """The budget is respected; the certificate shows why."""

    status: ClassVar[Status] = "proved"


@dataclass(frozen=True)
class Refuted(Verdict):
    """The budget is broken; the witness (or the event) shows how."""

    status: ClassVar[Status] = "refuted"


@dataclass(frozen=True)
class Unknown(Verdict):
    """Neither was established; the reason says why, the bounds say what is known all the same."""

    status: ClassVar[Status] = "unknown"

    reason: str = ""
