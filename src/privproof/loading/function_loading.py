"""What a Python file holds under a name, as a question: a mechanism that poses one, a question itself, or a function that makes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from privproof.capabilities import held_as
from privproof.compiling.posing import mechanism_of_function, mechanism_with, pose_question
from privproof.errors import QuestionError
from privproof.formats.python_files import SUFFIXES, report_user_errors, run_file
from privproof.language import Mechanism
from privproof.language.inputs import Input
from privproof.loading.file_targets import calibrated_question, found_in, split_target
from privproof.loading.question_loading import refuse_parameters
from privproof.models import Horizon
from privproof.scenarios import AnyQuestion

if TYPE_CHECKING:
    from privproof.language.mechanism import Relation


def load_function(
    path: Path,
    name: str | None,
    *,
    size: int | None,
    horizon: Horizon | None,
    parameters: Mapping[str, object],
    inputs: Mapping[str, Input],
    neighbours: Relation | None,
    run: bool,
) -> AnyQuestion:
    """The question that a Python file's name stands for: a `Question`, a function that returns one, or a mechanism."""
    found, name = found_in(path, name)
    found = _declared(found, path, inputs)
    if isinstance(found, Mechanism):
        return _posed(found, path, size, horizon, parameters, neighbours, run=run)
    refuse_parameters(parameters)
    made = _made(found, path, name, size)
    return made if horizon is None else made.lasting(horizon, place="--horizon")


def load_subject(target: str) -> Any:
    """What ``FILE[:NAME]`` stands for, to be run: a mechanism, a function, or whatever else a Python file holds that can be audited."""
    path, name = split_target(target)
    if path.suffix not in SUFFIXES:
        raise QuestionError(
            "subject",
            "an audit runs Python; a model file is decided exactly",
            place=target,
            hint=f"privproof check {path}, privproof epsilon {path}",
        )
    if name is None:
        module = run_file(path)
        own = {n: v for n, v in vars(module).items() if not n.startswith("_") and _runs(v, module)}
        chosen = {n: v for n, v in own.items() if not inspect.isfunction(v)} or own
        if len(chosen) != 1:
            listed = ", ".join(own) or "none"
            raise QuestionError(
                "name", f"which mechanism of {path}?", place=str(path), hint=f"{path}:NAME; found: {listed}"
            )
        return next(iter(chosen.values()))
    found, _ = found_in(path, name)
    if isinstance(calibrated_question(found), AnyQuestion) or held_as(found) == "model":
        raise QuestionError(
            "subject",
            f"{name!r} is a question about a model, which is decided exactly",
            place=target,
            hint=f"privproof check {target}",
        )
    return found


def _runs(value: object, module: ModuleType) -> bool:
    """Whether a file itself defines something that may be run."""
    if isinstance(value, Mechanism) or inspect.isfunction(value):
        return value.__module__ == module.__name__
    return held_as(value) == "subject"


def _posed(
    mechanism: Mechanism,
    path: Path,
    size: int | None,
    horizon: Horizon | None,
    parameters: Mapping[str, object],
    neighbours: Relation | None,
    *,
    run: bool,
) -> AnyQuestion:
    with report_user_errors(path, str(path)):
        changed = mechanism.having(**parameters) if parameters else mechanism
        return pose_question(changed, size=size, horizon=horizon, neighbours=neighbours, run=run)


def _declared(found: Any, path: Path, inputs: Mapping[str, Input]) -> Any:
    """A function whose parameters are declared as inputs is a mechanism, with or without a mark."""
    if inputs:
        with report_user_errors(path, str(path)):
            return (
                mechanism_with(found, inputs) if isinstance(found, Mechanism) else mechanism_of_function(found, inputs)
            )
    if not isinstance(found, FunctionType):
        return found
    try:
        declared = inspect.get_annotations(found, eval_str=True).values()
    except Exception:  # an annotation that cannot be read declares nothing
        return found
    if not any(isinstance(each, Input) for each in declared):
        return found
    with report_user_errors(path, str(path)):
        return mechanism_of_function(found)


def _made(found: Any, path: Path, name: str, size: int | None) -> AnyQuestion:
    found = calibrated_question(found)
    if callable(found):
        return _called(found, path, name, size)
    if not isinstance(found, AnyQuestion):
        raise QuestionError("name", f"{name!r} is a {type(found).__name__}, not a question", place=str(path))
    if size is not None:
        raise QuestionError("size", f"{name!r} has the size it has", place="--size", hint="drop --size")
    return found


def _called(maker: Callable[..., object], path: Path, name: str, size: int | None) -> AnyQuestion:
    place = f"{path}:{name}"
    takes_size = "size" in inspect.signature(maker).parameters
    if size is not None and not takes_size:
        raise QuestionError("size", "the mechanism takes no size", place=place, hint="drop --size")
    missing = [
        p.name
        for p in inspect.signature(maker).parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    if missing and missing != ["size"]:
        raise QuestionError(
            "input",
            f"{name} is a function, and nothing says which data {missing[0]!r} may be",
            place=place,
            hint=f"--input '{missing[0]}=records(yes, no)', or in the file: def {name}({missing[0]}: records('yes', 'no'))",
        )
    if size is None and missing:
        raise QuestionError("size", f"it needs {', '.join(missing)}", place=place, hint="give --size N")
    with report_user_errors(path, place):
        made = maker(size=size) if size is not None else maker()
    made = calibrated_question(made)
    if not isinstance(made, AnyQuestion):
        raise QuestionError("name", f"it returned a {type(made).__name__}, not a question", place=place)
    return made
