"""Probabilities of comparisons of noises as balls: the engines' panels, the checker's trapezoids and FLINT's integrals."""

from fractions import Fraction
from math import factorial, prod

import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.engines.integrals import integration_panels as panels
from privproof.engines.integrals.density_curves import DensityLaw, LawCurve
from privproof.engines.integrals.integral_enclosures import FormCondition, probability
from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.engines.integrals.piecewise_functions import CentredNoise
from privproof.engines.integrals.region_probabilities import probability as exact_probability
from privproof.errors import LanguageError
from privproof.exact import rational
from privproof.exact.balls import precision
from privproof_checker.integrals.normal_enclosures import forest_probability
from privproof_checker.outcomes import Refusal

WIDEST = 1e-12


def less(i, j, by=0):
    """x_i <= x_j + by."""
    return {j: rational(1), i: rational(-1)}, rational(by)


def engine(noises, conditions):
    return probability([(kind, rational(s)) for kind, s in noises], [FormCondition(*each) for each in conditions])


def checker(noises, conditions):
    with precision(96):
        return forest_probability([(kind, rational(s)) for kind, s in noises], conditions, "here")


def holds(ball, value, tolerance=0.0):
    with precision(128):
        near = abs(ball - (arb(rational(value)) if isinstance(value, Fraction) else arb(value)))
    return bool(near.lower() <= tolerance) and float(ball.rad()) < WIDEST


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "exponential"])
@pytest.mark.parametrize("length", [2, 3, 5, 8])
def test_all_orders_of_equal_noises_are_equally_likely(kind, length):
    chain = [less(i, i + 1) for i in range(length - 1)]
    assert holds(engine([(kind, 2)] * length, chain), Fraction(1, factorial(length)))
    if kind == "gaussian" or length < 4:
        assert holds(checker([(kind, 2)] * length, chain), Fraction(1, factorial(length)))


def test_fifteen_in_a_row():
    chain = [less(i, i + 1) for i in range(14)]
    for by in (engine, checker):
        found = by([("gaussian", 2)] * 15, chain)
        assert abs(found * factorial(15) - 1).upper() < 1e-2
        assert holds(found, Fraction(1, factorial(15)))


@pytest.mark.parametrize("count", [2, 3, 6])
def test_the_last_in_the_range_of_the_first(count):
    """It is neither the largest nor the smallest of all: with probability (k-1)/(k+1)."""
    noises = [("gaussian", 3)] * (count + 1)
    largest, smallest = (by(noises, [less(i, count) if up else less(count, i) for i in range(count)])
                         for by, up in ((engine, True), (checker, False)))  # fmt: skip
    assert holds(1 - largest - smallest, Fraction(count - 1, count + 1))


@settings(max_examples=examples(270), deadline=None)
@given(st.data(), st.integers(4, 10))
def test_coarse_rules_err_by_less_than_they_say(data, nodes):
    """Far fewer nodes than are used: errors that can be seen, and bounds that hold them."""
    forest = data.draw(forests())
    try:
        exact = engine(*forest)
    except LanguageError:
        return
    before = panels.NODES
    try:
        panels.NODES = nodes
        panels.rule.cache_clear()
        coarse = engine(*forest)
    finally:
        panels.NODES = before
        panels.rule.cache_clear()
    assert coarse.overlaps(exact), (nodes, coarse, exact)


@pytest.mark.parametrize(("length", "ups"), [(4, 5), (6, 61), (8, 1385), (10, 50521)])
def test_orders_that_go_up_and_down(length, ups):
    """The Euler numbers count them."""
    zigzag = [less(i, i + 1) if i % 2 == 0 else less(i + 1, i) for i in range(length - 1)]
    for by in (engine, checker):
        assert holds(by([("gaussian", 1)] * length, zigzag), Fraction(ups, factorial(length)))


@pytest.mark.parametrize("parents", [(0, 0, 1, 1, 2), (0, 1, 1, 2, 2, 0), (0, 0, 0, 3, 3, 4)])
def test_rooted_forests_have_the_product_of_their_hooks(parents):
    """Every vertex is the largest of all below it: with probability 1 over how many these are, independently."""
    count = len(parents) + 1
    above = [less(child, parent) for child, parent in enumerate(parents, start=1)]
    sizes = [1] * count
    for child in range(count - 1, 0, -1):
        sizes[parents[child - 1]] += sizes[child]
    for by in (engine, checker):
        assert holds(by([("gaussian", 3)] * count, above), Fraction(1, prod(sizes)))


def test_the_normal_distribution_function_exceeds_one_off_the_line_and_stays_within_its_bound():
    curve = LawCurve(DensityLaw("gaussian", rational(0), rational(1)), "below")
    largest = 0.0
    for across in (Fraction(1, 2), Fraction(1)):
        for low in range(-3, 4):
            piece = curve.piece(rational(low), rational(low + 1))
            bound = piece.bound(arb(low), arb(low + 1), arb(rational(across)))
            for k in range(9):
                z = acb(arb(rational(low + Fraction(k, 8))), arb(rational(across)))
                size = abs(acb.erfc(-z / arb(2).sqrt()) / 2)
                assert size <= bound
                largest = max(largest, float(size.mid()))
    assert largest > 1.01


def test_the_largest_of_a_hundred():
    star = [less(i, 0) for i in range(1, 101)]
    for by in (engine, checker):
        assert holds(by([("gaussian", 1)] * 101, star), Fraction(1, 101))


@pytest.mark.parametrize(
    ("noises", "conditions", "known"),
    [
        (
            [("laplace", 4), ("gaussian", 2), ("laplace", 1), ("gaussian", 4)],
            [less(0, 1, 1), less(1, 2, 1), less(2, 3, -2)],
            "0.09260322863548",
        ),
        ([("gaussian", 8), ("gaussian", 8), ("gaussian", 4)], [less(0, 2), less(2, 1, 1)], "0.24041047251514070"),
        ([("laplace", 4), ("laplace", 8), ("laplace", 8)], [less(1, 0), less(0, 2, 1)], "0.229389208989661735"),
    ],
)
def test_known_values(noises, conditions, known):
    assert holds(engine(noises, conditions), known, 1e-13)


NOISES = st.tuples(
    st.sampled_from(["gaussian", "gaussian", "laplace", "exponential"]),
    st.fractions(min_value=Fraction(1, 4), max_value=8, max_denominator=4),
)
FACTORS = st.sampled_from([1, 1, 2, 3, -1, -1, -2, Fraction(-1, 2)])
CONSTANTS = st.fractions(min_value=-4, max_value=4, max_denominator=2)


@st.composite
def forests(draw, kinds=NOISES):
    noises = draw(st.lists(kinds, min_size=1, max_size=5))
    conditions = []
    for j in range(1, len(noises)):
        if draw(st.integers(0, 9)):
            i = draw(st.integers(0, j - 1))
            a, b, c = (rational(each) for each in (draw(FACTORS), draw(FACTORS), draw(CONSTANTS)))
            conditions.append(({i: a, j: b}, c))
            if not draw(st.integers(0, 6)):
                conditions.append(({i: -a, j: -b}, rational(draw(st.integers(1, 6))) - c))
    if draw(st.booleans()):
        i = draw(st.integers(0, len(noises) - 1))
        conditions.append(({i: rational(draw(FACTORS))}, rational(draw(CONSTANTS))))
    return noises, conditions


@settings(max_examples=examples(400), deadline=None)
@given(forests())
def test_the_checker_and_the_engine_enclose_the_same_number(forest):
    try:
        one, two = engine(*forest), checker(*forest)
    except (LanguageError, Refusal):
        return
    assert one.overlaps(two), (one, two)


@settings(max_examples=examples(200), deadline=None)
@given(forests(st.tuples(st.sampled_from(["laplace", "exponential"]), st.integers(1, 5).map(Fraction))))
def test_without_gaussian_noise_the_exact_number_is_enclosed(forest):
    noises, conditions = forest
    halfspaces = [Halfspace(tuple(sorted(factors.items())), constant) for factors, constant in conditions]
    exact = exact_probability([CentredNoise(kind, rational(s)) for kind, s in noises], halfspaces)
    known = arb(0) if exact.is_zero else exact.ball(1, 192)
    for by in (engine, checker):
        try:
            found = by(noises, conditions)
        except (LanguageError, Refusal):
            continue
        assert found.overlaps(known), (by, found, known)


def test_what_is_no_forest_is_refused():
    cycle = [less(0, 1), less(1, 2), ({0: rational(-1), 2: rational(1)}, rational(-1))]
    three = [({0: rational(1), 1: rational(1), 2: rational(1)}, rational(0))]
    for conditions in (cycle, three):
        with pytest.raises(LanguageError, match=r"cycle|at once"):
            engine([("gaussian", 1)] * 3, conditions)
        with pytest.raises(Refusal):
            checker([("gaussian", 1)] * 3, conditions)


def test_the_checker_leaves_out_what_follows():
    found = checker([("gaussian", 1)] * 3, [less(0, 1), less(1, 2), less(0, 2)])
    assert abs(found - arb(1) / 6) < 1e-12
    assert checker([("gaussian", 1)] * 3, [less(0, 1), less(1, 2), less(2, 0)]) == 0


def test_the_precision_is_as_before():
    before = ctx.prec
    engine([("gaussian", 1)] * 2, [less(0, 1)])
    assert ctx.prec == before


def test_comparisons_that_contradict_one_another_twice_are_no_event():
    noises = [("gaussian", 1), ("gaussian", 1), ("laplace", 1)]
    never = [less(0, 1, -3), less(1, 0, 1), less(0, 2, -3), less(2, 0, 1)]
    assert engine(noises, never) == 0
