"""The engine of other measures than epsilon and delta.

A function with finitely many data sets is run, and every measure is bounded from both sides from the trees of its runs.  For every size,
shifts of Gaussian noise that are settled when it is drawn bound all of them; anything else that is proved to be epsilon-private has
the measures of randomised response with that epsilon.  The certificate of the alignment, or of the epsilon, stands inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from privproof.compiling.sorts import CHOICES
from privproof.engines.divergences.claim_conversions import least_of_pure, least_of_range, most_range, of_pure_within
from privproof.engines.divergences.divergence_bounds import Bounding, FoundBound, bounding_of_measure
from privproof.engines.divergences.divergence_parts import ComparedTrees, compare_runs
from privproof.engines.divergences.shift_divergences import budgets_to_ask, covers, growth_of_shifts, least_of_shifts
from privproof.engines.engine_protocol import EngineRequest
from privproof.engines.runs.runs_certificates import runs_document
from privproof.engines.runs.runs_decision import Deciding
from privproof.engines.runs.runs_engine import all_runs
from privproof.engines.runs.runs_requests import as_run, is_of_every_size
from privproof.engines.search_monitor import Monitor, Stopped
from privproof.errors import LanguageError
from privproof.evidence.certificate_documents import draft
from privproof.evidence.engine_answers import Answer
from privproof.evidence.proof_completion import complete_certificate
from privproof.evidence.question_documents import Given
from privproof.evidence.verdicts import MeasureDetails, ProgramDetails, Proved, Unknown, Verdict
from privproof.exact import INFINITE, ZERO, Budget, Epsilon, Rational, epsilon, fraction
from privproof.exact.measures import RHO, MeasuredBudget
from privproof.language.laws import GAUSSIAN
from privproof.language.taint import samples
from privproof.scenarios import AnyQuestion, MeasuredQuestion, RunsQuestion
from privproof.scenarios.program_questions import as_program, is_gaussian

if TYPE_CHECKING:
    from privproof.compiling.runs import Runs
    from privproof.language.syntax import Sample

ENGINE = "divergences"
_SIZES = (1, 2, 3)
"""Sizes at which a value that grows is looked at: it is linear, and so is what Gaussian noise gives away."""


class DivergencesEngine:
    """Bounds Rényi divergences and trade-offs."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return "a word is asked about" if request.word is not None else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Iterator[Answer]:
        """From the runs of a function where it can be run, from a proof for every size otherwise."""
        question = request.question
        assert isinstance(question, MeasuredQuestion)
        if any(each.growing is not None for each in question.budgets):
            yield self._growing(question, request, monitor)
            return
        run = as_run(question.of)
        few = as_run(question.of, sampled=True) if run is None else None  # by which nothing is proved
        reasons = []
        if run is not None and not is_of_every_size(question.of):
            answer = self._from_runs(question, run, request, monitor)
            if answer.status != "unknown":
                yield answer
                return
            reasons.append(answer)
        settled = _draws_gaussian(question.of)
        ranged = None if settled else self._from_range(question, request)
        if ranged is not None:
            yield ranged
        pure = (self._from_shifts if settled else self._from_epsilon)(question, request)
        if pure.status != "unknown":
            shorter = run or few
            if settled and shorter is not None and not question.claims:
                short = self._from_runs(question, shorter, request, monitor)
                if short.lower.compare(pure.upper) <= 0:
                    pure = replace(pure, lower=short.lower, details=short.details)
            yield pure
            return
        if run is not None and is_of_every_size(question.of):
            answer = self._from_runs(question, run, request, monitor)
            if answer.status == "refuted":
                yield answer
                return
            if answer.status == "proved":
                said = f"at {answer.question.name} it holds, by running it"
                answer = replace(pure, notes=(*pure.notes, said), lower=answer.lower)
            reasons.append(answer)
        if few is not None:
            answer = self._from_runs(question, few, request, monitor)
            if answer.status == "refuted":
                yield answer
                return
        told = "; ".join(dict.fromkeys(each.reason for each in (*reasons, pure) if each.reason))
        yield replace((*reasons, pure)[0], status="unknown", reason=told)

    def _from_runs(
        self, question: MeasuredQuestion, run: RunsQuestion, request: EngineRequest, monitor: Monitor
    ) -> Answer:
        try:
            sized, runs = request.shared("runs", lambda: all_runs(run, monitor))
            return _Running(replace(question, of=sized), runs, monitor).answer()
        except LanguageError as problem:
            if problem.code not in ("noise", "integral", "size", "paths") and not run.sampled:
                raise
            return Answer(status="unknown", question=question, engine=ENGINE, reason=problem.message)
        except Stopped:
            return Answer(status="unknown", question=question, engine=ENGINE, reason=monitor.stopped() or "stopped")

    def _from_shifts(self, question: MeasuredQuestion, request: EngineRequest) -> Answer:
        """What follows from an alignment whose shifts of Gaussian noise are settled."""
        ask: Callable[[Budget], Verdict] | None = request.prepared.get("within")
        if question.measure.kind == "mu" and _draws_discrete(question.of):
            reason = "discrete Gaussian noise is told apart better than normal noise, so that shifts prove no mu"
            return Answer(status="unknown", question=question, engine=ENGINE, reason=reason)
        if ask is None:
            return Answer(status="unknown", question=question, engine=ENGINE, reason="no other way is known")
        best: tuple[Verdict, list[Epsilon]] | None = None
        reason = "no shifts were found"
        alone = question.measure.kind == "mu" or _gaussian_alone(question.of)
        for budget in budgets_to_ask(question.budgets, alone=alone):
            verdict = request.shared(f"within {budget!r}", partial(ask, budget))
            costs = verdict.details.costs if isinstance(verdict.details, ProgramDetails) else None
            if not isinstance(verdict, Proved) or costs is None:
                reason = verdict.reason if isinstance(verdict, Unknown) else reason
                continue
            growing = [growth_of_shifts(each.measure, *costs) for each in question.budgets]
            mu = question.measure.kind == "mu"
            if (
                not mu
                and question.claims
                and (costs[1].terms or any(each.growing is not None for each in question.budgets))
            ):
                if all(map(partial(covers, least=_least(question.of)), question.budgets, growing)):
                    return self._settled(question, verdict, [INFINITE])
                reason = f"shifts were found from which only {question.measure} {growing[0]} follows"
                continue
            if costs[1].terms:
                reason = (
                    f"shifts were found from which {RHO if mu else question.measure} {growing[0]} follows, which grows"
                )
                more = {"mu": "; no mu does", "rho": f'; check proves a claim rho="{growing[0]}"'}
                reason += more.get(question.measure.kind, "")
            values = [least_of_shifts(each.measure, *costs) for each in question.budgets]
            if best is None or values[0].compare(best[1][0]) < 0:
                best = verdict, values
            claimed = [INFINITE if each.value is None else each.value for each in question.budgets]
            if all(not v.infinite and v.compare(most) <= 0 for v, most in zip(values, claimed, strict=True)):
                return self._settled(question, verdict, values)
        if best is None or best[1][0].infinite:
            return Answer(status="unknown", question=question, engine=ENGINE, reason=reason)
        told = ", ".join(f"{each.measure} {v.show()}" for each, v in zip(question.budgets, best[1], strict=True))
        return Answer(
            status="unknown",
            question=question,
            engine=ENGINE,
            upper=best[1][0],
            reason=f"shifts were found from which only {told} follows",
        )

    def _growing(self, question: MeasuredQuestion, request: EngineRequest, monitor: Monitor) -> Answer:
        """Whether a value holds that grows with the size: from shifts of Gaussian noise, or not at a small size."""
        answer = self._from_shifts(question, request)
        program = as_program(question.of)
        if answer.status != "unknown" or program is None or program.size is not None:
            return answer
        for size in _SIZES:
            of = replace(program, size=size)
            names = {name for each in question.budgets if each.growing for name, _ in each.growing.terms}
            run = as_run(of, sampled=True) if names == {"size"} else None
            if run is not None:
                short = self._from_runs(
                    MeasuredQuestion(of, question.budgets).measured(question.budgets), run, request, monitor
                )
                if short.status == "refuted":
                    return short
        return answer

    def _settled(self, question: MeasuredQuestion, verdict: Proved, values: list[Epsilon]) -> Answer:
        assert verdict.certificate is not None
        asked = replace(question, of=verdict.question.under(None))
        if not question.claims:
            asked = asked.within(replace(question.budgets[0], value=values[0]))
        return Answer(
            status="proved",
            question=asked,
            engine=ENGINE,
            evidence={"method": "settled", "certificate": verdict.certificate},
            compiled=Given(verdict.certificate["question"]),
            upper=values[0] if not question.claims else asked.budgets[0].value or INFINITE,
            notes=("from shifts of Gaussian noise that are settled when it is drawn", *verdict.notes),
        )

    def _from_range(self, question: MeasuredQuestion, request: EngineRequest) -> Answer | None:
        """What follows from the range of losses of one choice by scores, if it is more than follows from its epsilon.

        The range is that of the changes of scores, which an epsilon of scores without bounds is as well; the checker shows it.
        """
        kinds = {each.noise for each in _drawn_noise(question.of)}
        if question.measure.kind == "mu" or not kinds or not kinds <= {"gumbel", *CHOICES}:
            return None
        verdict: Verdict | None
        ask: Callable[[Budget], Verdict] | None = request.prepared.get("within")
        if question.claims and ask is not None:
            claimed = [(each.measure, each.value) for each in question.budgets if each.value is not None]
            budget = Budget(epsilon(min(most_range(measure, value) for measure, value in claimed)))
            verdict = request.shared(f"within {budget!r}", partial(ask, budget))
        else:
            verdict = _pure_verdict(request)
        if not isinstance(verdict, Proved) or verdict.certificate is None or verdict.upper.infinite:
            return None
        proofs = [fact for fact in verdict.certificate["facts"] if fact["rule"] == "alignment"]
        if len(proofs) != 1 or "part" in proofs[0]["claim"] or verdict.upper.ratio != 1:
            return None
        spread = fraction(verdict.upper.shift)
        values = [least_of_range(each.measure, spread) for each in question.budgets]
        asked = replace(question, of=verdict.question.under(None))
        if not question.claims:
            if least_of_pure(question.measure, verdict.upper).compare(values[0]) <= 0:
                return None
            asked = asked.within(replace(question.budgets[0], value=values[0]))
        elif any(
            each.value is None or each.value.compare(v) < 0 for each, v in zip(question.budgets, values, strict=True)
        ):
            return None
        shown = {"method": "alignment", **proofs[0]["hint"], "range": str(spread)}
        inner = complete_certificate(
            draft("proved", verdict.certificate["question"], shown)
        )  # with a range the conditions are others
        return Answer(
            status="proved",
            question=asked,
            engine=ENGINE,
            evidence={"method": "range", "certificate": inner},
            compiled=Given(verdict.certificate["question"]),
            upper=values[0] if not question.claims else asked.budgets[0].value or INFINITE,
            notes=(f"all losses lie within {verdict.upper.show()} of each other: a choice by scores", *verdict.notes),
        )

    def _from_epsilon(self, question: MeasuredQuestion, request: EngineRequest) -> Answer:
        """What follows from a proof of some epsilon."""
        verdict = _pure_verdict(request)
        if not isinstance(verdict, Proved) or verdict.upper.infinite:
            said = "no epsilon without a delta is proved" if verdict is not None else "no other way is known"
            return Answer(status="unknown", question=question, engine=ENGINE, reason=said)
        evidence = {"method": "pure", "certificate": verdict.certificate}
        asked = replace(question, of=verdict.question.under(None))
        notes = (f"from a proof of epsilon {verdict.upper.show()}", *verdict.notes)
        bounds = [(each, least_of_pure(each.measure, verdict.upper)) for each in question.budgets]
        if not question.claims:
            [(budget, upper)] = bounds
            asked = asked.within(replace(budget, value=upper))
        elif not all(of_pure_within(each.measure, verdict.upper, each.value) for each, _ in bounds if each.value):
            most = ", ".join(f"{each.measure} {upper.show()}" for each, upper in bounds)
            return Answer(
                status="unknown",
                question=question,
                engine=ENGINE,
                reason=f"epsilon {verdict.upper.show()} is proved, from which only {most} follows",
            )
        assert verdict.certificate is not None
        return Answer(
            status="proved",
            question=asked,
            engine=ENGINE,
            evidence=evidence,
            compiled=Given(verdict.certificate["question"]),
            upper=bounds[0][1],
            notes=notes,
        )


def _least(of: AnyQuestion) -> dict[str, Rational | None]:
    """The least value of everything that a value may grow with."""
    program = as_program(of)
    public = () if program is None else program.mechanism.public_numbers
    return {"size": ZERO, **{name: program.mechanism.inputs[name].low for name in public if program is not None}}


def _pure_verdict(request: EngineRequest) -> Verdict | None:
    """The verdict on the smallest epsilon; None where nobody is there to ask."""
    ask: Callable[[], Verdict] | None = request.prepared.get("pure")
    return None if ask is None else request.shared("pure verdict", ask)


def _drawn_noise(of: AnyQuestion) -> tuple[Sample, ...]:
    """The noise that a program draws."""
    program = as_program(of)
    return () if program is None else tuple(samples(program.mechanism.translated.body))


def _draws_gaussian(of: object) -> bool:
    """Whether a question is about a program with Gaussian noise."""
    program = as_program(of) if isinstance(of, AnyQuestion) else None
    return program is not None and is_gaussian(program.mechanism)


def _draws_discrete(of: AnyQuestion) -> bool:
    """Whether a program draws discrete Gaussian noise."""
    return any(each.noise == "discrete_gaussian" for each in _drawn_noise(of))


def _gaussian_alone(of: AnyQuestion) -> bool:
    """Whether a program draws no other noise beside Gaussian noise."""
    return as_program(of) is not None and all(each.noise in GAUSSIAN for each in _drawn_noise(of))


@dataclass
class _Running:
    """What the runs of a function say about a measure."""

    question: MeasuredQuestion
    runs: Runs
    monitor: Monitor

    @cached_property
    def document(self) -> dict[str, object]:
        return runs_document(self.runs)

    @cached_property
    def pairs(self) -> list[ComparedTrees]:
        return compare_runs(self.runs, self.document["runs"], self.monitor)  # type: ignore[arg-type]

    def answer(self) -> Answer:
        """The answer: a refutation by one pair, a proof for all of them, or the bounds that are known."""
        bounds = [bounding_of_measure(each.measure, self.pairs, self.monitor) for each in self.question.budgets]
        if not self.question.claims:
            return self._smallest(bounds[0])
        values = [each.value for each in self.question.budgets if each.value is not None]
        for each, value in zip(bounds, values, strict=True):
            found = each.refuted(value)
            if found is not None:
                return self._known(
                    "refuted", each, evidence=found.evidence, lower=found.value, details=self._told(found)
                )
        few = self.runs.sampled  # then nothing is proved
        proofs = [None if few else each.proved(value) for each, value in zip(bounds, values, strict=True)]
        if all(proof is not None for proof in proofs):
            evidence = {"method": "divergences", "proofs": proofs}
            found = bounds[0].largest
            below = {} if len(bounds) > 1 or found is None else _below(found)
            return self._known(
                "proved",
                bounds[0],
                evidence=evidence,
                more=below,
                upper=values[0],
                lower=found.value if below and found is not None else epsilon(0),
                details=self._told(found),
            )
        found = bounds[0].largest
        return self._known(
            "unknown",
            bounds[0],
            reason=bounds[0].reason or "the value lies between what is proved and what is refuted",
            lower=epsilon(0) if found is None else found.value,
            details=self._told(found),
        )

    def _smallest(self, bounds: Bounding) -> Answer:
        found = bounds.largest
        if found is not None and found.value.infinite:
            question = self.question.within(MeasuredBudget(bounds.measure, epsilon(bounds.beyond)))
            return self._known(
                "refuted",
                bounds,
                question=question,
                evidence=found.evidence,
                lower=INFINITE,
                details=self._told(found),
            )
        upper, proof = (None, None) if self.runs.sampled else bounds.smallest()
        if upper is None:
            lower = epsilon(0) if found is None else found.value
            reason = bounds.reason or "no value is proved"
            return self._known("unknown", bounds, reason=reason, lower=lower, details=self._told(found))
        below = {} if found is None else _below(found)
        return self._known(
            "proved",
            bounds,
            question=self.question.within(MeasuredBudget(bounds.measure, upper)),
            evidence={"method": "divergences", "proofs": [proof]},
            more=below,
            lower=found.value if below and found is not None else epsilon(0),
            upper=upper,
            details=self._told(found),
        )

    def _told(self, found: FoundBound | None) -> MeasureDetails | None:
        """The pair that is told apart best, and how well."""
        if found is None:
            return None
        sides = [
            {n: list(v) if isinstance(v, tuple) else v for n, v in self.runs.data[k].items()}
            for k in (found.left, found.right)
        ]
        return MeasureDetails(sides[0], sides[1], found.text, found.amount)

    def _known(self, status: str, bounds: Bounding, **more: object) -> Answer:
        notes = Deciding(_plain(self.question.of), self.runs, Budget(INFINITE), tight=False, monitor=self.monitor).notes
        return Answer(
            **{  # type: ignore[arg-type]
                "status": status,
                "question": self.question,
                "engine": ENGINE,
                "compiled": self.document,
                "notes": notes,
                **more,
            }
        )


def _plain(question: object) -> RunsQuestion:
    assert isinstance(question, RunsQuestion)
    return question


def _below(found: FoundBound) -> dict[str, object]:
    """The member of a certificate that shows a lower bound; empty where there is none."""
    if found.value.compare(epsilon(0)) <= 0:
        return {}
    return {"below": {"value": str(found.value), "evidence": found.evidence}}
