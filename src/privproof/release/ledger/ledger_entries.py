"""What a ledger records: entries, each chained by its digest to the one before.

An entry is a JSON object in canonical form (keys sorted, no spaces).  Its digest is SHA-256 of that text, and the text holds the
digest of the entry before; so whoever knows the last digest knows whether anything before was changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from privproof.errors import FormatError
from privproof.release.ledger.spending_rules import Cost

Kind: TypeAlias = Literal["ledger", "dataset", "reserved", "released", "spent"]
"""What an entry is: the ledger's beginning; a data set and its budget; a cost that is set aside before noise is drawn; the release that it
was set aside for; or both at once."""

COUNTED = ("reserved", "spent")
"""The entries that cost something: what is reserved counts whether or not it was released."""


@dataclass(frozen=True)
class Entry:
    """An entry.

    Attributes:
        sequence: its number, from 0 on.
        kind: what it is.
        time: when it was made, in UTC, as ISO 8601.
        body: everything that it says.
        digest: SHA-256 of its text.
    """

    sequence: int
    kind: Kind
    time: str
    body: Mapping[str, Any]
    digest: str

    @property
    def dataset(self) -> str:
        """The data set that it is about; empty for the beginning."""
        return str(self.body.get("dataset", ""))

    @property
    def cost(self) -> Cost | None:
        """What it costs, where it costs something."""
        return Cost.from_document(self.body["cost"]) if self.kind in COUNTED else None

    @property
    def total(self) -> Cost | None:
        """What all releases about the data set cost together, after it."""
        return Cost.from_document(self.body["total"]) if self.kind in COUNTED else None

    @property
    def text(self) -> str:
        """Its canonical text."""
        return canonical(self.body)


def canonical(body: Mapping[str, Any]) -> str:
    """The canonical text of an entry."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(text: str) -> str:
    """The digest of a text.

    >>> digest_of("")[:16]
    'e3b0c44298fc1c14'
    """
    return sha256(text.encode()).hexdigest()


def next_entry(before: Entry | None, kind: Kind, time: str, **said: Any) -> Entry:
    """The entry after another one."""
    sequence = 0 if before is None else before.sequence + 1
    stamp = time if before is None else max(time, before.time)  # a clock that is put back does not reorder entries
    body = {
        "sequence": sequence,
        "previous": "" if before is None else before.digest,
        "kind": kind,
        "time": stamp,
        **said,
    }
    return Entry(sequence, kind, stamp, body, digest_of(canonical(body)))


def entry_from(text: str, digest: str) -> Entry:
    """The entry that a text is.

    Raises:
        FormatError: it is none.
    """
    try:
        body = json.loads(text)
        return Entry(int(body["sequence"]), body["kind"], str(body["time"]), body, digest)
    except (ValueError, KeyError, TypeError) as problem:
        raise FormatError("ledger", f"an entry cannot be read: {problem}", hint="privproof account verify") from None
