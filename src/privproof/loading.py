"""From ``FILE[:NAME]`` to a question: a model file, or a Python file whose NAME is a mechanism, a question, or makes one."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from privproof.compiling import mechanism_process
from privproof.compiling.posing import pose_question
from privproof.engines.sampling.runnable import Runnable
from privproof.errors import FormatError, PrivproofError, QuestionError
from privproof.exact import fraction
from privproof.formats import read_document, read_question
from privproof.formats.documents import Scalar
from privproof.formats.prior_files import read_prior
from privproof.formats.processes import OURS, PRISM, has_enclosures, read_process, related
from privproof.language import Mechanism, mechanism
from privproof.language.inputs import Input
from privproof.models import DecisionProcess, Horizon
from privproof.scenarios import (
    AnyQuestion,
    Band,
    Chain,
)

LOADED_AS = "privproof_input_"
"""What the names of modules begin with that are loaded by the path of their file."""


def load(
    target: str,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    parameters: Mapping[str, object] | None = None,
) -> AnyQuestion:
    """The question that ``FILE[:NAME]`` stands for.

    For a model file NAME is the name of one of its pairs; for a Python file it is a `Question` or a function that returns one
    (called with ``size`` if it takes one), or a mechanism.
    """
    path, name = _split(target)
    if path.suffix == ".py":
        found, name = _found(path, name)
        found = _declared(found, path)
        if isinstance(found, Mechanism):
            return _posed(found, path, size, horizon, parameters or {})
        _no_parameters(parameters)
        made = _made(found, path, name, size)
        return made if horizon is None else made.lasting(horizon, place="--horizon")
    _no_parameters(parameters)
    if path.suffix.lower() in (*PRISM, ".drn"):
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
    path, name = _split(target)
    if path.suffix != ".py":
        raise QuestionError(
            "subject",
            "an audit runs Python; a model file is decided exactly",
            place=target,
            hint=f"privproof check {path}, privproof epsilon {path}",
        )
    if name is None:
        module = _run(path)
        own = {n: v for n, v in vars(module).items() if not n.startswith("_") and _runs(v, module)}
        chosen = {n: v for n, v in own.items() if not inspect.isfunction(v)} or own
        if len(chosen) != 1:
            listed = ", ".join(own) or "none"
            raise QuestionError(
                "name", f"which mechanism of {path}?", place=str(path), hint=f"{path}:NAME; found: {listed}"
            )
        return next(iter(chosen.values()))
    first, *rest = name.split(".")
    found, _ = _found(path, first)
    for part in rest:
        if not hasattr(found, part):
            raise QuestionError("name", f"{first!r} has no {part!r}", place=str(path), hint=f"{path}:{first}")
        found = getattr(found, part)
    if isinstance(_calibrated(found), AnyQuestion | DecisionProcess):
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
    return isinstance(value, Runnable)


def load_priors(target: str) -> tuple[Chain, ...] | tuple[Band, ...]:
    """The class of priors that ``FILE[:NAME]`` stands for: a file of kind prior, or chains or a band in a Python file."""
    path, name = _split(target)
    if path.suffix != ".py":
        if name is not None:
            raise QuestionError("name", "a file holds one class of priors", place=target, hint=str(path))
        return read_prior(path)
    found, name = _found(path, name)
    with _running(path, f"{path}:{name}"):
        made = found() if callable(found) else found
    listed = (made,) if isinstance(made, Chain | Band) else made
    if isinstance(listed, list | tuple) and listed:
        if all(isinstance(one, Chain) for one in listed):
            return tuple(listed)
        if len(listed) == 1 and isinstance(listed[0], Band):
            return (listed[0],)
    raise QuestionError(
        "name", f"{name!r} is a {type(made).__name__}, no prior", place=str(path), hint="release.Chain.of(...)"
    )


def load_process(
    target: str,
    *,
    neighbours: str | None = None,
    size: int | None = None,
    horizon: Horizon | None = None,
    settings: Mapping[str, str] | None = None,
    self_loops: bool = False,
) -> DecisionProcess:
    """The labelled Markov chain or decision process that ``FILE[:NAME]`` stands for.

    A Python file holds a process, a function that returns one, or a mechanism, which is made into a chain.
    """
    path, name = _split(target)
    settings = settings or {}
    if path.suffix != ".py":
        if name is not None:
            raise QuestionError("name", "a model file holds one model", place=target, hint=str(path))
        if size is not None or horizon is not None:
            raise QuestionError("size", "a model file has the size it has", place=target, hint="drop --size, --horizon")
        return read_process(path, neighbours=neighbours, constants=settings, self_loops=self_loops)
    found, name = _found(path, name)
    with _running(path, f"{path}:{name}"):
        if isinstance(found, Mechanism):
            parameters = {name: _parameter(value) for name, value in settings.items()}
            changed = found.having(**parameters) if parameters else found
            process = mechanism_process(changed, size=size, horizon=horizon)
        else:
            process = found() if callable(found) else found
    if not isinstance(process, DecisionProcess):
        raise QuestionError(
            "name",
            f"{name!r} is a {type(process).__name__}, not a mechanism or a process",
            place=str(path),
            hint="a @mechanism, a DecisionProcess, or a function that returns one",
        )
    return process if neighbours is None else related(process, neighbours)


def is_process(target: str, out: Path) -> bool:
    """Whether a conversion is between forms of labelled chains and decision processes."""
    path, name = _split(target)
    if path.suffix == ".py":
        found, _ = _found(path, name)
        return isinstance(found, DecisionProcess) or out.suffix.lower() in (*PRISM, ".drn")
    both = {path.suffix.lower(), out.suffix.lower()}
    if both & {*PRISM, ".drn"}:
        return True
    if path.suffix.lower() not in OURS:
        return False
    document = read_document(path)
    return document.get(Scalar("kind")) == "mdp" or has_enclosures(document)


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
    return {name: _parameter(value) for name, value in settings_of(texts).items()}


def _parameter(value: str) -> object:
    if value in ("True", "False"):
        return value == "True"
    if re.fullmatch(r"[+-]?[0-9]+", value):
        return int(value)
    if re.fullmatch(r"[+-]?[0-9]+/[0-9]+|[+-]?[0-9]*\.[0-9]+", value):
        return fraction(value)
    return value


def _split(target: str) -> tuple[Path, str | None]:
    if Path(target).exists():
        return Path(target), None
    head, colon, name = target.rpartition(":")
    if colon and head and Path(head).exists():
        return Path(head), name
    return (Path(head), name) if colon and head and Path(head).suffix else (Path(target), None)


def _no_parameters(parameters: Mapping[str, object] | None) -> None:
    if parameters:
        raise QuestionError("parameter", "only a mechanism has parameters", place="--set", hint="drop --set")


def _posed(
    mechanism: Mechanism, path: Path, size: int | None, horizon: Horizon | None, parameters: Mapping[str, object]
) -> AnyQuestion:
    with _running(path, str(path)):
        changed = mechanism.having(**parameters) if parameters else mechanism
        return pose_question(changed, size=size, horizon=horizon)


def _found(path: Path, name: str | None) -> tuple[Any, str]:
    """What a Python file holds under a name; without one, its only question or mechanism."""
    module = _run(path)
    if name is None:
        questions = {
            n: v
            for n, v in vars(module).items()
            if _own(v, module) and not inspect.isfunction(v) and not n.startswith("_")
        }
        if len(questions) != 1:
            listed = ", ".join(_candidates(module)) or "none"
            raise QuestionError(
                "name", f"which mechanism of {path}?", place=str(path), hint=f"{path}:NAME; found: {listed}"
            )
        name = next(iter(questions))
    elif not hasattr(module, name):
        listed = ", ".join(_candidates(module)) or "none"
        raise QuestionError("name", f"{path} has no {name!r}", place=str(path), hint=f"found: {listed}")
    return getattr(module, name), name


def _declared(found: Any, path: Path) -> Any:
    """A function whose parameters are declared as inputs is a mechanism, with or without a mark."""
    if not isinstance(found, FunctionType):
        return found
    try:
        declared = inspect.get_annotations(found, eval_str=True).values()
    except Exception:  # an annotation that cannot be read declares nothing
        return found
    if not any(isinstance(each, Input) for each in declared):
        return found
    with _running(path, str(path)):
        return mechanism(found)


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
    if size is None and missing:
        hint = "give --size N" if missing == ["size"] else "give its parameters defaults"
        raise QuestionError("size", f"it needs {', '.join(missing)}", place=place, hint=hint)
    with _running(path, place):
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
    return isinstance(_calibrated(value), AnyQuestion | DecisionProcess | Chain | Band)


class _FromText(SourceFileLoader):
    """Compiles the file's own text; a ``.pyc`` beside it, which may be of another text, is neither read nor written."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise FormatError("file", "there is no such file", place=str(path))
    name = f"{LOADED_AS}{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path, loader=_FromText(name, str(path.absolute())))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses look for their module there
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        with _running(path, str(path)):
            specification.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


@contextmanager
def _running(path: Path, place: str) -> Iterator[None]:
    """Whatever goes wrong in a user's file is one message with the line."""
    try:
        yield
    except PrivproofError as error:
        raise (error if path.name in error.place else error.at(place)) from None
    except MemoryError:
        raise
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: nothing in a file may end the program
        message = f"{type(error).__name__}: {error}".removesuffix(": ")
        at = f"{path}{_line(error, path)}"
        inside = f"{place}: {at}" if place != str(path) else at
        raise FormatError("python", message, place=inside, hint="run the file with Python") from None


def _line(error: BaseException, path: Path) -> str:
    """The last line of the file that took part in the error, as ``:12``."""
    if isinstance(error, SyntaxError) and error.lineno and error.filename:
        frames: list[tuple[str, int | None]] = [(error.filename, error.lineno)]
    else:
        frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    lines = [line for name, line in frames if line and Path(name).resolve() == path.resolve()]
    return f":{lines[-1]}" if lines else ""
