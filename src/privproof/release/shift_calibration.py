"""The least noise for linear queries of Gaussian chains: by the move of the answer, or also by what the series vary themselves.

| method | idea | applies to |
| --- | --- | --- |
| ``coupling`` | series given two values of an entry differ by fixed numbers, and the noise covers their sum | every noise and claim |
| ``own`` | what the series vary by themselves counts as noise | Gaussian noise, a stated variance, no range |
| ``group`` | the whole series is one group; for comparison | every noise and claim |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor, isqrt, log10

from privproof.errors import QuestionError, ScenarioError
from privproof.exact import Budget, Rational, fraction, rational
from privproof.exact.balls import rational_bounds
from privproof.exact.measures import MeasuredBudget
from privproof.exact.rounding import float_below, shorten
from privproof.release.calibration_methods import CalibrationPlan, Method, positive
from privproof.release.divergence_calibration import noise_at
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.gaussian_quilts import reach
from privproof.release.gaussian_shifts import QueryShift, own_noise
from privproof.release.influence_costs import QueryLaws, budget_below, method_complaint
from privproof.release.release_divergences import SURELY, DivergenceReach, Kind
from privproof.release.release_question import Gaussian, Noise
from privproof.release.series_queries import Query
from privproof.release.sum_couplings import bisected_variance, deltas

METHODS: tuple[Method, ...] = ("coupling", "own", "group")
"""The methods for Gaussian chains; ``auto`` is the first."""
_FINER = 100
"""A step that is not given is at most so small a part of the move of the answer: rounding costs a hundredth."""
_MOST_STEPS, _REACH = 100_000, 30
"""Steps of Gaussian noise whose tails the checker adds up, out to so many deviations; noise with more is calibrated by divergences."""
_HAIR = 1 - 1e-9
"""Floats look for noise that keeps a little less than is claimed; the checker decides."""


def query_with_step(query: Query, shift: QueryShift) -> Query:
    """The query with a step: where none is given, 1, 2 or 5 times a power of ten that is fine beside the move of the answer."""
    if query.step != 0:
        return query
    least = shift.distance / _FINER
    power = floor(log10(float(least)))
    tens = Rational(10) ** power
    return replace(query, step=max(tens * times for times in (Rational(1, 2), 1, 2, 5) if tens * times <= least))


def check_linear(prior: GaussianChain, query: Query, lengths: Sequence[int]) -> None:
    """Complain about a query or a length that does not fit a Gaussian chain."""
    if not isinstance(query, Query) or query.kind != "linear":
        raise ScenarioError(
            "query", f"{query!r} is no query of real numbers", place="query", hint='linear(), linear(step="1/10")'
        )
    for length in lengths:
        prior.bounds(length)
        if len(query.coefficients) not in (1, length):
            said = f"{len(query.coefficients)} weights, and a series of length {length}"
            raise ScenarioError("query", said, place="weights", hint="one weight for all, or one for each entry")


def least_by_shift(
    laws: QueryLaws, shift: QueryShift, budget: Budget | tuple[MeasuredBudget, ...], method: Method, kind: Kind
) -> tuple[CalibrationPlan, Noise, Mapping[str, Noise | str]]:
    """The least noise that a method proves to be enough, and what other methods would need.

    Raises:
        QuestionError: the method does not apply, with the reason.
        BudgetError: the budget is out of the range that is looked for.
    """
    if method not in ("auto", *METHODS):
        hint = f"auto, {', '.join(METHODS)}"
        raise QuestionError("method", f"{method} is not for Gaussian chains", place="method", hint=hint)
    taken: Method = "coupling" if method == "auto" else method
    found: dict[str, Noise | str] = {}
    for each in dict.fromkeys((taken, *METHODS)):
        try:
            found[each] = _noise(laws, shift, budget, each, kind)
        except QuestionError as problem:
            if each == taken:
                raise
            found[each] = problem.message
    noise = found[taken]
    assert not isinstance(noise, str)
    return CalibrationPlan(taken, 1 / fraction(noise.expected)), noise, found


def _noise(
    laws: QueryLaws, shift: QueryShift, budget: Budget | tuple[MeasuredBudget, ...], method: Method, kind: Kind
) -> Noise:
    (prior,), query = laws.priors, laws.query
    assert isinstance(prior, GaussianChain)
    if method == "own":
        return _beside_own(laws, budget, kind)
    moved = query.step * shift.steps(query.step)
    if method == "group":
        each = query.coefficients * max(laws.lengths) if len(query.coefficients) == 1 else query.coefficients
        moved = prior.distance * sum(map(abs, each), Rational(0))
    if isinstance(budget, tuple):
        return noise_at(min(_reach(each, kind) for each in budget) / fraction(moved), query, kind)
    positive(budget.epsilon)
    if kind != "gaussian":
        return noise_at(shorten(Fraction(budget_below(budget.epsilon)) / fraction(moved), up=False), query, kind)
    return Gaussian(rational(_variance(budget, int((moved / query.step).ceil()))) * query.step**2, query.step)


def _variance(budget: Budget, steps: int) -> Fraction:
    """The least variance, in steps, for a move by so many of them."""
    epsilon, delta = budget_below(budget.epsilon), float_below(budget.delta)
    by_divergences = (steps / Fraction(reach(epsilon, delta))) ** 2
    if _REACH * (isqrt(floor(by_divergences)) + 1) + steps > _MOST_STEPS:
        return by_divergences
    return bisected_variance(lambda each: float(deltas(each, epsilon, steps, alone=True)[-1]) * SURELY <= delta * _HAIR)


def _reach(budget: MeasuredBudget, kind: Kind) -> Fraction:
    """How far the answer may move, in deviations or in loss."""
    assert budget.value is not None
    positive(budget.value, str(budget.measure), budget.measure.kind)
    order = None if budget.measure.order is None else float(budget.measure.order)
    value = float_below(rational_bounds(budget.value.ball(192))[0])
    return DivergenceReach(order, value, kind).rate(1, 0.0)


def _beside_own(laws: QueryLaws, budget: Budget | tuple[MeasuredBudget, ...], kind: Kind) -> Noise:
    (prior,), query = laws.priors, laws.query
    assert isinstance(prior, GaussianChain)
    known = own_noise(prior, query, laws.lengths)
    if kind != "gaussian":
        raise method_complaint("own", "only Gaussian noise adds to what the series vary by themselves", "coupling")
    if known is None:
        reason = "no variance is stated" if prior.values is None else "entries are cut off at a range"
        raise method_complaint("own", reason, "coupling")
    if isinstance(budget, tuple):
        most = min(float(_reach(each, kind)) ** 2 / 2 for each in budget)
    else:
        most = reach(budget_below(budget.epsilon), float_below(budget.delta)) ** 2 / 2
    step = float(query.step)
    variance = bisected_variance(lambda each: known.rho(each * step * step, step) <= most * _HAIR)
    return Gaussian(rational(max(variance, Fraction(1))) * query.step**2, query.step)
