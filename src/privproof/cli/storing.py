"""The command ``store``: the verdicts that are kept from one run to the next."""

from __future__ import annotations

from typing import Annotated

import typer

from privproof.cli.answers import say, say_json
from privproof.cli.options import AsJson
from privproof.cli.working import command, doing
from privproof.errors import FormatError, QuestionError, nearest
from privproof.store.verdicts import KEPT_FOR, VARIABLE, VerdictStore, default_path

_ACTIONS = ("show", "gc")


@command("store")
def store(
    action: Annotated[str, typer.Argument(metavar="[show|gc]", help="What to do.")] = "show",
    days: Annotated[
        float, typer.Option("--days", min=0, help="gc: give up what was not used for so many days; 0 for all.")
    ] = KEPT_FOR,
    as_json: AsJson = False,
) -> None:
    """The verdicts that are kept from one run to the next: how many, where, and giving them up."""
    if action not in _ACTIONS:
        hint = nearest(action, _ACTIONS) or "privproof store gc"
        raise QuestionError("store", f"there is nothing called {action!r} to do", place="store", hint=hint)
    path = default_path()
    if path is None:
        raise QuestionError("store", "there is no store", place=VARIABLE, hint=f"unset {VARIABLE}")
    doing(f"reading {path}")
    held = VerdictStore(path)
    gone = held.collect(days) if action == "gc" else 0
    holds = held.holdings()
    if held.problem:
        raise FormatError(
            "store", "the store cannot be used", place=held.problem, hint=f"{VARIABLE}=FILE, or remove it"
        )
    if as_json:
        say_json({"path": str(path), "verdicts": holds.verdicts, "bytes": holds.bytes, "removed": gone})
        return
    told = f"{holds.verdicts} verdict{'s' * (holds.verdicts != 1)}, {holds.bytes} bytes"
    say(f"{path}: {told}" + (f"; {gone} given up" if action == "gc" else ""))
