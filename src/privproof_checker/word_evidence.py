"""Certificates about the words of a model: which evidence there is, and the word beside it that bounds the epsilon from below."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module

from privproof_checker.outcomes import Accepted, Limits, Verdict, largest_bound, refuse
from privproof_checker.plain_documents import a_text, an_object
from privproof_checker.systems import Question
from privproof_checker.word_questions import read_question

Method = Callable[[Question, dict[str, object], Limits], Accepted]

_METHODS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "proved": {
        "cone": ("cones", "proved_by_cone"),
        "enumeration": ("enumeration", "proved_by_enumeration"),
        "ratios": ("ratios", "proved_by_ratios"),
        "worst way": ("worst_way", "proved_by_the_worst_way"),
        "tensors": ("tensors", "proved_by_tensors"),
    },
    "refuted": {
        "word": ("word_probabilities", "refuted_by_word"),
        "event": ("word_probabilities", "refuted_by_event"),
        "pump": ("pumps", "refuted_by_pump"),
    },
}
"""The rules by what they establish: the module and the function of each; imported when one is met."""


def check_words(verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """What a certificate about the words of a model establishes."""
    question = read_question(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if method not in _METHODS[verdict]:
        refuse(f"{method[:40]!r} is no evidence for {verdict}", "evidence.method")
    module, function = _METHODS[verdict][method]
    rule: Method = getattr(import_module(f"privproof_checker.{module}"), function)
    accepted = rule(question, evidence, limits)
    witness = certificate.get("witness")
    if witness is None:
        return accepted
    from privproof_checker.word_probabilities import attains_bound, check_word, word_text

    found = check_word(question, witness, "witness", limits)
    lower = question.claim.needs(*found.compared)
    statement = f"{accepted.statement}; the word {word_text(found.letters)} has the ratio {found.ratio()}"
    if verdict == "refuted":
        return replace(accepted, statement=statement, lower=largest_bound(lower, accepted.lower))
    if not question.claim.holds(*found.compared):
        refuse("the witness violates the claim that is said to be proved", "witness")
    tight = attains_bound(question, found)
    statement += ", so this epsilon is attained and no smaller one holds" if tight else ""
    details = {**accepted.details, "witness_ratio": found.ratio(), "tight": tight}
    return replace(accepted, statement=statement, details=details, lower=lower)
