"""The intermediate representation of a mechanism: small, structured, and free of noise inside expressions.

A mechanism's source becomes a tree of a few statements over pure expressions.  Every call of a noise function is a statement of its
own (`Sample`) with a number, its *site*; loops over lists are `While` loops with a counter of their own, the loop over a stream
is `Each`; calls of other functions are `Inline` blocks that end in `Result`.  Names that begin with ``#`` are made by the
translation and cannot clash with the mechanism's own.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Atom: TypeAlias = "int | bool | str | Fraction | None"


@dataclass(frozen=True)
class Place:
    """Where something stands in a file: line and column, both counted from 1; and of which copy, where several were made of it."""

    file: str
    line: int
    column: int
    copy: int = 0

    def __str__(self) -> str:
        return f"{shown_file(self.file)}:{self.line}:{self.column}"


_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib"))


def of_library(file: str) -> bool:
    """Whether a file belongs to Python itself, or to a package that was installed."""
    return "site-packages" in file or file.startswith(_LIBRARIES)


def shown_file(file: str) -> str:
    """A file as a message names it: from the folder that one is in, if it stands below; of a library its name in it."""
    for base in (*_LIBRARIES, os.getcwd()):
        if file.startswith(base + os.sep):
            return file.removeprefix(base + os.sep)
    return file


@dataclass(frozen=True)
class Constant:
    """A number, truth value, text or None, or a tuple of such."""

    value: object
    place: Place


@dataclass(frozen=True)
class Variable:
    """The value of a variable, an input or a parameter."""

    name: str
    place: Place


@dataclass(frozen=True)
class Element:
    """An element of a tuple, list or list of answers."""

    sequence: Expression
    index: Expression
    place: Place


@dataclass(frozen=True)
class Operation:
    """An operator or a built-in function applied to arguments: ``+``, ``<``, ``and``, ``min``, ``len``, ``list``, ..."""

    name: str
    arguments: tuple[Expression, ...]
    place: Place


@dataclass(frozen=True)
class Conditional:
    """``then if test else otherwise``."""

    test: Expression
    then: Expression
    otherwise: Expression
    place: Place


Expression: TypeAlias = "Constant | Variable | Element | Operation | Conditional"


@dataclass(frozen=True)
class Assign:
    """``name = value``."""

    name: str
    value: Expression
    place: Place


@dataclass(frozen=True)
class Replace:
    """``name[index] = value`` on a list."""

    name: str
    index: Expression
    value: Expression
    place: Place


@dataclass(frozen=True)
class Append:
    """``name.append(value)``."""

    name: str
    value: Expression
    place: Place


@dataclass(frozen=True)
class Sample:
    """``name = noise(arguments)``: the only statement that is random.

    Attributes:
        name: the variable that takes the value.
        noise: the name of the noise function.
        arguments: its arguments in the order of its signature, defaults filled in.
        site: the number of this place among all places that sample.
        where: in prepared programs: when the function draws it too; elsewhere it is drawn, and nothing looks at it.
    """

    name: str
    noise: str
    arguments: tuple[Expression, ...]
    site: int
    place: Place
    where: Expression | None = None


@dataclass(frozen=True)
class If:
    """``if test: then else: otherwise``."""

    test: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    place: Place


@dataclass(frozen=True)
class While:
    """``while test: body``."""

    test: Expression
    body: tuple[Statement, ...]
    place: Place


@dataclass(frozen=True)
class Each:
    """``for name in stream: body``, without end."""

    name: str
    stream: str
    body: tuple[Statement, ...]
    place: Place


@dataclass(frozen=True)
class Break:
    """Leave the innermost loop."""

    place: Place


@dataclass(frozen=True)
class Continue:
    """Go on with the next turn of the innermost loop."""

    place: Place


@dataclass(frozen=True)
class Inline:
    """The body of a called function; `Result` inside it stores the value and leaves it."""

    result: str
    body: tuple[Statement, ...]
    place: Place


@dataclass(frozen=True)
class Result:
    """The end of a called function."""

    value: Expression
    place: Place


@dataclass(frozen=True)
class Emit:
    """``yield value``: an output on the way."""

    value: Expression
    place: Place


@dataclass(frozen=True)
class Return:
    """``return value``: the end of the mechanism."""

    value: Expression
    place: Place


Statement: TypeAlias = (
    "Assign | Replace | Append | Sample | If | While | Each | Break | Continue | Inline | Result | Emit | Return"
)
Block: TypeAlias = tuple[Statement, ...]


def index_loop(index: Variable, walked: Expression, body: Iterable[Statement]) -> While:
    """A loop that counts an index up to the length of a list."""
    here = index.place
    onward = Assign(index.name, Operation("+", (index, Constant(1, here)), here), here)
    return While(Operation("<", (index, Operation("len", (walked,), here)), here), (*body, onward), here)
