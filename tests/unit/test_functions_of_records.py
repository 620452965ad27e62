"""Sums over records of what a function of the record gives back, turns that end early, and loops over pairs of constants."""

from __future__ import annotations

import numpy as np
import pytest

from privproof import check, integer, laplace, mechanism, one_of, rows

PEOPLE = rows(age=integer(0, 120), sex=one_of("f", "m"), income=integer(0, 200))
BINS = [(0, 18), (18, 65), (65, 121)]


def clip(x, low, high):
    return max(low, min(x, high))


def clip_by_tests(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def lowered(x, high):
    within = clip_by_tests(x, 0, high)
    return within - 1 if within > 0 else 0


def noisy(value, sensitivity, epsilon):
    return value + np.random.laplace(0, sensitivity / epsilon)


@mechanism(epsilon=1)
def clipped(people: PEOPLE):
    return laplace(sum(clip(p.income, 0, 100) for p in people), scale=100)


@mechanism(epsilon=1)
def clipped_by_tests(people: PEOPLE):
    total = 0
    for p in people:
        total += clip_by_tests(p.income, 0, 100)
    return laplace(total, scale=100)


@mechanism(epsilon=1)
def clipped_list(people: PEOPLE):
    incomes = [lowered(p.income, 101) for p in people]
    return laplace(sum(incomes), scale=100)


@mechanism(epsilon=1)
def counted_by_a_function(people: PEOPLE):
    def grown(p):
        return p.sex == "f" and p.age > 17

    return laplace(sum(1 for p in people if grown(p)), scale=1)


@mechanism(epsilon=1)
def ends_early(people: PEOPLE):
    total = 0
    for p in people:
        if p.sex == "m":
            continue
        if p.age < 18:
            total += 10
            continue
        total += min(p.income, 100)
    return laplace(total, scale=100)


@mechanism(epsilon=1)
def difference(people: PEOPLE):
    women = sum(clip(p.income, 0, 100) for p in people if p.sex == "f")
    men = sum(clip(p.income, 0, 100) for p in people if p.sex == "m")
    return noisy(women - men, 200, 1)


@mechanism(epsilon=1)
def ranges(people: PEOPLE):
    counts = []
    for low, high in BINS:
        counts.append(noisy(sum(1 for p in people if low <= p.age < high), 2, 1))
    return counts


@mechanism(epsilon=1)
def ranges_at_once(people: PEOPLE):
    return [laplace(sum(1 for p in people if low <= p.age < high), scale=2) for low, high in BINS]


EVERY = (
    clipped,
    clipped_by_tests,
    clipped_list,
    counted_by_a_function,
    ends_early,
    difference,
    ranges,
    ranges_at_once,
)


@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.name)
def test_it_is_proved_for_every_length(function):
    verdict = check(function)
    assert verdict.status == "proved"
    assert not any("run as it is" in note for note in verdict.notes)


@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.name)
def test_a_smaller_claim_is_refuted(function):
    assert check(function, "9/10").status == "refuted"


@mechanism(epsilon=1)
def clipped_too_high(people: PEOPLE):
    return laplace(sum(clip(p.income, 0, 101) for p in people), scale=100)


@mechanism(epsilon=1)
def ends_too_late(people: PEOPLE):
    total = 0
    for p in people:
        total += p.income
        if p.sex == "m":
            continue
        total -= max(p.income - 100, 0)
    return laplace(total, scale=100)


@mechanism(epsilon=1)
def stops(people: PEOPLE):
    total = 0
    for p in people:
        if p.sex == "m":
            break
        total += min(p.income, 100)
    return laplace(total, scale=100)


@pytest.mark.parametrize("function", [clipped_too_high, ends_too_late], ids=lambda each: each.name)
def test_a_little_more_than_the_noise_covers_is_refuted(function):
    assert check(function).status == "refuted"


def test_a_loop_that_stops_is_no_sum():
    assert check(stops, time_limit=4).status != "proved"
