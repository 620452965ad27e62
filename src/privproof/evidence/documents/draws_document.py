"""Questions about separate draws as plain data: the values of the data, the passes over them, and the laws of the parts."""

from __future__ import annotations

from typing import Any

from privproof.evidence.question_documents import with_source
from privproof.evidence.question_sources import draws_source
from privproof.language.constants import typed_document
from privproof.models.draws_model import Pass
from privproof.scenarios import DrawsQuestion


def document(question: DrawsQuestion, compiled: Any) -> dict[str, Any]:
    """The question as plain data, with its source."""
    model = question.model
    declared = question.mechanism.inputs[question.input]
    said: dict[str, Any] = {"kind": "draws", "title": question.name}
    if question.budget is not None:
        said["epsilon"] = str(question.budget.epsilon)
    said |= {
        "values": [typed_document(value) for value in model.values],
        "size": model.size,
        "relation": question.relation,
        "within": None if declared.within is None else str(declared.within),
        "laws": [{"noise": law.noise, "arguments": [typed_document(a) for a in law.arguments]} for law in model.laws],
        "passes": [_pass(each) for each in model.passes],
    }
    return with_source(said, draws_source(question.mechanism, question.size))


def _pass(made: Pass) -> dict[str, Any]:
    said: dict[str, Any] = {"moves": [list(row) for row in made.moves]}
    if made.written:
        said["written"] = [[list(laws) for laws in row] for row in made.written]
    said["ends"] = [None if laws is None else list(laws) for laws in made.ends]
    return said
