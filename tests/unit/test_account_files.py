"""Accounts in files: many that spend at once, full disks, locks that are held, and ends half-way."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import resource
import signal
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privproof.errors import BudgetError, FormatError
from privproof.release import Accountant, Chain, calibrate, count, read_account, spend, write_account
from privproof.release.ledger import account_files
from privproof.release.ledger.file_locks import file_lock

CHAIN = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
COST = "0.02"
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def path(tmp_path) -> Path:
    """An account that has room for a few releases."""
    written = tmp_path / "account.json"
    write_account(Accountant.of(CHAIN, length=50, epsilon=1), written)
    return written


def room() -> int:
    """So many releases fit the budget."""
    account, number = Accountant.of(CHAIN, length=50, epsilon=1), 0
    while True:
        try:
            account = account.spending(COST)
        except BudgetError:
            return number
        number += 1


def at_once(number: int, act: Callable[[int], object]) -> list[str]:
    """What becomes of an act in so many processes that start it at the same moment."""
    start, told = FORK.Barrier(number), FORK.SimpleQueue()

    def process(mine: int) -> None:
        start.wait(60)
        try:
            act(mine)
            told.put("done")
        except (BudgetError, FormatError) as problem:
            told.put(problem.code)
        except BaseException as problem:
            told.put(repr(problem))

    processes = [FORK.Process(target=process, args=(i,)) for i in range(number)]
    for each in processes:
        each.start()
    found = [told.get() for _ in processes]
    for each in processes:
        each.join(60)
    return found


# ------------------------------------------------------------------------------------------------------------ at once


def test_twenty_processes_that_spend_at_once(path):
    allowed = room()
    assert 2 < allowed < 20
    found = Counter(at_once(20, lambda i: spend(path, COST, note=f"process {i}", wait=150)))
    assert found == {"done": allowed, "budget": 20 - allowed}
    account = read_account(path)
    assert len({spent.note for spent in account.spendings}) == len(account.spendings) == allowed
    assert account.epsilon <= 1


def test_twenty_processes_that_read_and_write_by_themselves_lose_nothing(path):
    """Whoever has not seen what others spent cannot write over it."""

    def act(number: int) -> None:
        account = read_account(path)
        time.sleep(0.05)
        write_account(account.spending(COST, note=f"process {number}"), path, wait=150)

    found = Counter(at_once(20, act))
    account = read_account(path)
    assert set(found) <= {"done", "account", "budget"}
    assert len({spent.note for spent in account.spendings}) == found["done"] == len(account.spendings)
    assert account.epsilon <= 1


def test_threads_that_spend_at_once(path):
    found: list[str] = []

    def act() -> None:
        try:
            spend(path, COST, wait=150)
            found.append("done")
        except BudgetError:
            found.append("budget")

    threads = [threading.Thread(target=act) for _ in range(20)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found.count("done") == len(read_account(path).spendings) == room()


def both_read_first(monkeypatch) -> None:
    """Two that spend wait for each other after reading, if nothing keeps them apart."""
    both, plain = threading.Barrier(2), account_files.read_account

    def read(path: Any) -> Accountant:
        found = plain(path)
        with suppress(threading.BrokenBarrierError):
            both.wait(1)
        return found

    monkeypatch.setattr(account_files, "read_account", read)


@pytest.mark.parametrize("guarded", [True, False])
def test_it_is_the_lock_that_keeps_them_apart(path, monkeypatch, guarded):
    both_read_first(monkeypatch)
    if not guarded:
        monkeypatch.setattr(account_files, "file_lock", lambda path, wait: nullcontext())
    threads = [threading.Thread(target=spend, args=(path, COST)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    monkeypatch.undo()
    assert len(read_account(path).spendings) == (2 if guarded else 1)


# --------------------------------------------------------------------------------------------------------- full disks


def unchanged(path: Path, act: Callable[[], object], said: str) -> None:
    before = path.read_bytes()
    with pytest.raises(FormatError, match=said) as caught:
        act()
    assert caught.value.place == str(path)
    assert path.read_bytes() == before
    assert {each.name for each in path.parent.iterdir()} == {"account.json", "account.json.lock"}


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_a_full_disk_loses_nothing(path, monkeypatch, call):
    def full(*arguments: Any, **more: Any) -> Any:
        if call == "open" and str(arguments[0]).endswith(".lock"):
            return plain(*arguments, **more)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    plain = getattr(os, call)
    monkeypatch.setattr(os, call, full)
    unchanged(path, lambda: spend(path, COST), "No space left on device")
    monkeypatch.undo()
    assert len(spend(path, COST).spendings) == 1


def test_a_file_that_grows_too_large_loses_nothing(path):
    """The limit of the operating system on the size of files, in a process of its own."""
    for number in range(2):
        spend(path, COST, note=f"{number}")
    before = path.read_bytes()

    def act(_: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, len(before) // 2))
        spend(path, COST)

    assert at_once(1, act) == ["file"]
    assert path.read_bytes() == before
    assert {each.name for each in path.parent.iterdir()} == {"account.json", "account.json.lock"}


def test_an_end_half_way_loses_nothing(path):
    before = path.read_bytes()

    def act() -> None:
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        spend(path, COST)

    ended = FORK.Process(target=act)
    ended.start()
    ended.join(60)
    assert ended.exitcode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert len(spend(path, COST, wait=1).spendings) == 1


# -------------------------------------------------------------------------------------------------------------- locks


def held(path: Path) -> Any:
    """A process that holds the lock until it is ended."""
    taken = FORK.Event()

    def act() -> None:
        with file_lock(path, wait=10):
            taken.set()
            time.sleep(600)

    holder = FORK.Process(target=act, daemon=True)
    holder.start()
    assert taken.wait(60)
    return holder


def test_a_lock_that_cannot_be_had(path):
    holder = held(path)
    begun = time.monotonic()
    unchanged(path, lambda: spend(path, COST, wait=0.3), r"another process has held account.json.lock for 0.3 seconds")
    for wait in (0, -1, float("nan")):
        unchanged(path, lambda wait=wait: write_account(read_account(path), path, wait=wait), "another process")
    assert time.monotonic() - begun < 10
    holder.kill()
    holder.join(60)


def test_there_are_no_stale_locks(path):
    """A lock ends with its process, however that ends; a file that was left behind is no lock."""
    holder = held(path)
    os.kill(holder.pid, signal.SIGKILL)
    holder.join(60)
    assert (path.parent / "account.json.lock").exists()
    assert len(spend(path, COST, wait=1).spendings) == 1
    (path.parent / "account.json.lock").write_text("12345\n", encoding="utf-8")
    assert len(spend(path, COST, wait=1).spendings) == 2
    (path.parent / "account.json.lock").unlink()
    assert len(spend(path, COST, wait=1).spendings) == 3


def test_two_names_of_one_account_have_one_lock(path, tmp_path):
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link.json"
    link.symlink_to(path)
    holder = held(link)
    with pytest.raises(FormatError, match="another process"):
        spend(path, COST, wait=0.1)
    holder.kill()
    holder.join(60)
    assert len(spend(link, COST).spendings) == 1
    assert link.is_symlink()
    assert len(read_account(path).spendings) == 1


def test_a_lock_that_cannot_be_made(path):
    (path.parent / "account.json.lock").unlink()
    (path.parent / "account.json.lock").mkdir()
    with pytest.raises(FormatError, match=r"the lock account\.json\.lock cannot be made: Is a directory"):
        spend(path, COST)
    with pytest.raises(FormatError, match="null"):
        spend("account\0.json", COST)
    with pytest.raises(FormatError, match="cannot be made: No such file or directory"):
        spend(path.parent / "nowhere" / "account.json", COST)


def test_an_interrupt_gives_the_lock_back(path, monkeypatch):
    def interrupted(path: Any) -> Accountant:
        raise KeyboardInterrupt

    monkeypatch.setattr(account_files, "read_account", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spend(path, COST)
    monkeypatch.undo()
    assert len(spend(path, COST, wait=0.5).spendings) == 1


# ---------------------------------------------------------------------------------------------------- what is written


def test_spending_is_what_the_accountant_does(path):
    made = calibrate(CHAIN, length=50, query=count("walk"), epsilon="1/3", method="quilt")
    after = spend(path, made, note="walks")
    assert after == read_account(path) == Accountant.of(CHAIN, length=50, epsilon=1).spending(made, note="walks")
    assert spend(path, COST, first=3, last=7).spendings[-1].last == 7
    assert after.epsilon <= Fraction(1, 3)


def test_what_others_have_spent_is_not_written_over(path):
    mine = read_account(path).spending(COST, note="mine")
    spend(path, COST, note="theirs")
    unchanged(path, lambda: write_account(mine, path), "holds 1 releases, and this account does not begin with them")
    write_account(read_account(path).spending(COST, note="mine"), path)
    assert [each.note for each in read_account(path).spendings] == ["theirs", "mine"]


@pytest.mark.parametrize("other", [{"length": 51, "epsilon": 1}, {"length": 50, "epsilon": 9}, {"length": 50}])
def test_another_account_is_not_written_over(path, other):
    unchanged(path, lambda: write_account(Accountant.of(CHAIN, **other), path), "another account")


@pytest.mark.parametrize("text", ["", "{", "kind: hmm\n", json.dumps({"kind": "account"}), "\x00"])
def test_what_is_no_account_is_not_written_over(path, text):
    path.write_text(text, encoding="utf-8")
    before = path.read_bytes()
    for act in (lambda: spend(path, COST), lambda: write_account(Accountant.of(CHAIN, length=50, epsilon=1), path)):
        with pytest.raises(FormatError):
            act()
        assert path.read_bytes() == before


def test_permissions_are_kept(path):
    path.chmod(0o640)
    spend(path, COST)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_budget_that_is_exceeded_changes_nothing(path):
    before = path.read_bytes()
    with pytest.raises(BudgetError, match="would bring the loss to"):
        spend(path, 5)
    assert path.read_bytes() == before
