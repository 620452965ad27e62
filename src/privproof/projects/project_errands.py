"""Commands that are run elsewhere: others run ``privproof`` on the same files, each command in a process of its own.

The files must be there, at the same paths and with the same text, as on a shared file system: that is compared before anything is asked.
What they send back is a report and no verdict: the process that asked has the gate admit it, about the question as it stands there.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privproof.errors import QuestionError
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Workers, still_wanted
from privproof.projects.mechanism_discovery import Target
from privproof.projects.project_results import STATUS, CheckOutput

_GRACE = 30.0
"""Seconds beyond the time limit of a check after which its process is ended: it has begun and told what it knows long before."""
_LOOK = 0.1
"""Seconds between two looks at whether the answer is still wanted."""


@dataclass(frozen=True)
class Errand:
    """A command, and where it is run.

    Attributes:
        folder: the working directory.
        arguments: of ``privproof``.
        file: the file that is asked about.
        digest: of its bytes, here; empty where it is no file.
        seconds: the time limit of the command; None for as many as it takes.
        report: what others have reported about the same question, for the command to admit or refuse.
    """

    folder: str
    arguments: tuple[str, ...]
    file: str
    digest: str
    seconds: float | None
    report: str = ""


def errand(arguments: Sequence[str], file: str, seconds: float | None) -> Errand:
    """A command about a file, as it crosses to another machine."""
    return Errand(os.getcwd(), tuple(arguments), file, _digest(Path(file)), seconds)


def run_errands(
    executor: Workers | Executor | None, errands: Sequence[Errand], stopped: Callable[[], str | None]
) -> Generator[CheckOutput, None, None]:
    """What commands told, in their order, until somebody says stop."""
    return map_chunks(executor, run_errand, errands, stopped=stopped)


def run_errand(asked: Errand) -> CheckOutput:
    """What a command told, by a process of this machine; it is ended where nobody wants its answer any more."""
    folder = Path(asked.folder)
    if not folder.is_dir() or _digest(folder / asked.file) != asked.digest:
        return _refusal(
            asked, "is not there, or is another file, where the work is done", "files that all workers share"
        )
    with tempfile.TemporaryDirectory(prefix="privproof") as scratch:
        command, given = [sys.executable, "-m", "privproof", *asked.arguments], Path(scratch, "report.json")
        if asked.report:
            given.write_text(asked.report, encoding="utf-8")
            command[4:4] = ["--report-in", str(given)]  # after the name of the command
        status, out, err = run_command(command, folder, asked.seconds)
    if status is None:
        return _refusal(asked, f"no answer within {(asked.seconds or 0) + _GRACE:g} s", "a longer --time-limit")
    if status == STATUS["error"] and out:
        return CheckOutput(STATUS["error"], err=err, error=json.loads(out)["error"])
    if status < 0 or not out:
        said = f"the check ended with status {status} and without an answer"
        return _refusal(asked, said, err.strip()[-200:] or "is there memory enough?")
    return CheckOutput(status, out, err)


def run_command(
    command: Sequence[str], folder: Path, seconds: float | None, settings: Mapping[str, str] | None = None
) -> tuple[int | None, str, str]:
    """The status of a command, what it printed and what it complained of; None for a status where it was ended.

    Args:
        command: the program and its arguments.
        folder: the working directory.
        seconds: after which it is ended, with some grace; None for never.
        settings: of its environment, beside those of this process.
    """
    found = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]  # this very privproof
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(found), **(settings or {})}
    until = None if seconds is None else time.monotonic() + seconds + _GRACE
    with subprocess.Popen(
        command, cwd=folder, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while True:
            try:
                out, err = process.communicate(timeout=_LOOK)
                return process.returncode, out, err
            except subprocess.TimeoutExpired:
                if (until is None or time.monotonic() < until) and still_wanted():
                    continue
                process.terminate()  # the supervisor of the command ends its worker
                try:
                    process.communicate(timeout=_GRACE)
                except subprocess.TimeoutExpired:
                    process.kill()
                return None, "", ""


def _refusal(asked: Errand, said: str, hint: str) -> CheckOutput:
    error = QuestionError("cluster", said, place=asked.file, hint=hint)
    told = {"code": error.code, "message": said, "place": asked.file, "hint": hint}
    return CheckOutput(STATUS["error"], err=f"privproof: {error}\n", error=told)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def reports_of(told: CheckOutput) -> dict[str, Any]:
    """What a command reports about its question, by size; empty where it reports nothing that could be admitted."""
    try:
        found = json.loads(told.out)["reports"]
    except (ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def check_targets(
    workers: Workers,
    targets: Sequence[Target],
    options: Sequence[str],
    seconds: float | None,
    stopped: Callable[[], str | None],
) -> Iterator[tuple[Target, CheckOutput]]:
    """What checks of mechanisms told, in their order.  What others report is admitted or refused by a process of this machine.

    Args:
        workers: who runs the checks.
        targets: the mechanisms.
        options: of ``privproof check``.
        seconds: the time limit of each.
        stopped: why to stop now, or None.
    """
    command = ("check", *options, "--part", "--json")
    reporting = ("--report-out",) if workers.executor is not None else ()
    errands = [errand((*command, *reporting, "--", each.text), each.file, seconds) for each in targets]
    with closing(run_errands(workers, errands, stopped)) as answers:
        for target, asked, told in zip(targets, errands, answers, strict=False):
            here = replace(asked, arguments=(*command, "--", target.text))
            yield target, told if workers.executor is None else _readmit_told(target, here, told)


def _readmit_told(target: Target, here: Errand, told: CheckOutput) -> CheckOutput:
    """What a check told elsewhere, as this machine tells it."""
    reports = reports_of(told)
    if told.status == STATUS["error"]:
        return told
    if told.status == STATUS["unknown"] and not reports:
        return CheckOutput(told.status, json.dumps({"verdict": "unknown", **_unknown_report(target, told.out)}))
    return run_errand(replace(here, report=json.dumps(reports)))


def _unknown_report(target: Target, out: str) -> dict[str, Any]:
    """A mechanism that is reported as unknown, and the reason that is given."""
    try:
        said = json.loads(out)
        reason = str({**said, **said.get("data", {})}["reason"])
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = "no reason is reported"
    return {"question": {"mechanism": target.name or target.file}, "reason": reason}
