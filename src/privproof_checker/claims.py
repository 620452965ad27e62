"""The claim of a certificate: epsilon, delta, and over what they are meant; its comparisons are exact.

With c = e^epsilon the claim is, for every ordered pair of situations with probabilities P and Q,

* *pointwise* (also when delta is 0): ``P(w) <= c Q(w) + delta`` for every compared word w;
* over *events*: ``sum over w of max(0, P(w) - c Q(w)) <= delta`` over the words of one outcome space, which is the
  same as ``P(E) <= c Q(E) + delta`` for every set E of its words (the sum is reached by the set of words with P > c
  Q).

With delta = 0 the two are the same.  An infinite epsilon claims that P(w) > 0 only where Q(w) > 0, up to delta.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from flint import arb

from privproof_checker.numbers import INFINITE, Epsilon, Rational, epsilon, smallest_epsilon
from privproof_checker.numbers.balls import rational_bounds
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_number, text

_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)?"
_LOGARITHM = rf"(?:(?P<times>[0-9]{{1,4}})\s*\*\s*)?ln\(\s*(?P<inner>{_NUMBER})\s*\)(?:\s*/\s*(?P<root>[0-9]{{1,4}}))?"
_EPSILON = re.compile(rf"\s*(?:{_LOGARITHM}(?:\s*[+-]\s*(?P<shift>{_NUMBER}))?|(?P<alone>{_NUMBER}))\s*")
_LARGEST_SHIFT = 10_000
"""The largest number that epsilon may be or have added to its logarithm; beyond, it is refused before it is raised to a power of e."""
_GRID = 1 << 96
"""Bounds of losses are rounded to multiples of its inverse, so that they can be written down."""


@dataclass(frozen=True)
class Claim:
    """The budget claimed.

    >>> claim = Claim(epsilon("ln(2)"), Rational(0), pointwise=False)
    >>> claim.holds(Rational(2, 3), Rational(1, 3)), claim.sign(Rational(2, 3), Rational(1, 3)), claim.events
    (True, 0, False)
    """

    epsilon: Epsilon
    delta: Rational
    pointwise: bool
    rate: Rational = field(default_factory=lambda: Rational(1))

    @property
    def events(self) -> bool:
        """Whether the claim is over events."""
        return self.delta != 0 and not self.pointwise

    def holds(self, left: Rational, right: Rational, weight: int = 1) -> bool:
        """Whether ``left <= c right + delta weight``, where infinity times 0 is 0."""
        if self.epsilon.infinite:
            return right > 0 or left <= self.delta * weight
        return self.epsilon.allows(left, right, self.delta * weight)

    def holds_without_delta(self, left: Rational, right: Rational) -> bool:
        """Whether ``left <= c right``."""
        return self.holds(left, right, 0)

    def sign(self, left: Rational, right: Rational) -> int:
        """The sign of ``left - c right``; both may be negative."""
        if right == 0:
            return (left > 0) - (left < 0)
        sign = self.epsilon.compare_bound(left / right)
        return -sign if right > 0 else sign

    def needs(self, left: Rational, right: Rational) -> Epsilon:
        """The smallest epsilon that allows both probabilities at the delta of the claim."""
        return smallest_epsilon(left, right, self.delta)

    def __str__(self) -> str:
        if self.rate != 1:
            return f"epsilon = n*ln({text(self.rate)}) + {_short(self.epsilon)} on lists of n elements"
        if self.delta == 0:
            return f"epsilon = {_short(self.epsilon)}"
        sense = "for each output" if self.pointwise else "over events"
        return f"epsilon = {_short(self.epsilon)}, delta = {text(self.delta)} {sense}"


def _short(value: Epsilon) -> str:
    exact = str(value)
    return exact if len(exact) <= 80 else value.show()


def read_claim(question: dict[str, object], limits: Limits) -> Claim:
    """The claim in a question."""
    if "epsilon" not in question:
        refuse("the question claims no epsilon", "question.epsilon")
    delta = a_number(question.get("delta", 0), "question.delta", limits)
    if not 0 <= delta <= 1:
        refuse(f"delta = {text(delta)} is outside [0, 1]", "question.delta")
    pointwise = a_flag(question.get("pointwise", False), "question.pointwise")
    rate = a_number(question.get("rate", 1), "question.rate", limits)
    if rate <= 0 or (rate != 1 and delta != 0):
        refuse("a rate is above 0, and goes without delta", "question.rate")
    return Claim(read_epsilon(question["epsilon"], "question.epsilon", limits), delta, pointwise, rate)


def read_epsilon(value: object, place: str, limits: Limits) -> Epsilon:
    """An epsilon: ``inf``, a number, ``ln(x)``, ``n*ln(x)/m``, and a number added to or taken from that.

    >>> read_epsilon("2*ln(3)/4 + 1/2", "epsilon", Limits())
    Epsilon('ln(3)/2 + 1/2')
    """
    if value == "inf":
        return epsilon("inf")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if 0 <= value <= _LARGEST_SHIFT else refuse("epsilon is out of range", place)
    if not isinstance(value, str):
        refuse('expected an epsilon such as "ln(2)", "1/2" or "inf"', place)
    within(len(value), 2 * limits.digits, "characters of an epsilon", place)
    match = _EPSILON.fullmatch(value)
    if match is None:
        refuse(f"{value[:60]!r} is not an epsilon: write inf, x, ln(x), n*ln(x)/m or ln(x)/m + y", place)
    times, root = int(match["times"] or 1), int(match["root"] or 1)
    if root == 0:
        refuse("epsilon divides by zero", place)
    within(len(match["inner"] or "") * times * root, 20 * limits.digits, "digits of e^epsilon", place)
    for part in (match["shift"], match["alone"]):
        if part is not None and a_number(part, place, limits) > _LARGEST_SHIFT:
            refuse(f"epsilon is beyond the limit of {_LARGEST_SHIFT}", place)
    try:
        return epsilon(value)
    except ValueError as error:
        refuse(f"{value[:60]!r} is not an epsilon: {str(error)[:200]}", place)


def loss_at_least(loss: arb) -> Epsilon:
    """An epsilon that a loss is not below: the lower end of its ball, on a fine grid; 0 where the ball reaches below it.

    >>> loss_at_least(arb("0.5")), loss_at_least(arb("inf"))
    (Epsilon('1/2'), Epsilon('inf'))
    """
    if not loss.is_finite():
        return INFINITE if loss > 0 else epsilon(0)
    low = rational_bounds(loss)[0] * _GRID
    return epsilon(max(Rational(int(low.p // low.q), _GRID), Rational(0)))


def as_rational(value: int, below: int = 1) -> Rational:
    """The fraction ``value / below``."""
    return Rational(value, below)
