"""The frame of a certificate: plain data (JSON) in the model's own terms, see docs/reference/certificates.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMAT, VERSION = "privproof-certificate", 1


def certificate(verdict: str, question: Mapping[str, Any], evidence: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate for a verdict on a question that is given as a document."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": verdict,
        "question": question,
        "evidence": dict(evidence),
    }
