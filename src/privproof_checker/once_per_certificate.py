"""What several facts of one certificate read of its question is read once.

A verdict and a bound beside it are about questions that have all members in common but the epsilon.  While one certificate is checked
nothing of it changes, so that the same members, not equal ones but the very same, are read the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

_Read = TypeVar("_Read")
_KEPT: ContextVar[dict[object, tuple[dict[str, object], object]] | None] = ContextVar("kept", default=None)


@contextmanager
def one_certificate() -> Iterator[None]:
    """Inside this context one certificate is checked, and nothing of it changes; what was read is forgotten with it."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def once(what: object, asked: dict[str, object], read: Callable[[], _Read]) -> _Read:
    """What is read of a question, its epsilon apart; it was read before if all other members are the same objects.

    Args:
        what: what is read, and how: for one of these always of the same type.
        asked: the question.
        read: reads it.
    """
    kept = _KEPT.get()
    if kept is None:
        return read()
    members = {name: member for name, member in asked.items() if name != "epsilon"}
    if what in kept:
        before, found = kept[what]
        if before.keys() == members.keys() and all(before[name] is members[name] for name in members):
            return found  # type: ignore[return-value]
    result = read()
    kept[what] = members, result
    return result
