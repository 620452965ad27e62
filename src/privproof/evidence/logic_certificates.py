"""Certificates of model checking: the process, the formula in a small structured form, and what decides D on decision processes.

The probabilities are not in a certificate: the checker computes them again, by its own algorithm.
"""

from __future__ import annotations

from typing import Any

from privproof.engines.logic.checking import compared
from privproof.engines.logic.measures import Closeness, Gap
from privproof.engines.logic.queries import ByWords, Extremes, Lasso, Tree
from privproof.evidence.certificates import certificate, proof_evidence
from privproof.evidence.satisfaction import Satisfaction
from privproof.formats import document
from privproof.formulas import (
    And,
    Atom,
    Bound,
    Comparison,
    Family,
    Formula,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Private,
    Probable,
    Truth,
    Unary,
    Until,
)
from privproof.models import DecisionProcess, Enclosure
from privproof.scenarios.formulas import FormulaQuestion


def formula_document(question: FormulaQuestion) -> dict[str, Any]:
    """The question: the process, the formula and the states that are asked about."""
    process = question.process
    return {
        "kind": "logic",
        "title": process.name,
        "process": _process(process),
        "formula": structured(question.formula, process),
        "text": str(question.formula),
        "states": list(question.states),
    }


def logic_evidence(found: Satisfaction) -> dict[str, Any]:
    """The evidence of an answer that is proved or refuted."""
    evidence: dict[str, Any] = {"method": "logic"}
    if found.computed == "refuted":
        evidence["state"] = next(s for s in found.asked if found.truth[s] == 0)
    if not found.process.is_chain:
        evidence["operators"] = [
            _operator(found.process, close) for close in found.measured.values() if isinstance(close, Closeness)
        ]
    return evidence


def _process(process: DecisionProcess) -> dict[str, Any]:
    def number(p: object) -> Any:
        return [str(p.low), str(p.high)] if isinstance(p, Enclosure) else str(p)

    begins = process.choices.tolist()
    return {
        "states": list(process.names),
        "actions": list(process.actions),
        "rows": [
            [
                [
                    int(process.action_of[c]) if process.actions else None,
                    [[target, number(p)] for target, p in process.entries(c)],
                ]
                for c in range(begins[s], begins[s + 1])
            ]
            for s in range(len(process))
        ],
        "labels": {label: [int(s) for s in carried.nonzero()[0]] for label, carried in process.labels.items()},
        "neighbours": [list(pair) for pair in process.related],
    }


def structured(formula: Formula, process: DecisionProcess) -> list[Any]:
    """A formula in the form that certificates use: few operators, all arguments spelled out."""

    def say(f: Formula) -> list[Any]:
        match f:
            case Truth(value):
                return ["true" if value else "false"]
            case Atom(name):
                return ["label", name] if name in process.labels else ["state", process.state(name)]
            case Comparison():
                return ["set", _satisfying(f, process)]
            case Not(inner):
                return ["not", say(inner)]
            case And(parts):
                return ["and", *map(say, parts)]
            case Or(parts):
                return ["or", *map(say, parts)]
            case Implies(left, right):
                return ["or", ["not", say(left)], say(right)]
            case Iff(left, right):
                first, second = say(left), say(right)
                return ["and", ["or", ["not", first], second], ["or", first, ["not", second]]]
            case Family(quantifier):
                return ["and" if quantifier == "all" else "or", *map(say, f.instances())]
            case Next(inner, times):
                return ["X", times.constant, say(inner)] if times.constant else say(inner)
            case Unary(operator, inner, bound):
                if operator == "F":
                    return _until(["true"], say(inner), bound)
                return ["not", _until(["true"], ["not", say(inner)], bound)]
            case Until(operator, left, right, bound):
                first, second = say(left), say(right)
                if operator == "U":
                    return _until(first, second, bound)
                if operator == "R":
                    return ["not", _until(["not", first], ["not", second], bound)]
                return ["not", _until(["not", second], ["and", ["not", first], ["not", second]], bound)]
            case Probable(within, path):
                assert within is not None
                ends = {
                    "low": str(within.low),
                    "low_included": within.low_included,
                    "high": str(within.high),
                    "high_included": within.high_included,
                }
                return ["P", ends, say(path)]
            case Private(epsilon, delta, path):
                return ["D", {"epsilon": str(epsilon), "delta": str(delta)}, say(path)]
        raise AssertionError(f)

    return say(formula)


def _until(left: list[Any], right: list[Any], bound: Bound) -> list[Any]:
    low, high = max(0, bound.low.constant), None if bound.high is None else bound.high.constant
    if high is not None and high < low:
        return ["false"]
    return ["U", left, right, low, high]


def _satisfying(comparison: Comparison, process: DecisionProcess) -> list[int]:
    return [int(s) for s in compared(comparison, process).nonzero()[0]]


def _operator(process: DecisionProcess, close: Closeness) -> dict[str, Any]:
    """What decides one D formula: for every ordered pair of neighbours the reason."""
    pairs: list[dict[str, Any]] = []
    certificates: list[dict[str, Any]] = []
    known: dict[int, int] = {}
    for gap in close.directions:
        how = _how(gap, certificates, known)
        if how is not None:
            pairs.append({"left": gap.left, "right": gap.right, "how": how})
    return {"formula": structured(close.formula, process), "pairs": pairs, "certificates": certificates}


def _how(gap: Gap, certificates: list[dict[str, Any]], known: dict[int, int]) -> dict[str, Any] | None:
    proof = gap.proof
    if isinstance(proof, Extremes):
        return {"kind": "extremes"}
    if isinstance(proof, Tree):
        return {"kind": "tree", "words": [list(word) for word in proof.words]}
    if isinstance(proof, Lasso):
        return {"kind": "lasso", "before": list(proof.before), "repeated": list(proof.repeated)}
    if isinstance(proof, ByWords):
        if id(proof.compiled) not in known:
            known[id(proof.compiled)] = len(certificates)
            certificates.append(_by_words(proof))
        left, right = proof.starts[gap.left], proof.starts[gap.right]
        return {"kind": "words", "certificate": known[id(proof.compiled)], "left": left, "right": right}
    return None


def _by_words(proof: ByWords) -> dict[str, Any]:
    budget = proof.compiled.question.budget
    assert budget is not None
    assert proof.finding.proof is not None
    evidence = proof_evidence(proof.compiled, proof.finding.proof)
    return {
        "certificate": certificate("proved", document(proof.compiled.question.under(budget)), evidence),
        "states": dict(proof.states),
        "counted": proof.counted,
        "other": proof.other,
    }
