"""Who is told what a worker does: a terminal, or another front end."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from privproof.cli.command_answers import StreamText


class Watcher(Protocol):
    """Who is told what a worker does."""

    def doing(self, what: str, *, for_program: bool) -> None:
        """What is being done now; whether the answer is for a program."""

    def said(self, text: str) -> None:
        """What the user's file prints."""

    def done(self) -> None:
        """There is an answer."""


_VERBOSE = frozenset(("-v", "--verbose"))
"""The options that ask for what is being done to be said line by line, also where there is no terminal."""


class Terminal:
    """A terminal: what is being done, and for how long, is shown on it until there is an answer."""

    def __init__(self) -> None:
        self.errors: Console | None = None
        self.status: Status | None = None
        self.begun = time.monotonic()
        self.what = ""

    def __rich__(self) -> str:
        return f"{escape(self.what)}  ({time.monotonic() - self.begun:.0f} s)"

    def doing(self, what: str, *, for_program: bool) -> None:
        """Show it, unless the answer is for a program."""
        if _VERBOSE.intersection(sys.argv) and what != self.what:
            StreamText().on(sys.stderr, f"{time.monotonic() - self.begun:6.1f} s  {what}\n")
        self.what = what
        if self.errors is None:
            self.errors = Console(stderr=True)
        if not self.errors.is_terminal or for_program:
            return
        if self.status is None:
            self.status = self.errors.status(self)
            self.status.start()

    def said(self, text: str) -> None:
        """It goes to standard error."""
        self.done()
        StreamText().on(sys.stderr, text)

    def done(self) -> None:
        """Clear the line."""
        if self.status is not None:
            self.status.stop()
            self.status = None
