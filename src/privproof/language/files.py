"""Files that a function writes and looks at again: state that is kept from run to run, outside of Python.

What a run writes is no part of its output, and to read what was there before all runs is to rely on it.  But a file that one run writes
and another one opens, or asks the size of, carries something from run to run, and then there is no verdict.
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterator
from typing import Any

from privproof.language.linear import refuse
from privproof.language.trees import playing

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def watched_files() -> Iterator[tuple[Any, dict[str, Any]]]:
    """What opens files and looks at them, each with what stands for it while a function runs."""
    written: set[str] = set()
    yield builtins, {"open": _opening(builtins.open, written)}
    yield io, {"open": _opening(io.open, written)}
    yield os, {"open": _low_level(os.open, written)}
    for name in ("stat", "lstat", "listdir", "scandir"):
        yield os, {name: _looking(getattr(os, name), written)}


def _opening(really: Callable[..., Any], written: set[str]) -> Callable[..., Any]:
    def opened(file: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        if playing() is not None and (path := _path(file)) is not None:
            _noted(path, written, reads="r" in mode or "+" in mode, writes=not set(mode).isdisjoint("wax+"))
        return really(file, mode, *arguments, **named)

    return opened


def _low_level(really: Callable[..., Any], written: set[str]) -> Callable[..., Any]:
    def opened(path: Any, flags: int, *arguments: Any, **named: Any) -> Any:
        if playing() is not None and (name := _path(path)) is not None:
            both = flags & os.O_RDWR
            _noted(name, written, reads=bool(both) or not flags & os.O_WRONLY, writes=bool(flags & _WRITING))
        return really(path, flags, *arguments, **named)

    return opened


def _looking(really: Callable[..., Any], written: set[str]) -> Callable[..., Any]:
    def looked(path: Any = ".", *arguments: Any, **named: Any) -> Any:
        if playing() is not None and (name := _path(path)) is not None:
            _noted(name, written, reads=True, writes=False)
            if any(os.path.dirname(each) == name for each in written):
                _refuse(name)
        return really(path, *arguments, **named)

    return looked


def _noted(path: str, written: set[str], *, reads: bool, writes: bool) -> None:
    if reads and (writes or path in written):
        _refuse(path)
    if writes:
        written.add(path)


def _refuse(path: str) -> None:
    refuse(
        "hidden",
        f"a run writes {os.path.basename(path)!r} and looks at it, so that what the next one shows depends on those before",
        hint="keep nothing from run to run: pass it in, or make it inside",
    )


def _path(file: Any) -> str | None:
    """The path of a file by itself; None for what is open already."""
    if isinstance(file, int):
        return None
    try:
        return os.path.abspath(os.fsdecode(file))
    except TypeError:
        return None
