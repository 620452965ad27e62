"""Lists that records are counted into, pairs as keys, nested loops over keys: for every length."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from privproof import check, geometric, integer, laplace, mechanism, one_of, records, rows

PEOPLE = rows(age=integer(0, 99), pay=integer(0, 10), city=one_of("A", "B"), ill=one_of("yes", "no"))


@mechanism(epsilon=1)
def counted_in_a_list(data: records(0, 1, 2, 3)):
    counts = [0] * 4
    for x in data:
        counts[x] += 1
    return [laplace(c, scale=2) for c in counts]


@mechanism(epsilon=1)
def counted_by_what_is_computed(people: PEOPLE):
    counts = [0, 0, 0, 0, 0]
    for p in people:
        decade = min(p.age // 20, 4)
        counts[decade] += 1
    for k in range(5):
        counts[k] = laplace(counts[k], scale=2)
    return counts


@mechanism(epsilon=1)
def pairs_in_a_counter(people: PEOPLE):
    counts = Counter((p.city, p.ill) for p in people)
    return {(c, i): laplace(counts[(c, i)], scale=2) for c in ("A", "B") for i in ("yes", "no")}


@mechanism(epsilon=1)
def pairs_that_are_added_up(people: PEOPLE):
    counts = defaultdict(int)
    for p in people:
        counts[p.city, p.ill] += 1
    return [laplace(counts[c, i], scale=2) for c in ("A", "B") for i in ("yes", "no")]


@mechanism(epsilon="ln(4)")
def loops_in_loops(people: PEOPLE):
    out = []
    for c in ("A", "B"):
        for i in ("yes", "no"):
            ill = sum(1 for p in people if p.city == c and p.ill == i)
            out.append(geometric(ill, alpha="1/2"))
    return out


def is_target(person):
    if person.city != "A":
        return False
    return person.age >= 18


@mechanism(epsilon=1)
def filtered_by_a_function(people: PEOPLE):
    found = list(filter(is_target, people))
    return laplace(len(found), scale=1)


@pytest.mark.parametrize(
    ("function", "less"),
    [
        (counted_in_a_list, "9/10"),
        (counted_by_what_is_computed, "9/10"),
        (pairs_in_a_counter, "9/10"),
        (pairs_that_are_added_up, "9/10"),
        (loops_in_loops, "ln(3)"),
        (filtered_by_a_function, "9/10"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_they_are_proved_and_smaller_claims_are_refuted(function, less):
    verdict = check(function)
    assert verdict.status == "proved"
    assert verdict.certificate is not None
    assert check(function, less).status == "refuted"


@mechanism(epsilon=1)
def what_stands_in_between_changes(people: PEOPLE):
    least = 0
    found = [p for p in people if p.age > least]
    least = 50
    return laplace(sum(p.pay for p in found), scale=10)


@mechanism(epsilon=1)
def what_is_added_depends_on_earlier_ones(people: PEOPLE):
    found, seen = [], 0
    for p in people:
        if seen < 1:
            found.append(p)
        if p.city == "A":
            seen += 1
    return laplace(sum(p.pay for p in found), scale=10)


@mechanism(epsilon=1)
def places_in_the_list_that_is_made(people: PEOPLE):
    found = [p for p in people if p.ill == "yes"]
    total = 0
    for i, p in enumerate(found):
        if i % 2 == 0:
            total += p.pay
    return laplace(total, scale=10)


@pytest.mark.parametrize(
    "function",
    [what_is_added_depends_on_earlier_ones, places_in_the_list_that_is_made],
    ids=lambda each: each.name,
)
def test_a_list_that_relates_records_to_each_other_is_no_sum(function):
    assert check(function).status != "proved"


def test_a_list_made_before_a_name_changes_is_not_made_again_after_it():
    assert check(what_stands_in_between_changes).status != "refuted"
    assert check(what_stands_in_between_changes, "9/10").status != "proved"


def test_a_list_in_which_a_record_has_no_place_is_refuted_by_its_error():
    @mechanism(epsilon=1)
    def too_short(data: records(0, 1, 2)):
        counts = [0] * 2
        for x in data:
            counts[x] += 1
        return [laplace(c, scale=2) for c in counts]

    assert check(too_short).status == "refuted"
