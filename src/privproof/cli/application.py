"""The application: its commands, each loaded only when it is called, and the entry point."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from privproof.capabilities import Command, capabilities
from privproof.cli.command_answers import WRONG, CommandAnswer, deliver, gather, open_standard_streams
from privproof.cli.command_worker import LOADED, explain_error, run_command
from privproof.version import __version__

INTERRUPTED = 130
"""The exit status of a command that was interrupted: 128 and the number of the signal, 2, as shells have it."""
_VERSION = f"privproof {__version__}"

COMMANDS: Mapping[str, Command] = {name: command for each in capabilities() for name, command in each.commands.items()}
"""Every command: the module that defines it, and what the list of commands says about it."""
UNSUPERVISED = ("serve",)
"""Commands that run no code of a user's file themselves, and end when they are told to."""


def application(wanted: str | None) -> typer.Typer:
    """The application with one command that can be called; of the others it knows the names and what they are for."""
    if wanted is not None and wanted in COMMANDS:
        import_module(f"privproof.{COMMANDS[wanted].module}")
    made = typer.Typer(
        name="privproof",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback(invoke_without_command=True)(_common)
    for name, each in COMMANDS.items():
        if name in LOADED:
            made.command(name)(LOADED[name])
        else:
            made.command(name, help=each.summary)(_refuse_unloaded)
    return made


def _refuse_unloaded() -> None:
    raise AssertionError("the command that is called is the one that was loaded")


def _common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and exit.")] = False,
) -> None:
    """Prove or refute the privacy of a randomised mechanism, and say exactly how private it is.

    Exit status: 0 proved, 1 refuted, 2 the request itself was wrong, 3 unknown, 4 (audit) unknown, and the runs speak against the claim.
    """
    if version:
        typer.echo(_VERSION)
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def wanted_command() -> str | None:
    """The command that ``sys.argv`` names: no option before it has a value."""
    return next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)


def main() -> NoReturn:
    """The entry point: a command runs in a worker, under supervision."""
    wanted = wanted_command()
    try:
        if wanted in COMMANDS and wanted not in UNSUPERVISED:
            from privproof.cli.worker_supervision import run_supervised

            status = run_supervised(partial(application, wanted))
        else:
            open_standard_streams()
            gather()
            # typer loads a library to read the values of options: the version can be had without
            version = CommandAnswer(0, f"{_VERSION}\n") if sys.argv[1:] in (["--version"], ["-V"]) else None
            status = _deliver_answer(version or run_command(partial(application, wanted or _to_complete())))
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Exception as error:
        status = _deliver_answer(explain_error(error))
    raise SystemExit(status)


def _to_complete() -> str | None:
    """The command whose options a shell wants to complete: the words that it has so far are in its environment."""
    return next((word for word in os.environ.get("COMP_WORDS", "").split() if word in COMMANDS), None)


def _deliver_answer(answer: CommandAnswer | dict[str, object]) -> int:
    return deliver(answer) if isinstance(answer, CommandAnswer) else WRONG
