"""Claims about Rényi divergences: what moving entries costs under the noise, and how much a quilt may tell beside it.

A claim bounds the divergence of one order a, ``D_a <= value``, or all of them, ``D_a <= value a`` for every a above 1 (*rho*).

**Theorem.** Let Q be a quilt of X_i whose influence is I, and let N_a be the largest ``D_a`` of the noise and the noise moved as far as the
n entries between take the answer.  Then ``D_a(released | x, released | x') <= R_a(I) + N_a``, where R_a(I) is the divergence of
randomised response with parameter I.

*Proof.* Let q be the values of Q and of everything beyond it.  By the chain rule the moment ``sum of P^a P'^(1-a)`` of (q, released) is at
most that of q times the largest one of what is released given q.  The law of what is beyond given Q is the same on both sides, so the
first is that of Q alone.  Its ratios lie between ``e^-I`` and ``e^I``, so both laws come by one channel from randomised response (Kairouz,
Oh and Viswanath 2015).  Given q both laws of the answer are mixtures, over the entries between, of noise around answers that are no
further apart than these n entries move it; the divergence of mixtures with common weights is at most the largest of their members' (joint
quasi-convexity; van Erven and Harremoës 2014), and any coupling of the entries has common weights.  Leaving q out lowers the
divergence. QED

Moved by d, the moments ``e^((a-1) D_a)`` are, and they rise with d:

* Laplace noise of scale b, e = d/b: ``(a e^((a-1) e) + (a-1) e^(-a e)) / (2a-1)``;
* geometric noise, d steps, with ``s = alpha^(1-a)``, ``t = alpha^a``: ``(s^d (s - t alpha) + t^d (s alpha - t)) / ((1 + alpha)(s - t))``;
* discrete Gaussian noise of variance v, in whole steps: at most ``e^(a(a-1) d^2/2v)`` (Canonne, Kamath and Steinke 2020).

The first two are convex in d, at least 1, and 1 at 0, hence they rise.  For rho ``R_a(I) <= a I tanh(I/2)``, and so with the largest loss
e of Laplace or geometric noise in the place of I (Bun and Steinke 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, inf, log1p, tanh

from flint import arb, ctx

from privproof_checker.numbers import ONE, Epsilon, Rational, epsilon
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import text
from privproof_checker.release.release_losses import Allowance, Gaussian, GeometricNoise, Laplace, Noise

_BITS = 192
"""The precision at which divergences are compared with the claim; what it leaves open is refused."""
_HALVINGS = 80
"""Bisections for the influence that is left: more than floats have digits."""
_SHRUNK = (1e-13, 1e-10, 1e-7)
"""The influence that floats find is taken to be smaller by one of these shares, the first for which balls show that it is allowed."""
_GRID = 1 << 64
"""It is a multiple of the inverse of this number."""
_LARGEST_LOSS = 100_000
"""Losses beyond this are refused: nothing that noise hides is as large."""


@dataclass(frozen=True)
class Bound:
    """A claim about divergences: of one order, or (None) of all orders above 1, each within the value times the order."""

    order: Rational | None
    value: Epsilon

    def __str__(self) -> str:
        shown = self.value.show()
        return f"rho = {shown}" if self.order is None else f"Rényi divergence {shown} of order {text(self.order)}"


def response(order: Rational | None, loss: arb) -> arb:
    """The divergence of randomised response with a loss, at the current precision; of all orders, divided by the order, the largest.

    >>> response(None, arb(2)).str(5, radius=False), response(Rational(2), arb(1)).str(5, radius=False)
    ('1.5232', '0.73533')
    """
    if order is None or order == 1:
        return loss * (loss / 2).tanh()
    more = arb(order - 1)
    share = 1 / (1 + (-loss).exp())
    return (share * (more * loss).exp() + (1 - share) * (-more * loss).exp()).log() / more


def moved_moment(noise: Noise, order: Rational, distance: Rational) -> arb:
    """A bound on ``e^((a-1) D_a)`` of noise and noise moved by a distance, for an order above 1.

    >>> moved_moment(Laplace(Rational(1)), Rational(2), Rational(1)).str(5, radius=False)
    '1.8573'
    """
    a = arb(order)
    if isinstance(noise, Gaussian):
        return (a * (a - 1) * arb(distance) ** 2 / (2 * arb(noise.variance))).exp()
    if isinstance(noise, Laplace):
        loss = arb(distance) / arb(noise.scale)
        return (a * ((a - 1) * loss).exp() + (a - 1) * (-a * loss).exp()) / (2 * a - 1)
    steps, alpha = _steps(noise, distance), arb(noise.alpha)
    s, t = alpha ** (1 - a), alpha**a
    return (s**steps * (s - t * alpha) + t**steps * (s * alpha - t)) / ((1 + alpha) * (s - t))


def moved_noise(noise: Noise, order: Rational, distance: Rational) -> arb:
    """A bound on the divergence of an order, from 1 on, of noise and noise moved by a distance.

    >>> moved_noise(GeometricNoise(Rational(1, 2), Rational(1)), Rational(1), Rational(1)).str(5, radius=False)
    '0.23105'
    """
    if order != 1:
        return moved_moment(noise, order, distance).log() / arb(order - 1)
    if isinstance(noise, Gaussian):
        return arb(distance) ** 2 / (2 * arb(noise.variance))
    if isinstance(noise, Laplace):
        loss = arb(distance) / arb(noise.scale)
        return loss - 1 + (-loss).exp()
    steps, alpha = _steps(noise, distance), arb(noise.alpha)
    return -alpha.log() * (steps - 2 * alpha * (1 - alpha**steps) / (1 - alpha * alpha))


def _steps(noise: GeometricNoise, distance: Rational) -> int:
    """A distance in whole steps, rounded up."""
    steps = distance / noise.step
    return int(-(-steps.p // steps.q))


@dataclass(frozen=True, kw_only=True)
class DivergenceAllowance(Allowance):
    """A claim about divergences, the noise, and how far one entry moves the query.

    Attributes:
        bound: the claim.
        single: whether one number is released; several have noise of their own each.

    >>> from privproof_checker.numbers import rational
    >>> half = Bound(None, epsilon("1/2"))
    >>> allowance = DivergenceAllowance(half.value, ONE, Gaussian(rational(100), ONE), squared=ONE, bound=half, single=True)
    >>> allowance.affords(ONE, 10), allowance.affords(ONE, 11), allowance.affords(rational(2), 5), allowance.affords(rational(3), 5)
    (True, False, True, False)
    """

    bound: Bound
    single: bool

    def left(self, entries: int) -> arb:
        """An influence that is allowed after so many entries were moved, and nearly the largest; below 0 where none is."""
        rest = self.bound.value.ball(ctx.prec) - self._moved(entries)
        if not rest > 0:
            return arb(-1)
        found = _influence(None if self.bound.order is None else float(arb(self.bound.order)), float(rest.lower()))
        for share in _SHRUNK:
            least = arb(Rational(int(found * (1 - share) * _GRID), _GRID))
            if response(self.bound.order, least) <= rest:
                return least - arb(self.told).log()
        return arb(-1)

    def affords(self, ratio: Rational, entries: int) -> bool | None:
        """Whether an influence ``ln(ratio)`` and moving so many entries are within the claim; None if balls leave it open."""
        with precision(_BITS):
            if ratio * self.told != 1:
                rest = self.left(entries) - arb(ratio).log()
                return True if rest >= 0 else False if rest < 0 else None
            exact = self._exactly_moved(entries)
            if exact is not None:
                return self.bound.value.compare(epsilon(exact)) >= 0
            rest = self.bound.value.ball(_BITS) - self._moved(entries)
            return True if rest >= 0 else False if rest < 0 else None

    def affords_distance(self, ratio: Rational, distance: Rational) -> bool | None:
        """None: distances of laws are compared with an epsilon."""
        refuse("the distance of laws is no evidence about divergences", "evidence.method")

    def _exactly_moved(self, entries: int) -> Rational | None:
        """The same exactly, for Gaussian noise."""
        if not isinstance(self.noise, Gaussian):
            return None
        order = ONE if self.bound.order is None else self.bound.order
        return order * self.squared * entries**2 / (2 * self.noise.variance)

    def _moved(self, entries: int) -> arb:
        """The divergence of the noise and the noise moved as far as so many entries take the answer; for rho, divided by the order."""
        exact = self._exactly_moved(entries)
        if exact is not None:
            return arb(exact)
        if self.bound.order is not None and self.single:
            return moved_noise(self.noise, self.bound.order, self.moved * entries)
        loss = self.noise.rate() * arb(self.moved * entries)
        if not loss < _LARGEST_LOSS:
            refuse("the loss of the noise is too large", "question.of.noise")
        return response(self.bound.order, loss)


def _influence(order: float | None, rest: float) -> float:
    """About the largest influence whose randomised response has at most this divergence."""

    def told(loss: float) -> float:
        if order is None or order == 1:
            return loss * tanh(loss / 2)
        more = order - 1
        if order * loss < 1:  # where logarithms nearly cancel
            return log1p(-expm1(-more * loss) * expm1(order * loss) / (1 + exp(loss))) / more
        return loss + (log1p(exp(-loss - 2 * more * loss)) - log1p(exp(-loss))) / more

    low, high = 0.0, 1.0
    while told(high) <= rest and high < inf:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if told(middle) <= rest else (low, middle)
    return min(low, float(_LARGEST_LOSS))


def within_bound(bound: Bound, found: arb, order: Rational) -> bool:
    """Whether a divergence of an order is surely within a claim."""
    return bool(found <= bound.value.ball(_BITS) * (arb(order) if bound.order is None else 1))


def least_value(bound: Bound, found: arb, order: Rational) -> Epsilon:
    """The least value of a claim that a divergence of an order allows, rounded down."""
    low, _ = rational_bounds(found / arb(order) if bound.order is None else found)
    return epsilon(max(Rational(int((low * 10**15).floor()), 10**15), Rational(0)))
