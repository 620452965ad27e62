"""Proofs up to bad noise, for every length: thresholds that a key of one side alone passes, tests that pass too near."""

from __future__ import annotations

import copy
from math import exp, log
from statistics import NormalDist

import pytest
from tests.amounts import patience
from tests.certificates import nested, recheck

from privproof import check, gaussian, geometric, laplace, mechanism, records, tight_rho
from privproof.library.gaussian import permute_and_flip
from privproof.library.gaussian import stable_mode as mode
from privproof.library.gaussian import thresholded_counts as on_integers
from privproof.library.gaussian import thresholded_histogram as histogram
from privproof_checker import Accepted, Rejected

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
        (replaced, "2", exp(-9) / 2, "refuted"),
        (on_integers, "ln(2)", 2**-9 / 1.5, "refuted"),
        (gaussian_histogram, "1", GAUSSIAN, "unknown"),
        (mode, "1", exp(-9) / 2, "refuted"),
    ],
)
def test_the_delta_is_what_far_noise_takes(function, epsilon, delta, less):
    verdict = check(function, epsilon=epsilon, delta=f"{delta * 1.00001:.12f}")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    limit = 2 if less == "refuted" else patience(2)
    assert check(function, epsilon=epsilon, delta=f"{delta * 0.9999:.12f}", time_limit=limit).status == less


@mechanism
def small_counts(data: records("a", "b")):
    out = []
    for key in ("a", "b"):
        count = data.count(key)
        noisy = geometric(count, alpha="1/2")
        if count > 0 and noisy >= 4:
            out.append((key, noisy))
    return out


def _shown(count, end=60):
    """What is shown of a key with a count: None, or a number of at least 4, with its probability."""
    if count == 0:
        return {None: 1.0}
    found = {noisy: 2.0 ** -abs(noisy - count) / 3 for noisy in range(4, end)}
    return {**found, None: 1 - sum(found.values())}


def _excess(left, right, ratio):
    """How much likelier the worst event is, beyond the ratio, where two keys have these counts."""
    (a, b), (c, d) = (tuple(map(_shown, side)) for side in (left, right))
    return sum(max(0, a[x] * b[y] - ratio * c.get(x, 0) * d.get(y, 0)) for x in a for y in b)


def test_a_replaced_record_is_one_key_that_may_vanish_and_one_that_may_appear():
    """Delta pays for the first alone: what is shown of the second is not likelier without it, up to its part of epsilon."""
    worst = max(
        _excess(left, right, 4)
        for n in range(1, 5)
        for left in ((k, n - k) for k in range(n + 1))
        for right in ((left[0] - 1, left[1] + 1), (left[0] + 1, left[1] - 1))
        if min(right) >= 0
    )
    assert worst == pytest.approx(2 / 3 * 2**-3)  # P(1 + noise >= 4)
    verdict = check(small_counts, epsilon="ln(4)", delta=f"{worst * 1.00001:.12f}")
    assert verdict.status == "proved"
    assert check(small_counts, epsilon="ln(4)", delta=f"{worst * 0.9999:.12f}").status == "refuted"


def test_noise_that_run_2_draws_by_itself_is_paid_for():
    certificate = nested(check(replaced, epsilon=2, delta=f"{exp(-9) / 2 * 1.00001:.12f}").certificate)
    alignment = certificate["evidence"].get("alignment", certificate["evidence"])
    [given] = alignment["promises"]
    assert given["times"] == 1
    for change in (
        {"paid": "1/100000"},
        {"paid": "0"},
        {"paid": "2"},
        {"side": "above"},
        {"side": "against"},
        {"always": True},
    ):
        made = copy.deepcopy(certificate)
        made["evidence"].get("alignment", made["evidence"])["promises"][0].update(change)
        assert isinstance(recheck(made), Rejected), change
    made = copy.deepcopy(certificate)
    del made["evidence"].get("alignment", made["evidence"])["promises"][0]["paid"]
    assert isinstance(recheck(made), Rejected)


@mechanism
def seen_though_absent(data: records("a", "b")):
    out = []
    for key in ("a", "b"):
        count = data.count(key)
        noisy = laplace(count, scale=1)
        if count == 0 and noisy >= 10:
            out.append(key)
    return out


@mechanism
def shown_soon(data: records("a", "b")):
    out = []
    for key in ("a", "b"):
        count = data.count(key)
        noisy = laplace(count, scale=1)
        if count > 0 and noisy >= 1:
            out.append((key, noisy))
    return out


@pytest.mark.parametrize("function", [seen_though_absent, shown_soon])
def test_a_key_that_is_likely_to_be_seen_needs_a_delta_of_that_size(function):
    assert check(function, epsilon=2, delta="1/1000000", time_limit=patience(2)).status != "proved"


def test_a_delta_that_forgets_the_atom_at_the_threshold_is_refuted():
    """P(noise > 9) is not the probability that 1 + noise is 10 or more."""
    assert check(on_integers, epsilon="ln(2)", delta=f"{2**-10 / 1.5:.12f}").status == "refuted"


@pytest.mark.parametrize("function", [untested, noise_shared])
def test_what_no_promise_helps_is_not_proved(function):
    assert check(function, epsilon=1, delta="1/100", time_limit=patience(2)).status != "proved"


def test_the_checker_reads_promises_strictly():
    certificate = nested(check(histogram, epsilon=1, delta="6.1705e-5").certificate)

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
    certificate = copy.deepcopy(nested(check(moved_centre, epsilon=1).certificate))
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
