"""What a pass over data keeps in its states: values, draws, marks of what was written, and numbers that another pass keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

from privproof.language.evaluating import Store
from privproof.language.values import Cells, Lookup, key


class NotSeparate(Exception):
    """The mechanism has no model of separate draws; the reason is for developers."""


class _Forgotten:
    """A number that another pass keeps: sums and multiples of it are forgotten too, and nothing else may be done with it."""

    def _again(self, other: object) -> _Forgotten:
        if isinstance(other, int | Fraction | _Forgotten):
            return self
        raise NotSeparate("a forgotten number meets something that is no number")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _again

    def __neg__(self) -> _Forgotten:
        return self

    def _refuse(self, *_: object) -> NoReturn:
        raise NotSeparate("a forgotten number is looked at")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __index__ = __hash__ = _refuse
    __int__ = __float__ = __abs__ = __iter__ = __len__ = __getitem__ = __str__ = __format__ = _refuse


FORGET = _Forgotten()


@dataclass(frozen=True, eq=False)
class Token:
    """Something drawn: the number of its law, None where a forgotten number is its argument."""

    law: int | None


class Written:
    """Stands at the front of a list whose first parts were written on the way."""


WRITTEN = Written()


def items_of(value: Any) -> tuple[Any, ...]:
    """The elements of a list or a tuple."""
    return value.items if isinstance(value, Cells) else value


def differing_numbers(values: list[Any]) -> bool:
    """Whether all are numbers, and not all the same."""
    if any(type(value) is not int and not isinstance(value, Fraction) for value in values):
        return False
    return any(value != values[0] for value in values)


def refuse_no_number(value: Any) -> None:
    """Refuse to forget what is no number."""
    if value is not FORGET and type(value) is not int and not isinstance(value, Fraction):
        raise NotSeparate("what is forgotten is no number any more")


def forgotten_value(value: Any) -> Any:
    """A number, or a list of numbers, forgotten."""
    if isinstance(value, Cells):
        for item in value.items:
            refuse_no_number(item)
        return replace(value, items=(FORGET,) * len(value.items))
    refuse_no_number(value)
    return FORGET


def holds_forgotten(value: Any) -> bool:
    """Whether a value is forgotten, or holds something that is."""
    if value is FORGET:
        return True
    if isinstance(value, Cells):
        return any(map(holds_forgotten, value.items))
    if isinstance(value, Lookup):
        return any(holds_forgotten(item) for row in value.rows for item in row)
    return isinstance(value, tuple) and any(map(holds_forgotten, value))


def tokens_in(value: Any) -> Iterator[Token]:
    """The draws that a value holds."""
    match value:
        case Token():
            yield value
        case Cells(items):
            for item in items:
                yield from tokens_in(item)
        case tuple():
            for item in value:
                yield from tokens_in(item)


def count_marks(value: Any) -> int:
    """How often a value says that parts were written."""
    if isinstance(value, Written):
        return 1
    inside = value.items if isinstance(value, Cells) else value if isinstance(value, tuple) else ()
    return sum(map(count_marks, inside))


def refuse_other_marks(before: Store, after: Store) -> None:
    """Refuse to lose what was written, or to have it twice; what a turn has left alone has as many marks as before."""
    gone = [value for name, value in before.items() if after.get(name) is not value]
    come = [value for name, value in after.items() if before.get(name) is not value]
    if sum(map(count_marks, gone)) != sum(map(count_marks, come)):
        raise NotSeparate("a list of noise is begun anew, or kept twice")


def state_key(state: Store, names: list[str], known: dict[int, tuple[Any, Any]]) -> Any:
    """What tells states apart: values, the laws of tokens and which tokens are the same.

    Args:
        state: the state.
        names: the names that count.
        known: tuples that were told before and hold no token, by their identity: most of a state does not change.
    """
    seen: dict[int, int] = {}

    def told(value: Any) -> Any:
        match value:
            case Token(law):
                return ("token", law, seen.setdefault(id(value), len(seen)))
            case _Forgotten():
                return ("forgotten",)
            case Written():
                return ("written",)
            case Cells(items, alias):
                return ("list", alias, tuple(map(told, items)))
            case tuple():
                return ("tuple", tuple(map(told, value)))
            case _:
                return key(value)

    def once(value: Any) -> Any:
        if not isinstance(value, tuple):
            return told(value)
        if id(value) not in known:
            if next(tokens_in(value), None) is not None:
                return told(value)
            known[id(value)] = (value, told(value))  # the value, so that its identity stays its own
        return known[id(value)][1]

    return tuple((name, once(state[name])) for name in names if name in state)
