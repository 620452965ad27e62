"""Sums over records of every number, beside continuous noise: what is proved, what is refuted, and what must be neither."""

from __future__ import annotations

import copy

import pytest
from tests.amounts import patience
from tests.certificates import recheck

from privproof import (
    Row,
    check,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    queries,
    real,
    real_queries,
    records,
    rows,
    tight_epsilon,
)
from privproof.errors import LanguageError
from privproof.exact import epsilon
from privproof_checker import Rejected

ADD_REMOVE = "add-remove"
CITIES = ("A", "B", "C")


def count(data: records("A", "B")):
    return laplace(sum(1 for r in data if r == "A"), scale=1)


def count_by_method(data: records("A", "B")):
    return laplace(data.count("A"), scale=1)


def count_by_list(data: records("A", "B")):
    return laplace(len([r for r in data if r != "B"]), scale=1)


def count_by_loop(data: records(True, False)):
    total = 0
    for answer in data:
        if answer:
            total += 1
    return laplace(total, scale=1)


def histogram(data: records("A", "B", "C")):
    return [laplace(data.count(c), scale=1) for c in CITIES]


def histogram_of_ten(data: records(*range(10))):
    return [laplace(sum(1 for r in data if r == c), scale=1) for c in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)]


def histogram_of_any(data: queries(low=0, sensitivity=1000), k: public(integer(low=1))):
    for c in range(k):
        yield laplace(sum(1 for r in data if r == c), scale=1)


def clipped_sum(q: real_queries(sensitivity=1000)):
    return laplace(sum(min(max(x, 0), 10) for x in q), scale=10)


def unclipped_sum(q: real_queries(sensitivity=1000)):
    return laplace(sum(q), scale=10)


def sum_and_count(q: real_queries(0, 10, sensitivity=10)):
    return laplace(sum(q), scale=10), laplace(len(q), scale=1)


def both_of_a_list(q: real_queries(sensitivity=1000)):
    clipped = [min(max(x, 0), 10) for x in q]
    return laplace(sum(clipped), scale=10), laplace(len(clipped), scale=1)


def two_thresholds(data: queries(0, 120, sensitivity=120)):
    return laplace(sum(1 for a in data if a >= 30), scale=1), laplace(sum(1 for a in data if a >= 40), scale=1)


def two_halves(data: queries(0, 120, sensitivity=120)):
    return laplace(sum(1 for a in data if a < 60), scale=1), laplace(sum(1 for a in data if a >= 60), scale=1)


def most_frequent(data: records("A", "B", "C")):
    best, winner = 0, 0
    for i, c in enumerate(CITIES):
        noisy = laplace(data.count(c), scale=1)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


def first_below(data: queries(0, 100, sensitivity=100)):
    limit = laplace(50, scale=2)
    i = 0
    while i < 100:
        if laplace(sum(1 for x in data if x >= i), scale=4) < limit:
            return i
        i = i + 1
    return -1


def each_with_noise(data: records(0, 1)):
    return [laplace(x, scale=1) for x in data]


def adults(people: rows(age=integer(0, 120), city=one_of("A", "B"))):
    return laplace(sum(1 for p in people if p.age >= 18 and p["city"] == "A"), scale=1)


def adults_and_city(people: rows(age=integer(0, 120), city=one_of("A", "B"))):
    grown, here = 0, 0
    for person in people:
        if person.age >= 18:
            grown += 1
        here += person.city == "A"
    return laplace(grown, scale=1), laplace(here, scale=1)


def incomes(people: rows(income=real(), city=one_of("A", "B"))):
    return [laplace(sum(min(max(p.income, 0), 100) for p in people if p.city == c), scale=100) for c in ("A", "B")]


KNOWN = [
    (adults, "one", 1),
    (adults, ADD_REMOVE, 1),
    (adults_and_city, "one", 2),
    (adults_and_city, ADD_REMOVE, 2),
    (incomes, "one", 2),
    (incomes, ADD_REMOVE, 1),
    (count, "one", 1),
    (count, ADD_REMOVE, 1),
    (count_by_method, "one", 1),
    (count_by_method, ADD_REMOVE, 1),
    (count_by_list, "one", 1),
    (count_by_list, ADD_REMOVE, 1),
    (count_by_loop, "one", 1),
    (count_by_loop, ADD_REMOVE, 1),
    (histogram, "one", 2),
    (histogram, ADD_REMOVE, 1),
    (histogram_of_ten, "one", 2),
    (histogram_of_ten, ADD_REMOVE, 1),
    (histogram_of_any, "one", 2),
    (histogram_of_any, ADD_REMOVE, 1),
    (clipped_sum, "one", 1),
    (clipped_sum, ADD_REMOVE, 1),
    (sum_and_count, ADD_REMOVE, 2),
    (sum_and_count, "one", 1),
    (both_of_a_list, ADD_REMOVE, 2),
    (two_thresholds, "one", 2),
    (two_thresholds, ADD_REMOVE, 2),
    (two_halves, "one", 2),
    (two_halves, ADD_REMOVE, 1),
    (each_with_noise, "one", 1),
]
"""Mechanisms, relations, and the smallest epsilon, by hand."""


def named(case):
    return f"{case[0].__name__}-{case[1]}" if isinstance(case, tuple) else None


@pytest.mark.parametrize("case", KNOWN, ids=named)
def test_the_smallest_epsilon_is_proved_for_every_length_and_no_smaller_one(case):
    function, relation, known = case
    asked = mechanism(function, neighbours=relation)
    found = check(asked, known)
    assert found.status == "proved"
    assert not isinstance(recheck(found.certificate), Rejected)
    broken = check(asked, f"{10 * known - 1}/10")
    assert broken.status == "refuted"
    assert not isinstance(recheck(broken.certificate), Rejected)


@pytest.mark.parametrize("relation", ["one", ADD_REMOVE])
def test_what_is_selected_by_noisy_counts(relation):
    monotone = 1 if relation == ADD_REMOVE else 2
    assert check(mechanism(most_frequent, neighbours=relation), monotone).status == "proved"
    assert check(mechanism(first_below, neighbours=relation), 1).status == "proved"


def test_without_clipping_a_sum_is_not_private():
    for relation in ("one", ADD_REMOVE):
        assert check(mechanism(unclipped_sum, neighbours=relation), 1).status == "refuted"


def test_the_certificate_says_which_sums_it_takes_from_the_compiler():
    numbers, texts = (check(mechanism(f, neighbours=ADD_REMOVE), 2).certificate for f in (sum_and_count, histogram))
    assert numbers["question"]["source"]["claims"] == "established"
    assert texts["question"]["source"]["claims"] == "taken"


def test_the_tight_epsilon_of_sums_is_exact():
    assert tight_epsilon(mechanism(histogram, neighbours="one")).tight == epsilon(2)
    assert tight_epsilon(mechanism(incomes, neighbours=ADD_REMOVE)).tight == epsilon(1)


def test_rows_are_read_by_finite_engines_and_by_runs_too():
    def few(data: rows(a=integer(0, 1), b=one_of("x", "y"))):
        return geometric(sum(1 for r in data if r.a == 1 and r["b"] == "x"), alpha="1/2")

    assert tight_epsilon(mechanism(few), size=2).tight == epsilon("ln(2)")
    found = check(mechanism(few, neighbours=ADD_REMOVE), "1/2", engine="runs", size=1)
    assert found.status == "refuted"
    assert Row(a=1, b="x") in (*found.witness.left["data"], *found.witness.right["data"])
    assert not isinstance(recheck(found.certificate), Rejected)


def test_what_is_no_field_is_refused():
    for wrong in (lambda: rows(), lambda: rows(a=records(1, 2)), lambda: rows(a=3), lambda: rows(_a=integer(0, 1))):
        with pytest.raises(LanguageError):
            wrong()
    with pytest.raises(AttributeError):
        Row(a=1).b = 2


def test_certificates_of_rows_are_refused_where_fields_are_changed():
    certificate = check(mechanism(incomes, neighbours=ADD_REMOVE), 1).certificate
    assert certificate["question"]["source"]["claims"] == "taken"
    for change in (
        lambda c: c["inputs"]["people"]["fields"].pop("city"),
        lambda c: c["inputs"]["people"].update(fields={}),
        lambda c: c["inputs"]["people"].update(sort="int"),
        lambda c: c["inputs"]["people"]["fields"]["income"].update(sort="tag"),
        lambda c: c["inputs"]["people"].update(public=True),
    ):
        changed = copy.deepcopy(certificate)
        change(changed["question"])
        assert isinstance(recheck(changed), Rejected)


def test_reports_say_what_is_compared():
    said = str(check(mechanism(incomes, neighbours=ADD_REMOVE), 1))
    assert "one data set has one element more than the other; lists of every length" in said
    said = str(check(mechanism(adults_and_city), 1))
    assert "one value changes in any way; lists of every length" in said
    assert "from privproof import Row, output_probability" in said


# ---------------------------------------------------------------------------------------------------------------- traps


def flipped(data: real_queries()):
    t = laplace(0, scale=1)
    for _ in data:
        t = t - 1 if t >= 0 else t + 1
    return t


def mean(q: real_queries(0, 1)):
    return laplace(sum(q) / len(q), scale=1 / len(q))


def noise_by_record(q: real_queries(0, 1)):
    total = 0
    for x in q:
        total += laplace(x, scale=1)
    return total


def rises(data: records(0, 1)):
    last, count = 0, 0
    for x in data:
        if x > last:
            count += 1
        last = x
    return laplace(count, scale=1)


def first(data: records(1, 2, 3)):
    return laplace(data[0] if len(data) > 0 else 0, scale=2)


def any_two(data: records(1, 2, 3)):
    return laplace(10 if 2 in data else 0, scale=1)


def before_the_second(data: records(0, 1)):
    total = 0
    for x in data:
        total += x
        if total > 1:
            break
    return laplace(3 * total, scale=1)


def by_place(data: records(0, 1)):
    total = 0
    for i, x in enumerate(data):
        total += x * (i % 2)
    return laplace(total, scale=1)


def at_a_noisy_limit(data: queries(0, 10)):
    limit = laplace(5, scale=1)
    return laplace(sum(1 for x in data if x > limit), scale=1)


def length_itself(data: records(0, 1)):
    return laplace(sum(data), scale=1), len(data)


def scale_by_length(data: records(0, 1)):
    return laplace(sum(data), scale=1 + len(data))


TRAPS = [flipped, mean, noise_by_record, rises, first, any_two, before_the_second, by_place]
TRAPS += [at_a_noisy_limit, length_itself, scale_by_length]


@pytest.mark.parametrize("function", TRAPS, ids=lambda f: f.__name__)
def test_what_one_record_does_to_the_others_is_never_proved(function):
    try:
        found = check(mechanism(function, neighbours=ADD_REMOVE), 1, time_limit=patience(4))
    except LanguageError:
        return
    assert found.status in ("refuted", "unknown") or found.engine == "runs"


def test_lengths_that_show_and_noise_that_one_run_draws_alone_have_no_epsilon():
    for function in (noise_by_record, length_itself):
        found = check(mechanism(function, neighbours=ADD_REMOVE), 100)
        assert (found.status, found.lower.infinite) == ("refuted", True)


def test_the_same_is_private_where_lengths_are_equal():
    assert check(mechanism(noise_by_record, neighbours="one"), 1).status == "proved"
    assert check(mechanism(length_itself, neighbours="one"), 1).status == "proved"


# --------------------------------------------------------------------------------------------------- changed certificates


def proofs():
    for function, relation, known in (
        (histogram, "one", 2),
        (histogram, ADD_REMOVE, 1),
        (sum_and_count, ADD_REMOVE, 2),
    ):
        yield check(mechanism(function, neighbours=relation), known).certificate


def test_certificates_are_refused_where_what_changes_is_made_less():
    for certificate in proofs():
        assert not isinstance(recheck(certificate), Rejected)
        for change in (smaller_claim, smaller_domain, another_relation, another_sum, noise_of_another_scale):
            changed = copy.deepcopy(certificate)
            if change(changed):
                changed["question"]["source"].setdefault("reason", "changed")
                assert isinstance(recheck(changed), Rejected), change


def smaller_claim(certificate):
    certificate["question"]["epsilon"] = "9/10"
    certificate["question"]["claim"]["constant"] = "9/10"
    return True


def smaller_domain(certificate):
    """Fewer values than the program declares: only where the checker compares with the text."""
    declared = next(iter(certificate["question"]["inputs"].values()))
    if certificate["question"]["source"]["claims"] != "established":
        return False
    declared["high"] = "5"
    return True


def another_relation(certificate):
    relation = certificate["question"]["relation"]
    certificate["question"]["relation"] = "each" if relation == "one" else "monotone"
    return True


def another_sum(certificate):
    """Twice as much is added up."""
    for step in certificate["question"]["code"]:
        if step[0] == "assign" and step[2][0] == "total":
            step[2][2] = ["*", ["int", 2], step[2][2]]
    return True


def noise_of_another_scale(certificate):
    for step in certificate["question"]["code"]:
        if step[0] == "sample":
            step[4]["factor"] = "1/2"
    return True


def test_a_total_speaks_of_its_own_list_and_of_nothing_that_differs():
    certificate = check(mechanism(sum_and_count, neighbours=ADD_REMOVE), 2).certificate
    certificate["question"]["source"] |= {"claims": "taken", "reason": "for the test"}
    sampled = next(step[1] for step in certificate["question"]["code"] if step[0] == "sample")
    total = next(step for step in certificate["question"]["code"] if step[0] == "assign" and step[2][0] == "total")
    before = total[2]
    for wrong in (
        ["record", "q"],
        ["total", "q", ["total", "q", ["int", 1]]],
        ["total", "q", ["length", "q"]],
        ["total", "q", ["read", "q", ["int", 0]]],
        ["total", "q", ["variable", sampled]],
        ["total", "q", ["record", "p"]],
        ["length", "q"],
        ["read", "q", ["int", 0]],
    ):
        total[2] = wrong
        assert isinstance(recheck(certificate), Rejected), wrong
    total[2] = before
    assert not isinstance(recheck(certificate), Rejected)
