"""Python files as modules: by themselves, in their package, by the name of their module, or from a notebook.

A file is executed from its own text; a ``.pyc`` beside it, which may be of another text, is neither read nor written.  A file of a
package is executed under its name in it, so that its relative imports work; the root of the project and its ``src`` are on the path.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from privproof.errors import FormatError, PrivproofError, nearest
from privproof.language import inputs as declarations
from privproof.language.inputs import Input

LOADED_AS = "privproof_input_"
"""What the names of modules begin with that are loaded by the path of their file."""
SUFFIXES = (".py", ".ipynb")
STANDARD_INPUT, STANDARD_INPUT_FILE = "-", Path("<stdin>.py")
"""How standard input is named on a command line, and in messages."""
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class _FromText(SourceFileLoader):
    """Compiles the file's own text."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def module_path(name: str) -> Path | None:
    """The file of a module by its dotted name, looked for from the working directory; None if there is none."""
    if not _DOTTED.fullmatch(name):
        return None
    with _on_path(_roots(Path.cwd() / "file.py")):
        try:
            found = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
    return Path(found.origin) if found is not None and found.origin and found.origin.endswith(".py") else None


def run_file(path: Path) -> ModuleType:
    """The module that a file makes.

    Raises:
        FormatError: there is no such file, or it fails.
    """
    if path == STANDARD_INPUT_FILE:
        return _run_text(_standard_input(), path)
    if not path.is_file():
        raise FormatError("file", "there is no such file", place=str(path), hint=_near_file(path))
    absolute = path.resolve()
    if path.suffix == ".ipynb":
        return _run_notebook(path)
    package = _package(absolute)
    stem = absolute.stem if absolute.stem != "__init__" else ""
    name = ".".join(part for part in (package, stem) if part) if package else f"{LOADED_AS}{path.stem}"
    with report_user_errors(path, str(path)), _on_path(_roots(absolute)):
        if package and stem:
            import_module(package)
        specification = importlib.util.spec_from_file_location(name, path, loader=_FromText(name, str(path.absolute())))
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        before = sys.modules.get(name)
        sys.modules[name] = module  # dataclasses and relative imports look for their module there
        try:
            specification.loader.exec_module(module)
        except BaseException:
            if before is not None:
                sys.modules[name] = before
            raise
    return module


def _package(path: Path) -> str:
    """The package that a file belongs to; empty if it belongs to none."""
    parts: list[str] = []
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _roots(path: Path) -> list[str]:
    """Where the imports of a file are looked for: beside it, above its package, at the root of its project, and in its ``src``."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    found = [folder]
    root = next((each for each in (folder, *folder.parents) if any((each / mark).exists() for mark in _MARKS)), None)
    if root is not None:
        found += [root, *([root / "src"] if (root / "src").is_dir() else [])]
    return list(dict.fromkeys(map(str, found)))


@contextmanager
def _on_path(folders: list[str]) -> Iterator[None]:
    """Folders in front of the path; what is imported later, by a function that runs, is found behind it."""
    sys.path[:0] = folders
    try:
        yield
    finally:
        for folder in folders:
            sys.path.remove(folder)
            if folder not in sys.path:
                sys.path.append(folder)


def _run_notebook(path: Path) -> ModuleType:
    """The module that the code of a notebook makes, cell after cell; lines for its shell are left out."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError("notebook", f"this is no notebook: {error}", place=str(path)) from None
    kept = [
        "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in text.split("\n"))
        for text in texts
    ]
    return _run_text("\n\n".join(kept) + "\n", path)


@cache
def _standard_input() -> str:
    """What stands on standard input; it can be read once."""
    try:
        return sys.stdin.read()
    except (OSError, ValueError) as error:
        raise FormatError("file", f"standard input cannot be read: {error}", place=str(STANDARD_INPUT_FILE)) from None


def _near_file(path: Path) -> str:
    """The file that was probably meant."""
    return nearest(path.name, [each.name for each in path.parent.iterdir()]) if path.parent.is_dir() else ""


def _run_text(text: str, path: Path) -> ModuleType:
    """The module that a text makes that is no file of its own."""
    name = f"{LOADED_AS}{path.stem.strip('<>')}"
    module = ModuleType(name)
    file = f"<{path.name.strip('<>')}>"
    module.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[name] = module
    with report_user_errors(path, str(path)), _on_path(_roots(path.resolve())):
        exec(compile(text, file, "exec"), vars(module))
    return module


@contextmanager
def report_user_errors(path: Path, place: str) -> Iterator[None]:
    """Whatever goes wrong in a user's file is one message with the line."""
    try:
        yield
    except PrivproofError as error:
        raise (error if path.name in error.place else error.at(place)) from None
    except MemoryError:
        raise
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: nothing in a file may end the program
        message = f"{type(error).__name__}: {error}".removesuffix(": ")
        at = f"{path}{_line(error, path)}"
        inside = f"{place}: {at}" if place != str(path) else at
        raise FormatError("python", message, place=inside, hint=_hint(error)) from None


def _hint(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"pip install {(error.name or 'it').split('.')[0]}, or run the command in the root of the project"
    return "run the file with Python"


def _line(error: BaseException, path: Path) -> str:
    """The last line of the file that took part in the error, as ``:12``."""
    if isinstance(error, SyntaxError) and error.lineno and error.filename:
        frames: list[tuple[str, int | None]] = [(error.filename, error.lineno)]
    else:
        frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    lines = [line for name, line in frames if line and Path(name).resolve() == path.resolve()]
    return f":{lines[-1]}" if lines else ""


def read_input(text: str) -> tuple[str, Input]:
    """An input that is declared in words: ``data=records(yes, no)``, ``q=queries(0, 2)``, ``t=public(integer(0, 3))``.

    Bare words are texts.

    Raises:
        FormatError: nothing is declared by them.

    >>> read_input("data=records(yes, no)")
    ('data', records('yes', 'no'))
    >>> read_input("rows = array(records(0, 1, size=3))")[1].array
    True
    """
    name, equals, written = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise FormatError(
            "input", f"{text!r} declares no input", place="--input", hint="--input 'data=records(yes, no)'"
        )
    try:
        tree = ast.parse(written.strip(), mode="eval").body
    except SyntaxError:
        raise _declaration_complaint(written) from None
    made = _declaration(tree, written)
    if not isinstance(made, Input):
        raise _declaration_complaint(written)
    return name.strip(), made


_DECLARE = (
    "records",
    "rows",
    "one_of",
    "queries",
    "integer",
    "real",
    "real_queries",
    "public",
    "array",
    "frame",
    "stream",
    "stream_of",
    "real_stream",
)


def _declaration(node: ast.expr, written: str) -> Any:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _DECLARE:
            arguments = [_declaration(each, written) for each in node.args]
            named = {each.arg: _declaration(each.value, written) for each in node.keywords if each.arg is not None}
            try:
                return getattr(declarations, name)(*arguments, **named)
            except TypeError as error:
                raise FormatError("input", f"{written.strip()!r}: {error}", place="--input") from None
        case ast.Name(id="None" | "True" | "False"):
            return ast.literal_eval(node)
        case ast.Name(id=name):
            return name
        case ast.Tuple(elts=parts):
            return tuple(_declaration(each, written) for each in parts)
        case _:
            try:
                return ast.literal_eval(node)
            except ValueError:
                raise _declaration_complaint(written) from None


def _declaration_complaint(written: str) -> FormatError:
    return FormatError(
        "input",
        f"{written.strip()!r} declares no input",
        place="--input",
        hint=f"one of {', '.join(_DECLARE[:6])}: --input 'data=records(yes, no)'",
    )
