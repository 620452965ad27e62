"""What a function can reach that may change from run to run: a digest of it, taken before and after.

A function that keeps something from one run to the next (a counter, a cache, a list that grows, a generator of random numbers that was not
recognised) has no distribution of its own: what it shows depends on what came before.  So everything that its code can reach is looked
at before and after its runs, and what has changed is named.
"""

from __future__ import annotations

import functools
import hashlib
import random
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_MOST = 50_000
"""Objects that are looked at; what lies beyond is not, and running twice is what finds it."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), Fraction, range, slice, type(Ellipsis))


@dataclass(frozen=True)
class State:
    """Every object that a function can reach, by the way to it, and what it looked like."""

    seen: Mapping[str, str]

    def changed(self, other: State) -> str | None:
        """The first thing that is not the same in another state; None if all is."""
        for way in {**self.seen, **other.seen}:
            if self.seen.get(way) != other.seen.get(way):
                return way
        return None


def state_of(*roots: Any) -> State:
    """The state that some functions or objects can reach.

    >>> kept = []
    >>> def f():
    ...     kept.append(1)
    >>> before = state_of(f)
    >>> f()
    >>> before.changed(state_of(f))
    'kept'
    """
    looking = _Looking()
    for root in roots:
        looking.look(root, getattr(root, "__name__", type(root).__name__))
    return State(looking.seen)


class _Looking:
    def __init__(self) -> None:
        self.seen: dict[str, str] = {}
        self.known: dict[int, Any] = {}

    def look(self, value: Any, way: str) -> None:
        waiting = [(value, way)]
        while waiting and len(self.known) < _MOST:
            each, name = waiting.pop()
            if isinstance(each, _PLAIN):
                self.seen[name] = repr(each)
                continue
            if id(each) in self.known:
                continue
            self.known[id(each)] = each
            look, parts = _looked_at(each)
            self.seen[name] = look
            waiting.extend((part, f"{name}{step}" if name and step[:1] in ".[" else step) for step, part in parts)


def _looked_at(value: Any) -> tuple[str, list[tuple[str, Any]]]:
    """What an object looks like by itself, and its parts with the way to them."""
    kind = type(value).__name__
    match value:
        case types.FunctionType():
            return _code(value.__code__), list(_reached(value))
        case types.MethodType():
            return kind, [(".__self__", value.__self__), (value.__func__.__name__, value.__func__)]
        case types.GeneratorType():
            frame = value.gi_frame
            return f"{kind} at {None if frame is None else frame.f_lasti}", []
        case functools.partial():
            return kind, [("func", value.func), (".args", value.args), (".keywords", value.keywords)]
        case types.ModuleType():
            return f"module {value.__name__}", []
        case random.Random():
            try:
                return f"{kind} {hash(value.getstate())}", []
            except NotImplementedError:
                return kind, []
        case dict():
            return f"{kind} of {len(value)}", [(f"[{_name(k)}]", part) for k, part in value.items()]
        case list() | tuple():
            return f"{kind} of {len(value)}", [(f"[{i}]", part) for i, part in enumerate(value)]
        case set() | frozenset():
            return f"{kind} {sorted(map(_name, value))}", []
        case type():
            inside = {k: v for k, v in vars(value).items() if not k.startswith("__")} if _own(value) else {}
            return f"class {value.__qualname__} of {len(inside)}", [
                (f"{value.__name__}.{k}", v) for k, v in inside.items()
            ]
    if hasattr(value, "cache_info"):
        return f"{kind} {value.cache_info()}", [("cached", value.__wrapped__)] if hasattr(value, "__wrapped__") else []
    generator = getattr(value, "bit_generator", None)
    if generator is not None:
        return f"{kind} {generator.state!r}", []
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        return f"{kind} {value.shape} {value.tobytes() if value.dtype != object else ''!r}", []
    return kind, [*_attributes(value), *([(type(value).__name__, type(value))] if _own(type(value)) else [])]


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    names = getattr(value, "__dict__", None)
    if isinstance(names, dict):
        yield from ((f".{name}", part) for name, part in names.items())
    if _own(type(value)):
        for kind in type(value).__mro__:
            slots = vars(kind).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if hasattr(value, name):
                    yield f".{name}", getattr(value, name)


def _own(kind: type) -> bool:
    """Whether a class is neither Python's nor installed."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if kind.__module__.split(".")[0] in sys.stdlib_module_names or kind.__module__.split(".")[0] == "privproof":
        return False
    return file is None or "site-packages" not in file


def _reached(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What the code of a function names: globals, defaults, what it closes over."""
    for name in _names(function.__code__):
        if name in function.__globals__:
            value = function.__globals__[name]
            if not isinstance(value, types.FunctionType | type) or _belongs(value):
                yield name, value
    for number, default in enumerate(function.__defaults__ or ()):
        yield f"{function.__name__}'s default {number + 1}", default
    for name, default in (function.__kwdefaults__ or {}).items():
        yield f"{function.__name__}'s default {name}", default
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
    for name, part in vars(function).items():
        yield f"{function.__name__}.{name}", part


def _belongs(value: Any) -> bool:
    """Whether a function or class is the user's own."""
    if isinstance(value, type):
        return _own(value)
    file = value.__code__.co_filename
    return "site-packages" not in file and (value.__module__ or "").split(".")[0] not in {
        *sys.stdlib_module_names,
        "privproof",
    }


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _code(code: types.CodeType) -> str:
    """What a code object does, wherever it stands."""
    constants = [_code(each) if isinstance(each, types.CodeType) else repr(each) for each in code.co_consts]
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_flags, constants)
    return f"function {code.co_name} {hashlib.sha256(repr(parts).encode()).hexdigest()}"


def _name(value: Any) -> str:
    return repr(value) if isinstance(value, _PLAIN) else type(value).__name__
