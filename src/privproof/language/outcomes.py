"""What an observer sees of a run, whatever Python value it ends with: plain structure, with noisy numbers in their places.

Two runs show the same if their structures are equal: types count (``1``, ``True`` and ``1.0`` are told apart), the order of a list or
of the entries of a dictionary counts, the order of a set does not; what an object holds counts, whatever it says of itself.  A
run that fails shows its error: its kind, its arguments and what it holds, and not the lines that it passed.
"""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from types import FunctionType, MemberDescriptorType
from typing import Any, TypeAlias

from privproof.errors import LanguageError
from privproof.language.linear import Linear, Opaque

_DEEPEST = 40
"""An output may be nested so deep; beyond, it is as a rule an object that holds itself, and is refused."""

Part: TypeAlias = "Linear | Opaque"
"""A noisy number in an output."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run shows.

    Attributes:
        shape: its structure, with the numbers of its parts in the place of noisy numbers: what tells outcomes apart.
        parts: the noisy numbers in it.
        text: how it prints, with ``*`` in the place of noisy numbers.
        told: the texts that stand for noisy numbers and are in it.
    """

    shape: str
    parts: tuple[Part, ...]
    text: str
    told: frozenset[str] = dataclasses.field(default=frozenset(), compare=False)

    @cached_property
    def closed(self) -> bool:
        """Whether it has no noisy number."""
        return not self.parts


def outcome(value: Any, formatted: Mapping[str, Part] | None = None, error: BaseException | None = None) -> Outcome:
    """What a value shows.

    Args:
        value: the value.
        formatted: texts that stand for the text of a noisy number.
        error: what is raised after the value was shown, or instead of it where it is None.

    Raises:
        LanguageError: it is an object whose parts cannot be told.

    >>> outcome({"a": [1, True], "b": 1.5}).shape
    "dict(str('a'): list(int(1), bool(True)), str('b'): float(1.5))"
    >>> outcome((Linear.atom(0), "yes")).shape, outcome((Linear.atom(0), "yes")).text
    ("tuple(#0, str('yes'))", "(*, 'yes')")
    >>> outcome(None, error=ValueError("bad")).shape
    "raise ValueError(str('bad'))"
    """
    reader = _Reader(dict(formatted or {}))
    try:
        shape = reader.shape(value, 0) if error is None or value is not None else ""
        text = reader.text(value) if shape else ""
        if error is not None:
            shape = f"{shape} then {reader.failure(error)}" if shape else reader.failure(error)
            text = f"{text}, then {reader.error_text(error)}" if text else reader.error_text(error)
    except LanguageError:
        raise
    except Exception as problem:
        raise LanguageError(
            "output",
            f"the output cannot be looked at: {type(problem).__name__}: {problem}",
            hint="return numbers, texts, tuples, lists, dictionaries, dataclasses or arrays of them",
        ) from None
    return Outcome(shape, tuple(reader.parts), text, frozenset(reader.told))


class _Reader:
    def __init__(self, formatted: dict[str, Part]) -> None:
        self.formatted = formatted
        self.parts: list[Part] = []
        self.told: set[str] = set()

    def failure(self, error: BaseException) -> str:
        """An error: its kind, its arguments, what it holds, and what it says where that is something else."""
        found = [self.shape(each, 1) for each in error.args]
        found += [f"{name}={self.shape(each, 1)}" for name, each in _held(error)]
        if type(error).__str__ not in _PLAIN_TEXTS:
            found.append(repr(str(error)))
        return f"raise {self.class_name(type(error))}({', '.join(found)})"

    def error_text(self, error: BaseException) -> str:
        """How an error prints."""
        kind = type(error).__qualname__
        if any(isinstance(each, Linear | Opaque) for each in error.args):
            return f"raises {kind}: {', '.join(map(self.text, error.args))}"
        said = str(error)
        return f"raises {kind}: {said}" if said else f"raises {kind}"

    def class_name(self, kind: type) -> str:
        """What tells a class: its name, and what it holds where it is found by that name in no module."""
        if kind.__module__ == "builtins":
            return kind.__qualname__
        named = f"{kind.__module__}.{kind.__qualname__}"
        if _found_by_name(kind):
            return named
        held = []
        for name, each in sorted(vars(kind).items()):
            if isinstance(each, FunctionType):
                if dataclasses.is_dataclass(kind) and name.startswith("__"):
                    continue  # made by the decorator from the fields
                cells = [_content(cell) for cell in each.__closure__ or ()]
                held += [f"{name}: {self.shape(c, 1)}" for c in cells if not isinstance(c, type | FunctionType | None)]
            elif not name.startswith("__") and not hasattr(type(each), "__get__"):
                held.append(f"{name}={self.shape(each, 1)}")
        bases = [self.class_name(base) for base in kind.__bases__ if base is not object]
        return f"{named}{{{', '.join([*bases, *held])}}}"

    def shape(self, value: Any, depth: int) -> str:
        if depth > _DEEPEST:
            raise LanguageError("output", f"an output is nested more than {_DEEPEST} deep", hint="return plain values")
        if isinstance(value, Linear | Opaque):
            self.parts.append(value)
            whole = isinstance(value, Linear) and value.kind is not float
            return f"#{len(self.parts) - 1}{f' {value.kind.__name__}' if whole else ''}"
        kind = type(value)
        if kind is str:
            return self._string(value)
        if value is None or kind in (bool, int, bytes, complex, Fraction, Decimal):
            return f"{kind.__name__}({value!r})"
        if kind is float or (isinstance(value, float) and kind.__module__ == "numpy"):
            return f"{kind.__name__}({_float(value)})"
        if isinstance(value, Enum):
            named = f"{kind.__module__}.{kind.__qualname__}.{value.name}"
            return named if _found_by_name(kind) else f"{named}={self.shape(value.value, depth + 1)}"
        if hasattr(kind, "stands_for_floats"):
            kind = kind.__mro__[1]
        return f"{self.class_name(kind)}({', '.join(self._members(value, depth + 1))})"

    def _string(self, value: str) -> str:
        """A text; where the text of a noisy number stands in it, that is a part."""
        found = [(value.find(token), token) for token in self.formatted if token in value]
        if not found:
            return f"str({value!r})"
        place, token = min(found)
        self.parts.append(self.formatted[token])
        self.told.add(token)
        number = len(self.parts) - 1
        return f"str({value[:place]!r} #{number} {self._string(value[place + len(token) :])})"

    def _members(self, value: Any, depth: int) -> Iterator[str]:
        kind = type(value)
        if isinstance(value, list | tuple):
            elements = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
            yield from (self.shape(each, depth) for each in elements)
        elif isinstance(value, Mapping):
            items = dict.items(value) if isinstance(value, dict) else value.items()
            yield from (f"{self.shape(name, depth)}: {self.shape(each, depth)}" for name, each in items)
        elif isinstance(value, set | frozenset):
            yield from sorted(self.shape(each, depth) for each in frozenset(value))
        elif kind.__module__.startswith("numpy.ma"):
            raise _untold(value)
        elif kind.__module__.partition(".")[0] in _TABLES:
            yield from (f"{name}={self.shape(each, depth)}" for name, each in _table_parts(value))
            return
        elif hasattr(value, "tolist") and hasattr(value, "dtype"):
            floats = value.dtype == object and _stands_for_floats(value)
            yield f"{'float64' if floats else value.dtype}{tuple(value.shape)}"
            yield self.shape(_as_floats(value.tolist()) if floats else value.tolist(), depth)
        else:
            for base in (int, str, bytes, float):
                if isinstance(value, base):
                    yield base.__repr__(value)
            yield from (f"{name}={self.shape(each, depth)}" for name, each in _attributes(value))
            return
        if kind.__module__ != "builtins":
            yield from (f"{name}={self.shape(each, depth)}" for name, each in _held(value))

    def text(self, value: Any) -> str:
        """How a value prints, with a star for every noisy number; by its class, if it does not print."""
        try:
            return self._text(value)
        except LanguageError:
            raise
        except Exception:  # what it shows is told by its shape; this is only for the reader
            return f"{type(value).__name__}(...)"

    def _text(self, value: Any) -> str:
        if isinstance(value, Linear | Opaque):
            return "*"
        if isinstance(value, str):
            for token in self.formatted:
                value = value.replace(token, "*")
            return repr(value)
        if type(value).__module__.partition(".")[0] in _TABLES:
            return f"{type(value).__name__}({self.text(_values_of(value))})"
        if not self.parts or isinstance(value, int | float | Fraction | Decimal | Enum | None):
            return repr(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if type(value) is tuple:
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            inside = ", ".join(f"{self.text(name)}: {self.text(each)}" for name, each in value.items())
            return f"{{{inside}}}" if type(value) is dict else f"{type(value).__name__}({{{inside}}})"
        if hasattr(value, "tolist") and hasattr(value, "dtype") and type(value).__module__ == "numpy":
            return f"array({self.text(value.tolist())})"
        names: list[tuple[str, Any]]
        if dataclasses.is_dataclass(value):
            names = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            names = list(zip(value._fields, value, strict=True))
        else:
            names = list(_attributes(value))
        return f"{type(value).__name__}({', '.join(f'{name}={self.text(each)}' for name, each in names)})"


_TABLES = ("pandas", "polars", "pyarrow")
"""The libraries whose tables and columns are told by their parts."""


def _table_parts(value: Any) -> Iterator[tuple[str, Any]]:
    """All that a table or a column holds, by name: values, kinds, names and labels.

    Raises:
        LanguageError: it is neither, or holds more than that: categories, times, other indices.
    """
    match f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}":
        case "pandas.DataFrame":
            yield "columns", list(_table_parts(value.columns))
            yield "index", list(_table_parts(value.index))
            yield "held", (dict(value.attrs), value.flags.allows_duplicate_labels)
            yield "values", [list(_table_parts(value.iloc[:, place])) for place in range(value.shape[1])]
        case "pandas.Series":
            yield "name", value.name
            yield "index", list(_table_parts(value.index))
            yield "held", (dict(value.attrs), value.flags.allows_duplicate_labels)
            yield "kind", _plain_kind(value, value.dtype)
            yield "values", value.tolist()
        case "pandas.Index" | "pandas.RangeIndex":
            yield "names", list(value.names)
            yield "kind", f"{type(value).__name__} {_plain_kind(value, value.dtype)}"
            yield "values", value.tolist()
        case "polars.DataFrame":
            yield "schema", [(name, _plain_kind(value, kind)) for name, kind in value.schema.items()]
            yield "values", value.to_dict(as_series=False)
        case "polars.Series":
            yield "name", value.name
            yield "kind", _plain_kind(value, value.dtype)
            yield "values", value.to_list()
        case "pyarrow.Table":
            yield "kinds", [_plain_kind(value, column.type) for column in value.columns]
            yield "chunks", [column.num_chunks for column in value.columns]
            yield "schema", value.schema.to_string(show_schema_metadata=True)
            yield "values", value.to_pydict()
        case name if name.startswith("pyarrow.") and name.endswith("Array"):
            yield "kind", _plain_kind(value, value.type)
            yield "chunks", getattr(value, "num_chunks", 0)
            yield "values", value.to_pylist()
        case _:
            raise _untold(value)


_PLAIN_KIND = re.compile(r"(?i)u?int\d+|float\d*|double|halffloat|bool(ean)?|str(ing)?|utf8|object|null")
"""The kinds of columns that hold nothing beside their values; a category also holds those that do not occur."""


def _plain_kind(value: Any, kind: Any) -> str:
    if not _PLAIN_KIND.fullmatch(str(kind)):
        raise _untold(value)
    return str(kind)


def _values_of(table: Any) -> Any:
    """The values of a table or a column, for a reader."""
    if type(table).__name__ == "DataFrame":
        return {name: table[name].to_list() for name in table.columns}
    if type(table).__name__ == "Table":
        return table.to_pydict()
    return table.to_pylist() if hasattr(table, "to_pylist") else table.to_list()


def _stands_for_floats(array: Any) -> bool:
    """Whether an array of objects is one of floats when noise is drawn: it was made as one, or noisy numbers are in it."""
    return hasattr(array, "stands_for_floats") or any(
        isinstance(each, Linear | Opaque) for each in array.ravel().tolist()
    )


def _as_floats(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_floats(each) for each in value]
    return float(value) if isinstance(value, int | Fraction) and not isinstance(value, Linear | Opaque) else value


def _float(value: float) -> str:
    return "nan" if math.isnan(value) else repr(float(value))


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """The attributes of an object, by name; for one that keeps them elsewhere there is no telling what it shows."""
    opaque = (callable(value) and not dataclasses.is_dataclass(value)) or isinstance(value, type)
    if not list(_slots(value)) and (not hasattr(value, "__dict__") or opaque):
        raise _untold(value)
    return _held(value)


def _untold(value: Any) -> LanguageError:
    named = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return LanguageError(
        "output",
        f"the output is a {named}, and nothing says when two of them show the same",
        hint="return numbers, texts, tuples, lists, dictionaries, dataclasses or arrays of them",
    )


def _held(value: Any) -> list[tuple[str, Any]]:
    """What is kept in the slots and in the dictionary of an object, by name."""
    return sorted({**dict(_slots(value)), **getattr(value, "__dict__", {})}.items())


def _slots(value: Any) -> Iterator[tuple[str, Any]]:
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if type(member) is MemberDescriptorType and kind.__module__ != "builtins":
                with suppress(AttributeError):
                    yield name, member.__get__(value)


_PLAIN_TEXTS = (BaseException.__str__, KeyError.__str__)
"""How errors print that say no more than their arguments."""


def _found_by_name(kind: type) -> bool:
    """Whether a class is the one that its name stands for, and not made anew in every run."""
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None
