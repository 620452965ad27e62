"""The three verdicts, and what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from privproof.drawing.showing import ShownCard
from privproof.evidence.verdict_presenting import presenter
from privproof.evidence.witnesses import AnyWitness, Arguments, WordWitness
from privproof.exact import INFINITE, Epsilon, epsilon, log, text
from privproof.exact.affine import Affine
from privproof.exact.probabilities import Ball
from privproof.formats.whole_files import write_whole
from privproof.models import Letter
from privproof.scenarios import AnyQuestion

Status: TypeAlias = Literal["proved", "refuted", "unknown"]

_WIDE = 120
"""Characters of a verdict's representation, so that it stays on one line."""


@dataclass(frozen=True)
class Leaking:
    """A structure of a stream automaton whose loss grows without bound.

    Attributes:
        kind: leaking cycle, leaking pair, disclosing cycle, privacy violating path or noiseless comparison.
        sentence: what is wrong, in words.
        segments: the transitions of its path, each part with whether it is repeated.
    """

    kind: str
    sentence: str
    segments: tuple[tuple[tuple[int, ...], bool], ...]


@dataclass(frozen=True)
class Shifted:
    """One step of the table of shifts.

    Attributes:
        step: the transition, as its states.
        change: by how much the data differ in it.
        shift: by how much its samples are shifted, in words.
        cost: what that costs.
        times: how often in a row; 0 for any number of times, around a cycle.
    """

    step: str
    change: str
    shift: str
    cost: str
    times: int = 1


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
class Formula:
    """The smallest epsilon of lists of n elements: ``n ln(rate) + epsilon`` for every n from `least` on, at most this below.

    >>> print(Formula(Fraction(2), Epsilon(), 2))
    size*ln(2) for every size from 2 on, and at most this for smaller sizes
    """

    rate: Fraction
    epsilon: Epsilon
    least: int

    @property
    def told(self) -> dict[str, object]:
        """The formula as the checker tells it."""
        return {"rate": text(self.rate), "epsilon": str(self.epsilon), "least": self.least, "step": 1}

    def __str__(self) -> str:
        said = f"size*{log(self.rate)}" + ("" if str(self.epsilon) == "0" else f" + {self.epsilon}")
        if self.least == 0:
            return f"{said} for every size"
        return f"{said} for every size from {self.least} on, and at most this for smaller sizes"


@dataclass(frozen=True)
class Growth:
    """Words whose ratio grows without bound: repeat the middle as often as you like.

    Attributes:
        pair: the name of the pair of situations.
        before: the letters before the repeated word.
        repeated: the letters that are repeated.
        after: the letters after it.
        factor: by how much the ratio grows with each repetition, at least; None for without bound.
        formula: on lists, how the smallest epsilon grows with their length, exactly; None where that is not known.
    """

    pair: str
    before: tuple[Letter, ...]
    repeated: tuple[Letter, ...]
    after: tuple[Letter, ...]
    factor: Fraction | None
    formula: Formula | None = None


@dataclass(frozen=True)
class WordDetails:
    """What else a verdict on the words of a model shows.

    Attributes:
        event: where a delta counts over events: the outcomes behind the lower bound.
        growth: words whose ratio grows without bound, where there is no epsilon at all because of them.
    """

    event: tuple[WordWitness, ...] = ()
    growth: Growth | None = None


@dataclass(frozen=True)
class ProgramDetails:
    """What else a verdict on a program with continuous noise shows.

    Attributes:
        formula: an upper bound that is proved for every size and all public numbers, as an expression in them.
        explanation: for a proof by alignment, what every line pays.
        repairs: changes after which the claim is proved.
        delta: between which numbers the smallest delta at the claimed epsilon lies; no certificate shows it.
        costs: for a proof with Gaussian noise, what other noise costs, and what Gaussian noise comes to in squares, which may grow.
    """

    formula: Affine | None = None
    explanation: Explanation | None = None
    repairs: tuple[str, ...] = ()
    delta: tuple[Fraction, Fraction] | None = None
    costs: tuple[Fraction, Affine] | None = None


@dataclass(frozen=True)
class StreamDetails:
    """What else a verdict on a stream automaton shows.

    Attributes:
        leak: the structure whose loss grows without bound.
        shifts: the table of shifts of the execution that costs most.
    """

    leak: Leaking | None = None
    shifts: tuple[Shifted, ...] = ()


@dataclass(frozen=True)
class RunDetails:
    """What else a verdict on a function that is run shows.

    Attributes:
        delta: between which numbers the smallest delta at the claimed epsilon lies; no certificate shows it.
    """

    delta: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True)
class MeasureDetails:
    """What else a verdict on another measure than epsilon shows: the two data sets that are told apart best.

    Attributes:
        left: the arguments on the left.
        right: the arguments on the right.
        text: what tells them apart, in words.
        amount: how far; None for infinitely far.
    """

    left: Arguments
    right: Arguments
    text: str
    amount: Ball | None


Details: TypeAlias = "WordDetails | ProgramDetails | StreamDetails | RunDetails | MeasureDetails"


@dataclass(frozen=True)
class Certified:
    """Which bounds on the tight epsilon the certificate shows; the others are the engine's word.

    Attributes:
        lower: whether it shows the lower bound.
        upper: whether it shows the upper bound.
    """

    lower: bool = False
    upper: bool = False


@dataclass(frozen=True, repr=False)
class Verdict(ShownCard):
    """What was established about a question; see `Proved`, `Refuted` and `Unknown`.

    Proved and refuted verdicts are made by the gate alone (`privproof.evidence.gate`): they carry its seal, which says what the
    checker has established, and nothing that the seal is about can be changed afterwards.

    Attributes:
        question: the question, with the budget that the verdict is about.
        engine: the engine that answered.
        lower: the tight epsilon is at least this.
        upper: the tight epsilon is at most this; infinite where nothing better is proved.
        witness: the word behind the lower bound, if one is known.
        details: what else there is to show, by the kind of question.
        certificate: the very document that the checker has accepted; None for an unknown verdict.
        certified: which of the two bounds the certificate shows.
        seconds: how long it took.
        notes: restrictions, assumptions, and what other engines said.
        asked_tight: whether the smallest epsilon was asked for, and not whether a budget holds.
    """

    status: ClassVar[Status] = "unknown"

    question: AnyQuestion = field(hash=False)
    engine: str
    lower: Epsilon = field(default_factory=lambda: epsilon(0))
    upper: Epsilon = INFINITE
    witness: AnyWitness | None = field(default=None, hash=False)
    details: Details | None = field(default=None, hash=False)
    certificate: Mapping[str, Any] | None = field(default=None, hash=False)
    certified: Certified = Certified()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    asked_tight: bool = field(default=False, compare=False)
    seal: Seal | None = field(default=None, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        broken = "nothing seals it" if self.seal is None else self.seal.broken_by(self)
        if self.status != "unknown" and broken:
            raise TypeError(f"a {self.status} verdict is made by the gate alone: {broken}")

    @property
    def event(self) -> tuple[WordWitness, ...]:
        """Where a delta counts over events: the outcomes behind the lower bound."""
        return self.details.event if isinstance(self.details, WordDetails) else ()

    @property
    def growth(self) -> Growth | None:
        """Words whose ratio grows without bound, where there is no epsilon at all because of them."""
        return self.details.growth if isinstance(self.details, WordDetails) else None

    @property
    def formula(self) -> Affine | None:
        """An upper bound that is proved for every size and all public numbers, as an expression in them."""
        return self.details.formula if isinstance(self.details, ProgramDetails) else None

    @property
    def explanation(self) -> Explanation | None:
        """For a proof by alignment, what every line pays."""
        return self.details.explanation if isinstance(self.details, ProgramDetails) else None

    @property
    def repairs(self) -> tuple[str, ...]:
        """Changes after which the claim is proved."""
        return self.details.repairs if isinstance(self.details, ProgramDetails) else ()

    @property
    def delta_bounds(self) -> tuple[Fraction, Fraction] | None:
        """Between which numbers the smallest delta at the claimed epsilon lies, where it was enclosed."""
        return self.details.delta if isinstance(self.details, RunDetails | ProgramDetails) else None

    @property
    def leak(self) -> Leaking | None:
        """For a stream automaton, the structure whose loss grows without bound."""
        return self.details.leak if isinstance(self.details, StreamDetails) else None

    @property
    def shifts(self) -> tuple[Shifted, ...]:
        """For a stream automaton, the table of shifts of the execution that costs most."""
        return self.details.shifts if isinstance(self.details, StreamDetails) else ()

    @property
    def tight(self) -> Epsilon | None:
        """The tight epsilon, where lower and upper bound meet or there is no epsilon at all."""
        return self.lower if self.lower.compare(self.upper) == 0 else None

    @property
    def uncertified(self) -> str:
        """Which bounds are the engine's word, in words; empty where the certificate shows all that is said about the tight epsilon."""
        said_lower = self.lower.infinite or self.lower.compare(epsilon(0)) > 0
        lower, upper = said_lower and not self.certified.lower, not self.upper.infinite and not self.certified.upper
        if lower and upper:
            return "not certified"
        return "the lower bound is not certified" if lower else "the upper bound is not certified" if upper else ""

    @property
    def arguments(self) -> tuple[Arguments, Arguments] | None:
        """The arguments of the mechanism on both sides of the witness, where there is a mechanism."""
        if isinstance(self.details, MeasureDetails):
            return self.details.left, self.details.right
        witness = self.witness
        return None if witness is None else witness.observed.called(self.question, witness.left, witness.right)

    def __repr__(self) -> str:
        budget = self.question.budget
        claim = (
            "" if budget is None else f", epsilon={budget.epsilon}" + (f", delta={budget.delta}" * (budget.delta != 0))
        )
        if self.question.measured_words:
            claim = f", {self.question.measured_words}"
        bounds = f"tight={self.tight}" if self.tight is not None else f"lower={self.lower}, upper={self.upper}"
        text = (
            f"{type(self).__name__}({self.question.name or 'the mechanism'!r}{claim}, {bounds}, engine={self.engine!r})"
        )
        return text if len(text) < _WIDE else f"{text[: _WIDE - 4]}...)"

    def __str__(self) -> str:
        return presenter().text(self)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data, the object that the command prints with ``--json``."""
        return presenter().data(self)

    def to_latex(self, *, standalone: bool = False) -> str:
        """The verdict as LaTeX, for the appendix of a paper: the claim, the mechanism, the proof or the counterexample.

        Args:
            standalone: whether it is a document of its own; otherwise a part of one that loads ``amsmath``.
        """
        return presenter().latex(self, standalone=standalone)

    def write_report(self, path: str | Path) -> None:
        """Write the verdict as an HTML page; for a name that ends in ``.tex`` as a LaTeX document, for ``.json`` as its parts."""
        write_whole(path, presenter().page(self, Path(path)))

    def __bool__(self) -> bool:
        raise TypeError("a verdict is proved, refuted or unknown, not true or false: look at verdict.status")


@dataclass(frozen=True, repr=False)
class Proved(Verdict):
    """The budget is respected; the certificate shows why."""

    status: ClassVar[Status] = "proved"


@dataclass(frozen=True, repr=False)
class Refuted(Verdict):
    """The budget is broken; the witness (or the event) shows how."""

    status: ClassVar[Status] = "refuted"


@dataclass(frozen=True, repr=False)
class Unknown(Verdict):
    """Neither was established; the reason says why, the bounds say what is known all the same."""

    status: ClassVar[Status] = "unknown"

    reason: str = ""
    pass_on: bool = field(default=False, repr=False, kw_only=True)
    """Whether another engine may know more."""


@dataclass(frozen=True, eq=False)
class Seal:
    """What the gate vouches for: a verdict that says anything else about the question does not stand.

    Attributes:
        status: proved or refuted.
        question: the question that the certificate answers.
        certificate: the document that the checker has accepted.
        lower: the lower bound that goes with it.
        upper: the upper bound that goes with it.
        certified: which of the bounds the certificate shows.
        witness: the witness that goes with it.
    """

    status: Status
    question: AnyQuestion
    certificate: Mapping[str, Any]
    lower: Epsilon
    upper: Epsilon
    certified: Certified
    witness: object

    def broken_by(self, verdict: Verdict) -> str:
        """What a verdict says that the seal does not; empty where it says nothing of the kind."""
        for name in ("question", "certificate", "witness"):
            if getattr(verdict, name) is not getattr(self, name):
                return f"its {name} is not the one that was checked"
        for name in ("status", "lower", "upper", "certified"):
            if getattr(verdict, name) != getattr(self, name):
                return f"its {name} is not the one that was checked"
        return ""
