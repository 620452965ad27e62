"""Deltas where no engine decides one: from a proof of an epsilon, and from short lists.

If all likelihood ratios are at most ``c0``, both ways, then every event satisfies ``P <= c Q + delta`` with
``delta = (c0 - c) / (c0 + 1)``.  So a claim of c and delta follows from one of ``c0 = (c + delta) / (1 - delta)`` without a delta, which is
asked instead.  Randomised response and counts with geometric noise attain it.  What is too small for that is looked for on short lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from privproof.compiling import mechanism_question
from privproof.engines.engine_protocol import EngineRequest
from privproof.errors import PrivproofError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.gate import admit
from privproof.evidence.question_documents import Given
from privproof.evidence.verdicts import Proved, Refuted, Verdict
from privproof.exact import Budget, Epsilon, Rational, fraction, log, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.rounding import to_grid
from privproof.language import Mechanism
from privproof.profiles.profile import privacy_profile
from privproof.scenarios import AnyQuestion

_BITS = 128
"""Bits of a power of e that is not rational."""
_GRID = 10**18
"""Numbers that are chosen are multiples of its inverse: no reader is told more digits."""
_SHORT = (1, 2, 3, 4)
"""Lengths of lists that are compared at each other: as many pairs as there are time for in seconds."""
_WHOLE = ("words", "program", "draws")
"""Questions whose epsilon is about whole laws of what is shown."""

Ask: TypeAlias = Callable[[EngineRequest], Verdict]


def proved_by_epsilon(question: AnyQuestion, ask: Ask) -> Verdict | None:
    """The verdict on a claim with a delta that follows from one without, if that is proved; None where it is not."""
    budget = question.budget
    if budget is None or budget.pointwise or not 0 < budget.delta < 1 or question.family not in _WHOLE:
        return None
    below = _power(budget.epsilon)[0]
    largest = _short((below + budget.delta) / (1 - budget.delta), up=False)
    if budget.epsilon.infinite or largest < 1:
        return None
    found = ask(EngineRequest(question.under(Budget(log(largest)))))
    if not isinstance(found, Proved) or found.certificate is None or found.question.budget is None:
        return None
    certificate = found.certificate
    said = f"from a proof of epsilon {found.question.budget.epsilon.show()}, without a delta"
    answer = Answer(
        status="proved",
        question=found.question.under(budget),
        engine=found.engine,
        evidence={"method": "epsilon", "certificate": certificate},
        compiled=Given(certificate["question"]),
        upper=budget.epsilon,
        notes=(said, *found.notes),
    )
    verdict = admit(replace(answer, tentative=True))
    return verdict if isinstance(verdict, Proved) else None


def refuted_on_short_lists(question: AnyQuestion, ask: Ask) -> Verdict | None:
    """The verdict on the same claim at a length at which it is refuted; None where it is at none that was tried."""
    if question.budget is not None and question.budget.delta >= 1:
        return None  # no event exceeds another by more than one
    for short in _at_lengths(question):
        found = ask(EngineRequest(short.under(question.budget)))
        if isinstance(found, Refuted):
            return found
    return None


def delta_bounds(question: AnyQuestion, bound: Epsilon, ask: Ask) -> tuple[Fraction, Fraction, AnyQuestion] | None:
    """What delta is at least on short lists, what follows from the smallest epsilon that is proved, and the question of the short lists."""
    found = ask(EngineRequest(question, tight=True))
    if not isinstance(found, Proved) or found.upper.infinite or question.family not in _WHOLE:
        return None
    low, ratio = _power(bound)[0], _power(found.upper)[1]
    high = Fraction(0) if ratio <= low else fraction(_short((ratio - low) / (ratio + 1), up=True))
    best, at = Fraction(0), question
    for short in _at_lengths(question):
        least = fraction(privacy_profile(short.words(place="delta")).bounds(bound)[0])
        if least > best:
            best, at = least, short
    return min(best, high), high, at


def _at_lengths(question: AnyQuestion) -> Iterator[AnyQuestion]:
    """The same mechanism on lists of one length, for short lengths."""
    function = next((each for each in question.functions if isinstance(each, Mechanism)), None)
    if function is None or not question.of_every_length:
        return
    for size in _SHORT:
        try:
            yield mechanism_question(function, size=size)
        except PrivproofError:  # too many data sets, or none
            return


def _power(exponent: Epsilon) -> tuple[Rational, Rational]:
    """``e^epsilon`` between two rationals, which are equal where it is rational."""
    exact = exponent.bound
    if exact is not None:
        return rational(exact), rational(exact)
    with precision(_BITS):
        return rational_bounds(exponent.ball(_BITS).exp())


def _short(number: Rational, *, up: bool) -> Rational:
    """A number on a grid, rounded up or down; one with few digits as it is."""
    return number if number.q <= _GRID else to_grid(number, up=up, parts=_GRID)
