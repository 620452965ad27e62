"""Chunks of work: the same results for every number of workers, also where workers are lost; stops and limits reach them."""

from __future__ import annotations

import os
import pickle
import random
import signal
import struct
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from privproof.errors import LanguageError, QuestionError
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Parcel, Workers, cluster, processors


def squared(number: int) -> int:
    return number * number


def squared_unevenly(number: int) -> int:
    time.sleep(0.02 * random.Random(number).random())
    return number * number


def killed_once(folder: str, number: int) -> int:
    """Ends its own process at three of the numbers, but only once at each."""
    mark = Path(folder, str(number))
    if number in (2, 7, 11) and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def killed_always(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refused(number: int) -> int:
    if number == 5:
        raise LanguageError("call", "no five", place="refused", hint="another")
    return number


class Unsendable(Exception):
    def __init__(self, one: object, two: object) -> None:
        super().__init__(f"{one} and {two}")


def unsendable(number: int) -> int:
    raise Unsendable(number, lambda: None)


def slept(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def opened(parcel: Parcel, number: int) -> int:
    return parcel.open()(number)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_chunks(jobs):
    with Workers(jobs) as workers:
        assert list(map_chunks(workers, squared_unevenly, range(40))) == [n * n for n in range(40)]
        assert list(map_chunks(workers, squared, [])) == []
        assert list(map_chunks(workers, squared, range(5))) == [0, 1, 4, 9, 16]


def test_any_executor_of_processes_will_do():
    with ProcessPoolExecutor(2, get_context("fork")) as executor:
        assert list(map_chunks(executor, squared, range(20))) == [n * n for n in range(20)]
        assert list(map_chunks(executor, squared, range(3))) == [0, 1, 4]


def test_chunks_without_end_are_taken_up_as_workers_become_free():
    with Workers(2) as workers:
        assert list(islice(map_chunks(workers, squared, count()), 50)) == [n * n for n in range(50)]


def test_lost_processes_lose_no_work(tmp_path):
    with Workers(2) as workers:
        found = list(map_chunks(workers, partial(killed_once, str(tmp_path)), range(16)))
    assert found == [n * n for n in range(16)]
    assert sorted(map(int, os.listdir(tmp_path))) == [2, 7, 11]


def test_what_ends_every_process_is_given_up():
    with Workers(2) as workers, pytest.raises(QuestionError, match="3 times without an answer"):
        list(map_chunks(workers, killed_always, range(8)))
    with Workers(2) as workers, pytest.raises(QuestionError, match="once without an answer"):
        list(map_chunks(workers, killed_always, range(8), attempts=1))


def test_a_broken_executor_of_the_caller_is_not_mended():
    with ProcessPoolExecutor(2, get_context("fork")) as executor, pytest.raises(QuestionError, match="is broken"):
        list(map_chunks(executor, killed_always, range(8)))


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_raised_comes_back(jobs):
    with Workers(jobs) as workers, pytest.raises(LanguageError) as caught:
        list(map_chunks(workers, refused, range(20)))
    assert (caught.value.code, caught.value.place, caught.value.hint) == ("call", "refused", "another")


def test_what_cannot_cross_is_told_in_words():
    with Workers(2) as workers, pytest.raises(RuntimeError, match="Unsendable: 0 and"):
        list(map_chunks(workers, unsendable, range(3)))


def test_threads_are_refused():
    with ThreadPoolExecutor(2) as executor, pytest.raises(QuestionError, match="threads of this process"):
        list(map_chunks(executor, squared, range(3)))


def test_a_stop_ends_the_processes():
    begun = time.monotonic()
    with Workers(2) as workers:
        seen = [os.getpid(), *map_chunks(workers, slept, [0.0, 0.0])]
        found = list(map_chunks(workers, slept, [60.0] * 8, stopped=lambda: time.monotonic() > begun + 0.3 or None))
    assert found == []
    assert time.monotonic() < begun + 20
    for number in seen[1:]:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_a_stop_in_the_middle_of_a_message_does_not_wait_for_its_end():
    """As if a worker had sent a part of its result when it was ended."""
    workers = Workers(2)
    future = workers.submit(workers.job(slept), 60.0)
    os.write(workers._pool._result_queue._writer.fileno(), struct.pack("!i", 100) + b"begun")
    stopping = threading.Thread(target=workers.stop, daemon=True)
    stopping.start()
    stopping.join(20)
    assert not stopping.is_alive()
    assert isinstance(future.exception(timeout=0), BrokenProcessPool)


def test_chunks_under_way_are_waited_for():
    begun = time.monotonic()
    with Workers(2) as workers:
        late = map_chunks(
            workers, slept, [0.6] * 50, stopped=lambda: time.monotonic() > begun + 0.3 or None, patience=30.0
        )
        assert 2 <= len(list(late)) <= 4  # two under way, two that are kept ready


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_the_processes(jobs):
    def interrupt(workers: Workers) -> None:
        with workers:
            for number in map_chunks(workers, squared, range(1000)):
                if number > 100:
                    raise KeyboardInterrupt

    workers = Workers(jobs)
    with pytest.raises(KeyboardInterrupt):
        interrupt(workers)
    assert workers._pool is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_functions_without_a_name_cross_to_copies_of_this_process(jobs):
    with Workers(jobs) as workers:
        first, second = workers.parcel(lambda n: n + 1), workers.parcel(lambda n: n + 2)
        assert list(map_chunks(workers, partial(opened, first), range(3))) == [1, 2, 3]
        third = workers.parcel(lambda n: n + 3)
        assert list(map_chunks(workers, partial(opened, second), range(3))) == [2, 3, 4]
        assert list(map_chunks(workers, partial(opened, third), range(3))) == [3, 4, 5]
    with pytest.raises(LookupError):
        first.open()


def test_functions_of_modules_cross_to_other_interpreters():
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        parcel = Workers(executor=executor).parcel(squared)
        assert len(pickle.dumps(parcel)) < 1000
        assert list(map_chunks(executor, partial(opened, parcel), range(4))) == [0, 1, 4, 9]


def test_what_cannot_be_sent_is_refused_before_any_work():
    with ProcessPoolExecutor(1) as executor, pytest.raises(QuestionError, match="the lock cannot be sent"):
        Workers(executor=executor).parcel(get_context("fork").Lock(), "the lock")


def processors_there(_: int) -> tuple[int, str, float]:
    """What a worker may use, and that it computes with matrices in both libraries."""
    ones = np.ones((300, 300))
    return processors(), os.environ["OPENBLAS_NUM_THREADS"], float((ones @ scipy.linalg.inv(np.eye(300)))[0, 0])


def test_a_worker_has_one_processor():
    with Workers(2) as workers:
        assert list(map_chunks(workers, processors_there, range(2))) == [(1, "1", 1.0)] * 2


@pytest.mark.parametrize("jobs", [0, -1, True, "2", 1.5])
def test_a_number_of_processes_is_a_number(jobs):
    with pytest.raises(QuestionError, match="no number of processes"):
        Workers(jobs)


def test_what_is_no_executor_is_refused():
    with pytest.raises(QuestionError, match="no executor"):
        Workers(executor=3)


def test_a_cluster_that_is_none():
    with cluster(None) as executor:
        assert executor is None
    with pytest.raises(QuestionError), cluster("nowhere"):
        pass


@pytest.mark.parametrize("grain", [0.0, 0.01, 10.0])
def test_small_chunks_given_out_together_give_the_same_results(grain):
    with Workers(2) as workers:
        assert list(map_chunks(workers, abs, range(-300, 0), grain=grain)) == list(map(abs, range(-300, 0)))


def test_what_is_raised_in_chunks_that_are_given_out_together():
    found, chunks = [], [*range(1, 200), 0, *range(1, 200)]
    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        found.extend(map_chunks(workers, partial(divmod, 1000), chunks, grain=10.0))
    assert found == [divmod(1000, n) for n in range(1, 200)][: len(found)]
