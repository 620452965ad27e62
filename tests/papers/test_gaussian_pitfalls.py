"""Where reasoning about Gaussian noise goes wrong: for each pitfall the tests that fall into it, here or in other files.

A reading that is unsound must end refuted, unknown or refused, and never proved.
"""

from __future__ import annotations

import ast
from itertools import product
from math import exp, sqrt
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import ndtr

from privproof import (
    check,
    discrete_gaussian,
    gaussian,
    integer,
    laplace,
    mechanism,
    queries,
    real_queries,
    smallest_delta,
)

TESTS = Path(__file__).resolve().parents[1]
PITFALLS = {
    "shifts in hindsight without their factor": (
        "papers/test_gaussian_pitfalls.py::test_the_shifts_of_one_winner_are_no_bound_for_noisy_max",
        "papers/test_prophecy.py::test_what_long_lists_give_away",
        "papers/test_prophecy.py::test_no_delta_for_every_length_is_proved_by_shifts_in_hindsight",
        "unit/test_settled_shifts.py::test_shifts_in_hindsight_cost_delta_for_every_result",
        "unit/test_settled_shifts.py::test_a_shift_that_later_tests_decide_is_refused",
        "conformance/test_discrete_gaussian.py::test_a_shift_that_only_a_later_test_decides_proves_nothing",
    ),
    "zeros and ones for all real answers": (
        "papers/test_gaussian_pitfalls.py::test_what_was_compared_is_said",
        "conformance/test_registers.py::test_zeros_and_ones_say_nothing_about_real_answers",
        "conformance/test_gaussian.py::test_zeros_and_ones_say_nothing_about_all_answers",
    ),
    "the continuous formula for discrete noise": (
        "papers/test_gaussian_pitfalls.py::test_the_delta_of_normal_laws_is_refuted_for_whole_numbers",
        "conformance/test_discrete_gaussian.py::test_the_continuous_formula_is_no_bound_for_discrete_noise",
        "conformance/test_discrete_gaussian.py::test_it_is_not_gaussian_private_with_the_distance_of_normal_noise",
    ),
    "distribution functions off the line, and kinks": (
        "papers/test_gaussian_pitfalls.py::test_kinks_are_cut_at",
        "unit/test_enclosures.py::test_the_normal_distribution_function_exceeds_one_off_the_line_and_stays_within_its_bound",
        "unit/test_enclosures.py::test_coarse_rules_err_by_less_than_they_say",
    ),
    "scales that are far apart": (
        "papers/test_gaussian_pitfalls.py::test_a_threshold_with_far_more_noise_than_the_answers",
    ),
    "ties": ("papers/test_gaussian_pitfalls.py::test_equal_probabilities_are_never_told_apart",),
    "outputs that are forgotten, and small probabilities": (
        "conformance/test_registers.py::test_something_is_shown_with_probability_one",
        "conformance/test_discrete_gaussian.py::test_rare_events_keep_their_digits",
        "conformance/test_gaussian.py::test_a_leak_in_a_far_tail_is_enclosed",
        "conformance/test_gaussian.py::test_deltas_below_all_floats_are_written_down_or_unknown",
    ),
    "laws of many draws": ("conformance/test_discrete_gaussian.py::test_known_deltas_at_epsilon_one",),
    "floats that are released": (
        "conformance/test_discrete_gaussian.py::test_the_sampler_repeats_itself_with_a_seed_and_never_uses_a_float",
        "audits/test_float_leaks.py::test_noise_in_floating_point_is_seen",
    ),
}


@pytest.mark.parametrize("pitfall", PITFALLS)
def test_every_pitfall_has_its_tests(pitfall):
    for name in PITFALLS[pitfall]:
        file, _, function = name.partition("::")
        tree = ast.parse((TESTS / file).read_text())
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name


def delta_of_normal_laws(mu, epsilon):
    below = NormalDist().cdf
    return below(mu / 2 - epsilon / mu) - exp(epsilon) * below(-mu / 2 - epsilon / mu)


@mechanism
def largest(q: queries(0, 1)):
    best, winner = None, 0
    for i, answer in enumerate(q):
        noisy = gaussian(answer, sigma=4)
        if best is None or noisy > best:
            best, winner = noisy, i
    return winner


def test_the_shifts_of_one_winner_are_no_bound_for_noisy_max():
    """For each winner one shift by 2 is enough; for all of them together it is not."""
    untaxed = delta_of_normal_laws(2 / 4, 1 / 2)
    assert untaxed == pytest.approx(0.0524, abs=1e-4)
    assert check(largest, "1/2", f"{untaxed:.9f}", size=20).status == "refuted"


def test_what_was_compared_is_said():
    @mechanism
    def largest_of_two_values(q: real_queries(values=(0, 1))):
        best, winner = None, 0
        for i, answer in enumerate(q):
            noisy = gaussian(answer, sigma=4)
            if best is None or noisy > best:
                best, winner = noisy, i
        return winner

    found = check(largest_of_two_values, "1/10", "0.0952", size=2)
    assert found.status == "proved"
    assert any("real numbers between them are not" in note for note in found.notes)


def test_the_delta_of_normal_laws_is_refuted_for_whole_numbers():
    continuous = delta_of_normal_laws(1 / 2, 1)

    @mechanism
    def whole(n: integer(0, 1)):
        return discrete_gaussian(n, variance=4)

    @mechanism
    def real(n: integer(0, 1)):
        return gaussian(n, sigma=2)

    assert continuous == pytest.approx(0.0068296, abs=1e-7)
    assert check(whole, 1, f"{continuous * 1.001:.9f}").status == "refuted"
    assert check(real, 1, f"{continuous * 1.001:.9f}").status == "proved"


def test_kinks_are_cut_at():
    """Laplace noise has a kink at every center: the exact values are enclosed with centers at many places."""

    @mechanism
    def below(n: integer(-3, 3)):
        return gaussian(n, sigma=1) < laplace(0, scale=1)

    def exactly(n):  # the part of Gaussian noise below 0, and what Laplace noise adds on either side
        up, down = exp(1 / 2 + n) * ndtr(-n - 1), exp(1 / 2 - n) * ndtr(n - 1)
        return ndtr(-n) + (down - up) / 2

    pairs = [(exactly(n + left), exactly(n + right)) for n in range(-3, 3) for left, right in ((0, 1), (1, 0))]
    worst = max(max(0, p - exp(1 / 4) * q) + max(0, (1 - p) - exp(1 / 4) * (1 - q)) for p, q in pairs)
    found = smallest_delta(below, "1/4")
    assert found.upper - found.lower < 1e-9
    assert float(found.upper) == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("wide", [100, 1000])
def test_a_threshold_with_far_more_noise_than_the_answers(wide):
    @mechanism
    def above(q: queries(0, 1)):
        threshold = gaussian(0, sigma=wide)
        for i, answer in enumerate(q):
            if gaussian(answer, sigma=1) >= threshold:
                return i
        return -1

    line = np.arange(-9 * wide, 9 * wide, 1 / 8)
    weights = np.exp(-((line / wide) ** 2) / 2) / (wide * sqrt(2 * np.pi)) / 8

    def law(q):
        first, second = (ndtr(line - answer) for answer in q)
        return [float(np.sum(weights * part)) for part in (1 - first, first * (1 - second), first * second)]

    laws = [law(q) for q in product((0, 1), repeat=2)]
    worst = max(sum(max(0, p - exp(1 / 2) * q) for p, q in zip(*pair, strict=True)) for pair in product(laws, repeat=2))
    found = smallest_delta(above, "1/2", size=2)
    assert found.upper - found.lower < 1e-12
    assert float(found.upper) == pytest.approx(worst, rel=1e-9)


def test_equal_probabilities_are_never_told_apart():
    """Both sides pass with probability 1/2, which no precision shows: delta is bounded, and a claim without one is unknown."""

    @mechanism
    def even(q: queries(0, 1)):
        threshold = gaussian(q[0], sigma=1)
        return gaussian(q[0], sigma=3) > threshold

    assert check(even, 0, 0, size=1).status != "refuted"
    found = smallest_delta(even, 0, size=1)
    assert found.lower == 0
    assert found.upper < 1e-12
