"""The command ``store``: the verdicts that are kept from one run to the next."""

from __future__ import annotations

from typing import Annotated

import typer

from privproof.cli.command_answers import say, say_json
from privproof.cli.command_options import AsJson
from privproof.cli.command_worker import command, report_activity
from privproof.errors import FormatError, QuestionError, nearest
from privproof.memory import amount_of_memory
from privproof.store.stored_verdicts import KEPT_FOR, LARGEST_STORE, VARIABLE, VerdictStore, default_path

_ACTIONS = ("show", "gc")


@command("store")
def store(
    action: Annotated[str, typer.Argument(metavar="[show|gc]", help="What to do.")] = "show",
    days: Annotated[
        float, typer.Option("--days", min=0, help="gc: give up what was not used for so many days; 0 for all.")
    ] = KEPT_FOR,
    size: Annotated[
        str | None, typer.Option("--size", help="gc: then those not used for longest, down to this size: 100M.")
    ] = None,
    old: Annotated[
        bool, typer.Option("--old", help="gc: give up what other versions of Python, libraries or privproof found.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The verdicts that are kept from one run to the next: how many, where, and giving them up."""
    from privproof.store.question_digests import environment_digest  # here: it reads the text of privproof

    if action not in _ACTIONS:
        hint = nearest(action, _ACTIONS) or "privproof store gc"
        raise QuestionError("store", f"there is nothing called {action!r} to do", place="store", hint=hint)
    path = default_path()
    if path is None:
        raise QuestionError("store", "there is no store", place=VARIABLE, hint=f"unset {VARIABLE}")
    report_activity(f"reading {path}")
    held = VerdictStore(path)
    here = environment_digest()
    gone = 0
    if action == "gc":
        most = LARGEST_STORE if size is None else amount_of_memory(size)
        gone = held.collect(days, LARGEST_STORE if most is None else most, here if old else None)
    holds = held.holdings(here)
    if held.problem:
        raise FormatError(
            "store", "the store cannot be used", place=held.problem, hint=f"{VARIABLE}=FILE, or remove it"
        )
    if as_json:
        counts = {"verdicts": holds.verdicts, "statuses": dict(holds.statuses), "old": holds.old, "bytes": holds.bytes}
        say_json({"path": str(path), **counts, "seconds": round(holds.seconds, 3), "removed": gone})
        return
    told = f"{holds.verdicts} verdict{'s' * (holds.verdicts != 1)}, {holds.bytes} bytes"
    say(f"{path}: {told}" + (f"; {gone} given up" if action == "gc" else ""))
    if holds.verdicts:
        kinds = ", ".join(f"{many} {status}" for status, many in holds.statuses.items())
        say(f"{kinds}; found in {holds.seconds:.1f} s" + (f"; {holds.old} by other versions" if holds.old else ""))
