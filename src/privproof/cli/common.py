"""What the commands share: options, progress, and how an answer ends.

Exit status: 0 proved, 1 refuted, 2 the request itself was wrong, 3 unknown.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console

import privproof
from privproof.cli.loading import load, only_pair, parameters_of
from privproof.engines import Monitor, Progress
from privproof.errors import FormatError, PrivproofError, QuestionError
from privproof.evidence import Verdict
from privproof.exact import Budget, delta, epsilon
from privproof.models import Horizon
from privproof.reporting import (
    Command,
    Fact,
    data,
    page,
    print_table,
    print_verdict,
)
from privproof.scenarios import (
    AnyQuestion,
    ParametricQuestion,
    ProgramQuestion,
    PufferfishQuestion,
    Question,
    ReleaseQuestion,
    StreamQuestion,
)
from privproof.sizes import Table

STATUS = {"proved": 0, "refuted": 1, "unknown": 3}

app = typer.Typer(
    name="privproof",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Target = Annotated[str, typer.Argument(metavar="FILE[:NAME]", help="A model file, or a Python file and a name in it.")]
DeltaText = Annotated[str | None, typer.Option("--delta", help="The budget's delta, over events; default 0.")]
Pointwise = Annotated[bool, typer.Option("--pointwise", help="Read delta for each output instead of each event.")]
Size = Annotated[
    str | None, typer.Option("--size", help="The length of the lists that a mechanism reads: 3, or a range 2..8.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="The value of a parameter; may be repeated.")
]
HorizonText = Annotated[str | None, typer.Option("--horizon", help='Word lengths: K, "up to K" or unbounded.')]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="table, tensors, frontier, unbounded, events, smt, streams or laplace; default: the first that fits.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
CertificateOut = Annotated[Path | None, typer.Option("--certificate", help="Write the certificate here.")]
ReportOut = Annotated[Path | None, typer.Option("--report", help="Write an HTML report here.")]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", min=0, help="Stop after so many seconds, with what is known.")
]


@contextmanager
def monitored(limit: float | None, *, quiet: bool) -> Iterator[Monitor]:
    """A monitor that shows progress on a terminal; an interrupt stops the search, a second one the program."""
    monitor = Monitor(deadline=None if limit is None else time.monotonic() + limit)
    errors = Console(stderr=True)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if monitor.interrupted:
            raise KeyboardInterrupt
        monitor.interrupted = True

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        if quiet or not errors.is_terminal:
            yield monitor
        else:
            with errors.status("compiling") as status:

                def listen(event: Progress) -> None:
                    status.update(str(event))

                monitor.listen = listen
                yield monitor
    finally:
        signal.signal(signal.SIGINT, before)


def loaded(
    target: str, size: int | None, horizon: str | None, pair: str | None = None, settings: list[str] | None = None
) -> AnyQuestion:
    lengths = None if horizon is None else Horizon.of(horizon)
    question = load(target, size=size, horizon=lengths, parameters=parameters_of(settings))
    if pair is None:
        return question
    return only_pair(about_words(question, "--pair"), pair)


def about_words(question: AnyQuestion, place: str) -> Question:
    """The question, if it is one about the words of a model."""
    if isinstance(question, ProgramQuestion | StreamQuestion):
        raise QuestionError(
            "question",
            "this does not apply to continuous noise or numbers without bounds",
            place=place,
            hint="privproof check, privproof epsilon, privproof explain",
        )
    if isinstance(question, PufferfishQuestion | ParametricQuestion | ReleaseQuestion):
        raise QuestionError(
            "question",
            "this does not apply to secrets under a prior",
            place=place,
            hint="privproof check, privproof epsilon",
        )
    return question


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


def command_of(
    target: str,
    size: int | None,
    horizon: str | None,
    epsilon_: str | None,
    delta_: str | None,
    settings: list[str] | None = None,
    *,
    pointwise: bool,
) -> Command:
    """The options that belong to the question, as they were given."""
    given: list[tuple[str, object]] = [
        ("--size", size),
        ("--horizon", horizon),
        ("--epsilon", epsilon_),
        ("--delta", delta_),
    ]
    given += [("--set", setting) for setting in settings or ()]
    options = [str(part) for name, value in given if value is not None for part in (name, value)]
    return Command(target, (*options, "--pointwise") if pointwise else tuple(options))


def finish(
    verdict: Verdict,
    *,
    command: Command | None,
    asked_tight: bool,
    as_json: bool,
    certificate: Path | None,
    report: Path | None,
) -> None:
    written, failed = None, None
    try:
        if certificate is not None and verdict.certificate is not None:
            write(certificate, json.dumps(verdict.certificate, ensure_ascii=False, indent=1) + "\n")
            written = str(certificate)
        if report is not None:
            write(report, page(verdict, command=command, asked_tight=asked_tight, certificate=written))
    except FormatError as error:
        failed = error
    if as_json:
        typer.echo(json.dumps(data(verdict, certificate=written), ensure_ascii=False))
    else:
        more = []
        if certificate is not None:
            none = "not written" if failed else "none: an unknown verdict has none"
            more.append(Fact("certificate", written or none))
        if report is not None and failed is None:
            more.append(Fact("report", str(report)))
        console = Console(highlight=False)
        print_verdict(console, verdict, command=command, asked_tight=asked_tight, more=tuple(more))
    if failed is not None:
        raise failed
    raise typer.Exit(STATUS[verdict.status])


def finish_table(
    table: Table, *, asked_tight: bool, as_json: bool, certificate: Path | None, report: Path | None
) -> None:
    """The verdicts at several sizes, and what they suggest."""
    if certificate is not None or report is not None:
        raise QuestionError(
            "size", "certificates and reports are about one size", place="--size", hint="--size 3 --certificate OUT"
        )
    if as_json:
        worst = next((v for _, v in table.rows if v.status == table.status), table.rows[-1][1])
        rows = [{"size": size, **data(verdict, certificate=None)} for size, verdict in table.rows]
        whole = {**data(worst, certificate=None), "sizes": rows, "trend": table.trend}
        typer.echo(json.dumps(whole, ensure_ascii=False))
    else:
        print_table(Console(highlight=False), table, asked_tight=asked_tight)
    raise typer.Exit(STATUS[table.status])


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
        elif not os.access(path if path.exists() else path.parent, os.W_OK):
            reason = errno.EACCES
        if reason is not None:
            raise FormatError("file", f"cannot write: {os.strerror(reason)}", place=str(path))


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError("file", f"cannot write: {error.strerror}", place=str(path)) from None


def budgeted(
    question: AnyQuestion,
    epsilon_: str | None,
    delta_: str | None,
    *,
    pointwise: bool,
) -> AnyQuestion:
    """The question under the budget of the command line; what it does not name comes from the file."""
    if pointwise and isinstance(question, ProgramQuestion | StreamQuestion):
        raise QuestionError(
            "delta", "single outputs have probability 0 under continuous noise", place="--pointwise", hint="drop it"
        )
    own = question.budget
    if epsilon_ is not None:
        return question.under(Budget(epsilon(epsilon_), delta(delta_ or 0), pointwise))
    if delta_ is None and not pointwise:
        return question
    if own is None:
        raise QuestionError("budget", "delta is given without an epsilon", place="--delta", hint="--epsilon 'ln(2)'")
    share = own.delta if delta_ is None else delta(delta_)
    return question.under(Budget(own.epsilon, share, pointwise or own.pointwise))


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Prove or refute the privacy of a randomised mechanism, and say exactly how private it is.

    Exit status: 0 proved, 1 refuted, 2 the request itself was wrong, 3 unknown.
    """
    if version:
        typer.echo(f"privproof {privproof.__version__}")
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main() -> None:
    """The entry point: every wrong request is one message and status 2."""
    try:
        app(standalone_mode=True)
    except PrivproofError as error:
        typer.echo(f"privproof: {error}", err=True)
        raise SystemExit(2) from None
