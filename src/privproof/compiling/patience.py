"""How long compiling may take: a deadline for everything that is compiled inside a context.

Models are made before an engine is asked, and some engines make them larger.  Whoever compiles calls `pause` now and then, and gives up
when the time is over.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from privproof.errors import LanguageError

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)

OUT_OF_TIME = "time"
"""The code of the error."""


@contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """Inside this context compiling ends at a moment on the clock of `time.monotonic`; None for never."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def pause() -> None:
    """An opportunity to give up.

    Raises:
        LanguageError: the time is over.
    """
    deadline = _DEADLINE.get()
    if deadline is not None and time.monotonic() > deadline:
        raise LanguageError(
            OUT_OF_TIME, "out of time while the model was made", hint="a smaller size, or a longer time limit"
        )
