"""Gaussian noise for sums of correlated data: deltas by the definition, from enumerated series, are within what is claimed."""

from __future__ import annotations

from fractions import Fraction
from math import exp, fsum, sqrt
from random import Random

import numpy as np
import pytest
from tests.amounts import selected
from tests.certificates import nested
from tests.release import release_brute as brute

from privproof import release
from privproof.errors import PrivproofError
from privproof.exact import fraction, rational
from privproof_checker import recheck
from privproof_checker.outcomes import Accepted

WALK = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})


def divergence(left, right, variance, step, epsilon):
    """``sum of max(0, P - e^epsilon Q)`` over all outputs on the lattice, P and Q the noisy laws."""
    reach = int(12 * sqrt(variance) / step) + 5
    atoms = [int(value / step) for law in (left, right) for (value,) in law]
    low, high = min(atoms) - reach, max(atoms) + reach
    places = np.arange(low, high + 1)

    def noisy(law):
        total = np.zeros(len(places))
        weights = np.exp(-((np.arange(-20 * reach, 20 * reach + 1) * step) ** 2) / (2 * variance)).sum()
        for (value,), chance in law.items():
            total += float(chance) * np.exp(-(((places - int(value / step)) * step) ** 2) / (2 * variance)) / weights
        return total

    return fsum(np.maximum(0.0, noisy(left) - exp(epsilon) * noisy(right)))


def worst(model, weights, noise, epsilon):
    tables = brute.laws(model, brute.sums(weights))
    return max(
        (
            divergence(table[x], table[y], float(noise.variance), float(noise.step), epsilon)
            for table in tables
            for x in table
            for y in table
            if x != y
        ),
        default=0.0,
    )


@pytest.mark.parametrize("seed", selected(range(60), 6))
def test_deltas_by_the_definition(seed):
    random = Random(seed)
    size, length = random.choice((2, 2, 3)), random.randint(2, 5)
    matrix, start = brute.random_matrix(random, size), brute.random_start(random, size)
    states = "abc"[:size]
    weights = random.choice(([0, 1, 1], [0, 1, 2], [Fraction(1, 2), 0, 3], [-1, 2, 0]))[:size]
    chain = release.Chain(
        tuple(states), tuple(tuple(map(rational, row)) for row in matrix), tuple(map(rational, start))
    )
    query = release.weighted_sum(dict(zip(states, map(rational, weights), strict=True)))
    epsilon, delta = random.choice(("1/5", "1", "3")), random.choice(("1/10", "1/1000", "1e-6"))
    try:
        made = release.calibrate(chain, query=query, epsilon=epsilon, delta=delta, length=length, noise="gaussian")
    except PrivproofError:
        pytest.skip("nothing to hide, or nothing that is told")
    verdict = release.verify(made)
    assert verdict.status == "proved", verdict.reason
    found = worst(
        brute.homogeneous(start, matrix, length), list(map(Fraction, weights)), made.noise, float(Fraction(epsilon))
    )
    assert found <= float(Fraction(delta)) * (1 + 1e-9)
    less = release.Gaussian(made.noise.variance / 100, made.noise.step)
    needed = worst(
        brute.homogeneous(start, matrix, length), list(map(Fraction, weights)), less, float(Fraction(epsilon))
    )
    other = release.verify(chain, query=query, noise=less, epsilon=epsilon, delta=delta, length=length)
    assert other.status == ("unknown" if needed > float(Fraction(delta)) else other.status)


def test_noise_is_nearly_the_least_where_entries_are_independent():
    """Then all mass is moved by one step at most, and the bound is that of one step."""
    even = release.Chain.of({x: {"a": "1/2", "b": "1/2"} for x in "ab"})
    made = release.calibrate(even, query=release.count("b"), epsilon=1, delta="1e-5", length=1, noise="gaussian")
    exact = divergence(
        {(Fraction(1),): Fraction(1)}, {(Fraction(0),): Fraction(1)}, float(made.noise.variance), 1.0, 1.0
    )
    assert exact == pytest.approx(1e-5, rel=1e-4)


def test_certificates_hold_what_they_say():
    made = release.calibrate(WALK, query=release.count("walk"), epsilon=1, delta="1/1000", length=20, noise="gaussian")
    document = nested(release.verify(made).certificate)
    assert isinstance(recheck(document), Accepted)
    question = document["question"]
    assert question["delta"] == "1/1000"
    noise = question["noise"]
    for changed in (
        {"delta": "99/100000"},
        {"delta": 0},
        {"delta": 1},
        {"epsilon": "99/100"},
        {"noise": {**noise, "variance": str(fraction(rational(noise["variance"])) * 99 / 100)}},
        {"noise": {**noise, "variance": "0"}},
        {"noise": {**noise, "step": "2"}},
        {"noise": {"kind": "laplace", "scale": "100"}},
        {"query": {"kind": "histogram", "bins": ["rest", "walk"]}},
        {"priors": [{**question["priors"][0], "start": "any"}]},
    ):
        assert not isinstance(recheck({**document, "question": {**question, **changed}}), Accepted), changed
    for method in ("laws", "distance", "quilts", "event"):
        assert not isinstance(recheck({**document, "evidence": {"method": method}}), Accepted)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"delta": 0}, "delta"),
        ({"delta": "1e-40"}, "delta"),
        ({"query": release.histogram(["rest", "walk"]), "method": "coupling"}, "no sum"),
        ({"method": "exact"}, "not for Gaussian"),
        ({"gaps": True, "method": "coupling"}, "missing"),
        ({"priors": WALK.starting("any"), "method": "coupling"}, "start"),
        ({"noise": "laplace"}, "needs no delta"),
    ],
)
def test_what_gaussian_noise_is_not_for(changed, said):
    asked = {
        "query": release.count("walk"),
        "epsilon": 1,
        "delta": "1/1000",
        "length": 20,
        "noise": "gaussian",
        **changed,
    }
    with pytest.raises(PrivproofError, match=said):
        release.calibrate(asked.pop("priors", WALK), **asked)


def test_a_claim_without_delta_is_unknown_and_an_entry_has_no_cost():
    made = release.calibrate(WALK, query=release.count("walk"), epsilon=1, delta="1/1000", length=20, noise="gaussian")
    assert release.verify(made.question, epsilon=5).status == "unknown"
    with pytest.raises(PrivproofError, match="no cost"):
        assert made.cost
    with pytest.raises(PrivproofError, match="without a delta"):
        release.verify(WALK, query=release.count("walk"), length=5, noise=release.Laplace.of(9), epsilon=1, delta="0.1")
    drawn = [release.release(made, ["rest"] * 20, seed=seed).value for seed in range(200)]
    assert abs(sum(drawn)) < 200 * 5
    assert all(value.denominator == 1 for value in drawn)
    assert made.accuracy() < 40
