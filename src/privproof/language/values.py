"""Values while a mechanism runs: Python's own, and a few more.

Values are Python's own (whole numbers, fractions, truth values, texts, None, tuples), members of enumerations, tables, sets, named
tuples and data classes (`Member`, `Lookup`, `Bag`, `Named`), and these:

* `Cells`: a list.  Two names for one list are told apart from two lists: once a list has a second name it may not be changed.
* `Answers`: an input list of which some answers are not read yet.
* `Tail`: an unbounded noisy number of which only a bound is drawn so far.  Geometric noise is memoryless: given that it is at least b,
  the excess over b is geometric again.  So the rest is drawn only as far as the mechanism asks, and a mechanism that only
  releases, clamps or compares such a number has finitely many states, although the number has infinitely many values.
* `OpenList` and `Index`: an input list of open length, and indices in it; `Written`: a list that is written on the way (see `indices`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from privproof.exact.polynomials import Polynomial
from privproof.language.indices import Index, OpenList, Stuck, Wanting, Written, index_key, index_text, order


class _Mark:
    """An answer that is not there."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


UNREAD: Final = _Mark("unread")
FORGOTTEN: Final = _Mark("forgotten")
MISSING: Final = _Mark("missing")
ENDED: Final = _Mark("end")
"""Shown last by a run on a stream that ends, where its outputs do not tell that."""


class Answers(tuple[Any, ...]):
    """An input list: answers, those not read yet, and those that nobody will ask for again."""

    __slots__ = ()


@dataclass(frozen=True)
class Cells:
    """A list."""

    items: tuple[Any, ...]
    shared: bool = False


@dataclass(frozen=True)
class Lookup:
    """A table with keys."""

    rows: tuple[tuple[Any, Any], ...]

    def __getitem__(self, key: Any) -> Any:
        for known, value in self.rows:
            if equal(known, key):
                return value
        raise KeyError(text(key))


@dataclass(frozen=True)
class Bag:
    """A set: what is in it, in no order that counts."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Member:
    """A member of an enumeration."""

    kind: str
    name: str
    value: Any

    def __repr__(self) -> str:
        return f"<{self.kind}.{self.name}: {self.value!r}>"


@dataclass(frozen=True)
class Shape:
    """A class of named tuples, or a data class: how it is called, its fields, and the defaults of the last of them."""

    name: str
    fields: tuple[str, ...]
    defaults: tuple[Any, ...] = ()
    sequence: bool = False


@dataclass(frozen=True)
class Named:
    """A named tuple, or an object of a data class."""

    shape: Shape
    items: tuple[Any, ...]

    def __repr__(self) -> str:
        named = zip(self.shape.fields, self.items, strict=True)
        return f"{self.shape.name}({', '.join(f'{field}={item!r}' for field, item in named)})"


@dataclass(frozen=True)
class Tail:
    """``offset + sign * E``, where E = k with probability ``(1-alpha) alpha^k``, k = 0, 1, ..., is not drawn yet."""

    identity: int
    sign: int
    offset: int
    alpha: Fraction


class Splitting(Exception):
    """The evaluation asks whether the excess of a tail is below a bound, and which it is."""

    def __init__(self, identity: int, bound: int) -> None:
        super().__init__()
        self.identity = identity
        self.bound = bound


def less(left: Any, right: Any) -> bool:
    """``left < right``."""
    left, right = whole(left), whole(right)
    _known(left, right)
    if isinstance(left, Index) or isinstance(right, Index):
        found = order(left, right)
        if found is None:
            raise Stuck("two indices are compared that may be any; for lists of one length: --size 3")
        return found < 0
    if isinstance(left, Cells) != isinstance(right, Cells) or isinstance(left, Bag | Named):
        raise TypeError(f"{plain(left)!r} and {plain(right)!r} have no order")
    if isinstance(left, Tail) or isinstance(right, Tail):
        return _sign(left, right) < 0
    if isinstance(left, Cells | tuple) and isinstance(right, Cells | tuple):
        first, second = items(left), items(right)
        for x, y in zip(first, second, strict=False):
            if not equal(x, y):
                return less(x, y)
        return len(first) < len(second)
    return bool(left < right)


def equal(left: Any, right: Any) -> bool:
    """``left == right``."""
    left, right = whole(left), whole(right)
    _known(left, right)
    if isinstance(left, Index) or isinstance(right, Index):
        return all(isinstance(x, Index) or _number(x) for x in (left, right)) and order(left, right) == 0
    if isinstance(left, Tail) or isinstance(right, Tail):
        if not (_number(left) and _number(right)):
            return False
        return _sign(left, right) == 0
    if any(isinstance(left, kind) != isinstance(right, kind) for kind in (Cells, Lookup, Bag, Named)):
        return False
    if isinstance(left, Named):
        return bool(left.shape == right.shape) and all(map(equal, left.items, right.items))
    if isinstance(left, Bag):
        return len(left.items) == len(right.items) and all(contains(item, right) for item in left.items)
    if isinstance(left, Lookup):
        rows = left.rows
        same = len(rows) == len(right.rows) and all(contains(known, right) for known, _ in rows)
        return same and all(equal(value, right[known]) for known, value in rows)
    if isinstance(left, Cells | tuple) and isinstance(right, Cells | tuple):
        first, second = items(left), items(right)
        return len(first) == len(second) and all(equal(x, y) for x, y in zip(first, second, strict=True))
    return bool(left == right)


def _known(*values: Any) -> None:
    if any(isinstance(value, Polynomial) for value in values):
        raise Stuck("an unknown parameter is compared; a prior may use it in probabilities only")


def _number(value: Any) -> bool:
    return isinstance(value, int | Fraction | Tail)


def _sign(left: Any, right: Any) -> int:
    """The sign of the difference of two numbers, at least one of them a tail."""
    difference = minus(left, right)
    if not isinstance(difference, Tail):
        return int(difference > 0) - int(difference < 0)
    # offset + sign * E against zero: decided as soon as E >= offset + 1 on the other side of zero.
    if difference.sign * difference.offset > 0:
        return difference.sign
    raise Splitting(difference.identity, 1 - difference.sign * difference.offset)


def minus(left: Any, right: Any) -> Any:
    """The difference of two numbers, one of them a tail."""
    return plus(left, negate(right))


def negate(value: Any) -> Any:
    """The number with the other sign."""
    return replace(value, sign=-value.sign, offset=-value.offset) if isinstance(value, Tail) else -value


def plus(left: Any, right: Any) -> Any:
    """The sum of two numbers, one of them a tail."""
    if isinstance(left, Tail) and isinstance(right, Tail):
        if left.identity == right.identity and left.sign != right.sign:
            return left.offset + right.offset
        raise Stuck("two unbounded noisy numbers are combined")
    if isinstance(left, Tail) or isinstance(right, Tail):
        tail, number = (left, right) if isinstance(left, Tail) else (right, left)
        if not isinstance(number, int):
            if not isinstance(number, Fraction):
                raise TypeError(f"unsupported operand: a noisy number and {number!r}")
            raise Stuck("an unbounded noisy number meets a fraction")
        return replace(tail, offset=tail.offset + int(number))
    return left + right


def whole(value: Any) -> Any:
    """The value; of an input list all answers, as a list, of a named tuple the tuple that it is."""
    if isinstance(value, Named) and value.shape.sequence:
        return value.items
    return Cells(items(value), shared=True) if isinstance(value, Answers) else value


def items(value: Any) -> tuple[Any, ...]:
    """The elements of a sequence."""
    if isinstance(value, Cells):
        return value.items
    if isinstance(value, Answers):
        if UNREAD in value:
            raise Wanting
        if FORGOTTEN in value:
            raise AssertionError("an answer was forgotten too early")
        return tuple(value)
    if isinstance(value, tuple):
        return value
    if isinstance(value, Lookup):
        raise Stuck("a table is walked over; write its keys out as a tuple")
    if isinstance(value, Bag):
        raise Stuck("a set is walked over, in an order of its own; sorted(...) has one")
    if isinstance(value, Named) and value.shape.sequence:
        return value.items
    if isinstance(value, str):
        return tuple(value)
    if isinstance(value, OpenList | Written):
        raise Stuck("the list is used as a whole; for lists of one length: --size 3")
    raise TypeError(f"{plain(value)!r} is no list or tuple")


def truth(value: Any) -> bool:
    """Whether a value counts as true."""
    _known(value)
    if isinstance(value, Tail | Index):
        return not equal(value, 0)
    if isinstance(value, OpenList):
        return not equal(value.size, 0)
    if isinstance(value, Cells):
        return bool(value.items)
    if isinstance(value, Lookup):
        return bool(value.rows)
    if isinstance(value, Bag) or (isinstance(value, Named) and value.shape.sequence):
        return bool(value.items)
    return bool(value)


def contains(value: Any, sequence: Any) -> bool:
    """``value in sequence``."""
    if isinstance(sequence, str):
        return value in sequence
    if isinstance(sequence, Lookup):
        hashable(value)
        return any(equal(value, known) for known, _ in sequence.rows)
    if isinstance(sequence, Bag):
        hashable(value)
        return any(equal(value, item) for item in sequence.items)
    return any(equal(value, item) for item in items(sequence))


def hashable(value: Any) -> None:
    """Refuse what cannot be a key of a table."""
    if isinstance(value, Cells | Lookup | Answers | Bag):
        raise TypeError("a list is no key of a table")
    if isinstance(value, Named):
        raise Stuck("an object is a key of a table; take a tuple")
    if isinstance(value, tuple):
        for item in value:
            hashable(item)


def mark_shared(value: Any) -> Any:
    """The value, marked as having a second name if it is a list; an input that gets a second name is read to its end."""
    if isinstance(value, Answers):
        return whole(value)
    return replace(value, shared=True) if isinstance(value, Cells) and not value.shared else value


def shown_name(name: str) -> str:
    """A variable's name as its author knows it."""
    return name.rpartition(".")[2] if name.startswith("#") else name


_PLAIN_KINDS = frozenset({bool, int, str, type(None)})


def plain(value: Any) -> Any:
    """The Python value that a value stands for, where it stands for one."""
    match value:
        case Cells(inner):
            return list(inner) if set(map(type, inner)) <= _PLAIN_KINDS else [plain(item) for item in inner]
        case Lookup(rows):
            return {plain(key): plain(item) for key, item in rows}
        case Answers():
            return [plain(item) for item in value]
        case tuple():
            return tuple(plain(item) for item in value)
        case Bag(inner):
            return {plain(item) for item in inner}
        case Named(shape, inner):
            return Named(shape, tuple(plain(item) for item in inner))
        case _:
            return value


def shared_value(value: Any) -> Any:
    """The value that stands for a Python value that others may hold too: its lists may not be changed."""
    match value:
        case list():
            return Cells(tuple(shared_value(item) for item in value), shared=True)
        case dict() | MappingProxyType():
            return Lookup(tuple((shared_value(key), shared_value(item)) for key, item in value.items()))
        case tuple() if type(value) is tuple:
            return tuple(shared_value(item) for item in value)
        case _ if type(value) in _PLAIN:
            return value
        case _:
            from privproof.language.classes import object_of  # which knows how classes hold values

            return object_of(value)


_PLAIN = frozenset((bool, int, str, float, type(None), Fraction))
_SIMPLE = frozenset((int, str, type(None), _Mark))
_ATOMS = _PLAIN | _SIMPLE


def _flat(inner: Iterable[Any]) -> bool:
    """Whether there are only values without parts, so that nobody has to look into each of a long list."""
    return _ATOMS.issuperset(map(type, inner))


def key(value: Any) -> Any:
    """Something hashable that tells values apart that Python's ``==`` does not: 1, True and Fraction(1)."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, tuple):
        return ("tuple", _keys(value))
    match value:
        case bool():
            return ("bool", value)
        case Fraction():
            return ("fraction", value)
        case Cells(inner, is_shared):
            return ("list", is_shared, _keys(inner))
        case Lookup(rows):
            return ("table", tuple((key(a), key(b)) for a, b in rows))
        case Index() | OpenList():
            return index_key(value)
        case Written(last, fixed):
            return ("written", fixed, tuple(map(key, last)))
        case Bag(inner):
            return ("set", frozenset(map(key, inner)))
        case Named(shape, inner):
            return ("named", shape, tuple(map(key, inner)))
        case _:
            return value


def _keys(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The keys of values, at once where they are their own keys."""
    return tuple(values) if _SIMPLE.issuperset(map(type, values)) else tuple(map(key, values))


def text(value: Any) -> str:
    """How a value prints: ``repr`` for Python's own, ``≥6`` and ``≤-1`` for a tail."""
    match value:
        case Tail(_, sign, offset):
            return f"{'≥' if sign > 0 else '≤'}{offset}"
        case Index() | OpenList():
            return index_text(value)
        case Written(last, fixed):
            listed = ", ".join(("…", *map(text, last)))
            return f"({listed})" if fixed else f"[{listed}]"
        case Cells(inner):
            return f"[{', '.join(map(text, inner))}]"
        case Lookup(rows):
            return "{" + ", ".join(f"{text(a)}: {text(b)}" for a, b in rows) + "}"
        case tuple():
            return f"({', '.join(map(text, value))}{',' if len(value) == 1 else ''})"
        case Named(shape, inner):
            named = zip(shape.fields, inner, strict=True)
            return f"{shape.name}({', '.join(f'{field}={text(item)}' for field, item in named)})"
        case Bag():
            raise Stuck("a set is shown, in an order of its own; sorted(...) has one")
        case _:
            return repr(value)


def shows_set(value: Any) -> bool:
    """Whether a set stands in an output, which prints in an order of its own."""
    return isinstance(value, Bag) or any(map(shows_set, parts_of(value) or ()))


def parts_of(value: Any) -> tuple[Any, ...] | None:
    """The values inside an output, in order: of a list, tuple, named tuple or object its elements, of a table its values; else None."""
    match value:
        case Cells(inner) | Named(_, inner) | Written(inner):
            return inner
        case Lookup(rows):
            return tuple(item for _, item in rows)
        case tuple():
            return value
        case _:
            return None


def with_parts(value: Any, inner: tuple[Any, ...]) -> Any:
    """An output with other values inside."""
    match value:
        case Cells() | Named():
            return replace(value, items=inner)
        case Written():
            return replace(value, last=inner)
        case Lookup(rows):
            return Lookup(tuple((known, item) for (known, _), item in zip(rows, inner, strict=True)))
        case _:
            return inner


def tails(value: Any) -> Iterator[Tail]:
    """The tails inside a value, from left to right."""
    if type(value) in _SIMPLE or isinstance(value, Answers):
        return
    match value:
        case Tail():
            yield value
        case Cells(inner) | Named(_, inner) | Bag(inner) | Written(inner):
            yield from tails(inner)
        case Lookup(rows):
            for pair in rows:
                yield from tails(pair)
        case tuple() if not _flat(value):
            for item in value:
                yield from tails(item)


def with_tails(value: Any, change: Callable[[Tail], Any]) -> Any:
    """The value with every tail changed."""
    if type(value) in _SIMPLE or isinstance(value, Answers):
        return value
    match value:
        case Tail():
            return change(value)
        case Cells(inner) | Named(_, inner) | Bag(inner):
            return replace(value, items=tuple(with_tails(item, change) for item in inner))
        case Written(inner):
            return replace(value, last=tuple(with_tails(item, change) for item in inner))
        case Lookup(rows):
            return Lookup(tuple((with_tails(a, change), with_tails(b, change)) for a, b in rows))
        case tuple():
            return tuple(with_tails(item, change) for item in value)
        case _:
            return value


def indices(value: Any) -> Iterator[Index | OpenList]:
    """The indices and lists of open length inside a value, from left to right."""
    match value:
        case Index() | OpenList():
            yield value
        case Cells(inner) | Named(_, inner) | Bag(inner) | Written(inner):
            yield from indices(inner)
        case Lookup(rows):
            for pair in rows:
                yield from indices(pair)
        case Answers():
            pass
        case tuple() if not _flat(value):
            for item in value:
                yield from indices(item)


def with_indices(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with every index and list of open length changed."""
    if type(value) in _ATOMS:
        return value
    match value:
        case Index() | OpenList():
            return change(value)
        case Cells(inner) | Named(_, inner) | Bag(inner) | Written(inner) if _flat(inner):
            return value
        case Cells(inner) | Named(_, inner) | Bag(inner):
            return replace(value, items=tuple(with_indices(item, change) for item in inner))
        case Written(inner):
            return replace(value, last=tuple(with_indices(item, change) for item in inner))
        case Lookup(rows):
            return Lookup(tuple((with_indices(a, change), with_indices(b, change)) for a, b in rows))
        case Answers():
            return value
        case tuple():
            return value if _flat(value) else tuple(with_indices(item, change) for item in value)
        case _:
            return value


def with_written(value: Any, change: Callable[[Written], Any]) -> Any:
    """An output with the list that was written on the way changed."""
    if isinstance(value, Written):
        return change(value)
    inner = parts_of(value)
    return value if inner is None else with_parts(value, tuple(with_written(item, change) for item in inner))


def holds_written(value: Any) -> bool:
    """Whether the list that was written on the way stands in an output."""
    return isinstance(value, Written) or any(map(holds_written, parts_of(value) or ()))
