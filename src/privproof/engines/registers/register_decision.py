"""The largest excess of a question at an epsilon, with the event behind it: by tables of letters, or by corners of real data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from flint import arb

from privproof.compiling.register_states import Outcome, Registers
from privproof.engines.registers.data_corners import Corners
from privproof.engines.registers.register_certificates import corners_evidence, registers_evidence
from privproof.engines.registers.register_integrals import BITS
from privproof.engines.registers.worst_neighbours import Most, WorstNeighbours
from privproof.exact import ONE, Epsilon, Rational, fraction
from privproof.scenarios import ProgramQuestion


@dataclass(frozen=True)
class RegisterEvent:
    """An event on a pair of data sets.

    Attributes:
        left: the data on the left.
        right: those on the right.
        outcomes: the outcomes.
        p: its probability on the left.
        q: the same on the right.
    """

    left: Mapping[str, Any]
    right: Mapping[str, Any]
    outcomes: tuple[Outcome, ...]
    p: arb
    q: arb


@dataclass(frozen=True)
class RegisterExcess:
    """The largest excess, enclosed, and how to find an event that has the lower bound."""

    lower: Rational
    upper: Rational
    event: Callable[[], RegisterEvent]


class Decider(Protocol):
    """Finds the largest excess of a mechanism."""

    @property
    def model(self) -> Registers:
        """The mechanism."""

    @property
    def open(self) -> bool:
        """Whether another engine may know more."""

    def excess(self, bound: Epsilon, enough: Rational | None = None) -> RegisterExcess:
        """The largest excess at an epsilon; once it is known to be below a number, or above it, that may be enough."""

    def evidence(self) -> dict[str, object]:
        """The evidence of a proof."""


@dataclass
class ByTable:
    """All pairs of letters."""

    question: ProgramQuestion
    model: Registers
    worst: WorstNeighbours
    ends: bool
    open: bool = False

    def excess(self, bound: Epsilon, enough: Rational | None = None) -> RegisterExcess:
        """The largest excess at an epsilon."""
        times = bound.ball(BITS).exp()
        most = self.worst.at(times)
        return RegisterExcess(most.lower, most.upper, lambda: self._event(most, times))

    def evidence(self) -> dict[str, object]:
        """The evidence of a proof."""
        return corners_evidence() if self.ends else registers_evidence()

    def _event(self, most: Most, times: arb) -> RegisterEvent:
        """The outcomes of a pair that are too likely on the left."""
        roles = self.worst.roles
        p, q = arb(0), arb(0)
        chosen = []
        sums = [
            [roles.sum(each, roles.counted(each, side)) for each in roles.shaped] for side in (most.left, most.right)
        ]
        roles.evaluate([each for row in sums for each in row], self.worst.pause)
        for each, one, two in zip(roles.shaped, *sums, strict=True):
            mine, other = roles.value(one), roles.value(two)
            if mine > times * other:
                chosen.append(each.outcome)
                p, q = p + mine, q + other
        left, right = ([roles.letters[k] for k in side] for side in (most.left, most.right))
        return RegisterEvent(arguments(self.question, left), arguments(self.question, right), tuple(chosen), p, q)


class ByCorners:
    """Real answers."""

    open = True

    def __init__(self, question: ProgramQuestion, model: Registers, corners: Corners) -> None:
        self.question, self.model, self.corners = question, model, corners

    def excess(self, bound: Epsilon, enough: Rational | None = None) -> RegisterExcess:
        """The largest excess at an epsilon."""
        wanted = None if enough is None or enough == ONE else enough
        found = self.corners.at(bound.ball(BITS).exp(), str(bound), wanted)

        def event() -> RegisterEvent:
            if not found.left:  # no pair was found that has an excess
                return RegisterEvent({}, {}, (), arb(0), arb(0))
            outcomes = tuple(self.model.outcomes[k] for k in sorted(found.event))
            p, q = (self.corners.probability(side, found.event) for side in (found.left, found.right))
            left, right = (arguments(self.question, side) for side in (found.left, found.right))
            return RegisterEvent(left, right, outcomes, p, q)

        return RegisterExcess(found.lower, found.upper, event)

    def evidence(self) -> dict[str, object]:
        """The evidence of a proof."""
        return corners_evidence()


def arguments(question: ProgramQuestion, values: Sequence[Rational]) -> dict[str, Any]:
    """Values of all entries as arguments of the function."""
    result: dict[str, Any] = {}
    left = iter(values)
    for name, declared in question.mechanism.inputs.items():
        if declared.shape == "value":
            result[name] = _plain(next(left))
        else:
            length = declared.size if declared.size is not None else question.size
            assert length is not None
            result[name] = [_plain(next(left)) for _ in range(length)]
    return result


def _plain(value: Rational) -> int | Fraction:
    found = fraction(value)
    return int(found) if found.denominator == 1 else found
