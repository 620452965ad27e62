"""One question has one answer: on a busy machine as on an idle one, with a time limit as without, in one process as in two.

A clock that runs a hundred times as fast is what a machine looks like that is busy with other things: whatever is bounded by a clock,
and not by work, ends earlier on it.  Answers are compared with their certificates, so that not even another witness passes for the same.
"""

from __future__ import annotations

import os
import random
import time
from unittest import mock

import pytest
from tests.amounts import selected
from tests.cases import CASES

from privproof import audit, check, records, release, smallest_delta, tight_epsilon
from privproof.compiling import sharing
from privproof.engines import Monitor
from privproof.library import gaussian, mechanisms
from privproof.library.laplace.laplace_examples import ENTRIES
from privproof.library.streams.stream_examples import ENTRIES as STREAMS

FASTER = 100
CHAIN = release.Chain.of({"0": {"0": "0.9", "1": "0.1"}, "1": {"0": "0.1", "1": "0.9"}})


def bits(data):
    """Every bit is randomised."""
    return [x if random.random() < 0.75 else 1 - x for x in data]


def total(data):
    """How many bits are set, with noise from a table."""
    return sum(data) + random.choice([-1, 0, 0, 1])


WORDS = {case.name: (lambda case=case, **o: tight_epsilon(case.question(), **o)) for case in CASES if case.small}
OTHERS = {
    "alignment": lambda **o: check(ENTRIES[0].mechanism, **o),
    "refuted by a loss": lambda **o: check(ENTRIES[4].mechanism, **o),
    "tight with Laplace noise": lambda **o: tight_epsilon(ENTRIES[0].mechanism, size=2, **o),
    "stream": lambda **o: tight_epsilon(STREAMS[0].mechanism, **o),
    "draws": lambda **o: tight_epsilon(mechanisms.noisy_count, size=6, **o),
    "mechanism": lambda **o: tight_epsilon(mechanisms.improved_noisy_max, size=3, **o),
    "runs": lambda **o: tight_epsilon(bits, data=records(0, 1), size=3, engine="runs", **o),
    "smallest delta": lambda **o: smallest_delta(gaussian.gaussian_above_threshold, "1/2", size=2, **o),
    "release": lambda **o: check(
        release.calibrate(CHAIN, length=30, query=release.count("1"), epsilon=1, method="exact").question, **o
    ),
}
ASKED = {**{name: WORDS[name] for name in selected(sorted(WORDS), 6)}, **OTHERS}


def told(answer):
    """All that an answer says, but for its seconds."""
    if answer is None:
        return None
    if hasattr(answer, "proof"):
        return answer.lower, answer.upper, told(answer.proof), told(answer.refutation)
    return answer.status, answer.lower, answer.upper, answer.witness, getattr(answer, "reason", ""), answer.certificate


def hurried(clock, times):
    """A clock that runs so many times as fast."""
    begun = clock()
    return lambda: begun + times * (clock() - begun)


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())
def test_a_busy_machine_and_a_time_limit_change_nothing(ask, monkeypatch):
    free = told(ask(time_limit=None))
    assert told(ask(time_limit=10**6)) == free
    for name in ("monotonic", "perf_counter", "time", "process_time"):
        monkeypatch.setattr(time, name, hurried(getattr(time, name), FASTER))
    assert told(ask(time_limit=None)) == free


@pytest.mark.parametrize("function", [bits, total])
def test_one_process_and_two_run_the_same_trees(function):
    answers = []
    for processors, alone in ((1, 1.0), (2, 0.0)):
        with mock.patch.object(os, "cpu_count", return_value=processors), mock.patch.object(sharing, "_ALONE", alone):
            answers.append(told(tight_epsilon(function, data=records(0, 1), size=4, engine="runs")))
    assert answers[0] == answers[1]


def test_an_audit_finds_the_same_with_a_time_limit_and_in_two_processes():
    found = []
    for options in ({}, {"monitor": Monitor.within(10**6)}, {"jobs": 2}):
        one = audit(
            mechanisms.improved_noisy_max, 1, size=3, samples=20_000, search=20_000, exact=False, seed=3, **options
        )
        found.append((one.status, one.epsilon, one.p_value, one.count.left, one.count.right, str(one.count.event)))
    assert found[0] == found[1] == found[2]
