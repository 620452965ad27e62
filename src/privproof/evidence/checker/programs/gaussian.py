"""What noise gives away: delta, from what the shifts of Gaussian noise come to in squares, what is left of epsilon, and broken promises."""

from __future__ import annotations

from flint import arb

from privproof.evidence.checker.documents import text
from privproof.evidence.checker.integrals.normal import normal_excess
from privproof.evidence.checker.outcomes import refuse
from privproof.evidence.checker.programs.inputs import Affine, Declared
from privproof.exact import Epsilon, Rational
from privproof.exact.balls import precision, rational_bounds

BITS = 192
"""Bits of the one inequality that is decided by balls; a delta that agrees with the exact one in more digits is refused."""
_PLACE = "evidence.bounds"


def given_away(
    squares: Rational, many: Affine, broken: arb, total: Affine, product: Rational, declared: Declared
) -> None:
    """Refuse costs that may exceed the claim.

    Args:
        squares: what Gaussian noise comes to at most, mu^2.
        many: how many results are foretold to its shifts; 1 where they depend on none.
        broken: how likely a promise is to be broken.
        total: what other noise costs at most, besides the logarithm of the product.
        product: the logarithm of this is what geometric noise costs at most.
        declared: the claim.
    """
    if declared.epsilon is None or squares < 0:
        refuse("a delta is given away beside an epsilon that is a number", _PLACE)
    largest = total.largest(declared.ranges)
    if largest is None:
        refuse(f"the bound {str(total)[:200]} has no largest value", _PLACE)
    other = Epsilon(ratio=product, shift=largest)
    if other.compare(declared.epsilon) > 0:
        refuse(f"other noise may cost {str(other)[:200]}, more than {declared.claimed}", _PLACE)
    with precision(BITS):
        excess = arb(0)
        if squares and not declared.epsilon.infinite:
            excess = normal_excess(arb(squares).sqrt(), declared.epsilon.ball(BITS) - other.ball(BITS))
        each, rest = (rational_bounds(part)[1] for part in (excess, broken))
    delta = many.times(each)
    delta = Affine(delta.constant + rest, delta.terms)
    beyond = delta.minus(declared.given).largest(declared.ranges)
    if beyond is None or beyond > 0:
        shown = f"{float(each):.12g} times {many}, and {float(rest):.12g}"
        refuse(f"with mu^2 = {text(squares)} delta may be {shown}, more than {str(declared.given)[:200]}", _PLACE)
