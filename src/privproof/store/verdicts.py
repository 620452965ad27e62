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

A certificate stands by itself: whoever has the file can check it.  A store that cannot be read or written is no reason for a command to
fail: then everything is asked anew, and the reason is told once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

VARIABLE = "PRIVPROOF_CACHE"
"""The environment variable that names the file of the store; ``none`` for no store."""
_LAYOUT = 1
"""The number of the layout above; a store of another layout is emptied."""
_WAIT = 5.0
"""Seconds of waiting for another process that writes."""
_LARGEST = 32 * 2**20
"""Bytes of one verdict, compressed: checking a larger certificate takes longer than a moment anyway."""
_MOST = 512 * 2**20
"""Bytes of all of them, beyond which those are given up that were not used for longest."""
_DAY = 86_400.0
"""Seconds of a day."""
KEPT_FOR = 90
"""Days after which a verdict that nobody asked for is given up, unless told otherwise: a quarter of a year."""


@dataclass(frozen=True)
class Entry:
    """What the store holds about one question.

    Attributes:
        status: the verdict.
        name: the mechanism.
        seconds: how long it took to find.
        limit: for an unknown verdict the seconds that there were; None for as many as it took.
        certificate: the certificate; None for an unknown verdict.
        record: what else the verdict said.
    """

    status: str
    name: str
    seconds: float
    limit: float | None
    certificate: Mapping[str, Any] | None
    record: bytes


@dataclass(frozen=True)
class Holdings:
    """How much a store holds."""

    verdicts: int
    bytes: int


class VerdictStore:
    """A store in one file.

    Attributes:
        path: the file.
        problem: why it cannot be used, once that is known.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""

    def get(self, digest: str) -> Entry | None:
        """What is kept about a question."""

        def read(database: sqlite3.Connection) -> Entry | None:
            row = database.execute(
                'SELECT status, name, seconds, "limit", certificate, record FROM verdicts WHERE digest = ?', (digest,)
            ).fetchone()
            if row is None:
                return None
            status, name, seconds, limit, certificate, record = row
            with suppress(sqlite3.Error):  # a store that can only be read is read
                database.execute("UPDATE verdicts SET used = ? WHERE digest = ?", (time.time(), digest))
            try:
                document = None if certificate is None else json.loads(zlib.decompress(certificate))
                return Entry(status, name, seconds, limit, document, zlib.decompress(record))
            except (zlib.error, ValueError, TypeError):
                return None

        return self._with(read, there=True)

    def put(self, digest: str, entry: Entry) -> None:
        """Keep a verdict, if it is not too large."""
        document = None
        if entry.certificate is not None:
            document = zlib.compress(json.dumps(entry.certificate, ensure_ascii=False).encode())
        record = zlib.compress(entry.record)
        size = len(record) + len(document or b"")
        if size > _LARGEST:
            return
        now = time.time()
        row = (digest, entry.status, entry.name, entry.seconds, entry.limit, document, record, size, now, now)

        def keep(database: sqlite3.Connection) -> None:
            database.execute(f"INSERT OR REPLACE INTO verdicts VALUES ({', '.join('?' * len(row))})", row)
            (held,) = database.execute("SELECT SUM(bytes) FROM verdicts").fetchone()
            if held > _MOST:
                _shrink(database, _MOST // 2)

        self._with(keep)

    def drop(self, digest: str) -> None:
        """Forget a verdict."""
        self._with(lambda database: database.execute("DELETE FROM verdicts WHERE digest = ?", (digest,)), there=True)

    def holdings(self) -> Holdings:
        """How much it holds."""

        def count(database: sqlite3.Connection) -> Holdings:
            return Holdings(*database.execute("SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM verdicts").fetchone())

        return self._with(count, there=True) or Holdings(0, 0)

    def collect(self, days: float = KEPT_FOR, most: int = _MOST) -> int:
        """Give up what was not used for so many days, then what was not used for longest, down to so many bytes; how many it were."""

        def give_up(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM verdicts WHERE used <= ?", (time.time() - days * _DAY,))
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
    (found,) = database.execute("PRAGMA user_version").fetchone()
    if found == _LAYOUT:
        return
    database.execute("BEGIN IMMEDIATE")
    database.execute("DROP TABLE IF EXISTS verdicts")
    database.execute(
        'CREATE TABLE verdicts (digest TEXT PRIMARY KEY, status TEXT, name TEXT, seconds REAL, "limit" REAL, '
        "certificate BLOB, record BLOB, bytes INTEGER, made REAL, used REAL)"
    )
    database.execute(f"PRAGMA user_version = {_LAYOUT}")
    database.execute("COMMIT")


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
