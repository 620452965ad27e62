"""Losses: what a distance costs under the noise, and whether a claim affords it.

Noise that is ``rho``-Lipschitz in its logarithm (Laplace: 1/scale; geometric: ln(1/alpha) for every step) turns a
distance d between two answers into a loss of at most ``rho d``.  With influence ``ln(ratio)`` from elsewhere the claim
affords both if ``ln(ratio) + rho d <= epsilon``.  Balls decide where the two sides differ; where they may be equal the
comparison is exact: either both are logarithms of rationals, or they differ by a transcendental number that is not 0.

Discrete Gaussian noise of variance v on every component turns a move of Euclidean length d, in whole steps, into Renyi divergences of
at most ``alpha d^2/2v`` (Canonne, Kamath and Steinke 2020, proposition 5), hence, for every alpha above 1, into a loss of
``alpha d^2/2v + (ln(1/delta) - ln alpha)/(alpha - 1) + ln(1 - 1/alpha)`` beside delta (their proposition 12).  A loss beside delta and
an influence ``ln(ratio)`` of what is known add up as others do: each conditional law keeps ``P <= e^loss Q + delta``, and averaging
over what is known costs the factor ratio before Q alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TypeAlias

from flint import arb

from privproof_checker.numbers import ONE, ZERO, Epsilon, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import text

_MOST_BITS = 20_000_000
"""The bits of the powers that decide exactly what balls leave open; beyond, it stays open, which never speaks for the claim."""
_ROUNDS = 40
"""Rounds of the search for alpha; each halves its error at least."""


@dataclass(frozen=True)
class Laplace:
    """Laplace noise: the density is ``e^(-|w|/scale) / (2 scale)``."""

    scale: Rational

    def rate(self) -> arb:
        """The loss of one unit of distance, at the current precision."""
        return 1 / arb(self.scale)

    def __str__(self) -> str:
        return f"Laplace noise of scale {text(self.scale)}"


@dataclass(frozen=True)
class GeometricNoise:
    """Two-sided geometric noise: k steps with probability ``(1 - alpha)/(1 + alpha) alpha^|k|``."""

    alpha: Rational
    step: Rational

    def rate(self) -> arb:
        """The loss of one unit of distance, at the current precision."""
        return -arb(self.alpha).log() / arb(self.step)

    def __str__(self) -> str:
        return f"geometric noise with alpha = {text(self.alpha)} in steps of {text(self.step)}"


@dataclass(frozen=True)
class Gaussian:
    """Discrete Gaussian noise: a multiple w of the step with a probability proportional to ``e^(-w^2 / (2 variance))``.

    A distance has no largest loss under it: claims have a delta.
    """

    variance: Rational
    step: Rational

    def rate(self) -> arb:
        """None: the loss of a distance has no bound."""
        refuse("Gaussian noise has no largest loss", "question.noise")

    def __str__(self) -> str:
        return f"discrete Gaussian noise of variance {text(self.variance)} in steps of {text(self.step)}"


Noise: TypeAlias = "Laplace | GeometricNoise | Gaussian"


@dataclass(frozen=True)
class Allowance:
    """A claim, the noise, and how far one entry moves the query.

    Attributes:
        epsilon: the claim.
        moved: the most that one entry moves all components together.
        noise: the noise.
        delta: with Gaussian noise, the second part of the claim.
        squared: the square of the most that one entry moves the vector of the components, for Gaussian noise.
        told: an influence, as a ratio, that comes before all others.

    >>> from privproof_checker.numbers import ONE, epsilon, rational
    >>> allowance = Allowance(epsilon("1"), ONE, Laplace(rational(10)))
    >>> allowance.affords(ONE, 10), allowance.affords(ONE, 11), allowance.affords(rational("1.11"), 9)
    (True, False, False)
    >>> Allowance(epsilon("ln(2)"), ONE, GeometricNoise(rational("3/4"), ONE)).affords(rational("3/2"), 1)
    True
    """

    epsilon: Epsilon
    moved: Rational
    noise: Noise
    delta: Rational = ZERO
    squared: Rational = ZERO
    told: Rational = ONE

    def left(self, entries: int) -> arb:
        """What is left of epsilon after so many entries were moved, at the current precision."""
        if isinstance(self.noise, Gaussian):
            return (
                self.claimed()
                - arb(self.told).log()
                - self.beside_delta(self.squared * entries**2 / (2 * self.noise.variance))
            )
        return self.claimed() - arb(self.told).log() - self.noise.rate() * arb(self.moved * entries)

    def beside_delta(self, rho: Rational) -> arb:
        """The loss beside delta of Renyi divergences of at most ``alpha rho``, by a good alpha; every alpha above 1 would do.

        The best one solves ``(alpha - 1)^2 = ln(1/(alpha delta))/rho``; some rounds in floats find a number nearby.
        """
        if rho <= 0 or not 0 < self.delta < 1:
            refuse("with Gaussian noise something is moved, and a claim has a delta between 0 and 1", "question.delta")
        with precision(64):
            size, wanted = max(float(arb(rho)), 1e-300), -float(arb(self.delta).log())
        order = 1 + sqrt(wanted / size)
        for _ in range(_ROUNDS):
            order = (order + 1 + sqrt(max(wanted - log(order), wanted / 1000) / size)) / 2
        alpha = arb(Rational(int(min(order, 1e12) * 2**24) + 1, 2**24))
        loss = alpha * arb(rho) - (arb(self.delta).log() + alpha.log()) / (alpha - 1) + (1 - 1 / alpha).log()
        return loss.max(arb(0))

    def claimed(self) -> arb:
        """Epsilon, at the current precision."""
        return arb(self.epsilon.ratio).log() / self.epsilon.root + arb(self.epsilon.shift)

    def affords(self, ratio: Rational, entries: int) -> bool | None:
        """Whether ``ln(ratio)`` and the cost of so many entries are within epsilon; None if the numbers are too large."""
        if isinstance(self.noise, Gaussian):
            with precision(192):
                rest = self.left(entries) - arb(ratio).log()
                return True if rest >= 0 else False if rest < 0 else None
        return self.affords_distance(ratio * self.told, self.moved * entries)

    def affords_distance(self, ratio: Rational, distance: Rational) -> bool | None:
        """Whether ``ln(ratio)`` and the cost of a distance are within epsilon; None if the numbers are too large."""
        with precision(192):
            rest = self.claimed() - self.noise.rate() * arb(distance) - arb(ratio).log()
            if rest > 0:
                return True
            if rest < 0:
                return False
        assert not isinstance(self.noise, Gaussian)
        if isinstance(self.noise, Laplace):
            spent = Epsilon(ratio=ratio, shift=distance / self.noise.scale)
        else:
            steps = distance / self.noise.step
            times, root = int(steps.p), int(steps.q)
            size = root * _bits(ratio) + times * _bits(self.noise.alpha)
            if size * self.epsilon.root > _MOST_BITS or _bits(self.epsilon.ratio) * root > _MOST_BITS:
                return None
            spent = Epsilon(ratio=ratio**root / self.noise.alpha**times, root=root)
        if _bits(spent.ratio) * self.epsilon.root > _MOST_BITS:
            return None
        return spent.compare(self.epsilon) <= 0


def _bits(value: Rational) -> int:
    return int(max(value.p.bit_length(), value.q.bit_length()))
