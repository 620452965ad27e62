"""What became of each mechanism of a project, and of all of them together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from privproof.projects.mechanism_discovery import Target

Outcome: TypeAlias = Literal["proved", "refuted", "unknown", "error"]
WORST: tuple[Outcome, ...] = ("refuted", "error", "unknown", "proved")
"""The worst first: what is refuted is known to leak; what could not be asked may."""
STATUS: Mapping[Outcome, int] = {"proved": 0, "refuted": 1, "error": 2, "unknown": 3}


@dataclass(frozen=True)
class CheckResult:
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


@dataclass(frozen=True)
class CheckOutput:
    """What a check of one mechanism has told: its exit status, its standard output and error, and where the request was wrong, in what."""

    status: int
    out: str = ""
    err: str = ""
    error: Mapping[str, str] | None = None


_OUTCOMES: Mapping[int, Outcome] = {status: outcome for outcome, status in STATUS.items()}


def told_result(target: Target, told: CheckOutput, seconds: float) -> CheckResult:
    """The result that a check has told."""
    outcome = _OUTCOMES[told.status]
    if outcome == "error":
        return replace(wrong_result(target, told.error or {}, told.err), seconds=seconds)
    said: dict[str, Any] = json.loads(told.out)
    if "data" not in said:  # the draft of a worker that was stopped
        name, reason = target.name or target.file, str(said.get("reason", ""))
        text = f"? unknown  {name}\n  {'reason':<15}{reason}\n"
        return CheckResult(target, "unknown", f"{name}: {reason}", text, target.line, seconds, said, shown=text)
    return CheckResult(
        target,
        outcome,
        said["sentence"],
        said["text"],
        said["line"] or target.line,
        seconds,
        said["data"],
        said["kept"],
        said["shown"],
    )


def unasked_result(target: Target, why: str) -> CheckResult:
    """The result where nothing is known about a mechanism, and why not."""
    data = {"verdict": "unknown", "question": {"mechanism": target.name or target.file}, "reason": f"not asked: {why}"}
    return CheckResult(target, "unknown", f"not asked: {why}", line=target.line, data=data)


def wrong_result(target: Target, error: Mapping[str, Any], text: str) -> CheckResult:
    """The result where the request was wrong, and in what."""
    told = {name: str(error.get(name, "")) for name in ("code", "message", "place", "hint")}
    text = text.removeprefix("privproof: ")
    sentence = told["message"] or text.strip()
    return CheckResult(
        target,
        "error",
        sentence,
        text,
        _line_in(target.file, told["place"]) or target.line,
        data={"error": told},
        shown=f"! error  {target.text}\n  {text.rstrip().replace(chr(10), chr(10) + '  ')}\n",
    )


def _line_in(file: str, place: str) -> int:
    """The line of a file that a place names; 0 where it names none."""
    _, found, rest = place.rpartition(f"{file}:")
    number = rest.split(":")[0] if found else ""
    return int(number) if number.isdigit() else 0


def overall(results: Sequence[CheckResult], fail_on: str) -> int:
    """The status that a command ends with: that of the worst result; unknown is no failure where only refutations count."""
    outcomes = {result.outcome for result in results}
    worst: Outcome = next((each for each in WORST if each in outcomes), WORST[-1])
    return 0 if worst == "unknown" and fail_on == "refuted" else STATUS[worst]


def summary(results: Sequence[CheckResult]) -> str:
    """How many there are of which kind.

    >>> summary([CheckResult(Target("a.py:f", "a.py"), "proved", ""), CheckResult(Target("a.py:g", "a.py"), "refuted", "", kept=True)])
    '2 in 1 file: 1 refuted, 1 proved (1 known from before)'
    """
    files = len({result.target.file for result in results})
    counts = {outcome: sum(result.outcome == outcome for result in results) for outcome in WORST}
    words = {"error": "errors" if counts["error"] > 1 else "error"}
    told = ", ".join(f"{count} {words.get(outcome, outcome)}" for outcome, count in counts.items() if count)
    kept = sum(result.kept for result in results)
    known = f" ({kept} known from before)" if kept else ""
    return f"{len(results)} in {files} file{'s' * (files != 1)}: {told or 'nothing'}{known}"
