"""What an observer sees of a run, whatever Python value it ends with: plain structure, with noisy numbers in their places.

Two runs show the same if their structures are equal: types count (``1``, ``True`` and ``1.0`` are told apart), the order of a list or
of the entries of a dictionary counts, the order of a set does not.  A run that fails shows its error.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
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
    """

    shape: str
    parts: tuple[Part, ...]
    text: str

    @cached_property
    def closed(self) -> bool:
        """Whether it has no noisy number."""
        return not self.parts


def outcome(value: Any, formatted: Mapping[str, Part] | None = None) -> Outcome:
    """What a value shows.

    Args:
        value: the value.
        formatted: texts that stand for the text of a noisy number.

    Raises:
        LanguageError: it is an object whose parts cannot be told.

    >>> outcome({"a": [1, True], "b": 1.5}).shape
    "dict(str('a'): list(int(1), bool(True)), str('b'): float(1.5))"
    >>> outcome((Linear.atom(0), "yes")).shape, outcome((Linear.atom(0), "yes")).text
    ("tuple(#0, str('yes'))", "(*, 'yes')")
    """
    reader = _Reader(dict(formatted or {}))
    shape = reader.shape(value, 0)
    return Outcome(shape, tuple(reader.parts), reader.text(value))


def failure(error: BaseException) -> Outcome:
    """What a run that fails shows: the kind of error and its text."""
    kind = type(error).__qualname__
    return Outcome(f"raise {kind}({str(error)!r})", (), f"raises {kind}: {error}" if str(error) else f"raises {kind}")


class _Reader:
    def __init__(self, formatted: dict[str, Part]) -> None:
        self.formatted = formatted
        self.parts: list[Part] = []

    def shape(self, value: Any, depth: int) -> str:
        if depth > _DEEPEST:
            raise LanguageError("output", f"an output is nested more than {_DEEPEST} deep", hint="return plain values")
        if isinstance(value, Linear | Opaque):
            self.parts.append(value)
            return f"#{len(self.parts) - 1}"
        kind = type(value)
        if kind is str:
            return self._string(value)
        if value is None or kind in (bool, int, bytes, complex, Fraction, Decimal):
            return f"{kind.__name__}({value!r})"
        if isinstance(value, float):
            return f"{kind.__name__}({_float(value)})"
        if isinstance(value, Enum):
            return f"{kind.__module__}.{kind.__qualname__}.{value.name}"
        named = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        return f"{named}({', '.join(self._members(value, depth + 1))})"

    def _string(self, value: str) -> str:
        """A text; where the text of a noisy number stands in it, that is a part."""
        found = [(value.find(token), token) for token in self.formatted if token in value]
        if not found:
            return f"str({value!r})"
        place, token = min(found)
        self.parts.append(self.formatted[token])
        number = len(self.parts) - 1
        return f"str({value[:place]!r} #{number} {self._string(value[place + len(token) :])})"

    def _members(self, value: Any, depth: int) -> Iterator[str]:
        if isinstance(value, list | tuple):
            yield from (self.shape(each, depth) for each in value)
        elif isinstance(value, Mapping):
            yield from (f"{self.shape(name, depth)}: {self.shape(each, depth)}" for name, each in value.items())
        elif isinstance(value, set | frozenset):
            yield from sorted(self.shape(each, depth) for each in value)
        elif dataclasses.is_dataclass(value):
            for each in dataclasses.fields(value):
                yield f"{each.name}={self.shape(getattr(value, each.name), depth)}"
        elif hasattr(value, "tolist") and hasattr(value, "dtype"):
            yield f"{value.dtype if value.dtype != object else 'object'}{tuple(value.shape)}"
            yield self.shape(value.tolist(), depth)
        else:
            for base in (int, str, bytes):
                if isinstance(value, base):
                    yield base.__repr__(value)
            yield from (f"{name}={self.shape(each, depth)}" for name, each in _attributes(value))

    def text(self, value: Any) -> str:
        """How a value prints, with a star for every noisy number."""
        if isinstance(value, Linear | Opaque):
            return "*"
        if isinstance(value, str):
            for token in self.formatted:
                value = value.replace(token, "*")
            return repr(value)
        if not self.parts or isinstance(value, int | float | Fraction | Decimal | Enum | None):
            return repr(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if type(value) is tuple:
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            inside = ", ".join(f"{self.text(name)}: {self.text(each)}" for name, each in value.items())
            return f"{{{inside}}}" if type(value) is dict else f"{type(value).__name__}({{{inside}}})"
        if hasattr(value, "tolist") and hasattr(value, "dtype"):
            return f"array({self.text(value.tolist())})"
        names: list[tuple[str, Any]]
        if dataclasses.is_dataclass(value):
            names = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            names = list(zip(value._fields, value, strict=True))
        else:
            names = list(_attributes(value))
        return f"{type(value).__name__}({', '.join(f'{name}={self.text(each)}' for name, each in names)})"


def _float(value: float) -> str:
    return "nan" if math.isnan(value) else repr(float(value))


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """The attributes of an object, by name; for one that keeps them elsewhere there is no telling what it shows."""
    slots = [name for kind in type(value).__mro__ for name in _listed(vars(kind).get("__slots__", ()))]
    if not slots and (not hasattr(value, "__dict__") or callable(value) or isinstance(value, type)):
        named = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise LanguageError(
            "output",
            f"the output is a {named}, and nothing says when two of them show the same",
            hint="return numbers, texts, tuples, lists, dictionaries, dataclasses or arrays of them",
        )
    found = {name: getattr(value, name) for name in slots if hasattr(value, name) and name != "__dict__"}
    return sorted({**found, **getattr(value, "__dict__", {})}.items())


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)
