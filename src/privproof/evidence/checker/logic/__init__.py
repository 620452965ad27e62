"""The checker of certificates about formulas of dpCTL*; it imports the standard library, python-flint and
`privproof.exact` only.

A question asks whether a formula holds in some states of a Markov chain or decision process.  The probabilities are
computed again (Liu, Wang and Zhang, "Model Checking Differentially Private Properties", sections 4, 5 and 8); for
the operator D of a decision process, which is undecidable, the evidence says for pairs of neighbours why the claim holds
for all sequences of actions or which sequence violates it.  What neither the numbers nor the evidence decide is not
known, and a verdict is accepted only if it follows all the same.

Read it in this order: `formulas`, `processes` (the question), `obligations`, `products`, `measures` (probabilities in
chains), `extremes` (in decision processes), `rewards`, `readings`, `pairs` and `translation` (evidence about D), `truth`.
"""

from __future__ import annotations

from privproof.evidence.checker.documents import a_text, a_text_or_null, an_object, only_members
from privproof.evidence.checker.logic.formulas import (
    Private,
    Reader,
    State,
    a_state,
    outermost,
    privates,
    states_of,
    written,
)
from privproof.evidence.checker.logic.processes import BITS, Process, read_process
from privproof.evidence.checker.logic.truth import Truth
from privproof.evidence.checker.outcomes import Accepted, Limits, refuse
from privproof.exact.balls import precision

__all__ = ["check_logic"]

_MOST_SHOWN = 200
"""The details of an accepted formula name so many states, and so many characters of each operator; all are checked."""


def check_logic(verdict: str, question: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is a formula of dpCTL*."""
    with precision(BITS):
        return _checked(verdict, question, certificate, limits)


def _checked(verdict: str, question: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    only_members(question, ("kind", "title", "process", "formula", "text", "states"), "question")
    a_text_or_null(question.get("text"), "question.text")
    process = read_process(question.get("process"), "question.process", limits)
    reader = Reader(process.names, process.labels, limits, process.rewards)
    formula = reader.state(question.get("formula"), "question.formula")
    asked = states_of(question.get("states"), len(process.names), "question.states")
    if not asked:
        refuse("no state is asked about", "question.states")
    comparing = any(True for _ in privates(formula))
    incomplete = any(len(choices) < len(process.actions) for choices in process.choices)
    if comparing and not process.chain and incomplete and process.missing is None:
        refuse("the operator D needs every action in every state, or what a missing one does", "question.process.rows")
    if certificate.get("witness") is not None:
        refuse("a formula has no witness beside its evidence", "witness")
    evidence = an_object(certificate.get("evidence"), "evidence")
    only_members(evidence, ("method", "state", "operators"), "evidence")
    if a_text(evidence.get("method"), "evidence.method") != "logic":
        refuse("the evidence for a formula has the method logic", "evidence.method")
    truth = Truth(process, limits)
    truth.read_evidence(evidence.get("operators", []), formula, reader, "evidence.operators")
    words = written(formula)
    words = words if len(words) <= 2_000 else f"{words[:2_000]} ..."
    if verdict == "proved":
        if comparing and not any(process.neighbours):
            refuse("no state has a neighbour other than itself, so nothing is compared", "question.process.neighbours")
        found = truth.holds(formula, asked)
        for s in asked:
            if found[s] is not True:
                reason = "it fails" if found[s] is False else "it is not established"
                refuse(f"{reason} in the state {process.names[s][:60]!r}", "question.states")
        truth.check_evidence()
        statement = f"{words} holds in the state{'s' if len(asked) > 1 else ''} {_names(process, asked)}"
        return Accepted("proved", f"{statement}; {_how(process, truth)}", _details(process, truth, formula, asked))
    state = a_state(evidence.get("state"), len(process.names), "evidence.state")
    if state not in asked:
        refuse("this state is not asked about", "evidence.state")
    value = truth.holds(formula, [state])[state]
    if value is not False:
        refuse("the formula holds there" if value else "it is not established that the formula fails", "evidence.state")
    truth.check_evidence()
    statement = f"{words} fails in the state {process.names[state]}"
    if isinstance(formula, Private) and (formula, state) in truth.violations:
        statement += f": {truth.violations[formula, state]}"
    return Accepted("refuted", f"{statement}; {_how(process, truth)}", _details(process, truth, formula, [state]))


def _names(process: Process, states: list[int]) -> str:
    listed = ", ".join(process.names[s] for s in states[:20])
    return f"{listed} and {len(states) - 20} others" if len(states) > 20 else listed


def _how(process: Process, truth: Truth) -> str:
    """How it was established, in words."""
    parts = ["the probabilities were computed again" if process.exact else "the probabilities were enclosed again"]
    if truth.compared:
        parts.append(f"{len(truth.compared)} ordered pairs of neighbours were compared")
        if process.missing is not None:
            does = {
                "stay": "an action that a state does not have changes nothing",
                "refuse": "an action that a state does not have ends the run in the state refused",
                "enabled": "sequences of actions that a state on either side does not have were left out",
            }
            parts.append(does[process.missing])
    return ", ".join(parts)


def _details(process: Process, truth: Truth, formula: State, asked: list[int]) -> dict[str, object]:
    probabilities = {
        written(operator)[:_MOST_SHOWN]: {
            process.names[s]: truth.found[operator][s] for s in asked[:_MOST_SHOWN] if s in truth.found[operator]
        }
        for operator in outermost(formula)
        if operator in truth.found
    }
    return {
        "method": "logic",
        "states": len(process.names),
        "exact": process.exact,
        "compared": len(truth.compared),
        "probabilities": probabilities,
    }
