"""The checker of certificates about stream automata: a coupling that proves, or a loss or growing costs that refute.

A stream automaton reads a stream of numbers and writes symbols and numbers, step by step; privacy is about all that is
written in a number of steps.  Read it in this order: `orders`, `steps`, `automata` (the question); `couplings`,
`products`, `invariants` (proofs); `executions`, `growth` (costs that are attained, or that grow); `losses`, `integrals`
(refutations by probabilities).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import a_text, an_object
from privproof_checker.streams.coupling_invariants import proved_by_coupling
from privproof_checker.streams.growing_costs import refuted_by_growth
from privproof_checker.streams.stream_automata import Automaton, read_automaton
from privproof_checker.streams.stream_losses import refuted_by_loss

__all__ = ["check_stream"]

_METHODS: Mapping[tuple[str, str], Callable[[Automaton, dict[str, object], Limits], Accepted]] = {
    ("proved", "coupling"): proved_by_coupling,
    ("refuted", "loss"): refuted_by_loss,
    ("refuted", "growth"): refuted_by_growth,
}


def check_stream(verdict: str, asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is a stream automaton."""
    if asked.get("kind") != "stream":
        refuse("the question is not about a stream automaton", "question.kind")
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if (verdict, method) not in _METHODS:
        refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
    automaton = read_automaton(asked, limits)
    found = _METHODS[verdict, method](automaton, evidence, limits)
    if not any(each.step.reads for each in automaton.transitions if each.source in automaton.origins):
        refuse("no number of the stream is read, so nothing is compared", "question.transitions")
    return found
