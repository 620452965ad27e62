"""What the engines for words share: the compiled question, the verdict that a finding is, and runs of the function itself.

Where the model was made from a mechanism, the function itself is run as well, on the witness's inputs and all its random choices:
the translation from source to model must give the same two probabilities.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from privproof.compiling import given_in_advance, translated_rightly, word_problem
from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor
from privproof.engines.words.word_certificates import event_evidence, proof_evidence, pump_evidence, word_evidence
from privproof.engines.words.word_findings import Finding
from privproof.evidence.certificate_documents import lower_bound
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import Growth, WordDetails
from privproof.evidence.witnesses import ObservedWord, Witness, WordWitness
from privproof.exact import INFINITE, Budget, Rational, epsilon, fraction, show
from privproof.language.running import outputs
from privproof.language.values import holds_written, text
from privproof.models import Transducer, Word, can_halt, compares_something
from privproof.scenarios import Question, whole_output

if TYPE_CHECKING:
    from privproof.compiling import Compiled
    from privproof.language.running import Outputs

_RUNS = 1_000
"""Random choices that are followed when the function is run on the data of a witness."""
_LONG = 30
"""A run with more random choices is, as a rule, one of a loop that only noise ends: those likelier than one in a million are enough."""
_FEW_EVENTS = 8
"""Outcomes of an event on which the function is run."""
_CHECKED_AT_ONCE = 1_200_000
"""Beyond so many combinations of inputs and output the upper bound of a refuted claim is left to the engine's word."""


class WordEngine(ABC):
    """An engine for the words of a model: it looks for the worst word, and proves that there is none worse."""

    name: ClassVar[str]
    needs_budget: ClassVar[bool] = False
    """Whether it can only compare with a budget."""

    @abstractmethod
    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""

    @abstractmethod
    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """Is the budget respected?"""

    @abstractmethod
    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """How small may epsilon be?"""

    def compiled(self, asked: WordRequest) -> Compiled | None:
        """The question in the form that this engine takes; None if it has no such form."""
        return asked.problem

    def _once(self, request: EngineRequest) -> Compiled | None:
        """The same, made once for a request."""
        return request.once(f"words, {self.name}", lambda: self.compiled(word_request(request)))

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        if request.word is not None:
            return "one word is asked about"
        asked = word_request(request)
        compiled = self._once(request)
        if compiled is None:
            return "the mechanism does not read one input and write one output"
        reason = self.reason_against(compiled, asked.budget)
        return "it needs a budget to compare with" if reason is None and request.tight and self.needs_budget else reason

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """What the search finds, in order: growth without bound before one word that breaks the budget."""
        asked = word_request(request)
        compiled, budget = self._once(request), asked.budget
        assert compiled is not None
        if compiled.problem.locations and not compares_something(compiled.problem):
            reason = "nothing is compared: no word of the horizon that the scenario admits can occur"
            yield Answer(
                status="unknown", question=asked.question, engine=self.name, notes=compiled.notes, reason=reason
            )
            return
        if request.tight:
            finding = self.tight(compiled, budget.delta, monitor, pointwise=budget.pointwise)
        else:
            finding = self.check(compiled, budget, monitor)
        notes = (*compiled.notes, *asked.notes, *finding.notes)
        for answer in _WordJudging(compiled, self.name, budget, replace(finding, notes=notes), request.tight).answers():
            yield run_again(answer)


@dataclass(eq=False)
class WordRequest:
    """A request about words, as all engines for words take it.

    Attributes:
        question: the question, as it is compared.
        budget: the budget; where the tight epsilon is wanted, an infinite one.
        over_events: whether a delta counts over events.
        notes: what the reader should know about the question.
    """

    question: Question
    budget: Budget
    over_events: bool
    notes: tuple[str, ...]
    _problem: Compiled | None = None

    @property
    def problem(self) -> Compiled:
        """The question as a word problem."""
        if self._problem is None:
            self._problem = word_problem(self.question, together=self.over_events)
        return self._problem


def word_request(request: EngineRequest) -> WordRequest:
    """The request as engines for words take it, made once."""
    return request.once("words", lambda: _word_request(request))


def _word_request(request: EngineRequest) -> WordRequest:
    question, budget = request.question, request.budget
    assert isinstance(question, Question)
    assert budget is not None
    over_events = budget.delta != 0 and not budget.pointwise
    question = given_in_advance(question) if over_events else question
    notes: tuple[str, ...] = ()
    if over_events and question.scenario.words.ending == "any" and can_halt(question.model):
        words = replace(question.scenario.words, ending="visible")
        question = replace(question, scenario=replace(question.scenario, words=words))
        notes = ("with delta over events an observer also sees that a run has halted",)
    if isinstance(question.model, Transducer) and len(question.model.outputs) == 1:
        notes = (*notes, "there is only one output, so nothing can be told apart")
    asked = question.under(None) if request.tight else question.growing(budget)
    return WordRequest(asked, budget, over_events, notes)


def witness_of(compiled: Compiled, word: Word) -> WordWitness:
    """A word as a witness."""
    pair = compiled.begins[word.start].pair
    left, right = fraction(word.left), fraction(word.right / compiled.question.grown(word.letters))
    observed = ObservedWord(pair.name, word.letters, word.final)
    model, origin = compiled.question.model, compiled.question.origin
    if isinstance(model, Transducer) and model.of_every_length:
        observed = replace(observed, marks=model.marks)
        letters = [letter.output for letter in word.letters]
        if origin is not None and (observed.marked or holds_written(origin.outputs[letters[-1] or ""])):
            shown = whole_output(origin.outputs, letters, observed.marked)
            observed = replace(observed, told=(text(shown),))
    return Witness(pair.left, pair.right, observed, left, right)


@dataclass(frozen=True)
class _WordJudging:
    """What a finding says."""

    compiled: Compiled
    engine: str
    budget: Budget
    finding: Finding
    tight: bool

    @property
    def witness(self) -> WordWitness | None:
        return None if self.finding.word is None else witness_of(self.compiled, self.finding.word)

    @property
    def event(self) -> tuple[WordWitness, ...]:
        return tuple(witness_of(self.compiled, word) for word in self.finding.event)

    def answers(self) -> Iterator[Answer]:
        finding, witness, event, budget = self.finding, self.witness, self.event, self.budget
        refuted = finding.lower.infinite if self.tight else bool(event) and finding.proof is None
        if witness is not None and not refuted and finding.proof is None and finding.stopped is None:
            allowed = witness.right_probability * fraction(self.compiled.question.grown(witness.observed.letters))
            refuted = not budget.epsilon.allows(witness.left_probability, allowed, budget.delta)
        known = Answer(
            status="unknown",
            question=self.compiled.question.growing(None if self.tight else budget),
            engine=self.engine,
            lower=finding.lower,
            upper=finding.upper,
            witness=witness,
            details=WordDetails(event),
            notes=finding.notes,
            reason=finding.stopped or "the engine found neither a proof nor a violation",
            pass_on=finding.pass_on,
        )
        if refuted:
            yield from self.refutations(
                replace(known, status="refuted", question=self.compiled.question.growing(budget))
            )
        elif finding.proof is not None:
            yield self.proof(known)
        else:
            yield known

    def refutations(self, known: Answer) -> Iterator[Answer]:
        """That there is no epsilon at all, if words grow; otherwise that this one is too small."""
        compiled, finding, witness, event = self.compiled, self.finding, known.witness, self.event
        more: dict[str, object] = {}
        if finding.attained is not None:
            more["witness"] = word_evidence(witness_of(compiled, finding.attained))
        if finding.above is not None and _size(compiled) <= _CHECKED_AT_ONCE:
            more["above"] = {"epsilon": str(finding.upper), "evidence": proof_evidence(compiled, finding.above)}
        if finding.pump is not None:
            pump, pair = finding.pump, compiled.begins[finding.pump.start].pair.name
            factor = None if pump.growth is None else fraction(pump.growth)
            shown = {} if witness is None else {"witness": word_evidence(witness)}
            growth = Growth(pair, pump.before, pump.repeated, pump.after, factor)
            if finding.growing is not None:
                shown["growth"] = finding.growing.evidence
                growth = replace(growth, formula=finding.growing.formula)
            yield replace(
                known,
                evidence=pump_evidence(compiled, pump),
                more=shown,
                lower=INFINITE,
                details=WordDetails(event, growth),
            )
        evidence = (
            event_evidence(event, finding.length) if event else None if witness is None else word_evidence(witness)
        )
        if evidence is not None:
            lower = self.budget.epsilon if finding.pump is not None else finding.lower
            yield replace(known, evidence=evidence, more=more, lower=lower)

    def proof(self, known: Answer) -> Answer:
        """The proof that a finding is; where it is sharper than the budget, the certificate is."""
        finding, budget = self.finding, self.budget
        assert finding.proof is not None
        asked = replace(budget, epsilon=finding.upper) if self.tight else budget
        more: dict[str, object] = {}
        if known.witness is not None and (budget.delta == 0 or budget.pointwise):
            more["witness"] = word_evidence(known.witness)
        if self.event and finding.lower.compare(epsilon(0)) > 0:
            more["below"] = lower_bound(finding.lower, event_evidence(self.event, finding.length))
        if finding.upper.compare(asked.epsilon) < 0:
            more["bounds"] = {"upper": str(finding.upper)}
        return replace(
            known,
            status="proved",
            question=self.compiled.question.growing(asked),
            evidence=proof_evidence(self.compiled, finding.proof),
            more=more,
        )


def _size(compiled: Compiled) -> int:
    """How many combinations of inputs and output there are."""
    model = compiled.question.model
    if not isinstance(model, Transducer) or model.of_every_length:
        return 0
    return int(len(model.inputs) ** len(model.steps) * len(model.outputs))


def run_again(answer: Answer) -> Answer:
    """The answer if running the mechanism itself agrees with the model, otherwise unknown.

    Compared are the probabilities of the witness, and for a proof also the outputs on a few data sets.
    """
    question = answer.question
    assert isinstance(question, Question)
    if answer.status == "unknown" or question.origin is None:
        return answer
    origin, notes = question.origin, answer.notes
    disagreement: str | None = None
    if answer.status == "proved":
        disagreement, said = translated_rightly(question, origin)
        notes = (*notes, said)
    least = Fraction(1)
    known: dict[str, Outputs] = {}
    event = answer.details.event if isinstance(answer.details, WordDetails) else ()
    shown = (answer.witness,) if answer.witness else event[:_FEW_EVENTS]
    for witness in shown if disagreement is None else ():
        letters = [letter.output for letter in witness.observed.letters]
        marked = witness.observed.marked
        for side, claimed in enumerate((witness.left_probability, witness.right_probability)):
            arguments = origin.arguments(witness.observed.pair, side, witness.observed.inputs[side])
            if repr(arguments) not in known:
                known[repr(arguments)] = outputs(origin.mechanism, arguments, most=_RUNS, longest=_LONG)
            runs = known[repr(arguments)]
            low, high = runs.probability(lambda run: origin.shows(run, letters, marked))  # noqa: B023
            least = min(least, 1 - runs.left_over)
            if not low <= claimed <= high:
                bounds = show(low) if low == high else f"between {show(low)} and {show(high)}"
                disagreement = f"the model gives {show(claimed)} for {arguments}, running the function {bounds}"
    if disagreement is not None:
        return Answer(
            status="unknown", question=question, engine=answer.engine, notes=answer.notes, reason=disagreement
        )
    if shown:
        said = "running the function itself on all its random choices gives the same two probabilities"
        if least < 1:
            share = int(least * 1000) / 10
            said = f"running the function itself on its likeliest random choices ({share} % of all) agrees"
        notes = (*notes, said)
    return replace(answer, notes=notes)
