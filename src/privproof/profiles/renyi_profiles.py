"""Rényi divergences, the largest over all neighbours.

For an order alpha > 1

    D_alpha(P || Q) = ln( sum over outputs o of P(o)^alpha Q(o)^(1 - alpha) ) / (alpha - 1),

for alpha = 1 the Kullback-Leibler divergence ``sum P(o) ln(P(o) / Q(o))``, for infinite alpha the logarithm of the largest ratio, which
is the tight epsilon (Mironov, "Rényi differential privacy", CSF 2017).  For an integer alpha the sum is rational and the
divergence is the logarithm of a rational, divided by alpha - 1; for other orders it is enclosed by ball arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import arb, fmpq, fmpz

from privproof.errors import QuestionError
from privproof.exact import INFINITE, ONE, ZERO, Epsilon, Number, Rational, epsilon, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.profiles.delta_curves import Likelihood
from privproof.profiles.profile import Profile, privacy_profile
from privproof.profiles.profile_games import Game
from privproof.profiles.profile_pairs import PairTable
from privproof.scenarios import Question

Bounds: TypeAlias = tuple[Rational, Rational]
_LARGEST_ORDER = 10_000
"""The largest order that likelihood ratios are raised to; beyond, it is refused: the order inf is the tight epsilon."""


@dataclass(frozen=True)
class Divergence:
    """A Rényi divergence: the order (None for infinite), and bounds that are equal where it is known exactly."""

    order: Rational | None
    lower: Epsilon
    upper: Epsilon

    @property
    def exact(self) -> Epsilon | None:
        """The divergence where it is known exactly."""
        return self.lower if self.lower.compare(self.upper) == 0 else None

    def __str__(self) -> str:
        if self.exact is not None:
            return self.exact.show()
        shown = self.lower.decimal(), self.upper.decimal()
        return f"≈ {shown[0]}" if shown[0] == shown[1] else f"between {shown[0]} and {shown[1]}"


def renyi_divergence(mechanism: Question | Profile, order: Number, *, bits: int = 128) -> Divergence:
    """The largest Rényi divergence of an order between neighbouring situations.

    Args:
        mechanism: a question, or its profile.
        order: an exact number from 1 on, or "inf".
        bits: the precision of the balls, for an order that is not an integer.

    >>> from privproof.library.noisy_max import noisy_max_question
    >>> profile = privacy_profile(noisy_max_question(3, improved=True))
    >>> for order in (1, "3/2", 2, 3, "inf"):
    ...     print(order, renyi_divergence(profile, order))
    1 ≈ 0.280573
    3/2 ≈ 0.426615
    2 ln(191/110) ≈ 0.551793
    3 ln(12643678276/2940784441)/2 ≈ 0.72924
    inf ln(24/7) ≈ 1.23214
    """
    profile = mechanism if isinstance(mechanism, Profile) else privacy_profile(mechanism)
    if isinstance(order, str) and order.strip().lower() in ("inf", "infinity", "∞"):
        tight = profile.epsilon()
        return Divergence(None, tight, tight)
    alpha = rational(order)
    if not 1 <= alpha <= _LARGEST_ORDER:
        raise QuestionError(
            "order",
            f"order={alpha} is outside [1, {_LARGEST_ORDER}]",
            place="order",
            hint="1 is the Kullback-Leibler divergence, inf the tight epsilon",
        )
    if profile.epsilon().infinite:
        return Divergence(alpha, INFINITE, INFINITE)
    if alpha == 1:
        low, high = _largest(profile.compared, lambda p, q: _information(p, q, bits), bits)
        return Divergence(alpha, Epsilon(shift=max(ZERO, low)), Epsilon(shift=max(ZERO, high)))
    if alpha.q == 1:
        power = int(alpha) - 1
        total, _ = _largest(profile.compared, lambda p, q: (p * (p / q) ** power,) * 2, bits)
        exact = epsilon(f"ln({total})/{power}")
        return Divergence(alpha, exact, exact)
    low, high = _largest(profile.compared, lambda p, q: _moment(p, q, alpha, bits), bits)
    lower, upper = (_logarithm(max(ONE, total), alpha, bits) for total in (low, high))
    return Divergence(alpha, Epsilon(shift=max(ZERO, lower[0])), Epsilon(shift=upper[1]))


def _information(p: Rational, q: Rational, bits: int) -> Bounds:
    with precision(bits):
        return rational_bounds(arb(p) * arb(p / q).log())


def _moment(p: Rational, q: Rational, alpha: Rational, bits: int) -> Bounds:
    with precision(bits):
        return rational_bounds(arb(p) * (arb(alpha - 1) * arb(p / q).log()).exp())


def _logarithm(total: Rational, alpha: Rational, bits: int) -> Bounds:
    with precision(bits):
        return rational_bounds(arb(total).log() / arb(alpha - 1))


def _largest(compared: PairTable | Game, term: Callable[[Rational, Rational], Bounds], bits: int) -> Bounds:
    """Bounds on the largest sum of terms over the outcomes of a comparison; `term` is homogeneous, and zero where p is."""

    def ended(pair: Likelihood) -> Bounds:
        return term(*pair) if pair[0] != 0 else (ZERO, ZERO)

    def total(parts: list[Bounds]) -> Bounds:
        return sum((low for low, _ in parts), ZERO), sum((high for _, high in parts), ZERO)

    def best(parts: list[Bounds]) -> Bounds:
        return max(low for low, _ in parts), max(high for _, high in parts)

    if isinstance(compared, Game):
        return compared.value(ended, total, best, lambda value, factor: (value[0] * factor, value[1] * factor))
    # In whole multiples of 2^-bits first, which leaves few rows for the exact sums.
    terms = [ended((fmpq(p), fmpq(q))) for p, q in compared.likelihoods]
    unit = fmpz(2) ** bits
    below = compared.sums([int((low * unit).floor()) for low, _ in terms])
    above = compared.sums([int((high * unit).ceil()) for _, high in terms])
    candidates = np.flatnonzero(above >= below.max())
    low, high = best([total([terms[i] for i in row]) for row in np.unique(compared.rows[candidates], axis=0).tolist()])
    return low / compared.denominator, high / compared.denominator
