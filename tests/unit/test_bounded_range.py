"""Choices by scores have losses within their epsilon of each other: rho is epsilon^2/8, which other selections have not."""

from __future__ import annotations

import copy
import math
import random

import numpy as np
import pytest
from tests.amounts import patience
from tests.certificates import nested

from privproof import (
    check,
    exponential,
    exponential_mechanism,
    gumbel,
    laplace,
    mechanism,
    queries,
    real_queries,
    records,
    tight_renyi,
    tight_rho,
)
from privproof_checker import Accepted, Rejected, recheck

CELLS = ("a", "b", "c")


@mechanism
def best(q: real_queries()):
    return max(range(len(q)), key=lambda i: gumbel(q[i], scale=2))


@mechanism(neighbours="one")
def best_of_one(q: real_queries()):
    return max(range(len(q)), key=lambda i: gumbel(q[i], scale=2))


@mechanism
def whole(q: queries()):
    return exponential_mechanism(q, epsilon=1, sensitivity=1)


@mechanism
def commonest(data: records("a", "b", "c")):
    noisy = [gumbel(data.count(c), scale=2) for c in CELLS]
    return CELLS[noisy.index(max(noisy))]


def weighed(scores):
    return random.choices(range(len(scores)), weights=[math.exp(s / 4) for s in scores])[0]


def _rho(left, right):
    """The largest D_a/a of two laws over many orders, from the definition."""
    orders = np.concatenate([1 + np.geomspace(1e-4, 1, 40), np.geomspace(2, 60, 40)])
    return max(float(np.log(np.sum(left**a * right ** (1 - a))) / (a - 1) / a) for a in orders)


def test_the_definition_is_within_the_theorem():
    """Of scores that change by up to 1 with scale 2, rho never exceeds 1/8, and comes near it."""
    generator = np.random.default_rng(1)
    largest = 0.0
    for _ in range(400):
        scores = generator.normal(0, 3, generator.integers(2, 6))
        changed = scores + generator.choice([-1, 1], len(scores))
        laws = [np.exp(s / 2) / np.sum(np.exp(s / 2)) for s in (scores, changed)]
        largest = max(largest, _rho(*laws))
    assert 0.12 < largest <= 0.125


def test_choices_by_scores_have_the_rho_of_their_range():
    assert str(tight_rho(best).upper) == "1/8"
    assert str(tight_rho(best_of_one).upper) == "1/32"
    assert str(tight_renyi(best, 3).upper) == "3/8"
    for function, data in ((whole, {}), (commonest, {}), (weighed, {"scores": real_queries()})):
        verdict = check(function, rho="1/8", **data)
        assert verdict.status == "proved"
        assert nested(verdict.certificate)["evidence"]["method"] == "range"
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    assert check(commonest, rho="1/9", time_limit=patience(4)).status != "proved"


@mechanism
def permute_and_flip(q: real_queries()):
    return max(range(len(q)), key=lambda i: exponential(q[i], scale=2))


@mechanism
def noisy_max(q: real_queries()):
    return max(range(len(q)), key=lambda i: laplace(q[i], scale=2))


@mechanism
def smallest(q: real_queries()):
    return min(range(len(q)), key=lambda i: gumbel(q[i], scale=2))


@mechanism
def twice(q: real_queries()):
    one = max(range(len(q)), key=lambda i: gumbel(q[i], scale=2))
    other = max(range(len(q)), key=lambda i: gumbel(q[i], scale=2))
    return one, other


@mechanism
def with_more_noise(q: real_queries(), x: queries(size=1)):
    return max(range(len(q)), key=lambda i: gumbel(q[i], scale=2)), laplace(x[0], scale=100)


@pytest.mark.parametrize("function", [noisy_max, smallest, twice, with_more_noise])
def test_what_is_no_single_choice_by_scores_is_not_given_its_rho(function):
    assert check(function, rho="1/8", time_limit=patience(4)).status != "proved"


def test_permute_and_flip_is_refuted():
    assert check(permute_and_flip, rho="1/8").status == "refuted"


def test_the_checker_shows_the_range_by_itself():
    certificate = nested(check(best, rho="1/8").certificate)

    def smaller(forged):
        forged["evidence"]["certificate"]["evidence"]["range"] = "99/100"

    def absent(forged):
        del forged["evidence"]["certificate"]["evidence"]["range"]

    def less(forged):
        forged["question"]["budgets"] = [{"value": "1249/10000"}]

    def another_measure(forged):
        forged["question"]["measure"] = "mu"

    def with_a_delta(forged):
        forged["evidence"]["certificate"]["question"]["delta"] = "1/100"

    for change in (smaller, absent, less, another_measure, with_a_delta):
        forged = copy.deepcopy(dict(certificate))
        change(forged)
        assert isinstance(recheck(forged), Rejected), change.__name__


@pytest.mark.parametrize("function", [permute_and_flip, noisy_max])
def test_no_range_is_shown_of_other_noise(function):
    certificate = copy.deepcopy(dict(nested(check(function, 1).certificate)))
    assert isinstance(recheck(certificate), Accepted)
    certificate["evidence"]["range"] = "1"
    found = recheck(certificate)
    assert isinstance(found, Rejected)
    assert "Gumbel" in str(found)
