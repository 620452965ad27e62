"""Gaussian noise by quilts, and accounts in curves: deltas by the definition, from enumerated series, are within what is claimed."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, sqrt
from random import Random

import numpy as np
import pytest
from tests.amounts import selected
from tests.release import release_brute as brute

from privproof import release
from privproof.errors import PrivproofError
from privproof.exact import fraction, rational
from privproof_checker import recheck
from privproof_checker.outcomes import Accepted

WALK = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
NEXT = release.Chain.of({"rest": {"rest": "0.6", "walk": "0.4"}, "walk": {"rest": "0.5", "walk": "0.5"}})
HISTOGRAM = release.histogram(["rest", "walk"])


def gaussian(variance, reach):
    """The law of the noise on whole numbers from -reach to reach."""
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return weights / weights.sum()


def geometric(cost, reach):
    weights = np.exp(-cost * np.abs(np.arange(-reach, reach + 1)))
    return weights / weights.sum()


def worst_delta(model, answers, noises, epsilon):
    """The largest ``sum of max(0, P - e^epsilon Q)`` over entries and pairs of values; the noise of every component is listed."""
    joint = brute.series(model)
    reach = max(len(noise) // 2 for noise in noises)
    most = model.length
    worst = 0.0
    for node in range(model.length):
        laws = {}
        for values, chance in joint.items():
            law = laws.setdefault(values[node], np.zeros([2 * reach + 1 + most] * len(noises)))
            spread = np.array(float(chance))
            for answer, noise in zip(answers(values), noises, strict=True):
                line = np.zeros(2 * reach + 1 + most)
                offset = reach - len(noise) // 2 + answer
                line[offset : offset + len(noise)] = noise
                spread = np.multiply.outer(spread, line)
            law += spread
        laws = {value: law / law.sum() for value, law in laws.items()}
        for x, y in product(laws, laws):
            worst = max(worst, float(np.maximum(0.0, laws[x] - exp(epsilon) * laws[y]).sum()))
    return worst


@pytest.mark.parametrize("seed", selected(range(40), 5))
def test_histograms_by_the_definition(seed):
    random = Random(seed)
    length = random.randint(2, 6)
    matrix, start = brute.random_matrix(random, 2), brute.random_start(random, 2)
    chain = release.Chain(("a", "b"), tuple(tuple(map(rational, row)) for row in matrix), tuple(map(rational, start)))
    epsilon, delta = random.choice(("1", "3", "6")), random.choice(("1/10", "1/1000"))
    method = random.choice(("quilt", "group", "auto"))
    query = release.histogram(["a", "b"])
    try:
        made = release.calibrate(
            chain, query=query, epsilon=epsilon, delta=delta, length=length, noise="gaussian", method=method
        )
    except PrivproofError:
        pytest.skip("nothing to hide")
    verdict = release.verify(made)
    assert verdict.status == "proved"
    assert isinstance(recheck(verdict.certificate), Accepted)
    variance = float(made.noise.variance)
    noise = gaussian(variance, int(7 * sqrt(variance)) + 3)
    model = brute.homogeneous(start, matrix, length)
    found = worst_delta(
        model, lambda values: (values.count(0), values.count(1)), (noise, noise), float(Fraction(epsilon))
    )
    assert found <= float(Fraction(delta)) * (1 + 1e-6)


@pytest.mark.parametrize("seed", selected(range(30), 4))
def test_accounts_by_the_definition(seed):
    """Two releases, each of some entries, with Gaussian or geometric noise."""
    random = Random(seed)
    length = random.randint(2, 6)
    matrix, start = brute.random_matrix(random, 2), brute.random_start(random, 2)
    if not all(start) or not all(map(all, matrix)):
        pytest.skip("influence without bounds")
    chain = release.Chain(("a", "b"), tuple(tuple(map(rational, row)) for row in matrix), tuple(map(rational, start)))
    delta = random.choice(("1/20", "1/1000"))
    account = release.Accountant.of(chain, length=length, delta=delta)
    windows, noises = [], []
    for _ in range(2):
        first = random.randint(1, length)
        last = random.randint(first, length)
        windows.append((first - 1, last))
        if random.random() < 2 / 3:
            squared = random.choice(("1/4", "1/16", "1/100"))
            account = account.spending(squared=squared, first=first, last=last)
            variance = float(1 / Fraction(squared))
            noises.append(gaussian(variance, int(7 * sqrt(variance)) + 3))
        else:
            cost = random.choice(("1/2", "1/10"))
            account = account.spending(cost, first=first, last=last)
            noises.append(geometric(float(Fraction(cost)), 150))
    model = brute.homogeneous(start, matrix, length)

    def answers(values):
        return [values[a:b].count(1) for a, b in windows]

    assert worst_delta(model, answers, noises, float(account.epsilon)) <= float(Fraction(delta)) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("prior", "asked"),
    [
        (WALK, {"length": 5000, "query": HISTOGRAM}),
        (WALK.starting("any"), {"length": 300, "query": release.count("walk")}),
        (WALK, {"length": 300, "gaps": True, "query": release.count("walk")}),
        (
            release.Band.of({x: {"rest": ("0.3", "0.7"), "walk": ("0.3", "0.7")} for x in ("rest", "walk")}),
            {"length": 300, "query": HISTOGRAM},
        ),
        (
            release.Network.exchangeable(["Ann", "Bob"], {0: "1/4", 1: "1/2", 2: "1/4"}),
            {"query": release.histogram(["0", "1"])},
        ),
        (WALK, {"length": 300, "query": release.lipschitz(len, constant=1, name="longest walk")}),
    ],
)
def test_what_quilts_serve(prior, asked):
    if isinstance(prior, release.Network):
        asked = {**asked, "query": release.histogram(list(prior.nodes[0].values))}
    made = release.calibrate(prior, epsilon=1, delta="1e-6", noise="gaussian", **asked)
    assert made.method == "quilt"
    verdict = release.verify(made)
    assert verdict.status == "proved"
    document = verdict.certificate
    question = document["question"]
    less = {**question["noise"], "variance": str(rational(question["noise"]["variance"]) * rational("0.999"))}
    for changed in ({"noise": less}, {"delta": "9/10000000"}, {"epsilon": "999/1000"}):
        assert not isinstance(recheck({**document, "question": {**question, **changed}}), Accepted), changed


def test_too_little_noise_is_not_proved():
    made = release.calibrate(WALK, length=5000, query=HISTOGRAM, epsilon=1, delta="1e-6", noise="gaussian")
    less = release.Gaussian(made.noise.variance * rational("0.999"), made.noise.step)
    found = release.verify(WALK, length=5000, query=HISTOGRAM, noise=less, epsilon=1, delta="1e-6")
    assert found.status == "unknown"
    assert "quilts need a variance" in found.reason


def test_curves_are_less_than_sums_for_many_releases_and_no_more_for_one():
    pure, curves = release.Accountant.of(WALK, length=100), release.Accountant.of(WALK, length=100, delta="1e-6")
    one = curves.spending("0.0078")
    assert one.epsilon == pure.spending("0.0078").epsilon
    for _ in range(100):
        pure, curves = pure.spending("0.0078"), curves.spending("0.0078")
    assert curves.epsilon < pure.epsilon * Fraction(7, 10)


def test_accounts_of_gaussian_noise(tmp_path):
    made = release.calibrate(WALK, length=100, query=release.count("walk"), epsilon=1, delta="1e-6", noise="gaussian")
    with pytest.raises(PrivproofError, match="with a delta"):
        release.Accountant.of(WALK, length=100, epsilon=4).spending(made)
    account = release.Accountant.of(WALK, length=100, epsilon=6, delta="1e-6").spending(made)
    assert account.epsilon == 1  # by itself it is what it was calibrated for
    twice = account.spending(made)
    assert 1 < twice.epsilon <= 6
    assert fraction(made.squared) == 1 / fraction(made.noise.variance)
    path = tmp_path / "account.json"
    release.write_account(twice, path)
    assert release.read_account(path) == twice
    with pytest.raises(PrivproofError, match="above"):
        twice.spending(squared=1)
    ledger = release.Ledger.create(tmp_path / "a.ledger", account=release.read_account(path))
    ledger.spend(squared=made.squared, note="a third")
    assert ledger.verify().problems == ()
    with pytest.raises(PrivproofError, match="by entry"):
        ledger.spend(epsilon=1)
    with pytest.raises(PrivproofError, match="one cost"):
        ledger.spend(squared="1/4", entry="1/4")
    for wrong in ({"squared": "-1"}, {"cost": "1", "squared": "1"}, {}):
        with pytest.raises(PrivproofError):
            account.spending(wrong.get("cost"), squared=wrong.get("squared"))


def test_longer_series_need_no_more_once_quilts_are_shorter():
    made = [
        release.calibrate(NEXT, length=length, query=HISTOGRAM, epsilon=1, delta="1e-6", noise="gaussian")
        for length in (200, 20_000)
    ]
    assert made[0].noise == made[1].noise
    assert float(made[0].noise.variance) < float(
        release.calibrate(
            NEXT, length=200, query=HISTOGRAM, epsilon=1, delta="1e-6", noise="gaussian", method="group"
        ).noise.variance
    )
