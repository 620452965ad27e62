"""The command ``examples``: the library, with known verdicts."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from privproof.capabilities import capabilities, load_named
from privproof.cli.command_answers import console, say, say_json, write
from privproof.cli.command_options import AsJson, TimeLimit
from privproof.cli.command_requests import begin, writable
from privproof.cli.command_worker import command, command_monitor
from privproof.errors import QuestionError, nearest


@command("examples")
def examples(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Run this example.")] = None,
    out: Annotated[
        Path | None, typer.Option("--write", help="Write the example instead: its function as .py, or a model file.")
    ] = None,
    as_json: AsJson = False,
    time_limit: TimeLimit = None,
) -> None:
    """The library: list its examples with their known verdicts, or run one."""
    begin(name or "examples", time_limit, as_json=as_json)
    writable(out)
    brought = [each.examples for each in capabilities() if each.examples is not None]
    known = {example.name: (example, each) for each in brought for example in load_named(each.entries)}
    if name is None:
        if as_json:
            say_json([{**_told(example), **_form(load_named(each.form)(example))} for example, each in known.values()])
        else:
            _list([example for example, _ in known.values()])
        return
    if name not in known:
        hint = nearest(name, known) or "privproof examples lists them"
        raise QuestionError("example", f"there is no example {name!r}", place="examples", hint=hint)
    example, each = known[name]
    if out is not None:
        write(out, load_named(each.text)(example, out))
        say(f"{out} written")
        return
    if not as_json:
        say(f"{example.title} ({example.citation})\nknown: {example.known}\n")
    load_named(each.run)(example, as_json=as_json)


def _told(example: Any) -> dict[str, str]:
    return {key: getattr(example, key) for key in ("name", "title", "citation", "known")}


def _form(form: tuple[str | None, str | None]) -> dict[str, str | None]:
    return dict(zip(("form", "function"), form, strict=True))


def _list(entries: list[Any]) -> None:
    """A line for each example."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "what", "known"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for example in entries:
        table.add_row(example.name, Text(example.title), Text(example.known))
    console().print(table)


def run_example(example: Any, *, as_json: bool) -> NoReturn:
    """Ask the question of an example; the answer is its verdict."""
    from privproof.asking import check, tight_epsilon
    from privproof.cli.command_drafts import draft_question, finish

    question = example.question()
    if not as_json and example.mechanism is not None:
        say(inspect.getsource(example.mechanism.function))
    asked_tight = not question.claims
    draft_question(question, command=None, asked_tight=asked_tight, as_json=as_json)
    with command_monitor() as monitor:
        verdict = tight_epsilon(question, monitor=monitor) if asked_tight else check(question, monitor=monitor)
    finish(verdict, command=None, asked_tight=asked_tight, as_json=as_json, certificate=None, report=None)
