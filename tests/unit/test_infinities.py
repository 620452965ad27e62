"""A best value so far that begins at infinity."""

from __future__ import annotations

import math
from math import inf

import numpy as np
import pytest

from privproof import check, geometric, laplace, mechanism, queries, real_queries, tight_epsilon, truncated_geometric
from privproof.errors import LanguageError
from privproof_checker import recheck


@mechanism(epsilon=1)
def begins_with_a_text(q: real_queries()):
    lowest, where = float("inf"), -1
    for i, x in enumerate(q):
        noisy = laplace(x, scale=2)
        if noisy < lowest:
            lowest, where = noisy, i
    return where


@mechanism(epsilon=1)
def begins_with_math(q: real_queries()):
    best = -math.inf
    winner = None
    for i, x in enumerate(q):
        noisy = laplace(x, scale=2)
        if best < noisy:
            best = noisy
            winner = i
    return winner


@mechanism(epsilon=1)
def begins_with_numpy(q: real_queries()):
    best, winner = -np.inf, -1
    for i, x in enumerate(q):
        noisy = x + np.random.laplace(0, 2)
        if noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon="ln(4)")
def begins_with_a_name(q: queries()):
    best, winner = -inf, None
    for i, x in enumerate(q):
        noisy = geometric(x, alpha="1/2")
        if noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon=2)
def handed_on(q: real_queries()):
    best = second = float("-inf")
    first, other = None, None
    for i, x in enumerate(q):
        noisy = laplace(x, scale=2)
        if noisy > best:
            second, other = best, first
            best, first = noisy, i
        elif noisy > second:
            second, other = noisy, i
    return first, other


@pytest.mark.parametrize(
    ("function", "less"),
    [
        (begins_with_a_text, "1/2"),
        (begins_with_math, "1/2"),
        (begins_with_numpy, "1/2"),
        (begins_with_a_name, "ln(2)"),
        (handed_on, "1/2"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_they_are_proved_and_smaller_claims_are_refuted(function, less):
    assert check(function).status == "proved"
    assert check(function, less).status == "refuted"


@pytest.mark.parametrize("function", [begins_with_a_text, begins_with_math], ids=lambda each: each.name)
def test_the_checker_reads_infinity_in_the_text(function):
    outcome = recheck(check(function).certificate)
    assert outcome.details["source"]["taken"] == []


@mechanism
def finite(q: queries(0, 2)):
    best, winner = float("-inf"), None
    for i, x in enumerate(q):
        noisy = truncated_geometric(x, alpha="1/2", low=0, high=2)
        if noisy >= best:
            best, winner = noisy, i
    return winner


@mechanism
def finite_with_none(q: queries(0, 2)):
    best, winner = None, None
    for i, x in enumerate(q):
        noisy = truncated_geometric(x, alpha="1/2", low=0, high=2)
        if best is None or noisy >= best:
            best, winner = noisy, i
    return winner


def test_it_is_what_none_is():
    assert tight_epsilon(finite, size=3).tight == tight_epsilon(finite_with_none, size=3).tight


@mechanism(epsilon=1)
def kept_as_largest(q: real_queries()):
    best = -math.inf
    threshold = laplace(3, scale=2)
    for x in q:
        best = max(best, laplace(x, scale=4))
        if best > threshold:
            return True
    return False


def test_the_largest_so_far_may_begin_there():
    assert check(kept_as_largest).status == "proved"


@mechanism(epsilon=1)
def shown(q: real_queries()):
    best = -math.inf
    for x in q:
        best = max(best, laplace(x, scale=2))
    return best


def test_infinity_that_is_shown_is_refused_with_a_way_out():
    with pytest.raises(LanguageError) as refused:
        check(shown)
    assert "begin with None" in refused.value.hint
