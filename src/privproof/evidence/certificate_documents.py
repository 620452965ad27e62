"""Drafts of certificates: what an engine found, as plain data (JSON) in the model's own terms.

A draft has a verdict, a question and evidence, in which other evidence may be nested.  The gate writes the facts from it, in one place
(`privproof_checker.version_one`); see docs/reference/certificates.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privproof.exact import ZERO, Epsilon, rational
from privproof.exact.balls import rational_bounds
from privproof_checker.version_one import ONE

ESTABLISHED, TAKEN = "established", "taken"
"""What a question says of a model made from a function: it follows from the text, or it is taken from the compiler."""
_THOUSAND = 1000
"""What a certificate says to be refuted is a multiple of its inverse: short, and below the bound that the checker works out."""


def draft(verdict: str, question: Mapping[str, object], evidence: Mapping[str, object]) -> dict[str, object]:
    """A draft for a verdict on a question that is given as a document."""
    return {
        "format": ONE,
        "version": 1,
        "verdict": verdict,
        "question": question,
        "evidence": dict(evidence),
    }


def lower_bound(lower: Epsilon, evidence: Mapping[str, object]) -> dict[str, object]:
    """The member ``below`` of a certificate: evidence that refutes every epsilon below a lower bound.

    What it says to be refuted is the largest thousandth below the bound; how large the bound is, the checker works out from the evidence.
    """
    low, _ = rational_bounds(lower.ball())
    least = max(ZERO, rational((low * _THOUSAND).ceil() - 1) / _THOUSAND)
    return {"epsilon": str(least), "evidence": dict(evidence)}


def take(question: dict[str, Any], reason: str) -> None:
    """Let a question say that its model was taken from the compiler."""
    question["source"] = {**question["source"], "claims": TAKEN, "reason": reason}
