"""The worker: the process in which a command runs, and with it the code of the user's file.

It sends messages to the process that supervises it: what it is doing, how long it may take, what it would say if it were stopped now (a
*draft*), and at the very end its answer.  The pipe for them is its own: what the user's file prints, and what that file's children print,
goes elsewhere, and a copy of the worker that the file makes cannot speak for it.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import wraps
from io import StringIO
from math import isnan
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO

import typer

from privproof.cli.command_answers import WRONG, CommandAnswer, complaint, current_answer, deliver, gather
from privproof.errors import FormatError, PrivproofError, QuestionError
from privproof.memory import MEMORY, amount_of_memory, memory_limit

if TYPE_CHECKING:
    from privproof.engines import Monitor, Progress
    from privproof.exact import Epsilon

P = ParamSpec("P")

TRACEBACK = "PRIVPROOF_TRACEBACK"
"""The environment variable that asks for the traceback of an internal error."""

WHY = "\N{MATHEMATICAL LEFT ANGLE BRACKET}why\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
"""Stands in a draft for the reason, which the supervisor fills in."""

_USAGE = typer.BadParameter.__mro__[2]
"""The base of what typer raises about a command line that is none."""
_YOUNG = 50_000
"""Objects that are made between two searches for garbage: modules, trees and laws live to the end, and 700 would be looked at too often."""
_SELDOM = 0.05
"""Seconds between two messages about progress."""


class Worker:
    """This process, as a worker.

    Attributes:
        begun: when the command began, on the clock of `time.monotonic`.
        interrupted: whether the supervisor has asked it to stop.
        monitor: the monitor of the search that is under way.
        said: where everything goes that is no answer: what the user's file prints.
    """

    def __init__(self, pipe: int | None, begun: float, said: TextIO | None = None) -> None:
        self.pipe, self.begun, self.said = pipe, begun, said
        self.process = os.getpid()
        self.limit: float | None = None
        self.interrupted = False
        self.monitor: Monitor | None = None
        self.draft: Callable[[Progress | None], dict[str, Any]] | None = None
        self.told = 0.0
        self.established: Epsilon | None = None

    def send(self, message: dict[str, Any]) -> None:
        """One message, whole; a copy of the worker says nothing."""
        if self.pipe is None or os.getpid() != self.process:
            return
        data = json.dumps(message).encode()
        left = memoryview(len(data).to_bytes(8, "big") + data)
        while left:
            left = left[os.write(self.pipe, left) :]

    def listen(self, event: Progress) -> None:
        """Tell the supervisor how far a search has come, but not too often."""
        now, known = time.monotonic(), event.established
        better = known is not None and known != self.established
        if now - self.told < _SELDOM and not better:
            return
        self.told = now
        message: dict[str, Any] = {"doing": str(event)}
        if self.draft is not None and better:
            self.established = known
            message["draft"] = self.draft(event)
        self.send(message)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The supervisor asks to stop."""
        self.interrupted = True
        if self.monitor is not None:
            self.monitor.interrupted = True


_worker = Worker(None, 0.0)


def is_interrupted() -> bool:
    """Whether the supervisor has asked this process to stop."""
    return _worker.interrupted


def report_activity(what: str) -> None:
    """Tell the supervisor what is being done."""
    _worker.send({"doing": what})


def set_time_limit(limit: float | None) -> None:
    """Tell the supervisor how many seconds the command may take, all in all."""
    if limit is not None and isnan(limit):
        raise QuestionError("time", "not a number of seconds", place="--time-limit", hint="--time-limit 60")
    _worker.limit = limit
    if limit is not None:
        _worker.send({"limit": limit})


def on_interrupt(draft: Callable[[Progress | None], dict[str, Any]]) -> None:
    """What the command would say if it were stopped now: an ``object`` for ``--json``, or ``out`` and ``err``.

    The reason is filled in by the supervisor, in place of `WHY`.
    """
    _worker.draft = draft
    _worker.send({"draft": draft(None)})


@contextmanager
def command_monitor() -> Iterator[Monitor]:
    """A monitor of what is left of the command's time, through which an interrupt stops the search."""
    from privproof.engines import Monitor
    from privproof.engines.search_monitor import GRACE

    limit = _worker.limit
    deadline, grace = (None, 0.0) if limit is None else (_worker.begun + limit, GRACE * limit)
    monitor = Monitor(_worker.listen, deadline, _worker.interrupted, grace)
    _worker.monitor = monitor
    try:
        yield monitor
    finally:
        _worker.monitor = None


class Unforeseen(Exception):
    """Something other than an answer came out of a command."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


LOADED: dict[str, Callable[..., None]] = {}
"""The commands whose modules are loaded."""


def command(name: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a function a command: while it runs, standard output belongs to nobody, and nothing but its answer ends it."""

    def added(function: Callable[P, None]) -> Callable[P, None]:
        @wraps(function)
        def run(*arguments: P.args, **named: P.kwargs) -> None:
            direct = _worker.pipe is None
            here = gather() if direct else current_answer()
            try:
                said = _worker.said or sys.stderr
                with redirect_stdout(said), redirect_stderr(said):
                    function(*arguments, **named)
            except PrivproofError:
                raise
            except BaseException as error:
                if error is not here.ended:
                    raise Unforeseen(error) from error
            if direct:
                raise typer.Exit(deliver(here.answer()))

        LOADED[name] = run
        return run

    return added


def run_command(application: Callable[[], typer.Typer]) -> CommandAnswer | dict[str, Any]:
    """Run the command that ``sys.argv`` names: its answer, or the message about a limit that it has met."""
    here = current_answer()
    status: object = WRONG
    try:
        with redirect_stdout(here.out), redirect_stderr(here.err):
            status = typer.main.get_command(application())(standalone_mode=False)
    except PrivproofError as error:
        return complaint(error)
    except Unforeseen as unforeseen:
        return explain_error(unforeseen.error)
    except BaseException as error:
        if isinstance(error, SystemExit) and error.code in (None, 0):  # a completion is told, and nothing else happens
            return here.answer()
        if not isinstance(error, _USAGE):
            return explain_error(error)
        return _usage(error)
    if here.ended is None:
        here.status = status if isinstance(status, int) else 0
    return here.answer()


def _usage(error: BaseException) -> CommandAnswer:
    """The complaint about a command line that is none, in the words of the library that reads it."""
    file = StringIO()
    error.show(file)  # type: ignore[attr-defined]
    said = complaint(QuestionError("usage", error.format_message()))  # type: ignore[attr-defined]
    return replace(said, err=file.getvalue())


def explain_error(error: BaseException) -> CommandAnswer | dict[str, Any]:
    """What is said about an exception that is no message to the user."""
    if isinstance(error, MemoryError):
        return {"memory": True}
    said = f"{type(error).__name__}: {error}".strip(": ").splitlines()[0][:500]
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not _is_library_code(frame.filename)]
    if theirs:
        place = f"{theirs[-1].filename}:{theirs[-1].lineno}"
        told: PrivproofError = FormatError("python", said, place=place, hint="run the file with Python")
    elif isinstance(error, RecursionError):
        told = QuestionError("depth", "it is nested too deeply", hint="a smaller model, a shorter formula")
    else:
        where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        told = QuestionError(
            "internal", f"internal error, please report it: {said}{where}", hint=f"{TRACEBACK}=1 shows the traceback"
        )
    answer = complaint(told)
    if os.environ.get(TRACEBACK, "") not in ("", "0"):
        answer = replace(answer, err="".join(traceback.format_exception(error)) + answer.err)
    return answer


_OURS = (
    str(Path(__file__).resolve().parents[1]),
    *{str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)


def _is_library_code(file: str) -> bool:
    """Whether a file of code belongs to privproof, to Python or to an installed library, and not to the user."""
    return file.startswith("<") or str(Path(file).resolve()).startswith(_OURS)


def work(application: Callable[[], typer.Typer], pipe: int, begun: float) -> None:
    """Be the worker: run the command, send its answer, end."""
    global _worker
    said = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = said  # type: ignore[misc]
    _worker = Worker(pipe, begun, said)
    signal.signal(signal.SIGINT, _worker.interrupt)
    gc.set_threshold(_YOUNG)
    try:
        limit_memory()
    except PrivproofError as error:
        result: CommandAnswer | dict[str, Any] = complaint(error)
    else:
        result = run_command(application)
    _worker.send({"answer": result.document()} if isinstance(result, CommandAnswer) else result)
    said.flush()


def remember_memory_limit(text: str | None) -> None:
    """A command says how much memory it may take: searches stop there, and so do the processes that it starts."""
    if text is not None:
        amount_of_memory(text)
        os.environ[MEMORY] = text
        limit_memory()


def limit_memory() -> None:
    """Beyond the limit an allocation fails, instead of the machine."""
    limit = memory_limit()
    if limit is None or os.name != "posix":
        return
    import resource

    try:
        mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        mapped = 0
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    known = [bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([mapped + limit, *known]), hard))
