"""Probabilities of polyhedra under Laplace, exponential and geometric noise."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from flint import arb, fmpq

from privproof.engines.integrals import polyhedra
from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.engines.integrals.leaf_sums import geometric_probability
from privproof.engines.integrals.piecewise_functions import Calculus, CentredNoise, Numeric, Symbolic
from privproof.engines.integrals.region_probabilities import probability, probability_ball
from privproof.errors import LanguageError, NumberError
from privproof.exact import rational
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum, loss
from privproof_checker.integrals import probabilities as checked
from privproof_checker.integrals.elimination import Unresolved
from privproof_checker.integrals.probabilities import Integrator

ONE = ExponentialSum.constant(1)


def lap(scale=1) -> CentredNoise:
    return CentredNoise("laplace", rational(scale))


def expo(scale=1) -> CentredNoise:
    return CentredNoise("exponential", rational(scale))


def half(coefficients: dict[int, object], constant=0) -> Halfspace:
    terms = tuple(sorted((number, rational(factor)) for number, factor in coefficients.items()))
    return Halfspace(terms, rational(constant))


def largest(index: int, inputs, noise: CentredNoise):
    """The noisy value of one index is the largest."""
    others = [j for j in range(len(inputs)) if j != index]
    return [noise] * len(inputs), [half({index: 1, j: -1}, inputs[index] - inputs[j]) for j in others]


def sparse_vector(inputs, word: str, threshold="1/2"):
    """Noisy queries above (a) or below (b) a noisy threshold."""
    signs = [1 if letter == "a" else -1 for letter in word]
    rows = [
        half({0: -s, j + 1: s}, s * (rational(q) - rational(threshold)))
        for j, (q, s) in enumerate(zip(inputs, signs, strict=True))
    ]
    return [lap(2)] + [lap(4)] * len(word), rows


def running_sums(count: int, scale=2):
    return [lap(scale)] * count, [half(dict.fromkeys(range(k + 1), 1), 1 - k) for k in range(count)]


def by_polyhedra(noises, halfspaces) -> ExponentialSum:
    ring = Symbolic(1)
    used = sorted({number for halfspace in halfspaces for number, _ in halfspace.coefficients})
    functions = {number: Calculus(ring).prior(noises[number], None, None) for number in used}
    return polyhedra.integrate(functions, halfspaces, ring)


def simulated(noises, halfspaces, samples=200_000) -> float:
    rng = np.random.default_rng(7)
    draws = [
        rng.laplace(0, float(noise.scale), samples)
        if noise.kind == "laplace"
        else rng.exponential(float(noise.scale), samples)
        for noise in noises
    ]
    holds = np.ones(samples, bool)
    for halfspace in halfspaces:
        left = sum((float(factor) * draws[number] for number, factor in halfspace.coefficients), np.zeros(samples))
        holds &= left + float(halfspace.constant) >= 0
    return float(holds.mean())


def test_one_and_two_noises_in_closed_form():
    assert probability([lap(2)], [half({0: -1}, -3)]).text("ε") == "1/2*e^(-3/2 ε)"
    assert probability([lap(2)], [half({0: 1}, 3)]).text("ε") == "1 - 1/2*e^(-3/2 ε)"
    assert probability([expo(2)], [half({0: 2}, -6)]).text("ε") == "e^(-3/2 ε)"
    assert probability([expo(2)], [half({0: 1}, 5)]) == ONE
    both = probability([lap(2), lap(2)], [half({0: 1, 1: 1}, -3)])
    assert both.text("ε") == "1/2*e^(-3/2 ε) + 3/8*ε*e^(-3/2 ε)"
    assert probability([lap(1), lap(2)], [half({0: 1, 1: 1}, -1)]).text("ε") == "2/3*e^(-1/2 ε) - 1/6*e^(-ε)"


def test_noises_apart_multiply_and_noises_in_no_halfspace_are_free():
    rows = [half({0: 1}, -2), half({2: 1}, -2), half({3: 1, 4: -1}, -1), half({}, 0)]
    parts = [probability([lap(), lap(), lap(), lap(), lap()], [row]) for row in rows]
    assert probability([lap()] * 5, rows) == parts[0] * parts[1] * parts[2] * parts[3]
    assert probability([lap()], []) == ONE
    assert probability([lap()], [half({}, -1), half({0: 1}, 0)]).is_zero


@pytest.mark.parametrize("noise", [lap(2), expo(2)])
def test_the_index_of_the_maximum_is_a_partition(noise):
    inputs = (0, 1, rational("3/2"), -1)
    assert sum((probability(*largest(i, inputs, noise)) for i in range(4)), ExponentialSum()) == ONE


def test_the_words_of_the_sparse_vector_are_a_partition():
    words = ["".join(letters) for letters in product("ab", repeat=4)]
    assert sum((probability(*sparse_vector((1, 0, 1, 2), word)) for word in words), ExponentialSum()) == ONE


def test_the_orders_of_noisy_values_are_a_partition_by_polyhedra():
    pairs = [(0, 1), (1, 2), (0, 2)]
    total = ExponentialSum()
    for signs in product((1, -1), repeat=3):
        total += probability(
            [lap(1), lap(2), expo(1)], [half({i: s, j: -s}, s) for (i, j), s in zip(pairs, signs, strict=True)]
        )
    assert total == ONE


@pytest.mark.parametrize(("noise", "expected", "right"), [(lap(2), 0.980397, 0.0750324), (expo(2), 1.0, 0.0735759)])
def test_noisy_max_of_five(noise, expected, right):
    before, after = (probability(*largest(0, inputs, noise)) for inputs in ((1, 1, 1, 1, 1), (0, 2, 2, 2, 2)))
    assert before == ExponentialSum.constant("1/5")
    assert float(after.ball(1)) == pytest.approx(right, abs=5e-8)
    assert float(loss(before, after, 1)) == pytest.approx(expected, abs=5e-7)


def test_sparse_vector_of_three():
    before, after = (probability(*sparse_vector(inputs, "bba")) for inputs in ((1, 1, 1), (2, 2, 0)))
    assert float(loss(before, after, 1)) == pytest.approx(0.624638, abs=5e-7)
    balls = [probability_ball(*sparse_vector(inputs, "bba"), rational(1)) for inputs in ((1, 1, 1), (2, 2, 0))]
    assert balls[0].overlaps(before.ball(1))
    assert balls[1].overlaps(after.ball(1))


def test_tails_lose_no_digits():
    for shift in (80, 184):
        event = [lap(2)], [half({0: 1}, -shift)]
        assert probability(*event) == ExponentialSum.term("1/2", 0, rational(-shift) / 2)
        ball = probability_ball(*event, rational(1))
        assert ball.rel_accuracy_bits() > 100
    # The noisy maximum of an input far below the others: about 1e-40, where one minus the rest has no digit left.
    event = largest(0, (0, 200, 200), lap(2))
    exact, ball = probability(*event), probability_ball(*event, rational(1))
    with precision(160):
        assert exact.ball(1, 400).overlaps(ball)
    assert 1e-45 < float(ball) < 1e-35
    assert ball.rel_accuracy_bits() >= 40
    strip = [half({0: 1, 1: 1}, -160), half({0: -1, 1: -1}, rational(160) + fmpq(1, 10**12))]
    assert probability_ball([lap(2), lap(2)], strip, rational(1)).rel_accuracy_bits() >= 40
    assert probability([lap(2), lap(2)], strip).sign(1) == 1


def test_impossible_events_are_exactly_zero():
    nothing = [half({0: 1, 1: -1}, -1), half({0: -1, 1: 1}, 1)]
    assert probability([lap(), lap()], nothing).is_zero
    assert probability_ball([lap(), lap()], nothing, rational(1)).is_zero()
    cycle = [half({0: 1, 1: -1}), half({1: 1, 2: -1}), half({2: 1, 0: -1})]
    assert probability([lap()] * 3, cycle).is_zero
    assert probability_ball([lap()] * 3, cycle, rational(1)).is_zero()
    below = [half({0: -1, 1: -1, 2: -1}, "-1/9")]
    assert probability([expo()] * 3, below).is_zero
    assert probability_ball([expo()] * 3, below, rational(1)).is_zero()


def test_a_thin_cell_is_not_lost():
    thin = [half({0: 1, 1: 1, 2: 1}), half({0: -1, 1: -1, 2: -1}, fmpq(1, 10**40))]
    number = probability([lap()] * 3, thin)
    # The density of the sum of three Laplace noises at 0 is 3/16.
    assert float(number.ball(1, 512) * arb(10) ** 40) == pytest.approx(3 / 16, rel=1e-12)


def test_beyond_4096_bits_the_closed_form_takes_over():
    width = fmpq(1, 10**1500)
    strip = [half({0: 1, 1: -1}), half({0: -1, 1: 1}, width)]
    ball = probability_ball([lap(), lap()], strip, rational(1))
    # The density of the difference of two Laplace noises at 0 is 1/4.
    assert abs(ball / width - rational("1/4")) < rational("1e-12")


def random_tree(chance: random.Random):
    count = chance.choice([2, 3, 4])
    noises = [chance.choice([lap, lap, expo])(chance.choice([1, 2, "1/2", 3])) for _ in range(count)]
    rows = []
    for i in range(1, count):
        other = chance.randrange(i)
        rows += [
            half(
                {i: chance.choice([1, -1, 2, "-1/3"]), other: chance.choice([1, -1, 3])},
                rational(chance.randint(-3, 3)) / chance.choice([1, 2]),
            )
            for _ in range(chance.choice([1, 1, 2]))
        ]
    if chance.random() < 0.4:
        rows.append(half({chance.randrange(count): chance.choice([1, -2])}, chance.randint(-1, 2)))
    return noises, rows


@pytest.mark.parametrize("seed", range(25))
def test_trees_and_polyhedra_agree_formally(seed):
    noises, rows = random_tree(random.Random(seed))
    number = probability(noises, rows)
    assert number == by_polyhedra(noises, rows)
    ball = probability_ball(noises, rows, rational("3/2"))
    assert ball.overlaps(number.ball("3/2"))
    assert number.is_zero == ball.is_zero()
    with precision(160):
        used = sorted({i for row in rows for i, _ in row.coefficients})
        ring = Numeric(rational("3/2"))
        assert polyhedra.integrate({i: Calculus(ring).prior(noises[i], None, None) for i in used}, rows, ring).overlaps(
            ball
        )


CROSSED = {
    "running sums": running_sums(5),
    "bands": (
        [lap(1), lap(2), lap(3)],
        [half(dict.fromkeys(range(k + 1), s), 2 - s * k) for k in range(3) for s in (1, -1)],
    ),
    "two thresholds": (
        [lap(2), lap(2), lap(4), lap(4), lap(4)],
        [half({0: -1, j: 1}, 1 - j) for j in (2, 3, 4)] + [half({1: 1, j: -1}, 4 - j) for j in (2, 3, 4)],
    ),
    "a sum of queries": (
        [lap(2)] + [lap(4)] * 4,
        [half({0: -1, j: 1}, j - 2) for j in (1, 2, 3, 4)] + [half({1: 1, 2: 1, 3: 1})],
    ),
    "a cycle with slopes": (
        [lap(2), expo(1), lap("1/2")],
        [half({0: 1, 1: -2}, 1), half({1: 3, 2: 1}), half({0: -1, 2: "1/2"}, 2)],
    ),
}


@pytest.mark.parametrize("name", CROSSED)
def test_polyhedra_against_simulation(name):
    noises, rows = CROSSED[name]
    number = probability(noises, rows)
    assert float(number.ball(1)) == pytest.approx(simulated(noises, rows), abs=0.006)
    assert probability_ball(noises, rows, rational(1)).overlaps(number.ball(1))
    assert by_polyhedra(noises, rows) == number


@pytest.mark.parametrize("seed", range(100, 108))
def test_trees_against_simulation(seed):
    noises, rows = random_tree(random.Random(seed))
    assert float(probability_ball(noises, rows, rational(1))) == pytest.approx(simulated(noises, rows), abs=0.006)


def test_chains_and_their_reverse():
    """A chain of comparisons: the probability of an order of equal noises is one over a factorial."""
    rows = [half({i: 1, i + 1: -1}) for i in range(5)]
    assert probability([lap(3)] * 6, rows) == ExponentialSum.constant("1/720")
    assert probability([expo("1/3")] * 6, rows) == ExponentialSum.constant("1/720")


def test_long_words():
    inputs = [j % 3 for j in range(48)]
    word = "".join("ab"[j % 2] for j in range(48))
    exact = probability(*sparse_vector(inputs, word))
    assert probability_ball(*sparse_vector(inputs, word), rational(1)).overlaps(exact.ball(1, 512))
    spread = probability_ball(*sparse_vector(list(range(48)), word), rational("1/10"))
    assert spread > 0
    assert spread.rel_accuracy_bits() >= 40


def test_the_scale_and_epsilon_are_one_number():
    one = probability([lap(2), lap(3)], [half({0: 1, 1: -2}, -1)])
    two = probability([lap("2/3"), lap(1)], [half({0: 1, 1: -2}, -1)])
    assert one.at(3) == two.at(1)


def test_what_is_refused():
    with pytest.raises(LanguageError, match="no continuous noise"):
        CentredNoise("gaussian", rational(1))
    with pytest.raises(LanguageError, match="not above zero"):
        lap(0)
    with pytest.raises(LanguageError, match="not sorted"):
        Halfspace(((1, rational(1)), (0, rational(1))), rational(0))
    with pytest.raises(LanguageError, match="names the noise 3 of 1"):
        probability([lap()], [half({3: 1})])
    with pytest.raises(NumberError, match="not above zero"):
        probability_ball([lap()], [], rational(0))


def brute(alphas, rows, strict, reach=11) -> float:
    axis = np.arange(-reach, reach + 1)
    grids = np.meshgrid(*[axis] * len(alphas), indexing="ij")
    mass = np.ones_like(grids[0], dtype=float)
    for alpha, grid in zip(alphas, grids, strict=True):
        mass *= (1 - float(alpha)) / (1 + float(alpha)) * float(alpha) ** np.abs(grid)
    for row, sharp in zip(rows, strict, strict=True):
        left = sum((int(factor * 6) * grids[number] for number, factor in row.coefficients), 0) + int(row.constant * 6)
        mass = mass * (left > 0 if sharp else left >= 0)
    return float(mass.sum())


@pytest.mark.parametrize("seed", range(25))
def test_geometric_sums_against_enumeration(seed):
    chance = random.Random(seed)
    count = chance.choice([1, 2, 3, 4])
    alphas = [rational(chance.choice(["1/4", "1/5", "1/8", "1/8"])) for _ in range(count)]
    rows = [half({chance.randrange(count): chance.choice([1, -2])}, rational(chance.randint(-6, 6)) / 3)]
    for i in range(1, count):
        other, factor = chance.randrange(i), chance.choice([1, 2, "1/2"])
        for _ in range(chance.choice([1, 2])):
            constant = rational(chance.randint(-6, 9)) / chance.choice([1, 2, 3])
            rows.append(
                half(
                    {i: rational(factor) * chance.choice([1, -1]), other: rational(factor) * chance.choice([1, -1])},
                    constant,
                )
            )
    strict = [chance.random() < 0.5 for _ in rows]
    assert float(geometric_probability(alphas, rows, strict)) == pytest.approx(brute(alphas, rows, strict), abs=2e-6)


def test_geometric_words_are_a_partition():
    alphas = [fmpq(1, 2)] + [fmpq(3, 4)] * 4
    total = Fraction(0)
    for signs in product((True, False), repeat=4):
        rows = [
            half({0: -1, j + 1: 1}, j - 1) if above else half({0: 1, j + 1: -1}, 1 - j) for j, above in enumerate(signs)
        ]
        total += geometric_probability(alphas, rows, [not above for above in signs])
    assert total == 1


def test_geometric_sums_with_equal_ratios_have_polynomials():
    """The sum of two: P(X + Y >= 3) with both ratios 1/2."""
    found = geometric_probability([fmpq(1, 2)] * 2, [half({0: 1, 1: 1}, -3)], [False])
    assert float(found) == pytest.approx(
        brute([fmpq(1, 2)] * 2, [half({0: 1, 1: 1}, -3)], [False], reach=60), abs=1e-12
    )
    assert geometric_probability([fmpq(1, 2)], [half({0: 1}, 0), half({}, 0)], [True, True]) == 0
    assert geometric_probability([fmpq(1, 2)], [half({0: 1}, 0), half({}, 0)], [True, False]) == Fraction(1, 3)
    assert geometric_probability([fmpq(1, 2)], [half({0: 1}, -100)], [False]) == Fraction(2, 3) / 2**100


def test_a_fine_geometric_noise_is_nearly_laplace():
    event = [half({0: 1, 1: -1}, -300)]
    continuous = probability([lap(), lap()], [half({0: 1, 1: -1}, -3)])
    fine = geometric_probability([rational(Fraction(exp(-0.01)).limit_denominator(10**9))] * 2, event, [False])
    assert float(fine) == pytest.approx(float(continuous.ball(1)), rel=0.01)


CYCLE = [half({0: 1, 1: -1}), half({1: 1, 2: -1}), half({0: -1, 2: 1}, 3)]


@pytest.mark.parametrize(
    ("count", "system"),
    [
        (2, [half({0: 1, 1: 2})]),
        (2, [half({0: 2, 1: -3}, 1), half({0: -1, 1: -1}, 2)]),
        (3, [half({0: 1, 1: 1, 2: 1})]),
        (3, [half({0: 2, 1: -1, 2: 3}, -1)]),
        (3, CYCLE),
        (3, [*CYCLE, half({0: 1, 1: 1, 2: -2})]),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_multiples_sums_and_cycles_of_geometric_noises(count, system, strict):
    alphas = [fmpq(1, 4), fmpq(1, 5), fmpq(1, 3)][:count]
    strictly = [strict, *[False] * (len(system) - 1)]
    value = geometric_probability(alphas, system, strictly)
    assert float(value) == pytest.approx(brute(alphas, system, strictly, reach=14), abs=1e-6)
    forms = []  # the checker knows no strict inequalities: they are moved by less than one step
    for halfspace, above in zip(system, strictly, strict=True):
        forms.append((halfspace.coefficients, halfspace.constant - (fmpq(1, 2) if above else 0)))
    assert Integrator().sum_probability([("geometric", alpha) for alpha in alphas], forms) == rational(value)


def test_too_much_work_is_given_up(monkeypatch):
    monkeypatch.setattr(checked, "MOST_WORK", 20)
    with pytest.raises(Unresolved, match="more than 20"):
        Integrator().sum_probability([("geometric", fmpq(1, 2))] * 3, [(h.coefficients, h.constant) for h in CYCLE])


def test_geometric_refusals():
    with pytest.raises(LanguageError, match="between 0 and 1"):
        geometric_probability([fmpq(1)], [half({0: 1})], [False])
