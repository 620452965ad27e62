"""What follows from an epsilon: the measures of randomised response.

Two laws whose likelihoods differ by factors from e^-L to e^L are made, by one and the same channel, from the two laws of randomised
response with parameter L (Kairouz, Oh and Viswanath 2015).  So no measure of theirs is above that of randomised response:

* ``D_a = ln(w^a v^(1-a) + v^a w^(1-a))/(a-1)`` with ``w = e^L/(1+e^L)``, ``v = 1/(1+e^L)``, and ``D_1 = L tanh(L/2)``;
* ``rho = L tanh(L/2)``: the largest ``D_a/a`` is that of order 1;
* ``mu = 2 Phi^-1(w)``: one test counts, and a chord of a convex trade-off lies above it.

Laws whose losses lie within r of each other, as those of the exponential mechanism with epsilon r, have less: ``D_a <= a r^2/8`` (bounded
range; Dong, Durfee and Rogers 2020).
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from statistics import NormalDist

from flint import arb

from privproof.exact import INFINITE, Epsilon, epsilon, fraction
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.measures import Measure
from privproof.exact.normal import normal_below
from privproof.exact.rounding import GRID, to_grid

_BITS = 128
"""The precision of balls."""
_MOST_POWER = 100
"""Ratios are raised to powers up to this one, so that values stay exact; beyond, they are rounded up."""
_LARGEST = 500
"""Beyond this epsilon nothing is converted."""


def of_pure_within(measure: Measure, loss: Epsilon, value: Epsilon | None) -> bool:
    """Whether an epsilon proves a value of a measure."""
    if value is None or loss.compare(epsilon(_LARGEST)) > 0:
        return False
    exact = _exact_response(measure, loss)
    if exact is not None:
        return exact.compare(value) <= 0
    with precision(_BITS):
        most, claimed = loss.ball(_BITS), value.ball(_BITS)
        if measure.kind == "mu":
            return bool(most.exp() / (1 + most.exp()) <= normal_below(claimed / 2))
        return bool(_response(measure, most) <= claimed)


def _exact_response(measure: Measure, loss: Epsilon) -> Epsilon | None:
    """A value of randomised response as a logarithm, where its epsilon is that of a ratio; None where it is none, or of long numbers.

    >>> from privproof.exact.measures import RHO, renyi
    >>> _exact_response(RHO, epsilon("ln(3)")), _exact_response(renyi(2), epsilon("ln(3)"))
    (Epsilon('ln(3)/2'), Epsilon('ln(7/3)'))
    """
    if loss.infinite or loss.shift != 0 or loss.root != 1 or loss.ratio <= 1 or measure.kind == "mu":
        return None
    ratio, order = loss.ratio, measure.order
    if order is None or order == 1:
        slope = (ratio - 1) / (ratio + 1)  # tanh(L/2)
        return Epsilon(ratio ** int(slope.p), int(slope.q)) if slope.q <= _MOST_POWER else None
    if order.q != 1 or order > _MOST_POWER:
        return None
    more = int(order.p) - 1
    return Epsilon((ratio ** (more + 1) + 1 / ratio**more) / (1 + ratio), more)


def _response(measure: Measure, loss: arb) -> arb:
    order = measure.order
    if order is None or order == 1:
        return loss * (loss / 2).tanh()
    w, v = 1 / (1 + (-loss).exp()), 1 / (1 + loss.exp())
    more = arb(order - 1)
    return (w * (more * loss).exp() + v * (-more * loss).exp()).log() / more


def least_of_pure(measure: Measure, loss: Epsilon) -> Epsilon:
    """The smallest value of a measure that an epsilon proves, rounded up; infinite where none is found."""
    if loss.compare(epsilon(_LARGEST)) > 0:
        return INFINITE
    with precision(_BITS):
        if measure.kind != "mu":
            if (exact := _exact_response(measure, loss)) is not None:
                return exact
            return epsilon(to_grid(rational_bounds(_response(measure, loss.ball(_BITS)))[1], up=True))
        share = float(1 / (1 + (-loss.ball(_BITS)).exp()).mid())
    if not 0.5 <= share < 1:
        return INFINITE
    near = Fraction(2 * NormalDist().inv_cdf(share))
    for slack in (Fraction(1, GRID), Fraction(1, 10**9), Fraction(1, 10**6)):
        value = epsilon(fraction(to_grid(near, up=True)) + slack)
        if of_pure_within(measure, loss, value):
            return value
    return INFINITE


def least_of_range(measure: Measure, spread: Fraction) -> Epsilon:
    """What ``D_a <= a r^2/8`` proves of rho or of a divergence, where all losses lie within r of each other.

    >>> from privproof.exact.measures import RHO
    >>> least_of_range(RHO, Fraction(1))
    Epsilon('1/8')
    """
    return epsilon(spread**2 / 8 * (1 if measure.order is None else fraction(measure.order)))


def most_range(measure: Measure, value: Epsilon) -> Fraction:
    """The largest r whose ``a r^2/8`` is within a value, rounded down where it is no fraction.

    >>> from privproof.exact.measures import RHO
    >>> most_range(RHO, epsilon("1/8")), most_range(RHO, epsilon("1/4"))
    (Fraction(1, 1), Fraction(1414213562373, 1000000000000))
    """
    low, _ = rational_bounds(value.ball(_BITS)) if value.ratio != 1 else (value.shift, None)
    square = 8 * fraction(low) / (1 if measure.order is None else fraction(measure.order))
    above, below = isqrt(square.numerator), isqrt(square.denominator)
    if above**2 == square.numerator and below**2 == square.denominator:
        return Fraction(above, below)
    return Fraction(isqrt(square.numerator * GRID**2 // square.denominator), GRID)
