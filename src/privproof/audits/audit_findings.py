"""What an audit has found: bounds with their confidence, the candidates, and what exact probabilities say about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from privproof.audits.sampling.claim_tests import EventCount, Histogram
from privproof.audits.sampling.output_events import Event
from privproof.drawing.showing import ShownText
from privproof.evidence.verdicts import Status, Verdict
from privproof.exact import Budget, Epsilon
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.measures import Measure

Judgement: TypeAlias = Literal["real", "spurious", "exact"]


_SHORT = 18
"""An exact epsilon with a longer text is shown as a decimal number."""
_ACCUSATION = 50
"""So many times smaller than one minus the confidence a p-value has to be before runs speak against a claim: 1/1000 at 95 %."""


def accusing_level(confidence: Fraction) -> float:
    """The p-value from which on runs speak against a claim, where bounds have this confidence."""
    return float((1 - confidence) / _ACCUSATION)


@dataclass(frozen=True)
class CertifiedCandidate:
    """A candidate with its exact probabilities.

    Attributes:
        left: the arguments that make the event likelier.
        right: the other arguments.
        event: the event that sampling proposed.
        exactly: the event whose probabilities were computed: the whole of it, or its part with the largest ratio.
        left_probability: the probability of the event on the left, exactly.
        right_probability: the same on the right.
        loss: the epsilon that they ask for at the budget's delta, rounded down where it is no exact number; infinite where there is none.
        judgement: ``real`` where it breaks the budget, ``spurious`` where the whole event does not, ``exact`` where there is no budget, or
            only a part of the event was computed, which breaks none.
    """

    left: Mapping[str, Any]
    right: Mapping[str, Any]
    event: Event
    exactly: Event
    left_probability: Fraction | ExponentialSum
    right_probability: Fraction | ExponentialSum
    loss: Epsilon
    judgement: Judgement


@dataclass(frozen=True)
class MeasureBound:
    """What runs say about another measure than epsilon and delta.

    Attributes:
        measure: the measure.
        claimed: the value that was claimed.
        at_least: a lower confidence bound on it.
    """

    measure: Measure
    claimed: Epsilon
    at_least: float


@dataclass(frozen=True)
class DeltaBound:
    """A point of a lower curve: at this epsilon delta is at least so much, all points of a curve together.

    Attributes:
        epsilon: the epsilon that was asked about.
        at_least: a lower confidence bound on delta there; zero where the runs say nothing.
        count: the event behind it, with its counts; None where it is zero.
    """

    epsilon: Epsilon
    at_least: float
    count: EventCount | None


@dataclass(frozen=True, repr=False)
class Audit(ShownText):
    """The result of an audit.

    Attributes:
        subject: the name of what was audited.
        budget: the claim that it was tested against, if there is one about epsilon and delta.
        confidence: with this probability the bounds hold, all of them together.
        epsilon: a lower confidence bound on epsilon (at the budget's delta).
        delta: a lower confidence bound on delta at the budget's epsilon; None without a budget.
        count: the event behind the bound on epsilon, with its counts; None where nothing was tested.
        delta_count: the event behind the bound on delta.
        tests: all events that were counted.
        p_value: the p-value of the claim: small where the runs speak against it; None without a claim.
        curve: epsilons with their p-values; where another measure is claimed, its values; of several Rényi orders, multiples of the claim.
        bracket: by sampling alone: values below the first are rejected, those above the second are not at all.
        histogram: what was written on both data sets.
        candidates: what the search found, with exact probabilities where an exact engine supports the mechanism.
        verdict: what the exact engine says about the budget, or about a claim that depends on public numbers; None where there is none.
        tight: what the exact engine says about the tight epsilon; None where there is no engine.
        by_size: for every length that was tried, about the largest loss found there.
        pairs: how many pairs of data sets were tried.
        runs: how many runs were made in all.
        samples: how many runs on each side the bounds rest on.
        seed: repeats the audit.
        repeatable: whether it does.
        seconds: how long it took, in parts.
        notes: restrictions and remarks.
        measures: the claims about another measure, and lower confidence bounds on it.
        deltas: lower confidence bounds on delta at the epsilons of a curve that was asked for.
    """

    subject: str
    budget: Budget | None
    confidence: Fraction
    epsilon: float
    delta: float | None
    count: EventCount | None
    delta_count: EventCount | None
    tests: tuple[EventCount, ...]
    p_value: float | None
    curve: tuple[tuple[float, float], ...]
    bracket: tuple[float, float]
    histogram: Histogram | None
    candidates: tuple[CertifiedCandidate, ...]
    verdict: Verdict | None
    tight: Verdict | None
    by_size: Mapping[int, float]
    pairs: int
    runs: int
    samples: int
    seed: int
    repeatable: bool
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()
    measures: tuple[MeasureBound, ...] = ()
    deltas: tuple[DeltaBound, ...] = ()

    @property
    def claims(self) -> bool:
        """Whether a claim was tested."""
        return self.budget is not None or bool(self.measures)

    @property
    def claim(self) -> str | None:
        """What was claimed, as an adjective: ``1-private``, ``1/8-zCDP``; None without a claim."""
        if self.measures:
            return " and ".join(bound.measure.claim(bound.claimed) for bound in self.measures)
        if self.budget is None:
            return None
        exact = str(self.budget.epsilon)
        epsilon = exact if len(exact) <= _SHORT else self.budget.epsilon.decimal()
        return f"{epsilon}-private" if self.budget.delta == 0 else f"({epsilon}, {self.budget.delta})-private"

    @property
    def violated(self) -> bool:
        """Whether the runs speak against the claim; by chance they may do so wrongly, but fifty times more rarely than a bound errs.

        A bound that is as sharp as its confidence allows is above the truth in 5 % of all audits of a mechanism that uses its budget up,
        and an accusation should not be.
        """
        return self.p_value is not None and self.p_value <= self.accusing

    @property
    def accusing(self) -> float:
        """The p-value from which on runs speak against a claim."""
        return accusing_level(self.confidence)

    @property
    def real(self) -> CertifiedCandidate | None:
        """The candidate that breaks the budget, exactly, with the largest loss."""
        listed = [candidate for candidate in self.candidates if candidate.judgement == "real"]
        return max(listed, key=lambda c: c.loss.ball() if not c.loss.infinite else float("inf"), default=None)

    @property
    def status(self) -> Status:
        """``refuted`` or ``proved`` by an exact engine, with a certificate, otherwise ``unknown``: chance decides nothing.

        Without a budget it is about a claim that depends on public numbers, or else about the tight epsilon: ``proved`` where an upper
        bound is, ``refuted`` where there is no epsilon at all.
        """
        exact = self.tight if not self.claims and self.verdict is None else self.verdict
        return "unknown" if exact is None else exact.status

    def __repr__(self) -> str:
        claim = (
            f", claim={self.claim!r}"
            if self.measures
            else ""
            if self.budget is None
            else f", claim={str(self.budget)!r}"
        )
        said = f", violated={self.violated}" if self.claims else ""
        bounds = "".join(f", {bound.measure}>={bound.at_least:.4g}" for bound in self.measures)
        return f"Audit({self.subject!r}{claim}, epsilon>={self.epsilon:.4g}{bounds}{said}, status={self.status!r})"

    def __bool__(self) -> bool:
        raise TypeError("an audit is no truth value: look at audit.status, audit.epsilon or audit.violated")
