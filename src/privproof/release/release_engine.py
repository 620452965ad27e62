"""The engine for releases: is a noisy query of correlated data private under its priors, and how private is it?

Where the laws of the query given every entry can be computed, the loss is exact: it is enclosed by floating point with known
errors, and the independent checker computes it again.  Otherwise quilts bound it from above.  The mechanism may be anybody's:
nothing is assumed about how its noise was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from typing import Any

from flint import arb

from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor
from privproof.errors import PrivproofError, QuestionError
from privproof.evidence.certificate_documents import lower_bound
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import Status
from privproof.exact import INFINITE, Budget, Epsilon, epsilon, fraction, log, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.gaussian_quilts import gaussian_plan
from privproof.release.influence_costs import QueryLaws, budget_below, entry_cost, laws_work, quilted_chain
from privproof.release.influence_curves import best_distances, contraction, least_loss
from privproof.release.law_distances import largest_distance
from privproof.release.markov_chains import Band
from privproof.release.markov_quilts import quilts
from privproof.release.mixture_parts import least_spent, parts_of
from privproof.release.network_quilts import best_network_quilts
from privproof.release.release_certificates import (
    contraction_evidence,
    distance_evidence,
    event_evidence,
    laws_evidence,
    network_evidence,
    parts_evidence,
    quilts_evidence,
)
from privproof.release.release_losses import ReleaseLoss, largest_loss, likeliest_half_line, loss_of
from privproof.release.release_question import Gaussian, Geometric, Laplace, Prior, ReleaseQuestion, notes_on
from privproof.release.release_witnesses import Event, Seen
from privproof.release.series_queries import count
from privproof.release.shifted_laws import answers_by_shifts
from privproof.release.sum_couplings import all_moves, largest_delta
from privproof.release.sum_laws import SumLaws

ENGINE = "release"
_CHECKED_AT_ONCE = 1_000_000
"""Numbers in the laws, up to which the checker computes them again; beyond it quilts are the evidence."""
_EXACT = 25_000
"""Numbers in the laws, up to which the loss is computed in rationals."""
_HALVINGS = 30
"""Bisections for the least epsilon that quilts of a network prove: nine digits; each upper end is proved by itself."""
_LABORIOUS = 1_000_000_000
"""Multiplications for the laws, beyond which quilts are tried first."""
_HAIR = Fraction(10**9 + 1, 10**9)
"""Variances of which floats say that they are too small by less than this share are left to the checker."""
LAWS = "laws"
"""The name under which a request may bring the laws of its release, computed by whoever calibrated it."""
_PLAIN = 1e-4
"""A half-line is taken as the witness if it breaks the budget by this much; otherwise the worst output is."""


class ReleaseEngine:
    """Answers questions about noisy queries of correlated data."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """Whether the budget holds under every prior of the class, or how private the release is."""
        question = request.question
        assert isinstance(question, ReleaseQuestion)
        budget = request.budget
        assert budget is not None
        if isinstance(question.priors[0], GaussianChain):
            yield from answers_by_shifts(question, budget, tight=request.tight)
            return
        laws = request.shared(LAWS, lambda: QueryLaws.of(question))
        known = laws if laws.fit(question) else QueryLaws.of(question)
        if isinstance(question.noise, Gaussian):
            yield _with_gaussian(question.under(budget), budget, known)
            return
        if budget.delta != 0:
            raise QuestionError(
                "delta",
                "a release without Gaussian noise is asked about without a delta",
                place="delta",
                hint="drop it",
            )
        found = _Release(question, known)
        yield from found.measured() if request.tight else found.decided(budget.epsilon)


def _with_gaussian(claimed: ReleaseQuestion, budget: Budget, known: QueryLaws) -> Answer:
    """Proved by a coupling of the laws or by quilts, if the delta is enough; otherwise unknown."""
    unknown = Answer(status="unknown", question=claimed, engine=ENGINE, reason="")
    if budget.delta == 0 or budget.epsilon.infinite or budget.epsilon.compare(epsilon(0)) == 0:
        reason = "with Gaussian noise a release is asked about with an epsilon above 0 and a delta"
        return replace(unknown, reason=reason)
    work = sum(laws_work(prior, claimed.lengths, claimed.query) for prior in claimed.priors)
    evidence, reason = None, "the laws would take long"
    if work <= _LABORIOUS or isinstance(claimed.priors[0], Network):
        evidence, reason = _coupling_within(claimed, budget, known)
    if evidence is None:
        plan = gaussian_plan(claimed.priors, claimed.lengths, claimed.query, budget)
        assert isinstance(claimed.noise, Gaussian)
        if plan.variance <= fraction(claimed.noise.variance) * _HAIR:
            evidence = plan.evidence(claimed)
        reason = f"quilts need a variance of {float(plan.variance):.6g}; {reason}"
    if evidence is None:
        return replace(unknown, reason=reason)
    return replace(unknown, status="proved", evidence=evidence, upper=budget.epsilon, reason="")


def _coupling_within(
    claimed: ReleaseQuestion, budget: Budget, known: QueryLaws
) -> tuple[dict[str, object] | None, str]:
    """A coupling of the laws as evidence, or why it is none."""
    noise, query = claimed.noise, claimed.query
    assert isinstance(noise, Gaussian)
    if query.kind != "sum" or claimed.gaps:
        return None, "laws are coupled of sums, where no entry is missing"
    try:
        moves = all_moves(known.by("coupling"))
    except QuestionError as problem:
        return None, problem.message
    variance, finer = float(noise.variance / (noise.step * noise.step)), int((query.step / noise.step).p)
    lowest = float(rational_bounds(budget.epsilon.ball(192))[0])
    needed, _ = largest_delta(moves, variance, lowest, finer=finer)
    if needed > float(budget.delta):
        return None, f"a coupling of the laws shows a delta of {needed:.6g}, and no less"
    return {"method": "coupling"}, ""


@dataclass(frozen=True)
class _Release:
    question: ReleaseQuestion
    known: QueryLaws
    bin: str | None = None
    """The bin of a histogram whose count this is about."""

    @cached_property
    def seen(self) -> Seen:
        """What is seen of the release."""
        return Seen(self.question, self.bin)

    @cached_property
    def laws(self) -> tuple[SumLaws, ...] | str:
        """The laws, or why they are not computed."""
        if self.question.gaps:
            return "entries may be missing inside the series"
        try:
            return self.known.by("exact")
        except PrivproofError as problem:
            if problem.code == "secrets":
                raise
            return problem.message

    @cached_property
    def loss(self) -> ReleaseLoss | None:
        """The exact loss, enclosed; None where it is not computed."""
        if isinstance(self.laws, str):
            return None
        less, more = self._alphas()
        worst = largest_loss(self.laws, less)
        return replace(worst, low=loss_of(worst.laws, more).low)

    def _alphas(self) -> tuple[float, float]:
        """The ratio of neighbouring probabilities, from below and from above."""
        with precision(192):
            low, high = rational_bounds((-self.question.noise.rate(192) * arb(self.question.query.step)).exp())
        return nextafter(float(low), 0.0), nextafter(float(high), 1.0)

    @cached_property
    def cost(self) -> Fraction:
        """What one entry costs."""
        return entry_cost(self.question)

    @property
    def laborious(self) -> bool:
        """Whether the laws take long, so that quilts are tried first."""
        question = self.question
        work = sum(laws_work(prior, question.lengths, question.query) for prior in question.priors)
        return work > _LABORIOUS and not question.gaps

    @property
    def size(self) -> int:
        """How large the tables of the laws are."""
        return sum(laws.outputs * len(laws.values) for laws in self.laws) if not isinstance(self.laws, str) else 0

    def decided(self, budget: Epsilon) -> Iterator[Answer]:
        """Whether an epsilon is kept: by quilts first where the laws take long, then by the laws, their distance, and quilts."""
        claimed = self.question.under(Budget(budget))
        quilted = self.by_quilts(claimed, budget) if self.laborious else None
        if quilted is not None and quilted.status == "proved":
            yield quilted
        loss = self.loss
        low, high = (fraction(end) for end in rational_bounds(budget.ball(192)))
        if loss is not None and loss.high < inf:
            lower, top = _bounds(loss)
            if Fraction(loss.low) > high:
                yield from self.by_bin(claimed, high)
                yield from self.refuted(claimed, loss)
                return
            if Fraction(loss.high) <= low:
                yield from self.proved(claimed, lower, budget if top.compare(budget) > 0 else top, loss)
                return
        within = self.by_distance(claimed)
        if within is not None:
            yield within
        found = quilted or self.by_quilts(claimed, budget)
        if found.status == "proved":
            yield found
            return
        yield from self.by_bin(claimed, high)
        yield found

    def measured(self) -> Iterator[Answer]:
        """The tight epsilon exactly, or bounds."""
        loss = self.loss
        if loss is None or loss.high == inf:
            yield self.by_quilts(self.question.under(Budget(self.bound)), self.bound)
            return
        lower, top = _bounds(loss)
        if isinstance(self.question.noise, Geometric) and self.size <= _EXACT:
            exact = log(self.seen.exact_ratio(loss))
            yield self.answer(
                "proved",
                self.question.under(Budget(exact)),
                laws_evidence(),
                lower=exact,
                upper=exact,
                witness=self.seen.witness(loss),
                tentative=True,
            )
        yield from self.proved(self.question.under(Budget(top)), lower, top, loss)

    def proved(self, claimed: ReleaseQuestion, lower: Epsilon, top: Epsilon, loss: ReleaseLoss) -> Iterator[Answer]:
        """Proved by the laws; large ones by quilts where these suffice, because the checker is quicker with them."""
        assert claimed.budget is not None
        sharper = top.compare(claimed.budget.epsilon) < 0
        found = self.answer(
            "proved",
            claimed,
            self.attained(loss),
            lower=lower,
            upper=top,
            witness=self.seen.witness(loss),
            more={"bounds": {"upper": str(top)}} if sharper else {},
            tentative=True,
        )
        if self.size <= _CHECKED_AT_ONCE:
            yield found
        else:
            quilted = self.quilts_within(claimed.budget.epsilon)
            if quilted is not None:
                yield replace(found, evidence=quilted, more={})
        yield replace(found, evidence=laws_evidence(), tentative=False)

    def answer(self, status: Status, claimed: ReleaseQuestion, evidence: Mapping[str, object], **known: Any) -> Answer:
        """What is about to be said."""
        notes = (*self.notes(), *known.pop("notes", ()))
        return Answer(status=status, question=claimed, engine=ENGINE, evidence=evidence, notes=notes, **known)

    def attained(self, loss: ReleaseLoss) -> dict[str, object]:
        """The laws as evidence, with the output at which the loss is attained."""
        lower, top = _bounds(loss)
        laws = loss.laws
        return {
            **laws_evidence(),
            "attained": {
                "prior": laws.prior,
                "length": laws.length or None,
                "node": laws.node,
                "left": loss.left,
                "right": loss.right,
                "output": self._told(loss),
                "loss": [str(lower), str(top)],
            },
        }

    def _told(self, loss: ReleaseLoss) -> str | list[str]:
        """The output at which the loss is attained: a number, or one for every bin."""
        if loss.laws.counts is not None:
            return [str(number) for number in loss.laws.counts.point(loss.output)]
        return str(loss.output * fraction(self.question.query.step))

    def by_distance(self, claimed: ReleaseQuestion) -> Answer | None:
        """Proved by the distance between the laws, which settles where the loss is the budget itself; None if that is not enough."""
        assert claimed.budget is not None
        if isinstance(self.laws, str) or self.size > _CHECKED_AT_ONCE:
            return None
        if not all(laws.complete and laws.counts is None for laws in self.laws):
            return None
        moved = largest_distance(self.laws).steps * fraction(self.question.query.step)
        if (
            rational_bounds(self.question.noise.rate(192))[0] * rational(moved)
            > rational_bounds(claimed.budget.epsilon.ball(192))[1]
        ):
            return None
        top, lower, witness = claimed.budget.epsilon, epsilon(0), None
        if self.loss is not None and self.loss.high < inf:
            lower, witness = _bounds(self.loss)[0], self.seen.witness(self.loss)
            lower = top if lower.compare(top) > 0 else lower
        evidence = distance_evidence()
        return self.answer("proved", claimed, evidence, lower=lower, upper=top, witness=witness, tentative=True)

    def by_quilts(self, claimed: ReleaseQuestion, budget: Epsilon) -> Answer:
        """Proved by quilts, if they allow what an entry costs."""
        evidence = self.quilts_within(budget)
        bound = self.bound
        known = None if self.laborious else self.loss
        lower = epsilon(0) if known is None else _bounds(known)[0]
        if evidence is None:
            reason = "the quilts do not allow so little noise" + (
                f"; {self._why_not()}" if known is None and not self.laborious else ""
            )
            return self.answer("unknown", claimed, {}, lower=lower, upper=bound, reason=reason)
        top = budget if bound.compare(budget) > 0 else bound
        return self.answer("proved", claimed, evidence, lower=lower, upper=top, notes=(_QUILTED,))

    def by_bin(self, claimed: ReleaseQuestion, above: Fraction) -> Iterator[Answer]:
        """A histogram refuted by one of its counts, if one tells."""
        if self.question.query.kind != "histogram":
            return
        for state in self.question.query.bins:
            asked = replace(self.question, query=count(state))
            one = _Release(asked, QueryLaws.of(asked), bin=state)
            if not one.laborious and one.loss is not None and Fraction(one.loss.low) > above:
                quilted = self.quilts_within(self.bound)
                more: dict[str, object] = (
                    {} if quilted is None else {"above": {"epsilon": str(self.bound), "evidence": quilted}}
                )
                upper = self.bound
                if self.loss is not None and self.loss.high < inf:
                    upper, more = _bounds(self.loss)[1], self._from_above(self.loss, laws_evidence()) or more
                yield from one.refuted(claimed, one.loss, upper=upper, more=more)
                return

    def quilts_within(self, budget: Epsilon) -> dict[str, object] | None:
        """Quilts that allow what an entry costs, as evidence."""
        question, first = self.question, self.question.priors[0]
        if isinstance(first, Network):
            best = [best_network_quilts(p, budget) for p in question.priors if isinstance(p, Network)]
            return (
                network_evidence([b.quilts for b in best]) if all(b.rate >= rational(self.cost) for b in best) else None
            )
        below, longest = budget_below(budget), max(question.lengths)
        if isinstance(first, Band):
            found = best_distances(contraction(first), longest, below, by_entry=False)
            return contraction_evidence(question, [found]) if found.rate >= self.cost else None
        chains = [quilted_chain(p, "quilt") for p in question.priors]
        listed = [quilts(chain, longest, below) for chain in chains]
        if all(q.rate >= self.cost for q in listed):
            return quilts_evidence(question, listed)
        bounded = [best_distances(contraction(chain), longest, below, by_entry=False) for chain in chains]
        if all(q.rate >= self.cost for q in bounded):
            return contraction_evidence(question, bounded)
        return self._parts_within(below)

    def _parts_within(self, budget: float) -> dict[str, object] | None:
        """Quilts of every part of mixtures, as evidence."""
        split = [parts_of(prior) for prior in self.question.priors]
        if all(parts is not None and len(parts.chains) == 1 for parts in split):
            return None
        found = [() if parts is None else parts.within(max(self.question.lengths), budget) for parts in split]
        enough = all(listed and all(q.rate >= self.cost for q in listed) for listed in found)
        return parts_evidence(self.question, found) if enough else None

    @cached_property
    def bound(self) -> Epsilon:
        """What the release loses at most by its quilts."""
        return epsilon(rational(_up(max(self._bound(prior) for prior in self.question.priors))))

    def _bound(self, prior: Prior) -> Fraction:
        if isinstance(prior, Network):
            group = len(prior.nodes) * self.cost
            low, high = Fraction(0), group
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                enough = best_network_quilts(prior, epsilon(rational(middle))).rate >= rational(self.cost)
                low, high = (low, middle) if enough else (middle, high)
            return high
        longest = max(self.question.lengths)
        if isinstance(prior, Band):
            return least_loss(contraction(prior), longest, self.cost)
        return least_spent(prior, longest, self.cost)

    def refuted(self, claimed: ReleaseQuestion, loss: ReleaseLoss, **known: Any) -> Iterator[Answer]:
        """Refuted by the likeliest half-line that breaks the budget plainly, or else by the worst output.

        Args:
            claimed: the question with its budget.
            loss: the loss.
            known: of a histogram, its upper bound and the proof of it.
        """
        assert claimed.budget is not None
        beyond = float(rational_bounds(claimed.budget.epsilon.ball(192))[1]) * (1 + _PLAIN) + _PLAIN
        laplace = isinstance(self.question.noise, Laplace)
        line = likeliest_half_line(loss.laws, self._alphas()[1], beyond, continuous=laplace)
        events = [self.seen.interval(loss)]
        sides = [(loss.left, loss.right)]
        if line is not None:
            end = line.output * fraction(self.question.query.step)
            events.insert(0, ((end, None) if line.upwards else (None, end),))
            sides.insert(0, (line.left, line.right))
        known = {"upper": _bounds(loss)[1], "more": self._from_above(loss, laws_evidence()), **known}
        answers = [
            self._refuting(claimed, loss, left, right, event, **known)
            for event, (left, right) in zip(events, sides, strict=True)
        ]
        sharper = {**self._from_above(loss, self.attained(loss)), **self._from_below(loss)}
        for answer in answers:
            yield replace(answer, more={**answer.more, **sharper}, tentative=True)
        yield answers[-1]

    def _from_above(self, loss: ReleaseLoss, evidence: Mapping[str, object]) -> dict[str, object]:
        """A proof of the upper bound of the loss, where that is cheap."""
        return {"above": {"epsilon": str(_bounds(loss)[1]), "evidence": evidence}} if self._cheap(loss) else {}

    def _from_below(self, loss: ReleaseLoss) -> dict[str, object]:
        """The event at which the loss is attained, where nothing else shows it; under Laplace noise between the ends there is none."""
        event = self.seen.interval(loss)
        between = any(None not in ends for ends in event) and isinstance(self.question.noise, Laplace)
        if self._cheap(loss) or between:
            return {}
        return {"below": lower_bound(_bounds(loss)[0], self._event(loss.laws, loss.left, loss.right, event))}

    def _cheap(self, loss: ReleaseLoss) -> bool:
        """Whether the checker computes all laws at once beside the event."""
        return self.bin is None and self.size <= _EXACT and loss.high < inf

    def _refuting(
        self,
        claimed: ReleaseQuestion,
        loss: ReleaseLoss,
        left: str,
        right: str,
        event: Event,
        **known: Any,
    ) -> Answer:
        return self.answer(
            "refuted",
            claimed,
            self._event(loss.laws, left, right, event),
            lower=_bounds(loss)[0],
            witness=self.seen.witnessed(loss.laws, left, right, event),
            **known,
        )

    def _event(self, laws: SumLaws, left: str, right: str, event: Event) -> dict[str, object]:
        """An event as evidence."""
        return event_evidence(
            prior=laws.prior,
            length=laws.length,
            node=laws.node,
            left=left,
            right=right,
            event=event,
            bin=self.bin,
        )

    def notes(self) -> tuple[str, ...]:
        """What the reader must know."""
        return notes_on(self.question)

    def _why_not(self) -> str:
        return f"the exact loss was not computed: {self.laws}" if isinstance(self.laws, str) else ""


_QUILTED = "proved by Markov quilts, which bound the loss from above"


_ROOM = Fraction(1, 10**10)
"""So much above what is computed the loss is said to be at most: room for the errors of floats, by which a checker shows it at once."""


def _bounds(loss: ReleaseLoss) -> tuple[Epsilon, Epsilon]:
    low = epsilon(rational(_down(Fraction(loss.low))))
    return low, INFINITE if loss.high == inf else epsilon(rational(_up(Fraction(loss.high) + _ROOM)))


def _down(value: Fraction) -> Fraction:
    return Fraction(int(value * 10**12), 10**12)


def _up(value: Fraction) -> Fraction:
    return -Fraction(int(-value * 10**12 // 1), 1) / 10**12
