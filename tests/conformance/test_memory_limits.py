"""Under a limit on memory every engine that makes tables says what it would need, or does with less: never with another truth.

What an engine tells under a limit of a few bytes must hold beside what it tells without one: bounds that enclose it, noise that is no
less, or a refusal with both numbers.  Searches that grow entry by entry, and are stopped on the way, are in ``unit/test_memory.py``.
"""

from __future__ import annotations

import re

import pytest
from tests.amounts import selected

from privproof import (
    check,
    gaussian,
    mechanism,
    memory,
    public,
    queries,
    real,
    real_queries,
    records,
    smallest_delta,
    tight_epsilon,
    truncated_geometric,
)
from privproof.engines.words import worst_way_engine as worst_way
from privproof.errors import QuestionError
from privproof.library import noisy_max_question
from privproof.release import Chain, calibrate, count

LIMIT = "64"
CHAIN = Chain.of({"a": {"a": "0.9", "b": "0.1"}, "b": {"a": "0.4", "b": "0.6"}})


@mechanism
def largest(answers: queries(0, 4)):
    best, winner = -1, 0
    for i, value in enumerate(answers):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=4)
        if noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def counting(data: records(0, 1)):
    return truncated_geometric(sum(data), alpha="1/2", low=0, high=1000)


@mechanism
def above(q: real_queries(), threshold: public(real())):
    level = gaussian(threshold, sigma=2)
    for i, value in enumerate(q):
        if gaussian(value, sigma=4) >= level:
            return i
    return -1


@mechanism
def chosen(q: real_queries()):
    best, index = gaussian(0, sigma=2), 0
    for i, value in enumerate(q):
        noisy = gaussian(value, sigma=2)
        if noisy > best:
            best, index = noisy, i
    return index


@pytest.fixture(autouse=True)
def _nothing_taken(monkeypatch):
    monkeypatch.setattr(memory, "resident", lambda: 0)


def with_and_without(monkeypatch, ask):
    """What is told without a limit, and under one."""
    told = []
    for limit in ("none", LIMIT):
        monkeypatch.setenv(memory.MEMORY, limit)
        told.append(ask())
    return told


def test_tensors_refuse_with_both_numbers(monkeypatch):
    monkeypatch.setenv(memory.MEMORY, LIMIT)
    with pytest.raises(QuestionError, match=r"take [\d.]+ \w+, more than 64 bytes"):
        tight_epsilon(noisy_max_question(4, improved=True), engine="tensors")


def test_another_engine_answers_where_tensors_have_no_room(monkeypatch):
    free, limited = with_and_without(monkeypatch, lambda: tight_epsilon(noisy_max_question(3, improved=True)))
    assert limited.tight == free.tight


def test_draws_are_unknown_with_both_numbers(monkeypatch):
    free, limited = with_and_without(monkeypatch, lambda: tight_epsilon(counting, size=40, engine="draws"))
    assert free.status == "proved"
    assert limited.status == "unknown"
    assert re.search(r"marks and rows of [\d.]+ \w+, more than 64 bytes", limited.reason)


def test_the_worst_way_says_what_its_words_would_need(monkeypatch):
    monkeypatch.setattr(worst_way, "_FEW", 0)  # so that it is asked about few combinations, too
    free, limited = with_and_without(monkeypatch, lambda: tight_epsilon(largest, size=3, engine="worst-way"))
    assert free.status == "proved"
    assert limited.status == "unknown"
    assert re.search(r"matrices of [\d.]+ KiB would be needed, more than 64 bytes", limited.reason)
    assert check(largest, free.tight, size=3, engine="worst-way").status == "proved"  # which needs no word


@pytest.mark.parametrize("asked", selected([above, chosen], 1))
def test_registers_enclose_what_they_find_with_more_memory(monkeypatch, asked):
    free, limited = with_and_without(monkeypatch, lambda: smallest_delta(asked, "1/4", size=2))
    assert limited.lower <= free.upper
    assert free.lower <= limited.upper


def test_exact_laws_of_releases_refuse_with_both_numbers(monkeypatch):
    monkeypatch.setenv(memory.MEMORY, LIMIT)
    with pytest.raises(QuestionError, match=r"21 sums are 840 numbers, 19\.7 KiB, more than 48 bytes"):
        calibrate(CHAIN, length=20, query=count("a"), epsilon=1, method="exact")


def test_fewer_powers_of_a_chain_never_give_less_noise(monkeypatch):
    free, limited = with_and_without(
        monkeypatch, lambda: calibrate(CHAIN, length=300, query=count("a"), epsilon="1/10", method="quilt")
    )
    assert limited.expected_error >= free.expected_error
