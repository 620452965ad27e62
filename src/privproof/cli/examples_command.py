"""The command ``examples``: the library, with known verdicts."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Grid
from rich.text import Text

from privproof.asking import check as ask
from privproof.asking import tight_epsilon
from privproof.cli.command_answers import console, end, say, say_json, write
from privproof.cli.command_drafts import STATUS, asking, begin, finish, writable
from privproof.cli.command_options import AsJson, TimeLimit
from privproof.cli.command_worker import command, command_monitor
from privproof.errors import QuestionError, nearest
from privproof.formats.document_writing import question_text
from privproof.logic.formats.process_files import process_text
from privproof.logic.formula_engine import model_check
from privproof.logic.formula_texts import print_satisfaction, satisfaction_data

if TYPE_CHECKING:
    from privproof.library import Example
    from privproof.logic.library.formula_examples import FormulaExample


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
    from privproof.library import EXAMPLES
    from privproof.logic.library.formula_examples import (  # here, because no other command needs it
        FORMULAS,
        FormulaExample,
    )

    begin(name or "examples", time_limit, as_json=as_json)
    writable(out)
    entries: list[Example | FormulaExample] = [*EXAMPLES, *FORMULAS]
    known = {example.name: example for example in entries}
    if name is None:
        if as_json:
            listed = [
                {"name": e.name, "title": e.title, "citation": e.citation, "known": e.known, **_written(e)}
                for e in known.values()
            ]
            say_json(listed)
            return
        table = Grid(box=None, pad_edge=False, header_style="bold")
        for heading in ("name", "what", "known"):
            table.add_column(heading, overflow="fold", no_wrap=heading == "name")
        for example in known.values():
            table.add_row(example.name, Text(example.title), Text(example.known))
        console().print(table)
        return
    if name not in known:
        hint = nearest(name, known) or "privproof examples lists them"
        raise QuestionError("example", f"there is no example {name!r}", place="examples", hint=hint)
    example = known[name]
    if not as_json and out is None:
        say(f"{example.title} ({example.citation})\nknown: {example.known}\n")
    if isinstance(example, FormulaExample):
        _formula_example(example, out, as_json=as_json)
        return
    if out is not None and out.suffix == ".py":
        if example.mechanism is None:
            raise QuestionError(
                "example", f"{name} is a model, no function", place="--write", hint="--write model.yaml"
            )
        import privproof
        from privproof.library.example_texts import mechanism_text

        write(out, mechanism_text(example.mechanism, privproof.__all__))
        say(f"{out} written")
        return
    question = example.question()
    if out is not None:
        write(out, question_text(question.words(place="--write"), out))
        say(f"{out} written")
        return
    if not as_json and example.mechanism is not None:
        say(inspect.getsource(example.mechanism.function))
    asked_tight = not question.claims
    asking(question, command=None, asked_tight=asked_tight, as_json=as_json)
    with command_monitor() as monitor:
        verdict = tight_epsilon(question, monitor=monitor) if asked_tight else ask(question, monitor=monitor)
    finish(verdict, command=None, asked_tight=asked_tight, as_json=as_json, certificate=None, report=None)


def _written(example: Example | FormulaExample) -> dict[str, str | None]:
    """As what ``--write`` writes an example: the form, python or model, and the name of its function; None where there is none."""
    from privproof.logic.library.formula_examples import FormulaExample

    if isinstance(example, FormulaExample):
        return {"form": None, "function": None}
    if example.mechanism is not None:
        return {"form": "python", "function": str(example.mechanism.function.__name__)}
    return {"form": "model" if example.question().family == "words" else None, "function": None}


def _formula_example(example: FormulaExample, out: Path | None, *, as_json: bool) -> None:
    """Run, or write, an example that asks a formula."""
    process = example.process()
    if out is not None:
        write(out, process_text(process, out))
        say(f"{out} written")
        return
    with command_monitor() as monitor:
        found = model_check(process, example.formula, states=example.states, monitor=monitor)
    if as_json:
        say_json(satisfaction_data(found, certificate=None))
    else:
        print_satisfaction(console(), found, every=False)
    end(STATUS[found.status])
