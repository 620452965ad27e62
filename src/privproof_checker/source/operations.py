"""What values are to each other and to lists and tables: Python's rules, and a refusal where they cannot be followed.

Everything here works on values alone and changes nothing, but for `extended`, `repeated`, `put` and `appended`, which
change a list.  Each of these looks at all it needs before it changes anything, so that a run that has to wait can try
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isinf
from typing import NoReturn

from privproof_checker.outcomes import Refusal
from privproof_checker.source.forms import Form, above_zero, is_zero
from privproof_checker.source.values import (
    UNREAD,
    Beyond,
    Cells,
    Gathered,
    Labelled,
    Member,
    OpenList,
    Sealed,
    Split,
    Table,
    Tail,
    Value,
    Want,
    within,
)

_LONGEST = 20_000
"""The elements of a list, or characters of a text, that a run may make; beyond, nothing is established about the source."""
LARGEST_BITS = 20_000
"""The bits of a number that a run may compute, and its largest exponent; beyond, nothing is established about the source."""
_WIDEST_SPLIT = 10_000
"""An unbounded noisy number is split into at most so many values by a comparison; beyond, nothing is established."""
_SINGLE = (bool, type(None))


class Fails(Refusal):
    """The mechanism itself would raise an exception here."""


def fails(reason: str) -> NoReturn:
    """The mechanism raises an exception."""
    raise Fails(reason, "")


def unknown(reason: str) -> NoReturn:
    """The checker does not follow this."""
    raise Beyond(reason, "")


def number(value: Value) -> bool:
    """Whether a value is an exact number of Python."""
    return isinstance(value, int | Fraction)


def real(value: Value) -> bool:
    """Whether a value is a number of Python; a float counts with the exact value that it has."""
    return isinstance(value, int | Fraction | float)


def by_python(function: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    """An operation in which a float takes part: Python's own, which rounds."""
    if not (real(left) and real(right)):
        unknown(f"{type(left).__name__} and {type(right).__name__} are combined, one of them a float")
    try:
        found = function(left, right)
    except ZeroDivisionError:
        fails("division by zero")
    except OverflowError:
        fails("a number that is too large")
    if type(found) is not float or found - found != 0:
        unknown("what is computed with floats is no finite float")
    return found


def exact_float(value: Value) -> Value:
    """A float as the number that it is; any other value as it is."""
    if infinite(value):
        unknown("what is computed with infinity")
    return Fraction(value) if isinstance(value, float) else value


def infinite(value: Value) -> int:
    """1 for infinity, -1 for what is below all numbers, 0 for any other value."""
    return 0 if not isinstance(value, float) or not isinf(value) else 1 if value > 0 else -1


def whole(value: Value, what: str) -> int:
    """A whole number (a truth value is one, as in Python)."""
    if isinstance(value, Tail | Form):
        unknown(f"noise that is not drawn is {what}")
    if not isinstance(value, int):
        fails(f"{type(value).__name__} is no whole number, as {what}")
    return int(value)


def elements(value: Value) -> Sequence[Value]:
    """The elements of a list, tuple, text or range, all of them read."""
    if isinstance(value, Cells):
        if any(item is UNREAD for item in value.items):
            raise Want
        return value.items
    if isinstance(value, Labelled) and not value.sequence:
        fails("an object is walked over")
    if isinstance(value, tuple | str):
        return value
    if isinstance(value, range):
        short(len(value))
        return value
    if isinstance(value, Table):
        return [row[0] for row in value.rows]
    if isinstance(value, Tail | Form) or number(value) or value is None:
        fails("what is no list is walked over")
    unknown(f"{type(value).__name__} is walked over")


def short(length: int) -> None:
    """Refuse what is too long to be made."""
    if length > _LONGEST:
        unknown(f"a list or text of more than {_LONGEST} elements")


def small(value: Value) -> Value:
    """A number, refused where it has too many digits."""
    parts = (value.numerator, value.denominator) if number(value) else ()
    if any(part.bit_length() > LARGEST_BITS for part in parts):
        unknown("a number with too many digits")
    return value


def truth(value: Value) -> bool:
    """Whether a value counts as true."""
    if isinstance(value, Cells):
        return bool(value.items)
    if isinstance(value, Table):
        return bool(value.rows)
    if isinstance(value, Tail):
        return not equal(value, 0)
    if isinstance(value, Form):
        unknown("noise is used as a truth value")
    return bool(value)


def _sign(left: Value, right: Value) -> int:
    """The sign of left - right, one of which is a tail; asks for more of it where that is open."""
    if isinstance(left, Tail) and isinstance(right, Tail):
        if left.identity == right.identity and left.sign == right.sign:
            return (left.offset > right.offset) - (left.offset < right.offset)
        unknown("two unbounded noisy numbers are compared")
    if isinstance(right, Tail):
        return -_sign(right, left)
    if not number(right):
        fails("a number and something else have no order")
    bound = (right - left.offset) * left.sign
    if bound < 0:
        return int(left.sign)
    further = int(bound // 1) + 1
    if further > _WIDEST_SPLIT:
        unknown("an unbounded noisy number is compared with one that is too far away")
    raise Split(left.identity, further)


def equal(left: Value, right: Value) -> bool:
    """``left == right``."""
    if isinstance(left, Sealed) or isinstance(right, Sealed):
        return left.equals(right) if isinstance(left, Sealed) else right.equals(left)
    if infinite(left) or infinite(right):
        return infinite(left) == infinite(right)
    if isinstance(left, Form) or isinstance(right, Form):
        if real(left) or real(right) or (isinstance(left, Form) and isinstance(right, Form)):
            found = is_zero(Form.of(exact_float(left)) - Form.of(exact_float(right)))
            return unknown("noise is tested for equality") if found is None else found
        return False
    if isinstance(left, Tail) or isinstance(right, Tail):
        if not all(isinstance(side, Tail) or number(side) for side in (left, right)):
            return False
        return _sign(left, right) == 0
    if isinstance(left, Cells) or isinstance(right, Cells):
        if not (isinstance(left, Cells) and isinstance(right, Cells)):
            return False
        return _same_elements(left.items, right.items)
    if isinstance(left, Table) or isinstance(right, Table):
        unknown("two tables are compared")
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _same_elements(left, right)
    if isinstance(left, range) or isinstance(right, range):
        unknown("a range is compared")
    return bool(left == right)


def text_of(value: Value, how: str) -> str:
    """A value in a text, with a conversion and a format: ``!r``, ``:>3``."""
    conversion, _, specification = how.partition(":")
    known = _native(value)
    if any(len(digits) > 3 for digits in "".join(c if c.isdigit() else " " for c in specification).split()):
        unknown("a text that is too long")
    if conversion:
        known = repr(known) if conversion == "!r" else str(known) if conversion == "!s" else ascii(known)
    try:
        return format(known, specification)
    except (TypeError, ValueError):
        fails("a format of another kind of value")


def _native(value: Value) -> object:
    """A value as Python's own."""
    if isinstance(value, Cells):
        return [_native(item) for item in elements(value)]
    if type(value) is tuple:
        return tuple(_native(item) for item in value)
    if type(value) in (bool, int, str, float, Fraction, type(None)):
        return value
    unknown(f"{type(value).__name__} becomes a text")


def with_entry(held: Value, known: Value, value: Value) -> Table:
    """A table with one more entry, or another value for a key that it has."""
    hashable(known)
    rows = list(held.rows)
    for place, (other, _) in enumerate(rows):
        if equal(other, known):
            rows[place] = (other, value)
            return Table(tuple(rows))
    return Table((*rows, (known, value)))


def _same_elements(left: Sequence[Value], right: Sequence[Value]) -> bool:
    if len(left) != len(right):
        return False
    for x, y in zip(left, right, strict=True):
        if x is UNREAD or y is UNREAD:
            raise Want
        if not equal(x, y):
            return False
    return True


def less(left: Value, right: Value) -> bool:
    """``left < right``."""
    if (infinite(left) or infinite(right)) and all(
        real(side) or isinstance(side, Form | Tail) for side in (left, right)
    ):
        return infinite(left) < infinite(right)
    if isinstance(left, Form) or isinstance(right, Form):
        return above_zero(Form.of(exact_float(right)) - Form.of(exact_float(left)), strict=True)
    if isinstance(left, Tail) or isinstance(right, Tail):
        return _sign(left, right) < 0
    for kind in (Cells, tuple):
        if isinstance(left, kind) and isinstance(right, kind):
            first, second = (side.items if isinstance(side, Cells) else side for side in (left, right))
            for x, y in zip(first, second, strict=False):
                if x is UNREAD or y is UNREAD:
                    raise Want
                if not equal(x, y):
                    return less(x, y)
            return len(first) < len(second)
    if (real(left) and real(right)) or (isinstance(left, str) and isinstance(right, str)):
        return bool(left < right)
    fails(f"{type(left).__name__} and {type(right).__name__} have no order")


def at_most(left: Value, right: Value) -> bool:
    """``left <= right``; of lists, what Python's lists say."""
    noise = isinstance(left, Form) or isinstance(right, Form)
    if noise and not infinite(left) and not infinite(right):
        return above_zero(Form.of(exact_float(right)) - Form.of(exact_float(left)), strict=False)
    return not less(right, left)


def same(left: Value, right: Value) -> bool:
    """``left is right``, where the right side is None, True or False."""
    if isinstance(right, Member):
        return bool(left == right)
    if type(right) not in _SINGLE:
        unknown("`is` with something else than None, True or False")
    return left is right


def contains(item: Value, sequence: Value) -> bool:
    """``item in sequence``."""
    if isinstance(sequence, str):
        if not isinstance(item, str):
            fails("something else than a text is looked for in a text")
        return item in sequence
    if isinstance(sequence, range) and isinstance(item, int):
        return item in sequence
    if isinstance(sequence, Table):
        hashable(item)
    return any(equal(other, item) for other in elements(sequence))


def hashable(value: Value) -> None:
    """Fail where a value cannot be a key."""
    if any(isinstance(each, Cells | Table) for each in within(value)):
        fails("a list is no key")


COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "Eq": equal,
    "NotEq": lambda a, b: not equal(a, b),
    "Lt": less,
    "LtE": at_most,
    "Gt": lambda a, b: less(b, a),
    "GtE": lambda a, b: at_most(b, a),
    "In": contains,
    "NotIn": lambda a, b: not contains(a, b),
    "Is": same,
    "IsNot": lambda a, b: not same(a, b),
}


def element(sequence: Value, index: Value) -> Value:
    """``sequence[index]``."""
    if isinstance(sequence, Table):
        hashable(index)
        for known, value in sequence.rows:
            if equal(known, index):
                return value
        fails("a key that is not in the table")
    if isinstance(sequence, OpenList):
        return sequence.element(index)
    if not isinstance(sequence, Cells | tuple | str) or (isinstance(sequence, Labelled) and not sequence.sequence):
        fails(f"{type(sequence).__name__} has no elements")
    items = sequence.items if isinstance(sequence, Cells) else sequence
    position = _position(index, len(items))
    if items[position] is UNREAD:
        raise Want
    return items[position]


def _position(index: Value, length: int) -> int:
    position = whole(index, "an index")
    if not -length <= position < length:
        fails(f"the index {position} is outside of a list of {length}")
    return position


def part(sequence: Value, start: Value, stop: Value) -> Value:
    """``sequence[start:stop]``."""
    if not isinstance(sequence, Cells | tuple | str):
        fails(f"{type(sequence).__name__} has no elements")
    first, last = (None if bound is None else whole(bound, "an index") for bound in (start, stop))
    if not isinstance(sequence, Cells):
        return sequence[first:last]
    found = sequence.items[first:last]
    if any(item is UNREAD for item in found):
        raise Want
    return Cells(found)


def _changeable(value: Value) -> Cells:
    if isinstance(value, Table):
        unknown("a table is changed")
    if not isinstance(value, Cells):
        fails(f"{type(value).__name__} is no list")
    if value.fixed:
        unknown("a list is changed that comes from outside, or was shown")
    return value


def put(sequence: Value, index: Value, value: Value) -> None:
    """``sequence[index] = value``."""
    cells = _changeable(sequence)
    cells.items[_position(index, len(cells.items))] = value


def appended(sequence: Value, value: Value) -> None:
    """``sequence.append(value)``."""
    if isinstance(sequence, Gathered):
        sequence.append(value)
        return
    cells = _changeable(sequence)
    short(len(cells.items) + 1)
    cells.items.append(value)


def in_place(sign: str, left: Value, right: Value, operators: Mapping[str, Callable[[Value, Value], Value]]) -> Value:
    """``left += right`` and the like: a list is changed where it stands."""
    if isinstance(left, Cells) and sign == "Add":
        more = list(elements(right))
        cells = _changeable(left)
        short(len(cells.items) + len(more))
        cells.items.extend(more)
        return cells
    if isinstance(left, Cells) and sign == "Mult":
        count = max(0, whole(right, "how often a list is repeated"))
        cells = _changeable(left)
        short(len(cells.items) * count)
        cells.items[:] = cells.items * count
        return cells
    return operators[sign](left, right)


def unpacked(value: Value, count: int) -> list[Value]:
    """The values for so many names."""
    found = elements(value)
    if len(found) != count:
        fails(f"{count} names for {len(found)} values")
    return list(found)


def table(entries: Sequence[Value]) -> Table:
    """A dict as it is written: of equal keys the first key stays, with the last value."""
    rows: list[tuple[Value, Value]] = []
    for known, value in zip(entries[::2], entries[1::2], strict=True):
        hashable(known)
        same_key = [i for i, (other, _) in enumerate(rows) if equal(known, other)]
        if same_key:
            rows[same_key[0]] = (rows[same_key[0]][0], value)
        else:
            short(len(rows) + 1)
            rows.append((known, value))
    return Table(tuple(rows))
