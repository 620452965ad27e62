"""Verdicts about linear queries of Gaussian chains: the noise against the move of the answer.

Of chains whose variance may be anything the verdicts are exact: the answer moves by so many steps, and series that hardly vary come as near
to it as one likes.  With a stated variance, what the series vary by themselves may prove more, and nothing is refuted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor, isqrt
from typing import Any

from flint import arb

from privproof.evidence.engine_answers import Answer
from privproof.evidence.witnesses import ObservedRelease, ReleaseWitness, Witness
from privproof.exact import Budget, Epsilon, Rational, epsilon, fraction, log
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.measures import MeasuredBudget
from privproof.exact.probabilities import Ball
from privproof.exact.rounding import GRID, to_grid
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.gaussian_quilts import loss_beside
from privproof.release.gaussian_shifts import OwnNoise, QueryShift, largest_shift, own_noise
from privproof.release.release_divergences import SURELY, noise_divergence
from privproof.release.release_question import Gaussian, Geometric, Laplace, ReleaseQuestion
from privproof.release.sum_couplings import deltas
from privproof.scenarios import MeasuredQuestion

_EVIDENCE = {"method": "shifts"}
_LONG = 256
"""Bits of the ratio of a loss that are written down; a longer one is rounded to a decimal."""
_MOST_STEPS, _REACH = 100_000, 30
"""Steps of Gaussian noise whose tails the checker adds up, out to so many deviations; beyond, divergences bound delta."""
_OWN = "what the series vary by themselves counts as noise here: whoever knows some of the entries may learn more"


@dataclass(frozen=True)
class ShiftedQuery:
    """A linear query of a Gaussian chain, with noise."""

    question: ReleaseQuestion

    @property
    def prior(self) -> GaussianChain:
        """The class of chains."""
        prior = self.question.priors[0]
        assert isinstance(prior, GaussianChain)
        return prior

    @cached_property
    def shift(self) -> QueryShift:
        """How far the answer moves."""
        return largest_shift(self.prior, self.question.query, self.question.lengths)

    @cached_property
    def steps(self) -> int:
        """The most steps that the rounded answer moves."""
        return self.shift.steps(self.question.query.step)

    @cached_property
    def least(self) -> int | None:
        """So many it moves in some series or more, where that is known."""
        return self.shift.least_steps(self.prior, self.question.query.step)

    @cached_property
    def own(self) -> OwnNoise | None:
        """What the series vary by themselves, where that counts."""
        gaussian = isinstance(self.question.noise, Gaussian)
        return own_noise(self.prior, self.question.query, self.question.lengths) if gaussian else None

    def distance(self, steps: int) -> Rational:
        """So many steps, in the unit of the query."""
        return self.question.query.step * steps

    @property
    def rho(self) -> tuple[float, float]:
        """With Gaussian noise, what all divergences, over their order, are at most: by the noise alone, and with the series themselves."""
        noise = self.question.noise
        assert isinstance(noise, Gaussian)
        alone = float(self.distance(self.steps) ** 2 / (2 * noise.variance))
        if self.own is None:
            return alone, alone
        return alone, self.own.rho(float(noise.variance), float(self.question.query.step))

    def loss(self, steps: int, *, up: bool) -> Epsilon:
        """What the noise loses where the answer moves by so many steps: exactly, or rounded where the number is long."""
        noise, distance = self.question.noise, self.distance(steps)
        if isinstance(noise, Laplace):
            return epsilon(distance / noise.scale)
        assert isinstance(noise, Geometric)
        times = int((distance / noise.step).p)
        if times * int(noise.alpha.q).bit_length() <= _LONG:
            return log(fraction(noise.alpha) ** -times)
        low, high = rational_bounds(noise.rate(192) * arb(distance))
        return epsilon(to_grid(high if up else low, up=up))

    def excess(self, budget: Budget, steps: int) -> float | None:
        """The least delta where the answer moves by so many steps; None where the noise has too many."""
        noise = self.question.noise
        assert isinstance(noise, Gaussian)
        variance = noise.variance / (noise.step * noise.step)
        moved = int((self.distance(steps) / noise.step).p)
        if moved == 0:
            return 0.0
        if _REACH * (isqrt(floor(variance)) + 1) + moved > _MOST_STEPS:
            return None
        return float(
            deltas(float(variance), float(rational_bounds(budget.epsilon.ball(192))[0]), moved, alone=True)[-1]
        )

    def witness(self) -> ReleaseWitness | None:
        """Everything from the moved answer on, given both values; None with Gaussian noise, or where no move is known."""
        if self.least is None or isinstance(self.question.noise, Gaussian):
            return None
        noise, distance = self.question.noise, self.distance(self.least)
        node, length = self.shift.node, self.shift.length
        with precision(256):
            first = 1 / (1 + arb(noise.alpha)) if isinstance(noise, Geometric) else arb(1) / 2
            other = first * (-noise.rate(256) * arb(distance)).exp()
        left, right = f"X_{node} = x + {self.prior.distance}", f"X_{node} = x"
        said = f"released value at or beyond the answer given {left}, {distance} away from the other"
        where = f"{self.prior}, length {length}, in the limit of series that hardly vary"
        return Witness(left, right, ObservedRelease(said, where), Ball.of(first), Ball.of(other))

    def notes(self, *, own: bool) -> tuple[str, ...]:
        """What the reader must know."""
        return (_OWN,) if own else ()


def answers_by_shifts(question: ReleaseQuestion, budget: Budget, *, tight: bool) -> Iterator[Answer]:
    """Whether the budget holds, or (tight, without Gaussian noise) how private the release is."""
    found = ShiftedQuery(question)
    unknown = Answer(status="unknown", question=question.under(budget), engine="release")
    if isinstance(question.noise, Gaussian):
        yield from _with_gaussian(found, unknown, budget)
        return
    top = found.loss(found.steps, up=True)
    low = epsilon(0) if found.least is None else found.loss(found.least, up=False)
    known: dict[str, Any] = {"evidence": _EVIDENCE, "lower": low, "upper": top, "witness": found.witness()}
    if tight:
        yield replace(unknown, status="proved", question=question.under(Budget(top)), **known)
    elif top.compare(budget.epsilon) <= 0:
        yield replace(unknown, status="proved", **known)
    elif low.compare(budget.epsilon) > 0:
        yield replace(unknown, status="refuted", **known)
    else:
        yield replace(
            unknown, upper=top, reason=f"the answer moves by up to {found.steps} steps, and how far is not known"
        )


def _with_gaussian(found: ShiftedQuery, unknown: Answer, budget: Budget) -> Iterator[Answer]:
    if budget.delta == 0 or budget.epsilon.infinite or budget.epsilon.compare(epsilon(0)) == 0:
        reason = "with Gaussian noise a release is asked about with an epsilon above 0 and a delta"
        yield replace(unknown, reason=reason)
        return
    delta, most = float(budget.delta), float(rational_bounds(budget.epsilon.ball(192))[1]) * SURELY
    needed, (alone, own) = found.excess(budget, found.steps), found.rho
    covered = loss_beside(alone, delta) <= most if needed is None else needed <= delta * SURELY
    if covered or loss_beside(own, delta) <= most:
        notes = found.notes(own=not covered)
        proved = replace(unknown, status="proved", evidence=_EVIDENCE, upper=budget.epsilon, notes=notes)
        yield replace(proved, tentative=True)
    reached = None if found.least is None else found.excess(budget, found.least)
    if reached is not None and reached * SURELY > delta:
        yield replace(unknown, status="refuted", evidence=_EVIDENCE, lower=budget.epsilon, tentative=True)
    shown = f"a delta of {needed:.6g}" if needed is not None else f"rho = {alone:.6g}"
    yield replace(unknown, reason=f"the answer moves by up to {found.steps} steps, which needs {shown}")


def divergences_by_shifts(question: MeasuredQuestion, of: ReleaseQuestion) -> Iterator[Answer]:
    """Whether values of Rényi divergences hold, or how large they are."""
    found = ShiftedQuery(of)
    unknown = Answer(status="unknown", question=question, engine="release-divergences")
    amounts = [_divergence(found, each, own=False) for each in question.budgets]
    least = [_divergence(found, each, own=True) for each in question.budgets]
    if not question.claims:
        (budget,) = question.budgets
        top, seen = _round_down(least[0] * SURELY + 1 / GRID), _least_measure(found, budget)
        answer = replace(
            unknown,
            status="proved",
            question=question.within(replace(budget, value=top)),
            evidence={"method": "release", "proofs": [_EVIDENCE]},
            upper=top,
            notes=found.notes(own=least[0] < amounts[0]),
        )
        if seen is not None and (low := seen[0] / SURELY - 1 / GRID) > 0:
            lower = _round_down(low)
            below = {"below": {"value": str(lower), "evidence": {**_EVIDENCE, "order": seen[1]}}}
            yield replace(answer, lower=lower, more=below, tentative=True)
        yield answer
        return
    values = [each.value for each in question.budgets if each.value is not None]
    claimed = [float(rational_bounds(value.ball(192))[0]) for value in values]
    if all(amount <= most * SURELY for amount, most in zip(least, claimed, strict=True)):
        proofs = {"method": "release", "proofs": [_EVIDENCE for _ in values]}
        alone = all(amount <= most * SURELY for amount, most in zip(amounts, claimed, strict=True))
        notes = found.notes(own=not alone)
        yield replace(unknown, status="proved", evidence=proofs, upper=values[0], notes=notes, tentative=True)
    for number, (budget, most) in enumerate(zip(question.budgets, claimed, strict=True)):
        seen = _least_measure(found, budget)
        if seen is not None and seen[0] * SURELY > most:
            lower = values[0] if number == 0 else epsilon(0)
            yield replace(
                unknown, status="refuted", evidence={**_EVIDENCE, "order": seen[1]}, lower=lower, tentative=True
            )
    said = ", ".join(f"{each.measure} {amount:.6g}" for each, amount in zip(question.budgets, least, strict=True))
    yield replace(unknown, reason=f"the move of the answer shows {said}, and no less")


def _divergence(found: ShiftedQuery, budget: MeasuredBudget, *, own: bool) -> float:
    """A bound on a measure, by the noise alone, or also by what the series vary by themselves."""
    order, noise = budget.measure.order, found.question.noise
    if isinstance(noise, Gaussian):
        return min(found.rho[: 2 if own else 1]) * (1.0 if order is None else float(order))
    distance = float(found.distance(found.steps))
    return noise_divergence(noise, None if order is None else float(order), distance)


def _least_measure(found: ShiftedQuery, budget: MeasuredBudget) -> tuple[float, str] | None:
    """What a measure is at least, with the order that shows it; None where that is not known."""
    order = Rational(2) if budget.measure.order is None else budget.measure.order
    if found.least is None or (isinstance(found.question.noise, Gaussian) and order.q != 1):
        return None
    amount = noise_divergence(found.question.noise, float(order), float(found.distance(found.least)))
    return amount / (float(order) if budget.measure.order is None else 1.0), str(order)


def _round_down(value: float) -> Epsilon:
    return epsilon(to_grid(Fraction(value), up=False))
