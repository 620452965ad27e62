"""Mechanisms for locations: laws against brute force, samplers against laws, verdicts against the definition, nonsense refused."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.integrate import dblquad
from scipy.stats import chisquare, gamma, kstest
from tests.amounts import selected

from privproof import check, tight_epsilon
from privproof.engines import Monitor
from privproof.errors import BudgetError, FloatRefused, PrivproofError, QuestionError, ScenarioError
from privproof.exact import Budget, Epsilon, epsilon, fraction, rational
from privproof.exact.balls import precision
from privproof.language import randomness
from privproof.language.randomness import Seeded
from privproof.release.locations.location_channels import Channel, ResampledLaplace
from privproof.release.locations.location_maps import Clamped, Map, Projection, Resampled, clamped, remapped
from privproof.release.locations.location_question import LocationQuestion
from privproof.release.locations.location_verification import (
    resampling_planar_geometric,
    resampling_planar_laplace,
    shrunk_north_south,
    verify_locations,
)
from privproof.release.locations.planar_noise import (
    GridLaplace,
    PlanarGeometric,
    PlanarLaplace,
    _by_series,
    _directly,
    _draw_decision,
    per_distance,
    precision_epsilon,
)

CITY = per_distance("ln(4)", within="0.2")


# ---------------------------------------------------------------------------------------------------------------------- rates


def test_a_level_within_a_radius_is_a_rate():
    assert epsilon("ln(1024)") == CITY
    assert per_distance("1/2", within=50) == epsilon("1/100")
    assert PlanarGeometric.of(CITY, step="1/10").after(3) == epsilon("3*ln(1024)")
    assert PlanarLaplace.of(2).after(4) == epsilon(8)


def test_places_between_sites_pay_for_the_diagonal_of_a_cell():
    noise = PlanarGeometric.of("1/100", step=10)
    assert noise.site(14, "-5.1") == (1, -1)
    assert float(noise.level(100)) == pytest.approx(0.01 * (100 + math.sqrt(2) * 10))
    generator = np.random.default_rng(1)
    for x, y, a, b in generator.integers(-10_000, 10_000, (200, 4)).tolist():
        one, other = (
            noise.site(Fraction(x, 100), Fraction(y, 100)),
            noise.site(Fraction(a, 100), Fraction(b, 100)),
        )
        moved = 10 * math.hypot(one[0] - other[0], one[1] - other[1])
        assert moved <= math.hypot(x - a, y - b) / 100 + math.sqrt(2) * 10 + 1e-9


# ------------------------------------------------------------------------------------------------------------- continuous noise


def test_the_radius_of_planar_laplace_noise():
    noise = PlanarLaplace.of(CITY)
    for share in ("0.01", "1/2", "0.95", "0.999999"):
        radius = noise.accuracy(share)
        assert noise.covered(radius).overlaps(arb(rational(share)))
        assert float(radius.rad()) < 1e-30
        assert float(radius) == pytest.approx(gamma.ppf(float(Fraction(share)), 2, scale=1 / math.log(1024)))
    assert float(noise.expected_distance()) == pytest.approx(2 / math.log(1024))
    assert float(noise.density(0)) == pytest.approx(math.log(1024) ** 2 / (2 * math.pi))


def test_planar_laplace_samples_have_a_gamma_radius_and_any_angle():
    noise = PlanarLaplace.of("1/2")
    source = Seeded(11)
    drawn = [noise.sample(seed=source) for _ in range(4000)]
    assert kstest([math.hypot(*each) for each in drawn], gamma(2, scale=2).cdf).pvalue > 0.01
    assert kstest([math.atan2(y, x) for x, y in drawn], "uniform", args=(-math.pi, 2 * math.pi)).pvalue > 0.01


@pytest.mark.parametrize(("step", "expected", "digits"), [("1e-3", 6.93147177, 8), ("1e-6", 6.8915, 4)])
def test_what_finite_precision_costs(step, expected, digits):
    found = precision_epsilon(CITY, step=step, largest_radius=100)
    assert round(float(fraction(found)), digits) == expected

    def paid(rate):
        with precision(300):
            q, swollen = arb(rational(step)) / arb(rational("1e-14")), 2 * (arb(rate) * arb(rational(step))).exp()
            return arb(rate) + ((q + swollen) / (q - swollen)).log() / arb(rational(step))

    assert paid(found) <= CITY.ball(300)
    assert paid(found * (1 + rational("1e-11"))) > CITY.ball(300)


def test_a_grid_that_is_too_fine_is_refused():
    with pytest.raises(ScenarioError, match=r"too fine.*\n.*PlanarGeometric"):
        precision_epsilon(CITY, step="1e-9", largest_radius=100)


def test_grid_laplace_rounds_to_sites():
    mechanism = GridLaplace.of("1/100", step=10, largest_radius=2_500)
    source = Seeded(2)
    drawn = np.array([mechanism.release(1000.0, -500.0, seed=source) for _ in range(3000)])
    assert drawn.dtype.kind == "i"
    assert mechanism.drawn == precision_epsilon("1/100", step=10, largest_radius=2_500, angle_precision="1e-15")
    with pytest.raises(ScenarioError, match="not drawn finely"):
        GridLaplace.of("1/100", step=10, largest_radius=10_000)
    assert np.abs(drawn.mean(axis=0) - [100, -50]).max() < 1.5
    assert mechanism.after(2) == epsilon("1/50")


# -------------------------------------------------------------------------------------------------------------- geometric noise


@pytest.mark.parametrize("rate", ["0.3", "1", "1.9"])
def test_sums_over_the_grid_by_two_ways(rate):
    with precision(160):
        for series, direct in zip(_by_series(arb(rate), 160), _directly(arb(rate), 160), strict=True):
            assert series.overlaps(direct)
            assert float(series.rad() / series.mid()) < 1e-40
            assert float(direct.rad() / direct.mid()) < 1e-40


def test_sums_over_the_grid_against_floats():
    i, j = np.meshgrid(np.arange(-300, 301), np.arange(-300, 301))
    length = np.hypot(i, j)
    noise = PlanarGeometric.of("1/5", step=2)
    weights = np.exp(-0.4 * length)
    assert float(noise.normaliser()) == pytest.approx(weights.sum(), rel=1e-12)
    assert float(noise.expected_distance()) == pytest.approx(2 * (weights * length).sum() / weights.sum(), rel=1e-12)
    assert float(noise.covered(20)) == pytest.approx(weights[length <= 10].sum() / weights.sum(), rel=1e-12)
    assert float(noise.probability((1, 1), (4, 5))) == pytest.approx(math.exp(-2) / weights.sum(), rel=1e-12)


@pytest.mark.parametrize("rate", ["0.05", "0.7", "3"])
@pytest.mark.parametrize("share", ["0.05", "1/2", "0.95", "0.9999"])
def test_accuracy_is_the_least_radius_that_suffices(rate, share):
    noise = PlanarGeometric.of(rate)
    squared = round(float(noise.accuracy(share)) ** 2)
    radius = Fraction(math.isqrt(squared * 10**12) + 1, 10**6)
    assert noise.covered(radius) >= arb(rational(share))
    if squared:
        below = Fraction(math.isqrt((squared - 1) * 10**12) + 1, 10**6)
        assert noise.covered(below) < arb(rational(share))


def test_a_fine_grid_is_like_the_plane_and_enclosed():
    fine, plane = PlanarGeometric.of("1/10000"), PlanarLaplace.of("1/10000")
    for share in ("1/2", "0.95"):
        ball = fine.accuracy(share)
        assert ball.overlaps(plane.accuracy(share))
        assert float(ball.rad() / ball.mid()) < 1e-3
    assert fine.covered(17_000).overlaps(plane.covered(17_000))
    assert float(fine.expected_distance()) == pytest.approx(20_000, rel=1e-6)


@pytest.mark.parametrize(("rate", "count"), [("1/3", 6000), ("2", 3000), ("ln(2)/2", 4000)])
def test_samples_follow_the_law(rate, count):
    noise = PlanarGeometric.of(rate)
    source = Seeded(20)
    drawn = Counter(noise.release((3, -2), seed=source) for _ in range(count))
    sites = list(itertools.product(range(-9, 16), range(-14, 11)))
    expected = {site: count * float(noise.probability((3, -2), site, 64)) for site in sites}
    large = [site for site in sites if expected[site] >= 8]
    seen = [drawn[site] for site in large]
    seen.append(count - sum(seen))
    means = [expected[site] for site in large]
    means.append(count - sum(means))
    assert chisquare(seen, means).pvalue > 0.01


def test_samples_of_a_fine_grid_have_a_gamma_radius():
    noise = PlanarGeometric.of("1/1000")
    source = Seeded(5)
    drawn = [math.hypot(*noise.release((0, 0), seed=source)) for _ in range(1500)]
    assert kstest(drawn, gamma(2, scale=1000).cdf).pvalue > 0.01


def test_noise_does_not_depend_on_the_site():
    noise = PlanarGeometric.of("1/7")
    here = [noise.release((0, 0), seed=seed) for seed in range(20)]
    there = [noise.release((10**6, -5), seed=seed) for seed in range(20)]
    assert there == [(i + 10**6, j - 5) for i, j in here]


class Bits:
    """A source that gives one number again and again."""

    def __init__(self, numbers):
        self.numbers, self.asked = iter(numbers), 0

    def below(self, bound):
        self.asked += 1
        return next(self.numbers) % bound


def test_a_decision_draws_bits_until_it_is_decided():
    third = (1 << 64) // 3

    def ball(bits):
        with precision(bits):
            return arb(1) / 3

    for numbers, answer, asked in (
        ([0], True, 1),
        ([third + 1], False, 1),
        ([third, 0], True, 2),
        ([third, 2**64 - 1], False, 2),
    ):
        bits = Bits(numbers)
        assert _draw_decision(bits, ball) is answer
        assert bits.asked == asked
    bits = Bits([third, third, third, 0])
    assert _draw_decision(bits, ball) is True
    assert bits.asked == 4


def test_the_secure_source_is_the_default():
    assert randomness.source() is randomness._SECURE
    drawn = {PlanarGeometric.of("1/1000").release((0, 0)) for _ in range(20)}
    assert len(drawn) > 15


# ----------------------------------------------------------------------------------------------------------------------- maps


MAPS = {
    "a rectangle": Map.rectangle((0, 0), (3, 2)),
    "a row": Map.rectangle((-2, 5), (2, 5)),
    "one site": Map.rectangle((1, 1), (1, 1)),
    "an L": Map.of([(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)]),
    "far apart": Map.of([(0, 0), (3, 1), (-2, 4)]),
}


def brute_row(noise, where, site):
    """Clamped probabilities by a large finite sum of floats."""
    reach = 60
    rate = float(noise.rate(64))
    total = float(noise.normaliser())
    row = dict.fromkeys(where.sites, 0.0)
    for i, j in itertools.product(range(-reach, reach + 1), repeat=2):
        near = min(where.sites, key=lambda each: ((each[0] - site[0] - i) ** 2 + (each[1] - site[1] - j) ** 2, each))
        row[near] += math.exp(-rate * math.hypot(i, j)) / total
    return row


@pytest.mark.parametrize("name", MAPS)
def test_the_cells_of_a_map_against_brute_force(name):
    where, noise = MAPS[name], PlanarGeometric.of("4/5")
    for site in where.sites[:: max(1, len(where.sites) // 3)]:
        row = clamped(noise, where).row(site)
        assert sum(row.values(), arb(0)).overlaps(arb(1))
        assert {each: float(p) for each, p in row.items()} == pytest.approx(brute_row(noise, where, site), rel=1e-9)


@pytest.mark.parametrize("corners", [((0, 0), (3, 2)), ((0, 0), (0, 4)), ((2, 2), (2, 2)), ((-1, -1), (4, 0))])
def test_a_rectangle_and_its_listed_sites_are_the_same_map(corners):
    rectangle = Map.rectangle(*corners)
    listed = Map.of(rectangle.sites)
    noise = PlanarGeometric.of("1/2")
    for site in rectangle.sites:
        assert rectangle.nearest((site[0] + 7, site[1] - 9)) == listed.nearest((site[0] + 7, site[1] - 9))
        one, other = clamped(noise, rectangle).row(site), clamped(noise, listed).row(site, 64)
        assert all(one[each].overlaps(other[each]) for each in rectangle.sites)


@pytest.mark.parametrize("name", [name for name in MAPS if name != "one site"])
@pytest.mark.parametrize("rate", ["1/3", "ln(3)"])
def test_clamping_never_costs_more_than_epsilon(name, rate):
    noise, where = PlanarGeometric.of(rate), MAPS[name]
    mechanism = clamped(noise, where)
    rows = {site: mechanism.row(site) for site in where.sites}
    most = 0.0
    for left, right in itertools.permutations(where.sites, 2):
        for report in where.sites:
            loss = float((rows[left][report] / rows[right][report]).log()) / math.dist(left, right)
            most = max(most, loss)
    assert most <= float(noise.epsilon.ball(64)) * (1 + 1e-12)
    found = verify_locations(mechanism)
    assert (found.status, found.method) == ("proved", "triangle inequality")
    assert float(found.loss) == pytest.approx(most, rel=1e-9)


def test_clamped_samples_follow_the_cells():
    mechanism = clamped(PlanarGeometric.of("1/2"), Map.rectangle((0, 0), (2, 1)))
    source = Seeded(8)
    drawn = Counter(mechanism.release((0, 1), seed=source) for _ in range(4000))
    row = mechanism.row((0, 1))
    assert chisquare([drawn[site] for site in row], [4000 * float(p) for p in row.values()]).pvalue > 0.01


def test_remapping_helps_and_costs_nothing():
    where = Map.rectangle((0, 0), (4, 4))
    noise = PlanarGeometric.of("1/3")
    prior = {(0, 0): "1/2", (1, 0): "1/4", (4, 4): "1/4"}
    plain, better = clamped(noise, where), remapped(noise, where, prior)
    assert better.expected_distance(prior) < plain.expected_distance(prior)
    found = verify_locations(better)
    assert found.status == "proved"
    assert float(found.loss) <= 1 / 3
    assert sum(better.row((2, 2)).values(), arb(0)).overlaps(arb(1))
    posterior = {
        site: [float(rational(mass)) * float(plain.row(x)[site]) for x, mass in prior.items()] for site in where.sites
    }
    for site in where.sites:

        def cost(target, masses=posterior[site]):
            return sum(mass * math.dist(x, target) for x, mass in zip(prior, masses, strict=True))

        assert cost(better.table[site]) == pytest.approx(min(cost(each) for each in where.sites), rel=1e-9)


# --------------------------------------------------------------------------------------------------------- latitude and longitude


@pytest.mark.parametrize(
    ("latitude", "north", "east"), [(0, 110574.3, 111319.5), (45, 111131.7, 78846.8), (60, 111412.2, 55800.0)]
)
def test_the_metres_of_a_degree(latitude, north, east):
    found = Projection.at(latitude, 0)
    assert float(fraction(found.north)) == pytest.approx(north, abs=0.1)
    assert float(fraction(found.east)) == pytest.approx(east, abs=0.1)


def test_sites_and_coordinates_go_back_and_forth():
    here = Projection.at("-33.86", "179.99")
    for site in ((0, 0), (40, -7), (500, 300)):
        up, around = here.coordinates(site, step=25)
        assert -180 <= around < 180
        assert here.site(up, around, step=25) == site
    assert here.site("-33.86", "-179.99", step=1)[0] == pytest.approx(0.02 * float(fraction(here.east)), abs=1)


def test_noise_is_equal_in_all_directions_in_metres():
    here = Projection.at(60, 20)
    noise = PlanarGeometric.of("1/100", step=5)
    source = Seeded(4)
    drawn = [here.coordinates(noise.release((0, 0), seed=source), step=5) for _ in range(1500)]
    north = np.mean([abs(up - 60) for up, _ in drawn]) * 111412
    east = np.mean([abs(around - 20) for _, around in drawn]) * 55800
    assert north / east == pytest.approx(1, abs=0.1)


# ------------------------------------------------------------------------------------------------------------------- verdicts


def test_planar_noise_keeps_its_rate_and_no_smaller_one():
    for noise in (PlanarGeometric.of("ln(2)", step="1/3"), PlanarLaplace.of("ln(2)")):
        assert verify_locations(noise).status == "proved"
        assert verify_locations(noise, "0.6931471805599454").status == "proved"
        found = verify_locations(noise, "0.6931471805599453")
        assert found.status == "refuted"
        ratio = (found.left_probability / found.right_probability).log() / found.distance
        assert ratio.overlaps(found.loss)
        assert ratio.overlaps(arb(2).log())


def test_an_exact_channel_is_decided_exactly():
    rows = {(0, 0): {"a": "2/3", "b": "1/3"}, (1, 0): {"a": "1/3", "b": "2/3"}, (3, 4): {"a": "1/2", "b": "1/2"}}
    channel = Channel.of(rows, step="1/2")
    assert verify_locations(channel, "2*ln(2)").status == "proved"
    found = verify_locations(channel, "1.3862943611198906")
    assert found.status == "refuted"
    assert (found.left, found.right, found.output, float(found.distance)) == ((0, 0), (1, 0), "a", 0.5)
    assert verify_locations(channel, "1/2", sites=[(0, 0), (3, 4)]).status == "proved"


def test_an_impossible_report_is_refuted_at_any_rate():
    channel = Channel.of({(0, 0): {"a": 1}, (0, 9): {"a": "99/100", "b": "1/100"}})
    found = verify_locations(channel, 1000)
    assert (found.status, found.left, found.output) == ("refuted", (0, 9), "b")
    assert not found.loss.is_finite()
    assert "inf" in str(found)


def test_a_channel_of_balls():
    def probability(site, output, bits):
        with precision(bits):
            share = 1 / (1 + arb(2).sqrt())
            return share if output == site else 1 - share

    channel = Channel(rational(1), ((0, 0), (1, 0)), ((0, 0), (1, 0)), probability)
    rate = math.log(math.sqrt(2))
    assert verify_locations(channel, "1/2").computed == "proved"
    assert verify_locations(channel, "1/3").computed == "refuted"
    assert verify_locations(channel, "ln(2)/2").computed == "unknown"
    assert verify_locations(channel, "1/2").status == "unknown"
    assert "no certificate" in verify_locations(channel, "1/2").reason
    assert float(verify_locations(channel, "1/2").loss) == pytest.approx(rate)


def test_clamping_to_a_coarse_map_may_use_less_than_epsilon():
    mechanism = clamped(PlanarGeometric.of(1), Map.rectangle((0, 0), (1, 1)))
    used = verify_locations(mechanism)
    assert used.loss < arb("0.93")
    assert (verify_locations(mechanism, "0.95").status, verify_locations(mechanism, "0.95").method) == (
        "proved",
        "every pair",
    )
    assert verify_locations(mechanism, "0.92").status == "refuted"


def test_random_channels_against_the_definition():
    generator = np.random.default_rng(0)
    for _ in range(30):
        sites = sorted({(int(i), int(j)) for i, j in generator.integers(0, 4, (4, 2))})
        if len(sites) < 2:
            continue
        rows = {}
        for site in sites:
            counts = [int(count) for count in generator.integers(1, 9, 3)]
            rows[site] = {name: Fraction(count, sum(counts)) for name, count in zip("abc", counts, strict=True)}
        worst = max(
            math.log(rows[x][z] / rows[y][z]) / math.dist(x, y)
            for x, y in itertools.permutations(sites, 2)
            for z in "abc"
        )
        channel = Channel.of(rows)
        for factor, status in ((1.001, "proved"), (0.999, "refuted")):
            if worst > 0:
                found = verify_locations(channel, Fraction(worst * factor).limit_denominator(10**9))
                assert found.status == status
                assert float(found.loss) == pytest.approx(worst)


# -------------------------------------------------------------------------------------------------------------------- exhibits


def test_drawing_again_on_a_grid_is_refuted():
    found = resampling_planar_geometric("1/10", Map.rectangle((0, 0), (14, 14)))
    assert (found.status, found.left, found.right, found.output) == ("refuted", (0, 0), (1, 1), (0, 0))
    assert 1.5 < float(found.factor) < 1.9
    rate, sites = 0.1, list(itertools.product(range(15), repeat=2))
    mine, other = (
        math.exp(-rate * math.dist(x, (0, 0))) / sum(math.exp(-rate * math.dist(x, z)) for z in sites)
        for x in ((0, 0), (1, 1))
    )
    assert (float(found.left_probability), float(found.right_probability)) == pytest.approx((mine, other))


@pytest.mark.parametrize("side", selected([11, 29, 59], 1))
def test_large_maps(side):
    where = Map.rectangle((0, 0), (side, side))
    found = verify_locations(clamped(PlanarGeometric.of("1/10"), where))
    assert found.status == "proved"
    assert float(found.factor) == pytest.approx(1)
    assert verify_locations(Resampled(PlanarGeometric.of("1/10"), where), sites=[(0, 0), (1, 1)]).status == "refuted"
    wide = Resampled(PlanarGeometric.of("1/10"), Map.rectangle((0, 0), (15, 15)))
    found = verify_locations(wide, "1/5")
    assert found.status == "unknown"
    assert "name sites" in str(found)


def test_drawing_again_where_all_sites_are_alike_is_harmless():
    assert verify_locations(Resampled(PlanarGeometric.of("1/3"), Map.rectangle((0, 0), (1, 1)))).status == "proved"
    assert verify_locations(Resampled(PlanarGeometric.of("1/3"), Map.rectangle((0, 0), (1, 0)))).status == "proved"
    assert verify_locations(Resampled(PlanarGeometric.of("1/3"), Map.rectangle((0, 0), (2, 0)))).status == "refuted"


def test_the_probability_of_staying_on_the_map():
    mechanism = ResampledLaplace(epsilon(1), rational(40), rational(60))
    assert float(mechanism.inside((0, 0))) == pytest.approx(1 / 4, abs=1e-9)
    assert float(mechanism.inside((0, 30))) == pytest.approx(1 / 2, abs=1e-9)
    assert float(mechanism.inside((20, 30))) == pytest.approx(1, abs=1e-6)
    small = ResampledLaplace(epsilon("3/2"), rational(2), rational(1))
    for place in (("1/2", "1/4"), (0, "1/3"), (2, 1), ("1/10", "1/10")):
        x, y = (float(Fraction(each)) for each in place)
        mass, error = dblquad(
            lambda b, a, x=x, y=y: 1.5**2 / (2 * math.pi) * math.exp(-1.5 * math.hypot(a - x, b - y)),
            0,
            2,
            0,
            1,
            epsabs=1e-7,
        )
        assert float(small.inside(place)) == pytest.approx(mass, abs=1e-5 + error)


@pytest.mark.parametrize(
    ("left", "right", "factor", "limit"),
    [((0, 20), ("1/50", 20), 1.63, 1 + 2 / math.pi), ((0, 0), ("1/50", "1/50"), 1.89, 1 + 2 * math.sqrt(2) / math.pi)],
)
def test_drawing_again_at_an_edge_and_in_a_corner(left, right, factor, limit):
    found = resampling_planar_laplace(1, width=40, height=40, left=left, right=right)
    assert found.status == "refuted"
    assert found.density
    assert factor < float(found.factor) < limit
    assert float(found.factor.rad()) < 1e-9
    assert verify_locations(found.mechanism).status == "refuted"


def test_one_output_within_the_claim_shows_nothing():
    found = resampling_planar_laplace(1, width=40, height=40, claimed=2)
    assert found.status == "unknown"
    assert "others were not looked at" in found.reason


@pytest.mark.parametrize("latitude", [10, 41, 60, -60])
def test_noise_that_is_shrunk_in_the_direction_north(latitude):
    found = shrunk_north_south("1/3", latitude=latitude, distance=2)
    assert found.status == "refuted"
    assert float(found.factor) == pytest.approx(1 / abs(math.sin(math.radians(latitude))))


def test_the_equator_and_the_pole():
    equator = shrunk_north_south(1, latitude=0)
    assert (equator.status, float(equator.left_probability), float(equator.right_probability)) == ("refuted", 1, 0)
    assert shrunk_north_south(1, latitude=90).status == "proved"


# -------------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PlanarGeometric.of(0), "epsilon = 0"),
        (lambda: PlanarGeometric.of("inf"), "epsilon = inf"),
        (lambda: PlanarGeometric.of(1, step=0), "step = 0"),
        (lambda: PlanarGeometric.of(1).release((0.5, 1)), r"\(0.5, 1\) is no site"),
        (lambda: PlanarGeometric.of(1).release("ab"), "'ab' is no site"),
        (lambda: PlanarGeometric.of(1).release((True, 0)), "is no site"),
        (lambda: PlanarGeometric.of(1).accuracy(1), "probability = 1"),
        (lambda: PlanarGeometric.of(1).after(0), "reports = 0"),
        (lambda: PlanarGeometric.of(1).covered(-1), "radius = -1"),
        (lambda: per_distance("ln(4)", within=0), "within = 0"),
        (lambda: per_distance("ln(4)", within=123457), "larger unit"),
        (lambda: Map.rectangle((1, 0), (0, 0)), "no site lies between"),
        (lambda: Map.of([]), "without a site"),
        (lambda: Map.rectangle((0, 0), (1000, 1000)).sites, "1002001 sites"),
        (lambda: clamped(PlanarGeometric.of(1, step=2), Map.rectangle((0, 0), (1, 1))), "the noise has the step 2"),
        (lambda: clamped(PlanarGeometric.of(1), MAPS["an L"]).row((5, 5)), "is not on a map of 5 sites"),
        (lambda: clamped(PlanarGeometric.of("1e-4"), MAPS["an L"]).row((0, 0)), "no rectangle"),
        (lambda: remapped(PlanarGeometric.of(1), MAPS["an L"], {(0, 0): "1/2"}), "the prior sums to 1/2"),
        (lambda: remapped(PlanarGeometric.of(1), Map.rectangle((0, 0), (50, 50)), {(0, 0): 1}), "2601 sites"),
        (lambda: Projection.at(89, 0), "latitude = 89"),
        (lambda: Projection.at(0, 0).site(0, 200, step=1), "longitude = 200"),
        (lambda: Channel.of({(0, 0): {"a": "1/2"}}), "1/2"),
        (lambda: Channel.of({(0, 0): {"a": 1}}, step=-1), "step = -1"),
        (lambda: verify_locations(Channel.of({(0, 0): {"a": 1}}), 1), "compares with nothing"),
        (lambda: verify_locations(Channel.of({(0, 0): {"a": 1}, (1, 0): {"a": 1}})), "claims no epsilon"),
        (lambda: verify_locations(PlanarGeometric.of(1), 0), "epsilon = 0"),
        (lambda: verify_locations(clamped(PlanarGeometric.of(1), MAPS["a row"]), sites=[(9, 9), (0, 5)]), "not among"),
        (lambda: resampling_planar_geometric(1, Map.rectangle((0, 0), (40, 40))), "too many comparisons"),
        (lambda: resampling_planar_laplace(1, width=0, height=1), "a map of 0 x 1"),
        (lambda: resampling_planar_laplace(1, width=1, height=1, left=(2, 0)), "not on the map"),
        (lambda: resampling_planar_laplace(1, width=1, height=1, right=(0, 0)), "both places"),
        (lambda: shrunk_north_south(1, latitude=91), "latitude = 91"),
        (lambda: precision_epsilon(1, step=-1, largest_radius=1), "step = -1"),
    ],
)
def test_nonsense_is_refused_with_a_way_out(call, words):
    with pytest.raises(PrivproofError, match=words):
        call()


def test_floats_are_refused_where_numbers_are_promises():
    assert PlanarGeometric.of(0.1) == PlanarGeometric.of("1/10")
    with pytest.raises(FloatRefused):
        Map.rectangle((0, 0), (1, 1), step=0.5)
    with pytest.raises(BudgetError):
        PlanarGeometric.of("-1")
    assert isinstance(PlanarGeometric.of(1).epsilon, Epsilon)


def test_a_mechanism_says_what_it_is():
    mechanism = Clamped(PlanarGeometric.of("1/2"), MAPS["an L"], {})
    assert str(mechanism).endswith("clamped to a map of 5 sites, step 1")
    assert str(verify_locations(mechanism)).startswith("proved: epsilon = 1/2 = 0.5 per unit of distance")


# ------------------------------------------------------------------------------------------------------------------ the engine


TWO = {(0, 0): {"a": "2/3", "b": "1/3"}, (1, 0): {"a": "1/3", "b": "2/3"}}


@pytest.mark.parametrize(("claim", "status"), [("ln(2)", "proved"), ("0.69", "refuted")])
def test_locations_are_asked_about_like_everything_else(claim, status):
    question = LocationQuestion(Channel.of(TWO), epsilon("ln(2)"))
    verdict = check(question, claim)
    assert (verdict.status, verdict.engine) == (status, "locations")
    assert verdict.certificate == verify_locations(Channel.of(TWO), claim).verdict.certificate


def test_named_sites_are_the_ones_that_are_compared():
    mechanism = Resampled(PlanarGeometric.of("ln(2)"), Map.rectangle((0, 0), (3, 3)))
    corners = LocationQuestion(mechanism, epsilon("ln(2)"), ((0, 0), (3, 3)))
    assert check(corners).status == "proved"
    assert check(corners).question.sites == ((0, 0), (3, 3))
    assert check(LocationQuestion(mechanism, epsilon("ln(2)"))).status == "refuted"


def test_a_delta_is_not_read_as_none():
    question = LocationQuestion(Channel.of(TWO), epsilon("1/2"))
    with pytest.raises(QuestionError, match="without a delta"):
        check(question, "1/2", "1/4")
    with pytest.raises(QuestionError, match="without a delta"):
        question.under(Budget.of("1/2", "1/4"))


def test_a_rate_is_claimed_and_not_looked_for():
    verdict = tight_epsilon(LocationQuestion(Channel.of(TWO), epsilon("ln(2)")))
    assert verdict.status == "unknown"
    assert "claimed, not looked for" in verdict.reason


def test_a_search_can_be_stopped():
    mechanism = Resampled(PlanarGeometric.of("ln(2)"), Map.rectangle((0, 0), (9, 9)))
    verdict = check(LocationQuestion(mechanism, epsilon(5)), monitor=Monitor(interrupted=True))
    assert verdict.status == "unknown"
    assert verdict.reason == "interrupted"
