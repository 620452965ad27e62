"""Counts that the key of ``max``, ``min`` or ``sorted`` looks into, which is asked in that very place."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from privproof import LanguageError, check, laplace, mechanism, records

KEYS = ("x", "y", "z")
VOTES = records(*KEYS)


def by_numpy(votes, eps=1.0):
    counts = Counter(votes)
    return max(["x", "y", "z"], key=lambda key: counts[key] + np.random.laplace(0, 2 / eps))


def by_language(votes):
    counts = Counter(votes)
    return max(KEYS, key=lambda key: laplace(counts[key], scale=2))


def least_first(votes):
    counts = Counter(votes)
    return min(KEYS, key=lambda key: laplace(-counts[key], scale=2))


@pytest.mark.parametrize("function", [by_numpy, by_language, least_first])
def test_winners_are_proved_for_every_length(function):
    asked = mechanism(function, inputs={"votes": VOTES})
    verdict = check(asked, 1)
    assert verdict.status == "proved"
    assert verdict.question.size is None
    assert check(asked, "1/2", size=3).status == "refuted"
    assert check(mechanism(function, inputs={"votes": VOTES}, neighbours="add-remove"), "1/2").status == "proved"


def shadowed(votes):
    counts = Counter(votes)
    return max(KEYS, key=lambda counts: laplace(len(counts), scale=2)) + str(counts["x"])


def without_noise(votes):
    counts = Counter(votes)
    return max(KEYS, key=lambda key: counts[key])


def half_of_the_noise(votes):
    counts = Counter(votes)
    return max(KEYS, key=lambda key: laplace(counts[key], scale=1))


@pytest.mark.parametrize("function", [without_noise, half_of_the_noise])
def test_what_loses_more_is_refuted(function):
    assert check(mechanism(function, inputs={"votes": VOTES}), "0.9", size=3).status == "refuted"


def test_a_parameter_of_the_same_name_is_another_value():
    try:
        verdict = check(mechanism(shadowed, inputs={"votes": VOTES}), 1)
    except LanguageError:
        return
    assert verdict.status == "refuted"
