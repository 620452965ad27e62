"""Mechanisms: Python functions that run as they are and whose source is what is verified."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pickle import PicklingError
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, TypeAlias, TypeVar

from privproof.drawing.showing import ShownCard
from privproof.errors import LanguageError, PrivproofError
from privproof.exact import Budget, EpsilonLike, Number
from privproof.exact.affine import read_affine
from privproof.exact.measures import MeasuredBudget, Orders, measured_budgets
from privproof.language.comparing import source
from privproof.language.constants import NotPlain, fresh, frozen_copy
from privproof.language.crossing import find_function, reference
from privproof.language.flow import Flow
from privproof.language.inputs import FRAMES, NORMS, RELATIONS, Input
from privproof.language.keeping import Kept, current_function, unchanged_function
from privproof.language.reading import Translated, draws_continuously
from privproof.language.recording import Program
from privproof.language.resolving import signature

Relation: TypeAlias = "str | Callable[[Any, Any], bool]"
Result = TypeVar("Result")


def related_by(relation: Callable[[Any, Any], bool], left: Sequence[Any], right: Sequence[Any], place: str) -> bool:
    """Whether a function says that two data sets are neighbours, in one order or the other; each is given value by value.

    Raises:
        LanguageError: the function fails.
    """
    one, other = (side[0] if len(side) == 1 else tuple(side) for side in (left, right))
    try:
        return bool(relation(one, other)) or bool(relation(other, one))
    except Exception as error:
        raise LanguageError(
            "neighbours",
            f"the relation fails on {one!r} and {other!r}: {type(error).__name__}: {error}",
            place=place,
            hint="a function of two data sets that returns True or False",
        ) from None


@dataclass(frozen=True)
class Claim:
    """A claimed epsilon and delta; a text may speak of parameters and of the size: ``"(1 + 6*N) / 4"``, ``"size * ln(2)"``."""

    epsilon: EpsilonLike
    delta: Number = 0

    def budget(self, known: Mapping[str, Any]) -> Budget:
        """The budget, with values for the names in the claim."""
        epsilon, delta = (self._filled(part, known) for part in (self.epsilon, self.delta))
        if isinstance(delta, str) and any(sign in delta for sign in "(*+"):
            delta = read_affine(delta, ()).constant
        return Budget.of(epsilon, delta)

    @staticmethod
    def written(part: object, known: Mapping[str, Any]) -> str:
        """A part of the claim as a text, with values for the names that are known."""

        def value(match: re.Match[str]) -> str:
            return f"({known[match[0]]})" if isinstance(known.get(match[0]), int | str | Fraction) else match[0]

        return re.sub(r"[A-Za-z_][A-Za-z_0-9]*", value, str(part))

    @staticmethod
    def _filled(part: Any, known: Mapping[str, Any]) -> Any:
        if not isinstance(part, str):
            return part

        def value(match: re.Match[str]) -> str:
            name = match[0]
            if name in known and isinstance(known[name], int | str | Fraction):
                return f"({known[name]})"
            if name not in ("ln", "inf", "e"):
                names = ", ".join(known) or "none"
                raise LanguageError(
                    "budget", f"the claim {part!r} speaks of {name!r}", place="epsilon", hint=f"known here: {names}"
                )
            return name

        return re.sub(r"[A-Za-z_][A-Za-z_0-9]*", value, part)


@dataclass(frozen=True)
class Mechanism(ShownCard):
    """A function, what it reads, which data sets are neighbours, and the claim that is made about it.

    Call it like the function: it samples.

    Attributes:
        function: the function itself, or whatever else is called.
        inputs: its declared inputs, in order.
        parameters: its parameters with their values.
        relation: ``each``, ``one``, ``monotone``, ``add-remove``, the norm of the input, or a function of two data sets; None for what
            the inputs suggest.
        claim: the claim, if one is made.
        name: its name.
        pin: the program that a question is about; without it, whatever would run now.
        bare: whether what is called is the function itself, with its own defaults, and not this mechanism.
        proposed: a translation in place of that of the function, for a change that is proposed and that no function makes yet.
        measures: the claim, if it is one of another measure than epsilon.
    """

    function: Callable[..., Any]
    inputs: Mapping[str, Input]
    parameters: Mapping[str, Any]
    relation: Relation | None = None
    claim: Claim | None = None
    name: str = ""
    pin: Program | None = field(default=None, repr=False, compare=False)
    proposed: Translated | None = field(default=None, repr=False)
    bare: bool = field(default=False, repr=False)
    measures: tuple[MeasuredBudget, ...] = ()

    def __post_init__(self) -> None:
        _refuse_norm(self.inputs, self.relation, self.name)
        for attribute in (*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"):
            value = self.function if attribute == "__wrapped__" else getattr(self.function, attribute, None)
            object.__setattr__(self, attribute, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        positional, _ = _positional(self.function)
        given = {*positional[: len(args)], *kwargs}
        rest = {name: fresh(value) for name, value in self.parameters.items() if name not in given}
        return call_by_name(self.function, {**kwargs, **rest}, *args)

    def __repr__(self) -> str:
        return f"<mechanism {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        kept = (self.inputs, self.parameters, self.relation, self.claim, self.name, self.measures)
        if not isinstance(self.function, FunctionType):
            raise PicklingError(f"{self.name} is no function that another process finds by its name")
        return _recalled, (reference(self.function), *kept)

    @property
    def program(self) -> Program:
        """The record of what would run now: the functions, and what each of their names stands for.

        Raises:
            LanguageError: the function is outside the language, its source is not what would run, or a question was asked
                about another program.
        """
        return self._kept.program

    @property
    def translated(self) -> Translated:
        """The intermediate representation of the source as it would run now."""
        return self._kept.translated if self.proposed is None else self.proposed

    @property
    def flow(self) -> Flow:
        """The instructions of the source as it would run now."""
        return self._kept.flow

    @property
    def _kept(self) -> Kept:
        if type(self) is not Mechanism:
            raise LanguageError(
                "mechanism", f"a {type(self).__name__} may run in a way of its own", place=self.name, hint="@mechanism"
            )
        if self.proposed is not None:
            raise LanguageError(
                "source", "a change that is only proposed has no source yet", place=self.name, hint="make the change"
            )
        function = self.function
        if type(function) is MethodType and not isinstance(function.__self__, type):
            function = function.__func__
        if not isinstance(function, FunctionType):
            raise LanguageError(
                "mechanism",
                f"{self.name} is a {type(self.function).__name__}, no function",
                place=self.name,
                hint="a def",
            )
        if any(declared.frame for declared in self.inputs.values()):
            raise LanguageError(
                "frame", "a table is not in the mechanism language", place=self.place, hint="a list: rows(...)"
            )
        if function.__code__.co_posonlyargcount:
            raise LanguageError("input", "a parameter has no name for its caller", place=self.place, hint="drop the /")
        floats = [name for name, value in self.parameters.items() if type(value) is float and math.isfinite(value)]
        for name, value in self.parameters.items():
            if name not in floats and type(value) is not FunctionType:
                read_with_place(self.function, partial(_constant, name, value))
        known: Kept | None = vars(self).get("kept")
        kept = current_function(self, known, mechanisms=Mechanism, inputs=self.inputs, parameters=self.parameters)
        arrays = kept.translated.arrays or any(declared.array for declared in self.inputs.values())
        if arrays and not (kept.translated.ordinary and draws_continuously(kept.translated)):
            raise LanguageError(
                "array",
                "an array of numpy without continuous noise, whose elements show what they are,",
                place=self.place,
                hint="a list of numbers",
            )
        if floats and not kept.translated.ordinary:
            read_with_place(self.function, partial(_constant, floats[0], self.parameters[floats[0]]))
        vars(self)["kept"] = kept
        return unchanged_function(kept, self.pin, self.name)

    def pinned(self) -> Mechanism:
        """The same mechanism, for a question about the program that would run now: if another one would run, it has no translation."""
        kept = self._kept
        result = replace(self, pin=kept.program)
        vars(result)["kept"] = kept
        return result

    @property
    def file(self) -> str:
        """The file it stands in."""
        code = getattr(self.function, "__code__", None) or getattr(
            vars(type(self.function)).get("__call__"), "__code__", None
        )
        return "" if code is None else str(code.co_filename)

    @property
    def place(self) -> str:
        """Where it is defined, for messages."""
        return place_of(self.function)

    @property
    def generator(self) -> bool:
        """Whether it yields outputs on the way."""
        return inspect.isgeneratorfunction(self.function)

    @property
    def neighbours(self) -> Relation:
        """Which data sets are neighbours: the relation, or what the inputs suggest where none is named; of several the widest."""
        if self.relation is not None:
            return self.relation
        suggested = {i.relation for i in self.inputs.values() if not i.public}
        if len(suggested) == 1:
            return suggested.pop()
        return "each" if "each" in suggested else "one"

    @property
    def stream(self) -> str | None:
        """The name of the stream, if it reads one."""
        return next((name for name, declared in self.inputs.items() if declared.shape == "stream"), None)

    def having(self, **parameters: Any) -> Mechanism:
        """The same mechanism with other values of its parameters.

        Raises:
            LanguageError: there is no such parameter.
        """
        for name in parameters:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "it has none"
                raise LanguageError(
                    "parameter", f"{self.name} has no parameter {name!r}", place=self.name, hint=f"parameters: {known}"
                )
        values = {**self.parameters, **{name: _own(value) for name, value in parameters.items()}}
        return replace(self, parameters=MappingProxyType(values), pin=None)

    @property
    def public_numbers(self) -> tuple[str, ...]:
        """The public inputs that are single whole numbers."""
        return tuple(
            name
            for name, declared in self.inputs.items()
            if declared.public and declared.shape == "value" and not declared.real and declared.within is not None
        )

    def budget(self, size: int | None = None, **numbers: int) -> Budget | None:
        """The claim as a budget, at the values of the parameters and at a size; None if no claim is made.

        Raises:
            BudgetError: the claim is no budget, for instance because it needs a size.
        """
        if self.claim is None:
            return None
        known = {**self.parameters, **numbers, **({} if size is None else {"size": size})}
        return self.claim.budget({name: value for name, value in known.items() if not isinstance(value, bool)})


def _refuse_norm(inputs: Mapping[str, Input], relation: Relation | None, place: str) -> None:
    """Refuse a norm beside other private inputs, another relation than the norm, and a relation that is a norm which no input has."""
    private = {name: declared for name, declared in inputs.items() if not declared.public}
    norms = {name: declared.norm for name, declared in private.items() if declared.norm is not None}
    if not norms and relation in NORMS:
        raise LanguageError(
            "neighbours", f"neighbours={relation!r}, but no input has this norm", place=place,
            hint=f"real_queries(norm={relation!r})",
        )  # fmt: skip
    for name, norm in norms.items():
        if len(private) > 1:
            others = ", ".join(other for other in private if other != name)
            raise LanguageError(
                "neighbours", f"{name}: {inputs[name]} measures all changes, but {others} may change too", place=place,
                hint="one list of all answers, or public(...) for what is no secret",
            )  # fmt: skip
        if relation not in (None, norm):
            shown = repr(relation) if isinstance(relation, str) else "a function"
            raise LanguageError(
                "neighbours", f"neighbours={shown}, but {name}: {inputs[name]} says who are neighbours", place=place,
                hint="drop the norm or neighbours",
            )  # fmt: skip


def _recalled(place: tuple[str, str, str], *kept: Any) -> Mechanism:
    """A mechanism that comes from another process: the function of that place, whatever it is now."""
    *others, measures = kept
    return replace(Mechanism(find_function(*place), *others), measures=measures)


def mechanism(
    function: Callable[..., Any] | None = None,
    /,
    *,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    rho: EpsilonLike | None = None,
    mu: EpsilonLike | None = None,
    renyi: Orders | None = None,
    neighbours: Relation | None = None,
    inputs: Mapping[str, Input] | None = None,
) -> Any:
    """Mark a function as a mechanism.

    Args:
        function: the function, where the decorator is written without parentheses.
        epsilon: the claim that is made, if one is.
        delta: its delta, over events.
        rho: instead of epsilon: that it is rho-zCDP; may be an expression in the size and public numbers, ``"size/8"``.
        mu: instead of epsilon: that it is mu-GDP.
        renyi: instead of epsilon: bounds on its Rényi divergences by order.
        neighbours: ``each`` (every value may change, by its sensitivity), ``one`` (one value changes), ``monotone`` (all change in
            one direction), ``add-remove`` (one list has one element more), or a function of two data sets that says whether they are
            neighbours.  Without it: ``one`` for records, ``each`` for answers.
        inputs: what parameters may be whose annotations do not say it: ``{"data": records("yes", "no")}``.

    >>> from privproof.language import records, uniform
    >>> def pick(data):
    ...     return data[uniform(0, len(data) - 1)]
    >>> mechanism(pick, inputs={"data": records("yes", "no")}).inputs["data"]
    records('yes', 'no')
    """

    def mark(marked: Callable[..., Any]) -> Mechanism:
        if not callable(marked) or isinstance(marked, type):
            raise LanguageError(
                "mechanism", f"{marked!r} is not a function", place="mechanism", hint="@mechanism above a def"
            )
        name = getattr(marked, "__name__", None) or type(marked).__name__
        if isinstance(neighbours, str) and neighbours not in (*RELATIONS, *NORMS):
            raise LanguageError(
                "neighbours",
                f"neighbours={neighbours!r} is no relation",
                place=name,
                hint=f"{', '.join(RELATIONS)}, or a function of two data sets",
            )
        if epsilon is None and delta != 0:
            raise LanguageError("budget", "a delta without an epsilon", place=name, hint='epsilon="ln(2)"')
        declared, parameters = read_with_place(marked, lambda function: _declared(function, inputs or {}))
        claim = None if epsilon is None else Claim(epsilon, delta)
        made = Mechanism(marked, MappingProxyType(declared), MappingProxyType(parameters), neighbours, claim, name)
        try:
            made = replace(made, measures=measured_budgets(rho, mu, renyi))
            if made.measures and epsilon is not None:
                raise LanguageError("budget", f"epsilon and {made.measures[0].measure} are claimed at once", hint="one")
            made.budget(size=1, **dict.fromkeys(made.public_numbers, 1))
        except PrivproofError as problem:
            raise problem.at(place_of(marked)) from None
        return made

    return mark if function is None else mark(function)


def read_with_place(function: Callable[..., Any], read: Callable[[Any], Result]) -> Result:
    """What is read of a function; what is wrong with it is said with its place, which is looked for only then."""
    try:
        return read(function)
    except LanguageError as problem:
        raise (problem if problem.place else problem.at(place_of(function))) from None


def _declared(function: Callable[..., Any], given: Mapping[str, Input]) -> tuple[dict[str, Input], dict[str, Any]]:
    """The inputs and the parameters of a function: as its annotations say, and as is given besides."""
    annotations = _annotations(function, given)
    inputs: dict[str, Input] = {}
    parameters: dict[str, Any] = {}
    # What is wrapped can be run and audited, but not verified; then its parameters are those that the wrapper shows.
    plain = isinstance(function, FunctionType) and not hasattr(function, "__wrapped__")
    taken = signature(function) if plain else inspect.signature(function)  # type: ignore[arg-type]
    for name, named in given.items():
        if name not in taken.parameters:
            known = ", ".join(taken.parameters) or "it has none"
            raise LanguageError("input", f"there is no parameter {name!r}", hint=f"parameters: {known}")
        if not isinstance(named, Input):
            library, kind = type(named).__module__.partition(".")[0], type(named).__name__
            if library in (*FRAMES, "numpy"):
                way = "array(records(0, 1))" if library == "numpy" else "frame(rows(age=integer(0, 3)))"
                said = f"{name} is data, a {kind} of {library}: what it may be has to be declared"
                raise LanguageError("input", said, hint=f"{name}={way}; audit(..., pairs=[(left, right)]) takes data")
            raise LanguageError("input", f"{name}={named!r} declares no input", hint=f"{name}=queries(0, 2)")
    for parameter in taken.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            if given or not plain:
                continue  # nothing is passed to it
            raise LanguageError("input", f"*{parameter.name} is open-ended", hint="name every argument")
        declared: Any = annotations.get(parameter.name)
        for extra in getattr(declared, "__metadata__", ()):
            declared = extra if isinstance(extra, Input) else declared
        found = given.get(parameter.name, declared)
        if isinstance(found, Input):
            arrays = "ndarray" in str(annotations.get(parameter.name, "")) and found.shape == "list"
            inputs[parameter.name] = replace(found, array=True) if arrays else found
        elif parameter.default is parameter.empty:
            raise LanguageError(
                "input",
                f"nothing says what {parameter.name!r} may be",
                hint=f"{parameter.name}: queries(0, 2), or a default for a parameter",
            )
        else:
            parameters[parameter.name] = _own(parameter.default)
    private = [name for name, declared in inputs.items() if not declared.public]
    if not private:
        raise LanguageError("input", "no input is declared that could be private", hint="def f(q: queries(0, 2)): ...")
    if sum(declared.shape == "stream" for declared in inputs.values()) > 1:
        raise LanguageError("input", "two streams", hint="one stream of tuples: stream_of((0, 0), (0, 1))")
    return inputs, parameters


def _annotations(function: Callable[..., Any], given: Mapping[str, Input]) -> Mapping[str, Any]:
    """The annotations of a function, evaluated; those that cannot be are texts, if all that counts is given besides."""
    called = function if hasattr(function, "__annotations__") else vars(type(function))["__call__"]
    try:
        return inspect.get_annotations(called, eval_str=True)
    except PrivproofError:
        raise
    except Exception as error:
        if given:
            return dict(getattr(called, "__annotations__", {}))
        raise LanguageError(
            "input", f"the annotations cannot be read: {error}", hint="from privproof import queries"
        ) from None


def call_by_name(function: Callable[..., Any], named: Mapping[str, Any], *args: Any) -> Any:
    """A call with arguments by name, also of those parameters that have none for their caller."""
    _, nameless = _positional(function)
    rest = dict(named)
    first = [rest.pop(name) for name in nameless[len(args) :] if name in rest]
    return function(*args, *first, **rest)


def _positional(function: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters that a call may give by position, and those of them that it must."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__
        return code.co_varnames[: code.co_argcount], code.co_varnames[: code.co_posonlyargcount]
    taken = inspect.signature(function).parameters
    return tuple(taken), tuple(name for name, each in taken.items() if each.kind is each.POSITIONAL_ONLY)


def _own(value: Any) -> Any:
    """The value of a parameter, in a copy that nobody else holds where it is plain."""
    try:
        return frozen_copy(value, "", lists=True)
    except NotPlain:
        return value


def place_of(function: Callable[..., Any]) -> str:
    """Where a function is defined, for messages."""
    if not isinstance(function, FunctionType):
        function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        return str(getattr(function, "__name__", type(function).__name__))
    try:
        read = source(function)
    except (LanguageError, SyntaxError):
        return function.__name__
    return str(read.place(read.tree))


def _constant(name: str, value: Any, _: Any) -> Any:
    return constant_parameter(name, value)


def constant_parameter(name: str, value: Any) -> Any:
    """A value that a parameter may have: exact, and of Python's plain types."""
    if type(value) is float:
        raise LanguageError(
            "float", f"{name}={value!r} is a float", hint=f'{name}="{value!r}" or Fraction("{value!r}")'
        )
    try:
        return frozen_copy(value, name, lists=True)
    except NotPlain as problem:
        raise LanguageError("parameter", f"{name} is {problem.what}", hint=problem.hint) from None
