"""The ledger: many that spend at once, kills, full disks, what was changed, windows, priors, seeds."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from tests.amounts import ALL
from tests.ledger_campaign import FORK, SMALL, WHOLE, Size, examine_campaign, run_campaign

from privproof import check, mechanism, queries, truncated_geometric
from privproof.errors import BudgetError, FormatError, QuestionError
from privproof.exact import epsilon
from privproof.release import Accountant, Chain, Ledger
from privproof.release.ledger import ledger_data_sets as datasets

_NOBODY = 65_534
"""The number of the user who owns nothing."""
CHAIN = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "survey.ledger"


def spent(ledger: Ledger, dataset: str = "default") -> Fraction:
    """What was spent, added up from the history."""
    costs = [entry.cost for entry in ledger.history(dataset) if entry.kind in ("spent", "reserved")]
    return sum((Fraction(str(cost.epsilon)) for cost in costs), Fraction(0))


# --------------------------------------------------------------------------------------------------------------- costs


def test_costs_add_up_exactly_to_the_budget_and_not_beyond(path):
    ledger = Ledger.create(path, epsilon="ln(8)", delta="1/100")
    for _ in range(3):
        ledger.spend(epsilon="ln(2)", delta="1/300")
    for cost in ({"epsilon": "1/1000000"}, {"epsilon": "0", "delta": "1/1000000"}):
        with pytest.raises(BudgetError) as caught:
            ledger.spend(**cost)
        assert caught.value.code == "budget"
    known = ledger.datasets["default"]
    assert known.total.epsilon.compare(epsilon("ln(8)")) == 0
    assert str(known.total.delta) == "1/100"
    assert known.spendings == 3
    assert ledger.verify().problems == ()


def test_rho_adds_up_and_a_pure_epsilon_counts_in_rho(path):
    ledger = Ledger.create(path, rho="1/2")
    ledger.spend(rho="1/4")
    entry = ledger.spend(epsilon="ln(3)/2")  # e tanh(e/2) with e = ln(3)/2
    exact = 0.5493061443340549 * 0.2679491924311227
    assert exact < float(Fraction(str(entry.cost.rho))) < exact + 1e-8
    with pytest.raises(BudgetError):
        ledger.spend(rho="0.11")
    with pytest.raises(BudgetError, match="this budget is in rho"):
        ledger.spend(epsilon="1/10", delta="1/10")


def test_long_sums_of_logarithms_are_rounded_up(path):
    ledger = Ledger.create(path, epsilon=100)
    for n in range(30):
        ledger.spend(epsilon=f"ln({10**80 + 2 * n + 1}/{10**80})")
    total = ledger.datasets["default"].total.epsilon
    assert len(str(total)) < 1_300
    exact = sum((2 * n + 1) / 10**80 for n in range(30))
    assert exact <= float(total.decimal(digits=20)) < exact + 1e-7


def test_under_a_prior_quilts_count_and_old_accounts_are_taken_over(path):
    account = Accountant.of(CHAIN, length=50, epsilon=1)
    for note in ("one", "two"):
        account = account.spending("0.02", note=note)
    ledger = Ledger.create(path, account=account)
    assert Fraction(str(ledger.datasets["default"].total.epsilon)) == account.epsilon
    after = account.spending("0.01", first=3, last=9)
    ledger.spend(entry="0.01", first=3, last=9)
    assert Fraction(str(ledger.datasets["default"].total.epsilon)) == after.epsilon
    with pytest.raises(BudgetError, match="above 1"):
        ledger.spend(entry="0.5")
    with pytest.raises(BudgetError, match="by entry"):
        ledger.spend(epsilon="1/10")
    assert ledger.verify().problems == ()


def test_an_account_is_taken_over_as_a_whole_or_not_at_all(path, monkeypatch):
    """A part of what was spent would leave too much to spend."""
    account = Accountant.of(CHAIN, length=50, epsilon=1).spending("0.02").spending("0.02")
    entered = []

    def failing(*given):
        entered.append(given)
        if len(entered) > 1:
            raise KeyboardInterrupt
        return datasets.charge(*given)

    monkeypatch.setattr("privproof.release.ledger.spending_ledger.charge", failing)
    with pytest.raises(KeyboardInterrupt):
        Ledger.create(path, account=account)
    monkeypatch.undo()
    with pytest.raises(QuestionError):
        Ledger(path).spend(entry="0.02")


def test_a_delta_that_nothing_would_count_is_refused(path):
    chain = Chain.of({"a": {"a": "9/10", "b": "1/10"}, "b": {"a": "2/5", "b": "3/5"}})
    account = Accountant.of(chain, length=10, epsilon=3, delta="1e-6")
    ledger = Ledger.create(path, account=account)
    for cost in ({"entry": "1/10"}, {"squared": "1/10"}):
        with pytest.raises(BudgetError, match="a cost by entry has no delta"):
            ledger.spend(**cost, delta="1/2")
        with pytest.raises(BudgetError, match="a cost by entry has no delta"):
            ledger.reserve(**cost, delta="1/2")
    ledger.add_dataset("rho", rho=1)
    with pytest.raises(BudgetError, match="a cost in rho has no delta"):
        ledger.spend(rho="1/10", delta="1/2", dataset="rho")
    for budget in ({"rho": 1}, {"account": account}):
        with pytest.raises(BudgetError, match="has no delta"):
            ledger.add_dataset("more", **budget, delta="1/2")
    assert len(ledger.history()) == 3


def test_a_window_lets_budgets_grow_back(path, monkeypatch):
    monkeypatch.setattr("privproof.release.ledger.spending_ledger.now", lambda: "2026-01-01T09:00:00.000000+00:00")
    ledger = Ledger.create(path, epsilon=1, window="2 h")

    def at(hour: str) -> None:
        monkeypatch.setattr(
            "privproof.release.ledger.spending_ledger.now", lambda: f"2026-01-01T{hour}:00.000000+00:00"
        )

    at("10:00")
    ledger.spend(epsilon="1/2")
    at("11:00")
    ledger.spend(epsilon="1/2")
    at("11:59")
    with pytest.raises(BudgetError):
        ledger.spend(epsilon="1/10")
    at("12:01")
    ledger.spend(epsilon="1/2")
    with pytest.raises(BudgetError):
        ledger.spend(epsilon="1/10")
    at("11:00")  # a clock that is put back gives nothing back
    with pytest.raises(BudgetError):
        ledger.spend(epsilon="1/10")
    assert ledger.verify().problems == ()


def test_several_data_sets_have_budgets_of_their_own(path):
    ledger = Ledger.create(path, epsilon=1, dataset="ages")
    ledger.add_dataset("incomes", epsilon=2)
    with pytest.raises(QuestionError, match="2 data sets"):
        ledger.spend(epsilon=1)
    ledger.spend(epsilon=1, dataset="ages", analyst="ann")
    ledger.spend(epsilon=2, dataset="incomes")
    with pytest.raises(QuestionError, match="no data set 'income'"):
        ledger.spend(epsilon=1, dataset="income")
    with pytest.raises(QuestionError, match="has a data set 'ages'"):
        ledger.add_dataset("ages", epsilon=9)
    assert [entry.body["analyst"] for entry in ledger.history("ages") if entry.kind == "spent"] == ["ann"]


def test_what_is_reserved_counts_whether_or_not_it_is_released(path):
    ledger = Ledger.create(path, epsilon=1)
    with pytest.raises(ZeroDivisionError), ledger.reserve(epsilon="1/2"):
        1 / 0  # noqa: B018 - the release fails after its noise was drawn
    with ledger.reserve(epsilon="1/4", note="count") as reservation:
        reservation.release(note="published")
    assert spent(ledger) == Fraction(3, 4)
    with pytest.raises(BudgetError):
        ledger.reserve(epsilon="1/3")
    assert [entry.kind for entry in ledger.history()][2:] == ["reserved", "reserved", "released"]
    assert ledger.verify().problems == ()


def test_seeded_releases_are_for_tests(path):
    ledger = Ledger.create(path, epsilon=1)
    with pytest.raises(QuestionError, match="drawn from a seed"):
        ledger.spend(epsilon="1/2", seeded=True)
    with pytest.raises(QuestionError, match="drawn from a seed"), ledger.reserve(epsilon="1/2") as reservation:
        reservation.release(seeded=True)
    other = Ledger.create(path.with_name("tests.ledger"), epsilon=1, tests=True)
    assert other.spend(epsilon="1/2", seeded=True).body["seeded"] is True


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "one cost"),
        ({"epsilon": 1, "rho": 1}, "one cost"),
        ({"epsilon": 0}, "costs nothing"),
        ({"epsilon": "-1"}, "below zero"),
        ({"epsilon": "inf"}, "in epsilon, and the cost is"),
        ({"entry": "0"}, "costs 0"),
        ({"rho": "1/2"}, "in epsilon"),
    ],
)
def test_nonsense_is_refused_and_nothing_is_entered(path, asked, message):
    ledger = Ledger.create(path, epsilon=4)
    with pytest.raises(BudgetError, match=message):
        ledger.spend(**asked)
    assert len(ledger.history()) == 2


# --------------------------------------------------------------------------------------------------------- certificates


@mechanism(epsilon="ln(2)")
def survey(q: queries(0, 1)):
    return [truncated_geometric(x, alpha="1/2", low=0, high=1) for x in q]


def test_certificates_are_kept_and_checked_again(path):
    verdict = check(survey, "ln(4)", size=1)
    assert verdict.status == "proved"
    ledger = Ledger.create(path, epsilon=4)
    ledger.spend(epsilon="ln(4)", certificate=verdict.certificate)
    found = ledger.verify()
    assert (found.problems, found.certificates) == ((), 1)
    ledger.spend(epsilon="ln(2)", certificate=verdict.certificate)
    assert "proves epsilon ln(4), delta 0, and epsilon ln(2) was paid" in ledger.verify().problems[0]


def test_a_certificate_that_is_rejected_is_told(path):
    document = json.loads(json.dumps(check(survey, "ln(4)", size=1).certificate))
    document["question"]["epsilon"] = "ln(3/2)"
    ledger = Ledger.create(path, epsilon=4)
    ledger.spend(epsilon="ln(3/2)", certificate=document)
    assert "is rejected" in ledger.verify().problems[0]


# -------------------------------------------------------------------------------------------------------------- changes


def changed(path: Path, statement: str, *values: object) -> None:
    """Change a ledger behind its back, as somebody could who may write the file."""
    connection = sqlite3.connect(path)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    for name in names:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE privproof_entries SET body = replace(body, '1/4', '1/9') WHERE sequence = 3", "it was changed"),
        ("DELETE FROM privproof_entries WHERE sequence = 3", "does not follow"),
        ("DELETE FROM privproof_entries WHERE sequence = 4", "no entry has the digest"),
        ("UPDATE privproof_entries SET digest = 'x' WHERE sequence = 2", "its digest is another one"),
        ("UPDATE privproof_entries SET sequence = 9 WHERE sequence = 4", "the table says otherwise"),
        ("UPDATE privproof_entries SET dataset = 'other' WHERE sequence = 3", "the table says otherwise"),
        ("UPDATE privproof_entries SET kind = 'released' WHERE sequence = 3", "the table says otherwise"),
    ],
)
def test_what_was_changed_is_found(path, statement, message):
    ledger = Ledger.create(path, epsilon=1)
    for _ in range(3):
        ledger.spend(epsilon="1/4")
    head = ledger.head
    assert ledger.verify(head=head).problems == ()
    changed(path, statement)
    found = ledger.verify(head=head).problems
    assert any(message in problem for problem in found)


def test_a_chain_that_was_made_anew_beyond_its_budget_is_found(path):
    """Whoever can write the file can compute digests; what the entries say must be true all the same."""
    from privproof.release.ledger.ledger_entries import entry_from, next_entry

    ledger = Ledger.create(path, epsilon=1)
    ledger.spend(epsilon="1/2")
    last = ledger.history()[-1]
    body = {key: value for key, value in last.body.items() if key not in ("sequence", "previous", "kind", "time")}
    said = {**body, "cost": {"epsilon": "3", "delta": "0"}, "total": {"epsilon": "7/2", "delta": "0"}}
    forged = next_entry(last, "spent", last.time, **said)
    values = (forged.sequence, "default", "spent", forged.time, forged.text, forged.digest)
    changed(path, "INSERT INTO privproof_entries VALUES (?, ?, ?, ?, ?, ?)", *values)
    assert entry_from(forged.text, forged.digest) == forged
    assert any("above 1" in problem for problem in ledger.verify().problems)


def test_entries_stay_as_they_are(path):
    Ledger.create(path, epsilon=1)
    connection = sqlite3.connect(path)
    for statement in ("UPDATE privproof_entries SET time = ''", "DELETE FROM privproof_entries"):
        with pytest.raises(sqlite3.IntegrityError, match="stay as they are"):
            connection.execute(statement)
    connection.close()


# -------------------------------------------------------------------------------------------------------------- at once


def attempts(address: str, number: int, cost: str, told: multiprocessing.SimpleQueue, seed: int) -> None:
    ledger = Ledger(address, wait=120)
    for turn in range(number):
        try:
            told.put(("spent", ledger.spend(epsilon=cost, note=f"{seed}.{turn}").body["note"]))
        except BudgetError:
            told.put(("refused", f"{seed}.{turn}"))


def spending_at_once(address: str, *, processes: int, turns: int) -> list[tuple[str, str]]:
    """What processes were told that spend at once."""
    told: multiprocessing.SimpleQueue = FORK.SimpleQueue()
    running = [FORK.Process(target=attempts, args=(address, turns, "1/10", told, seed)) for seed in range(processes)]
    for each in running:
        each.start()
    found = [told.get() for _ in range(processes * turns)]
    for each in running:
        each.join()
    return found


def test_processes_that_spend_at_once(path):
    processes, turns = (50, 200) if ALL else (6, 10)
    ledger = Ledger.create(path, epsilon=4)
    found = spending_at_once(str(path), processes=processes, turns=turns)
    assert Counter(status for status, _ in found) == {"spent": 40, "refused": processes * turns - 40}
    notes = {entry.body["note"] for entry in ledger.history() if entry.kind == "spent"}
    assert {note for status, note in found if status == "spent"} == notes
    assert spent(ledger) == 4
    assert ledger.verify().problems == ()


def test_a_campaign_of_spending_and_killing(path, tmp_path):
    size = WHOLE if ALL else SMALL
    ledger = Ledger.create(path, epsilon=size.budget)
    found = run_campaign(str(path), tmp_path, size)
    assert examine_campaign(ledger, tmp_path, size) == []
    assert found["try"] >= size.attempts
    assert found["error"] == 0
    assert ALL or found["ok"] > 0


def test_a_campaign_finds_what_is_wrong(path, tmp_path):
    """Acknowledged and not there, refused and there, there twice, asked for by nobody, beyond the budget."""
    ledger = Ledger.create(path, epsilon=10)
    for note in ("0.1", "0.2", "0.2", "0.9"):
        ledger.spend(epsilon=1, note=note)
    (tmp_path / "0.log").write_text("try 0.0\nok 0.0\ntry 0.1\nno 0.1\ntry 0.2\nok 0.2\n", encoding="utf-8")
    found = examine_campaign(ledger, tmp_path, Size(1, 3, 0, 3))
    assert found == [
        "0.0 was acknowledged and is not there",
        "0.1 was refused and is there",
        "0.2 is there 2 times",
        "nobody asked for 0.9",
        "4 was spent of 3",
    ]


ONE = """
import sys
from privproof.release.ledger import Ledger
Ledger(sys.argv[1]).spend(epsilon="1/100", note=sys.argv[2])
print("acknowledged", flush=True)
"""
WRITES = "pwrite64,fdatasync,ftruncate,unlink"
"""The calls by which SQLite changes files; one spending makes about 25 of them."""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_kill_at_every_write_leaves_a_whole_ledger(path):
    """The process is killed at its n-th write, for every n, until it comes to its end before."""
    ledger = Ledger.create(path, epsilon=4)
    acknowledged, before = set(), 0
    for number in range(1, 60) if ALL else (1, 12, 20, 59):
        inject = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={WRITES}"]
        inject += ["-e", f"inject={WRITES}:signal=KILL:when={number}"]
        note = str(number)
        done = subprocess.run(
            [*inject, sys.executable, "-c", ONE, str(path), note], capture_output=True, text=True, check=False
        )
        if "acknowledged" in done.stdout:
            acknowledged.add(note)
        notes = [entry.body["note"] for entry in ledger.history() if entry.kind == "spent"]
        assert acknowledged <= set(notes), number
        assert len(set(notes)) == len(notes) <= before + 1, number
        assert ledger.verify().problems == (), number
        before = len(notes)
        if done.returncode == 0:
            break
    assert acknowledged == {note}, "the last one came to its end, and no other was told that it had"
    ledger.spend(epsilon="1/100")


# ------------------------------------------------------------------------------------------------------- where it fails


def test_a_full_disk_loses_nothing(path):
    ledger = Ledger.create(path, epsilon=1000)
    for _ in range(5):
        ledger.spend(epsilon="1/10")

    def fill(told: multiprocessing.SimpleQueue) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        done = 0
        try:
            for _ in range(1_000):
                Ledger(path).spend(epsilon="1/10", note="x" * 2_000)
                done += 1
        except FormatError as problem:
            told.put((done, problem.code, problem.place))

    told: multiprocessing.SimpleQueue = FORK.SimpleQueue()
    child = FORK.Process(target=fill, args=(told,))
    child.start()
    done, code, place = told.get()
    child.join()
    assert (code, place) == ("ledger", str(path))
    assert len([entry for entry in ledger.history() if entry.kind == "spent"]) == 5 + done
    ledger.spend(epsilon="1/10")
    assert ledger.verify().problems == ()


def test_files_that_cannot_be_used(path, tmp_path):
    with pytest.raises(FormatError, match="no such ledger"):
        Ledger(path).spend(epsilon=1)
    path.write_text("not a ledger")
    with pytest.raises(FormatError, match="exists"):
        Ledger.create(path, epsilon=1)
    with pytest.raises(FormatError):
        Ledger(path).spend(epsilon=1)
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(FormatError, match="no ledger"):
        Ledger(other).spend(epsilon=1)


def test_a_folder_that_may_not_be_written():
    """Somebody who may read the folder and not write it, also where the tests run as root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Ledger.create(folder / "a.ledger", epsilon=1)
        (folder / "a.ledger").chmod(0o444)
        folder.chmod(0o555)

        def spend(told: multiprocessing.SimpleQueue) -> None:
            if os.geteuid() == 0:
                os.setgid(_NOBODY)
                os.setuid(_NOBODY)
            try:
                Ledger(folder / "a.ledger").spend(epsilon="1/2")
            except FormatError as problem:
                told.put((problem.code, problem.place, problem.hint))

        told: multiprocessing.SimpleQueue = FORK.SimpleQueue()
        child = FORK.Process(target=spend, args=(told,))
        child.start()
        child.join()
        folder.chmod(0o755)
        assert not told.empty()
        assert told.get() == ("ledger", str(folder / "a.ledger"), "the file or its folder may not be written")
        assert Ledger(folder / "a.ledger").datasets["default"].spendings == 0


def test_others_that_hold_it_for_too_long(path):
    ledger = Ledger.create(path, epsilon=1, wait=0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(FormatError, match="locked"):
        ledger.spend(epsilon="1/2")
    holder.close()
    ledger.spend(epsilon="1/2")


def test_the_order_of_texts_of_moments_is_that_of_the_moments():
    first, second = datasets.now(), datasets.now()
    assert first <= second
    assert datasets.window_start("2026-03-01T00:00:00.000000+00:00", 86_400) == "2026-02-28T00:00:00.000000+00:00"
