"""What was asked in the page: commands that run, each in a process of its own, and answers that are kept while the server runs."""

from __future__ import annotations

import json
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from privproof.web.web_requests import CERTIFICATE, REPORT, AskedCommand, WrongRequest

_RUNNING = 4
"""Commands that may run at once: more would only wait for each other."""
_KEPT = 100
"""Answers that are kept; the oldest is forgotten first."""
_SPACE = 2**28
"""Characters of answers that are kept, together."""


@dataclass(frozen=True)
class CommandOutput:
    """What a command has answered: its status, both streams, and its files by name."""

    status: int
    out: str = ""
    err: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


class RunningCommand(Protocol):
    """A command that runs."""

    def told(self) -> CommandOutput:
        """Its answer, when there is one."""

    def stop(self) -> None:
        """Ask it to stop; the second time, end it."""


class CommandRunner(Protocol):
    """Whatever runs commands."""

    def __call__(
        self, arguments: Sequence[str], folder: Path, doing: Callable[[str], None], said: Callable[[str], None]
    ) -> RunningCommand:
        """Begin to run one in a folder, and say what it does and prints."""


class Job:
    """A command that was asked for; its answer is kept, or forgotten when it was given."""

    def __init__(self, asked: AskedCommand, *, kept: bool) -> None:
        self.kept = kept
        self.name = secrets.token_hex(8)
        self.asked = asked
        self.began = time.time()
        self.seconds: float | None = None
        self.stopped = False
        self.doing = "starting"
        self.said = ""
        self.run: RunningCommand | None = None
        self.told: CommandOutput | None = None
        self.done = threading.Event()

    def summary(self) -> dict[str, Any]:
        """What a list of jobs says."""
        taken = time.time() - self.began if self.seconds is None else self.seconds
        return {
            "job": self.name,
            "command": self.asked.command,
            "subject": self.asked.subject,
            "shown": self.asked.shown,
            "began": self.began,
            "seconds": round(taken, 2),
            "running": not self.done.is_set(),
            "stopped": self.stopped,
            "doing": self.doing,
            "verdict": self._verdict(),
        }

    def document(self) -> dict[str, Any]:
        """Everything: the answer as data, its report in parts, its certificate as a text, and what was printed."""
        result = {**self.summary(), "said": self.said}
        if self.told is None:
            return result
        report = self.told.files.get(REPORT)
        return {
            **result,
            "status": self.told.status,
            "answer": _read_json(self.told.out),
            "out": self.told.out,
            "err": self.told.err,
            "report": None if report is None else _read_json(report),
            "certificate": self.told.files.get(CERTIFICATE),
        }

    def _verdict(self) -> str:
        """In a word: what the answer says of itself."""
        if self.told is None:
            return ""
        answer = _read_json(self.told.out)
        if isinstance(answer, dict) and answer.get("error"):
            return "wrong"
        if not isinstance(answer, dict):
            return {0: "done", 1: "refuted", 3: "unknown"}.get(self.told.status, "wrong")
        if "accepted" in answer:
            return "accepted" if answer["accepted"] else "rejected" if self.told.status == 2 else "unknown"
        return str(answer.get("verdict", "done"))

    @property
    def space(self) -> int:
        """Characters that it takes."""
        if self.told is None:
            return 0
        return len(self.told.out) + len(self.told.err) + sum(map(len, self.told.files.values()))


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class Jobs:
    """All jobs of a server, the oldest first."""

    def __init__(self, start: CommandRunner) -> None:
        self._start = start
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def begin(self, asked: AskedCommand, *, kept: bool = True) -> Job:
        """Run a command.

        Raises:
            WrongRequest: enough are running.
        """
        job = Job(asked, kept=kept)
        with self._lock:
            running = [each for each in self._jobs.values() if each.kept == kept and not each.done.is_set()]
            if len(running) >= _RUNNING:
                raise WrongRequest(f"{len(running)} questions are being answered; stop one, or wait")
            self._jobs[job.name] = job
            self._make_room()
        threading.Thread(target=self._work, args=(job,), daemon=True).start()
        return job

    def _make_room(self) -> None:
        done = [each for each in self._jobs.values() if each.done.is_set()]
        while done and (len(self._jobs) > _KEPT or sum(each.space for each in done) > _SPACE):
            del self._jobs[done.pop(0).name]

    def _work(self, job: Job) -> None:
        def doing(what: str) -> None:
            job.doing = what[:500]

        def said(text: str) -> None:
            job.said += text

        begun = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="privproof-") as folder:
                for name, text in job.asked.files.items():
                    Path(folder, name).write_text(text, encoding="utf-8", newline="")
                job.run = self._start(job.asked.arguments, Path(folder), doing, said)
                if job.stopped:
                    job.run.stop()
                job.told = job.run.told()
        except OSError as error:
            job.told = CommandOutput(2, err=f"privproof: the command cannot be run: {error}\n")
        finally:
            job.seconds, job.doing = time.monotonic() - begun, ""
            job.told = job.told or CommandOutput(2, err="privproof: the command has ended without an answer\n")
            job.done.set()
            if not job.kept:
                self.forget(job.name)

    def find(self, name: str) -> Job | None:
        """The job of a name."""
        return self._jobs.get(name)

    def stop(self, job: Job) -> None:
        """Ask a job to stop; the second time, end it."""
        job.stopped = True
        if job.run is not None and not job.done.is_set():
            job.run.stop()

    def forget(self, name: str) -> None:
        """Forget a job that is done."""
        with self._lock:
            if name in self._jobs and self._jobs[name].done.is_set():
                del self._jobs[name]

    def listed(self) -> list[Job]:
        """All that are known, the oldest first."""
        with self._lock:
            return list(self._jobs.values())

    def end(self) -> None:
        """End all that run."""
        for job in self.listed():
            for _ in range(2):
                self.stop(job)
        for job in self.listed():
            job.done.wait(5.0)
