"""The engine of registers: a delta at one size, for all neighbours with finitely many values.

From above no pair of neighbours has a larger excess than the recursion gives (`worst`); from below the pair that has it, with an event: its
outcomes that are too likely on the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from privproof.compiling.covering import told_coverage
from privproof.compiling.registers import registers
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.translation import program_agreement
from privproof.engines.engine_protocol import Answers, EngineRequest, Remark
from privproof.engines.registers.data_corners import Corners, Reals
from privproof.engines.registers.pulled_events import pulls
from privproof.engines.registers.register_certificates import outcomes_evidence
from privproof.engines.registers.register_data import data_of
from privproof.engines.registers.register_decision import ByCorners, ByTable, Decider, RegisterEvent
from privproof.engines.registers.register_integrals import BITS
from privproof.engines.registers.register_roles import Roles
from privproof.engines.registers.worst_neighbours import WorstNeighbours
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.evidence.certificate_documents import lower_bound
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import ProgramDetails
from privproof.evidence.witnesses import LossWitness, ObservedOutcomes, Witness
from privproof.exact import Budget, Epsilon, epsilon, fraction
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.probabilities import Ball
from privproof.exact.rounding import to_digits, to_grid
from privproof.scenarios import ProgramQuestion
from privproof.scenarios.program_questions import is_gaussian

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

    def supports(self, request: EngineRequest) -> str | None:
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
            data = data_of(question)
            if isinstance(data, Reals) and not gaussian:
                return "real answers without Gaussian noise are left to alignments"
            if isinstance(data, Reals) and request.tight:
                return Remark("registers: of real answers the delta at an epsilon is found, no epsilon at a delta")
            request.shared("register model", lambda: registers(question.mechanism, question.size))
        except Unsupported as problem:
            return Remark(f"not integrated: {problem}") if gaussian else str(problem)
        return None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """A proof or a refutation of the claim, or both bounds."""
        question = request.question
        assert isinstance(question, ProgramQuestion)
        budget = request.budget
        assert budget is not None
        try:
            monitor.listen(Progress("integrating over registers"))
            decider = _decider(question, request, monitor)
            told, note = request.shared("register trials", lambda: _try_program(question))
            if told is not None:
                said = f"the program and the function differ {told}"
                yield Answer(status="unknown", question=question, engine=ENGINE, reason=said)
                return
            yield from _RegisterDeciding(question, decider, budget, note).answers(tight=request.tight)
        except Unsupported as problem:
            yield Answer(status="unknown", question=question, engine=ENGINE, reason=str(problem), pass_on=True)
        except Stopped:
            reason = monitor.stopped() or "stopped"
            yield Answer(status="unknown", question=question, engine=ENGINE, reason=reason)


def _try_program(question: ProgramQuestion) -> tuple[str | None, str]:
    """How the program and the function differ where they are run side by side, and that they do not, in words."""
    size = None if question.size is None else min(question.size, _TRIED)
    tried = program_agreement(registers(question.mechanism, size).program)
    at = "" if size == question.size else f" at size {size}"
    said = f"the function and the program agree on {tried.runs} runs{at} with the same data and noise"
    return tried.told, said + told_coverage(tried)


def _decider(question: ProgramQuestion, request: EngineRequest, monitor: Monitor) -> Decider:
    """What the largest excess of a question is found by.

    Raises:
        Unsupported: the question is outside the class.
    """
    data = data_of(question)
    model = request.shared("register model", lambda: registers(question.mechanism, question.size))
    if isinstance(data, Reals):
        corners = request.shared("register corners", lambda: Corners(model, data, monitor.pause))
        return ByCorners(question, model, corners)
    if data.ends:
        pulls(model)
    worst = request.shared(
        "register worst", lambda: WorstNeighbours(Roles(model, data.letters), data.alphabet, monitor.pause)
    )
    return ByTable(question, model, worst, ends=data.ends)


@dataclass
class _RegisterDeciding:
    """What the largest excess says about a claim."""

    question: ProgramQuestion
    decider: Decider
    budget: Budget
    note: str

    def answers(self, *, tight: bool) -> Iterator[Answer]:
        """The claim, or the smallest epsilon."""
        with precision(BITS):
            yield from self.least() if tight else self.claimed()

    def claimed(self) -> Iterator[Answer]:
        """Whether the claim holds."""
        bound = self.budget.epsilon
        most = self.decider.excess(bound, enough=self.budget.delta)
        details = ProgramDetails(
            delta=(to_digits(most.lower, up=False, digits=_DIGITS), to_digits(most.upper, up=True, digits=_DIGITS))
        )
        if most.upper <= self.budget.delta:
            yield self.known("proved", self.decider.evidence(), upper=bound, details=details)
            return
        event = most.event()
        if event.p - bound.ball(BITS).exp() * event.q > arb(self.budget.delta):
            yield self.known(
                "refuted",
                outcomes_evidence(event.left, event.right, event.outcomes),
                lower=_larger(self.needed(event), bound),
                witness=_witness(event),
                details=details,
            )
            return
        yield self.known(
            "unknown",
            {},
            details=details,
            reason="the delta that is claimed lies between what is proved and what is refuted",
            pass_on=self.decider.open,
        )

    def least(self) -> Iterator[Answer]:
        """The smallest epsilon at a delta: the event that is worst at one epsilon asks for a larger one, until none does."""
        if self.budget.delta == 0:
            reason = "Gaussian noise has no epsilon without a delta: ask with one (--delta 1e-6)"
            yield self.known("unknown", {}, reason=reason)
            return
        here, event = epsilon(0), None
        for _ in range(_ROUNDS):
            most = self.decider.excess(here)
            if most.lower <= self.budget.delta:
                break
            event = most.event()
            following = self.needed(event)
            if following.compare(here) <= 0:
                break
            here = following
        low, high = rational_bounds(here.ball(BITS))
        upper = fraction(to_grid(high, up=True, parts=_GRID))
        for _ in range(_ROUNDS):
            if self.decider.excess(epsilon(upper)).upper <= self.budget.delta:
                break
            upper += max(Fraction(1, _GRID), (upper - fraction(low)))
        else:
            yield self.known("unknown", {}, lower=here, reason="no epsilon was found that is enough")
            return
        found = (
            {}
            if event is None
            else {"below": lower_bound(here, outcomes_evidence(event.left, event.right, event.outcomes))}
        )
        answer = self.known(
            "proved",
            self.decider.evidence(),
            lower=here if found else epsilon(0),
            upper=epsilon(upper),
            witness=None if event is None else _witness(event),
        )
        yield replace(answer, question=self.question.under(replace(self.budget, epsilon=epsilon(upper))), more=found)

    def needed(self, event: RegisterEvent) -> Epsilon:
        """The epsilon that an event asks for at the delta, rounded down."""
        if not (event.p > arb(self.budget.delta) and event.q > 0):
            return epsilon(0)
        low, _ = rational_bounds(((event.p - arb(self.budget.delta)) / event.q).log())
        return epsilon(to_grid(low, up=False)) if low > 0 else epsilon(0)

    def _compared(self) -> str:
        """Which data the verdict is about, in words."""
        inputs = self.question.mechanism.inputs
        said = ", ".join(f"{name}: {declared}" for name, declared in inputs.items())
        whole = any(declared.values is not None for declared in inputs.values())
        return f"the data compared are {said}{'; real numbers between them are not' if whole else ''}"

    def known(self, status: Any, evidence: dict[str, object], **more: Any) -> Answer:
        """An answer about the question with its budget."""
        return Answer(
            status=status,
            question=self.question,
            engine=ENGINE,
            evidence=evidence,
            compiled=self.decider.model.program,
            notes=(self._compared(), self.note),
            **more,
        )


def _witness(event: RegisterEvent) -> LossWitness:
    """An event with its probabilities, enclosed."""
    observed = ObservedOutcomes(tuple(each.text for each in event.outcomes))
    return Witness(dict(event.left), dict(event.right), observed, Ball.of(event.p), Ball.of(event.q))


def _larger(one: Epsilon, other: Epsilon) -> Epsilon:
    return one if one.compare(other) > 0 else other
