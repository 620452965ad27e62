"""Compiled code of other packages, which may draw where nobody sees it: a run that calls it is refused.

What a library draws in Python, by ``random`` or numpy, is recognised.  What it draws in C or Rust is not, and its noise may be so small
that all runs that are made again show the same by chance: then a number with noise would count as one without.  So while a run is under
way every call of a compiled function is looked at, as a profiler does.  Python, numpy, scipy, pandas and what this package is built on
are known not to draw there, up to functions that are replaced; of all else nothing is known.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from operator import is_
from pathlib import PurePath
from types import FrameType, ModuleType
from typing import Any

from privproof.language.linear import refuse
from privproof.language.trees import playing

_KNOWN = sys.stdlib_module_names | {
    *("numpy", "scipy", "pandas", "pyarrow", "polars", "_polars_runtime", "flint", "z3", "cvc5", "yaml", "privproof"),
    *("coverage", "hypothesis", "pydantic_core", "sqlalchemy"),
    *("charset_normalizer", "greenlet", "markupsafe", "msgpack", "psutil", "rpds", "tornado", "zmq"),
}
"""Packages whose compiled code draws nothing, or only by functions that are replaced."""
_HEAP = 1 << 9
"""The flag of classes that are made while a program runs; those of Python itself are not."""


def _package(name: str) -> str:
    """The package of a module; polars has its compiled code in one beside it, with the kind of processor in its name."""
    root = name.partition(".")[0]
    return "_polars_runtime" if root.startswith("_polars_runtime") else root


class Loaded:
    """The modules that are loaded, as somebody looked at them last: there may be thousands, and every run is preceded by a look."""

    def __init__(self) -> None:
        self._modules: list[Any] = []

    def changed(self) -> bool:
        """Whether others are loaded since the last time that this was asked; one in the place of another counts."""
        before, self._modules = self._modules, list(sys.modules.values())
        return len(before) != len(self._modules) or not all(map(is_, before, self._modules))


_LOADED = Loaded()
_FOUND = {"unknown": False}
"""What was found of the modules that were loaded then."""


def _unknown_packages() -> bool:
    """Whether compiled code is loaded of which nothing is known."""
    if _LOADED.changed():
        _FOUND["unknown"] = _compiled_unknown()
    return _FOUND["unknown"]


def _compiled_unknown() -> bool:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(_SUFFIXES):
            installed = _installed_package(file) or _package(module.__name__)
            if installed not in _KNOWN and _package(module.__name__) not in _KNOWN:
                return True
    return False


@cache
def _installed_package(file: str) -> str:
    """The package that a file was installed with; nothing where it was not installed."""
    parts = PurePath(file).parts
    installed = [parts[place + 1] for place, part in enumerate(parts[:-1]) if part in _INSTALLED]
    return _package(installed[-1]) if installed else ""


_INSTALLED = ("site-packages", "dist-packages")
"""The folders of installed packages."""


def _origin(function: Any) -> str:
    """The module that a compiled function or method comes from; nothing where none is named."""
    named = getattr(function, "__module__", None)
    if isinstance(named, str):
        return named
    owner = getattr(function, "__self__", None)
    if isinstance(owner, ModuleType):
        return owner.__name__
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    name = getattr(function, "__name__", "")
    kind = next((kind for kind in kinds if name in vars(kind)), None)
    if kind is None:
        return ""
    module = str(kind.__module__)
    return module if module != "builtins" or not kind.__flags__ & _HEAP else _holder(kind)


def _holder(kind: type) -> str:
    """The compiled module that holds a class which does not say where it is from."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(_SUFFIXES) and vars(module).get(kind.__name__) is kind:
            return name
    return f"{kind.__name__}, a class from nowhere,"


_SUFFIXES = tuple(EXTENSION_SUFFIXES)
"""How the files of compiled modules end."""


def _watch(frame: FrameType, event: str, function: Any) -> None:
    if event != "c_call" or playing() is None:
        return
    origin = _origin(function)
    package, name = _package(origin), str(getattr(function, "__name__", ""))
    if not package or package in _KNOWN:
        return
    refuse(
        "compiled",
        f"{name} of {origin} is compiled code, of which nobody can see whether it draws",
        hint="the noise written out in Python, such as np.random.laplace(0, scale), or privproof audit",
    )


@contextmanager
def refusing_compiled() -> Iterator[None]:
    """Inside this context a run that calls compiled code of other packages is refused; nothing is watched where none is loaded."""
    if not _unknown_packages():
        yield
        return
    with watching_calls(_watch):
        yield


@contextmanager
def watching_calls(watch: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    """Inside this context every call is shown to a function; a profiler of the user goes on after it, if it can be put back.

    Python takes back what is callable; a profiler that is written in C puts itself back, or cannot be put back from here and is at an end.
    """
    before: Any = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before if callable(before) else None)
        if hasattr(before, "enable"):
            before.enable()
