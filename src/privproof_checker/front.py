"""The checker's front: a document, or the file that holds one, to `Accepted` or `Rejected`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from privproof_checker.claims import read_claim, read_epsilon
from privproof_checker.documents import an_object, load, only_members, plain, text
from privproof_checker.from_epsilon import delta_follows, refuse_other_laws
from privproof_checker.numbers import INFINITE, epsilon
from privproof_checker.outcomes import (
    DEFAULT_LIMITS,
    Accepted,
    Limits,
    Outcome,
    Refusal,
    Rejected,
    Verdict,
    largest_bound,
    refuse,
)
from privproof_checker.source.values import Beyond
from privproof_checker.telling import explained, how

Kind = Callable[[Verdict, dict[str, object], dict[str, object], Limits], Accepted]

_KINDS = {
    "composed": ("composed", "check_composed"),
    "draws": ("draws", "check_draws"),
    "lottery": ("lotteries", "check_lottery"),
    "location": ("locations.checking", "check_location"),
    "logic": ("logic", "check_logic"),
    "logic in columns": ("logic.bounds", "check_bounds"),
    "program": ("programs.checking", "check_program"),
    "measured": ("measured.checking", "check_measured"),
    "pufferfish": ("pufferfish.checking", "check_pufferfish"),
    "release": ("releases", "check_release"),
    "runs": ("runs", "check_runs"),
    "stream": ("streams.checking", "check_stream"),
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
    return _guarded(lambda: checked(document, limits))


def recheck_file(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Outcome:
    """Check the certificate in a file; whatever the file holds, this returns and does not raise."""
    return _guarded(lambda: checked(load(path, limits), limits))


def _guarded(check: Callable[[], Accepted]) -> Outcome:
    """The outcome of a check.  What goes wrong in an unforeseen way establishes nothing, so it is a rejection too."""
    try:
        return check()
    except Refusal as refusal:
        return Rejected(refusal.reason, refusal.place, isinstance(refusal, Beyond))
    except Exception as error:
        return Rejected(f"the check broke off: {type(error).__name__}: {str(error)[:200]}", "checker")


def checked(document: object, limits: Limits) -> Accepted:
    """What a certificate establishes; raises a refusal."""
    plain(document, limits)
    certificate = an_object(document, "document")
    if certificate.get("format") != "privproof-certificate":
        refuse("not a privproof certificate", "format")
    version = certificate.get("version")
    if isinstance(version, bool) or version != 1:
        refuse("this checker knows version 1 alone", "version")
    verdict = certificate.get("verdict")
    if verdict != "proved" and verdict != "refuted":
        refuse("the verdict is neither proved nor refuted", "verdict")
    asked = an_object(certificate.get("question"), "question")
    if asked.get("kind") == "measured":  # its bounds are of another measure, and it reads its members itself
        only_members(certificate, ("format", "version", "verdict", "question", "evidence", "below"), "document")
        accepted = replace(_established(verdict, asked, certificate, limits), question=asked)
        return replace(accepted, how=how(accepted, asked))
    if verdict == "proved" and an_object(certificate.get("evidence"), "evidence").get("method") == "epsilon":
        return _from_epsilon(asked, certificate, limits)
    held = _sharpened(verdict, asked, certificate, limits)
    accepted = _with_bounds(_established(verdict, held, certificate, limits), asked, held, limits)
    if "above" in certificate:
        accepted = _with_above(accepted, asked, certificate["above"], limits)
    if "below" in certificate:
        accepted = _with_below(accepted, asked, certificate["below"], limits)
    if "growth" in certificate:
        accepted = _with_growth(accepted, asked, certificate["growth"], limits)
    try:
        return explained(accepted, asked, certificate, limits)
    except Beyond as beyond:
        taker = _TAKER.get()
        if taker is None:
            raise
        taker(asked, f"{beyond.reason} ({beyond.place})")
        return explained(accepted, asked, certificate, limits)


def _from_epsilon(asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """What a proof of an epsilon establishes about a claim with a delta."""
    only_members(certificate, ("format", "version", "verdict", "question", "evidence"), "document")
    evidence = an_object(certificate.get("evidence"), "evidence")
    only_members(evidence, ("method", "epsilon", "evidence"), "evidence")
    if not {"claim", "rate"}.isdisjoint(asked):
        refuse("a delta follows from one epsilon, for one epsilon", "question")
    claim = read_claim(asked, limits)
    if not claim.events:
        refuse("a delta over events follows, and nothing else", "question")
    refuse_other_laws(asked, "question")
    pure = read_epsilon(evidence.get("epsilon"), "evidence.epsilon", limits)
    if not delta_follows(claim, pure):
        refuse(f"from epsilon = {str(pure)[:80]} this delta does not follow", "evidence.epsilon")
    without = {name: part for name, part in asked.items() if name not in ("delta", "pointwise")}
    inner = {**certificate, "question": {**without, "epsilon": str(pure)}, "evidence": evidence.get("evidence")}
    if an_object(inner["evidence"], "evidence.evidence").get("method") == "epsilon":
        refuse("an epsilon is proved by other evidence", "evidence.evidence")
    accepted = checked(inner, limits)
    statement = f"private with {claim}, which follows: {accepted.statement}"
    details = {**accepted.details, "follows": f"{claim} follows from epsilon = {pure}"}
    return replace(
        accepted, statement=statement, details=details, question=asked, lower=epsilon(0), upper=claim.epsilon
    )


def _established(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """What the evidence establishes about a question."""
    kind = asked.get("kind")
    module, name = _KINDS.get(kind, _WORDS) if isinstance(kind, str) else _WORDS
    check: Kind = getattr(import_module(f"privproof_checker.{module}"), name)
    return check(verdict, asked, certificate, limits)


def _with_above(accepted: Accepted, asked: dict[str, object], value: object, limits: Limits) -> Accepted:
    """What was accepted, with the larger epsilon that the member ``above`` proves."""
    above = an_object(value, "above")
    only_members(above, ("epsilon", "evidence"), "above")
    upper = read_epsilon(above.get("epsilon"), "above.epsilon", limits)
    if accepted.verdict != "refuted" or accepted.lower is None or "claim" in asked:
        refuse("only where one epsilon is refuted may a larger one be proved", "above")
    if accepted.lower.compare(upper) > 0:
        refuse(f"{accepted.lower} is shown to be too small, and this is less", "above.epsilon")
    larger = _established("proved", {**asked, "epsilon": str(upper)}, {"evidence": above.get("evidence")}, limits)
    details = {**accepted.details, "above": larger.details.get("method")}
    lower = largest_bound(accepted.lower, larger.lower)
    if lower.compare(upper) > 0:
        refuse(f"the evidence shows at least {lower}, and this is less", "above.epsilon")
    statement = f"{accepted.statement}; {larger.statement}"
    return replace(accepted, statement=statement, details=details, lower=lower, upper=upper)


def _with_growth(accepted: Accepted, asked: dict[str, object], value: object, limits: Limits) -> Accepted:
    """What was accepted, with the claim that grows with the list and is attained, which the member ``growth`` proves."""
    growth = an_object(value, "growth")
    only_members(growth, ("rate", "epsilon", "evidence", "family"), "growth")
    if accepted.verdict != "refuted" or "rate" in asked:
        refuse("only where no constant epsilon is enough may one that grows be proved", "growth")
    held = {**asked, "rate": growth.get("rate"), "epsilon": growth.get("epsilon")}
    larger = _established("proved", held, {"evidence": growth.get("evidence")}, limits)
    from privproof_checker.growing import attained_for_ever  # here, as is what checks the kinds of questions
    from privproof_checker.questions import read_question

    question = read_question(held, limits)
    family = attained_for_ever(question, growth.get("family"), limits)
    lengths = f"n = {family.least}, {family.least + family.step}, {family.least + 2 * family.step}, ..."
    statement = f"{accepted.statement}; {larger.statement}; it is attained for {lengths}"
    told = {
        "rate": text(question.claim.rate),
        "epsilon": str(question.claim.epsilon),
        "least": family.least,
        "step": family.step,
    }
    return replace(accepted, statement=statement, details={**accepted.details, "growth": told})


def _with_below(accepted: Accepted, asked: dict[str, object], value: object, limits: Limits) -> Accepted:
    """What was accepted, with the lower bound that the member ``below`` shows: an epsilon that is refuted beside the verdict.

    A claim that is an expression in public numbers has no upper bound; that some number is too small bounds it from below all the same.
    """
    below = an_object(value, "below")
    only_members(below, ("epsilon", "evidence"), "below")
    refuted = read_epsilon(below.get("epsilon"), "below.epsilon", limits)
    if "epsilon" not in asked and "claim" not in asked:
        refuse("only where an epsilon is asked about may another one be refuted", "below")
    upper = INFINITE if accepted.upper is None else accepted.upper
    if refuted.infinite or refuted.compare(upper) >= 0:
        refuse(f"{upper} is shown to be enough, so this is not too small", "below.epsilon")
    one = {name: part for name, part in asked.items() if name != "claim"} | {"epsilon": str(refuted)}
    found = _established("refuted", one, {"evidence": below.get("evidence")}, limits)
    lower = largest_bound(refuted, found.lower, accepted.lower)
    if lower.compare(upper) > 0:
        refuse(f"at least {lower} is needed by this, and at most {upper} by the rest, which is impossible", "below")
    details = {**accepted.details, "below": found.details.get("method")}
    statement = f"{accepted.statement}; {found.statement}"
    return replace(accepted, statement=statement, details=details, lower=lower, upper=upper)


def _sharpened(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> dict[str, object]:
    """The question that a proof is checked against: with the smaller epsilon of the member ``bounds``, where there is one.

    What holds for an epsilon holds for every larger one.
    """
    if "bounds" not in certificate:
        return asked
    bounds = an_object(certificate["bounds"], "bounds")
    only_members(bounds, ("upper",), "bounds")
    upper = read_epsilon(bounds.get("upper"), "bounds.upper", limits)
    if verdict != "proved" or "epsilon" not in asked or "claim" in asked:
        refuse("only a proof for one epsilon may be sharper than what is asked", "bounds")
    if upper.compare(read_epsilon(asked["epsilon"], "question.epsilon", limits)) > 0:
        refuse(f"{upper} is above the epsilon that is asked about", "bounds.upper")
    return {**asked, "epsilon": str(upper)}


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
