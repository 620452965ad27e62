"""Releasing: the answer of a calibrated query on data, with noise drawn exactly.

The data must be what the noise was calibrated for: the same states, the same number of entries, series that are not longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import accumulate
from math import isfinite
from typing import TYPE_CHECKING, Any

from privproof.drawing.showing import ShownCard
from privproof.errors import QuestionError, ScenarioError
from privproof.exact import Number, Rational, fraction, from_float, rational
from privproof.language.randomness import release_source
from privproof.models.finite_distributions import known_name
from privproof.release.bayes_networks import Network
from privproof.release.calibration import Calibrated
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.noise_drawing import draw
from privproof.release.release_premises import BY_LAWS
from privproof.release.series_queries import Query

if TYPE_CHECKING:
    from privproof.language.randomness import Seed


@dataclass(frozen=True)
class Released(ShownCard):
    """A noisy answer.

    Attributes:
        values: what is released, by name: one number, or one for every bin.
        made: the query with its noise.
        seeded: whether the noise was drawn from a seed, for a test; then these numbers hide nothing.
    """

    values: Mapping[str, Fraction]
    made: Calibrated
    seeded: bool = False

    @property
    def value(self) -> Fraction:
        """The number that is released, where it is one."""
        if len(self.values) != 1:
            raise QuestionError("query", f"{len(self.values)} numbers were released", place="value", hint=".values")
        return next(iter(self.values.values()))

    def largest(self, number: int = 1) -> tuple[str, ...]:
        """The bins with the largest noisy counts, the first one being the mode; what is read off a release costs nothing more.

        Ties are broken by the order of the bins.

        Raises:
            QuestionError: there are not so many bins.
        """
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(self.values):
            raise QuestionError(
                "query", f"{number!r} of {len(self.values)} bins", place="largest", hint=f"1 to {len(self.values)}"
            )
        return tuple(sorted(self.values, key=lambda name: -self.values[name])[:number])

    def quantile(self, share: Number = "1/2") -> str:
        """The first bin up to which the noisy counts have this share of all entries: 1/2 for the median; costs nothing more.

        The bins stand in their order; the number of entries is public.

        Raises:
            QuestionError: a single number was released, or the share is not between 0 and 1.
        """
        wanted = fraction(share)
        if len(self.values) < 2 or not 0 < wanted < 1:
            raise QuestionError(
                "query",
                f"the quantile {wanted} of {len(self.values)} bins",
                place="quantile",
                hint='"1/2", of a histogram',
            )
        question = self.made.question
        needed = wanted * (1 if question.query.divided else question.entries)
        sums = accumulate(self.values.values())
        return next(
            (name for name, total in zip(self.values, sums, strict=True) if total >= needed), [*self.values][-1]
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The values as a stream of Arrow, which frames are made of: their names, as floats, and exactly as texts."""
        try:
            arrow = import_module("pyarrow")
        except ImportError:
            raise QuestionError(
                "extra", "a stream of Arrow needs pyarrow", place="released", hint="pip install 'privproof[data]'"
            ) from None
        values = list(self.values.values())
        columns = {"name": list(self.values), "value": list(map(float, values)), "exact": list(map(str, values))}
        stream: object = arrow.table(columns).__arrow_c_stream__(requested_schema)
        return stream


def release(made: Calibrated, data: Any, *, seed: Seed = None) -> Released:
    """The noisy answer on a series, on several series, or on a data set of a network (values by node).

    Under a Gaussian chain a series is one of numbers: a list, an array, a column of a frame.  Those beyond its range count as its ends.

    Noise comes from the operating system's generator, also inside `privproof.seeded`.  With a seed, for tests alone, it can be
    repeated, and the answer is marked as `seeded`: whoever knows the seed knows the truth.

    Raises:
        ScenarioError: the data are not what the noise was calibrated for.
    """
    question = made.question
    if isinstance(question.priors[0], Network):
        if not isinstance(data, Mapping):
            raise ScenarioError("data", "a network wants a value for every node", place="data", hint='{"john": "ill"}')
        nodes = {node.name: node.values for node in question.priors[0].nodes}
        if set(data) != set(nodes):
            raise ScenarioError("data", f"values for {sorted(data)}, nodes {sorted(nodes)}", place="data")
        for name, value in data.items():
            known_name(value, among=nodes[name], what="value", place=f"data.{name}", error=ScenarioError)
        listed = [[data[name] for name in nodes]]
    elif isinstance(question.priors[0], GaussianChain):
        return noisy(made, {question.query.name: _real_answer(made, data)}, seed=seed)
    else:
        listed = _series(data)
        _as_calibrated(made, [len(series) for series in listed], [value for series in listed for value in series])
    everything = [value for series in listed for value in series]
    query = question.query
    if query.kind == "function":
        assert query.function is not None
        return noisy(made, {query.name: rational(query.function(listed if len(listed) > 1 else listed[0]))}, seed=seed)
    return noisy(made, exact_answers(query, Counter(everything)), seed=seed)


def _real_answer(made: Calibrated, data: Any) -> Rational:
    """A linear query of one series of real numbers, or of several; floats stand for their exact values."""
    question = made.question
    prior = question.priors[0]
    assert isinstance(prior, GaussianChain)
    rows = list(data) if isinstance(data, Iterable) and not isinstance(data, str | Mapping) else []
    several = bool(rows) and all(isinstance(row, Iterable) and not isinstance(row, str) for row in rows)
    listed = [[_real(value) for value in row] for row in rows] if several else [[_real(value) for value in rows]]
    if not all(listed):
        raise ScenarioError("data", f"{data!r} is no series of numbers", place="data", hint='[12.5, "0.3", 7]')
    lengths = [len(series) for series in listed]
    if sum(lengths) != question.entries or any(length not in question.lengths for length in lengths):
        known = ", ".join(map(str, question.lengths[:5]))
        said = f"series of length {', '.join(map(str, lengths[:5]))}; the noise is for {question.entries} entries, length {known}"
        raise ScenarioError("length", said, place="data", hint="calibrate anew")
    weights = question.query.coefficients
    total = rational(0)
    for series in listed:
        each = weights * len(series) if len(weights) == 1 else weights
        total += sum((a * prior.cut(b) for a, b in zip(each, series, strict=True)), rational(0))
    return question.query.rounded(total)


def _real(value: Any) -> Rational:
    """A number of the data: a float is its exact value, which is no parameter of anything."""
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float):
        if not isfinite(number):
            raise ScenarioError("data", f"{number} is no number", place="data", hint="drop what is missing")
        return from_float(number)
    return rational(number)


def _series(data: Sequence[str] | Sequence[Sequence[str]] | Mapping[str, str]) -> list[list[str]]:
    if isinstance(data, Mapping | str) or not isinstance(data, Iterable):
        raise _no_series(data)
    listed: list[Any] = list(data)
    if listed and isinstance(listed[0], str):
        listed = [listed]
    series = [list(one) if isinstance(one, Iterable) and not isinstance(one, str) else None for one in listed]
    if not series or not all(one and all(isinstance(value, str) for value in one) for one in series):
        raise _no_series(data)
    return [one for one in series if one]


def _no_series(data: object) -> ScenarioError:
    return ScenarioError("data", f"{data!r} is no series of states", place="data", hint='["rest", "walk", "walk"]')


def _as_calibrated(made: Calibrated, lengths: Sequence[int], values: Sequence[str]) -> None:
    question = made.question
    if sum(lengths) != question.entries:
        raise ScenarioError(
            "data", f"{sum(lengths)} entries, the noise is for {question.entries}", place="data", hint="calibrate anew"
        )
    check_lengths(made, lengths)
    prior = question.priors[0]
    assert not isinstance(prior, Network)
    for value in dict.fromkeys(values):
        known_name(value, among=prior.states, what="state", place="data", error=ScenarioError)


def check_lengths(made: Calibrated, lengths: Sequence[int]) -> None:
    """Complain about series that are longer than the noise was made for, or of other lengths where it depends on them."""
    known = made.question.lengths
    some = made.method in BY_LAWS
    for length in dict.fromkeys(lengths):
        if length > max(known) or (some and length not in known):
            listed = ", ".join(map(str, known[:5])) + (", ..." if len(known) > 5 else "")
            raise ScenarioError(
                "length", f"a series of length {length}; the noise is for {listed}", place="data", hint="calibrate anew"
            )


def exact_answers(query: Query, counts: Mapping[str, int]) -> dict[str, Rational]:
    """The answers of a sum or a histogram, from how often every state occurs; without noise and not divided."""
    if query.kind == "histogram":
        return {state: rational(counts.get(state, 0)) for state in query.bins}
    total = sum((query.weight(state) * number for state, number in counts.items()), rational(0))
    return {query.name: total}


def noisy(made: Calibrated, answers: Mapping[str, Rational], *, seed: Seed = None) -> Released:
    """The answers with noise, divided where the query says so; drawn from the operating system's generator, or from a seed."""
    source = release_source(seed)
    question = made.question
    divisor = question.entries if question.query.divided else 1
    step = question.query.step
    values = {}
    for name, answer in answers.items():
        steps = answer / step
        if int(steps.q) != 1:
            raise ScenarioError(
                "query",
                f"{name} is {answer}, no multiple of the step {step}",
                place="query",
                hint="step=... in lipschitz",
            )
        values[name] = fraction(answer + draw(question.noise, step, source)) / divisor
    return Released(values, made, seeded=seed is not None)
