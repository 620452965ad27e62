"""Questions about the words of a model as plain data, with the source of the function that the model was made from."""

from __future__ import annotations

from privproof.evidence.question_documents import with_source
from privproof.evidence.question_sources import finite_source
from privproof.formats import document as model_document
from privproof.scenarios import Question


def document(question: Question, compiled: object) -> dict[str, object]:
    """The question as plain data."""
    return with_source(model_document(question), finite_source(question))
