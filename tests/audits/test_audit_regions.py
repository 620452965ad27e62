"""The region of two counts misses the truth at most as often as it says: by adding up all binomial probabilities exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, log

import numpy as np
import pytest
from tests.audits.test_audit_intervals import ALPHAS, DELTAS, PROBABILITIES, above, mass

from privproof.audits.sampling.confidence_intervals import epsilon_at_least
from privproof.audits.sampling.confidence_regions import ConfidenceRegion, best_weight
from privproof.audits.sampling.tradeoff_curves import DeltaAt, EpsilonAt

WEIGHTS = (0.0, 0.002, 0.3, 0.9)
CELLS = 40
"""A coarse grid: bounds hold however coarse it is."""


def table(runs: int, weight: float, value) -> np.ndarray:
    """A number for all counts, on the left down, on the right across."""
    every = range(runs + 1)
    return np.array([[value(ConfidenceRegion(i, j, runs, weight)) for j in every] for i in every])


def largest(q: Fraction, factor: int, delta: Fraction) -> Fraction:
    """The largest probability beside another one if an event and its complement keep a budget."""
    return min(Fraction(1), factor * q + delta, 1 - max(Fraction(0), 1 - q - delta) / factor)


@pytest.mark.diagonal
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("runs", [1, 5, 12])
def test_a_bound_on_epsilon_is_wrong_at_most_as_often_as_it_says(runs, weight):
    for alpha, delta in product((0.5, 0.1, 0.01), DELTAS):
        bound = table(runs, weight, lambda region, a=alpha, d=delta: region.epsilon_at_least(a, float(d), CELLS))
        assert ((bound >= 0) & np.isfinite(bound)).all()
        for p, q in product(PROBABILITIES, repeat=2):
            if (q == 0 and p > delta) or (p == 1 and 1 - q > delta):
                continue  # there is no epsilon, and every bound holds
            ratios = [(p - delta) / q if q else 1, (1 - q - delta) / (1 - p) if p < 1 else 1]
            truth = log(max(Fraction(1), *map(Fraction, ratios)))
            assert mass(runs, p, q, bound > truth + 1e-12) <= Fraction(alpha), (alpha, delta, p, q)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_bound_on_delta_is_wrong_at_most_as_often_as_it_says(weight):
    for alpha, factor in product((0.5, 0.05), (1, 2, 10)):
        bound = table(7, weight, lambda region, a=alpha, f=factor: region.at_least(DeltaAt(log(f)), a, CELLS))
        assert ((bound >= 0) & (bound <= 1)).all()
        for p, q in product(PROBABILITIES, repeat=2):
            truth = max(p - factor * q, (1 - q) - factor * (1 - p), Fraction(0))
            assert mass(7, p, q, above(bound - 1e-12, truth)) <= Fraction(alpha), (alpha, factor, p, q)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_small_p_value_is_rare_where_the_budget_is_kept(weight):
    for factor, delta in product((1, 2, 5), DELTAS):
        values = table(
            6, weight, lambda region, f=factor, d=delta: region.p_values(EpsilonAt(float(d)), [log(f)], CELLS)[0]
        )
        assert ((values > 0) & (values <= 1)).all()
        for q in PROBABILITIES:
            p = largest(q, factor, delta)
            for level in sorted({*values.ravel().tolist(), *ALPHAS}):
                assert mass(6, p, q, values <= level) <= Fraction(level) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1])
def test_p_values_rise_with_epsilon(delta):
    grid = np.linspace(0, 12, 25)
    for left, right in product((0, 10, 500, 1000), repeat=2):
        values = ConfidenceRegion(left, right, 1000).p_values(EpsilonAt(delta), grid, CELLS)
        assert (np.diff(values) >= -1e-12).all()


@pytest.mark.diagonal
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(
    ("left", "right", "runs"), [(30, 2, 100), (100, 0, 100), (1000, 0, 1000), (40_000, 900, 100_000)]
)
def test_the_bound_and_the_p_value_are_two_views_of_one_region(left, right, runs, weight):
    region = ConfidenceRegion(left, right, runs, weight)
    for alpha, delta in product((0.5, 0.05, 0.001), (0.0, 0.05)):
        bound = region.epsilon_at_least(alpha, delta)
        if bound > 0:
            below, above = region.p_values(EpsilonAt(delta), [bound - 0.02, bound + 0.05])
            assert below < alpha < above


def test_counts_that_say_nothing():
    for left, right in ((0, 0), (0, 1000), (500, 500), (1000, 1000), (3, 2)):
        for weight in WEIGHTS:
            region = ConfidenceRegion(left, right, 1000, weight)
            assert region.epsilon_at_least(0.05) == region.at_least(DeltaAt(0.0), 0.05) == 0.0
            assert region.p_values(EpsilonAt(), [0.0, 1.0, 800.0, inf])[-1] == 1.0
    assert ConfidenceRegion(1000, 0, 1000).epsilon_at_least(0.05, 1.0) == 0.0
    assert all(ConfidenceRegion(1000, 0, 1000).at_least(DeltaAt(e), 0.05) == 0.0 for e in (699.0, 701.0, 1e6, inf))
    assert ConfidenceRegion(1000, 0, 1000).p_values(EpsilonAt(), [0.0])[0] < 1e-90


def test_the_region_is_sharper_than_two_intervals():
    for left, right, runs, alpha in ((3750, 1250, 5000, 0.1), (100, 20, 5000, 0.05), (1500, 15, 5000, 0.1)):
        weight = best_weight(left, right, runs, runs, alpha, EpsilonAt(), np.random.default_rng(0))
        assert ConfidenceRegion(left, right, runs, weight).epsilon_at_least(alpha) > float(
            epsilon_at_least(left, right, runs, alpha)
        )


def test_an_event_and_its_complement_speak_together():
    """Everything on the left, nothing on the right: the complement is as telling as the event."""
    assert ConfidenceRegion(20_000, 0, 20_000).epsilon_at_least(0.05) > 9.1
