"""Verdicts, witnesses and certificates; imports the engines' findings, and `checker` nothing but `exact`."""

from privproof.evidence.verdicts import (
    Charge,
    Explanation,
    Growth,
    LossWitness,
    PriorWitness,
    Proved,
    Refuted,
    Status,
    Unknown,
    Verdict,
    Witness,
)

__all__ = [
    "Charge",
    "Explanation",
    "Growth",
    "LossWitness",
    "PriorWitness",
    "Proved",
    "Refuted",
    "Status",
    "Unknown",
    "Verdict",
    "Witness",
]
