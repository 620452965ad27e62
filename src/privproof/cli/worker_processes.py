"""The process of a worker, seen from its supervisor: how it is started, asked to stop, and ended."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import typer

from privproof.cli.command_answers import current_answer, gather
from privproof.cli.command_worker import work
from privproof.execution.workers import end_with

_GRACE = 1.0
"""Seconds within which a process that was killed is gone."""
PRIVATE = 64
"""The least number of the descriptor of the worker's pipe, out of the way of what the user's file opens and closes."""


def start_worker(application: Callable[[], typer.Typer], begun: float, arguments: list[str] | None = None) -> Process:
    """A worker for the command that ``sys.argv`` names, or for one with other arguments."""
    return _fork_worker(application, begun, arguments) if hasattr(os, "fork") else _spawn_worker(arguments)


class Started(Protocol):
    """Whatever waits for a worker that is no copy of this process."""

    def poll(self) -> int | None:
        """The status that it ended with; None while it runs."""

    def kill(self) -> None:
        """End it."""


@dataclass
class Process:
    """A worker, seen from outside.

    Attributes:
        number: its process number.
        messages: the end of its pipe.
        said: the end of the pipe into which goes what is printed.
        started: where it was not forked, the object that waits for it.
        status: the status that it ended with; negative for a signal; None while it runs.
    """

    number: int
    messages: int
    said: int
    started: Started | None = None
    status: int | None = None

    def ended(self) -> bool:
        """Whether it has ended."""
        if self.status is None and self.started is not None:
            self.status = self.started.poll()
        elif self.status is None:
            with suppress(ChildProcessError):
                number, status = os.waitpid(self.number, os.WNOHANG)
                self.status = os.waitstatus_to_exitcode(status) if number else None
        return self.status is not None

    def interrupt(self) -> None:
        """Ask it to stop."""
        if not self.ended() and os.name == "posix":
            with suppress(ProcessLookupError):
                os.kill(self.number, signal.SIGINT)

    def kill(self) -> None:
        """End it, and what it has started."""
        if self.started is not None and os.name != "posix":
            self.started.kill()
        else:
            for send, to in ((os.killpg, self.number), (os.kill, self.number)):
                with suppress(ProcessLookupError, PermissionError):
                    if send is os.killpg or not self.ended():
                        send(to, signal.SIGKILL)
        until = time.monotonic() + _GRACE
        while not self.ended() and time.monotonic() < until:
            time.sleep(0.005)


def _fork_worker(application: Callable[[], typer.Typer], begun: float, arguments: list[str] | None) -> Process:
    """A worker that is a copy of this process, so that nothing is imported twice."""
    import fcntl

    (messages, sending), (said, saying) = os.pipe(), os.pipe()
    private = fcntl.fcntl(sending, fcntl.F_DUPFD_CLOEXEC, PRIVATE)
    os.close(sending)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that libraries have started
        number = os.fork()
    if number == 0:
        status = 70
        try:
            for mine in (messages, said):
                os.close(mine)
            settle(parent, saying)
            atexit._clear()
            if arguments is not None:
                sys.argv[1:] = arguments
                current_answer().anew()
            work(application, private, begun)
            status = 0
            atexit._run_exitfuncs()
        finally:
            os._exit(status)
    for theirs in (private, saying):
        os.close(theirs)
    with suppress(OSError):
        os.setpgid(number, number)
    return Process(number, messages, said)


def settle(parent: int, saying: int) -> None:
    """Begin as a worker: in a group of its own, ending with its parent, and all that is printed goes into the pipe for that."""
    os.setpgid(0, 0)
    end_with(parent)
    for standard in (1, 2):
        os.dup2(saying, standard)
    os.close(saying)
    if os.isatty(0):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name in ("SIGTTIN", "SIGTTOU"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def _spawn_worker(arguments: list[str] | None) -> Process:
    """A worker that is a new interpreter, where a process cannot be copied; it sends on what is its standard output at first."""
    code = "from privproof.cli.worker_processes import begin_worker; begin_worker()"
    started = subprocess.Popen(
        [sys.executable, "-c", code, *(sys.argv[1:] if arguments is None else arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=os.name == "posix",
    )
    assert started.stdout is not None
    assert started.stderr is not None
    with started.stdout as messages, started.stderr as said:
        return Process(started.pid, os.dup(messages.fileno()), os.dup(said.fileno()), started)


def begin_worker() -> None:
    """What a worker does that is a new interpreter."""
    from privproof.cli.application import application, wanted_command

    gather().looks()
    private = os.dup(1)
    os.dup2(2, 1)
    sys.argv[0] = "privproof"
    work(partial(application, wanted_command()), private, time.monotonic())
