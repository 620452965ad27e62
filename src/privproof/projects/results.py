"""What became of each mechanism of a project, and of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from privproof.projects.discovery import Target

Outcome: TypeAlias = Literal["proved", "refuted", "unknown", "error"]
WORST: tuple[Outcome, ...] = ("refuted", "error", "unknown", "proved")
"""The worst first: what is refuted is known to leak; what could not be asked may."""
STATUS: Mapping[Outcome, int] = {"proved": 0, "refuted": 1, "error": 2, "unknown": 3}


@dataclass(frozen=True)
class Result:
    """What became of one mechanism.

    Attributes:
        target: the mechanism.
        outcome: its verdict, or that there is none because the request was wrong.
        sentence: that in one line.
        text: everything that the command says about it, without colours.
        line: the line to look at: the one that breaks the claim where that is known, otherwise where it is defined.
        seconds: how long it took.
        data: the object that ``--json`` prints.
        kept: whether the verdict was found in the store, and its certificate checked again.
        shown: `text` as the terminal shows it.
    """

    target: Target
    outcome: Outcome
    sentence: str
    text: str = ""
    line: int = 1
    seconds: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)
    kept: bool = False
    shown: str = ""

    @property
    def failure(self) -> bool:
        """Whether it is refuted, or could not be asked."""
        return self.outcome in ("refuted", "error")


def overall(results: Sequence[Result], fail_on: str) -> int:
    """The status that a command ends with: that of the worst result; unknown is no failure where only refutations count."""
    outcomes = {result.outcome for result in results}
    worst: Outcome = next((each for each in WORST if each in outcomes), WORST[-1])
    return 0 if worst == "unknown" and fail_on == "refuted" else STATUS[worst]


def summary(results: Sequence[Result]) -> str:
    """How many there are of which kind.

    >>> summary([Result(Target("a.py:f", "a.py"), "proved", ""), Result(Target("a.py:g", "a.py"), "refuted", "", kept=True)])
    '2 in 1 file: 1 refuted, 1 proved (1 known from before)'
    """
    files = len({result.target.file for result in results})
    counts = {outcome: sum(result.outcome == outcome for result in results) for outcome in WORST}
    words = {"error": "errors" if counts["error"] > 1 else "error"}
    told = ", ".join(f"{count} {words.get(outcome, outcome)}" for outcome, count in counts.items() if count)
    kept = sum(result.kept for result in results)
    known = f" ({kept} known from before)" if kept else ""
    return f"{len(results)} in {files} file{'s' * (files != 1)}: {told or 'nothing'}{known}"
