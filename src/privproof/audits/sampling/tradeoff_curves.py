"""Trade-offs: which two probabilities of one event a notion of privacy permits, and the value that two probabilities ask for.

Every notion of privacy that post-processing keeps says something about a single event E, with the probability p on one data set and q on
a neighbour: it permits some pairs (p, q), those of the two-valued output "did E occur".  With a number for the notion (epsilon at a delta,
delta at an epsilon, mu, rho, the Rényi divergence of an order) the pairs that are permitted grow, and every pair has a least number.

**Theorem.** If p' >= p > q >= q', then (p', q') asks for no less than (p, q) does.  *Proof.* Report the event with probability a where it
occurred, and with probability b where it did not, ``a - b = (p - q)/(p' - q')`` and ``b = q - (a - b) q'``.  Both are probabilities: a - b
lies in [0, 1], so ``b >= q - q' >= 0`` and ``a = p + (a - b)(1 - p') <= p + 1 - p' <= 1``.  This output has the probabilities p and q, and
post-processing makes nothing worse.  QED

So a lower bound for p and an upper bound for q give a lower bound on the number, and each q has a largest p.  All claims are about both
orders of the data sets and about the complement of the event as well.  Results are moved by more than their rounding: `least` errs
downward, `largest` upward, so that no claim is rejected for a rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import Final, Protocol

import numpy as np

from privproof.audits.sampling.confidence_intervals import SAFE, Floats, special

_HALVINGS = 56
"""Halvings of [q, 1] until the largest probability is known: to the last digit of a float."""
_ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""A sum of four products of logarithms is off by less than this, relative to their sizes."""
_MOST = 700.0
"""The exponential of a larger number is no float."""


class Tradeoff(Protocol):
    """What a notion of privacy says about one event, by a number."""

    def least(self, p: Floats, q: Floats) -> Floats:
        """The least number that permits an event with probability p here and q there, or a little less; zero where p is not above q."""

    def largest(self, q: Floats, value: float) -> Floats:
        """The largest probability here that the number permits beside q there, or a little more."""


@dataclass(frozen=True)
class EpsilonAt:
    """Epsilon at a delta: ``p <= e^epsilon q + delta``, and the same for the complement.

    >>> f"{EpsilonAt().least(np.array(0.75), np.array(0.25)):.4f}"
    '1.0986'
    """

    delta: float = 0.0

    def least(self, p: Floats, q: Floats) -> Floats:
        """The least epsilon."""
        with np.errstate(divide="ignore", invalid="ignore"):
            event = np.where(p > self.delta, np.log(np.maximum(p - self.delta, 0.0) / q), -inf)
            rest = np.where(q < 1 - self.delta, np.log(np.maximum(1 - q - self.delta, 0.0) / (1 - p)), -inf)
        return np.asarray(np.maximum(0.0, np.maximum(event, rest) - SAFE))

    def largest(self, q: Floats, value: float) -> Floats:
        """The largest probability at an epsilon."""
        with np.errstate(over="ignore", invalid="ignore"):
            factor = np.exp(value)
            event = np.nan_to_num(factor * q, nan=0.0, posinf=1.0) + self.delta
            rest = 1 - np.maximum(0.0, 1 - q - self.delta) / factor
        return np.asarray(np.clip(np.minimum(event, rest) * (1 + SAFE), 0.0, 1.0))


@dataclass(frozen=True)
class DeltaAt:
    """Delta at an epsilon."""

    epsilon: float

    def least(self, p: Floats, q: Floats) -> Floats:
        """The least delta."""
        factor = exp(min(self.epsilon, _MOST)) * (1 + SAFE)
        return np.asarray(np.maximum(0.0, np.maximum(p - factor * q, (1 - q) - factor * (1 - p)) - SAFE))

    def largest(self, q: Floats, value: float) -> Floats:
        """The largest probability at a delta."""
        return EpsilonAt(value).largest(q, self.epsilon)


@dataclass(frozen=True)
class GaussianTradeoff:
    """Mu of Gaussian differential privacy: no event tells more than one of N(mu, 1) against N(0, 1) (Dong, Roth and Su 2022).

    The trade-off function is its own inverse, so that complement and exchange of the data sets add nothing.

    >>> f"{GaussianTradeoff().least(np.array(0.6915), np.array(0.3085)):.3f}"
    '1.000'
    """

    def least(self, p: Floats, q: Floats) -> Floats:
        """The least mu."""
        with np.errstate(invalid="ignore"):
            found = np.where(p > q, special().ndtri(p) - special().ndtri(q), 0.0)
        return np.asarray(np.maximum(0.0, found * (1 - SAFE) - SAFE))

    def largest(self, q: Floats, value: float) -> Floats:
        """The largest probability at a mu."""
        return np.asarray(np.clip(special().ndtr(special().ndtri(q) + value + SAFE) * (1 + SAFE), 0.0, 1.0))


@dataclass(frozen=True)
class RenyiOrders:
    """Rényi divergences of some orders, each in units of its own: ``D_a(p, q) <= value * unit`` for every order a and its unit.

    One order in units of 1 is the divergence itself (Mironov 2017).  Several claims ``D_a <= t_a`` hold together where the value is 1 in
    units of t_a.  With every order in units of itself the value is rho of zero-concentrated differential privacy (Bun and Steinke 2016);
    orders that are left out make the value smaller, and what is rejected stays rejected.

    Attributes:
        orders: the orders, from 1 on.
        units: for every order what the divergence is compared with, rounded up.

    >>> f"{RenyiOrders((2.0,), (1.0,)).least(np.array(0.75), np.array(0.25)):.4f}"
    '0.8473'
    """

    orders: tuple[float, ...]
    units: tuple[float, ...]

    def least(self, p: Floats, q: Floats) -> Floats:
        """The least value."""
        p, q = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64))
        above = p > q
        one, other = np.where(above, p, 0.5), np.where(above, q, 0.25)
        with np.errstate(divide="ignore"):
            sides = (np.log(one), np.log1p(-one)), (np.log(other), np.log1p(-other))
        first, second = (_relative_entropy(*pair) for pair in (sides, sides[::-1]))
        best = np.zeros(p.shape)
        for order, unit in zip(self.orders, self.units, strict=True):
            forth, back = first, second
            if order > 1:
                forth = np.maximum(forth, _divergence(sides[0], sides[1], order))
                back = np.maximum(back, _divergence(sides[1], sides[0], order))
            found = np.maximum(forth, back)
            best = np.maximum(best, found / unit if unit > 0 else np.where(found > 0, inf, 0.0))
        return np.asarray(np.where(above, best * (1 - SAFE), 0.0))

    def largest(self, q: Floats, value: float) -> Floats:
        """The largest probability at a value."""
        low, high = np.array(q, dtype=np.float64), np.ones(np.shape(q))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            broken = self.least(middle, q) > value
            low, high = np.where(broken, low, middle), np.where(broken, middle, high)
        return high


def _relative_entropy(left: tuple[Floats, Floats], right: tuple[Floats, Floats]) -> Floats:
    """The divergence of order 1 of two two-valued laws, from the logarithms of their probabilities, or a little less."""
    total, size = np.zeros(np.shape(left[0])), np.zeros(np.shape(left[0]))
    for one, other in zip(left, right, strict=True):
        with np.errstate(invalid="ignore"):
            chance = np.exp(one)
            total += np.where(chance > 0, chance * (one - other), 0.0)
            size += np.where(chance > 0, chance * (np.abs(one) + np.abs(other)), 0.0)
    with np.errstate(invalid="ignore"):
        return np.maximum(0.0, np.where(np.isinf(total), total, total - _ROUNDING * (1 + size)))


def _divergence(left: tuple[Floats, Floats], right: tuple[Floats, Floats], order: float) -> Floats:
    """The Rényi divergence of an order above 1, or a little less."""
    terms, size = [], np.zeros(np.shape(left[0]))
    for one, other in zip(left, right, strict=True):
        with np.errstate(invalid="ignore"):
            term = order * one + (1 - order) * other
        terms.append(np.where(np.isneginf(one), -inf, term))
        size += order * (np.where(np.isinf(one), 0.0, np.abs(one)) + np.where(np.isinf(other), 0.0, np.abs(other)))
    total = np.logaddexp(terms[0], terms[1])
    return np.maximum(0.0, np.where(np.isinf(total), total, total - _ROUNDING * (1 + size)) / (order - 1))


def _concentrated_orders(count: int) -> RenyiOrders:
    orders = (1.0, *(1 + np.geomspace(1 / 16, 64, count)).tolist())
    return RenyiOrders(orders, orders)


CONCENTRATED: Final = _concentrated_orders(32)
"""Rho, by orders from 1 to 65: between two of them the largest quotient is greater by less than one in two hundred."""
_ROUGHLY_CONCENTRATED: Final = _concentrated_orders(8)


def roughly(tradeoff: Tradeoff) -> Tradeoff:
    """The same with fewer orders, where it is only compared: what it asks for is a little less."""
    return _ROUGHLY_CONCENTRATED if tradeoff == CONCENTRATED else tradeoff
