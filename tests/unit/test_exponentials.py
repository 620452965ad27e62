"""Exponential sums: exact arithmetic, exact signs, closed forms."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.errors import NumberError
from privproof.exact import INFINITE, epsilon, rational
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum, exceeds, loss

SMALL = st.fractions(min_value=-3, max_value=3, max_denominator=6)
SUMS = st.lists(st.tuples(SMALL, st.integers(-2, 2), SMALL), max_size=4).map(ExponentialSum.of)
EPSILONS = st.fractions(min_value=Fraction(1, 4), max_value=2, max_denominator=4)


def value(number: ExponentialSum, at: Fraction) -> float:
    return sum(float(Fraction(str(q))) * float(at) ** a * exp(float(Fraction(str(s))) * at) for q, a, s in number.terms)


@settings(max_examples=examples(60), deadline=None)
@given(SUMS, SUMS, SUMS, EPSILONS)
def test_the_laws_of_a_ring_and_of_evaluation(one, two, three, at):
    assert one + two == two + one
    assert one * (two + three) == one * two + one * three
    assert (one - one).is_zero
    assert one - two == -(two - one)
    assert float((one * two).ball(at)) == pytest.approx(value(one, at) * value(two, at), rel=1e-9, abs=1e-9)
    expected = value(one, at) - value(two, at)
    assert abs(expected) < 1e-9 or one.compare(two, at) == (1 if expected > 0 else -1)
    assert one.at(at).ball(1).overlaps(one.ball(at))
    assert (one * two).at(at) == one.at(at) * two.at(at)


def test_numbers_of_every_exact_kind_mix_in():
    number = ExponentialSum.term(1, 0, -1)
    assert (1 - number) + Fraction(1, 2) == rational("3/2") - number
    assert 2 * number * Fraction(1, 2) == number
    assert (number * 0).is_zero
    assert number.scaled(1) == ExponentialSum.constant(1)


def test_closed_forms():
    assert str(ExponentialSum.term("1/8", 0, "-9/2")) == "1/8*e^(-9/2)"
    assert ExponentialSum.term("1/8", 0, "-9/2").text("ε") == "1/8*e^(-9/2 ε)"
    assert ExponentialSum.of([("1/2", 0, 0), ("-1/8", 1, -1)]).text("ε") == "1/2 - 1/8*ε*e^(-ε)"
    assert str(ExponentialSum.of([("1/2", 0, 0), ("-1/8", 1, -1), ("-1/8", 0, -1)])) == "1/2 - 1/4*e^(-1)"
    assert ExponentialSum.of([(-1, 2, 1)]).text("x") == "-x^2*e^(x)"
    assert str(ExponentialSum()) == "0"
    assert repr(ExponentialSum.constant(1)) == "ExponentialSum('1')"


def test_signs_are_exact_where_floats_see_nothing():
    with precision(400):
        nearly = (arb(1).exp() * fmpq(10) ** 60).mid().fmpq()
    number = ExponentialSum.term(fmpq(10) ** 60, 0, 1) - nearly
    assert number.sign(1) != 0
    assert number.sign(1) == -(-number).sign(1)
    assert (ExponentialSum.term(1, 1, 0) - ExponentialSum.constant("1/3")).sign("1/3") == 0
    tail = ExponentialSum.constant(1) - (ExponentialSum.constant(1) - ExponentialSum.term(1, 0, -500))
    assert tail.sign(1) == 1
    assert tail.compare(ExponentialSum.term(1, 0, -501), 1) == 1


def test_exceeding_a_budget_is_exact_at_the_budget():
    left, right = ExponentialSum.term("1/8", 0, "-9/2"), ExponentialSum.term("1/8", 0, -6)
    assert not exceeds(left, right, epsilon("3/2"), 1)
    assert exceeds(left, right, epsilon("3/2"), 2)
    assert exceeds(left * Fraction(1001, 1000), right, epsilon("3/2"), 1)
    assert not exceeds(left * 2, right, epsilon("3/2 + ln(2)"), 1)
    assert exceeds(left * 2, right, epsilon("3/2 + ln(199/100)"), 1)
    assert exceeds(left * 2, right, epsilon("3/2 + ln(3)/2"), 1)
    assert not exceeds(left * 2, right, epsilon("3/2 + ln(5)/2"), 1)
    assert not exceeds(left, right, INFINITE, 1)
    assert exceeds(left, ExponentialSum(), INFINITE, 1)
    assert not exceeds(ExponentialSum(), right, epsilon(0), 1)


def test_equality_with_a_root_is_not_established():
    from privproof.exact.budgets import Epsilon

    half = Epsilon(ratio=rational(4), root=2)
    assert not exceeds(ExponentialSum.constant(2), ExponentialSum.constant(1), half, 1)


def test_loss():
    tiny = ExponentialSum.constant(1) - (ExponentialSum.constant(1) - ExponentialSum.term(1, 0, -900))
    mixed = tiny + ExponentialSum.term(1, 0, -901)
    assert loss(mixed, tiny, 1).overlaps((1 + arb(-1).exp()).log())
    assert loss(ExponentialSum.constant(1), ExponentialSum(), 1) == arb("inf")
    assert loss(ExponentialSum(), ExponentialSum.constant(1), 1) == arb("-inf")
    with pytest.raises(NumberError, match="no logarithm"):
        loss(-tiny, tiny, 1)


def test_what_is_refused():
    with pytest.raises(NumberError, match="not above zero"):
        ExponentialSum.constant(1).at(0)
    with pytest.raises(NumberError, match="is a float"):
        ExponentialSum.constant(0.5)
