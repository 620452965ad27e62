"""The engine for continuous noise: alignments prove, exact probabilities refute.

The prover and the refuter take turns: what the prover fails on is where the refuter looks first.  A proof's certificate is checked by
code of its own and a solver that did not find it, and the prepared program is run beside the function itself; a refutation's
probabilities are computed again, by another method, from the tree that running the function gives.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from privproof.compiling.coins import Tossed, TossedProgram, noisy_records, record_coins_of
from privproof.compiling.covering import told_coverage
from privproof.compiling.outside import refuse_outside
from privproof.compiling.relational import NO_SELECTION, Program, prepare_program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.scales import unit
from privproof.compiling.summaries import SUMMED, sums_up
from privproof.compiling.translation import program_agreement, refuse_endless
from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.laplace.certificates import loss_evidence, mixture_evidence, proof_evidence
from privproof.engines.laplace.events import tree
from privproof.engines.laplace.explaining import costs_of, explanation, given_away_by
from privproof.engines.laplace.losses import Loss
from privproof.engines.laplace.matrices import answer_by_matrix
from privproof.engines.laplace.mixtures import Mixture, mixture, spent_by
from privproof.engines.laplace.proving import (
    FORETOLD,
    FORMS,
    PROMISED,
    SETTLED,
    AlignmentProof,
    NoProof,
    RowForm,
    attempts,
    cheapest,
    prove,
)
from privproof.engines.laplace.refuting import LARGE, STAGES, Refuter, few_ways, publics
from privproof.engines.laplace.repairs import repairs
from privproof.engines.laplace.solver import Effort, each_in_own_context, own_context
from privproof.engines.laplace.tight import (
    cost_by_line,
    formula,
    has_open_size,
    search_losses_at_size,
    upper_at,
    whole_costs,
)
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.errors import LanguageError, QuestionError
from privproof.evidence.certificate_documents import lower_bound
from privproof.evidence.engine_answers import Answer
from privproof.evidence.gate import admit
from privproof.evidence.verdicts import Explanation, ProgramDetails
from privproof.evidence.witnesses import LossWitness, ObservedPattern, Witness
from privproof.exact import INFINITE, ZERO, Budget, Epsilon, epsilon, rational
from privproof.exact.affine import Affine
from privproof.language import Mechanism
from privproof.language.branching import BranchLeaf
from privproof.language.inputs import Input
from privproof.scenarios import ProgramQuestion
from privproof.scenarios.program_questions import (
    claim_in_numbers,
    is_gaussian,
    is_geometric,
    is_truncated,
    is_weighed,
    rational_below,
)

ENGINE = "laplace"
_BY_PROGRAM = (
    "following its program with the noise left open: it agrees with the function on runs with the same data and noise"
)


class AlignmentEngine:
    """Proves and refutes mechanisms with continuous noise."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        question = request.question
        if request.tight and isinstance(question, ProgramQuestion) and _pays_by_delta(question.mechanism):
            return "alignments of Gaussian and of truncated noise are for a claim with a delta"
        return None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """For every size and all public numbers, or at the size that is asked for: a proof or a refutation of the claim, or both bounds."""
        question = request.question
        assert isinstance(question, ProgramQuestion)
        if request.delta != 0:
            raise QuestionError(
                "delta", "a delta with continuous noise", place="delta", hint="privproof check with a budget"
            )
        if not request.tight and question.claim is None:
            infinite = question.budget is not None and question.budget.epsilon.infinite
            said = "an infinite epsilon claims next to nothing" if infinite else "no budget is given"
            raise QuestionError("budget", said, hint="ask for one, such as 1, or for the tight epsilon")
        yield from each_in_own_context(_found(request, question, monitor))


def _found(request: EngineRequest, question: ProgramQuestion, monitor: Monitor) -> Iterator[Answer]:
    """The answers to a question that can be asked."""
    program = _in_class(question.mechanism)
    search: _Tight | _Search | _Settled
    if _pays_by_delta(question.mechanism):
        search = _Settled(question, monitor)
    else:
        search = (_Tight if request.tight else _Search)(question, program, monitor)
    try:
        yield from search.answers()
    except Stopped:
        yield from search.stopped(monitor.stopped() or "stopped")


def _pays_by_delta(mechanism: Mechanism) -> bool:
    """Whether noise is drawn whose shifts are paid by a delta; what this engine knows of violations is about other noise."""
    return is_gaussian(mechanism) or is_truncated(mechanism)


def _in_class(mechanism: Mechanism) -> Program | None:
    """Refuse what is outside the class, with its place; the program that alignments are about, where there is one."""
    for name, declared in mechanism.inputs.items():
        if declared.within is None and not declared.public and not _summed(declared, mechanism):
            raise LanguageError(
                "input",
                f"{name}: {declared} beside continuous noise or numbers without bounds",
                place=mechanism.place,
                hint="numbers: real(), integer(), real_queries(); records(...) of which one changes",
            )
    try:
        program = program_for_alignment(mechanism)
    except Unsupported:
        refuse_outside(mechanism.translated.body, mechanism)
        return None
    refuse_endless(program)
    return program


def _summed(declared: Input, mechanism: Mechanism) -> bool:
    """Whether an input is a list of records of which one changes: sums over them are known."""
    return declared.shape == "list" and mechanism.neighbours in SUMMED


def _sums_up(mechanism: Mechanism, program: Program | None) -> bool:
    """Whether a mechanism adds up over records, perhaps by coins that it tosses for each."""
    by_coins = record_coins_of(mechanism) is not None or noisy_records(mechanism) is not None
    return (program is not None and sums_up(program.code)) or by_coins


def least_length(mechanism: Mechanism) -> int:
    """The length of the shortest lists on which a mechanism that selects does not fail."""
    try:
        return prepare_program(mechanism, select=True).least
    except (Unsupported, LanguageError):
        return 0


_SIMPLE = 1_000
"""The largest denominator of an epsilon that is guessed."""
_MOST, _MOST_BELOW, _EACH = 200_000_000, 60_000_000, 8_000_000
"""The steps of Z3 for the proofs of a large claim, for a smaller one before, and for one invariant: 20 s together."""
_PROCESSED = ("text", "rounding", "float", "linear")
"""What the function does to a released number that is a function of it, and none of numbers that are left open."""


class _Search:
    """The search for a proof and a refutation, in turns."""

    def __init__(self, question: ProgramQuestion, program: Program | None, monitor: Monitor) -> None:
        self.question, self.program, self.monitor = question, program, monitor
        self.mechanism = question.mechanism
        assert question.claim is not None
        self.claim: Affine = question.claim
        summed, least = _sums_up(self.mechanism, program), least_length(self.mechanism)
        self.refuter = Refuter(self.mechanism, question.relation, monitor, self.claim, question.budget, summed, least)
        self.reasons: list[str] = []

    def answers(self) -> Iterator[Answer]:
        """Proofs, refutations, and what is known in the end."""
        last = NoProof("")
        failures = 0
        found = prove_mixture(self.question, self.monitor)
        if isinstance(found, str):
            self.reasons += [found] if found else []
        elif (
            self.question.budget is not None
            and self.question.budget.delta == 0  # a mixture proves an epsilon; a delta follows elsewhere
            and found.epsilon.compare(self.question.budget.epsilon) <= 0
        ):
            yield from mixture_proved(self.question, found)
        yield from self.with_noisy_records()
        loss = self.violation(self.refuter.grown, self.question.size)
        if loss is not None and (
            not loss.partial or self.follows(program_for_alignment(self.mechanism, convert=False))
        ):
            yield self.refuted(loss, last)
            return
        if self.is_large():
            loss = self.violation(self.refuter.far, self.question.size)
            if loss is not None:
                yield self.refuted(loss, last)
                return
            yield from self.proved_below()
        for attempt in attempts(
            self.mechanism,
            self.claim,
            self.monitor,
            size=self.question.size,
            exact=None if self.question.budget is None else self.question.budget.epsilon,
            delta=Affine(ZERO if self.question.budget is None else self.question.budget.delta),
            effort=Effort(_MOST, _EACH) if self.is_large() else None,
        ):
            self.monitor.listen(Progress("looking for an alignment"))
            if isinstance(attempt, AlignmentProof):
                for answer in proof_finding(self.question, attempt):
                    if answer.status == "proved":
                        yield answer
                    self.reasons.append(answer.reason or "the checker does not accept the proof")
                continue
            self.failed(attempt)
            if attempt.blocks is None:  # nothing was attempted: no program of this form
                continue
            self.monitor.listen(Progress("looking for a violation"))
            loss = self.violation(self.refuter.stage, failures, self.question.size, attempt.last, attempt.blocks)
            last, failures = attempt, failures + 1
            if loss is not None:
                yield self.refuted(loss, attempt)
                return
        self.monitor.listen(Progress("looking for a violation at larger sizes"))
        for stage in range(failures, STAGES):
            loss = self.violation(self.refuter.stage, stage, self.question.size)
            if loss is not None:
                yield self.refuted(loss, last)
                return
        loss = self.violation(self.refuter.pumped, self.question.size)
        if loss is not None:
            yield self.refuted(loss, last)
            return
        reasons = [each for each in self.reasons if each != NO_SELECTION] or self.reasons
        yield from self.stopped("; ".join(dict.fromkeys(reasons)))

    def is_large(self) -> bool:
        """Whether so much is claimed that it is looked at from afar first, and a proof is not looked for much longer."""
        return not self.claim.terms and bool(self.claim.constant >= LARGE)

    def with_noisy_records(self) -> Iterator[Answer]:
        """Proofs where the noise that is drawn for a record is a part of the record, which one list has alone."""
        found = noisy_records(self.mechanism)
        budget = self.question.budget
        if found is None or (budget is not None and budget.delta != 0):
            return
        exact = None if budget is None else budget.epsilon
        for attempt in attempts(found.mechanism, self.claim, self.monitor, size=self.question.size, exact=exact):
            if isinstance(attempt, AlignmentProof):
                for answer in proof_finding(self.question, attempt, tossed=found):
                    if answer.status == "proved":
                        yield answer
                    self.reasons.append(answer.reason or "the checker does not accept the proof")
                return
            self.reasons.append(attempt.reason)

    def proved_below(self) -> Iterator[Answer]:
        """Proofs of a smaller epsilon than a large one that is claimed: they are found sooner, because shifts are small."""
        budget = self.question.budget
        if budget is None or budget.delta != 0:
            return
        guess = rational(Fraction(self.refuter.steady).limit_denominator(_SIMPLE))
        for smaller in dict.fromkeys((guess, rational(LARGE))):
            if not 0 < smaller < self.claim.constant:
                continue
            for attempt in attempts(
                self.mechanism,
                Affine(smaller),
                self.monitor,
                size=self.question.size,
                forms=FORMS[1::-1],
                exact=epsilon(smaller),
                effort=Effort(_MOST_BELOW, _EACH),
            ):
                self.monitor.listen(Progress("looking for an alignment"))
                if isinstance(attempt, AlignmentProof):
                    for answer in proof_finding(self.question, attempt):
                        if answer.status == "proved":
                            yield replace(answer, upper=budget.epsilon)

    def violation(self, look: Callable[..., Loss | None], *given: object) -> Loss | None:
        """A violation, if one is found; none is where the function does to released numbers what has no meaning for open ones."""
        try:
            return look(*given)
        except LanguageError as problem:
            ordinary = self.mechanism.translated.ordinary  # only there a float is a number like any other
            followed = ordinary or (self.program is not None and problem.code != "float")
            if not followed or problem.code not in _PROCESSED:
                raise
            place = "" if problem.place is None else f", {problem.place}"
            self.reasons.append(f"violations are not looked for: {problem.message}{place}")
            return None

    def follows(self, program: Program) -> bool:
        """Whether a program that was followed in its place does what the function does."""
        told = program_agreement(program).told
        if told is not None:
            self.reasons.append(f"the program and the function differ {told}")
        return told is None

    def failed(self, attempt: NoProof) -> None:
        """Note why an attempt failed; a list that is read past its end is no mechanism."""
        if attempt.last is not None and attempt.last.unsafe and attempt.last.failed is not None:
            values = ", ".join(f"{name} = {value}" for name, value in attempt.last.instance.values.items())
            what = attempt.last.failed.what.partition(" ")[0]
            if attempt.last.failed.what.endswith("is a number"):
                raise LanguageError(
                    "value",
                    f"{what} is None where a number is needed" + (f" when {values}" if values else ""),
                    place=str(attempt.last.failed.place),
                    hint=f"if {what} is None or ...",
                )
            raise LanguageError(
                "index",
                f"{what} is read past its end, or before its beginning," + (f" when {values}" if values else " here"),
                place=str(attempt.last.failed.place),
                hint=f"while i < len({what}): ..., or a size: real_queries(size=3)",
            )
        self.reasons.append(attempt.reason)

    def refuted(self, loss: Loss, attempt: NoProof) -> Answer:
        """What a loss above the claim says."""
        return refutation_finding(self.question, loss, breaking(self.question, loss, attempt, self.monitor))

    def stopped(self, reason: str) -> Iterator[Answer]:
        """What is known."""
        best = self.refuter.best
        yield Answer(
            status="unknown",
            question=self.question,
            engine=ENGINE,
            lower=epsilon(0) if best is None else best.lower(),
            witness=None if best is None else witnessed(best),
            reason=reason or "no proof and no violation",
        )


def prove_mixture(question: ProgramQuestion, monitor: Monitor) -> Mixture | str:
    """The bound of a mechanism that tosses coins for its records, with its proof; why there is none, empty where it tosses none."""
    found = record_coins_of(question.mechanism)
    if found is None:
        return ""
    monitor.listen(Progress("looking for alignments of what is mixed"))
    return mixture(found, question.size, monitor)


def mixture_proved(question: ProgramQuestion, found: Mixture, best: Loss | None = None) -> Iterator[Answer]:
    """What a proof by a mixture says, if the program does what the function does."""
    tried = program_agreement(found.program, found.tossed)
    if tried.told is not None:
        return
    said = f"the function and the program that is proved agree on {tried.runs} runs with the same data, coins and noise"
    answer = Answer(
        status="proved",
        question=question,
        engine=ENGINE,
        evidence=mixture_evidence(found),
        compiled=TossedProgram(found.tossed, found.program),
        lower=epsilon(0) if best is None else best.lower(),
        upper=found.epsilon,
        witness=None if best is None else witnessed(best),
        details=ProgramDetails(None, None),
        notes=(said + told_coverage(tried), "coins are tossed for every record: what is proved is a mixture over them"),
    )
    if best is not None and best.lower().compare(epsilon(0)) > 0:
        yield replace(answer, more={"below": lower_bound(best.lower(), loss_evidence(best, _trees(question, best)))})
    yield answer


class _Settled:
    """The search for a proof of a program with Gaussian or truncated noise, for every size."""

    def __init__(self, question: ProgramQuestion, monitor: Monitor) -> None:
        self.question, self.monitor = question, monitor

    def answers(self) -> Iterator[Answer]:
        """A proof, or why there is none."""
        question, reasons = self.question, []
        assert question.claim is not None
        budget, delta = question.budget, question.delta
        if budget is not None:
            exact, delta = budget.epsilon, Affine(budget.delta)
        elif delta is None or question.claim.terms:
            raise QuestionError(
                "budget",
                "Gaussian or truncated noise with an epsilon that is no number",
                hint="epsilon=1, delta='1/1000'",
            )
        else:
            exact = question.claim.value_at({})
        by_matrix = None if delta.terms else answer_by_matrix(question, exact, delta.constant, ENGINE)
        if by_matrix is not None and (by_matrix.several or by_matrix.answer.status == "unknown"):
            yield by_matrix.answer
            if by_matrix.answer.status == "unknown":
                return
        for attempt in attempts(
            question.mechanism,
            question.claim,
            self.monitor,
            size=question.size,
            forms=self.forms(delta),
            exact=exact,
            delta=delta,
        ):
            self.monitor.listen(Progress("looking for an alignment"))
            if isinstance(attempt, NoProof):
                reasons.append(attempt.reason)
                continue
            for answer in proof_finding(question, attempt):
                if answer.status == "proved":
                    yield answer
                reasons.append(answer.reason or "the checker does not accept the proof")
        if by_matrix is not None:
            yield by_matrix.answer
        yield from self.stopped("; ".join(dict.fromkeys(reasons)))

    def forms(self, delta: Affine) -> Sequence[RowForm]:
        """The forms of alignments, in order."""
        if not is_gaussian(self.question.mechanism):
            return PROMISED
        return (*FORETOLD, *SETTLED) if delta.terms else (*SETTLED, *FORETOLD)

    def stopped(self, reason: str) -> Iterator[Answer]:
        """What is known."""
        yield Answer(status="unknown", question=self.question, engine=ENGINE, reason=reason)


def proof_finding(
    question: ProgramQuestion, proof: AlignmentProof, best: Loss | None = None, tossed: Tossed | None = None
) -> Iterator[Answer]:
    """What a proof says, if the program does what the function does.

    Args:
        question: the question.
        proof: the proof.
        best: the largest loss known.
        tossed: where the records of the program hold the noise that the function draws for them: the function, and which it is.
    """
    tried = program_agreement(proof.program, tossed)
    if tried.told is not None:
        reason = f"the program and the function differ {tried.told}"
        yield Answer(status="unknown", question=question, engine=ENGINE, reason=reason)
        return
    upper = INFINITE
    if not proof.budget.terms:
        upper = epsilon(proof.budget.value_at({}))
    if question.budget is not None and question.claim == proof.budget:
        upper = question.budget.epsilon
    said = f"the function and the program that is proved agree on {tried.runs} runs with the same data and noise"
    notes = [said + told_coverage(tried)]
    if proof.program.least > 1:
        notes.append(f"lists have at least {proof.program.least} elements: on shorter ones it fails, whatever the data")
    every = unit(question.mechanism)
    if every is not None and _proportional(question, every):
        notes.insert(0, f"scales and claim are proportional: the same shifts prove the claim for every {every} above 0")
    answer = alignment_finding(question, proof, best, explanation=explanation(proof))
    if tossed is not None:
        notes.append(
            "noise is drawn for every record: what is proved holds for any noise of the record that one list has alone"
        )
        answer = replace(answer, compiled=TossedProgram(tossed, proof.program))
    answer = replace(answer, upper=upper, notes=tuple(notes))
    if best is not None and best.lower().compare(epsilon(0)) > 0:
        yield replace(answer, more={"below": lower_bound(best.lower(), loss_evidence(best, _trees(question, best)))})
    yield answer


def _trees(question: ProgramQuestion, loss: Loss) -> tuple[tuple[BranchLeaf, ...], tuple[BranchLeaf, ...]]:
    """The runs behind a loss, on both sides."""
    if loss.runs is not None:
        return loss.runs
    left, right = (tree(question.mechanism, side, loss.event) for side in (loss.left, loss.right))
    return left, right


def alignment_finding(
    question: ProgramQuestion, proof: AlignmentProof, best: Loss | None = None, explanation: Explanation | None = None
) -> Answer:
    """What a proof by alignment says."""
    return Answer(
        status="proved",
        question=question,
        engine=ENGINE,
        evidence=proof_evidence(proof),
        compiled=proof.program.whole,
        lower=epsilon(0) if best is None else best.lower(),
        witness=None if best is None else witnessed(best),
        details=ProgramDetails(
            proof.budget if proof.budget.terms else None,
            explanation,
            delta=given_away_by(proof),
            costs=None if proof.blocks.promises or proof.blocks.foretell else costs_of(proof),
        ),
    )


def _proportional(question: ProgramQuestion, name: str) -> bool:
    """Whether the mechanism's own claim is asked about, and is proportional to a parameter."""
    mechanism = question.mechanism
    if mechanism.claim is None or question.claim is None:
        return False
    claims = [claim_in_numbers(mechanism.having(**{name: value}), question.size) for value in (1, 2, 3)]
    first = claims[0]
    if first is None or first.times(rational(mechanism.parameters[name])) != question.claim:
        return False
    return all(claim == first.times(rational(k)) for k, claim in enumerate(claims, start=1))


def refutation_finding(question: ProgramQuestion, loss: Loss, line: tuple[int, str] = (0, "")) -> Answer:
    """What a loss above the claim says."""
    by = "running the function itself with its noise left open"
    notes = (f"both probabilities come from {_BY_PROGRAM if loss.partial else by}",)
    budget = question.budget
    lower = loss.lower() if budget is None or budget.delta == 0 or loss.infinite else budget.epsilon
    return Answer(
        status="refuted",
        question=question,
        engine=ENGINE,
        evidence=loss_evidence(loss, _trees(question, loss)),
        lower=lower,
        witness=witnessed(loss, line),
        notes=notes,
    )


def witnessed(loss: Loss, line: tuple[int, str] = (0, "")) -> LossWitness:
    """A loss as evidence, with the number of the line that breaks the claim, and why."""
    number, why = line
    observed = ObservedPattern(loss.event, why, number)
    return Witness(loss.left, loss.right, observed, loss.left_probability, loss.right_probability)


def breaking(question: ProgramQuestion, loss: Loss, attempt: NoProof, monitor: Monitor) -> tuple[int, str]:
    """The line that breaks a claim: the one that pays most, or the one that noise cannot help; 0 where none can be named."""
    shares = cost_by_line(question.mechanism, loss.left, loss.right, loss.event, monitor)
    if shares:
        line, cost = max(shares.items(), key=lambda item: item[1])
        others = f" of {sum(shares.values())} in all" if len(shares) > 1 else ""
        return line, f"line {line} has to pay {cost}{others}: {_source(question.mechanism, line)}"
    if attempt.last is not None and attempt.last.failed is not None:
        failed = attempt.last.failed
        return failed.place.line, f"line {failed.place.line}, where {failed.what}: no noise can arrange it"
    return 0, ""


def _source(mechanism: Mechanism, line: int) -> str:
    return linecache.getline(mechanism.file, line).strip()


@dataclass(frozen=True)
class _Candidate:
    """A budget to prove; exactly, where it is a number with logarithms."""

    budget: Affine
    exact: Epsilon | None = None


class _Tight:
    """The tight epsilon: bounds from both sides."""

    def __init__(self, question: ProgramQuestion, program: Program | None, monitor: Monitor) -> None:
        self.question = replace(question, claim=None, budget=None)
        self.program = program
        self.claim = question.claim
        self.claimed_exactly = None if question.budget is None else question.budget.epsilon
        self.monitor = monitor
        self.mechanism = question.mechanism
        summed, least = _sums_up(self.mechanism, program), least_length(self.mechanism)
        self.refuter = Refuter(self.mechanism, question.relation, monitor, summed=summed, least=least)
        self.mixture = prove_mixture(question, monitor)
        self.noisy = noisy_records(self.mechanism)
        self.summed = summed or self.refuter.by_records
        self.proof: AlignmentProof | None = None
        self.exact: Epsilon | None = None
        self.notes: list[str] = []

    def answers(self) -> Iterator[Answer]:
        """Both bounds."""
        question = self.question
        open_size = has_open_size(self.mechanism, question.size)
        with few_ways(self.too_many):
            self.lower(open_size=open_size)
        if self.refuter.best is not None and self.refuter.best.infinite:
            yield from self.stopped("")
            return
        if isinstance(self.mixture, Mixture):
            yield from mixture_proved(question.under(Budget(self.mixture.epsilon)), self.mixture, self.refuter.best)
        self.monitor.listen(Progress("looking for the smallest budget that can be proved"))
        if self.noisy is not None:
            self.cheapest_of(self.noisy)
            yield from self.stopped("")
            return
        candidates = self.claimed()
        with few_ways(self.too_many):
            candidates = self.candidates()
        for candidate in candidates:
            found = prove(
                self.mechanism,
                candidate.budget,
                self.monitor,
                size=question.size,
                exact=candidate.exact,
            )
            if isinstance(found, AlignmentProof):
                self.proof, self.exact = found, candidate.exact
                break
        yield from self.stopped("")

    def cheapest_of(self, noisy: Tossed) -> None:
        """A proof of what an alignment costs where the noise of a record is a part of it."""
        try:
            program = program_for_alignment(noisy.mechanism, size=self.question.size)
        except (Unsupported, LanguageError):
            return
        found = cheapest(noisy.mechanism, program, (), self.monitor)
        if isinstance(found, AlignmentProof):
            self.exact = spent_by(found)
            self.proof = replace(found, budget=Affine(rational_below(self.exact)))

    def too_many(self, message: str) -> None:
        """Note that not everything was looked at."""
        self.notes.append(f"not all sizes were looked at: {message}")

    def claimed(self) -> list[_Candidate]:
        """The claim, where there is one."""
        return [] if self.claim is None else [_Candidate(self.claim, self.claimed_exactly)]

    def candidates(self) -> list[_Candidate]:
        """Budgets to prove, the smallest first: what the costs suggest, and the claim."""
        if self.summed:
            best = self.refuter.best
            known = epsilon(0) if best is None else best.lower()
            if is_geometric(self.mechanism):
                reached = [] if known.infinite else [_Candidate(Affine(rational_below(known)), known)]
                return [*reached, *self.claimed()]
            guessed = Affine(known.shift) if known.ratio == 1 and not known.infinite else None
        elif is_weighed(self.mechanism):  # no costs are known where Python computes weights from data
            guessed = None
        else:
            guessed = formula(self.mechanism, self.question.relation, self.question.size, self.monitor)
        result = [] if guessed is None else [_Candidate(guessed)]
        if guessed is not None and is_geometric(self.mechanism):
            exact = [] if self.program is None or guessed.terms else whole_costs(self.program, float(guessed.constant))
            result = [_Candidate(Affine(rational_below(each)), each) for each in exact]
        return [*result, *(each for each in self.claimed() if each not in result)]

    def lower(self, *, open_size: bool) -> None:
        """Losses that approach the supremum."""
        if self.summed:
            lengths = [self.question.size] if not open_size else [1, 2]
            most = self.mixture.epsilon if isinstance(self.mixture, Mixture) else None
            for public in publics(self.mechanism, numbers=(1, 2)):
                for size in lengths:
                    self.refuter.between_records(size, public, most)
            return
        listed = any(d.shape != "value" for d in self.mechanism.inputs.values())
        sizes: list[int | None] = [self.question.size] if not open_size else [3, 5]
        if not listed:
            sizes = [None]
        for public in publics(self.mechanism, numbers=(1,)):
            for far in (False, True):
                near = [self.reached(size, public, far=far) for size in sizes]
                if self.refuter.best is not None and self.refuter.best.infinite:
                    return
                if near[-1]:
                    break

    def reached(self, size: int | None, public: Mapping[str, object], *, far: bool) -> bool:
        """Whether losses come near the least cost at a size."""
        self.monitor.listen(Progress("looking for losses", level=size or 0))
        return search_losses_at_size(self.refuter, size, public, far=far)

    def stopped(self, reason: str) -> Iterator[Answer]:
        """Proved where there is an upper bound, refuted where there is no epsilon at all."""
        best = self.refuter.best
        lower = epsilon(0) if best is None else best.lower()
        witness = None if best is None else witnessed(best)
        question = self.question
        if best is not None and best.infinite:
            yield refutation_finding(question.under(Budget(INFINITE)), best)
            return
        if self.proof is None:
            upper = self.at_size() if not reason else INFINITE
            why = reason or "no budget was proved by an alignment"
            yield Answer(
                status="unknown",
                question=question,
                engine=ENGINE,
                lower=lower,
                upper=upper,
                witness=witness,
                reason=why,
                notes=tuple(self.notes),
            )
            return
        budget = self.proof.budget
        if self.exact is not None:
            asked = question.under(Budget(self.exact))
        elif not budget.terms:
            asked = question.under(Budget(epsilon(budget.constant)))
        else:
            asked = replace(question, claim=budget)
        yield from proof_finding(asked, self.proof, best, self.noisy)

    def at_size(self) -> Epsilon:
        """An upper bound at a size, from linear programs that were verified exactly."""
        inputs = self.mechanism.inputs.values()
        if has_open_size(self.mechanism, self.question.size) or any(d.public and not d.real for d in inputs):
            return INFINITE
        if any(not d.public and d.within is None for d in inputs):  # entries that change in any way have no corners
            return INFINITE
        bound = None
        with few_ways(self.too_many):
            bound = upper_at(self.mechanism, self.question.relation, self.question.size, {}, self.monitor)
        return INFINITE if bound is None else epsilon(bound)


@own_context()
def find_repairs(question: ProgramQuestion, monitor: Monitor) -> tuple[str, ...]:
    """Changes after which a refuted claim, or another one, is proved; each with a certificate that the checker accepts."""
    assert question.claim is not None
    found: list[str] = []
    try:
        for repair in repairs(question.mechanism, question.relation, question.claim, monitor, size=question.size):
            asked = replace(question, mechanism=repair.mechanism)
            if repair.claim is not None:
                asked = replace(asked, claim=repair.claim, budget=None)
            if (
                admit(alignment_finding(asked, repair.proof)).status == "proved"
            ):  # there is no function yet to run beside it
                found.append(f"{repair}: then it is proved")
    except Stopped:
        found.append(f"{monitor.stopped() or 'stopped'}: more were not looked for")
    return tuple(found)
