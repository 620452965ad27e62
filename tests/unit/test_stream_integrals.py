"""Probabilities of systems of differences: against closed forms, another method, partitions of one, and samples."""

from __future__ import annotations

import random
from itertools import pairwise, permutations, product
from math import comb, factorial

import numpy as np
import pytest
from flint import arb, fmpq
from tests.amounts import selected

from privproof.engines.integrals import difference_polynomials as systems
from privproof.engines.integrals import polyhedra
from privproof.engines.integrals import region_probabilities as probabilities
from privproof.engines.integrals.piecewise_functions import Calculus, CentredNoise, Numeric, Symbolic
from privproof.engines.integrals.region_probabilities import difference
from privproof.errors import LanguageError
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum

ZERO, ONE = fmpq(0), fmpq(1)


def above(low, high, offset=ZERO):
    return difference(low, high, fmpq(offset))


def laplace(scales):
    return [CentredNoise("laplace", scale) for scale in scales]


def probability(scales, differences):
    return probabilities.probability(laplace(scales), differences)


def probability_ball(scales, differences):
    return probabilities.probability_ball(laplace(scales), differences, ONE)


def by_polyhedra(scales, differences):
    """The same probability by the elimination of cells of polyhedra alone."""
    ring = Symbolic(1)
    if any(not each.coefficients and each.constant < 0 for each in differences):
        return constant(0)
    kept = [each for each in differences if each.coefficients]
    used = {number for each in kept for number, _ in each.coefficients}
    priors = {number: Calculus(ring).prior(laplace(scales)[number], None, None) for number in used}
    return polyhedra.integrate(priors, kept, ring)


def by_differences(scales, differences, ring, *, careful):
    """The same probability by the elimination of variables alone, where no bound is a number."""
    calculus = Calculus(ring)
    kept = [each for each in differences if each.coefficients]
    used = {number for each in kept for number, _ in each.coefficients}
    priors = {number: calculus.prior(laplace(scales)[number], None, None) for number in used}
    return systems.integrate(priors, kept, calculus, careful=careful)


def check(scales, differences, expected=None):
    """The closed form equals what is expected, and balls of both ways enclose it."""
    exact = probability(scales, differences)
    if expected is not None:
        assert exact == expected
    ball = probability_ball(scales, differences)
    if exact.is_zero:
        assert ball.is_zero()
        return exact
    assert ball.rel_accuracy_bits() >= 40
    assert ball.overlaps(exact.ball(1, 2000))
    with precision(640):
        careful = probabilities._integral(laplace(scales), differences, Numeric(ONE), careful=True)
    assert careful.overlaps(exact.ball(1, 2000))
    assert careful.rel_accuracy_bits() >= 40
    if all(len(each.coefficients) != 1 for each in differences):
        with precision(640):
            alone = by_differences(scales, differences, Numeric(ONE), careful=True)
        assert alone.overlaps(exact.ball(1, 2000))
        assert alone.rel_accuracy_bits() >= 40
    return exact


def ranges(samples, *, offset=ZERO, scale=ONE):
    """The variables 0 and 1 with so many samples between them."""
    scales = [fmpq(1), fmpq(1)] + [scale] * samples
    nodes = range(2, samples + 2)
    return scales, [above(0, node, offset) for node in nodes] + [above(node, 1, -offset) for node in nodes]


def constant(value):
    return ExponentialSum.constant(value)


def test_nothing_to_hold():
    assert probability([], []) == constant(1)
    assert probability([fmpq(2)], []) == constant(1)
    assert probability_ball([fmpq(2)], []) == 1


def test_one_variable():
    check([fmpq(2)], [above(None, 0, 3)], ExponentialSum.term("1/2", 0, "-3/2"))
    check([fmpq(2)], [above(0, None, 3)], ExponentialSum.term("1/2", 0, "-3/2"))
    check([fmpq(2)], [above(None, 0, 0), above(0, None, -2)], constant("1/2") - ExponentialSum.term("1/2", 0, -1))


@pytest.mark.parametrize("scales", [(1, 1), (1, 2), (3, "5/7")])
def test_a_symmetric_comparison_is_a_half(scales):
    numbers = [ExponentialSum.constant(scale).terms[0][0] for scale in scales]
    check(numbers, [above(0, 1)], constant("1/2"))


def test_contradictions_have_probability_zero():
    pair = [fmpq(1)] * 2
    for differences in (
        [above(0, 1, 1), above(1, 0, 0)],
        [above(0, 1, 1), above(1, 0, -1)],
        [above(None, 0, 1), above(0, None, -1)],
        [above(0, 0, 1)],
        [above(None, None, fmpq(1, 2))],
    ):
        check(pair, differences, constant(0))
    check([fmpq(1)] * 3, [above(0, 1), above(1, 2), above(2, 0)], constant(0))
    check(pair, [above(0, 0, -1), above(None, None, 0)], constant(1))


def test_unknown_variables_and_bad_scales_are_refused():
    with pytest.raises(LanguageError, match="names the noise 1 of 1"):
        probability([fmpq(1)], [above(0, 1)])
    with pytest.raises(LanguageError, match="names the noise -1 of 1"):
        probability([fmpq(1)], [above(-1, 0)])
    with pytest.raises(LanguageError, match="not above zero"):
        probability_ball([fmpq(0)], [])


@pytest.mark.parametrize("samples", [1, 2, 5, 16, pytest.param(32, marks=pytest.mark.slow)])
def test_ranges_of_equal_scales_count_orders(samples):
    scales, differences = ranges(samples)
    ways = fmpq(factorial(samples), factorial(samples + 2))
    check(scales, differences, constant(ways))
    exit_above = [*differences, above(1, samples + 2)]
    check([*scales, fmpq(1)], exit_above, constant(ways / (samples + 3)))


def test_stars_of_equal_scales_count_orders():
    scales = [fmpq(3)] * 201
    below = [above(node, 0) for node in range(1, 101)]
    check(scales, [*below, above(0, 101)], constant(fmpq(factorial(100), factorial(102))))
    both = [*below, *(above(0, node) for node in range(101, 201))]
    check(scales, both, constant(fmpq(1, 201 * comb(200, 100))))


def test_several_thresholds_of_equal_scales_count_orders():
    below_both = [above(node, threshold) for node in range(2, 12) for threshold in (0, 1)]
    check([fmpq(1)] * 12, below_both, constant(fmpq(2 * factorial(10), factorial(12))))
    complete = [above(low, high) for low in (0, 1, 2) for high in (3, 4, 5, 6)]
    check([fmpq(1)] * 7, complete, constant(fmpq(factorial(3) * factorial(4), factorial(7))))
    pairs = ((0, 3), (3, 1), (0, 4), (4, 1), (1, 5), (5, 2), (0, 6), (6, 2))
    nested = [above(low, high) for low, high in pairs]
    orders = sum(all(order[one] < order[two] for one, two in pairs) for order in permutations(range(7)))
    check([fmpq(1)] * 7, nested, constant(fmpq(orders, factorial(7))))


def test_a_chain_of_equal_scales_has_one_order():
    check([fmpq(1)] * 20, [above(i, i + 1) for i in range(19)], constant(fmpq(1, factorial(20))))


@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize("scales", [(1, 2, 3), (1, 1, 2, 3)])
def test_all_orders_add_up_to_one(scales, redundant):
    total = constant(0)
    for order in permutations(range(len(scales))):
        pairs = [(one, two) for i, one in enumerate(order) for two in order[i + 1 :]] if redundant else pairwise(order)
        total = total + probability([fmpq(scale) for scale in scales], [above(*pair) for pair in pairs])
    assert total == constant(1)


@pytest.mark.parametrize("seed", range(4))
def test_all_answers_of_comparisons_add_up_to_one(seed):
    rng = random.Random(seed)
    scales = [fmpq(rng.randint(1, 3), rng.randint(1, 2)) for _ in range(4)]
    pairs = [(*rng.sample(range(4), 2), fmpq(rng.randint(-4, 4), rng.randint(1, 3))) for _ in range(5)]
    total = constant(0)
    for answers in product((True, False), repeat=len(pairs)):
        held = [
            above(low, high, offset) if answer else above(high, low, -offset)
            for (low, high, offset), answer in zip(pairs, answers, strict=True)
        ]
        total = total + probability(scales, held)
    assert total == constant(1)


@pytest.mark.parametrize("offset", [ZERO, fmpq(-3, 2), fmpq(5)])
def test_all_places_of_samples_add_up_to_the_order_of_thresholds(offset):
    samples = 5
    scales = [fmpq(1), fmpq(2)] + [fmpq(3)] * samples
    total = constant(0)
    for low in range(samples + 1):
        for high in range(samples + 1 - low):
            differences = [above(0, 1)]
            for node in range(2, samples + 2):
                if node - 2 < low:
                    differences.append(above(node, 0, -offset))
                elif node - 2 < low + high:
                    differences.append(above(1, node, offset))
                else:
                    differences += [above(0, node, offset), above(node, 1, -offset)]
            times = comb(samples, low) * comb(samples - low, high)
            total = total + probability(scales, differences) * times
    assert total == constant("1/2")


@pytest.mark.parametrize("seed", range(30))
def test_trees_agree_with_the_elimination_of_variables(seed):
    rng = random.Random(seed)
    count = rng.randint(2, 12)
    scales = [fmpq(rng.randint(1, 3), rng.randint(1, 2)) for _ in range(count)]
    differences = []
    for node in range(1, count):
        ends = [node, rng.randrange(node)]
        rng.shuffle(ends)
        differences.append(above(*ends, fmpq(rng.randint(-3, 3), rng.randint(1, 3))))
    if rng.random() < 0.5:
        differences.append(above(None, rng.randrange(count), fmpq(rng.randint(-2, 2))))
    walls = differences[count - 1 :]
    exact = check(
        scales, differences, None if walls else by_differences(scales, differences, Symbolic(1), careful=False)
    )
    if count <= 5:
        assert exact == by_polyhedra(scales, differences)


@pytest.mark.parametrize("seed", selected(range(150), 25))
def test_cycles_agree_with_cells_of_polyhedra(seed):
    rng = random.Random(seed)
    count = rng.randint(3, 5)
    scales = [fmpq(rng.randint(1, 3), rng.randint(1, 2)) for _ in range(count)]
    order = rng.sample(range(count), count)
    offsets = rng.choice([[0], [-1, 0, 1], [-2, -1, fmpq(-1, 3), 0, fmpq(1, 2)]])
    differences = []
    for _ in range(rng.randint(count, 2 * count)):
        low, high = sorted(rng.sample(range(count), 2), key=order.index)
        if rng.random() < 0.1:
            low, high = high, low
        ends = [None if rng.random() < 0.07 else end for end in (low, high)]
        differences.append(above(*ends, rng.choice(offsets)))
    check(scales, differences, by_polyhedra(scales, differences))


@pytest.mark.parametrize("offset", [0, 1, fmpq(-5, 2)])
def test_equal_samples_agree_with_cells_of_polyhedra(offset):
    scales, differences = ranges(3, offset=fmpq(offset), scale=fmpq(2))
    check(scales, differences, by_polyhedra(scales, differences))
    bounded = [*differences, above(None, 0, -1), above(1, None, -2), above(2, None, -1)]
    check(scales, bounded, by_polyhedra(scales, bounded))


def test_equal_samples_of_several_centres():
    scales = [fmpq(1), fmpq(2)] + [fmpq(3)] * 12
    differences = []
    for node in range(2, 14):
        differences += [above(0, node, node % 3), above(node, 1, -(node % 3))]
    check(scales, differences)
    shuffled = random.Random(1).sample(differences, len(differences))
    assert probability(scales, shuffled) == probability(scales, differences)


def test_unconnected_groups_multiply():
    one = probability([fmpq(1), fmpq(2)], [above(0, 1, 1)])
    two = probability([fmpq(1)] * 3, [above(0, 1), above(1, 2), above(0, 2, 2)])
    both = [above(0, 1, 1), above(3, 4), above(4, 5), above(3, 5, 2)]
    check([fmpq(1), fmpq(2), fmpq(7), fmpq(1), fmpq(1), fmpq(1)], both, one * two)


@pytest.mark.parametrize("seed", selected(range(6), 3))
def test_samples_agree(seed):
    rng = random.Random(seed)
    count = rng.randint(4, 7)
    scales = [fmpq(rng.randint(1, 3)) for _ in range(count)]
    differences = []
    for _ in range(count + 2):
        low, high = sorted(rng.sample(range(count), 2))
        differences.append(above(low, high, fmpq(rng.randint(-9, 1), 3)))
    exact = check(scales, differences)
    size = 2_000_000
    noise = np.random.default_rng(seed)
    columns = [noise.laplace(scale=int(scale.p), size=size) for scale in scales]
    held = np.ones(size, dtype=bool)
    for each in differences:
        held &= sum(float(sign) * columns[node] for node, sign in each.coefficients) >= -float(each.constant)
    expected = float(exact.ball(1).mid())
    deviation = (expected * (1 - expected) / size) ** 0.5
    assert abs(held.mean() - expected) < 5 * deviation


@pytest.mark.parametrize("far", [1000, 10**6])
def test_tiny_probabilities_have_relative_accuracy(far):
    scales, differences = ranges(6, offset=fmpq(far), scale=fmpq(2))
    check(scales, differences)
    check(scales[:3], [above(0, 2, far), above(2, 1, -far)])
    tail = probability_ball([fmpq(1), fmpq(1)], [above(0, 1, far)])
    with precision(200):
        expected = arb(-far).exp() * (arb(2) + far) / 4
    assert tail.overlaps(expected)
    assert tail.rel_accuracy_bits() >= 40


def test_the_noise_has_scale_over_epsilon():
    scales, differences = ranges(2, offset=fmpq(1), scale=fmpq(2))
    halved = probability([scale / 2 for scale in scales], differences)
    assert probability(scales, differences).at(2) == halved.at(1)


def test_functions_with_gaps_are_integrated_on_both_sides():
    scales, differences = ranges(2)
    total = constant(0)
    for sides in product((True, False), repeat=2):
        walls = [above(None, node, 1) if side else above(node, None, 1) for node, side in enumerate(sides, 2)]
        total = total + probability(scales, differences + walls)
    calculus = Calculus(Symbolic(1))
    elimination = systems._Elimination(1, calculus, careful=True)
    prior = elimination._given(calculus.prior(CentredNoise("laplace", scales[0]), None, None))
    one = elimination.one
    parts = [(one, elimination._cut(prior, None, -1)), (one, elimination._cut(prior, 1, None))]
    gap = elimination._new(elimination._combined(parts))
    factors = {0: ((prior, 1),), 1: ((prior, 1),), 2: ((gap, 1),)}
    terms = [systems._Term(one, factors, {(0, 2): 0, (2, 1): 0})]
    for node, times in ((2, 2), (0, 1), (1, 1)):
        terms = [made for term in terms for made in elimination._without(term, node, times)]
    assert sum((term.coefficient for term in terms), constant(0)) == total
