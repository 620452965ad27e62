"""Values while a mechanism runs, and what the operations of the language make of them.

Values are Python's own (whole numbers, fractions, truth values, texts, None, tuples), and three more:

* `Cells`: a list.  Two names for one list are told apart from two lists: once a list has a second name it may not be changed.
* `Answers`: an input list of which some answers are not read yet.
* `Tail`: an unbounded noisy number of which only a bound is drawn so far.  Geometric noise is memoryless: given that it is at least b,
  the excess over b is geometric again.  So the rest is drawn only as far as the mechanism asks, and a mechanism that only
  releases, clamps or compares such a number has finitely many states, although the number has infinitely many values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from privproof.errors import LanguageError, PrivproofError
from privproof.exact.polynomials import Polynomial
from privproof.language.syntax import Conditional, Constant, Element, Expression, Operation, Place, Variable

Store: TypeAlias = dict[str, Any]
Evaluate: TypeAlias = Callable[[Store], Any]

_LONGEST = 10_000
_LARGEST_BITS = 13_000


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
class Tail:
    """``offset + sign * E``, where E = k with probability ``(1-alpha) alpha^k``, k = 0, 1, ..., is not drawn yet."""

    identity: int
    sign: int
    offset: int
    alpha: Fraction


class Wanting(Exception):
    """The evaluation asks for an answer that is not read yet."""


class Splitting(Exception):
    """The evaluation asks whether the excess of a tail is below a bound, and which it is."""

    def __init__(self, identity: int, bound: int) -> None:
        super().__init__()
        self.identity = identity
        self.bound = bound


class Stuck(Exception):
    """The evaluation is beyond what can be done with an unbounded number."""


# ----------------------------------------------------------------------------------------------------------- comparing


def less(left: Any, right: Any) -> bool:
    """``left < right``."""
    left, right = whole(left), whole(right)
    _known(left, right)
    if isinstance(left, Cells) != isinstance(right, Cells):
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
    if isinstance(left, Tail) or isinstance(right, Tail):
        if not (_number(left) and _number(right)):
            return False
        return _sign(left, right) == 0
    if isinstance(left, Cells) != isinstance(right, Cells) or isinstance(left, Lookup) != isinstance(right, Lookup):
        return False
    if isinstance(left, Lookup):
        rows = left.rows
        same = len(rows) == len(right.rows) and all(_contains(known, right) for known, _ in rows)
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
    difference = _minus(left, right)
    if not isinstance(difference, Tail):
        return int(difference > 0) - int(difference < 0)
    # offset + sign * E against zero: decided as soon as E >= offset + 1 on the other side of zero.
    if difference.sign * difference.offset > 0:
        return difference.sign
    raise Splitting(difference.identity, 1 - difference.sign * difference.offset)


def _minus(left: Any, right: Any) -> Any:
    return _plus(left, _negated(right))


def _negated(value: Any) -> Any:
    return replace(value, sign=-value.sign, offset=-value.offset) if isinstance(value, Tail) else -value


def _plus(left: Any, right: Any) -> Any:
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


# ---------------------------------------------------------------------------------------------------------- operations


def whole(value: Any) -> Any:
    """The value; of an input list all answers, as a list."""
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
    if isinstance(value, str):
        return tuple(value)
    raise TypeError(f"{plain(value)!r} is no list or tuple")


def truth(value: Any) -> bool:
    """Whether a value counts as true."""
    _known(value)
    if isinstance(value, Tail):
        return not equal(value, 0)
    if isinstance(value, Cells):
        return bool(value.items)
    if isinstance(value, Lookup):
        return bool(value.rows)
    return bool(value)


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, Cells) or isinstance(right, Cells):
        if not (isinstance(left, Cells) and isinstance(right, Cells)):
            raise TypeError("a list and something else are added")
        short(len(left.items) + len(right.items))
        return Cells(tuple(map(shared, left.items + right.items)))
    if isinstance(left, tuple | str) and isinstance(right, tuple | str):
        short(len(left) + len(right))
    if isinstance(left, Tail) or isinstance(right, Tail):
        return _plus(left, right)
    return left + right


def _extend(left: Any, right: Any) -> Any:
    if isinstance(left, Cells):
        if left.shared:
            raise Stuck(_TWO_NAMES)
        more = items(right)
        short(len(left.items) + len(more))
        return Cells(tuple(map(shared, left.items + more)))
    return _add(left, right)


def _repeat(left: Any, right: Any) -> Any:
    if isinstance(left, Cells) and left.shared:
        raise Stuck(_TWO_NAMES)
    return _times(left, right)


_TWO_NAMES = "a list that has two names is changed; give the second name a copy: ys = list(xs)"


def _times(left: Any, right: Any) -> Any:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Cells) and isinstance(other, int):
            short(len(one.items) * other)
            return Cells(tuple(map(shared, one.items * other)))
        if isinstance(one, Tail):
            if not isinstance(other, int):
                raise Stuck("an unbounded noisy number is multiplied")
            if other == 1:
                return one
            if other == -1:
                return _negated(one)
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
    values = items(arguments[0]) if len(arguments) == 1 else arguments
    if not values:
        raise ValueError(f"{'max' if largest else 'min'} of nothing")
    best = values[0]
    for value in values[1:]:
        if less(best, value) if largest else less(value, best):
            best = value
    return best


def _sorted(sequence: Any) -> Cells:
    result: list[Any] = []
    for value in items(sequence):
        position = len(result)
        while position and less(value, result[position - 1]):
            position -= 1
        result.insert(position, value)
    return Cells(tuple(result))


def _sum(sequence: Any, start: Any = 0) -> Any:
    if isinstance(start, str):
        raise TypeError("sum() can't sum texts")
    for value in items(sequence):
        start = _add(start, value)
    return start


def _contains(value: Any, sequence: Any) -> bool:
    if isinstance(sequence, str):
        return value in sequence
    if isinstance(sequence, Lookup):
        _hashable(value)
        return any(equal(value, known) for known, _ in sequence.rows)
    return any(equal(value, item) for item in items(sequence))


def _absolute(value: Any) -> Any:
    if isinstance(value, Tail):
        return _negated(value) if less(value, 0) else value
    return abs(value)


def _integer(value: Any) -> Any:
    if isinstance(value, Tail):
        return value
    if isinstance(value, str):
        raise Stuck("a text becomes a number")
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


def _length(value: Any) -> int:
    if isinstance(value, Lookup):
        return len(value.rows)
    return len(value) if isinstance(value, Answers) else len(items(value))


def _turns(value: Any) -> int:
    """How many turns a loop over a value takes."""
    return len(value) if isinstance(value, Answers) else len(items(value))


def _whole_number(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{plain(value)!r} is not a whole number")
    return int(value)


def _positive(value: Any) -> Any:
    return value if isinstance(value, Tail) else +value


def _count(sequence: Any, value: Any) -> int:
    if isinstance(sequence, str):
        return sequence.count(value)
    return sum(equal(item, value) for item in items(sequence))


def _copy(value: Any) -> Cells:
    if not isinstance(value, Cells):
        raise TypeError(f"{plain(value)!r} is no list and has no copy()")
    return Cells(value.items)


def _slice(sequence: Any, start: Any, stop: Any) -> Any:
    if isinstance(sequence, Answers):
        wanted = tuple(sequence)[start:stop]
        if UNREAD in wanted:
            raise Wanting
        return Cells(wanted)
    if isinstance(sequence, str):
        return sequence[start:stop]
    part = items(sequence)[start:stop]
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
        _hashable(known)
        same = [i for i, (other, _) in enumerate(rows) if equal(known, other)]
        if same:
            rows[same[0]] = (rows[same[0]][0], shared(value))
        else:
            rows.append((shared(known), shared(value)))
    return Lookup(tuple(rows))


def _hashable(value: Any) -> None:
    if isinstance(value, Cells | Lookup) or (
        isinstance(value, tuple) and any(isinstance(v, Cells | Lookup) for v in value)
    ):
        raise TypeError("a list is no key of a table")


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise Stuck("a text is formatted; return the parts: (a, b)")
    return left % right


def _range(*numbers: int) -> tuple[int, ...]:
    short(len(range(*numbers)))
    return tuple(range(*numbers))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": _add,
    "extend": _extend,
    "-": lambda a, b: _minus(a, b) if isinstance(a, Tail) or isinstance(b, Tail) else a - b,
    "*": _times,
    "repeat": _repeat,
    "pos": _positive,
    "whole": _whole_number,
    "turns": _turns,
    "copy": _copy,
    "/": _drawn(_divide),
    "//": _drawn(operator.floordiv),
    "%": _drawn(_modulo),
    "**": _drawn(_power),
    "neg": _negated,
    "not": lambda a: not truth(a),
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": lambda a, b: not less(b, a),
    ">=": lambda a, b: not less(a, b),
    "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b,
    "in": _contains,
    "not in": lambda a, b: not _contains(a, b),
    "abs": _absolute,
    "all": lambda a: all(truth(x) for x in items(a)),
    "any": lambda a: any(truth(x) for x in items(a)),
    "bool": truth,
    "int": _integer,
    "len": _length,
    "list": lambda *a: Cells(tuple(map(shared, items(a[0])))) if a else Cells(()),
    "tuple": lambda *a: tuple(map(shared, items(a[0]))) if a else (),
    "max": lambda *a: _extreme(a, largest=True),
    "min": lambda *a: _extreme(a, largest=False),
    "max or": lambda a, default: _extreme((a,), largest=True) if items(a) else default,
    "min or": lambda a, default: _extreme((a,), largest=False) if items(a) else default,
    "sorted": _sorted,
    "sum": _sum,
    "count": _count,
    "index": _index,
    "Fraction": _fraction,
    "range": lambda *a: _range(*a),
    "tuple of": lambda *a: tuple(map(shared, a)),
    "list of": lambda *a: Cells(tuple(map(shared, a))),
    "fixed list of": lambda *a: Cells(tuple(map(shared, a)), shared=True),
    "table of": _table,
    "unpack": _unpack,
    "slice": _slice,
}


def element(sequence: Any, index: Any) -> Any:
    """``sequence[index]``."""
    if isinstance(sequence, Lookup):
        _hashable(index)
        return sequence[index]
    if isinstance(index, Tail):
        raise Stuck("an unbounded noisy number is an index")
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


def shared(value: Any) -> Any:
    """The value, marked as having a second name if it is a list; an input that gets a second name is read to its end."""
    if isinstance(value, Answers):
        return whole(value)
    return replace(value, shared=True) if isinstance(value, Cells) and not value.shared else value


# ----------------------------------------------------------------------------------------------------------- evaluating


def evaluator(expression: Expression) -> Evaluate:
    """A function from a store to the value of an expression."""
    match expression:
        case Constant(value):
            return lambda store: value
        case Variable(name, place):
            return _variable(name, place)
        case Element(sequence, index, place):
            first, second = evaluator(sequence), evaluator(index)
            return _placed(lambda store: element(first(store), second(store)), place)
        case Conditional(test, then, otherwise):
            condition, one, other = evaluator(test), evaluator(then), evaluator(otherwise)
            return lambda store: one(store) if truth(condition(store)) else other(store)
        case Operation("and", (left, right)):
            first, second = evaluator(left), evaluator(right)
            return lambda store: second(store) if truth(value := first(store)) else value
        case Operation("or", (left, right)):
            first, second = evaluator(left), evaluator(right)
            return lambda store: value if truth(value := first(store)) else second(store)
        case Operation("and" | "or" as name, (left, *rest), place):
            return evaluator(Operation(name, (left, Operation(name, tuple(rest), place)), place))
        case Operation(name, arguments, place):
            function = OPERATIONS[name]
            evaluators = [evaluator(argument) for argument in arguments]
            if name not in _PARTIAL:
                evaluators = [_wholly(e) for e in evaluators]
            if len(evaluators) == 1:
                only = evaluators[0]
                return _placed(lambda store: function(only(store)), place)
            if len(evaluators) == 2:
                a, b = evaluators
                return _placed(lambda store: function(a(store), b(store)), place)
            return _placed(lambda store: function(*(e(store) for e in evaluators)), place)


WRONG = (TypeError, ValueError, IndexError, KeyError, ZeroDivisionError, OverflowError, AttributeError, Stuck)
"""What may go wrong while a mechanism is evaluated."""


def _placed(evaluate: Evaluate, place: Place) -> Evaluate:
    """The same function; what goes wrong in it first, it says where."""

    def value(store: Store) -> Any:
        try:
            return evaluate(store)
        except WRONG as error:
            if not hasattr(error, "place"):
                error.place = place  # type: ignore[union-attr]
            raise

    return value


_PARTIAL = ("len", "turns", "slice", "not")
"""Operations on an input list that need not read all of it."""


def _wholly(evaluate: Evaluate) -> Evaluate:
    def value(store: Store) -> Any:
        found = evaluate(store)
        return whole(found) if type(found) is Answers else found

    return value


def _variable(name: str, place: Place) -> Evaluate:
    def value(store: Store) -> Any:
        found = store.get(name, MISSING)
        if found is MISSING:
            raise LanguageError(
                "variable",
                f"{shown_name(name)!r} is read before it is assigned",
                place=str(place),
                hint="assign it first",
            )
        return found

    return value


def shown_name(name: str) -> str:
    """A variable's name as its author knows it."""
    return name.rpartition(".")[2] if name.startswith("#") else name


def plain(value: Any) -> Any:
    """The Python value that a value stands for, where it stands for one."""
    match value:
        case Cells(inner):
            return [plain(item) for item in inner]
        case Lookup(rows):
            return {plain(key): plain(item) for key, item in rows}
        case Answers():
            return [plain(item) for item in value]
        case tuple():
            return tuple(plain(item) for item in value)
        case _:
            return value


def held(value: Any) -> Any:
    """The value that stands for a Python value that others may hold too: its lists may not be changed."""
    match value:
        case list():
            return Cells(tuple(held(item) for item in value), shared=True)
        case dict():
            return Lookup(tuple((held(key), held(item)) for key, item in value.items()))
        case tuple():
            return tuple(held(item) for item in value)
        case _:
            return value


_SIMPLE = frozenset((int, str, type(None), _Mark))


def key(value: Any) -> Any:
    """Something hashable that tells values apart that Python's ``==`` does not: 1, True and Fraction(1)."""
    if type(value) in _SIMPLE:
        return value
    match value:
        case bool():
            return ("bool", value)
        case Fraction():
            return ("fraction", value)
        case Cells(inner, is_shared):
            return ("list", is_shared, tuple(map(key, inner)))
        case tuple():
            return ("tuple", tuple(map(key, value)))
        case Lookup(rows):
            return ("table", tuple((key(a), key(b)) for a, b in rows))
        case _:
            return value


def text(value: Any) -> str:
    """How a value prints: ``repr`` for Python's own, ``≥6`` and ``≤-1`` for a tail."""
    match value:
        case Tail(_, sign, offset):
            return f"{'≥' if sign > 0 else '≤'}{offset}"
        case Cells(inner):
            return f"[{', '.join(map(text, inner))}]"
        case Lookup(rows):
            return "{" + ", ".join(f"{text(a)}: {text(b)}" for a, b in rows) + "}"
        case tuple():
            return f"({', '.join(map(text, value))}{',' if len(value) == 1 else ''})"
        case _:
            return repr(value)


def tails(value: Any) -> Iterator[Tail]:
    """The tails inside a value, from left to right."""
    if type(value) in _SIMPLE or isinstance(value, Answers):
        return
    match value:
        case Tail():
            yield value
        case Cells(inner):
            for item in inner:
                yield from tails(item)
        case Lookup(rows):
            for pair in rows:
                yield from tails(pair)
        case tuple():
            for item in value:
                yield from tails(item)


def with_tails(value: Any, change: Callable[[Tail], Any]) -> Any:
    """The value with every tail changed."""
    if type(value) in _SIMPLE or isinstance(value, Answers):
        return value
    match value:
        case Tail():
            return change(value)
        case Cells(inner):
            return replace(value, items=tuple(with_tails(item, change) for item in inner))
        case Lookup(rows):
            return Lookup(tuple((with_tails(a, change), with_tails(b, change)) for a, b in rows))
        case tuple():
            return tuple(with_tails(item, change) for item in value)
        case _:
            return value


def problem(error: Exception, place: Place) -> PrivproofError:
    """What went wrong while a mechanism ran, as a message with the place."""
    if isinstance(error, PrivproofError):
        return error if error.place else error.at(str(place))
    place = getattr(error, "place", place)
    if isinstance(error, Stuck):
        said, _, hint = str(error).partition("; ")
        unbounded = "unbounded" in said
        clamp = "clamp it first, min(max(x, low), high), or use truncated_geometric"
        return LanguageError(
            "unbounded" if unbounded else "value", said, place=str(place), hint=clamp if unbounded else hint
        )
    return LanguageError(
        "run", f"{type(error).__name__}: {error}", place=str(place), hint="the mechanism itself fails here"
    )
