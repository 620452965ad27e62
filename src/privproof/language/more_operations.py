"""Operations of ordinary code: texts, tables, sets, named tuples, lists that change in place, rounding; Python's own rules.

What these make of values that are known is what Python makes of them.  An unbounded noisy number (`Tail`) is none of these: what
would depend on it is beyond them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from privproof.language.indices import Stuck
from privproof.language.values import (
    Bag,
    Cells,
    Lookup,
    Member,
    Named,
    Shape,
    Tail,
    equal,
    hashable,
    items,
    less,
    mark_shared,
    plain,
    tails,
    truth,
    whole,
)

TWO_NAMES = "a list that has two names is changed; give the second name a copy: ys = list(xs)"
_TEXTS = frozenset(("upper", "lower", "strip", "lstrip", "rstrip", "title", "capitalize", "swapcase", "casefold"))
_TESTS = frozenset(("startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "isnumeric", "find"))
_MADE = frozenset(("replace", "zfill", "ljust", "rjust", "center", "removeprefix", "removesuffix"))
_SPLIT = frozenset(("split", "splitlines", "partition", "rsplit"))
TEXT_METHODS = _TEXTS | _TESTS | _MADE | _SPLIT
"""Methods of texts that depend on nothing else."""
_WIDEST = 1_000
"""The width of a text that is padded; beyond, its evaluation is `Stuck`."""


def unordered_elements(value: Any) -> tuple[Any, ...]:
    """The elements of a sequence, or of a set or table, where their order does not count."""
    if isinstance(value, Bag):
        return value.items
    if isinstance(value, Lookup):
        return tuple(known for known, _ in value.rows)
    return items(value)


def _known(value: Any) -> Any:
    """A value as Python's own; refused where it is not all known, or is an object."""
    if any(True for _ in tails(value)):
        raise Stuck("an unbounded noisy number becomes a text")
    found = plain(whole(value))
    if not _native(found):
        raise Stuck("an object or a set becomes a text; return its parts as a tuple")
    return found


def _native(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(_native, value))
    if isinstance(value, dict):
        return all(_native(part) for pair in value.items() for part in pair)
    return type(value) in (bool, int, str, Fraction, type(None))


def _format(value: Any, how: str) -> str:
    """A value in a text: ``!r``, ``!s``, or a format of its kind behind a colon."""
    known = _known(value)
    conversion, _, specification = how.partition(":")
    if any(int(number) > _WIDEST for number in _numbers(specification)):
        raise Stuck("a text that is too long")
    return format(convert_in_format(known, conversion), specification)


def convert_in_format(value: Any, conversion: str) -> Any:
    """A value as the conversion of a place in a text makes it: ``!r``, ``!s``, ``!a`` or none."""
    if not conversion:
        return value
    return repr(value) if conversion == "!r" else str(value) if conversion == "!s" else ascii(value)


def _numbers(text: str) -> list[str]:
    return "".join(c if c.isdigit() else " " for c in text).split()


def _join(between: Any, sequence: Any) -> str:
    if not isinstance(between, str):
        raise TypeError("what texts are joined with is no text")
    parts = items(sequence)
    if not all(isinstance(part, str) for part in parts):
        raise TypeError("something else than texts is joined")
    return between.join(parts)


def _text_method(name: str, text: Any, *arguments: Any) -> Any:
    if not isinstance(text, str):
        raise TypeError(f"{plain(text)!r} has no {name}()")
    given = [_known(argument) for argument in arguments]
    if any(isinstance(argument, int) and argument > _WIDEST for argument in given):
        raise Stuck("a text that is too long")
    found = getattr(text, name)(*given)
    return Cells(tuple(found)) if isinstance(found, list) else found


def _with_entry(table: Any, known: Any, value: Any) -> Lookup:
    """A table with one more entry, or with another value where the key is known."""
    assert isinstance(table, Lookup)
    hashable(known)
    if any(True for _ in tails(known)):
        raise Stuck("an unbounded noisy number is a key of a table; a tuple holds one")
    rows = list(table.rows)
    for place, (other, _) in enumerate(rows):
        if equal(known, other):
            rows[place] = (other, mark_shared(value))
            return Lookup(tuple(rows))
    return Lookup((*rows, (mark_shared(known), mark_shared(value))))


def _get(table: Any, known: Any, default: Any = None) -> Any:
    if not isinstance(table, Lookup):
        raise TypeError(f"{plain(table)!r} has no get()")
    hashable(known)
    return next((value for other, value in table.rows if equal(other, known)), default)


def _entries(table: Any) -> Lookup:
    if not isinstance(table, Lookup):
        raise TypeError(f"{plain(table)!r} is no table")
    return table


def _set(sequence: Any = ()) -> Bag:
    found: list[Any] = []
    for item in unordered_elements(sequence):
        hashable(item)
        if any(True for _ in tails(item)):
            raise Stuck("an unbounded noisy number stands in a set; a tuple holds one")
        if not any(equal(item, other) for other in found):
            found.append(item)
    return Bag(tuple(found))


def _record(shape: Shape, *values: Any) -> Named:
    return Named(shape, tuple(map(mark_shared, values)))


def _record_from(shape: Shape, sequence: Any) -> Named:
    values = items(sequence)
    missing = len(shape.fields) - len(values)
    if missing < 0 or missing > len(shape.defaults):
        raise TypeError(f"{shape.name} has {len(shape.fields)} fields, and gets {len(values)} values")
    return _record(shape, *values, *shape.defaults[len(shape.defaults) - missing :])


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, Named) and name in value.shape.fields:
        return value.items[value.shape.fields.index(name)]
    if isinstance(value, Member) and name in ("name", "value"):
        return value.name if name == "name" else value.value
    raise AttributeError(f"{plain(value)!r} has no {name}")


class _Ordered:
    """A value in Python's own sorting."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Ordered) -> bool:
        return less(self.value, other.value)


def _sorted_by(sequence: Any, keys: Any, reverse: Any) -> Cells:
    """The elements in the order of their keys; what is equal stays as it is."""
    listed, order = items(sequence), items(keys)
    numbers = sorted(range(len(listed)), key=lambda i: _Ordered(order[i]), reverse=truth(reverse))
    return Cells(tuple(mark_shared(listed[i]) for i in numbers))


def _array(sequence: Any) -> tuple[Any, ...]:
    """The elements of a list of numbers, of which there are some."""
    listed = items(sequence)
    if not listed:
        raise ValueError("attempt to get the place of an element of an empty sequence")
    if not all(isinstance(each, bool | int | Fraction | Tail) for each in listed):
        raise Stuck("a list of something else than numbers becomes an array")
    return listed


def _extreme_place(*, largest: bool) -> Callable[[Any], int]:
    """``np.argmax`` and ``np.argmin``: the first place of the largest or smallest number."""

    def found(sequence: Any) -> int:
        listed, best = _array(sequence), 0
        for place, value in enumerate(listed):
            if less(listed[best], value) if largest else less(value, listed[best]):
                best = place
        return best

    return found


def _places_in_order(sequence: Any) -> Cells:
    """``np.argsort``: the places of the numbers from the smallest on; the order of equal ones is numpy's own affair."""
    listed = _array(sequence) if items(sequence) else ()
    numbers = sorted(range(len(listed)), key=lambda i: _Ordered(listed[i]))
    if any(equal(listed[i], listed[j]) for i, j in pairwise(numbers)):
        raise Stuck("np.argsort of equal numbers, whose order it leaves open; sorted(range(n), key=...) keeps theirs")
    return Cells(tuple(numbers))


def _own(value: Any) -> tuple[Any, ...]:
    """The elements of a list that is about to change."""
    if not isinstance(value, Cells):
        raise TypeError(f"{plain(value)!r} is no list")
    if value.shared:
        raise Stuck(TWO_NAMES)
    return value.items


def _sort(value: Any, reverse: Any) -> Cells:
    return Cells(tuple(sorted(_own(value), key=_Ordered, reverse=truth(reverse))))


def _without(value: Any, index: Any) -> Cells:
    """The list without the element at an index."""
    found = list(_own(value))
    if isinstance(index, Tail):
        raise Stuck("an unbounded noisy number is an index")
    del found[index]
    return Cells(tuple(found))


def _removed(value: Any, item: Any) -> Cells:
    found = _own(value)
    for place, other in enumerate(found):
        if equal(other, item):
            return Cells((*found[:place], *found[place + 1 :]))
    raise ValueError("what is removed is not in the list")


def accumulate(sequence: Any, add: Callable[[Any, Any], Any]) -> tuple[Any, ...]:
    """The sums of the first elements, as ``itertools.accumulate`` has them."""
    found: list[Any] = []
    for item in items(sequence):
        found.append(add(found[-1], item) if found else item)
    return tuple(found)


def _rounding(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes whole numbers of exact ones; whole noise is whole."""

    def applied(value: Any, *digits: Any) -> Any:
        if isinstance(value, Tail) and (not digits or (isinstance(digits[0], int) and digits[0] >= 0)):
            return value
        if not isinstance(value, int | Fraction):
            raise TypeError(f"{plain(value)!r} is no number that is rounded")
        if digits and digits[0] is not None and not isinstance(digits[0], int):
            raise TypeError("how many digits is no whole number")
        return function(value, *digits)

    return applied


def _fails(what: Any) -> Any:
    raise ValueError(what)


def _holds(value: Any) -> Any:
    if not truth(value):
        raise ValueError("an assertion fails")


def _enumerated(sequence: Any, start: Any) -> tuple[Any, ...]:
    if not isinstance(start, int):
        raise TypeError("where enumerate begins is no whole number")
    return tuple((number, mark_shared(item)) for number, item in enumerate(items(sequence), int(start)))


MORE: dict[str, Callable[..., Any]] = {
    "text of": lambda *parts: "".join(parts),
    "format": _format,
    "join": _join,
    "text method": _text_method,
    "with entry": _with_entry,
    "get": _get,
    "items": lambda table: Cells(tuple(_entries(table).rows)),
    "keys": lambda table: Cells(tuple(known for known, _ in _entries(table).rows)),
    "values": lambda table: Cells(tuple(value for _, value in _entries(table).rows)),
    "set": _set,
    "record of": _record,
    "record from": _record_from,
    "attribute": _attribute,
    "reversed": lambda a: tuple(map(mark_shared, reversed(items(a)))),
    "zip": lambda *a: tuple(tuple(map(mark_shared, row)) for row in zip(*map(items, a), strict=False)),
    "enumerate": _enumerated,
    "sorted by": _sorted_by,
    "argmax": _extreme_place(largest=True),
    "argmin": _extreme_place(largest=False),
    "argsort": _places_in_order,
    "sort": _sort,
    "reverse": lambda a: Cells(tuple(reversed(_own(a)))),
    "without": _without,
    "removed": _removed,
    "cleared": lambda a: Cells(_own(a)[:0]),
    "round": _rounding(round),
    "floor": _rounding(math.floor),
    "ceil": _rounding(math.ceil),
    "trunc": _rounding(math.trunc),
    "fails": _fails,
    "holds": _holds,
}
"""Operations by their names."""
