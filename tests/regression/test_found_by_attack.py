"""Wrong verdicts that an attack found, each with the smallest mechanism that had one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privproof import (
    check,
    epsilon,
    gaussian,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    output_probability,
    public,
    queries,
    real_queries,
    records,
    rows,
)
from privproof.errors import LanguageError


@mechanism(epsilon="ln(2)", neighbours="monotone")
def record_beside_a_number(age: integer(0, 1), diagnosis: one_of("well", "ill")):
    return diagnosis


@mechanism(epsilon="ln(2)", neighbours="monotone")
def records_beside_numbers(q: queries(0, 1), who: records("well", "ill")):
    return who[0]


@pytest.mark.parametrize("asked", [record_beside_a_number, records_beside_numbers], ids=lambda m: m.name)
def test_records_have_no_direction_so_that_monotone_neighbours_leave_none_out(asked):
    size = 1 if asked is records_beside_numbers else None
    with pytest.raises(LanguageError, match="has no order"):
        check(asked, size=size)


@mechanism(epsilon="ln(2)")
def noise_in_a_table(x: integer(0, 2)):
    return {"a": geometric(x, alpha="1/2")}


def test_unbounded_noise_in_a_table():
    verdict = check(noise_in_a_table)
    assert (verdict.status, verdict.tight) == ("proved", epsilon("ln(2)"))
    assert output_probability(noise_in_a_table, {"a": 5}, x=0) == Fraction(1, 96)
    assert check(noise_in_a_table, "0.69").status == "refuted"


@mechanism(epsilon="ln(2)")
def records_first(r: records("a", "b"), q: queries(0, 1)):
    return geometric(sum(q), alpha="1/2")


@mechanism(epsilon="ln(2)")
def queries_first(q: queries(0, 1), r: records("a", "b")):
    return geometric(sum(q), alpha="1/2")


def test_the_relation_does_not_depend_on_the_order_of_arguments():
    assert records_first.neighbours == queries_first.neighbours == "each"
    assert check(records_first, size=2).status == check(queries_first, size=2).status == "refuted"


@mechanism(epsilon=1, neighbours="one")
def nothing_is_copied(q: real_queries()):
    told = 0
    if len(q) > 10 and q[0] > 0:
        told = None
    noisy = laplace(sum(q), scale=1)
    copied = told
    return copied, noisy


@mechanism(epsilon=1, neighbours="one")
def nothing_beside_a_quotient(q: real_queries()):
    told = 0
    if len(q) > 10 and q[0] > 0:
        told = None
    noisy = laplace(sum(q), scale=1)
    return told, noisy / (len(q) + 1)


@mechanism(epsilon=1, neighbours="one")
def nothing_beside_a_square(q: real_queries()):
    told = 0
    if len(q) > 10 and q[0] > 0:
        told = None
    noisy = laplace(sum(q), scale=1)
    return told, noisy * noisy


@mechanism(epsilon=1, neighbours="one")
def nothing_by_a_condition(q: real_queries()):
    told = 0
    if len(q) > 10 and q[0] > 0:
        told = None
    noisy = laplace(sum(q), scale=1)
    return (told if len(q) > 5 else 0), noisy


def same(value):
    return value


@mechanism(epsilon=1, neighbours="one")
def nothing_by_a_function(q: real_queries()):
    told = 0
    if len(q) > 10 and q[0] > 0:
        told = None
    noisy = laplace(sum(q), scale=1)
    return same(told), noisy


@pytest.mark.parametrize(
    "asked", [nothing_is_copied, nothing_by_a_function, nothing_beside_a_quotient], ids=lambda m: m.name
)
def test_none_that_depends_on_the_data_of_long_lists_is_seen(asked):
    verdict = check(asked)
    assert verdict.status == "refuted"
    assert verdict.witness.event[0] is None


def test_none_beside_a_square_of_noise_is_not_proved():
    assert check(nothing_beside_a_square).status == "unknown"


def same_on_long_lists(value, q):
    if len(q) > 5:
        return value
    return 0


@mechanism(epsilon=1, neighbours="one")
def nothing_by_a_function_with_two_ends(q: real_queries()):
    told = 0
    if len(q) > 10 and q[0] > 0:
        told = None
    noisy = laplace(sum(q), scale=1)
    return same_on_long_lists(told, q), noisy


@pytest.mark.parametrize("asked", [nothing_by_a_condition, nothing_by_a_function_with_two_ends], ids=lambda m: m.name)
def test_none_is_never_taken_for_the_number_that_stands_for_it(asked):
    with pytest.raises(LanguageError, match=r"told is None where|value is None where"):
        check(asked)


@mechanism(neighbours="add-remove")
def above_public_numbers(q: real_queries(), bounds: public(real_queries())):
    return [laplace(sum(1 for v in q if v > bound), scale=1) for bound in bounds]


def test_a_public_list_beside_lists_that_differ_in_length_is_no_failure_of_the_function():
    assert check(above_public_numbers, 1).status == "unknown"


@mechanism(epsilon=1, neighbours="one")
def a_number_before_or(q: queries(0, 10, sensitivity=10)):
    added = 0
    if len(q) > 1000:
        for x in q:
            added += x or 1
    return laplace(added, scale=1)


@mechanism(epsilon=1, neighbours="one")
def a_number_after_and(q: queries(0, 10, sensitivity=10)):
    added = 0
    if len(q) > 1000:
        added = sum(x > 2 and x for x in q)
    return laplace(added, scale=1)


@mechanism(epsilon=1, neighbours="one")
def a_field_before_or(q: rows(age=integer(0, 10), city=one_of("A", "B"))):
    added = 0
    if len(q) > 1000:
        added = sum((r.city == "A" and r.age) or 1 for r in q)
    return laplace(added, scale=1)


@pytest.mark.parametrize("asked", [a_number_before_or, a_number_after_and, a_field_before_or], ids=lambda m: m.name)
def test_what_and_and_or_add_up_is_the_side_that_python_takes(asked):
    assert check(asked).status != "proved"
    assert check(asked, 10).status == "proved"


@mechanism(epsilon=1, neighbours="one")
def sums_that_are_not_needed(q: queries(0, 3, sensitivity=3)):
    n = len(q)
    if n == 2:
        above = 0
        for x in q:
            above += x > 1
    if bool(sum(max(0, min(x, 2)) for x in q)):
        more = 2 * sum(q) - sum(x // 2 for x in q)  # noqa: F841
        wide = laplace(0, scale=2)  # noqa: F841
    else:
        narrow = laplace(0, scale=1)  # noqa: F841
    return n, n, n


def test_a_program_that_fails_where_the_function_ends_differs_from_it():
    assert check(sums_that_are_not_needed).status == "unknown"


def shows_data_where_a_float_fails(data):
    noisy = sum(data) + np.random.laplace()
    try:
        return float(noisy)
    except ValueError:
        return data


def shows_data_where_a_text_fails(data):
    noisy = sum(data) + np.random.laplace()
    try:
        return f"{noisy:.2f}"
    except Exception:
        return data


@pytest.mark.parametrize("function", [shows_data_where_a_float_fails, shows_data_where_a_text_fails])
def test_a_refusal_that_the_function_catches_is_no_way_through_it(function):
    asked = {"inputs": {"data": records(0, 1)}, "size": 1}
    assert check(function, 2, **asked).status == "proved"
    below = check(function, "1/2", **asked)
    assert below.status == "unknown" or "infinite" not in str(below)


@mechanism(epsilon=1)
def divided_in_one_run(x: integer(0, 1), n: public(integer(0, 5000))):
    y = 5 // (n - 777) if x > 0 else 0
    return laplace(min(max(y, 0), 1), scale=1)


@mechanism(epsilon=1)
def divided_under_a_test(q: queries(), n: public(integer(0, 5000))):
    t = 0
    for v in q:
        if v > 3:
            t = 7 % (n - 777)  # noqa: F841
    return laplace(1, scale=1)


@mechanism(epsilon=1)
def shifted_in_one_run(x: integer(0, 1), n: public(integer(0, 5000))):
    y = 1 << (n - 777) * (n - 777) - 1 if x > 0 else 0
    return laplace(min(max(y, 0), 1), scale=1)


@pytest.mark.parametrize(
    "asked", [divided_in_one_run, divided_under_a_test, shifted_in_one_run], ids=lambda each: each.name
)
def test_data_that_decide_whether_the_function_fails_are_not_private(asked):
    assert check(asked).status != "proved"


@mechanism(epsilon=1)
def divided_where_the_number_allows_it(x: integer(0, 1), n: public(integer(0, 5000))):
    y = (5 // n if n > 0 else 0) if x > 0 else 0
    return laplace(min(max(y, 0), 1), scale=1)


def test_divisions_that_do_not_fail_are_proved():
    assert check(divided_where_the_number_allows_it).status == "proved"


@mechanism(epsilon=1)
def shifted_by_a_record(data: rows(x=integer(-1, 3))):
    return laplace(sum(max(min(1 << r.x, 2), 0) for r in data), scale=2)


def test_a_shift_that_fails_for_a_record_refutes():
    assert check(shifted_by_a_record).status == "refuted"


@mechanism(epsilon=1)
def quotient_that_is_not_needed(data: rows(x=integer(0, 5000))):
    total = 0
    for r in data:
        y = 5 // (r.x - 777)  # noqa: F841
        total += min(r.x, 1)
    return laplace(total, scale=1)


@mechanism(epsilon=1)
def quotient_that_is_written_over(data: rows(x=integer(0, 5000))):
    total = 0
    for r in data:
        y = 5 // (r.x - 777)
        y = 1
        total += min(r.x, y)
    return laplace(total, scale=1)


@mechanism(epsilon=1)
def list_that_is_not_needed(data: rows(x=integer(0, 5000))):
    _ = [5 // (r.x - 777) for r in data]
    return laplace(sum(min(r.x, 1) for r in data), scale=1)


@mechanism(epsilon=1, neighbours="add-remove")
def list_that_is_counted(data: rows(x=integer(0, 5000))):
    return laplace(len([5 // (r.x - 777) for r in data]), scale=1)


def in_a_function(r):
    _ = 5 // (r.x - 777)
    return min(r.x, 1)


@mechanism(epsilon=1)
def quotient_in_a_function(data: rows(x=integer(0, 5000))):
    return laplace(sum(in_a_function(r) for r in data), scale=1)


@mechanism(epsilon=1)
def quotient_after_noise(data: rows(x=integer(0, 5000)), n: public(integer(0, 3000))):
    above = sum(min(r.x, 1) for r in data)
    noisy, other = laplace(above, scale=1), laplace(0, scale=1)
    if above > 3:
        y = 5 // (n - 777)  # noqa: F841
    ratio = 0
    if other > 0:
        ratio = noisy / other
    return ratio


@mechanism(neighbours="one")
def quotient_beside_gaussian_noise(q: real_queries(), n: public(integer(0, 3000))):
    for v in q:
        if v > 3:
            y = 5 // (n - 777)  # noqa: F841
    return [gaussian(x, sigma=1) for x in q]


@pytest.mark.parametrize(
    "asked",
    [
        quotient_that_is_not_needed,
        quotient_that_is_written_over,
        list_that_is_not_needed,
        list_that_is_counted,
        quotient_in_a_function,
    ],
    ids=lambda each: each.name,
)
def test_what_is_not_needed_and_may_fail_is_not_left_out(asked):
    assert check(asked).status != "proved"


def test_a_quotient_of_noise_beside_what_may_fail_is_refused():
    with pytest.raises(LanguageError, match="divided by one that depends"):
        check(quotient_after_noise)


def test_what_is_not_needed_and_may_fail_is_not_left_out_beside_gaussian_noise():
    assert check(quotient_beside_gaussian_noise, 1, delta="9/10").status != "proved"
