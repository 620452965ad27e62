"""From what a user has (a function, a mechanism, a question) to the question that it poses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from privproof.compiling.programs import mechanism_question
from privproof.errors import LanguageError, QuestionError
from privproof.language import Mechanism, mechanism
from privproof.language.inputs import Input
from privproof.language.mechanism import RELATIONS, Relation
from privproof.models import Horizon
from privproof.scenarios import AnyQuestion, is_program, program_question, runs_question

Subject: TypeAlias = "AnyQuestion | Mechanism | Callable[..., Any]"
"""What can be asked about: a question, a mechanism, or whatever can be called and is one."""


def pose_question(
    subject: Subject,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    run: bool = False,
) -> AnyQuestion:
    """The question that something poses, at a size and for a horizon where it leaves them open.

    A function that the language has no translation for is asked about as it runs.

    Args:
        subject: a question, a mechanism, or whatever can be called and is one.
        size: the length of lists, where their declaration leaves it open.
        horizon: for a stream the numbers of answers compared.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function or a mechanism which data sets are neighbours, where it does not say it.
        run: whether to run the function as it is, also where it could be translated.

    Raises:
        QuestionError: it poses none, or has no such size or horizon.
        LanguageError: it can neither be translated nor run.
    """
    if isinstance(subject, Mechanism):
        subject = mechanism_with(subject, inputs)
    elif callable(subject) and not isinstance(subject, AnyQuestion | type) and not hasattr(subject, "question"):
        subject = bare(subject, inputs)
    if isinstance(subject, Mechanism):
        if neighbours is not None:
            subject = related(subject, neighbours)
        return _of_mechanism(subject, size, horizon, run=run)
    if inputs or neighbours is not None:
        raise QuestionError(
            "input", "only a function has inputs and neighbours to declare", place="inputs", hint="drop them"
        )
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


def related(subject: Mechanism, neighbours: Relation) -> Mechanism:
    """A mechanism with other neighbours.

    Raises:
        LanguageError: there is no such relation.
    """
    if isinstance(neighbours, str) and neighbours not in RELATIONS:
        raise LanguageError(
            "neighbours",
            f"neighbours={neighbours!r} is no relation",
            place=subject.name,
            hint=f"{', '.join(RELATIONS)}, or a function of two data sets",
        )
    return replace(subject, relation=neighbours, pin=None)


def bare(function: Callable[..., Any], inputs: Mapping[str, Input] | None = None) -> Mechanism:
    """A function as a mechanism; what runs is the function itself, with its own defaults."""
    made: Mechanism = mechanism(function, inputs=inputs)
    return replace(made, bare=True)


def mechanism_with(subject: Mechanism, inputs: Mapping[str, Input] | None) -> Mechanism:
    """A mechanism, with other declarations of some of its inputs."""
    if not inputs:
        return subject
    made: Mechanism = mechanism(subject.function, neighbours=subject.relation, inputs={**subject.inputs, **inputs})
    made = replace(made, claim=subject.claim)
    changed = {n: v for n, v in subject.parameters.items() if n in made.parameters}
    return made.having(**changed) if changed else made


def _of_mechanism(subject: Mechanism, size: int | None, horizon: Horizon | None, *, run: bool) -> AnyQuestion:
    if run:
        return runs_question(subject, size=size)
    try:
        if not is_program(subject):
            return mechanism_question(subject, size=size, horizon=horizon)
        question: AnyQuestion = program_question(subject, size=size)
        return question if horizon is None else question.lasting(horizon)
    except LanguageError as problem:
        if horizon is not None or subject.proposed is not None or problem.code == "changed":
            raise
        return runs_question(subject, size=size, reason=problem)
