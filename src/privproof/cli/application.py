"""The application: its commands, each loaded only when it is called, and the entry point."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from privproof import __version__
from privproof.cli.answers import WRONG, Answer, deliver, gather, open_standard_streams
from privproof.cli.working import LOADED, answered, explain_error

INTERRUPTED = 130
"""The exit status of a command that was interrupted: 128 and the number of the signal, 2, as shells have it."""
_VERSION = f"privproof {__version__}"

COMMANDS: Mapping[str, tuple[str, str]] = {
    "check": ("asking", "Is the mechanism private within the budget?"),
    "epsilon": ("asking", "The tight epsilon: exact, or certified lower and upper bounds."),
    "delta": ("profiling", "The smallest delta at an epsilon, enclosed: proved from above, refuted from below."),
    "profile": (
        "profiling",
        "The privacy profile: the smallest delta for every epsilon, over all neighbours; of one use or of several together.",
    ),
    "rho": ("measuring", "The smallest rho of zCDP, enclosed."),
    "mu": ("measuring", "The smallest mu of Gaussian differential privacy, enclosed."),
    "renyi": ("measuring", "Rényi divergences at some orders, enclosed."),
    "recheck": ("rechecking", "Check a certificate with the independent checker."),
    "audit": ("auditing", "Test a mechanism by running it, then certify exactly what was found: real or spurious."),
    "convert": ("converting", "Write a model in another form: YAML, JSON, PRISM, DRN, DOT, SVG, SMT-LIB."),
    "examples": ("examples", "The library: list its examples with their known verdicts, or run one."),
    "explain": (
        "explaining",
        "Why a mechanism is private: what every line pays; or what breaks it, and which changes would repair it.",
    ),
    "logic": ("logic", "In which states does a formula hold, and what are the probabilities behind it?"),
    "outline": (
        "outlining",
        "What a file holds: its functions, and what is wrong or refused in it, with line and column.",
    ),
    "schema": (
        "schemas",
        "The JSON Schema (draft 2020-12) of what --json prints about verdicts, of model files, or of certificates.",
    ),
    "store": ("storing", "The verdicts that are kept from one run to the next: how many, where, and giving them up."),
    "account": (
        "accounts",
        "The ledger: what was released about data sets, what it cost, and what is left.",
    ),
    "release": (
        "releasing",
        "Release a query of correlated data with noise that keeps every entry secret within the budget.",
    ),
    "locations": ("locating", "Report places and traces of a table with noise: near places are hardly told apart."),
    "serve": (
        "serving",
        "A page in the browser to write, ask, draw and recheck in, for the person at this machine alone.",
    ),
}
"""Every command: the module that defines it, and what the list of commands says about it."""
UNSUPERVISED = ("serve",)
"""Commands that run no code of a user's file themselves, and end when they are told to."""


def application(wanted: str | None) -> typer.Typer:
    """The application with one command that can be called; of the others it knows the names and what they are for."""
    if wanted is not None and wanted in COMMANDS:
        import_module(f"privproof.cli.{COMMANDS[wanted][0]}")
    made = typer.Typer(
        name="privproof",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback(invoke_without_command=True)(_common)
    for name, (_, summary) in COMMANDS.items():
        if name in LOADED:
            made.command(name)(LOADED[name])
        else:
            made.command(name, help=summary)(_unloaded)
    return made


def _unloaded() -> None:
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
            from privproof.cli.supervising import supervised

            status = supervised(partial(application, wanted))
        else:
            open_standard_streams()
            gather()
            # typer loads a library to read the values of options: the version can be had without
            version = Answer(0, f"{_VERSION}\n") if sys.argv[1:] in (["--version"], ["-V"]) else None
            status = _delivered(version or answered(partial(application, wanted or _to_complete())))
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Exception as error:
        status = _delivered(explain_error(error))
    raise SystemExit(status)


def _to_complete() -> str | None:
    """The command whose options a shell wants to complete: the words that it has so far are in its environment."""
    return next((word for word in os.environ.get("COMP_WORDS", "").split() if word in COMMANDS), None)


def _delivered(answer: Answer | dict[str, object]) -> int:
    return deliver(answer) if isinstance(answer, Answer) else WRONG
