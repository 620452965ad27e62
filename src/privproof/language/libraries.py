"""Functions of Python's libraries that the language knows, recognised by what they are and not by what they are called.

A name that a mechanism uses stands for whatever the running function finds.  It is a library's function only if it is the very one
that the library defines: a method of the library's own class, on an object of that class and of no subclass, or the function that
stands in the library's file.  What has been put in its place is something else.
"""

from __future__ import annotations

import contextlib
import functools
import heapq
import importlib
import itertools
import logging
import math
import random
import secrets
import sys
import warnings
from collections import Counter, defaultdict
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType
from typing import Any, Final

_RANDOM: Final = (
    *("random", "randint", "randrange", "choice", "choices", "expovariate", "getrandbits", "_randbelow", "uniform"),
    *("gauss", "normalvariate"),
)
_METHODS: Final = {name: vars(random.Random).get(name) for name in _RANDOM} | {
    name: getattr(random.Random, name) for name in ("random", "getrandbits")
}
"""What draws in ``random``, as it came."""
_SECURE: Final = {name: vars(random.SystemRandom)[name] for name in ("random", "getrandbits")}
"""The same for the generator of the operating system, where it has methods of its own."""
_RANDBELOW: Final = secrets.randbelow
_LOGGED: Final = ("debug", "info", "warning", "error", "critical", "log")
_NUMPY: Final = (
    *(
        "laplace",
        "normal",
        "exponential",
        "standard_exponential",
        "gumbel",
        "random",
        "random_sample",
        "rand",
        "randint",
        "integers",
        "choice",
        "uniform",
        "binomial",
        "geometric",
    ),
)
_DISPATCHED: Final = (
    "argmax",
    "argmin",
    "argsort",
    "sum",
    "clip",
    "where",
    "cumsum",
    "max",
    "min",
    "any",
    "all",
    "count_nonzero",
    "mean",
    "round",
    "around",
    "zeros_like",
)
_UNIVERSAL: Final = (
    "exp",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sqrt",
    "absolute",
    "maximum",
    "minimum",
    "floor",
    "ceil",
    "rint",
)
_MADE: Final = ("zeros", "array", "asarray", "arange")
"""Functions of numpy that the language knows: for arrays, number by number, and those that make arrays."""
_CLASSES: Final = {
    Counter: "collections.Counter",
    defaultdict: "collections.defaultdict",
    itertools.accumulate: "itertools.accumulate",
    warnings.catch_warnings: "warnings.catch_warnings",
    random.Random: "random.Random",
    random.SystemRandom: "random.SystemRandom",
    contextlib.nullcontext: "contextlib.nullcontext",
}
_FUNCTIONS: Final = {
    id(each): (each, name)
    for each, name in (
        (functools.reduce, "functools.reduce"),
        (heapq.nlargest, "heapq.nlargest"),
        (heapq.nsmallest, "heapq.nsmallest"),
        (warnings.warn, "warnings.warn"),
        (warnings.simplefilter, "warnings.simplefilter"),
        (warnings.filterwarnings, "warnings.filterwarnings"),
    )
}
"""Functions and classes of Python's own libraries, as they came."""
_PARTS: Final = {"random": "numpy", "stats": "scipy"}
_STATISTICS: Final = {"laplace_gen": "laplace", "norm_gen": "norm", "expon_gen": "expon", "gumbel_r_gen": "gumbel_r"}
"""Distributions of ``scipy.stats`` by the names of their classes."""


def library_name(value: object) -> str | None:
    """The name of a library's function, if the value is one that the language knows.

    >>> library_name(random.randint), library_name(math.exp), library_name(lambda: 0.5)
    ('random.randint', 'math.exp', None)
    """
    kind = type(value)
    if isinstance(value, type):
        known = _CLASSES.get(value)
        return "numpy.errstate" if known is None and _is_errstate(value) else known
    if id(value) in _FUNCTIONS:
        return _FUNCTIONS[id(value)][1]
    if kind in (MethodType, BuiltinMethodType):
        owner = value.__self__  # type: ignore[attr-defined]
        return _method(value, owner, value.__name__)  # type: ignore[attr-defined]
    if value is _RANDBELOW:
        return "secrets.randbelow"
    generators = sys.modules.get("numpy.random._generator")
    if generators is not None and value is generators.default_rng:
        return "numpy.random.default_rng"
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind.__module__ == "numpy" and getattr(value, "__module__", "numpy") == "numpy":
        name = str(getattr(value, "__name__", ""))
        dispatched = kind is type(getattr(numpy, "sum", None)) and kind.__name__ == "_ArrayFunctionDispatcher"
        universal = kind.__name__ == "ufunc" and kind is getattr(numpy, "ufunc", None)
        if (dispatched and name in _DISPATCHED) or (universal and name in _UNIVERSAL):
            return f"numpy.{name}"
        return None
    if kind is FunctionType:
        name = value.__name__  # type: ignore[attr-defined]
        if name in _LOGGED and vars(logging).get(name) is value and _stands_in(value, logging):
            return f"logging.{name}"
    return None


def _method(value: Any, owner: Any, name: str) -> str | None:
    """The name of a function that is bound to an object, or to a module."""
    if type(value) is BuiltinFunctionType and owner is math:
        return f"math.{name}"
    if type(value) is BuiltinFunctionType and getattr(owner, "__name__", "") == "numpy._core._multiarray_umath":
        return f"numpy.{name}" if name in _MADE and sys.modules.get(owner.__name__) is owner else None
    if type(owner) in (random.Random, random.SystemRandom):
        expected = _SECURE.get(name, _METHODS.get(name)) if type(owner) is random.SystemRandom else _METHODS.get(name)
        if expected is None or vars(owner).keys() & {*_RANDOM, "random", "getrandbits"}:
            return None
        same = value.__func__ is expected if type(value) is MethodType else expected is not None
        return f"random.{name}" if same and _unchanged(type(owner)) else None
    mtrand, generators = (sys.modules.get(f"numpy.random.{module}") for module in ("mtrand", "_generator"))
    if mtrand is not None and generators is not None and type(owner) in (mtrand.RandomState, generators.Generator):
        return f"numpy.random.{name}" if name in _NUMPY and name in vars(type(owner)) else None
    if type(owner) is logging.Logger and type(value) is MethodType:
        same = name in _LOGGED and vars(logging.Logger).get(name) is value.__func__
        return f"logging.{name}" if same and _stands_in(value.__func__, logging) else None
    stats = sys.modules.get("scipy.stats._continuous_distns")
    if stats is not None and name == "rvs" and type(owner).__module__ == stats.__name__:
        known = _STATISTICS.get(type(owner).__name__)
        same = known is not None and vars(stats).get(type(owner).__name__) is type(owner) and "rvs" not in vars(owner)
        return f"scipy.stats.{known}.rvs" if same else None
    return None


def _is_errstate(value: type) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and value.__module__ == "numpy" and vars(numpy).get("errstate") is value


def _unchanged(kind: type) -> bool:
    """Whether the methods that draw are those that ``random`` came with."""
    own = all(vars(random.Random).get(name) is _METHODS[name] for name in _RANDOM if name in vars(random.Random))
    secure = all(vars(random.SystemRandom).get(name) is method for name, method in _SECURE.items())
    return own and (secure or kind is random.Random)


def _stands_in(function: Any, module: Any) -> bool:
    return bool(function.__code__.co_filename == module.__file__)


def generator_method(holder: object, attribute: str) -> Any:
    """The method of a generator of a library, or of a logger; None for every other object."""
    mtrand, generators = (sys.modules.get(f"numpy.random.{module}") for module in ("mtrand", "_generator"))
    kinds: list[type] = [random.Random, random.SystemRandom, logging.Logger]
    if mtrand is not None and generators is not None:
        kinds += [mtrand.RandomState, generators.Generator]
    stats = sys.modules.get("scipy.stats._continuous_distns")
    if stats is not None and type(holder).__name__ in _STATISTICS and type(holder).__module__ == stats.__name__:
        kinds.append(type(holder))
    if type(holder) in kinds and attribute not in getattr(holder, "__dict__", {}):
        return getattr(holder, attribute, None)
    return None


def made_generator(name: str) -> Any:
    """A generator of the kind that a library's function makes; None where it makes none."""
    if name == "numpy.random.default_rng":
        return sys.modules["numpy.random._generator"].default_rng()
    return {"random.Random": random.Random, "random.SystemRandom": random.SystemRandom}.get(name, lambda: None)()


def load_part(holder: object, attribute: str) -> None:
    """Load the part of a library that it loads by itself when it is first asked for."""
    whole = _PARTS.get(attribute)
    if whole is not None and sys.modules.get(whole) is holder:
        importlib.import_module(f"{whole}.{attribute}")
    if holder is sys.modules[__name__.partition(".")[0]] and attribute in vars(holder)["__all__"]:
        getattr(holder, attribute)  # import privproof; privproof.laplace: the façade keeps what it was once asked for
