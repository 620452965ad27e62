"""Rows: records with named fields, read as ``r.age`` or ``r["age"]``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn


class Row:
    """A record with named fields; it cannot be changed.

    >>> r = Row(age=30, city="A")
    >>> r.age, r["city"], r
    (30, 'A', Row(age=30, city='A'))
    >>> r == Row(age=30, city="A"), "age" in r, list(r.keys())
    (True, True, ['age', 'city'])
    """

    __slots__ = ("_parts",)
    _parts: dict[str, Any]

    def __init__(self, **parts: Any) -> None:
        object.__setattr__(self, "_parts", parts)

    def __getattr__(self, name: str) -> Any:
        if name in Row.__slots__ or name not in self._parts:
            raise AttributeError(f"a row has no field {name!r}")
        return self._parts[name]

    def __getitem__(self, name: str) -> Any:
        return self._parts[name]

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("a row cannot be changed")

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def keys(self) -> Iterator[str]:
        """The names of its fields."""
        return iter(self._parts)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Its fields with their values."""
        return iter(self._parts.items())

    def __eq__(self, other: object) -> bool:
        return type(other) is Row and _exactly(self) == _exactly(other)

    def __hash__(self) -> int:
        return hash(tuple(self._parts.items()))

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self._parts.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (tuple(self._parts.items()),)

    def __copy__(self) -> Row:
        return self

    def __deepcopy__(self, _: Any) -> Row:
        return self


def _row(parts: tuple[tuple[str, Any], ...]) -> Row:
    return Row(**dict(parts))


def _exactly(row: Row) -> list[tuple[str, type, Any]]:
    """Names, types and values: a field that is True is none that is 1."""
    return [(name, type(value), value) for name, value in row._parts.items()]
