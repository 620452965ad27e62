"""Privacy loss distributions for Google's `dp_accounting`, from an exact profile.

One distribution that is valid for all neighbours: that of the dominating pair (see `curves`).  Where one pair of situations is worst
at every epsilon, the dominating pair is that pair.  Otherwise it lies above all of them, and so does every composition (Zhu, Dong
and Wang, "Optimal accounting of differential privacy via characteristic function", AISTATS 2022).  The direction does not matter:
neighbours are compared in both, so the profile holds for both.

Losses are rounded up to the accountant's grid by exact comparison, probabilities up to the next float.  So what is handed over
is pessimistic; from there on the accountant computes in floating point.
"""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from math import inf, nextafter
from typing import Any

from flint import arb

from privproof.engines.composition.engine import losses_from_above
from privproof.engines.composition.losses import TooManyLosses
from privproof.engines.monitor import Monitor
from privproof.errors import PrivproofError, QuestionError
from privproof.exact import ZERO, Number, Rational, epsilon, fraction, from_float, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.profiles.curves import Curve
from privproof.profiles.profile import Profile
from privproof.scenarios import ComposedQuestion

_LARGEST_LOSS = 10**7
"""A privacy loss of more intervals is refused with a hint to take a larger interval: accountants keep an array of all of them."""


def composed_loss_distribution(question: ComposedQuestion, *, interval: Number = "1e-3") -> Any:
    """The privacy loss distribution of several uses of functions that are run, as one of `dp_accounting`, to be composed further.

    Args:
        question: what `composed` makes, of lists of a given size.
        interval: the grid of privacy losses.

    Raises:
        PrivproofError: `dp_accounting` is not installed.
        QuestionError: lists of every size are asked about, or the interval is too small.
    """
    module, step = _accountant(), _step(interval)
    try:
        found = losses_from_above(question, epsilon(fraction(from_float(step))), Monitor())
    except TooManyLosses as problem:
        raise QuestionError("interval", str(problem), place="interval", hint="a larger interval") from None
    remove, *add = [
        (
            {losses.least + k: float_above(mass) for k, mass in enumerate(losses.probabilities) if mass != 0},
            float_above(losses.certain),
        )
        for losses in found
    ]
    return module.PrivacyLossDistribution.create_from_rounded_probability(
        *remove,
        step,
        rounded_probability_mass_function_add=add[0][0] if add else None,
        infinity_mass_add=add[0][1] if add else None,
        symmetric=not add,
    )


def privacy_loss_distribution(profile: Profile | Curve, *, interval: Number = "1e-4") -> Any:
    """The privacy loss distribution of a profile, as a `dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution`.

    Args:
        profile: a profile, or the curve of one pair of distributions (then valid for that pair in that direction).
        interval: the grid of privacy losses; a smaller one is more precise and takes longer to compose.

    Raises:
        PrivproofError: `dp_accounting` is not installed.
    """
    module, step = _accountant(), _step(interval)
    losses, infinite = rounded_losses(profile.curve if isinstance(profile, Profile) else profile, from_float(step))
    masses = {loss: float_above(mass) for loss, mass in losses.items()}
    return module.PrivacyLossDistribution.create_from_rounded_probability(masses, float_above(infinite), step)


def _accountant() -> Any:
    try:
        return import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError:
        raise PrivproofError(
            "not-installed",
            "privacy loss distributions are made for dp_accounting, which is not installed",
            place="privacy_loss_distribution",
            hint="pip install 'privproof[accounting]'",
        ) from None


def _step(interval: Number) -> float:
    step = float(rational(interval))
    if not 0 < step < inf:
        raise QuestionError(
            "interval", f"interval={interval} is not positive", place="interval", hint='interval="1e-4"'
        )
    return step


def rounded_losses(curve: Curve, step: Rational) -> tuple[dict[int, Rational], Rational]:
    """The probability of every privacy loss ``ln(P(o)/Q(o))``, in steps rounded up, and that of an infinite loss.

    >>> q = rational
    >>> rounded_losses(Curve.of([(q("1/2"), q("1/4")), (q("1/4"), q("3/4")), (q("1/4"), q(0))]), q("1/2"))
    ({2: 1/2, -2: 1/4}, 1/4)
    """
    losses: dict[int, Rational] = {}
    infinite = ZERO
    for p, q in curve.likelihoods:
        if q == 0:
            infinite += p
        else:
            loss = _steps(p / q, step)
            losses[loss] = losses.get(loss, ZERO) + p
    return losses, infinite


def _steps(ratio: Rational, step: Rational) -> int:
    """The smallest whole number of steps that is at least ln(ratio); it is never an exact multiple unless the ratio is 1."""
    if ratio == 1:
        return 0
    bits = 64
    while True:
        with precision(bits):
            low, high = rational_bounds(arb(ratio).log() / arb(step))
        if low.ceil() == high.ceil():
            steps = int(low.ceil())
            if abs(steps) > _LARGEST_LOSS:
                raise QuestionError(
                    "interval", f"a privacy loss of {steps} intervals", place="interval", hint="a larger interval"
                )
            return steps
        bits *= 2


def float_above(value: Rational) -> float:
    """The smallest float that is at least the value.

    >>> float_above(rational("1/2")), float_above(rational("1/10")) >= 0.1
    (0.5, True)
    """
    exact = fraction(value)
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else nextafter(nearest, inf)
