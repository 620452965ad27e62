"""Loops over records of which a turn may fail are no sums: an error shows the record, and what is done after it is lost."""

from __future__ import annotations

import pytest
from tests.programs import load

from privproof import LanguageError, check, integer, laplace, mechanism, one_of, queries, rows

Q = queries(0, 1000, sensitivity=1000)
PEOPLE = rows(age=integer(0, 120), city=one_of("Oslo", "Rome"))


def refused(x):
    if x == 777:
        raise ValueError(x)
    return x


def caught(x):
    try:
        if x == 777:
            raise ValueError(x)
        return 0
    except ValueError:
        return 10**6


def divided(x):
    _ = 1 // (x - 777)
    return x


def unbound(x):
    if x != 777:
        y = 1
    _ = y
    return x


@mechanism(epsilon=1, neighbours="one")
def raised_in_a_turn(q: Q):
    total = 0
    for x in q:
        if x == 777:
            raise ValueError(x)
        total += x
    return laplace(total, scale=1000)


@mechanism(epsilon=1, neighbours="one")
def raised_in_a_call(q: Q):
    return laplace(sum(refused(x) for x in q), scale=1000)


@mechanism(epsilon=1, neighbours="one")
def caught_in_a_call(q: Q):
    return laplace(sum(caught(x) for x in q), scale=1000)


@mechanism(epsilon=1, neighbours="one")
def caught_in_a_turn(q: Q):
    total = 0
    for x in q:
        try:
            if x == 777:
                raise ValueError(x)
            total += 1
        except ValueError:
            total += 10**6
    return laplace(total, scale=1000)


@mechanism(epsilon=1, neighbours="one")
def divided_in_a_call(q: Q):
    return laplace(sum(divided(x) for x in q), scale=1000)


@mechanism(epsilon=1, neighbours="one")
def divided_in_a_test(q: Q):
    total = 0
    for x in q:
        if 10 // (x - 777) > 5:
            pass
        total += x
    return laplace(total, scale=1000)


@mechanism(epsilon=1, neighbours="one")
def divided_in_a_list(q: Q):
    return laplace(len([10 // (x - 777) for x in q if x > 3]), scale=1)


@mechanism(epsilon=1, neighbours="one")
def without_a_value(q: Q):
    return laplace(sum(unbound(x) for x in q), scale=1000)


@mechanism(epsilon=1, neighbours="one")
def matched(q: Q):
    total = 0
    for x in q:
        match x:
            case 777:
                raise ValueError(x)
            case _:
                total += x
    return laplace(total, scale=1000)


@mechanism(epsilon=1, neighbours="one")
def text_and_number(people: PEOPLE):
    total = 0
    for p in people:
        if p.age == 77:
            _ = p.city + 1
        total += p.age
    return laplace(total, scale=120)


FAIL = (
    raised_in_a_turn,
    raised_in_a_call,
    caught_in_a_call,
    caught_in_a_turn,
    divided_in_a_call,
    divided_in_a_test,
    divided_in_a_list,
    matched,
    text_and_number,
)


@pytest.mark.parametrize("function", FAIL, ids=lambda each: each.name)
def test_a_turn_that_may_fail_is_not_left_out(function):
    """On 777 every one of them fails, or adds far more than the claim allows."""
    assert check(function).status != "proved"


def test_a_variable_without_a_value_is_not_left_out():
    with pytest.raises(LanguageError, match=r"UnboundLocalError: .*, on q="):
        check(without_a_value)


def test_an_assertion_in_a_turn_is_not_left_out(tmp_path):
    text = (
        '@mechanism(epsilon=1, neighbours="one")\n'
        "def m(q: queries(0, 1000, sensitivity=1000)):\n"
        "    total = 0\n"
        "    for x in q:\n"
        "        assert x != 777\n"
        "        total += x\n"
        "    return laplace(total, scale=1000)\n"
    )
    assert check(load(tmp_path, f"from privproof import laplace\n{text}")).status != "proved"


@mechanism(epsilon=1, neighbours="one")
def validated(people: PEOPLE):
    total = 0
    for p in people:
        if not 0 <= p.age <= 120:
            raise ValueError(p.age)
        total += p.age
    return laplace(total, scale=120)


@mechanism(epsilon=1, neighbours="one")
def halved(q: Q):
    return laplace(sum(x // 2 for x in q if x % 3 > 0), scale=500)


@pytest.mark.parametrize("function", [validated, halved], ids=lambda each: each.name)
def test_a_turn_that_never_fails_is_summed_up(function):
    assert check(function).status == "proved"
    assert check(function, "9/10").status == "refuted"


def quotient(q: Q):
    total = sum(q)
    noisy, many = laplace(total, scale=1000), laplace(total, scale=1000)
    if many > 1:
        return noisy / many
    return 0


def quotient_after_an_error(q: Q):
    total = sum(q)
    noisy, many = laplace(total, scale=1000), laplace(total, scale=1000)
    if total == 777:
        raise ValueError(total)
    if many > 1:
        return noisy / many
    return 0


def test_an_error_after_the_last_noise_is_no_post_processing():
    """What data alone decide is known to nobody who sees the noisy numbers."""
    assert check(quotient, 2, neighbours="one").status == "proved"
    with pytest.raises(LanguageError, match="a value is divided by one that depends on the data or on noise"):
        check(quotient_after_an_error, 2, neighbours="one")
