"""Questions about lotteries as plain data: the values of an element, and for each of them the law of its level."""

from __future__ import annotations

from typing import Any

from privproof.evidence.question_documents import with_source
from privproof.evidence.question_sources import program_source
from privproof.language.constants import typed_document
from privproof.scenarios import LotteryQuestion


def document(question: LotteryQuestion, compiled: Any) -> dict[str, Any]:
    """The question as plain data, with its source."""
    declared = question.mechanism.inputs[question.input]
    said: dict[str, Any] = {"kind": "lottery", "title": question.name}
    budget = question.budget
    if budget is not None:
        said["epsilon"] = str(budget.epsilon)
        if budget.delta != 0:
            said |= {"delta": str(budget.delta), "pointwise": budget.pointwise}
    said |= {
        "values": [typed_document(value) for value in question.model.values],
        "relation": question.relation,
        "within": None if declared.within is None else str(declared.within),
        "laws": [[str(probability) for probability in law] for law in question.model.laws],
    }
    return with_source(said, program_source(question.mechanism, None))
