"""Parts of a list of which one record changes, ``q[low:high]``: as all of the list, where the place of a record lies between two ends.

Neighbours that differ in one record have it at the same place.  So a sum over a part is a sum over the whole list of what a record adds
if ``low <= place < high``, and nothing otherwise: it differs by what the record adds, where its place lies in the part, and by nothing
where it does not.  Where a record is added or removed, those behind it move, and a part may differ in all its places: there a part is left
as it stands.

Ends are what Python makes of them.  One below 0 counts from the end of the list; one that is still below 0, or beyond the end, is as if it
were the end of the list; a part whose ends are the wrong way round is empty.  A part with a step is left as it stands.  One operation
speaks of this: ``position(data)``, inside of what a record adds to a sum, the place of the record in its list.
"""

from __future__ import annotations

from collections.abc import Iterator

from privproof.compiling.strides import Signs
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Expression,
    Operation,
    Place,
    Statement,
    Variable,
)
from privproof.language.walking import parts

POSITION = "position"
"""The place of a record in its list, inside of what it adds to a sum."""

PART_ENDS = "#part"
"""How the variables begin that hold the ends of a part."""

_SAFE = ("+", "-", "*", "neg", "pos", "whole", "len", "turns", "min", "max", "abs")
"""What never fails on whole numbers, so that it may be computed where Python would pass it over."""


def held_ends(
    name: str, ends: tuple[Expression, Expression], source: Variable, place: Place, signs: Signs
) -> tuple[Block, Expression]:
    """The ends of a part in variables of their own, and that the place of a record lies between them."""
    low, high = ends
    held: list[Statement] = []
    inside: list[Expression] = []
    at = Operation(POSITION, (source,), place)
    for end, label, sign in ((low, "low", "<="), (high, "high", ">")):
        if isinstance(end, Constant) and (end.value is None or (label == "low" and end.value == 0)):
            continue
        own = Variable(f"{name}.{label}", place)
        held.append(Assign(own.name, end if signs.least(end) is not None else _from_front(end, source, place), place))
        inside.append(Operation(sign, (own, at), place))
    if not inside:
        return (), Constant(value=True, place=place)
    return tuple(held), inside[0] if len(inside) == 1 else Operation("and", tuple(inside), place)


def _from_front(end: Expression, source: Variable, place: Place) -> Expression:
    """An end as Python counts it: one below 0 from the end of the list, and from no further than its beginning."""
    zero = Constant(0, place)
    later = Operation("max", (zero, Operation("+", (end, Operation("len", (source,), place)), place)), place)
    if isinstance(end, Constant) and isinstance(end.value, int):
        return later
    return Conditional(Operation("<", (end, zero), place), later, end, place)


def is_end(name: str) -> bool:
    """Whether a variable holds an end of a part."""
    return name.startswith(PART_ENDS)


def is_safe(end: Expression) -> bool:
    """Whether an end may be computed in any case: it does not fail."""
    match end:
        case Constant() | Variable():
            return True
        case Operation(name, arguments) if name in _SAFE:
            return all(map(is_safe, arguments))
        case _:
            return False


def unconditional(expression: Expression) -> Iterator[Expression]:
    """The parts of an expression that are evaluated whenever it is."""
    yield expression
    match expression:
        case Conditional(test):
            yield from unconditional(test)
        case Operation("and" | "or", (first, *_)):
            yield from unconditional(first)
        case _:
            for part in parts(expression):
                yield from unconditional(part)
