"""Claims with a delta far from the truth, on many numbers with Gaussian noise: refuted at the size at which they fail."""

from __future__ import annotations

import pytest

from privproof import Budget, check, gaussian, laplace, mechanism, real_queries, records
from privproof.engines.runs.far_sizes import far_size, given_away


@mechanism(neighbours="one")
def prefix_sums(data: real_queries()):
    total = 0
    for x in data:
        total += x
        yield gaussian(total, sigma=2)


@mechanism(neighbours="each")
def each_shown(q: real_queries()):
    return [gaussian(x, sigma=2) for x in q]


@mechanism
def repeated(data: records(0, 1)):
    return [gaussian(sum(data), sigma=2) for _ in data]


@mechanism(neighbours="one")
def shown_once(data: real_queries()):
    return [gaussian(x, sigma=2) for x in data]


@mechanism
def shown_beside_a_test(q: real_queries()):
    first = gaussian(0, sigma=1)
    return [gaussian(x, sigma=2) > first for x in q]


@mechanism
def other_noise(q: real_queries()):
    return [laplace(x, scale=2) for x in q]


def asked(function, epsilon):
    return far_size(function, Budget.of(epsilon, "1e-6"), lambda: None)


@pytest.mark.parametrize("function", [prefix_sums, each_shown, repeated], ids=lambda each: each.name)
def test_a_claim_of_ten_is_refuted_on_a_longer_list(function):
    verdict = check(function, 10, delta="1e-6")
    assert verdict.status == "refuted"
    assert verdict.question.sizes == (asked(function, 10),)


def test_the_size_is_the_least_one_about():
    size = asked(prefix_sums, 10)
    assert given_away((size - 2) / 4, 10) < 1.5e-6 <= given_away(size / 4, 10)
    assert check(prefix_sums, 10, delta="1e-6", size=size - 4).status != "refuted"


@pytest.mark.parametrize("function", [shown_once, shown_beside_a_test, other_noise], ids=lambda each: each.name)
def test_no_size_is_guessed_where_nothing_grows_or_something_else_is_shown(function):
    assert asked(function, 10) is None


def test_what_does_not_grow_stays_proved():
    assert check(shown_once, 10, delta="1e-6").status == "proved"


def test_no_size_is_guessed_without_a_delta_or_beyond_what_is_tried():
    assert far_size(prefix_sums, Budget.of(10, 0), lambda: None) is None
    assert asked(prefix_sums, 10_000) is None
    assert asked(prefix_sums, 250) is None
