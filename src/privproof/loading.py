"""From ``FILE[:NAME]`` to a question: a model file, or a Python file whose NAME is a mechanism, a question, or makes one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from privproof.compiling import mechanism_process
from privproof.compiling.posing import bare, mechanism_with, pose_question
from privproof.engines.sampling.runnable import Runnable
from privproof.errors import FormulaError, PrivproofError, QuestionError, nearest
from privproof.exact import fraction
from privproof.formats import read_document, read_question
from privproof.formats.documents import AS_PRISM, OURS, PRISM, Scalar, file_text
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
from privproof.language.mechanism import Relation
from privproof.models import DecisionProcess, Horizon
from privproof.scenarios import (
    AnyQuestion,
    Band,
    Chain,
)
from privproof.scenarios.gaussian_chains import GaussianChain
from privproof.scenarios.hidden import Hidden
from privproof.scenarios.networks import Network
from privproof.scenarios.releases import Prior

if TYPE_CHECKING:
    from privproof.formats.prism.properties import Aggregate, Property
    from privproof.formats.prism.property_files import PropertyFile
    from privproof.formulas import WrittenFormula


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
    path, name = _split(target)
    if path.suffix in SUFFIXES:
        found, name = _found(path, name)
        found = _declared(found, path, inputs or {})
        if isinstance(found, Mechanism):
            return _posed(found, path, size, horizon, parameters or {}, neighbours, run=run)
        _no_parameters(parameters)
        made = _made(found, path, name, size)
        return made if horizon is None else made.lasting(horizon, place="--horizon")
    _no_parameters(parameters)
    if path.suffix.lower() in (*AS_PRISM, ".drn"):
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
    found, _ = _found(path, name)
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


def load_priors(target: str) -> tuple[Prior, ...]:
    """The class of priors that ``FILE[:NAME]`` stands for: a file of kind prior, or chains, a band or networks in a Python file."""
    path, name = _split(target)
    if path.suffix not in SUFFIXES:
        if name is not None:
            raise QuestionError("name", "a file holds one class of priors", place=target, hint=str(path))
        from privproof.formats.prior_files import read_prior  # here and below: what mechanisms do not need

        return read_prior(path)
    found, name = _found(path, name)
    with running(path, f"{path}:{name}"):
        made = found() if callable(found) else found
    listed = (made,) if isinstance(made, Prior) else made
    if isinstance(listed, list | tuple) and listed:
        if all(isinstance(one, Chain | Hidden) for one in listed) or all(isinstance(one, Network) for one in listed):
            return tuple(listed)
        if len(listed) == 1 and isinstance(listed[0], Band | GaussianChain):
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
    rounded: bool = False,
) -> DecisionProcess:
    """The labelled Markov chain or decision process that ``FILE[:NAME]`` stands for.

    A Python file holds a process, a function that returns one, or a mechanism, which is made into a chain.
    """
    from privproof.formats.processes import read_process, related

    path, name = _split(target)
    settings = settings or {}
    if path.suffix not in SUFFIXES:
        if name is not None:
            raise QuestionError("name", "a model file holds one model", place=target, hint=str(path))
        if size is not None or horizon is not None:
            raise QuestionError("size", "a model file has the size it has", place=target, hint="drop --size, --horizon")
        return read_process(path, neighbours=neighbours, constants=settings, self_loops=self_loops, rounded=rounded)
    found, name = _found(path, name)
    with running(path, f"{path}:{name}"):
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


@dataclass(frozen=True)
class AskedFormula:
    """A formula, and what it is asked of.

    Attributes:
        process: the process.
        written: the formula with its text, or what is computed from several; of a property that cannot be asked, the complaint about it.
        states: the states that it is about, where it says so itself.
        aggregate: what a filter makes of the values there.
        name: what a file of properties calls it: its name, or its line.
    """

    process: DecisionProcess
    written: WrittenFormula | Property | PrivproofError
    states: tuple[str, ...] | None = None
    aggregate: Aggregate | None = None
    name: str = ""


def load_formulas(
    target: str,
    asked: str,
    *,
    only: str | None = None,
    neighbours: str | None = None,
    size: int | None = None,
    horizon: Horizon | None = None,
    settings: Mapping[str, str] | None = None,
    self_loops: bool = False,
    rounded: bool = False,
) -> list[AskedFormula]:
    """The formulas that a text is, or a file of properties holds, and the process they are asked of.

    Of a PRISM model a formula may ask in the model's own words.

    Args:
        target: the model, as for `load_process`.
        asked: a formula, or the name of a file of properties, which a JANI model is, too.
        only: of a file, the property of this name, or on this line.
        neighbours: the neighbour relation, instead of the model's.
        size: of a mechanism, the length of its lists.
        horizon: of a mechanism, how many values of a stream are read.
        settings: values for constants of the model or the file, or for parameters.
        self_loops: let a state without a transition stay where it is.
        rounded: of a DRN file, divide rows that miss the sum 1 by rounding by their sum.
    """
    from privproof.formats.jani import SUFFIX as JANI
    from privproof.formats.prism.models import words_of
    from privproof.formats.prism.properties import read_property
    from privproof.formats.prism.property_files import SUFFIXES as PROPERTIES
    from privproof.formats.prism.property_files import read_properties
    from privproof.formats.prism.tokens import Source
    from privproof.formats.processes import read_prism_model
    from privproof.formulas import read_formula

    path, name = _split(target)
    file = None
    if Path(asked).is_file() and Path(asked).suffix.lower() in (*PROPERTIES, JANI):
        file = _jani_properties(asked) if Path(asked).suffix.lower() == JANI else read_properties(asked)
    if only is not None and file is None:
        raise QuestionError("property", "only a file of properties has several", place="--property", hint="model.props")
    if path.suffix.lower() not in AS_PRISM or name is not None:
        if file is not None:
            raise QuestionError("property", f"{target} is no PRISM model", place=asked, hint="give a formula")
        try:
            written: WrittenFormula | None = read_formula(asked)
        except FormulaError:
            if "=?" not in asked:  # a wrong formula is told before a large model is read
                raise
            written = None
        process = load_process(
            target,
            neighbours=neighbours,
            size=size,
            horizon=horizon,
            settings=settings,
            self_loops=self_loops,
            rounded=rounded,
        )
        if written is not None:
            return [AskedFormula(process, written)]
        return [_asked_of(read_property(words_of(process, Source("formula", asked)), asked))]
    own = {} if file is None else {name: value for name, value in (settings or {}).items() if name in file.constants}
    rest = {name: value for name, value in (settings or {}).items() if name not in own}
    if size is not None or horizon is not None:
        raise QuestionError("size", "a model file has the size it has", place=target, hint="drop --size, --horizon")
    if rounded:
        raise QuestionError(
            "parameter", f"{target} has exact numbers: only DRN files may be rounded", place="--rounded"
        )
    model = read_prism_model(path, neighbours=neighbours, constants=rest, self_loops=self_loops)
    if file is None:
        return [_asked_of(read_property(model, asked))]
    model = file.on(model, own)
    chosen = [one for one in file.properties if only in (None, one.name, str(one.line))]
    if not chosen:
        names = ", ".join(one.name or str(one.line) for one in file.properties)
        raise QuestionError(
            "property", f"no property is called {only!r}", place=asked, hint=names or "the file has none"
        )
    result = []
    for one in chosen:
        called = one.name or f"line {one.line}"
        if one.problem is not None:
            result.append(AskedFormula(model.process, one.problem, name=called))
            continue
        try:
            result.append(replace(_asked_of(read_property(model, one.text, file.named)), name=called))
        except PrivproofError as problem:
            result.append(AskedFormula(model.process, problem, name=called))
    return result


def _jani_properties(path: str) -> PropertyFile:
    """The properties in a JANI file, numbered in order."""
    from privproof.formats.jani import jani_as_prism
    from privproof.formats.prism.property_files import PropertyFile, WrittenProperty
    from privproof.formats.prism.tokens import Source

    told = jani_as_prism(file_text(path), name=path)[1]
    listed = tuple(
        WrittenProperty(name, text, number) if isinstance(text, str) else WrittenProperty(name, "", number, text)
        for number, (name, text) in enumerate(told.items(), 1)
    )
    return PropertyFile(Source(path, ""), {}, {}, listed)


def _asked_of(found: Property) -> AskedFormula:
    from privproof.formats.prism.computed import Computed

    process = found.model.process
    if isinstance(found.written, Computed):
        return AskedFormula(process, found)
    states = None if found.states is None else tuple(process.names[s] for s in found.states)
    return AskedFormula(process, found.written, states, found.aggregate)


def is_process(target: str, out: Path) -> bool:
    """Whether a conversion is between forms of labelled chains and decision processes."""
    path, name = _split(target)
    if path.suffix in SUFFIXES:
        found, _ = _found(path, name)
        return isinstance(found, DecisionProcess) or out.suffix.lower() in (*PRISM, ".drn")
    both = {path.suffix.lower(), out.suffix.lower()}
    if both & {*AS_PRISM, ".drn"}:
        return True
    if path.suffix.lower() not in OURS:
        return False
    from privproof.formats.processes import has_enclosures

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


def inputs_of(texts: Sequence[str] | None) -> dict[str, Input]:
    """The inputs that ``--input`` declares."""
    return dict(read_input(text) for text in texts or ())


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


def _found(path: Path, name: str | None) -> tuple[Any, str]:
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
            return mechanism_with(found, inputs) if isinstance(found, Mechanism) else bare(found, inputs)
    if not isinstance(found, FunctionType):
        return found
    try:
        declared = inspect.get_annotations(found, eval_str=True).values()
    except Exception:  # an annotation that cannot be read declares nothing
        return found
    if not any(isinstance(each, Input) for each in declared):
        return found
    with running(path, str(path)):
        return bare(found)


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
    return isinstance(_calibrated(value), AnyQuestion | DecisionProcess | Prior)
