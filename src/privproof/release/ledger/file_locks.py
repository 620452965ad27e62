"""One process at a time: a lock beside a file, for what is read, checked and written back.

The lock is the operating system's own (``flock``, on Windows a locked byte) on a file ``NAME.lock`` beside the file, with links
followed.  It ends with the process that holds it, however that ends, so there are no stale locks; the file ``NAME.lock`` stays, empty.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from privproof.errors import FormatError

_PAUSE = 0.02
"""Seconds between two attempts: short beside what is done under a lock, long beside an attempt."""

if os.name == "nt":  # pragma: no cover
    import msvcrt

    def _taken(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

    def _let_go(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _let_go(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def file_lock(path: str | Path, *, wait: float) -> Iterator[None]:
    """Inside this context no other process or thread holds the lock of this file.

    Args:
        path: the file, which need not exist yet.
        wait: how many seconds to wait for another that holds it.

    Raises:
        FormatError: the lock cannot be had; nothing was done.
    """
    name = f"{Path(path).name}.lock"
    try:
        handle = _acquire_lock(Path(f"{os.path.realpath(path)}.lock"), time.monotonic() + wait)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError("lock", f"the lock {name} cannot be made: {reason}", place=str(path)) from None
    if handle is None:
        raise FormatError(
            "lock",
            f"another process has held {name} for {wait:g} seconds",
            place=str(path),
            hint="nothing was changed: wait for it, or see what it does, and try again",
        )
    try:
        yield
    finally:
        _let_go(handle)
        os.close(handle)


def _acquire_lock(lock: Path, deadline: float) -> int | None:
    """The handle of the lock, held; None after the deadline."""
    while True:
        handle = _open_lock(lock)
        try:
            if _taken(handle):
                if _still_there(lock, handle):
                    return handle
                _let_go(handle)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if not time.monotonic() < deadline:
            return None
        time.sleep(_PAUSE)


def _open_lock(lock: Path) -> int:
    """The lock's file, made where there is none; to read only where it belongs to somebody else."""
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:
        if not lock.is_file():
            raise
        return os.open(lock, os.O_RDONLY)


def _still_there(lock: Path, handle: int) -> bool:
    """Whether the file that is held is the one of that name: somebody may have removed it in between."""
    try:
        return os.path.samestat(os.stat(lock), os.fstat(handle))
    except FileNotFoundError:
        return False
