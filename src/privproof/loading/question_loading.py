"""From ``FILE[:NAME]`` to a question: a model file, or a Python file whose NAME is a mechanism, a question, or makes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from privproof.capabilities import other_suffixes
from privproof.errors import QuestionError
from privproof.formats import read_question
from privproof.formats.python_files import SUFFIXES, read_input
from privproof.language.inputs import Input
from privproof.loading.file_targets import split_target
from privproof.models import Horizon
from privproof.scenarios import AnyQuestion

if TYPE_CHECKING:
    from privproof.language.mechanism import Relation


def load(
    target: str,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    parameters: Mapping[str, object] | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    run: bool = False,
) -> AnyQuestion:
    """The question that ``FILE[:NAME]`` stands for.

    For a model file NAME is the name of one of its pairs; for a Python file it is a `Question` or a function that returns one
    (called with ``size`` if it takes one), or a mechanism.
    """
    path, name = split_target(target)
    if path.suffix in SUFFIXES:
        from privproof.loading.function_loading import load_function  # here, because model files need none of it

        return load_function(
            path,
            name,
            size=size,
            horizon=horizon,
            parameters=parameters or {},
            inputs=inputs or {},
            neighbours=neighbours,
            run=run,
        )
    refuse_parameters(parameters)
    if path.suffix.lower() in other_suffixes():
        raise QuestionError(
            "question",
            "a model of this form is asked about by formulas",
            place=str(path),
            hint=f"privproof logic {path} 'D[ln(2), 0](F done)'",
        )
    question: AnyQuestion = read_question(path)
    if size is not None:
        raise QuestionError("size", "a model file has the size it has", place="--size", hint="drop --size")
    question = question if horizon is None else question.lasting(horizon, place="--horizon")
    return question if name is None else question.only(name, place=target)


def inputs_of(texts: Sequence[str] | None) -> dict[str, Input]:
    """The inputs that ``--input`` declares."""
    return dict(read_input(text) for text in texts or ())


def refuse_parameters(parameters: Mapping[str, object] | None) -> None:
    """Complain about parameters of what has none."""
    if parameters:
        raise QuestionError("parameter", "only a mechanism has parameters", place="--set", hint="drop --set")
