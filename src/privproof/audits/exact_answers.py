"""What exact engines say about an audit: probabilities for its candidates, a verdict, and the tight epsilon.

Every candidate is handed over: it is *real* or *spurious* by its exact probabilities (`certifying`).  Then the engines are asked whether
the budget is kept, and for the tight epsilon; where that is only bounded, the bracket that sampling leaves says where to ask further
(FAIER, Algorithm 5).  The runs guard the exact side in turn: where exact probabilities could not have led to the counts, the two were
about different things, and nothing is certified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf
from types import MappingProxyType
from typing import Any

from privproof.asking import check, tight_epsilon
from privproof.audits.audit_findings import Audit, CertifiedCandidate, MeasureBound
from privproof.audits.exact_certification import Suspect, as_loss, certify_suspect
from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.audits.sampling.claim_tests import EventCount
from privproof.audits.sampling.confidence_intervals import at_least, at_most
from privproof.audits.sampling.event_search import FoundSuspect
from privproof.audits.sampling.search_aims import Candidate
from privproof.engines import Monitor, Progress
from privproof.engines.search_monitor import Stopped, Timed
from privproof.errors import PrivproofError
from privproof.evidence import Verdict
from privproof.evidence.gate import admit, with_bounds
from privproof.exact import Budget, Epsilon, fraction, rational
from privproof.exact.balls import rational_bounds
from privproof.exact.exponentials import ExponentialSum
from privproof.language import Mechanism
from privproof.models import Horizon
from privproof.scenarios import is_program, program_question

_CERTIFIED = 5
"""So many candidates get exact probabilities: the one that was tested, and the best of the others."""
_LARGEST = 10**300
"""A larger epsilon is infinite as a float, which ends at 1.8e308."""
_BISECTIONS = 8
"""How often the exact engine is asked while a bracket of epsilon is narrowed."""
_CHECKED_AT_ONCE = 5
"""Candidates with longer lists are refutations without a certificate: the checker would take long."""
_CLOSE = 0.002
"""A bracket of epsilon that is relatively narrower is close enough: the engine is not asked again."""
_NEVER = 1e-12
"""What is less likely than this does not happen."""


def as_float(value: Epsilon) -> float:
    """An epsilon as a float, rounded up."""
    if value.infinite:
        return inf
    upper = rational_bounds(value.ball())[1]
    return inf if upper > _LARGEST else float(upper)


def narrowed_to(mechanism: Mechanism, fixed: Mapping[str, Any]) -> Mechanism:
    """The mechanism that exact engines are asked about: with the public values that are given."""
    inputs = dict(mechanism.inputs)
    for name, value in fixed.items():
        declared = inputs[name]
        if declared.shape != "value":
            continue
        if declared.within is None:
            inputs[name] = replace(declared, values=(value,))
        else:
            number = rational(value)
            values = None if declared.real else (value,)
            inputs[name] = replace(declared, values=values, low=number, high=number)
    known = ", ".join(f"{name} = {value}" for name, value in fixed.items())
    name = f"{mechanism.name} with {known}" if known else mechanism.name
    return replace(mechanism, inputs=MappingProxyType(inputs), name=name)


def exactly(
    mechanism: Mechanism, audit: Audit, found: FoundSuspect, size: int | None, seconds: float, monitor: Monitor
) -> Audit:
    """The audit with exact probabilities for its candidates, and what the exact engines say.

    Args:
        mechanism: the mechanism, with the public values that are fixed.
        audit: what the runs say.
        found: what the search found.
        size: the length of lists, or of a stream, that the budget is about; None for every length.
        seconds: how long all of it may take.
        monitor: progress, an interrupt.
    """
    asking = _Asking(mechanism, Timed(monitor, seconds))
    claimed = mechanism if not audit.claims and mechanism.claim is not None and is_program(mechanism) else None
    mechanism = replace(mechanism, claim=None, measures=())
    candidates = asking.certified(audit, found)
    horizon = None if size is None or mechanism.stream is None else Horizon.up_to(size)
    if not any(d.shape == "list" and d.size is None for d in mechanism.inputs.values()):
        size = None
    elif size is None and not is_program(mechanism):
        size = found.candidates[0].pair.size
        asking.notes.append(f"the exact engine was asked about lists of length {size}, no others")
    within = [c for c in candidates if size in (None, Adjacent(c.left, c.right).size)]
    budget = audit.budget
    share = 0 if budget is None else fraction(budget.delta)
    verdict = None
    if budget is not None and not budget.epsilon.infinite:
        verdict = asking.answer(
            lambda timed: check(mechanism, budget.epsilon, share, size=size, horizon=horizon, monitor=timed)
        )
        if verdict is not None and verdict.status == "unknown":
            refutation = _refutation_by_candidate(mechanism, within, budget, size)
            verdict = verdict if refutation is None else refutation
        broken = next((c for c in within if c.judgement == "real"), None)
        if verdict is not None and verdict.status == "proved" and broken is not None:
            asking.notes.append(
                f"a contradiction: {broken.exactly} breaks a budget that was proved; neither is reported"
            )
            candidates, within, verdict = (), [], None
    if audit.measures:
        measured = _measure_arguments(audit.measures)
        verdict = asking.answer(lambda timed: check(mechanism, size=size, horizon=horizon, monitor=timed, **measured))
        notes = (*audit.notes, *dict.fromkeys(asking.notes))
        return replace(audit, candidates=candidates, verdict=verdict, notes=notes)
    if claimed is not None:
        verdict = asking.answer(lambda timed: check(claimed, size=size, horizon=horizon, monitor=timed))
    tight = asking.answer(lambda timed: tight_epsilon(mechanism, share, size=size, horizon=horizon, monitor=timed))
    if tight is not None and tight.tight is None and not tight.lower.infinite and share == 0:
        if verdict is not None and verdict.status == "proved" and verdict.upper.compare(tight.upper) < 0:
            tight = with_bounds(verdict, lower=tight.lower, witness=tight.witness)
        tight = _narrow_bounds(mechanism, _raise_lower_bound(tight, within), audit.bracket, size, asking.monitor)
    if mechanism.stream is not None and horizon is None and not is_program(mechanism) and audit.by_size:
        asking.short_streams(max(audit.by_size), share)
    notes = (*audit.notes, *dict.fromkeys(asking.notes))
    return replace(audit, candidates=candidates, verdict=verdict, tight=tight, notes=notes)


def _measure_arguments(bounds: Sequence[MeasureBound]) -> dict[str, Any]:
    """The claims about another measure, as `check` takes them."""
    kind = bounds[0].measure.kind
    if kind == "renyi":
        return {"renyi": {bound.measure.order: bound.claimed for bound in bounds}}
    return {kind: bounds[0].claimed}


class _Asking:
    """Asks exact engines, within a time, and notes what they do not answer."""

    def __init__(self, mechanism: Mechanism, monitor: Monitor) -> None:
        self.mechanism, self.monitor = mechanism, monitor
        self.notes: list[str] = []

    def answer(self, ask: Callable[[Monitor], Verdict]) -> Verdict | None:
        """What an exact engine says; None where it does not support the question."""
        try:
            return ask(self.monitor)
        except PrivproofError as problem:
            self.notes.append(f"no exact engine answers: {problem.message}")
            return None

    def short_streams(self, longest: int, share: Fraction | int) -> None:
        """Note the tight epsilon for streams as long as those that were tried."""
        horizon = Horizon.up_to(longest)
        found = self.answer(lambda timed: tight_epsilon(self.mechanism, share, horizon=horizon, monitor=timed))
        if found is not None and found.tight is not None:
            self.notes.append(f"exactly, for streams of up to {longest} values: {found.tight.show()}")

    def certified(self, audit: Audit, found: FoundSuspect) -> tuple[CertifiedCandidate, ...]:
        """What was tested, and the best of the other candidates, with exact probabilities."""
        listed: list[tuple[Candidate | EventCount, Sequence[Any]]]
        listed = [(count, found.candidates[0].outputs) for count in audit.tests]
        others = [candidate for candidate in found.candidates[1:] if candidate.worth > 0]
        listed += [(candidate, candidate.outputs) for candidate in others[: _CERTIFIED - 1]]
        result: dict[str, CertifiedCandidate] = {}
        for candidate, outputs in listed:
            self.monitor.listen(Progress("computing exact probabilities"))
            pair, event = candidate.pair, candidate.event
            try:
                suspect = Suspect(self.mechanism, pair.left, pair.right, event, audit.budget)
                exact = certify_suspect(suspect, outputs, self.monitor)
            except Stopped:
                self.notes.append("there was no time for the exact probabilities of all candidates")
                break
            except PrivproofError as problem:
                self.notes.append(f"no exact probabilities: {problem.message}")
                break
            if exact is None:
                continue
            if _agree(candidate, exact):
                result.setdefault(repr((exact.left, exact.right, exact.exactly)), exact)
            else:
                said = f"runs and exact probabilities disagree about {exact.exactly}"
                self.notes.append(f"no exact probabilities: {said}")
        return tuple(result.values())


def _raise_lower_bound(tight: Verdict, candidates: Sequence[CertifiedCandidate]) -> Verdict:
    """The verdict with the largest exact loss of the candidates as its lower bound, where that is better."""
    from privproof.engines.laplace.engine import witnessed

    for candidate in candidates:
        if candidate.loss.compare(tight.lower) > 0 and candidate.loss.compare(tight.upper) <= 0:
            loss = as_loss(candidate)
            tight = with_bounds(tight, lower=candidate.loss, witness=None if loss is None else witnessed(loss))
    return tight


def _narrow_bounds(
    mechanism: Mechanism, tight: Verdict, bracket: tuple[float, float], size: int | None, monitor: Monitor
) -> Verdict:
    """Better bounds on the tight epsilon (FAIER, Algorithm 5): sampling says where to ask, the exact engine answers.

    Above the bracket a budget is looked for that can be proved; between it and what is refuted the exact engine is asked in the middle.
    """
    low = tight.lower
    proved = tight if tight.status == "proved" else None
    high = as_float(tight.upper)
    start = max(as_float(low), bracket[0] if bracket[1] == inf else bracket[1])
    asked = [start * factor for factor in (1.01, 1.5, 3.0)] if high == inf else []
    for _ in range(_BISECTIONS):
        if monitor.stopped() is not None:
            break
        middle = asked.pop(0) if asked else (as_float(low) + high) / 2
        if middle == inf or high - as_float(low) < _CLOSE * high:
            break
        verdict = check(mechanism, Fraction(ceil(middle * 1000), 1000), size=size, monitor=monitor)
        if verdict.status == "proved":
            proved, high, asked = verdict, as_float(verdict.upper), []
        elif verdict.status == "refuted":
            low = verdict.lower if verdict.lower.compare(low) > 0 else low
            if low.infinite:
                break
        elif not asked:
            break
    if proved is None or proved is tight:
        return tight
    return with_bounds(proved, lower=low, witness=proved.witness or tight.witness)


def _agree(candidate: Candidate | EventCount, exact: CertifiedCandidate) -> bool:
    """Whether the runs could have come from the exact probabilities: where they could not, the two are about different things."""
    if exact.event != exact.exactly:
        return True
    sides = ((candidate.left, exact.left_probability), (candidate.right, exact.right_probability))
    return all(
        at_least(count, candidate.runs, _NEVER) <= _number(p) <= at_most(count, candidate.runs, _NEVER)
        for count, p in sides
    )


def _number(probability: Fraction | ExponentialSum) -> float:
    return float(probability) if isinstance(probability, Fraction) else float(probability.ball(1, 128).mid())


def _refutation_by_candidate(
    mechanism: Mechanism, candidates: Sequence[CertifiedCandidate], budget: Budget, size: int | None
) -> Verdict | None:
    """The refutation that a real candidate is, where the engine itself found none."""
    from privproof.engines.laplace.engine import refutation_finding

    small = [c for c in candidates if (Adjacent(c.left, c.right).size or 0) <= _CHECKED_AT_ONCE]
    for candidate in small:
        loss = as_loss(candidate)
        if candidate.judgement == "real" and loss is not None:
            return admit(refutation_finding(program_question(mechanism, size=size).under(budget), loss))
    return None
