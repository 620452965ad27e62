"""What of a function was never run beside its program: a condition that a translation has lost is found by what it guards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privproof import check, mechanism, queries, real_queries
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.translation import program_agreement

DATA = real_queries(0, 9)
VERBOSE = False


def asked(function):
    return mechanism(function, inputs={"data": DATA}, neighbours="add-remove")


def plain(data):
    return len(data) + np.random.laplace(0, 1)


def lost_statement(data):
    n = len(data)
    if n > 5000:
        return "many"
    return n + np.random.laplace(0, 1)


def lost_expression(data):
    n = len(data)
    return "many" if n > 5000 else n + np.random.laplace(0, 1)


def lost_operand(data):
    n = len(data)
    shown = n + np.random.laplace(0, 1)
    return shown if n <= 5000 or data[0] > 5 else 0


def lost_in_a_loop(data):
    n = 0
    for x in data:
        n += 1
        if x > 5 and n > 5000:
            n = 0
    return n + np.random.laplace(0, 1)


@pytest.mark.parametrize("function", [lost_statement, lost_expression, lost_operand, lost_in_a_loop])
def test_a_condition_that_the_program_does_not_have_is_missed(function):
    """On all lists that are tried both do the same."""
    program = program_for_alignment(asked(plain))
    assert program_agreement(program).told is None
    told = program_agreement(replace(program, mechanism=asked(function))).told
    assert told is not None
    assert "was never run beside the program" in told


def guarded(data, eps=1.0, verbose=False):
    """Nothing here depends on data but what is released."""
    if eps <= 0:
        raise ValueError("eps")
    if VERBOSE or verbose:
        print(data)
    scale = 1 / eps if eps > 0 else 1
    mode = "fast" if eps < 5 else "slow"
    n = len(data)
    if mode == "slow":
        n = n + 1
    return n + np.random.laplace(0, scale)


def capped(data):
    n = len(data)
    if n > 1000:
        n = 1000
    return n + np.random.laplace(0, 1)


def beyond_the_data(data):
    n = sum(1 for x in data if x > 200)
    return n + np.random.laplace(0, 1)


def expression_beyond_the_data(data):
    n = sum((1 if x <= 200 else 2) for x in data)
    return n + np.random.laplace(0, 1)


def statement_beyond_the_data(data):
    n = 0
    for x in data:
        if x <= 200:
            n += 1
        else:
            n += 2
    return n + np.random.laplace(0, 1)


@pytest.mark.parametrize(
    "function", [guarded, capped, beyond_the_data, expression_beyond_the_data, statement_beyond_the_data]
)
def test_what_has_a_reason_not_to_run_is_no_difference(function):
    assert check(asked(function), 1).status == "proved"


@pytest.mark.parametrize("function", [beyond_the_data, expression_beyond_the_data, statement_beyond_the_data])
def test_what_no_record_comes_to_is_said(function):
    assert any("1 of 2 ways that conditions can go; never: line" in note for note in check(asked(function), 1).notes)


def rarely_two(data):
    return sum((2 if x == 777 else 1) for x in data) + np.random.laplace(0, 1)


def rarely_three(data):
    return sum((3 if x == 777 else 1) for x in data) + np.random.laplace(0, 1)


def test_a_condition_of_what_is_added_up_is_searched_for():
    """No data that are chosen by chance tell them apart."""
    wide = {"data": queries(0, 1000)}
    program = program_for_alignment(mechanism(rarely_two, inputs=wide, neighbours="add-remove"))
    assert program_agreement(program).told is None
    other = mechanism(rarely_three, inputs=wide, neighbours="add-remove")
    told = program_agreement(replace(program, mechanism=other)).told
    assert told is not None
    assert "the function shows" in told
