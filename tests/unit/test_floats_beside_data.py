"""Floats beside data: what is proved of them, and what would tell a float from the number that it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from privproof import LanguageError, check, integer, mechanism, queries, real_queries


@dataclass(frozen=True)
class Bounds:
    low: float = 0.0
    high: float = 10.0


BOUNDS = Bounds()


def float_bounds(data):
    return sum(min(max(x, 0.0), 10.0) for x in data) + np.random.laplace(0, 10.0)


def clipped_array(data):
    return np.clip(data, 0.0, 10.0).sum() + np.random.laplace(0, 10.0)


def begins_with_a_float(data):
    total = 0.0
    for x in data:
        total += min(max(x, 0), 10)
    return total + np.random.laplace(0, 10.0)


def weighted(data):
    total = 0
    for x in data:
        total += 0.5 * min(max(x, 0), 20)
    return total + np.random.laplace(0, 10.0)


def bounds_of_a_class(data):
    clipped = [min(max(x, BOUNDS.low), BOUNDS.high) for x in data]
    return sum(clipped) + np.random.laplace(0, (BOUNDS.high - BOUNDS.low) / 1.0)


@pytest.mark.parametrize(
    "function",
    [float_bounds, clipped_array, begins_with_a_float, weighted, bounds_of_a_class],
    ids=lambda f: f.__name__,
)
def test_clipped_sums_with_floats(function):
    asked = mechanism(function, inputs={"data": real_queries()}, neighbours="add-remove")
    assert check(asked, 1).status == "proved"
    assert check(asked, "0.99").status == "refuted"


def running_totals(data):
    total, out = 0.0, []
    for x in data:
        total += x + np.random.laplace(0, 1.0)
        out.append(total)
    return out


def test_running_totals_are_noisy_when_they_are_put_out():
    asked = mechanism(running_totals, inputs={"data": real_queries()}, neighbours="one")
    assert check(asked, 1).status == "proved"
    assert check(asked, "0.99", size=2).status == "refuted"


def type_by_branch(data):
    noisy = len(data) + np.random.laplace(0, 1.0)
    if data and data[0] > 5:
        return 0.0
    return 0 if noisy > 0 else 1


def type_by_choice(data):
    start = 0.0 if data and data[0] > 5 else 0
    noise = np.random.laplace(0, 1.0)
    return (start, noise)


def type_by_bound(data):
    np.random.laplace(0, 1.0)
    return [max(x, 3.0) - max(x, 3.0) for x in data[:1]]


def type_of_a_maximum(data):
    noisy = np.random.laplace(0, 1.0)
    if data and data[0] > 5:
        return max(0.0, noisy)
    return max(0, noisy)


def type_in_a_list(data):
    out = [0.0 if x > 5 else 0 for x in data]
    return out, np.random.laplace(0, 1.0)


def type_by_a_function(data):
    def start():
        if data and data[0] > 5:
            return 1.0
        return 1

    return start(), np.random.laplace(0, 1.0)


def text_of_a_float(data):
    start = 1.0 if data and data[0] > 5 else 1
    return f"{start} {np.random.laplace(0, 1.0)}"


def rounding_decides(data):
    total = 0.0
    for x in data:
        total += 0.1 * x
    noise = np.random.laplace(0, 1.0)
    return noise if total > 0.3 else noise + 50


def rounding_is_put_out(data):
    total = 0.0
    for x in data:
        total += 0.1 * x
    return total, np.random.laplace(0, 1.0)


def rounding_is_counted_with(data):
    total = 0.5 * data[0] if data else 0.0
    return total // 1 + np.random.laplace(0, 1.0)


@pytest.mark.parametrize(
    "function",
    [
        type_by_branch,
        type_by_choice,
        type_by_bound,
        type_of_a_maximum,
        type_in_a_list,
        type_by_a_function,
        text_of_a_float,
        rounding_decides,
        rounding_is_put_out,
        rounding_is_counted_with,
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("given", [real_queries(), queries(0, 9)], ids=["real", "whole"])
def test_what_tells_a_float_from_its_number_is_not_proved(function, given):
    asked = mechanism(function, inputs={"data": given}, neighbours="one")
    try:
        verdict = check(asked, "1/10", time_limit=10)
    except LanguageError:
        return
    assert verdict.status != "proved"


def a_number(x):
    return max(x, 0.5) + np.random.laplace(0, 1.0)


def test_a_single_number():
    asked = mechanism(a_number, inputs={"x": integer(0, 3)})
    assert check(asked, 1).status == "proved"
    assert check(asked, "0.99").status == "refuted"


def tenths(data):
    total = 0.0
    for x in data:
        total += 0.1 * x
    return total + np.random.laplace(0, 1.0)


def halves(data):
    total = 0.0
    for x in data:
        total += 0.5 * x
    return total + np.random.laplace(0, 1.0)


def test_where_a_function_can_be_run_its_rounding_counts():
    """Three tenths are 0.30000000000000004, so that a neighbour is further away than a tenth."""
    asked = mechanism(tenths, inputs={"data": queries(0, 2)}, neighbours="one")
    assert check(asked, "1/5").engine == "runs"
    asked = mechanism(halves, inputs={"data": queries(0, 2)}, neighbours="one")
    assert check(asked, "1/2").engine == "laplace"
    assert check(asked, "1/2").status == "proved"


def split_budget(data, epsilon=1.0):
    eps_a, eps_b = epsilon * 0.25, epsilon * 0.5
    above = sum(1 for x in data if x > 50) + np.random.laplace(0, 1 / eps_a)
    return above, sum(1 for x in data if x > 10) + np.random.laplace(0, 1 / eps_b)


def exchanged(data):
    a, b = 0.25, 0.5
    a, b = b, a
    return sum(1 for x in data if x > 50) + np.random.laplace(0, 1 / a)


def whole_numbers_exchanged(data):
    a, b = 2, 4
    a, b = b, a
    return sum(1 for x in data if x > 50) + np.random.laplace(0, 1 / a)


def given_anew(data):
    a = 0.25
    a, count = 0.5, len(data)
    return count, sum(1 for x in data if x > 50) + np.random.laplace(0, 1 / a)


@pytest.mark.parametrize(
    ("function", "epsilon", "below"),
    [
        (split_budget, "3/4", "0.749"),
        (exchanged, "1/2", "0.499"),
        (whole_numbers_exchanged, 4, "3.999"),
        (given_anew, "1/2", "0.499"),
    ],
)
def test_several_values_at_once(function, epsilon, below):
    asked = {"inputs": {"data": real_queries(0, 100, sensitivity=100)}, "neighbours": "one"}
    assert check(function, epsilon, **asked).status == "proved"
    assert check(function, below, **asked).status == "refuted"


def given_by_a_list(data):
    a = 0.25
    [a, *_] = [1, 2, 3]
    return sum(1 for x in data if x > 50) + np.random.laplace(0, 1 / a)


def given_data(data):
    a = 0.25
    a, _ = len(data), 1
    return sum(1 for x in data if x > 50) + np.random.laplace(0, 1 / a)


@pytest.mark.parametrize("function", [given_by_a_list, given_data])
def test_what_several_targets_take_is_not_what_they_had(function):
    with pytest.raises(LanguageError):
        check(function, "1/4", inputs={"data": real_queries(0, 100, sensitivity=100)}, neighbours="one")
