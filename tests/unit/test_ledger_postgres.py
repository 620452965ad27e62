"""A ledger in PostgreSQL: a server of its own, on loopback, for these tests; skipped where PostgreSQL is not installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.amounts import ALL
from tests.ledger_campaign import SMALL, WHOLE, examine_campaign, run_campaign
from tests.unit.test_ledger import spending_at_once, spent

from privproof.errors import BudgetError, FormatError
from privproof.release import Ledger

_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def _as_server(*words: str | Path) -> list[str]:
    """A command as a user that the server runs as: it refuses root."""
    plain = [str(word) for word in words]
    return ["runuser", "-u", "postgres", "--", *plain] if os.geteuid() == 0 else plain


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server with no database of ours."""
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
        options = f"-c port={port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=120 -c fsync=on"
        control = programs / "pg_ctl"
        subprocess.run(_as_server(control, "-D", data, "-l", f"{folder}/log", "-w", "-o", options, "start"), **quiet)
        try:
            address = f"postgresql://tests@127.0.0.1:{port}"
            psycopg.connect(f"{address}/postgres").close()
            yield address
        finally:
            subprocess.run(_as_server(control, "-D", data, "-m", "immediate", "stop"), **quiet)


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
