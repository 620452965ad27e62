"""Noise from what a unit of distance may cost, and how far it takes an answer from the truth."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from flint import arb

from privproof.errors import BudgetError, QuestionError
from privproof.exact import fraction, rational, simplest
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.rounding import shorten
from privproof.release.influence_costs import upper
from privproof.release.release_question import Gaussian, Geometric, Laplace, Noise
from privproof.release.series_queries import Query

_COARSER = Fraction(1, 10**6)
"""The alpha of geometric noise is the simplest fraction that spends at most this share of the cost too little."""
_FEW = 5_000
"""With fewer steps than this it is decided exactly whether one less is enough; otherwise the error may be stated a step too large."""
_CHEAPEST = 69
"""No step of geometric noise costs more than this: e^-69 is 1e-30."""


def noise_of(rate: Fraction, query: Query, kind: Literal["geometric", "laplace"]) -> Noise:
    """Noise of which a unit of distance costs at most the rate: rounded up, to simple numbers."""
    if kind == "laplace":
        return Laplace(rational(shorten(1 / rate, up=True)))
    if kind != "geometric":
        raise QuestionError("noise", f"unknown noise {kind!r}", place="noise", hint="geometric, laplace")
    step = query.step
    cost = min(rate * fraction(step), Fraction(_CHEAPEST))  # a chance of 1e-30 to differ from the truth at all
    with precision(512):  # costs of a step go down to 1e-80 and further
        least = upper((-arb(rational(cost))).exp())
        most = upper((-arb(rational(cost * (1 - _COARSER)))).exp())
    return Geometric.of(simplest(least, most), step=step)


def expected_error(query: Query, noise: Noise, entries: int) -> Fraction:
    """The expected distance, over all components, after a division if there is one."""
    components = len(query.bins) if query.kind == "histogram" else 1
    return fraction(noise.expected) * components / (entries if query.divided else 1)


def accuracy(noise: Noise, beta: Fraction, divisor: int = 1) -> Fraction:
    """A distance that the noise exceeds with probability at most beta.

    For Laplace noise ``scale ln(1/beta)``; for Gaussian noise ``deviation sqrt(2 ln(2/beta))``; for geometric noise the least t with
    ``2 alpha^(t+1)/(1+alpha) <= beta`` steps.
    """
    if not 0 < beta < 1:
        raise BudgetError("beta", f"it is {beta}", place="beta", hint="between 0 and 1, such as 1/20")
    with precision(128):
        if isinstance(noise, Laplace):
            return upper(arb(noise.scale) * -arb(rational(beta)).log()) / divisor
        if isinstance(noise, Gaussian):
            return upper((-2 * arb(noise.variance) * (arb(rational(beta)) / 2).log()).sqrt()) / divisor
        alpha = arb(noise.alpha)
        wanted = ((arb(rational(beta)) * (1 + alpha) / 2).log() / alpha.log() - 1).ceil()
        steps = max(0, int(rational_bounds(wanted)[1]))
    exact = fraction(noise.alpha)
    if 0 < steps < _FEW and 2 * exact**steps <= beta * (1 + exact):
        steps -= 1  # the ball could not tell that the smaller one is enough
    return steps * fraction(noise.step) / divisor
