"""Numbers that are tested and then shown: clamps, thresholds, the best of several, mixtures; against sums over fine grids."""

import copy
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from tests.amounts import examples
from tests.certificates import nested, recheck

from privproof import bernoulli, check, gaussian, integer, laplace, mechanism, records, smallest_delta, tight_epsilon
from privproof_checker import Accepted

BITS = records(0, 1)
LAWS = {"gaussian": stats.norm, "laplace": stats.laplace}
DRAWS = {"gaussian": lambda m, s: gaussian(m, sigma=s), "laplace": lambda m, s: laplace(m, scale=s)}


def grid_excess(f, g, c, low=-60, high=60, marks=()):
    """The integral of ``max(0, f - c g)`` by Gauss-Legendre rules on short pieces, cut at the marks and where the sign changes."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    ends = np.unique(np.concatenate([np.linspace(low, high, 2_001), np.array(marks, dtype=float)]))
    inside = ends[:-1] + 1e-9 * np.diff(ends), ends[1:] - 1e-9 * np.diff(ends)
    sides = [f(x) - c * g(x) for x in inside]
    roots = [
        optimize.brentq(lambda x: float(f(np.array(x)) - c * g(np.array(x))), inside[0][k], inside[1][k], xtol=1e-13)
        for k in np.nonzero((sides[0] > 0) != (sides[1] > 0))[0]
        if sides[0][k] * sides[1][k] < 0
    ]
    ends = np.unique(np.concatenate([ends, np.array(roots)]))
    half = np.diff(ends)[:, None] / 2
    points = (ends[:-1, None] + half) + half * nodes
    return float((np.maximum(0, f(points) - c * g(points)) * weights * half).sum())


def enclosed(found, value, tolerance):
    """Whether the smallest delta is the one known, both ends of it certified and close together."""
    assert recheck(nested(found.proof.certificate)).verdict == "proved"
    assert recheck(nested(found.refutation.certificate)).verdict == "refuted"
    assert found.upper - found.lower < 1e-11
    return float(found.lower) - tolerance <= value <= float(found.upper) + tolerance


def clamped(data):
    return max(0, min(3, sum(data) + random.gauss(0, 2)))


def shown_above(data):
    noisy = sum(data) + random.gauss(0, 2)
    return noisy if noisy > 2 else None


def kept_cell(data):
    if sum(data) == 0:
        return None
    noisy = gaussian(sum(data), sigma=1)
    return noisy if noisy > 3 else None


def above_zero(data):
    noisy = laplace(sum(data), scale=2)
    return noisy if noisy > 0 else 0


def normal_excess(m, n, sigma, c, low, high):
    """The excess of two normal laws between two points: by its only root."""
    root = (m + n) / 2 + math.log(c) * sigma**2 / (m - n)
    low, high = (max(low, root), high) if m > n else (low, min(high, root))
    if low >= high:
        return 0.0
    one, two = (stats.norm.cdf(high, k, sigma) - stats.norm.cdf(low, k, sigma) for k in (m, n))
    return one - c * two


def clamped_delta(c):
    found = []
    for m in range(3):
        for n in {m - 1, m + 1} & {0, 1, 2}:
            zero = stats.norm.cdf(0, m, 2) - c * stats.norm.cdf(0, n, 2)
            top = stats.norm.sf(3, m, 2) - c * stats.norm.sf(3, n, 2)
            found.append(max(0, zero) + max(0, top) + normal_excess(m, n, 2, c, 0, 3))
    return max(found)


def above_delta(c):
    hidden = [stats.norm.cdf(2, m, 2) - c * stats.norm.cdf(2, n, 2) for m, n in ((0, 1), (1, 0), (1, 2), (2, 1))]
    shown = [normal_excess(m, n, 2, c, 2, math.inf) for m, n in ((0, 1), (1, 0), (1, 2), (2, 1))]
    return max(max(0, a) + b for a, b in zip(hidden, shown, strict=True))


def cell_delta(c):
    found = [stats.norm.sf(3, 1, 1)]  # a record that only one side holds
    for m, n in ((1, 2), (2, 1)):
        hidden = stats.norm.cdf(3, m, 1) - c * stats.norm.cdf(3, n, 1)
        found.append(max(0, hidden) + normal_excess(m, n, 1, c, 3, math.inf))
    found.append(1 - c * stats.norm.cdf(3, 1, 1))
    return max(found)


def zero_delta(c):
    found = []
    for m, n in ((0, 1), (1, 0), (1, 2), (2, 1)):
        f, g = stats.laplace(m, 2).pdf, stats.laplace(n, 2).pdf
        atom = stats.laplace.cdf(0, m, 2) - c * stats.laplace.cdf(0, n, 2)
        found.append(max(0, atom) + grid_excess(f, g, c, 0, 160, marks=(m, n)))
    return max(found)


@pytest.mark.parametrize("epsilon", ["1/8", "1/3"])
@pytest.mark.parametrize(
    ("function", "known"),
    [(clamped, clamped_delta), (shown_above, above_delta), (kept_cell, cell_delta), (above_zero, zero_delta)],
)
def test_the_delta_of_a_number_that_is_tested_and_shown(function, known, epsilon):
    found = smallest_delta(function, epsilon, data=BITS, size=2)
    c = math.exp(float(Fraction(epsilon)))
    assert enclosed(found, known(c), 1e-10)


def test_a_clamp_hides_what_is_beyond_it():
    open_delta = smallest_delta(lambda data: sum(data) + random.gauss(0, 2), 1, data=BITS, size=2)
    assert smallest_delta(clamped, 1, data=BITS, size=2).upper < open_delta.lower


def test_the_least_epsilon_at_a_delta_is_between_two_close_numbers():
    found = tight_epsilon(clamped, "0.01", data=BITS, size=2)
    low, high = (float(end.enclosure()[0]) for end in (found.lower, found.upper))
    assert clamped_delta(low) >= 0.01 - 1e-8
    assert clamped_delta(high) <= 0.01 + 1e-8
    assert recheck(nested(found.certificate)).verdict == "proved"


ACTIONS = ("number", "moved", "turned", "fresh", "zero", "none")


@st.composite
def branching(draw):
    """A number whose centre and scale depend on the data, tests at two points, and what is done with it in each of the three parts."""
    kind = draw(st.sampled_from(sorted(LAWS)))
    centres = draw(st.lists(st.integers(-2, 2), min_size=2, max_size=2))
    scales = draw(st.lists(st.sampled_from([1, 2]), min_size=2, max_size=2))
    low, high = sorted(draw(st.lists(st.integers(-3, 3), min_size=2, max_size=2, unique=True)))
    actions = draw(st.lists(st.sampled_from(ACTIONS), min_size=3, max_size=3))
    return kind, centres, scales, (low, high), actions


def released(case):
    kind, centres, scales, (low, high), actions = case

    def function(bit):
        noisy = DRAWS[kind](centres[bit], scales[bit])
        action = actions[0] if noisy < low else actions[1] if noisy < high else actions[2]
        if action == "number":
            return noisy
        if action == "moved":
            return noisy + bit
        if action == "turned":
            return 1 - 2 * noisy
        if action == "fresh":
            return DRAWS[kind](bit, 2)
        return 0 if action == "zero" else None

    return function


def law_of(case, bit):
    """The density of the number that is shown, and the probabilities of 0 and None."""
    kind, centres, scales, (low, high), actions = case
    law = LAWS[kind](centres[bit], scales[bit])
    parts = list(zip(((-math.inf, low), (low, high), (high, math.inf)), actions, strict=True))

    def density(y):
        total = np.zeros_like(y)
        for (a, b), action in parts:
            if action in ("number", "moved"):
                x = y - (bit if action == "moved" else 0)
                total += law.pdf(x) * (a <= x) * (x < b)
            elif action == "turned":
                x = (1 - y) / 2
                total += law.pdf(x) / 2 * (a <= x) * (x < b)
            elif action == "fresh":
                total += LAWS[kind](bit, 2).pdf(y) * (law.cdf(b) - law.cdf(a))
        return total

    atoms = [sum(law.cdf(b) - law.cdf(a) for (a, b), action in parts if action == each) for each in ("zero", "none")]
    return density, atoms


@given(branching(), st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1), Fraction(3)]))
@settings(max_examples=examples(240), deadline=None)
def test_random_tests_of_a_number_against_a_fine_grid(case, epsilon):
    c = math.exp(epsilon)
    low, high = case[3]
    marks = {m for bit in (0, 1) for m in (low + bit, high + bit, 1 - 2 * low, 1 - 2 * high, case[1][bit])}
    marks |= {m + bit for bit in (0, 1) for m in case[1]} | {1 - 2 * m for m in case[1]} | {low, high, 0, 1}
    largest = 0.0
    for left, right in ((0, 1), (1, 0)):
        (f, p), (g, q) = law_of(case, left), law_of(case, right)
        whole = sum(max(0, a - c * b) for a, b in zip(p, q, strict=True))
        largest = max(largest, whole + grid_excess(f, g, c, -90, 90, sorted(marks)))
    found = smallest_delta(released(case), epsilon, bit=integer(0, 1))
    assert found.upper - found.lower < 1e-11
    assert float(found.lower) - 1e-9 <= largest <= float(found.upper) + 1e-9


def test_a_sampled_count_has_the_delta_of_a_mixture():
    def sampled(data):
        return sum(x for x in data if bernoulli("1/4")) + random.gauss(0, 1)

    c = math.exp(0.5)
    mixture = lambda y: 0.75 * stats.norm.pdf(y) + 0.25 * stats.norm.pdf(y, 1)  # noqa: E731
    found = smallest_delta(sampled, "1/2", data=BITS, size=1)
    assert enclosed(found, max(grid_excess(mixture, stats.norm.pdf, c), grid_excess(stats.norm.pdf, mixture, c)), 1e-10)


def best_of(data):
    noisy = [gaussian(x, sigma=2) for x in data]
    return max(range(len(noisy)), key=noisy.__getitem__), max(noisy)


def test_the_best_of_two_with_its_noisy_value():
    c = math.exp(0.5)

    def density(mine, other):
        return lambda y: stats.norm.pdf(y, mine, 2) * stats.norm.cdf(y, other, 2)

    pairs = [((a, b), (x, y)) for a in (0, 1) for b in (0, 1) for x in (0, 1) for y in (0, 1)]
    largest = max(
        sum(grid_excess(density(q[k], q[1 - k]), density(r[k], r[1 - k]), c) for k in (0, 1))
        for q, r in pairs
        if sum(a != b for a, b in zip(q, r, strict=True)) == 1
    )
    found = smallest_delta(best_of, "1/2", data=BITS, size=2)
    assert enclosed(found, largest, 1e-10)


def test_a_number_that_other_noise_decided_about():
    def above_noisy(data):
        noisy = gaussian(sum(data), sigma=2)
        return noisy if noisy > gaussian(0, sigma=1) else None

    c = math.exp(0.25)
    largest = 0.0
    for m, n in ((0, 1), (1, 0)):
        f, g = ((lambda y, k=k: stats.norm.pdf(y, k, 2) * stats.norm.cdf(y)) for k in (m, n))
        hidden = [stats.norm.sf(k / math.sqrt(5)) for k in (m, n)]
        largest = max(largest, max(0, hidden[0] - c * hidden[1]) + grid_excess(f, g, c))
    assert enclosed(smallest_delta(above_noisy, "1/4", data=BITS, size=1), largest, 1e-10)


def convolved(first, second, y):
    """The density of the difference of two independent numbers, the second with a density of its own, by a sum over a fine grid."""
    t = np.linspace(-40, 40, 4_001)
    weights = second(t) * (t[1] - t[0])
    return (first(y[..., None] + t) * weights).sum(axis=-1)


def gap_excess(f, g, c, high=30.0):
    """The integral of ``max(0, f - c g)`` from 0 on, both cut short at 0; f and g are computed on a grid alone."""
    ends = np.linspace(0, high, 121)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    half = np.diff(ends)[:, None] / 2
    points = ends[:-1, None] + half + half * nodes
    return float((np.maximum(0, f(points) - c * g(points)) * weights * half).sum())


def runner_up(x):
    """The best of three with its gap to the next."""
    data = [x, 0, 0]
    best, second, winner = None, None, 0
    for i, value in enumerate(data):
        noisy = gaussian(value, sigma=2)
        if best is None or noisy > best:
            best, second, winner = noisy, best, i
        elif second is None or noisy > second:
            second = noisy
    return winner, best - second


@pytest.mark.slow  # of two it ends by the same lines, and of a threshold with noise behind it
def test_the_gap_between_the_best_and_the_next():
    c = math.exp(0.25)

    def gap(mine, others, y):
        """The density of the gap where one wins: it is above the larger of the two others."""
        a, b = (stats.norm(m, 2) for m in others)
        return convolved(stats.norm(mine, 2).pdf, lambda t: a.pdf(t) * b.cdf(t) + b.pdf(t) * a.cdf(t), y)

    def laws(x):
        return [lambda y: gap(x, (0, 0), y), lambda y: gap(0, (x, 0), y), lambda y: gap(0, (x, 0), y)]

    largest = max(sum(gap_excess(f, g, c) for f, g in zip(laws(m), laws(n), strict=True)) for m, n in ((0, 1), (1, 0)))
    found = smallest_delta(runner_up, "1/4", x=integer(0, 1))
    assert enclosed(found, largest, 1e-4 * largest)


def above_with_gap(x):
    """The first of two answers above a noisy threshold, with how much it is above."""
    threshold = gaussian(0, sigma=2)
    for i, value in enumerate((0, x)):
        noisy = gaussian(value, sigma=3)
        if noisy > threshold:
            return i, noisy - threshold
    return None


def test_the_gap_to_a_threshold():
    c = math.exp(0.125)
    largest = 0.0
    t = np.linspace(-30, 30, 60_001)
    for m, n in ((0, 1), (1, 0)):
        below = [lambda t, k=k: stats.norm.pdf(t, 0, 2) * stats.norm.cdf(t, 0, 3) for k in (m, n)]
        f, g = (lambda y, k=k, w=w: convolved(stats.norm(k, 3).pdf, w, y) for k, w in zip((m, n), below, strict=True))
        none = [
            float((w(t) * stats.norm.cdf(t, k, 3)).sum() * (t[1] - t[0])) for k, w in zip((m, n), below, strict=True)
        ]
        largest = max(largest, max(0, none[0] - c * none[1]) + gap_excess(f, g, c))
    found = smallest_delta(above_with_gap, "1/8", x=integer(0, 1))
    assert enclosed(found, largest, 1e-4 * largest)


@pytest.mark.slow  # as that to a threshold
def test_the_gap_of_two_is_the_difference_of_two():
    def gap_of_two(x):
        one, two = gaussian(x, sigma=1), gaussian(0, sigma=1)
        return (0, one - two) if one > two else (1, two - one)

    mu, e = 1 / math.sqrt(2), 0.5
    known = stats.norm.cdf(mu / 2 - e / mu) - math.exp(e) * stats.norm.cdf(-mu / 2 - e / mu)
    assert enclosed(smallest_delta(gap_of_two, "1/2", x=integer(0, 1)), known, 1e-11)


# ------------------------------------------------------------------------------------------------------------- traps


def test_a_threshold_that_depends_on_the_data_shows_what_is_impossible_elsewhere():
    def leaks(data):
        noisy = gaussian(sum(data), sigma=4)
        return noisy if noisy > sum(data) else None

    found = smallest_delta(leaks, 3, data=BITS, size=1)
    assert found.lower > stats.norm.cdf(1, 0, 4) - 0.5 - 1e-9  # what lies between the two thresholds


def test_the_formula_of_fresh_noise_is_no_bound_where_the_test_tells_more():
    def by_sign(data):
        noisy = gaussian(sum(data), sigma=2)
        return noisy if noisy > 0 else noisy - 100 * sum(data)

    assert check(by_sign, 1, "0.00683", data=BITS, size=1).status == "refuted"
    assert smallest_delta(by_sign, 1, data=BITS, size=1).lower > 0.3


@pytest.mark.parametrize(
    "function",
    [
        lambda data: (y, z) if (y := gaussian(sum(data), sigma=2)) > 0 and (z := gaussian(-sum(data), sigma=2)) > 0 else 0,
        lambda data: y if round(y := gaussian(sum(data), sigma=2)) > 0 else 0,
        lambda data: y if (y := gaussian(sum(data), sigma=2)) > gaussian(0, sigma=2) > gaussian(1, sigma=2) else 0,
        lambda data: (y, 2 * y + gaussian(0, sigma=1)) if (y := gaussian(sum(data), sigma=2)) > 0 else 0,
    ],
)  # fmt: skip
def test_what_is_not_understood_is_unknown_and_never_proved(function):
    verdict = check(function, 1, "0.01", data=BITS, size=1)
    assert verdict.status in ("unknown", "refuted")
    assert check(function, 1, "0.0001", data=BITS, size=1).status != "proved"


def test_numbers_beside_it_that_are_the_same_change_nothing():
    def beside(data):
        noisy = gaussian(sum(data), sigma=2)
        other = gaussian(0, sigma=1)
        return (noisy, other) if noisy > 2 and other > 0 else None

    c = math.e
    half = normal_excess(1, 0, 2, c, 2, math.inf) / 2
    hidden = [1 - stats.norm.sf(2, k, 2) / 2 for k in (0, 1)]
    known = max(half, hidden[0] - c * hidden[1], hidden[1] - c * hidden[0])
    assert enclosed(smallest_delta(beside, 1, data=BITS, size=1), known, 1e-12)


@mechanism(epsilon="1", delta="0.0001")
def shown_number(x: integer(0, 1)):
    noisy = gaussian(x, sigma=2)
    if noisy > 1:
        return noisy
    return None


def changed(change):
    certificate = copy.deepcopy(nested(check(shown_number).certificate))
    region = next(each for each in certificate["evidence"]["regions"] if "part" in each)
    change(region)
    return recheck(certificate)


@pytest.mark.parametrize(
    "change",
    [
        lambda region: region.update(within=region["within"] * 2),  # counted twice
        lambda region: region.update(within=[["2", "3"], ["5/2", "4"]]),
        lambda region: region.update(within=[[None, None], [None, None]]),
        lambda region: region.update(within=[["3", "2"]]),
        lambda region: region.update(within=[["1", "1"]]),
        lambda region: region.update(within=[["1", "2", "3"]]),
        lambda region: region.update(within=[[None, "1"]]),  # not above the threshold: impossible
        lambda region: region.update(part=1),
        lambda region: region.update(part=-1),
        lambda region: region.update(factors=["1"]),
    ],
)
def test_events_that_are_none_are_rejected(change):
    assert isinstance(changed(lambda region: None), Accepted)
    assert not isinstance(changed(change), Accepted)


def test_a_proof_does_not_pass_for_a_smaller_delta():
    certificate = copy.deepcopy(nested(check(shown_number, 1, "0.00683").certificate))
    assert isinstance(recheck(certificate), Accepted)
    certificate["question"]["delta"] = "0.00682"
    assert not isinstance(recheck(certificate), Accepted)
