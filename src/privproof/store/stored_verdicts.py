"""The store of verdicts: one SQLite file, for all processes that use it.

    verdicts
        digest       what was asked (`store.digests`), the key
        status       proved, refuted or unknown
        name         the mechanism, for readers of the list
        seconds      how long it took to find
        limit        for an unknown verdict the seconds that there were to find one; null for as many as it took
        certificate  the certificate as compressed JSON; null for an unknown verdict
        record       what else the verdict said (`store.records`), compressed
        bytes        how large both are
        made, used   when it was kept, and when it was last read
        environment  the digest of the Python, the libraries and the privproof that found it

A certificate stands by itself: whoever has the file can check it.  A store that cannot be read or written is no reason for a command to
fail: then everything is asked anew, and the reason is told once.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

VARIABLE = "PRIVPROOF_CACHE"
"""The environment variable that names the file of the store; ``none`` for no store."""
_LAYOUT = 2
"""The number of the layout above; a store of another layout is emptied."""
_WAIT = 10.0
"""Seconds of waiting for other processes that write."""
_TURN = 0.02
"""Seconds between two tries to be the one that writes, at most: as long as one takes that flushes to a disk."""
_SELDOM = 3_600.0
"""Seconds after which it is noted again that a verdict was used: reading should seldom have to write."""
_LARGEST = 32 * 2**20
"""Bytes of one verdict, compressed: checking a larger certificate takes longer than a moment anyway."""
LARGEST_STORE = 512 * 2**20
"""Bytes of all of them, beyond which those are given up that were not used for longest."""
_DAY = 86_400.0
"""Seconds of a day."""
KEPT_FOR = 90
"""Days after which a verdict that nobody asked for is given up, unless told otherwise: a quarter of a year."""


@dataclass(frozen=True)
class StoredEntry:
    """What the store holds about one question.

    Attributes:
        status: the verdict.
        name: the mechanism.
        seconds: how long it took to find.
        limit: for an unknown verdict the seconds that there were; None for as many as it took.
        certificate: the certificate; None for an unknown verdict.
        record: what else the verdict said.
        environment: the digest of what found it; another version finds none of its verdicts.
    """

    status: str
    name: str
    seconds: float
    limit: float | None
    certificate: Mapping[str, Any] | None
    record: bytes
    environment: str = ""


@dataclass(frozen=True)
class Holdings:
    """How much a store holds.

    Attributes:
        verdicts: how many verdicts.
        bytes: how large they are.
        statuses: how many of every status.
        old: how many another version of Python, of a library or of privproof has found: this one asks anew.
        seconds: how long it took to find all of them.
    """

    verdicts: int = 0
    bytes: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    old: int = 0
    seconds: float = 0.0


class VerdictStore:
    """A store in one file.

    Attributes:
        path: the file.
        problem: why it cannot be used, once that is known.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""

    def get(self, digest: str) -> StoredEntry | None:
        """What is kept about a question."""

        def read(database: sqlite3.Connection) -> StoredEntry | None:
            row = database.execute(
                'SELECT status, name, seconds, "limit", certificate, record, environment, used FROM verdicts '
                "WHERE digest = ?",
                (digest,),
            ).fetchone()
            if row is None:
                return None
            status, name, seconds, limit, certificate, record, environment, used = row
            if not 0 <= time.time() - used < _SELDOM:
                with suppress(sqlite3.Error), _write_transaction(database):  # a store that can only be read is read
                    database.execute("UPDATE verdicts SET used = ? WHERE digest = ?", (time.time(), digest))
            try:
                document = None if certificate is None else json.loads(zlib.decompress(certificate))
                return StoredEntry(status, name, seconds, limit, document, zlib.decompress(record), environment)
            except (zlib.error, ValueError, TypeError):
                return None

        return self._with(read, there=True)

    def put(self, digest: str, entry: StoredEntry) -> None:
        """Keep a verdict, if it is not too large."""
        document = None
        if entry.certificate is not None:
            document = zlib.compress(json.dumps(entry.certificate, ensure_ascii=False).encode())
        record = zlib.compress(entry.record)
        size = len(record) + len(document or b"")
        if size > _LARGEST:
            return
        now = time.time()
        said = (entry.status, entry.name, entry.seconds, entry.limit)
        row = (digest, *said, document, record, size, now, now, entry.environment)

        def keep(database: sqlite3.Connection) -> None:
            with _write_transaction(database):
                database.execute(f"INSERT OR REPLACE INTO verdicts VALUES ({', '.join('?' * len(row))})", row)
                names = ("page_count", "freelist_count", "page_size")
                pages, free, page = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
                if (pages - free) * page > LARGEST_STORE:
                    _shrink(database, LARGEST_STORE // 2)

        self._with(keep)

    def drop(self, digest: str) -> None:
        """Forget a verdict."""

        def forget(database: sqlite3.Connection) -> None:
            with _write_transaction(database):
                database.execute("DELETE FROM verdicts WHERE digest = ?", (digest,))

        self._with(forget, there=True)

    def holdings(self, environment: str = "") -> Holdings:
        """How much it holds, and how much of it another environment than this one has found."""

        def count(database: sqlite3.Connection) -> Holdings:
            found = database.execute(
                "SELECT COUNT(*), COALESCE(SUM(bytes), 0), COALESCE(SUM(environment <> ?), 0), COALESCE(SUM(seconds), 0) "
                "FROM verdicts",
                (environment,),
            ).fetchone()
            statuses = dict(database.execute("SELECT status, COUNT(*) FROM verdicts GROUP BY status ORDER BY status"))
            return Holdings(found[0], found[1], statuses, found[2], found[3])

        return self._with(count, there=True) or Holdings()

    def collect(self, days: float = KEPT_FOR, most: int = LARGEST_STORE, environment: str | None = None) -> int:
        """Give up verdicts, and say how many it were.

        Args:
            days: those that were not used for so many days.
            most: then those that were not used for longest, down to so many bytes.
            environment: also those that another environment than this one has found; None to keep them.
        """

        def give_up(database: sqlite3.Connection) -> None:
            with _write_transaction(database):
                database.execute("DELETE FROM verdicts WHERE used <= ?", (time.time() - days * _DAY,))
                if environment is not None:
                    database.execute("DELETE FROM verdicts WHERE environment <> ?", (environment,))
                _shrink(database, most)
            database.execute("VACUUM")

        before = self.holdings().verdicts
        self._with(give_up, there=True)
        return before - self.holdings().verdicts

    def _with(self, do: Callable[[sqlite3.Connection], T], *, there: bool = False) -> T | None:
        """Do something with the database; nothing where it cannot be used, or where it has to be there already and is not."""
        if self.problem or (there and not self.path.is_file()):
            return None
        try:
            if not there:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)) as database:
                _lay_out(database)
                return do(database)
        except (sqlite3.Error, OSError) as error:
            self.problem = f"{self.path}: {error}"
            return None


def _lay_out(database: sqlite3.Connection) -> None:
    """Make the table, if no other process has; what is found before the lock is held may be changed by the time it is."""
    if _layout(database) == _LAYOUT:
        return
    with _write_transaction(database):
        if _layout(database) == _LAYOUT:
            return
        database.execute("DROP TABLE IF EXISTS verdicts")
        database.execute(
            'CREATE TABLE verdicts (digest TEXT PRIMARY KEY, status TEXT, name TEXT, seconds REAL, "limit" REAL, '
            "certificate BLOB, record BLOB, bytes INTEGER, made REAL, used REAL, environment TEXT)"
        )
        database.execute(f"PRAGMA user_version = {_LAYOUT}")


@contextmanager
def _write_transaction(database: sqlite3.Connection) -> Iterator[None]:
    """A transaction of the one process that writes.

    SQLite's own waiting sleeps the longer the more often it was in vain, so that who has just come goes first; among many that write
    one after another, some would never come to it.  So all of them try again after times of the same kind.
    """
    until = time.monotonic() + _WAIT
    database.execute("PRAGMA busy_timeout = 0")
    while True:
        try:
            database.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as problem:
            if (
                problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until
            ):  # 0xFF: without its kind
                raise
            time.sleep(random.uniform(0, _TURN))
    database.execute(f"PRAGMA busy_timeout = {int(_WAIT * 1000)}")  # in milliseconds
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _layout(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _shrink(database: sqlite3.Connection, most: int) -> None:
    """Give up what was not used for longest, until so many bytes are left."""
    held = 0
    for digest, size in database.execute("SELECT digest, bytes FROM verdicts ORDER BY used DESC, digest").fetchall():
        held += size
        if held > most:
            database.execute("DELETE FROM verdicts WHERE digest = ?", (digest,))


def default_path() -> Path | None:
    """The file of the user's own store; None where there shall be none."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return None if named.lower() == "none" else Path(named).expanduser()
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        folder = "~/Library/Caches"
    else:
        folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(folder).expanduser() / "privproof" / "verdicts.sqlite"
