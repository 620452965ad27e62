"""The console sessions of the documentation: found, run, and (``python -m tests.regression.consoles``) written anew.

A session is a ``console`` block whose lines ``$ privproof ...`` are commands and whose other lines are their output.
The sessions of one page run in order in one folder that holds `examples`, so a later command may read what an earlier
one wrote.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.commands import forked

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_SECONDS = re.compile(r"[0-9]+\.[0-9]+ s\b")
_COMMAND = re.compile(r"^\$ (.*)$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command of a session and the output printed below it."""

    line: str
    output: str


def commands(page: Path) -> list[Command]:
    """The commands of a page, in order."""
    found = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        parts = _COMMAND.split(block)[1:]
        found += [Command(line, output) for line, output in zip(parts[::2], parts[1::2], strict=True)]
    return found


def run(line: str, folder: Path) -> tuple[int, str]:
    """The exit status and the output of a ``privproof`` command; what it prints is 80 columns wide."""
    program, *arguments = shlex.split(line)
    if program != "privproof":
        raise ValueError(f"not a privproof command: {line}")
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    done = forked([sys.executable, "-m", "privproof", *arguments], folder, {"COLUMNS": "80"})
    return done.returncode, "".join(text.rstrip() + "\n" for text in (done.stdout + done.stderr).splitlines())


def refreshed(page: Path) -> str:
    """The text of a page with the output of its sessions as it is now; a session that differs in seconds alone stays."""
    with tempfile.TemporaryDirectory() as folder:

        def session(block: re.Match[str]) -> str:
            lines = _COMMAND.findall(block.group())
            new = "\n".join(f"$ {line}\n{run(line, Path(folder))[1]}" for line in lines)
            return block.group() if _SECONDS.sub("", new) == _SECONDS.sub("", block.group()) else new

        return _BLOCK.sub(session, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(refreshed(page), encoding="utf-8")
