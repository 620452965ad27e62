"""What ``FILE[:NAME]`` names: a file, and what it holds there; which values may be asked about is said by the capabilities."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from privproof.capabilities import held_as
from privproof.errors import QuestionError, nearest
from privproof.exact import fraction
from privproof.formats.python_files import (
    STANDARD_INPUT,
    STANDARD_INPUT_FILE,
    module_path,
    report_user_errors,
    run_file,
)
from privproof.scenarios.any_question import AnyQuestion


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


def settings_of(texts: Sequence[str] | None) -> dict[str, str]:
    """The names that ``--set`` sets, with their values as written."""
    result = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise QuestionError("parameter", f"{text!r} sets nothing", place="--set", hint="--set N=3")
        result[name] = value
    return result


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


def calibrated_question(found: Any) -> Any:
    """The question about a calibrated release, or what was found itself."""
    question = getattr(found, "question", None)
    return question if isinstance(question, AnyQuestion) and not inspect.ismodule(found) else found


def _listed(module: ModuleType) -> str:
    return ", ".join(_candidates(module)) or "none"


def _instance(found: Any, method: str, path: Path) -> Any:
    """An object of a class, if a method of it is asked about that needs one."""
    if not isinstance(found, type) or isinstance(inspect.getattr_static(found, method), staticmethod | classmethod):
        return found
    with report_user_errors(path, f"{path}:{found.__name__}"):
        try:
            return found()
        except TypeError as error:
            raise QuestionError(
                "name",
                f"{found.__name__}.{method} belongs to an object, and {found.__name__}() fails: {error}",
                place=str(path),
                hint=f"NAME = {found.__name__}(...) in the file, and {path}:NAME.{method}",
            ) from None


def _candidates(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if _own(value, module) and not name.startswith("_")]


def _own(value: Any, module: ModuleType) -> bool:
    """Whether a file itself defines something that may be asked about."""
    held = held_as(value)
    if held == "mechanism" or inspect.isfunction(value):
        return bool(value.__module__ == module.__name__)
    return isinstance(calibrated_question(value), AnyQuestion) or held == "model"
