"""What a file holds, while it is being written: its functions, and what is wrong or refused in it, with line and column.

Whoever looks at a file must not run what its author has not asked to be run.  A Python file is executed here only if its own block
*declares* and does nothing else: it imports known libraries, names constants, and defines functions and plain classes, whose
decorators, defaults and annotations call nothing but declarations.  Whatever else stands there is left alone, and the outline says
where.  The bodies of functions are read by the mechanism language, not run.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal

from privproof.errors import FormatError, PrivproofError
from privproof.formats.model_files import read_question
from privproof.formats.python_files import run_file
from privproof.language import Mechanism, mechanism
from privproof.language.inputs import Input

# fmt: off
_LIBRARIES = frozenset((
    "__future__", "collections", "dataclasses", "decimal", "enum", "fractions", "functools", "itertools", "math", "numbers", "numpy",
    "operator", "privproof", "random", "scipy", "secrets", "statistics", "string", "types", "typing",
))
"""Libraries that do nothing when they are imported."""
_DECLARING = frozenset((
    "mechanism", "prior", "queries", "records", "rows", "one_of", "integer", "real", "real_queries", "public", "array", "frame", "stream",
    "stream_of", "real_stream", "Row", "Fraction", "Decimal", "dataclass", "field", "namedtuple", "auto", "bool", "dict", "float",
    "frozenset", "int", "len", "list", "range", "set", "str", "tuple", "staticmethod", "classmethod", "property", "cache", "lru_cache",
    "default_rng", "Random", "SystemRandom", "MappingProxyType",
))
"""What may be called in a file's own block: it makes a value, and calls nothing that it is given."""
# fmt: on
_BASES = frozenset(("object", "NamedTuple", "Protocol"))
_MEMBERS = frozenset(("Enum", "IntEnum", "StrEnum"))
"""Bases of classes whose bodies make objects of them, so that a method of theirs may be run."""
_PLAIN = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Slice, ast.Starred),
    *(ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr, ast.FormattedValue),
)
"""Expressions that run nothing but their parts."""


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file.

    Attributes:
        kind: ``wrong``, if nothing can be asked before it is mended; ``refused``, if the language has no translation for it, and the
            function would be run as it is.
        line: counted from 1.
        column: counted from 1.
        code: the code of the message.
        message: what it is.
        hint: what to write instead.
        function: the function in which it is, where it is in one.
    """

    kind: Literal["wrong", "refused"]
    line: int
    column: int
    code: str
    message: str
    hint: str = ""
    function: str = ""


@dataclass(frozen=True)
class OutlineEntry:
    """A function of a file.

    Attributes:
        name: its name.
        line: where it begins, counted from 1.
        inputs: what its inputs may be, as they are declared; empty where they are not, or where the file was not executed.
        parameters: its parameters with their values.
        claim: what is claimed about it, in words.
    """

    name: str
    line: int
    inputs: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    claim: str = ""


@dataclass(frozen=True)
class Outline:
    """What a file holds.

    Attributes:
        entries: its functions that can be asked about.
        problems: what is wrong in it.
        unread: the line that does more than declare, because of which the file was not executed, and nothing in it refused; or None.
    """

    entries: tuple[OutlineEntry, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: int | None = None


def outline_of(path: Path) -> Outline:
    """What a file holds: a Python file, or else a model file.

    Raises:
        FormatError: there is no such file.
    """
    if not path.is_file():
        raise FormatError("file", "there is no such file", place=str(path))
    if path.suffix != ".py":
        try:
            read_question(path)
        except PrivproofError as error:
            return Outline(problems=(_problem("wrong", error, (1, 1)),))
        return Outline()
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        message = getattr(error, "msg", None) or str(error)
        return Outline(problems=(Problem("wrong", line, max(1, column), "syntax", message),))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    unread = next((node.lineno for node in doing_more(tree.body, path.parent)), None)
    if unread is not None:
        return Outline(tuple(OutlineEntry(node.name, node.lineno) for node in found), unread=unread)
    try:
        module = run_file(path)
    except PrivproofError as error:
        entries = tuple(OutlineEntry(node.name, node.lineno) for node in found)
        return Outline(entries, (_problem("wrong", error, (1, 1)),))
    return _outline_of(module, found)


def _outline_of(module: ModuleType, found: Sequence[ast.FunctionDef]) -> Outline:
    """The functions of a module, as the language reads them."""
    entries: list[OutlineEntry] = []
    problems: list[Problem] = []
    for node in found:
        try:
            subject = _subject(getattr(module, node.name, None))
            if subject is None:
                entries.append(OutlineEntry(node.name, node.lineno))
                continue
            entries.append(_entry(subject, node))
            subject.translated  # noqa: B018 - read for what it refuses
        except PrivproofError as error:
            problems.append(_problem("refused", error, (node.lineno, node.col_offset + 1), node.name))
    return Outline(tuple(entries), tuple(problems))


def _subject(value: object) -> Mechanism | None:
    """The mechanism that a value is, or that a function is whose parameters are declared."""
    if isinstance(value, Mechanism) or not isinstance(value, FunctionType):
        return value if isinstance(value, Mechanism) else None
    try:
        declared = inspect.get_annotations(value, eval_str=True).values()
    except Exception:  # an annotation that cannot be read declares nothing
        return None
    if not any(isinstance(each, Input) for each in declared):
        return None
    made: Mechanism = mechanism(value)
    return made


def _entry(subject: Mechanism, node: ast.FunctionDef) -> OutlineEntry:
    claim = subject.claim
    words = "" if claim is None else f"epsilon {claim.epsilon}" + (f", delta {claim.delta}" if claim.delta else "")
    claims = [words, *map(str, subject.measures)]
    return OutlineEntry(
        node.name,
        node.lineno,
        tuple((name, str(declared)) for name, declared in subject.inputs.items()),
        tuple((name, str(value)) for name, value in subject.parameters.items()),
        "; ".join(filter(None, claims)),
    )


def _problem(
    kind: Literal["wrong", "refused"], error: PrivproofError, otherwise: tuple[int, int], function: str = ""
) -> Problem:
    line, column = error.position or otherwise
    return Problem(kind, line, column, error.code, error.message, error.hint, function)


def doing_more(body: Sequence[ast.stmt], folder: Path) -> Iterator[ast.stmt]:
    """The statements of a file's own block that do more than declare.

    >>> text = '''
    ... import random
    ... from privproof import mechanism, queries
    ... LIMIT = 2 * 3
    ... @mechanism(epsilon=1)
    ... def harmless(q: queries(0, LIMIT)):
    ...     return open("never called")
    ... print(LIMIT)
    ... harmless([1])
    ... '''
    >>> [node.lineno for node in doing_more(ast.parse(text).body, Path("."))]
    [8, 9]
    """
    own = _names(body)
    for statement in body:
        if not _declares(statement, own, folder):
            yield statement


def _names(body: Sequence[ast.stmt]) -> set[str]:
    """The names that a block gives values to, in the classes that it defines, too; what a function does is not done."""
    found: set[str] = set()
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.ClassDef(name=name, body=inner):
                found |= {name, *_names(inner)}
            case ast.Assign(targets=targets):
                found |= {part.id for each in targets for part in ast.walk(each) if isinstance(part, ast.Name)}
    return found


def _declares(statement: ast.stmt, own: set[str], folder: Path) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Import(names=names):
            return all(_is_known_library(each.name, folder) and each.asname not in _DECLARING for each in names)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return _is_known_library(module, folder) and all(
                each.asname in (None, each.name) or each.asname not in _DECLARING for each in names
            )
        case ast.Assign(targets=targets, value=value):
            parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
            return all(isinstance(part, ast.Name) for part in parts) and _makes(value, own)
        case ast.AnnAssign(target=ast.Name(), annotation=annotation, value=value):
            return _makes(annotation, own) and (value is None or _makes(value, own))
        case ast.FunctionDef(args=args, decorator_list=decorators, returns=returns):
            arguments = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
            given = [*args.defaults, *args.kw_defaults, *(each.annotation for each in arguments), returns]
            return all(each is None or _makes(each, own) for each in given) and _decorate(decorators, own)
        case ast.ClassDef(bases=bases, keywords=[], body=body, decorator_list=decorators):
            plain = all(_name(base) in (_BASES | _MEMBERS) - own for base in bases)
            if any(_name(base) in _MEMBERS for base in bases) and any(
                isinstance(each, ast.FunctionDef) for each in body
            ):
                return False
            return plain and _decorate(decorators, own) and all(_declares(each, own, folder) for each in body)
        case ast.If(
            test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant("__main__")])
        ):
            return not statement.orelse
        case _:
            return False


def _is_known_library(module: str, folder: Path) -> bool:
    """Whether a module is one of the known libraries, and no file beside stands in its place."""
    first = module.split(".")[0]
    return first in _LIBRARIES and not any((folder / name).exists() for name in (f"{first}.py", first))


def _name(node: ast.expr | None) -> str:
    """The last name of ``a.b.c``; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr if _name(node.value) else ""
    return node.id if isinstance(node, ast.Name) else ""


def _first_name(node: ast.expr) -> str:
    return _first_name(node.value) if isinstance(node, ast.Attribute) else _name(node)


def _decorate(decorators: Sequence[ast.expr], own: set[str]) -> bool:
    for each in decorators:
        if isinstance(each, ast.Call):
            if not _makes(each, own):
                return False
        elif _name(each) not in _DECLARING or _first_name(each) in own:
            return False
    return True


def _makes(node: Any, own: set[str]) -> bool:
    """Whether an expression makes a value and has no other effect: what the file itself defines is never called by it."""
    if isinstance(node, ast.Lambda):
        return all(_makes(each, own) for each in (*node.args.defaults, *filter(None, node.args.kw_defaults)))
    if isinstance(node, ast.Call):
        if _name(node.func) not in _DECLARING or _first_name(node.func) in own:
            return False
        return all(_makes(part, own) for part in (*node.args, *(each.value for each in node.keywords)))
    if isinstance(node, ast.Subscript):
        return _first_name(node.value) not in own and _makes(node.value, own) and _makes(node.slice, own)
    parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    return isinstance(node, _PLAIN) and all(_makes(part, own) for part in parts)
