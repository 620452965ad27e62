"""Noise that is not drawn yet, in tables and arrays: refused where a library would see objects in the place of floats.

A noisy number that is left open is an object, and an array or a table of them is one of objects, where one of floats would stand if the
noise were drawn.  Arithmetic and comparisons go element by element and are the same.  What asks for the kind is not: pandas leaves a
column of objects out of ``sum(numeric_only=True)``, does not round it, and refuses ``nlargest``; ``array.dtype`` says what it holds.
So no noisy number gets into a table, and where one is packed into an array of objects the function may not ask for kinds.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from privproof.language.linear import Linear, Opaque, packing, refuse

_KINDS = frozenset(
    (
        *("dtype", "dtypes", "itemsize", "nbytes", "strides", "typecode", "issubdtype", "result_type", "can_cast"),
        *("min_scalar_type", "memoryview", "floating", "inexact", "generic", "number", "getattr", "attrgetter"),
        *("select_dtypes", "selectors"),
    )
)
"""Names by which code asks what an array holds."""
_TOGETHER = frozenset(("isinstance", "float64"))
"""Names that ask for it together."""
_DEEPEST = 3
"""A list of lists of lists is looked into; tables are not made of deeper ones."""
_SET = (
    "fillna",
    "where",
    "putmask",
    "replace",
    "setitem",
    "iset",
    "column_setitem",
    "insert",
    "setitem_inplace",
    "set_values",
)
"""The methods by which pandas puts values into the columns of a table."""


def refusing_kinds(names: Iterable[str]) -> AbstractContextManager[None]:
    """Inside this context noise is not packed into an array of objects, if code of these names asks what arrays hold."""
    found = set(names)
    asked = sorted(found & _KINDS) or (["isinstance"] if found >= _TOGETHER else [])
    return packing(asked[0] if asked else "")


def holds_noise(value: Any, depth: int = _DEEPEST) -> bool:
    """Whether a noisy number stands in a value, a list, a mapping or an array."""
    if isinstance(value, Linear | Opaque):
        return True
    if isinstance(value, Mapping):
        return depth > 0 and any(holds_noise(each, depth - 1) for each in value.values())
    if isinstance(value, list | tuple):
        return depth > 0 and any(holds_noise(each, depth - 1) for each in value)
    if type(value).__module__.startswith("pandas"):
        value = getattr(value, "_values", None)
    if type(value).__module__ == "numpy" or hasattr(type(value), "stands_for_floats"):
        kept = hasattr(value, "ravel") and (hasattr(value, "stands_for_floats") or value.dtype == object)
        return kept and any(isinstance(each, Linear | Opaque) for each in value.ravel().tolist())
    return False


@contextmanager
def refusing_frames() -> Iterator[None]:
    """Inside this context a noisy number that gets into a table of pandas or polars is refused."""
    with _refusing_polars(), _refusing_pandas():
        yield


@contextmanager
def _refusing_polars() -> Iterator[None]:
    with ExitStack() as stack:
        for name in ("Series", "DataFrame") if "polars" in sys.modules else ():
            stack.enter_context(_wrapped(getattr(sys.modules["polars"], name), "__init__", _looked_at_before))
        yield


@contextmanager
def _refusing_pandas() -> Iterator[None]:
    generic = sys.modules.get("pandas.core.generic")
    managers = sys.modules.get("pandas.core.internals.managers")
    if generic is None or managers is None:
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(_wrapped(generic.NDFrame, "__init__", _looked_at_after))
        kinds = (managers.BaseBlockManager, managers.BlockManager, managers.SingleBlockManager)
        for kind, name in ((kind, name) for kind in kinds for name in _SET if name in vars(kind)):
            stack.enter_context(_wrapped(kind, name, _looked_at_before))
        base = sys.modules["pandas.core.indexes.base"]
        stack.enter_context(_wrapped(base.Index, "__new__", _looked_at_before, static=True))
        pandas = sys.modules["pandas"]
        for name in ("to_numeric", "array", "cut", "qcut", "factorize", "isna", "notna"):
            stack.enter_context(_wrapped(pandas, name, _looked_at_before))
        yield


@contextmanager
def _wrapped(
    holder: Any, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]], *, static: bool = False
) -> Iterator[None]:
    before = vars(holder)[name]
    made = wrap(getattr(holder, name) if static else before)
    setattr(holder, name, staticmethod(made) if static else made)
    try:
        yield
    finally:
        setattr(holder, name, before)


def _looked_at_before(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        if any(map(holds_noise, (*arguments[1:], *named.values(), *arguments[:1]))):
            _refuse()
        return function(*arguments, **named)

    return called


def _looked_at_after(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(self: Any, data: Any, *arguments: Any, **named: Any) -> Any:
        if any(map(holds_noise, getattr(data, "arrays", ()))):
            _refuse()
        return function(self, data, *arguments, **named)

    return called


def _refuse() -> None:
    refuse(
        "frame",
        "a noisy number is put into a table, where it would count as an object and not as a number",
        hint="add noise to numbers, lists or arrays: table['n'].to_numpy(), .tolist(); return a dictionary or an array",
        own=True,
    )
