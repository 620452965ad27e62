"""From counts to statements: what is claimed as trade-offs, and what the runs say about it, with one confidence for all of it.

A claim is a *trade-off* (`engines.sampling.tradeoffs`): epsilon at a delta, mu, rho, or Rényi divergences by order.  The runs speak
against it where all pairs of probabilities that the counts do not reject are pairs that it does not permit.  Every bound is a minimum over
that one region, so bounds on all measures and a whole curve of deltas hold together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

import numpy as np

from privproof.audits.audit_findings import Audit, DeltaBound, MeasureBound
from privproof.audits.exact_answers import as_float
from privproof.audits.sampling.betting import Stakes
from privproof.audits.sampling.claim_tests import CURVE_CELLS, EventCount, Histogram, curve, epsilons_for
from privproof.audits.sampling.event_search import FoundSuspect
from privproof.audits.sampling.search_aims import Aim
from privproof.audits.sampling.tradeoff_curves import (
    CONCENTRATED,
    DeltaAt,
    EpsilonAt,
    GaussianTradeoff,
    RenyiOrders,
    Tradeoff,
)
from privproof.exact import Budget, Epsilon
from privproof.exact.measures import Measure, MeasuredBudget
from privproof.exact.rounding import float_above, float_below

_FINE_CELLS = 200
"""Cells behind the p-value of a claim about another measure: one number, so it may be computed more finely than a curve."""
_LEVELS = tuple(10.0 ** (-k / 3) for k in range(1, 25))
"""P-values at which the curve of another measure is drawn: thirds of powers of ten, until beyond every accusation."""


@dataclass(frozen=True)
class AuditClaim:
    """What is tested.

    Attributes:
        budget: the claimed epsilon and delta; None where another measure, or nothing, is claimed.
        measured: the claims about another measure.
        tradeoff: what is bounded first.
        value: the number of the trade-off that is claimed, not rounded down; None without a claim.
    """

    budget: Budget | None
    measured: tuple[MeasuredBudget, ...]
    tradeoff: Tradeoff
    value: float | None

    @property
    def delta(self) -> float:
        """The claimed delta, not rounded down."""
        return 0.0 if self.budget is None else float_above(self.budget.delta)


def claim_of(budget: Budget | None, measured: tuple[MeasuredBudget, ...]) -> AuditClaim:
    """A claim as a trade-off and its number."""
    if budget is not None:
        return AuditClaim(budget, (), EpsilonAt(float(budget.delta)), as_float(budget.epsilon))
    if not measured:
        return AuditClaim(None, (), EpsilonAt(), None)
    values = [_claimed_value(each) for each in measured]
    if len(measured) == 1:
        return AuditClaim(None, measured, _tradeoff(measured[0].measure), as_float(values[0]))
    orders = tuple(_order(each.measure) for each in measured)
    return AuditClaim(None, measured, RenyiOrders(orders, tuple(map(as_float, values))), 1.0)


def aim_of(claim: AuditClaim, points: Sequence[Epsilon]) -> Aim:
    """What the search looks for."""
    deltas = tuple(DeltaAt(as_float(point)) for point in points)
    if claim.budget is not None:
        return Aim((claim.tradeoff, DeltaAt(as_float(claim.budget.epsilon))), deltas)
    return Aim((claim.tradeoff,) if claim.measured or not deltas else (), deltas)


def _claimed_value(budget: MeasuredBudget) -> Epsilon:
    assert budget.value is not None
    return budget.value


def _tradeoff(measure: Measure) -> Tradeoff:
    match measure.kind:
        case "mu":
            return GaussianTradeoff()
        case "rho":
            return CONCENTRATED
        case "renyi":
            return RenyiOrders((_order(measure),), (1.0,))


def _order(measure: Measure) -> float:
    """The order of a Rényi divergence, not rounded up: a smaller order has no larger divergence."""
    assert measure.order is not None
    return max(1.0, float_below(measure.order))


def audit_of(
    subject: str,
    found: FoundSuspect,
    counts: tuple[EventCount, ...],
    histogram: Histogram,
    claim: AuditClaim,
    points: Sequence[Epsilon],
    confidence: Fraction,
) -> Audit:
    """What the counts say, before any exact engine is asked."""
    alpha = float(1 - confidence)
    budget = claim.budget
    pure = EpsilonAt() if budget is None else claim.tradeoff
    bounds = [count.at_least(pure, alpha) for count in counts]
    top = int(np.argmax(bounds))
    first = max(count.at_least(claim.tradeoff, alpha) for count in counts)
    delta_bound, delta_count = None, None
    if budget is not None:
        asked = as_float(budget.epsilon)
        deltas = [0.0 if asked == inf else count.at_least(DeltaAt(asked), alpha) for count in counts]
        delta_bound, delta_count = max(deltas), counts[int(np.argmax(deltas))]
    if claim.measured:
        main = max(counts, key=lambda count: count.at_least(claim.tradeoff, alpha))
        drawn = _levels(counts, claim.tradeoff)
    else:
        main = counts[top]
        grid = epsilons_for(bounds[top], counts, [] if claim.value is None else [claim.value])
        drawn = tuple(zip(grid, curve(counts, claim.tradeoff, grid).tolist(), strict=True))
    p_value = None
    if claim.value is not None:
        p_value = float(curve(counts, claim.tradeoff, [claim.value], *([_FINE_CELLS] if claim.measured else []))[0])
    return Audit(
        subject=subject,
        budget=budget,
        confidence=confidence,
        epsilon=bounds[top],
        delta=delta_bound,
        count=main,
        delta_count=delta_count,
        tests=counts,
        p_value=p_value,
        curve=drawn,
        bracket=(first, next((value for value, p in drawn if p >= 1.0), inf)),
        histogram=histogram,
        candidates=(),
        verdict=None,
        tight=None,
        by_size=dict(sorted(found.by_size.items())),
        pairs=found.tried,
        runs=found.runs + 2 * counts[0].runs,
        samples=counts[0].runs,
        seed=0,
        repeatable=True,
        seconds={},
        measures=tuple(
            MeasureBound(
                each.measure,
                _claimed_value(each),
                max(count.at_least(_tradeoff(each.measure), alpha) for count in counts),
            )
            for each in claim.measured
        ),
        deltas=tuple(_delta_bound(point, counts, alpha) for point in points),
    )


def by_stakes(audit: Audit, stakes: Stakes, claimed: float) -> Audit:
    """The same audit where the test could stop at any time: its bound, its p-value and its curve are those of bets."""
    drawn = tuple((epsilon, stakes.p_value(epsilon)) for epsilon in stakes.epsilons)
    bound = stakes.at_least(float(1 - audit.confidence))
    return replace(
        audit,
        epsilon=bound,
        delta=None,
        delta_count=None,
        p_value=stakes.p_value(claimed),
        curve=drawn,
        bracket=(bound, next((value for value, p in drawn if p >= 1.0), inf)),
    )


def _levels(counts: Sequence[EventCount], tradeoff: Tradeoff) -> tuple[tuple[float, float], ...]:
    """The values that are rejected at some levels: the same curve as that of p-values, read the other way."""
    points = [
        (max(c.region.at_least(tradeoff, c.share * level, CURVE_CELLS) for c in counts), level) for level in _LEVELS
    ]
    return tuple(sorted({(value, level) for value, level in points if value > 0}))


def _delta_bound(point: Epsilon, counts: Sequence[EventCount], alpha: float) -> DeltaBound:
    bounds = [count.at_least(DeltaAt(as_float(point)), alpha) for count in counts]
    best = int(np.argmax(bounds))
    return DeltaBound(point, bounds[best], counts[best] if bounds[best] > 0 else None)
