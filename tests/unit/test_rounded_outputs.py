"""Noisy numbers that are rounded before they are shown: events of the rounded number are events of the number."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privproof import check, output_probability, records, tight_epsilon
from privproof.language.linear import Linear
from privproof.language.steps import Stepped

ROUNDING = {"round": round, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": np.rint}
numbers = st.floats(-50, 50, allow_nan=False).filter(lambda x: (2 * Fraction(x)).denominator > 1)
bounds = st.one_of(st.integers(-20, 20).map(Fraction), st.fractions(-20, 20, max_denominator=8))


def _holds(form, number):
    return sum((Fraction(str(f)) for f in form.terms.values()), Fraction(0)) * Fraction(number) + Fraction(
        str(form.constant)
    )


@given(st.sampled_from(sorted(ROUNDING)), numbers, bounds)
def test_a_rounded_number_is_bounded_where_the_number_is(how, number, bound):
    stepped, rounded = Stepped(how, Linear.atom(0)), ROUNDING[how](number)
    assert (_holds(stepped.at_most(bound), number) >= 0) == (rounded <= bound)
    assert (_holds(stepped.at_least(bound), number) >= 0) == (rounded >= bound)


@given(st.integers(-1, 4), numbers, st.one_of(bounds, st.integers(-300, 300).map(lambda k: Fraction(k / 100))))
def test_a_decimal_is_the_float_that_python_makes_of_it(digits, number, bound):
    if (2 * Fraction(number) * Fraction(10) ** digits).denominator == 1:
        return  # a tie, which has probability zero
    stepped, rounded = Stepped("round", Linear.atom(0), digits), round(number, digits)
    assert (_holds(stepped.at_most(bound), number) >= 0) == (Fraction(rounded) <= bound)
    assert (_holds(stepped.at_least(bound), number) >= 0) == (Fraction(rounded) >= bound)


def rounded_count(data):
    return round(sum(data) + np.random.laplace(0, 1))


def clamped_histogram(data):
    return [max(0, int(round(data.count(cell) + np.random.laplace(0, 1)))) for cell in (0, 1, 2)]  # noqa: RUF046


def two_decimals(data):
    noisy = []
    for cell in (0, 1):
        noisy.append(round(data.count(cell) + np.random.laplace(0, 2), 2))  # noqa: PERF401
    return noisy


@pytest.mark.parametrize(
    ("function", "values", "epsilon"),
    [
        (rounded_count, (0, 1), 1),
        (clamped_histogram, (0, 1, 2), 2),
        (two_decimals, (0, 1), 1),
    ],
)
def test_rounding_is_proved_for_every_length_and_its_violations_are_found(function, values, epsilon):
    proved = check(function, epsilon=epsilon, data=records(*values))
    refuted = check(function, epsilon=Fraction(1, 2) * epsilon, data=records(*values))
    assert (proved.status, refuted.status) == ("proved", "refuted")
    assert "every length" in str(proved)


def test_the_tight_epsilon_of_a_rounded_count():
    found = tight_epsilon(rounded_count, data=records(0, 1))
    assert str(found.tight) == "1"


def test_probabilities_of_a_rounded_number():
    exact = output_probability(rounded_count, "≤0", data=[0])
    assert str(exact) == "1 - 1/2*e^(-1/2)"
    runs = np.rint(np.random.default_rng(1).laplace(0, 1, 200_000)) <= 0
    assert abs(float(runs.mean()) - float(exact.ball(1, 64).mid())) < 0.01


def test_a_rounded_number_that_is_tested_is_tested_as_the_number():
    def high(data):
        return round(sum(data) + np.random.laplace(0, 1)) > 2

    assert str(output_probability(high, True, data=[1])) == "1/2*e^(-3/2)"


def test_integers_are_not_rounded_by_halves():
    def lattice(data):
        return round((sum(data) + np.random.geometric(0.5) - np.random.geometric(0.5)) / 2)

    assert check(lattice, epsilon=1, data=records(0, 1)).status != "refuted"


def test_equal_outputs_may_be_rounded_noise():
    def both(data):
        return round(data.count(1) + np.random.laplace(0, 1), 2), max(0, round(len(data) + np.random.laplace(0, 1)))

    assert check(both, epsilon=2, data=records(0, 1), neighbours="add-remove").status == "proved"
