"""Markov priors: correlated time series, such as one person's activity minute by minute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from privproof.errors import NumberError, ScenarioError
from privproof.exact import Number, Rational, rational, show
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion

_MOST_CORNERS = 256
"""Eight parameters have so many corners, each with a matrix of its own; a class with more parameters is refused."""


@dataclass(frozen=True)
class MarkovPrior:
    """A Markov chain, or all chains whose probabilities stay within bounds.

    Where the transition probabilities are expressions in parameters, the class holds every chain whose parameters lie in the region
    at every step; they may change from step to step.

    Attributes:
        states: the values of the series.
        initial: the distribution of the first value.
        transitions: for every value the distribution of the next one, as polynomials in the parameters.
        region: where the parameters range.
    """

    states: tuple[str, ...]
    initial: Mapping[str, Rational]
    transitions: Mapping[str, Mapping[str, Polynomial]]
    region: ParameterRegion

    @classmethod
    def of(
        cls,
        states: Sequence[str],
        *,
        initial: Mapping[str, Number],
        transitions: Mapping[str, Mapping[str, Number]],
        parameters: Mapping[str, str] | None = None,
    ) -> MarkovPrior:
        """A chain from numbers and texts; with parameters, the entries may be expressions such as ``1 - s``.

        Raises:
            ScenarioError: rows that do not sum to one, or leave [0, 1]; entries that are not linear in each parameter.

        >>> chain = MarkovPrior.of(["rest", "walk"], initial={"rest": "1/2", "walk": "1/2"}, parameters={"s": "[0.6, 0.9]"},
        ...     transitions={"rest": {"rest": "s", "walk": "1 - s"}, "walk": {"walk": "s", "rest": "1 - s"}})
        >>> [str(row["rest"]["rest"]) for row in chain.corners().values()]
        ['3/5', '9/10']
        """
        names = tuple(states)
        region = ParameterRegion.of(parameters or {})
        first = {state: rational(initial.get(state, 0)) for state in names}
        _row(first, "initial", {s: Polynomial.constant(p, region.names) for s, p in first.items()}, names, initial)
        rows = {}
        for state in names:
            given = transitions.get(state)
            if given is None:
                raise ScenarioError("row", f"the state {state!r} has no row", place="transitions", hint=f"add {state}")
            row = {target: _entry(given.get(target, 0), region, f"transitions.{state}.{target}") for target in names}
            _row(None, f"transitions.{state}", row, names, given)
            rows[state] = MappingProxyType(row)
        made = cls(names, MappingProxyType(first), MappingProxyType(rows), region)
        for corner, matrix in made.corners().items():
            for state, listed in matrix.items():
                for target, p in listed.items():
                    if not 0 <= p <= 1:
                        at = f" at {corner}" if corner else ""
                        raise ScenarioError(
                            "probability", f"it is {show(p)}{at}, outside [0, 1]", place=f"transitions.{state}.{target}"
                        )
        return made

    def corners(self) -> dict[str, dict[str, dict[str, Rational]]]:
        """The transition matrices at the corners of the region; every chain of the class lies between them at every step."""
        names, box = self.region.names, self.region.box
        if 2 ** len(names) > _MOST_CORNERS:
            raise ScenarioError(
                "parameters", f"{len(names)} parameters are too many", place="parameters", hint="at most 8"
            )
        result = {}
        for ends in product(*((i.low, i.high) if i.low != i.high else (i.low,) for i in box)):
            point = dict(zip(names, ends, strict=True))
            label = ", ".join(f"{name}={value}" for name, value in point.items())
            result[label] = {
                s: {t: p.at(point) for t, p in row.items() if p.at(point) != 0} for s, row in self.transitions.items()
            }
        return result


def _entry(value: Number, region: ParameterRegion, place: str) -> Polynomial:
    try:
        if isinstance(value, str):
            entry = Polynomial.of(value, region.names)
        else:
            entry = Polynomial.constant(value, region.names)
    except NumberError as problem:
        raise ScenarioError("expression", problem.message, place=place, hint=problem.hint) from None
    if any(degree > 1 for degree in entry.degrees):
        raise ScenarioError(
            "expression",
            f"{entry} is not linear in each parameter",
            place=place,
            hint="use another parameter for the power",
        )
    return entry


def _row(
    numbers: Mapping[str, Rational] | None,
    place: str,
    row: Mapping[str, Polynomial],
    states: tuple[str, ...],
    given: Mapping[str, object],
) -> None:
    for name in given:
        if name not in states:
            raise ScenarioError(
                "unknown-name", f"unknown state {name!r}", place=place, hint=f"known: {', '.join(states)}"
            )
    if numbers is not None and any(p < 0 for p in numbers.values()):
        raise ScenarioError("probability", "a probability is below 0", place=place)
    total = sum(row.values(), Polynomial.constant(0, next(iter(row.values())).names))
    if total != 1:
        raise ScenarioError("row-sum", f"the probabilities sum to {total} instead of 1", place=place)
