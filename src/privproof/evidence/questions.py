"""The question of a certificate: what a question of any kind is as plain data, for the checker to read."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from privproof.scenarios import AnyQuestion, Family

_DOCUMENTS: dict[Family, str] = {
    "words": "words",
    "secrets": "tables",
    "program": "programs",
    "stream": "streams",
    "runs": "runs",
    "draws": "draws",
    "lottery": "lotteries",
    "release": "releases",
    "formula": "formulas",
    "location": "locations",
    "measured": "measured",
    "composed": "composed",
}
"""The module that writes the questions of each kind."""


class OtherQuestion(ValueError):
    """What an engine worked on is not what was asked."""


def question_document(question: AnyQuestion, compiled: object = None) -> dict[str, object]:
    """A question with its claim as plain data.

    Args:
        question: the question.
        compiled: what it became, where the certificate is about that: for secrets under a prior the table of rows, for a proof about
            continuous noise the program of instructions, for locations the mechanism as plain data.

    Raises:
        OtherQuestion: what it became is that of another question.
    """
    module = import_module(f"privproof.evidence.documents.{_DOCUMENTS[question.family]}")
    document: Callable[[AnyQuestion, object], dict[str, object]] = module.document
    return document(question, compiled)


def with_source(said: dict[str, object], source: dict[str, object] | None) -> dict[str, object]:
    """A document with the source of the mechanism, where there is one."""
    return said if source is None else {**said, "source": source}
