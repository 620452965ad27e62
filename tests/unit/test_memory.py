"""How much memory may be taken: amounts, the limit, and searches that stop with what is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from privproof import memory, tight_epsilon
from privproof.engines import Monitor
from privproof.engines.monitor import Timed
from privproof.errors import QuestionError
from privproof.library import above_threshold, noisy_max_question
from privproof.models import Horizon


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
    assert "out of memory: 56 MiB are taken, and 64 are the limit, which PRIVPROOF_MEMORY changes" in verdict.reason


def test_what_was_there_before_does_not_count(monkeypatch):
    monkeypatch.setenv(memory.MEMORY, "1M")
    monkeypatch.setattr(memory, "_EVERY", 0.0)
    monkeypatch.setattr(memory, "resident", lambda: 10 << 30)
    monitor = Monitor(growth=memory.Growth(begun=10 << 30))
    assert monitor.stopped() is None
    monkeypatch.setattr(memory, "resident", lambda: (10 << 30) + (1 << 20))
    assert "out of memory" in monitor.stopped()
    assert "out of memory" in Timed(monitor, 100).stopped()


def test_tensors_say_what_they_would_need(monkeypatch):
    monkeypatch.setenv(memory.MEMORY, "1M")
    monkeypatch.setattr(memory, "resident", lambda: 0)  # nothing is taken on the way
    with pytest.raises(QuestionError, match=r"arrays of 3\^10 exact numbers take \d+ MiB, more than 1\b"):
        tight_epsilon(noisy_max_question(10, improved=True), engine="tensors")
