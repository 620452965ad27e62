"""Questions about other measures of privacy as plain data: the measure, its values, and what must not be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privproof.evidence.questions import question_document
from privproof.scenarios import MeasuredQuestion


@dataclass(frozen=True)
class Given:
    """The question of a certificate that goes into another one, as it stands there."""

    document: Mapping[str, Any]


def without_budget(question: Mapping[str, Any]) -> dict[str, Any]:
    """A question as plain data without what it claims."""
    return {name: value for name, value in question.items() if name not in ("epsilon", "delta", "pointwise", "claim")}


def document(question: MeasuredQuestion, compiled: Any) -> dict[str, Any]:
    """The question as plain data."""
    budgets = [
        {
            **({} if each.measure.order is None else {"order": str(each.measure.order)}),
            **({} if each.value is None else {"value": str(each.value)}),
        }
        for each in question.budgets
    ]
    of = without_budget(compiled.document) if isinstance(compiled, Given) else question_document(question.of, compiled)
    return {"kind": "measured", "measure": question.measure.kind, "budgets": budgets, "of": of}
