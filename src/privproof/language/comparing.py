"""Is the code that would run the code of the text?

A function's text is read from its file, and its code object comes from wherever the function was made: an import that is older than
the last edit, a stale or foreign ``.pyc``, a replaced ``__code__``, a text that was executed under the name of another file.  So the whole
file is compiled anew, the code object of the function is looked for by its name and line, and both are compared, with everything
inside them.  Only what no run can see is left out: the file's name and the tables of lines and columns.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import linecache
import os
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType, FunctionType
from typing import Any, Final

from privproof.errors import LanguageError
from privproof.language.syntax import Place

_COMPARED: Final = {
    "co_name": "its name",
    "co_qualname": "where it is defined",
    "co_argcount": "its parameters",
    "co_posonlyargcount": "its parameters",
    "co_kwonlyargcount": "its parameters",
    "co_varnames": "its variables",
    "co_cellvars": "its variables",
    "co_freevars": "the variables it takes from around it",
    "co_names": "the names it looks up",
    "co_flags": "its kind",
    "co_code": "its instructions",
    "co_exceptiontable": "its handling of exceptions",
}
"""What is compared, and what a message calls it; the constants are compared by themselves."""

_ASYNCHRONOUS: Final = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True, eq=False)
class Text:
    """A file's text, its tree, its definitions and the code objects it compiles to, both by name and first line.

    Texts are kept as long as files do not change, so nobody may change the trees.
    """

    lines: tuple[str, ...]
    tree: ast.Module
    definitions: Mapping[tuple[str, int], ast.FunctionDef]
    codes: Mapping[tuple[str, int], tuple[CodeType, ...]]


def text_of(function: FunctionType) -> Text | None:
    """The text that a function's file holds now; None if it is not to be had.

    Raises:
        LanguageError: the file is no longer Python.
    """
    code = function.__code__
    text = _now(code.co_filename, function.__globals__)
    if not text:
        return None
    try:
        return _parsed(text, code.co_filename, code.co_flags & __future__.annotations.compiler_flag)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise _changed(function, f"the file cannot be compiled now: {problem}") from None


def compare(function: FunctionType, text: Text) -> ast.FunctionDef:
    """The definition of a function in its file's text.

    Raises:
        LanguageError: what would run is not what this text compiles to.
    """
    running = function.__code__
    key = (running.co_name, running.co_firstlineno)
    definition = text.definitions.get(key)
    found = text.codes.get(key, ())
    if definition is None or len(found) != 1:
        if running.co_name == "<lambda>" or running.co_flags & _ASYNCHRONOUS:
            raise LanguageError(
                "construct",
                f"{running.co_qualname} is not defined by a def of its own",
                place=str(Place(running.co_filename, running.co_firstlineno, 1)),
                hint="define it with def",
            )
        raise _changed(function, f"line {running.co_firstlineno} defines no {running.co_name}")
    told = difference(running, found[0])
    if told is not None:
        raise _changed(function, f"{told} differ" if told.endswith("s") else f"{told} differs")
    return definition


def difference(running: CodeType, compiled: CodeType) -> str | None:
    """What tells two code objects apart in a run, in words; None if nothing does."""
    for attribute, words in _COMPARED.items():
        if getattr(running, attribute) != getattr(compiled, attribute):
            return words
    return None if _same(running.co_consts, compiled.co_consts) else "its constants"


def _same(left: Any, right: Any) -> bool:
    """Whether two constants of code are the same: 1 is not True, and 0.0 is not -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, CodeType):
        return difference(left, right) is None
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, frozenset):
        return sorted(map(_told, left)) == sorted(map(_told, right))
    return bool(left == right) and repr(left) == repr(right)


def _told(value: object) -> str:
    return f"{type(value).__name__} {value!r}"


def _now(file: str, names: dict[str, Any]) -> str:
    """A file's text as it is now; of what is no file (a notebook's cell, a doctest, an archive) what the interpreter keeps."""
    if os.path.isfile(file):
        try:
            with tokenize.open(file) as opened:
                return opened.read()
        except (OSError, SyntaxError, UnicodeDecodeError):
            return ""
    linecache.checkcache(file)
    return "".join(linecache.getlines(file, names))


@lru_cache(maxsize=2048)
def definition_text(text: Text, definition: ast.FunctionDef) -> str:
    """A definition as it is written, without its decorators and moved to the left margin.

    A line that begins inside a text of several lines stays as it is.
    """
    if isinstance(definition, LambdaDefinition):
        body = definition.body[0]
        assert isinstance(body, ast.Return)
        assert body.value is not None
        return f"def {definition.name}({ast.unparse(definition.args)}):\n    return {ast.unparse(body.value)}"
    first, last, margin = definition.lineno, definition.end_lineno or definition.lineno, definition.col_offset
    inside = {
        line
        for node in ast.walk(definition)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
    moved = []
    for number, line in enumerate(text.lines[first - 1 : last], start=first):
        blank = line[:margin]
        moved.append(line if number in inside else line[len(blank) - len(blank.lstrip()) :])
    result = "\n".join(moved)
    bare = copy.copy(definition)
    bare.decorator_list = []
    if _flat(ast.parse(result).body[0]) != _flat(bare):
        raise AssertionError(f"the text of {definition.name} was not moved to the margin rightly")
    return result


def _flat(tree: ast.AST) -> list[tuple[object, ...]]:
    """A tree as a list of its nodes, each with what it holds beside other nodes; equal for equal trees, however deep they are."""
    flat: list[tuple[object, ...]] = []
    for node in ast.walk(tree):
        fields: list[object] = [type(node)]
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                fields += [name, len(value), *(repr(item) for item in value if not isinstance(item, ast.AST))]
            else:
                fields += [name, "" if isinstance(value, ast.AST) else repr(value)]
        flat.append(tuple(fields))
    return flat


@lru_cache(maxsize=128)
def _parsed(text: str, file: str, flags: int) -> Text:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, file)
        code = compile(text, file, "exec", flags=flags, dont_inherit=True)
    definitions = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = node.decorator_list[0] if node.decorator_list else node
            definitions[node.name, first.lineno] = node
        elif isinstance(node, ast.Lambda):
            definitions["<lambda>", node.lineno] = _defined(node)
    codes: dict[tuple[str, int], tuple[CodeType, ...]] = {}
    for inner in _inside(code):
        key = (inner.co_name, inner.co_firstlineno)
        codes[key] = (*codes.get(key, ()), inner)
    return Text(tuple(text.split("\n")), tree, definitions, codes)


class LambdaDefinition(ast.FunctionDef):
    """A lambda as the definition of a function."""


def _defined(node: ast.Lambda) -> LambdaDefinition:
    """The definition that is the same as a lambda; two in one line are told apart by nothing, and refused."""
    end = ast.copy_location(ast.Return(node.body), node.body)
    made = LambdaDefinition(name="function", args=node.args, body=[end], decorator_list=[], returns=None)
    return ast.copy_location(made, node)


def _inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inside(constant)


def _changed(function: FunctionType, why: str) -> LanguageError:
    code = function.__code__
    return LanguageError(
        "changed",
        f"what {code.co_qualname} would run is not what its file says: {why}",
        place=str(Place(code.co_filename, code.co_firstlineno, 1)),
        hint="the file was edited after its import, or something else was loaded for it: reload the module, and remove old .pyc files",
    )


@dataclass(frozen=True)
class Source:
    """A function's definition with its place in a file.

    Attributes:
        function: the function itself.
        definition: its definition in the file's tree, which others read too.
        file: the file it stands in.
        whole: the text of the file.
    """

    function: FunctionType
    definition: ast.FunctionDef
    file: str
    whole: Text

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The definition without its decorators, as a tree of one's own, with the lines and columns of the file."""
        if isinstance(self.definition, LambdaDefinition):
            return copy.deepcopy(self.definition)
        first, last = self.definition.lineno, self.definition.end_lineno
        indented = self.definition.col_offset > 0
        lines = ["if True:"] * indented + list(self.whole.lines[first - 1 : last])
        (tree,) = ast.parse("\n".join(lines)).body
        if isinstance(tree, ast.If):
            (tree,) = tree.body
        assert isinstance(tree, ast.FunctionDef)
        ast.increment_lineno(tree, first - 1 - int(indented))
        return tree

    @property
    def text(self) -> str:
        """The definition as it is written, without its decorators and moved to the left margin."""
        return definition_text(self.whole, self.definition)

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        lines = self.whole.lines
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        before = text.encode()[:column].decode(errors="ignore")  # the parser counts bytes
        return Place(self.file, line, len(before) + 1)


def source(function: FunctionType) -> Source:
    """The source of a function, after its code was compared with it.

    Raises:
        LanguageError: the source is not to be had, or is not what would run.
    """
    code = function.__code__
    place = Place(code.co_filename, code.co_firstlineno, 1)
    if hasattr(function, "__wrapped__"):
        raise LanguageError(
            "construct",
            f"{code.co_qualname} is wrapped by a decorator, so its source is not what runs",
            place=str(place),
            hint="call what the decorator does, or leave it out",
        )
    text = text_of(function)
    if text is None:
        raise LanguageError(
            "source",
            f"the source of {code.co_qualname} is not to be had",
            place=str(place),
            hint="write the mechanism in a file",
        )
    return Source(function, compare(function, text), code.co_filename, text)
