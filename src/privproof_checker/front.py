"""The checker's front: a document, or the file that holds one, to `Accepted` or `Rejected`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from privproof_checker.certificate_argument import Argument
from privproof_checker.certificate_facts import FORMAT, Fact, claimed_question, read_facts
from privproof_checker.claims import read_claim, read_epsilon
from privproof_checker.established_texts import explain_accepted, how
from privproof_checker.from_epsilon import delta_follows, refuse_other_laws
from privproof_checker.numbers import INFINITE, epsilon
from privproof_checker.once_per_certificate import one_certificate
from privproof_checker.outcomes import (
    DEFAULT_LIMITS,
    Accepted,
    Beyond,
    Limits,
    Outcome,
    Refusal,
    Rejected,
    Verdict,
    largest_bound,
    refuse,
)
from privproof_checker.plain_documents import an_object, load, only_members, plain, text
from privproof_checker.rules import WORDS
from privproof_checker.version_one import ONE, second_version

Kind = Callable[[Verdict, dict[str, object], dict[str, object], Limits], Accepted]

_KINDS = {
    "account": ("release.account_checking", "check_account"),
    "composed": ("composed", "check_composed"),
    "draws": ("draws_checking", "check_draws"),
    "location": ("release.locations.location_checking", "check_location"),
    "logic": ("logic", "check_logic"),
    "logic in columns": ("logic.column_bounds", "check_bounds"),
    "program": ("programs.program_checking", "check_program"),
    "measured": ("measured.measure_checking", "check_measured"),
    "pufferfish": ("pufferfish.secrets_checking", "check_pufferfish"),
    "release": ("release", "check_release"),
    "runs": ("runs", "check_runs"),
    "stream": ("streams.stream_checking", "check_stream"),
}
"""For kinds of questions of their own: the module and the function that check them; imported when one is met."""
_WORDS = ("word_evidence", "check_words")
"""The same for all other questions, which are about the words of a model."""


Taker: TypeAlias = Callable[[dict[str, object], str], None]
"""Lets a question say that its model is taken from the compiler, and why."""
_TAKER: ContextVar[Taker | None] = ContextVar("taker", default=None)


@contextmanager
def taken_by(taker: Taker) -> Iterator[None]:
    """Let a question whose text is beyond the checker be changed to say so; everything else of its certificate is then established.

    What is established but for the text is not established again: it does not depend on what a question says of its text.
    """
    token = _TAKER.set(taker)
    try:
        yield
    finally:
        _TAKER.reset(token)


def recheck(document: object, *, limits: Limits = DEFAULT_LIMITS) -> Outcome:
    """Check a certificate; whatever the document, this returns and does not raise.

    >>> recheck({"format": "something else"})
    Rejected(reason='not a privproof certificate', place='format')
    """
    return _guard_check(lambda: check_document(document, limits))


def recheck_file(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Outcome:
    """Check the certificate in a file; whatever the file holds, this returns and does not raise."""
    return _guard_check(lambda: check_document(load(path, limits), limits))


def _guard_check(check: Callable[[], Accepted]) -> Outcome:
    """The outcome of a check.  What goes wrong in an unforeseen way establishes nothing, so it is a rejection too."""
    try:
        return check()
    except Refusal as refusal:
        return Rejected(refusal.reason, refusal.place, isinstance(refusal, Beyond))
    except Exception as error:
        return Rejected(f"the check broke off: {type(error).__name__}: {str(error)[:200]}", "checker")


def check_document(document: object, limits: Limits) -> Accepted:
    """What a certificate establishes; raises a refusal."""
    plain(document, limits)
    certificate = an_object(document, "document")
    if certificate.get("format") not in (ONE, FORMAT):
        refuse("not a privproof certificate", "format")
    written = certificate.get("format") == FORMAT
    facts = certificate if written else second_version(certificate)
    only_members(facts, ("format", "question", "facts"), "document")
    argument = Argument(read_facts(facts.get("facts")), limits, written=written)
    asked = an_object(facts.get("question"), "question")
    last = argument.facts[-1]
    if last.claim != "proved" and last.claim != "refuted":
        refuse("the last fact is neither proved nor refuted", f"{last.place}.claim" if written else "verdict")
    with one_certificate():
        accepted = _establish_conclusion(argument, last, asked)
    argument.complete(facts)
    return replace(accepted, facts=argument.facts)


def _establish_conclusion(argument: Argument, fact: Fact, base: dict[str, object]) -> Accepted:
    """What a fact establishes that is a conclusion: the evidence, with what stands beside it, and the text of the question."""
    limits = argument.limits
    if fact.rule == "epsilon":
        return _from_epsilon(argument, fact, base)
    verdict, asked = claimed_question(fact.claim, base, fact.place)
    main, beside = argument.beside(fact)
    same, held = claimed_question(main.claim, asked, main.place, ("epsilon",))
    if same != verdict:
        refuse(f"what is {same} does not show that something is {verdict}", f"{main.place}.claim")
    if asked.get("kind") == "measured":  # its bounds are of another measure
        beside.only("at least")
        if held is not asked:
            refuse("a measure is claimed by the question alone", f"{main.place}.claim")
        accepted = replace(
            _establish_fact(argument, main, verdict, asked, beside.members(argument, asked)), question=asked
        )
        return replace(accepted, how=how(accepted, asked))
    beside.only("compared", "proved", "refuted", "grows", "source")
    if held is not asked:
        _sharper(verdict, asked, held, main, limits)
    accepted = _establish_fact(argument, main, verdict, held, beside.members(argument, asked))
    accepted = _with_bounds(accepted, asked, held, limits)
    if (above := beside.claims.get("proved")) is not None:
        accepted = _with_above(argument, accepted, asked, above)
    if (below := beside.claims.get("refuted")) is not None:
        accepted = _with_below(argument, accepted, asked, below)
    if (growth := beside.claims.get("grows")) is not None:
        accepted = _with_growth(argument, accepted, asked, growth)
    source = beside.claims.get("source")
    if (source is None) != (asked.get("source") is None):
        refuse("one fact is about the source of the question, if it has one", fact.place)
    if source is not None and (source.rule != "source" or source.uses or source.hint):
        refuse("what the text says is found from the text alone", source.place)
    read = {"evidence": argument.evidence(main, held)}
    if below is not None:
        read["below"] = {"evidence": argument.evidence(below, asked)}
    try:
        return explain_accepted(accepted, asked, read, limits)
    except Beyond as beyond:
        taker = _TAKER.get()
        if taker is None:
            raise
        taker(asked, f"{beyond.reason} ({beyond.place})")
        return explain_accepted(accepted, asked, read, limits)


def _from_epsilon(argument: Argument, fact: Fact, base: dict[str, object]) -> Accepted:
    """What a proof of an epsilon establishes about a claim with a delta."""
    limits = argument.limits
    verdict, asked = claimed_question(fact.claim, base, fact.place)
    if verdict != "proved" or fact.hint or len(fact.uses) != 1:
        refuse("a delta follows from one epsilon that is proved", fact.place)
    if not {"claim", "rate"}.isdisjoint(asked):
        refuse("a delta follows from one epsilon, for one epsilon", "question")
    claim = read_claim(asked, limits)
    if not claim.events:
        refuse("a delta over events follows, and nothing else", "question")
    refuse_other_laws(asked, "question")
    inner = argument.facts[fact.uses[0]]
    if inner.rule == "epsilon":
        refuse("an epsilon is proved by other evidence", f"{inner.place}.rule")
    without = {name: part for name, part in asked.items() if name not in ("epsilon", "delta", "pointwise")}
    proved, below = claimed_question(inner.claim, without, inner.place, ("epsilon",))
    pure = read_epsilon(below.get("epsilon"), "evidence.epsilon", limits)
    if proved != "proved" or not delta_follows(claim, pure):
        refuse(f"from epsilon = {str(pure)[:80]} this delta does not follow", "evidence.epsilon")
    accepted = _establish_conclusion(argument, inner, without)
    statement = f"private with {claim}, which follows: {accepted.statement}"
    details = {**accepted.details, "follows": f"{claim} follows from epsilon = {pure}"}
    return replace(
        accepted, statement=statement, details=details, question=asked, lower=epsilon(0), upper=claim.epsilon
    )


def _establish_fact(
    argument: Argument,
    fact: Fact,
    verdict: Verdict,
    asked: dict[str, object],
    beside: Mapping[str, object] = MappingProxyType({}),
) -> Accepted:
    """What one fact establishes about a question, by its rule."""
    kind = asked.get("kind")
    module, name = _KINDS.get(kind, _WORDS) if isinstance(kind, str) else _WORDS
    check: Kind = getattr(import_module(f"privproof_checker.{module}"), name)
    if kind not in WORDS and kind not in _KINDS:
        refuse(f"unknown kind {str(kind)[:40]!r}", "question.kind")
    evidence = argument.evidence(fact, asked, verdict)
    with argument.placed(fact):
        return check(verdict, asked, {"evidence": evidence, **beside}, argument.limits)


def _with_above(argument: Argument, accepted: Accepted, asked: dict[str, object], fact: Fact) -> Accepted:
    """What was accepted, with a larger epsilon that a fact beside it proves."""
    _, held = claimed_question(fact.claim, asked, fact.place, ("epsilon",))
    upper = read_epsilon(held.get("epsilon"), "above.epsilon", argument.limits)
    if accepted.verdict != "refuted" or accepted.lower is None or "claim" in asked:
        refuse("only where one epsilon is refuted may a larger one be proved", "above")
    if accepted.lower.compare(upper) > 0:
        refuse(f"{accepted.lower} is shown to be too small, and this is less", "above.epsilon")
    larger = _establish_fact(argument, fact, "proved", {**asked, "epsilon": str(upper)})
    details = {**accepted.details, "above": larger.details.get("method")}
    lower = largest_bound(accepted.lower, larger.lower)
    if lower.compare(upper) > 0:
        refuse(f"the evidence shows at least {lower}, and this is less", "above.epsilon")
    statement = f"{accepted.statement}; {larger.statement}"
    return replace(accepted, statement=statement, details=details, lower=lower, upper=upper)


def _with_growth(argument: Argument, accepted: Accepted, asked: dict[str, object], fact: Fact) -> Accepted:
    """What was accepted, with the claim that grows with the list and is attained, which a fact beside it shows."""
    if accepted.verdict != "refuted" or "rate" in asked:
        refuse("only where no constant epsilon is enough may one that grows be proved", "growth")
    if fact.rule != "growth" or len(fact.uses) != 1 or set(fact.hint) != {"family"}:
        refuse("growth is shown by a proof and a family of words", fact.place)
    proof = argument.facts[fact.uses[0]]
    verdict, held = claimed_question(proof.claim, asked, proof.place, ("rate", "epsilon"))
    if verdict != "proved":
        refuse("expected a proof", f"{proof.place}.claim")
    larger = _establish_fact(argument, proof, "proved", held)
    from privproof_checker.growing_ratios import attained_for_ever  # here, as is what checks the kinds of questions
    from privproof_checker.word_questions import read_question

    question = read_question(held, argument.limits)
    family = attained_for_ever(question, fact.hint["family"], argument.limits)
    lengths = f"n = {family.least}, {family.least + family.step}, {family.least + 2 * family.step}, ..."
    statement = f"{accepted.statement}; {larger.statement}; it is attained for {lengths}"
    told = {
        "rate": text(question.claim.rate),
        "epsilon": str(question.claim.epsilon),
        "least": family.least,
        "step": family.step,
    }
    return replace(accepted, statement=statement, details={**accepted.details, "growth": told})


def _with_below(argument: Argument, accepted: Accepted, asked: dict[str, object], fact: Fact) -> Accepted:
    """What was accepted, with a lower bound: an epsilon that a fact beside the verdict refutes.

    A claim that is an expression in public numbers has no upper bound; that some number is too small bounds it from below all the same.
    """
    _, held = claimed_question(fact.claim, asked, fact.place, ("epsilon",))
    refuted = read_epsilon(held.get("epsilon"), "below.epsilon", argument.limits)
    if "epsilon" not in asked and "claim" not in asked:
        refuse("only where an epsilon is asked about may another one be refuted", "below")
    upper = INFINITE if accepted.upper is None else accepted.upper
    if refuted.infinite or refuted.compare(upper) >= 0:
        refuse(f"{upper} is shown to be enough, so this is not too small", "below.epsilon")
    one = {name: part for name, part in asked.items() if name != "claim"} | {"epsilon": str(refuted)}
    found = _establish_fact(argument, fact, "refuted", one)
    lower = largest_bound(refuted, found.lower, accepted.lower)
    if lower.compare(upper) > 0:
        refuse(f"at least {lower} is needed by this, and at most {upper} by the rest, which is impossible", "below")
    details = {**accepted.details, "below": found.details.get("method")}
    statement = f"{accepted.statement}; {found.statement}"
    return replace(accepted, statement=statement, details=details, lower=lower, upper=upper)


def _sharper(verdict: Verdict, asked: dict[str, object], held: dict[str, object], main: Fact, limits: Limits) -> None:
    """Refuse a proof for another epsilon than the one asked about, unless it is smaller: what holds for one holds for every larger one."""
    place = f"{main.place}.claim"
    if verdict != "proved" or "epsilon" not in asked or "claim" in asked:
        refuse("only a proof for one epsilon may be sharper than what is asked", place)
    upper = read_epsilon(held.get("epsilon"), place, limits)
    if upper.compare(read_epsilon(asked["epsilon"], "question.epsilon", limits)) > 0:
        refuse(f"{upper} is above the epsilon that is asked about", place)


def _with_bounds(accepted: Accepted, asked: dict[str, object], held: dict[str, object], limits: Limits) -> Accepted:
    """What was accepted, with the question and the bounds on the tight epsilon that it implies by itself."""
    if "epsilon" not in held:
        return replace(accepted, question=asked, lower=None, upper=None)
    claimed = read_epsilon(held["epsilon"], "question.epsilon", limits)
    lower, upper = (epsilon(0), claimed) if accepted.verdict == "proved" else (claimed, INFINITE)
    lower = largest_bound(lower, accepted.lower)
    if accepted.upper is not None and accepted.upper.compare(upper) < 0:
        upper = accepted.upper
    if lower.compare(upper) > 0:
        refuse(f"the evidence shows at least {lower} and at most {upper}, which is impossible", "evidence")
    return replace(accepted, question=asked, lower=lower, upper=upper)
