"""Questions about a release: priors, the lengths of the series, a query, noise, and the epsilon that is claimed.

The claim: under every prior, for every entry i and any two values x, x' that are both possible for it, and every event
O, ``P(released in O | X_i = x) <= e^epsilon P(released in O | X_i = x')``.  Several series are drawn independently of
each other, so those without the entry only add noise of their own to both sides, and each length is judged alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from privproof_checker.claims import read_epsilon
from privproof_checker.numbers import INFINITE, ZERO, Epsilon, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    names,
    only_members,
    require_name,
    text,
)
from privproof_checker.release.release_divergences import Bound, DivergenceAllowance
from privproof_checker.release.release_losses import Allowance, Gaussian, GeometricNoise, Laplace, Noise
from privproof_checker.release.release_priors import Chain, GaussianChain, Network, Prior, read_priors

_MEMBERS = ("kind", "title", "priors", "lengths", "query", "noise", "epsilon", "delta")
_LONGEST = 1_000_000_000
"""The longest series that may be asked about; beyond, the question is refused."""
_MOST_LENGTHS = 10_000
"""Series of so many different lengths may be asked about together; beyond, the question is refused."""


@dataclass(frozen=True)
class Sum:
    """The sum of a weight for every entry; values without a weight weigh nothing, and all are multiples of the step."""

    weights: Mapping[str, Rational]
    step: Rational

    def weight(self, value: str) -> Rational:
        """What an entry of this value adds."""
        return self.weights.get(value, ZERO)


@dataclass(frozen=True)
class Histogram:
    """The number of entries in every bin, each with noise of its own."""

    bins: tuple[str, ...]


@dataclass(frozen=True)
class LinearQuery:
    """The sum of real entries, each times its weight, rounded to the nearest multiple of the step, the greater one of two."""

    weights: tuple[Rational, ...]
    step: Rational

    def of(self, length: int) -> tuple[Rational, ...]:
        """The weights of a series of a length."""
        if len(self.weights) == 1:
            return self.weights * length
        if len(self.weights) != length:
            refuse(f"{len(self.weights)} weights are given for a series of length {length}", "question.query.weights")
        return self.weights


@dataclass(frozen=True)
class AnyFunction:
    """Any function; how far one entry moves it is a statement of the caller."""

    name: str
    sensitivity: Rational


Query: TypeAlias = "Sum | Histogram | LinearQuery | AnyFunction"


@dataclass(frozen=True)
class Release:
    """A question, read and checked; it claims an epsilon, or where a bound is given that."""

    priors: tuple[Prior, ...]
    lengths: tuple[int, ...]
    query: Query
    noise: Noise
    epsilon: Epsilon
    delta: Rational = ZERO
    bound: Bound | None = None

    def allowance(self, prior: Prior) -> Allowance:
        """What the claim allows under a prior."""
        most = query_sensitivity(self.query, prior)
        squared = most if isinstance(self.query, Histogram) else most * most
        if self.bound is not None:
            single = not isinstance(self.query, Histogram) or len(self.query.bins) == 1
            value = self.bound.value
            return DivergenceAllowance(value, most, self.noise, squared=squared, bound=self.bound, single=single)
        return Allowance(self.epsilon, most, self.noise, self.delta, squared)

    @property
    def gaussian_chain(self) -> bool:
        """Whether entries are real numbers under a Gaussian chain."""
        return isinstance(self.priors[0], GaussianChain)

    @property
    def networks(self) -> bool:
        """Whether the priors are networks."""
        return isinstance(self.priors[0], Network)

    def claim(self) -> str:
        """The claim in words, with what it assumes."""
        what = {1: "one prior"}.get(len(self.priors), f"each of {len(self.priors)} priors")
        budget = f"epsilon = {self.epsilon.show()}" + (f", delta = {text(self.delta)}" if self.delta != 0 else "")
        budget = budget if self.bound is None else str(self.bound)
        said = f"{budget} holds for every entry under {what}"
        for prior in self.priors:
            if isinstance(prior, GaussianChain):
                said = f"{budget} holds for values of every entry at most {text(prior.distance)} apart under {what}"
        if self.lengths:
            lengths = ", ".join(map(str, self.lengths[:8])) + (", ..." if len(self.lengths) > 8 else "")
            said += f", in series of length {lengths}"
        said += f", with {self.noise}"
        if isinstance(self.query, AnyFunction):
            said += (
                f", assuming that one entry moves {self.query.name[:80]!r} by at most {text(self.query.sensitivity)}"
            )
            if not isinstance(self.noise, Laplace):
                said += f" and that its values are multiples of {text(self.noise.step)}"
        return said


def given_by_prior(
    release: Release, evidence: dict[str, object], what: str
) -> Iterator[tuple[Prior, list[tuple[int, object, str]]]]:
    """The member ``ranges`` of evidence: for every prior what is given for each length, with its place."""
    listed = a_list(evidence.get("ranges"), "evidence.ranges")
    if len(listed) != len(release.priors):
        refuse(f"{len(listed)} lists are given for {len(release.priors)} priors", "evidence.ranges")
    for number, (item, prior) in enumerate(zip(listed, release.priors, strict=True)):
        place = f"evidence.ranges[{number}]"
        series = a_list(item, place)
        if len(series) != len(release.lengths):
            refuse(f"{len(series)} {what} are given for {len(release.lengths)} lengths", place)
        places = (f"{place}[{i}]" for i in range(len(series)))
        yield prior, list(zip(release.lengths, series, places, strict=True))


def _weight_range(query: Sum, values: Iterable[str]) -> Rational:
    weights = [query.weight(value) for value in values]
    return max(weights) - min(weights)


def query_sensitivity(query: Query, prior: Prior) -> Rational:
    """The most that changing one entry moves the query, all components together."""
    if isinstance(query, AnyFunction):
        return query.sensitivity
    if isinstance(query, Histogram):
        return Rational(1 if len(query.bins) == 1 else 2)
    if isinstance(prior, GaussianChain) or isinstance(query, LinearQuery):
        refuse("of a linear query shifts alone tell how far it moves", "evidence.method")
    if isinstance(prior, Network):
        return max(_weight_range(query, node.values) for node in prior.nodes)
    return _weight_range(query, prior.values if isinstance(prior, Chain) else prior.states)


def read_release(given: dict[str, object], limits: Limits) -> Release:
    """The question of a certificate."""
    only_members(given, _MEMBERS, "question")
    delta = a_number(given.get("delta", 0), "question.delta", limits)
    if "epsilon" not in given:
        refuse("the question claims no epsilon", "question.epsilon")
    claimed = read_epsilon(given["epsilon"], "question.epsilon", limits)
    if claimed.infinite:
        refuse("an infinite epsilon claims nothing about noise that is possible everywhere", "question.epsilon")
    found = _read_release(given, claimed, limits)
    if isinstance(found.noise, Gaussian) and not 0 < delta < 1:
        refuse("with Gaussian noise a claim has a delta between 0 and 1", "question.delta")
    if delta != 0 and not isinstance(found.noise, Gaussian):
        refuse("only with Gaussian noise a release has a delta", "question.delta")
    return replace(found, delta=delta)


def read_unclaimed_release(given: dict[str, object], limits: Limits) -> Release:
    """A release of which a measure is claimed, and no epsilon."""
    only_members(given, tuple(name for name in _MEMBERS if name not in ("epsilon", "delta")), "question.of")
    return _read_release(given, INFINITE, limits)


def _read_release(given: dict[str, object], claimed: Epsilon, limits: Limits) -> Release:
    if given.get("kind") != "release":
        refuse("the question is not about a release", "question.kind")
    a_text_or_null(given.get("title"), "question.title")
    priors = read_priors(given.get("priors"), limits)
    lengths = _lengths(given.get("lengths"), networks=isinstance(priors[0], Network))
    values = {value for prior in priors for value in _values(prior)}
    query = _query(an_object(given.get("query"), "question.query"), values, limits)
    if isinstance(priors[0], GaussianChain) != isinstance(query, LinearQuery):
        refuse("linear queries are those of Gaussian chains, and no others are", "question.query.kind")
    noise = _noise(given.get("noise"), query, limits)
    return Release(priors, lengths, query, noise, claimed)


def _values(prior: Prior) -> Iterable[str]:
    """The values that an entry may take."""
    if isinstance(prior, Network):
        return (value for node in prior.nodes for value in node.values)
    if isinstance(prior, GaussianChain):
        return ()
    return prior.values if isinstance(prior, Chain) else prior.states


def _lengths(value: object, *, networks: bool) -> tuple[int, ...]:
    listed = a_list(value, "question.lengths")
    if networks and listed:
        refuse("a network has its nodes and no length", "question.lengths")
    if not networks and not listed:
        refuse("there is no series, so nothing is compared", "question.lengths")
    within(len(listed), _MOST_LENGTHS, "lengths", "question.lengths")
    result = tuple(an_integer(item, f"question.lengths[{i}]") for i, item in enumerate(listed))
    for i, length in enumerate(result):
        if not 1 <= length <= _LONGEST:
            refuse(f"a length is between 1 and {_LONGEST}", f"question.lengths[{i}]")
    if len(set(result)) < len(result):
        refuse("a length is given twice", "question.lengths")
    return result


def _query(given: dict[str, object], values: set[str], limits: Limits) -> Query:
    place = "question.query"
    kind = a_text(given.get("kind"), f"{place}.kind")
    if kind == "sum":
        only_members(given, ("kind", "weights", "step"), place)
        step = a_number(given.get("step"), f"{place}.step", limits)
        if step <= 0:
            refuse("the step is not above 0", f"{place}.step")
        weights: dict[str, Rational] = {}
        for name, item in an_object(given.get("weights"), f"{place}.weights").items():
            require_name(name, values, "state", f"{place}.weights")
            weights[name] = a_number(item, f"{place}.weights.{name}", limits)
            if (weights[name] / step).q != 1:
                refuse(f"the weight {text(weights[name])} is no multiple of the step", f"{place}.weights.{name}")
        return Sum(weights, step)
    if kind == "histogram":
        only_members(given, ("kind", "bins"), place)
        bins = names(given.get("bins"), f"{place}.bins", limits.symbols)
        for i, name in enumerate(bins):
            require_name(name, values, "state", f"{place}.bins[{i}]")
        return Histogram(bins)
    if kind == "linear":
        only_members(given, ("kind", "weights", "step"), place)
        listed = a_list(given.get("weights"), f"{place}.weights")
        factors = tuple(a_number(item, f"{place}.weights[{i}]", limits) for i, item in enumerate(listed))
        step = a_number(given.get("step"), f"{place}.step", limits)
        if step <= 0 or not any(factors):
            refuse("a step is above 0, and some weight is not 0", place)
        return LinearQuery(factors, step)
    if kind == "function":
        only_members(given, ("kind", "name", "sensitivity"), place)
        sensitivity = a_number(given.get("sensitivity"), f"{place}.sensitivity", limits)
        if sensitivity <= 0:
            refuse("the sensitivity is not above 0", f"{place}.sensitivity")
        return AnyFunction(a_text(given.get("name"), f"{place}.name"), sensitivity)
    refuse(f"{kind[:40]!r} is no kind of query", f"{place}.kind")


def _noise(value: object, query: Query, limits: Limits) -> Noise:
    place = "question.noise"
    given = an_object(value, place)
    kind = a_text(given.get("kind"), f"{place}.kind")
    if kind == "laplace":
        only_members(given, ("kind", "scale"), place)
        scale = a_number(given.get("scale"), f"{place}.scale", limits)
        if scale <= 0:
            refuse("the scale is not above 0", f"{place}.scale")
        return Laplace(scale)
    if kind in ("geometric", "gaussian"):
        name = "alpha" if kind == "geometric" else "variance"
        only_members(given, ("kind", name, "step"), place)
        size, step = (a_number(given.get(each), f"{place}.{each}", limits) for each in (name, "step"))
        if size <= 0 or (kind == "geometric" and size >= 1):
            refuse(
                f"{name} = {text(size)} is not {'between 0 and 1' if name == 'alpha' else 'above 0'}", f"{place}.{name}"
            )
        if step <= 0:
            refuse("the step is not above 0", f"{place}.step")
        grid = query.step if isinstance(query, Sum | LinearQuery) else Rational(1)
        if not isinstance(query, AnyFunction) and (grid / step).q != 1:
            refuse(f"the values are multiples of {text(grid)} and not all of them of the step", f"{place}.step")
        return GeometricNoise(size, step) if kind == "geometric" else Gaussian(size, step)
    refuse(f"{kind[:40]!r} is no kind of noise", f"{place}.kind")
