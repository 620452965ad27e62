"""The supervisor: starts the worker, keeps its limits, and alone decides what is printed and with which status the command ends.

A verdict's status is given only after the worker has sent its whole answer and the answer has been delivered.  A worker that ends by
itself (``os._exit`` in the user's file, a crash of a library, a kill) has given none: status 2.  A worker that does not stop at the
command's time limit, or after an interrupt, is killed shortly after, and the last draft it sent is the answer: unknown, status 3, with
what was established by then.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import typer

from privproof.cli.command_answers import CommandAnswer, complaint, deliver, gather, json_line, open_standard_streams
from privproof.cli.command_worker import WHY
from privproof.cli.worker_processes import Process, start_worker
from privproof.cli.worker_watching import Terminal, Watcher
from privproof.errors import FormatError, PrivproofError
from privproof.memory import MEMORY, memory_limit

UNKNOWN, INTERRUPTED = 3, 130
"""Exit statuses: of a verdict that is unknown, as ``--help`` promises, and of an interrupted command: 128 and the number of the signal."""

_TICK = 0.05
"""Seconds between two looks at the clock and at the worker."""
_GRACE = 1.0
"""Seconds that a worker has to stop in after its time limit, at least."""
_INTERRUPT = 0.8
"""The same after an interrupt."""
_GRACE_SHARE = 0.2
"""Of the time limit, if that is longer."""
_LAST_WORDS = 3.0
"""Seconds in which what a worker has sent before its end is waited for, where something keeps its pipe open."""
_LAST_PRINTS = 0.3
"""The same for what was printed."""
_MOST_SAID = 1_000_000
"""Bytes that a user's file may print."""
_LONGEST = 2**29
"""Bytes of a message: more than a certificate has, and less than what would fill the memory of the supervisor."""


def run_supervised(application: Callable[[], typer.Typer]) -> int:
    """Run the command that ``sys.argv`` names in a worker; the status to end with."""
    open_standard_streams()
    begun = time.monotonic()
    gather().looks()  # now, because a worker has other streams
    answer = Supervision(start_worker(application, begun), begun).answer()
    try:
        return answer if isinstance(answer, int) else deliver(answer)
    except KeyboardInterrupt:
        return INTERRUPTED


@dataclass
class Supervision:
    """One worker, from its start to its answer.

    Attributes:
        process: the worker.
        begun: when the command began, on the clock of `time.monotonic`.
        watcher: who is told what it does.
        memory: how much memory it may use, in words; None for what `PRIVPROOF_MEMORY` says here.
    """

    process: Process
    begun: float
    watcher: Watcher = field(default_factory=Terminal)
    memory: str | None = None
    arrived: queue.Queue[tuple[str, bytes]] = field(default_factory=lambda: queue.Queue(64))
    buffer: bytearray = field(default_factory=bytearray)
    closed: set[str] = field(default_factory=set)
    said: int = 0
    limit: float | None = None
    due: float | None = None
    why: str = ""
    interrupts: int = 0
    doing: str = ""
    draft: dict[str, Any] | None = None
    reply: CommandAnswer | dict[str, Any] | None = None

    def __post_init__(self) -> None:
        for name, number in (("messages", self.process.messages), ("said", self.process.said)):
            threading.Thread(target=_read_pipe, args=(number, name, self.arrived), daemon=True).start()

    def answer(self) -> CommandAnswer | int:
        """The worker's answer, or what is said in its place; a status alone where nothing is said at all."""
        with self._signals():
            outcome = None
            try:
                while outcome is None:
                    outcome = self.step(_TICK)
            finally:
                self.part()
        return outcome

    def step(self, seconds: float) -> CommandAnswer | int | None:
        """Take what arrives within so many seconds; the outcome, if there is one by then."""
        self._take(seconds)
        if self.reply is not None:
            return self._replied(self.reply)
        if self.interrupts > 1:
            self.process.kill()
            return INTERRUPTED
        if self.due is not None and time.monotonic() > self.due:
            self.process.kill()
            self._last_words()
            return self._stopped(self.why) if self.reply is None else self._replied(self.reply)
        if self.process.ended():
            self._last_words()
            if self.reply is not None:
                return self._replied(self.reply)
            return self._stopped("interrupted") if self.interrupts else self._gone()
        return None

    def interrupt(self, seconds: float) -> None:
        """Ask the worker to stop within so many seconds."""
        self.process.interrupt()
        self.until(time.monotonic() + seconds, "interrupted")

    def stop(self) -> None:
        """Ask the worker to stop; the second time, end it."""
        self.interrupts += 1
        if self.interrupts == 1:
            self.interrupt(_INTERRUPT)

    def until(self, due: float, why: str) -> None:
        """End the worker then, unless it has answered; an earlier end stays."""
        if self.due is None or due < self.due:
            self.due, self.why = due, why

    def _replied(self, reply: CommandAnswer | dict[str, Any]) -> CommandAnswer:
        if isinstance(reply, CommandAnswer):
            return reply
        return self._stopped(f"out of memory: {self.memory or _memory()}")

    def part(self) -> None:
        """Let a worker that has answered end, but do not wait for it long."""
        self.watcher.done()
        until = time.monotonic() + _GRACE
        while not self.process.ended() and time.monotonic() < until and self.interrupts < 2:
            self._take(0.01)
        if not self.process.ended():
            self.process.kill()
        self._last_words(said_only=True)

    def _take(self, seconds: float) -> None:
        """Take the next that arrives, or wait so long."""
        try:
            name, data = self.arrived.get(timeout=seconds)
        except queue.Empty:
            return
        if not data:
            self.closed.add(name)
        elif name == "said":
            self._forward(data)
        else:
            self.buffer += data
            self._messages()

    def _last_words(self, *, said_only: bool = False) -> None:
        """Take what a worker that has ended has still sent."""
        needed, seconds = ("said", _LAST_PRINTS) if said_only else ("messages", _LAST_WORDS)
        until = time.monotonic() + seconds
        while needed not in self.closed and (said_only or self.reply is None) and time.monotonic() < until:
            self._take(0.01)

    def _messages(self) -> None:
        """The messages that have arrived whole."""
        while len(self.buffer) >= 8:
            length = int.from_bytes(self.buffer[:8], "big")
            if length > _LONGEST:
                self._spoilt()
                return
            if len(self.buffer) < 8 + length:
                return
            text = bytes(self.buffer[8 : 8 + length])
            del self.buffer[: 8 + length]
            try:
                self._message(json.loads(text))
            except (ValueError, TypeError, AttributeError):
                self._spoilt()

    def _spoilt(self) -> None:
        """What came is no message of the worker."""
        self.buffer.clear()
        self.reply = complaint(FormatError("ended", "the file has written into the pipe that the answer comes through"))
        self.process.kill()

    def _message(self, message: dict[str, Any]) -> None:
        if "answer" in message:
            self.reply = CommandAnswer(**message["answer"])
        elif "memory" in message:
            self.reply = message
        if "limit" in message:
            self.limit = float(message["limit"])
            self.until(self.begun + self.limit + max(_GRACE, _GRACE_SHARE * self.limit), "out of time")
        if "draft" in message:
            self.draft = message["draft"]
        if "doing" in message:
            self.doing = str(message["doing"])
            silent = any(name in (self.draft or {}) for name in ("object", "silent"))
            self.watcher.doing(self.doing, for_program=silent)

    def _forward(self, data: bytes) -> None:
        """What the user's file prints goes to standard error, up to a point."""
        left = _MOST_SAID - self.said
        self.said += len(data)
        if left <= 0:
            return
        text = data[:left].decode("utf-8", errors="backslashreplace")
        if len(data) > left:
            text += f"\nprivproof: what the file prints beyond {_MOST_SAID} bytes is left out\n"
        self.watcher.said(text)

    def _stopped(self, why: str) -> CommandAnswer:
        """The last draft, with the reason."""
        seconds = time.monotonic() - self.begun
        if why == "out of time" and self.limit is not None:
            why = f"out of time: stopped {seconds:.1f} s after the start (--time-limit {self.limit:g})"
        if self.doing:
            why = f"{why}; last: {self.doing}"
        draft = self.draft or {"err": f"privproof: {WHY}\n"}
        if "object" in draft:
            said = {**draft["object"], "reason": why}
            if "seconds" in said:
                said["seconds"] = round(seconds, 6)
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            return CommandAnswer(draft.get("status", UNKNOWN), json_line(said, encoding), draft.get("err", ""))
        out, err = (str(draft.get(name, "")).replace(WHY, why) for name in ("out", "err"))
        return CommandAnswer(draft.get("status", UNKNOWN), out.replace(", 0.00 s\n", f", {seconds:.2f} s\n"), err)

    def _gone(self) -> CommandAnswer:
        """The complaint about a worker that has ended by itself."""
        status = self.process.status
        assert status is not None
        if status >= 0:
            told = f"the file ended the program with status {status} before there was an answer"
            hint = "nothing in a file may end the program (os._exit); run the file with Python"
        else:
            named = next((known.name for known in signal.Signals if known == -status), str(-status))
            told = f"the program was ended by the signal {named} before there was an answer"
            hint = f"a crash of a library, or the memory ran out ({self.memory or _memory()})"
        last = f"; last: {self.doing}" if self.doing else ""
        return complaint(FormatError("ended", f"{told}{last}", hint=hint))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The supervisor's signals: the first interrupt stops the command, the second ends it; others reach the worker, too."""

        def interrupt(number: int, frame: FrameType | None) -> None:
            self.stop()

        def end(number: int, frame: FrameType | None) -> None:
            self.process.kill()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        def pause(number: int, frame: FrameType | None) -> None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.number, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            with suppress(ProcessLookupError):
                os.killpg(self.process.number, signal.SIGCONT)

        handlers = {"SIGINT": interrupt, "SIGTERM": end, "SIGHUP": end, "SIGQUIT": end, "SIGTSTP": pause}
        before = {}
        if threading.current_thread() is threading.main_thread():
            for name, handler in handlers.items():
                known = getattr(signal, name, None)
                if known is not None and (name == "SIGINT" or signal.getsignal(known) is not signal.SIG_IGN):
                    before[known] = signal.signal(known, handler)
        try:
            yield
        finally:
            for known, earlier in before.items():
                signal.signal(known, earlier)


def _read_pipe(number: int, name: str, arrived: queue.Queue[tuple[str, bytes]]) -> None:
    """Hand on what a pipe brings, to its end."""
    while True:
        try:
            data = os.read(number, 65536)
        except OSError:
            data = b""
        arrived.put((name, data))
        if not data:
            os.close(number)
            return


def _memory() -> str:
    """How much memory a command may use, and who says so."""
    try:
        limit = memory_limit()
    except PrivproofError:
        limit = None
    return f"{MEMORY} sets the limit" if limit is None else f"the limit is {limit / 2**30:.3g} GiB, {MEMORY} changes it"
