"""Stopping a check: whoever asks for one may give a watch, which is asked now and then whether to go on.

All that a check can learn from a watch is that it must stop, which establishes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Protocol


class Watch(Protocol):
    """What knows when to stop."""

    def pause(self) -> None:
        """Go on, or raise what stops the check."""

    def seconds_left(self) -> float:
        """How long another library may compute."""


_WATCH: ContextVar[Watch | None] = ContextVar("watch of the checker", default=None)


@contextmanager
def watch_check(watch: Watch | None) -> Iterator[None]:
    """Inside this context checks ask the watch, if there is one."""
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


def pause() -> None:
    """An opportunity to stop."""
    watch = _WATCH.get()
    if watch is not None:
        watch.pause()


def seconds_left() -> float:
    """How long another library may compute."""
    watch = _WATCH.get()
    return inf if watch is None else watch.seconds_left()
