"""Priors: what an adversary believes about the data, as a function that draws it.

A prior is written in the mechanism language.  It draws a data set and returns it.  Some of its arguments may be *unknown*: they range
over intervals, and privacy must hold for every value of them.

    @prior(p="0 < p < 1")
    def independent(p):
        return bernoulli(p), bernoulli(p)

The probability of a data set is then a polynomial in the unknown parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, MappingProxyType
from typing import Any

from privproof.errors import LanguageError
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion
from privproof.language.constants import fresh
from privproof.language.crossing import find_function, reference
from privproof.language.flow import Flow
from privproof.language.keeping import Kept, current_function, unchanged_function
from privproof.language.mechanism import Mechanism, constant_parameter, place_of, read_with_place
from privproof.language.recording import Program
from privproof.language.resolving import signature
from privproof.language.values import shared_value


@dataclass(frozen=True)
class Prior:
    """A function that draws the data, and where its unknown parameters range.

    Attributes:
        function: the function itself.
        region: where the unknown parameters range.
        constants: its other parameters, with their values.
        name: its name.
        pin: the program that a question is about; without it, whatever would run now.
    """

    function: FunctionType
    region: ParameterRegion
    constants: Mapping[str, Any]
    name: str
    pin: Program | None = field(default=None, repr=False, compare=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Draw a data set, at given values of the parameters."""
        bound = signature(self.function).bind_partial(*args, **kwargs).arguments
        rest = {name: fresh(value) for name, value in self.constants.items() if name not in bound}
        return self.function(*args, **kwargs, **rest)

    def __repr__(self) -> str:
        return f"<prior {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _recalled, (reference(self.function), self.region, self.constants, self.name)

    @property
    def program(self) -> Program:
        """The record of what would run now."""
        return self._kept.program

    @property
    def flow(self) -> Flow:
        """The instructions of the source as it would run now."""
        kept = self._kept
        if kept.translated.generator:
            raise LanguageError(
                "construct", "a prior that yields", place=place_of(self.function), hint="return the data set"
            )
        return kept.flow

    @property
    def _kept(self) -> Kept:
        known: Kept | None = vars(self).get("kept")
        kept = current_function(
            self.function,
            known,
            mechanisms=Mechanism,
            inputs={},
            parameters=self.constants,
            unknown=self.region.names,
        )
        vars(self)["kept"] = kept
        return unchanged_function(kept, self.pin, self.name)

    def pinned(self) -> Prior:
        """The same prior, for a question about the program that would run now."""
        return replace(self, pin=self.program)

    @property
    def store(self) -> dict[str, Any]:
        """The parameters as values: polynomials for the unknown ones."""
        names = self.region.names
        unknown = {name: Polynomial.parameter(name, names) for name in names}
        return {**unknown, **{name: shared_value(value) for name, value in self.constants.items()}}


def _recalled(place: tuple[str, str, str], *kept: Any) -> Prior:
    """A prior that comes from another process."""
    return Prior(find_function(*place), *kept)


def prior(function: Callable[..., Any] | None = None, /, *, constraints: Sequence[str] = (), **parameters: str) -> Any:
    """Mark a function as a prior.

    Args:
        function: the function, where the decorator is written without parentheses.
        constraints: comparisons between the unknown parameters: ``"p <= q"``.
        parameters: for every unknown parameter where it ranges: ``p="0 < p < 1"`` or ``p="[1/4, 3/4]"``.
    """

    def mark(marked: Callable[..., Any]) -> Prior:
        if not isinstance(marked, FunctionType):
            raise LanguageError("prior", f"{marked!r} is not a function", place="prior", hint="@prior above a def")
        return read_with_place(marked, declared)

    def declared(marked: FunctionType) -> Prior:
        region = ParameterRegion.of(parameters, constraints)
        constants: dict[str, Any] = {}
        taken = signature(marked).parameters
        for name in parameters:
            if name not in taken:
                raise LanguageError(
                    "parameter", f"{marked.__name__} takes no {name!r}", hint=f"def {marked.__name__}({name}):"
                )
        for parameter in taken.values():
            if parameter.name in parameters:
                continue
            if parameter.default is parameter.empty:
                raise LanguageError(
                    "parameter",
                    f"nothing says where {parameter.name!r} ranges",
                    hint=f'@prior({parameter.name}="0 < {parameter.name} < 1"), or a default',
                )
            constants[parameter.name] = constant_parameter(parameter.name, parameter.default)
        return Prior(marked, region, MappingProxyType(constants), marked.__name__)

    return mark if function is None else mark(function)
