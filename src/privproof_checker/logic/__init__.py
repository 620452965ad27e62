"""The checker of certificates about formulas of dpCTL*; it imports the standard library and python-flint only.

A question asks whether a formula holds in some states of a Markov chain or decision process.  The probabilities are
computed again (Liu, Wang and Zhang, "Model Checking Differentially Private Properties", sections 4, 5 and 8); for
the operator D of a decision process, which is undecidable, the evidence says for pairs of neighbours why the claim holds
for all sequences of actions or which sequence violates it.  What neither the numbers nor the evidence decide is not
known, and a verdict is accepted only if it follows all the same.

Read it in this order: `formulas`, `processes`, `questions` (what is asked), `obligations`, `products`, `measures` (probabilities in
chains), `extremes` (in decision processes), `rewards`, `readings`, `pairs` and `translation` (evidence about D), `truth`.
"""

from __future__ import annotations

from privproof_checker.logic.decision_processes import BITS, Process, read_process
from privproof_checker.logic.formula_questions import read_asked
from privproof_checker.logic.formulas import FormulaReader, Private, State, formula_text, outermost
from privproof_checker.logic.state_truth import Truth
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, refuse

__all__ = ["check_logic"]

_MOST_SHOWN = 200
"""The details of an accepted formula name so many states, and so many characters of each operator; all are checked."""


def check_logic(verdict: str, question: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is a formula of dpCTL*."""
    with precision(BITS):
        return _check_formula(verdict, question, certificate, limits)


def _check_formula(
    verdict: str, question: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    process = read_process(question.get("process"), "question.process", limits)
    reader = FormulaReader(process.names, process.labels, limits, process.rewards)
    asked = read_asked(question, certificate, reader, "logic", ("operators",))
    formula = asked.formula
    incomplete = any(len(choices) < len(process.actions) for choices in process.choices)
    if asked.comparing and not process.chain and incomplete and process.missing is None:
        refuse("the operator D needs every action in every state, or what a missing one does", "question.process.rows")
    truth = Truth(process, limits)
    truth.read_evidence(asked.evidence.get("operators", []), formula, reader, "evidence.operators")

    def holds(states: list[int]) -> dict[int, bool | None]:
        found = truth.holds(formula, states)
        return {s: found[s] for s in states}

    settled, states, statement = asked.settled(verdict, holds, compared=any(process.neighbours))
    truth.check_evidence()
    if verdict == "refuted" and isinstance(formula, Private) and (formula, states[0]) in truth.violations:
        statement += f": {truth.violations[formula, states[0]]}"
    return Accepted(settled, f"{statement}; {_how(process, truth)}", _details(process, truth, formula, states))


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
        formula_text(operator)[:_MOST_SHOWN]: {
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
