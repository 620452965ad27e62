"""What decides D formulas on decision processes, as evidence."""

from __future__ import annotations

from typing import Any

from privproof.engines.words.word_certificates import proof_evidence
from privproof.evidence.certificate_documents import draft
from privproof.formats import document
from privproof.logic.bounds_evidence import bounds_evidence
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.far_query_pairs import NearPairs
from privproof.logic.formula_document import formula_data
from privproof.logic.path_measures import Closeness, Gap
from privproof.logic.query_schedulers import ByWords, Extremes, Lasso, Tree


def operator_evidence(process: DecisionProcess, close: Closeness, *, in_columns: bool) -> dict[str, object]:
    """What decides one D formula: for every ordered pair of neighbours the reason; beside a process in columns, what was found there."""
    if in_columns:
        return _far(process, close)
    pairs, certificates = _pairs(close.directions)
    return {"formula": formula_data(close.formula, process), "pairs": pairs, "certificates": certificates}


def _far(process: DecisionProcess, close: Closeness) -> dict[str, object]:
    """What decides one D formula of a large decision process."""
    far = close.far
    assert far is not None
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
            how = lasso | bounds_evidence(process, [far.along[gap.left, gap.right]])
        if how is not None:
            listed.append({"left": gap.left, "right": gap.right, "how": how})
    return told | {"pairs": listed} | bounds_evidence(process, [far.bounds])


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
