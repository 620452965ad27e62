"""The evidence of verdicts about formulas."""

from __future__ import annotations

from privproof.logic.path_measures import Closeness
from privproof.logic.state_satisfaction import Satisfaction


def logic_evidence(found: Satisfaction) -> dict[str, object]:
    """The evidence of an answer that is proved or refuted."""
    evidence: dict[str, object] = {"method": "bounds" if found.in_columns else "logic"}
    if found.computed == "refuted":
        evidence["state"] = next(s for s in found.asked if found.truth[s] == 0)
    operators = [close for close in found.measured.values() if isinstance(close, Closeness)]
    if found.in_columns:
        from privproof.logic.bounds_evidence import (  # here: of large processes alone
            bounds_evidence,
            monitored_evidence,
        )

        bounds = [measured.bounds for measured in found.measured.values() if measured.bounds is not None]
        evidence |= bounds_evidence(found.process, bounds) | monitored_evidence(found.process, bounds)
        operators = [close for close in operators if close.far is not None]
        if not operators:
            return evidence
    if not found.process.is_chain:
        from privproof.logic.operator_evidence import operator_evidence  # here, because chains need none of it

        evidence["operators"] = [
            operator_evidence(found.process, close, in_columns=found.in_columns) for close in operators
        ]
    return evidence
