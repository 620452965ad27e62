"""The top k of noisy counts over many cells: what all of them pay proves it, and two cells that contest a rank refute it."""

from __future__ import annotations

import heapq
from math import log

import numpy as np
import pytest
from tests.amounts import selected
from tests.certificates import nested

from privproof import check, laplace, mechanism, records
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.engines.laplace.contests import Contest, contest_program
from privproof.engines.laplace.events import measure
from privproof.exact import epsilon

KEYS = tuple("abcdefghij")


def by_get(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return sorted(noisy, key=noisy.get, reverse=True)[:2]


def by_places(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS]
    return sorted(range(10), key=lambda i: -noisy[i])[:2]


def by_heap(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return heapq.nlargest(2, noisy, key=noisy.get)


def by_pairs(data):
    return [key for _, key in heapq.nlargest(2, [(laplace(data.count(key), scale=2), key) for key in KEYS])]


def as_set(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS]
    return set(sorted(range(10), key=lambda i: -noisy[i])[:2])


def smallest(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS]
    return heapq.nsmallest(2, range(10), key=lambda i: noisy[i])


def largest(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return max(noisy, key=noisy.get)


WRITINGS = (by_get, by_places, by_heap, by_pairs, as_set, smallest, largest)


def asked(function, neighbours="one"):
    return mechanism(function, inputs={"data": records(*KEYS)}, neighbours=neighbours)


@pytest.mark.parametrize("function", selected(WRITINGS, 3), ids=lambda function: function.__name__)
def test_the_claim_that_holds_is_proved_and_one_just_below_is_refuted(function):
    verdict = check(asked(function), 1)
    assert (verdict.status, nested(verdict.certificate)["evidence"]["method"]) == ("proved", "cells")
    assert check(asked(function), "0.95").status == "refuted"
    assert check(asked(function, "add-remove"), "1/2").status == "proved"
    assert check(asked(function, "add-remove"), "0.49").status == "refuted"


def order_chance(counts, winners):
    """The probability that these cells come first, in this order, by the trapezoidal rule."""
    x = np.linspace(-60, 120, 36_001)
    step = x[1] - x[0]
    density = [np.exp(-abs(x - c) / 2) / 4 for c in counts]
    below = [np.where(x < c, np.exp(-abs(x - c) / 2) / 2, 1 - np.exp(-abs(x - c) / 2) / 2) for c in counts]
    reached = np.prod([below[j] for j in range(len(counts)) if j not in winners], axis=0)
    for winner in reversed(winners):
        summed = density[winner] * reached
        reached = np.concatenate([[0], np.cumsum((summed[1:] + summed[:-1]) / 2 * step)])
    return reached[-1]


@pytest.mark.parametrize("function", [by_places, smallest], ids=lambda function: function.__name__)
def test_the_probabilities_of_runs_against_integrals(function):
    program = contest_program(asked(function))
    contest = Contest(program, lambda: None)
    for left, right, winners in list(contest.tried())[1:4]:
        for side in (left, right):
            sign = 1 if function is by_places else -1
            counts = [sign * side["data"].count(key) + (0 if sign > 0 else 100) for key in KEYS]
            exact = measure([contest.leaf(side, winners, list(winners))], list(winners)).ball(1)
            assert float(exact) == pytest.approx(order_chance(counts, winners), rel=1e-3)


def test_losses_come_near_what_is_proved_and_not_beyond():
    contest = Contest(contest_program(asked(by_get)), lambda: None)
    found = contest.loss(epsilon("0.99"))
    assert 0.99 < log(float(found.left_probability.ball(1)) / float(found.right_probability.ball(1))) < 1
    assert contest.loss(epsilon(1)) is None


def test_sets_have_a_run_for_every_order_and_these_exclude_each_other():
    contest = Contest(contest_program(asked(as_set)), lambda: None)
    left, _, winners = list(contest.tried())[3]
    same = [each for each in contest.choices if contest.shown(each) == contest.shown(winners)]
    assert {frozenset(each) for each in same} == {frozenset(winners)}
    one, other = (contest.leaf(left, each, None) for each in same)
    assert one.steps[0].form == other.steps[0].form
    assert one.steps[0].outcome != other.steps[0].outcome


def test_equal_sets_are_one_output_in_whatever_order_they_are_held():
    contest = Contest(contest_program(asked(as_set)), lambda: None)
    assert repr({0, 8}) != repr({8, 0})
    assert all(contest.shown(each) == contest.shown(each[::-1]) for each in contest.choices)


# ---------------------------------------------------------------------------------------------------------------- traps


def beside_counts(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return [(key, data.count(key)) for key in sorted(noisy, key=noisy.get, reverse=True)[:2]]


def beside_fresh_noise(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return [laplace(data.count(key), scale=2) for key in sorted(noisy, key=noisy.get, reverse=True)[:2]]


def by_length(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return len(data), sorted(noisy, key=noisy.get, reverse=True)[:2]


@pytest.mark.parametrize(
    "function", [beside_counts, beside_fresh_noise, by_length], ids=lambda function: function.__name__
)
def test_what_reads_data_again_is_not_computed_from_noisy_counts(function):
    with pytest.raises(Unsupported):
        program_for_alignment(asked(function, "add-remove"), select=True, released=True)


def test_records_that_count_for_two_cells_cost_what_both_pay():
    def overlapping(data):
        noisy = [laplace(sum(1 for r in data if r in ("a", key)), scale=2) for key in KEYS]
        return sorted(range(10), key=lambda i: -noisy[i])[:2]

    assert check(asked(overlapping, "add-remove"), "1/2", time_limit=3).status != "proved"


def test_heapq_is_what_it_is_called():
    def nlargest(count, keys, key):
        return list(keys)[:count]

    class heapq_of_another:
        pass

    heapq_of_another.nlargest = staticmethod(nlargest)

    def first_two(data):
        noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
        return heapq_of_another.nlargest(2, noisy, key=noisy.get)

    assert contest_program(asked(first_two)) is None
