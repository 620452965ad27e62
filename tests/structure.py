"""What a tree of Python files imports, in whatever way: functions of a folder, so that a test can show them a tree with a fault."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

UNKNOWN = "?"
"""The name of a module that is loaded by a name which is computed, or in a way that hides it."""

LOADERS = {
    "import_module",
    "__import__",
    "find_spec",
    "spec_from_file_location",
    "run_module",
    "run_path",
    "exec_module",
}
RUNNERS = {"exec", "eval", "compile"}
ALIASED = LOADERS | {"exec", "eval"}
"""What is not even to be mentioned without a call: it would go by another name."""
HIDING = {"builtins", "imp", "runpy", "pkgutil", "zipimport"}
_CODE = re.compile(r"^[ \t]*(?:import[ \t]+([\w.]+)|from[ \t]+([\w.]+)[ \t]+import\b)", re.MULTILINE)


@dataclass(frozen=True)
class Loading:
    """A module that a file loads.

    Attributes:
        file: the file, as a path inside the folder.
        module: the module; with a ``*`` at the end if only the beginning of its name is known, `UNKNOWN` if nothing is.
        names: what is taken from it.
        how: ``import``; ``call`` of a loader; ``text`` of a program in a string.
    """

    file: str
    module: str
    names: tuple[str, ...] = ()
    how: str = "import"

    @property
    def top(self) -> str:
        """The first part of the module's name."""
        return self.module.split(".")[0]


def files_in(folder: Path) -> dict[str, str]:
    """The texts of all Python files below a folder, by their paths inside it."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))
    }


@cache
def parsed(text: str) -> ast.Module:
    """A text as a tree."""
    return ast.parse(text)


def loadings(folder: Path) -> list[Loading]:
    """Everything that the files below a folder load."""
    return [Loading(file, *found) for file, text in files_in(folder).items() for found in _in_text(text)]


@cache
def _in_text(text: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    return tuple(_loaded(list(ast.walk(parsed(text)))))


def _loaded(nodes: list[ast.AST]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    hidden = (UNKNOWN, (), "call")
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, (), "import") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), tuple(alias.name for alias in node.names), "import"
            if any(alias.name in LOADERS and alias.asname not in (None, alias.name) for alias in node.names):
                yield hidden
        elif isinstance(node, ast.Call):
            name = _name(node.func)
            if name in LOADERS:
                yield _literal(node.args[0]) if node.args else UNKNOWN, (), "call"
            elif name in RUNNERS and isinstance(node.func, ast.Name):
                yield hidden
        elif isinstance(node, ast.Attribute | ast.Name):
            name = _name(node)
            modules = isinstance(node, ast.Attribute) and name == "modules" and _name(node.value) == "sys"
            if modules or name in ("__builtins__", "__loader__") or (name in ALIASED and id(node) not in called):
                yield hidden
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            if node.value in LOADERS:
                yield hidden
            if "import" in node.value:
                yield from ((one or other, (), "text") for one, other in _CODE.findall(node.value))


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _literal(node: ast.expr) -> str:
    """The text that an expression is, or how it begins."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr) and node.values:
        first = node.values[0]
        return f"{first.value}*" if isinstance(first, ast.Constant) else UNKNOWN
    return UNKNOWN


def foreign(folder: Path, *, own: str, allowed: Collection[str], doors: Mapping[str, Collection[str]]) -> list[Loading]:
    """What the files of a package load although they may not.

    Args:
        folder: the folder of the package.
        own: the name of the package.
        allowed: modules, and packages with a dot at the end, that every file may import.
        doors: for some files the modules that they alone may load besides.
    """

    def may(found: Loading) -> bool:
        module = found.module
        if module in doors.get(found.file, ()) or module.startswith(f"{own}.") or module == own:
            return True
        if found.top in HIDING or module == UNKNOWN:
            return False
        known = {each for each in allowed if not each.endswith(".")}
        packages = tuple(each for each in allowed if each.endswith("."))
        return module in known or found.top in known or module.startswith(packages)

    return [found for found in loadings(folder) if not may(found)]


def knowing(folder: Path, module: str) -> dict[str, set[str]]:
    """Which files know a module, and how: they load it (``import``, ``call``, ``text``) or take it from another file (``name``)."""
    found: dict[str, set[str]] = {}
    for each in loadings(folder):
        if each.top == module:
            found.setdefault(each.file, set()).add(each.how)
        elif module in each.names:
            found.setdefault(each.file, set()).add("name")
    return found


def loading_the_unknown(folder: Path) -> set[str]:
    """The files that load what cannot be told from their text."""
    return {each.file for each in loadings(folder) if each.module == UNKNOWN or each.top in HIDING}


def printing(folder: Path) -> set[str]:
    """The files that print, or write to the terminal."""
    return {
        file
        for file, text in files_in(folder).items()
        for node in ast.walk(parsed(text))
        if (isinstance(node, ast.Name) and node.id == "print")
        or (
            (isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr", "__stdout__", "__stderr__"))
            and isinstance(node.value, ast.Name)
            and node.value.id == "sys"
        )
    }


def silent(folder: Path) -> set[str]:
    """The files that do not say their idea; an empty one and ``__main__.py`` need not."""
    return {
        file
        for file, text in files_in(folder).items()
        if text.strip() and not ast.get_docstring(parsed(text)) and file.rpartition("/")[2] != "__main__.py"
    }
