"""A function's source with its place in a file, and what all readers of source share: names, numbers of sites, refusals."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import NoReturn

from privproof.errors import LanguageError
from privproof.language.syntax import Place

_INSTEAD: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "define a function with def and call it"),
    ast.Await: ("await", "a mechanism is an ordinary function"),
    ast.YieldFrom: ("yield from", "for x in xs: yield x"),
    ast.JoinedStr: ("an f-string", 'return the parts: return ("above", i)'),
    ast.Set: ("a set", "a tuple: (1, 2), or x == 1 or x == 2"),
    ast.SetComp: ("a set comprehension", "a list comprehension"),
    ast.DictComp: ("a dict comprehension", "write the table out, or build it as a constant of the module"),
    ast.NamedExpr: ("the := operator", "assign in a statement of its own"),
    ast.Starred: ("a starred expression", "write the elements out"),
    ast.Try: ("try", "test the condition with if"),
    ast.With: ("with", "randomness is chosen by the caller: with privproof.seeded(1): ..."),
    ast.Raise: ("raise", "return a value that says so"),
    ast.Assert: ("assert", "declare what holds in the signature: queries(0, 2)"),
    ast.Delete: ("del", "leave the variable alone"),
    ast.Global: ("global", "pass the value and return it"),
    ast.Nonlocal: ("nonlocal", "pass the value and return it"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.FunctionDef: ("a function inside a function", "define it at the top of the file"),
    ast.ClassDef: ("a class", "use tuples and lists"),
    ast.AsyncFunctionDef: ("async", "def"),
    ast.AsyncFor: ("async for", "for"),
}


@dataclass(frozen=True)
class Source:
    """A function's syntax tree with its place in a file.

    Attributes:
        function: the function itself.
        tree: its definition.
        file: the file it stands in.
        line: how many lines stand before it.
        lines: the lines that were parsed.
    """

    function: FunctionType
    tree: ast.FunctionDef
    file: str
    line: int
    lines: tuple[str, ...]

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        before = text.encode()[:column].decode(errors="ignore")  # the parser counts bytes
        return Place(self.file, self.line + line, len(before) + 1)

    @cached_property
    def names(self) -> Mapping[str, object]:
        """What the names that are not local stand for."""
        closed = inspect.getclosurevars(self.function).nonlocals
        return {**vars(builtins), **self.function.__globals__, **closed}


def source(function: FunctionType) -> Source:
    """The source of a function."""
    name = function.__qualname__
    file = function.__code__.co_filename
    place = Place(file, function.__code__.co_firstlineno, 1)
    if hasattr(function, "__wrapped__"):
        raise LanguageError(
            "construct",
            f"{name} is wrapped by a decorator, so its source is not what runs",
            place=str(place),
            hint="call what the decorator does, or leave it out",
        )
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise LanguageError(
            "source", f"the source of {name} is not to be had", place=str(place), hint="write the mechanism in a file"
        ) from None
    text = "".join(lines)
    indented = text[:1].isspace()
    parsed = f"if True:\n{text}" if indented else text
    try:
        tree = ast.parse(parsed).body[0]
    except SyntaxError:
        tree = ast.Pass()
    if indented and isinstance(tree, ast.If):
        tree = tree.body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise LanguageError(
            "construct", f"{name} is not defined by a def of its own", place=str(place), hint="define it with def"
        )
    return Source(function, tree, file, first - 1 - int(indented), tuple(parsed.splitlines()))


class Shared:
    """What the translations of all functions of one mechanism share."""

    def __init__(self, streams: frozenset[str], given: frozenset[str] = frozenset()) -> None:
        self.streams = streams
        self.given = given
        self.sites = 0
        self.fresh = 0
        self.calls: list[str] = []

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"#{stem}{self.fresh}"


class Reading:
    """The translation of one function, the mechanism itself or one that it calls: its names and its refusals."""

    def __init__(self, read: Source, shared: Shared, names: dict[str, str], *, called: bool = False) -> None:
        self.read = read
        self.shared = shared
        self.called = called
        self.whole: ast.expr | None = None
        self.names = names
        local = {n.id for n in ast.walk(read.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in local - names.keys():
            names[name] = f"{shared.name(read.tree.name + '.')}.{name}" if called else name

    # ------------------------------------------------------------------------------------------------------- refusing

    def place(self, node: ast.AST) -> Place:
        return self.read.place(node)

    def refuse(self, node: ast.AST, what: str, hint: str) -> NoReturn:
        raise LanguageError(
            "construct", f"{what} is not in the mechanism language", place=str(self.place(node)), hint=hint
        )

    def unknown(self, node: ast.AST) -> NoReturn:
        for kind, (what, hint) in _INSTEAD.items():
            if isinstance(node, kind):
                self.refuse(node, what, hint)
        text = ast.unparse(node).splitlines()[0]
        self.refuse(node, f"`{text[:60]}`", "see the language reference for what is")
