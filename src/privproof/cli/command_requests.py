"""What commands make of their options before anything is loaded: sizes, orders, files that must be writable; and their exit statuses."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from privproof.cli.command_worker import WHY, on_interrupt, report_activity, set_time_limit
from privproof.errors import FormatError, QuestionError
from privproof.formats.whole_files import is_special

STATUS = {"proved": 0, "refuted": 1, "unknown": 3}


REFUSED = 1
"""The status of a spending that is beyond the budget, and of a ledger in which something is wrong."""
AGAINST = 4
"""The status of an audit that decides nothing, where the runs speak against the claim."""


def begin(target: str, limit: float | None, *, as_json: bool) -> None:
    """A command begins: how long it may take, and what it says if it is stopped before its question is known."""
    answer_if_stopped(target, as_json=as_json)
    set_time_limit(limit)
    report_activity(f"loading {target}")


def answer_if_stopped(name: str, *, as_json: bool, err: str = "") -> None:
    """If the command is stopped now, nothing is known."""
    bounds = {"ratio": None, "epsilon": None, "exact": None, "lower": "0", "upper": "inf"}
    said: dict[str, object] = {
        "verdict": "unknown",
        "engine": "none",
        "question": {"mechanism": name},
        "tight": bounds,
        "witness": None,
        "certificate": None,
        "seconds": 0.0,
        "notes": [],
        "reason": WHY,
    }
    draft = (
        {"object": said, "err": err} if as_json else {"out": f"? unknown  {name}\n  {'reason':<15}{WHY}\n", "err": err}
    )
    on_interrupt(lambda _: draft)


def named_sizes(text: str | None) -> list[int | None]:
    """The sizes that ``--size`` names."""
    if text is None:
        return [None]
    match = re.fullmatch(r"([0-9]{1,6})(?:\.\.([0-9]{1,6}))?", text.strip())
    if match is None:
        raise QuestionError("size", f"{text!r} is no size", place="--size", hint="--size 3, or --size 2..8")
    low, high = int(match[1]), int(match[2] or match[1])
    if low < 1 or high < low:
        raise QuestionError("size", f"{text!r} names no sizes", place="--size", hint="--size 2..8")
    return list(range(low, high + 1))


def one_size(text: str | None) -> int | None:
    sizes = named_sizes(text)
    if len(sizes) > 1:
        raise QuestionError("size", f"{text!r} names several sizes", place="--size", hint="--size 3")
    return sizes[0]


def one_size_only(sizes: list[int | None], certificate: Path | None, report: Path | None) -> None:
    """Complain about a certificate or a report of several sizes, before anything is searched."""
    if len(sizes) > 1 and (certificate is not None or report is not None):
        raise QuestionError(
            "size", "certificates and reports are about one size", place="--size", hint="--size 3 --certificate OUT"
        )


def renyi_orders(texts: list[str] | None) -> dict[str, str]:
    """The bounds that ``--renyi`` names, by order."""
    found: dict[str, str] = {}
    for text in texts or ():
        order, equals, value = text.partition("=")
        if not equals or order.strip() in found:
            raise QuestionError("budget", f"{text!r} is no order with its value", place="--renyi", hint="--renyi 2=1/4")
        found[order.strip()] = value.strip()
    return found


def measure_options(rho: str | None, mu: str | None, renyi: list[str] | None) -> list[tuple[str, object]]:
    """The options that claim another measure, with their values, as they are written on a command line."""
    return [("--rho", rho), ("--mu", mu), *(("--renyi", each) for each in renyi or ())]


def _needed(path: Path) -> list[Path]:
    """What has to be writable so that a file can appear: itself, if it is there, and the folder in which it is written first."""
    beside = [] if is_special(path) else [Path(os.path.realpath(path)).parent]
    return [path, *beside] if path.exists() else beside


def writable(*paths: Path | None) -> None:
    """Complain about a path that cannot be written before anything is searched."""
    for path in paths:
        if path is None:
            continue
        reason = None
        if path.is_dir():
            reason = errno.EISDIR
        elif not path.parent.exists():
            reason = errno.ENOENT
        elif not path.parent.is_dir():
            reason = errno.ENOTDIR
        elif not all(os.access(needed, os.W_OK) for needed in _needed(path)):
            reason = errno.EACCES
        if reason is not None:
            raise FormatError("file", f"cannot write: {os.strerror(reason)}", place=str(path))
