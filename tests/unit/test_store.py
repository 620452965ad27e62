"""The store of verdicts: what is kept comes back as it was, and nothing else ever does."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import signal
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.amounts import ALL
from tests.certificates import nested

import privproof
import privproof_checker
from privproof import check
from privproof.engines.search_monitor import Monitor
from privproof.errors import QuestionError
from privproof.evidence import gate
from privproof.formats import read_question
from privproof.loading.question_loading import load
from privproof.store import question_digests as digests
from privproof.store import stored_verdicts as verdicts
from privproof.store.question_digests import NotKept, asked_digest
from privproof.store.stored_asking import ask_once
from privproof.store.stored_records import Unreadable, answer_of, record_of
from privproof.store.stored_verdicts import StoredEntry, VerdictStore, default_path
from privproof_checker import Rejected

MODELS = Path(__file__).parents[2] / "examples" / "models"
COINS = """\
from privproof import bernoulli, laplace, mechanism, real_queries, records
from limits import SHARE


def toss():
    return bernoulli(SHARE)


@mechanism(epsilon="ln(3)")
def coin(data: records("yes", "no", size=1)):
    if toss():
        return "yes" if data[0] == "no" else "no"
    return data[0]


@mechanism(epsilon=1)
def shown(x: real_queries(size=1)):
    return laplace(x[0], scale="1/2")


@mechanism(epsilon="2")
def run(data: records(0, 1, size=1)):
    seen = {0: "a", 1: "b"}
    seen.update({data[0]: "c"})
    return f"{sorted(seen)}"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "limits.py").write_text('SHARE = "1/4"\n', encoding="utf-8")
    (tmp_path / "coins.py").write_text(COINS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def store(tmp_path):
    return VerdictStore(tmp_path / "below" / "verdicts.sqlite")


class Asking:
    """Asks about a question, and counts how often that was not known."""

    def __init__(self, store):
        self.store, self.times = store, 0

    def __call__(self, question, *, engine=None, limit=None, **options):
        def ask():
            self.times += 1
            return check(question, engine=engine, **options)

        return ask_once(question, ask, self.store, engine=engine, limit=limit)


def loaded(folder, name):
    import sys

    for module in ("limits", "privproof_input_coins"):
        sys.modules.pop(module, None)
    return load(f"{folder / 'coins.py'}:{name}")


def told(verdict):
    return str(replace(verdict, seconds=0.0))


@pytest.mark.parametrize(
    "name", ["coin", "shown", "run", "survey.yaml", "unknown_prior.yaml", "streams/no_cutoff.yaml"]
)
def test_what_is_kept_comes_back(folder, store, name):
    def question():
        return read_question(MODELS / name) if name.endswith("yaml") else loaded(folder, name)

    asking = Asking(store)
    first, known = asking(question())
    assert not known
    again, known = asking(question())
    assert known
    assert asking.times == 1
    assert again.status == first.status != "unknown"
    assert told(again) == told(first)
    assert again.to_dict() == {**first.to_dict(), "seconds": again.to_dict()["seconds"]}
    assert json.dumps(nested(again.certificate)) == json.dumps(nested(first.certificate))
    assert again.seal is not None


def test_another_question_is_asked(folder, store, monkeypatch):
    asking = Asking(store)
    coin = loaded(folder, "coin")
    assert asking(coin)[0].status == "proved"
    assert asking(coin.under(None).under(check(coin, "ln(2)").question.budget))[0].status == "refuted"
    # longer, because Python takes bytecode for new that is as old, to the second, and as long as the text
    (folder / "limits.py").write_text('SHARE = "2/10"\n', encoding="utf-8")
    changed, known = asking(loaded(folder, "coin"))
    assert (changed.status, known) == ("refuted", False), "the constant of another file is part of what is asked"
    (folder / "limits.py").write_text('SHARE = "1/4"\n', encoding="utf-8")
    assert asking(loaded(folder, "coin"))[1]
    (folder / "coins.py").write_text(
        COINS.replace("return bernoulli(SHARE)", "return bernoulli('1/9')"), encoding="utf-8"
    )
    assert asking(loaded(folder, "coin"))[0].status == "refuted"
    (folder / "coins.py").write_text("\n" + COINS, encoding="utf-8")
    assert not asking(loaded(folder, "coin"))[1], "the lines are others"
    (folder / "coins.py").write_text(COINS, encoding="utf-8")
    assert asking(loaded(folder, "coin"))[1]
    assert not asking(loaded(folder, "coin"), engine="frontier")[1]
    monkeypatch.setattr(digests, "environment", lambda: ("another version",))
    assert not asking(loaded(folder, "coin"))[1]


def test_the_text_of_a_module_counts_where_its_values_are_older(folder, store):
    asking = Asking(store)
    (folder / "deeper.py").write_text("", encoding="utf-8")
    (folder / "limits.py").write_text('import deeper\nSHARE = "1/4"\n', encoding="utf-8")
    question = loaded(folder, "coin")
    assert not asking(question)[1]
    assert asking(question)[1]
    for name in ("limits", "deeper"):  # what is loaded stays as it was, as with bytecode that is taken for new
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        (folder / f"{name}.py").write_text(text + "# another text\n", encoding="utf-8")
        assert not asking(question)[1], name
        assert asking(question)[1]
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        assert asking(question)[1]
    (folder / "limits.py").unlink()
    assert not asking(question)[1]


def test_the_text_of_privproof_is_part_of_it(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    before = digests.text_digest(tmp_path)
    (tmp_path / "a.py").write_text("x = 2\n", encoding="utf-8")
    after = digests.text_digest(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({before, after, digests.text_digest(tmp_path)}) == 3


@pytest.mark.parametrize(
    "line",
    [
        "open('limits.txt').read()",
        "os.environ.get('SHARE')",
        "time.time()",
        "pathlib.Path('x').read_text()",
        "numpy.load('x.npy')",
        "__import__('os').getpid()",
        "getter('x')",
    ],
)
def test_nothing_is_kept_of_what_reads_from_outside(folder, line):
    head = "import os, time, pathlib, numpy\nfrom os import getenv as getter\nfrom privproof import mechanism, records\n\n\n"
    text = f"{head}@mechanism(epsilon=1)\ndef f(d: records(0, 1, size=1)):\n    if d[0] > 5:\n        {line}\n    return 0\n"
    (folder / "coins.py").write_text(text, encoding="utf-8")
    with pytest.raises(NotKept):
        asked_digest(loaded(folder, "f"))


# -------------------------------------------------------------------------------------------------------------- forgeries


def forged(store, digest, **changes):
    store.put(digest, replace(store.get(digest), **changes))


def test_a_forged_verdict_is_not_believed(folder, store):
    """Whatever stands in the file: a wrong verdict does not come out of it."""
    asking = Asking(store)
    leaking, private = loaded(folder, "shown"), loaded(folder, "coin")
    assert asking(leaking)[0].status == "refuted"
    assert asking(private)[0].status == "proved"
    key, other = asked_digest(leaking, engine=None).digest, asked_digest(private, engine=None).digest
    good, theirs = store.get(key), store.get(other)
    wide = check(leaking, "2")
    functions = asked_digest(leaking, engine=None).functions
    about_wide = record_of(wide, functions)
    narrow = record_of(replace(wide, notes=("forged",)), functions)
    for forgery in (
        {"status": "proved"},
        {"status": "proved", "certificate": nested(theirs.certificate), "record": theirs.record},
        {"status": "proved", "certificate": nested(theirs.certificate)},
        {"status": "proved", "certificate": dict(nested(wide.certificate)), "record": about_wide},
        {"status": "proved", "certificate": dict(nested(wide.certificate)), "record": narrow},
        {"certificate": {**nested(good.certificate), "evidence": {}}},
        {"certificate": {}},
        {"certificate": None},
        {"record": b"nonsense"},
        {"record": pickle.dumps({"status": "refuted"})},
        {"record": pickle.dumps(wide.question.budget)},
    ):
        store.put(key, good)
        forged(store, key, **forgery)
        verdict, known = asking(leaking)
        assert (verdict.status, known) == ("refuted", False), forgery
        assert asking(leaking)[1], "what was asked anew is kept"


def test_the_gate_has_the_certificate_checked(folder, store, monkeypatch):
    """Without the checker's word nothing counts: the guard that the tests above rely on is there."""
    asking = Asking(store)
    coin = loaded(folder, "coin")
    asking(coin)
    asked = asked_digest(coin, engine=None)
    entry = store.get(asked.digest)
    answer, _ = answer_of(entry.record, asked.functions)
    with monkeypatch.context() as patch:
        patch.setattr(gate, "recheck", lambda certificate: Rejected("no", "evidence"))
        assert isinstance(gate.readmit(answer, dict(entry.certificate), coin), gate.Refusal)
    assert isinstance(gate.readmit(answer, dict(entry.certificate), coin), gate.Verdict)


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


@pytest.mark.parametrize(
    "value", [Evil(), os.system, check, Path("x"), QuestionError("a", "b"), VerdictStore, StoredEntry, gate.admit]
)
def test_reading_makes_nothing_but_data(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = io.BytesIO()
    pickle.Pickler(file, 4).dump({"notes": (), "status": value})
    with pytest.raises(Unreadable):
        answer_of(file.getvalue(), ())
    assert not list(tmp_path.iterdir())


def test_no_verdict_is_made_by_reading(folder):
    for kind in (type(check(loaded(folder, "coin"))), gate.Seal):
        with pytest.raises(Unreadable, match="is no data"):
            answer_of(pickle.dumps({"notes": (), "status": kind}, 4), ())


# --------------------------------------------------------------------------------------------------------- unknown verdicts


def test_an_unknown_verdict_is_asked_for_again_where_there_is_more_time(folder, store):
    (folder / "coins.py").write_text(
        "from privproof import *\n\n\n@mechanism(epsilon=1)\ndef f(q: real_queries()):\n"
        "    return laplace(sum(q), scale=2) / laplace(0, scale=1)\n",
        encoding="utf-8",
    )
    asking = Asking(store)
    question = loaded(folder, "f")
    assert asking(question, limit=20, time_limit=20)[0].status == "unknown"
    again, known = asking(question, limit=10)
    assert (again.status, known) == ("unknown", True)
    assert asking(question, limit=30, time_limit=20)[1] is False
    assert asking.times == 2


def test_what_was_stopped_is_not_kept(folder, store):
    question = loaded(folder, "coin")
    watch = Monitor(interrupted=True)
    ask_once(question, lambda: check(question), store, monitor=watch)
    assert store.holdings().verdicts == 0


# ------------------------------------------------------------------------------------------------------------------ the file


def entry(number=0):
    return StoredEntry("proved", f"m{number}", 0.1, None, {"number": number}, b"x" * 1000)


def test_the_file(store, monkeypatch):
    assert store.get("a") is None
    assert not store.path.exists(), "asking makes no file"
    for number in range(5):
        store.put(str(number), entry(number))
    assert store.get("3") == entry(3)
    assert store.holdings().verdicts == 5
    store.drop("3")
    assert store.get("3") is None
    assert store.collect(days=1) == 0
    with sqlite3.connect(store.path) as database:
        database.execute("UPDATE verdicts SET used = used - 100 * 86400 WHERE digest IN ('0', '1')")
    assert store.collect() == 2
    kept = store.holdings().bytes
    assert store.collect(most=kept - 1) == 1
    assert store.collect(days=0) == 1
    assert store.holdings().verdicts == 0


def keep_for_ever(path, number, told):
    mine = VerdictStore(path)
    for each in range(1_000_000):
        mine.put(f"{number} {each}", entry(each))
        if mine.problem:
            os.write(told, f"problem {mine.problem}\n".encode())
            return
        os.write(told, f"kept {number} {each}\n".encode())


def test_processes_that_keep_at_once_and_are_killed(store, tmp_path):
    """What was kept before a process was killed is there, as it was, and nothing else; the first ones race for the file."""
    processes, kills = (50, 200) if ALL else (8, 12)
    log = tmp_path / "log"
    told = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    source, running = random.Random(5), []

    def begin(number):
        child = os.fork()
        if child == 0:
            keep_for_ever(store.path, number, told)
            os._exit(0)
        running.append(child)

    for number in range(processes):
        begin(number)
    for number in range(processes, processes + kills):
        time.sleep(source.random() * 0.05)
        victim = running.pop(source.randrange(len(running)))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        begin(number)
    time.sleep(0.2)
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(told)
    lines = log.read_text(encoding="utf-8").splitlines()
    kept = [line.removeprefix("kept ") for line in lines if line.startswith("kept ")]
    assert len(kept) == len(lines) > 0, lines[:3]
    for digest in kept:
        assert store.get(digest) == entry(int(digest.split()[1]))
    assert len(kept) <= store.holdings().verdicts <= len(kept) + processes + kills
    with sqlite3.connect(store.path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_store_that_another_process_has_just_made_is_not_emptied(store, monkeypatch):
    """Two processes see that there is no table yet; the second must not begin anew what the first has begun."""
    store.put("a", entry())
    seen = iter([0])
    real = verdicts._layout
    monkeypatch.setattr(verdicts, "_layout", lambda database: next(seen, real(database)))
    store.put("b", entry())
    assert store.holdings().verdicts == 2


def test_what_other_versions_found(store):
    for number, environment in enumerate(("here", "here", "before")):
        store.put(str(number), replace(entry(number), environment=environment))
    held = store.holdings("here")
    assert (held.verdicts, dict(held.statuses), held.old) == (3, {"proved": 3}, 1)
    assert store.collect() == 0
    assert store.collect(environment="here") == 1
    assert store.holdings("here").old == 0


@pytest.mark.parametrize("kind", ["corrupt", "folder", "below a file", "empty"])
def test_a_store_that_cannot_be_used_costs_no_verdict(folder, tmp_path, kind):
    path = tmp_path / "broken.sqlite"
    if kind == "corrupt":
        path.write_bytes(b"this is no database" * 100)
    elif kind == "folder":
        path.mkdir()
    elif kind == "below a file":
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "verdicts.sqlite"
    else:
        path.write_bytes(b"")
    store = VerdictStore(path)
    verdict, known = Asking(store)(loaded(folder, "coin"))
    assert (verdict.status, known) == ("proved", False)
    assert bool(store.problem) == (kind != "empty")


def test_another_layout_is_begun_anew(store):
    store.put("a", entry())
    with sqlite3.connect(store.path) as database:
        database.execute("PRAGMA user_version = 99")
    assert store.get("a") is None
    store.put("a", entry())
    assert store.get("a") == entry()


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("PRIVPROOF_CACHE", "none")
    assert default_path() is None
    monkeypatch.setenv("PRIVPROOF_CACHE", str(tmp_path / "x"))
    assert default_path() == tmp_path / "x"
    monkeypatch.delenv("PRIVPROOF_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path().name == "verdicts.sqlite"


def test_the_text_of_the_checker_counts(monkeypatch):
    """A verdict that a mended checker would not accept is not kept."""
    seen = []
    digests.environment.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(digests, "text_digest", lambda folder: seen.append(folder) or folder.name)
        digests.environment()
    digests.environment.cache_clear()
    assert seen == [Path(package.__file__).parent for package in (privproof, privproof_checker)]
