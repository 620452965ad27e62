"""Questions about mechanisms with continuous noise, or numbers without bounds: the program itself is what is asked about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from privproof.errors import BudgetError, LanguageError, QuestionError, ScenarioError
from privproof.exact import Budget, Epsilon, Rational, rational
from privproof.exact.affine import Affine, read_affine
from privproof.exact.balls import rational_bounds
from privproof.language.inputs import ADD_REMOVE
from privproof.language.laws import GAUSSIAN, TRUNCATED, WEIGHED
from privproof.language.noise import NOISES
from privproof.language.taint import samples
from privproof.models import Horizon
from privproof.scenarios.any_question import AnyQuestion, Family

if TYPE_CHECKING:
    from privproof.language import Mechanism

_DIGITS = 10**12
"""A bound with a logarithm becomes a rational with twelve decimal places, rounded down."""


@dataclass(frozen=True, kw_only=True)
class ProgramQuestion(AnyQuestion):
    """A mechanism, the neighbours of its data, perhaps a size, and a claim or none.

    Attributes:
        mechanism: the mechanism.
        size: the length of its lists; None for every length.
        claim: the claimed epsilon, as an expression in the size and the public whole numbers; None for none.
        budget: the same as a budget, where it is one number.
        delta: the claimed delta, where it is an expression in the size and the public whole numbers; then there is no budget.
    """

    family: ClassVar[Family] = "program"
    continuous: ClassVar[bool] = True

    mechanism: Mechanism
    size: int | None = None
    claim: Affine | None = None
    budget: Budget | None = None
    delta: Affine | None = None

    @property
    def name(self) -> str:
        """How reports call the mechanism."""
        return self.mechanism.name if self.size is None else f"{self.mechanism.name} (size {self.size})"

    @property
    def relation(self) -> str:
        """Which data are neighbours."""
        own = self.mechanism.neighbours
        if not isinstance(own, str):
            raise LanguageError(
                "neighbours",
                "a relation of your own between numbers without bounds",
                place=self.mechanism.place,
                hint="each, one or monotone",
            )
        return own

    def under(self, budget: Budget | None) -> ProgramQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget, claim=None if budget is None else _affine_bound(budget.epsilon), delta=None)

    @property
    def claims(self) -> bool:
        """Whether it makes a claim: a budget, or an expression in public numbers."""
        return self.budget is not None or self.claim is not None

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> ProgramQuestion:
        """The same question: continuous noise is proved for every length.

        Raises:
            QuestionError: the horizon is bounded.
        """
        if horizon.high is not None:
            raise QuestionError(
                "horizon",
                "continuous noise is proved for streams of every length",
                place=place,
                hint="drop the horizon",
            )
        return self

    @property
    def functions(self) -> tuple[Mechanism, ...]:
        """The mechanism, unless it is only proposed and nothing runs."""
        return () if self.mechanism.proposed is not None else (self.mechanism,)

    @property
    def list_size(self) -> int | None:
        """The length of its lists, where the question fixes it."""
        return self.size

    @property
    def claim_names(self) -> tuple[dict[str, Rational], tuple[str, ...]]:
        """The names that a claim may speak of: those whose values are known, and those that stand for any number."""
        known, _ = super().claim_names
        return known, tuple(name for name in _symbols(self.mechanism) if name not in known)


def as_program(question: AnyQuestion) -> ProgramQuestion | None:
    """The question, if it is about a program."""
    return question if isinstance(question, ProgramQuestion) else None


def is_program(mechanism: Mechanism) -> bool:
    """Whether a mechanism is asked about as a program: it has continuous noise, or numbers without bounds."""
    if any(declared.values is None for declared in mechanism.inputs.values()):
        return True
    drawn = (sample.noise for sample in samples(mechanism.translated.body))
    return any(noise == WEIGHED or not NOISES[noise].discrete for noise in drawn)


def is_geometric(mechanism: Mechanism) -> bool:
    """Whether a mechanism draws geometric noise, whose costs are logarithms."""
    kinds = ("geometric", "truncated_geometric")
    return any(sample.noise in kinds for sample in samples(mechanism.translated.body))


def is_gaussian(mechanism: Mechanism) -> bool:
    """Whether a mechanism draws Gaussian noise, continuous or discrete."""
    return any(sample.noise in GAUSSIAN for sample in samples(mechanism.translated.body))


def is_truncated(mechanism: Mechanism) -> bool:
    """Whether a mechanism draws truncated noise: where it is shifted, a delta pays for what leaves its range."""
    return any(sample.noise == TRUNCATED for sample in samples(mechanism.translated.body))


def is_weighed(mechanism: Mechanism) -> bool:
    """Whether a mechanism chooses by weights that are powers of e, which are computed from data."""
    return any(sample.noise == WEIGHED for sample in samples(mechanism.translated.body))


def program_question(mechanism: Mechanism, *, size: int | None = None) -> ProgramQuestion:
    """The question that a mechanism poses, with its own claim.

    Raises:
        ScenarioError: a private input is the same in all neighbouring data sets.
    """
    open_ended = [n for n, i in mechanism.inputs.items() if i.shape == "list" and i.size is None]
    if size is not None and not open_ended:
        raise QuestionError("size", "no list of open length takes it", place="size", hint="drop the size")
    if size is not None and size < 1:
        raise QuestionError("size", f"size={size}: a list has at least one element", place="size", hint="size=3")
    lengths = mechanism.neighbours == ADD_REMOVE
    if lengths and all(mechanism.inputs[name].public for name in open_ended):
        raise LanguageError(
            "neighbours",
            "no private list has an open length, so nothing can be added or removed",
            place=mechanism.place,
            hint="records('yes', 'no') without a size",
        )
    for name, declared in mechanism.inputs.items():
        if not declared.public and not declared.differs and not lengths:
            raise ScenarioError(
                "empty-relation",
                f"neighbours never differ in {name}: {declared}",
                place=mechanism.place,
                hint=f"widen its range or its sensitivity, or declare it public({declared})",
            )
    question = ProgramQuestion(mechanism=mechanism.pinned(), size=size)
    claim = own_claim(mechanism, size)
    if isinstance(claim, Budget):
        return question.under(claim)
    return replace(question, claim=claim, delta=None if claim is None else own_delta(mechanism))


def own_claim(mechanism: Mechanism, size: int | None) -> Budget | Affine | None:
    """What a mechanism claims of itself: a budget, or an expression in the size and public numbers."""
    if mechanism.claim is None:
        return None
    try:
        budget = mechanism.budget(size)
    except (LanguageError, BudgetError):
        budget = None
    if budget is not None:
        return budget
    text = mechanism.claim.written(mechanism.claim.epsilon, mechanism.parameters)
    claim = read_affine(text, _symbols(mechanism))
    if mechanism.claim.delta != 0 and (claim.terms or claim.ratio is not None):
        raise BudgetError("budget", f"the claim {text!r} has a delta", hint="a delta needs an epsilon that is a number")
    return claim


def own_delta(mechanism: Mechanism) -> Affine | None:
    """The delta that a mechanism claims of itself, as an expression in the size and public numbers; None where it claims none."""
    if mechanism.claim is None or mechanism.claim.delta == 0:
        return None
    return read_affine(mechanism.claim.written(mechanism.claim.delta, mechanism.parameters), _symbols(mechanism))


def _symbols(mechanism: Mechanism) -> list[str]:
    """The names that a claim may speak of."""
    open_ended = any(i.shape == "list" and i.size is None for i in mechanism.inputs.values())
    return [*mechanism.public_numbers, *(["size"] if open_ended else [])]


def claim_in_numbers(mechanism: Mechanism, size: int | None) -> Affine | None:
    """The epsilon that a mechanism claims of itself, as an expression in the size and public numbers."""
    claim = own_claim(mechanism, size)
    return _affine_bound(claim.epsilon) if isinstance(claim, Budget) else claim


def _affine_bound(value: Epsilon) -> Affine | None:
    """An epsilon as a rational: itself, or the next one below on a fine grid."""
    if value.infinite:
        return None
    return Affine(rational_below(value))


def rational_below(value: Epsilon) -> Rational:
    """An epsilon as a rational: itself, or the next one below on a fine grid."""
    if value.ratio == 1:
        return value.shift
    low, _ = rational_bounds(value.ball(128))
    return rational(int(low.p * _DIGITS // low.q)) / _DIGITS
