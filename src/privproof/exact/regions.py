"""Regions of parameters: a box of intervals, open or closed, and polynomial constraints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from privproof.errors import NumberError, ScenarioError
from privproof.exact.polynomials import Polynomial
from privproof.exact.rationals import Number, Rational, rational

_INTERVAL = re.compile(
    r"\s*(?P<low>[^<>=]+?)\s*(?P<first><=?)\s*(?P<name>[A-Za-z_]\w*)\s*(?P<second><=?)\s*(?P<high>[^<>=]+?)\s*"
)
_BETWEEN = re.compile(r"\s*(?P<open>[\[(])\s*(?P<low>[^,\]]+?)\s*,\s*(?P<high>[^,\])]+?)\s*(?P<close>[\])])\s*")


@dataclass(frozen=True)
class Interval:
    """An interval of rationals; an end that is open does not belong to it."""

    low: Rational
    high: Rational
    low_open: bool = False
    high_open: bool = False

    def __str__(self) -> str:
        return f"{'(' if self.low_open else '['}{self.low}, {self.high}{')' if self.high_open else ']'}"

    def contains(self, value: Rational) -> bool:
        """Whether a value belongs to it."""
        above = value > self.low or (value == self.low and not self.low_open)
        below = value < self.high or (value == self.high and not self.high_open)
        return above and below


@dataclass(frozen=True)
class Constraint:
    """``expression >= 0``, or ``> 0`` if it is strict."""

    expression: Polynomial
    strict: bool = False
    text: str = ""

    def holds(self, point: Mapping[str, Number]) -> bool:
        """Whether a point satisfies it."""
        value = self.expression.at(point)
        return value > 0 if self.strict else value >= 0


@dataclass(frozen=True)
class ParameterRegion:
    """Where parameters range.

    >>> region = ParameterRegion.of({"p": "0 < p < 1", "q": "[1/4, 3/4]"}, ["p + q <= 1"])
    >>> region.contains({"p": "1/2", "q": "1/2"}), region.contains({"p": "3/4", "q": "1/2"}), region.contains({"p": 0, "q": "1/2"})
    (True, False, False)
    >>> str(region)
    'p in (0, 1), q in [1/4, 3/4], p + q <= 1'
    """

    names: tuple[str, ...]
    box: tuple[Interval, ...]
    constraints: tuple[Constraint, ...] = ()

    @classmethod
    def of(cls, parameters: Mapping[str, str], constraints: Sequence[str] = ()) -> ParameterRegion:
        """A region from texts: ``0 < p < 1`` or ``(0, 1]`` for an interval, ``p <= q^2`` for a constraint.

        Raises:
            ScenarioError: a text is neither, or an interval is empty.
        """
        names = tuple(parameters)
        box = tuple(_interval(name, text) for name, text in parameters.items())
        return cls(names, box, tuple(_constraint(text, names) for text in constraints))

    def __str__(self) -> str:
        parts = [f"{name} in {interval}" for name, interval in zip(self.names, self.box, strict=True)]
        return ", ".join([*parts, *(c.text for c in self.constraints)]) or "no parameters"

    def contains(self, point: Mapping[str, Number]) -> bool:
        """Whether a point belongs to it."""
        inside = all(i.contains(rational(point[n])) for n, i in zip(self.names, self.box, strict=True))
        return inside and all(constraint.holds(point) for constraint in self.constraints)

    @cached_property
    def fixed(self) -> dict[str, Rational]:
        """The parameters that have one value in the whole region, as far as intervals and linear constraints tell.

        >>> ParameterRegion.of({"p": "[1/2, 1/2]", "q": "[0, 1]", "r": "[0, 1]"}, ["p + q <= 1/2"]).fixed
        {'p': 1/2, 'q': 0}
        """
        bounds = {name: [each.low, each.high] for name, each in zip(self.names, self.box, strict=True)}
        for _ in range(len(self.names) + 1):
            for constraint in self.constraints:
                _tighten_bounds(bounds, constraint.expression)
        return {name: low for name, (low, high) in bounds.items() if low == high}

    def vanishes(self, polynomial: Polynomial) -> bool:
        """Whether a polynomial is zero in the whole region: everywhere, or at the parameters that are fixed."""
        return polynomial.is_zero or (bool(self.fixed) and polynomial.having(self.fixed).is_zero)


def _tighten_bounds(bounds: dict[str, list[Rational]], expression: Polynomial) -> None:
    """Bounds on every parameter by a linear expression that is not negative, from the bounds on the others."""
    if any(sum(exponents) > 1 for exponents in expression.terms):
        return
    factors, rest = dict.fromkeys(expression.names, rational(0)), rational(0)
    for exponents, factor in expression.terms.items():
        if any(exponents):
            factors[expression.names[[int(e) for e in exponents].index(1)]] = factor
        else:
            rest = factor
    for name, factor in factors.items():
        if factor == 0:
            continue
        most = rest + sum(
            (max(f * low, f * high) for n, f in factors.items() for low, high in [bounds[n]] if n != name), rational(0)
        )
        low, high = bounds[name]
        bounds[name] = [max(low, -most / factor), high] if factor > 0 else [low, min(high, -most / factor)]


def _interval(name: str, text: str) -> Interval:
    place = f"parameters.{name}"
    said = _INTERVAL.fullmatch(text) or _BETWEEN.fullmatch(text)
    if said is None or ("name" in said.groupdict() and said["name"] != name):
        raise ScenarioError(
            "parameters",
            f"{text!r} is no interval for {name}",
            place=place,
            hint=f"0 < {name} < 1, 1/4 <= {name} <= 3/4, or (0, 1]",
        )
    try:
        low, high = rational(said["low"]), rational(said["high"])
    except NumberError as problem:
        raise ScenarioError("parameters", problem.message, place=place, hint=problem.hint) from None
    if "name" in said.groupdict():
        opens = (said["first"] == "<", said["second"] == "<")
    else:
        opens = (said["open"] == "(", said["close"] == ")")
    if low > high or (low == high and any(opens)):
        raise ScenarioError("parameters", f"the interval {text!r} is empty", place=place, hint=f"0 < {name} < 1")
    return Interval(low, high, *opens)


def _constraint(text: str, names: tuple[str, ...]) -> Constraint:
    parts = re.split(r"(<=|>=|<|>)", text)
    if len(parts) != 3:
        raise ScenarioError(
            "parameters",
            f"{text!r} is no constraint",
            place="constraints",
            hint="one comparison of two expressions: p + q <= 1",
        )
    try:
        left, right = Polynomial.of(parts[0], names), Polynomial.of(parts[2], names)
    except NumberError as problem:
        raise ScenarioError("parameters", problem.message, place="constraints", hint=problem.hint) from None
    difference = right - left if parts[1] in ("<", "<=") else left - right
    return Constraint(difference, strict=parts[1] in ("<", ">"), text=text.strip())
