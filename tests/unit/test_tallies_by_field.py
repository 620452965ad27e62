"""Tables into which records count by a field, and what is computed of noisy entries for an output: for every length."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from tests.amounts import patience

from privproof import check, integer, mechanism, one_of, rows

CITIES = ["A", "B", "C"]
PEOPLE = rows(age=integer(0, 10), city=one_of(*CITIES))
FEW = rows(age=integer(0, 1), city=one_of("A", "B"))


@mechanism(epsilon=1)
def counter_of_a_field(people: PEOPLE):
    counts = Counter(p.city for p in people)
    return {c: counts[c] + np.random.laplace(0, 2) for c in CITIES}


@mechanism(epsilon=1)
def counter_of_a_list(people: PEOPLE):
    counts = Counter([p.city for p in people if p.age > 5])
    return [counts["A"] + np.random.laplace(0, 2), counts.get("B", 0) + np.random.laplace(0, 2)]


@mechanism(epsilon=1)
def counted_in_a_loop(people: PEOPLE):
    counts = defaultdict(int)
    for p in people:
        counts[p.city] += 1
    return [counts[c] + np.random.laplace(0, 2) for c in CITIES]


@mechanism(epsilon=1)
def sums_of_floats(people: PEOPLE):
    sums = defaultdict(float)
    for p in people:
        if p.age > 2:
            sums[p.city] += p.age
    return {c: sums[c] + np.random.laplace(0, 20) for c in CITIES}


@mechanism(epsilon=1)
def means_by_city(people: PEOPLE):
    means = {}
    for c in ("A", "B"):
        total = sum(p.age for p in people if p.city == c) + np.random.laplace(0, 40)
        number = sum(1 for p in people if p.city == c) + np.random.laplace(0, 4)
        means[c] = total / max(number, 1)
    return means


EVERY = (
    counter_of_a_field,
    counter_of_a_list,
    counted_in_a_loop,
    sums_of_floats,
    means_by_city,
)


@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.name)
def test_it_is_proved_for_every_length(function):
    verdict = check(function)
    assert verdict.status == "proved"
    assert not any("run as it is" in note for note in verdict.notes)


@pytest.mark.parametrize("function", EVERY[:-1], ids=lambda each: each.name)
def test_a_smaller_claim_is_refuted(function):
    assert check(function, "9/10").status == "refuted"


def test_a_smaller_claim_for_means_is_not_proved():
    assert check(means_by_city, "9/10", time_limit=patience(3)).status != "proved"


@mechanism(epsilon=1)
def another_default(people: FEW):
    counts = defaultdict(int)
    for p in people:
        counts[p.city] += 1
    return counts.get("A", 5) + np.random.laplace(0, 1)


@mechanism(epsilon=1)
def whether_it_occurs(people: FEW):
    counts = defaultdict(int)
    for p in people:
        counts[p.city] += 1
    return "A" in counts


@mechanism(epsilon=1)
def how_many_occur(people: FEW):
    return len(Counter(p.city for p in people)) + np.random.laplace(0, 1 / 10)


@mechanism(epsilon=1)
def one_added_to_another(people: PEOPLE):
    counts = Counter(p.city for p in people)
    counts["A"] += counts["B"]
    return counts["A"] + np.random.laplace(0, 1), counts["B"] + np.random.laplace(0, 1)


@mechanism(epsilon=1)
def the_record_of_another_turn(people: FEW):
    counts = defaultdict(int)
    for p in people:
        p = people[0]
        counts[p.city] += 1
    return counts["A"] + np.random.laplace(0, 1)


@mechanism(epsilon=1)
def little_noise_for_half(people: PEOPLE):
    sums = defaultdict(float)
    for p in people:
        sums[p.city] += 0.5 * p.age
    return [sums[c] + np.random.laplace(0, 9.9) for c in CITIES]


@pytest.mark.parametrize(
    "function",
    [
        another_default,
        whether_it_occurs,
        how_many_occur,
        one_added_to_another,
        the_record_of_another_turn,
        little_noise_for_half,
    ],
    ids=lambda each: each.name,
)
def test_what_tells_more_is_refuted(function):
    assert check(function).status == "refuted"
