from .verdicts import (
    Certified,
    Charge,
    Explanation,
    Growth,
    Leaking,
    Proved,
    Refuted,
    Shifted,
    Status,
    Unknown,
    Verdict,
)
from .witnesses import Witness

__all__ = [
    "Certified",
    "Charge",
    "Explanation",
    "Growth",
    "Leaking",
    "Proved",
    "Refuted",
    "Shifted",
    "Status",
    "Unknown",
    "Verdict",
    "Witness",
]
