"""Functions that a mechanism calls stand in it like its own statements, so that what is made of their results is seen as such."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privproof import check, real_queries
from privproof.errors import LanguageError


def noisy(value, scale):
    return value + np.random.laplace(0, scale)


def twice_noisy(value, scale):
    first = noisy(value, 2 * scale)
    return (first + noisy(value, 2 * scale)) / 2


def quotient(data):
    count = noisy(len(data), 4)
    return noisy(sum(data), 40) / count


def quotient_of_at_least_one(data):
    count = noisy(len(data), 4)
    total = noisy(sum(data), 40)
    return {"count": round(count), "mean": round(total / max(count, 1), 2)}


def calls_in_calls(data):
    return twice_noisy(sum(data), 40) / noisy(len(data), 4)


def end_in_two_places(value):
    if value < 0:
        return 0
    return value


def quotient_of_a_branch(data):
    count = noisy(len(data), 4)
    return noisy(sum(data), 40), end_in_two_places(count)


@pytest.mark.parametrize("function", [quotient, quotient_of_at_least_one, calls_in_calls, quotient_of_a_branch])
def test_what_is_made_of_noisy_numbers_is_theirs(function):
    asked = {"inputs": {"data": real_queries(0, 10)}, "neighbours": "add-remove"}
    assert check(function, "3/4", **asked).status == "proved"
    assert check(function, "1/5", **asked).status in ("refuted", "unknown")


def written(data):
    count, total = noisy(len(data), 4), noisy(sum(data), 40)
    return f"{total / count:.2f} of {count:.0f}"


def spread(data):
    count, total = noisy(len(data), 12), noisy(sum(data), 120)
    squares = noisy(sum(x * x for x in data), 1200)
    mean = total / count
    return {"mean": mean, "deviation": math.sqrt(max(squares / count - mean**2, 0))}


def grown(data):
    return noisy(len(data), 4), np.exp(noisy(sum(data), 40))


@pytest.mark.parametrize("function", [written, spread, grown])
def test_what_is_computed_in_the_end_costs_nothing(function):
    asked = {"inputs": {"data": real_queries(0, 10)}, "neighbours": "add-remove"}
    assert check(function, "3/4", **asked).status == "proved"
    assert check(function, "1/5", **asked).status in ("refuted", "unknown")


def other_side_shows_data(data):
    count, total = noisy(len(data), 4), noisy(sum(data), 40)
    return total / count if count > 0 else sum(data)


def counts_the_data(data):
    count, total = noisy(len(data), 4), noisy(sum(data), 40)
    if count > 0:
        return total / (len(data) + 1)
    return 0.0


def root_beside_noise(data):
    return noisy(sum(data), 40) + math.sqrt(sum(data))


def test_roots_of_data_are_refused():
    with pytest.raises(LanguageError, match=r"math\.sqrt is not in the mechanism language"):
        check(root_beside_noise, 2, inputs={"data": real_queries(0, 10)}, neighbours="add-remove")


def logarithm_of_any_number(data):
    return math.log(noisy(sum(data), 40))


def test_a_function_that_fails_by_chance_is_told():
    with pytest.raises(LanguageError, match=r"math domain error, on data="):
        check(logarithm_of_any_number, 2, inputs={"data": real_queries(0, 10)}, neighbours="add-remove")


def root_of_what_is_left(data):
    count, total = noisy(len(data), 4), noisy(sum(data), 40)
    return math.sqrt(max(total - sum(data), 0)) + count


@pytest.mark.parametrize("function", [other_side_shows_data, counts_the_data])
def test_data_in_the_end_are_seen(function):
    assert check(function, 2, inputs={"data": real_queries(0, 10)}, neighbours="add-remove").status != "proved"
