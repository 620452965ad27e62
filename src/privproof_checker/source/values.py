"""The values of a running mechanism: Python's own exact ones, lists that can be copied, and noise of which a part is drawn.

Whole numbers, fractions, truth values, texts, None and tuples are Python's.  Three more:

* `Cells`: a list.  Two names may stand for one list, as in Python; those that come from outside (inputs, constants) are
  never changed, because the change would outlive the run.
* `Table`: a dict that is only looked at.
* `Tail`: geometric noise without bounds: of ``offset + sign * E`` the excess E, which is k with probability
  ``(1-alpha) alpha^k``, is not drawn yet.  Given that E is at least b, E - b has the same law again, so the excess is
  drawn only as far as the mechanism asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isnan
from typing import Any, Final, TypeAlias

from privproof_checker.outcomes import Beyond as Beyond
from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import a_flag, a_list, a_text, an_object

Value: TypeAlias = Any

_DEEPEST = 40
"""Tuples and lists inside each other in a certificate; a value nested more deeply is refused."""
_LONGEST_FLOAT = 40
"""The characters of a float in a certificate: a sign, 14 hexadecimal digits and an exponent are fewer; more are refused."""
_LONGEST_NUMBER = 4_000
"""The digits of a whole number in a certificate, below the length that Python itself refuses to read; beyond, it is refused."""


def beyond(reason: str, place: str) -> Any:
    """Give up on the source."""
    raise Beyond(reason, place)


class _Mark:
    """A value that is not there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.key = ("mark", text)

    def __repr__(self) -> str:
        return self.text


UNREAD: Final = _Mark("unread")
FORGOTTEN: Final = _Mark("forgotten")
NUMBER: Final = _Mark("number")
"""Stands in a pattern of outputs for a number that is left open."""
END: Final = _Mark("end")
"""Shown last by a run on a stream that ends, where its outputs do not tell that."""
ENDED: Final = _Mark("ended")
"""Given instead of an element where a list of open length ends."""


@dataclass(eq=False)
class Cells:
    """A list.

    Attributes:
        items: its elements.
        fixed: whether it comes from outside, or was shown: it may not be changed any more.
        name: of an input, its name.
    """

    items: list[Value]
    fixed: bool = False
    name: str | None = None


@dataclass(eq=False)
class Stream:
    """An input without end: the element that was given and not taken yet."""

    name: str
    given: Value = UNREAD


class Sealed:
    """A value of which a program may ask only what its class foresees: whatever else it asks, nothing is established."""

    __slots__ = ()

    @property
    def mark(self) -> tuple[Any, ...]:
        """What tells it from other values: what it is, and all that it knows."""
        known = (each.mark if isinstance(each, Sealed) else each for each in vars(self).values())
        return (type(self).__name__, *known)

    def equals(self, other: Value) -> bool:
        """``self == other``."""
        raise Beyond(f"{type(self).__name__.lower()} and something else are compared", "")

    def __bool__(self) -> bool:
        raise Beyond(f"{type(self).__name__.lower()} is used as a truth value", "")


@dataclass(eq=False)
class OpenList(Sealed, Stream):
    """A list of open length, over which one loop goes: an element is given, or that it has ended.

    Attributes:
        taken: the element of this turn, once it is taken; it is forgotten where the next one is asked for.
        walked: whether the loop has begun.
    """

    taken: Value = UNREAD
    walked: bool = False

    @property
    def mark(self) -> tuple[Any, ...]:
        """What is given, and what was taken."""
        return ("open", self.name, key(self.given), key(self.taken), self.walked)

    def next_element(self) -> Value:
        """What is given; where nothing is, the element before is forgotten."""
        if self.given is UNREAD:
            self.taken = UNREAD
            raise Want
        return self.given

    def begin(self) -> None:
        """A loop over it begins; there may be one, because its elements are given once."""
        if self.walked:
            raise Beyond("a second loop over a list of open length", "")
        self.walked = True

    def place(self) -> Value:
        """The index of the element that is given."""
        return Place(here=True)

    def element(self, index: Value) -> Value:
        """The element at an index."""
        if not (isinstance(index, Place) and index.here) or self.taken is UNREAD:
            raise Beyond("another element of a list of open length than that of this turn", "")
        return self.taken


@dataclass(eq=False)
class Gathered(OpenList):
    """A list that a loop over a list of open length fills; once that has ended, a list of open length itself.

    Attributes:
        new: what was appended in this turn.
        complete: whether the loop has ended; before, it may be appended to, and nothing else.
    """

    new: tuple[Value, ...] = ()
    complete: bool = False
    walked: bool = True

    @property
    def mark(self) -> tuple[Any, ...]:
        """What tells it from other lists, what was appended too."""
        return (*super().mark, *map(key, self.new), self.complete)

    def append(self, value: Value) -> None:
        """Append a value."""
        if self.complete:
            raise Beyond("a list of open length is appended to", "")
        self.new = (*self.new, value)


@dataclass(frozen=True, eq=False)
class Place(Sealed):
    """The index of an element of a list of open length: of the one that was given last, or of an earlier one."""

    here: bool


@dataclass(frozen=True, eq=False)
class Length(Sealed):
    """The length of a list of open length, or the range of its indices."""

    of: OpenList
    indices: bool = False

    @property
    def mark(self) -> tuple[Any, ...]:
        """Of which list."""
        return ("length", self.of.name, self.indices)


@dataclass(frozen=True, eq=False)
class Table:
    """A dict that is only looked at."""

    rows: tuple[tuple[Value, Value], ...]


@dataclass(frozen=True)
class Tail:
    """``offset + sign * E`` with an excess E that is not drawn yet."""

    identity: int
    sign: int
    offset: int
    alpha: Fraction


class Shown(tuple[Value, ...]):
    """A list in an output."""

    __slots__ = ()


class Labelled(tuple[Value, ...]):
    """Values under labels: a named tuple, an object of a data class, or, in an output, a table.

    Attributes:
        name: the name of its class; empty for a table.
        labels: what is printed before each value.
        sequence: whether Python takes it for a tuple.
    """

    name: str
    labels: tuple[str, ...]
    sequence: bool

    @classmethod
    def of(cls, name: str, labels: Iterable[str], values: Iterable[Value], *, sequence: bool = False) -> Labelled:
        """The values with their labels."""
        made = cls(values)
        made.name, made.labels, made.sequence = name, tuple(labels), sequence
        return made

    def holding(self, values: Iterable[Value]) -> Labelled:
        """Other values under the same labels."""
        return Labelled.of(self.name, self.labels, values, sequence=self.sequence)


@dataclass(frozen=True)
class Member:
    """A member of an enumeration."""

    kind: str
    name: str
    value: Value


@dataclass(eq=False)
class Walk:
    """Where a loop is in what it walks over.

    Attributes:
        over: a list, tuple, text, range or stream; for ``zip`` the walks side by side, for ``enumerate`` one.
        kind: ``elements``, ``zip``, ``enumerate``, or ``uncounted``: an ``enumerate`` whose numbers nothing reads.
        position: the next element, or the next number of ``enumerate``.
    """

    over: Value
    kind: str = "elements"
    position: Value = 0
    inner: list[Walk] = field(default_factory=list)


class Want(Exception):
    """The run waits for an input."""


class Split(Exception):
    """The run asks how large the excess of a tail is, as far as a bound."""

    def __init__(self, identity: int, bound: int) -> None:
        super().__init__()
        self.identity = identity
        self.bound = bound


def read_value(value: object, place: str, *, depth: int = 0) -> Value:
    """A value as a certificate writes it, with its type.

    >>> read_value({"tuple": [{"int": "1"}, {"text": "yes"}, {"fraction": "1/3"}, {"none": None}, {"bool": True}]}, "here")
    (1, 'yes', Fraction(1, 3), None, True)
    """
    if depth > _DEEPEST:
        refuse("a value is nested too deeply", place)
    given = an_object(value, place)
    if len(given) != 1:
        refuse("expected a value with its type", place)
    ((kind, inside),) = given.items()
    match kind:
        case "int":
            return _whole(inside, place)
        case "bool":
            return a_flag(inside, place)
        case "text":
            return a_text(inside, place)
        case "none" if inside is None:
            return None
        case "fraction":
            above, _, below = a_text(inside, place).partition("/")
            denominator = _whole(below or "1", place)
            if denominator < 1:
                refuse("a denominator is above 0", place)
            return Fraction(_whole(above, place), denominator)
        case "tuple" | "list":
            items = [read_value(item, place, depth=depth + 1) for item in a_list(inside, place)]
            return tuple(items) if kind == "tuple" else Cells(items, fixed=True)
        case "dict":
            rows = []
            for item in a_list(inside, place):
                pair = a_list(item, place)
                if len(pair) != 2:
                    refuse("an entry of a dict has a key and a value", place)
                rows.append(tuple(read_value(part, place, depth=depth + 1) for part in pair))
            return Table(tuple((key, entry) for key, entry in rows))
        case "at least" | "at most":
            return Tail(-1, 1 if kind == "at least" else -1, _whole(inside, place), Fraction(1, 2))
        case "float":
            return _float(a_text(inside, place), place)
        case "member":
            kind_, name, inner = _several(inside, 3, place)
            return Member(a_text(kind_, place), a_text(name, place), read_value(inner, place, depth=depth + 1))
        case "record":
            name, fields, values = _several(inside, 3, place)
            labels = [f"{a_text(field, place)}=" for field in a_list(fields, place)]
            parts = [read_value(item, place, depth=depth + 1) for item in a_list(values, place)]
            if len(labels) != len(parts):
                refuse("an object has one value for every field", place)
            return Labelled.of(a_text(name, place), labels, parts)
        case _:
            refuse(f"{kind[:40]!r} is no type of a value", place)


def _several(value: object, count: int, place: str) -> list[object]:
    found = a_list(value, place)
    if len(found) != count:
        refuse(f"expected {count} parts", place)
    return list(found)


def _float(text: str, place: str) -> float:
    """A float, as its hexadecimal digits; an infinity by its name."""
    if len(text) > _LONGEST_FLOAT:
        refuse("no float", place)
    try:
        found = float.fromhex(text)
    except (ValueError, OverflowError):
        refuse(f"{text[:40]!r} is no float", place)
    if isnan(found) or found.hex() != text:
        refuse(f"{text[:40]!r} is no float as it is written", place)
    return found


def _whole(value: object, place: str) -> int:
    written = str(value) if isinstance(value, int) and not isinstance(value, bool) else a_text(value, place)
    digits = written.removeprefix("-")
    if len(digits) > _LONGEST_NUMBER or not (digits.isascii() and digits.isdigit()):
        refuse(f"{written[:40]!r} is no whole number", place)
    return int(written)


def key(value: Value) -> Any:
    """What tells values apart: their types too, so that 1 is not True."""
    kind = type(value)
    if kind is int:
        return value
    if kind is _Mark:
        return value.key
    if kind is str:
        return ("text", value)
    if kind is bool:
        return ("bool", value)
    if value is None:
        return ("none",)
    if kind is Fraction:
        return ("fraction", value.numerator, value.denominator)
    if kind is tuple:
        return ("tuple", *map(key, value))
    if kind is float:
        return ("float", value.hex())
    if kind is Labelled:
        return ("labelled", value.name, value.labels, *map(key, value))
    if kind is Member:
        return ("member", value.kind, value.name)
    if kind is Shown:
        return ("shown", *map(key, value))
    if kind is Tail:
        return ("tail", value.identity, value.sign, value.offset, value.alpha)
    if kind is Table:
        return ("table", *((key(k), key(v)) for k, v in value.rows))
    if kind is range:
        return ("range", value.start, value.stop, value.step)
    if isinstance(value, Sealed):
        return value.mark
    raise TypeError(kind)


def held(value: Value) -> Sequence[Value]:
    """The values that one is made of, in order."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, Cells):
        return value.items
    if isinstance(value, Walk):
        return (value.over, *value.inner)
    return value.rows if isinstance(value, Table) else (value.of,) if isinstance(value, Length) else ()


def within(value: Value) -> Iterator[Value]:
    """A value and all that it holds, in order."""
    yield value
    for item in held(value):
        yield from within(item)


def tails(value: Value) -> Iterator[Tail]:
    """The tails in a value, in order."""
    return (each for each in within(value) if isinstance(each, Tail))


def frozen(value: Value) -> Value:
    """An output as it is now; lists in it can no longer be changed."""
    if isinstance(value, Cells):
        value.fixed = True
        if any(item is UNREAD for item in value.items):
            raise Want
        return Shown(map(frozen, value.items))
    if isinstance(value, Labelled):
        return value.holding(map(frozen, value))
    if isinstance(value, tuple):
        return tuple(map(frozen, value))
    if isinstance(value, Table):
        return Labelled.of(
            "", (f"{printed(frozen(known))}: " for known, _ in value.rows), (frozen(v) for _, v in value.rows)
        )
    if isinstance(value, range | Stream | Walk):
        raise Beyond("an output that is a range", "")
    return value


def anonymous(value: Value) -> Value:
    """An output in which tails have no identity any more."""
    if isinstance(value, Tail):
        return replace(value, identity=-1)
    if isinstance(value, tuple):
        return with_items(value, map(anonymous, value))
    return value


def with_items(value: Value, items: Iterable[Value]) -> Value:
    """What is made of values, made of others in the same way."""
    if isinstance(value, Walk):
        over, *inner = items
        return Walk(over, value.kind, value.position, inner)
    if isinstance(value, Length):
        return Length(next(iter(items)), value.indices)
    if isinstance(value, Table):
        return Table(tuple(items))
    return value.holding(items) if isinstance(value, Labelled) else type(value)(items)


def printed(value: Value) -> str:
    """How an output prints: two outputs are the same if they print alike.

    >>> printed((1, Shown((True, "a"))))
    "(1, [True, 'a'])"
    """
    if isinstance(value, Tail):
        return f"{'≥' if value.sign > 0 else '≤'}{value.offset}"
    if isinstance(value, Shown):
        return f"[{', '.join(map(printed, value))}]"
    if isinstance(value, Labelled):
        inside = ", ".join(label + printed(item) for label, item in zip(value.labels, value, strict=True))
        return f"{value.name}({inside})" if value.name else f"{{{inside}}}"
    if isinstance(value, Member):
        return f"<{value.kind}.{value.name}: {printed(value.value)}>"
    if isinstance(value, tuple):
        return f"({', '.join(map(printed, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def leaves(value: Value, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Value]]:
    """The parts of an output that are no lists or tuples, with their positions."""
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from leaves(item, (*path, i))
    else:
        yield path, value


def with_leaves(value: Value, change: Callable[[tuple[int, ...], Value], Value], path: tuple[int, ...] = ()) -> Value:
    """An output with its leaves changed."""
    if isinstance(value, tuple):
        return with_items(value, (with_leaves(item, change, (*path, i)) for i, item in enumerate(value)))
    return change(path, value)
