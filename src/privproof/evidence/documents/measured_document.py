"""Questions about other measures of privacy as plain data: the measure, its values, and what must not be told apart."""

from __future__ import annotations

from typing import Any

from privproof.evidence.documents.program_document import affine_document
from privproof.evidence.question_documents import Given, question_document, without_budget
from privproof.scenarios import MeasuredQuestion


def document(question: MeasuredQuestion, compiled: Any) -> dict[str, Any]:
    """The question as plain data."""
    budgets = [
        {
            **({} if each.measure.order is None else {"order": str(each.measure.order)}),
            **({} if each.value is None else {"value": str(each.value)}),
            **({} if each.growing is None else {"claim": affine_document(each.growing)}),
        }
        for each in question.budgets
    ]
    of = without_budget(compiled.document) if isinstance(compiled, Given) else question_document(question.of, compiled)
    return {"kind": "measured", "measure": question.measure.kind, "budgets": budgets, "of": of}
