"""The checker's numbers against those of the engines, which are written apart, and against floats where these tell."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.exact import budgets, exponentials, rationals
from privproof.exact.quotients import ExponentialQuotient
from privproof_checker import numbers as checked
from privproof_checker.numbers.exponentials import ExponentialSum, exceeds, loss

FRACTIONS = st.fractions(-3, 3, max_denominator=12)
ABOVE = st.fractions(Fraction(1, 9), 9, max_denominator=9)
EPSILONS = st.builds(
    lambda ratio, root, shift: f"ln({ratio})/{root} {'-' if shift < 0 else '+'} {abs(shift)}",
    ABOVE,
    st.sampled_from([1, 1, 2, 3, 4]),
    FRACTIONS,
)
TERMS = st.lists(st.tuples(FRACTIONS, FRACTIONS), max_size=4)


def epsilons(text):
    """An epsilon that may be below 0, in the numbers of both."""
    ours = budgets._read_epsilon(text)
    return ours, checked.Epsilon(ours.ratio, ours.root, ours.shift, ours.infinite)


def sums(terms):
    """A sum in the numbers of both."""
    mine = sum((ExponentialSum.term(fmpq(str(q)), fmpq(str(s))) for q, s in terms), ExponentialSum.constant(0))
    return exponentials.ExponentialSum.of((q, 0, s) for q, s in terms), mine


@given(EPSILONS, EPSILONS)
@settings(max_examples=examples(300))
def test_epsilons_are_compared_and_computed_alike(one, two):
    (a, x), (b, y) = epsilons(one), epsilons(two)
    assert (str(x), x.show()) == (str(a), a.show())
    assert x.compare(y) == a.compare(b) == -y.compare(x)
    assert str(x.plus(y)) == str(a.plus(b))
    assert str(x.minus(y)) == str(a.minus(b))
    near = float(a.ball()) - float(b.ball())
    assert abs(near) < 1e-9 or (near > 0) == (x.compare(y) > 0)


@given(EPSILONS, ABOVE, ABOVE, st.fractions(0, 1, max_denominator=9))
@settings(max_examples=examples(300))
def test_the_decisive_comparison_is_the_same(text, left, right, delta):
    ours, mine = epsilons(text)
    numbers = [fmpq(str(each)) for each in (left, right, delta)]
    assert mine.compare_bound(numbers[0]) == ours.compare_bound(left)
    assert mine.allows(*numbers) == ours.allows(left, right, delta)
    gap = float(left) - exp(float(ours.ball())) * float(right) - float(delta)
    assert abs(gap) < 1e-9 or mine.allows(*numbers) == (gap < 0)
    assert checked.smallest_epsilon(*numbers).allows(*numbers)


@pytest.mark.parametrize("ratio", ["2/3", "1/7", "9/4"])
@pytest.mark.parametrize("root", [1, 2, 6])
def test_equal_epsilons_are_equal_however_they_are_written(ratio, root):
    power = fmpq(ratio) ** root
    assert checked.Epsilon(power, root).compare(checked.Epsilon(fmpq(ratio))) == 0
    assert checked.Epsilon(power, root).compare_bound(fmpq(ratio)) == 0
    assert str(checked.Epsilon(power, root).plus(checked.Epsilon())) == f"ln({ratio})"


@pytest.mark.parametrize(
    "text", ["ln(2)", "2*ln(3)/4 + 1/2", "1e-3", "inf", " ( 1+2 ) * ln( 3/2 ) ", "-ln(1/2)", "ln(8)/3-1/5", "1/2/2"]
)
def test_texts_are_read_alike(text):
    assert str(checked.epsilon(text)) == str(budgets.epsilon(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ln",
        "ln(0)",
        "ln(-1)",
        "1/0",
        "1/ln(2)",
        "ln(2)*ln(3)",
        "ln(ln(2))",
        "-1",
        "1 2",
        "1)",
        "(1",
        "nan",
        "1e99999",
        "٣",
    ],
)
def test_what_is_no_epsilon_is_refused_by_both(text):
    for read in (checked.epsilon, budgets.epsilon):
        with pytest.raises(ValueError):
            read(text)


@given(st.one_of(FRACTIONS.map(str), st.decimals(-9, 9, places=3).map(str), st.text("0123456789./eE+- ", max_size=8)))
@settings(max_examples=examples(300))
def test_numbers_are_read_alike(text):
    """The checker is no more generous: where both read a text, it is the same number."""
    found = []
    for read in (checked.rational, rationals.rational):
        try:
            found.append(read(text))
        except ValueError:
            found.append(None)
    assert found[0] == found[1]


@given(TERMS, TERMS, TERMS)
@settings(max_examples=examples(200))
def test_sums_of_exponentials_are_computed_alike(one, two, three):
    (a, x), (b, y), (c, z) = map(sums, (one, two, three))
    theirs, mine = a * b - c * 2 + 1, x * y - z * 2 + 1
    assert str(mine) == theirs.text()
    assert mine.sign() == theirs.sign(1)
    assert mine.ball().overlaps(theirs.ball(1))
    assert mine.rational == theirs.at(1).rational
    assert (x - x).is_zero
    assert x + y == y + x


@given(TERMS, st.lists(st.tuples(ABOVE, FRACTIONS), min_size=1, max_size=3), TERMS)
@settings(max_examples=examples(200))
def test_quotients_are_computed_alike(one, two, three):
    (a, x), (b, y), (c, z) = map(sums, (one, two, three))
    theirs, mine = ExponentialQuotient(a, b) + c, x.over(y) + z
    assert mine.sign() == theirs.sign(1)
    assert mine.ball().overlaps(theirs.ball(1))
    assert (mine - x.over(y)) == z


@given(TERMS, TERMS, EPSILONS)
@settings(max_examples=examples(200))
def test_what_exceeds_is_the_same(one, two, text):
    (a, x), (b, y), (ours, mine) = sums(one), sums(two), epsilons(text)
    assert exceeds(x, y, mine) == exponentials.exceeds(a, b, ours, 1)
    if x.sign() > 0 and y.sign() > 0:
        assert abs(float(loss(x, y)) - log(float(a.ball(1))) + log(float(b.ball(1)))) < 1e-6
