"""Documents: JSON text to plain values, and plain values to checked ones, each complaint with its place.

A document holds objects, lists, texts, integers, truth values and nulls. Floats are refused wherever they stand,
because ``0.1`` does not say which number is meant; so are ``NaN``, names given twice in one object, and deep nesting.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from flint import fmpz

from privproof_checker.numbers import Rational, rational
from privproof_checker.outcomes import Limits, refuse, within

_SHORT = 40
"""Characters of a text whose number is remembered: more than a model's probabilities have."""


def load(path: str | Path, limits: Limits) -> object:
    """The document in a file."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    except (OSError, ValueError) as error:
        refuse(f"the file cannot be read: {error}", str(path))
    if len(data) > limits.file_bytes:
        refuse(f"the file is larger than the limit of {limits.file_bytes} bytes", str(path))
    try:
        return loads(data.decode("utf-8"), limits)
    except UnicodeDecodeError as error:
        refuse(f"the file is not UTF-8 text: {error}", str(path))


def loads(text: str, limits: Limits) -> object:
    """The document in a text.

    >>> loads('{"a": [1, "1/2", null]}', Limits())
    {'a': [1, '1/2', None]}
    """

    def unique(items: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(items)
        if len(result) < len(items):
            names = [name for name, _ in items]
            twice = next(name for name in result if names.count(name) > 1)
            refuse(f"the name {twice!r} stands twice in one object", "document")
        return result

    def whole(digits: str) -> int:
        within(len(digits), limits.digits, "digits of a number", "document")
        return int(fmpz(digits))

    def not_exact(number: str) -> NoReturn:
        refuse(f'{number[:40]} is a floating-point number; write an exact text such as "1/4"', "document")

    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_int=whole, parse_float=not_exact, parse_constant=not_exact
        )
    except RecursionError:
        refuse(f"the document is nested deeper than the limit of {limits.depth}", "document")
    except ValueError as error:
        refuse(f"the text is not JSON: {error}", "document")


_SCALARS = frozenset((str, int, bool, type(None)))
"""Kinds of values that hold no others; of these, only whole numbers can be too long."""


def plain(document: object, limits: Limits) -> None:
    """Refuse a document that holds anything but plain values, or too many of them, or too deep."""
    count, depth = 1, 0
    level: list[object] = [document]
    few = 1 << 3 * limits.digits  # what is below it has surely no more digits
    while level:
        depth += 1
        numbers = [value for value in level if type(value) is int]
        if numbers and not -few < min(numbers) <= max(numbers) < few:
            for number in numbers:
                _scalar(number, limits)
        inside: list[object] = []
        for value in [each for each in level if type(each) not in _SCALARS]:
            members: Collection[object]
            if isinstance(value, list):
                members = value
            elif isinstance(value, dict):
                for name in value:
                    if not isinstance(name, str):
                        refuse(f"{name!r} names a member and is not a text", "document")
                members = value.values()
            else:
                _scalar(value, limits)
                continue
            if depth > limits.depth:
                refuse(f"the document is nested deeper than the limit of {limits.depth}", "document")
            count += len(members)
            if count > limits.values:
                refuse(f"the document holds more values than the limit of {limits.values}", "document")
            inside.extend(members)
        level = inside


def _scalar(value: object, limits: Limits) -> None:
    """Refuse what is no whole number of few digits, no truth and not null."""
    if isinstance(value, float):
        refuse(f'{value!r} is a floating-point number; write an exact text such as "1/4"', "document")
    if isinstance(value, int):
        digits = value.bit_length() * 3 // 10
        if digits > limits.digits:
            within(digits, limits.digits, "digits of a number", "document")
    elif value is not None and not isinstance(value, str):
        refuse(f"a value of type {type(value).__name__} has no place in a document", "document")


def an_object(value: object, place: str) -> dict[str, object]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        refuse(f"expected an object, found {_describe_value(value)}", place)
    return value


def a_list(value: object, place: str) -> list[object]:
    """The value, which must be a list."""
    if not isinstance(value, list):
        refuse(f"expected a list, found {_describe_value(value)}", place)
    return value


def a_text(value: object, place: str) -> str:
    """The value, which must be a text."""
    if not isinstance(value, str):
        refuse(f"expected a text, found {_describe_value(value)}", place)
    return value


def a_text_or_null(value: object, place: str) -> str | None:
    """The value, which must be a text or null."""
    return None if value is None else a_text(value, place)


def a_flag(value: object, place: str) -> bool:
    """The value, which must be true or false."""
    if not isinstance(value, bool):
        refuse(f"expected true or false, found {_describe_value(value)}", place)
    return value


def an_integer(value: object, place: str) -> int:
    """The value, which must be an integer."""
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(f"expected an integer, found {_describe_value(value)}", place)
    return value


def a_number(value: object, place: str, limits: Limits) -> Rational:
    """The exact number that the value denotes: an integer, or a text such as ``"1/3"`` or ``"0.25"``."""
    if isinstance(value, str) and len(written := str.__str__(value)) <= _SHORT:  # of a kind of text, its own characters
        try:
            number, digits = _short_number(written)
        except ValueError:
            refuse(f"{_describe_value(value)} is not an exact number", place)
        if digits > limits.digits:
            within(digits, limits.digits, "digits of a number", place)
        return number
    if isinstance(value, bool) or not isinstance(value, int | str):
        refuse(f"expected an exact number, found {_describe_value(value)}", place)
    if isinstance(value, str) and len(value) > 2 * limits.digits + 2:
        within(len(value), 2 * limits.digits + 2, "characters of a number", place)
    try:
        number = rational(value)
    except (ValueError, TypeError):
        refuse(f"{_describe_value(value)} is not an exact number", place)
    within(_digits(number), limits.digits, "digits of a number", place)
    return number


@lru_cache(maxsize=4096)
def _short_number(value: str) -> tuple[Rational, int]:
    """The number that a short text is, and its digits: a document has few numbers many times."""
    number = rational(value)
    return number, _digits(number)


def _digits(number: Rational) -> int:
    """About how many digits numerator or denominator have."""
    return int(max(number.p.bit_length(), number.q.bit_length())) * 3 // 10


def names(value: object, place: str, limit: int) -> tuple[str, ...]:
    """The value, which must be a list of distinct, non-empty texts, at least one."""
    listed = a_list(value, place)
    within(len(listed), limit, "names", place)
    result = tuple(a_text(item, f"{place}[{i}]") for i, item in enumerate(listed))
    if not result:
        refuse("there is no name", place)
    if "" in result:
        refuse("a name is empty", place)
    if len(set(result)) < len(result):
        refuse("a name is given twice", place)
    return result


def require_name(name: str, among: Mapping[str, object] | Iterable[str], what: str, place: str) -> str:
    """The name, which must exist."""
    if name not in among:
        refuse(f"unknown {what} {name!r}", place)
    return name


def only_members(value: Mapping[str, object], allowed: Iterable[str], place: str) -> None:
    """Refuse a member that this version does not know: it might change the meaning."""
    for name in value:
        require_name(name, allowed, "member", place)


def a_distribution(
    value: object, among: Mapping[str, int], what: str, place: str, limits: Limits
) -> dict[str, Rational]:
    """A distribution by name, without its zeros; every entry at least 0, the sum exactly 1."""
    entries = an_object(value, place)
    result: dict[str, Rational] = {}
    total = rational(0)
    read: dict[str, Rational] = {}  # in long rows few texts are different
    for name, given in entries.items():
        if name not in among:
            require_name(name, among, what, place)
        words = str.__str__(given) if isinstance(given, str) else None
        probability = None if words is None else read.get(words)
        if probability is None:
            probability = a_number(given if words is None else words, f"{place}.{name}", limits)
            if probability < 0:
                refuse(f"the probability {text(probability)} is below 0", f"{place}.{name}")
            if words is not None:
                read[words] = probability
        if probability != 0:
            result[name] = probability
            total += probability
    if total != 1:
        refuse(f"the probabilities sum to {text(total)} instead of 1", place)
    return result


def text(value: Rational) -> str:
    """A number in words, its decimal if its digits are too many."""
    exact = str(value)
    if len(exact) <= 60:
        return exact
    try:
        return f"about {float(Fraction(int(value.p), int(value.q))):.9g}"
    except OverflowError:
        return "a number too large to show"


def _describe_value(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:60])
    if isinstance(value, int) and not isinstance(value, bool):
        return "an integer"
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(value), str(value)[:60])


def number_pairs(value: object, expected: str, place: str, limits: Limits) -> list[tuple[int, Rational]]:
    """Pairs of an index and a number."""
    found: list[tuple[int, Rational]] = []
    for item in a_list(value, place):
        pair = a_list(item, place)
        if len(pair) != 2:
            refuse(f"expected {expected}", place)
        found.append((an_integer(pair[0], place), a_number(pair[1], place, limits)))
    return found
