"""Neighbours of different length, at sizes: the finite engines agree with running the function, and with the known losses."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product

import pytest
from tests.certificates import recheck

from privproof import (
    bernoulli,
    check,
    integer,
    mechanism,
    privacy_profile,
    public,
    records,
    stream,
    tight_epsilon,
    truncated_geometric,
)
from privproof.errors import LanguageError
from privproof.exact import epsilon, fraction, rational
from privproof.language.running import outputs
from privproof_checker import Rejected


@mechanism(neighbours="add-remove")
def capped_count(data: records(0, 1)):
    n = 0
    for x in data:
        if x == 1 and n < 3:
            n = n + 1
    return truncated_geometric(n, alpha="1/2", low=0, high=3)


@mechanism(neighbours="add-remove")
def capped_length(data: records(0, 1)):
    return truncated_geometric(min(len(data), 3), alpha="1/3", low=0, high=3)


@mechanism(neighbours="add-remove")
def sampled_count(data: records(0, 1)):
    n = 0
    for x in data:
        if x == 1 and bernoulli("1/4"):
            n = min(n + 1, 4)
    return truncated_geometric(n, alpha="1/2", low=0, high=4)


@mechanism(neighbours="add-remove")
def noisy_bits(data: records(0, 1)):
    n = 0
    for x in data:
        if bernoulli("3/4" if x == 1 else "1/4"):
            n = min(n + 1, 4)
    return truncated_geometric(n, alpha="1/2", low=0, high=4)


@mechanism(neighbours="add-remove")
def summed_bits(data: records(0, 1)):
    n = 0
    for x in data:
        n = n + bernoulli("3/4" if x == 1 else "1/4")
    return n


@mechanism(neighbours="add-remove")
def histogram(data: records("a", "b")):
    a, b = 0, 0
    for x in data:
        if x == "a":
            a = min(a + 1, 2)
        else:
            b = min(b + 1, 2)
    first = truncated_geometric(a, alpha="1/2", low=0, high=2)
    return (first, truncated_geometric(b, alpha="1/2", low=0, high=2))


@mechanism(neighbours="add-remove")
def first_or_nothing(data: records("yes", "no")):
    if len(data) == 0:
        return "no" if bernoulli("3/4") else "yes"
    return data[0] if bernoulli("3/4") else ("no" if data[0] == "yes" else "yes")


LOSSES = [
    (capped_count, "ln(2)"),
    (sampled_count, "ln(5/4)"),
    (noisy_bits, "ln(7/4)"),
    (histogram, "ln(2)"),
]


def laws(function, data):
    """The probability of every output on a list, by running the function on all its random choices."""
    return outputs(function, {"data": list(data)}, most=100_000).distribution()


def brute_force(function, longest):
    """The largest ratio over all lists up to a size and all with one element less, by running the function; None for infinite."""
    values = function.inputs["data"].values
    known = {data: laws(function, data) for n in range(longest + 1) for data in product(values, repeat=n)}
    worst = Fraction(1)
    for long in known:
        for short in {long[:place] + long[place + 1 :] for place in range(len(long))}:
            for one, other in ((known[long], known[short]), (known[short], known[long])):
                for output, p in one.items():
                    if p and not other.get(output):
                        return None
                    worst = max(worst, p / other[output])
    return worst


@pytest.mark.diagonal
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("function", [capped_count, capped_length, sampled_count, noisy_bits, summed_bits, histogram])
def test_the_model_of_lists_of_two_lengths_gives_what_running_the_function_gives(function, size):
    found = tight_epsilon(function, size=size)
    run = tight_epsilon(function, size=size, engine="runs")
    assert (found.engine, found.status, found.tight, found.lower) == ("table", run.status, run.tight, run.lower)
    left, right = found.arguments
    assert {len(left["data"]), len(right["data"])} == {size - 1, size}


@pytest.mark.parametrize(("function", "loss"), LOSSES, ids=lambda each: getattr(each, "name", each))
def test_known_losses_are_those_of_all_lists_up_to_length_five(function, loss):
    assert fraction(epsilon(loss).ratio) == brute_force(function, 5)
    assert fraction(max(tight_epsilon(function, size=n).tight.ratio for n in (1, 2, 3, 4))) == brute_force(function, 4)


def test_bits_summed_without_a_cap_tell_how_many_records_there_are():
    assert brute_force(summed_bits, 2) is None
    verdict = tight_epsilon(summed_bits, size=2)
    assert verdict.lower.infinite
    assert verdict.witness.right_probability == 0


def test_the_length_of_a_list_is_private():
    assert check(capped_length, "ln(3)", size=3).status == "proved"
    assert check(capped_length, "ln(2)", size=3).status == "refuted"
    assert tight_epsilon(capped_length, size=3, neighbours="one").tight == epsilon(0)


def test_the_certificate_follows_from_the_source_and_a_mutated_one_is_refused():
    verdict = check(first_or_nothing, "ln(3)", size=2)
    assert verdict.status == "proved"
    document = verdict.certificate
    assert "which data are neighbours" in recheck(document).statement
    fewer = copy.deepcopy(document)
    fewer["question"]["scenario"]["neighbours"]["pairs"].pop()
    assert isinstance(recheck(fewer), Rejected)
    other = copy.deepcopy(document)
    other["question"]["source"]["relation"] = "one"
    assert isinstance(recheck(other), Rejected)
    longer = copy.deepcopy(document)
    longer["question"]["source"]["size"] = 3
    assert isinstance(recheck(longer), Rejected)


def test_the_smallest_delta_is_that_of_the_lists():
    assert privacy_profile(sampled_count, size=2).delta(0) == rational("1/12")
    assert check(sampled_count, "ln(5/4)/2", "1/10", size=2).status == "proved"
    assert check(sampled_count, "0", "1/13", size=2).status == "refuted"


def test_what_has_no_list_of_open_length_is_refused():
    def fixed(data: records(0, 1, size=2)):
        return bernoulli("1/2") if data[0] == 1 else bernoulli("1/3")

    with pytest.raises(LanguageError, match="open length"):
        tight_epsilon(mechanism(fixed, neighbours="add-remove"))

    def streamed(data: stream(0, 1)):
        for x in data:
            yield bernoulli("1/2") if x == 1 else bernoulli("1/3")

    with pytest.raises(LanguageError, match="one element more on a stream"):
        tight_epsilon(mechanism(streamed, neighbours="add-remove"))


def test_a_public_number_beside_the_list_is_the_same_on_both_sides():
    @mechanism(neighbours="add-remove")
    def shifted(data: records(0, 1), low: public(integer(0, 1))):
        return truncated_geometric(min(len(data), 2 - low), alpha="1/2", low=0, high=2)

    assert tight_epsilon(shifted, size=2).tight == epsilon("ln(2)")
    assert tight_epsilon(shifted, size=3).tight == epsilon(0)
