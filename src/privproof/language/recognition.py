"""Randomness of Python's libraries, recognised as the ideal noise that it names.

While a function runs under control, the functions of ``random``, ``secrets``, ``numpy.random`` and ``scipy.stats`` ask the run that is
under way for their values, by what stands for them in `language.generators`.  They are replaced in their modules, in the functions' own
modules where they were imported by name, and generators that are kept in a module, a default or an object are replaced as well.  What
cannot be replaced changes its state when it is used, which `language.state` finds.  Other threads and processes are refused.
"""

from __future__ import annotations

import builtins
import contextvars
import io
import logging
import math
import os
import random
import secrets
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from operator import is_
from typing import Any, NoReturn

from privproof.language.compiled import Loaded, refusing_compiled
from privproof.language.conversions import MATH, numbers_of, stands_for_math
from privproof.language.files import watched_files
from privproof.language.frames import refusing_frames
from privproof.language.generators import PYTHON, Bits, Generator, floats, numpy_generators, rvs, unknown_generator_call
from privproof.language.linear import Linear, Opaque, floats_count, refuse
from privproof.language.noise import is_drawing
from privproof.language.packages import OURS
from privproof.language.trees import playing

_BASE: Any = random.Random.__mro__[1]
"""The generator of random numbers below Python's class of it, whose methods are never replaced."""
_INHERITED = ("random", "getrandbits")
"""What Python's class of generators has from it."""


def substitute(value: Any) -> Any:
    """What stands in for a generator or a drawing function while a function runs under control; the value itself for all else."""
    kinds = numpy_generators()
    if kinds:
        if type(value) in kinds:
            return Generator()
        if type(_bound_to(value)) in kinds:
            return getattr(Generator(), value.__name__)
        if any(value is each for each in (*kinds, sys.modules["numpy.random._generator"].default_rng)):
            return Generator
        if isinstance(value, type) and value.__name__ in _SOURCES and value.__module__.startswith("numpy.random"):
            return Bits
    if (computing := stands_for_math(value)) is not None:
        return computing
    if isinstance(value, types.BuiltinFunctionType) and value in _BYTES:
        return unknown_generator_call(f"os.{value.__name__}")
    owner = _bound_to(value)
    if isinstance(owner, random.Random) and getattr(value, "__name__", "") in PYTHON:
        drawing = PYTHON[value.__name__]
        return _in_play(value, lambda *arguments, **named: drawing(owner, *arguments, **named))
    return value


def _in_play(outside: Callable[..., Any], inside: Callable[..., Any]) -> Callable[..., Any]:
    """What draws from the run under way, and is as it was where none is: other threads and libraries go on as ever."""

    def called(*arguments: Any, **named: Any) -> Any:
        return (outside if playing() is None and not is_drawing() else inside)(*arguments, **named)

    return called


def _bound_to(value: Any) -> Any:
    """The object whose method something is; None for what is no method, whatever it says."""
    methods = (types.MethodType, types.BuiltinMethodType)
    named = type(value).__name__ == "cython_function_or_method"
    return getattr(value, "__self__", None) if type(value) in methods or named else None


_SOURCES = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "SeedSequence")
"""The sources of random bits of numpy."""
_BYTES = tuple(getattr(os, name) for name in ("urandom", "getrandom") if hasattr(os, name))
"""The functions of the operating system that draw."""


def _modules(globals_: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """The names of the modules that are neither Python's nor this package's, and whether a module is neither installed."""
    seen = {id(globals_)}
    yield globals_, True  # type: ignore[misc]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if not file or name.partition(".")[0] in _PASSED_OVER:
            continue
        names = vars(module)
        if id(names) not in seen:
            seen.add(id(names))
            yield names, "site-packages" not in file


_PASSED_OVER = sys.stdlib_module_names | OURS | {"numpy"}
"""Packages whose modules are Python's, this distribution's, or replaced by name."""


@contextmanager
def controlled_libraries(globals_: Mapping[str, Any], owner: Any = None) -> Iterator[None]:
    """Inside this context the randomness of libraries is asked of the run under way, and nothing is printed or logged.

    Args:
        globals_: the names of the function's module.
        owner: the object whose method it is, if it is one.

    What is recognised already stays so.
    """
    if any(each is globals_ for each in _ACTIVE):
        yield
        return
    _ACTIVE.append(globals_)
    try:
        with _recognising(globals_, owner):
            yield
    finally:
        _ACTIVE.pop()


_ACTIVE: list[Mapping[str, Any]] = []
"""The names of the modules whose functions are under control."""


@contextmanager
def _recognising(globals_: Mapping[str, Any], owner: Any) -> Iterator[None]:
    if "numpy" in sys.modules:
        import numpy.random  # noqa: F401 - numpy imports it when it is asked for, and draws then
    with ExitStack() as stack:
        for kind in (random.Random, random.SystemRandom):
            methods = {name: _in_play(vars(kind)[name], draw) for name, draw in PYTHON.items() if name in vars(kind)}
            more = (
                {} if kind is random.SystemRandom else {n: _in_play(getattr(_BASE, n), PYTHON[n]) for n in _INHERITED}
            )
            stack.enter_context(_attributes(kind, {**more, **methods}))
        for module in (random, secrets):
            stack.enter_context(_attributes(module, _stand_ins(module)))
        stack.enter_context(_attributes(secrets, {"token_bytes": unknown_generator_call("secrets.token_bytes")}))
        for holder, names in (*_beside(), *watched_files()):
            stack.enter_context(_attributes(holder, names))
        stack.enter_context(_attributes(math, MATH))
        if "numpy" in sys.modules:
            stack.enter_context(_numpy())
        stats = sys.modules.get("scipy.stats._distn_infrastructure")
        if stats is not None:
            stack.enter_context(_attributes(stats.rv_generic, {"rvs": rvs}))
            for kind in (stats.rv_continuous, stats.rv_discrete):
                if "rvs" in vars(kind):
                    stack.enter_context(_attributes(kind, {"rvs": rvs}))
        if "opendp.mod" in sys.modules:
            for kind in (sys.modules["opendp.mod"].Measurement, sys.modules["opendp.mod"].Odometer):
                refused = unknown_generator_call(
                    "a measurement of OpenDP, which draws outside of Python,", "privproof audit"
                )
                stack.enter_context(_attributes(kind, dict.fromkeys(("__call__", "invoke"), refused)))
        if "pyarrow.compute" in sys.modules:
            drawn = unknown_generator_call("pyarrow.compute.random")
            stack.enter_context(_attributes(sys.modules["pyarrow.compute"], {"random": drawn}))
        for name in ("Series", "DataFrame", "Expr") if "polars" in sys.modules else ():
            kind = getattr(sys.modules["polars"], name)
            drawing = {
                each: unknown_generator_call(f"{each} of polars")
                for each in ("sample", "shuffle")
                if each in vars(kind)
            }
            stack.enter_context(_attributes(kind, drawing))
        for known, own in _relevant(globals_):
            also = {"type": _Type, **numbers_of(known)} if own else {}
            stack.enter_context(_replaced(known, _drawing_names(known), also=also))
        if owner is not None and hasattr(owner, "__dict__"):
            stack.enter_context(_replaced(vars(owner), _which_draw(vars(owner))))
        stack.enter_context(_attributes(builtins, {"print": _printing()}))
        for handler in _to_the_screen():
            stack.enter_context(_attributes(handler, {"handle": lambda record: None}))
        stack.enter_context(refusing_frames())
        stack.enter_context(refusing_compiled())
        yield


def _relevant(globals_: Mapping[str, Any]) -> list[tuple[dict[str, Any], bool]]:
    """The modules that are the user's own or hold something that draws; looked for again when others are loaded since."""
    if _LOADED.changed() or _LOOKED_AT.get("of") is not globals_:
        modules = list(_modules(globals_))
        for gone in _KNOWN.keys() - {id(names) for names, _ in modules}:
            del _KNOWN[gone]
        found = [(names, own) for names, own in modules if own or _drawing_names(names)]
        _LOOKED_AT.update(of=globals_, found=found)
    relevant: list[tuple[dict[str, Any], bool]] = _LOOKED_AT["found"]
    return relevant


_LOADED = Loaded()
_LOOKED_AT: dict[str, Any] = {}
"""The modules that were found last, and what for."""


def _beside() -> Iterator[tuple[Any, dict[str, Any]]]:
    """What draws, runs or ends beside the run that is under way, and is refused."""
    yield os, {each.__name__: substitute(each) for each in _BYTES}
    for holder, names in (
        (os, ("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "_exit", "abort")),
        (threading.Thread, ("start",)),
        (contextvars, ("Context",)),
        (sys.modules.get("subprocess", types.SimpleNamespace()), ("Popen",)),
        (getattr(sys.modules.get("multiprocessing.process"), "BaseProcess", None), ("start",)),
    ):
        yield holder, {name: _in_play(getattr(holder, name), _apart(name)) for name in names if hasattr(holder, name)}


def _apart(name: str) -> Callable[..., NoReturn]:
    def refused(*_: Any, **__: Any) -> NoReturn:
        refuse(
            "apart",
            f"another thread or process is started or ended ({name}), whose noise is not seen here",
            hint="a function that does all by itself",
        )

    return refused


def _printing() -> Callable[..., None]:
    """Prints nothing on the screen; what is printed elsewhere is, as long as no noisy number is in it."""
    really, screen = builtins.print, [getattr(sys, name) for name in _SCREEN]

    def printing(
        *values: Any, sep: str | None = None, end: str | None = None, file: Any = None, flush: Any = 0
    ) -> None:
        target, player = getattr(sys, _SCREEN[0]) if file is None else file, playing()
        if player is None:
            really(*values, sep=sep, end=end, file=file, flush=bool(flush))
            return
        if any(target is each for each in screen):
            return
        texts = [str(value) for value in values]
        if any(token in text for text in texts for token in (*player.tokens, *player.printed)):
            refuse("text", "the text of a noisy number is kept", hint="return the number itself")
        really(*texts, sep=sep, end=end, file=target, flush=bool(flush))

    return printing


_SCREEN = ("stdout", "stderr", "__stdout__", "__stderr__")
"""Where Python prints by itself, as it was when the runs began; what a function prints there is no part of its output."""


def _to_the_screen() -> list[logging.Handler]:
    """The handlers of logs that were there before: those for all logs, and those that write to the screen or a file."""
    found = [*logging.root.handlers, *([logging.lastResort] if logging.lastResort is not None else [])]
    for logger in list(logging.root.manager.loggerDict.values()):
        found += [
            each
            for each in getattr(logger, "handlers", ())
            if isinstance(each, logging.StreamHandler) and not isinstance(each.stream, io.StringIO)
        ]
    return found


class _AnyType(type):
    """The class of `_Type`: what is a class for Python is one for it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, type)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, type)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if cls is not _Type:
            return super().__call__(*arguments, **named)
        if len(arguments) == 1 and isinstance(arguments[0], Linear):
            return arguments[0].kind
        if len(arguments) == 1 and isinstance(arguments[0], Opaque):
            refuse("type", "a rounded or multiplied noisy number is asked what it is", hint="leave it as it is")
        return type(*arguments, **named)


class _Type(type, metaclass=_AnyType):
    """What stands for ``type`` in the functions' own modules: it says of a noisy number what the number is when it is drawn."""


@contextmanager
def _attributes(holder: Any, values: Mapping[str, Any]) -> Iterator[None]:
    missing = object()
    before = {name: vars(holder).get(name, missing) for name in values}
    for name, value in values.items():
        setattr(holder, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                delattr(holder, name)
            else:
                setattr(holder, name, value)


@contextmanager
def _replaced(
    names: dict[str, Any], drawing: Iterable[str], *, also: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Replace those of some names that draw; names that are not there are added for the time being."""
    before = {name: names[name] for name in drawing}
    added = {name: value for name, value in (also or {}).items() if name not in names}
    names.update({name: substitute(value) for name, value in before.items()} | added)
    try:
        yield
    finally:
        names.update(before)
        for name in added:
            names.pop(name, None)


def _stand_ins(module: types.ModuleType) -> dict[str, Any]:
    """What stands for the names of a library's module that draw."""
    return {name: substitute(vars(module)[name]) for name in _drawing_names(vars(module))}


def _drawing_names(names: dict[str, Any]) -> tuple[str, ...]:
    """The names of a module that draw; looked for again when there are others, or one of them is another object."""
    all_names, values = list(names), list(names.values())
    looked_at = _KNOWN.get(id(names))
    if looked_at is not None and looked_at[0] == all_names and all(map(is_, looked_at[1], values)):
        return looked_at[2]
    drawing = _which_draw(names)
    _KNOWN[id(names)] = all_names, values, drawing
    return drawing


_KNOWN: dict[int, tuple[list[str], list[Any], tuple[str, ...]]] = {}
"""The names of modules when they were looked at last, with their values, and those of them that draw."""


def _which_draw(names: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = ((name, value) for name, value in list(names.items()) if type(value).__name__ in _CANDIDATES)
    return tuple(name for name, value in kinds if substitute(value) is not value)


_CANDIDATES = frozenset(
    ("Generator", "RandomState", "builtin_function_or_method", "method", "cython_function_or_method", "type", "ABCMeta")
)
"""The kinds of what may draw, or make something that does."""


@contextmanager
def _numpy() -> Iterator[None]:
    import numpy as np

    generator = Generator()
    with (
        _attributes(np.random, {**_stand_ins(np.random), "seed": generator.seed}),
        _attributes(np.random.mtrand, {"_rand": generator}),
        _attributes(np, _arrays(np)),
    ):
        yield


def _arrays(np: Any) -> dict[str, Any]:
    """Makers of arrays of floats that noisy numbers may be put into: while noise is open they hold objects."""

    def holding(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            result = make(*arguments, **named)
            player = playing()
            if "dtype" in named or result.dtype.kind != "f" or (player is None and not floats_count()):
                return result
            if player is None:
                exact = [int(value) if float(value).is_integer() else Fraction(float(value)) for value in result.flat]
                held = np.empty(len(exact), dtype=object)
                held[:] = exact
                return held.reshape(result.shape)
            player.objects = True
            return floats(result)

        return made

    names = ("zeros", "empty", "ones", "full", "zeros_like", "ones_like", "empty_like", "full_like")
    return {name: holding(getattr(np, name)) for name in names}


IDEAL = "random numbers stand for the ideal distributions: what floating point makes of them is another matter"
_FLOATS = 6
"""So many floats are named with their exact values."""


def inexact(values: Iterable[Any]) -> tuple[float, ...]:
    """The floats among some values that are not the decimal number that they print as."""
    floats = (value for value in values if type(value) is float and math.isfinite(value))
    return tuple(dict.fromkeys(value for value in floats if Fraction(value) != Fraction(repr(value))))


def floats_note(floats: Sequence[float]) -> tuple[str, ...]:
    """What floats count as, in a sentence, where there are any."""
    exact = ", ".join(f"{value!r} is {Fraction(value)}" for value in floats[:_FLOATS])
    return (f"floats count with the exact value that they have: {exact}",) if exact else ()
