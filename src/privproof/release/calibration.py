"""Calibration: the least noise that is proved to keep the secrets of correlated data within a budget.

The methods are those of `planning`; ``auto`` takes the largest rate of the first four.  Gaussian noise, with a delta, is found by coupling
the laws of a sum, or by quilts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from privproof.errors import BudgetError, QuestionError, ScenarioError
from privproof.exact import Budget, EpsilonLike, Number, fraction, rational, show
from privproof.exact.measures import MeasuredBudget, Orders, measured_budgets
from privproof.release.calibration_methods import (
    AUTOMATIC,
    METHODS,
    PLANS,
    PREFERRED,
    CalibrationPlan,
    Method,
    large,
    positive,
    try_methods,
)
from privproof.release.divergence_calibration import least_noise
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.gaussian_quilts import gaussian_plan, squared_move
from privproof.release.gaussian_shifts import largest_shift
from privproof.release.influence_costs import QueryLaws, budget_below, entry_cost, method_complaint
from privproof.release.markov_quilts import Quilts
from privproof.release.noise_steps import accuracy, expected_error, noise_of
from privproof.release.release_premises import BY_LAWS, check_gaps, check_query, listed_lengths, listed_priors
from privproof.release.release_question import Gaussian, Laplace, Noise, Prior, ReleaseQuestion
from privproof.release.series_queries import Query
from privproof.release.shift_calibration import check_linear, least_by_shift, query_with_step
from privproof.release.sum_couplings import all_moves, least_variance

_TIED = Fraction(1, 10**9)
"""Methods whose rates differ relatively by less than this are equally good, and the preferred one is taken."""
_LEAST_DELTA = rational("1e-30")
"""A smaller delta is refused: floats look for the noise."""
_GAUSSIAN: tuple[Method, ...] = ("coupling", "quilt", "group")
"""Methods for Gaussian noise; the last is for comparison."""
Claimed: TypeAlias = "Budget | tuple[MeasuredBudget, ...]"
"""What is claimed: an epsilon, with a delta or without, or values of another measure."""
_SLACK = 1e-6
"""The share of delta that is kept back for the rounding of floats; the checker decides."""


@dataclass(frozen=True)
class Calibrated:
    """A query with noise that keeps the secrets within the budget.

    Attributes:
        question: the query, the priors, the noise and the budget.
        plan: the method that was taken, and why its noise is enough.
        others: what other methods would need: the expected error, or why they do not apply.
        laws: the laws of the query, which the verdict on the release needs again.
    """

    question: ReleaseQuestion
    plan: CalibrationPlan
    others: Mapping[str, Fraction | str] = field(default_factory=dict, kw_only=True)
    laws: QueryLaws = field(repr=False, compare=False, kw_only=True)

    @property
    def method(self) -> str:
        """The method that was taken."""
        return self.plan.method

    @property
    def noise(self) -> Noise:
        """The noise."""
        return self.question.noise

    @property
    def scale(self) -> Fraction:
        """The scale of Laplace noise at this rate, in the unit of the query before a division; of Gaussian noise its deviation."""
        return 1 / self.plan.rate

    @property
    def cost(self) -> Fraction:
        """What one entry costs: the loss between two series that differ in it; what an accountant is told."""
        return entry_cost(self.question)

    @property
    def squared(self) -> Fraction:
        """With Gaussian noise: the square of the most that one entry moves the answer, over the variance; what an accountant is told."""
        noise = self.question.noise
        if not isinstance(noise, Gaussian):
            raise QuestionError("noise", f"{noise} has a cost", place="noise", hint="cost")
        moved = max(squared_move(self.question.query, prior) for prior in self.question.priors)
        return fraction(moved / noise.variance)

    @property
    def expected_error(self) -> Fraction:
        """The expected distance (all components together) between what is released and the truth."""
        return expected_error(self.question.query, self.question.noise, self.question.entries)

    def accuracy(self, beta: Number = "1/20") -> Fraction:
        """A distance that one component's noise exceeds with probability at most beta, in whole steps for geometric noise."""
        divisor = self.question.entries if self.question.query.divided else 1
        return accuracy(self.question.noise, fraction(beta), divisor)

    @property
    def quilt(self) -> tuple[int, ...] | tuple[str, ...] | None:
        """The quilt of the entry that needs the most noise."""
        worst = self.worst_quilts
        return None if worst is None else worst.quilt

    @property
    def worst_quilts(self) -> Quilts | None:
        """The quilts of the prior that needs the most noise."""
        return min(self.plan.quilts, key=lambda found: found.rate) if self.plan.quilts else None


def calibrate(
    priors: Prior | Sequence[Prior],
    *,
    query: Query,
    epsilon: EpsilonLike | None = None,
    length: int | None = None,
    lengths: Sequence[int] = (),
    entries: int | None = None,
    gaps: bool = False,
    method: Method = "auto",
    noise: Literal["geometric", "laplace", "gaussian"] = "geometric",
    delta: Number = 0,
    rho: EpsilonLike | None = None,
    renyi: Orders | None = None,
    name: str = "",
) -> Calibrated:
    """The least noise for a query that a method proves to be enough.

    Args:
        priors: a chain, a band, a network, a Gaussian chain, or several chains or networks.
        query: what is released.
        epsilon: the budget.
        length: the length of the series.
        lengths: the lengths of several series, drawn independently of each other.
        entries: how many entries all series have together; without it the sum of the lengths.
        gaps: whether entries may be missing inside the series, so that neighbours are one step apart or more; lengths count those that are
            there.  Quilts hold all the same, because what lies further away tells less; the start is then stationary or any.
        method: see the module; ``auto`` takes the least noise.
        noise: geometric noise in whole steps, or Laplace noise; or, with a delta, discrete Gaussian noise.
        delta: with Gaussian noise, the second part of the budget.
        rho: instead of epsilon: all Rényi divergences are to be at most rho times their order.
        renyi: instead of epsilon: bounds on Rényi divergences by order, such as ``{2: "1/4"}``.
        name: how reports call the release.

    Raises:
        QuestionError: the method does not apply, with the reason.

    >>> from privproof.release.markov_chains import Chain
    >>> from privproof.release.series_queries import count
    >>> chain = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
    >>> made = calibrate(chain, length=100, query=count("walk"), epsilon=1, method="quilt", noise="laplace")
    >>> f"{float(made.scale):.4f}", made.quilt
    ('12.8400', (45, 55))
    """
    laws, total = laws_about(priors, query, length, lengths)
    entries = total if entries is None else entries
    budget = claimed_budget(epsilon, delta, rho, renyi)
    return calibrate_known(laws, budget=budget, entries=entries, gaps=gaps, method=method, noise=noise, name=name)


def claimed_budget(
    epsilon: EpsilonLike | None, delta: Number, rho: EpsilonLike | None, renyi: Orders | None
) -> Claimed:
    """What is claimed: an epsilon, with a delta or without, or values of another measure.

    Raises:
        QuestionError: nothing is claimed, or two things at once.
    """
    measures = measured_budgets(rho, None, renyi)
    if (epsilon is None) == (not measures):
        said = "no budget is given" if epsilon is None else f"epsilon and {measures[0].measure} are claimed at once"
        raise QuestionError("budget", said, place="epsilon", hint='one of epsilon=1, rho="1/8", renyi={2: "1/4"}')
    if epsilon is not None:
        return Budget.of(epsilon, delta)
    if rational(delta) != 0:
        raise QuestionError("delta", f"{measures[0].measure} has no delta", place="delta", hint="drop it")
    if any(each.growing is not None for each in measures):
        raise QuestionError("budget", "of a release a number is claimed", place="rho", hint='rho="1/8"')
    return measures


def laws_about(
    priors: Prior | Sequence[Prior], query: Query, length: int | None, lengths: Sequence[int]
) -> tuple[QueryLaws, int]:
    """The laws that a calibration is about, not computed yet, and the number of all entries."""
    listed = listed_priors(priors)
    sizes, total = listed_lengths(listed, length, lengths)
    return QueryLaws(listed, sizes, query), total


def calibrate_known(
    laws: QueryLaws,
    *,
    budget: Claimed,
    entries: int,
    gaps: bool,
    method: Method,
    noise: Literal["geometric", "laplace", "gaussian"],
    name: str = "",
    told: Callable[[str], None] = lambda _: None,
) -> Calibrated:
    """The least noise for a query whose laws may be known already; see `calibrate`.  Which method is tried, `told` is told."""
    priors, sizes, query = laws.priors, laws.lengths, laws.query
    if noise not in ("geometric", "laplace", "gaussian"):
        raise QuestionError("noise", f"unknown noise {noise!r}", place="noise", hint="geometric, laplace, gaussian")
    if isinstance(entries, bool) or not isinstance(entries, int) or entries < 1:
        raise ScenarioError("entries", f"entries = {entries!r}", place="entries", hint="how many there are in all")
    if isinstance(budget, Budget) and noise == "gaussian":
        _check_delta(budget)
    elif isinstance(budget, Budget) and budget.delta != 0:
        raise QuestionError(
            "delta", f"{noise} noise needs no delta", place="delta", hint='noise="gaussian", or without it'
        )
    if isinstance(priors[0], GaussianChain):
        told(f"looking for the least noise, {entries:,} entries")
        return _by_shift(laws, budget, entries, method, noise, name)
    if isinstance(budget, tuple):
        check_query(priors, query, max(sizes, default=1))
        told(f"looking for the least noise for {budget[0].measure}, {entries:,} entries")
        plan, drawn, others = least_noise(laws, budget, method, noise, gaps=gaps)
        return _calibrated(laws, plan, drawn, others, budget, entries, name, gaps=gaps)
    if noise == "gaussian":
        return _gaussian(laws, budget, entries, method, name, gaps=gaps)
    positive(budget.epsilon)
    check_query(priors, query, max(sizes, default=1))
    if method != "auto" and method not in METHODS:
        raise QuestionError("method", f"unknown method {method!r}", place="method", hint=f"auto, {', '.join(METHODS)}")
    if gaps:
        check_gaps(priors, method)

    def left_out(candidate: Method) -> str:
        if candidate in BY_LAWS and gaps:
            return "entries are missing"
        if candidate in BY_LAWS and large(laws) and not (candidate == "wasserstein" and query.kind == "histogram"):
            return "the tables of laws would be large; it may still be asked for by name"
        return ""

    def planned(candidate: Method) -> CalibrationPlan:
        told(f"looking for the least noise by the method {candidate}, {entries:,} entries")
        return PLANS[candidate](laws, budget.epsilon)

    found, refused = try_methods(method, AUTOMATIC, planned, left_out)
    if not found:
        found["group"] = PLANS["group"](laws, budget.epsilon)
    largest = max(each.rate for each in found.values()) * (1 - _TIED)
    plan = next(found[each] for each in (*PREFERRED, *METHODS) if each in found and found[each].rate >= largest)
    others = {each: noise_of(other.rate, query, noise) for each, other in found.items()}
    drawn = noise_of(plan.rate, query, noise)
    return _calibrated(laws, plan, drawn, {**others, **refused}, budget, entries, name, gaps=gaps)


def _calibrated(
    laws: QueryLaws,
    plan: CalibrationPlan,
    noise: Noise,
    others: Mapping[str, Noise | str],
    budget: Claimed,
    entries: int,
    name: str,
    *,
    gaps: bool = False,
) -> Calibrated:
    """What was found: the question with its noise, and the errors with the noise of other methods, or why they do not apply."""
    question = ReleaseQuestion(
        priors=laws.priors,
        lengths=laws.lengths,
        entries=entries,
        gaps=gaps,
        query=laws.query,
        noise=noise,
        name=name or f"noisy {laws.query.name}",
        budget=budget if isinstance(budget, Budget) else None,
        measures=budget if isinstance(budget, tuple) else (),
    )
    errors: dict[str, Fraction | str] = {
        each: other if isinstance(other, str) else expected_error(laws.query, other, entries)
        for each, other in others.items()
    }
    return Calibrated(question, plan, others=errors, laws=laws)


def _by_shift(
    laws: QueryLaws,
    budget: Claimed,
    entries: int,
    method: Method,
    noise: Literal["geometric", "laplace", "gaussian"],
    name: str,
) -> Calibrated:
    """The least noise for a linear query of a Gaussian chain."""
    (prior,) = laws.priors
    assert isinstance(prior, GaussianChain)
    check_linear(prior, laws.query, laws.lengths)
    shift = largest_shift(prior, laws.query, laws.lengths)
    laws = QueryLaws(laws.priors, laws.lengths, query_with_step(laws.query, shift))
    plan, drawn, others = least_by_shift(laws, shift, budget, method, noise)
    return _calibrated(laws, plan, drawn, others, budget, entries, name)


def _check_delta(budget: Budget) -> None:
    """Complain about Gaussian noise without a delta."""
    positive(budget.epsilon)
    if not _LEAST_DELTA <= budget.delta < 1:
        raise BudgetError(
            "budget",
            f"Gaussian noise keeps no epsilon without a delta, and delta = {show(budget.delta)}",
            place="delta",
            hint="between 1e-30 and 1, such as 1e-6",
        )


def _gaussian(laws: QueryLaws, budget: Budget, entries: int, method: Method, name: str, *, gaps: bool) -> Calibrated:
    """The least discrete Gaussian noise of which a coupling of laws, or quilts, show that it is enough."""
    query = laws.query
    check_query(laws.priors, query, max(laws.lengths, default=1))
    if method not in ("auto", *_GAUSSIAN):
        raise QuestionError(
            "method", f"{method} is not for Gaussian noise", place="method", hint=f"auto, {', '.join(_GAUSSIAN)}"
        )
    if gaps:
        check_gaps(laws.priors, method)

    def left_out(candidate: Method) -> str:
        if candidate != "coupling" or not (gaps or large(laws)):
            return ""
        return "entries are missing" if gaps else "the tables of laws would be large"

    found, refused = try_methods(method, _GAUSSIAN[:2], lambda each: _variance(laws, budget, each), left_out)
    taken = min(found, key=lambda each: found[each][0])
    noises: dict[str, Noise] = {each: Gaussian(rational(variance), query.step) for each, (variance, _) in found.items()}
    plan = CalibrationPlan(taken, 1 / fraction(noises[taken].expected), quilts=found[taken][1])
    return _calibrated(laws, plan, noises[taken], {**noises, **refused}, budget, entries, name, gaps=gaps)


def _variance(laws: QueryLaws, budget: Budget, method: Method) -> tuple[Fraction, tuple[Quilts, ...]]:
    """The least variance that a method proves to be enough, and the quilts that are the reason."""
    query = laws.query
    if method != "coupling":
        plan = gaussian_plan(laws.priors, laws.lengths, query, budget, whole=method == "group")
        return plan.variance, plan.quilts
    if query.kind != "sum":
        raise method_complaint("coupling", f"{query.name} is no sum", "quilt")
    moves = all_moves(laws.by("coupling"))
    steps = least_variance(moves, budget_below(budget.epsilon), float(budget.delta) * (1 - _SLACK))
    return steps * fraction(query.step) ** 2, ()


def asked_about(
    priors: Prior | Sequence[Prior],
    *,
    query: Query,
    noise: Noise,
    length: int | None = None,
    lengths: Sequence[int] = (),
    name: str = "",
) -> ReleaseQuestion:
    """The question how private a query is with given noise.

    Raises:
        ScenarioError: the noise moves in steps that do not fit the query.
    """
    listed = listed_priors(priors)
    sizes, entries = listed_lengths(listed, length, lengths)
    if isinstance(listed[0], GaussianChain):
        check_linear(listed[0], query, sizes)
    else:
        check_query(listed, query, max(sizes, default=1))
    step = query.step
    if step == 0:
        raise ScenarioError("query", "the answer is rounded to a step", place="query", hint='linear(step="1/10")')
    if not isinstance(noise, Laplace) and int((step / noise.step).q) != 1:
        raise ScenarioError(
            "noise", f"steps of {noise.step} do not reach all multiples of {step}", place="noise", hint=f'step="{step}"'
        )
    said = name or f"{query.name} with {noise}"
    return ReleaseQuestion(priors=listed, lengths=sizes, entries=entries, query=query, noise=noise, name=said)
