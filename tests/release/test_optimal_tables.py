"""The best tables for small maps: by the definition they keep their rate, and no known mechanism is better."""

from __future__ import annotations

from itertools import product
from math import exp, hypot

import pytest

from privproof.errors import PrivproofError
from privproof.exact import fraction
from privproof.release import Map, PlanarGeometric, clamped, location_certificate, optimal, remapped
from privproof_checker import recheck
from privproof_checker.outcomes import Accepted


@pytest.mark.parametrize(
    ("map", "rate"),
    [
        (Map.rectangle((0, 0), (2, 1)), "ln(2)"),
        (Map.rectangle((0, 0), (3, 2)), "1/10"),
        (Map.of([(0, 0), (3, 4), (-2, 1), (10, 0)]), "1/3"),
        (Map.rectangle((0, 0), (2, 2), step=100), "1/50"),
    ],
)
def test_the_rate_by_the_definition(map, rate):
    best = optimal(map, rate)
    value = 0.6931471805599453 if rate == "ln(2)" else float(fraction(rate))
    for (x, row), (y, other) in product(best.channel.rows.items(), repeat=2):
        apart = float(map.step) * hypot(x[0] - y[0], x[1] - y[1])
        assert sum(row.values()) == 1
        for report, p in row.items():
            assert float(p) <= exp(value * apart) * float(other[report]) * (1 + 1e-12)
    assert best.finding.status == "proved"
    assert isinstance(recheck(location_certificate(best.finding)), Accepted)


def test_no_known_mechanism_is_better():
    town = Map.rectangle((0, 0), (3, 3))
    prior = dict.fromkeys(town.sites, "1/32") | {(0, 0): "17/32"}
    best = optimal(town, "1/2", prior=prior)
    noise = PlanarGeometric.of("1/2")
    for other in (clamped(noise, town), remapped(noise, town, prior)):
        assert float(best.expected_distance) <= float(other.expected_distance(prior)) + 1e-5


def test_reports_are_places_of_the_map():
    town = Map.rectangle((0, 0), (2, 2))
    best = optimal(town, 1)
    drawn = [best.release((1, 1), seed=seed) for seed in range(300)]
    assert set(drawn) <= set(town.sites)
    share = float(best.channel.rows[1, 1]["1, 1"])
    assert abs(drawn.count((1, 1)) / 300 - share) < 0.12
    with pytest.raises(PrivproofError, match="not on the map"):
        best.release((9, 9))


@pytest.mark.parametrize(
    ("map", "prior", "said"),
    [
        (Map.rectangle((0, 0), (9, 9)), None, "100 places"),
        (Map.rectangle((0, 0), (1, 1)), {(7, 7): 1}, "not on the map"),
        (Map.rectangle((0, 0), (1, 1)), {(0, 0): 0}, "sum to 0"),
    ],
)
def test_what_is_refused(map, prior, said):
    with pytest.raises(PrivproofError, match=said):
        optimal(map, 1, prior=prior)
