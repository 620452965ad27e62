"""A ledger in a PostgreSQL database, by the driver psycopg (``pip install 'privproof[postgres]'``).

Transactions are serialisable, and a writer locks the table before it reads: so writers come one after the other and none has to be
repeated, but where the server chooses one of a deadlock as its victim; such a one is tried again, for it has done nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from privproof.errors import FormatError, QuestionError
from privproof.release.ledger.ledger_stores import _CERTIFICATES, _ENTRIES, _SCHEMA, Store, Transaction

_PASSWORD = re.compile(r"(://[^:/@]+):[^@]*@")


class PostgresStore(Store):
    """A ledger in a database; one ledger for each schema that the address leads to."""

    def __init__(self, address: str, *, wait: float) -> None:
        try:
            import psycopg
        except ImportError:
            raise QuestionError(
                "extra",
                "a ledger in PostgreSQL needs psycopg",
                place=self._shown(address),
                hint="pip install 'privproof[postgres]'",
            ) from None
        self._driver = psycopg
        self._address, self._wait, self.name = address, wait, self._shown(address)

    @staticmethod
    def _shown(address: str) -> str:
        return _PASSWORD.sub(r"\1:...@", address)

    def create(self) -> None:
        """Make the tables; they must not exist."""
        with self._begun(lock=False) as found:
            if found.rows("SELECT to_regclass(?)::text", (_ENTRIES,)) != [(None,)]:
                raise FormatError(
                    "ledger", "the database holds a ledger", place=self.name, hint="another database or schema"
                )
            for statement in _SCHEMA:
                found.rows(statement.replace("INTEGER PRIMARY KEY", "BIGINT PRIMARY KEY"))
            found.rows(
                "CREATE FUNCTION privproof_stays() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'entries of a ledger stay as they are'; END $$"
            )
            for table in (_ENTRIES, _CERTIFICATES):
                found.rows(
                    f"CREATE TRIGGER {table}_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION privproof_stays()"
                )

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A serialisable transaction that has locked the table."""
        with self._begun(lock=True) as found:
            yield found

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A serialisable transaction that sees one state."""
        with self._begun(lock=False) as found:
            yield found

    @contextmanager
    def _begun(self, *, lock: bool) -> Iterator[_Postgres]:
        psycopg = self._driver
        try:
            with self._connected() as connection:
                connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
                found = _Postgres(connection)
                if lock:
                    # neither statement looks at data, so that what the transaction sees is what there is once it has the lock
                    found.rows(f"SET LOCAL lock_timeout = {max(1, int(self._wait * 1000))}")
                    found.rows(f"LOCK TABLE {_ENTRIES} IN EXCLUSIVE MODE")
                yield found
        except psycopg.errors.UndefinedTable:
            hint = f"privproof account create {self.name} --epsilon 4"
            raise FormatError("ledger", "the database holds no ledger", place=self.name, hint=hint) from None
        except psycopg.errors.LockNotAvailable:
            hint = f"others held it for {self._wait:g} seconds; try again, or wait longer"
            raise FormatError("ledger", "the ledger cannot be locked", place=self.name, hint=hint) from None
        except psycopg.Error as problem:
            said = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
            hint = "look at the history before you release: it says what was entered"
            raise FormatError("ledger", f"the ledger cannot be used: {said}", place=self.name, hint=hint) from None

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """A connection; a server that is just starting, or has no place left, is tried again for a while."""
        end = time.monotonic() + self._wait
        while True:
            try:
                connection = self._driver.connect(self._address, connect_timeout=10)
                break
            except self._driver.OperationalError as problem:
                busy = any(word in str(problem) for word in ("too many", "starting up", "remaining connection slots"))
                if not busy or time.monotonic() > end:
                    raise
                time.sleep(0.05)
        with connection:
            yield connection


class _Postgres(Transaction):
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(statement.replace("?", "%s"), tuple(values) or None)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []
