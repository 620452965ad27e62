"""Gaussian noise, and deltas where noisy numbers are shown: known answers, pitfalls, random functions against integration."""

import copy
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.amounts import examples
from tests.certificates import nested, recheck

from privproof import (
    check,
    gaussian,
    integer,
    laplace,
    mechanism,
    queries,
    records,
    smallest_delta,
    tight_epsilon,
)
from privproof.asking import delta_curve
from privproof.compiling.posing import pose_question
from privproof.errors import LanguageError

WIDTH = 1e-9
BITS = records(0, 1)


def hockey_stick(mu, epsilon):
    """The delta of N(0, 1) against N(mu, 1)."""
    normal = stats.norm.cdf
    return normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)


def enclosed(found, value, tolerance=1e-12):
    """Whether the smallest delta is the one known, both ends of it certified and close together."""
    assert found.proof is not None
    assert found.refutation is not None
    assert recheck(nested(found.proof.certificate)).verdict == "proved"
    assert recheck(nested(found.refutation.certificate)).verdict == "refuted"
    assert found.upper - found.lower < WIDTH
    return float(found.lower) - tolerance <= value <= float(found.upper) + tolerance


def count(data):
    return sum(data) + random.gauss(0, 2)


@pytest.mark.parametrize("epsilon", ["0", "1/2", "1", "3"])
def test_a_count_has_the_delta_of_two_normal_laws(epsilon):
    found = smallest_delta(count, epsilon, data=BITS, size=2)
    assert enclosed(found, hockey_stick(1 / 2, float(Fraction(epsilon))))


@pytest.mark.parametrize("draw", [
    lambda: random.normalvariate(0, 2),
    lambda: np.random.normal(0, 2),
    lambda: 2 * np.random.standard_normal(),
    lambda: np.random.randn() * 2,
    lambda: np.random.default_rng().normal(scale=2),
    lambda: stats.norm.rvs(0, 2),
    lambda: gaussian(0, sigma=2),
])  # fmt: skip
def test_all_libraries_draw_the_same_noise(draw):
    def released(data):
        return sum(data) + draw()

    assert check(released, "1", "0.00683", data=BITS, size=1).status == "proved"
    assert check(released, "1", "0.00682", data=BITS, size=1).status == "refuted"


def test_a_negative_sigma_of_random_is_noise_and_no_error():
    def turned(data):
        return random.gauss(sum(data), -2)

    def by_data(data):
        return random.normalvariate(0, -2 if sum(data) else 2)

    assert enclosed(smallest_delta(turned, 1, data=BITS, size=2), hockey_stick(1 / 2, 1))
    assert check(by_data, 0, data=BITS, size=2).status == "proved"


@pytest.mark.parametrize("sigma", [math.nan, math.inf])
@pytest.mark.parametrize(
    "draw",
    [
        lambda m, s: random.gauss(m, s),
        lambda m, s: np.random.normal(m, s),
        lambda m, s: np.random.laplace(m, s),
        lambda m, s: stats.norm.rvs(m, s),
    ],
)
def test_a_scale_that_is_no_number_is_refused_and_no_error_of_the_function(draw, sigma):
    def caught(data):
        try:
            return draw(0, sigma if sum(data) else 2.0)
        except (ValueError, OverflowError):
            return "an error that is never raised"

    with pytest.raises(LanguageError, match=f"noise is made with {sigma}"):
        check(caught, 1, "0.1", data=BITS, size=1)


def test_the_negative_zero_is_no_scale_for_numpy():
    def drawn(data):
        return np.random.normal(sum(data), -0.0 if sum(data) else 0.0)

    with pytest.raises(ValueError, match="scale < 0"):
        np.random.normal(1, -0.0)
    assert "scale < 0" in str(nested(check(drawn, 1, "0.1", data=BITS, size=1).certificate))


@pytest.mark.parametrize(
    ("epsilon", "status"), [(20, "refuted"), (100, "refuted"), (10_000, "refuted"), (10**100, "unknown")]
)
def test_deltas_below_all_floats_are_written_down_or_unknown(epsilon, status):
    verdict = check(count, epsilon, data=BITS, size=1)
    assert verdict.status == status
    if verdict.delta_bounds is not None:
        low, high = verdict.delta_bounds
        assert 0 <= low < high < Fraction(1, 10**300)
        assert check(count, epsilon, high, data=BITS, size=1).status == "proved"


@pytest.mark.parametrize("end", [8, 30])
def test_a_leak_in_a_far_tail_is_enclosed(end):
    def leaks(data):
        return sum(data) if random.gauss(0, 1) > end else 0

    found = smallest_delta(leaks, 0, data=BITS, size=1)
    assert enclosed(found, stats.norm.sf(end), tolerance=1e-12 * stats.norm.sf(end))
    assert found.upper < Fraction(1, 10**15)


def test_epsilon_0_is_the_smallest_where_delta_is_large():
    assert str(tight_epsilon(count, "1/5", data=BITS, size=1).upper) == "0"


def histogram(data, sigma=4.0):
    return {key: data.count(key) + np.random.normal(0, sigma) for key in ("a", "b", "c")}


def test_a_histogram_moves_in_two_cells():
    found = smallest_delta(histogram, 1, data=records("a", "b", "c"), size=2)
    assert enclosed(found, hockey_stick(math.sqrt(2) / 4, 1))
    one_cell = smallest_delta(histogram, 1, data=records("a", "b", "c"), size=1, neighbours="add-remove")
    assert enclosed(one_cell, hockey_stick(1 / 4, 1))


def correlated(data):
    common, own = random.gauss(0, 2), random.gauss(0, 1)
    return sum(data) + common, 2 * sum(data) + common + own


def test_noise_that_numbers_share_counts_with_its_covariance():
    shift = np.array([1.0, 2.0])
    mu = math.sqrt(shift @ np.linalg.solve(np.array([[4.0, 4.0], [4.0, 5.0]]), shift))
    assert enclosed(smallest_delta(correlated, 1, data=BITS, size=1), hockey_stick(mu, 1))


def test_the_same_noise_twice_hides_nothing():
    def twice(data):
        noise = random.gauss(0, 2)
        return sum(data) + noise, noise

    verdict = check(twice, 5, "1/2", data=BITS, size=1)
    assert verdict.status != "proved"


def test_noise_that_is_also_released_with_other_noise_hides_less():
    def leaking(data):
        noise = random.gauss(0, 2)
        return sum(data) + noise, noise + np.random.laplace(0, 1)

    assert check(leaking, 1, "0.00683", data=BITS, size=1).status != "proved"


@pytest.mark.parametrize(
    ("epsilon", "sigma_of", "status"),
    [(Fraction(1, 2), "classical", "proved"), (10, "classical", "refuted")],
)
def test_the_classical_formula_is_wrong_beyond_epsilon_one(epsilon, sigma_of, status):
    sigma = math.sqrt(2 * math.log(1.25 / 1e-5)) / float(epsilon)

    def released(data):
        return sum(data) + random.gauss(0, sigma)

    assert check(released, epsilon, "1e-5", data=BITS, size=1).status == status


def noisy_max(q):
    noisy = [value + random.gauss(0, 4) for value in q]
    return noisy.index(max(noisy))


def above_threshold(q, first=1.0, others=2.0):
    threshold = random.gauss(0, first)
    for i, value in enumerate(q):
        if value + random.gauss(0, others) >= threshold:
            return i
    return -1


def mixed_threshold(q):
    threshold = random.gauss(0, 4)
    for i, value in enumerate(q):
        if value + np.random.laplace(0, 8) >= threshold:
            return i
    return -1


@pytest.mark.parametrize(
    ("function", "size", "epsilon", "delta"),
    [
        (noisy_max, 2, "0.1", 0.0951093378034),
        pytest.param(noisy_max, 3, "0.1", 0.1123384316599, marks=pytest.mark.slow),
        pytest.param(noisy_max, 4, "0.5", 0.00479076318920, marks=pytest.mark.slow),
        (above_threshold, 2, "0.5", 0.085242176707281),
        pytest.param(above_threshold, 4, "0.5", 0.102144461667714, marks=pytest.mark.slow),
    ],
)
def test_selections_on_all_neighbours_of_zeros_and_ones(function, size, epsilon, delta):
    assert enclosed(smallest_delta(function, epsilon, q=queries(0, 1), size=size), delta, 1e-11)


def test_gaussian_and_laplace_noise_are_compared():
    found = smallest_delta(mixed_threshold, "0.1", q=queries(0, 1), size=1)
    with_laplace = [
        stats.norm.expect(lambda t, v=v: stats.laplace.sf(t, loc=v, scale=8), loc=0, scale=4) for v in (0, 1)
    ]
    p, q = max(with_laplace), min(with_laplace)
    wanted = max(p - math.exp(0.1) * q, (1 - q) - math.exp(0.1) * (1 - p), 0)
    assert float(found.lower) - 1e-9 <= wanted <= float(found.upper) + 1e-9


def test_zeros_and_ones_say_nothing_about_all_answers():
    """With more values the delta is larger: what was compared is said."""
    few = smallest_delta(noisy_max, "0.1", q=queries(0, 1), size=2)
    more = smallest_delta(noisy_max, "0.1", q=queries(0, 2), size=2)
    assert few.upper < more.lower
    assert "queries(0, 1)" in str(few.proof)


def test_pure_privacy_is_refuted_and_never_proved():
    verdict = check(count, 3, data=BITS, size=1)
    assert verdict.status == "refuted"
    assert verdict.witness.loss().lower() > 3
    assert tight_epsilon(count, data=BITS, size=1).status == "unknown"


def test_the_smallest_epsilon_at_a_delta():
    verdict = tight_epsilon(count, "0.001", data=BITS, size=1)
    assert verdict.status == "proved"
    assert verdict.certified.lower
    assert verdict.certified.upper
    assert float(verdict.upper.ball()) - float(verdict.lower.ball()) < 1e-8
    assert hockey_stick(1 / 2, float(verdict.upper.ball())) == pytest.approx(0.001, abs=1e-9)


def test_a_curve_of_enclosures():
    curve = delta_curve(pose_question(count, inputs={"data": BITS}, size=1), ["0", "1", "2"])
    for found, epsilon in zip(curve, (0, 1, 2), strict=True):
        assert enclosed(found, hockey_stick(1 / 2, epsilon))


def test_what_is_done_to_noisy_numbers_tells_no_more():
    def rounded(data):
        return round(sum(data) + random.gauss(0, 2), 1)

    assert check(rounded, 1, "0.00683", data=BITS, size=1).status == "proved"
    assert check(rounded, 1, "0.006", data=BITS, size=1).status == "unknown"


def test_a_number_that_was_tested_before_is_not_fresh():
    def kept(data):
        noisy = sum(data) + random.gauss(0, 2)
        return noisy if noisy > 1 else None

    assert check(kept, 1, "0.00683", data=BITS, size=1).status == "proved"
    grid = np.linspace(1, 60, 200_001)
    more = np.maximum(stats.norm.pdf(grid, 1, 2) - math.e * stats.norm.pdf(grid, 0, 2), 0)
    needed = float(np.trapezoid(more, grid))  # of the number that is shown alone
    assert check(kept, 1, f"{needed * 0.999:.9f}", data=BITS, size=1).status == "refuted"
    assert check(kept, 1, f"{needed * 1.001:.9f}", data=BITS, size=1).status == "proved"


# --------------------------------------------------------------------------------------------- deltas with Laplace noise


def test_one_number_with_laplace_noise_has_an_exact_delta():
    def released(data):
        return sum(data) + np.random.laplace(0, 1)

    for epsilon in (0, 0.5, 0.9):
        found = smallest_delta(released, str(epsilon), data=BITS, size=1)
        assert enclosed(found, 1 - math.exp((epsilon - 1) / 2))


def test_several_numbers_with_laplace_noise_are_bounded():
    def released(data):
        return sum(data) + np.random.laplace(0, 2), len(data) - sum(data) + np.random.laplace(0, 2)

    verdict = check(released, "0.5", "0.4", data=BITS, size=1)
    assert verdict.status == "proved"
    assert check(released, "0.5", "0.1", data=BITS, size=1).status != "proved"


# ------------------------------------------------------------------------------------------------ where it is not decided


def test_answers_without_bounds_are_aligned():
    @mechanism
    def released(x: integer()):
        return gaussian(x, sigma=2)

    verdict = check(released, 1, "0.01")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")


def test_a_count_of_every_length_has_the_delta_of_one_record():
    def released(data):
        return sum(data) + random.gauss(0, 2)

    found = smallest_delta(released, 1, data=BITS)
    assert enclosed(found, 0.006829594983)
    assert found.proof.engine == "laplace"


def test_a_mechanism_samples():
    drawn = [gaussian(3, sigma=2) for _ in range(4000)]
    assert abs(np.mean(drawn) - 3) < 0.2
    assert abs(np.std(drawn) - 2) < 0.2


# --------------------------------------------------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def proof():
    return check(count, 1, "0.007", data=BITS, size=2)


def test_a_proof_is_checked_again(proof):
    document = nested(proof.certificate)
    assert recheck(document).verdict == "proved"
    for change in (
        lambda d: d["question"].update(delta="0.0068"),
        lambda d: d["question"].update(epsilon="9/10"),
        lambda d: [leaf["noises"][0].__setitem__(1, "199/100") for tree in d["question"]["trees"] for leaf in tree],
        lambda d: d["question"]["trees"][0][0]["parts"][0].update(constant="-1/100"),
        lambda d: d["evidence"].update(method="table"),
        lambda d: d["evidence"].update(method="alignment", alignments=[], pairs=[]),
    ):
        other = copy.deepcopy(document)
        change(other)
        assert getattr(recheck(other), "verdict", "rejected") == "rejected"


def test_a_refutation_is_checked_again():
    document = nested(check(count, 1, "0.006", data=BITS, size=1).certificate)
    assert recheck(document).verdict == "refuted"
    for change in (
        lambda d: d["question"].update(delta="0.007"),
        lambda d: d["evidence"]["regions"][0].update(end="-100"),
        lambda d: d["evidence"]["regions"][0].update(factors=["1"]),
        lambda d: d["evidence"]["regions"][0].update(factors=[]),
        lambda d: d["evidence"].update(right=d["evidence"]["left"]),
        lambda d: d["evidence"].update(method="event", shapes=["#0"], within=[]),
    ):
        other = copy.deepcopy(document)
        change(other)
        assert getattr(recheck(other), "verdict", "rejected") == "rejected"


# ----------------------------------------------------------------------------------------------------- random functions

NOISE = {"g": lambda s: random.gauss(0, s), "l": lambda s: laplace(0, scale=s)}


@st.composite
def comparisons(draw):
    """A function that compares a noisy threshold with noisy numbers and may release fresh ones, and its parameters."""
    kinds = draw(st.lists(st.sampled_from("ggl"), min_size=2, max_size=3))
    scales = draw(st.lists(st.integers(1, 6), min_size=len(kinds), max_size=len(kinds)))
    weights = draw(st.lists(st.integers(-2, 2), min_size=len(kinds), max_size=len(kinds)))
    fresh = draw(st.none() | st.integers(1, 5))
    epsilon = draw(st.sampled_from(["0", "1/4", "1/2", "1"]))
    return kinds, scales, weights, fresh, epsilon


@settings(max_examples=examples(60), deadline=None)
@given(comparisons())
def test_random_comparisons_agree_with_integration(made):
    kinds, scales, weights, fresh, epsilon = made

    def function(x):
        values = [w * x + NOISE[k](s) for w, k, s in zip(weights, kinds, scales, strict=True)]
        first = [value > values[0] for value in values[1:]]
        return (*first, x + random.gauss(0, fresh)) if fresh else tuple(first)

    found = smallest_delta(function, epsilon, x=integer(0, 1))
    laws = [
        [(stats.norm if k == "g" else stats.laplace)(w * x, s) for w, k, s in zip(weights, kinds, scales, strict=True)]
        for x in (0, 1)
    ]
    grid = np.linspace(-120, 120, 48001)

    def shares(law):
        others = [(each.sf(grid), each.cdf(grid)) for each in law[1:]]
        return {
            way: np.trapezoid(
                law[0].pdf(grid) * np.prod([o[b] for o, b in zip(others, way, strict=True)], axis=0), grid
            )
            for way in np.ndindex(*(2,) * len(others))
        }

    sides = [shares(law) for law in laws]
    e = float(Fraction(epsilon))
    wanted = 0.0
    for one, two in (sides, sides[::-1]):
        total = 0.0
        for way, p in one.items():
            q = two[way]
            shift = e + math.log(q / p)
            total += p * hockey_stick(1 / fresh, shift) if fresh else max(0.0, p - math.exp(e) * q)
        wanted = max(wanted, total)
    assert float(found.lower) - 1e-5 <= wanted <= float(found.upper) + 1e-5  # the error of the sum, at the kinks
    assert found.upper - found.lower < Fraction(1, 10**9)
