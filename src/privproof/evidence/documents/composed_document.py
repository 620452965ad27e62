"""Questions about several uses as plain data: for each the question about one, how often, and on which samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privproof.evidence.question_documents import question_document, without_budget
from privproof.scenarios import ComposedQuestion, Use


def document(question: ComposedQuestion, compiled: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The question as plain data."""
    said: dict[str, Any] = {"kind": "composed", "title": question.name}
    said["uses"] = [_use(use, part) for use, part in zip(question.uses, compiled, strict=True)]
    if question.budget is not None:
        said |= {"epsilon": str(question.budget.epsilon), "delta": str(question.budget.delta)}
    return said


def _use(use: Use, compiled: Mapping[str, Any]) -> dict[str, Any]:
    of = compiled if "kind" in compiled else question_document(use.of, compiled)
    found: dict[str, Any] = {"of": without_budget(of), "times": use.times}
    if use.sampling is not None:
        found["sampling"] = {"kind": use.sampling.kind, "rate": str(use.sampling.rate)}
    return found
