"""Work on a dask cluster: the same answers, also where a worker of it is killed."""

from __future__ import annotations

import gc
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import pytest
from tests.cli.test_errands import TEXT

import privproof
from privproof.audits.audit_request import audit
from privproof.engines import Monitor
from privproof.errors import QuestionError
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Workers, cluster, still_wanted
from privproof.language import integer
from privproof.library.mechanisms import improved_noisy_max, survey
from privproof.projects.project_surveys import survey_sizes

distributed = pytest.importorskip(
    "distributed", reason="clusters need the extra privproof[cluster], which is not installed"
)
pytestmark = pytest.mark.filterwarnings("ignore")  # of threads and sockets of the cluster


@pytest.fixture(scope="module")
def address():
    """Two workers that are processes, on this machine."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=50) as made:
        yield made.scheduler_address
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of lock files of the workers' folders
        del made
        gc.collect()


@pytest.fixture
def executor(address):
    with cluster(address) as made:
        yield made


def test_an_audit_of_a_function_that_has_no_name(executor):
    def tells(x: integer(0, 3)):
        return x if random.random() < 0.5 else random.randrange(4)

    options = {"epsilon": 1, "samples": 20_000, "search": 2000}
    alone, shared = audit(tells, **options), audit(tells, executor=executor, **options)
    assert (shared.epsilon, shared.tests, shared.histogram) == (alone.epsilon, alone.tests, alone.histogram)


def test_an_audit_of_a_mechanism(executor):
    options = {"epsilon": "1", "size": 3, "samples": 300_000, "search": 2000, "exact": False}
    alone, shared = audit(improved_noisy_max, **options), audit(improved_noisy_max, executor=executor, **options)
    assert (shared.epsilon, shared.tests, shared.histogram) == (alone.epsilon, alone.tests, alone.histogram)


def test_a_worker_that_is_killed_changes_nothing(executor, tmp_path):
    here, mark = os.getpid(), str(tmp_path / "killed")

    def tells(x: integer(0, 3)):
        if random.random() < 0.0005 and os.getpid() != here and not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return x if random.random() < 0.5 else random.randrange(4)

    options = {"epsilon": 1, "samples": 12_000, "search": 2000}
    alone, shared = audit(tells, **options), audit(tells, executor=executor, **options)
    assert Path(mark).exists()
    assert (shared.epsilon, shared.tests, shared.histogram) == (alone.epsilon, alone.tests, alone.histogram)


@pytest.mark.slow  # a billion runs on each side, twice: some minutes
def test_a_billion_runs_and_a_worker_that_is_killed_half_way(executor):
    runs, killed = 10**9, []
    pids = list(executor._client.run(os.getpid).values())

    def listen(progress):
        done = re.match(r"testing, (\d+) of", progress.stage)
        if done and int(done[1]) > runs // 2 and not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    options = {"epsilon": 1, "samples": runs, "search": 100_000, "exact": False}
    shared = audit(survey, executor=executor, monitor=Monitor(listen=listen), **options)
    alone = audit(survey, jobs=2, **options)
    assert killed
    assert (shared.epsilon, shared.tests, shared.histogram) == (alone.epsilon, alone.tests, alone.histogram)
    assert shared.epsilon < math.log(3) < shared.epsilon + 0.001


def test_a_project_is_checked_there(address, tmp_path):
    for name, claim in (("fine", "ln(2)"), ("tight", "1/2")):
        (tmp_path / f"{name}.py").write_text(TEXT.format(epsilon=claim))
    command = [sys.executable, "-m", "privproof", "check", "fine.py", "tight.py", "--json", "--no-cache"]
    known = {**os.environ, "PYTHONPATH": str(Path(privproof.__file__).parents[1])}
    run = partial(subprocess.run, cwd=tmp_path, env=known, capture_output=True, text=True, timeout=300, check=False)
    here, there = run(command), run([*command, "--cluster", address])
    assert (here.returncode, there.returncode) == (1, 1), there.stderr
    found = [[{**each, "seconds": 0} for each in json.loads(done.stdout)] for done in (here, there)]
    assert [each["verdict"] for each in found[0]] == ["proved", "refuted"]
    assert found[0] == found[1]


def test_sizes_are_asked_about_there(executor):
    here, there = (
        survey_sizes(improved_noisy_max, [1, 2, 3]),
        survey_sizes(improved_noisy_max, [1, 2, 3], executor=executor),
    )
    assert [(n, v.status, v.tight, v.certificate) for n, v in there.rows] == [
        (n, v.status, v.tight, v.certificate) for n, v in here.rows
    ]


@pytest.mark.slow  # it begins five processes
def test_the_command_asks_about_sizes_there(address, tmp_path):
    (tmp_path / "counts.py").write_text(TEXT.format(epsilon="ln(2)").replace(", size=1", ""))
    command = [sys.executable, "-m", "privproof", "epsilon", "counts.py", "--size", "1..3", "--json"]
    known = {**os.environ, "PYTHONPATH": str(Path(privproof.__file__).parents[1])}
    run = partial(subprocess.run, cwd=tmp_path, env=known, capture_output=True, text=True, timeout=300, check=False)
    found = []
    for done in (run(command), run([*command, "--cluster", address])):
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        found.append([{**each, "seconds": 0} for each in said["sizes"]])
    assert found[0] == found[1]


def waits_until_unwanted(mark: str) -> None:
    Path(mark, "begun").touch()
    until = time.monotonic() + 60
    while still_wanted() and time.monotonic() < until:
        time.sleep(0.02)
    Path(mark, "unwanted" if not still_wanted() else "late").touch()


def test_a_stop_reaches_a_chunk_under_way(executor, tmp_path):
    begun = Path(tmp_path, "begun")
    stopped = map_chunks(
        executor, waits_until_unwanted, [str(tmp_path)], stopped=lambda: "stop" if begun.exists() else None
    )
    assert list(stopped) == []
    until = time.monotonic() + 30
    while not Path(tmp_path, "unwanted").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert Path(tmp_path, "unwanted").exists()


def ends_its_process(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.slow  # dask begins four workers before it gives up
def test_what_ends_every_worker_is_told(executor):
    with pytest.raises(QuestionError, match="the executor has no answer: KilledWorker"):
        list(map_chunks(Workers(executor=executor), ends_its_process, [1]))


def test_threads_of_this_process_are_refused():
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    refused = pytest.raises(QuestionError, match="threads of this process")
    with distributed.LocalCluster(**options, silence_logs=50) as made, distributed.Client(made) as client, refused:
        list(map_chunks(client.get_executor(), abs, [1, 2]))
