"""What makes a number of Python's own of a noisy one: ``int``, ``float``, and the functions of ``math``.

Python itself computes these, and needs a number that is drawn.  In a run under control something stands in their place that takes a noisy
number as well: what comes out is *opaque*, something that was done to the number and nothing else, as for ``round`` and numpy's functions.
``float`` leaves a real number as it is.  Where a function of ``math`` fails on some numbers, both ways are followed.

``int`` and ``float`` are also classes.  They are replaced in a module only if it does nothing with them but call them, ask
``isinstance``, name them as types of arrays, and annotate.
"""

from __future__ import annotations

import ast
import linecache
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from privproof.language.linear import Linear, Opaque, refuse
from privproof.language.trees import playing

_FAILING: Mapping[str, type[Exception]] = {
    "log": ValueError,
    "log2": ValueError,
    "log10": ValueError,
    "log1p": ValueError,
    "sqrt": ValueError,
    "exp": OverflowError,
    "expm1": OverflowError,
}
"""Functions of ``math`` of one number, and what they raise where it has no value."""
_SAYS = {ValueError: "math domain error", OverflowError: "math range error"}


def of_math(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """What stands for a function of ``math``."""

    def computed(*arguments: Any, **named: Any) -> Any:
        player = playing()
        if player is None or named or len(arguments) != 1 or not _is_noisy(arguments[0]):
            return original(*arguments, **named)
        player.refuse_logarithm(name, arguments[0])
        wrong = _FAILING[name]
        if player.guess(Opaque(f"math.{name} fails", arguments)):
            raise wrong(_SAYS[wrong])
        return Opaque(f"math.{name}", arguments)

    return computed


MATH: Mapping[str, Callable[..., Any]] = {name: of_math(name, getattr(math, name)) for name in _FAILING}
"""What stands for functions of ``math``, by their names."""
_ORIGINAL = {id(getattr(math, name)): name for name in _FAILING}


def stands_for_math(value: Any) -> Any:
    """What stands for a function of ``math``; None for anything else."""
    name = _ORIGINAL.get(id(value))
    return None if name is None else MATH[name]


def _is_noisy(value: Any) -> bool:
    return issubclass(type(value), Linear | Opaque)


class _Number(type):
    """The class of what stands for a class of numbers: its instances are those of the class itself."""

    number: type

    def __instancecheck__(cls, instance: Any) -> bool:
        if type(instance) is Opaque:
            refuse(
                "type", "a rounded or multiplied noisy number is asked what it is", hint="leave it as it is: a number"
            )
        return issubclass(instance.kind, cls.number) if type(instance) is Linear else isinstance(instance, cls.number)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.number)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if named or len(arguments) != 1 or not _is_noisy(arguments[0]):
            return cls.number(*arguments, **named)
        [value] = arguments
        if cls.number is int:
            return math.trunc(value)
        if playing() is None:
            return cls.number(value)
        return value if type(value) is Linear and value.kind is float else Opaque("float", (value,))

    @property
    def dtype(cls) -> Any:
        import numpy as np

        return np.dtype(cls.number)


class _Int(metaclass=_Number):
    number = int


class _Float(metaclass=_Number):
    number = float


_STANDS = {"int": _Int, "float": _Float}


def numbers_of(names: Mapping[str, Any]) -> dict[str, Any]:
    """What stands for ``int`` and ``float`` in a module, where they may be replaced there."""
    file = names.get("__file__")
    if not isinstance(file, str) or not (lines := linecache.getlines(file)):
        return {}
    known = _READ.get(file)
    if known is None or known[0] is not lines:
        known = _READ[file] = lines, _replaceable("".join(lines))
    return {name: _STANDS[name] for name in known[1]}


_READ: dict[str, tuple[list[str], tuple[str, ...]]] = {}
"""The lines of a file when it was read last, and what may be replaced there: a project may have any number of modules, and all of them
are asked about before every run."""


def _replaceable(text: str) -> tuple[str, ...]:
    """Which of ``int`` and ``float`` a text does nothing with but what its stand-in does as well."""
    if not _CALL.search(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        return ()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    fine: set[int] = set()
    named: list[ast.Name] = []
    called: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name in _STANDS:
                named.append(node)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                fine |= {id(part) for part in ast.walk(kinds)}
            case ast.Call(func=ast.Attribute(attr="astype"), args=[ast.Name() as kind]):
                fine.add(id(kind))
            case ast.Call(func=ast.Name(id="map" | "defaultdict"), args=[ast.Name() as kind, *_]):
                fine.add(id(kind))
            case ast.keyword(arg="dtype", value=ast.Name() as kind):
                fine.add(id(kind))
            case ast.arg(annotation=ast.expr() as written) | ast.AnnAssign(annotation=written):
                fine |= {id(part) for part in ast.walk(written)}
            case ast.FunctionDef(returns=ast.expr() as written):
                fine |= {id(part) for part in ast.walk(written)}
        if isinstance(node, ast.Call):
            fine.add(id(node.func))
            if isinstance(node.func, ast.Name):
                called.add(node.func.id)
    used = {name.id for name in named if id(name) not in fine}
    return tuple(name for name in _STANDS if name in called and name not in used)


_CALL = re.compile(r"(?<!\w)(?:int|float)\s*[()\\#]")
"""What a text has in it that calls ``int`` or ``float``, whatever stands between the name and its arguments; most texts do not."""
