"""Selections as the instructions have them: blocks of values that are ranked, for lists of one length or of all that are longer."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from privproof_checker.numbers import fraction
from privproof_checker.programs.instruction_kinds import Assign, Others, Program, Ranked, Sample, SelectionPlace, Test
from privproof_checker.programs.program_expressions import Expression
from privproof_checker.source.forms import Form
from privproof_checker.source.values import (
    Beyond,
)

_STEP = 1_000
"""Atoms of forms are numbered by what they are, by the selection and by the rank: so many ranks and selections at most."""
ENTRY = 0
"""The atom of an entry in a centre."""

Atom: TypeAlias = tuple[str, int, int]
"""What an atom is: ``value`` or ``entry``, the number of the selection, and the rank."""
_KINDS = ("value", "entry")
ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_SIGNS = dict(zip(("==", "!=", "<", "<=", ">", ">="), ORDERS, strict=True))


def number_of_atom(kind: str, block: int, rank: int) -> int:
    """The number of an atom in forms."""
    return 1 + _KINDS.index(kind) + 2 * (block * _STEP + rank)


def atom_of(number: int) -> Atom:
    """What the atom of a number is."""
    rest, kind = divmod(number - 1, 2)
    return _KINDS[kind], rest // _STEP, rest % _STEP


def form_of(kind: str, block: int, rank: int) -> Form:
    """An atom as a form."""
    return Form(Fraction(0), {number_of_atom(kind, block, rank): Fraction(1)})


@dataclass(frozen=True)
class Block:
    """A selection of the instructions: what it binds, how it draws, and whether the largest values are selected."""

    places: tuple[str, ...]
    values: tuple[str, ...]
    others: str | None
    kind: str
    scale: Fraction
    center: Form
    largest: bool

    def names(self) -> list[str]:
        """The variables of the values, by rank."""
        return [*self.values, *([] if self.others is None else [self.others])]


@dataclass(frozen=True)
class Case:
    """What the instructions do on lists of a length: the selections in the beginning, and where they go on."""

    blocks: tuple[Block, ...]
    at: int


def longest_told(program: Program) -> int:
    """The largest length that the instructions tell from longer ones, and no less than how many values they rank."""
    told = [1]
    for step in program.code:
        if isinstance(step, Test):
            told += [int(abs(number)) + 1 for number in _literals(step.condition)]
        elif isinstance(step, Ranked):
            told.append(len(step.names))
    return max(told)


def _literals(expression: Expression) -> Iterator[Fraction]:
    if expression.head == "literal" and expression.sort == "int":
        assert expression.value is not None
        yield fraction(expression.value)
    for part in expression.parts:
        yield from _literals(part)


def case_of(program: Program, name: str, length: int | None, most: int) -> Case:
    """What the instructions do on lists of a length; None: of all that are longer than `most`."""
    at, blocks = 0, []
    while True:
        step = program.code[at]
        if isinstance(step, Test) and _about_length(step.condition, name):
            lengths = [most + 1, most + 2] if length is None else [length]
            found = {_holds(step.condition, each) for each in lengths}
            if len(found) != 1:
                raise Beyond("a test on the length of the list that not only its size decides", "question.code")
            at = step.then if found.pop() else step.otherwise
        elif isinstance(step, SelectionPlace):
            block, at = _block(program, at, name)
            blocks.append(block)
        else:
            return Case(tuple(blocks), at)


def _about_length(condition: Expression, name: str) -> bool:
    if len(condition.parts) != 2 or condition.head not in _SIGNS:
        return False
    one, other = condition.parts
    return (one.head, one.name, other.head) == ("length", name, "literal")


def _holds(condition: Expression, length: int) -> bool:
    number = condition.parts[1].value
    assert number is not None
    return ORDERS[_SIGNS[condition.head]](length, fraction(number))


def _block(program: Program, at: int, name: str) -> tuple[Block, int]:
    """The selection that begins here, whose form was looked at before, and where it ends."""
    places, values, others, first, center = [], [], None, at, None
    while True:
        step = program.code[at]
        at += 1
        match step:
            case SelectionPlace(place, listed):
                if listed != name:
                    raise Beyond("a selection of something else than the list", f"question.code[{first}]")
                places.append(place)
            case Assign(_, value):
                center = center or _linear(value, name, places[0])
            case Others(other):
                others = other
            case Sample(value_name, kind, _, factor, group):
                values.append(value_name)
                if group not in ((), None):
                    raise Beyond("a scale that is a multiple of public numbers", f"question.code[{at - 1}]")
                law = (kind, fraction(factor))
            case Ranked(names):
                assert center is not None
                ranked = (*values, *([] if others is None else [others]))
                block = Block(tuple(places), tuple(values), others, *law, center, largest=tuple(names) == ranked)
                return block, at
            case _:
                raise Beyond("a selection in another form", f"question.code[{at - 1}]")


def _linear(expression: Expression, name: str, place: str) -> Form:
    """A centre, as a form in the entry at a place."""
    parts = expression.parts
    match expression.head:
        case "literal" if not isinstance(expression.value, bool) and expression.value is not None:
            return Form(fraction(expression.value))
        case "read" if expression.name == name and (parts[0].head, parts[0].name) == ("variable", place):
            return Form(Fraction(0), {ENTRY: Fraction(1)})
        case "+" | "-":
            left, right = (_linear(part, name, place) for part in parts)
            return left + right if expression.head == "+" else left - right
        case "neg":
            return _linear(parts[0], name, place).times(Fraction(-1))
        case "*" | "/":
            left, right = (_linear(part, name, place) for part in parts)
            if expression.head == "*" and not left.terms:
                left, right = right, left
            if not right.terms and (expression.head == "*" or right.constant):
                return left.times(right.constant if expression.head == "*" else 1 / right.constant)
    raise Beyond("the centre of a selection is not linear in the entry", expression.place)
