"""Patterns of outputs: constants stand for themselves, and in the place of a noisy number stands where it shall lie."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privproof.errors import LanguageError, PrivproofError
from privproof.exact import fraction
from privproof.language.linear import Linear, Opaque
from privproof.language.steps import Stepped
from privproof.language.values import Lookup, Member, Named, shared_value


@dataclass(frozen=True)
class Between:
    """A noisy number lies between two bounds; None for no bound.

    >>> Between(None, Fraction(-3)), Between(Fraction(0), Fraction(1, 2)), Between()
    (≤-3, 0..1/2, any number)
    """

    low: Fraction | None = None
    high: Fraction | None = None

    def __repr__(self) -> str:
        if self.low is None and self.high is None:
            return "any number"
        if self.low is None:
            return f"≤{self.high}"
        return f"≥{self.low}" if self.high is None else f"{self.low}..{self.high}"


ANY = Between()


def pattern_text(pattern: Any) -> str:
    """A pattern in words."""
    if isinstance(pattern, Opaque):
        return pattern.text()
    match pattern:
        case list():
            return f"[{', '.join(map(pattern_text, pattern))}]"
        case ("table", *rows) if are_rows(rows):
            return "{" + ", ".join(f"{pattern_text(known)}: {pattern_text(value)}" for known, value in rows) + "}"
        case tuple():
            return f"({', '.join(map(pattern_text, pattern))}{',' if len(pattern) == 1 else ''})"
        case _:
            return repr(pattern)


def are_rows(rows: list[Any]) -> bool:
    """Whether what follows the word for a table are its rows."""
    return bool(rows) and all(isinstance(row, tuple) and len(row) == 2 for row in rows)


def matching(pattern: Any, output: Any, *, discrete: bool = False) -> list[Linear] | None:
    """When an output lies in a pattern: the forms that must not be negative; None if it never does.

    A noisy number is a given number with probability zero, unless its noise is discrete.

    Raises:
        Unseen: the pattern asks about a number that is no form, such as a quotient of noisy numbers.
    """
    match pattern:
        case list() | tuple():
            if isinstance(output, list) != isinstance(pattern, list) or not isinstance(output, list | tuple):
                return None
            if len(output) != len(pattern):
                return None
            found: list[Linear] = []
            for wanted, part in zip(pattern, output, strict=True):
                more = matching(wanted, part, discrete=discrete)
                if more is None:
                    return None
                found += more
            return found
        case Between(low, high):
            if type(output) is Opaque and pattern != ANY:
                raise _unseen(output)
            if type(output) is Opaque:
                return []
            if isinstance(output, Linear):
                result = [] if low is None else [Linear.of(output - low)]
                result += [] if high is None else [Linear.of(high - output)]
                return [form for form in result if form is not None]
            if type(output) is Stepped:
                return [
                    *([] if low is None else [output.at_least(low)]),
                    *([] if high is None else [output.at_most(high)]),
                ]
            if isinstance(output, bool) or not isinstance(output, int | Fraction):
                return None
            return [] if (low is None or low <= output) and (high is None or output <= high) else None
        case _:
            number = isinstance(pattern, int | Fraction) and not isinstance(pattern, bool)
            if type(output) is Opaque and number:
                raise _unseen(output)
            if type(output) is Opaque:
                return None
            if isinstance(output, Linear):
                if not discrete or not number:
                    return None
                both = [Linear.of(output - pattern), Linear.of(pattern - output)]
                return [form for form in both if form is not None]
            if type(output) is Stepped:
                return matching(Between(Fraction(pattern), Fraction(pattern)), output) if number else None
            same = output == pattern and (type(output) is bool) == (type(pattern) is bool)
            return [] if same and isinstance(output, str) == isinstance(pattern, str) else None


class Unseen(LanguageError):
    """An event asks about a number of which no more is known than what it was computed from."""


def _unseen(output: Opaque) -> Unseen:
    return Unseen(
        "linear",
        f"no probability is known of where {output.text()} lies",
        hint='"*" in its place, for any number',
    )


class ArrayShown(list[Any]):
    """An array of numpy that is shown, as a list that prints like one."""

    def __repr__(self) -> str:
        return f"array({super().__repr__()})"


def in_parts(output: Any) -> Any:
    """An output as lists and tuples of numbers, texts, truth values and None: tables and objects with what tells them apart.

    >>> in_parts({"a": 1}), in_parts({2, 1})
    (('table', ('a', 1)), ('set', 1, 2))
    """
    if isinstance(output, list):
        return type(output)(in_parts(part) for part in output)
    if type(output) is tuple:
        return tuple(in_parts(part) for part in output)
    if isinstance(output, set | frozenset) and not any(isinstance(part, Linear) for part in output):
        return (type(output).__name__, *sorted((in_parts(part) for part in output), key=repr))
    if any(kind.__name__ == "ndarray" for kind in type(output).__mro__):
        return ArrayShown(in_parts(part) for part in output)
    found = output if isinstance(output, Linear | Opaque) else shared_value(output)
    if isinstance(found, Named):
        return (found.shape.name, *(in_parts(part) for part in found.items))
    if isinstance(found, Lookup):
        return ("table", *((in_parts(known), in_parts(value)) for known, value in output.items()))
    return repr(found) if isinstance(found, Member) else output


def word(output: Any) -> Any:
    """The pattern of all outputs that differ from one in its noisy numbers only."""
    match output:
        case list():
            return [word(part) for part in output]
        case tuple():
            return tuple(word(part) for part in output)
        case Linear() | Opaque():
            return ANY
        case int() if not isinstance(output, bool):
            return int(output)
        case _:
            return output


def key(pattern: Any) -> str:
    """Something that tells patterns apart."""
    return repr(pattern)


def read_pattern(event: Any) -> Any:
    """An event as a user writes it: outputs, with ``"≥3"``, ``"≤-1/2"``, ``"0..1"`` or ``"*"`` in the place of noisy numbers."""
    match event:
        case list():
            return [read_pattern(part) for part in event]
        case tuple():
            return tuple(read_pattern(part) for part in event)
        case dict():
            return ("table", *((known, read_pattern(value)) for known, value in event.items()))
        case "*":
            return ANY
        case str() if event.startswith(("≥", "≤", ">=", "<=")):
            end = _end(event.lstrip("≥≤<>="))
            return Between(end, None) if event[0] in "≥>" else Between(None, end)
        case str() if ".." in event:
            low, _, high = event.partition("..")
            return Between(_end(low), _end(high))
        case float():
            raise LanguageError("event", f"{event!r} is a float", place="event", hint='Fraction("0.5"), or "≥1/2"')
        case _:
            return event


def _end(text: str) -> Fraction:
    try:
        return fraction(text.strip())
    except PrivproofError as problem:
        raise LanguageError(
            "event", f"{text!r}: {problem.message}", place="event", hint='"≥3", "≤-1/2", "0..1"'
        ) from None
