"""What the operations of the language make of values: Python's rules, exactly, and refusals where they cannot be followed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privproof.exact.polynomials import Polynomial
from privproof.language.indices import (
    Early,
    Index,
    Length,
    OpenList,
    Stuck,
    Turn,
    Wanting,
    WantingLength,
    Written,
    first_turn,
    next_turn,
)
from privproof.language.more_operations import MORE, TWO_NAMES, accumulate, unordered_elements
from privproof.language.row import Row
from privproof.language.values import (
    FORGOTTEN,
    UNREAD,
    Answers,
    Bag,
    Cells,
    Lookup,
    Member,
    Tail,
    contains,
    equal,
    hashable,
    items,
    less,
    mark_shared,
    minus,
    negate,
    plain,
    plus,
    tails,
    truth,
)

_LONGEST = 10_000
"""The elements of a list, or characters of a text, that a mechanism may make; beyond, its evaluation is `Stuck`."""
_LARGEST_BITS = 13_000
"""The bits of a whole number that a mechanism may compute, about 3900 digits; beyond, its evaluation is `Stuck`."""


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, Cells) or isinstance(right, Cells):
        if not (isinstance(left, Cells) and isinstance(right, Cells)):
            raise TypeError("a list and something else are added")
        short(len(left.items) + len(right.items))
        return Cells(tuple(map(mark_shared, left.items + right.items)))
    if isinstance(left, tuple | str) and isinstance(right, tuple | str):
        short(len(left) + len(right))
    if isinstance(left, Tail) or isinstance(right, Tail):
        return plus(left, right)
    return left + right


def _extend(left: Any, right: Any) -> Any:
    if isinstance(left, Cells):
        if left.shared:
            raise Stuck(TWO_NAMES)
        more = items(right)
        short(len(left.items) + len(more))
        return Cells(tuple(map(mark_shared, left.items + more)))
    return _add(left, right)


def _repeat(left: Any, right: Any) -> Any:
    if isinstance(left, Cells) and left.shared:
        raise Stuck(TWO_NAMES)
    return _times(left, right)


def _times(left: Any, right: Any) -> Any:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Cells) and isinstance(other, int):
            short(len(one.items) * other)
            return Cells(tuple(map(mark_shared, one.items * other)))
        if isinstance(one, Tail):
            if not isinstance(other, int):
                raise Stuck("an unbounded noisy number is multiplied")
            if other == 1:
                return one
            if other == -1:
                return negate(one)
            if other == 0:
                return 0
            raise Stuck("an unbounded noisy number is multiplied")
        if isinstance(one, tuple | str) and isinstance(other, int):
            short(len(one) * other)
    return _small(left * right)


def short(length: int) -> None:
    """Refuse a list or text that is too long."""
    if length > _LONGEST:
        raise Stuck(f"a list of more than {_LONGEST} elements; keep it short")


def _small(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        raise Stuck("a number of more than 3900 digits; keep it small")
    return value


def _divide(left: Any, right: Any) -> Any:
    if isinstance(left, Fraction | Polynomial) or isinstance(right, Fraction):
        return left / right
    raise Stuck("the quotient of two whole numbers is a float in Python; Fraction(a, b) for the exact one, or a // b")


def _power(left: Any, right: Any) -> Any:
    if not isinstance(right, int) or abs(right) > 10_000:
        raise Stuck(f"the exponent {plain(right)!r} is not a whole number within 10000")
    if isinstance(left, int) and left.bit_length() * abs(right) > _LARGEST_BITS:
        raise Stuck("a number of more than 3900 digits; keep it small")
    if right < 0 and not isinstance(left, Fraction):
        raise Stuck("a negative power of a whole number is a float in Python; write Fraction(1, a) ** b")
    return left**right


def _drawn(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of two numbers that cannot work with tails."""

    def applied(left: Any, right: Any) -> Any:
        if isinstance(left, Tail) or isinstance(right, Tail):
            raise Stuck("an unbounded noisy number is divided")
        return function(left, right)

    return applied


def _extreme(arguments: tuple[Any, ...], *, largest: bool) -> Any:
    values = unordered_elements(arguments[0]) if len(arguments) == 1 else arguments
    if not values:
        raise ValueError(f"{'max' if largest else 'min'} of nothing")
    best = values[0]
    for value in values[1:]:
        if less(best, value) if largest else less(value, best):
            best = value
    return best


class _Ordered:
    """A value in Python's own sorting, so that the same pairs are compared, and the same of them fail."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Ordered) -> bool:
        return less(self.value, other.value)


def _sorted(sequence: Any) -> Cells:
    return Cells(tuple(sorted(unordered_elements(sequence), key=_Ordered)))


def _sum(sequence: Any, start: Any = 0) -> Any:
    if isinstance(start, str):
        raise TypeError("sum() can't sum texts")
    for value in unordered_elements(sequence):
        start = _add(start, value)
    return start


def _absolute(value: Any) -> Any:
    if isinstance(value, Tail):
        return negate(value) if less(value, 0) else value
    return abs(value)


def _integer(value: Any) -> Any:
    if isinstance(value, Tail | Index):
        return value
    return int(value)


def _fraction(*arguments: Any) -> Fraction:
    if any(isinstance(argument, Tail) for argument in arguments):
        raise Stuck("an unbounded noisy number becomes a fraction")
    return Fraction(*arguments)


def _unpack(value: Any, count: int) -> tuple[Any, ...]:
    found = items(value)
    if len(found) != count:
        raise ValueError(f"{count} names for {len(found)} values")
    return found


def _length(value: Any) -> Any:
    if isinstance(value, OpenList):
        return value.size
    if isinstance(value, Lookup):
        return len(value.rows)
    if isinstance(value, Bag):
        return len(value.items)
    return len(value) if isinstance(value, Answers) else len(items(value))


def _turns(value: Any) -> Any:
    """How many turns a loop over a value takes."""
    if isinstance(value, OpenList):
        return value.size
    return len(value) if isinstance(value, Answers) else len(items(value))


def _whole_number(value: Any) -> Any:
    if isinstance(value, Index):
        return value
    if not isinstance(value, int):
        raise TypeError(f"{plain(value)!r} is not a whole number")
    return int(value)


def _stride(value: Any) -> Any:
    """A step of a range."""
    step = _whole_number(value)
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return step


def _positive(value: Any) -> Any:
    return value if isinstance(value, Tail) else +value


def _capped_sum(counter: Any, more: Any, bound: int) -> int:
    """A counter after an addition, as far as it is counted."""
    if not isinstance(counter, int) or not isinstance(more, int) or more < 0:
        raise Stuck("what is added to a counter is no whole number of at least 0")
    return min(counter + more, bound)


def _tuple(value: Any) -> Any:
    if isinstance(value, Written):
        return replace(value, fixed=True)
    return tuple(map(mark_shared, items(value)))


def _count(sequence: Any, value: Any) -> int:
    if isinstance(sequence, str):
        return sequence.count(value)
    return sum(equal(item, value) for item in items(sequence))


def _copy(value: Any) -> Cells:
    if not isinstance(value, Cells):
        raise TypeError(f"{plain(value)!r} is no list and has no copy()")
    return Cells(value.items)


def _slice(sequence: Any, start: Any, stop: Any, step: Any = None) -> Any:
    if any(isinstance(bound, Tail) for bound in (start, stop, step)):
        raise Stuck("an unbounded noisy number is an index")
    wanted = slice(start, stop, step)
    if isinstance(sequence, Answers):
        answers = tuple(sequence)[wanted]
        if UNREAD in answers:
            raise Wanting
        return Cells(answers)
    if isinstance(sequence, str):
        return sequence[wanted]
    part = items(sequence)[wanted]
    return Cells(part) if isinstance(sequence, Cells) else part


def _index(sequence: Any, value: Any) -> int:
    if isinstance(sequence, str):
        return sequence.index(value)
    for position, item in enumerate(items(sequence)):
        if equal(item, value):
            return position
    raise ValueError(f"{plain(value)!r} is not in the list")


def _table(*entries: Any) -> Lookup:
    rows: list[tuple[Any, Any]] = []
    for known, value in zip(entries[::2], entries[1::2], strict=True):
        hashable(known)
        if any(True for _ in tails(known)):
            raise Stuck("an unbounded noisy number is a key of a table; a tuple holds one")
        same = [i for i, (other, _) in enumerate(rows) if equal(known, other)]
        if same:
            rows[same[0]] = (rows[same[0]][0], mark_shared(value))
        else:
            rows.append((mark_shared(known), mark_shared(value)))
    return Lookup(tuple(rows))


def _alike(sequence: Any) -> Any:
    """A sequence of whole numbers or one of texts, which an array holds as they are."""
    kinds = {type(item) for item in items(sequence)}
    if kinds not in ({int}, {str}):
        raise Stuck("an array of values of several kinds, which it changes; values of one kind")
    return sequence


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise Stuck("a text is formatted; return the parts: (a, b)")
    return left % right


def _range(*numbers: int) -> tuple[int, ...]:
    short(len(range(*numbers)))
    return tuple(range(*numbers))


def _bits(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operator on the binary digits of whole numbers."""

    def applied(*numbers: Any) -> Any:
        if not all(isinstance(number, int) for number in numbers):
            if any(isinstance(number, Tail) for number in numbers):
                raise Stuck("the binary digits of an unbounded noisy number are asked for")
            raise TypeError(f"{plain(numbers[0])!r} has no binary digits")
        if function is operator.lshift and numbers[1] > _LARGEST_BITS:
            raise Stuck("a number of more than 3900 digits; keep it small")
        return _small(function(*numbers))

    return applied


def _same(left: Any, right: Any) -> bool:
    return left == right if isinstance(left, Member) and isinstance(right, Member) else left is right


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": _add,
    "extend": _extend,
    "-": lambda a, b: minus(a, b) if isinstance(a, Tail) or isinstance(b, Tail) else a - b,
    "*": _times,
    "repeat": _repeat,
    "pos": _positive,
    "whole": _whole_number,
    "stride": _stride,
    "turns": _turns,
    "copy": _copy,
    "/": _drawn(_divide),
    "//": _drawn(operator.floordiv),
    "%": _drawn(_modulo),
    "**": _drawn(_power),
    "&": _bits(operator.and_),
    "|": _bits(operator.or_),
    "^": _bits(operator.xor),
    "<<": _bits(operator.lshift),
    ">>": _bits(operator.rshift),
    "~": _bits(operator.invert),
    "neg": negate,
    "not": lambda a: not truth(a),
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": lambda a, b: not less(b, a),
    ">=": lambda a, b: not less(a, b),
    "is": _same,
    "is not": lambda a, b: not _same(a, b),
    "in": contains,
    "not in": lambda a, b: not contains(a, b),
    "abs": _absolute,
    "all": lambda a: all(truth(x) for x in items(a)),
    "any": lambda a: any(truth(x) for x in items(a)),
    "bool": truth,
    "int": _integer,
    "len": _length,
    "list": lambda *a: Cells(tuple(map(mark_shared, items(a[0])))) if a else Cells(()),
    "tuple": lambda *a: _tuple(a[0]) if a else (),
    "max": lambda *a: _extreme(a, largest=True),
    "min": lambda *a: _extreme(a, largest=False),
    "max or": lambda a, default: _extreme((a,), largest=True) if items(a) else default,
    "min or": lambda a, default: _extreme((a,), largest=False) if items(a) else default,
    "sorted": _sorted,
    "sorted down": lambda a: Cells(tuple(sorted(unordered_elements(a), key=_Ordered, reverse=True))),
    "sum": _sum,
    "count": _count,
    "index": _index,
    "Fraction": _fraction,
    "range": lambda *a: _range(*a),
    "tuple of": lambda *a: tuple(map(mark_shared, a)),
    "list of": lambda *a: Cells(tuple(map(mark_shared, a))),
    "fixed list of": lambda *a: Cells(tuple(map(mark_shared, a)), shared=True),
    "table of": _table,
    "unpack": _unpack,
    "alike": _alike,
    "slice": _slice,
    "first turn": first_turn,
    "capped sum": _capped_sum,
    "next turn": next_turn,
    "accumulate": lambda a: accumulate(a, _add),
    **MORE,
}


def element_at(sequence: Any, index: Any) -> Any:
    """``sequence[index]``."""
    if isinstance(sequence, Lookup):
        hashable(index)
        return sequence[index]
    if isinstance(sequence, Row):
        return sequence[index]
    if isinstance(index, Tail):
        raise Stuck("an unbounded noisy number is an index")
    if isinstance(sequence, OpenList):
        return _open_element(sequence, index)
    if isinstance(sequence, Answers):
        if isinstance(index, int) and not -len(sequence) <= index < len(sequence):
            raise IndexError(f"the index {index} is outside a list of {len(sequence)}")
        value = tuple(sequence)[index]
        if value is UNREAD:
            raise Wanting
        if value is FORGOTTEN:
            raise AssertionError("an answer was forgotten too early")
        return value
    found = items(sequence)
    if isinstance(index, int) and not -len(found) <= index < len(found):
        raise IndexError(f"the index {index} is outside a list of {len(found)}")
    return found[index]


def _ahead(sequence: OpenList, index: int) -> Any:
    """One of the first elements, before a loop reads them."""
    if index < len(sequence.ahead):
        return sequence.ahead[index][0]
    if sequence.ended:
        raise IndexError(f"the index {index} is outside a list of {len(sequence.ahead)}")
    if index > sequence.beyond:
        raise Early(index)
    raise WantingLength


def _open_element(sequence: OpenList, index: Any) -> Any:
    """The element of a list of open length that this turn reads."""
    if isinstance(index, Turn) and index.plus == 0:
        if index.offset == 0:
            raise Wanting
        return sequence.element[0]
    if isinstance(index, Length) and index.plus >= 0:
        raise IndexError("the index is beyond the end of the list")
    if type(index) is int and index >= 0 and not sequence.begun:
        return _ahead(sequence, index)
    raise Stuck("an element is read that is not the one of this turn; for lists of one length: --size 3")
