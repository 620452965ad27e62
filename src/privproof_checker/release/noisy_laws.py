"""Divergences of noisy sums: the laws of what is released given two values of an entry, their moments enclosed.

With geometric or discrete Gaussian noise what is released lies on the grid of the noise.  At its points from the least to the greatest sum
(and, with Gaussian noise, some way beyond) both probabilities P and Q are enclosed, and ``P^a Q^(1-a)`` is added up.  Beyond,

* geometric noise makes every further term alpha times the one before, exactly;
* Gaussian noise of variance v: let M and N be the greatest sums of the two sides and p the probability of N.  Beyond M and N the first side
  has at most the noise around M, the second one at least p times the noise around N, so a term is at most ``p^(1-a) e^(a(a-1)(M-N)^2/2v)``
  times the noise around ``c = a M + (1-a) N``, and these fall beyond c by a factor that falls itself.  On the left likewise.

With Laplace noise the line is cut into pieces, whose probabilities have no larger divergence than the laws: a bound from below.

*All orders.*  With s the difference of what the two values weigh, let L be the largest logarithm of the ratio of the laws of the sum of all
other entries.  By the chain rule ``D_a <= L + N_a(s)``, N_a that of noise moved by s.  Divergences rise with the order.  So if orders
``1 = a_0 < a_1 < ... < a_m`` have ``D_(a_(k+1)) <= rho a_k`` and ``L <= (rho - s^2/2v) a_m`` (with geometric noise, ``L + rate s <= rho
a_m``), then ``D_a <= rho a`` for all a above 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from flint import arb, arb_poly

from privproof_checker.numbers import ONE, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import refuse, within
from privproof_checker.release.release_events import noise_mass_between
from privproof_checker.release.release_losses import Gaussian, GeometricNoise, Laplace, Noise
from privproof_checker.release.sum_laws import Laws, SumLaw, Sums

BITS = 768
"""The precision of the laws and of their moments: tails are far below 2^-192."""
_MOMENT_BITS = 160
"""The precision at which terms of a moment are added up: all are positive, and their logarithms are known more precisely."""
_MOST_POINTS = 60_000
"""Points of the grid at which the laws of one node are enclosed; more are refused."""
_MOST_TERMS = 40_000_000
"""Terms of all moments together; more are refused."""
_SMALL = 60
"""The tails of Gaussian noise are cut where they are below e^-60."""
_PIECES = 8
"""Pieces of the line, with Laplace noise, for one unit of the sum."""


@dataclass(frozen=True)
class Released:
    """What is released given two values of an entry: logarithms of both probabilities at the same points, and where they end.

    Attributes:
        left: the logarithms on the left.
        right: the logarithms on the right.
        ends: both laws of the sum, in steps of the noise.
        first: the first point, in steps of the noise.
        noise: the noise.
        total: with Gaussian noise, the sum of its weights.
    """

    left: Sequence[arb]
    right: Sequence[arb]
    ends: tuple[SumLaw, SumLaw]
    first: int
    noise: Noise
    total: arb

    def at_least(self, order: Rational) -> arb:
        """A bound from below on the divergence of an order."""
        exact = isinstance(self.noise, GeometricNoise)  # then what lies beyond is known
        if order != 1:
            return (self._moment(order) + (self._tails(order) if exact else 0)).log() / arb(order - 1)
        told = sum(((p - q) * p.exp() for p, q in zip(self.left, self.right, strict=True)), arb(0))
        if isinstance(self.noise, GeometricNoise):
            alpha = arb(self.noise.alpha)
            ends = ((self.left[k] - self.right[k]) * self.left[k].exp() for k in (0, -1))
            return told + sum(ends, arb(0)) * alpha / (1 - alpha)
        rest = (1 - sum((p.exp() for p in self.left), arb(0))).upper()
        if not rest < arb(1) / 3:
            refuse("too much lies beyond the points", "evidence")
        return told + (rest * rest.log() if rest > 0 else arb(0))

    def at_most(self, order: Rational) -> arb:
        """A bound from above on the divergence of an order above 1."""
        if isinstance(self.noise, Laplace):
            refuse("with Laplace noise laws bound divergences from below", "evidence.method")
        return (self._moment(order) + self._tails(order)).log() / arb(order - 1)

    def _moment(self, order: Rational) -> arb:
        """The terms at the points."""
        with precision(_MOMENT_BITS):
            a, b = arb(order), arb(1 - order)
            return sum(((p * a + q * b).exp() for p, q in zip(self.left, self.right, strict=True)), arb(0))

    def _tails(self, order: Rational) -> arb:
        """The terms beyond them: exactly with geometric noise, a bound with Gaussian noise."""
        return self._beyond(order, upwards=True) + self._beyond(order, upwards=False)

    def _beyond(self, order: Rational, *, upwards: bool) -> arb:
        """A bound on the terms beyond the points, on one side."""
        a = arb(order)
        if isinstance(self.noise, GeometricNoise):
            place = -1 if upwards else 0
            last = (self.left[place] * a + self.right[place] * (1 - a)).exp()
            alpha = arb(self.noise.alpha)
            return last * alpha / (1 - alpha)
        assert isinstance(self.noise, Gaussian)
        one, other = self.ends
        variance = arb(self.noise.variance / (self.noise.step * self.noise.step))
        most, least = (one.high, other.high) if upwards else (-one.low, -other.low)
        edge = self.first + len(self.left) if upwards else 1 - self.first  # the first point beyond
        away = edge - (order * most + (1 - order) * least)
        if not away > 0 or edge < max(most, least):
            refuse("the points do not reach far enough for this order", "evidence")
        share = arb(other.terms[-1] if upwards else other.terms[0]) / arb(other.mass)
        factor = ((1 - a) * share.log() + a * (a - 1) * (most - least) ** 2 / (2 * variance)).exp() / self.total
        first = (-(arb(away) ** 2) / (2 * variance)).exp()
        falls = (-(2 * arb(away) + 1) / (2 * variance)).exp()
        return factor * first / (1 - falls)


def released_pairs(
    found: Sums, noise: Noise, order: Rational, nodes: Collection[Any]
) -> Iterator[tuple[Any, str, str, Released]]:
    """For some nodes and every ordered pair of their values what is released, far enough out for all orders up to one."""
    if found.counts is not None:
        refuse("divergences of laws are those of sums", "question.of.query")
    for node, laws in found.balls(nodes):
        if len(laws) < 2:
            continue
        known, first, total = _released_laws(laws, found.unit, noise, order)
        for x, (one, left) in known.items():
            for y, (other, right) in known.items():
                if x != y:
                    yield node, x, y, Released(left, right, (one, other), first, noise, total)


def _released_laws(
    laws: Laws, unit: Rational, noise: Noise, order: Rational
) -> tuple[dict[str, tuple[SumLaw, Sequence[arb]]], int, arb]:
    """For every value the law of the sum in steps of the noise and the logarithms of what is released; the first point; all weights."""
    low, high = min(law.low for law in laws.values()), max(law.high for law in laws.values())
    if isinstance(noise, Laplace):
        return {value: (law, _pieces(law, low, high, unit, noise)) for value, law in laws.items()}, 0, arb(1)
    finer = unit / noise.step
    if finer.q != 1:
        refuse("the sums are no multiples of the step of the noise", "question.of.noise.step")
    times = int(finer.p)
    spaced = {value: _refine_grid(law, times) for value, law in laws.items()}
    low, high = low * times, high * times
    reach = 0 if isinstance(noise, GeometricNoise) else _reach(spaced, noise, order)
    span = high - low + reach
    within(2 * span + high - low, _MOST_POINTS, "points of the laws", "question.of.noise")
    weights, total = _weights(noise, span)
    shape = arb_poly(weights[:0:-1] + weights)
    result: dict[str, tuple[SumLaw, Sequence[arb]]] = {}
    for value, law in spaced.items():
        product = (shape * arb_poly(list(law.terms))).coeffs()
        first = low - reach - law.low + span  # the coefficient of the noise is at `span` where it is 0
        points = product[first : first + high - low + 2 * reach + 1]
        scale = 1 / (arb(law.mass) * total)
        logs = [(point * scale).log() for point in points]
        if not all(each.is_finite() for each in logs):
            refuse("the tails of the laws are too small for their precision", "question.of.noise")
        result[value] = (law, logs)
    return result, low - reach, total


def _refine_grid(law: SumLaw, times: int) -> SumLaw:
    """A law on a finer grid."""
    terms = [arb(0)] * ((len(law.terms) - 1) * times + 1)
    terms[::times] = list(law.terms)
    return SumLaw(law.low * times, terms, law.mass)


def _reach(laws: Laws, noise: Gaussian, order: Rational) -> int:
    """How far beyond all sums the points go."""
    variance = float(arb(noise.variance / (noise.step * noise.step)))
    more = float(arb(order)) - 1
    ends = [term for law in laws.values() for term in (law.terms[0] / law.mass, law.terms[-1] / law.mass)]
    rarest = max(float(-end.log()) for end in ends)
    lows, highs = [law.low for law in laws.values()], [law.high for law in laws.values()]
    apart = max(max(each) - min(each) for each in (lows, highs))
    needed = 2 * variance * (more * rarest + _SMALL) + (more + 1) * more * apart**2
    return int(needed**0.5 + (more + 1) * apart) + 2


def _weights(noise: GeometricNoise | Gaussian, span: int) -> tuple[list[arb], arb]:
    """The weights of the noise from 0 steps on, and the sum of all weights."""
    if isinstance(noise, GeometricNoise):
        alpha = arb(noise.alpha)
        weights = [arb(1)]
        for _ in range(span):
            weights.append(weights[-1] * alpha)
        return weights, (1 + alpha) / (1 - alpha)
    scale = -1 / (2 * arb(noise.variance / (noise.step * noise.step)))
    weights = [(scale * k * k).exp() for k in range(span + 1)]
    first, falls = (scale * (span + 1) ** 2).exp(), (scale * (2 * span + 3)).exp()
    beyond = (2 * first / (1 - falls)).union(arb(0))
    return weights, weights[0] + 2 * sum(weights[1:], arb(0)) + beyond


def _pieces(law: SumLaw, low: int, high: int, unit: Rational, noise: Laplace) -> list[arb]:
    """The logarithms of the probabilities of pieces of the line, from the least sum to the greatest, and of what lies beyond."""
    cuts: list[Rational | None] = [
        None,
        *(unit * Rational(k, _PIECES) for k in range(low * _PIECES, high * _PIECES + 1)),
        None,
    ]
    within((len(cuts) - 1) * len(law.terms), _MOST_POINTS * _PIECES, "pieces of the line", "question.of.noise")
    result = []
    for start, end in pairwise(cuts):
        total = arb(0)
        for place, term in enumerate(law.terms, law.low):
            if not term.is_zero():
                centre = unit * place
                ends = (None if cut is None else cut - centre for cut in (start, end))
                total += term * noise_mass_between(noise, *ends)
        result.append((total / arb(law.mass)).log())
    return result


def told_by_others(one: SumLaw, other: SumLaw, moved: int) -> arb | None:
    """The largest logarithm of a ratio of the laws of what all other entries add, where the first value weighs so much more.

    None where it is infinite.

    >>> told_by_others(SumLaw(1, [arb(1), arb(3)], arb(4)), SumLaw(0, [arb(1), arb(1)], arb(2)), 1).exp().str(5, radius=False)
    '1.5000'
    """
    if one.low - moved < other.low or one.high - moved > other.high:
        return None
    most = arb(0)
    for place, term in enumerate(one.terms, one.low - moved):
        below = other.terms[place - other.low]
        if term.is_zero():
            continue
        if not below > 0:
            return None
        most = most.max(((term / arb(one.mass)) / (below / arb(other.mass))).log())
    return most


def limit_terms(terms: int) -> None:
    """Refuse more terms than are added up in good time."""
    within(terms, _MOST_TERMS, "terms of moments", "evidence")


def whole_order(order: Rational) -> Rational:
    """An order above 1 whose divergence is no smaller: for 1 itself one nearby."""
    return ONE + Rational(1, 1024) if order == 1 else order
