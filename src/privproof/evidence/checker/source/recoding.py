"""From what the instructions put out to what the text puts out: a function, or the comparison fails.

What is shown private is what the instructions put out.  It speaks for the text if the text's output follows from it.  For parts of certain
sorts, with certain truth values and tags, the text's output has one form, and every number in it is one of the parts plus a constant, or a
constant: which of them, must be the same wherever such parts are put out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from privproof.evidence.checker.outcomes import refuse
from privproof.evidence.checker.source.instructed import Anything, Held
from privproof.evidence.checker.source.symbols import (
    PLACE,
    Opaque,
    Parts,
    Path,
    Term,
    constant_of,
    is_whole,
    parts_of,
    plus,
)
from privproof.evidence.checker.source.values import Beyond, Cells, Shown, Value, key


class Recoding:
    """What is known of the function so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[Any, tuple[Any, tuple[bool, ...], list[set[Any]]]] = {}

    def note(self, at: int, parts: Sequence[tuple[str, Held]], value: Value) -> None:
        """Refuse if the parts that an instruction puts out cannot stand for a value."""
        place = f"question.code[{at}]"
        numbers: list[Parts | None] = []
        label: list[Any] = [at]
        for sort, part in parts:
            if isinstance(part, Anything):
                raise Beyond("an output without a value", place)
            numbers.append(part.parts if isinstance(part, Term) else None)
            label.append((sort, None if isinstance(part, Term) else part))
        slots: list[Value] = []
        form = _form(value, slots)
        ways = [self._ways(parts_of(slot), numbers) for slot in slots]
        kinds = tuple(map(is_whole, slots))
        known = self._known.setdefault(tuple(label), (form, kinds, ways))
        if known[0] != form:
            refuse("one output of the instructions stands for outputs of the text that differ in form", place)
        if known[1] != kinds:
            raise Beyond("one output of the instructions stands for whole numbers and for others", place)
        for mine, old in zip(ways, known[2], strict=True):
            old &= mine
            if not old:
                refuse("the output of the text does not follow from that of the instructions", place)

    def _ways(self, number: Parts, parts: Sequence[Parts | None]) -> set[Any]:
        """In which ways a number follows from the parts."""
        found: set[Any] = set() if any(number) else {("constant", constant_of(number))}
        for position, part in enumerate(parts):
            if part is None:
                continue
            apart = plus(number, part, -1)
            if not any(apart):
                found.add((position, constant_of(apart)))
            elif self.path.same(number, part):
                found.add((position, Fraction(0)))
        return found


def _form(value: Value, slots: list[Value]) -> Any:
    """An output without its numbers, which become slots."""
    if value is None or isinstance(value, bool | str):
        return key(value)
    if isinstance(value, Term | int | Fraction):
        slots.append(value)
        return "number"
    if isinstance(value, tuple):
        return ("list" if isinstance(value, Shown) else "tuple", *(_form(item, slots) for item in value))
    if isinstance(value, Cells | Opaque):
        raise Beyond("an output that is no number, text or tuple", PLACE)
    raise Beyond(f"an output that is a {type(value).__name__}", PLACE)
