"""Which mechanisms files, folders and packages hold.

Folders are looked through without running anything: a Python file counts where its text marks a function with ``@mechanism`` (or makes
one by ``NAME = mechanism(...)``) and the mark is that of privproof; a YAML or JSON file counts where it is a model with a scenario.
What else is to be checked has to be named, on the command line or in the configuration.
"""

from __future__ import annotations

import ast
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from privproof.errors import FormatError, PrivproofError, nearest

_MARK = "mechanism"
_MODELS = (".yaml", ".yml", ".json")
_KIND = re.compile(
    r"""^[\s{]*["']?kind["']?\s*:\s*["']?(hmm|markov-chain|transducer|stream-automaton)\b""", re.MULTILINE
)
_SCENARIO = re.compile(r"""^\s*["']?(scenario|kind["']?\s*:\s*["']?stream-automaton)\b""", re.MULTILINE)
_LEFT_OUT = frozenset(("__pycache__", "node_modules", "site-packages", "venv", "build", "dist"))
"""Folders that hold nobody's own source; so do those whose names begin with a dot."""
_LARGEST = 4_000_000
"""Bytes of a YAML or JSON file in a folder that is looked into: models that people write are far below, data may be far above."""


@dataclass(frozen=True)
class Target:
    """One mechanism, or one model.

    Attributes:
        text: what ``privproof check`` takes: ``FILE`` or ``FILE:NAME``.
        file: the file, as it was named or found.
        name: the name in it; empty for a model, or for whatever is the only one of its file.
        line: the line where it is defined, as far as that is known without running the file.
        problem: why it cannot be checked, where that is known already.
    """

    text: str
    file: str
    name: str = ""
    line: int = 1
    problem: PrivproofError | None = None


def find_targets(paths: Iterable[str], *, exclude: Sequence[str] = (), base: Path | None = None) -> tuple[Target, ...]:
    """Everything to check below some paths, each once, in the order of the paths and in files in the order of their lines.

    Args:
        paths: files, folders, ``FILE:NAME``, ``FILE::NAME``, packages, ``package.module:NAME``.
        exclude: patterns of what is left out of folders.
        base: the folder that patterns are relative to.
    """
    found: dict[str, Target] = {}
    for path in paths:
        for target in _below(path, exclude, base or Path.cwd()):
            key = target.text if target.problem is None else f"{target.text} {target.line}"
            found.setdefault(key, target)
    return tuple(found.values())


def marked_targets(file: Path) -> tuple[Target, ...]:
    """The mechanisms that a Python file marks, or what keeps it from being read."""
    try:
        with tokenize.open(file) as opened:
            text = opened.read()
        tree = ast.parse(text, str(file))
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError, MemoryError) as error:
        return (_unreadable(file, error),)
    except OSError as error:
        return (_unreadable(file, error.strerror or str(error)),)
    marks = _marks(tree)
    found = list(_marked_names(tree.body, marks, ""))
    last = {name: line for name, line, _ in found}
    branches: dict[str, list[int]] = {}
    for name, _, block in found:
        branches.setdefault(name, []).append(block)
    targets = []
    for name, line, block in found:
        again = line != last[name] and branches[name].count(block) > 1
        if line != last[name] and not again:
            continue  # another branch of an if: whichever is taken, the name is asked about once
        problem = None
        if again:
            problem = FormatError(
                "name",
                f"{name!r} is defined again in line {last[name]}, so this one is not there to be checked",
                place=f"{file}:{line}",
                hint="another name",
            )
        targets.append(Target(f"{file}:{name}", str(file), name, line, problem))
    return tuple(targets)


def _below(path: str, exclude: Sequence[str], base: Path) -> Iterator[Target]:
    at = Path(path)
    if at.is_dir():
        yield from _in_folder(at, exclude, base)
        return
    if at.is_file():
        yield from (at.suffix == ".py" and marked_targets(at)) or (Target(path, path),)
        return
    head, colon, name = path.replace("::", ":").rpartition(":")
    file = Path(head) if colon and Path(head).is_file() else _module_file(head if colon else path)
    if file is None:
        yield Target(path, head if colon else path, problem=_missing_complaint(path, head if colon else path))
    elif colon:
        yield Target(f"{file}:{name}", str(file), name, _line_of(file, name))
    elif file.name == "__init__.py":
        yield from _in_folder(file.parent, exclude, base)
    else:
        yield from marked_targets(file) or (Target(str(file), str(file)),)


def _in_folder(folder: Path, exclude: Sequence[str], base: Path) -> Iterator[Target]:
    for where, folders, files in os.walk(folder):
        here = Path(where)
        folders[:] = sorted(
            name
            for name in folders
            if name not in _LEFT_OUT and not name.startswith(".") and not _is_excluded(here / name, exclude, base)
        )
        for name in sorted(files):
            file = here / name
            if name.startswith(".") or _is_excluded(file, exclude, base):
                continue
            if file.suffix == ".py" and _mentions_mark(file):
                yield from marked_targets(file)
            elif file.suffix in _MODELS and _is_model(file):
                yield Target(str(file), str(file))


def _is_excluded(path: Path, patterns: Sequence[str], base: Path) -> bool:
    """Whether a pattern names a path, a folder above it, or its last part."""
    absolute, root = Path(os.path.abspath(path)), Path(os.path.abspath(base))
    relative = absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.as_posix()
    kept = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    return any(fnmatch(relative, pattern) or fnmatch(path.name, pattern) for pattern in kept)


def _mentions_mark(file: Path) -> bool:
    try:
        data = file.read_bytes()
    except OSError:
        return True  # the complaint comes when it is read
    return _MARK.encode() in data


def _is_model(file: Path) -> bool:
    try:
        if file.stat().st_size > _LARGEST:
            return False
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return bool(_KIND.search(text) and _SCENARIO.search(text))


def _unreadable(file: Path, error: Exception | str) -> Target:
    line = getattr(error, "lineno", None) or 1
    said = error if isinstance(error, str) else f"{type(error).__name__}: {getattr(error, 'msg', None) or error}"
    problem = FormatError("python", said, place=f"{file}:{line}", hint="run the file with Python")
    return Target(str(file), str(file), line=line, problem=problem)


def _missing_complaint(path: str, head: str) -> FormatError:
    folder = Path(head).parent
    there = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    hint = nearest(Path(head).name, there)
    return FormatError("file", "there is no such file, folder or module", place=path, hint=hint)


def _module_file(name: str) -> Path | None:
    """The file of a module by its dotted name, in the working directory or its ``src``; otherwise as Python finds it."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for root in (Path(), Path("src")):
        inside = root.joinpath(*parts)
        for file in (inside.with_suffix(".py"), inside / "__init__.py"):
            if file.is_file():
                return file
    from privproof.formats.python_files import module_path

    return module_path(name)


def _line_of(file: Path, name: str) -> int:
    """The line where a file defines a name at its top; 1 where that is not seen."""
    try:
        with tokenize.open(file) as opened:
            body = ast.parse(opened.read()).body
    except (SyntaxError, UnicodeDecodeError, ValueError, OSError):
        return 1
    line = 1
    for part in name.split("."):
        found = [each for each in body if getattr(each, "name", None) == part]
        if not found:
            break
        line, body = found[-1].lineno, getattr(found[-1], "body", [])
    return line


def _marks(tree: ast.Module) -> frozenset[str]:
    """The names by which a file knows the mark: what it imports from privproof, or from its own package."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            ours = node.level > 0 or (node.module or "").split(".")[0] == "privproof"
            names.update((each.asname or each.name) for each in node.names if ours and each.name == _MARK)
            names.update(_MARK for each in node.names if ours and each.name == "*")
            names.update(
                f"{each.asname or each.name}.{_MARK}" for each in node.names if ours and each.name == "language"
            )
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.split(".")[0] == "privproof":
                    names.add(f"{each.asname or each.name}.{_MARK}")
    return frozenset(names)


def _marked_names(
    body: Sequence[ast.stmt], marks: frozenset[str], prefix: str, block: int = 0
) -> Iterator[tuple[str, int, int]]:
    """Every name that is marked at the top of a file or in a class: with its line, and the block that it stands in."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if any(_is_mark(each, marks) for each in node.decorator_list):
                    yield f"{prefix}{node.name}", node.lineno, block
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if _is_mark(value, marks):
                yield f"{prefix}{name}", node.lineno, block
            case ast.ClassDef():
                yield from _marked_names(node.body, marks, f"{prefix}{node.name}.", block)
            case ast.If() | ast.Try() | ast.With():
                for field in ("body", "orelse", "finalbody"):
                    inner = getattr(node, field, [])
                    yield from _marked_names(inner, marks, prefix, inner[0].lineno if inner else 0)
                for handler in getattr(node, "handlers", []):
                    yield from _marked_names(handler.body, marks, prefix, handler.lineno)


def _is_mark(node: ast.expr, marks: frozenset[str]) -> bool:
    while isinstance(node, ast.Call):
        node = node.func
    return ast.unparse(node) in marks if isinstance(node, ast.Name | ast.Attribute) else False
