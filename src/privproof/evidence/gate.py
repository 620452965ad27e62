"""The gate: the only maker of proved and refuted verdicts.

A verdict is an abstract type with one introduction rule, as a theorem is in a kernel of the LCF kind.  An engine hands over an
`Answer`: what it is about to say, and its evidence.  The gate writes the certificate from the question itself, has the independent
checker establish it again, compares what was established with what is about to be claimed (verdict, question, budget, bounds), and
attaches exactly the document that was checked.  What does not pass is unknown, with the reason, and a warning, because an engine whose
evidence is not accepted has a bug.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from privproof.errors import CertificateRefused
from privproof.evidence.certificate_documents import ESTABLISHED, take
from privproof.evidence.engine_answers import Answer
from privproof.evidence.proof_completion import wanted_refutations
from privproof.evidence.question_documents import OtherQuestion, question_document
from privproof.evidence.verdicts import Certified, Proved, Refuted, Seal, Unknown, Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.exact import Epsilon
from privproof.exact.patience import Stopped, extend_deadline, pause, seconds_left
from privproof.scenarios import AnyQuestion
from privproof_checker import Accepted, Rejected, recheck
from privproof_checker.certificate_facts import verdict_of
from privproof_checker.collected_outcomes import collected_seldom
from privproof_checker.front import taken_by
from privproof_checker.linear.linear_documents import supply_refutations
from privproof_checker.numbers import Epsilon as CheckedEpsilon
from privproof_checker.numbers.patience import watch_check
from privproof_checker.outcomes import Refusal as NoCertificate
from privproof_checker.source.establishing import second_look


@dataclass(frozen=True)
class Refusal:
    """Why an answer does not pass the gate."""

    reason: str


def admit(answer: Answer) -> Verdict:
    """The verdict of an answer; unknown where it does not pass."""
    return first_admitted((answer,))


def first_admitted(answers: Iterable[Answer]) -> Verdict:
    """The verdict of the first answer that passes; where none does, what is left of the last."""
    verdict: Verdict | None = None
    for answer in answers:
        if answer.status == "unknown":
            return _unknown_verdict(answer)
        try:
            with extend_deadline():
                passed = examine(answer)
        except Stopped as stopped:
            return _unconfirmed_verdict(answer, str(stopped))
        if isinstance(passed, Verdict):
            return passed
        verdict = Unknown(answer.question, answer.engine, notes=answer.notes, reason=passed.reason)
        if not answer.tentative:
            told = f"{answer.question.name or answer.engine}, {answer.engine}: {passed.reason}"
            warnings.warn(CertificateRefused(told), stacklevel=3)
    assert verdict is not None, "an engine answers"
    return verdict


def _unconfirmed_verdict(answer: Answer, why: str) -> Unknown:
    """What is left of an answer whose check was cut: what was found is told, and nothing of it counts."""
    found = (
        f"smallest epsilon at least {answer.lower.show()}"
        if answer.status == "refuted"
        else f"at most {answer.upper.show()}"
    )
    return Unknown(
        answer.question,
        answer.engine,
        notes=answer.notes,
        reason=f"{why} before what was found could be confirmed: {answer.status}, {found}",
    )


def _unknown_verdict(answer: Answer) -> Unknown:
    return Unknown(
        answer.question,
        answer.engine,
        lower=answer.lower,
        upper=answer.upper,
        witness=answer.witness,
        details=answer.details,
        notes=answer.notes,
        reason=answer.reason,
        pass_on=answer.pass_on,
    )


def examine(answer: Answer) -> Verdict | Refusal:
    """The verdict of an answer, or why it does not pass; the checker has looked at its certificate."""
    try:
        certificate = answer.certificate()
    except OtherQuestion as problem:
        return Refusal(f"the certificate would be about another question: {problem}")
    except NoCertificate as problem:
        return Refusal(f"the checker does not accept the certificate ({problem.place}: {problem.reason})")
    return confirm(answer, certificate)


def confirm(answer: Answer, certificate: dict[str, Any]) -> Verdict | Refusal:
    """The verdict of an answer by a certificate, if the checker establishes from it what the answer says."""
    other = _other(answer, verdict_of(certificate), certificate.get("question"))
    if other:
        return Refusal(f"the certificate is about something else: {other}")
    with (
        collected_seldom(),
        watch_check(_Patience()),
        supply_refutations(wanted_refutations),
        taken_by(take),
        second_look(_by_chance),
    ):
        outcome = recheck(certificate)
        if isinstance(outcome, Rejected) and outcome.beyond:
            take(certificate["question"], f"{outcome.reason} ({outcome.place})")
            outcome = recheck(certificate)
    if isinstance(outcome, Rejected):
        return Refusal(f"the checker does not accept the certificate ({outcome.place}: {outcome.reason})")
    other = _other(answer, outcome.verdict, outcome.question) or _beyond(answer, outcome)
    if other:
        return Refusal(f"the certificate establishes something else: {other}")
    return _seal_verdict(answer, certificate, _certified_bounds(answer, outcome))


def _by_chance(*given: Any) -> None:
    """Refuse instructions that differ from the text on numbers drawn by chance; loaded where something seems to differ."""
    from privproof.evidence.chance_checks import differ_by_chance

    differ_by_chance(*given)


def readmit(answer: Answer, certificate: dict[str, Any], asked: AnyQuestion) -> Verdict | Refusal:
    """The verdict of an answer that was kept, by the certificate that was kept with it.

    The checker establishes it anew.  What the question of now says of itself (its claim, its title, the text of its functions with what
    their names stand for) must stand in the certificate as it is; what was compiled from that is as the certificate has it, and the
    checker compares it with the text as far as it does that for every certificate.

    Args:
        answer: what was kept, about the functions of now.
        certificate: what was kept with it.
        asked: the question that is asked now.
    """
    said = certificate.get("question")
    if not isinstance(said, Mapping) or verdict_of(certificate) != answer.status:
        return Refusal("the certificate is about something else")
    other = _other_now(answer.question, asked, said)
    if other:
        return Refusal(f"the certificate is about another question, in {other}")
    return _establish_verdict(answer, certificate)


def admit_reported(answer: Answer, certificate: dict[str, Any]) -> Verdict | Refusal:
    """The verdict of an answer that somebody else reports about a question of this process, by the certificate that came with it.

    Nothing of the report counts by itself.  The certificate must be about the very question of this process, member by member.  Of a
    function, everything that a compiler made must be re-established by the checker from the text that the function has here; what a
    certificate takes from the compiler, and ordinary code, which is run beside its model before a proof, are asked about here instead.
    Then the checker establishes the verdict.  Bounds beyond what it establishes are marked as not certified, as they always are.
    """
    said, mine = certificate.get("question"), answer.question
    if not isinstance(said, Mapping) or verdict_of(certificate) != answer.status:
        return Refusal("the certificate is about something else")
    of = mine.below_measure or mine
    if of.family not in _POSED_WHOLE or any(map(_is_ordinary, of.functions)):
        return Refusal("more than a certificate belongs to a verdict about this question")
    other = _reported_otherwise(said, question_document(mine), from_text=bool(mine.functions))
    return (
        Refusal(f"the certificate is about another question, in {other}")
        if other
        else _establish_verdict(answer, certificate)
    )


def _is_ordinary(function: object) -> bool:
    """Whether a function of a question is ordinary code."""
    from privproof.compiling.posing import is_ordinary  # here, because models have no functions
    from privproof.language.mechanism import Mechanism

    return isinstance(function, Mechanism) and is_ordinary(function)


_POSED_WHOLE = frozenset(("words", "program", "stream"))
"""Kinds of questions whose documents follow from the question, but for instructions."""
_INSTRUCTIONS = frozenset(("sorts", "lists", "code", "coins"))
"""The members of a certificate's question that a compiler adds."""


def _reported_otherwise(said: Mapping[str, Any], mine: Mapping[str, Any], *, from_text: bool) -> str:
    """In what the question of a certificate that is reported is not the one that is asked here; empty where it is that."""
    if mine.get("kind") == "measured" and isinstance(said.get("of"), Mapping):
        told = _reported_otherwise(said["of"], mine["of"], from_text=from_text)
        return told or _reported_otherwise({**said, "of": 0}, {**mine, "of": 0}, from_text=False)
    source = said.get("source")
    if from_text and not (isinstance(source, Mapping) and source.get("claims") == ESTABLISHED):
        return "its model, which the checker does not re-establish from the text"
    added = _INSTRUCTIONS - set(mine) if from_text else frozenset()
    return next((name for name in sorted({**said, **mine}) if name not in added and _differs(name, said, mine)), "")


def _establish_verdict(answer: Answer, certificate: dict[str, Any]) -> Verdict | Refusal:
    """The verdict of an answer that was not found just now, by its certificate, if the checker establishes from it what the answer says."""
    with collected_seldom(), watch_check(_Patience()):
        outcome = recheck(certificate)
    if isinstance(outcome, Rejected):
        return Refusal(f"the checker does not accept the certificate ({outcome.place}: {outcome.reason})")
    if outcome.verdict != answer.status or outcome.question != certificate["question"]:
        return Refusal("the certificate establishes something else")
    beyond = _beyond(answer, outcome)
    return (
        Refusal(f"the certificate establishes something else: {beyond}")
        if beyond
        else _seal_verdict(answer, certificate, _certified_bounds(answer, outcome))
    )


def _other_now(kept: AnyQuestion, asked: AnyQuestion, said: Mapping[str, Any]) -> str:
    """In what a question that was kept, or that of its certificate, is another than the one asked now; empty where it is not."""
    if kept.budget != asked.budget or kept.measured_words != asked.measured_words:
        return "its claim"
    budget = kept.budget
    if budget is not None and said.get("epsilon", str(budget.epsilon)) != str(budget.epsilon):
        return "its epsilon"
    if budget is not None and said.get("delta", budget.delta) not in (budget.delta, str(budget.delta)):
        return "its delta"
    if said.get("title", kept.name) != kept.name:
        return "its title"
    if kept.family == "words" and not asked.functions and question_document(kept) != said:
        return "its model"
    source = said.get("source")
    if isinstance(source, Mapping):
        programs = [each.program.document() for each in asked.functions]
        if source.get("program") not in programs:
            return "its program"
    return ""


class _Patience:
    """The time that is left for a question, as the checker asks for it."""

    pause = staticmethod(pause)
    seconds_left = staticmethod(seconds_left)


def _as_checked(value: Epsilon) -> CheckedEpsilon:
    """An epsilon in the checker's numbers, by which claims are compared with what it has established."""
    return CheckedEpsilon(value.ratio, value.root, value.shift, value.infinite)


def _certified_bounds(answer: Answer, outcome: Accepted) -> Certified:
    """Which bounds the checker has established."""
    return Certified(
        lower=outcome.lower is not None and outcome.lower.compare(_as_checked(answer.lower)) >= 0,
        upper=outcome.upper is not None and outcome.upper.compare(_as_checked(answer.upper)) <= 0,
    )


def _other(answer: Answer, verdict: object, question: object) -> str:
    """How the verdict or the question differ from those that are about to be claimed; empty where they do not."""
    if verdict != answer.status:
        return f"it is {verdict}, not {answer.status}"
    if question is answer.asked or question == answer.asked:
        return ""
    if not isinstance(question, Mapping):
        return "no question"
    names = [name for name in {**question, **answer.asked} if _differs(name, question, answer.asked)]
    return f"another question, in {', '.join(sorted(names))}"


def _beyond(answer: Answer, outcome: Accepted) -> str:
    """What is about to be claimed about epsilon and contradicts what the checker has established; empty where nothing does."""
    formula = None if answer.details is None else getattr(getattr(answer.details, "growth", None), "formula", None)
    if formula is not None and outcome.details.get("growth") != formula.told:
        return f"another formula than {formula}"
    if outcome.lower is None or outcome.upper is None:
        return ""
    budget = answer.question.budget
    if budget is not None:
        claimed = _as_checked(budget.epsilon)
        proved = outcome.upper.compare(claimed) <= 0
        if not (proved if answer.status == "proved" else outcome.lower.compare(claimed) >= 0):
            return f"it is about another epsilon than {budget.epsilon}"
    if outcome.upper.compare(_as_checked(answer.lower)) < 0:
        return f"at most {outcome.upper}, where at least {answer.lower} is claimed"
    if outcome.lower.compare(_as_checked(answer.upper)) > 0:
        return f"at least {outcome.lower}, where at most {answer.upper} is claimed"
    return ""


def _differs(name: str, one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return name not in one or name not in other or one[name] != other[name]


def _seal_verdict(answer: Answer, certificate: Mapping[str, Any], certified: Certified) -> Verdict:
    """The one place where a proved or refuted verdict comes into being."""
    made = Proved if answer.status == "proved" else Refuted
    return made(
        answer.question,
        answer.engine,
        lower=answer.lower,
        upper=answer.upper,
        witness=answer.witness,
        details=answer.details,
        certificate=certificate,
        certified=certified,
        notes=(*answer.notes, *answer.question.relied_on()),
        seal=Seal(answer.status, answer.question, certificate, answer.lower, answer.upper, certified, answer.witness),
    )


def with_bounds(
    verdict: Verdict, *, lower: Epsilon | None = None, upper: Epsilon | None = None, witness: AnyWitness | None = None
) -> Verdict:
    """The same verdict with other bounds, from elsewhere: its certificate shows those of them that follow from its own.

    A witness that the question's kind does not show goes without: a pattern of a function, beside the automaton made from it.

    Raises:
        ValueError: a bound contradicts one that the certificate shows.
    """
    low, high = verdict.lower if lower is None else lower, verdict.upper if upper is None else upper
    shown = verdict.certified
    if (shown.upper and low.compare(verdict.upper) > 0) or (shown.lower and high.compare(verdict.lower) < 0):
        raise ValueError(f"the certificate shows {verdict.lower} to {verdict.upper}, not {low} to {high}")
    certified = Certified(
        lower=shown.lower and low.compare(verdict.lower) <= 0,
        upper=shown.upper and high.compare(verdict.upper) >= 0,
    )
    shows = (
        verdict.witness if witness is None else witness if witness.observed.family == verdict.question.family else None
    )
    seal = verdict.seal
    if seal is not None:
        seal = replace(seal, lower=low, upper=high, witness=shows, certified=certified)
    return replace(verdict, lower=low, upper=high, witness=shows, certified=certified, seal=seal)
