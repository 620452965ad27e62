"""Probabilities of bounds on differences of Laplace noises: against formulas, counting, quadrature and sampling."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.integrate import quad

from privproof.engines.integrals.piecewise_functions import CentredNoise
from privproof.engines.integrals.region_probabilities import difference
from privproof.engines.integrals.region_probabilities import probability as searched
from privproof_checker.integrals import probabilities as bounds
from privproof_checker.integrals.elimination import Unresolved
from privproof_checker.integrals.probabilities import Integrator, probability_ball
from privproof_checker.streams.stream_losses import _inequality

ZERO, ONE = fmpq(0), fmpq(1)


def inequality(low, high, offset):
    return ((), -offset) if low == high else _inequality(low, high, offset)


def probability(scales, differences, bits=256):
    """That noises have ``x_high - x_low >= offset`` for all (low, high, offset); None stands for 0."""
    return probability_ball([("laplace", scale) for scale in scales], [inequality(*each) for each in differences], bits)


def ones(count):
    return [ONE] * count


def close(ball, exact):
    """Whether a ball is narrow and contains the number, itself a rational or a narrow ball."""
    with ctx.workprec(2000):
        assert ball.rel_accuracy_bits() >= 40
        return ball.overlaps(exact) if isinstance(exact, arb) else ball.contains(exact)


def near(ball, value, error=1e-7):
    return abs(float(ball) - value) <= error * value


def density(x, scale, centre):
    return math.exp(-abs(x - centre) / scale) / (2 * scale)


def below(x, scale, centre):
    tail = math.exp(-abs(x - centre) / scale) / 2
    return tail if x <= centre else 1 - tail


def integral(function, low, high, *cuts):
    ends = [low, *sorted(cut for cut in set(cuts) if low < cut < high), high]
    return sum(quad(function, a, b, epsabs=1e-13, epsrel=1e-11)[0] for a, b in itertools.pairwise(ends))


def linear_extensions(count, pairs):
    """How many orders of so many things put the first of each pair before the second."""
    before = [{low for low, high in pairs if high == each} for each in range(count)]
    ways = {frozenset(): 1}
    for _ in range(count):
        longer = {}
        for done, number in ways.items():
            for each in range(count):
                if each not in done and before[each] <= done:
                    longer[done | {each}] = longer.get(done | {each}, 0) + number
        ways = longer
    return sum(ways.values())


# Formulas


def test_nothing_is_asked():
    assert probability([], []) == 1
    assert probability(ones(3), []) == 1
    assert probability(ones(3), [(1, 1, ZERO), (None, None, fmpq(-1))]) == 1


def test_one_noise():
    with ctx.workprec(600):
        tail = arb(-fmpq(3, 2)).exp() / 2
        assert close(probability([fmpq(2)], [(None, 0, fmpq(3))]), tail)
        assert close(probability([fmpq(2)], [(0, None, fmpq(3))]), tail)
        assert close(probability([fmpq(2)], [(None, 0, fmpq(-3))]), 1 - tail)
        assert close(probability([fmpq(2)], [(None, 0, fmpq(-3)), (0, None, fmpq(-3))]), 1 - 2 * tail)


@pytest.mark.parametrize("distance", [0, 1, fmpq(7, 3), 1000, 10**6])
def test_two_noises(distance):
    distance = fmpq(distance)
    with ctx.workprec(2000):
        same = arb(-distance).exp() * (2 + distance) / 4
        wide, narrow = arb(-distance / 3).exp() * 9, arb(-distance / 2).exp() * 4
        assert close(probability(ones(2), [(0, 1, distance)]), same)
        assert close(probability([fmpq(3), fmpq(2)], [(0, 1, distance)]), (wide - narrow) / 10)
        assert close(probability(ones(2), [(0, 1, -distance)]), 1 - same)


def test_equal_laws_are_exchangeable():
    assert close(probability(ones(2), [(0, 1, ZERO)]), fmpq(1, 2))
    assert close(probability(ones(3), [(0, 1, ZERO), (1, 2, ZERO)]), fmpq(1, 6))
    rng = random.Random(7)
    for _ in range(40):
        count = rng.randint(2, 7)
        order = rng.sample(range(count), count)
        pairs = [(order[i], order[j]) for i in range(count) for j in range(i + 1, count) if rng.random() < 0.4]
        ball = probability(ones(count), [(low, high, ZERO) for low, high in pairs])
        assert close(ball, fmpq(linear_extensions(count, pairs), math.factorial(count)))


def test_young_tableaux():
    rows = [(i, i + 1, ZERO) for i in range(12) if i % 4 < 3]
    columns = [(i, i + 4, ZERO) for i in range(8)]
    assert close(probability(ones(12), rows + columns), fmpq(462, math.factorial(12)))


def test_orders_add_up_to_one():
    for scales, centres in (((1, 2, 3), (0, 1, -1)), ((1, 1, 2, 3), (0, 0, 1, 2)), ((2, 3, 5, 7), (3, 1, 0, 1))):
        total = arb(0)
        for order in itertools.permutations(range(len(scales))):
            chain = [(low, high, fmpq(centres[low] - centres[high])) for low, high in itertools.pairwise(order)]
            total += probability([fmpq(scale) for scale in scales], chain)
        with ctx.workprec(256):
            assert total.contains(1)
            assert total.rad() < 1e-13


def test_the_two_cases_of_a_difference_add_up():
    rng = random.Random(11)
    for _ in range(30):
        scales, differences = system(rng, rng.randint(2, 5))
        with ctx.workprec(256):
            parts = [probability(scales, [*differences, each]) for each in ((0, None, ONE), (None, 0, -ONE))]
            assert parts[0] + parts[1] - probability(scales, differences) < fmpq(1, 2**40)
            assert (parts[0] + parts[1]).overlaps(probability(scales, differences))


# Events without volume, and refusals


@pytest.mark.parametrize(
    "differences",
    [
        [(0, 1, ZERO), (1, 0, ZERO)],
        [(0, 1, ONE), (1, 2, fmpq(-3)), (2, 0, fmpq(2))],
        [(0, 1, ONE), (1, 2, fmpq(-3)), (2, 0, fmpq(5, 2))],
        [(None, 0, ONE), (0, 1, ONE), (1, None, fmpq(-2))],
        [(0, 0, fmpq(1, 10**9))],
        [(None, None, ONE)],
        [(None, 0, fmpq(1, 3)), (0, None, fmpq(-1, 3))],
    ],
)
def test_zero(differences):
    found = probability(ones(3), differences)
    assert found.is_zero()
    assert found.is_exact()


def test_nearly_zero():
    thin = fmpq(1, 10**30)
    ball = probability(ones(2), [(0, 1, ZERO), (1, 0, -thin)])
    assert near(ball, 0.25e-30)
    corner = probability(ones(3), [(0, 1, ONE), (1, 2, ONE), (2, 0, -2 - thin)])
    assert corner > 0
    assert corner < fmpq(1, 10**58)


def test_refusals(monkeypatch):
    with pytest.raises(Unresolved, match="bits"):
        probability(ones(2), [(0, 1, ONE)], bits=20_000)
    monkeypatch.setattr(bounds, "MOST_PRODUCTS", 10)
    with pytest.raises(Unresolved, match="products"):
        probability(ones(4), [(0, 1, ONE), (1, 2, ZERO)])


def test_the_precision_grows_and_is_restored():
    before = ctx.prec
    differences = [(i, 0, ZERO) for i in range(1, 81)] + [(0, i, ZERO) for i in range(81, 161)]
    exact = fmpq(math.factorial(80) ** 2, math.factorial(161))
    for bits in (4, *range(150, 250, 10)):
        assert close(probability(ones(161), differences, bits=bits), exact)
    assert ctx.prec == before


# Other ways to integrate


def system(rng, count, far=3):
    scales = [fmpq(rng.choice([1, 1, 1, 2, 3]), rng.choice([1, 1, 2])) for _ in range(count)]
    differences = []
    while len(differences) < rng.randint(1, count + 2):
        low, high = rng.choice([None, *range(count)]), rng.choice([None, *range(count), *range(count)])
        if low != high:
            differences.append((low, high, fmpq(rng.randint(-4, far), rng.choice([1, 1, 2]))))
    return scales, differences


def by_sums(scales, differences):
    """The same probability as an exact sum, by the other ways to integrate: all of them agree."""
    exact = Integrator().probability(
        [("laplace", scale) for scale in scales], [inequality(*each) for each in differences]
    )
    found = searched([CentredNoise("laplace", scale) for scale in scales], [difference(*each) for each in differences])
    assert str(exact) == found.text()
    return exact


def test_sums():
    rng = random.Random(1)
    zeros = 0
    for _ in range(250):
        scales, differences = system(rng, rng.randint(1, 5), far=rng.choice([3, 40]))
        exact = by_sums(scales, differences)
        found = probability(scales, differences)
        assert found.is_zero() == exact.is_zero
        zeros += exact.is_zero
        assert exact.is_zero or close(found, exact.ball(800))
    assert 0 < zeros < 100


@pytest.mark.parametrize("third", [1, 2, 3, 4])
def test_differences_that_nearly_follow_from_others(third):
    differences = [(0, 1, ONE), (1, 2, ONE), (0, 2, fmpq(third))]
    exact = by_sums(ones(3), differences)
    found = probability(ones(3), differences)
    assert close(found, exact.ball(800))
    assert found.overlaps(probability(ones(3), differences[:2])) == (third <= 2)


def test_star_by_quadrature():
    under = [(2.0, 0.5, 7), (2.0, 0.0, 5), (1.5, -1.0, 3), (3.0, 2.0, 1)]
    over = [(2.0, 1.0, 2), (0.5, 0.25, 1)]
    scales, differences = [ONE], []
    for kind, samples in (("under", under), ("over", over)):
        for scale, centre, number in samples:
            for _ in range(number):
                new, offset = len(scales), fmpq(*Fraction(centre).as_integer_ratio())
                differences.append((new, 0, offset) if kind == "under" else (0, new, -offset))
                scales.append(fmpq(*Fraction(scale).as_integer_ratio()))

    def integrand(x):
        value = density(x, 1, 0)
        for scale, centre, number in under:
            value *= below(x, scale, centre) ** number
        for scale, centre, number in over:
            value *= (1 - below(x, scale, centre)) ** number
        return value

    value = integral(integrand, -60, 60, 0, *(centre for _, centre, _ in under + over))
    assert near(probability(scales, differences), value)


def test_range_by_quadrature():
    inside = [(2.0, 0.0, 4), (2.0, 1.0, 2), (1.0, -0.5, 1)]
    scales, differences = [ONE, fmpq(2), ONE], [(1, 2, fmpq(-1, 2))]
    for scale, centre, number in inside:
        for _ in range(number):
            offset = fmpq(*Fraction(centre).as_integer_ratio())
            differences += [(0, len(scales), -offset), (len(scales), 1, offset)]
            scales.append(fmpq(int(scale)))

    def at(high):
        def integrand(low):
            value = density(low, 1, 0)
            for scale, centre, number in inside:
                value *= (below(high, scale, centre) - below(low, scale, centre)) ** number
            return value

        chance = density(high, 2, 0) * (1 - below(high, 1, 0.5))
        return chance * integral(integrand, -40, high, -0.5, 0, 1)

    value = integral(at, -40, 60, -0.5, 0, 0.5, 1)
    assert near(probability(scales, differences), value, 1e-6)


def test_chain_by_quadrature():
    chain = [(0, 1, ONE), (1, 2, fmpq(-2)), (2, 3, fmpq(1, 2))]
    scales = [1, 2, 1, 3]

    def first(x):
        return below(x - 1, scales[0], 0)

    def second(x):
        return integral(lambda y: density(y, scales[1], 0) * first(y), -50, x + 2, 0, 1)

    def third(x):
        return density(x, scales[2], 0) * second(x) * (1 - below(x + 0.5, scales[3], 0))

    value = integral(third, -50, 50, -2, -1, -0.5, 0)
    assert near(probability([fmpq(scale) for scale in scales], chain), value, 1e-6)


def test_sampling():
    rng = random.Random(23)
    draws = np.random.default_rng(23)
    number = 100_000
    compared = 0
    while compared < 40:
        scales, differences = system(rng, rng.randint(3, 9))
        noises = {i: draws.laplace(0, float(scale.p) / float(scale.q), number) for i, scale in enumerate(scales)}
        noises[None] = np.zeros(number)
        hits = np.ones(number, dtype=bool)
        for low, high, offset in differences:
            hits &= noises[high] - noises[low] >= float(offset.p) / float(offset.q)
        chance = float(probability(scales, differences))
        assert abs(hits.mean() - chance) <= 5 * math.sqrt(chance * (1 - chance) / number) + 5 / number
        compared += 0.001 < chance < 0.999


# Symmetries


def test_units_positions_and_reflection_do_not_matter():
    rng = random.Random(5)
    for _ in range(40):
        scales, differences = system(rng, rng.randint(2, 6))
        plain = probability(scales, differences)
        unit = fmpq(7, 3)
        assert probability([scale * unit for scale in scales], [(a, b, c * unit) for a, b, c in differences]).overlaps(
            plain
        )
        places = rng.sample(range(len(scales)), len(scales))
        moved = {None: None, **{old: new for new, old in enumerate(places)}}
        again = probability([scales[old] for old in places], [(moved[a], moved[b], c) for a, b, c in differences])
        assert again.overlaps(plain)
        assert probability(scales, [(b, a, c) for a, b, c in differences]).overlaps(plain)


# The shapes of threshold mechanisms; with equal laws the probability is a count of orders


def test_long_star():
    differences = [(i, 0, ZERO) for i in range(1, 101)] + [(0, 101, ZERO)]
    assert close(probability(ones(102), differences), fmpq(1, 101 * 102))


def test_star_of_both_kinds():
    differences = [(i, 0, ZERO) for i in range(1, 101)] + [(0, i, ZERO) for i in range(101, 201)]
    exact = fmpq(math.factorial(100) ** 2, math.factorial(201))
    assert close(probability(ones(201), differences), exact)


def test_range_with_exit():
    for count in (16, 32):
        inside = range(2, count + 2)
        differences = [(0, i, ZERO) for i in inside] + [(i, 1, ZERO) for i in inside] + [(1, count + 2, ZERO)]
        exact = fmpq(math.factorial(count), math.factorial(count + 3))
        assert close(probability(ones(count + 3), differences), exact)


def test_chain():
    assert close(probability(ones(20), [(i, i + 1, ZERO) for i in range(19)]), fmpq(1, math.factorial(20)))


def test_samples_that_become_thresholds():
    scales, differences, low, high = ones(2), [], 0, 1
    pairs = []
    for _ in range(3):
        for _ in range(2):
            pairs += [(low, len(scales)), (len(scales), high)]
            scales.append(ONE)
        pairs.append((high, len(scales)))
        low, high = high, len(scales)
        scales.append(ONE)
    differences = [(a, b, ZERO) for a, b in pairs]
    exact = fmpq(linear_extensions(len(scales), pairs), math.factorial(len(scales)))
    assert close(probability(scales, differences), exact)


def test_samples_that_do_not_matter():
    """Samples whose centres are far below the threshold are below it almost surely."""
    far = fmpq(-(10**6))
    differences = [(i, 0, ZERO) for i in range(1, 21)] + [(i, 0, far) for i in range(21, 41)] + [(0, 61, ZERO)]
    differences += [(i, 0, far + i) for i in range(41, 61)]
    assert near(probability(ones(62), differences), 1 / (21 * 22), 1e-12)


def test_far_apart():
    """Events of probability around e^(-10^6) have exact sums of exponentials, and balls of the same relative width."""
    far = fmpq(10**6)
    for scales, differences in (
        (ones(3), [(0, 1, far), (1, 2, far)]),
        (ones(4), [(0, 1, far), (1, 2, far), (0, 3, 2 * far), (3, 2, -far)]),
        ([ONE, ONE, fmpq(2), fmpq(2)], [(0, 2, far), (2, 1, far), (0, 3, far), (3, 1, far)]),
        ([ONE, fmpq(2), fmpq(2), fmpq(2)], [(1, 0, far), (2, 0, far), (0, 3, far)]),
    ):
        exact = by_sums(scales, differences)
        assert close(probability(scales, differences), exact.ball(2000))
    many = [(i, 0, far) for i in range(1, 101)] + [(0, 101, far)]
    ball = probability([ONE] + [fmpq(2)] * 101, many)
    assert ball > 0
    assert ball.rel_accuracy_bits() > 40
