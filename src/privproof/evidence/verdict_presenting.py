"""Who turns verdicts into text: evidence does not know reports, so whoever knows both says where they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from privproof.evidence.verdicts import Verdict


class Presenter(Protocol):
    """Turns verdicts into text."""

    def text(self, verdict: Verdict) -> str:
        """What the command prints."""
        ...

    def page(self, verdict: Verdict, path: Path) -> str:
        """A page of its own, in the form that the name of its file says."""
        ...

    def latex(self, verdict: Verdict, *, standalone: bool) -> str:
        """A section of a paper."""
        ...

    def data(self, verdict: Verdict) -> dict[str, object]:
        """The object that the command prints with ``--json``."""
        ...


_known: list[Callable[[], Presenter]] = []


def present_with(loader: Callable[[], Presenter]) -> None:
    """From now on verdicts are presented by what this gives, called when it is first needed."""
    _known[:] = [loader]


def presenter() -> Presenter:
    """Who presents verdicts."""
    return _known[0]()
