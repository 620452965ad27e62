"""Rényi divergences of releases: by the definition, from enumerated series, they are within what is claimed, and enclosed."""

from __future__ import annotations

import copy
from fractions import Fraction
from math import log
from random import Random

import numpy as np
import pytest
from tests.amounts import selected
from tests.release import release_brute as brute

from privproof import check, release, tight_renyi, tight_rho
from privproof.errors import PrivproofError
from privproof.exact import rational
from privproof.release.calibration import asked_about
from privproof_checker import recheck
from privproof_checker.outcomes import Accepted, Rejected

PIECES = 32
ROUGH = 1e-3
"""How far the definition of Laplace noise may be off in its pieces, relatively."""
ORDERS = (1.0, 1.5, 2.0, 3.0, 8.0, 20.0)


def weights(noise, reach, pieces=1):
    """The logarithms of the noise on a grid from -reach to reach; Laplace noise by its density in the middle of each piece."""
    if isinstance(noise, release.Laplace):
        middles = (np.arange(-reach * pieces, reach * pieces + 1) + 0.5) / pieces
        return -np.abs(middles) / float(noise.scale) - log(2 * float(noise.scale) * pieces)
    steps = np.arange(-reach * pieces, reach * pieces + 1) / pieces
    if isinstance(noise, release.Gaussian):
        logs = -(steps**2) / (2 * float(noise.variance))
    else:
        logs = np.abs(steps) * log(float(noise.alpha))
    return logs - log(np.exp(logs - logs.max()).sum()) - logs.max()


def added(logs):
    most = logs.max(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(
            np.isfinite(most), most + np.log(np.exp(logs - np.where(np.isfinite(most), most, 0)).sum(axis=0)), -np.inf
        )


def divergences(model, answers, noise, orders, pieces=1):
    """The largest divergence of every order, over entries and ordered pairs of values; answers are lists of whole numbers."""
    reach = 60 + 2 * model.length
    line = weights(noise, reach + model.length, pieces)
    found = dict.fromkeys(orders, 0.0)
    joint = brute.series(model)
    number = len(answers(next(iter(joint))))
    for node in range(model.length):
        terms = {}
        for values, chance in joint.items():
            if chance:
                shape = np.zeros(1)
                for answer in answers(values):
                    first = (model.length - answer) * pieces
                    part = line[first : first + 2 * reach * pieces + 1]
                    shape = np.add.outer(shape, part).reshape(-1)
                terms.setdefault(values[node], []).append((chance, shape))
        laws = {}
        for value, listed in terms.items():
            mass = sum(chance for chance, _ in listed)
            laws[value] = added(np.array([log(chance / mass) + shape for chance, shape in listed]))
        assert number < 3
        for x in laws:
            for y in laws:
                if x != y:
                    for order in orders:
                        p, q = laws[x], laws[y]
                        if order == 1:
                            amount = float((np.exp(p) * (p - q)).sum())
                        else:
                            both = order * p + (1 - order) * q
                            amount = (both.max() + log(np.exp(both - both.max()).sum())) / (order - 1)
                        found[order] = max(found[order], amount)
    return found


def example(seed, size=2):
    random = Random(seed)
    length = random.randint(2, 5)
    matrix, start = brute.random_matrix(random, size), brute.random_start(random, size)
    states = tuple("abc"[:size])
    chain = release.Chain(states, tuple(tuple(map(rational, row)) for row in matrix), tuple(map(rational, start)))
    return random, length, chain, brute.homogeneous(start, matrix, length)


NOISES = (release.Gaussian.of(4), release.Geometric.of("2/3"), release.Laplace.of(2))


@pytest.mark.parametrize("seed", selected(range(30), 5))
@pytest.mark.parametrize("noise", NOISES, ids=["gaussian", "geometric", "laplace"])
def test_divergences_are_enclosed(seed, noise):
    _, length, chain, model = example(seed)
    laplace = isinstance(noise, release.Laplace)
    query = release.count("b")
    question = release.ReleaseQuestion(priors=(chain,), lengths=(length,), entries=length, query=query, noise=noise)
    known = divergences(
        model, lambda values: [values.count(1)], noise, (1.0, 2.0, 5.0), pieces=PIECES if laplace else 1
    )
    try:
        found = {order: tight_renyi(question, int(order)) for order in known}
    except PrivproofError:
        pytest.skip("nothing to hide")
    more = 1 + (ROUGH if laplace else 1e-6)
    for order, amount in known.items():
        verdict = found[order]
        assert verdict.status == "proved"
        assert float(verdict.lower.ball()) <= amount * more + 1e-9
        assert amount <= float(verdict.upper.ball()) * more + 1e-9
        if not laplace and order > 1 and verdict.certified.lower:
            assert float(verdict.upper.ball() - verdict.lower.ball()) <= 1e-6 * amount + 1e-9


@pytest.mark.parametrize("seed", selected(range(60), 8))
def test_calibrated_noise_keeps_the_claim(seed):
    random, length, chain, model = example(seed, size=random_size(seed))
    kind = random.choice(("gaussian", "geometric", "laplace"))
    method = random.choice(("auto", "quilt", "coupling", "exact", "group"))
    several = {1: "1/4", 2: "1/2", 8: "2"}
    claim = random.choice(({"rho": "1/4"}, {"renyi": {2: "1/3"}}, {"renyi": several}))
    histogram = random.random() < 1 / 3 and chain.states == ("a", "b")
    query = release.histogram(["a", "b"]) if histogram else release.count("b")
    try:
        made = release.calibrate(chain, query=query, length=length, noise=kind, method=method, **claim)
    except PrivproofError:
        pytest.skip("nothing to hide, or another method")
    verdict = release.verify(made)
    assert verdict.status == "proved"
    assert isinstance(recheck(verdict.certificate), Accepted)
    assert check(made.question).status == "proved"
    reads = (lambda values: [values.count(0), values.count(1)]) if histogram else (lambda values: [values.count(1)])
    if histogram and kind == "laplace":
        return
    if histogram and length > 4:
        return  # the definition would take minutes
    deviation = float(made.noise.variance) if kind == "gaussian" else float(made.noise.expected) ** 2
    if deviation > 400:
        return  # the grid of the definition would not reach
    orders = ORDERS if "rho" in claim else tuple(map(float, claim["renyi"]))
    known = divergences(model, reads, made.noise, orders, pieces=PIECES if kind == "laplace" else 1)
    for order, amount in known.items():
        most = order / 4 if "rho" in claim else float(Fraction(claim["renyi"][int(order)]))
        assert amount <= most * (1 + (ROUGH if kind == "laplace" else 1e-6))


def random_size(seed):
    return 2 if seed % 3 else 3


@pytest.mark.parametrize("seed", selected(range(40), 6))
@pytest.mark.parametrize("noise", NOISES, ids=["gaussian", "geometric", "laplace"])
def test_verdicts_agree_with_the_definition(seed, noise):
    _, length, chain, model = example(seed)
    known = divergences(model, lambda values: [values.count(1)], noise, ORDERS, pieces=PIECES)
    if not isinstance(noise, release.Laplace):
        known = divergences(model, lambda values: [values.count(1)], noise, ORDERS)
    if known[2.0] < 1e-9:
        pytest.skip("nothing is told")
    asked = {"query": release.count("b"), "noise": noise, "length": length}
    for share in (0.5, 0.98, 1.02, 1.5):
        for claim, kept in (
            ({"renyi": {2: rational(Fraction(share * known[2.0]).limit_denominator(10**6))}}, share > 1),
            ({"rho": rational(Fraction(share * max(d / a for a, d in known.items())).limit_denominator(10**6))}, None),
        ):
            try:
                verdict = release.verify(chain, **asked, **claim)
            except PrivproofError:
                pytest.skip("nothing to hide")
            if verdict.status == "proved":
                assert kept is not False
                assert share > 1
            if verdict.status == "refuted":
                assert isinstance(recheck(verdict.certificate), Accepted)
                assert kept is not True
            if kept is not None and not isinstance(noise, release.Laplace) and known[2.0] > 1e-3:
                assert verdict.status == ("proved" if kept else "refuted")


def test_the_smallest_rho_of_a_network():
    flu = release.Network.exchangeable(["Ann", "Bob", "Cho"], {0: "1/4", 1: "1/4", 2: "1/4", 3: "1/4"})
    question = release.ReleaseQuestion(priors=(flu,), query=release.count("ill"), noise=release.Gaussian.of(4))
    found = tight_rho(question)
    assert found.status == "proved"
    assert found.certified.lower
    assert found.certified.upper
    assert 0 < float(found.lower.ball()) < float(found.upper.ball()) < 1.1 * float(found.lower.ball())


WALK = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})


def changed(document, change):
    other = copy.deepcopy(dict(document))
    change(other)
    return other


@pytest.mark.parametrize("method", ["exact", "coupling", "quilt", "group"])
@pytest.mark.parametrize("claim", [{"rho": "1/8"}, {"renyi": {2: "1/4"}}], ids=["rho", "renyi"])
def test_a_certificate_for_less_noise_or_more_privacy_is_refused(method, claim):
    made = release.calibrate(WALK, query=release.count("walk"), length=6, noise="gaussian", method=method, **claim)
    document = release.verify(made).certificate
    assert isinstance(recheck(document), Accepted)

    def less_noise(other):
        other["question"]["of"]["noise"]["variance"] = "1/2"

    def more_privacy(other):
        other["question"]["budgets"][0]["value"] = "1/1000"

    def all_orders(other):
        other["question"]["measure"] = "rho"
        other["question"]["budgets"] = [{"value": "1/1000"}]

    for change in (less_noise, more_privacy, all_orders):
        assert isinstance(recheck(changed(document, change)), Rejected)


def test_a_refutation_of_what_holds_is_refused():
    asked = {"query": release.count("walk"), "length": 6, "noise": release.Gaussian.of(4)}
    document = release.verify(WALK, renyi={2: "1/100"}, **asked).certificate
    assert isinstance(recheck(document), Accepted)

    def what_holds(other):
        other["question"]["budgets"][0]["value"] = "3"

    def other_order(other):
        other["facts"][0]["hint"]["order"] = "200"

    for change in (what_holds, other_order):
        assert isinstance(recheck(changed(document, change)), Rejected)


def test_a_ladder_with_a_missing_rung_is_refused():
    made = release.calibrate(WALK, query=release.count("walk"), length=6, noise="gaussian", method="exact", rho="1/8")
    document = release.verify(made).certificate
    assert document["facts"][0]["hint"]["proofs"][0]["method"] == "ladder"

    def without_the_middle(other):
        proof = other["facts"][0]["hint"]["proofs"][0]
        proof["orders"] = proof["orders"][:2] + proof["orders"][40:]

    def without_the_end(other):
        proof = other["facts"][0]["hint"]["proofs"][0]
        proof["orders"] = proof["orders"][:-20]

    for change in (without_the_middle, without_the_end):
        assert isinstance(recheck(changed(document, change)), Rejected)


def test_what_is_refused():
    asked = {"query": release.count("walk"), "length": 6}
    with pytest.raises(PrivproofError, match="claimed at once"):
        release.calibrate(WALK, epsilon=1, rho="1/8", **asked)
    with pytest.raises(PrivproofError, match="no budget"):
        release.calibrate(WALK, **asked)
    with pytest.raises(PrivproofError, match="has no delta"):
        release.calibrate(WALK, rho="1/8", delta="1/10", **asked)
    with pytest.raises(PrivproofError, match="rho = 0"):
        release.calibrate(WALK, rho=0, **asked)
    with pytest.raises(PrivproofError, match="unknown noise 'foo'"):
        release.calibrate(WALK, rho="1/8", noise="foo", **asked)
    with pytest.raises(PrivproofError, match="is not for rho"):
        release.calibrate(WALK, rho="1/8", method="gk16", **asked)


@pytest.mark.parametrize("value", ["1/1000", "1/1000000"])
@pytest.mark.parametrize("noise", ["gaussian", "geometric", "laplace"])
def test_little_rho_is_calibrated_by_noise_that_the_laws_do_not_reach(value, noise):
    made = release.calibrate(WALK, query=release.count("walk"), length=6, noise=noise, rho=value)
    assert release.verify(made).status == "proved"


@pytest.mark.parametrize("order", [1, "1001/1000", 2, 30])
@pytest.mark.parametrize("noise", ["gaussian", "geometric", "laplace"])
@pytest.mark.parametrize("method", ["quilt", "coupling"])
def test_little_divergences_are_calibrated_exactly_enough(order, noise, method):
    claim = {"renyi": {order: "1/1000000000"}}
    made = release.calibrate(WALK, query=release.count("walk"), length=6, noise=noise, method=method, **claim)
    assert release.verify(made).status == "proved"


def test_small_influences_are_left():
    shy = release.Chain.of({"a": {"b": 1}, "b": {"a": "1/100000001", "b": "100000000/100000001"}})
    query = release.histogram(["a", "b"])
    made = release.calibrate(shy, query=query, length=4, noise="laplace", method="quilt", renyi={"3/2": "1/8"})
    assert release.verify(made).status == "proved"


def test_noise_that_is_too_wide_for_the_laws_is_bounded_by_a_coupling():
    question = release.ReleaseQuestion(
        priors=(WALK,), lengths=(3,), entries=3, query=release.count("walk"), noise=release.Gaussian.of("1e18")
    )
    found = tight_rho(question)
    assert found.status == "proved"
    assert float(found.upper.ball()) == pytest.approx(1e-12, rel=0.01)
    fine = release.Geometric.of("1/2", step="1/1000000")
    assert release.verify(WALK, query=release.count("walk"), length=3, noise=fine, rho="1/10").status == "unknown"
    assert tight_renyi(question, 5000).status == "proved"


def test_laws_that_do_not_differ_tell_nothing():
    alike = release.Network.of({"x": {"table": {"a": "1/2", "b": "1/2"}}, "y": {"table": {"a": 1, "c": 0}}})
    query, noise = release.count("c"), release.Geometric.of("1/10")
    question = release.ReleaseQuestion(priors=(alike,), query=query, noise=noise)
    assert release.verify(question, rho="1/1000").status == "proved"
    assert float(tight_rho(question).upper.ball()) < 1e-9
    turns = release.Chain.of({"a": {"b": 1}, "b": {"a": 1}}, initial={"a": "1/2", "b": "1/2"})
    swapped = release.weighted_sum({"b": 2})
    made = release.calibrate(turns, query=swapped, length=4, renyi={30: "1/8"}, method="coupling")
    assert release.verify(made).status == "proved"


def test_numbers_beyond_floats_are_refused():
    for make in (
        lambda: release.Geometric.of("1e-400"),
        lambda: release.Laplace.of("1e-400"),
        lambda: release.Gaussian.of("1e400"),
    ):
        with pytest.raises(PrivproofError, match="noise"):
            make()
    asked = {"query": release.count("walk"), "length": 3}
    for value in ("1e400", "1e-400"):
        with pytest.raises(PrivproofError, match="rho ="):
            release.calibrate(WALK, rho=value, **asked)
    half = release.Geometric.of("1/2")
    assert release.verify(WALK, noise=half, rho="1e-400", **asked).status == "unknown"
    assert tight_rho(asked_about(WALK, noise=release.Gaussian.of("1e-9"), **asked)).status == "unknown"
