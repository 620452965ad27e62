"""From ``FILE[:NAME]`` to a question: a model file, or a Python file whose NAME is a mechanism, a question, or makes one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from privproof.capabilities import held_as, other_suffixes
from privproof.compiling.posing import mechanism_of_function, mechanism_with, pose_question
from privproof.errors import QuestionError, nearest
from privproof.exact import fraction
from privproof.formats import read_question
from privproof.formats.python_files import (
    STANDARD_INPUT,
    STANDARD_INPUT_FILE,
    SUFFIXES,
    module_path,
    read_input,
    run_file,
    running,
)
from privproof.language import Mechanism
from privproof.language.inputs import Input
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
        found, name = found_in(path, name)
        found = _declared(found, path, inputs or {})
        if isinstance(found, Mechanism):
            return _posed(found, path, size, horizon, parameters or {}, neighbours, run=run)
        _no_parameters(parameters)
        made = _made(found, path, name, size)
        return made if horizon is None else made.lasting(horizon, place="--horizon")
    _no_parameters(parameters)
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
    if isinstance(_calibrated(found), AnyQuestion) or held_as(found) == "model":
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


def settings_of(texts: Sequence[str] | None) -> dict[str, str]:
    """The names that ``--set`` sets, with their values as written."""
    result = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise QuestionError("parameter", f"{text!r} sets nothing", place="--set", hint="--set N=3")
        result[name] = value
    return result


def inputs_of(texts: Sequence[str] | None) -> dict[str, Input]:
    """The inputs that ``--input`` declares."""
    return dict(read_input(text) for text in texts or ())


def parameters_of(texts: Sequence[str] | None) -> dict[str, object]:
    """The parameters that ``--set`` sets: whole numbers, truth values, exact fractions, or texts."""
    return {name: parameter_of(value) for name, value in settings_of(texts).items()}


def parameter_of(value: str) -> object:
    """The value of a parameter, as it is written."""
    if value in ("True", "False"):
        return value == "True"
    if re.fullmatch(r"[+-]?[0-9]+", value):
        return int(value)
    if re.fullmatch(r"[+-]?[0-9]+/[0-9]+|[+-]?[0-9]*\.[0-9]+", value):
        return fraction(value)
    return value


def split_target(target: str) -> tuple[Path, str | None]:
    """The file of a target, and the name in it."""
    if target == STANDARD_INPUT or target.startswith(f"{STANDARD_INPUT}:"):
        return STANDARD_INPUT_FILE, target.partition(":")[2] or None
    if Path(target).exists():
        return Path(target), None
    head, colon, name = target.rpartition(":")
    if colon and head and Path(head).exists():
        return Path(head), name
    module = module_path(head if colon and head else target)
    if module is not None:
        return module, name if colon and head else None
    return (Path(head), name) if colon and head and Path(head).suffix else (Path(target), None)


def _no_parameters(parameters: Mapping[str, object] | None) -> None:
    if parameters:
        raise QuestionError("parameter", "only a mechanism has parameters", place="--set", hint="drop --set")


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
    with running(path, str(path)):
        changed = mechanism.having(**parameters) if parameters else mechanism
        return pose_question(changed, size=size, horizon=horizon, neighbours=neighbours, run=run)


def found_in(path: Path, name: str | None) -> tuple[Any, str]:
    """What a Python file holds under a name; without one, its only question or mechanism."""
    module = run_file(path)
    if name is None:
        questions = {
            n: v
            for n, v in vars(module).items()
            if _own(v, module) and not inspect.isfunction(v) and not n.startswith("_")
        }
        if len(questions) != 1:
            named = "privproof check -- -:NAME" if path == STANDARD_INPUT_FILE else f"{path}:NAME"
            raise QuestionError(
                "name", f"which mechanism of {path}?", place=str(path), hint=f"{named}; found: {_listed(module)}"
            )
        name = next(iter(questions))
    first, *rest = name.split(".")
    if not hasattr(module, first):
        hint = f"{nearest(first, _candidates(module))} found: {_listed(module)}".lstrip()
        raise QuestionError("name", f"{path} has no {first!r}", place=str(path), hint=hint)
    found = getattr(module, first)
    for part in rest:
        if not hasattr(found, part):
            raise QuestionError("name", f"{first!r} has no {part!r}", place=str(path), hint=f"{path}:{first}")
        found = getattr(_instance(found, part, path), part)
    return found, name


def _listed(module: ModuleType) -> str:
    return ", ".join(_candidates(module)) or "none"


def _instance(found: Any, method: str, path: Path) -> Any:
    """An object of a class, if a method of it is asked about that needs one."""
    if not isinstance(found, type) or isinstance(inspect.getattr_static(found, method), staticmethod | classmethod):
        return found
    with running(path, f"{path}:{found.__name__}"):
        try:
            return found()
        except TypeError as error:
            raise QuestionError(
                "name",
                f"{found.__name__}.{method} belongs to an object, and {found.__name__}() fails: {error}",
                place=str(path),
                hint=f"NAME = {found.__name__}(...) in the file, and {path}:NAME.{method}",
            ) from None


def _declared(found: Any, path: Path, inputs: Mapping[str, Input]) -> Any:
    """A function whose parameters are declared as inputs is a mechanism, with or without a mark."""
    if inputs:
        with running(path, str(path)):
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
    with running(path, str(path)):
        return mechanism_of_function(found)


def _made(found: Any, path: Path, name: str, size: int | None) -> AnyQuestion:
    found = _calibrated(found)
    if callable(found):
        return _called(found, path, name, size)
    if not isinstance(found, AnyQuestion):
        raise QuestionError("name", f"{name!r} is a {type(found).__name__}, not a question", place=str(path))
    if size is not None:
        raise QuestionError("size", f"{name!r} has the size it has", place="--size", hint="drop --size")
    return found


def _calibrated(found: Any) -> Any:
    """The question about a calibrated release, or what was found itself."""
    question = getattr(found, "question", None)
    return question if isinstance(question, AnyQuestion) and not inspect.ismodule(found) else found


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
    with running(path, place):
        made = maker(size=size) if size is not None else maker()
    made = _calibrated(made)
    if not isinstance(made, AnyQuestion):
        raise QuestionError("name", f"it returned a {type(made).__name__}, not a question", place=place)
    return made


def _candidates(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if _own(value, module) and not name.startswith("_")]


def _own(value: object, module: ModuleType) -> bool:
    """Whether a file itself defines something that may be asked about."""
    if isinstance(value, Mechanism) or inspect.isfunction(value):
        return value.__module__ == module.__name__
    return isinstance(_calibrated(value), AnyQuestion) or held_as(value) == "model"
