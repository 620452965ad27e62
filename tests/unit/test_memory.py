"""How much memory may be taken: amounts, the limit, and searches that stop with what is known."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from privproof import mechanism, memory, records, tight_epsilon, truncated_geometric
from privproof.engines import Monitor
from privproof.engines.search_monitor import Timed
from privproof.errors import QuestionError
from privproof.library import above_threshold, noisy_max_question
from privproof.models import Horizon
from privproof.release import Chain, calibrate, count


def test_amounts(monkeypatch):
    monkeypatch.setenv(memory.MEMORY, "3g")
    assert memory.memory_limit() == 3 * 2**30
    monkeypatch.setenv(memory.MEMORY, "none")
    assert memory.memory_limit() is None
    monkeypatch.delenv(memory.MEMORY)
    assert 2**27 < memory.memory_limit() < 2**50
    for wrong in ("0", "many", "-1", "1.5G"):
        with pytest.raises(QuestionError, match="no amount of memory"):
            memory.amount_of_memory(wrong)


def test_a_search_that_takes_too_much_stops_with_what_is_known(monkeypatch):
    """Memory is taken to have grown: the bounds that were found by then are told, with both numbers."""
    monkeypatch.setenv(memory.MEMORY, "64M")
    monkeypatch.setattr(memory, "_EVERY", 0.0)
    taken = iter(range(10**9))
    monkeypatch.setattr(memory, "resident", lambda: next(taken) << 19)
    question = replace(above_threshold(), horizon=Horizon.up_to(40))
    verdict = tight_epsilon(question, monitor=Monitor(), engine="frontier")
    assert verdict.status == "unknown"
    assert re.match(
        r"out of memory: 5[67](\.\d)? MiB are taken, and 64 MiB are the limit, which PRIVPROOF_MEMORY", verdict.reason
    )


def test_what_was_there_before_does_not_count(monkeypatch):
    monkeypatch.setenv(memory.MEMORY, "1M")
    monkeypatch.setattr(memory, "_EVERY", 0.0)
    monkeypatch.setattr(memory, "resident", lambda: 10 << 30)
    monitor = Monitor(growth=memory.MemoryGrowth(begun=10 << 30))
    assert monitor.stopped() is None
    monkeypatch.setattr(memory, "resident", lambda: (10 << 30) + (1 << 20))
    assert "out of memory" in monitor.stopped()
    assert "out of memory" in Timed(monitor, 100).stopped()


def test_tensors_say_what_they_would_need(monkeypatch):
    monkeypatch.setenv(memory.MEMORY, "1M")
    monkeypatch.setattr(memory, "resident", lambda: 0)  # nothing is taken on the way
    with pytest.raises(QuestionError, match=r"arrays of 3\^10 exact numbers take [\d.]+ MiB, more than 1 MiB"):
        tight_epsilon(noisy_max_question(10, improved=True), engine="tensors")


@mechanism
def counting(data: records(0, 1)):
    return truncated_geometric(sum(data), alpha="1/2", low=0, high=1000)


def test_tables_are_compared_with_the_limit_before_they_are_made(monkeypatch):
    """Draws, exact laws of releases, dense matrices: each is refused at once with its number, and asks for no memory."""
    monkeypatch.setattr(memory, "resident", lambda: 0)  # nothing is taken on the way
    assert memory.entries_within(100, 8) == 100
    monkeypatch.setenv(memory.MEMORY, "400")
    assert memory.entries_within(100, 8) == 50
    chain = Chain.of({"a": {"a": "0.9", "b": "0.1"}, "b": {"a": "0.4", "b": "0.6"}})
    with pytest.raises(QuestionError, match=r"51 sums are 5100 numbers, 119\.5 KiB, more than 384 bytes") as refused:
        calibrate(chain, length=50, query=count("a"), epsilon=1, method="exact")
    assert "at most 16" in refused.value.hint
    verdict = tight_epsilon(counting, size=40, engine="draws")
    assert verdict.status == "unknown"
    assert "more than 400 bytes" in verdict.reason
    monkeypatch.setenv(memory.MEMORY, "none")
    assert tight_epsilon(counting, size=40, engine="draws").status == "proved"
