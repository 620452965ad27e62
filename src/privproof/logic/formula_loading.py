"""From ``FILE[:NAME]`` and a text to a process, and to the formulas that are asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from privproof.capabilities import held_as
from privproof.errors import FormulaError, PrivproofError, QuestionError
from privproof.formats import read_document
from privproof.formats.document_nodes import AS_PRISM, JANI, OURS, PRISM, PROPERTIES, Scalar, file_text
from privproof.formats.python_files import SUFFIXES, report_user_errors
from privproof.loading.file_targets import found_in, parameter_of, split_target
from privproof.logic.decision_process import DecisionProcess
from privproof.models import Horizon

if TYPE_CHECKING:
    from privproof.logic.formulas import WrittenFormula
    from privproof.logic.prism.prism_properties import Aggregate, Property
    from privproof.logic.prism.property_files import PropertyFile


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
    from privproof.logic.formats.process_files import read_process, relate_states

    path, name = split_target(target)
    settings = settings or {}
    if path.suffix not in SUFFIXES:
        if name is not None:
            raise QuestionError("name", "a model file holds one model", place=target, hint=str(path))
        if size is not None or horizon is not None:
            raise QuestionError("size", "a model file has the size it has", place=target, hint="drop --size, --horizon")
        return read_process(path, neighbours=neighbours, constants=settings, self_loops=self_loops, rounded=rounded)
    found, name = found_in(path, name)
    with report_user_errors(path, f"{path}:{name}"):
        if held_as(found) == "mechanism":
            from privproof.logic.mechanism_process import mechanism_process  # here, because models need none of it

            parameters = {name: parameter_of(value) for name, value in settings.items()}
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
    return process if neighbours is None else relate_states(process, neighbours)


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
    from privproof.logic.formats.process_files import read_prism_model
    from privproof.logic.formulas import read_formula

    path, name = split_target(target)
    file = None
    if Path(asked).is_file() and Path(asked).suffix.lower() in (*PROPERTIES, JANI):
        from privproof.logic.prism.property_files import read_properties

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
        from privproof.logic.prism.prism_model import words_of  # here and below: a formula of our own needs none of it
        from privproof.logic.prism.prism_properties import read_property
        from privproof.logic.prism.prism_tokens import PrismSource

        return [_asked_of(read_property(words_of(process, PrismSource("formula", asked)), asked))]
    from privproof.logic.prism.prism_properties import read_property

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
    from privproof.logic.formats.jani_files import jani_as_prism
    from privproof.logic.prism.prism_tokens import PrismSource
    from privproof.logic.prism.property_files import PropertyFile, WrittenProperty

    told = jani_as_prism(file_text(path), name=path)[1]
    listed = tuple(
        WrittenProperty(name, text, number) if isinstance(text, str) else WrittenProperty(name, "", number, text)
        for number, (name, text) in enumerate(told.items(), 1)
    )
    return PropertyFile(PrismSource(path, ""), {}, {}, listed)


def _asked_of(found: Property) -> AskedFormula:
    from privproof.logic.prism.computed_values import Computed

    process = found.model.process
    if isinstance(found.written, Computed):
        return AskedFormula(process, found)
    states = None if found.states is None else tuple(process.names[s] for s in found.states)
    return AskedFormula(process, found.written, states, found.aggregate)


def is_process(target: str, out: Path) -> bool:
    """Whether a conversion is between forms of labelled chains and decision processes."""
    path, name = split_target(target)
    if path.suffix in SUFFIXES:
        found, _ = found_in(path, name)
        return isinstance(found, DecisionProcess) or out.suffix.lower() in (*PRISM, ".drn")
    both = {path.suffix.lower(), out.suffix.lower()}
    if both & {*AS_PRISM, ".drn"}:
        return True
    if path.suffix.lower() not in OURS:
        return False
    from privproof.logic.formats.process_files import has_enclosures

    document = read_document(path)
    return document.get(Scalar("kind")) == "mdp" or has_enclosures(document)
