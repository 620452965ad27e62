"""The largest of noisy counts over public cells, however it is found: proved for every length, compared with integrals, and traps."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import log

import numpy as np
import pytest
from tests.amounts import selected

from privproof import check, laplace, mechanism, records
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.sorts import PLACE

KEYS = ("a", "b", "c", "d")


def table_and_get(data):
    noisy = {key: laplace(sum(1 for r in data if r == key), scale=2) for key in KEYS}
    return max(noisy, key=noisy.get)


def counter_and_sum(data):
    counts = Counter(data)
    noisy = {key: counts[key] + laplace(0, scale=2) for key in KEYS}
    return max(noisy, key=lambda key: noisy[key])


def items(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return max(noisy.items(), key=lambda pair: pair[1])[0]


def best_so_far(data):
    best, winner = None, None
    for key in KEYS:
        noisy = laplace(data.count(key), scale=2)
        if best is None or noisy > best:
            best, winner = noisy, key
    return winner


def smallest_so_far(data):
    best, winner = None, None
    for key in KEYS:
        noisy = laplace(-data.count(key), scale=2)
        if best is None or best >= noisy:
            winner, best = key, noisy
    return winner


def places(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS]
    return KEYS[max(range(len(KEYS)), key=lambda i: noisy[i])]


def pairs(data):
    return max((laplace(data.count(key), scale=2), key) for key in KEYS)[1]


def sorted_pairs(data):
    noisy = [(laplace(data.count(key), scale=2), key) for key in KEYS]
    noisy.sort(reverse=True)
    return [key for _, key in noisy[:1]]


def sorted_keys(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return sorted(noisy, key=noisy.get, reverse=True)[0]


def drawn_by_key(data):
    return max(KEYS, key=lambda key: laplace(data.count(key), scale=2))


def counted_in_a_table(data):
    counts = dict.fromkeys(KEYS, 0)
    for r in data:
        counts[r] += 1
    noisy = [laplace(counts[key], scale=2) for key in KEYS]
    return KEYS[np.argmax(noisy)]


WRITINGS = (
    table_and_get,
    counter_and_sum,
    items,
    best_so_far,
    smallest_so_far,
    places,
    pairs,
    sorted_pairs,
    sorted_keys,
    drawn_by_key,
    counted_in_a_table,
)


def asked(function, neighbours="one"):
    return mechanism(function, inputs={"data": records(*KEYS)}, neighbours=neighbours)


@pytest.mark.parametrize("function", WRITINGS, ids=lambda function: function.__name__)
def test_every_way_to_find_the_largest_is_a_selection(function):
    program = program_for_alignment(asked(function), select=True)
    assert [step.noise for step in program.sites].count(PLACE) == 1


@pytest.mark.parametrize("function", selected(WRITINGS, 2), ids=lambda function: function.__name__)
def test_the_claim_that_holds_is_proved_and_a_smaller_one_refuted(function):
    assert check(asked(function), 1).status == "proved"
    assert check(asked(function, "add-remove"), "1/2").status == "proved"
    assert check(asked(function), "1/2").status == "refuted"


def chances(counts):
    """The probability of every winner, Laplace noise of scale 2, by the trapezoidal rule."""
    x = np.linspace(-60, 70, 26_001)
    density = [np.exp(-abs(x - c) / 2) / 4 for c in counts]
    below = [np.where(x < c, np.exp(-abs(x - c) / 2) / 2, 1 - np.exp(-abs(x - c) / 2) / 2) for c in counts]
    return [
        np.trapezoid(density[k] * np.prod([below[j] for j in range(len(counts)) if j != k], axis=0), x)
        for k in range(len(counts))
    ]


def test_the_claims_against_integrals_for_up_to_six_records():
    laws = {
        counts: chances(counts) for counts in product(range(7), repeat=4) if sum(counts) <= 6 and counts[2:] == (0, 0)
    }
    changed = added = 0.0
    for (one, p), (other, q) in product(laws.items(), repeat=2):
        distance = [abs(a - b) for a, b in zip(one, other, strict=True)]
        loss = max(log(a / b) for a, b in zip(p, q, strict=True))
        if sum(distance) == 1:
            added = max(added, loss)
        if sum(distance) == 2 and sum(one) == sum(other) and max(distance) == 1:
            changed = max(changed, loss)
    assert 0.4 < added <= 0.5
    assert 0.5 < changed <= 1


# ---------------------------------------------------------------------------------------------------------------- traps


def shown_beside(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    return max(noisy, key=noisy.get), noisy["a"]


def noise_in_two_sums(data):
    shared = laplace(0, scale=2)
    one, other = data.count("a") + shared, data.count("b") + shared
    return max((one, "a"), (other, "b"))[1]


def list_of_two_names(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS[:2]]
    same = noisy
    same.append(laplace(100 * data.count("c"), scale=2))
    return noisy.index(max(noisy))


def runner_up(data):
    best, second, place = None, None, None
    for key in KEYS:
        noisy = laplace(data.count(key), scale=2)
        if best is None or noisy > best:
            second, best, place = place, noisy, key
    return place, second


def from_zero_on(data):
    best, winner = 0, "none"
    for key in KEYS:
        noisy = laplace(data.count(key), scale=2)
        if noisy > best:
            best, winner = noisy, key
    return winner


def both_ways(data):
    best, winner = None, None
    for key in KEYS:
        noisy = laplace(data.count(key), scale=2)
        if best is None or (noisy > best if key != "d" else noisy < best):
            best, winner = noisy, key
    return winner


def louder_for_one(data):
    noisy = {key: laplace(data.count(key), scale=2 if key != "d" else 1) for key in KEYS}
    return max(noisy, key=noisy.get)


@pytest.mark.parametrize(
    "function",
    [shown_beside, noise_in_two_sums, list_of_two_names, runner_up, both_ways, louder_for_one, from_zero_on],
    ids=lambda function: function.__name__,
)
def test_what_is_no_selection_is_not_made_one(function):
    with pytest.raises(Unsupported):
        program_for_alignment(asked(function), select=True)


@pytest.mark.parametrize("function", [noise_in_two_sums, list_of_two_names], ids=lambda function: function.__name__)
def test_what_leaks_more_is_not_proved(function):
    assert check(asked(function), 1, time_limit=2).status != "proved"


def none_for_the_first(data):
    best, winner = laplace(data.count("a"), scale=2), None
    for key in KEYS[1:]:
        noisy = laplace(data.count(key), scale=2)
        if noisy > best:
            best, winner = noisy, key
    if winner is None and data.count("a") > 1000:
        winner = "more"
    return winner


def none_of_data(data):
    limit = (None if data.count("a") > 1000 else 5, 3)
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    winner = max(noisy, key=noisy.get)
    if limit[0] is None:
        winner = "more"
    return winner


def number_or_truth(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    winner, number = max(noisy, key=noisy.get), 5
    many = number or data.count("a") < 0
    if many and data.count("a") > 1000:
        winner = "more"
    return winner


def number_and_truth(data):
    noisy = {key: laplace(data.count(key), scale=2) for key in KEYS}
    winner, count = max(noisy, key=noisy.get), data.count("a")
    if (count and True) == 1 and count > 1000:
        winner = "more"
    return winner


def whole_part(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS]
    winner, half = noisy.index(max(noisy)), int(1 / 2)
    if half == 0 and data.count("a") > 1000:
        winner = 9
    return winner


@pytest.mark.parametrize(
    "function",
    [none_for_the_first, none_of_data, number_or_truth, number_and_truth, whole_part],
    ids=lambda f: f.__name__,
)
def test_what_is_shown_of_long_lists_alone_is_not_overlooked(function):
    """No short list tells the program from the function."""
    assert check(asked(function), 1, time_limit=2).status != "proved"


def test_none_of_the_first_is_told_from_the_others():
    def first_of_all(data):
        best, winner = laplace(data.count("a"), scale=2), None
        for key in KEYS[1:]:
            noisy = laplace(data.count(key), scale=2)
            if noisy > best:
                best, winner = noisy, key
        return winner is None

    assert check(asked(first_of_all), 1, time_limit=5).status == "proved"
    assert check(asked(first_of_all), "1/2", time_limit=5).status == "refuted"
