"""Built-in functions and methods on values: Python's rules, and a refusal where they cannot be followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import inf

from privproof_checker.source.arithmetic import add, floor_divide, modulo, negated, not_zero, power
from privproof_checker.source.forms import Form
from privproof_checker.source.operations import (
    elements,
    equal,
    fails,
    hashable,
    less,
    number,
    real,
    text_of,
    truth,
    unknown,
    whole,
)
from privproof_checker.source.values import UNREAD, Cells, Length, OpenList, Table, Tail, Value, Want


def _view(value: Value, part: str) -> Cells:
    if not isinstance(value, Table):
        fails(f"{type(value).__name__} is no table")
    if part == "items":
        return Cells([(known, item) for known, item in value.rows])
    return Cells([known if part == "keys" else item for known, item in value.rows])


def _get(held: Value, known: Value, *default: Value) -> Value:
    if not isinstance(held, Table):
        fails(f"{type(held).__name__} is no table")
    hashable(known)
    for other, item in held.rows:
        if equal(other, known):
            return item
    return default[0] if default else None


def _joined(between: Value, parts: Value) -> str:
    if not isinstance(between, str) or not all(isinstance(part, str) for part in elements(parts)):
        fails("something else than texts is joined")
    return between.join(elements(parts))


def _rounded(value: Value, digits: Value = None) -> Value:
    if isinstance(value, Tail):
        return value
    if not real(value) or not (digits is None or isinstance(digits, int)):
        unknown("what is rounded is no number, or noise")
    return round(value) if digits is None else round(value, digits)


_INFINITIES = {"inf": inf, "infinity": inf, "+inf": inf, "-inf": -inf, "-infinity": -inf}


def _floating(value: Value = 0.0) -> float:
    if isinstance(value, str) and value.lower() in _INFINITIES:
        return _INFINITIES[value.lower()]
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


def _sorted(sequence: Value, *, down: bool = False) -> Cells:
    """Sorted in a stable way, as Python does; among values with one order the result does not depend on the method."""
    items = elements(sequence)
    return Cells([items[place] for place in _order(items, down=down)])


def _order(items: Sequence[Value], *, down: bool) -> list[int]:
    """The indices of values in their order; of equal values the first comes first, also where the order goes down."""
    result: list[int] = []
    for place, value in enumerate(items):
        position = len(result)
        while position and (
            less(items[result[position - 1]], value) if down else less(value, items[result[position - 1]])
        ):
            position -= 1
        result.insert(position, place)
    return result


def _sorted_indices(sequence: Value, count: Value, *, down: bool) -> Cells:
    """``sorted(range(count), key=lambda i: sequence[i])``."""
    items, length = elements(sequence), whole(count, "a bound of a range")
    if length > len(items):
        fails("an index outside of a list")
    return Cells(list(_order(items[: max(length, 0)], down=down)))


def _extreme_index(sequence: Value, count: Value = None, *, largest: bool) -> int:
    """``max(range(count), key=lambda i: sequence[i])``, or the index of the first of the largest of all."""
    items = elements(sequence)
    order = _sorted_indices(sequence, len(items) if count is None else count, down=largest).items
    if not order:
        fails("the extreme of nothing")
    return int(order[0])


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


def _length(value: Value) -> Value:
    if isinstance(value, OpenList):
        return Length(value)
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
    not_zero(below)
    return Fraction(above) / Fraction(below)


def _written(text: str) -> Fraction:
    _, _, exponent = text.lower().partition("e")
    if len(text) > 1000 or len(exponent) > 4:
        unknown("a number with too many digits, as a text")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        fails(f"{text[:40]!r} is no number")


def _range(*numbers: Value) -> Value:
    if len(numbers) == 1 and isinstance(numbers[0], Length):
        return Length(numbers[0].of, indices=True)
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
    "sorted down": (lambda sequence: _sorted(sequence, down=True), 1, 1),
    "sorted indices": (lambda sequence, count: _sorted_indices(sequence, count, down=False), 2, 2),
    "sorted indices down": (lambda sequence, count: _sorted_indices(sequence, count, down=True), 2, 2),
    "index of max": (lambda sequence, count=None: _extreme_index(sequence, count, largest=True), 1, 2),
    "index of min": (lambda sequence, count=None: _extreme_index(sequence, count, largest=False), 1, 2),
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
    "pow": (lambda base, exponent: power(base, exponent), 2, 2),
    "divmod": (lambda a, b: (floor_divide(a, b), modulo(a, b)), 2, 2),
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
