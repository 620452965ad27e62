"""Anything that can be run many times on the same inputs, and what is claimed about it.

A mechanism of the language, a plain Python function, an object that can be called, a measurement of OpenDP and a mechanism of
diffprivlib all become one thing: a way to draw independent runs, the declared inputs, the relation that says which data sets are
neighbours, and the claimed budget.  Only the first can also be proved; of the others nothing is known but what they return.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from privproof.audits.sampling.function_calls import Draw, FunctionCalls, as_floats, repeats
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.program_lanes import prepare_mechanism, sample
from privproof.errors import BudgetError, LanguageError, PrivproofError
from privproof.exact import Budget, EpsilonLike, Number
from privproof.language.inputs import ADD_REMOVE, NORMS, RELATIONS, Input, as_given
from privproof.language.mechanism import Mechanism, Relation

Declared: TypeAlias = Mapping[str, Input] | Input
"""Inputs by name, or the only one."""


@dataclass(frozen=True, eq=False)
class Runnable:
    """Anything that can be run many times on the same inputs.

    Attributes:
        name: its name.
        draw: makes independent runs: of the arguments by name, their number, and a seed.
        inputs: its declared inputs; none where only pairs of data sets that the user names can be compared.
        relation: ``each``, ``one``, ``monotone``, ``add-remove`` (one record more or less), or a function of two data sets.
        claim: the claimed epsilon and delta.
        mechanism: the mechanism that the exact engines can be asked about, with these inputs and this relation.
        repeatable: whether the same seed gives the same runs, as far as is known; `is_repeatable` tries it.
        notes: what a reader of the result should know.
        first: the name of its first argument.
    """

    name: str
    draw: Draw
    inputs: Mapping[str, Input] = field(default_factory=dict)
    relation: Relation = "each"
    claim: Budget | None = None
    mechanism: Mechanism | None = None
    repeatable: bool = True
    notes: tuple[str, ...] = ()
    first: str = "value"

    def __repr__(self) -> str:
        return f"<runnable {self.name}>"


def runnable(
    subject: Any,
    *,
    inputs: Declared | None = None,
    neighbours: Relation | None = None,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    name: str | None = None,
    batched: bool = False,
    rng: str | None = None,
    processes: int = 1,
    d_in: Number = 1,
) -> Runnable:
    """The subject as something that can be run many times.

    A real input is passed as a float; a list is passed as a fresh list in every call.

    Args:
        subject: a mechanism, a function, an object that can be called, a measurement of OpenDP, a mechanism of diffprivlib.
        inputs: what it reads, by name; or the only input.  Without it, what the annotations of a function declare.
        neighbours: ``each``, ``one``, ``monotone``, ``add-remove``, or a function of two data sets.
        epsilon: the claim.
        delta: its delta.
        name: its name.
        batched: a callable makes ``count=`` runs in one call and returns as many outputs.
        rng: the keyword under which a callable wants a numpy generator.
        processes: how many processes share the calls of a callable.
        d_in: the distance of neighbouring inputs of a measurement of OpenDP.

    >>> from privproof.language import integer
    >>> def noisy(x: integer(0, 5), rng):
    ...     return x + int(rng.integers(-1, 2))
    >>> run = runnable(noisy, rng="rng", epsilon="ln(2)")
    >>> run, dict(run.inputs), run.relation, str(run.claim)
    (<runnable noisy>, {'x': integer(0, 5)}, 'each', 'ln(2)')
    >>> sorted(run.draw({"x": 3}, 1000, 0).counts())
    ['2', '3', '4']

    Raises:
        LanguageError: it cannot be run, or what is said about it does not fit.
    """
    library = _library(subject)
    if epsilon is None and delta != 0 and library != "opendp":
        raise LanguageError("budget", "a delta without an epsilon", place=f"delta={delta}", hint='epsilon="ln(2)"')
    claim = None if epsilon is None else Budget.of(epsilon, delta)
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise LanguageError("processes", f"processes={processes!r} is no number of processes", hint="processes=2")
    if library is not None or isinstance(subject, Runnable | Mechanism):
        _only_for_callables(subject, batched=batched, rng=rng)
    if isinstance(subject, Runnable):
        return _change_runnable(subject, inputs, neighbours, claim, name)
    if isinstance(subject, Mechanism):
        return _change_runnable(_of_mechanism(subject), inputs, neighbours, claim, name)
    if library is not None:
        from privproof.audits.sampling import library_calls as libraries

        if library == "opendp":
            return libraries.from_opendp(
                subject,
                inputs=inputs,
                neighbours=neighbours,
                epsilon=epsilon,
                delta=delta,
                name=name,
                d_in=d_in,
                processes=processes,
            )
        return libraries.from_diffprivlib(
            subject,
            inputs=inputs,
            neighbours=neighbours,
            epsilon=epsilon,
            delta=delta,
            name=name,
            processes=processes,
        )
    if inspect.iscoroutinefunction(subject):
        said = f"{subject.__name__} is asynchronous"
        raise LanguageError("subject", said, place="audit", hint="a function that runs it: asyncio.run(...)")
    if not callable(subject) or isinstance(subject, type):
        kind = type(subject).__name__
        what = f"the class {subject.__name__}" if isinstance(subject, type) else f"{subject!r} (a {kind})"
        raise LanguageError(
            "subject",
            f"{what} cannot be audited",
            place="audit",
            hint=_methods(subject)
            or "a mechanism, a function, an object that can be called, an OpenDP measurement, a diffprivlib mechanism",
        )
    return _of_callable(subject, inputs, neighbours, claim, name, batched=batched, rng=rng, processes=processes)


def _methods(subject: Any) -> str:
    """The methods of an object by which libraries draw."""
    found = [name for name in _DRAWING if callable(getattr(subject, name, None))]
    return f"its method that draws: {type(subject).__name__}(...).{found[0]}, with inputs=" if found else ""


_DRAWING = ("add_noise", "randomise", "randomize", "quick_result", "release")
"""How libraries call the methods that make one output of one input."""


def is_repeatable(run: Runnable, arguments: Mapping[str, Any], *, seed: int = 0) -> bool:
    """Whether the same seed gives the same runs on these arguments, found by 64 runs made twice.

    >>> is_repeatable(runnable(lambda x, rng: x + rng.normal(), rng="rng", inputs={}), {"x": 1})
    True
    """
    return repeats(run.draw, arguments, seed=seed)


def _library(subject: Any) -> str | None:
    """Whose measurement or mechanism it is, told without importing anything."""
    for kind in type(subject).__mro__:
        root = kind.__module__.partition(".")[0]
        if root == "opendp" and kind.__name__ == "Measurement":
            return "opendp"
        if root == "diffprivlib" and kind.__module__.startswith("diffprivlib.mechanisms"):
            return "diffprivlib"
        if root == "opendp" and kind.__module__ == "opendp.mod":
            raise LanguageError(
                "subject",
                f"a {kind.__name__} of OpenDP is not a measurement",
                place="audit",
                hint="transformation >> dp.m.then_laplace(scale=1.0)",
            )
    return None


def _only_for_callables(subject: Any, *, batched: bool, rng: str | None) -> None:
    for option, given in (("batched=True", batched), (f"rng={rng!r}", rng is not None)):
        if given:
            raise LanguageError(
                "option", f"{option} is for plain callables, not for a {type(subject).__name__}", hint="leave it away"
            )


def inputs_by_name(inputs: Declared, only: str | None, place: str) -> Mapping[str, Input]:
    """The inputs by name.

    Raises:
        LanguageError: they are no inputs, or none is private.
    """
    if isinstance(inputs, Input):
        if only is None:
            raise LanguageError("input", f"{inputs} has no name", place=place, hint=f'inputs={{"q": {inputs}}}')
        inputs = {only: inputs}
    if not isinstance(inputs, Mapping):
        raise LanguageError(
            "input", f"inputs={inputs!r} is no mapping", place=place, hint='inputs={"q": real_queries()}'
        )
    for key, value in inputs.items():
        if not isinstance(value, Input):
            raise LanguageError(
                "input",
                f"inputs[{key!r}]={value!r} declares no input",
                place=place,
                hint=f'inputs={{"{key}": queries(0, 2)}}',
            )
    if inputs and all(value.public for value in inputs.values()):
        raise LanguageError(
            "input", "no input is declared that could be private", place=place, hint='"q": queries(0, 2)'
        )
    return MappingProxyType(dict(inputs))


def choose_relation(
    neighbours: Relation | None, inputs: Mapping[str, Input], place: str, *, otherwise: str = "each"
) -> Relation:
    """The relation: the one that is named, or what the inputs suggest.

    Raises:
        LanguageError: there is no such relation, or it does not fit the inputs.
    """
    private = {key: value for key, value in inputs.items() if not value.public}
    if neighbours is None:
        return next((value.relation for value in private.values()), otherwise)
    if callable(neighbours):
        return neighbours
    if neighbours not in (*RELATIONS, *NORMS):
        raise LanguageError(
            "neighbours",
            f"neighbours={neighbours!r} is no relation",
            place=place,
            hint=f"{', '.join(RELATIONS)}, or a function of two data sets",
        )
    if neighbours == ADD_REMOVE:
        for key, value in private.items():
            if value.shape != "list" or value.size is not None:
                what = "is no list" if value.shape != "list" else f"always has {value.size} values"
                raise LanguageError(
                    "neighbours",
                    f"neighbours={ADD_REMOVE!r}, but {key}: {value} {what}",
                    place=place,
                    hint="a list without size=, such as records(0, 1), or neighbours='one'",
                )
    return neighbours


@dataclass(frozen=True, eq=False)
class _Lanes:
    """Runs of a mechanism that is prepared for them."""

    mechanism: Mechanism

    def __call__(self, arguments: Mapping[str, object], count: int, seed: int) -> Samples:
        return sample(self.mechanism, arguments, count, seed=seed)

    def __reduce__(self) -> tuple[Any, ...]:
        return _lanes_there, (self.mechanism, _digest(self.mechanism))


def _lanes_there(mechanism: Mechanism, digest: str) -> _Lanes:
    """Runs of a mechanism in another process, which finds it by its name: it must be the same there."""
    if _digest(mechanism) != digest:
        raise LanguageError(
            "executor",
            f"{mechanism.name} has another text where the work is done",
            place=mechanism.name,
            hint="the same files everywhere, and workers that begin after the last change",
        )
    return _Lanes(mechanism)


def _digest(mechanism: Mechanism) -> str:
    return hashlib.sha256(repr((mechanism.flow.code, mechanism.parameters)).encode()).hexdigest()


def _of_mechanism(mechanism: Mechanism) -> Runnable:
    return Runnable(
        mechanism.name,
        _Lanes(prepare_mechanism(mechanism)),
        mechanism.inputs,
        mechanism.neighbours,
        mechanism=mechanism,
    )


def _change_runnable(
    run: Runnable, inputs: Declared | None, neighbours: Relation | None, claim: Budget | None, name: str | None
) -> Runnable:
    """The same runs with what is given; the mechanism behind them is asked the same question."""
    known, relation = run.inputs, run.relation
    if inputs is not None:
        known = inputs_by_name(inputs, next(iter(run.inputs), None), run.name)
        if run.inputs and set(known) != set(run.inputs):
            raise LanguageError(
                "input",
                f"inputs of the names {', '.join(known) or 'none'}, but {run.name} reads {', '.join(run.inputs)}",
                place=run.name,
                hint=f'inputs={{"{next(iter(run.inputs))}": ...}}',
            )
    draw = run.draw
    if inputs is not None and isinstance(draw, FunctionCalls) and not draw.positional:
        draw = replace(draw, adapt=_argument_adapter(known))
    if inputs is not None or neighbours is not None:
        relation = choose_relation(relation if neighbours is None and run.inputs else neighbours, known, run.name)
    mechanism, notes = run.mechanism, run.notes
    if mechanism is not None and (inputs is not None or neighbours is not None):
        if relation == ADD_REMOVE:
            claim = claim or _own_claim(mechanism)
            mechanism = None
            notes = (*notes, "the exact engines are not asked: they do not know neighbours of other lengths")
        else:
            mechanism = replace(mechanism, inputs=MappingProxyType(dict(known)), relation=relation)
    return replace(
        run,
        name=run.name if name is None else name,
        draw=draw,
        inputs=known,
        relation=relation,
        claim=run.claim if claim is None else claim,
        mechanism=mechanism,
        notes=notes,
    )


def _own_claim(mechanism: Mechanism) -> Budget | None:
    """The mechanism's own claim, where it is one number."""
    try:
        return mechanism.budget()
    except (LanguageError, BudgetError):
        return None


def _of_callable(
    function: Callable[..., Any],
    inputs: Declared | None,
    neighbours: Relation | None,
    claim: Budget | None,
    name: str | None,
    *,
    batched: bool,
    rng: str | None,
    processes: int,
) -> Runnable:
    called = name or _name(function)
    given = ({rng} if rng is not None else set()) | ({"count"} if batched else set())
    parameters, unread = _parameters(function, read=inputs is None)
    if parameters is None:
        known = inputs_by_name(inputs or {}, "value", called)
    else:
        known = _inputs_of_parameters(parameters, inputs, given, called, function)
    relation = choose_relation(neighbours, known, called)
    calls = FunctionCalls(
        called, function, batched=batched, rng=rng, processes=processes, adapt=_argument_adapter(known)
    )
    first = next((key for key in parameters or () if key not in given), "value")
    return Runnable(called, calls, known, relation, claim, notes=unread, first=next(iter(known), first))


def _argument_adapter(inputs: Mapping[str, Input]) -> Callable[[str, Any], Any] | None:
    """Passes floats for real inputs, and arrays and tables where such are declared."""
    known = {key: value for key, value in inputs.items() if value.real or value.array or value.frame}
    return functools.partial(_adapt_argument, known) if known else None


def _adapt_argument(known: Mapping[str, Input], name: str, value: Any) -> Any:
    declared = known.get(name)
    if declared is None:
        return value
    value = as_floats(value) if declared.real else value
    return as_given(declared, value) if isinstance(value, list) else value


def _name(function: Any) -> str:
    inner = function.func if isinstance(function, functools.partial) else function
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def _parameters(function: Any, *, read: bool) -> tuple[Mapping[str, inspect.Parameter] | None, tuple[str, ...]]:
    """The parameters of a callable with their annotations, None if it does not tell; and that annotations cannot be read."""
    try:
        return inspect.signature(function, eval_str=read).parameters, ()
    except PrivproofError:
        raise
    except Exception as error:
        if not read or isinstance(error, ValueError):
            return None, ()
        return inspect.signature(function).parameters, (f"its annotations cannot be read: {error}",)


def _inputs_of_parameters(
    parameters: Mapping[str, inspect.Parameter],
    inputs: Declared | None,
    given: set[str],
    place: str,
    function: Any,
) -> Mapping[str, Input]:
    """The declared inputs; every other parameter needs a default, unless nothing is declared at all."""
    open_ended = {
        parameter.kind
        for parameter in parameters.values()
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    named = {key: value for key, value in parameters.items() if value.kind not in open_ended}
    for key in given:
        if key not in named and inspect.Parameter.VAR_KEYWORD not in open_ended:
            option = "batched=True" if key == "count" else f"rng={key!r}"
            raise LanguageError(
                "option", f"{option}, but {place} has no parameter {key!r}", place=place, hint=f"def f(q, {key}): ..."
            )
    if inputs is None:
        bound = function.keywords if isinstance(function, functools.partial) else {}
        found = {key: _annotated_input(value) for key, value in named.items() if key not in bound and key not in given}
        known = inputs_by_name({key: value for key, value in found.items() if value is not None}, None, place)
    else:
        known = inputs_by_name(inputs, next((key for key in named if key not in given), None), place)
        unknown = [key for key in known if key not in named]
        if unknown and not open_ended:
            raise LanguageError(
                "input",
                f"{place} has no parameter {unknown[0]!r}",
                place=place,
                hint=f"parameters: {', '.join(named) or 'it has none'}",
            )
    for key, parameter in named.items() if known else ():
        if key not in known and key not in given and parameter.default is parameter.empty:
            way = "rng='rng' hands over a numpy generator; or " if key in ("rng", "generator") else ""
            raise LanguageError(
                "input",
                f"nothing says what {key!r} may be",
                place=place,
                hint=f'{way}a default, functools.partial, or inputs={{"{key}": queries(0, 2)}}',
            )
    return known


def _annotated_input(parameter: inspect.Parameter) -> Input | None:
    annotation = parameter.annotation
    for extra in getattr(annotation, "__metadata__", ()):
        annotation = extra if isinstance(extra, Input) else annotation
    return annotation if isinstance(annotation, Input) else None
