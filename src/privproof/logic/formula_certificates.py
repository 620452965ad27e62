"""The evidence of verdicts about formulas."""

from __future__ import annotations

from typing import Any

from privproof.engines.words.word_certificates import proof_evidence
from privproof.evidence.certificate_documents import draft
from privproof.formats import document
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.far_query_pairs import NearPairs
from privproof.logic.formula_document import formula_data
from privproof.logic.large_processes import Evidence, EvidenceByMonitors, PathBounds
from privproof.logic.path_measures import Closeness, Gap
from privproof.logic.process_columns import column
from privproof.logic.query_schedulers import ByWords, Extremes, Lasso, Tree
from privproof.logic.query_vectors import Bound
from privproof.logic.state_satisfaction import Satisfaction


def logic_evidence(found: Satisfaction) -> dict[str, object]:
    """The evidence of an answer that is proved or refuted."""
    evidence: dict[str, object] = {"method": "bounds" if found.in_columns else "logic"}
    if found.computed == "refuted":
        evidence["state"] = next(s for s in found.asked if found.truth[s] == 0)
    if found.in_columns:
        bounds = [measured.bounds for measured in found.measured.values() if measured.bounds is not None]
        every = [item for each in bounds for item in each.evidence]
        monitored = [_monitored(found.process, item) for item in every if isinstance(item, EvidenceByMonitors)]
        operators = [_far(found.process, close) for close in found.measured.values() if isinstance(close, Closeness)]
        evidence |= _untils(found.process, bounds)
        evidence |= {"monitored": monitored} if monitored else {}
        listed = [item for item in operators if item]
        return evidence | ({"operators": listed} if listed else {})
    if not found.process.is_chain:
        evidence["operators"] = [
            _operator(found.process, close) for close in found.measured.values() if isinstance(close, Closeness)
        ]
    return evidence


def _untils(process: DecisionProcess, bounds: list[PathBounds]) -> dict[str, object]:
    """The vectors behind bounds: of untils, and of repetition where there is some."""
    listed = [item for each in bounds for item in each.evidence if isinstance(item, Evidence)]
    often = [_vectors(process, item) for item in listed if item.left is None]
    untils = [_vectors(process, item) for item in listed if item.left is not None]
    return {"untils": untils, **({"often": often} if often else {})}


def _far(process: DecisionProcess, close: Closeness) -> dict[str, object]:
    """What decides one D formula of a large decision process; nothing of a chain."""
    far = close.far
    if far is None:
        return {}
    told: dict[str, object] = {"formula": formula_data(close.formula, process, in_columns=True)}
    if isinstance(far, NearPairs):
        pairs, certificates = _pairs(far.directions)
        for pair in pairs:
            pair |= {side: int(far.states[pair[side]]) for side in ("left", "right")}
        return told | {"near": len(far.states), "pairs": pairs, "certificates": certificates}
    listed: list[dict[str, object]] = []
    for gap in close.directions:
        how: dict[str, object] | None = {"kind": "extremes"} if gap.holds else None
        if isinstance(gap.proof, Lasso):
            lasso = {"kind": "lasso", "before": list(gap.proof.before), "repeated": list(gap.proof.repeated)}
            how = lasso | _untils(process, [far.along[gap.left, gap.right]])
        if how is not None:
            listed.append({"left": gap.left, "right": gap.right, "how": how})
    return told | {"pairs": listed} | _untils(process, [far.bounds])


def _vectors(process: DecisionProcess, item: Evidence) -> dict[str, object]:
    """The vectors that bound the probability of an until, or of repetition."""
    sides = {"least": item.least} | ({} if item.most is None else {"most": item.most})
    right = formula_data(item.right, process, in_columns=True)
    return {
        "formula": right
        if item.left is None
        else ["U", formula_data(item.left, process, in_columns=True), right, 0, None],
        **{side: {"low": _bound(bounds.low), "high": _bound(bounds.high)} for side, bounds in sides.items()},
    }


def _monitored(process: DecisionProcess, item: EvidenceByMonitors) -> dict[str, object]:
    """The vectors that bound the probability of a path formula beside monitors."""
    found = item.found
    columns = {
        "letters": found.letters,
        "low": found.low,
        "high": found.high,
        "classes": found.classes,
        "leaving": found.leaving,
    }
    return {
        "formula": formula_data(item.path, process, in_columns=True),
        "steps": found.steps.tolist(),
        **{name: column(values) for name, values in columns.items()},
        "again": [column(ranks) for ranks in found.again],
    }


def _bound(bound: Bound) -> dict[str, object]:
    columns = {"values": bound.values, "policy": bound.policy, "ranks": bound.ranks, "falls": bound.falls}
    return {name: column(values) for name, values in columns.items() if values is not None}


def _operator(process: DecisionProcess, close: Closeness) -> dict[str, object]:
    """What decides one D formula: for every ordered pair of neighbours the reason."""
    pairs, certificates = _pairs(close.directions)
    return {"formula": formula_data(close.formula, process), "pairs": pairs, "certificates": certificates}


def _pairs(directions: tuple[Gap, ...]) -> tuple[list[dict[str, Any]], list[dict[str, object]]]:
    """The reason for every ordered pair, and the certificates about words that reasons speak of."""
    pairs: list[dict[str, Any]] = []
    certificates: list[dict[str, object]] = []
    known: dict[int, int] = {}
    for gap in directions:
        how = _how(gap, certificates, known)
        if how is not None:
            pairs.append({"left": gap.left, "right": gap.right, "how": how})
    return pairs, certificates


def _how(gap: Gap, certificates: list[dict[str, object]], known: dict[int, int]) -> dict[str, object] | None:
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


def _by_words(proof: ByWords) -> dict[str, object]:
    budget = proof.compiled.question.budget
    assert budget is not None
    assert proof.finding.proof is not None
    evidence = proof_evidence(proof.compiled, proof.finding.proof)
    return {
        "certificate": draft("proved", document(proof.compiled.question.under(budget)), evidence),
        "states": dict(proof.states),
        "counted": proof.counted,
        "other": proof.other,
    }
