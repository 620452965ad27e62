"""What a function can reach that may change from run to run: a digest of it, taken before and after.

A function that keeps something from one run to the next (a counter, a cache, a list that grows, a generator of random numbers that was not
recognised) has no distribution of its own: what it shows depends on what came before.  So everything that its code can reach is looked
at before and after its runs, and what has changed is named.
"""

from __future__ import annotations

import array
import collections
import contextvars
import dis
import functools
import hashlib
import io
import itertools
import logging
import random
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from privproof.language.packages import OURS

_MOST = 50_000
"""Objects that are looked at; what lies beyond is not, and running twice is what finds it."""
_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), Fraction, range, slice, type(Ellipsis)))


@dataclass(frozen=True)
class State:
    """Every object that a function can reach.

    Attributes:
        seen: by the way to an object what it looked like.
        catches: whether some of the code catches errors.
        imports: the modules that it imports when it runs.
        reads: the plain values outside of it that it, and the user's functions that it calls, read by name.
        functions: the user's own functions among what was looked at.
        whole: whether all of it was looked at.
        names: the names that these functions use.
    """

    seen: Mapping[str, str]
    catches: bool = False
    imports: tuple[str, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    functions: tuple[types.FunctionType, ...] = ()
    whole: bool = True
    names: frozenset[str] = frozenset()

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
    functions = [each for each in looking.known.values() if type(each) is types.FunctionType]
    codes = [code for each in functions for code in codes_within(each.__code__)]
    imports = dict.fromkeys(name for code in codes for name in _imports(code))
    reads = dict(read for root in (*functions, *roots) for read in _reads(root))
    catches = any(code.co_exceptiontable for code in codes)
    own = tuple(each for each in functions if _belongs(each))
    names = frozenset(name for each in own for name in _names(each.__code__))
    return State(looking.seen, catches, tuple(imports), reads, own, len(looking.known) < _MOST, names)


def _reads(called: Any) -> Iterator[tuple[str, str]]:
    """The plain values that a function of the user's own reads: globals, what it closes over, attributes of its object."""
    if type(called) is types.MethodType and type(called.__func__) is types.FunctionType:
        names, held = set(_names(called.__func__.__code__)), dict(_attributes(called.__self__))
        yield from ((f"self{name}", _shown(held[name])) for name in held if name[1:] in names and _is_plain(held[name]))
    if type(called) is not types.FunctionType or not _belongs(called):
        return
    if str(called.__globals__.get("__name__")).split(".")[0] in sys.stdlib_module_names:
        return  # a function of Python's own that is dressed up as one of the user's
    loaded = {
        step.argval
        for code in codes_within(called.__code__)
        for step in dis.get_instructions(code)
        if step.opname in _LOADS
    }
    for name, value in _reached(called):
        if name in loaded and _is_plain(value):
            yield name, _shown(value)


_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
"""Instructions that read what has a name of its own: not an attribute that happens to be called alike."""
_SHORT = 60
"""Characters of a value that a line of a report has room for."""


def _is_plain(value: Any) -> bool:
    """Whether a value is a number or a text, or a collection of such."""
    if type(value) is dict:
        return all(map(_is_plain, (*value, *value.values())))
    return type(value) in _PLAIN or (type(value) in (tuple, list, set, frozenset) and all(map(_is_plain, value)))


def _shown(value: Any) -> str:
    shown = _plain(value) if type(value) in _PLAIN else repr(value)
    return shown if len(shown) <= _SHORT else f"{shown[: _SHORT - 3]}..."


class _Looking:
    def __init__(self) -> None:
        self.seen: dict[str, str] = {}
        self.known: dict[int, Any] = {}
        self.met: dict[str, int] = {}

    def look(self, value: Any, way: str) -> None:
        waiting = [(value, way)]
        while waiting and len(self.known) < _MOST:
            each, name = waiting.pop()
            if type(each) in _PLAIN:
                self.seen[self._new(name)] = _plain(each)
                continue
            if id(each) in self.known:
                continue
            self.known[id(each)] = each
            look, parts = _looked_at(each)
            self.seen[self._new(name)] = look
            waiting.extend((part, f"{name}{step}" if step[:1] in ".[" else step) for step, part in parts)

    def _new(self, name: str) -> str:
        """A way by its name; what has the same name elsewhere is numbered."""
        number = self.met[name] = self.met.get(name, 0) + 1
        return name if number == 1 else f"{name} ({number})"


def _plain(value: Any) -> str:
    if type(value) is int and value.bit_length() > _WIDE:
        return hex(value)
    return f"{_plain(value.numerator)}/{_plain(value.denominator)}" if type(value) is Fraction else repr(value)


def _looked_at(value: Any) -> tuple[str, list[tuple[str, Any]]]:
    """What an object looks like by itself, and its parts with the way to them; nothing of its own code is run."""
    kind = type(value)
    name = kind.__name__
    inside: list[tuple[str, Any]]
    if kind is logging.Logger:
        return f"logger {value.name}", []  # what it keeps is about what is logged, which is no output
    if kind is types.FunctionType:
        return _code(value.__code__), list(_reached(value))
    if kind is types.MethodType:
        return name, [(".__self__", value.__self__), (value.__func__.__name__, value.__func__)]
    if kind is types.BuiltinMethodType:
        return f"{name} {value.__name__}", [(".__self__", value.__self__)]
    if kind is types.GeneratorType:
        frame = value.gi_frame
        inside = [] if frame is None else [(f".{k}", part) for k, part in frame.f_locals.items()]
        return f"{name} at {None if frame is None else frame.f_lasti}", inside
    if kind in (classmethod, staticmethod):
        return name, [(".__func__", value.__func__)]
    if kind is property:
        return name, [(f".{k}", part) for k in ("fget", "fset", "fdel") if (part := getattr(value, k)) is not None]
    if kind is contextvars.ContextVar:
        return name, [(".get()", value.get(None))]
    if kind is threading.local:
        return name, [(f".{k}", part) for k, part in value.__dict__.items()]
    if kind is functools.partial:
        return name, [(".func", value.func), (".args", value.args), (".keywords", value.keywords)]
    if issubclass(kind, types.ModuleType):
        return f"module {value.__name__}", _of_module(value)
    if kind is types.MappingProxyType or issubclass(kind, dict):
        return f"{name} of {len(value)}", [
            *((f"[{_name(k)}]", part) for k, part in dict.items(dict(value))),
            *((".keys()", k) for k in dict.keys(dict(value)) if type(k) not in _PLAIN),
            *(_attributes(value) if kind is not types.MappingProxyType else ()),
        ]
    if issubclass(kind, list | tuple):
        iterate = list.__iter__ if issubclass(kind, list) else tuple.__iter__
        parts = list(iterate(value))
        return f"{name} of {len(parts)}", [*((f"[{i}]", part) for i, part in enumerate(parts)), *_attributes(value)]
    if issubclass(kind, set | frozenset):
        inside = [("[...]", each) for each in frozenset(value) if type(each) not in _PLAIN]
        return f"{name} {sorted(_name(each) for each in frozenset(value))}", [*inside, *_attributes(value)]
    if issubclass(kind, type):
        if not _own(value):
            return f"class {name}", []
        held = {k: v for k, v in vars(value).items() if not k.startswith("__") or type(v) in _METHODS}
        bases = [(f"class {base.__name__}", base) for base in value.__bases__ if _own(base)]
        return f"class {name} of {len(held)}", [*bases, *((f"{value.__name__}.{k}", v) for k, v in held.items())]
    if issubclass(kind, random.Random) and kind.__module__ == "random":
        return (name if kind is random.SystemRandom else f"{name} {hash(value.getstate())}"), []
    if kind is _CACHED:
        return f"cache {value.cache_info()}", [(".__wrapped__", value.__wrapped__)]
    if kind.__module__.split(".")[0] == "numpy":
        return f"{name} {_of_numpy(value)}", []
    if not _own(kind) and isinstance(value, io.IOBase) and kind not in _HOLDERS:
        return f"{name} {_position(value)}", []
    if not _own(kind) and (hasattr(kind, "__next__") or kind in _HOLDERS):
        within = _reduced(value)
        return (name, within) if within is not None else (f"{name} {next(_UNSEEN)}", [])
    if not _own(kind) and (written := _bytes_of(value)) is not None:
        return f"{name} {written}", []
    texts = [base.__repr__(value) for base in (str, bytes, float) if issubclass(kind, base)]
    texts += (
        [_plain(int(value))] if issubclass(kind, int) and kind.__module__ != "builtins" and int in kind.__mro__ else []
    )
    return f"{name} {' '.join(texts)}", [*_attributes(value), *([(f"class {name}", kind)] if _own(kind) else [])]


_METHODS = (types.FunctionType, classmethod, staticmethod, property)
_HOLDERS = (collections.deque, bytearray, array.array, io.StringIO, io.BytesIO)
"""Kinds of Python's own that hold something and say what when they are written down."""
_CACHED = type(functools.lru_cache(lambda: None))
_NOT_THE_USERS = sys.stdlib_module_names | OURS
"""Packages that are Python's and this distribution's."""
_WIDE = 10_000
"""Python writes larger whole numbers, in binary digits, in hexadecimal without being told to."""


def _of_module(module: types.ModuleType) -> list[tuple[str, Any]]:
    """The plain values of a module of the user's own; of others nothing."""
    file = vars(module).get("__file__") or ""
    if not file or "site-packages" in file or module.__name__.split(".")[0] in _NOT_THE_USERS:
        return []
    return [(f".{name}", value) for name, value in vars(module).items() if not name.startswith("__")]


def _of_numpy(value: Any) -> str:
    """An array by its bytes, a generator by its state."""
    if hasattr(value, "bit_generator"):
        return repr(value.bit_generator.state)
    if hasattr(value, "get_state"):
        return hashlib.sha256(repr(value.get_state(legacy=False)).encode()).hexdigest()
    if hasattr(value, "tobytes"):
        return f"{value.shape} {hashlib.sha256(value.tobytes()).hexdigest() if value.dtype != object else value.tolist()!r}"
    return ""


def _bytes_of(value: Any) -> str | None:
    """What is in something that others may write into, byte by byte: memory of ctypes, a view, a mapped file."""
    if type(value) in _PLAIN:
        return None
    try:
        with memoryview(value) as held:
            return hashlib.sha256(held.tobytes()).hexdigest()
    except (TypeError, ValueError, BufferError):
        return None


def _position(file: Any) -> Any:
    """How far a file is read or written; what is written to the screen is no part of any output."""
    screen = any(file is getattr(sys, name) for name in _SCREEN)
    if screen or file.closed or not file.seekable():
        return ""
    try:
        return file.tell()
    except OSError:  # it is under way, line by line
        return next(_UNSEEN)


_SCREEN = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
_UNSEEN = itertools.count()
"""For iterators that do not say how far they have come: one is never taken to be where it was."""


def _reduced(value: Any) -> list[tuple[str, Any]] | None:
    """What is in something of Python's own, and how far an iterator has come; None where it does not say."""
    if isinstance(value, collections.deque):
        return [(f"[{i}]", part) for i, part in enumerate(value)]
    try:
        written = value.__getstate__() if isinstance(value, io.StringIO | io.BytesIO) else value.__reduce_ex__(2)
    except Exception:  # it cannot be written down
        return None
    return [(f"[{i}]", part) for i, part in enumerate(written if isinstance(written, tuple) else (written,))]


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    try:
        names = object.__getattribute__(value, "__dict__")
    except AttributeError:
        names = {}
    if type(names) is dict:
        yield from ((f".{name}", part) for name, part in names.items())
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if type(member) is types.MemberDescriptorType and kind.__module__ != "builtins":
                try:
                    yield f".{name}", member.__get__(value)
                except AttributeError:
                    continue


def _own(kind: type) -> bool:
    """Whether a class is neither Python's nor installed."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if kind.__module__.split(".")[0] in _NOT_THE_USERS:
        return False
    return file is None or "site-packages" not in file


def _reached(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What the code of a function names: globals, defaults, what it closes over."""
    names = list(dict.fromkeys(_names(function.__code__)))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            if type(value) is not types.FunctionType or _belongs(value):
                yield name, value
            if type(value) is types.ModuleType:
                yield from ((f"{name}.{each}", vars(value)[each]) for each in names if _is_data(vars(value).get(each)))
    if not _WHOLE.isdisjoint(names):
        yield from ((name, value) for name, value in function.__globals__.items() if not name.startswith("__"))
    for name in dict.fromkeys(name for code in codes_within(function.__code__) for name in _imports(code)):
        if name in sys.modules:
            held = vars(sys.modules[name])
            yield f"module {name}", sys.modules[name]
            yield from ((f"{name}.{each}", held[each]) for each in names if _is_data(held.get(each)))
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


_WHOLE = frozenset(
    ("globals", "vars", "exec", "eval", "setattr", "__dict__", "__globals__", "modules", "import_module")
)
"""Names of what reaches more than the code names: then the whole module is looked at."""


def _is_data(value: Any) -> bool:
    """Whether what a module holds by a name is neither code nor another module."""
    return value is not None and not callable(value) and not isinstance(value, types.ModuleType)


def _belongs(value: Any) -> bool:
    """Whether a function is the user's own."""
    file = value.__code__.co_filename
    return "site-packages" not in file and (value.__module__ or "").split(".")[0] not in _NOT_THE_USERS


def _names(code: types.CodeType) -> Iterator[str]:
    for each in codes_within(code):
        yield from each.co_names


def codes_within(code: types.CodeType) -> Iterator[types.CodeType]:
    """Some code, and all that stands in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from codes_within(each)


def _imports(code: types.CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            yield str(step.argval)


def _code(code: types.CodeType) -> str:
    """What a code object does, wherever it stands."""
    constants = [_code(each) if type(each) is types.CodeType else _constant(each) for each in code.co_consts]
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_flags, constants)
    return f"function {code.co_name} {hashlib.sha256(repr(parts).encode()).hexdigest()}"


def _name(value: Any) -> str:
    return _plain(value) if type(value) in _PLAIN else type(value).__name__


def _constant(value: Any) -> str:
    """A constant of code; the order of a set does not count."""
    return (
        f"set {sorted(map(repr, value))}"
        if type(value) is frozenset
        else _name(value)
        if type(value) is int
        else repr(value)
    )
