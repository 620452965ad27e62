"""What a command answers: texts, files and a status, gathered first and delivered at the end.

A command prints nothing and writes nothing while it runs.  It gathers its answer, and only a whole answer is delivered: first the
files, all of them or none, then standard output, then standard error.  The status of a verdict is given only after all that went well;
whatever cannot be delivered is status 2.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from privproof.errors import FormatError, PrivproofError
from privproof.formats.whole_files import Together

if TYPE_CHECKING:
    from rich.console import Console

WRONG = 2
"""The status of everything that gives no verdict: a wrong request, a program that ended, an answer that cannot be delivered."""

_PLAIN = str.maketrans(
    {"✓": "+", "✗": "x", "≈": "~", "≤": "<=", "≥": ">=", "·": "*", "–": "-", "—": "-", "…": "...", "→": "->", "×": "x"}
)
"""What a terminal shows that knows no more than ASCII."""


@dataclass(frozen=True)
class CommandAnswer:
    """A whole answer.

    Attributes:
        status: the exit status, if all of it can be delivered.
        out: the text for standard output.
        err: the text for standard error.
        files: what is written where.
        unwritten: the text for standard output where a file cannot be written.
        withdrawn: whether the files must not stay where nothing of `out` could be shown: a release is recorded and shown, or neither.
        error: where the request was wrong: its ``code``, ``message``, ``place`` and ``hint``.
    """

    status: int
    out: str = ""
    err: str = ""
    files: Mapping[str, str] | None = None
    unwritten: str = ""
    withdrawn: bool = False
    error: Mapping[str, str] | None = None

    def document(self) -> dict[str, Any]:
        """The answer as plain data."""
        return asdict(self)


class Ended(Exception):
    """A command has given its answer; raised by `end` only, and never by what a command runs."""


class Gathering:
    """The answer of the command that runs, as far as it has come."""

    def __init__(self) -> None:
        self.out, self.err = StringIO(), StringIO()
        self.files: dict[str, str] = {}
        self.unwritten = ""
        self.withdrawn = False
        self.ended: Ended | None = None
        self.status = 0
        self.encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        self._stream = sys.stdout
        self._looks: dict[str, Any] | None = None

    def answer(self) -> CommandAnswer:
        """What was gathered."""
        out, err = self.out.getvalue(), self.err.getvalue()
        return CommandAnswer(self.status, out, err, self.files, self.unwritten, self.withdrawn)

    def anew(self) -> Gathering:
        """A new answer for the same streams."""
        made = gather()
        made.encoding, made._stream, made._looks = self.encoding, self._stream, self.looks()
        return made

    def looks(self) -> dict[str, Any]:
        """How what is printed looks: on a terminal or not, how wide, in which colours.  Kept from the first call on."""
        if self._looks is None:
            from rich.console import Console

            shown = Console(file=self._stream, highlight=False)
            self._looks = {
                "force_terminal": shown.is_terminal,
                "width": shown.width,
                "color_system": shown.color_system,
            }
        return self._looks

    def console(self, file: TextIO | None = None) -> Console:
        """A console that looks like the one behind standard output."""
        from rich.console import Console

        out = self.out if file is None else file
        return Console(file=out, highlight=False, legacy_windows=False, **self.looks())


_gathering: Gathering | None = None


def gather() -> Gathering:
    """Begin a new answer."""
    global _gathering
    _gathering = Gathering()
    return _gathering


def current_answer() -> Gathering:
    """The answer of the command that runs."""
    assert _gathering is not None, "no command runs"
    return _gathering


def console() -> Console:
    """Where a command prints what is for readers."""
    return current_answer().console()


def rendered_text(show: Callable[[Console], None]) -> str:
    """What would be printed, as a text."""
    file = StringIO()
    show(current_answer().console(file))
    return file.getvalue()


def say(text: str, *, err: bool = False, end: str = "\n") -> None:
    """A line of the answer."""
    (current_answer().err if err else current_answer().out).write(text + end)


def json_line(value: object, encoding: str) -> str:
    """One line of JSON; characters that the encoding does not have are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(value) + "\n"
    return text + "\n"


def say_json(value: object) -> None:
    """The one object that ``--json`` prints."""
    current_answer().out.write(json_line(value, current_answer().encoding))


def complaint(error: PrivproofError) -> CommandAnswer:
    """The answer to a wrong request: one message on standard error; where JSON is wanted, the same as an object."""
    told = {"code": error.code, "message": error.message, "place": error.place, "hint": error.hint}
    out = json_line({"verdict": None, "error": told}, _output_encoding()) if "--json" in sys.argv else ""
    return CommandAnswer(WRONG, out, f"privproof: {error}\n", error=told)


def _output_encoding() -> str:
    return _gathering.encoding if _gathering is not None else "utf-8"


def write(path: Path, text: str) -> None:
    """A file of the answer."""
    current_answer().files[str(path)] = text


def end(status: int) -> NoReturn:
    """The answer is whole."""
    here = current_answer()
    here.status, here.ended = status, Ended()
    raise here.ended


def open_standard_streams() -> None:
    """Where a standard stream is closed, its number must not be given to something else."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def deliver(answer: CommandAnswer) -> int:
    """Write the files, then both streams; the status that the command ends with."""
    written = None
    try:
        written = Together(answer.files or {})
        written.appear()
    except FormatError as error:
        if answer.withdrawn:
            error.hint = "nothing was released"
        answer = replace(answer, status=WRONG, out=answer.unwritten, err=f"{answer.err}privproof: {error}\n")
        written = None
    shown, problem = StreamText(), "interrupted"
    try:
        problem = shown.on(sys.stdout, answer.out)
    finally:
        withdraw = bool(problem) and answer.withdrawn and not shown.begun
        if written is not None:
            written.undo() if withdraw else written.keep()
    if problem:
        told = _output_complaint(answer, problem, files=written is not None, begun=shown.begun)
        answer = replace(answer, status=WRONG, err=f"{answer.err}privproof: {told}\n")
    return WRONG if StreamText().on(sys.stderr, answer.err) else answer.status


def _output_complaint(answer: CommandAnswer, problem: str, *, files: bool, begun: bool) -> FormatError:
    """The complaint about standard output, with what has become of a release."""
    hint = ""
    if answer.withdrawn:
        hint = "nothing was released" if not begun else "a part of the released value may have been shown"
        if begun and files and answer.files:
            hint += f"; it is recorded in {', '.join(answer.files)}"
    return FormatError("output", f"cannot write the answer: {problem}", place="standard output", hint=hint)


class StreamText:
    """A text on its way to a stream.

    Attributes:
        begun: whether a part of it has been written.
    """

    def __init__(self) -> None:
        self.begun = False

    def on(self, stream: TextIO | None, text: str) -> str:
        """Write it all; what went wrong, or nothing."""
        if not text:
            return ""
        if stream is None:
            return "it is closed"
        try:
            stream.flush()
            data = _encode_output(stream, text)
            number = _number(stream)
            if number is None:
                stream.write(data.decode(getattr(stream, "encoding", None) or "utf-8", errors="replace"))
                stream.flush()
                self.begun = True
            else:
                self._bytes(number, data)
        except (OSError, ValueError) as error:
            return getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ""

    def _bytes(self, number: int, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                count = os.write(number, left)
            except BlockingIOError:
                select.select([], [number], [], 1.0)
                continue
            self.begun = True
            left = left[count:]


def _number(stream: TextIO) -> int | None:
    """The descriptor behind a stream, where there is one that takes bytes as they are."""
    if os.name != "posix":
        return None
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def _encode_output(stream: TextIO, text: str) -> bytes:
    """The bytes of a text; signs that the stream does not know become plain ones, or are spelt out."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, errors="backslashreplace")
