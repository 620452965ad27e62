"""Who is told what a worker does: a terminal, or another front end."""

from __future__ import annotations

import sys
from typing import Protocol

from rich.console import Console
from rich.status import Status

from privproof.cli.answers import Shown


class Watcher(Protocol):
    """Who is told what a worker does."""

    def doing(self, what: str, *, for_program: bool) -> None:
        """What is being done now; whether the answer is for a program."""

    def said(self, text: str) -> None:
        """What the user's file prints."""

    def done(self) -> None:
        """There is an answer."""


class Terminal:
    """A terminal: what is being done is shown on it until there is an answer."""

    def __init__(self) -> None:
        self.errors: Console | None = None
        self.status: Status | None = None

    def doing(self, what: str, *, for_program: bool) -> None:
        """Show it, unless the answer is for a program."""
        if self.errors is None:
            self.errors = Console(stderr=True)
        if not self.errors.is_terminal or for_program:
            return
        if self.status is None:
            self.status = self.errors.status(what)
            self.status.start()
        self.status.update(what)

    def said(self, text: str) -> None:
        """It goes to standard error."""
        self.done()
        Shown().on(sys.stderr, text)

    def done(self) -> None:
        """Clear the line."""
        if self.status is not None:
            self.status.stop()
            self.status = None
