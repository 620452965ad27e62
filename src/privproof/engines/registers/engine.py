"""The engine of registers: a delta at one size, for all neighbours with finitely many values.

From above no pair of neighbours has a larger excess than the recursion gives (`worst`); from below the pair that has it, with an event: its
outcomes that are too likely on the left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from flint import arb

from privproof.compiling.covering import told_coverage
from privproof.compiling.registers import Outcome, Registers, registers
from privproof.compiling.relational import Program
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.translation import agreement
from privproof.engines.engine import Answers, Remark, Request
from privproof.engines.monitor import Monitor, Progress, Stopped
from privproof.engines.registers.certificates import outcomes_evidence, registers_evidence
from privproof.engines.registers.integrating import BITS
from privproof.engines.registers.roles import Roles
from privproof.engines.registers.worst import Alphabet, Letters, Most, Worst
from privproof.evidence.answers import Answer
from privproof.evidence.certificates import lower_bound
from privproof.evidence.verdicts import ProgramDetails
from privproof.evidence.witnesses import LossWitness, ObservedOutcomes, Witness
from privproof.exact import Budget, Epsilon, Rational, epsilon, fraction, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.probabilities import Ball
from privproof.scenarios import ProgramQuestion
from privproof.scenarios.programs import is_gaussian

ENGINE = "registers"
_MOST_EPSILON = 10_000
"""Claims with a larger epsilon are not decided: no ball around e^epsilon is of use, and the checker reads none."""
_TRIED = 4
"""The size at which the program is run beside the function: its instructions are those of every size."""
_ROUNDS = 60
"""Steps to the smallest epsilon at a delta: each takes the event that is worst, and there are few events."""
_GRID = 10**10
"""The smallest epsilon at a delta is rounded up to a multiple of its inverse, so that it can be written down."""
_DIGITS = 13
"""Digits of a delta that is written down: fewer than are known, so that the checker, whose errors are others, knows them too."""


class RegisterEngine:
    """Delta for all neighbours at one size, without enumerating paths."""

    name = ENGINE

    def supports(self, request: Request) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        question = request.question
        if not isinstance(question, ProgramQuestion) or request.word is not None:
            return "it is about the outputs of programs"
        budget = request.budget
        if budget is None:
            return "the claim depends on public numbers"
        gaussian = is_gaussian(question.mechanism)
        if budget.delta == 0 and not gaussian:
            return "no delta is asked for"
        if budget.pointwise and budget.delta != 0:
            return "it is about a delta over events, and this one is for each output"
        if budget.epsilon.infinite and not request.tight:
            return "an infinite epsilon claims nothing"
        if not request.tight and budget.epsilon.compare(epsilon(_MOST_EPSILON)) > 0:
            return f"no epsilon above {_MOST_EPSILON} is decided"
        try:
            alphabet_of(question)
            request.once("register model", lambda: registers(question.mechanism, question.size))
        except Unsupported as problem:
            return Remark(f"not integrated: {problem}") if gaussian else str(problem)
        return None

    def answers(self, request: Request, monitor: Monitor) -> Answers:
        """A proof or a refutation of the claim, or both bounds."""
        question = request.question
        assert isinstance(question, ProgramQuestion)
        budget = request.budget
        assert budget is not None
        try:
            monitor.listen(Progress("integrating over registers"))
            model = request.once("register model", lambda: registers(question.mechanism, question.size))
            worst = request.once("register worst", lambda: _worst(question, model, monitor))
            told, note = request.once("register trials", lambda: _tried(question))
            if told is not None:
                said = f"the program and the function differ {told}"
                yield Answer(status="unknown", question=question, engine=ENGINE, reason=said)
                return
            yield from _Deciding(question, model, worst, budget, note).answers(tight=request.tight)
        except Unsupported as problem:
            yield Answer(status="unknown", question=question, engine=ENGINE, reason=str(problem), pass_on=True)
        except Stopped:
            reason = monitor.stopped() or "stopped"
            yield Answer(status="unknown", question=question, engine=ENGINE, reason=reason)


def _tried(question: ProgramQuestion) -> tuple[str | None, str]:
    """How the program and the function differ where they are run side by side, and that they do not, in words."""
    size = None if question.size is None else min(question.size, _TRIED)
    tried = agreement(registers(question.mechanism, size).program)
    at = "" if size == question.size else f" at size {size}"
    said = f"the function and the program agree on {tried.runs} runs{at} with the same data and noise"
    return tried.told, said + told_coverage(tried)


def alphabet_of(question: ProgramQuestion) -> tuple[tuple[Rational, ...], Alphabet]:
    """The letters of the data, and which data sets are neighbours.

    Raises:
        Unsupported: data without bounds, or another relation.
    """
    mechanism = question.mechanism
    if question.relation not in ("each", "one", "monotone"):
        raise Unsupported(f"neighbours={question.relation!r}: lists of one length are compared")
    values: list[tuple[Rational, ...]] = []
    within = []
    for name, declared in mechanism.inputs.items():
        if declared.public:
            continue
        if declared.values is None or any(
            not isinstance(v, int | Fraction) or isinstance(v, bool) for v in declared.values
        ):
            raise Unsupported(f"{name}: {declared} has no finite list of numbers to compare; queries(0, 1) has")
        count = 1
        if declared.shape != "value":
            length = declared.size if declared.size is not None else question.size
            if length is None:
                raise Unsupported(f"the length of {name} is open; ask at a size (--size 10)")
            count = length
        values += [tuple(sorted(rational(v) for v in declared.values))] * count
        within += [declared.within] * count
    letters = tuple(sorted({v for each in values for v in each}))
    number = {v: k for k, v in enumerate(letters)}
    apart = tuple(
        tuple((number[a], number[b]) for a, b in product(each, each) if limit is None or abs(a - b) <= limit)
        for each, limit in zip(values, within, strict=True)
    )
    return letters, Alphabet(question.relation, tuple(tuple(number[v] for v in each) for each in values), apart)


def _worst(question: ProgramQuestion, model: Registers, monitor: Monitor) -> Worst:
    letters, alphabet = alphabet_of(question)
    return Worst(Roles(model, letters), alphabet, monitor.pause)


@dataclass(frozen=True)
class _Event:
    """An event on a pair of data sets.

    Attributes:
        left: the letters on the left.
        right: those on the right.
        outcomes: the outcomes.
        p: its probability on the left.
        q: the same on the right.
    """

    left: Letters
    right: Letters
    outcomes: tuple[Outcome, ...]
    p: arb
    q: arb


@dataclass
class _Deciding:
    """What the largest excess says about a claim."""

    question: ProgramQuestion
    model: Registers
    worst: Worst
    budget: Budget
    note: str

    @property
    def program(self) -> Program:
        """The program that the certificate is about."""
        return self.model.program

    def answers(self, *, tight: bool) -> Iterator[Answer]:
        """The claim, or the smallest epsilon."""
        with precision(BITS):
            yield from self.least() if tight else self.claimed()

    def claimed(self) -> Iterator[Answer]:
        """Whether the claim holds."""
        bound = self.budget.epsilon
        most = self.worst.at(bound.ball(BITS).exp())
        details = ProgramDetails(delta=(_outward(most.lower, up=False), _outward(most.upper, up=True)))
        if most.upper <= self.budget.delta:
            yield self.known("proved", registers_evidence(), upper=bound, details=details)
            return
        event = self.event(most, bound)
        if event.p - bound.ball(BITS).exp() * event.q > arb(self.budget.delta):
            yield self.known(
                "refuted",
                self.evidence(event),
                lower=_larger(self.needed(event), bound),
                witness=self.witness(event),
                details=details,
            )
            return
        yield self.known(
            "unknown",
            {},
            details=details,
            reason="the delta that is claimed lies between what is proved and what is refuted",
        )

    def least(self) -> Iterator[Answer]:
        """The smallest epsilon at a delta: the event that is worst at one epsilon asks for a larger one, until none does."""
        if self.budget.delta == 0:
            reason = "Gaussian noise has no epsilon without a delta: ask with one (--delta 1e-6)"
            yield self.known("unknown", {}, reason=reason)
            return
        here, event = epsilon(0), None
        for _ in range(_ROUNDS):
            most = self.worst.at(here.ball(BITS).exp())
            if most.lower <= self.budget.delta:
                break
            event = self.event(most, here)
            following = self.needed(event)
            if following.compare(here) <= 0:
                break
            here = following
        low, high = rational_bounds(here.ball(BITS))
        upper = Fraction(math.ceil(fraction(high) * _GRID), _GRID)
        for _ in range(_ROUNDS):
            if self.worst.at(epsilon(upper).ball(BITS).exp()).upper <= self.budget.delta:
                break
            upper += max(Fraction(1, _GRID), (upper - fraction(low)))
        else:
            yield self.known("unknown", {}, lower=here, reason="no epsilon was found that is enough")
            return
        found = {} if event is None else {"below": lower_bound(here, self.evidence(event))}
        answer = self.known(
            "proved",
            registers_evidence(),
            lower=here if found else epsilon(0),
            upper=epsilon(upper),
            witness=None if event is None else self.witness(event),
        )
        yield replace(answer, question=self.question.under(replace(self.budget, epsilon=epsilon(upper))), more=found)

    def event(self, most: Most, bound: Epsilon) -> _Event:
        """The outcomes of a pair that are too likely on the left."""
        times = bound.ball(BITS).exp()
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
        return _Event(most.left, most.right, tuple(chosen), p, q)

    def needed(self, event: _Event) -> Epsilon:
        """The epsilon that an event asks for at the delta, rounded down."""
        if not (event.p > arb(self.budget.delta) and event.q > 0):
            return epsilon(0)
        low, _ = rational_bounds(((event.p - arb(self.budget.delta)) / event.q).log())
        return epsilon(Fraction(int((low * 10**12).floor()), 10**12)) if low > 0 else epsilon(0)

    def data(self, letters: Letters) -> dict[str, Any]:
        """Letters as arguments of the function."""
        result: dict[str, Any] = {}
        values = iter(letters)
        for name, declared in self.question.mechanism.inputs.items():
            if declared.shape == "value":
                result[name] = self._value(next(values))
            else:
                length = declared.size if declared.size is not None else self.question.size
                assert length is not None
                result[name] = [self._value(next(values)) for _ in range(length)]
        return result

    def _value(self, letter: int) -> int | Fraction:
        value = fraction(self.worst.roles.letters[letter])
        return int(value) if value.denominator == 1 else value

    def evidence(self, event: _Event) -> dict[str, object]:
        """The evidence of an event."""
        return outcomes_evidence(self.data(event.left), self.data(event.right), event.outcomes)

    def witness(self, event: _Event) -> LossWitness:
        """An event with its probabilities, enclosed."""
        observed = ObservedOutcomes(tuple(each.text for each in event.outcomes))
        return Witness(self.data(event.left), self.data(event.right), observed, Ball.of(event.p), Ball.of(event.q))

    def known(self, status: Any, evidence: dict[str, object], **more: Any) -> Answer:
        """An answer about the question with its budget."""
        return Answer(
            status=status,
            question=self.question,
            engine=ENGINE,
            evidence=evidence,
            compiled=self.program,
            notes=(self.note,),
            **more,
        )


def _larger(one: Epsilon, other: Epsilon) -> Epsilon:
    return one if one.compare(other) > 0 else other


def _outward(value: Rational, *, up: bool) -> Fraction:
    """A number with some digits, rounded outwards."""
    if value == 0:
        return Fraction(0)
    size = len(str(value.p)) - len(str(value.q))
    digits = 10 ** max(0, _DIGITS - size)
    return Fraction(int((value * digits).ceil() if up else (value * digits).floor()), digits)
