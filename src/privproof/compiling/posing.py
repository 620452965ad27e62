"""From what a user has (a function, a mechanism, a question) to the question that it poses."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias

from privproof.compiling.programs import mechanism_question
from privproof.errors import QuestionError
from privproof.language import Mechanism, mechanism
from privproof.models import Horizon
from privproof.scenarios import AnyQuestion, is_program, program_question

Subject: TypeAlias = "AnyQuestion | Mechanism | Callable[..., Any]"
"""What can be asked about: a question, a mechanism, or a function that is one."""


def pose_question(subject: Subject, *, size: int | None = None, horizon: Horizon | None = None) -> AnyQuestion:
    """The question that something poses, at a size and for a horizon where it leaves them open.

    Raises:
        QuestionError: it poses none, or has no such size or horizon.
    """
    if isinstance(subject, FunctionType):
        subject = mechanism(subject)
    if isinstance(subject, Mechanism):
        if not is_program(subject):
            return mechanism_question(subject, size=size, horizon=horizon)
        question: AnyQuestion = program_question(subject, size=size)
        return question if horizon is None else question.lasting(horizon)
    if not isinstance(subject, AnyQuestion):
        made = getattr(subject, "question", None)
        if not isinstance(made, AnyQuestion):
            raise QuestionError(
                "subject",
                f"{type(subject).__name__} is nothing that can be asked about",
                place="subject",
                hint="a function, a @mechanism, a question (Question(model=..., scenario=...)), or a file name",
            )
        subject = made
    if size is not None:
        raise QuestionError("size", "a model has the size it has", place="size", hint="drop the size")
    return subject if horizon is None else subject.lasting(horizon)
