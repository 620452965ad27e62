"""Means and Gaussian noise as testers of other projects try them (dp_auditorium, Delta-Siege), written anew: what is wrong is found.

Numbers are rounded to a lattice, so that what is found is the mistake and not the binary digits; the last cases leave them.
"""

from __future__ import annotations

import numpy as np
import pytest

from privproof import audit, runnable

RNG = np.random.default_rng(5)
SIGMA = 4.845
"""Of the classical Gaussian mechanism for epsilon = 1 and delta = 1e-5: sqrt(2 ln(1.25/delta))."""
RECORDS = [([1] * 5, [1] * 4), ([0] * 5, [0] * 4), ([1] * 2, [1])]


def on_lattice(value):
    return round(value * 1024) / 1024


def mean_with_noisy_size(data):
    """Half of epsilon for the sum, half for the size."""
    return on_lattice((sum(data) + RNG.laplace(0, 2)) / max(1.0, len(data) + RNG.laplace(0, 2)))


def mean_with_epsilon_twice(data):
    """All of epsilon for the sum, and all of it again for the size."""
    return on_lattice((sum(data) + RNG.laplace(0, 1)) / max(1.0, len(data) + RNG.laplace(0, 1)))


def mean_with_size_in_the_scale(data):
    """The size is taken for public, in the divisor and in the noise."""
    return on_lattice(sum(data) / max(1, len(data)) + RNG.laplace(0, 1 / max(1, len(data))))


def mean_that_tells_the_size(data):
    return on_lattice((sum(data) + RNG.laplace(0, 2)) / 5), len(data)


def gaussian(x):
    return on_lattice(x + RNG.normal(0, SIGMA))


def gaussian_with_little_noise(x):
    """The factor sqrt(2 ln(1.25/delta)) forgotten."""
    return on_lattice(x + RNG.normal(0, 1))


def gaussian_of_a_wrong_sensitivity(x):
    """Records are clipped to 4, and the noise is for 1."""
    return on_lattice(min(4, max(0, x)) + RNG.normal(0, SIGMA))


def audited(function, pairs, **claim):
    return audit(function, pairs=pairs, samples=10_000, seed=3, exact=False, **claim)


@pytest.mark.parametrize(
    ("function", "least"),
    [(mean_with_epsilon_twice, 1.2), (mean_with_size_in_the_scale, 1.1), (mean_that_tells_the_size, 5.0)],
)
def test_wrong_means_are_found(function, least):
    found = audited(function, RECORDS, epsilon=1)
    assert found.epsilon > least
    assert "speak against" in str(found)


@pytest.mark.parametrize(
    ("function", "pair"), [(gaussian_with_little_noise, (0, 1)), (gaussian_of_a_wrong_sensitivity, (0, 9))]
)
def test_gaussian_noise_that_is_too_small_is_found(function, pair):
    found = audited(function, [pair], epsilon=1, delta="1e-5")
    assert found.delta > 1e-5
    assert "speak against" in str(found)


def test_what_is_right_is_not_accused():
    assert "do not speak against" in str(audited(mean_with_noisy_size, RECORDS, epsilon=1))
    assert "do not speak against" in str(audited(gaussian, [(0, 1)], epsilon=1, delta="1e-5"))


def test_binary_digits_of_gaussian_noise_are_found():
    found = audited(lambda x: x + RNG.normal(0, SIGMA), [(0, 1)], epsilon=1, delta="1e-5")
    assert found.epsilon > 4
    assert "lowest bit" in str(found)


def test_half_lines_whose_scales_differ_are_found():
    """Gaussian noise whose scale is made of the size of the data: the wider law wins in both tails."""
    few, many = [0.0], [0.0, 1.0]

    def mean(data):
        return on_lattice(sum(data) / len(data) + RNG.normal(0, 3.776 / len(data)))

    found = audited(mean, [(few, many)], epsilon=1, delta="1/1000")
    assert found.delta > 0.15
    assert "speak against" in str(found)


def test_a_scale_cut_off_for_negative_sizes_is_found():
    """Where the noisy size is negative hardly any noise is left: a quarter of all outputs tells the data."""

    def mean(data):
        size = len(data) + RNG.laplace(0, 2)
        return sum(data) / size + RNG.laplace(0, max(2 / size, 1e-12))

    found = audited(mean, [([0.0], [0.0, 1.0])], epsilon=1)
    assert found.epsilon > 4
    assert found.delta > 0.2
    assert "speak against" in str(found)


def uniform(count):
    """Numbers of 32 bits."""
    return RNG.integers(1, 2**32, count) / 2**32


def by_box_and_muller(x, rng, count):
    return x + 2.2475 * np.sqrt(-2 * np.log(uniform(count))) * np.cos(2 * np.pi * uniform(count))


def in_polar_coordinates(x, rng, count):
    points = 2 * uniform((3 * count + 100, 2)) - 1
    squares = (points**2).sum(axis=1)
    inside = np.flatnonzero((squares < 1) & (squares > 0))[:count]
    return x + 2.2475 * points[inside, 0] * np.sqrt(-2 * np.log(squares[inside]) / squares[inside])


def in_single_precision(x, rng, count):
    noise = np.float32(2.2475) * RNG.standard_normal((4, count), dtype=np.float32)
    return (np.float32(x) + noise.sum(axis=0, dtype=np.float32) / 2).astype(np.float64)


@pytest.mark.parametrize(
    ("function", "least"), [(by_box_and_muller, 0.2), (in_polar_coordinates, 0.2), (in_single_precision, 0.12)]
)
def test_noise_of_few_bits_breaks_a_claim_with_a_delta(function, least):
    """The classical scale for epsilon = 1 and delta = 1/10, at which real noise loses a delta of 0.003."""
    found = audited(runnable(function, rng="rng", batched=True), [(0.0, 1.0)], epsilon=1, delta="1/10")
    assert found.delta > least
    assert found.epsilon > 4
    assert "speak against" in str(found)


def test_laplace_noise_by_inversion_is_found_at_a_small_epsilon():
    def inverted(x, rng, count):
        return x - 10 * np.where(RNG.integers(0, 2, count) == 1, 1, -1) * np.log(uniform(count))

    found = audited(runnable(inverted, rng="rng", batched=True), [(0.0, 1.0)], epsilon="1/10")
    assert found.epsilon > 4
