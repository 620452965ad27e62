"""The command ``examples``: the library, with known verdicts."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from privproof.asking import check as ask
from privproof.asking import tight_epsilon
from privproof.cli.common import (
    STATUS,
    AsJson,
    about_words,
    app,
    finish,
    monitored,
)
from privproof.errors import QuestionError
from privproof.formats import write_question
from privproof.formats.processes import write_process
from privproof.model_checking import model_check
from privproof.reporting import (
    print_satisfaction,
    satisfaction_data,
)
from privproof.scenarios import claims

if TYPE_CHECKING:
    from privproof.library import Example, FormulaExample


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Run this example.")] = None,
    write: Annotated[Path | None, typer.Option("--write", help="Write the example as a model file instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """The library: list its examples with their known verdicts, or run one."""
    from privproof.library import EXAMPLES, FORMULAS, FormulaExample  # here, because no other command needs it

    entries: list[Example | FormulaExample] = [*EXAMPLES, *FORMULAS]
    known = {example.name: example for example in entries}
    if name is None:
        if as_json:
            listed = [
                {"name": e.name, "title": e.title, "citation": e.citation, "known": e.known} for e in known.values()
            ]
            typer.echo(json.dumps(listed, ensure_ascii=False))
            return
        table = Grid(box=None, pad_edge=False, header_style="bold")
        for heading in ("name", "what", "known"):
            table.add_column(heading, overflow="fold", no_wrap=heading == "name")
        for example in known.values():
            table.add_row(example.name, Text(example.title), Text(example.known))
        Console(highlight=False).print(table)
        return
    if name not in known:
        raise QuestionError("example", f"there is no example {name!r}", place="examples", hint=", ".join(known))
    example = known[name]
    if not as_json and write is None:
        typer.echo(f"{example.title} ({example.citation})\nknown: {example.known}\n")
    if isinstance(example, FormulaExample):
        _formula_example(example, write, as_json=as_json)
        return
    question = example.question()
    if write is not None:
        write_question(about_words(question, "--write"), write)
        typer.echo(f"{write} written")
        return
    if not as_json and example.mechanism is not None:
        typer.echo(inspect.getsource(example.mechanism.function))
    with monitored(None, quiet=as_json) as monitor:
        asked_tight = not claims(question)
        verdict = tight_epsilon(question, monitor=monitor) if asked_tight else ask(question, monitor=monitor)
    finish(verdict, command=None, asked_tight=asked_tight, as_json=as_json, certificate=None, report=None)


def _formula_example(example: FormulaExample, write: Path | None, *, as_json: bool) -> None:
    """Run, or write, an example that asks a formula."""
    process = example.process()
    if write is not None:
        write_process(process, write)
        typer.echo(f"{write} written")
        return
    with monitored(None, quiet=as_json) as monitor:
        found = model_check(process, example.formula, states=example.states, monitor=monitor)
    if as_json:
        typer.echo(json.dumps(satisfaction_data(found, certificate=None), ensure_ascii=False))
    else:
        print_satisfaction(Console(highlight=False), found, every=False)
    raise typer.Exit(STATUS[found.status])
