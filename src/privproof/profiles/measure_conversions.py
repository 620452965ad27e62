"""Conversions from one measure of privacy to another: true, often not tight, and never used to claim more than is proved.

* rho-zCDP is (e, delta)-private with ``delta = exp((a-1)(a rho - e)) / (a-1) * (1 - 1/a)^a`` for every order a > 1 (Canonne, Kamath and
  Steinke 2020, corollary 13);
* mu-GDP is (e, H(mu, e))-private (Dong, Roth and Su 2022, corollary 1), and this is all that it says;
* epsilon-privacy is ``epsilon tanh(epsilon/2)``-zCDP, attained by randomised response.
"""

from __future__ import annotations

from flint import arb

from privproof.exact import EpsilonLike, epsilon
from privproof.exact.balls import precision
from privproof.exact.normal import normal_excess

_BITS = 128
"""The precision of balls."""
_ORDERS = tuple(1 + 2.0 ** (k / 8) for k in range(-48, 97))
"""Orders among which the best one is taken; any order gives a true bound."""


def delta_of_rho(rho: EpsilonLike, at: EpsilonLike) -> arb:
    """A delta that rho-zCDP implies at an epsilon, as a ball; at most 1.

    >>> round(float(delta_of_rho("1/8", 2)), 6)
    3.9e-05
    """
    with precision(_BITS):
        value, e = epsilon(rho).ball(_BITS), epsilon(at).ball(_BITS)
        best = arb(1)
        for order in map(arb, _ORDERS):
            found = ((order - 1) * (order * value - e)).exp() / (order - 1) * (1 - 1 / order) ** order
            best = best.min(found)
        return best


def delta_of_mu(mu: EpsilonLike, at: EpsilonLike) -> arb:
    """The delta that mu-GDP implies at an epsilon, as a ball.

    >>> round(float(delta_of_mu("1/2", 1)), 9)
    0.006829595
    """
    with precision(_BITS):
        value, e = epsilon(mu).ball(_BITS), epsilon(at).ball(_BITS)
        if not value > 0:
            return arb(0)
        return normal_excess(value, e)


def rho_of_epsilon(value: EpsilonLike) -> arb:
    """The smallest rho that epsilon-privacy implies, as a ball.

    >>> round(float(rho_of_epsilon("ln(3)")), 6)
    0.549306
    """
    with precision(_BITS):
        e = epsilon(value).ball(_BITS)
        return e * (e / 2).tanh()
