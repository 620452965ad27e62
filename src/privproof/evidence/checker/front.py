"""The checker's front: a document, or the file that holds one, to `Accepted` or `Rejected`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from privproof.evidence.checker.cones import proved_by_cone
from privproof.evidence.checker.documents import a_text, an_object, load, plain
from privproof.evidence.checker.enumeration import proved_by_enumeration
from privproof.evidence.checker.outcomes import (
    DEFAULT_LIMITS,
    Accepted,
    Limits,
    Outcome,
    Refusal,
    Rejected,
    Verdict,
    refuse,
)
from privproof.evidence.checker.pumps import refuted_by_pump
from privproof.evidence.checker.questions import read_question
from privproof.evidence.checker.systems import Question
from privproof.evidence.checker.tensors import proved_by_tensors
from privproof.evidence.checker.words import attained, check_word, refuted_by_event, refuted_by_word, shown

Method = Callable[[Question, dict[str, object], Limits], Accepted]
Kind = Callable[[Verdict, dict[str, object], dict[str, object], Limits], Accepted]

_METHODS: Mapping[str, Mapping[str, Method]] = {
    "proved": {"cone": proved_by_cone, "enumeration": proved_by_enumeration, "tensors": proved_by_tensors},
    "refuted": {"word": refuted_by_word, "event": refuted_by_event, "pump": refuted_by_pump},
}


_KINDS = {
    "location": ("locations", "check_location"),
    "logic": ("logic", "check_logic"),
    "program": ("programs", "check_program"),
    "pufferfish": ("pufferfish", "check_pufferfish"),
    "release": ("releases", "check_release"),
    "stream": ("streams.checking", "check_stream"),
}
"""For kinds of questions of their own: the module and the function that check them; imported when one is met."""


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
        return Rejected(refusal.reason, refusal.place)
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
    kind = asked.get("kind")
    if isinstance(kind, str) and kind in _KINDS:
        module, name = _KINDS[kind]
        check: Kind = getattr(import_module(f"privproof.evidence.checker.{module}"), name)
        return check(verdict, asked, certificate, limits)
    question = read_question(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if method not in _METHODS[verdict]:
        refuse(f"{method[:40]!r} is no evidence for {verdict}", "evidence.method")
    witness = certificate.get("witness")
    if verdict == "refuted" or witness is None:
        return _METHODS[verdict][method](question, evidence, limits)
    found = check_word(question, witness, "witness", limits)
    if not question.claim.holds(found.left, found.right):
        refuse("the witness violates the claim that is said to be proved", "witness")
    accepted = _METHODS[verdict][method](question, evidence, limits)
    tight = attained(question, found)
    statement = f"{accepted.statement}; the word {shown(found.letters)} has the ratio {found.ratio()}"
    statement += ", so this epsilon is attained and no smaller one holds" if tight else ""
    return replace(
        accepted, statement=statement, details={**accepted.details, "witness_ratio": found.ratio(), "tight": tight}
    )
