"""Queries: what is released of a series or a data set, and how far one entry can move it.

A query is a vector of numbers on a lattice: every value is a multiple of `step`, so that noise can be whole steps and no rounding
leaks.  Its *sensitivity* is the most that changing one entry moves it, all components together.

* a **sum** adds a weight for every entry: counts, totals, means (a mean is a sum that is divided afterwards);
* a **histogram** counts the entries in every state;
* a **linear** query adds multiples of real entries, and rounds the result to the step;
* a **function** is any other one, with a stated Lipschitz constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, lcm
from types import MappingProxyType
from typing import Any, Literal

from privproof.errors import NumberError, ScenarioError
from privproof.exact import ONE, ZERO, Number, Rational, decimal, rational, show
from privproof.models.finite_distributions import known_name

_LARGEST = rational(10**40)
"""The search for a noise uses floats: how far an entry moves a query, and its steps, stay within this and its inverse, or are refused."""


@dataclass(frozen=True)
class Query:
    """What is released.

    Attributes:
        kind: a sum of weights, a histogram, a linear one, or a function.
        name: the query in words.
        sensitivity: the most that one entry can move it, in its own unit.
        step: its values are multiples of this; 0 where that is left to the calibration.
        weights: for a sum, the weight of every state that has one; other states weigh nothing.
        bins: for a histogram, the states that are counted; empty for all.
        divided: whether reports divide by the number of entries, as a mean and relative frequencies are.
        function: for a function, what to evaluate.
        coefficients: for a linear one, what every entry is multiplied by; a single one for all.
    """

    kind: Literal["sum", "histogram", "linear", "function"]
    name: str
    sensitivity: Rational
    step: Rational = ONE
    weights: Mapping[str, Rational] = field(default_factory=dict)
    bins: tuple[str, ...] = ()
    divided: bool = False
    function: Callable[[Sequence[Any]], Any] | None = None
    coefficients: tuple[Rational, ...] = ()

    def weight(self, state: str) -> Rational:
        """For a sum: what an entry in this state adds."""
        return self.weights.get(state, ZERO)

    def moved(self, states: Sequence[str]) -> Rational:
        """The most that one entry can move it, where the entries are these states."""
        if self.kind != "sum":
            return self.sensitivity
        weights = [self.weight(state) for state in states]
        return max(weights) - min(weights)

    def steps(self, states: Sequence[str]) -> tuple[int, ...]:
        """For a sum: what every state adds, in steps."""
        return tuple(int((self.weight(state) / self.step).p) for state in states)

    def __call__(self, series: Sequence[Any]) -> Rational | tuple[int, ...]:
        """The exact answer on a series: a number, or the counts of a histogram; not yet divided."""
        if self.kind == "sum":
            return sum((self.weight(value) for value in series), ZERO)
        if self.kind == "histogram":
            counts = dict.fromkeys(self.bins, 0)
            for value in series:
                if value in counts:
                    counts[value] += 1
            return tuple(counts.values())
        if self.kind == "linear":
            each = self.coefficients * len(series) if len(self.coefficients) == 1 else self.coefficients
            return self.rounded(sum((a * b for a, b in zip(each, map(rational, series), strict=True)), ZERO))
        assert self.function is not None
        return rational(self.function(series))

    def rounded(self, answer: Rational) -> Rational:
        """The nearest multiple of the step, the greater one of two."""
        steps = answer / self.step + Rational(1, 2)
        return self.step * (steps.p // steps.q)


def count(*states: str) -> Query:
    """How many entries are in one of the states.

    >>> query = count("walk", "run")
    >>> query(["rest", "walk", "walk"]), query.sensitivity
    (2, 1)
    """
    if not states:
        raise ScenarioError("query", "a count of nothing", place="count", hint='count("walk")')
    return Query("sum", f"count of {', '.join(states)}", ONE, ONE, MappingProxyType(dict.fromkeys(states, ONE)))


def weighted_sum(weights: Mapping[str, Number], *, name: str = "") -> Query:
    """The sum of a weight for every entry.

    >>> weighted_sum({"rest": 0, "walk": "1/3", "run": "1/2"}).step
    1/6
    """
    return _sum(weights, name or "weighted sum", divided=False)


def mean(weights: Mapping[str, Number], *, name: str = "") -> Query:
    """The mean of a weight over the entries: the sum is released, and divided by their number, which is public."""
    return _sum(weights, name or "mean", divided=True)


def histogram(states: Sequence[str], *, relative: bool = False) -> Query:
    """How many entries are in every state; relative for shares of the number of entries, which is public.

    >>> histogram(["rest", "walk"])(["rest", "walk", "walk"])
    (1, 2)
    """
    names = tuple(states)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ScenarioError("query", "a histogram counts two or more different states", place="histogram")
    said = "shares of the states" if relative else "histogram of the states"
    return Query("histogram", said, rational(2), bins=names, divided=relative)


def lipschitz(function: Callable[[Sequence[Any]], Any], *, constant: Number, step: Number = 1, name: str = "") -> Query:
    """A function of the series that one entry moves by at most the constant; its values are multiples of the step.

    Both are statements of the caller: they are recorded with every release, and not verified.
    """
    moved, unit = rational(constant), rational(step)
    if moved <= 0 or unit <= 0:
        raise ScenarioError(
            "query", f"constant = {show(moved)}, step = {show(unit)}: both are above 0", place="lipschitz"
        )
    _measurable(moved, unit, "lipschitz")
    return Query("function", name or getattr(function, "__name__", "function"), moved, unit, function=function)


def linear(
    weights: Number | Sequence[Number] = 1, *, step: Number | None = None, divided: bool = False, name: str = ""
) -> Query:
    """The sum of real entries, each times its weight, rounded to a multiple of the step: of series under a `GaussianChain`.

    Args:
        weights: one number for all entries, or one for each.
        step: the answers are multiples of it; without it the calibration takes one that is fine beside the noise.
        divided: whether the answer is divided by the number of entries, which is public: the mean.
        name: the query in words.

    >>> linear(step="1/10")(["0.33", "0.5"]), linear([1, 0, "-1/2"], step=1).sensitivity
    (4/5, 1)
    """
    listed = tuple(map(rational, weights)) if isinstance(weights, list | tuple) else (rational(weights),)  # type: ignore[arg-type]
    moved, unit = max(map(abs, listed), default=ZERO), ZERO if step is None else rational(step)
    if moved == 0:
        raise ScenarioError("query", "every weight is 0", place="weights", hint="1")
    if unit < 0 or (step is not None and unit == 0):
        raise ScenarioError("query", f"step = {show(unit)}: it is above 0", place="step")
    _measurable(moved, unit or moved, "weights")
    said = ("mean" if divided else "sum") if len(listed) == 1 and listed[0] == 1 else "weighted sum"
    return Query("linear", name or said, moved, unit, divided=divided, coefficients=listed)


def parse_linear(text: str) -> Query:
    """A query of real numbers from a text: ``sum`` or ``mean``, and the step where it is not left to the calibration.

    >>> parse_linear("mean").divided, parse_linear("sum:step=1/4").step
    (True, 1/4)
    """
    kind, _, rest = (part.strip() for part in text.partition(":"))
    name, _, step = (part.strip() for part in rest.partition("="))
    if kind not in ("sum", "mean") or (rest and (name != "step" or not step)):
        raise ScenarioError(
            "query", f"{text!r} is no query of real numbers", place="query", hint="sum; mean; sum:step=1/10"
        )
    try:
        return linear(step=step or None, divided=kind == "mean")
    except NumberError as problem:
        raise problem.at("query") from None


def parse_query(text: str, states: Sequence[str], values: Mapping[str, Number] | None = None) -> Query:
    """A query from a text: ``count:walk,run``, ``histogram``, ``shares``, ``sum:walk=1/3,run=1``, ``mean:walk=1``, ``sum`` or ``mean``.

    Args:
        text: the query.
        states: the states there are.
        values: for ``sum`` and ``mean`` alone, what every state stands for; without it the states are numbers themselves.

    >>> parse_query("mean:walk=1/2", ["rest", "walk"]).weights["walk"]
    1/2
    >>> parse_query("mean", ["0", "10", "20"]).sensitivity
    20
    """
    kind, colon, rest = text.strip().partition(":")
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    if kind in ("histogram", "shares") and not colon:
        return histogram(states, relative=kind == "shares")
    if kind == "count" and parts:
        for state in parts:
            known_name(state, among=states, what="state", place="query", error=ScenarioError)
        return count(*parts)
    if kind in ("sum", "mean"):
        weights: dict[str, Number] = {}
        for part in parts:
            state, equals, weight = (piece.strip() for piece in part.rpartition("="))
            if not equals:
                raise ScenarioError("query", f"{part!r} gives no weight", place="query", hint=f"{kind}:{part}=1")
            known_name(state, among=states, what="state", place="query", error=ScenarioError)
            if state in weights:
                raise ScenarioError("query", f"two weights for {state!r}", place="query", hint="one of them")
            try:
                weights[state] = rational(weight)
            except NumberError as problem:
                raise problem.at(f"query: {part}") from None
        if not parts:
            try:
                weights = {state: rational(state if values is None else values[state]) for state in states}
            except NumberError:
                raise ScenarioError(
                    "query", "the states are no numbers", place="query", hint=f"{kind}:{states[0]}=1"
                ) from None
        return _sum(weights, kind if not parts else f"{kind} of {', '.join(parts)}", divided=kind == "mean")
    forms = "count:walk,run; histogram; shares; sum; mean; sum:walk=1/3,run=1; mean:walk=1; top:3; mode; median; quantile:3/4"
    raise ScenarioError("query", f"{text!r} is no query", place="query", hint=forms)


def _sum(weights: Mapping[str, Number], name: str, *, divided: bool) -> Query:
    exact = {state: rational(weight) for state, weight in weights.items()}
    if len(set(exact.values()) | {ZERO}) < 2:
        raise ScenarioError("query", "every weight is 0", place="weights", hint='{"walk": 1}')
    whole = lcm(*(int(weight.q) for weight in exact.values()))
    parts = [int((weight * whole).p) for weight in exact.values()]
    moved = max(*exact.values(), ZERO) - min(*exact.values(), ZERO)
    step = Rational(gcd(*parts), whole)
    _measurable(moved, step, "weights")
    return Query("sum", name, moved, step, MappingProxyType(exact), divided=divided)


def _measurable(moved: Rational, step: Rational, place: str) -> None:
    """Complain about numbers so large or so fine that the search for a noise, which uses floats, cannot hold them."""
    if moved > _LARGEST or step < 1 / _LARGEST or moved > _LARGEST * step:
        raise ScenarioError(
            "query",
            f"one entry moves the query by {decimal(moved)}, in steps of {decimal(step)}; between 10^-40 and 10^40 is possible",
            place=place,
            hint="another unit: thousands instead of single ones",
        )
