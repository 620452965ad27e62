"""The parametric engine: conditions on unknown parameters, decided by Bernstein coefficients on trees of boxes.

Read it in this order: `bernstein` (the coefficients), `search` (trees), `points` (simple points), `deciding` (proved or
violated), `suprema` (how large the ratio becomes), `solvers` (second opinions).
"""

from privproof.engines.parametric.bernstein_boxes import Coordinate
from privproof.engines.parametric.condition_decision import (
    ConditionProof,
    Decision,
    PolynomialFactor,
    Proof,
    Undecided,
    Violation,
    non_negative,
    prove,
)
from privproof.engines.parametric.ratio_suprema import Supremum, supremum

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
