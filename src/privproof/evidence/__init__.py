"""Verdicts, witnesses and certificates; imports the engines' findings, and `checker` nothing but `exact`."""

from privproof.evidence.verdicts import (
    Charge,
    Explanation,
    Growth,
    Leaking,
    LossWitness,
    PriorWitness,
    Proved,
    Refuted,
    ReleaseWitness,
    Shifted,
    Status,
    StreamWitness,
    Unknown,
    Verdict,
    Witness,
)

__all__ = [
    "Charge",
    "Explanation",
    "Growth",
    "Leaking",
    "LossWitness",
    "PriorWitness",
    "Proved",
    "Refuted",
    "ReleaseWitness",
    "Shifted",
    "Status",
    "StreamWitness",
    "Unknown",
    "Verdict",
    "Witness",
]
