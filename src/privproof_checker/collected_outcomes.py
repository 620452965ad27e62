"""Garbage is looked for seldom while a certificate is checked.

A check makes many values, hardly any of which refer to one another in circles: looking for those takes up to a third of its time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_SELDOM = 200_000
"""New values after which garbage is looked for."""
_lock = Lock()
_before: list[tuple[int, int, int]] = []
"""What was set before, once for every check that goes on."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Look for garbage seldom, until all that asked for it are done; where it is not looked for at all, or more seldom, that stays."""
    with _lock:
        first, second, third = gc.get_threshold()
        _before.append((first, second, third))
        if 0 < first < _SELDOM:
            gc.set_threshold(_SELDOM, second, third)
    try:
        yield
    finally:
        with _lock:
            if len(_before) == 1:
                gc.set_threshold(*_before[0])
                _before.clear()
            else:
                _before.pop()  # the first is what is set again in the end
