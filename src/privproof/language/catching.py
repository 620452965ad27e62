"""Errors that a function catches: those that a noisy number makes where a number that is drawn makes none.

Noise that is left open is an object that stands for a number, and some code of C does not take it for one.  A function that fails then has
no verdict.  One that catches the error goes a way that no run goes, so errors that pass through code of its own are looked at.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from privproof.language.trees import playing

_FOREIGN = (
    str(Path(__file__).parent.parent),
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("purelib"),
    "<frozen",
)


@lru_cache(maxsize=4096)
def _own(filename: str) -> bool:
    """Whether code is neither Python's nor installed nor this package's."""
    return not filename.startswith(_FOREIGN) and "site-packages" not in filename


@contextmanager
def watching_errors(doubted: Callable[[BaseException], None] | None = None) -> Iterator[None]:
    """Inside this context every error that passes through the function's own code is shown to the run under way, or to somebody else."""

    def passing(frame: FrameType, event: str, argument: Any) -> Any:
        player = playing()
        told = doubted or (None if player is None else player.doubted)
        if event == "exception" and told is not None:
            told(argument[1])
        return passing

    def begun(frame: FrameType, event: str, argument: Any) -> Any:
        if not _own(frame.f_code.co_filename):
            return None
        frame.f_trace_lines = False
        return passing

    before = sys.gettrace()
    sys.settrace(begun)
    try:
        yield
    finally:
        sys.settrace(before)
