"""Work that is shared out to several processes, which are copies of this one: nothing has to cross but the results."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

_WORK: list[Callable[[int], Any]] = []
"""What the copies of this process are to do; they have it because they are copies."""


def shared_out(work: Callable[[int], Result], count: int, processes: int) -> list[Result]:
    """The results of some work on the numbers from 0 up, in order; what goes wrong in one of them goes wrong here."""
    _WORK.append(work)
    try:
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            return pool.map(_done, range(count), chunksize=max(1, count // (processes * 4)))
    finally:
        _WORK.pop()


def _done(number: int) -> Any:
    return _WORK[-1](number)
