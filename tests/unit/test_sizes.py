"""Tables of sizes: the same verdicts for every number of processes, in their order; limits and interrupts end them."""

from __future__ import annotations

import os
import time

import pytest

from privproof.asking import check, tight_epsilon
from privproof.engines import Monitor
from privproof.errors import LanguageError
from privproof.library.mechanisms import improved_noisy_max
from privproof.profiles.size_sweeps import over_sizes
from privproof_checker import Accepted, recheck


def test_processes_share_the_sizes():
    seen = []
    here = os.getpid()

    def ask(size):
        assert (os.getpid() != here) == (jobs > 1)
        return tight_epsilon(improved_noisy_max, size=size)

    jobs = 1
    alone = over_sizes(ask, [1, 2, 3, 4])
    jobs = 2
    shared = over_sizes(ask, [1, 2, 3, 4], jobs=jobs, so_far=lambda table: seen.append(len(table.rows)))
    assert seen == [1, 2, 2]  # of the last two the larger one is begun first, and told in its turn
    assert [(n, v.status, v.tight, v.witness, v.certificate) for n, v in shared.rows] == [
        (n, v.status, v.tight, v.witness, v.certificate) for n, v in alone.rows
    ]
    assert all(isinstance(recheck(verdict.certificate), Accepted) for _, verdict in shared.rows)
    assert shared.trend == alone.trend


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_limit_leaves_sizes_unasked(jobs):
    monitor = Monitor.within(0.3)

    def ask(size):
        time.sleep(0.4 if size > 1 else 0)
        return check(improved_noisy_max, "100", size=1)

    table = over_sizes(ask, list(range(1, 40)), monitor=monitor, jobs=jobs)
    assert 1 <= len(table.rows) <= 5
    assert [size for size, _ in table.rows] == list(range(1, len(table.rows) + 1))
    assert table.unasked[-1] == 39
    assert table.status == "unknown"


@pytest.mark.parametrize(("count", "jobs"), [(0, 2), (1, 2), (2, 2), (3, 2), (3, 4), (5, 3)])
def test_every_size_is_asked_about_once_whatever_the_number_of_workers(count, jobs):
    sizes = list(range(1, count + 1))
    table = over_sizes(lambda n: check(improved_noisy_max, "100", size=n), sizes, jobs=jobs)
    assert [size for size, _ in table.rows] == sizes
    assert [verdict.certificate for _, verdict in table.rows] == [
        check(improved_noisy_max, "100", size=n).certificate for n in sizes
    ]
    assert not table.unasked


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_wrong_with_a_size_is_told(jobs):
    def ask(size):
        if size == 3:
            raise LanguageError("size", "no three", place="here")
        return check(improved_noisy_max, "100", size=size)

    with pytest.raises(LanguageError, match="no three"):
        over_sizes(ask, [1, 2, 3], jobs=jobs)


def test_an_interrupt_is_not_waited_for():
    monitor = Monitor(interrupted=True)
    table = over_sizes(lambda n: check(improved_noisy_max, "100", size=n), [2, 3, 4], monitor=monitor, jobs=2)
    assert [size for size, _ in table.rows] == [2]
