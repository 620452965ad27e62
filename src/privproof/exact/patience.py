"""How long a computation may take: whoever computes for long asks now and then whether to go on.

Everything that is done for one question, from the model to the check of its certificate, is done inside of `watch_computation`, in a
context that knows when to stop; a long loop calls `pause`, and what is asked of another library is given `seconds_left`.  It is here
because numbers are what all parts share but the checker, which the gate lends this watch.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Protocol


class Stopped(BaseException):
    """A computation has to stop in the middle of something; no error, so that no handler of errors takes it for one."""


OUT_OF_TIME = "out of time"
"""Why a computation stops at its deadline."""


class Watch(Protocol):
    """What knows when to stop."""

    @property
    def deadline(self) -> float | None:
        """The moment on the clock of `time.monotonic`; None for never."""

    @property
    def grace(self) -> float:
        """Seconds beyond, in which what was found by then may be confirmed."""

    def stopped(self) -> str | None:
        """Why to stop now, or None."""


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watch_computation(watch: Watch) -> Iterator[None]:
    """Inside this context computations stop when the watch says so."""
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


@dataclass(frozen=True)
class _Extended:
    """A watch at its deadline and grace; what stops it for another reason still does."""

    within: Watch
    deadline: float
    grace: float = 0.0

    def stopped(self) -> str | None:
        """Why to stop now, or None."""
        why = self.within.stopped()
        return None if why == OUT_OF_TIME and time.monotonic() <= self.deadline else why


@contextmanager
def extend_deadline() -> Iterator[None]:
    """Inside this context what was found is confirmed, for which there is some time beyond the deadline."""
    watch = _WATCH.get()
    if watch is None or watch.deadline is None:
        yield
        return
    with watch_computation(_Extended(watch, watch.deadline + watch.grace)):
        yield


def pause() -> None:
    """An opportunity to stop.

    Raises:
        Stopped: the computation has to stop now.
    """
    watch = _WATCH.get()
    if watch is not None:
        why = watch.stopped()
        if why is not None:
            raise Stopped(why)


def seconds_left() -> float:
    """How long another library may compute: at least a moment, because some take zero for no limit.

    >>> seconds_left()
    inf
    """
    watch = _WATCH.get()
    if watch is None or watch.deadline is None:
        return inf
    return max(_MOMENT, watch.deadline - time.monotonic())


_MOMENT = 0.001
"""Seconds: the least unit of the solvers' limits."""
