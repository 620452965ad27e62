"""How much memory a computation may take: what it would need is estimated before arrays are made, what it takes is looked at on the way.

The limit is that of the environment variable ``PRIVPROOF_MEMORY``, or four fifths of what the machine has.  An engine that knows
beforehand what it would need compares that with `memory_limit`, and says the number where it is more.  Everything else grows while it
runs: who watches a search (`patience`) asks `MemoryGrowth` now and then, and stops it with what is known.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from privproof.errors import QuestionError

MEMORY = "PRIVPROOF_MEMORY"
"""The environment variable that says how much memory a computation may take: ``4G``, ``500M`` or ``none``."""
_SHARE = 0.8
"""Of the memory of the machine, or of the container, that may be taken: the rest keeps the machine alive."""
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_EVERY = 0.1
"""Seconds between two looks, each of which takes some microseconds; what fills a gigabyte in less estimates beforehand."""
_ORDERLY = 7 / 8
"""Of the limit, at which a search is asked to stop: the rest is for telling what it found."""


def memory_limit() -> int | None:
    """How many bytes may be taken; None for any number."""
    text = os.environ.get(MEMORY, "").strip()
    return amount_of_memory(text) if text else _machine()


def entries_within(most: int, each: int) -> int:
    """How many entries of so many bytes each an array may have that would have so many at most: fewer where the limit is less.

    >>> entries_within(10, 8)
    10
    """
    limit = memory_limit()
    return most if limit is None else min(most, limit // each)


def memory_words(number: int) -> str:
    """An amount of memory for readers.

    >>> memory_words(400), memory_words(1536), memory_words(5 * 2**20)
    ('400 bytes', '1.5 KiB', '5 MiB')
    """
    unit = "MiB" if number >= _UNITS["M"] else "KiB"
    shown = f"{number / _UNITS[unit[0]]:.1f}".removesuffix(".0")
    return f"{shown} {unit}" if number >= _UNITS["K"] else f"{number} bytes"


def amount_of_memory(text: str) -> int | None:
    """The bytes that a text names.

    >>> amount_of_memory("500M"), amount_of_memory("none")
    (524288000, None)
    """
    if text.lower() == "none":
        return None
    match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)B?", text.upper())
    if match is None or int(match[1]) == 0:
        raise QuestionError("memory", f"{text!r} is no amount of memory", place=MEMORY, hint="4G, 500M or none")
    return int(match[1]) * _UNITS[match[2]]


@cache
def _machine() -> int | None:
    """The share of the memory of the machine, or of the group of processes that this one may not leave; None where it is not known."""
    try:
        known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, ValueError, OSError):
        return None
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            known.append(int(Path(file).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return int(_SHARE * min(known))


def resident() -> int:
    """The bytes of memory that the process holds now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


@dataclass
class MemoryGrowth:
    """What a computation has taken since it began, looked at now and then."""

    begun: int = field(default_factory=resident)
    looked: float = field(default_factory=time.monotonic)

    def beyond(self) -> str | None:
        """That the computation takes more than it may, in words, or None."""
        now = time.monotonic()
        if now < self.looked + _EVERY:
            return None
        self.looked = now
        limit = memory_limit()
        taken = resident() - self.begun
        if limit is None or taken <= _ORDERLY * limit:
            return None
        return f"out of memory: {memory_words(taken)} are taken, and {memory_words(limit)} are the limit, which {MEMORY} changes"
