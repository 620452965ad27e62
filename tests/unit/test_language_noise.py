"""The laws of noise against their definitions, and the samplers against the laws."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp

import pytest
from scipy.stats import chisquare

import privproof
from privproof import (
    LanguageError,
    bernoulli,
    choice,
    exponential,
    exponential_mechanism,
    geometric,
    laplace,
    randomized_response,
    seeded,
    truncated_geometric,
    uniform,
)
from privproof.exact import epsilon
from privproof.language import NOISES, laws, randomness
from privproof.language.laws import Continuous, Geometric, TableLaw

SUM = {
    "truncated": laws.truncated_geometric(1, -1, 3, "2/3", None, 1),
    "truncated, center below": laws.truncated_geometric(-5, 0, 2, "1/2", None, 1),
    "truncated, center above": laws.truncated_geometric(9, 0, 2, "1/2", None, 1),
    "truncated to one": laws.truncated_geometric(9, 2, 2, "1/2", None, 1),
    "truncated, irrational": laws.truncated_geometric(1, 0, 2, None, "1/2", 3),
    "exponential mechanism": laws.exponential_mechanism([0, 3, 1], "ln(4)", 1),
    "exponential mechanism, irrational": laws.exponential_mechanism([0, "1/3", -1], 1, 2),
    "bernoulli": laws.bernoulli("1/3"),
    "uniform": laws.uniform(-2, 4),
    "choice": laws.choice({"a": "1/3", "b": "2/3"}),
    "randomised response": laws.randomized_response("r", "1/2", ("r", "g", "b")),
    "randomised bit": laws.randomized_response(value=True, truth="3/4", among=None),
}


@pytest.mark.parametrize("name", SUM)
def test_the_probabilities_of_a_law_sum_to_one(name):
    assert sum(p for _, p in SUM[name].outcomes) == 1
    assert all(0 <= p <= 1 for _, p in SUM[name].outcomes)


@pytest.mark.parametrize("center", [-4, -1, 0, 1, 2, 3, 7])
@pytest.mark.parametrize("alpha", ["1/2", "1/3", "9/10"])
def test_truncated_geometric_noise_is_geometric_noise_clamped(center, alpha):
    low, high, base = -1, 2, Fraction(alpha)

    def law(k: int) -> Fraction:
        return (1 - base) / (1 + base) * base ** abs(k - center)

    def beyond(k: int) -> Fraction:
        """The mass from k on, away from the center."""
        return law(k) / (1 - base)

    below = beyond(low) if low <= center else 1 - beyond(low + 1)
    above = beyond(high) if high >= center else 1 - beyond(high - 1)
    expected = {low: below, high: above, **{k: law(k) for k in range(low + 1, high)}}
    assert dict(laws.truncated_geometric(center, low, high, alpha, None, 1).outcomes) == expected


def test_exponential_mechanism_weighs_by_the_exponential_of_half_the_score():
    table = dict(laws.exponential_mechanism([0, 2, 1], "ln(9)", 1).outcomes)
    assert table == {0: Fraction(1, 13), 1: Fraction(9, 13), 2: Fraction(3, 13)}
    assert dict(laws.exponential_mechanism([0, 2, 1], "ln(81)", 2).outcomes) == table
    assert dict(laws.exponential_mechanism([5, 7, 6], "ln(9)", 1).outcomes) == table


def test_randomised_response_spreads_the_rest_evenly():
    table = dict(laws.randomized_response("b", "1/2", ("a", "b", "c")).outcomes)
    assert table == {"a": Fraction(1, 4), "b": Fraction(1, 2), "c": Fraction(1, 4)}
    assert [v for v, _ in laws.randomized_response(1, "3/4", None).outcomes] == [0, 1]
    assert [v for v, _ in laws.randomized_response(value=True, truth="3/4", among=None).outcomes] == [False, True]


@pytest.mark.parametrize("asked", ["1/10", "1/2", 1, 3, "ln(3)", "40"])
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_noise_for_an_epsilon_is_never_less_than_asked_for(asked, sensitivity):
    law = laws.geometric(0, None, asked, sensitivity)
    value = epsilon(asked)
    assert value.compare(privproof.log((1 / law.alpha) ** sensitivity)) >= 0
    assert float(law.alpha) == pytest.approx(exp(-float(value.decimal(digits=15)) / sensitivity), abs=1e-12)


def test_an_epsilon_that_is_a_logarithm_gives_its_exact_noise():
    assert laws.geometric(0, None, "ln(2)", 1).alpha == Fraction(1, 2)
    assert laws.geometric(0, None, "ln(4)", 2).alpha == Fraction(1, 2)
    assert laws.geometric(0, None, "ln(9/4)", 2).alpha == Fraction(2, 3)


@pytest.mark.parametrize("asked", ["1/10", 1, "7/2"])
def test_the_exponential_mechanism_for_an_epsilon_is_never_sharper_than_asked_for(asked):
    table = dict(laws.exponential_mechanism([0, 2], asked, 1).outcomes)
    assert epsilon(asked).compare(privproof.log(table[1] / table[0])) >= 0


def test_an_epsilon_too_small_for_any_noise_is_refused():
    with pytest.raises(LanguageError, match="too small"):
        geometric(0, epsilon="1/1000000000000000000000000000000")


# ------------------------------------------------------------------------------------------------------------- samplers

DRAWS = {
    "truncated_geometric": (
        lambda: truncated_geometric(1, low=0, high=3, alpha="1/2"),
        laws.truncated_geometric(1, 0, 3, "1/2", None, 1),
    ),
    "exponential_mechanism": (
        lambda: exponential_mechanism([0, 2, 1], epsilon=1),
        laws.exponential_mechanism([0, 2, 1], 1, 1),
    ),
    "bernoulli": (lambda: bernoulli("1/3"), laws.bernoulli("1/3")),
    "uniform": (lambda: uniform(-1, 3), laws.uniform(-1, 3)),
    "choice": (
        lambda: choice({"a": "1/6", "b": "1/2", "c": "1/3"}),
        laws.choice({"a": "1/6", "b": "1/2", "c": "1/3"}),
    ),
    "randomized_response": (
        lambda: randomized_response(2, truth="1/2", among=(0, 1, 2)),
        laws.randomized_response(2, "1/2", (0, 1, 2)),
    ),
    "geometric": (
        lambda: max(-3, min(3, geometric(0, alpha="1/2"))),
        laws.truncated_geometric(0, -3, 3, "1/2", None, 1),
    ),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_sampler_draws_from_its_law(name):
    draw, law = DRAWS[name]
    number = 6000
    with seeded(20240117):
        counts = Counter(draw() for _ in range(number))
    expected = {value: float(p) * number for value, p in law.outcomes}
    assert set(counts) <= set(expected)
    assert chisquare([counts[v] for v in expected], list(expected.values())).pvalue > 0.001


def test_every_discrete_noise_has_a_sampler_that_is_tested():
    tested = {
        *DRAWS,
        "discrete_gaussian",
    }  # tests/conformance/test_discrete_gaussian.py: its law is no table of fractions
    assert {name for name, noise in NOISES.items() if noise.discrete} == tested


def test_continuous_noise_has_the_right_mean_and_spread():
    with seeded(5):
        drawn = [laplace(1, scale=2) for _ in range(4000)]
        later = [exponential(1, scale=2) for _ in range(4000)]
    assert sum(drawn) / 4000 == pytest.approx(1, abs=0.2)
    assert sum(abs(x - 1) for x in drawn) / 4000 == pytest.approx(2, abs=0.15)
    assert sum(later) / 4000 == pytest.approx(3, abs=0.15)
    assert min(later) >= 1


def test_randomness_is_secure_unless_it_is_seeded():
    assert isinstance(randomness.source(), randomness.Secure)
    with seeded(1):
        assert isinstance(randomness.source(), randomness.Seeded)
        with seeded(2):
            inner = [uniform(0, 10**4) for _ in range(5)]
        outer = [uniform(0, 10**4) for _ in range(5)]
    assert isinstance(randomness.source(), randomness.Secure)
    with seeded(2):
        assert [uniform(0, 10**4) for _ in range(5)] == inner
    with seeded(1):
        assert [uniform(0, 10**4) for _ in range(5)] == outer


def test_the_secure_source_is_left_after_an_error():
    with pytest.raises(ZeroDivisionError), seeded(1):
        raise ZeroDivisionError
    assert isinstance(randomness.source(), randomness.Secure)


def test_equal_tables_of_other_types_are_not_confused():
    with seeded(3):
        numbers = {type(choice({0: "1/2", 1: "1/2"})) for _ in range(10)}
        truths = {type(choice({False: "1/2", True: "1/2"})) for _ in range(10)}
        bits = {type(randomized_response(0, truth="1/2", among=(0, 1))) for _ in range(10)}
        flags = {type(randomized_response(0, truth="1/2", among=(False, True))) for _ in range(10)}
    assert (numbers, truths, bits, flags) == ({int}, {bool}, {int}, {bool})


def test_what_kind_of_law_each_noise_has():
    assert isinstance(laws.geometric(2, "1/2", None, 1), Geometric)
    assert isinstance(laws.uniform(0, 1), TableLaw)
    assert laws.laplace(0, 1) == Continuous("laplace", 0, 1)
