"""Discrete Gaussian noise: the sampler against its law, known answers, pitfalls, and random cases against direct sums."""

import copy
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, arb_series, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.amounts import examples, patience
from tests.certificates import recheck

from privproof import (
    LanguageError,
    check,
    discrete_gaussian,
    geometric,
    integer,
    mechanism,
    public,
    queries,
    randomized_response,
    real_queries,
    records,
    seeded,
    smallest_delta,
    tight_epsilon,
    tight_mu,
    tight_rho,
)
from privproof.audits.sampling.lane_draws import Bell
from privproof.engines.integrals.discrete_normal import Lattice, lattice
from privproof.engines.integrals.integration_grids import grid_probability
from privproof.engines.laplace.squares import Steps, given_away
from privproof.exact import rational
from privproof.exact.balls import precision
from privproof.language import randomness
from privproof_checker import Accepted
from privproof_checker.integrals.compared import whole_probability
from privproof_checker.integrals.whole import whole_excess, whole_moment, whole_share
from privproof_checker.programs.open_trees import Linear

BITS = records(0, 1)


def law(variance, reach=None):
    """The law by its definition, in floats: off by rounding alone."""
    reach = reach or math.ceil(12 * math.sqrt(variance)) + 3
    weights = {x: math.exp(-x * x / (2 * variance)) for x in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def excess_by_definition(moves, epsilon):
    """The sum over all outcomes of how much more likely they are than allowed."""
    laws = [law(float(variance)) for variance, _ in moves]
    total = 0.0
    for z in product(*({x + s for x in each for s in (0, by)} for each, (_, by) in zip(laws, moves, strict=True))):
        p = math.prod(each.get(x - by, 0.0) for each, x, (_, by) in zip(laws, z, moves, strict=True))
        q = math.prod(each.get(x, 0.0) for each, x in zip(laws, z, strict=True))
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


def both(moves, epsilon):
    """The excess by the engine and by the checker, which share no way to compute it."""
    moves = tuple((rational(variance), by) for variance, by in moves)
    with precision(128):
        bound = arb(rational(epsilon)).exp()
        one, two = lattice(moves).excess(bound), whole_excess(moves, bound)
    assert one.overlaps(two)
    assert max(one.rad(), two.rad()) < 1e-25
    return float(one.mid())


# ------------------------------------------------------------------------------------------------------------- sampling


@pytest.mark.parametrize("variance", ["1/5", "2", "17/3"])
def test_the_sampler_draws_from_its_law(variance):
    expected = law(float(Fraction(variance)))
    with seeded(11):
        drawn = Counter(discrete_gaussian(3, variance=variance) - 3 for _ in range(4000))
    likely = [x for x, p in expected.items() if 4000 * p > 8]
    observed = [drawn[x] for x in likely]
    rest = 4000 - sum(observed)
    wanted = [4000 * expected[x] for x in likely]
    assert chisquare([*observed, rest], [*wanted, 4000 - sum(wanted)]).pvalue > 0.001


@pytest.mark.parametrize("variance", ["1/5", "17/3", "900000000"])
def test_audits_draw_from_the_same_law(variance):
    number = 200 if Fraction(variance) > 100 else 20_000
    drawn = Bell(Fraction(variance)).draw(number, np.random.default_rng(3))
    assert abs(drawn.mean()) < 5 * math.sqrt(Fraction(variance) / number)
    if number > 200:
        expected = law(float(Fraction(variance)))
        likely = [x for x, p in expected.items() if number * p > 8]
        observed, wanted = [int((drawn == x).sum()) for x in likely], [number * expected[x] for x in likely]
        rest = number - sum(observed)
        assert chisquare([*observed, rest], [*wanted, number - sum(wanted)]).pvalue > 0.001


@pytest.mark.parametrize("exponent", ["0", "1/3", "1", "7/2"])
def test_a_coin_with_an_exponential_probability(exponent):
    with seeded(5):
        heads = sum(randomness.exponential_coin(Fraction(exponent)) for _ in range(4000))
    p = math.exp(-Fraction(exponent))
    assert abs(heads - 4000 * p) <= 5 * math.sqrt(4000 * p * (1 - p)) + 1e-9


def test_the_sampler_repeats_itself_with_a_seed_and_never_uses_a_float():
    with seeded(3):
        first = [discrete_gaussian(0, variance=10**40) for _ in range(3)]
    with seeded(3):
        again = [discrete_gaussian(0, variance=10**40) for _ in range(3)]
    assert first == again
    assert all(abs(x) > 2**60 for x in first)
    assert len({x % 16 for x in first}) > 1  # the low bits are as random as the others


@pytest.mark.parametrize(
    "given", [{"value": 0.5, "variance": 1}, {"value": 0, "variance": 0}, {"value": 0, "variance": 0.25}]
)
def test_arguments_that_are_no_numbers_of_this_noise_are_refused(given):
    with pytest.raises(LanguageError):
        discrete_gaussian(given["value"], variance=given["variance"])


# -------------------------------------------------------------------------------------------------------- known answers


@pytest.mark.parametrize(
    ("moves", "delta"),
    [
        ([(4, 1)], 0.00724877684595258),
        ([(4, 1)] * 16, 0.50894452470042),
        ([(2500, 3)] * 100, 0.01896575435732),
    ],
)
def test_known_deltas_at_epsilon_one(moves, delta):
    assert both(moves, 1) == pytest.approx(delta, rel=1e-13)


def test_an_accountant_is_off_by_less_than_half_a_percent():
    """What losses rounded up to multiples of 1/10000 make of 100 numbers that move by 3: from above, and not by much."""
    common = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    one = common.from_discrete_gaussian_mechanism(50, sensitivity=3, value_discretization_interval=1e-4)
    said = one.self_compose(100).get_delta_for_epsilon(1)
    exact = both([(2500, 3)] * 100, 1)
    assert exact < said < 1.005 * exact
    assert said == pytest.approx(0.0190461, abs=2e-7)


@settings(max_examples=examples(160), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["1/7", "1/2", "1", "5/3", "4", "9"]), st.sampled_from([-3, -2, -1, 1, 2])),
        min_size=1,
        max_size=2,
    ),
    st.sampled_from(["0", "1/8", "1/2", "1", "2"]),
)
def test_excesses_are_those_of_the_definition(moves, epsilon):
    exact = [(Fraction(variance), by) for variance, by in moves]
    assert both(exact, epsilon) == pytest.approx(excess_by_definition(exact, float(Fraction(epsilon))), abs=1e-11)


@pytest.mark.parametrize("variance", ["1/30", "1/2", "3", "400"])
@pytest.mark.parametrize("order", ["3/2", "2", "17/4"])
def test_moments_are_those_of_the_definition(variance, order):
    moves, v, a = ((rational(variance), 2),), rational(variance), rational(order)
    reach = range(-400, 400)
    before = ctx.cap
    with precision(128):
        one, two = Lattice(moves).moment(arb(rational(order))), whole_moment(moves, arb(rational(order)))
        ctx.cap = 3
        try:
            series = arb_series([arb(rational(order)), 1])
            curves = Lattice(moves).moment(series), whole_moment(moves, series)
        finally:
            ctx.cap = before
        assert one.overlaps(two)
        assert all(curves[0][k].overlaps(curves[1][k]) for k in range(3))
        weights = [(arb(-rational(x * x) / (2 * v)).exp(), arb((a - 1) * (4 * x + 4) / (2 * v)).exp()) for x in reach]
        total = sum((w * more for w, more in weights), arb(0)) / sum((w for w, _ in weights), arb(0))
        assert abs(one / total - 1) < 1e-20
        assert one <= (arb(a * (a - 1) * 2 / v)).exp() * (1 + arb(1e-30))  # no more than continuous noise


def test_rare_events_keep_their_digits():
    assert both([(100, 1)], 10) == 0.0  # below all floats
    with precision(128):
        one = Lattice(((rational(100), 1),)).excess(arb(10).exp())
        assert one > 0
        assert one.rel_accuracy_bits() > 64


# ------------------------------------------------------------------------------------------------------------- verdicts


@mechanism
def count(data: BITS):
    return discrete_gaussian(sum(data), variance=4)


def test_a_count_is_proved_and_refuted_at_its_delta():
    found = smallest_delta(count, 1, size=2)
    assert found.upper - found.lower < 2e-12
    assert float(found.upper) == pytest.approx(0.00724877684595258, rel=1e-10)
    assert recheck(found.proof.certificate).verdict == "proved"
    assert recheck(found.refutation.certificate).verdict == "refuted"


def test_the_continuous_formula_is_no_bound_for_discrete_noise():
    normal = 0.0068296  # of two normal laws half a standard deviation apart
    assert check(count, 1, str(normal), size=1).status == "refuted"


def test_no_epsilon_without_a_delta():
    verdict = check(count, 3, 0, size=1)
    assert verdict.status == "refuted"
    assert float(verdict.witness.left_probability) > 20 * float(verdict.witness.right_probability)
    assert recheck(verdict.certificate).verdict == "refuted"


def test_the_smallest_epsilon_at_a_delta_is_certified_from_both_sides():
    found = tight_epsilon(count, delta="1/100", size=1)
    low, high = float(found.lower.ball().mid()), float(found.upper.ball().mid())
    assert 0 < high - low < 1e-8
    assert excess_by_definition([(4, 1)], low) >= 0.01 - 1e-9 >= excess_by_definition([(4, 1)], high) - 2e-9


def test_zero_concentration_is_exactly_half_the_square():
    found = tight_rho(count, size=1)
    assert str(found.upper) == str(found.lower) == "1/8"
    assert check(count, rho="1/8", size=1).status == "proved"
    assert check(count, rho="0.12499", size=1).status == "refuted"


def test_renyi_divergences_are_met_at_integer_orders_and_smaller_between():
    @mechanism
    def narrow(data: BITS):
        return discrete_gaussian(sum(data), variance="1/10")

    assert check(narrow, renyi={2: 10}, size=1).status == "proved"
    assert check(narrow, renyi={2: "9.999"}, size=1).status == "refuted"
    between = 7.5 + 2 * math.log(
        sum(math.exp(-5 * (x - 0.5) ** 2) for x in range(-9, 9)) / sum(math.exp(-5 * x * x) for x in range(-9, 9))
    )
    assert between < 7.4
    assert check(narrow, renyi={"3/2": str(round(between + 1e-6, 7))}, size=1).status == "proved"
    assert check(narrow, renyi={"3/2": str(round(between - 1e-6, 7))}, size=1).status == "refuted"


def test_it_is_not_gaussian_private_with_the_distance_of_normal_noise():
    assert check(count, mu="1/2", size=1).status == "refuted"
    assert tight_mu(count, size=1).lower.ball() > 0.505


def test_a_vector_of_unlike_numbers_is_a_lattice():
    @mechanism
    def two(data: BITS):
        return [discrete_gaussian(sum(data), variance=4), discrete_gaussian(3 * (len(data) - sum(data)), variance=9)]

    found = smallest_delta(two, "1/2", size=1)
    assert found.upper - found.lower < 2e-12
    assert float(found.upper) == pytest.approx(excess_by_definition([(4, 1), (9, 3)], 0.5), abs=1e-10)


def test_beside_finite_and_geometric_noise():
    @mechanism
    def beside(data: queries(0, 1, size=1)):
        answer = randomized_response(data[0], truth="3/4")
        return [answer, geometric(data[0], alpha="1/3"), discrete_gaussian(data[0], variance=2)]

    found = smallest_delta(beside, "1/2")
    other = {x: (1 - 1 / 3) / (1 + 1 / 3) * (1 / 3) ** abs(x) for x in range(-30, 32)}
    noise, total = law(2), 0.0
    for p, q in ((1 / 4, 3 / 4), (3 / 4, 1 / 4)):
        for x, g in other.items():
            for z, n in noise.items():
                left = p * other.get(x - 1, 0.0) * noise.get(z - 1, 0.0)
                total += max(0.0, left - math.exp(0.5) * q * g * n)
    assert found.upper - found.lower < 2e-12
    assert float(found.upper) == pytest.approx(total, abs=1e-9)


def test_a_move_by_half_an_integer_is_seen():
    def half(data):
        return discrete_gaussian(0, variance=100) + Fraction(data[0], 2)

    verdict = check(half, 5, "0.99", data=queries(0, 1, size=1))
    assert verdict.status == "refuted"


def test_noisy_max_with_ties():
    @mechanism
    def winner(q: queries(0, 1)):
        best, found = None, 0
        for i, answer in enumerate(q):
            noisy = discrete_gaussian(answer, variance=2)
            if best is None or noisy > best:
                best, found = noisy, i
        return found

    noise = law(2)

    def first(q):
        return sum(p * r for x, p in noise.items() for y, r in noise.items() if q[1] + y <= q[0] + x)

    won = {q: (first(q), 1 - first(q)) for q in product((0, 1), repeat=2)}
    delta = max(
        sum(max(0.0, p - math.exp(0.25) * r) for p, r in zip(won[a], won[b], strict=True)) for a in won for b in won
    )
    found = smallest_delta(winner, "1/4", size=2)
    assert found.upper - found.lower < 2e-12
    assert float(found.upper) == pytest.approx(delta, abs=1e-9)


NOISES = st.sampled_from([("discrete_gaussian", "2"), ("discrete_gaussian", "1/3"), ("geometric", "1/2")])
TESTS = st.tuples(
    st.sampled_from([(0, 1), (1, 2), (0,), (2,)]),
    st.sampled_from([-2, -1, 1, 3]),
    st.sampled_from([-1, 1, 2]),
    st.integers(-2, 2),
)


@settings(max_examples=examples(96), deadline=None)
@given(st.lists(NOISES, min_size=3, max_size=3), st.lists(TESTS, max_size=3))
def test_comparisons_of_integers_are_those_of_the_definition(noises, tests):
    laws = tuple((kind, rational(number)) for kind, number in noises)
    forms = []
    for atoms, a, b, constant in tests:
        factors = dict(zip(atoms, (rational(a), rational(b)), strict=False))
        forms.append((factors, rational(constant) + rational("1/2")))
    tables = [
        law(float(Fraction(number))) if kind != "geometric" else {x: (1 / 3) * 0.5 ** abs(x) for x in range(-45, 46)}
        for kind, number in noises
    ]
    total = 0.0
    for x in product(*tables):
        if all(sum(float(f) * x[j] for j, f in factors.items()) + float(c) >= 0 for factors, c in forms):
            total += math.prod(table[each] for table, each in zip(tables, x, strict=True))
    with precision(128):
        one = grid_probability(laws, forms)
    two = whole_probability(laws, tuple(Linear(tuple(sorted(f.items())), c) for f, c in forms), 128)
    assert one.overlaps(two)
    assert float(one.mid()) == pytest.approx(total, abs=1e-11)


def test_the_share_of_a_halfspace():
    noise, other = law(2), law(1 / 3)
    total = sum(p * q for x, p in noise.items() for y, q in other.items() if 2 * x - 3 * y + 1 >= 0)
    with precision(128):
        found = whole_share([(rational(2), rational(2)), (rational("1/3"), rational(-3))], rational(1))
    assert float(found.mid()) == pytest.approx(total, abs=1e-12)


# --------------------------------------------------------------------------------------------------------------- forged


@pytest.mark.parametrize("change", ["delta", "variance"])
def test_a_certificate_that_claims_more_is_refused(change):
    verdict = check(count, 1, "0.00725", size=1)
    forged = copy.deepcopy(verdict.certificate)
    if change == "delta":
        forged["question"]["delta"] = "0.00724"
    else:
        for tree in forged["question"]["trees"]:
            for leaf in tree:
                leaf["noises"] = [["discrete_gaussian", "3"]]
    assert recheck(verdict.certificate).verdict == "proved"
    assert not isinstance(recheck(forged), Accepted)


# --------------------------------------------------------------------------------------------------------- every length


def test_a_count_of_every_length_has_its_exact_delta():
    verdict = check(count, 1, "0.00724877684596")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert recheck(verdict.certificate).verdict == "proved"
    forged = copy.deepcopy(verdict.certificate)
    forged["question"]["delta"] = "0.00724877684595"
    assert not isinstance(recheck(forged), Accepted)
    assert check(count, 1, "0.00724877684595").status == "refuted"


def test_a_sum_of_every_length_is_zero_concentrated():
    @mechanism
    def total(data: records(*range(11))):
        return discrete_gaussian(sum(data), variance=400)

    verdict = check(total, rho="1/8")
    assert verdict.status == "proved"
    assert "every length" in str(verdict)
    delta = excess_by_definition([(400, 10)], 1.0)
    assert check(total, 1, str(round(delta + 1e-6, 8))).status == "proved"  # no more than one release that moves by 10
    assert check(count, mu="1/2").status != "proved"


@pytest.mark.parametrize("neighbours", ["one", "add-remove"])
def test_a_histogram_of_every_length_is_like_so_many_counts(neighbours):
    @mechanism(neighbours=neighbours)
    def histogram(data: records("a", "b", "c")):
        return [discrete_gaussian(data.count(k), variance=4) for k in ("a", "b", "c")]

    delta = excess_by_definition([(4, 1)] * (2 if neighbours == "one" else 1), 1.0)
    verdict = check(histogram, 1, str(round(delta + 1e-6, 8)))
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert check(histogram, 1, str(round(delta - 1e-6, 8))).status != "proved"


def test_a_histogram_with_a_threshold_pays_for_what_passes_alone():
    @mechanism(neighbours="add-remove")
    def thresholded(data: records("a", "b")):
        out = []
        for key in ("a", "b"):
            number = data.count(key)
            noisy = discrete_gaussian(number, variance=4)
            if number > 0 and noisy >= 9:
                out.append((key, noisy))
        return out

    passes = sum(p for x, p in law(4).items() if x >= 8)  # a key that one side alone holds, around 1
    delta = excess_by_definition([(4, 1)], 1.0) + passes
    verdict = check(thresholded, 1, f"{delta + 1e-9:.12f}")
    assert verdict.status == "proved"
    forged = copy.deepcopy(verdict.certificate)
    forged["question"]["delta"] = f"{delta - 1e-7:.12f}"
    assert not isinstance(recheck(forged), Accepted)


def test_a_variance_that_depends_on_the_data_is_seen():
    def wider(data):
        return discrete_gaussian(0, variance=1 + data[0])

    verdict = check(wider, 1, "0.1", data=queries(0, 3, sensitivity=3, size=1))
    assert verdict.status != "proved"


def test_a_shift_that_only_a_later_test_decides_proves_nothing():
    @mechanism
    def above(q: queries(0, 1), threshold: public(integer(0, 0))):
        noisy = discrete_gaussian(threshold, variance=16)
        for i, answer in enumerate(q):
            if discrete_gaussian(answer, variance=64) >= noisy:
                return i
        return -1

    # what the shifts would come to if they could be chosen in hindsight: 1/16 + 4/64
    assert (
        check(above, 1, str(round(excess_by_definition([(16, 1), (64, 2)], 1.0), 6)), time_limit=patience(4)).status
        != "proved"
    )


def test_noise_around_what_may_be_no_integer_is_not_aligned():
    @mechanism
    def halves(q: queries(sensitivity=1, size=1)):
        return discrete_gaussian(q[0], variance=4) / 2

    @mechanism
    def real_center(q: real_queries(size=1)):
        return discrete_gaussian(q[0], variance=4)

    assert check(halves, 1, "0.0072488").status == "proved"  # half of an integer tells as much as the integer
    assert check(real_center, 1, "0.0072488").status == "unknown"


@settings(max_examples=examples(64), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["1/2", "2", "9"]), st.integers(0, 3)), min_size=1, max_size=2),
    st.integers(0, 1),
    st.sampled_from(["0", "1/2", "2"]),
)
def test_the_excess_rises_with_every_move(moves, place, epsilon):
    """What the bound of draws that are come to once rests on."""
    wider = [(v, by + (k == place % len(moves))) for k, (v, by) in enumerate(moves)]
    with precision(128):
        bound = arb(rational(epsilon)).exp()
        small, large = (lattice([(rational(v), by) for v, by in each]) for each in (moves, wider))
        assert large is not None
        before = arb(0) if small is None else small.excess(bound)
        assert before <= large.excess(bound) + arb(1e-25)


def test_what_shifts_of_discrete_noise_give_away_is_bounded_in_three_ways():
    counts = Steps(((Fraction(4), 1),), once=False, alone=True)
    sums = Steps(((Fraction(400), 10),), once=True, alone=True)
    beside = Steps(((Fraction(4), 1),), once=True, alone=False)
    with precision(128):
        assert float(given_away(Fraction(1, 2), arb(1), counts).mid()) == pytest.approx(
            excess_by_definition([(4, 1)] * 2, 1.0), abs=1e-10
        )
        assert float(given_away(Fraction(1, 4), arb(1), sums).mid()) == pytest.approx(
            excess_by_definition([(400, 10)], 1.0), abs=1e-10
        )
        converted = given_away(Fraction(1, 4), arb(1), beside)
    assert 0.0072 < float(converted.mid()) < 0.019  # zCDP alone
