"""The question of a certificate: what a question of any kind is as plain data, for the checker to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from privproof.capabilities import kind_of, load_named
from privproof.scenarios import AnyQuestion


@dataclass(frozen=True)
class Given:
    """The question of a certificate that goes into another one, as it stands there."""

    document: Mapping[str, Any]


def without_budget(question: Mapping[str, Any]) -> dict[str, Any]:
    """A question as plain data without what it claims."""
    return {name: value for name, value in question.items() if name not in ("epsilon", "delta", "pointwise", "claim")}


class OtherQuestion(ValueError):
    """What an engine worked on is not what was asked."""


def question_document(question: AnyQuestion, compiled: object = None) -> dict[str, object]:
    """A question with its claim as plain data.

    Args:
        question: the question.
        compiled: what it became, where the certificate is about that: for secrets under a prior the table of rows, for a proof about
            continuous noise the program of instructions, for locations the mechanism as plain data; `Given` where a proof of an
            epsilon of the same question has it.

    Raises:
        OtherQuestion: what it became is that of another question.
    """
    if isinstance(compiled, Given) and question.family != "measured":
        assert question.budget is not None
        claimed = {"epsilon": str(question.budget.epsilon), "delta": str(question.budget.delta)}
        return {**without_budget(compiled.document), **claimed}
    document: Callable[[AnyQuestion, object], dict[str, object]] = load_named(kind_of(question.family).document)
    return document(question, compiled)


def with_source(said: dict[str, object], source: dict[str, object] | None) -> dict[str, object]:
    """A document with the source of the mechanism, where there is one."""
    return said if source is None else {**said, "source": source}
