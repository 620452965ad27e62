"""The smallest delta at one epsilon, between two numbers, each with a verdict of its own.

The larger one is proved: the mechanism is (epsilon, upper)-private.  The smaller one is refuted, unless it is 0: it is not (epsilon,
lower)-private.  Both verdicts have certificates; how the numbers were found does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from privproof.asking import ask, posed
from privproof.compiling.posing import Subject
from privproof.engines.engine import Request
from privproof.engines.monitor import Monitor
from privproof.errors import QuestionError
from privproof.evidence.verdicts import Proved, Refuted, Unknown, Verdict
from privproof.exact import Budget, Epsilon, EpsilonLike, fraction, rational
from privproof.exact import epsilon as exact_epsilon
from privproof.language.inputs import Input
from privproof.language.mechanism import Relation
from privproof.models import Horizon
from privproof.profiles.curves import Enclosure
from privproof.profiles.profile import privacy_profile
from privproof.scenarios import AnyQuestion

_JUST_BELOW = Fraction(10**12 - 1, 10**12)
"""What is refuted lies below an exact delta by a trillionth of it."""


@dataclass(frozen=True)
class SmallestDelta:
    """The smallest delta of a mechanism at one epsilon.

    Attributes:
        epsilon: the epsilon.
        lower: it is at least this.
        upper: it is at most this.
        proof: the verdict that shows the upper bound; None where there is none but 1.
        refutation: the verdict that shows that no smaller number than the lower bound will do; None where that is 0.
        question: what was asked about, without a claim.
    """

    epsilon: Epsilon
    lower: Fraction
    upper: Fraction
    proof: Proved | None
    refutation: Refuted | None
    question: AnyQuestion

    def __str__(self) -> str:
        return f"{self.question.name}: delta at epsilon {self.epsilon} between {float(self.lower):.10g} and {float(self.upper):.10g}"

    @property
    def verdict(self) -> Verdict:
        """The proof, the refutation, or that nothing is known."""
        if self.proof is not None:
            return self.proof
        if self.refutation is not None:
            return self.refutation
        return Unknown(self.question, "none", reason="no delta below 1 is proved")


def smallest_delta(
    subject: Subject | str | Path,
    epsilon: EpsilonLike,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    monitor: Monitor | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    **named: Input,
) -> SmallestDelta:
    """How large delta must be at an epsilon, over all events and all neighbours.

    Args:
        subject: a mechanism, a function, a question, or the name of a file: ``FILE`` or ``FILE:NAME``.
        epsilon: the epsilon.
        size: for a mechanism, the length of its lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, or a model: the lengths compared.
        monitor: progress, a time limit, an interrupt.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function which data sets are neighbours.
        named: the same as `inputs`, by name.

    >>> from privproof import gaussian, integer, mechanism
    >>> @mechanism
    ... def count(n: integer(0, 1)):
    ...     return gaussian(n, sigma=2)
    >>> found = smallest_delta(count, 1)
    >>> round(float(found.lower), 9), round(float(found.upper), 9), found.proof.certified, found.refutation.certified
    (0.006829595, 0.006829595, True, True)
    """
    question = posed(subject, size, horizon, {**(inputs or {}), **named}, neighbours)
    return delta_of(question, exact_epsilon(epsilon), monitor)


def delta_of(question: AnyQuestion, bound: Epsilon, monitor: Monitor | None = None) -> SmallestDelta:
    """The smallest delta of a question at an epsilon.

    Raises:
        QuestionError: the epsilon is infinite, or no engine decides a delta about this.
    """
    if bound.infinite:
        raise QuestionError("budget", "an infinite epsilon needs no delta", place="epsilon", hint="epsilon=1")
    watch = monitor or Monitor()
    if question.family == "words":
        delta = privacy_profile(question.words(place="delta")).delta(bound)
        ends = (delta.low, delta.high) if isinstance(delta, Enclosure) else (delta, delta)
        low, high = map(fraction, ends)
    else:
        first = Request(question.under(Budget(bound, rational(1))))
        asked = ask(first, None, watch)
        if asked.delta_bounds is None:
            said = (
                asked.reason if isinstance(asked, Unknown) else f"the engine {asked.engine} decides no delta by itself"
            )
            raise QuestionError(
                "delta",
                said or "no delta is decided",
                place="delta",
                hint="data with finitely many values, such as records(0, 1), and a small --size",
            )
        (low, high), question = asked.delta_bounds, asked.question
    proof = ask(Request(question.under(Budget(bound, rational(high)))), None, watch) if high < 1 else None
    under = low if low < high else low * _JUST_BELOW
    refutation = ask(Request(question.under(Budget(bound, rational(under)))), None, watch) if low > 0 else None
    return SmallestDelta(
        bound,
        low if isinstance(refutation, Refuted) else Fraction(0),
        high if isinstance(proof, Proved) else Fraction(1),
        proof if isinstance(proof, Proved) else None,
        refutation if isinstance(refutation, Refuted) else None,
        question.under(None),
    )
