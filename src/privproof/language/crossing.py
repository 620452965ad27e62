"""How functions cross from one process to another: by their module and name, or by their file where no module can be imported."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import suppress
from importlib import import_module
from pickle import PicklingError
from types import FunctionType, ModuleType
from typing import Any

_READ = "privproof_read_"


def reference(function: FunctionType) -> tuple[str, str, str]:
    """The module, the name in it and the file of a function.

    Raises:
        PicklingError: the function cannot be found again by its name.
    """
    found = function.__module__, function.__qualname__, function.__code__.co_filename
    if "<" in function.__qualname__:
        raise PicklingError(f"{function.__qualname__} has no name in its module: define it at the top of a file")
    return found


def find_function(module: str, name: str, file: str) -> FunctionType:
    """The function of that module and name; of the file where there is no such module.

    Raises:
        ImportError: it is not there any more.
    """
    found: Any = _module(module, file)
    for part in name.split("."):
        found = getattr(found, part, None)
    function = getattr(found, "function", found)
    if not isinstance(function, FunctionType):
        raise ImportError(f"{module} has no function {name!r}")
    return function


def _module(name: str, file: str) -> ModuleType:
    known = sys.modules.get(name)
    if known is None:
        with suppress(ImportError):
            known = import_module(name)
    if known is not None and getattr(known, "__file__", file) == file:
        return known
    again = _READ + name
    if again not in sys.modules:
        specification = importlib.util.spec_from_file_location(again, file)
        if specification is None or specification.loader is None:
            raise ImportError(f"neither a module {name} nor the file {file} can be read")
        module = importlib.util.module_from_spec(specification)
        sys.modules[again] = module
        specification.loader.exec_module(module)
    return sys.modules[again]
