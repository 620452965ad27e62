"""Trees that several processes grow together: the same trees, and what goes wrong in one process goes wrong in all."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import time

import numpy as np
import pytest

from privproof import LanguageError, check, one_of, records
from privproof.compiling import sharing
from privproof.compiling.posing import mechanism_of_function
from privproof.compiling.sharing import Work, grow_trees
from privproof.engines.runs.run_again import other_runs
from privproof.engines.runs.runs_certificates import whole_tree
from privproof.exact.patience import Stopped
from privproof.language.recognition import controlled_libraries
from privproof_checker import recheck


@pytest.fixture
def from_the_start(monkeypatch):
    """Other processes take part at once, and give back what is left after every run."""
    monkeypatch.setattr(sharing, "_ALONE", 0.0)
    monkeypatch.setattr(sharing, "_TURN", 0.0)


def work(*calls, pause=lambda: None):
    return Work(calls, pause, lambda turn: turn())


def uneven():
    """A tree with branches of many depths, and noise left open."""
    if random.random() < 0.5:
        return np.random.laplace(0, 1) > 1
    return [random.randint(0, 2) for _ in range(random.randint(0, 2))]


def constant():
    return 1


@pytest.mark.parametrize("processes", [2, 3])
def test_the_trees_are_the_same_for_every_number_of_processes(monkeypatch, from_the_start, processes):
    with controlled_libraries(globals()):
        monkeypatch.setattr(sharing, "processors", lambda: 1)
        alone = grow_trees(work(uneven, constant, uneven))
        monkeypatch.setattr(sharing, "processors", lambda: processes)
        assert grow_trees(work(uneven, constant, uneven)) == alone
    assert [len(tree) for tree in alone] == [15, 1, 15]


def fails(bit):
    if sum(random.randint(0, 1) for _ in range(4)) == 4:
        math.log(random.random())
    return bit


def test_a_refusal_of_another_process_arrives_with_its_line(from_the_start):
    with pytest.raises(LanguageError, match="uniform") as caught:
        check(fails, 1, bit=one_of(0, 1), engine="runs")
    assert "test_sharing.py" in str(caught.value.place)


COUNTED = []


def counts(bit):
    drawn = [random.randint(0, 1) for _ in range(3)]
    if sum(drawn) == 3:
        COUNTED.append(1)
    return bit + sum(drawn)


def test_state_that_is_kept_in_another_process_is_found(from_the_start):
    with pytest.raises(LanguageError, match="COUNTED"):
        check(counts, 1, bit=one_of(0, 1), engine="runs")


def test_a_process_that_ends_in_the_middle_is_no_answer(from_the_start):
    here = os.getpid()

    def leaves_at_once():
        if random.randint(0, 1) and os.getpid() != here:
            signal.raise_signal(signal.SIGKILL)

    with controlled_libraries(globals()), pytest.raises(LanguageError, match="ended in the middle"):
        grow_trees(work(leaves_at_once))


def test_whoever_stops_the_search_stops_all_processes(from_the_start):
    begun, here = time.monotonic(), os.getpid()

    def stop_here():
        if os.getpid() == here and time.monotonic() > begun + 0.2:
            raise Stopped("interrupted")

    def endless():
        time.sleep(0.01)
        return [random.randint(0, 1) for _ in range(16)]

    with controlled_libraries(globals()), pytest.raises(Stopped, match="interrupted"):
        grow_trees(work(endless, pause=stop_here))
    assert time.monotonic() < begun + 20


def bits(data):
    return [x if random.random() < 0.75 else 1 - x for x in data]


def test_steps_in_common_are_written_once():
    verdict = check(bits, "ln(3)", data=records(0, 1), size=4, engine="runs")
    trees = verdict.certificate["question"]["trees"]
    assert sum(len(leaf["steps"]) for leaf in trees[0]) == 2 + 4 + 8 + 16  # one for every edge of the tree


def twice(bit):
    first = bit + np.random.laplace(0, 1)
    return first > 0 and random.random() < 0.5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tree: tree[0].update(after=1), "the leaf before has no 1 steps"),
        (lambda tree: tree[1].update(after=9), "the leaf before has no 9 steps"),
        (lambda tree: tree[1].update(after=0), "the leaf before has no 0 steps"),
        (lambda tree: tree[1].update(noises=[["laplace", "2"]]), "about another noise"),
        (lambda tree: tree[1].update(noises=[]), "about another noise"),
        (lambda tree: tree[1].pop("after"), "step 0 differs"),
    ],
)
def test_steps_in_common_are_those_of_the_leaf_before(change, said):
    document = json.loads(json.dumps(check(twice, 1, bit=one_of(0, 1), engine="runs").certificate))
    tree = document["question"]["trees"][0]
    assert tree[1]["after"] == 1
    change(tree)
    assert said in recheck(document).reason


def test_a_certificate_with_all_steps_written_out_is_about_the_same_runs():
    """As certificates were before steps in common were written once."""
    asked = check(bits, "ln(3)", data=records(0, 1), size=2, engine="runs").certificate["question"]
    written_out = {**asked, "trees": [whole_tree(tree) for tree in asked["trees"]]}
    assert all("after" not in leaf for tree in written_out["trees"] for leaf in tree)
    assert other_runs(written_out, mechanism_of_function(bits, {"data": records(0, 1)})) == []
