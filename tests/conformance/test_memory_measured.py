"""What engines say that they would need, beside what they take: an upper bound, and of the same order.

An engine that estimates bytes refuses with the number where the limit is less.  Here that number is read from the refusal under a limit
of a few bytes; then the same question is asked in a process of its own without one, and the growth of its peak is compared.  Tables that
are a small part of what a process holds are measured as they are made.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tracemalloc

import pytest
from tests.commands import environment

from privproof import mechanism, memory, queries, tight_epsilon, truncated_geometric
from privproof.engines.words import worst_way_engine as worst_way
from privproof.release import Chain
from privproof.release.transition_powers import Powers

MIB = 2**20
SLACK = 4 * MIB
"""What a process takes now and then for its own reasons: pages that were freed and not given back, modules that are loaded late."""
ORDER = 8
"""An estimate is at most so many times what is taken."""

MEASURED = """
import json, os, sys
from privproof import memory, release, tight_epsilon
from privproof.errors import QuestionError
from privproof.library import noisy_max_question

CHAIN = release.Chain.of({"0": {"0": "0.9", "1": "0.1"}, "1": {"0": "0.1", "1": "0.9"}})

def tensors(size):
    return tight_epsilon(noisy_max_question(size, improved=True), engine="tensors")

def draws(size):
    return tight_epsilon(sys.modules["counting"].count, size=size, engine="draws")

def laws(size):
    return release.calibrate(CHAIN, length=size, query=release.count("1"), epsilon=1, method="exact", noise="laplace")

def told(ask, size):
    os.environ[memory.MEMORY], known = "64", memory.resident
    memory.resident = lambda: 0  # nothing is taken on the way
    try:
        return ask(size).reason
    except QuestionError as problem:
        return str(problem)
    finally:
        memory.resident = known

def peak():
    with open("/proc/self/status") as file:  # what the system counts since the start has the parent's peak in it
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))

import importlib.util
place = importlib.util.spec_from_file_location("counting", sys.argv[1])
sys.modules["counting"] = importlib.util.module_from_spec(place)
place.loader.exec_module(sys.modules["counting"])
ask, small, size = globals()[sys.argv[2]], int(sys.argv[3]), int(sys.argv[4])
refusal = told(ask, size)
os.environ[memory.MEMORY] = "none"
ask(small)
before = peak()
ask(size)
print(json.dumps({"refusal": refusal, "taken": peak() - before}))
"""
COUNTING = """
from privproof import mechanism, records, truncated_geometric

@mechanism
def count(data: records(0, 1)):
    return truncated_geometric(sum(data), alpha="1/2", low=0, high=len(data))
"""


def amounts(text: str) -> list[float]:
    """The amounts of memory in a text, in bytes."""
    units = {"bytes": 1, "KiB": 2**10, "MiB": MIB}
    return [float(number) * units[unit] for number, unit in re.findall(r"([0-9.]+) (bytes|KiB|MiB)", text)]


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="what a process takes is not known here")
@pytest.mark.parametrize(
    ("engine", "small", "size"),
    [
        ("tensors", 4, 10),
        ("draws", 50, 2000),
        ("laws", 50, 1000),
        pytest.param("tensors", 4, 12, marks=pytest.mark.slow),
        pytest.param("draws", 50, 6000, marks=pytest.mark.slow),
        pytest.param("laws", 50, 2500, marks=pytest.mark.slow),
    ],
)
def test_a_refusal_tells_what_would_be_taken(engine, small, size, tmp_path):
    counting = tmp_path / "counting.py"
    counting.write_text(COUNTING, encoding="utf-8")
    words = [sys.executable, "-c", MEASURED, str(counting), engine, str(small), str(size)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    estimate = amounts(found["refusal"])[0]
    assert found["taken"] <= estimate + SLACK, found
    assert estimate <= ORDER * found["taken"], found


@mechanism
def largest(answers: queries(0, 9)):
    best, winner = -1, 0
    for i, value in enumerate(answers):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=9)
        if noisy > best:
            best, winner = noisy, i
    return winner


def taken_by(function):
    """What a call leaves behind, in bytes, and what it returns."""
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[0], result
    finally:
        tracemalloc.stop()


def test_matrices_of_the_worst_way_take_what_is_said(monkeypatch):
    made = worst_way._Words._matrices
    needed = []

    def measured(self, pair):
        monkeypatch.setenv(memory.MEMORY, "64")
        assert not made(self, pair)
        estimate = amounts(self.short)[0]
        monkeypatch.setenv(memory.MEMORY, "none")
        taken, found = taken_by(lambda: made(self, pair))
        needed.append((estimate, taken))
        return found

    monkeypatch.setattr(worst_way._Words, "_matrices", measured)
    tight_epsilon(largest, size=6, engine="worst-way")
    for estimate, taken in needed:
        assert taken <= 1.25 * estimate + 64 * 2**10
        assert estimate <= ORDER * taken
    assert needed


def test_powers_of_a_chain_stay_within_the_limit(monkeypatch):
    """Two tables of floats grow until the limit is reached, and not beyond."""
    limit = 4 * MIB
    monkeypatch.setenv(memory.MEMORY, str(limit))
    names = [str(i) for i in range(40)]
    chain = Chain.of({one: dict.fromkeys(names, "1/40") for one in names})

    def grown():
        powers = Powers(chain)
        while powers._grow():
            pass
        return powers

    taken, powers = taken_by(grown)
    assert limit / ORDER <= powers.forth.nbytes + powers.back.nbytes <= limit
    assert taken <= 2 * limit  # arrays grow by doubling


def test_beyond_the_limit_is_refused_at_once(tmp_path):
    """The number is told, long before 11^9 numbers could have been written anywhere."""
    words = [
        "-m",
        "privproof",
        "epsilon",
        "counting.py:best",
        "--size",
        "9",
        "--engine",
        "tensors",
        "--memory-limit",
        "2G",
    ]
    (tmp_path / "counting.py").write_text(
        "from privproof import mechanism, queries, truncated_geometric\n\n\n@mechanism\ndef best(answers: queries(0, 10)):\n"
        "    top, winner = -1, 0\n    for i, value in enumerate(answers):\n"
        '        noisy = truncated_geometric(value, alpha="1/2", low=0, high=10)\n'
        "        if noisy > top:\n            top, winner = noisy, i\n    return winner\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert re.search(r"arrays of 11\^9 exact numbers take [\d.]+ MiB, more than [\d.]+ MiB", done.stderr)
