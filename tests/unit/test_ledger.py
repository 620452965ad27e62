"""The ledger: many that spend at once, kills, full disks, what was changed, windows, priors, seeds."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import stat
import time
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from tests.amounts import ALL

from privproof import check, mechanism, queries, truncated_geometric
from privproof.errors import BudgetError, FormatError, QuestionError
from privproof.exact import epsilon
from privproof.release import Accountant, Chain, Ledger
from privproof.release.ledger import datasets

FORK = multiprocessing.get_context("fork")
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

    monkeypatch.setattr("privproof.release.ledger.ledger.charge", failing)
    with pytest.raises(KeyboardInterrupt):
        Ledger.create(path, account=account)
    monkeypatch.undo()
    with pytest.raises(QuestionError):
        Ledger(path).spend(entry="0.02")


def test_a_window_lets_budgets_grow_back(path, monkeypatch):
    monkeypatch.setattr("privproof.release.ledger.ledger.now", lambda: "2026-01-01T09:00:00.000000+00:00")
    ledger = Ledger.create(path, epsilon=1, window="2 h")

    def at(hour: str) -> None:
        monkeypatch.setattr("privproof.release.ledger.ledger.now", lambda: f"2026-01-01T{hour}:00.000000+00:00")

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
    from privproof.release.ledger.entries import entry_from, next_entry

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


def told_by_files(address: str, folder: Path, seed: int) -> None:
    """Spend for ever; a file is made for every spending that is acknowledged."""
    ledger = Ledger(address, wait=120)
    for turn in range(10_000):
        note = f"{seed}.{turn}"
        try:
            ledger.spend(epsilon="1/100", note=note)
        except BudgetError:
            return
        (folder / note).touch()


def killed_and_begun_again(address: str, folder: Path, *, processes: int, kills: int) -> None:
    source = random.Random(7)
    running = {}
    for seed in range(processes):
        running[seed] = FORK.Process(target=told_by_files, args=(address, folder, seed))
        running[seed].start()
    for born in range(processes, processes + kills):
        time.sleep(source.random() * 0.05)
        victim = source.choice(list(running))
        with suppress(ProcessLookupError):  # it has just come to its end
            os.kill(running[victim].pid, signal.SIGKILL)
        running.pop(victim).join()
        running[born] = FORK.Process(target=told_by_files, args=(address, folder, born))
        running[born].start()
    for each in running.values():
        each.join(120)


def test_every_acknowledged_spending_is_there_whatever_is_killed(path, tmp_path):
    folder = tmp_path / "acknowledged"
    folder.mkdir()
    processes, kills, budget = (50, 500, 40) if ALL else (4, 6, 1)
    ledger = Ledger.create(path, epsilon=budget)
    killed_and_begun_again(str(path), folder, processes=processes, kills=kills)
    notes = {entry.body["note"] for entry in ledger.history() if entry.kind == "spent"}
    assert {each.name for each in folder.iterdir()} <= notes
    assert spent(ledger) == budget
    assert ledger.verify().problems == ()


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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", epsilon=1)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(FormatError, match="cannot be used"):
            ledger.spend(epsilon="1/2")
    finally:
        tmp_path.chmod(stat.S_IRWXU)


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
