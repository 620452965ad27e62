"""The engine for Rényi divergences of releases: rho and divergences by order, claimed of anybody's noise, or looked for.

A value is refuted by an entry and an order, and proved by the laws of what is released where they are computed (at one order, or for rho
by a ladder), by a coupling of the laws, or by quilts.  Several orders have a proof each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf

from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor
from privproof.errors import PrivproofError
from privproof.evidence.engine_answers import Answer
from privproof.exact import INFINITE, ZERO, Epsilon, Rational, epsilon, rational
from privproof.exact.balls import rational_bounds
from privproof.exact.measures import MeasuredBudget
from privproof.exact.rounding import GRID, to_grid
from privproof.release.divergence_costs import divergence_plan, kind_of
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.influence_costs import QueryLaws, laws_work
from privproof.release.law_distances import largest_distance
from privproof.release.release_divergences import (
    MOST_TERMS,
    SURELY,
    Ladder,
    NoisyLaws,
    coupled_divergence,
    fits,
    ladder,
    noisy_laws,
)
from privproof.release.release_engine import LAWS
from privproof.release.release_question import Gaussian, Laplace, ReleaseQuestion, notes_on
from privproof.release.shifted_laws import divergences_by_shifts
from privproof.release.sum_couplings import Moves, all_moves
from privproof.release.sum_laws import SumLaws
from privproof.scenarios import MeasuredQuestion

ENGINE = "release-divergences"
_LABORIOUS = 200_000_000
"""Multiplications for the laws, beyond which divergences are not computed from them."""
_PLAINLY = 1 + 1e-6
"""A value is refuted where floats find a divergence that is larger by this share, more than they err."""
_CUT = 1.005
"""With Laplace noise the line is cut into pieces, and so much of a divergence may be lost."""
_NEXT = Rational(1025, 1024)
"""The order by which order 1 is proved: divergences rise with it."""
_LEAST, _LARGEST = rational("1e-40"), rational(10_000)
"""Smaller and larger values are not looked for: floats do not hold them, or the checker does not take them."""
_NOTHING = epsilon(0)
"""What is known from below where nothing is."""
_LARGEST_ORDER = 1000
"""At larger orders laws are not computed: their points reach too far."""


class ReleaseDivergencesEngine:
    """Bounds the Rényi divergences of noisy queries of correlated data."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        question = request.question
        if not isinstance(question, MeasuredQuestion) or not isinstance(question.of, ReleaseQuestion):
            return "it is about releases of correlated data"
        if any(each.growing is not None for each in question.budgets):
            return "a value that grows is not claimed of a release"
        for each in question.budgets:
            if each.value is not None and not _LEAST <= rational_bounds(each.value.ball(192))[0] <= _LARGEST:
                return f"{each.measure} = {each.value.decimal()} is claimed, and values from 10^-40 to 10,000 are looked for"
        return "rho and Rényi divergences are bounded of a release" if question.measure.kind == "mu" else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """Whether the values hold under every prior of the class, or how large they are."""
        question = request.question
        assert isinstance(question, MeasuredQuestion)
        of = question.of
        assert isinstance(of, ReleaseQuestion)
        if isinstance(of.priors[0], GaussianChain):
            yield from divergences_by_shifts(question, of)
            return
        laws = request.shared(LAWS, lambda: QueryLaws.of(of))
        found = _Divergences(question, of, laws if laws.fit(of) else QueryLaws.of(of))
        yield from found.decided() if question.claims else found.measured()


@dataclass(frozen=True)
class _Seen:
    """A divergence at an entry, and where."""

    amount: float
    order: Rational
    laws: SumLaws
    left: str
    right: str

    def evidence(self) -> dict[str, object]:
        laws = self.laws
        return {
            "method": "entry",
            "prior": laws.prior,
            "length": laws.length or None,
            "node": laws.node,
            "left": self.left,
            "right": self.right,
            "order": str(self.order),
        }

    def words(self) -> str:
        where = f"X_{self.laws.node}" if isinstance(self.laws.node, int) else str(self.laws.node)
        told = f"divergence of order {self.order} is about {self.amount:.9g}"
        return f"{where} = {self.left} against {where} = {self.right}: the {told}"


@dataclass(frozen=True)
class _Divergences:
    question: MeasuredQuestion
    of: ReleaseQuestion
    known: QueryLaws

    @cached_property
    def laws(self) -> tuple[SumLaws, ...] | str:
        """The laws, or why they are not computed."""
        of = self.of
        if of.gaps:
            return "entries may be missing inside the series"
        if of.query.kind != "sum":
            return "divergences are computed of sums"
        if sum(laws_work(prior, of.lengths, of.query) for prior in of.priors) > _LABORIOUS:
            return "the tables of laws would be large"
        try:
            found = self.known.by("exact")
        except PrivproofError as problem:
            if problem.code == "secrets":
                raise
            return problem.message
        return found if all(each.complete for each in found) else "the tails of the laws are too small for floats"

    @cached_property
    def moves(self) -> tuple[list[Moves], int]:
        """The moves of the coupled laws, and the most steps that anything is moved."""
        assert not isinstance(self.laws, str)
        return all_moves(self.laws), largest_distance(self.laws).steps

    def coupled(self, order: Rational | None) -> float:
        """What a coupling of the laws shows; infinite where there are no laws."""
        if isinstance(self.laws, str):
            return inf
        moves, furthest = self.moves
        return coupled_divergence(
            moves, furthest, self.of.noise, self.of.query.step, None if order is None else float(order)
        )

    @cached_property
    def rungs(self) -> Ladder | None:
        """The ladder, where the laws with noise are computed."""
        return None if isinstance(self.laws, str) else ladder(self.laws, self.of.query, self.of.noise)

    def at(self, order: Rational) -> tuple[_Seen, int] | None:
        """The largest divergence of an order, and how many terms all moments have."""
        if isinstance(self.laws, str) or order > _LARGEST_ORDER:
            return None
        query, noise, used = self.of.query, self.of.noise, max(1.001, float(order))
        if not all(fits(laws, query, noise, used) for laws in self.laws):
            return None
        best, terms = _Seen(-1.0, order, self.laws[0], "", ""), 0
        for laws in self.laws:
            seen: NoisyLaws = noisy_laws(laws, query, noise, used)
            for (x, y), amount in seen.divergences(float(order)).items():
                terms += seen.logs.shape[1]
                if amount > best.amount * (1 + 1e-12):
                    best = _Seen(amount, order, laws, laws.values[x], laws.values[y])
        return best, terms

    def answer(self, status: str, **known: object) -> Answer:
        """What is about to be said."""
        return Answer(**{"status": status, "question": self.question, "engine": ENGINE, **known})  # type: ignore[arg-type]

    def decided(self) -> Iterator[Answer]:
        """Proved by quilts, which are quick; refuted by one value; or proved by a proof of each."""
        quilted = [self._by_quilts(budget) for budget in self.question.budgets]
        if not all(quilted):
            for budget in self.question.budgets:
                yield from self.refuted(budget)
        proofs, reasons, values = [], [], [each.value for each in self.question.budgets if each.value is not None]
        for budget, known in zip(self.question.budgets, quilted, strict=True):
            proof, reason = (known, "") if known is not None else self.proof(budget)
            proofs.append(proof)
            reasons.append(reason)
        if all(proof is not None for proof in proofs):
            evidence = {"method": "release", "proofs": proofs}
            yield self.answer("proved", evidence=evidence, upper=values[0], notes=self.notes())
            return
        reason = "; ".join(dict.fromkeys(filter(None, reasons)))
        yield self.answer("unknown", reason=reason, pass_on=not isinstance(self.of.noise, Gaussian))

    def _by_quilts(self, budget: MeasuredBudget) -> dict[str, object] | None:
        """Quilts that allow the noise, as evidence."""
        of = self.of
        plan = divergence_plan(of.priors, of.lengths, of.query, budget, kind_of(of.noise))
        return plan.evidence(of) if plan.allows(of.noise) else None

    def refuted(self, budget: MeasuredBudget) -> Iterator[Answer]:
        """An entry and an order at which a value is exceeded, if there is one."""
        seen = self.largest(budget)
        if seen is None or budget.value is None:
            return
        times = float(seen.order) if budget.measure.order is None else 1.0
        most = float(rational_bounds(budget.value.ball(192))[1]) * times
        if seen.amount > most * _PLAINLY:
            first = budget is self.question.budgets[0]
            lower = _round_value(seen.amount / times / _PLAINLY, up=False) if first else _NOTHING
            yield self.answer("refuted", evidence=seen.evidence(), lower=lower, notes=(seen.words(),), tentative=True)

    def largest(self, budget: MeasuredBudget) -> _Seen | None:
        """The entry at which a measure is largest."""
        if budget.measure.order is not None:
            found = self.at(budget.measure.order)
            return None if found is None else found[0]
        if self.rungs is None:
            return None
        rungs = self.rungs
        order = rational(Fraction(rungs.order).limit_denominator(1000))
        return _Seen(rungs.lower * rungs.order, order, rungs.laws, rungs.left, rungs.right)

    def proof(self, budget: MeasuredBudget) -> tuple[dict[str, object] | None, str]:
        """What shows a value that quilts do not show, or why nothing does."""
        assert budget.value is not None
        order = budget.measure.order
        least = float(rational_bounds(budget.value.ball(192))[0])
        reasons = ["the quilts do not allow so little noise"]
        bound = self.coupled(order)
        if bound <= least * SURELY:
            return {"method": "coupling"}, ""
        if bound < inf:
            reasons.append(f"a coupling of the laws shows {budget.measure} {bound:.6g}, and no less")
        shown = self._by_laws(order, least)
        if shown is not None:
            return shown, ""
        reasons += [f"laws: {self.laws}"] if isinstance(self.laws, str) else []
        return None, "; ".join(reasons)

    def _by_laws(self, order: Rational | None, least: float) -> dict[str, object] | None:
        """The laws at an order, or a ladder, as evidence, where floats say that they show a value."""
        if isinstance(self.of.noise, Laplace):
            return None
        if order is None:
            rungs = self.rungs
            if rungs is None or rungs.upper > least or rungs.terms > MOST_TERMS:
                return None
            return _ladder_evidence(rungs)
        found = self.at(max(order, _NEXT))
        if found is None or found[0].amount * SURELY > least or found[1] > MOST_TERMS:
            return None
        return {"method": "laws"}

    def measured(self) -> Iterator[Answer]:
        """The smallest value, enclosed where the laws are computed; otherwise nothing is known."""
        (budget,) = self.question.budgets
        if isinstance(self.laws, str):
            yield self.answer("unknown", reason=f"the divergences were not computed: {self.laws}")
            return
        seen, order = self.largest(budget), budget.measure.order
        lower = _NOTHING
        if seen is not None:
            times = float(seen.order) if order is None else 1.0
            lower = _round_value(
                seen.amount / times / (_CUT if isinstance(self.of.noise, Laplace) else SURELY), up=False
            )
        options: list[tuple[float, dict[str, object]]] = [(self.coupled(order) * SURELY, {"method": "coupling"})]
        if not isinstance(self.of.noise, Laplace):
            found = None if order is None else self.at(max(order, _NEXT))
            if found is not None:
                options.append((found[0].amount * SURELY, {"method": "laws"}))
            elif order is None and self.rungs is not None:
                options.append((self.rungs.upper, _ladder_evidence(self.rungs)))
        value, proof = min(reversed(options), key=lambda option: option[0])
        if value >= float(_LARGEST):
            yield self.answer("unknown", reason=f"{budget.measure} may be {value:.6g}, and values to 10,000 are shown")
            return
        top = _round_value(value + 1 / GRID, up=True)  # also where floats find a little less than nothing
        asked = self.question.within(replace(budget, value=top))
        answer = self.answer("proved", question=asked, evidence={"method": "release", "proofs": [proof]}, upper=top)
        if seen is not None and lower.compare(_NOTHING) > 0:
            below = {"below": {"value": str(lower), "evidence": seen.evidence()}}
            yield replace(answer, lower=lower, more=below, notes=(seen.words(), *self.notes()), tentative=True)
        yield replace(answer, notes=self.notes())

    def notes(self) -> tuple[str, ...]:
        """What the reader must know."""
        return notes_on(self.of)


def _ladder_evidence(rungs: Ladder) -> dict[str, object]:
    orders = [rational(Fraction(order).limit_denominator(10_000)) for order in rungs.orders]
    return {"method": "ladder", "orders": [str(order) for order in dict.fromkeys(orders) if order > 1]}


def _round_value(value: float, *, up: bool) -> Epsilon:
    """A value that can be written down, rounded to the safe side."""
    if value == float("inf"):
        return INFINITE
    return epsilon(max(ZERO, to_grid(Fraction(value), up=up)))
