"""The record of what would run and what was made of it, kept as long as the record is the same when it is made again.

A global that is rebound, a helper that is exchanged, a cell of a closure or a default that changes, a file that is edited: all of it is in
the record, so the next one who asks gets the new program, or the refusal that it deserves.  A question is about one program, so it
*pins* the record that it was asked about; when another program would run, there is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from privproof.errors import LanguageError
from privproof.language.arrays import SAME_LENGTH
from privproof.language.flow import Flow, flow
from privproof.language.inputs import Input
from privproof.language.reading import Translated, translate
from privproof.language.recording import Program
from privproof.language.resolving import Recorder


@dataclass(frozen=True)
class Kept:
    """A record of what would run, and what was made of it."""

    program: Program
    translated: Translated
    flow: Flow


def current_function(
    called: Any,
    kept: Kept | None,
    *,
    mechanisms: type,
    inputs: Mapping[str, Input],
    parameters: Mapping[str, Any],
    unknown: Iterable[str] = (),
) -> Kept:
    """What would run now: what is kept, if it still is that.

    Args:
        called: what is called: a mechanism, or a function.
        kept: what was made of it before, if anything.
        mechanisms: the class of mechanisms.
        inputs: the declared inputs.
        parameters: the parameters with their values.
        unknown: parameters without a value.

    Raises:
        LanguageError: the function is outside the language, or its source is not what would run.
    """
    if kept is not None:
        now = Recorder(mechanisms).again(called, kept.program, inputs, parameters)
        if now is not None and now.same(kept.program):
            return kept
    recorder = Recorder(mechanisms)
    shapes = {name: declared.shape for name, declared in inputs.items()}
    streams = [name for name, shape in shapes.items() if shape == "stream"]
    running = recorder.running(called)
    lists = [name for name, shape in shapes.items() if shape == "list"]
    fields = {name for declared in inputs.values() for name, _ in declared.fields}
    known = [*inputs, *(n for n, v in parameters.items() if type(v) is not FunctionType), *unknown]
    try:
        translated = translate(
            running,
            streams=streams,
            known=known,
            lists=lists,
            fields=fields,
            arrays=_arrays(inputs),
            values=dict(_listed(inputs)),
            runnable=all(declared.values is not None for declared in inputs.values()),
        )
    except RecursionError:
        place = str(running.read.place(running.read.definition))
        raise LanguageError(
            "size", "an expression is nested too deeply", place=place, hint="split it into statements"
        ) from None
    program = recorder.program(called, inputs, parameters)
    return Kept(program, translated, flow(translated.body, lists, given=(*inputs, *parameters, *unknown)))


def _listed(inputs: Mapping[str, Input]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """What the elements of lists may be, by the names of the lists, and what their fields may be, by both names with a point between."""
    for name, declared in inputs.items():
        if declared.shape == "list" and not declared.fields:
            yield name, declared.values or ()
        yield from ((f"{name}.{field}", each.values or ()) for field, each in declared.fields)


def _arrays(inputs: Mapping[str, Input]) -> dict[str, object]:
    """The inputs that are arrays of numpy, each with what its length is."""
    return {
        name: SAME_LENGTH if declared.size is None else declared.size
        for name, declared in inputs.items()
        if declared.array
    }


def unchanged_function(kept: Kept, program: Program | None, name: str) -> Kept:
    """What would run now, if it is the program that a question was asked about.

    Raises:
        LanguageError: it is another one.
    """
    if program is None or kept.program.same(program):
        return kept
    raise LanguageError(
        "changed",
        f"{name} has changed since the question was asked: {kept.program.change(program)}",
        place=f"{kept.program.functions[0].file}:{kept.program.functions[0].line}",
        hint="ask again, and let nothing change while a question is answered",
    )
