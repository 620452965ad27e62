"""A ready mechanism with what is known about it."""

from __future__ import annotations

from typing import NamedTuple

from privproof.language import Mechanism


class LibraryEntry(NamedTuple):
    """A mechanism, one line on it, where it comes from, and its known verdict."""

    mechanism: Mechanism
    title: str
    citation: str
    known: str
