"""The least noise for claims about Rényi divergences: by the laws themselves, by a coupling of them, or by quilts.

The more noise, the smaller the divergences, up to the grid of discrete Gaussian noise; so bisection finds noise that is nearly the least
of which floats say that it is enough.  The checker decides when the release is verified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import inf, sqrt
from typing import Literal

from privproof.errors import QuestionError
from privproof.exact import epsilon, fraction, rational
from privproof.exact.balls import rational_bounds
from privproof.exact.measures import MeasuredBudget
from privproof.exact.rounding import shorten
from privproof.release.bayes_networks import Network
from privproof.release.calibration_methods import CalibrationPlan, Method, large, positive, try_methods
from privproof.release.divergence_costs import divergence_plan, kind_of
from privproof.release.influence_costs import QueryLaws, method_complaint
from privproof.release.law_distances import largest_distance
from privproof.release.markov_quilts import Quilts
from privproof.release.noise_steps import noise_of
from privproof.release.release_divergences import (
    MOST_TERMS,
    SURELY,
    coupled_divergence,
    fits,
    ladder,
    noisy_laws,
    told_by_others,
)
from privproof.release.release_premises import check_gaps
from privproof.release.release_question import Gaussian, Noise, ReleaseQuestion
from privproof.release.series_queries import Query
from privproof.release.sum_couplings import all_moves
from privproof.release.sum_laws import SumLaws

Kind = Literal["geometric", "laplace", "gaussian"]
METHODS: tuple[Method, ...] = ("exact", "coupling", "quilt", "group")
"""Methods for claims about divergences; ``auto`` takes the least noise of the first three."""
_DIGITS = 6
"""A variance is rounded up to so many digits."""
_CLOSE = 1e-6
"""Bisection ends where both sides differ by this share."""
_LESS = Fraction(998, 1000)
"""Where noise that is enough for some entries is not for all together, its rate is made smaller by this, until it is."""
_TRIES = 100
"""So often, which makes the noise larger by a fifth; the checker decides."""
_LEAST_SHARE = 2.0**-20
"""Where a million times the noise that quilts need is not enough, no noise is."""
_LARGEST_RATE = 69.0
"""No step of noise costs more than this: e^-69 is 1e-30."""
_NEXT = 1025 / 1024
"""The order by which order 1 is proved: divergences rise with it."""


def least_noise(
    laws: QueryLaws, budgets: Sequence[MeasuredBudget], method: Method, kind: Kind, *, gaps: bool
) -> tuple[CalibrationPlan, Noise, Mapping[str, Noise | str]]:
    """The least noise that a method proves to be enough for all values, and what other methods would need.

    Raises:
        QuestionError: the method does not apply, with the reason.
        BudgetError: a value is 0, which no noise attains, or out of the range that is looked for.
    """
    for each in budgets:
        positive(each.value or epsilon(0), str(each.measure), each.measure.kind)
    if kind not in ("geometric", "laplace", "gaussian"):
        raise QuestionError("noise", f"unknown noise {kind!r}", place="noise", hint="geometric, laplace, gaussian")
    if method not in ("auto", *METHODS):
        raise QuestionError(
            "method", f"{method} is not for {budgets[0].measure}", place="method", hint=f"auto, {', '.join(METHODS)}"
        )
    if gaps:
        check_gaps(laws.priors, method)

    def left_out(candidate: Method) -> str:
        if candidate == "quilt" or not (gaps or large(laws)):
            return ""
        return "entries are missing" if gaps else "the tables of laws would be large"

    found, refused = try_methods(method, METHODS[:3], lambda each: _least(laws, budgets, each, kind), left_out)
    taken = min(found, key=lambda each: fraction(found[each][0].expected))
    noise, quilts = found[taken]
    plan = CalibrationPlan(taken, 1 / fraction(noise.expected), quilts=quilts)
    return plan, noise, {**{each: other for each, (other, _) in found.items()}, **refused}


def less_than_alone(question: ReleaseQuestion, budgets: Sequence[MeasuredBudget]) -> bool:
    """Whether there is less noise than one entry would need if all were independent."""
    noise = question.noise
    kind: Kind = kind_of(noise)
    if isinstance(question.priors[0], Network):
        return False
    alone = [divergence_plan(question.priors, (1,), question.query, each, kind, whole=True) for each in budgets]
    return not all(plan.allows(noise) for plan in alone)


def noise_at(rate: Fraction, query: Query, kind: Kind) -> Noise:
    """Noise of which a unit of distance costs at most the rate; of Gaussian noise, is at most so many deviations."""
    if kind == "gaussian":
        return Gaussian.of(rational(shorten(1 / (rate * rate), up=True, digits=_DIGITS)), step=query.step)
    return noise_of(rate, query, kind)


def _least(
    laws: QueryLaws, budgets: Sequence[MeasuredBudget], method: Method, kind: Kind
) -> tuple[Noise, tuple[Quilts, ...]]:
    query = laws.query
    whole = method == "group"
    plans = [divergence_plan(laws.priors, laws.lengths, query, each, kind, whole=whole) for each in budgets]
    slowest = min(plans, key=lambda plan: plan.rate)
    if method in ("quilt", "group"):
        return noise_at(slowest.rate, query, kind), slowest.quilts
    if query.kind != "sum":
        raise method_complaint(method, f"{query.name} is no sum", "quilt")
    if method == "coupling":
        known = laws.by("coupling")
        moves, furthest = all_moves(known), largest_distance(known).steps

        def coupled(noise: Noise) -> float:
            return _excess(budgets, lambda order: coupled_divergence(moves, furthest, noise, query.step, order))

        return noise_at(_bisect_rate(coupled, slowest.rate, query, kind), query, kind), ()
    if kind == "laplace":
        raise method_complaint(method, "with Laplace noise divergences are bounded from below alone", "coupling")
    known = laws.by("exact")
    if not all(each.complete for each in known):
        raise method_complaint(method, "the tails of the laws are too small for floats", "quilt")
    return _by_laws(known, budgets, slowest.rate, query, kind), ()


def _by_laws(
    known: Sequence[SumLaws], budgets: Sequence[MeasuredBudget], start: Fraction, query: Query, kind: Kind
) -> Noise:
    """The least noise by the laws of the entries that need the most."""
    if any(budget.measure.order is None for budget in budgets):
        told = max(max(told_by_others(laws, query)[0].values()) for laws in known)
        if told == inf:
            raise method_complaint("exact", "what all other entries tell about one has no bound", "coupling")
    active: list[SumLaws] = [known[len(known) // 2]]

    def excess(among: Sequence[SumLaws], noise: Noise) -> float:
        return _excess(budgets, lambda order: _divergence(among, query, noise, order))

    while True:
        rate = _bisect_rate(lambda given: excess(active, given), start, query, kind)
        noise = noise_at(rate, query, kind)
        each = [excess([laws], noise) for laws in known]
        worst = max(range(len(known)), key=each.__getitem__)
        if each[worst] <= 1 or any(laws is known[worst] for laws in active):
            break
        active.append(known[worst])
    for _ in range(_TRIES):  # the orders of a ladder are those of all entries together
        if excess(known, noise) <= 1:
            break
        rate *= _LESS
        noise = noise_at(rate, query, kind)
    rungs = ladder(known, query, noise) if any(budget.measure.order is None for budget in budgets) else None
    if rungs is not None and rungs.terms > MOST_TERMS:
        raise method_complaint("exact", "the moments of all entries would have too many terms", "coupling")
    return noise


def _divergence(among: Sequence[SumLaws], query: Query, noise: Noise, order: float | None) -> float:
    """The largest divergence of some entries as it is proved, infinite where nothing is; for rho, divided by the order."""
    if order is None:
        rungs = ladder(among, query, noise)
        return inf if rungs is None else rungs.upper
    used = max(order, _NEXT)
    if not all(fits(laws, query, noise, used) for laws in among):
        return inf
    return max(max(noisy_laws(laws, query, noise, used).divergences(used).values()) for laws in among)


def _excess(budgets: Sequence[MeasuredBudget], divergence: Callable[[float | None], float]) -> float:
    """The largest of what is needed, divided by what is claimed."""
    result = 0.0
    for each in budgets:
        assert each.value is not None
        order = None if each.measure.order is None else float(each.measure.order)
        claimed = float(rational_bounds(each.value.ball(192))[0])
        result = max(result, divergence(order) * SURELY / claimed)
    return result


def _bisect_rate(excess: Callable[[Noise], float], start: Fraction, query: Query, kind: Kind) -> Fraction:
    """The largest rate for which nothing is exceeded, from a rate on that is nearly enough."""
    low, high = float(start), inf
    limit = _LARGEST_RATE / float(query.step)
    while excess(noise_at(Fraction(low), query, kind)) > 1:
        high, low = low, low / 2
        if low < float(start) * _LEAST_SHARE:
            raise method_complaint("exact", "it does not show so small a value with any noise", "coupling")
    if high == inf:
        high = 2 * low
        while high < limit and excess(noise_at(Fraction(high), query, kind)) <= 1:
            low, high = high, 2 * high
        high = min(high, limit)
    while high > low * (1 + _CLOSE):
        middle = sqrt(low * high)
        if excess(noise_at(Fraction(middle), query, kind)) <= 1:
            low = middle
        else:
            high = middle
    return Fraction(low)
