"""Values and places by their ranks, and lists with an element for every noisy value.

The values of a selection are called by their ranks: value 1 is the largest (or the smallest), place 1 is where it stands.  Rank 0 is any
one of them: a list that has an element for every noisy value is kept as that element, in terms of value 0 and place 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from privproof.errors import LanguageError
from privproof.language import laws
from privproof.language.syntax import Constant, Element, Expression, Operation, Place, Variable
from privproof.language.walking import rewrite_expression, variables

NOWHERE = Place("", 0, 0)
NONE = Constant(None, NOWHERE)
BEFORE = "before"
"""The operation that stands for what a variable holds before a loop."""
EACH = "each"
"""The operation of a list with an element for every place: the element, and the number of the selection whose values it speaks of."""
SORTED = "in order"
"""The operation of such a list in the order of its values: the element, the number of the selection, and whether rank 1 comes first."""
STEMS = ("#value", "#place")
_NAME = re.compile(r"(#value|#place)(\d+)(?: of (\d+))?")


class NoSelection(Exception):
    """What is done to noisy values is no selection."""


class Failing(Exception):
    """The function fails here, whatever the data and the noise."""


def value(rank: int, selection: int = 1) -> Variable:
    """The value of a rank."""
    return Variable(_named("#value", rank, selection), NOWHERE)


def place(rank: int, selection: int = 1) -> Variable:
    """The place of a rank."""
    return Variable(_named("#place", rank, selection), NOWHERE)


def _named(stem: str, rank: int, selection: int) -> str:
    return f"{stem}{rank}" if selection == 1 else f"{stem}{rank} of {selection}"


def rank_of(expression: Expression, stem: str) -> tuple[int, int] | None:
    """The rank whose value or place an expression is, and its selection."""
    if not isinstance(expression, Variable):
        return None
    found = _NAME.fullmatch(expression.name)
    return (int(found[2]), int(found[3] or 1)) if found is not None and found[1] == stem else None


def ranks(expression: Expression, stem: str) -> Iterator[tuple[int, int]]:
    """The ranks whose values or places an expression reads, with their selections."""
    for name in variables(expression):
        found = rank_of(Variable(name, NOWHERE), stem)
        if found is not None:
            yield found


def each(element: Expression, selection: int) -> Operation:
    """A list with an element for every place of a selection."""
    return Operation(EACH, (element, Constant(selection, NOWHERE)), NOWHERE)


def in_order(element: Expression, selection: int, *, first: bool) -> Operation:
    """Such a list in the order of the values; whether rank 1 comes first."""
    return Operation(SORTED, (element, Constant(selection, NOWHERE), Constant(first, NOWHERE)), NOWHERE)


def as_each(expression: Expression) -> tuple[Expression, int] | None:
    """The element of a list with one for every place, and the selection."""
    match expression:
        case Operation("each", (element, Constant(int() as selection))):
            return element, selection
        case _:
            return None


def at_rank(element: Expression, rank: int, selection: int) -> Expression:
    """The element of a list at the place of a rank."""

    def change(expression: Expression) -> Expression | None:
        for stem, made in (("#value", value), ("#place", place)):
            if rank_of(expression, stem) == (0, selection or 1):
                return made(rank, selection or 1)
        return None

    return rewrite_expression(element, change)


def at_place(element: Expression, where: Expression) -> Expression:
    """The element of a list at a place; it does not speak of noisy values."""

    def change(expression: Expression) -> Expression | None:
        return where if rank_of(expression, "#place") is not None else None

    return rewrite_expression(element, change)


def key_sign(element: Expression, selection: int) -> int | None:
    """1 if elements come in the order of their values, -1 if in the reverse order; None if something else orders them."""
    match element:
        case Variable():
            return 1 if rank_of(element, "#value") == (0, selection) else None
        case Operation("neg", (inner,)):
            sign = key_sign(inner, selection)
            return None if sign is None else -sign
        case Operation("pos", (inner,)):
            return key_sign(inner, selection)
        case Operation("tuple of", (first, *_)):  # equal values have probability 0, so the first part decides
            return key_sign(first, selection)
        case _:
            return None


def holds_ranks(expression: Expression) -> bool:
    """Whether an expression speaks of values or places of a selection."""
    return any(True for stem in STEMS for _ in ranks(expression, stem))


def is_kept(expression: Expression) -> bool:
    """Whether an expression is a list or a tuple, which no program holds."""
    return isinstance(expression, Operation) and expression.name in (
        EACH,
        SORTED,
        "list of",
        "tuple of",
        "fixed list of",
    )


def nowhere(expression: Expression) -> Expression:
    """An expression without the place where it stands."""
    return rewrite_expression(expression, lambda part: replace(part, place=NOWHERE))


def simple(operation: Operation) -> Expression:
    """A constant where only constants are added."""
    match operation:
        case Operation("+" | "-" as sign, (Constant(int() as a), Constant(int() as b))):
            return Constant(a + b if sign == "+" else a - b, NOWHERE)
        case Operation("neg", (Constant(int() as a),)):
            return Constant(-a, NOWHERE)
        case _:
            return operation


def compare(name: str, left: int, right: int) -> bool:
    """A comparison of two whole numbers."""
    return {
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[name]


def part_of(sequence: Expression, index: Expression) -> Expression | None:
    """An element of a tuple or list that is written out, at a constant place."""
    match sequence, index:
        case Operation("tuple of" | "list of" | "fixed list of", parts), Constant(int() as number):
            if not -len(parts) <= number < len(parts):
                raise Failing
            return parts[number]
        case Constant(tuple() as values), Constant(int() as number):
            if not -len(values) <= number < len(values):
                raise Failing
            return Constant(values[number], NOWHERE)
        case _:
            return None


def choice_scale(law: list[Expression]) -> Constant:
    """The scale of the Gumbel noise that chooses as the exponential mechanism with this epsilon and sensitivity does."""
    match law:
        case [Constant(given), Constant(sensitivity)]:
            try:
                return Constant(laws.choice_scale(given, sensitivity), NOWHERE)
            except LanguageError:
                raise NoSelection from None
        case _:
            raise NoSelection


def listed(sequence: Expression, index: Expression) -> Element:
    """An element of an input."""
    return Element(sequence, index, NOWHERE)
