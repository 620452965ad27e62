"""Files that appear whole or not at all.

A text is written beside its place under a name that nobody can guess, flushed to the disk, and only then renamed: whoever looks sees
the old file or the new one, never a part of it, and a full disk leaves what was there.  Several files are written together: either
all of them appear, or none.  What is no ordinary file (a pipe, a terminal, ``/dev/null``) has no beside and is written as it is.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from privproof.errors import FormatError


def write_whole(path: str | Path, text: str | bytes) -> None:
    """Write one file, whole or not at all.

    Raises:
        FormatError: it cannot be written; what was there before is still there.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "note.txt"), "kept")
    ...     Path(folder, "note.txt").read_text(), len(list(Path(folder).iterdir()))
    ('kept', 1)
    """
    written = Together({str(path): text})
    written.appear()
    written.keep()


class Together:
    """Files that appear together.

    `Together(texts)` writes them beside their places, `appear` puts them there, and then either `keep` or `undo` ends the matter.
    A failure on the way undoes everything by itself.
    """

    def __init__(self, texts: Mapping[str, str] | Mapping[str, str | bytes]) -> None:
        self.files: list[_FileBeside] = []
        self.special: list[tuple[Path, bytes]] = []
        try:
            for name, text in texts.items():
                path = Path(name)
                written = _encode_text(path, text)
                if is_special(path):
                    self.special.append((path, written))
                else:
                    self.files.append(_FileBeside(path, written))
        except BaseException:
            self.undo()
            raise

    def appear(self) -> None:
        """Put every file into its place; what is no ordinary file is written last, because it cannot be taken back."""
        try:
            for file in self.files:
                file.appear()
            for path, text in self.special:
                _write_special(path, text)
        except BaseException:
            self.undo()
            raise

    def keep(self) -> None:
        """The files stay; what they have replaced is forgotten."""
        for file in self.files:
            file.keep()

    def undo(self) -> None:
        """What was there before is there again."""
        for file in reversed(self.files):
            file.undo()


class _FileBeside:
    """One file, written beside its place.

    Attributes:
        path: its place, for messages.
        target: the same, with links followed: a link stays a link.
        part: where the new text is, until it appears.
        before: where the old file is kept until the new one is sure to stay.
    """

    def __init__(self, path: Path, text: bytes) -> None:
        self.path, self.target = path, path
        self.part: Path | None = None
        self.before: Path | None = None
        self.appeared = False
        try:
            self.target = Path(os.path.realpath(path))
            beside = self._beside()
            mode = stat.S_IMODE(self.target.stat().st_mode) if self.target.exists() else None
            if mode is not None and not os.access(self.target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
            self.part = beside
            with os.fdopen(handle, "wb") as file:
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), mode)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except (OSError, ValueError) as error:
            self.undo()
            raise _complaint(path, error) from None
        except BaseException:
            self.undo()
            raise

    def appear(self) -> None:
        assert self.part is not None
        try:
            if self.target.exists():
                self.before = self._kept_before()
            os.replace(self.part, self.target)
            self.part, self.appeared = None, True
            _synchronise(self.target.parent)
        except OSError as error:
            raise _complaint(self.path, error) from None

    def _kept_before(self) -> Path:
        """A second name of the old file; a copy where the file system has no links."""
        before = self._beside()
        try:
            os.link(self.target, before)
        except OSError:
            try:
                shutil.copy2(self.target, before)
            except BaseException:
                _remove(before)
                raise
        return before

    def keep(self) -> None:
        _remove(self.before)
        self.before, self.appeared = None, False

    def undo(self) -> None:
        _remove(self.part)
        self.part = None
        if self.before is not None:
            with suppress(OSError):
                if self.appeared:
                    os.replace(self.before, self.target)
                else:
                    self.before.unlink()
            self.before = None
        elif self.appeared:
            _remove(self.target)
        self.appeared = False

    def _beside(self) -> Path:
        return self.target.with_name(f".privproof-{secrets.token_hex(8)}.part")


def _encode_text(path: Path, text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError(
            "encoding", "a name holds half a surrogate pair, which no file can hold", place=str(path)
        ) from None


def is_special(path: Path) -> bool:
    """Whether something that is no ordinary file stands there: it is written, never replaced."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISDIR(mode):
        return False
    named = path.absolute().as_posix().startswith(("/dev/", "/proc/"))  # such as /dev/stdout, whatever it stands for
    return named or not stat.S_ISREG(mode) or _standard(path) is not None


def _standard(path: Path) -> int | None:
    """The number of the standard stream that is this very file."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(path.stat(), os.fstat(number)):
                return number
    return None


def _write_special(path: Path, text: bytes) -> None:
    try:
        number = _standard(path)
        with open(path if number is None else number, "wb", buffering=0, closefd=number is None) as file:
            left = memoryview(text)
            while left:
                left = left[file.write(left) or 0 :]
    except OSError as error:
        raise _complaint(path, error) from None


def _complaint(path: Path, error: OSError | ValueError) -> FormatError:
    return FormatError("file", f"cannot write: {getattr(error, 'strerror', None) or error}", place=str(path))


def _remove(path: Path | None) -> None:
    if path is not None:
        with suppress(OSError):
            path.unlink()


def _synchronise(folder: Path) -> None:
    """A new name in a folder survives a loss of power, where the system can promise that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
