"""What operators, built-in functions and methods do to values: Python's rules, and a refusal where they cannot be followed.

Everything here works on values alone and changes nothing, but for `extended`, `repeated`, `put` and `appended`, which
change a list.  Each of these looks at all it needs before it changes anything, so that a run that has to wait can try
again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from privproof.evidence.checker.outcomes import Refusal
from privproof.evidence.checker.source.forms import Form, above_zero, is_zero
from privproof.evidence.checker.source.values import (
    UNREAD,
    Beyond,
    Cells,
    Labelled,
    Member,
    Split,
    Table,
    Tail,
    Value,
    Want,
)

_LONGEST = 20_000
"""The elements of a list, or characters of a text, that a run may make; beyond, nothing is established about the source."""
_LARGEST_BITS = 20_000
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
    return Fraction(value) if isinstance(value, float) else value


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
        _short(len(value))
        return value
    if isinstance(value, Table):
        return [row[0] for row in value.rows]
    if isinstance(value, Tail | Form) or number(value) or value is None:
        fails("what is no list is walked over")
    unknown(f"{type(value).__name__} is walked over")


def _short(length: int) -> None:
    if length > _LONGEST:
        unknown(f"a list or text of more than {_LONGEST} elements")


def _small(value: Value) -> Value:
    parts = (value.numerator, value.denominator) if number(value) else ()
    if any(part.bit_length() > _LARGEST_BITS for part in parts):
        unknown("a number with too many digits")
    return value


# ------------------------------------------------------------------------------------------------------------- comparing


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


# --------------------------------------------------------------------------------------------------------- texts and tables


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
    _hashable(known)
    rows = list(held.rows)
    for place, (other, _) in enumerate(rows):
        if equal(other, known):
            rows[place] = (other, value)
            return Table(tuple(rows))
    return Table((*rows, (known, value)))


def _view(value: Value, part: str) -> Cells:
    if not isinstance(value, Table):
        fails(f"{type(value).__name__} is no table")
    if part == "items":
        return Cells([(known, item) for known, item in value.rows])
    return Cells([known if part == "keys" else item for known, item in value.rows])


def _get(held: Value, known: Value, *default: Value) -> Value:
    if not isinstance(held, Table):
        fails(f"{type(held).__name__} is no table")
    _hashable(known)
    for other, item in held.rows:
        if equal(other, known):
            return item
    return default[0] if default else None


def _joined(between: Value, parts: Value) -> str:
    if not isinstance(between, str) or not all(isinstance(part, str) for part in elements(parts)):
        fails("something else than texts is joined")
    return between.join(elements(parts))


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
    if isinstance(left, Form) or isinstance(right, Form):
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
        _hashable(item)
    return any(equal(other, item) for other in elements(sequence))


def _hashable(value: Value) -> None:
    if isinstance(value, Cells | Table):
        fails("a list is no key")
    if isinstance(value, tuple):
        for item in value:
            _hashable(item)


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


# ------------------------------------------------------------------------------------------------------------ arithmetic


def _numbers(left: Value, right: Value) -> None:
    for side in (left, right):
        if isinstance(side, Tail):
            unknown("an unbounded noisy number takes part in this operation")
        if isinstance(side, Form):
            unknown("noise takes part in an operation that is not linear")
        if not number(side):
            fails(f"{type(side).__name__} is no number")


def add(left: Value, right: Value) -> Value:
    """``left + right``."""
    if isinstance(left, Form) or isinstance(right, Form):
        return Form.of(exact_float(left)) + Form.of(exact_float(right))
    if isinstance(left, float) or isinstance(right, float):
        return by_python(operator.add, left, right)
    if isinstance(left, Tail) or isinstance(right, Tail):
        return _shifted(left, right)
    if isinstance(left, Cells) and isinstance(right, Cells):
        _short(len(left.items) + len(right.items))
        return Cells([*elements(left), *elements(right)])
    if (isinstance(left, str) and isinstance(right, str)) or (isinstance(left, tuple) and isinstance(right, tuple)):
        _short(len(left) + len(right))
        joined: Value = left
        return joined + right
    _numbers(left, right)
    return _small(left + right)


def _shifted(left: Value, right: Value) -> Value:
    if isinstance(left, Tail) and isinstance(right, Tail):
        if left.identity == right.identity and left.sign == -right.sign:
            return left.offset + right.offset
        unknown("two unbounded noisy numbers are added")
    tail, other = (left, right) if isinstance(left, Tail) else (right, left)
    if isinstance(other, Fraction):
        unknown("a fraction is added to an unbounded noisy number")
    return replace(tail, offset=tail.offset + whole(other, "a summand"))


def negated(value: Value) -> Value:
    """``-value``."""
    if isinstance(value, Form):
        return value.times(Fraction(-1))
    if isinstance(value, Tail):
        return replace(value, offset=-value.offset, sign=-value.sign)
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return -value


def subtract(left: Value, right: Value) -> Value:
    """``left - right``."""
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.sub, left, right)
    left, right = exact_float(left), exact_float(right)
    if isinstance(left, Form | Tail) or isinstance(right, Form | Tail):
        return add(left, negated(right))
    _numbers(left, right)
    return _small(left - right)


def multiply(left: Value, right: Value) -> Value:
    """``left * right``."""
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.mul, left, right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Cells | tuple | str):
            count = max(0, whole(other, "how often a list is repeated"))
            _short(len(one.items if isinstance(one, Cells) else one) * count)
            return Cells(list(elements(one)) * count) if isinstance(one, Cells) else one * count
        if isinstance(one, Form):
            if not real(other):
                unknown("noise is multiplied by something else than a number")
            return one.times(Fraction(other))
        if isinstance(one, Tail):
            if isinstance(other, int) and other in (0, 1, -1):
                return 0 if other == 0 else one if other == 1 else negated(one)
            unknown("an unbounded noisy number is multiplied")
    _numbers(left, right)
    return _small(left * right)


def divide(left: Value, right: Value) -> Value:
    """``left / right``; of whole numbers it is a float."""
    if isinstance(left, Form):
        if not real(right):
            unknown("noise is divided by something else than a number")
        _not_zero(right)
        return left.times(1 / Fraction(right))
    if isinstance(left, float) or isinstance(right, float):
        return by_python(operator.truediv, left, right)
    _numbers(left, right)
    if not (isinstance(left, Fraction) or isinstance(right, Fraction)):
        return by_python(operator.truediv, left, right)
    _not_zero(right)
    return _small(left / right)


def exact_divide(left: Value, right: Value) -> Value:
    """``left / right`` in programs with continuous noise: the exact quotient."""
    if number(left) and number(right):
        _not_zero(right)
        return _small(Fraction(left) / Fraction(right))
    return divide(left, right)


def _not_zero(value: Value) -> None:
    if value == 0:
        fails("division by zero")


def _floor_divide(left: Value, right: Value) -> Value:
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.floordiv, left, right)
    _numbers(left, right)
    _not_zero(right)
    return left // right


def _modulo(left: Value, right: Value) -> Value:
    if isinstance(left, str):
        unknown("a text is formatted")
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.mod, left, right)
    _numbers(left, right)
    _not_zero(right)
    return left % right


def _power(left: Value, right: Value) -> Value:
    if (isinstance(left, float) or isinstance(right, float)) and real(left) and real(right):
        return by_python(operator.pow, left, right)
    _numbers(left, right)
    if not isinstance(right, int) or abs(right) > _LARGEST_BITS:
        unknown("an exponent that is no whole number, or too large")
    if right < 0 and not isinstance(left, Fraction):
        unknown("a negative power of a whole number is a float")
    size = max(left.numerator.bit_length(), left.denominator.bit_length())
    if size * abs(right) > _LARGEST_BITS:
        unknown("a number with too many digits")
    if left == 0 and right < 0:
        fails("division by zero")
    return left**right


def _on_bits(function: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """An operator on the binary digits of whole numbers."""

    def applied(left: Value, right: Value) -> Value:
        if any(isinstance(side, Tail | Form | Table) for side in (left, right)):
            unknown("the binary digits of noise, or of a table")
        if not (isinstance(left, int) and isinstance(right, int)):
            fails("the binary digits of what is no whole number")
        if function in (operator.lshift, operator.rshift) and not 0 <= right <= _LARGEST_BITS:
            unknown("a number that is moved too far")
        return _small(function(left, right))

    return applied


OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = {
    "BitAnd": _on_bits(operator.and_),
    "BitOr": _on_bits(operator.or_),
    "BitXor": _on_bits(operator.xor),
    "LShift": _on_bits(operator.lshift),
    "RShift": _on_bits(operator.rshift),
    "Add": add,
    "Sub": subtract,
    "Mult": multiply,
    "Div": divide,
    "FloorDiv": _floor_divide,
    "Mod": _modulo,
    "Pow": _power,
}


def _positive(value: Value) -> Value:
    if isinstance(value, Tail | Form):
        return value
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return +value


SIGNS: Mapping[str, Callable[[Value], Value]] = {
    "USub": negated,
    "UAdd": _positive,
    "Not": lambda value: not truth(value),
}


# ----------------------------------------------------------------------------------------------------------------- lists


def element(sequence: Value, index: Value) -> Value:
    """``sequence[index]``."""
    if isinstance(sequence, Table):
        _hashable(index)
        for known, value in sequence.rows:
            if equal(known, index):
                return value
        fails("a key that is not in the table")
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
    cells = _changeable(sequence)
    _short(len(cells.items) + 1)
    cells.items.append(value)


def in_place(sign: str, left: Value, right: Value, operators: Mapping[str, Callable[[Value, Value], Value]]) -> Value:
    """``left += right`` and the like: a list is changed where it stands."""
    if isinstance(left, Cells) and sign == "Add":
        more = list(elements(right))
        cells = _changeable(left)
        _short(len(cells.items) + len(more))
        cells.items.extend(more)
        return cells
    if isinstance(left, Cells) and sign == "Mult":
        count = max(0, whole(right, "how often a list is repeated"))
        cells = _changeable(left)
        _short(len(cells.items) * count)
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
        _hashable(known)
        same_key = [i for i, (other, _) in enumerate(rows) if equal(known, other)]
        if same_key:
            rows[same_key[0]] = (rows[same_key[0]][0], value)
        else:
            _short(len(rows) + 1)
            rows.append((known, value))
    return Table(tuple(rows))


# --------------------------------------------------------------------------------------------- built-in functions, methods


def _rounded(value: Value, digits: Value = None) -> Value:
    if isinstance(value, Tail):
        return value
    if not real(value) or not (digits is None or isinstance(digits, int)):
        unknown("what is rounded is no number, or noise")
    return round(value) if digits is None else round(value, digits)


def _floating(value: Value = 0.0) -> float:
    if not real(value):
        unknown("float() of what is no number, or of noise")
    try:
        return float(value)
    except OverflowError:
        fails("a number that is too large")


def _backwards(value: Value) -> tuple[Value, ...]:
    return tuple(reversed(elements(value)))


def _extreme(arguments: Sequence[Value], *, largest: bool, default: Sequence[Value] = ()) -> Value:
    values = elements(arguments[0]) if len(arguments) == 1 else arguments
    if not values:
        return default[0] if default else fails("the extreme of nothing")
    best = values[0]
    for value in values[1:]:
        if less(best, value) if largest else less(value, best):
            best = value
    return best


def _sorted(sequence: Value) -> Cells:
    """Sorted in a stable way, as Python does; among values with one order the result does not depend on the method."""
    result: list[Value] = []
    for value in elements(sequence):
        position = len(result)
        while position and less(value, result[position - 1]):
            position -= 1
        result.insert(position, value)
    return Cells(result)


def _sum(sequence: Value, start: Value = 0) -> Value:
    if isinstance(start, str):
        fails("sum() of texts")
    for value in elements(sequence):
        start = add(start, value)
    return start


def _absolute(value: Value) -> Value:
    if isinstance(value, Tail | Form):
        return negated(value) if less(value, 0) else value
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return abs(value)


def _integer(value: Value = 0) -> Value:
    if isinstance(value, Tail):
        return value
    if isinstance(value, str | Form):
        unknown("int() of a text, or of continuous noise")
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return int(value)


def _length(value: Value) -> int:
    if isinstance(value, Table):
        return len(value.rows)
    if isinstance(value, Cells):
        return len(value.items)
    if not isinstance(value, tuple | str | range):
        fails(f"{type(value).__name__} has no length")
    return len(value)


def _fraction(above: Value = 0, below: Value = None) -> Fraction:
    if isinstance(above, Tail | Form) or isinstance(below, Tail | Form):
        unknown("noise becomes a fraction")
    if below is None:
        if isinstance(above, str):
            return _written(above)
        if not number(above):
            fails("Fraction() of what is no number")
        return Fraction(above)
    if not (number(above) and number(below)):
        fails("Fraction() of what is no number")
    _not_zero(below)
    return Fraction(above) / Fraction(below)


def _written(text: str) -> Fraction:
    _, _, exponent = text.lower().partition("e")
    if len(text) > 1000 or len(exponent) > 4:
        unknown("a number with too many digits, as a text")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        fails(f"{text[:40]!r} is no number")


def _range(*numbers: Value) -> range:
    found = [whole(n, "a bound of a range") for n in numbers]
    if not 1 <= len(found) <= 3 or (len(found) == 3 and found[2] == 0):
        fails("no range")
    if any(n.bit_length() > 62 for n in found):
        unknown("a range with bounds that are too large")
    return range(*found)


def _all(value: Value, *, wanted: bool) -> bool:
    return all(truth(item) == wanted for item in elements(value))


KINDS: Mapping[str, type | tuple[type, ...]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "Fraction": Fraction,
}
"""The types that ``isinstance`` may ask for."""


def _is_instance(value: Value, kinds: tuple[str, ...]) -> bool:
    if type(value) not in (int, float, bool, str, Fraction, type(None)):
        unknown("what kind of value noise, or a list, is")
    return any(isinstance(value, KINDS[kind]) for kind in kinds)


FUNCTIONS: Mapping[str, tuple[Callable[..., Value], int, int]] = {
    "abs": (_absolute, 1, 1),
    "all": (lambda value: _all(value, wanted=True), 1, 1),
    "any": (lambda value: not _all(value, wanted=False), 1, 1),
    "bool": (lambda value=False: truth(value), 0, 1),
    "int": (_integer, 0, 1),
    "len": (_length, 1, 1),
    "list": (lambda value=(): Cells(list(elements(value))), 0, 1),
    "tuple": (lambda value=(): tuple(elements(value)), 0, 1),
    "max": (lambda *values: _extreme(values, largest=True), 1, 10_000),
    "min": (lambda *values: _extreme(values, largest=False), 1, 10_000),
    "max or": (lambda values, default: _extreme((values,), largest=True, default=(default,)), 2, 2),
    "min or": (lambda values, default: _extreme((values,), largest=False, default=(default,)), 2, 2),
    "sorted": (_sorted, 1, 1),
    "sum": (_sum, 1, 2),
    "range": (_range, 1, 3),
    "Fraction": (_fraction, 0, 2),
    "get": (_get, 2, 3),
    "isinstance": (_is_instance, 2, 2),
    "round": (_rounded, 1, 2),
    "float": (_floating, 0, 1),
    "reversed": (_backwards, 1, 1),
    "str": (lambda value="": text_of(value, "!s:"), 0, 1),
    "repr": (lambda value: text_of(value, "!r:"), 1, 1),
    "pow": (lambda base, exponent: _power(base, exponent), 2, 2),
    "divmod": (lambda a, b: (_floor_divide(a, b), _modulo(a, b)), 2, 2),
}
"""Built-in functions, and with how many arguments they are called."""


def _count(sequence: Value, value: Value) -> int:
    if isinstance(sequence, str):
        if not isinstance(value, str):
            fails("something else than a text is counted in a text")
        return sequence.count(value)
    if not isinstance(sequence, Cells | tuple):
        fails(f"{type(sequence).__name__} has no count()")
    return sum(equal(item, value) for item in elements(sequence))


def _index(sequence: Value, value: Value) -> int:
    if isinstance(sequence, str):
        if not isinstance(value, str) or value not in sequence:
            fails("index() of what is not there")
        return sequence.index(value)
    if not isinstance(sequence, Cells | tuple):
        fails(f"{type(sequence).__name__} has no index()")
    for position, item in enumerate(sequence.items if isinstance(sequence, Cells) else sequence):
        if item is UNREAD:
            raise Want
        if equal(item, value):
            return position
    fails("index() of what is not there")


def _copy(sequence: Value) -> Cells:
    if isinstance(sequence, Table):
        unknown("a table is copied")
    if not isinstance(sequence, Cells):
        fails(f"{type(sequence).__name__} has no copy()")
    return Cells(list(elements(sequence)))


METHODS: Mapping[str, tuple[Callable[..., Value], int]] = {
    "count": (_count, 1),
    "index": (_index, 1),
    "copy": (_copy, 0),
    "items": (lambda value: _view(value, "items"), 0),
    "keys": (lambda value: _view(value, "keys"), 0),
    "values": (lambda value: _view(value, "values"), 0),
    "join": (_joined, 1),
}
