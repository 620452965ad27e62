"""How a verdict was re-established, and what of it from the source: what an accepted certificate rests on.

A verdict is *witnessed* where the certificate holds what shows it, and the checker follows that; *recomputed* where the checker
finds it out by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from privproof_checker.documents import an_object
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.source import Established, established
from privproof_checker.source.running import Work
from privproof_checker.source.source_member import Findings, Source
from privproof_checker.source.values import Beyond

_HOW: Mapping[tuple[str, str], tuple[str, str]] = {
    ("words", "word"): ("witnessed", "a word, whose two probabilities were computed again"),
    ("words", "event"): ("witnessed", "an event, whose two probabilities were computed again"),
    ("words", "pump"): ("witnessed", "a word that is repeated, whose rates were computed again"),
    ("words", "cone"): ("witnessed", "a cone of vectors, of which every start, step and end was compared"),
    ("words", "ratios"): ("witnessed", "ratios of futures, of which every start, step and end was compared"),
    ("words", "enumeration"): ("recomputed", "all compared words"),
    ("words", "worst way"): ("recomputed", "the ratios of all moves, multiplied along the worst way"),
    ("words", "tensors"): ("recomputed", "the output law of every input"),
    ("program", "alignment"): ("witnessed", "an alignment, whose conditions were followed by their multipliers"),
    ("program", "cells"): (
        "witnessed",
        "an alignment of some cells, whose conditions were followed by their multipliers, and that the others are like them",
    ),
    ("program", "mixture"): (
        "witnessed",
        "alignments of what is mixed, whose conditions were followed by their multipliers, and plans that were added up",
    ),
    ("program", "loss"): ("witnessed", "an event, whose two probabilities were integrated again"),
    ("program", "corners"): (
        "recomputed",
        "the largest excess over all real neighbours, by corners of boxes that cover the data",
    ),
    ("program", "registers"): ("recomputed", "the largest excess over all neighbours, by integrals over few numbers"),
    ("program", "matrix"): ("witnessed", "a matrix of shifts, whose squares were bounded over all neighbours"),
    ("program", "outcomes"): ("witnessed", "an event, whose two probabilities were enclosed again"),
    ("stream", "coupling"): ("witnessed", "a coupling, of which every transition was compared"),
    ("stream", "loss"): ("witnessed", "an execution, whose two probabilities were enclosed again"),
    ("stream", "growth"): ("witnessed", "a path that is repeated, whose costs were followed again"),
    ("pufferfish", "bernstein"): ("witnessed", "subdivisions, whose Bernstein coefficients were computed again"),
    ("pufferfish", "parameters"): (
        "witnessed",
        "values of the parameters, whose two probabilities were computed again",
    ),
    ("runs", "table"): ("recomputed", "the probabilities of all outcomes, from the trees of all runs"),
    ("runs", "alignment"): ("witnessed", "an alignment of the trees of runs, of which every move was followed"),
    ("runs", "event"): ("witnessed", "an event, whose two probabilities were summed again from the trees of runs"),
    ("runs", "divergence"): ("recomputed", "bounds on the excess of every event, from the trees of all runs"),
    ("runs", "regions"): ("witnessed", "an event, whose two probabilities were enclosed again from the trees of runs"),
    ("measured", "divergences"): ("recomputed", "the divergences of all pairs of laws, from the trees of all runs"),
    ("measured", "order"): ("witnessed", "an order, whose divergence was enclosed again from the trees of runs"),
    ("measured", "point"): ("witnessed", "an epsilon, at which an excess was enclosed again from the trees of runs"),
    ("measured", "settled"): ("witnessed", "a proof by alignment, which was checked again"),
    ("measured", "range"): (
        "witnessed",
        "a proof by alignment that shows the range of losses, which was checked again",
    ),
    ("measured", "pure"): ("witnessed", "a proof of an epsilon, which was checked again"),
    ("composed", "composition"): ("recomputed", "the losses of all uses, and their composition"),
    ("composed", "losses"): ("recomputed", "the losses of one use on two data sets, and their composition"),
    ("runs", "excess"): ("recomputed", "the excess of two neighbours, from the trees of runs"),
    ("draws", "product"): ("recomputed", "the largest ratio of every part, and their products over all changes"),
    ("draws", "outcome"): ("witnessed", "two data sets and an output, whose two probabilities were computed again"),
    ("lottery", "stretch"): ("witnessed", "a stretch, of which every piece was compared with all laws of levels"),
    ("lottery", "levels"): ("recomputed", "the largest ratio of the probabilities of a level"),
    ("lottery", "lists"): ("witnessed", "two lists, on which both probabilities of an index were computed again"),
    ("logic in columns", "bounds"): (
        "witnessed",
        "vectors that bound the probabilities behind the formula, state by state",
    ),
    ("logic", "logic"): ("recomputed", "the probabilities behind the formula"),
    ("release", "quilts"): ("witnessed", "quilts, whose influences were computed again"),
    ("release", "contraction"): ("witnessed", "nodes at a distance, whose influences were bounded again"),
    ("release", "distance"): ("recomputed", "the distance of the laws given every value"),
    ("release", "laws"): ("recomputed", "the laws with the noise given every value"),
    ("release", "coupling"): ("recomputed", "a coupling of the laws given every value"),
    ("release", "event"): ("witnessed", "an event, whose two probabilities were computed again"),
    ("location", "triangle inequality"): ("recomputed", "the triangle inequality, and the rate"),
    ("location", "every pair"): ("recomputed", "every pair of places and every report"),
    ("location", "one output"): ("witnessed", "a report, whose two probabilities were computed again"),
}
"""For every kind of question and every method: what a verdict rests on, in a word and in words."""
_WORDS = ("hmm", "markov-chain", "transducer")
_LOSS = "both probabilities of the event, the inputs, and that they are neighbours"
_BELOW = "both probabilities of the event of the lower bound"
_AUTOMATON = "the automaton, its inputs and outputs, and which streams are neighbours"
_PROOF = "the instructions that the alignment is about, and the inputs"
_INSTRUCTIONS = "the instructions that were run with data and noise left open, and the inputs"
_LOTTERY = "that the text draws by lot, the laws of its levels, the inputs, and which lists are neighbours"
_FINITE = "the model, its inputs and outputs, and which data are neighbours"


def how(accepted: Accepted, asked: Mapping[str, object]) -> dict[str, str]:
    """How a verdict was re-established: ``by`` what, with which ``method``, and in words."""
    kind, method = str(asked.get("kind")), str(accepted.details.get("method"))
    by, words = _HOW["words" if kind in _WORDS else kind, method]
    found = {"by": by, "method": method, "words": words}
    if "above" in accepted.details:
        larger, words = _HOW["words" if kind in _WORDS else kind, str(accepted.details["above"])]
        found["words"] += f"; a larger epsilon, {larger}: {words}"
    if "below" in accepted.details:
        bounded, words = _HOW["words" if kind in _WORDS else kind, str(accepted.details["below"])]
        found["words"] += f"; the lower bound, {bounded}: {words}"
    return found


def explained(
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
        from privproof_checker.questions import read_question  # here and below: what few questions need
        from privproof_checker.source.finite import establish_finite

        return establish_finite(source, read_question(asked, limits), asked, limits, work)

    def loss(source: Source, work: Work) -> Findings:
        from privproof_checker.source.losses import establish_loss

        return establish_loss(source, asked, evidence, limits, work)

    def automaton(source: Source, work: Work) -> Findings:
        from privproof_checker.source.automata import establish_automaton

        return establish_automaton(source, asked, evidence, limits, work)

    def lottery(source: Source, work: Work) -> Findings:
        from privproof_checker.source.lotteries import establish_lottery

        return establish_lottery(source, asked, limits, work)

    if kind == "lottery":
        return established(asked, _LOTTERY, lottery, limits)
    if kind == "transducer":
        return established(asked, _FINITE, finite, limits)

    def proof(source: Source, work: Work) -> Findings:
        from privproof_checker.source.proofs import establish_proof

        return establish_proof(source, asked, limits, work)

    def loss_and_proof(source: Source, work: Work) -> Findings:
        found, more = loss(source, work), proof(source, work)
        return Findings((*found.taken, *more.taken), (*found.notes, *more.notes))

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
