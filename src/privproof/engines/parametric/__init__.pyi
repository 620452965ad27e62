from .bernstein_boxes import Coordinate
from .condition_decision import (
    ConditionProof,
    Decision,
    PolynomialFactor,
    Proof,
    Undecided,
    Violation,
    non_negative,
    prove,
)
from .ratio_suprema import Supremum, supremum

__all__ = [
    "ConditionProof",
    "Coordinate",
    "Decision",
    "PolynomialFactor",
    "Proof",
    "Supremum",
    "Undecided",
    "Violation",
    "non_negative",
    "prove",
    "supremum",
]
