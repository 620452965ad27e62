"""What Gaussian noise gives away: delta, from what its shifts come to in squares and what is left of epsilon."""

from __future__ import annotations

from flint import arb

from privproof.evidence.checker.documents import text
from privproof.evidence.checker.integrals.normal import normal_excess
from privproof.evidence.checker.outcomes import refuse
from privproof.evidence.checker.programs.inputs import Affine, Declared
from privproof.exact import Epsilon, Rational
from privproof.exact.balls import precision

_BITS = 192
"""Bits of the one inequality that is decided by balls; a delta that agrees with the exact one in more digits is refused."""
_PLACE = "evidence.bounds"


def given_away(squares: Rational, total: Affine, product: Rational, declared: Declared) -> None:
    """Refuse costs that may exceed the claim: all other noise costs at most ``total + ln(product)``, Gaussian noise ``mu^2 = squares``."""
    if declared.epsilon is None or squares < 0:
        refuse("the costs of Gaussian noise are compared with an epsilon that is a number", _PLACE)
    if declared.epsilon.infinite:
        return
    largest = total.largest(declared.ranges)
    if largest is None:
        refuse(f"the bound {str(total)[:200]} has no largest value", _PLACE)
    other = Epsilon(ratio=product, shift=largest)
    if other.compare(declared.epsilon) > 0:
        refuse(f"other noise may cost {str(other)[:200]}, more than {declared.claimed}", _PLACE)
    with precision(_BITS):
        left = declared.epsilon.ball(_BITS) - other.ball(_BITS)
        delta = normal_excess(arb(squares).sqrt(), left)
        if not delta <= arb(declared.delta):
            shown = f"{float(delta.upper()):.12g}"
            refuse(f"with mu^2 = {text(squares)} delta may be {shown}, more than {text(declared.delta)}", _PLACE)
