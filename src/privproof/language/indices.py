"""Lists of open length: what is known of an index when the length of the list is not.

A loop over a list is followed once, whatever the length.  Its counter and what is made of it are then not numbers but *indices*, of which
only this is known:

* `Turn`: how many elements have been read, or one less (the index of the element that is read in this turn);
* `Foretold`: the index of an earlier element, which is one of those foretold (the first, the second, ... of them), or none;
* `Length`: how many elements there are;

each plus a constant (`plus`).  The first few indices are known exactly (`at`); all others are larger than these.  An index may be copied,
returned, added to a constant and compared as far as this decides it.  Everything else is `Stuck`: no operator of Python is defined on an
index unless it is here.

How many elements there are is known at the end.  Where a run asks earlier whether there are more than k, it waits until so many have been
read, or the list ends (`WantingLength`); what is read ahead for that is kept for the loop.

A list that is filled in the loop and returned is not kept either: what is put into it is *written* on the way, and the list stands in
the output as `Written`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn


class Wanting(Exception):
    """The evaluation asks for an answer that is not read yet."""


class WantingLength(Wanting):
    """The evaluation asks whether there are more elements than have been read, or for one of them ahead of the loop."""


class Stuck(Exception):
    """The evaluation is beyond what can be done with an unbounded number."""


class Early(Exception):
    """The evaluation compares an index with a number: it must be known exactly as far as that."""

    def __init__(self, number: int) -> None:
        super().__init__(f"an index is compared with {number}")
        self.number = number


NOT_A_NUMBER = "the index of an element is used as a number; for lists of one length: --size 3"
"""What is said where something is done with an index that is not decided for every length at once."""


def _refused(self: Any, *others: Any) -> NoReturn:
    raise Stuck(NOT_A_NUMBER)


class Index:
    """An index in a list of open length; see the module's docstring."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    plus: int

    def __add__(self, other: Any) -> Any:
        return shift_index(self, other)

    def __radd__(self, other: Any) -> Any:
        return shift_index(self, other)

    def __sub__(self, other: Any) -> Any:
        return shift_index(self, -other) if type(other) is int else _refused(self)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused
    __bool__ = __int__ = __index__ = __float__ = __complex__ = __len__ = __iter__ = __contains__ = _refused
    __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = _refused
    __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = __getitem__ = _refused
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = _refused
    __rshift__ = __rrshift__ = __neg__ = __pos__ = __abs__ = __invert__ = __round__ = __trunc__ = _refused
    __floor__ = __ceil__ = __format__ = __str__ = _refused


@dataclass(frozen=True, eq=False)
class Turn(Index):
    """The number of elements read, plus an offset of 0 or -1.

    Attributes:
        offset: -1 for the index of the element that was read last, 0 for the next.
        at: this number, where it is known.
        beyond: where it is not known, it is larger than this.
        plus: what is added to it.
        mark: for the element that was read last the number under which it is foretold, or 0.
    """

    offset: int
    at: int | None
    beyond: int
    plus: int = 0
    mark: int = 0


@dataclass(frozen=True, eq=False)
class Foretold(Index):
    """The index of an earlier element, larger than `beyond`: the one foretold as number `mark`, or (0) none of them; and a constant."""

    mark: int
    beyond: int
    plus: int = 0


@dataclass(frozen=True, eq=False)
class Length(Index):
    """The number of elements, and a constant.

    Attributes:
        plus: what is added to it.
        least: so many elements have been read; counted as far as one more than `beyond`.
        beyond: whether there are more elements than a number is decided for numbers up to this.
    """

    plus: int = 0
    least: int = 0
    beyond: int = -1


@dataclass(frozen=True, eq=False)
class OpenList:
    """A list of open length: of its elements only the one that is read now is there.

    Attributes:
        begun: whether the loop has read an element.
        element: the element of this turn, alone in a tuple; empty between turns.
        length: its length, at its end, where that is known.
        ahead: elements that the loop has not reached yet, each with the number under which it is foretold, or 0.
        least: so many elements have been read, ahead included; counted as far as one more than `beyond`.
        beyond: see `Length`.
        ended: whether there are no more elements than these.
    """

    begun: bool
    element: tuple[Any, ...] = ()
    length: int | None = None
    ahead: tuple[tuple[Any, int], ...] = ()
    least: int = 0
    beyond: int = -1
    ended: bool = False

    @property
    def size(self) -> int | Length:
        """Its length."""
        return Length(0, self.least, self.beyond) if self.length is None else self.length


@dataclass(frozen=True, eq=False)
class Written:
    """The list of all that is written on the way.

    Attributes:
        last: what is written in the end, after the last element was read.
        fixed: whether it was made a tuple.
    """

    last: tuple[Any, ...] = ()
    fixed: bool = False

    __hash__ = None  # type: ignore[assignment]
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __len__ = __iter__ = __contains__ = _refused
    __add__ = __radd__ = __mul__ = __rmul__ = __getitem__ = __format__ = __str__ = _refused


def index_key(value: Index | OpenList) -> tuple[Any, ...]:
    """What tells indices apart."""
    match value:
        case Turn(offset, at, _, plus, mark):
            return ("turn", offset, at, plus, mark)
        case Foretold(mark, _, plus):
            return ("foretold", mark, plus)
        case OpenList(begun, element, length, ahead, least, _, ended):
            return ("open list", begun, repr(element), length, repr(ahead), least, ended)
        case Length(plus, least):
            return ("length", plus, least)
        case _:
            raise AssertionError(f"{type(value).__name__} has no key")


def index_text(value: Index | OpenList) -> str:
    """How an index prints."""
    match value:
        case OpenList():
            return "the list"
        case Turn(_, int(at), _, plus):
            return str(at + plus)
        case Turn(offset):
            said = "here" if offset else "next"
        case Foretold(0):
            said = "elsewhere"
        case Foretold(mark):
            said = "*" * mark
        case _:
            said = "the length"
    return f"{said}{value.plus:+}" if value.plus else said


def first_turn(values: Any, number: Any) -> Any:
    """Where a counter begins that counts the elements of a list: a `Turn` for a list of open length, otherwise the number."""
    if not isinstance(values, OpenList):
        return number
    if values.begun:
        raise Stuck("the list is read a second time; for lists of one length: --size 3")
    return Turn(0, 0, -1, number)


def next_turn(counter: Any) -> Any:
    """A counter that goes on by one."""
    if isinstance(counter, Turn) and counter.offset == -1:
        return Turn(0, None if counter.at is None else counter.at + 1, counter.beyond, counter.plus)
    if isinstance(counter, Index):
        raise Stuck(
            "a counter goes on more than once in a turn, or not in every turn; for lists of one length: --size 3"
        )
    return counter + 1


def shift_index(index: Index, by: Any) -> Index:
    """An index plus a number."""
    if type(by) is not int:
        raise Stuck(NOT_A_NUMBER)
    match index:
        case Turn() | Foretold() | Length():
            return replace(index, plus=index.plus + by)
        case _:
            raise AssertionError(f"{type(index).__name__} is not moved")


def order(left: Any, right: Any) -> int | None:
    """The sign of the difference of two numbers, one of them an index at least; None where they differ, but nobody knows how."""
    if not isinstance(left, Index):
        found = order(right, left)
        return None if found is None else -found
    if not isinstance(right, Index):
        return _against(left, right)
    more = left.plus - right.plus
    match left, right:
        case (Length(), Length()) | (Turn(), Turn()):
            before = left.offset - right.offset if isinstance(left, Turn) and isinstance(right, Turn) else 0
            return _sign(before + more)
        case (Length(), Turn() | Foretold()) | (Foretold(), Turn()):
            found = order(right, left)
            return None if found is None else -found
        case Turn(offset), Length():
            if offset < 0 and more <= 0:
                return -1
            if offset == 0 and more == 0:
                raise Wanting
        case Foretold(), Length():
            if more <= 0:
                return -1
        case Turn(), Foretold():
            if more >= 0:
                return 1
        case Foretold(one), Foretold(other):
            if one and one == other:
                return _sign(more)
            if one and other and more * (one - other) >= 0:
                return _sign(one - other)
            if one != other and more == 0:
                return None
    raise Stuck("two indices are compared that may be any; for lists of one length: --size 3")


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _against(index: Index, number: Any) -> int:
    """The sign of the difference of an index and a number."""
    if not isinstance(number, int | Fraction):
        raise Stuck(NOT_A_NUMBER)
    number -= index.plus
    if isinstance(index, Length):
        if number < index.least:
            return 1
        if number > index.beyond:
            raise Early(-int(-number // 1))
        raise WantingLength
    assert isinstance(index, Turn | Foretold)
    if isinstance(index, Turn) and index.at is not None:
        return int(index.at > number) - int(index.at < number)
    if number <= index.beyond:
        return 1
    raise Early(-int(-number // 1))
