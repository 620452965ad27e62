"""Where a ledger is kept: a SQLite file, or a PostgreSQL database; both through one small interface.

What is written is written in one transaction at a time: SQLite's ``BEGIN IMMEDIATE``, with a write-ahead log that is flushed before a
commit returns; PostgreSQL's serialisable isolation, with a lock on the table, so that no transaction has to be repeated but after a
deadlock.  Entries can be added and not changed: triggers refuse it.  That keeps honest programs honest; against others there is the chain
of digests.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from privproof.errors import FormatError
from privproof.release.ledger.ledger_entries import Entry, entry_from

_APPLICATION = 0x70726C31
"""The mark of our files among SQLite's: "prl1"."""
_ADDRESSES = ("postgresql://", "postgres://")

_ENTRIES = "privproof_entries"
_CERTIFICATES = "privproof_certificates"
_SCHEMA = (
    f"CREATE TABLE {_ENTRIES} (sequence INTEGER PRIMARY KEY, dataset TEXT NOT NULL, kind TEXT NOT NULL, time TEXT NOT NULL, "
    "body TEXT NOT NULL, digest TEXT NOT NULL)",
    f"CREATE INDEX {_ENTRIES}_of_dataset ON {_ENTRIES} (dataset, sequence)",
    f"CREATE TABLE {_CERTIFICATES} (digest TEXT PRIMARY KEY, document TEXT NOT NULL)",
)


class Transaction(ABC):
    """Reading and adding, all or nothing."""

    @abstractmethod
    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a statement finds; its parameters are written ``?``."""

    def _entries(self, condition: str, values: Sequence[Any]) -> list[Entry]:
        found = self.rows(f"SELECT body, digest FROM {_ENTRIES} {condition}", values)
        return [entry_from(body, digest) for body, digest in found]

    def last(self) -> Entry | None:
        """The last entry."""
        return next(iter(self._entries("ORDER BY sequence DESC LIMIT 1", ())), None)

    def all(self) -> list[Entry]:
        """All entries, in order."""
        return self._entries("ORDER BY sequence", ())

    def disagreeing(self) -> list[int]:
        """The numbers of rows whose columns, by which entries are looked up, are not what the entries say."""
        rows = self.rows(f"SELECT sequence, dataset, kind, time, body, digest FROM {_ENTRIES} ORDER BY sequence")
        found = []
        for sequence, dataset, kind, time, body, digest in rows:
            entry = entry_from(body, digest)
            if (sequence, dataset, kind, time) != (entry.sequence, entry.dataset, entry.kind, entry.time):
                found.append(int(sequence))
        return found

    def of_kind(self, *kinds: str) -> list[Entry]:
        """The entries of some kinds, in order."""
        return self._entries(f"WHERE kind IN ({', '.join('?' * len(kinds))}) ORDER BY sequence", kinds)

    def of_dataset(self, name: str, kinds: Sequence[str], *, since: str = "", latest: bool = False) -> list[Entry]:
        """The entries about a data set of some kinds: since a time, or the latest alone."""
        marks = ", ".join("?" * len(kinds))
        order = "DESC LIMIT 1" if latest else ""
        condition = f"WHERE dataset = ? AND kind IN ({marks}) AND time >= ? ORDER BY sequence {order}"
        return self._entries(condition, (name, *kinds, since))

    def entry(self, sequence: int) -> Entry | None:
        """The entry of a number."""
        return next(iter(self._entries("WHERE sequence = ?", (sequence,))), None)

    def add(self, entry: Entry) -> None:
        """Add an entry."""
        values = (entry.sequence, entry.dataset, entry.kind, entry.time, entry.text, entry.digest)
        self.rows(
            f"INSERT INTO {_ENTRIES} (sequence, dataset, kind, time, body, digest) VALUES (?, ?, ?, ?, ?, ?)", values
        )

    def keep(self, digest: str, document: str) -> None:
        """Keep a certificate under its digest."""
        if not self.rows(f"SELECT 1 FROM {_CERTIFICATES} WHERE digest = ?", (digest,)):
            self.rows(f"INSERT INTO {_CERTIFICATES} (digest, document) VALUES (?, ?)", (digest, document))

    def certificate(self, digest: str) -> str | None:
        """The certificate of a digest."""
        found = self.rows(f"SELECT document FROM {_CERTIFICATES} WHERE digest = ?", (digest,))
        return None if not found else str(found[0][0])


class Store(ABC):
    """A place where a ledger is kept.

    Attributes:
        name: what messages call it.
    """

    name: str

    @abstractmethod
    def create(self) -> None:
        """Make the place for a ledger; there must be none yet."""

    @abstractmethod
    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that adds; whatever ends it with an exception leaves nothing behind."""

    @abstractmethod
    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that reads one state."""


def store_at(address: str | Path, *, wait: float) -> Store:
    """The store at a path, or at the address of a PostgreSQL database.

    Args:
        address: the path or address.
        wait: how many seconds to wait for others that write.
    """
    text = str(address)
    if text.startswith(_ADDRESSES):
        from privproof.release.ledger.postgres_store import PostgresStore

        return PostgresStore(text, wait=wait)
    return SqliteStore(Path(address), wait=wait)


class _Sqlite(Transaction):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, tuple(values)).fetchall()


class SqliteStore(Store):
    """A ledger in a SQLite file."""

    def __init__(self, path: Path, *, wait: float) -> None:
        self.path, self.wait, self.name = path, wait, str(path)

    def create(self) -> None:
        """Make the file; it must not exist."""
        if self.path.exists():
            raise FormatError("ledger", "the file exists", place=self.name, hint="spend from it, or take another name")
        with self._complaints(), closing(self._connected(new=True)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            for statement in _SCHEMA:
                connection.execute(statement)
            for table in (_ENTRIES, _CERTIFICATES):
                for event in ("UPDATE", "DELETE"):
                    connection.execute(
                        f"CREATE TRIGGER {table}_{event.lower()} BEFORE {event} ON {table} "
                        f"BEGIN SELECT RAISE(ABORT, 'entries of a ledger stay as they are'); END"
                    )
            connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """``BEGIN IMMEDIATE``: one writer at a time."""
        with self._begun("BEGIN IMMEDIATE") as found:
            yield found

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """``BEGIN``: a snapshot."""
        with self._begun("BEGIN") as found:
            yield found

    @contextmanager
    def _begun(self, statement: str) -> Iterator[Transaction]:
        with self._complaints(), closing(self._connected()) as connection:
            connection.execute(statement)
            try:
                yield _Sqlite(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _connected(self, *, new: bool = False) -> sqlite3.Connection:
        if not new and not self.path.is_file():
            raise FormatError(
                "ledger",
                "there is no such ledger",
                place=self.name,
                hint=f"privproof account create {self.name} --epsilon 4",
            )
        mode = "rwc" if new else "rw"
        address = f"{self.path.resolve().as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=self.wait, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        if not new and connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            connection.close()
            raise FormatError("ledger", "the file is no ledger", place=self.name, hint="privproof account create")
        return connection

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        """Problems of the database in our words: what was not committed is not there."""
        try:
            yield
        except sqlite3.Error as problem:
            raise _complaint(self.name, str(problem), self.wait) from None
        except OSError as problem:
            raise FormatError("ledger", problem.strerror or str(problem), place=self.name) from None


def _complaint(name: str, said: str, wait: float) -> FormatError:
    hints = {
        "locked": f"others held it for {wait:g} seconds; try again, or wait longer",
        "full": "make room; the ledger is as it was",
        "readonly": "the file or its folder may not be written",
        "unable to open": "the file or its folder may not be written",
        "not a database": "privproof account create",
        "malformed": "restore it from a copy",
    }
    hint = next(
        (hint for part, hint in hints.items() if part in said),
        "look at the history before you release: it says what was entered",
    )
    return FormatError("ledger", f"the ledger cannot be used: {said}", place=name, hint=hint)
