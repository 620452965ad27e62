"""Audits as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from privproof.audits.audit_texts import as_float, audit_notes
from privproof.exact import epsilon
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.number_texts import enclosing_decimals, outward
from privproof.reporting.verdict_wording import data

if TYPE_CHECKING:
    from privproof.audits.audit_findings import Audit, CertifiedCandidate


_ENGINE_DATA = ("growth", "leak", "formula", "repairs")


def audit_data(audit: Audit, command: str | None = None) -> dict[str, Any]:
    """The audit as plain data, the object that ``--json`` prints.

    What rests on runs is under ``audit``; ``tight`` and ``witness`` hold only what is exact.
    """
    engines = [found.engine for found in (audit.verdict, audit.tight) if found is not None]
    budget = audit.budget
    result: dict[str, Any] = {
        "verdict": audit.status,
        "engine": f"sampling + {engines[0]}" if engines else "sampling",
        "question": {
            "mechanism": audit.subject,
            "subject": audit.subject,
            "epsilon": None if budget is None else str(budget.epsilon),
            "delta": None if budget is None else str(budget.delta),
            **_measured_data(audit),
        },
        "tight": _tight_data(audit),
        "witness": _witness_data(audit),
        "certificate": None,
        "seconds": round(sum(audit.seconds.values()), 6),
        "notes": audit_notes(audit),
        "audit": _audit_data(audit),
    }
    if command is not None:
        result["command"] = command
    for found in (audit.verdict, audit.tight):
        if found is not None:
            more = data(found, certificate=None)
            result |= {name: more[name] for name in _ENGINE_DATA if name in more and name not in result}
    return result


def _measured_data(audit: Audit) -> dict[str, Any]:
    """What is claimed of another measure, as in the question of a check."""
    if not audit.measures:
        return {}
    budgets = [
        {"order": None if b.measure.order is None else str(b.measure.order), "value": str(b.claimed)}
        for b in audit.measures
    ]
    return {"measure": audit.measures[0].measure.kind, "budgets": budgets}


def _tight_data(audit: Audit) -> dict[str, Any]:
    """What is exactly known about the tight epsilon: by an engine, or at least the loss of a candidate."""
    if audit.tight is not None:
        found: dict[str, Any] = data(audit.tight, certificate=None)["tight"]
        return found
    known = [c.loss for c in audit.candidates] if audit.budget is None or audit.budget.delta == 0 else []
    lower = max(known, key=as_float, default=epsilon(0))
    infinite = "inf" if lower.infinite else None
    return {
        "ratio": None,
        "epsilon": infinite,
        "exact": infinite,
        "lower": outward(lower, up=False),
        "upper": "inf",
    }


def _witness_data(audit: Audit) -> dict[str, Any] | None:
    """The real candidate with the largest loss; without one, the witness of the engine that refutes."""
    real, verdict = audit.real, audit.verdict
    if real is None:
        if verdict is None or verdict.status != "refuted":
            return None
        witness: dict[str, Any] | None = data(verdict, certificate=None)["witness"]
        return witness
    sides = _sides_data(real.left, real.right)
    output = str(real.exactly)
    return {**sides, "output": [output.removeprefix("the output is ")], "event": output, **_probabilities(real)}


def _probabilities(candidate: CertifiedCandidate) -> dict[str, Any]:
    """Both probabilities exactly, and their ratio: exactly, or as two decimals that enclose it."""
    p, q = candidate.left_probability, candidate.right_probability
    ratio: Any
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        ratio = "inf" if q == 0 and p != 0 else None if q == 0 else str(p / q)
        return {"left_probability": str(p), "right_probability": str(q), "ratio": ratio}
    balls = {}
    for side, value in (("left", p), ("right", q)):
        assert isinstance(value, ExponentialSum)
        balls[side] = value
    if balls["right"].is_zero:
        ratio = None if balls["left"].is_zero else "inf"
    elif balls["left"].is_zero:
        ratio = "0"
    else:
        with precision(192):
            ratio = enclosing_decimals(balls["left"].ball(1, 192) / balls["right"].ball(1, 192))
    exact = {f"{side}_probability": str(value.at(1)) for side, value in balls.items()}
    return {**exact, "ratio": ratio}


def _audit_data(audit: Audit) -> dict[str, Any]:
    count = audit.count
    low, high = audit.bracket
    return {
        "epsilon_at_least": _number(audit.epsilon),
        "delta_at_least": _number(audit.delta),
        "measures_at_least": [
            {
                "measure": bound.measure.kind,
                "order": None if bound.measure.order is None else str(bound.measure.order),
                "claimed": str(bound.claimed),
                "at_least": _number(bound.at_least),
            }
            for bound in audit.measures
        ],
        "deltas_at_least": [
            {
                "epsilon": str(bound.epsilon),
                "delta": _number(bound.at_least),
                "event": None if bound.count is None else str(bound.count.event),
                "left_count": None if bound.count is None else bound.count.left,
                "right_count": None if bound.count is None else bound.count.right,
            }
            for bound in audit.deltas
        ],
        "confidence": str(audit.confidence),
        "p_value": _number(audit.p_value),
        "violated": audit.violated,
        "bracket": [_number(low), high if isfinite(high) else None],
        "event": None if count is None else str(count.event),
        **(dict.fromkeys(_SIDES) if count is None else _sides_data(count.pair.left, count.pair.right)),
        "left_count": None if count is None else count.left,
        "right_count": None if count is None else count.right,
        "samples": audit.samples,
        "runs": audit.runs,
        "pairs": audit.pairs,
        "seed": audit.seed,
        "repeatable": audit.repeatable,
        "candidates": [
            {
                "judgement": found.judgement,
                "event": str(found.event),
                "exactly": str(found.exactly),
                "loss": str(found.loss),
                **_probabilities(found),
                **_sides_data(found.left, found.right),
            }
            for found in audit.candidates
        ],
        "tests": [
            {
                "event": str(test.event),
                **_sides_data(test.pair.left, test.pair.right),
                "left_count": test.left,
                "right_count": test.right,
                "runs": test.runs,
                "estimate": _number(test.estimate),
            }
            for test in audit.tests
        ],
        "curve": [[_number(e), _number(p)] for e, p in audit.curve],
        "histogram": None if audit.histogram is None else [list(row) for row in audit.histogram.rows],
        "by_size": {str(size): _number(loss) for size, loss in audit.by_size.items()},
        "exact_verdict": None if audit.verdict is None else audit.verdict.status,
        "seconds": {part: round(seconds, 6) for part, seconds in audit.seconds.items()},
    }


_SIDES = ("left", "right", "left_python", "right_python")


def _sides_data(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Both data sets: as values, and as Python writes them."""
    written = [", ".join(f"{name}={value!r}" for name, value in side.items()) for side in (left, right)]
    return dict(zip(_SIDES, (_plain(left), _plain(right), *written), strict=True))


def _plain(value: Any) -> Any:
    """A value as JSON has it: fractions as texts, whatever JSON does not know as Python writes it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Fraction) else repr(value)


def _number(value: float | None) -> float | str | None:
    """A float as JSON has it."""
    if value is None or isnan(value):
        return None
    return float(value) if isfinite(value) else "inf" if value > 0 else "-inf"
