"""The command ``outline``: what a file holds, and what is wrong or refused in it, for editors."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from privproof.cli.command_answers import end, say, say_json
from privproof.cli.command_options import AsJson, TimeLimit
from privproof.cli.command_worker import WHY, command, on_interrupt, report_activity, set_time_limit
from privproof.formats.file_outlines import Outline, outline_of


@command("outline")
def outline(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A Python file, or a model file.")],
    as_json: AsJson = False,
    time_limit: TimeLimit = None,
) -> None:
    """What a file holds: its functions, and what is wrong or refused in it, with line and column.

    Nothing is run that does more than declare. Status 0: nothing is wrong, 2: something is; what is refused is run as it is.
    """
    on_interrupt(lambda _: {"object": {"reason": WHY}} if as_json else {"err": f"? not read  {path}: {WHY}\n"})
    set_time_limit(time_limit)
    report_activity(f"reading {path}")
    found = outline_of(path)
    if as_json:
        say_json(outline_data(found))
    else:
        say(outline_text(path, found), end="")
    end(2 if any(problem.kind == "wrong" for problem in found.problems) else 0)


def outline_data(found: Outline) -> dict[str, object]:
    """The outline as plain data."""
    entries = [{**asdict(e), "inputs": dict(e.inputs), "parameters": dict(e.parameters)} for e in found.entries]
    return {"functions": entries, "problems": [asdict(each) for each in found.problems], "unread": found.unread}


def outline_text(path: Path, found: Outline) -> str:
    """The outline in words, a line for each part."""
    lines = []
    for entry in found.entries:
        given = ", ".join(f"{name}: {declared}" for name, declared in entry.inputs)
        claimed = f", claimed {entry.claim}" if entry.claim else ""
        lines.append(f"{path}:{entry.line}: {entry.name}({given}){claimed}")
    if found.unread is not None:
        lines.append(f"{path}:{found.unread}: this line does more than declare, so the file was not executed")
    for problem in found.problems:
        hint = f"\n  hint: {problem.hint}" if problem.hint else ""
        lines.append(f"{path}:{problem.line}:{problem.column}: {problem.message} [{problem.code}]{hint}")
    return "".join(f"{line}\n" for line in lines)
