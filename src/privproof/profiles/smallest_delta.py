"""The smallest delta at one epsilon, between two numbers, each with a verdict of its own.

The larger one is proved: the mechanism is (epsilon, upper)-private.  The smaller one is refuted, unless it is 0: it is not (epsilon,
lower)-private.  Both verdicts have certificates; how the numbers were found does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privproof.drawing.showing import ShownCard
from privproof.evidence.verdicts import Proved, Refuted, Unknown, Verdict
from privproof.exact import Epsilon
from privproof.scenarios import AnyQuestion


@dataclass(frozen=True)
class SmallestDelta(ShownCard):
    """The smallest delta of a mechanism at one epsilon.

    Attributes:
        epsilon: the epsilon.
        lower: it is at least this.
        upper: it is at most this.
        proof: the verdict that shows the upper bound; None where there is none but 1.
        refutation: the verdict that shows that no smaller number than the lower bound will do; None where that is 0.
        question: what was asked about, without a claim.
    """

    epsilon: Epsilon
    lower: Fraction
    upper: Fraction
    proof: Proved | None
    refutation: Refuted | None
    question: AnyQuestion

    def __str__(self) -> str:
        return f"{self.question.name}: delta at epsilon {self.epsilon} between {float(self.lower):.10g} and {float(self.upper):.10g}"

    @property
    def verdict(self) -> Verdict:
        """The proof, the refutation, or that nothing is known."""
        if self.proof is not None:
            return self.proof
        if self.refutation is not None:
            return self.refutation
        return Unknown(self.question, "none", reason="no delta below 1 is proved")
