"""The programs that tests ask about, as ordinary Python files.

A folder is a set of programs for one kind of test; a file holds those of one theme.  It begins with the imports that all of them need; then
every program stands below a line of its own,

    # %% name | what is expected | size 2

which editors know as the beginning of a cell.  What is expected is a word of the test that reads the folder, the size is the length of the
lists and may be missing, and the neighbours are where a mechanism declares them.  A program is loaded alone: two of a file may give one
name to different things, and a program may be one that Python or the language refuses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent
_HEADER = re.compile(r"^# %% (?P<name>[^|\n]+?) \| (?P<expected>[^|\n]+?)(?: \| size (?P<size>\d+))?$\n", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A program of the corpus.

    Attributes:
        name: its file and its name in there, ``values: dict dup``.
        expected: what its test should find.
        size: the length of the lists; None where there are none, or where the test says.
        text: the source, with the imports of its file.
    """

    name: str
    expected: str
    size: int | None
    text: str

    def __str__(self) -> str:
        return self.name


def programs(folder: str, file: str = "*") -> list[Program]:
    """All programs of a folder of the corpus, in the order of its files; or those of one file.

    Raises:
        ValueError: two have one name, a line that begins a program is malformed, or there are none.
    """
    found: list[Program] = []
    for path in sorted((_FOLDER / folder).glob(f"{file}.py")):
        imports, *parts = re.split(r"^(?=# %%)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for part in parts:
            header = _HEADER.match(part)
            if header is None:
                raise ValueError(
                    f"{path}: expected '# %% name | what is expected | size 2', found {part.splitlines()[0]!r}"
                )
            size = int(header["size"]) if header["size"] else None
            body = part[header.end() :].strip("\n")
            found.append(Program(f"{path.stem}: {header['name']}", header["expected"], size, f"{imports}{body}\n"))
    names = [program.name for program in found]
    if not found or len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{folder}/{file}.py has {len(found)} programs, these names twice: {twice}")
    return found
