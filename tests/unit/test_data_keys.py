"""Tables whose keys come from data: what is translated does what Python does, and what is proved is private."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import exp

import numpy as np
import pytest
from tests.amounts import patience

from privproof import check, gaussian, laplace, mechanism, output_probability, records, truncated_geometric
from privproof.errors import LanguageError


def by_counter(data: records("b", "a", "c")):
    out = {}
    counts = Counter(data)
    for key, count in sorted(counts.items()):
        noisy = laplace(count, scale=1)
        if noisy > 10:
            out[key] = noisy
    return out


def by_dict(data: records("b", "a")):
    counts = {}
    for r in data:
        counts[r] = counts.get(r, 0) + 1
    out = {}
    for key in sorted(counts):
        noisy = counts[key] + np.random.laplace(0, 1)
        if noisy > 10:
            out[key] = noisy
    return out


def by_defaultdict(data: records("b", "a")):
    counts = defaultdict(int)
    for r in data:
        counts[r] += 1
    return [key for key, count in sorted(counts.items()) if laplace(count, scale=1) > 10]


def by_set(data: records(2, 1)):
    out = {}
    for key in sorted(set(data)):
        noisy = laplace(data.count(key), scale=1)
        if noisy > 10:
            out[key] = noisy
    return out


def with_gaussian(data: records("a", "b")):
    out = {}
    for key, count in sorted(Counter(data).items()):
        noisy = gaussian(count, sigma=2)
        if noisy > 10:
            out[key] = noisy
    return out


def without_threshold(data: records("a", "b")):
    return {key: laplace(count, scale=1) for key, count in sorted(Counter(data).items())}


def in_their_order(data: records("a", "b")):
    out = {}
    counts = Counter(data)
    for key, count in counts.items():
        noisy = laplace(count, scale=1)
        if noisy > 10:
            out[key] = noisy
    return out


TAIL = exp(-9) / 2


@pytest.mark.parametrize("function", [by_counter, by_dict, by_defaultdict, by_set])
def test_a_histogram_of_the_keys_that_occur_is_private_with_a_delta(function):
    asked = {"epsilon": 1, "neighbours": "add-remove"}
    verdict = check(function, delta=f"{TAIL * 1.00001:.12f}", **asked)
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    if function is by_set:
        assert check(function, delta=f"{TAIL * 0.999:.12f}", **asked).status == "refuted"


def test_one_record_that_is_replaced_changes_two_counts():
    assert check(by_set, epsilon=2, delta=f"{2 * TAIL * 1.00001:.12f}", neighbours="one").status == "proved"
    assert check(by_set, epsilon=2, delta=f"{TAIL:.12f}", neighbours="one", time_limit=1).status != "proved"


def test_gaussian_noise_on_keys_that_occur():
    assert check(with_gaussian, epsilon=1, delta="0.01", neighbours="add-remove").status == "proved"


def test_keys_that_show_are_not_private():
    found = check(without_threshold, epsilon=1, delta="1e-4", neighbours="add-remove", time_limit=patience(4))
    assert found.status != "proved"


def test_the_order_of_the_data_is_not_proved_for_every_length():
    """On short lists both keys hardly ever pass, so the order that shows then costs less than 1e-7: proved for these sizes, no others."""
    found = check(in_their_order, epsilon=1, delta="1e-4", neighbours="add-remove", time_limit=patience(4))
    assert found.status != "proved" or "sizes 0 to" in found.question.name
    below = check(in_their_order, epsilon=1, delta=str(TAIL * 0.99), neighbours="add-remove", time_limit=patience(4))
    assert below.status != "proved"


def counted(data: records("b", "a")):
    out = {}
    counts = Counter(data)
    for key in sorted(counts):
        if truncated_geometric(counts[key], low=0, high=2, alpha="1/2") > 0:
            out[key] = counts[key]
        out["last"] = key
    return out


def test_what_is_translated_is_what_python_does():
    """The probabilities of all outputs of the translation, against those of the function by hand."""
    function = mechanism(counted)
    assert function.translated is not None
    for data in (list(each) for size in (1, 2, 3) for each in product("ab", repeat=size)):
        outputs = {}
        counts = Counter(data)
        for passed in product((False, True), repeat=len(counts)):
            shown = {}
            for key, passes in zip(sorted(counts), passed, strict=True):
                if passes:
                    shown[key] = counts[key]
                shown["last"] = key
            outputs[repr(shown)] = shown
        found = [output_probability(function, shown, data=data) for shown in outputs.values()]
        assert sum(found) == 1
        assert all(each > 0 for each in found)


def test_a_loop_in_the_order_of_the_data_is_refused_with_the_way_out():
    with pytest.raises(LanguageError, match="in their order") as refused:
        _ = mechanism(in_their_order).translated
    assert "sorted(" in str(refused.value.hint)
