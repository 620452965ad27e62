"""Draws that only one of two runs makes: what is proved, what must not be, and what the checker makes of it."""

from __future__ import annotations

import copy
from math import exp, log

import pytest
from tests.amounts import patience
from tests.certificates import recheck

from privproof import (
    check,
    exponential,
    gaussian,
    geometric,
    laplace,
    mechanism,
    output_probability,
    real,
    real_queries,
    records,
)
from privproof_checker import Accepted, Rejected

KEYS = ("a", "b", "c")


@mechanism(neighbours="add-remove")
def sparse(data: records("a", "b")):
    out = []
    for key in ("a", "b"):
        count = data.count(key)
        if count > 0:
            noisy = laplace(count, scale=1)
            if noisy >= 10:
                out.append((key, noisy))
    return out


@mechanism(neighbours="add-remove")
def on_integers(data: records("a", "b")):
    out = []
    for key in ("a", "b"):
        count = data.count(key)
        if count > 0:
            noisy = geometric(count, alpha="1/2")
            if noisy >= 10:
                out.append((key, noisy))
    return out


@mechanism(neighbours="add-remove")
def first_frequent(data: records("a", "b", "c")):
    for key in KEYS:
        count = data.count(key)
        if count > 0 and laplace(count, scale=1) >= 10:
            return key
    return None


@mechanism(neighbours="add-remove")
def with_gaussian(data: records("a", "b")):
    out = []
    for key in ("a", "b"):
        count = data.count(key)
        if count > 0:
            noisy = gaussian(count, sigma=2)
            if noisy >= 10:
                out.append(key)
    return out


@mechanism
def clamped(x: real()):
    if x > 5:
        return laplace(5, scale=1)
    if x < 0:
        return laplace(0, scale=1)
    return laplace(x, scale=1)


@mechanism
def wasted(x: real()):
    if x > 3:
        waste = laplace(x, scale=1)
        waste = waste + exponential(0, scale=2)
    return laplace(x, scale=1)


@mechanism
def looked_at(x: real()):
    """The noise that one run draws alone decides what is shown."""
    y = 0
    if x > 3:
        y = laplace(0, scale=1)
    return laplace(x, scale=1), y > 0


@mechanism
def shown(x: real()):
    out = [laplace(x, scale=1)]
    if x > 3:
        out.append(laplace(0, scale=1))
    return out


@mechanism
def other_scale(x: real()):
    """Noise of different scales is not matched."""
    if x > 3:
        return laplace(x, scale=1)
    return laplace(x, scale=2)


@mechanism(neighbours="add-remove")
def every_cell(data: records("a", "b")):
    return [laplace(data.count(key), scale=1) for key in ("a", "b") if data.count(key) > 0]


@mechanism(neighbours="add-remove")
def there_and_back(data: records(0, 1)):
    """A shift that looked at the turn of one run alone would prove 1; the loss is 1.127."""
    t = laplace(0, scale=1)
    for _ in data:
        t = t - 1 if t >= 0 else t + 1
    return t


@mechanism(neighbours="add-remove")
def record_by_record(data: real_queries(low=0, high=1)):
    total = 0
    for x in data:
        total += laplace(x, scale=1)
    return total


TAIL = exp(-9) / 2


@pytest.mark.parametrize(
    ("function", "epsilon", "delta", "less"),
    [
        (sparse, "1", TAIL, "refuted"),
        (on_integers, "ln(2)", 2**-9 / 1.5, "refuted"),
        (first_frequent, "1", TAIL, "refuted"),
    ],
)
def test_a_key_that_one_side_holds_alone_costs_a_delta(function, epsilon, delta, less):
    verdict = check(function, epsilon=epsilon, delta=f"{delta * 1.00001:.12f}")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert check(function, epsilon=epsilon, delta=f"{delta * 0.999:.12f}").status == less
    assert check(function, epsilon=epsilon).status == "refuted"


def test_a_key_that_one_side_holds_alone_costs_a_delta_with_gaussian_noise():
    assert check(with_gaussian, epsilon=1, delta="0.01").status == "proved"
    assert check(with_gaussian, epsilon=1, delta="1e-6", time_limit=patience(1)).status != "proved"


@pytest.mark.parametrize("function", [clamped, wasted])
def test_what_nobody_looks_at_costs_nothing(function):
    verdict = check(function, epsilon=1)
    assert verdict.status == "proved"
    assert verdict.certificate["question"]["source"]["claims"] == "established"
    assert check(function, epsilon="9/10").status == "refuted"


@pytest.mark.parametrize("function", [looked_at, shown, other_scale, every_cell, there_and_back, record_by_record])
def test_what_one_run_draws_alone_is_not_chosen(function):
    assert check(function, epsilon=1, time_limit=patience(2)).status != "proved"


def test_noise_record_by_record_is_private_where_a_record_is_replaced_alone():
    assert check(record_by_record, 1, neighbours="one").status == "proved"
    assert check(record_by_record, 100).status == "refuted"


def test_the_loss_of_a_shift_that_looks_at_the_turn_of_one_run():
    one, other = (output_probability(there_and_back, "99/100..1", data=data).ball(1) for data in ([], [0]))
    assert log(float((other / one).mid())) == pytest.approx(1.118, abs=1e-3)


def test_the_checker_compares_where_noise_is_drawn():
    certificate = check(wasted, epsilon=1).certificate
    code = certificate["question"]["code"]
    alone = [at for at, step in enumerate(code) if step[0] == "sample" and len(step) == 6]
    assert len(alone) == 2
    assert isinstance(recheck(certificate), Accepted)

    def always(step):
        step[5] = ["bool", True]

    def never(step):
        step[5] = ["bool", False]

    def otherwise(step):
        step[5] = ["not", step[5]]

    def by_both(step):
        del step[5]

    def no_truth(step):
        step[5] = ["int", 1]

    for change in (always, never, otherwise, by_both, no_truth):
        for at in alone:
            made = copy.deepcopy(certificate)
            change(made["question"]["code"][at])
            assert isinstance(recheck(made), Rejected), change.__name__


def test_what_is_drawn_alone_must_not_matter_to_the_checker():
    """The instructions look at noise that the text does not draw."""
    made = copy.deepcopy(check(wasted, epsilon=1).certificate)
    code = made["question"]["code"]
    drawn = next(step for step in code if step[0] == "sample" and len(step) == 6)
    end = next(step for step in code if step[0] == "return")
    end[1] = [["variable", drawn[1]]]
    assert isinstance(recheck(made), Rejected)
