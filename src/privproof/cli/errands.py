"""Mechanisms of a project that are checked elsewhere: a cluster runs ``privproof check`` on the same files, each in a process of its own.

The files must be there, at the same paths and with the same text, as on a shared file system: that is compared before anything is asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from privproof.cli.answers import WRONG, Answer
from privproof.errors import QuestionError
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Workers

_GRACE = 30.0
"""Seconds beyond the time limit of a check after which its process is ended: it has begun and told what it knows long before."""


@dataclass(frozen=True)
class Errand:
    """A command, and where it is run.

    Attributes:
        folder: the working directory.
        arguments: of ``privproof``.
        file: the file that is asked about.
        digest: of its bytes, here; empty where it is no file.
        seconds: the time limit of the command.
    """

    folder: str
    arguments: tuple[str, ...]
    file: str
    digest: str
    seconds: float


def errand(arguments: Sequence[str], file: str, seconds: float) -> Errand:
    """A command about a file, as it crosses to another machine."""
    return Errand(os.getcwd(), tuple(arguments), file, _digest(Path(file)), seconds)


def run_errands(executor: Executor, errands: Sequence[Errand], stopped: Callable[[], str | None]) -> Iterator[Answer]:
    """The answers to commands, in their order, until somebody says stop."""
    return map_chunks(Workers(executor=executor), run_errand, errands, stopped=stopped)


def run_errand(asked: Errand) -> Answer:
    """The answer to a command, by a process of this machine."""
    folder = Path(asked.folder)
    if not folder.is_dir() or _digest(folder / asked.file) != asked.digest:
        return _refusal(
            asked, "is not there, or is another file, where the work is done", "files that all workers share"
        )
    command = [sys.executable, "-m", "privproof", *asked.arguments]
    limit = asked.seconds + _GRACE
    found = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]  # this very privproof
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
    try:
        done = subprocess.run(
            command, cwd=folder, env=known, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return _refusal(asked, f"no answer within {limit:g} s", "a longer --time-limit")
    if done.returncode == WRONG and done.stdout:
        return Answer(WRONG, err=done.stderr, error=json.loads(done.stdout)["error"])
    if done.returncode < 0 or not done.stdout:
        said = f"the check ended with status {done.returncode} and without an answer"
        return _refusal(asked, said, done.stderr.strip()[-200:] or "is there memory enough?")
    return Answer(done.returncode, done.stdout, done.stderr)


def _refusal(asked: Errand, said: str, hint: str) -> Answer:
    error = QuestionError("cluster", said, place=asked.file, hint=hint)
    told = {"code": error.code, "message": said, "place": asked.file, "hint": hint}
    return Answer(WRONG, err=f"privproof: {error}\n", error=told)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
