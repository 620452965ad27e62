"""What ``[tool.privproof]`` in ``pyproject.toml`` says about checking a project.

The nearest ``pyproject.toml`` above the working directory that has the table counts.  Decimals are read as they are written, so
``epsilon = 0.1`` means exactly one tenth; a key that is not known is refused, because a misspelt one would be a check that is not made.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privproof.errors import FormatError, nearest

FILE, TABLE = "pyproject.toml", "tool.privproof"
FAIL_ON = ("refuted", "unknown")


@dataclass(frozen=True)
class Configuration:
    """The settings of a project.

    Attributes:
        folder: the folder that paths are relative to.
        paths: what is checked where the command names nothing: files, folders, ``FILE:NAME``, ``package.module:NAME``.
        exclude: patterns of files and folders that are left out where a folder is looked through.
        epsilon: the budget of mechanisms that claim none of their own.
        delta: its delta.
        size: the length of lists, for mechanisms whose declarations leave it open.
        time_limit: the seconds that each mechanism may take.
        fail_on: the mildest verdict that makes the command fail.
        jobs: how many mechanisms are checked at once.
    """

    folder: Path
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    epsilon: str | None = None
    delta: str | None = None
    size: str | None = None
    time_limit: float | None = None
    fail_on: str | None = None
    jobs: int | None = None


def configuration(folder: Path) -> Configuration:
    """The configuration that counts in a folder; one that says nothing where there is none.

    Raises:
        FormatError: the file is no TOML, or a key or a value is none that is known.
    """
    for each in (folder, *folder.parents):
        file = each / FILE
        if not file.is_file():
            continue
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=str)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise FormatError("configuration", f"it cannot be read: {error}", place=str(file)) from None
        tools = document.get("tool", {})
        if isinstance(tools, Mapping) and "privproof" in tools:
            return _read_configuration(tools["privproof"], file)
    return Configuration(folder)


def _read_configuration(table: Any, file: Path) -> Configuration:
    place = f"{file}: {TABLE}"
    if not isinstance(table, Mapping):
        raise FormatError("configuration", "it is no table", place=place, hint=f"[{TABLE}]")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            hint = nearest(key, _KEYS) or f"known: {', '.join(_KEYS)}"
            raise FormatError("configuration", f"there is no setting {key!r}", place=place, hint=hint)
        expected, read = _KEYS[key]
        made = read(value)
        if made is None:
            shown = f"{key} = {value!r}"
            raise FormatError("configuration", f"{shown} is not {expected}", place=place, hint=_HINTS[key])
        values[key.replace("-", "_")] = made
    return Configuration(file.parent, **values)


def _number(value: Any) -> str | None:
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else None


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(each, str) and each for each in value):
        return tuple(value)
    return None


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value) if _number(value) is not None else -1.0
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def _fail_on(value: Any) -> str | None:
    return value if value in FAIL_ON else None


_KEYS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "paths": ("a list of texts", _texts),
    "exclude": ("a list of texts", _texts),
    "epsilon": ("a number or a text", _number),
    "delta": ("a number or a text", _number),
    "size": ("a whole number or a text", _number),
    "time-limit": ("a number of seconds", _seconds),
    "fail-on": (f"one of {', '.join(FAIL_ON)}", _fail_on),
    "jobs": ("a whole number from 1 on", _count),
}
_HINTS = {
    "paths": 'paths = ["src", "models/survey.yaml", "src/counts.py:histogram"]',
    "exclude": 'exclude = ["tests", "src/*/generated_*.py"]',
    "epsilon": 'epsilon = "ln(2)"',
    "delta": 'delta = "1e-6"',
    "size": "size = 3",
    "time-limit": "time-limit = 60",
    "fail-on": 'fail-on = "refuted"',
    "jobs": "jobs = 4",
}
