"""How a verdict was re-established, and what of it from the source: what an accepted certificate rests on.

A verdict is *witnessed* where the certificate holds what shows it, and the checker follows that; *recomputed* where the checker
finds it out by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from privproof_checker.outcomes import Accepted, Beyond, Limits, refuse
from privproof_checker.plain_documents import an_object
from privproof_checker.rules import rule_of
from privproof_checker.source import Established, established

if TYPE_CHECKING:
    from privproof_checker.source.running import Work
    from privproof_checker.source.source_member import Findings, Source

_LOSS = "both probabilities of the event, the inputs, and that they are neighbours"
_BELOW = "both probabilities of the event of the lower bound"
_AUTOMATON = "the automaton, its inputs and outputs, and which streams are neighbours"
_PROOF = "the instructions that the alignment is about, and the inputs"
_INSTRUCTIONS = "the instructions that were run with data and noise left open, and the inputs"
_FINITE = "the model, its inputs and outputs, and which data are neighbours"


def how(accepted: Accepted, asked: Mapping[str, object]) -> dict[str, str]:
    """How a verdict was re-established: ``by`` what, with which ``method``, and in words."""
    kind, method = asked.get("kind"), str(accepted.details.get("method"))
    rule = rule_of(kind, method)
    words = rule.words
    for name, what in (("above", "a larger epsilon"), ("below", "the lower bound")):
        if name in accepted.details:
            other = rule_of(kind, accepted.details[name])
            words += f"; {what}, {other.by}: {other.words}"
    return {"by": rule.by, "method": method, "words": words}


def explain_accepted(
    accepted: Accepted, asked: dict[str, object], certificate: Mapping[str, object], limits: Limits
) -> Accepted:
    """What was accepted, with how, and with what the checker re-established from the source of the question."""
    accepted = replace(accepted, how=how(accepted, asked))
    found = _from_source(
        asked, an_object(certificate.get("evidence"), "evidence"), limits, above=accepted.details.get("above")
    )
    if "below" in certificate and asked.get("kind") == "program" and accepted.details.get("below") == "loss":
        bounded = _below_from_source(asked, an_object(certificate["below"], "below"), limits)
        found = bounded if found is None else found.beside(bounded)
    if found is None:
        return accepted
    statement = f"{accepted.statement}; {found.statement}"
    return replace(accepted, statement=statement, details={**accepted.details, "source": found.details})


def _below_from_source(asked: dict[str, object], below: Mapping[str, object], limits: Limits) -> Established:
    """What is re-established from the source of a lower bound for a mechanism with continuous noise.

    A proof is about instructions, a lower bound about trees of runs: that both are of one program, the text tells.
    """
    if asked.get("source") is None:
        refuse("without a source nothing says that the lower bound is about the same program", "below")
    evidence = an_object(below.get("evidence"), "below.evidence")
    member = {**an_object(asked["source"], "question.source"), "size": asked.get("size")}

    def loss(source: Source, work: Work) -> Findings:
        from privproof_checker.source.losses import establish_loss

        return establish_loss(source, asked, evidence, limits, work)

    try:
        found = established({"source": {**member, "claims": "established"}}, _BELOW, loss, limits)
    except Beyond as beyond:
        found = established({"source": {**member, "claims": "taken", "reason": beyond.reason}}, _BELOW, loss, limits)
    assert found is not None
    return found


def _from_source(
    asked: dict[str, object], evidence: Mapping[str, object], limits: Limits, *, above: object = None
) -> Established | None:
    kind, method = asked.get("kind"), evidence.get("method")

    def finite(source: Source, work: Work) -> Findings:
        from privproof_checker.source.finite import establish_finite
        from privproof_checker.word_questions import read_question  # here and below: what few questions need

        return establish_finite(source, read_question(asked, limits), asked, limits, work)

    def loss(source: Source, work: Work) -> Findings:
        from privproof_checker.source.losses import establish_loss

        return establish_loss(source, asked, evidence, limits, work)

    def automaton(source: Source, work: Work) -> Findings:
        from privproof_checker.source.automata import establish_automaton

        return establish_automaton(source, asked, evidence, limits, work)

    if kind == "transducer":
        return established(asked, _FINITE, finite, limits)

    def proof(source: Source, work: Work) -> Findings:
        from privproof_checker.source.proofs import establish_proof

        return establish_proof(source, asked, limits, work)

    def loss_and_proof(source: Source, work: Work) -> Findings:
        found, more = loss(source, work), proof(source, work)
        return replace(found, taken=(*found.taken, *more.taken), notes=(*found.notes, *more.notes))

    if (kind, method) == ("program", "loss"):
        if above is not None:
            return established(asked, f"{_LOSS}; {_PROOF}", loss_and_proof, limits)
        return established(asked, _LOSS, loss, limits)
    if kind == "stream":
        return established(asked, _AUTOMATON, automaton, limits)
    if kind == "program" and method in ("alignment", "cells", "mixture"):
        return established(asked, _PROOF, proof, limits)
    if kind == "program" and method in ("registers", "corners", "matrix", "outcomes"):
        return established(asked, _INSTRUCTIONS, proof, limits)
    return established(asked, "the program", _not_followed, limits)


def _not_followed(source: Source, work: Work) -> Findings:
    raise Beyond("a question of this kind is not re-established from the source", "question.source")
