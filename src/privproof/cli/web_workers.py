"""Workers for a server: each runs one command, in a folder and under limits of its own, and can be stopped.

A server has threads, so it must not copy itself.  Python's fork server does that for it: a process without threads that has loaded
what commands need, of which every worker is a copy.  From there on a worker is the same as that of a command on a terminal
(`privproof.cli.command_worker`), and is supervised in the same way, from a thread.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from privproof.cli.command_answers import WRONG, CommandAnswer, gather
from privproof.cli.command_worker import work
from privproof.cli.worker_processes import PRIVATE, Process, settle
from privproof.cli.worker_supervision import Supervision
from privproof.cli.worker_watching import Watcher
from privproof.memory import MEMORY

_LOADED = (
    *(
        f"privproof.{name}"
        for name in (
            "cli.check_command",
            "audits.audit_command",
            "cli.outline_command",
            "cli.profile_command",
            "cli.recheck_command",
        )
    ),
    *(
        f"privproof.{name}"
        for name in ("engines.words.bounded_engines", "engines.laplace.engine", "engines.runs.runs_engine")
    ),
    "privproof.reporting.law_pictures",
    "typer.main",
)
"""What most commands load: once, in the fork server."""
_GRACE = 5.0
"""Seconds beyond the limit of time that a worker gets to say what it has established, before it is ended by all means."""


@dataclass(frozen=True)
class Limits:
    """What a worker may use.

    Attributes:
        seconds: of time, and of each of its processors.
        memory: bytes of memory.
        written: bytes of the largest file that it may write.
    """

    seconds: float
    memory: int
    written: int = 2**26


class Servants:
    """Starts workers."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        forking = "forkserver" in multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("forkserver" if forking else "spawn")
        if forking:
            self._context.set_forkserver_preload([*_LOADED])

    def warm(self) -> None:
        """Have the fork server load what it loads, before it is needed."""
        process = self._context.Process(target=_do_nothing, daemon=True)
        process.start()
        process.join()

    def start(self, arguments: Sequence[str], folder: Path, watcher: Watcher) -> Supervision:
        """A worker that runs a command in a folder; somebody has to wait for its answer."""
        (messages, sending), (said, saying) = (self._context.Pipe(duplex=False) for _ in range(2))
        process = self._context.Process(
            target=_serve, args=([*arguments], str(folder), sending, saying, self.limits), daemon=False
        )
        process.start()
        begun = time.monotonic()  # from here on: the fork server may have been loading
        sending.close()
        saying.close()
        seen = Process(process.pid, os.dup(messages.fileno()), os.dup(said.fileno()), _Child(process))
        messages.close()
        said.close()
        supervision = Supervision(seen, begun, watcher, f"the limit is {self.limits.memory / 2**30:.3g} GiB")
        supervision.until(begun + self.limits.seconds + _GRACE, "out of time")
        return supervision


def answer_of(supervision: Supervision) -> CommandAnswer:
    """The worker's answer, once there is one; a worker that had to be ended twice has none."""
    answer = supervision.answer()
    supervision.process.kill()  # with what it has started, which may outlive it
    return answer if isinstance(answer, CommandAnswer) else CommandAnswer(WRONG, err="privproof: interrupted\n")


@dataclass
class _Child:
    """A process of the fork server, as a supervisor sees it."""

    process: Any

    def poll(self) -> int | None:
        """The status that it ended with."""
        status: int | None = self.process.exitcode
        return status

    def kill(self) -> None:
        """End it."""
        self.process.kill()


def _do_nothing() -> None:
    """What a worker does that only shows that there can be one."""


def _serve(arguments: list[str], folder: str, sending: Connection, saying: Connection, limits: Limits) -> None:
    """What a worker does."""
    from privproof.cli.application import application, wanted_command

    begun = time.monotonic()
    os.chdir(folder)
    os.environ[MEMORY] = str(limits.memory)
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    if os.name == "posix":
        import fcntl

        _limit(limits)
        private = fcntl.fcntl(sending.fileno(), fcntl.F_DUPFD_CLOEXEC, PRIVATE)
        settle(os.getppid(), os.dup(saying.fileno()))
    else:
        private = os.dup(sending.fileno())
        for standard in (1, 2):
            os.dup2(saying.fileno(), standard)
    sending.close()
    saying.close()
    sys.argv = ["privproof", *arguments]
    gather()
    work(partial(application, wanted_command()), private, begun)


def _limit(limits: Limits) -> None:
    """Beyond these the system ends the worker, whatever it does."""
    import resource

    seconds = int(limits.seconds + _GRACE) + 1
    for which, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, limits.written),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(which)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, least))
