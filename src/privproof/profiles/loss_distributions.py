"""Privacy loss distributions for Google's `dp_accounting`, from an exact profile.

One distribution that is valid for all neighbours: that of the dominating pair (see `curves`).  Where one pair of situations is worst
at every epsilon, the dominating pair is that pair.  Otherwise it lies above all of them, and so does every composition (Zhu, Dong
and Wang, "Optimal accounting of differential privacy via characteristic function", AISTATS 2022).  The direction does not matter:
neighbours are compared in both, so the profile holds for both.

Losses are rounded up to the accountant's grid by exact comparison, probabilities up to the next float.  So what is handed over
is pessimistic.  An optimistic distribution is that of one pair of neighbours, with losses and probabilities rounded down: no composition
of as many uses, on that pair, has less.  From there on the accountant computes in floating point.
"""

from __future__ import annotations

from importlib import import_module
from math import inf
from typing import Any

from flint import arb

from privproof.engines.composition.composed_losses import TooManyLosses
from privproof.engines.composition.composition_engine import losses_from_above, losses_from_below
from privproof.engines.search_monitor import Monitor
from privproof.errors import PrivproofError, QuestionError
from privproof.exact import ZERO, EpsilonLike, Number, Rational, epsilon, fraction, from_float, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.rounding import float_above, float_below
from privproof.profiles.delta_curves import Curve
from privproof.profiles.profile import Profile
from privproof.scenarios import ComposedQuestion

_LARGEST_LOSS = 10**7
"""A privacy loss of more intervals is refused with a hint to take a larger interval: accountants keep an array of all of them."""


def composed_loss_distribution(
    question: ComposedQuestion, *, interval: Number = "1e-3", pessimistic: bool = True, at: EpsilonLike = 1
) -> Any:
    """The privacy loss distribution of several uses of functions that are run, as one of `dp_accounting`, to be composed further.

    Args:
        question: what `composed` makes, of lists of a given size.
        interval: the grid of privacy losses.
        pessimistic: whether deltas are at least the true ones, or at most those of one pair of neighbours.
        at: that pair is the one with the largest delta at this epsilon.

    Raises:
        PrivproofError: `dp_accounting` is not installed.
        QuestionError: lists of every size are asked about, or the interval is too small.
    """
    module, step = _accountant(), _step(interval)
    grid, monitor = epsilon(fraction(from_float(step))), Monitor()
    try:
        if pessimistic:
            found = losses_from_above(question, grid, monitor)
        else:
            found = (losses_from_below(question, grid, epsilon(at), monitor),)
    except TooManyLosses as problem:
        raise QuestionError("interval", str(problem), place="interval", hint="a larger interval") from None
    rounded = float_above if pessimistic else float_below
    remove, *add = [
        (
            {losses.least + k: rounded(mass) for k, mass in enumerate(losses.probabilities) if mass != 0},
            rounded(losses.certain),
        )
        for losses in found
    ]
    return module.PrivacyLossDistribution.create_from_rounded_probability(
        *remove,
        step,
        pessimistic,
        rounded_probability_mass_function_add=add[0][0] if add else None,
        infinity_mass_add=add[0][1] if add else None,
        symmetric=not add,
    )


def privacy_loss_distribution(
    profile: Profile | Curve, *, interval: Number = "1e-4", pessimistic: bool = True, at: EpsilonLike = 0
) -> Any:
    """The privacy loss distribution of a profile, as a `dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution`.

    Args:
        profile: a profile, or the curve of one pair of distributions (then valid for that pair in that direction).
        interval: the grid of privacy losses; a smaller one is more precise and takes longer to compose.
        pessimistic: whether deltas are at least the true ones, or at most those of one pair of neighbours.
        at: that pair is one with the largest delta at this epsilon, unless there is one that is worst everywhere.

    Raises:
        PrivproofError: `dp_accounting` is not installed.
    """
    module, step = _accountant(), _step(interval)
    if isinstance(profile, Curve):
        curve = profile
    else:
        curve = profile.curve if pessimistic else profile.pair_at(at)
    losses, infinite = rounded_losses(curve, from_float(step), up=pessimistic)
    rounded = float_above if pessimistic else float_below
    masses = {loss: rounded(mass) for loss, mass in losses.items()}
    return module.PrivacyLossDistribution.create_from_rounded_probability(masses, rounded(infinite), step, pessimistic)


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


def rounded_losses(curve: Curve, step: Rational, *, up: bool = True) -> tuple[dict[int, Rational], Rational]:
    """The probability of every privacy loss ``ln(P(o)/Q(o))``, in steps rounded up (or down), and that of an infinite loss.

    >>> q = rational
    >>> rounded_losses(Curve.of([(q("1/2"), q("1/4")), (q("1/4"), q("3/4")), (q("1/4"), q(0))]), q("1/2"))
    ({2: 1/2, -2: 1/4}, 1/4)
    >>> rounded_losses(Curve.of([(q("1/2"), q("1/4")), (q("1/2"), q("3/4"))]), q("1/2"), up=False)
    ({1: 1/2, -1: 1/2}, 0)
    """
    losses: dict[int, Rational] = {}
    infinite = ZERO
    for p, q in curve.likelihoods:
        if q == 0:
            infinite += p
        else:
            loss = _steps(p / q, step) if up else -_steps(q / p, step)
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
