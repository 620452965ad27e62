"""Asking a question: compile it, choose an engine, turn its finding into a verdict, and let the independent checker confirm it.

An engine's word is never enough.  A refutation's probabilities are recomputed from the definition by the checker, and a proof's
certificate is checked, before the verdict is given: all of them come out of the gate (`evidence.gate`).

Where the model was made from a mechanism, the function itself is run as well, on the witness's inputs and all its random choices:
the translation from source to model must give the same two probabilities.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privproof.compiling import Compiled, given_in_advance, mechanism_question, translated_rightly, word_problem
from privproof.engines import ENGINES, Engine, Finding, Monitor, one_step
from privproof.errors import QuestionError
from privproof.evidence import Growth, Unknown, Verdict, Witness
from privproof.evidence.certificates import event_evidence, lower_bound, proof_evidence, pump_evidence, word_evidence
from privproof.evidence.gate import Answer, admit, examine, turned_down
from privproof.exact import INFINITE, Budget, EpsilonLike, Number, Rational, asked_for, delta, epsilon, fraction, show
from privproof.language import Mechanism
from privproof.language.running import Outputs, outputs
from privproof.models import Horizon, Letter, Transducer, Word, can_halt, compares_something
from privproof.scenarios import (
    AnyQuestion,
    ParametricQuestion,
    ProgramQuestion,
    PufferfishQuestion,
    Question,
    ReleaseQuestion,
    StreamQuestion,
    is_program,
    program_question,
)

_RUNS = 1_000
_FEW_EVENTS = 8
_CHECKED_AT_ONCE = 1_200_000
"""Beyond so many combinations of inputs and output the upper bound of a refuted claim is left to the engine's word."""


def check(
    subject: AnyQuestion | Mechanism,
    epsilon_: EpsilonLike | None = None,
    delta_: Number = 0,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    pointwise: bool = False,
    engine: str | None = None,
    monitor: Monitor | None = None,
) -> Verdict:
    """Is the mechanism private within the budget?

    Args:
        subject: a mechanism, a question about a model, or a Pufferfish question.
        epsilon_: the budget's epsilon; without it the question's own budget counts.
        delta_: the budget's delta, over events unless `pointwise`.
        size: for a mechanism, the length of its lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, or a model: the lengths compared.
        pointwise: read delta for each output instead of each event.
        engine: the name of the engine to use; without it the first that supports the question.
        monitor: progress, a time limit, an interrupt.

    >>> from privproof.library.noisy_max import noisy_max_question
    >>> verdict = check(noisy_max_question(3, improved=False), "ln(2)")
    >>> verdict.status, verdict.witness.inputs, verdict.witness.output, verdict.witness.ratio
    ('refuted', (('1', '1', '0'), ('2', '0', '0')), ('2',), Fraction(4, 1))
    """
    if isinstance(subject, PufferfishQuestion | ParametricQuestion):
        budget = subject.budget if epsilon_ is None else Budget(epsilon(epsilon_), delta(delta_), pointwise)
        if budget is None:
            raise QuestionError(
                "budget", "no budget is given", hint="ask for one, such as ln(2), or for the tight epsilon"
            )
        from privproof.under_priors import check_under_prior

        return check_under_prior(subject, budget, monitor or Monitor())
    if isinstance(subject, ReleaseQuestion):
        from privproof.about_releases import check_release

        _only_release(engine)
        return check_release(subject if epsilon_ is None else subject.under(Budget.of(epsilon_, delta_)))
    question = asked(subject, size=size, horizon=horizon)
    if epsilon_ is not None:
        question = question.under(Budget(epsilon(epsilon_), delta(delta_), pointwise))
    if not isinstance(question, Question):
        return _continuous(question, engine, monitor or Monitor(), None)
    if question.budget is None:
        raise QuestionError("budget", "no budget is given", hint="ask for one, such as ln(2), or for the tight epsilon")
    return _ask(question, question.budget, engine, monitor or Monitor(), tight=False)


def tight_epsilon(
    subject: AnyQuestion | Mechanism,
    delta_: Number = 0,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    pointwise: bool = False,
    engine: str | None = None,
    monitor: Monitor | None = None,
) -> Verdict:
    """How private is the mechanism: the smallest epsilon it satisfies, exactly, or certified bounds.

    The verdict is proved (for the epsilon in its budget), refuted (there is no epsilon at all) or unknown (with bounds).

    >>> from privproof.library.noisy_max import noisy_max_question
    >>> verdict = tight_epsilon(noisy_max_question(3, improved=True))
    >>> verdict.tight, verdict.witness.inputs, verdict.witness.output
    (Epsilon('ln(24/7)'), (('1', '1', '1'), ('0', '2', '2')), ('1',))
    """
    if isinstance(subject, PufferfishQuestion | ParametricQuestion):
        from privproof.under_priors import tight_under_prior

        return tight_under_prior(subject, delta(delta_), monitor or Monitor())
    if isinstance(subject, ReleaseQuestion):
        from privproof.about_releases import tight_release

        _only_release(engine)
        return tight_release(subject)
    question = asked(subject, size=size, horizon=horizon)
    if not isinstance(question, Question):
        return _continuous(question, engine, monitor or Monitor(), delta(delta_))
    budget = Budget(INFINITE, delta(delta_), pointwise)
    return _ask(question, budget, engine, monitor or Monitor(), tight=True)


def _only_release(engine: str | None) -> None:
    if engine not in (None, "release"):
        raise QuestionError(
            "engine",
            f"{engine} does not answer questions about releases",
            place="engine",
            hint="release, or leave it out",
        )


def asked(
    subject: Question | ProgramQuestion | StreamQuestion | Mechanism,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
) -> Question | ProgramQuestion | StreamQuestion:
    """The question that a mechanism poses at a size; a question stays what it is, with another horizon if one is given."""
    if isinstance(subject, Mechanism):
        return posed(subject, size=size, horizon=horizon)
    if size is not None:
        raise QuestionError("size", "a model has the size it has", place="size", hint="drop the size")
    if isinstance(subject, ProgramQuestion | StreamQuestion):
        return subject
    return subject if horizon is None else replace(subject, horizon=horizon)


def posed(
    mechanism: Mechanism, *, size: int | None = None, horizon: Horizon | None = None
) -> Question | ProgramQuestion:
    """The question that a mechanism poses: about its finite model, or about the program itself."""
    if not is_program(mechanism):
        return mechanism_question(mechanism, size=size, horizon=horizon)
    if horizon is not None and horizon.high is not None:
        raise QuestionError(
            "horizon",
            "continuous noise is proved for streams of every length",
            place="horizon",
            hint="drop the horizon",
        )
    return program_question(mechanism, size=size)


def _continuous(
    question: ProgramQuestion | StreamQuestion, engine: str | None, monitor: Monitor, delta: Rational | None
) -> Verdict:
    """The answer where noise is continuous: as a stream automaton if it has that shape, otherwise as a program.

    Args:
        question: the question.
        engine: ``streams`` or ``laplace``; None for the first that gives an answer.
        monitor: progress, a time limit, an interrupt.
        delta: for the tight epsilon at this delta; None for whether the budget is kept.
    """
    from privproof.about_programs import check_program, tight_program
    from privproof.about_streams import check_stream, tight_stream

    known = ("streams",) if isinstance(question, StreamQuestion) else ("streams", "laplace")
    if engine is not None and engine not in known:
        raise QuestionError(
            "engine", f"the engine {engine!r} does not know continuous noise", place="engine", hint=" or ".join(known)
        )
    streamed, reason = (question, "") if isinstance(question, StreamQuestion) else _streamed(question, engine)
    if streamed is None and engine == "streams":
        raise QuestionError("engine", f"the engine does not support the question: streams: {reason}", place="engine")
    notes: tuple[str, ...] = (f"not a stream automaton: {reason}",) if reason else ()
    if streamed is not None:
        verdict = check_stream(streamed, monitor) if delta is None else tight_stream(streamed, delta, monitor)
        if verdict.status != "unknown" or engine == "streams" or not isinstance(question, ProgramQuestion):
            return verdict
        assert isinstance(verdict, Unknown)
        notes = (f"as a stream automaton: {verdict.reason}",)
    assert isinstance(question, ProgramQuestion)
    found = check_program(question, monitor) if delta is None else tight_program(question, delta, monitor)
    return replace(found, notes=(*found.notes, *notes))


def _streamed(question: ProgramQuestion, engine: str | None) -> tuple[StreamQuestion | None, str]:
    """The question about the stream automaton that a function is, or why it is none."""
    from privproof.compiling.rewriting import Unsupported
    from privproof.compiling.streams import stream_question

    if engine == "laplace" or question.mechanism.stream is None:
        return None, "" if engine == "laplace" else "it reads no stream" if engine == "streams" else ""
    if question.claim is not None and question.budget is None:
        return None, "the claim depends on public numbers"
    try:
        return stream_question(question), ""
    except Unsupported as problem:
        return None, str(problem)


def _ask(question: Question, budget: Budget, engine: str | None, monitor: Monitor, *, tight: bool) -> Verdict:
    begun = time.perf_counter()
    over_events = budget.delta != 0 and not budget.pointwise
    observed: tuple[str, ...] = ()
    question = given_in_advance(question) if over_events else question
    if over_events and question.scenario.words.ending == "any" and can_halt(question.model):
        words = replace(question.scenario.words, ending="visible")
        question = replace(question, scenario=replace(question.scenario, words=words))
        observed = ("with delta over events an observer also sees that a run has halted",)
    question = question.under(None if tight else budget)
    compiled = one_step(question) if engine in (None, "table") and not over_events else None
    compiled = compiled or word_problem(question, together=over_events)
    chosen, refusals = _choose(compiled, budget, engine, tight=tight)
    if chosen is None:
        verdict: Verdict = Unknown(question, "none", notes=compiled.notes, reason="; ".join(refusals))
    elif chosen.name != "table" and not compares_something(compiled.problem):
        reason = "nothing is compared: no word of the horizon that the scenario admits can occur"
        verdict = Unknown(question, chosen.name, notes=compiled.notes, reason=reason)
    else:
        if tight:
            finding = chosen.tight(compiled, budget.delta, monitor, pointwise=budget.pointwise)
        else:
            finding = chosen.check(compiled, budget, monitor)
        alone = isinstance(question.model, Transducer) and len(question.model.outputs) == 1
        silent = ("there is only one output, so nothing can be told apart",) if alone else ()
        finding = replace(finding, notes=(*compiled.notes, *observed, *silent, *finding.notes))
        verdict = _judged(compiled, chosen.name, budget, finding, tight=tight)
    return replace(verdict, seconds=time.perf_counter() - begun)


def _choose(
    compiled: Compiled, budget: Budget, name: str | None, *, tight: bool
) -> tuple[Engine | None, tuple[str, ...]]:
    """The first engine that supports the question (or the one named), and why those before it do not."""
    names = [engine.name for engine in ENGINES]
    if name is not None and name not in names:
        raise QuestionError(
            "engine", f"there is no engine {name!r}", place="engine", hint=f"engines: {', '.join(names)}"
        )
    refusals: list[str] = []
    for engine in ENGINES:
        if name in (None, engine.name):
            reason = engine.reason_against(compiled, budget)
            if reason is None and not (tight and engine.name == "smt"):
                return engine, tuple(refusals)
            refusals.append(f"{engine.name}: {reason or 'it needs a budget to compare with'}")
    if name is not None:
        raise QuestionError("engine", f"the engine does not support the question: {refusals[0]}", place="engine")
    return None, tuple(refusals)


def _witness(compiled: Compiled, word: Word) -> Witness:
    pair = compiled.begins[word.start].pair
    left, right = fraction(word.left), fraction(word.right)
    return Witness(pair.name, pair.left, pair.right, word.letters, word.final, left, right)


def _judged(compiled: Compiled, engine: str, budget: Budget, finding: Finding, *, tight: bool) -> Verdict:
    """What a finding says, through the gate, and compared with runs of the function itself where there is one."""
    witness = None if finding.word is None else _witness(compiled, finding.word)
    event = tuple(_witness(compiled, word) for word in finding.event)
    refuted = finding.lower.infinite if tight else bool(event) and finding.proof is None
    if witness is not None and not refuted and finding.proof is None and finding.stopped is None:
        refuted = not budget.epsilon.allows(witness.left_probability, witness.right_probability, budget.delta)
    known: dict[str, Any] = {"witness": witness, "event": event, "notes": finding.notes}
    if refuted:
        answers = _refutations(compiled, engine, budget, finding, known)
    elif finding.proof is not None:
        answers = [_proof(compiled, engine, budget, finding, known, tight=tight)]
    else:
        reason = finding.stopped or "the engine found neither a proof nor a violation"
        question = compiled.question.under(None if tight else budget)
        return Unknown(question, engine, **known, lower=finding.lower, upper=finding.upper, reason=reason)
    for answer in answers[:-1]:
        passed = examine(answer)
        if isinstance(passed, Verdict):
            return _run_again(passed)
        turned_down(answer, passed)
    return _run_again(admit(answers[-1]))


def _refutations(
    compiled: Compiled, engine: str, budget: Budget, finding: Finding, known: Mapping[str, Any]
) -> list[Answer]:
    """The refutation that a finding is: that there is no epsilon at all, if words grow; otherwise that this one is too small."""
    question, witness = compiled.question.under(budget), known["witness"]
    more: dict[str, Any] = {}
    if finding.attained is not None:
        more["witness"] = word_evidence(_witness(compiled, finding.attained))
    if finding.above is not None and _size(compiled) <= _CHECKED_AT_ONCE:
        more["above"] = {"epsilon": str(finding.upper), "evidence": proof_evidence(compiled, finding.above)}
    result = []
    if finding.pump is not None:
        pump, pair = finding.pump, compiled.begins[finding.pump.start].pair.name
        factor = None if pump.growth is None else fraction(pump.growth)
        growth = Growth(pair, pump.before, pump.repeated, pump.after, factor)
        shown = {} if witness is None else {"witness": word_evidence(witness)}
        evidence = pump_evidence(compiled, pump)
        result.append(
            Answer(
                status="refuted", question=question, engine=engine, evidence=evidence, more=shown, growth=growth,
                lower=INFINITE, upper=finding.upper, **known,
            )
        )  # fmt: skip
    if known["event"] or witness is not None:
        evidence = event_evidence(known["event"], finding.length) if known["event"] else word_evidence(witness)
        lower = budget.epsilon if finding.pump is not None else finding.lower
        result.append(
            Answer(
                status="refuted", question=question, engine=engine, evidence=evidence, more=more,
                lower=lower, upper=finding.upper, **known,
            )
        )  # fmt: skip
    return result


def _proof(
    compiled: Compiled, engine: str, budget: Budget, finding: Finding, known: Mapping[str, Any], *, tight: bool
) -> Answer:
    """The proof that a finding is; where it is sharper than the budget, the certificate is."""
    assert finding.proof is not None
    asked = replace(budget, epsilon=finding.upper) if tight else budget
    more: dict[str, Any] = {}
    if known["witness"] is not None and (budget.delta == 0 or budget.pointwise):
        more["witness"] = word_evidence(known["witness"])
    if known["event"] and finding.lower.compare(epsilon(0)) > 0:
        more["below"] = lower_bound(finding.lower, event_evidence(known["event"], finding.length))
    if finding.upper.compare(asked.epsilon) < 0:
        more["bounds"] = {"upper": str(finding.upper)}
    return Answer(
        status="proved",
        question=compiled.question.under(asked),
        engine=engine,
        evidence=proof_evidence(compiled, finding.proof),
        more=more,
        lower=finding.lower,
        upper=finding.upper,
        **known,
    )


def _size(compiled: Compiled) -> int:
    """How many combinations of inputs and output there are."""
    model = compiled.question.model
    return len(model.inputs) ** len(model.steps) * len(model.outputs) if isinstance(model, Transducer) else 0


def _run_again(verdict: Verdict) -> Verdict:
    """The verdict if running the mechanism itself agrees with the model, otherwise unknown.

    Compared are the probabilities of the witness, and for a proof also the outputs on a few data sets.
    """
    question = verdict.question
    if not isinstance(question, Question) or question.origin is None:
        return verdict
    origin = question.origin
    if verdict.status == "proved":
        disagreement, said = translated_rightly(question, origin)
        if disagreement is not None:
            return Unknown(verdict.question, verdict.engine, notes=verdict.notes, reason=disagreement)
        verdict = replace(verdict, notes=(*verdict.notes, said))
    if not (verdict.witness or verdict.event):
        return verdict
    least = Fraction(1)
    known: dict[str, Outputs] = {}
    for witness in (verdict.witness,) if verdict.witness else verdict.event[:_FEW_EVENTS]:
        assert isinstance(witness, Witness)
        letters = [w.output for w in witness.letters if not origin.collected or w.left is None]
        for side, claimed in enumerate((witness.left_probability, witness.right_probability)):
            arguments = origin.arguments(witness.pair, side, witness.inputs[side])
            if repr(arguments) not in known:
                known[repr(arguments)] = outputs(origin.mechanism, arguments, most=_RUNS)
            runs = known[repr(arguments)]
            low, high = runs.probability(lambda run: origin.shows(run, letters))  # noqa: B023
            least = min(least, 1 - runs.left_over)
            if not low <= claimed <= high:
                bounds = show(low) if low == high else f"between {show(low)} and {show(high)}"
                reason = f"the model gives {show(claimed)} for {arguments}, running the function {bounds}"
                return Unknown(verdict.question, verdict.engine, notes=verdict.notes, reason=reason)
    said = "running the function itself on all its random choices gives the same two probabilities"
    if least < 1:
        share = int(least * 1000) / 10
        said = f"running the function itself on its likeliest random choices ({share} % of all) agrees"
    return replace(verdict, notes=(*verdict.notes, said))


def probabilities(question: Question, pair: str | None, letters: tuple[Letter, ...]) -> list[Witness]:
    """Both probabilities of one word, for every ordered pair (of the given name) under which the word is compared.

    Raises:
        QuestionError: the word is not of the horizon.
    """
    compiled = word_problem(question)
    if not compiled.problem.horizon.counts(len(letters)):
        raise QuestionError(
            "word",
            f"the word has {len(letters)} letters; compared are words of length {compiled.problem.horizon}",
            place="word",
            hint="ask with another horizon",
        )
    found = []
    for number, begin in enumerate(compiled.begins):
        finish = letters[-1].output if begin.finish is not None and letters else None
        if pair not in (None, begin.pair.name) or begin.finish != finish:
            continue
        try:
            word = compiled.problem.word(number, letters)
        except (KeyError, ValueError):
            continue
        found.append(_witness(compiled, word))
    return found


def check_word(question: Question, letters: tuple[Letter, ...], *, place: str = "word") -> Verdict:
    """What one word says: refuted if it breaks the budget, otherwise unknown, since one word proves nothing.

    Args:
        question: the question.
        letters: the word.
        place: where the word was given, for messages.

    Raises:
        QuestionError: the word is not of the horizon, or compared under no pair.
    """
    found = probabilities(question, None, letters)
    if not found:
        shown = " ".join(str(letter) for letter in letters)
        raise QuestionError(
            "word",
            f"the word {shown!r} is compared under no pair: a letter is unknown, or cannot follow, or its inputs are no neighbours",
            place=place,
            hint="letters are observations o, or inputs and output v|w:o",
        )
    budget = question.budget
    share = budget.delta if budget else Rational(0)
    for witness in found:
        if budget and not budget.epsilon.allows(witness.left_probability, witness.right_probability, budget.delta):
            lower = asked_for(witness.left_probability, witness.right_probability, share)
            answer = Answer(
                status="refuted",
                question=question,
                engine="definition",
                evidence=word_evidence(witness),
                lower=lower,
                witness=witness,
            )
            return _run_again(admit(answer))
    witness = max(found, key=lambda w: (w.right_probability == 0 < w.left_probability, w.ratio or Fraction(0)))
    lower = asked_for(witness.left_probability, witness.right_probability, share)
    reason = "one word proves nothing; this one breaks no budget given"
    return Unknown(question, "definition", lower=lower, witness=witness, reason=reason)
