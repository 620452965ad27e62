"""Mechanisms: Python functions that run as they are and whose source is what is verified."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import FunctionType, MappingProxyType
from typing import Any, TypeAlias, TypeVar

from privproof.errors import LanguageError, PrivproofError
from privproof.exact import Budget, EpsilonLike, Number
from privproof.language.comparing import source
from privproof.language.constants import NotPlain, fresh, frozen
from privproof.language.crossing import recalled, reference
from privproof.language.flow import Flow
from privproof.language.inputs import Input
from privproof.language.keeping import Kept, current, pinned
from privproof.language.reading import Translated
from privproof.language.recording import Program
from privproof.language.resolving import signature

Relation: TypeAlias = "str | Callable[[Any, Any], bool]"
RELATIONS = ("each", "one", "monotone")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Claim:
    """A claimed epsilon and delta; a text may speak of parameters and of the size: ``"(1 + 6*N) / 4"``, ``"size * ln(2)"``."""

    epsilon: EpsilonLike
    delta: Number = 0

    def budget(self, known: Mapping[str, Any]) -> Budget:
        """The budget, with values for the names in the claim."""
        epsilon, delta = (self._filled(part, known) for part in (self.epsilon, self.delta))
        return Budget.of(epsilon, delta)

    def written(self, known: Mapping[str, Any]) -> str:
        """The claimed epsilon as a text, with values for the names that are known."""

        def value(match: re.Match[str]) -> str:
            return f"({known[match[0]]})" if isinstance(known.get(match[0]), int | str | Fraction) else match[0]

        return re.sub(r"[A-Za-z_][A-Za-z_0-9]*", value, str(self.epsilon))

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
class Mechanism:
    """A function, what it reads, which data sets are neighbours, and the claim that is made about it.

    Call it like the function: it samples.

    Attributes:
        function: the function itself.
        inputs: its declared inputs, in order.
        parameters: its parameters with their values.
        relation: ``each``, ``one``, ``monotone``, or a function of two data sets; None for what the inputs suggest.
        claim: the claim, if one is made.
        name: its name.
        pin: the program that a question is about; without it, whatever would run now.
        proposed: a translation in place of that of the function, for a change that is proposed and that no function makes yet.
    """

    function: FunctionType
    inputs: Mapping[str, Input]
    parameters: Mapping[str, Any]
    relation: Relation | None = None
    claim: Claim | None = None
    name: str = ""
    pin: Program | None = field(default=None, repr=False, compare=False)
    proposed: Translated | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for attribute in (*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"):
            value = self.function if attribute == "__wrapped__" else getattr(self.function, attribute)
            object.__setattr__(self, attribute, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = {*_positional(self.function)[: len(args)], *kwargs}
        rest = {name: fresh(value) for name, value in self.parameters.items() if name not in given}
        return self.function(*args, **kwargs, **rest)

    def __repr__(self) -> str:
        return f"<mechanism {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        kept = (self.inputs, self.parameters, self.relation, self.claim, self.name)
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
        known: Kept | None = vars(self).get("kept")
        kept = current(self, known, mechanisms=Mechanism, inputs=self.inputs, parameters=self.parameters)
        vars(self)["kept"] = kept
        return pinned(kept, self.pin, self.name)

    def pinned(self) -> Mechanism:
        """The same mechanism, for a question about the program that would run now: if another one would run, it has no translation."""
        kept = self._kept
        result = replace(self, pin=kept.program)
        vars(result)["kept"] = kept
        return result

    @property
    def file(self) -> str:
        """The file it stands in."""
        return self.function.__code__.co_filename

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
        return "each" if "each" in {i.relation for i in self.inputs.values() if not i.public} else "one"

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
        values = {**self.parameters, **{name: constant_parameter(name, value) for name, value in parameters.items()}}
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


def _recalled(place: tuple[str, str, str], *kept: Any) -> Mechanism:
    """A mechanism that comes from another process: the function of that place, whatever it is now."""
    return Mechanism(recalled(*place), *kept)


def mechanism(
    function: Callable[..., Any] | None = None,
    /,
    *,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    neighbours: Relation | None = None,
) -> Any:
    """Mark a function as a mechanism.

    Args:
        function: the function, where the decorator is written without parentheses.
        epsilon: the claim that is made, if one is.
        delta: its delta, over events.
        neighbours: ``each`` (every value may change, by its sensitivity), ``one`` (one value changes), ``monotone`` (all change in
            one direction), or a function of two data sets that says whether they are neighbours.  Without it: ``one`` for records,
            ``each`` for answers.
    """

    def mark(marked: Callable[..., Any]) -> Mechanism:
        if not isinstance(marked, FunctionType):
            raise LanguageError(
                "mechanism", f"{marked!r} is not a function", place="mechanism", hint="@mechanism above a def"
            )
        if isinstance(neighbours, str) and neighbours not in RELATIONS:
            raise LanguageError(
                "neighbours",
                f"neighbours={neighbours!r} is no relation",
                place=marked.__name__,
                hint=f"{', '.join(RELATIONS)}, or a function of two data sets",
            )
        if epsilon is None and delta != 0:
            raise LanguageError("budget", "a delta without an epsilon", place=marked.__name__, hint='epsilon="ln(2)"')
        inputs, parameters = placed(marked, _declared)
        claim = None if epsilon is None else Claim(epsilon, delta)
        made = Mechanism(
            marked, MappingProxyType(inputs), MappingProxyType(parameters), neighbours, claim, marked.__name__
        )
        try:
            made.budget(size=1, **dict.fromkeys(made.public_numbers, 1))
        except PrivproofError as problem:
            raise problem.at(place_of(marked)) from None
        return made

    return mark if function is None else mark(function)


def placed(function: FunctionType, read: Callable[[FunctionType], Result]) -> Result:
    """What is read of a function; what is wrong with it is said with its place, which is looked for only then."""
    try:
        return read(function)
    except LanguageError as problem:
        raise (problem if problem.place else problem.at(place_of(function))) from None


def _declared(function: FunctionType) -> tuple[dict[str, Input], dict[str, Any]]:
    try:
        annotations = inspect.get_annotations(function, eval_str=True)
    except PrivproofError:
        raise
    except Exception as error:
        raise LanguageError(
            "input", f"the annotations cannot be read: {error}", hint="from privproof import queries"
        ) from None
    inputs: dict[str, Input] = {}
    parameters: dict[str, Any] = {}
    # What is wrapped can be run and audited, but not verified; then its parameters are those that the wrapper shows.
    taken = inspect.signature(function) if hasattr(function, "__wrapped__") else signature(function)
    for parameter in taken.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise LanguageError("input", f"*{parameter.name} is open-ended", hint="name every argument")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise LanguageError("input", f"{parameter.name!r} has no name for its caller", hint="drop the /")
        declared = annotations.get(parameter.name)
        for extra in getattr(declared, "__metadata__", ()):
            declared = extra if isinstance(extra, Input) else declared
        if isinstance(declared, Input):
            inputs[parameter.name] = declared
        elif parameter.default is parameter.empty:
            raise LanguageError(
                "input",
                f"nothing says what {parameter.name!r} may be",
                hint=f"{parameter.name}: queries(0, 2), or a default for a parameter",
            )
        else:
            parameters[parameter.name] = constant_parameter(parameter.name, parameter.default)
    private = [name for name, declared in inputs.items() if not declared.public]
    if not private:
        raise LanguageError("input", "no input is declared that could be private", hint="def f(q: queries(0, 2)): ...")
    if sum(declared.shape == "stream" for declared in inputs.values()) > 1:
        raise LanguageError("input", "two streams", hint="one stream of tuples: stream_of((0, 0), (0, 1))")
    return inputs, parameters


def _positional(function: FunctionType) -> tuple[str, ...]:
    """The parameters that a call may give by position."""
    if hasattr(function, "__wrapped__"):
        return tuple(inspect.signature(function).parameters)
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def place_of(function: FunctionType) -> str:
    """Where a function is defined, for messages."""
    try:
        read = source(function)
    except (LanguageError, SyntaxError):
        return function.__name__
    return str(read.place(read.tree))


def constant_parameter(name: str, value: Any) -> Any:
    """A value that a parameter may have: exact, and of Python's plain types."""
    if type(value) is float:
        raise LanguageError(
            "float", f"{name}={value!r} is a float", hint=f'{name}="{value!r}" or Fraction("{value!r}")'
        )
    try:
        return frozen(value, name, lists=True)
    except NotPlain as problem:
        raise LanguageError("parameter", f"{name} is {problem.what}", hint=problem.hint) from None
