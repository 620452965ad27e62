"""The command ``serve``: the page in the browser, for the person at this machine."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from privproof.cli.command_answers import StreamText
from privproof.cli.command_worker import command
from privproof.cli.web_workers import Limits, Servants, answer_of
from privproof.cli.worker_supervision import Supervision
from privproof.errors import QuestionError
from privproof.memory import memory_limit

if TYPE_CHECKING:
    from privproof.web.web_jobs import CommandOutput

_MEMORY = 4 * 2**30
"""Bytes of memory that a question of the page may use, unless `PRIVPROOF_MEMORY` says otherwise: a browser runs beside it."""


@command("serve")
def serve(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 for any free port.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open nothing.")] = False,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=1, max=86400, help="Seconds that a question may take.")
    ] = 300,
) -> None:
    """A page in the browser to write, ask, draw and recheck in, for the person at this machine alone.

    It listens on 127.0.0.1, and answers only who has the address that is printed. Ctrl-C ends it.
    """
    if missing := [name for name in ("starlette", "uvicorn") if find_spec(name) is None]:
        raise QuestionError(
            "web", f"the page needs {' and '.join(missing)}", place="serve", hint="pip install 'privproof[web]'"
        )
    import uvicorn

    from privproof.web.request_guards import Secrets
    from privproof.web.web_jobs import Jobs
    from privproof.web.web_pages import Pages

    listening = _listening_socket(port)
    known = Secrets(listening.getsockname()[1])
    allowed = memory_limit()
    memory = allowed if os.environ.get("PRIVPROOF_MEMORY") and allowed else min(allowed or _MEMORY, _MEMORY)
    servants = Servants(Limits(time_limit, memory))
    threading.Thread(target=servants.warm, daemon=True).start()
    jobs = Jobs(_job_starter(servants))
    pages = Pages(jobs, known, time_limit)
    settings = uvicorn.Config(
        pages.application(),
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        limit_concurrency=64,
        timeout_graceful_shutdown=1,
    )
    StreamText().on(sys.__stdout__, f"privproof: the page is at {known.address}\nCtrl-C ends it.\n")
    signal.signal(signal.SIGTERM, _end)
    door = None if no_browser else _open_browser(known.address)
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(settings).run(sockets=[listening])
    finally:
        jobs.end()
        if door is not None:
            door.unlink(missing_ok=True)


def _end(number: int, frame: FrameType | None) -> None:
    """Being told to end is the same as Ctrl-C."""
    raise KeyboardInterrupt


def _listening_socket(port: int) -> socket.socket:
    """A socket that only this machine reaches."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise QuestionError(
            "port", f"cannot listen on port {port}: {error.strerror or error}", place="--port", hint="--port 0"
        ) from None
    return listening


def _open_browser(address: str) -> Path:
    """Have a browser open the page, by a file that leads there: arguments of commands can be seen by everybody on a machine."""
    number, name = tempfile.mkstemp(prefix="privproof-", suffix=".html")
    with open(number, "w", encoding="utf-8") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}"><title>privproof</title>\n'
        )
    path = Path(name)
    threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()
    return path


@dataclass
class _Watcher:
    """Hands on what a worker does and prints."""

    hear_doing: Callable[[str], None]
    hear_said: Callable[[str], None]

    def doing(self, what: str, *, for_program: bool) -> None:
        """What is being done."""
        self.hear_doing(what)

    def said(self, text: str) -> None:
        """What is printed."""
        self.hear_said(text)

    def done(self) -> None:
        """There is an answer."""


@dataclass
class _Run:
    """A command that runs in a worker."""

    supervision: Supervision

    def told(self) -> CommandOutput:
        """Its answer."""
        from privproof.web.web_jobs import CommandOutput

        answer = answer_of(self.supervision)
        return CommandOutput(answer.status, answer.out, answer.err, dict(answer.files or {}))

    def stop(self) -> None:
        """Ask it to stop."""
        self.supervision.stop()


def _job_starter(servants: Servants) -> Callable[..., _Run]:
    def start(
        arguments: Sequence[str], folder: Path, doing: Callable[[str], None], said: Callable[[str], None]
    ) -> _Run:
        return _Run(servants.start(arguments, folder, _Watcher(doing, said)))

    return start
