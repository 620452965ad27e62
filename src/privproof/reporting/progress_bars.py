"""How far a search is, in one line below the cell of a notebook or on a terminal, until it is done."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from types import FrameType
from typing import Any

from privproof.engines.search_monitor import Monitor, Progress

_PATIENCE = 0.5
"""Seconds before anything is shown: what answers sooner needs no line."""
_OFTEN = 0.2
"""Seconds between two lines: faster than this nobody reads."""


@contextmanager
def show_progress(time_limit: float | None = None) -> Iterator[Monitor]:
    """A monitor that shows what a search is doing, and stops it when the kernel (or the terminal) is interrupted.

    In a notebook the line stands below the cell, on a terminal on standard error; it goes away at the end.  An interrupted search answers
    *unknown*, with the bounds that are established by then.

    Args:
        time_limit: stop after so many seconds, with what is established.

    >>> from privproof import check
    >>> with show_progress() as monitor:
    ...     check("examples/models/geometric.yaml", monitor=monitor).status
    'proved'
    """
    write, erase = _writer()
    begun = time.monotonic()
    last = begun + _PATIENCE - _OFTEN

    def listen(event: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _OFTEN:
            last = now
            write(f"{event} ({now - begun:.0f} s)")

    monitor = Monitor.within(time_limit)
    monitor.listen = listen

    def interrupt(number: int, frame: FrameType | None) -> None:
        if monitor.interrupted:
            raise KeyboardInterrupt
        monitor.interrupted = True

    own = threading.current_thread() is threading.main_thread()
    before: Any = signal.signal(signal.SIGINT, interrupt) if own else None
    try:
        yield monitor
    finally:
        if own:
            signal.signal(signal.SIGINT, before)
        erase()


def _writer() -> tuple[Callable[[str], None], Callable[[], None]]:
    """What shows a line in the place of the last one, and what takes it away."""
    if _in_notebook():
        from IPython import display as shown

        html: Any = shown.HTML
        handle: Any = getattr(shown, "display")(html(""), display_id=True)  # noqa: B009 - it has no types
        return lambda line: handle.update(html(f"<small>{escape(line)}</small>")), lambda: handle.update(html(""))
    stream = sys.stderr
    if not stream.isatty():
        return lambda line: None, lambda: None
    return lambda line: _write_and_flush(stream, f"\r\x1b[K{line[:100]}"), lambda: _write_and_flush(stream, "\r\x1b[K")


def _write_and_flush(stream: Any, text: str) -> None:
    stream.write(text)
    stream.flush()


def _in_notebook() -> bool:
    """Whether this runs in a kernel that shows HTML."""
    found = sys.modules.get("IPython")
    shell = None if found is None else found.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
