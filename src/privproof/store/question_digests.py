"""What a question is, as a digest: two questions with the same digest have the same answer.

Into the digest goes everything that an answer depends on: the question with all its data, what each function can reach (its code, and
the values of what it names, as `language.state` sees them), the texts of the files in which that code stands and of all own modules that
these import, the engine that was named, Python, the libraries, and the text of privproof itself.  So a change of any of them asks anew.

A function may depend on more than can be seen: it may read a file, the clock or its environment.  Nothing is kept about one that uses
anything but its own project, privproof, and the parts of Python and of numpy that compute and do nothing else.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy
from flint import arb, fmpq, fmpz

from privproof.exact.exponentials import ExponentialSum
from privproof.exact.polynomials import Polynomial
from privproof.language.packages import OURS
from privproof.language.state import state_of

if TYPE_CHECKING:
    from privproof.language.state import State

_PURE = frozenset(
    (
        *(
            "__future__",
            "abc",
            "bisect",
            "builtins",
            "collections",
            "dataclasses",
            "decimal",
            "enum",
            "fractions",
            "functools",
        ),
        *(
            "heapq",
            "itertools",
            "math",
            "numbers",
            "numpy",
            "operator",
            "privproof",
            "random",
            "re",
            "secrets",
            "statistics",
        ),
        *("string", "types", "typing", "typing_extensions"),
    )
)
"""Modules that compute, or draw random numbers that are recognised, and read nothing from outside."""
_OUTSIDE = frozenset(
    (
        *("open", "input", "eval", "exec", "compile", "globals", "locals", "vars", "__import__", "breakpoint"),
        *("memmap", "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "DataSource", "ctypeslib"),
    )
)
"""Names by which code of these, or Python itself, reaches what is outside."""
_LIBRARIES = ("python-flint", "numpy", "scipy", "z3-solver", "cvc5")
"""Whose versions may change what is found or accepted."""


class NotKept(Exception):
    """Why nothing is kept about a question."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """What was asked.

    Attributes:
        digest: the digest of all of it.
        functions: the functions that are part of the question, in the order in which they are met.
    """

    digest: str
    functions: tuple[FunctionType, ...]


def asked_digest(question: Any, **options: Any) -> Asked:
    """What is asked, by a question and the options that belong to it.

    Raises:
        NotKept: the answer may depend on what cannot be seen.
    """
    functions: dict[int, FunctionType] = {}
    said = [_plain(question, functions), _plain(options, functions)]
    found = tuple(functions.values())
    reached = [_readable_state(function) for function in found]
    text = json.dumps([said, reached, environment()], sort_keys=True, separators=(",", ":"))
    return Asked(hashlib.sha256(text.encode()).hexdigest(), found)


def question_functions(question: Any) -> tuple[FunctionType, ...]:
    """The functions that are part of a question, in the order in which they are met.

    Raises:
        NotKept: something else is part of it that is no data.
    """
    functions: dict[int, FunctionType] = {}
    _plain(question, functions)
    return tuple(functions.values())


def _plain(value: Any, functions: dict[int, FunctionType]) -> Any:
    """A value as JSON data that tells it from every other value."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind in (int, Fraction, fmpq, fmpz, float, complex, bytes, range, arb):
        return [kind.__name__, _exactly(value)]
    if kind in (ExponentialSum, Polynomial):
        return [kind.__name__, str(value), list(getattr(value, "names", ()))]
    if kind is FunctionType:
        functions.setdefault(id(value), value)
        return ["function", list(functions).index(id(value))]
    if isinstance(value, Enum):
        return [_name(kind), value.name]
    if dataclasses.is_dataclass(kind) and kind.__module__.split(".")[0] == "privproof":
        parts = {field.name: _plain(getattr(value, field.name), functions) for field in dataclasses.fields(kind)}
        return [_name(kind), parts]
    if isinstance(value, Mapping):
        return [kind.__name__, [[_plain(k, functions), _plain(v, functions)] for k, v in value.items()]]
    if kind in (tuple, list):
        return [kind.__name__, [_plain(each, functions) for each in value]]
    if kind in (set, frozenset):
        return [kind.__name__, sorted(json.dumps(_plain(each, functions), sort_keys=True) for each in value)]
    if kind is numpy.ndarray and value.dtype != object:
        return ["array", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if kind is numpy.ndarray:
        return ["array", list(value.shape), [_plain(each, functions) for each in value.ravel().tolist()]]
    raise NotKept(f"a {_name(kind)} is part of the question")


def _exactly(value: Any) -> str:
    return (
        value.hex()
        if isinstance(value, float)
        else repr(value.mid_rad_10exp(100))
        if isinstance(value, arb)
        else repr(value)
    )


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _readable_state(function: FunctionType) -> Any:
    """Everything that running a function may read."""
    state = state_of(function)
    if not state.whole:
        raise NotKept(f"{function.__name__} reaches more than can be looked at")
    for each in state.functions:
        _refuse_outside(each, state)
    files = sorted(_with_imports({each.__code__.co_filename for each in state.functions}))
    return [_place(function), sorted(state.seen.items()), [[file, _file_digest(file)] for file in files]]


def _with_imports(files: set[str]) -> set[str]:
    """Some files, and those of all own modules that they import: a value that a module was loaded with may be older than its text."""
    loaded = {
        str(Path(file).resolve()): module
        for module in list(sys.modules.values())
        if isinstance(file := getattr(module, "__file__", None), str) and _is_own(file)
    }
    known, left = set(files), sorted(file for file in files if file.endswith(".py"))
    while left:
        file = left.pop()
        package = getattr(loaded.get(str(Path(file).resolve())), "__package__", None) or ""
        for name in _imported_modules(file, package):
            found = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(found, str) and _is_own(found) and found not in known and name.split(".")[0] not in _PURE:
                known.add(found)
                left.append(found)
    return known


def _imported_modules(file: str, package: str) -> Iterator[str]:
    """The names of the modules that a file may import, wherever it does."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise NotKept(f"{file} cannot be read") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name for each in node.names for name in _and_above(each.name))
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*above, node.module]))
            yield from _and_above(base)
            yield from (f"{base}.{each.name}" for each in node.names)


def _and_above(name: str) -> Iterator[str]:
    """A module, and the packages that it lies in, which are loaded before it."""
    parts = name.split(".")
    yield from (".".join(parts[: end + 1]) for end in range(len(parts)))


def _place(function: FunctionType) -> list[Any]:
    code = function.__code__
    return [function.__module__, function.__qualname__, code.co_filename, code.co_firstlineno]


def _refuse_outside(function: FunctionType, state: State) -> None:
    for imported in state.imports:
        if imported.split(".")[0] not in _PURE:
            raise NotKept(f"{function.__name__} imports {imported}")
    for name in _names(function.__code__):
        if name in _OUTSIDE:
            raise NotKept(f"{function.__name__} uses {name}")
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            module, own = value.__name__, _is_own(getattr(value, "__file__", None))
        else:
            module, own = getattr(value, "__module__", None) or "builtins", True
            if isinstance(module, str) and module in sys.modules:
                own = _is_own(getattr(sys.modules[module], "__file__", None))
        if str(module).split(".")[0] not in _PURE and not own:
            raise NotKept(f"{function.__name__} uses {name} of {module}")


def _is_own(file: str | None) -> bool:
    """Whether a file is neither Python's nor installed; what it reaches is then looked at itself."""
    return file is not None and "site-packages" not in file and not file.startswith(_PYTHON)


_PYTHON = str(Path(json.__file__).resolve().parents[1])


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _file_digest(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise NotKept(f"{file} cannot be read") from error


@cache
def environment() -> tuple[str, ...]:
    """Python, the libraries, and the text of privproof and of its checker: a verdict that a mended engine would not give is not kept."""
    found = [sys.version, sys.platform]
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} none")
    beside = Path(__file__).resolve().parents[2]
    return (*found, *(text_digest(beside / package) for package in sorted(OURS)))


def environment_digest() -> str:
    """The environment, as one short text."""
    return hashlib.sha256("\0".join(environment()).encode()).hexdigest()


def text_digest(folder: Path) -> str:
    """A digest of all Python files below a folder, by their names and texts."""
    digest, root = hashlib.sha256(), str(folder)
    files = [os.path.join(at, name) for at, _, names in os.walk(root) for name in names if name.endswith(".py")]
    for file in sorted(files):
        digest.update(f"{file[len(root) + 1 :].replace(os.sep, '/')}\0".encode())
        with open(file, "rb", buffering=0) as stream:
            digest.update(hashlib.sha256(stream.read()).digest())
    return digest.hexdigest()
