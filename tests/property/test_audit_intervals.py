"""Bounds from counts hold as often as they say: coverage by adding up all binomial probabilities exactly, without any sampling."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, inf, log

import numpy as np
import pytest
from flint import arb, ctx

from privproof.audits.sampling.confidence_intervals import at_least, at_most, epsilon_at_least, loss

ALPHAS = (0.5, 0.25, 0.1, 0.05, 0.01, 1e-6)
PROBABILITIES = tuple(
    map(Fraction, ("0", "1/1000000000", "1/1000", "1/50", "1/10", "1/4", "1/3", "1/2", "2/3", "9/10", "999/1000", "1"))
)
DELTAS = tuple(map(Fraction, ("0", "1/100", "1/10")))
SMALL = (1, 2, 5, 12)
LARGE = (100, 12_345, 10**6, 10**7)


@cache
def binomial(runs: int, probability: Fraction) -> tuple[tuple[int, ...], int]:
    """How likely every count is, exactly: whole numbers, and what they are of."""
    yes, whole = probability.as_integer_ratio()
    return tuple(comb(runs, k) * yes**k * (whole - yes) ** (runs - k) for k in range(runs + 1)), whole**runs


def reaches(count: int, runs: int, probability: float) -> arb:
    """How likely so many or more are."""
    if count == 0:
        return arb(1)
    return arb(probability).beta_lower(arb(count), arb(runs - count + 1), regularized=True)


def stays(count: int, runs: int, probability: float) -> arb:
    """How likely so many or fewer are."""
    if count == runs:
        return arb(1)
    return (1 - arb(probability)).beta_lower(arb(runs - count), arb(count + 1), regularized=True)


def mass(runs: int, p: Fraction, q: Fraction, wrong: np.ndarray) -> Fraction:
    """How likely two counts are for which something is wrong."""
    (left, all_left), (right, all_right) = binomial(runs, p), binomial(runs, q)
    return Fraction(sum(left[i] * right[j] for i, j in np.argwhere(wrong).tolist()), all_left * all_right)


def above(numbers: np.ndarray, truth: Fraction) -> np.ndarray:
    """Which numbers are larger than a fraction, exactly: beside the float nearest to it, that float itself would tell."""
    nearest = float(truth)
    return (numbers > nearest) | ((numbers == nearest) & (Fraction(nearest) > truth))


def counts(runs: int) -> tuple[np.ndarray, np.ndarray]:
    """All counts on the left down, on the right across."""
    every = np.arange(runs + 1)
    return every[:, None], every[None, :]


@pytest.fixture
def bits():
    before = ctx.prec
    ctx.prec = 160
    yield
    ctx.prec = before


# ---------------------------------------------------------------------------------------------------- one probability


@pytest.mark.parametrize("runs", [1, 2, 3, 5, 10, 25])
def test_a_bound_on_a_probability_is_wrong_at_most_as_often_as_it_says(runs):
    every = np.arange(runs + 1)
    fine = {*PROBABILITIES, *(Fraction(k, 40) for k in range(41))}
    for alpha in ALPHAS:
        lower, upper = at_least(every, runs, alpha), at_most(every, runs, alpha)
        bounds = [*lower.tolist(), *upper.tolist()]
        near = {Fraction(x) + shift for x in bounds for shift in (0, Fraction(1, 10**12), -Fraction(1, 10**12))}
        for p in fine | {x for x in near if 0 <= x <= 1}:
            likely, whole = binomial(runs, p)
            for wrong in (above(lower, p), above(-upper, -p)):
                assert sum(likely[k] for k in np.flatnonzero(wrong)) <= Fraction(alpha) * whole


@pytest.mark.parametrize("runs", [1, 2, 7, *LARGE])
def test_bounds_lie_on_the_safe_side_of_the_exact_tails_and_close_to_them(runs, bits):
    chosen = {k for k in (0, 1, 2, 30, runs // 3, runs // 2, runs - 30, runs - 1, runs) if 0 <= k <= runs}
    for count, alpha in product(sorted(chosen), (0.5, 0.05, 1e-3, 1e-6)):
        low, high = float(at_least(count, runs, alpha)), float(at_most(count, runs, alpha))
        assert 0 <= low <= count / runs or alpha > 0.05
        assert 0 <= low <= high <= 1
        if count:
            assert reaches(count, runs, low) <= alpha
            assert reaches(count, runs, low * (1 + 1e-8)) >= alpha * (1 - 1e-12)
        else:
            assert low == 0
        if count < runs:
            assert stays(count, runs, high) <= alpha
            assert high == 1 or stays(count, runs, high * (1 - 1e-8)) >= alpha * (1 - 1e-12)
        else:
            assert high == 1


def test_bounds_move_with_counts_and_with_alpha():
    every = np.arange(1001)
    for bound in (at_least, at_most):
        assert (np.diff(bound(every, 1000, 0.05)) >= 0).all()
    for count in (0, 1, 500, 1000):
        levels = np.array([1e-9, 1e-6, 0.01, 0.05, 0.25, 0.5])
        assert (np.diff(at_least(count, 1000, levels)) >= 0).all()
        assert (np.diff(at_most(count, 1000, levels)) <= 0).all()


# --------------------------------------------------------------------------------------------------- epsilon and delta


@pytest.mark.parametrize("runs", SMALL)
def test_a_bound_on_epsilon_is_wrong_at_most_as_often_as_it_says(runs, bits):
    left, right = counts(runs)
    for alpha, delta in product(ALPHAS, DELTAS):
        bound = epsilon_at_least(left, right, runs, alpha, float(delta))
        assert (bound >= 0).all()
        assert np.isfinite(bound).all()
        ratios = np.array([[arb(x).exp() for x in row] for row in bound.tolist()], dtype=object)
        for p, q in product(PROBABILITIES, repeat=2):
            if q == 0 and p > delta:
                continue  # there is no epsilon, and every bound holds
            least = max(p - delta, Fraction(0))
            target = (
                max(arb(1), arb(least.numerator) / least.denominator / (arb(q.numerator) / q.denominator))
                if q
                else arb(1)
            )
            wrong = np.array([[bool(ratio > target) for ratio in row] for row in ratios])
            assert mass(runs, p, q, wrong) <= Fraction(alpha), (alpha, delta, p, q)


def test_counts_that_say_nothing_give_zero():
    for left, right in ((0, 0), (0, 1000), (500, 500), (1000, 1000), (3, 2)):
        assert float(epsilon_at_least(left, right, 1000, 0.05)) == 0.0
    assert float(epsilon_at_least(1000, 0, 1000, 0.05, 1.0)) == 0.0


def test_the_loss_of_a_ratio():
    assert loss(0.0, 0.0) == loss(0.0, 0.5) == -inf
    assert loss(0.5, 0.0) == inf
    assert loss(0.5, 0.25) == pytest.approx(log(2))
