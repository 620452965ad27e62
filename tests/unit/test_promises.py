"""Proofs up to bad noise, for every length: thresholds that a key of one side alone passes, tests that pass too near."""

from __future__ import annotations

import copy
from math import exp, log
from statistics import NormalDist

import pytest
from tests.amounts import patience
from tests.certificates import recheck

from privproof import check, gaussian, laplace, mechanism, records, tight_rho
from privproof.evidence.checker import Accepted, Rejected
from privproof.library.gaussian import permute_and_flip
from privproof.library.gaussian import stable_mode as mode
from privproof.library.gaussian import thresholded_counts as on_integers
from privproof.library.gaussian import thresholded_histogram as histogram

KEYS = ("a", "b", "c")

replaced = mechanism(histogram.function, neighbours="one")


@mechanism(neighbours="add-remove")
def gaussian_histogram(data: records("a", "b", "c")):
    out = []
    for key in KEYS:
        count = data.count(key)
        noisy = gaussian(count, sigma=2)
        if count > 0 and noisy >= 9:
            out.append((key, noisy))
    return out


@mechanism(neighbours="add-remove")
def untested(data: records("a", "b")):
    ahead = data.count("a") - data.count("b")
    if laplace(ahead, scale=1) >= -10:
        return "a" if ahead > 0 else "b"
    return "too close"


@mechanism(neighbours="add-remove")
def noise_shared(data: records("a", "b")):
    out = []
    noise = laplace(0, scale=1)
    for key in ("a", "b"):
        count = data.count(key)
        if count > 0 and count + noise >= 10:
            out.append(key)
    return out


def _normal(mu, e):
    below = NormalDist().cdf
    return below(mu / 2 - e / mu) - exp(e) * below(-mu / 2 - e / mu)


GAUSSIAN = _normal(1 / 2, 1) + NormalDist().cdf(-4)


@pytest.mark.parametrize(
    ("function", "epsilon", "delta", "less"),
    [
        (histogram, "1", exp(-9) / 2, "refuted"),
        (replaced, "2", exp(-9), "unknown"),
        (on_integers, "ln(2)", 2**-9 / 1.5, "refuted"),
        (gaussian_histogram, "1", GAUSSIAN, "unknown"),
        (mode, "1", exp(-9) / 2, "refuted"),
    ],
)
def test_the_delta_is_what_far_noise_takes(function, epsilon, delta, less):
    verdict = check(function, epsilon=epsilon, delta=f"{delta * 1.00001:.12f}")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert isinstance(recheck(verdict.certificate), Accepted)
    limit = 2 if less == "refuted" else patience(2)
    assert check(function, epsilon=epsilon, delta=f"{delta * 0.9999:.12f}", time_limit=limit).status == less


def test_a_delta_that_forgets_the_atom_at_the_threshold_is_refuted():
    """P(noise > 9) is not the probability that 1 + noise is 10 or more."""
    assert check(on_integers, epsilon="ln(2)", delta=f"{2**-10 / 1.5:.12f}").status == "refuted"


@pytest.mark.parametrize("function", [untested, noise_shared])
def test_what_no_promise_helps_is_not_proved(function):
    assert check(function, epsilon=1, delta="1/100", time_limit=patience(2)).status != "proved"


def test_the_checker_reads_promises_strictly():
    certificate = check(histogram, epsilon=1, delta="6.1705e-5").certificate

    def promise(document):
        return document["evidence"]["promises"][0]

    def no_promise(document):
        document["evidence"]["promises"] = []

    def never(document):
        promise(document)["times"] = 0

    def more_often(document):
        promise(document)["times"] = 2

    def nearer(document):
        promise(document)["beyond"] = "8.9"

    def farther(document):
        promise(document)["beyond"] = "9.1"

    def elsewhere(document):
        promise(document)["side"] = "above"

    def at_some(document):
        promise(document)["instructions"] = promise(document)["instructions"][:1]

    def smaller(document):
        document["question"]["delta"] = "6.1704e-5"

    for change in (no_promise, never, more_often, nearer, farther, elsewhere, at_some, smaller):
        made = copy.deepcopy(certificate)
        change(made)
        assert isinstance(recheck(made), Rejected), change.__name__


@mechanism(neighbours="add-remove")
def moved_centre(data: records("a", "b")):
    first = laplace(data.count("a"), scale=1)
    second = laplace(first, scale=1)
    return first, second > 10


def test_nothing_is_promised_of_noise_around_noise():
    """Whether such a centre differs depends on shifts, which may be chosen in hindsight."""
    certificate = copy.deepcopy(check(moved_centre, epsilon=1).certificate)
    certificate["question"]["delta"] = "1/2"
    code = certificate["question"]["code"]
    last = max(at for at, step in enumerate(code) if step[0] == "sample")
    given = {"instructions": [last], "side": "below", "beyond": "5", "times": 1}
    certificate["evidence"]["promises"] = [given]
    found = recheck(certificate)
    assert isinstance(found, Rejected)
    assert "noise flows into the centre" in found.reason


def test_how_far_permute_and_flip_is_from_bounded_range():
    """Level candidates against one that is behind by 1: rho is the largest D_a/a, 0.7275, where 2^2/8 = 1/2 is claimed."""
    level, behind = (1 / 2, 1 / 2), (exp(-2) / 2, 1 - exp(-2) / 2)

    def rate(a):
        return log(sum(p**a * q ** (1 - a) for p, q in zip(level, behind, strict=True))) / (a - 1) / a

    needed = max(rate(1 + k / 1000) for k in range(1, 3000))
    assert needed == pytest.approx(0.7275, abs=1e-4)
    found = tight_rho(permute_and_flip)
    assert float(found.lower.ball().mid()) == pytest.approx(needed, abs=1e-6)
    assert found.status == "proved"
