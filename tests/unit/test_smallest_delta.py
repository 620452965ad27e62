"""The smallest delta where an epsilon is enough, where e^epsilon is irrational, and where it is 0 up to rounding."""

import math
from fractions import Fraction

import pytest
from tests.certificates import recheck

from privproof import (
    composed,
    discrete_gaussian,
    geometric,
    laplace,
    mechanism,
    queries,
    randomized_response,
    records,
    smallest_delta,
    tight_epsilon,
    tight_rho,
)


@mechanism
def count(data: records(0, 1)):
    return laplace(sum(data), scale=2)


@mechanism
def answer(q: queries(0, 1)):
    return randomized_response(q[0] > 0, truth="9/10")


@mechanism
def larger(data: records(0, 1)):
    return geometric(2 * data[-1] - 1, alpha="1/2") >= geometric(data[0] - data[-1], alpha="1/3")


@mechanism
def kept(q: queries(0, 1)):
    first = geometric(0, alpha="1/3") > discrete_gaussian(0, variance=2)
    return first, laplace(q[0], scale=2) if first else "stop"


@pytest.mark.parametrize("size", [1, 2, None])
def test_it_is_0_where_the_epsilon_is_enough(size):
    found = smallest_delta(count, "1/2", size=size)
    assert (found.lower, found.upper, found.proof.status) == (0, 0, "proved")


def test_finite_mechanisms_have_both_ends_where_the_power_of_e_is_irrational():
    found = smallest_delta(answer, "1/2", size=1)
    assert (found.proof.status, found.refutation.status) == ("proved", "refuted")
    assert 0 < found.upper - found.lower < 1e-11
    assert float(found.upper) == pytest.approx(0.9 - math.exp(0.5) * 0.1, abs=1e-12)


def test_two_numbers_with_geometric_noise_are_compared():
    noise = {k: {a: (1 - a) / (1 + a) * a ** abs(k) for a in (1 / 2, 1 / 3)} for k in range(-60, 61)}

    def yes(one, two):
        return sum(p[1 / 2] * q[1 / 3] for x, p in noise.items() for y, q in noise.items() if one + x >= two + y)

    chances = {(a, b): yes(2 * b - 1, a - b) for a in (0, 1) for b in (0, 1)}
    near = [(x, y) for x in chances for y in chances if (x[0] != y[0]) + (x[1] != y[1]) == 1]
    delta = max(
        max(p - math.exp(0.25) * q, (1 - p) - math.exp(0.25) * (1 - q))
        for p, q in ((chances[x], chances[y]) for x, y in near)
    )
    found = smallest_delta(larger, "1/4", size=2)
    assert found.upper - found.lower < 1e-11
    assert float(found.upper) == pytest.approx(delta, abs=1e-10)
    assert recheck(found.proof.certificate).verdict == "proved"


def test_records_that_change_in_any_way_end_in_no_error():
    """The epsilon of two noisy tests, one of which shows its number, was looked for by corners that records do not have."""

    @mechanism
    def beyond(data: records(0, 1)):
        if laplace(min(sum(data), 2), scale="3/2") > 2:
            noisy = laplace(max(data), scale=2)
            return noisy if noisy > 0 else None
        return "stop"

    assert tight_epsilon(beyond, size=2).status in ("proved", "unknown")
    assert tight_rho(beyond, size=2).status in ("proved", "unknown")


@pytest.mark.filterwarnings("ignore::privproof.errors.CertificateRefused")
def test_a_little_less_is_refuted_where_the_checker_finds_less():
    @mechanism(neighbours="one")
    def reached(q: queries(0, 1)):
        return geometric(q[0], alpha="1/2") >= -1

    found = smallest_delta(composed(reached, times=2, size=2), 0)
    assert 0.143 < found.lower <= Fraction(7, 48) <= found.upper < 0.1459  # exactly 7/48
    assert found.refutation.status == "refuted"


def test_what_is_0_up_to_rounding_is_next_to_nothing():
    found = smallest_delta(kept, "ln(2)", size=1)
    assert found.lower == 0
    assert found.upper < 1e-25
    assert found.proof.status == "proved"
