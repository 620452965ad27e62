"""An audit is the same for every number of workers, with and without a time limit that is not reached, and where workers are lost."""

from __future__ import annotations

import os
import pickle
import random
import signal
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from privproof.audits.audit_request import audit
from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.audits.sampling.event_tallies import Crew, tally
from privproof.audits.sampling.output_events import OneOf
from privproof.audits.sampling.output_samples import Samples, together
from privproof.audits.sampling.runnable_functions import runnable
from privproof.engines import Monitor
from privproof.errors import LanguageError, QuestionError
from privproof.execution.workers import Workers
from privproof.language import integer, queries, real
from privproof.library.mechanisms import improved_noisy_max


def tells(x: integer(0, 3)):
    """A coin that shows more of x than it should."""
    return x if random.random() < 0.5 else random.randrange(4)


def tells_all(x: integer(0, 1), rng, count):
    return x + rng.laplace(size=count)


def told(found):
    """What an audit says."""
    return (
        found.epsilon,
        found.delta,
        found.p_value,
        [(repr(c.pair), str(c.event), c.left, c.right, c.runs) for c in found.tests],
        found.histogram,
        found.runs,
        found.pairs,
    )


@pytest.mark.parametrize(
    ("subject", "options"),
    [
        (tells, {"epsilon": 1, "samples": 20_000, "search": 4000}),
        (runnable(tells_all, rng="rng", batched=True), {"epsilon": "1/2", "samples": 200_000, "search": 4000}),
        (improved_noisy_max, {"epsilon": "1", "size": 3, "samples": 300_000, "search": 4000, "exact": False}),
    ],
    ids=["calls", "batches", "mechanism"],
)
def test_the_number_of_workers_and_a_limit_do_not_matter(subject, options):
    alone = audit(subject, **options)
    assert alone.epsilon > 0
    for jobs, seconds in ((1, 1000), (2, None), (3, 1000)):
        assert told(audit(subject, jobs=jobs, monitor=Monitor.within(seconds), **options)) == told(alone)


def test_a_lost_worker_changes_nothing(tmp_path):
    here, mark = os.getpid(), tmp_path / "lost"

    def lost(x: integer(0, 3)):
        if random.random() < 0.0005 and os.getpid() != here and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return tells(x)

    options = {"epsilon": 1, "samples": 12_000, "search": 2000}
    alone = told(audit(lost, **options))
    mark.unlink(missing_ok=True)
    assert told(audit(lost, jobs=2, **options)) == alone
    assert mark.exists()


def killing_once(folder):
    """A coin that kills its process once, in whatever process that is not this one."""
    here = os.getpid()

    def killing(x: integer(0, 1)):
        mark = Path(folder, "killed")
        if os.getpid() != here and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return x ^ (random.random() < 0.25)

    return killing


def test_runs_that_cannot_be_repeated_are_not_begun_again(tmp_path):
    made = runnable(killing_once(tmp_path))
    secret = replace(made, draw=replace(made.draw, independent=True))
    with Workers(2) as workers, pytest.raises(QuestionError, match="once without an answer"):
        tally(
            Crew.of(secret, workers, {"x": 0}), Adjacent({"x": 0}, {"x": 1}), [OneOf((0,))], 20_000,
            np.random.SeedSequence(0), Monitor(),
        )  # fmt: skip


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_limit_cuts_runs_on_both_sides_alike(jobs):
    """What was counted by then are the first runs of those that would have been made, as many on the left as on the right."""

    def slow(x: integer(0, 1)):
        time.sleep(0.002)
        return x ^ (random.random() < 0.25)

    pair, events = Adjacent({"x": 0}, {"x": 1}), [OneOf((0,)), OneOf((1,))]
    with Workers(jobs) as workers:
        crew = Crew.of(runnable(slow), workers, {"x": 0})
        cut = tally(crew, pair, events, 4096, np.random.SeedSequence(7), Monitor.within(1.0))
    assert 0 < cut.runs < 4096  # how many is the speed of the machine
    assert cut.counts.sum(axis=0).tolist() == [cut.runs, cut.runs]

    def quick(x: integer(0, 1)):
        return x ^ (random.random() < 0.25)

    whole = tally(Crew.of(runnable(quick)), pair, events, 4096, np.random.SeedSequence(7), Monitor())
    for short, long in zip(cut.first, whole.first, strict=True):
        assert [short.outputs[c] for c in short.codes] == [long.outputs[c] for c in long.codes[: cut.runs]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_where_no_time_is_left_there_are_some_runs(jobs):
    with Workers(jobs) as workers:
        crew = Crew.of(runnable(tells), workers, {"x": 0})
        found = tally(
            crew, Adjacent({"x": 0}, {"x": 1}), [OneOf((0,))], 10**6, np.random.SeedSequence(0), Monitor.within(0.0)
        )
    assert 64 <= found.runs <= 4096


def test_counts_are_those_of_all_outputs():
    """A tally against counting all outputs of the same runs at once."""
    pair, events = Adjacent({"x": 0}, {"x": 1}), [OneOf((0,)), OneOf((1, 3))]
    with Workers(2) as workers:
        crew = Crew.of(runnable(tells), workers, {"x": 0})
        found = tally(crew, pair, events, 10_000, np.random.SeedSequence(3), Monitor())
    for side in (0, 1):
        outputs = found.first[side].values().tolist()
        assert len(outputs) == found.runs == 10_000
        assert found.counts[:, side].tolist() == [outputs.count(0), outputs.count(1) + outputs.count(3)]


def test_a_hidden_source_stays_in_one_process():
    hidden = np.random.default_rng(5)

    def noisy(x: real()):
        return float(x) + hidden.laplace()

    with Workers(2) as workers:
        assert Crew.of(runnable(noisy), workers, {"x": Fraction(0)}).workers.alone
        assert not Crew.of(runnable(tells), workers, {"x": 0}).workers.alone


def failing(q: queries(0, 1)):
    if random.random() < 2:
        raise ZeroDivisionError("by a secret")


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_fails_in_a_worker_is_told(jobs):
    with pytest.raises(LanguageError, match="raised ZeroDivisionError: by a secret"):
        audit(failing, 1, size=2, samples=10_000, jobs=jobs, pairs=[([0, 0], [0, 1])])


def test_parts_of_samples_are_put_together():
    one = Samples(np.array([0, 1, 0]), (1, "a"))
    two = Samples(np.array([1, 0]), (2, "a"), (np.array([0.5, np.nan]),))
    both = together([one, two])
    assert [both.outputs[c] for c in both.codes] == [1, "a", 1, "a", 2]
    assert np.array_equal(both.floats[0], [np.nan, np.nan, np.nan, 0.5, np.nan], equal_nan=True)
    assert together([one]) is one


def test_a_mechanism_with_another_text_is_refused_where_the_work_is_done(monkeypatch):
    made = runnable(improved_noisy_max)
    data = pickle.dumps(made)
    (name,) = made.inputs
    assert pickle.loads(data).draw({name: [0, 1]}, 100, 0).counts() == made.draw({name: [0, 1]}, 100, 0).counts()
    monkeypatch.setattr(sys.modules[type(made).__module__], "_digest", lambda _: "another")
    with pytest.raises(LanguageError, match="another text"):
        pickle.loads(data)
