"""A ledger in PostgreSQL: a server of its own, on loopback, for these tests; skipped where PostgreSQL is not installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.amounts import ALL
from tests.ledger_campaign import SMALL, WHOLE, examine_campaign, run_campaign
from tests.release.test_ledger import spending_at_once, spent
from tests.release.test_table_parts import ROWS, check_address

from privproof.errors import BudgetError, FormatError
from privproof.release import Ledger
from privproof.release.tables.table_streams import query_rows

_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def _as_server(*words: str | Path) -> list[str]:
    """A command as a user that the server runs as: it refuses root."""
    plain = [str(word) for word in words]
    return ["runuser", "-u", "postgres", "--", *plain] if os.geteuid() == 0 else plain


@contextmanager
def serving(*hosts: str) -> Iterator[int]:
    """A server with no database of ours, that listens at these addresses and trusts their networks: its port."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    if not _PROGRAMS or (os.geteuid() == 0 and shutil.which("runuser") is None):
        pytest.skip("PostgreSQL is not installed")
    programs = _PROGRAMS[-1]
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        os.chmod(folder, 0o777)
        data = Path(folder) / "data"
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        subprocess.run(_as_server(programs / "initdb", "-D", data, "-A", "trust", "-U", "tests", "-N"), **quiet)
        with (data / "pg_hba.conf").open("a") as trusted:
            trusted.writelines(f"host all all {host}/30 trust\n" for host in hosts)
        options = f"-c port={port} -c listen_addresses={','.join(hosts)} -c unix_socket_directories= -c max_connections=120 -c fsync=on"
        control = programs / "pg_ctl"
        subprocess.run(_as_server(control, "-D", data, "-l", f"{folder}/log", "-w", "-o", options, "start"), **quiet)
        try:
            psycopg.connect(f"postgresql://tests@{hosts[0]}:{port}/postgres").close()
            yield port
        finally:
            subprocess.run(_as_server(control, "-D", data, "-m", "immediate", "stop"), **quiet)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server on loopback."""
    with serving("127.0.0.1") as port:
        yield f"postgresql://tests@127.0.0.1:{port}"


@pytest.fixture
def address(server: str, request: pytest.FixtureRequest) -> str:
    """A database of its own for every test."""
    import psycopg

    name = f"ledger_{abs(hash(request.node.name))}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"


def test_it_is_the_same_ledger(address):
    ledger = Ledger.create(address, epsilon="ln(8)")
    for _ in range(3):
        ledger.spend(epsilon="ln(2)", note="it's 100 % ours")
    with pytest.raises(BudgetError):
        ledger.spend(epsilon="1/100")
    with ledger.reserve(epsilon="ln(8/7)", dataset=ledger.add_dataset("other", epsilon=1).dataset) as reservation:
        reservation.release()
    assert ledger.verify(head=ledger.head).problems == ()
    with pytest.raises(FormatError, match="holds a ledger"):
        Ledger.create(address, epsilon=1)


def test_a_query_there_is_a_table(address):
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE t (who TEXT, t INTEGER, v TEXT, watts DOUBLE PRECISION)")
        connection.cursor().executemany("INSERT INTO t VALUES (%s, %s, %s, %s)", ROWS)
    check_address(address)
    with pytest.raises(FormatError, match="the database says") as refused:
        query_rows("postgresql://tests:secret@127.0.0.1:1/none", "SELECT 1")
    assert "secret" not in str(refused.value)


def test_a_database_without_a_ledger(address):
    with pytest.raises(FormatError, match="holds no ledger"):
        Ledger(address).spend(epsilon=1)
    with pytest.raises(FormatError, match="cannot be used"):
        Ledger("postgresql://tests:secret@127.0.0.1:1/none").spend(epsilon=1)
    assert "secret" not in repr(Ledger("postgresql://tests:secret@127.0.0.1:1/none"))


def test_entries_stay_as_they_are(address):
    import psycopg

    Ledger.create(address, epsilon=1)
    for statement in (
        "UPDATE privproof_entries SET time = ''",
        "DELETE FROM privproof_entries",
        "TRUNCATE privproof_entries",
    ):
        with psycopg.connect(address) as connection, pytest.raises(psycopg.Error, match="stay as they are"):
            connection.execute(statement)


def test_processes_that_spend_at_once(address):
    processes, turns = (50, 200) if ALL else (6, 10)
    ledger = Ledger.create(address, epsilon=4)
    found = spending_at_once(address, processes=processes, turns=turns)
    assert Counter(status for status, _ in found) == {"spent": 40, "refused": processes * turns - 40}
    assert spent(ledger) == 4
    assert ledger.verify().problems == ()


def test_a_campaign_of_spending_and_killing(address, tmp_path):
    size = WHOLE if ALL else SMALL
    ledger = Ledger.create(address, epsilon=size.budget)
    found = run_campaign(address, tmp_path, size)
    assert examine_campaign(ledger, tmp_path, size) == []
    assert found["try"] >= size.attempts
    assert found["error"] == 0


_HOSTS = (("privproof-a", "pp-a", "10.213.91"), ("privproof-b", "pp-b", "10.213.92"))
"""Hosts as namespaces of the network: the name, the link, and the network that it shares with us."""

_SPENDING = """
import sys
from privproof.errors import BudgetError
from privproof.release import Ledger
ledger = Ledger(sys.argv[1])
for turn in range(int(sys.argv[3])):
    try:
        ledger.spend(epsilon="1/10", note=f"{sys.argv[2]} {turn}")
    except BudgetError:
        print("refused", flush=True)
    else:
        print(f"spent {sys.argv[2]} {turn}", flush=True)
"""


def _network(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], check=False, capture_output=True, text=True)


@pytest.fixture
def hosts() -> Iterator[None]:
    """Two hosts beside this one, each at a link of its own."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("hosts of their own need root and iproute2")
    try:
        for name, link, network in _HOSTS:
            for words in (
                ("netns", "add", name),
                ("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name),
                ("addr", "add", f"{network}.1/30", "dev", link),
                ("link", "set", link, "up"),
                ("-n", name, "addr", "add", f"{network}.2/30", "dev", "eth0"),
                ("-n", name, "link", "set", "eth0", "up"),
            ):
                if (done := _network(*words)).returncode != 0:
                    pytest.skip(f"no networks can be made here: {done.stderr.strip()}")
        yield
    finally:
        for name, link, _ in _HOSTS:
            _network("link", "del", link)
            _network("netns", "del", name)


def test_two_hosts_spend_from_one_ledger_and_one_is_cut_off_for_a_while(hosts):
    import psycopg

    with serving(*(f"{network}.1" for _, _, network in _HOSTS)) as port:
        addresses = [f"postgresql://tests@{network}.1:{port}" for _, _, network in _HOSTS]
        with psycopg.connect(f"{addresses[0]}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE shared")
        ledger = Ledger.create(f"{addresses[0]}/shared", epsilon=4)
        at_work = [
            subprocess.Popen(
                ["ip", "netns", "exec", name, sys.executable, "-c", _SPENDING, f"{address}/shared", name, "30"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for (name, _, _), address in zip(_HOSTS, addresses, strict=True)
        ]
        assert at_work[1].stdout is not None
        first = at_work[1].stdout.readline()
        _network("link", "set", _HOSTS[1][1], "down")
        time.sleep(1)
        _network("link", "set", _HOSTS[1][1], "up")
        said = [process.communicate(timeout=120)[0] for process in at_work]
        assert [process.returncode for process in at_work] == [0, 0]
        told = [line for text in (*said, first) for line in text.splitlines()]
        noted = Counter(f"spent {entry.body['note']}" for entry in ledger.history() if entry.kind == "spent")
        assert len(told) == 60
        assert sorted(line for line in told if line != "refused") == sorted(noted.elements())
        assert sum(noted.values()) == 40
        assert ledger.verify().problems == ()
