"""Certificates about the words of a model: which evidence there is, and the word beside it that bounds the epsilon from below."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from privproof_checker.cones import proved_by_cone
from privproof_checker.documents import a_text, an_object
from privproof_checker.enumeration import proved_by_enumeration
from privproof_checker.outcomes import Accepted, Limits, Verdict, largest_bound, refuse
from privproof_checker.pumps import refuted_by_pump
from privproof_checker.questions import read_question
from privproof_checker.ratios import proved_by_ratios
from privproof_checker.systems import Question
from privproof_checker.tensors import proved_by_tensors
from privproof_checker.words import attained, check_word, refuted_by_event, refuted_by_word, shown
from privproof_checker.worst_way import proved_by_the_worst_way

Method = Callable[[Question, dict[str, object], Limits], Accepted]

_METHODS: Mapping[str, Mapping[str, Method]] = {
    "proved": {
        "cone": proved_by_cone,
        "enumeration": proved_by_enumeration,
        "ratios": proved_by_ratios,
        "worst way": proved_by_the_worst_way,
        "tensors": proved_by_tensors,
    },
    "refuted": {"word": refuted_by_word, "event": refuted_by_event, "pump": refuted_by_pump},
}


def check_words(verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """What a certificate about the words of a model establishes."""
    question = read_question(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if method not in _METHODS[verdict]:
        refuse(f"{method[:40]!r} is no evidence for {verdict}", "evidence.method")
    accepted = _METHODS[verdict][method](question, evidence, limits)
    witness = certificate.get("witness")
    if witness is None:
        return accepted
    found = check_word(question, witness, "witness", limits)
    lower = question.claim.needs(*found.compared)
    statement = f"{accepted.statement}; the word {shown(found.letters)} has the ratio {found.ratio()}"
    if verdict == "refuted":
        return replace(accepted, statement=statement, lower=largest_bound(lower, accepted.lower))
    if not question.claim.holds(*found.compared):
        refuse("the witness violates the claim that is said to be proved", "witness")
    tight = attained(question, found)
    statement += ", so this epsilon is attained and no smaller one holds" if tight else ""
    details = {**accepted.details, "witness_ratio": found.ratio(), "tight": tight}
    return replace(accepted, statement=statement, details=details, lower=lower)
