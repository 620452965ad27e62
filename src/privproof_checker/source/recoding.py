"""From what the instructions put out to what the text puts out, and back: a one-to-one correspondence, or the comparison fails.

What is shown private is what the instructions put out.  It speaks for the text if the text's output follows from it.  For parts of certain
sorts, with certain truth values and tags, the text's output has one form, and every number in it is one of the parts plus a constant, or a
constant: which of them, must be the same wherever such parts are put out.  Conversely the parts tell no more than the text does.

A part has the sort ``int`` or ``real`` by the instruction that puts it out, and an alignment keeps both runs on one path; so a whole number
and a real number that are equal are not taken for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from privproof_checker.outcomes import refuse
from privproof_checker.source.facts import Path
from privproof_checker.source.instructed import Anything, Held
from privproof_checker.source.symbols import PLACE, Term, constant_of, is_whole, parts_of, plus
from privproof_checker.source.values import Beyond, Shown, Value, key


@dataclass
class _Known:
    """What parts with the same label stand for.

    Attributes:
        form: the output without its numbers.
        kinds: which of its numbers are whole.
        ways: for every number in which ways it follows from the parts.
        constants: the parts that were numbers, and the same number, so far.
        places: where they are put out.
    """

    form: Any
    kinds: tuple[bool, ...]
    ways: list[set[Any]]
    constants: dict[int, Fraction | None]
    places: set[str] = field(default_factory=set)


class Recoding:
    """What is known of the correspondence so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[Any, _Known] = {}

    def note(self, kind: str, parts: Sequence[tuple[str, Held]], value: Value, place: str) -> None:
        """Refuse if parts that are put out do not stand for a value."""
        numbers: dict[int, Term] = {}
        label: list[Any] = [kind]
        for position, (sort, part) in enumerate(parts):
            if isinstance(part, Anything):
                raise Beyond("an output without a value", place)
            label.append((sort, None if isinstance(part, Term) else part))
            if isinstance(part, Term):
                numbers[position] = part
        slots: list[Value] = []
        form = _form(value, slots)
        kinds, ways = tuple(map(is_whole, slots)), [self._ways(slot, numbers) for slot in slots]
        constants = {at: None if any(part.parts) else constant_of(part.parts) for at, part in numbers.items()}
        known = self._known.setdefault(tuple(label), _Known(form, kinds, ways, constants))
        known.places.add(place)
        if (known.form, known.kinds) != (form, kinds):
            raise Beyond("what the instructions put out stands for outputs of different forms", place)
        for mine, old in zip(ways, known.ways, strict=True):
            old &= mine
            if not old:
                refuse("the output of the text does not follow from that of the instructions", place)
        for at, number in constants.items():
            if number != known.constants[at]:
                known.constants[at] = None

    def finish(self) -> None:
        """Refuse parts that tell more than the text does."""
        seen: set[Any] = set()
        for label, known in self._known.items():
            place = min(known.places)
            told = {way[0] for ways in known.ways for way in ways}
            if any(number is None and at not in told for at, number in known.constants.items()):
                refuse("the instructions put out a number that the text does not", place)
            fixed = tuple(number for _, number in sorted(known.constants.items()) if number is not None)
            told_alike = (label[0], *(sort for sort, _ in label[1:]), known.form, known.kinds, fixed)
            if told_alike in seen:
                refuse("the instructions tell outputs apart that are one in the text", place)
            seen.add(told_alike)

    def _ways(self, number: Value, parts: dict[int, Term]) -> set[Any]:
        """In which ways a number follows from the parts."""
        own = parts_of(number)
        found: set[Any] = set() if any(own) else {("constant", constant_of(own))}
        for position, part in parts.items():
            apart = plus(own, part.parts, -1)
            if not any(apart):
                found.add((position, constant_of(apart)))
            elif self.path.same(own, part.parts):
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
    raise Beyond(f"an output that is a {type(value).__name__}", PLACE)
