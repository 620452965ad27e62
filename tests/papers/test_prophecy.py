"""Gaussian noise for every length: what shifts that are settled give, and why shifts in hindsight must be paid for.

All answers of sparse vector are at -m; on the neighbour those at odd places go down by 1 and those at even places up.  As the list grows
the event "the first at an odd place" comes near to one half on the one side, and on the other to 0 as m grows: no delta below 1/2 is
enough for every length, while the shifts come to mu^2 = 1/8 whatever the length is.
"""

from __future__ import annotations

from math import exp, expm1, pi, sqrt
from statistics import NormalDist

import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr
from tests.amounts import patience

from privproof import check, gaussian, laplace, mechanism, public, real, real_queries, smallest_delta


@mechanism
def gaussian_above(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i
    return -1


@mechanism
def mixed_above(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if laplace(answer, scale=8) >= noisy:
            return i
    return -1


@mechanism
def largest(q: real_queries()):
    best, winner = None, 0
    for i, answer in enumerate(q):
        noisy = gaussian(answer, sigma=4)
        if best is None or noisy > best:
            best, winner = noisy, i
    return winner


def _delta(mu, epsilon):
    below = NormalDist().cdf
    return below(mu / 2 - epsilon / mu) - exp(epsilon) * below(-mu / 2 - epsilon / mu)


def _first_is_odd(count, level, odd, even):
    """How likely the first answer above the threshold is one at an odd place, with answers at minus a level, moved by place."""

    def at(threshold):
        density = exp(-(threshold**2) / 32) / (4 * sqrt(2 * pi))
        below_odd, below_even = (log_ndtr((threshold + level - by) / 8) for by in (odd, even))
        both = below_odd + below_even
        turns = expm1(count // 2 * both) / expm1(both) if both < 0 else count // 2
        return density * -expm1(below_odd) * turns

    return quad(at, -40, 60, epsabs=1e-14, epsrel=1e-11, limit=400)[0]


@pytest.mark.parametrize(
    ("count", "level", "delta"),
    [(10**4, 30, 0.00916048098), (10**6, 36, 0.0638078716), (10**9, 42, 0.1459312956), (10**12, 48, 0.2022668582)],
)
def test_what_long_lists_give_away(count, level, delta):
    found = _first_is_odd(count, level, 0, 0) - exp(1 / 2) * _first_is_odd(count, level, -1, 1)
    assert found == pytest.approx(delta, rel=1e-8)


def test_no_delta_for_every_length_is_proved_by_shifts_in_hindsight():
    untaxed = _delta(sqrt(1 / 8), 1 / 2)
    assert untaxed == pytest.approx(0.01595, abs=1e-5)
    assert untaxed < 0.0638
    for delta in (untaxed * 1.01, 0.2):
        assert check(gaussian_above, "1/2", f"{delta:.9f}", time_limit=patience(12)).status != "proved"


@pytest.mark.parametrize(("epsilon", "delta"), [("1/2", 0.0234854811938), ("1.24", 3.4716e-6)])
def test_settled_shifts_of_the_threshold_alone(epsilon, delta):
    """Laplace answers pay in epsilon, B = 1/4, and the Gaussian threshold has mu = 1/4."""
    assert delta == pytest.approx(_delta(1 / 4, {"1/2": 1 / 4, "1.24": 0.99}[epsilon]), rel=1e-4)
    assert check(mixed_above, epsilon, f"{delta * 1.0001:.15f}").status == "proved"
    assert check(mixed_above, epsilon, f"{delta * 0.999:.15f}", time_limit=patience(12)).status != "proved"


@pytest.mark.slow  # minutes of boxes in three dimensions; two answers are in the suite
def test_three_real_answers_of_noisy_max():
    found = smallest_delta(largest, "1/10", size=3)
    assert 0.11427 < float(found.lower) <= float(found.upper) < 0.11528
    assert float(found.upper) < _delta(sqrt(1 / 6), 1 / 10)  # events, 4 k (n - k)/n with k = 1: 0.12267
    assert _delta(sqrt(1 / 6), 1 / 10) == pytest.approx(0.1226700873, rel=1e-8)
