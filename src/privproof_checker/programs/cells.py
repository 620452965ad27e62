"""Proofs by cells: a program does the same for every cell, each by itself, and one record changes few of them.

A program is divided into *cells*, blocks of instructions one after the other, and one last return that shows nothing.  No jump leaves a
cell but to its end, no variable belongs to two of them, and all that a cell knows of the data are totals.

Theorem.  Given the data, the runs through the cells are independent; the run through a cell depends on the data by its totals alone.  Where
a record changes from v to w, all cells but those whose totals v or w adds something to run alike.  So no set of runs through all
cells is likelier beyond epsilon and delta than the same is for the cells that are *touched*: independent runs with equal laws beside them
change nothing.  An alignment of a program that is these cells alone bounds this for runs, not only for what they show, since run 2
takes the path of run 1; and what is shown is a function of the runs through all cells.  Of a total an alignment knows nothing but what it
changes by.  So two cells with the same instructions, up to the names of variables and to constants that are shown, and with the same
changes, are as good as each other.

Let a value of the record touch one cell at most.  The *kind* of a cell is its instructions, and all ways in which records touch it.
Then it is enough to look at two cells of every kind (at one, where a record is added or removed), at one record for every way in which
one of these is touched, and at one that touches none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, an_integer, an_object, only_members
from privproof_checker.programs.alignment import proved_by_alignment
from privproof_checker.programs.instruction_kinds import (
    Assign,
    Coin,
    EmitOutput,
    Forget,
    Instruction,
    Jump,
    Program,
    Return,
    Sample,
    Test,
    Whole,
)
from privproof_checker.programs.program_expressions import Expression, parts_within
from privproof_checker.programs.program_inputs import ADD_REMOVE, ProgramInput, Scalar, same, scalar

_MEMBERS = ("method", "cells", "kept", "field", "records", "alignment")
_MOST_CELLS = 10_000
"""Cells of a program; more are refused."""
_MOST_PAIRS = 20_000_000
"""Cells times values of a record, each of which is looked at; more are refused."""

_OTHER = Rational(-1)
"""The number of no tag: these count from 0."""

NOTHING: Mapping[str, Expression] = {}
"""Nothing is known of a record."""

Form = tuple[Any, ...]
"""What is compared: instructions and expressions without places and names."""


@dataclass(frozen=True)
class _Cell:
    """A cell: its instructions up to names, and what every record adds to its totals.

    Attributes:
        form: the instructions, with totals left out.
        added: for every total what a record adds, with constants filled in.
    """

    form: Form
    added: tuple[Expression, ...]


def proved_by_cells(program: Program, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that the cells are alike, and that an alignment of some proves the claim."""
    only_members(evidence, _MEMBERS, "evidence")
    declared = program.declared
    private = declared.private
    if len(private) != 1 or private[0].shape != "list" or declared.relation not in ("one", ADD_REMOVE) or program.kept:
        refuse("cells are for one list of records of which one changes", "question.inputs")
    bounds = _bounds(evidence.get("cells"), program)
    cells = [_cell(program, bounds[i], bounds[i + 1]) for i in range(len(bounds) - 1)]
    _apart(program, bounds)
    told = _telling_input(private[0], evidence.get("field"))
    assert told.values is not None
    kept = [an_integer(each, "evidence.kept") for each in a_list(evidence.get("kept"), "evidence.kept")]
    if kept != sorted(set(kept)) or not all(0 <= each < len(cells) for each in kept):
        refuse("the cells that are looked at are some of them, in order", "evidence.kept")
    records = [scalar(v, told.sort, "evidence.records", limits) for v in a_list(evidence.get("records"), "evidence")]
    if not records or not all(any(same(each, value) for value in told.values) for each in records):
        refuse("the records that are looked at are some of those that are declared", "evidence.records")
    within(len(cells) * len(told.values), _MOST_PAIRS, "cells and records", "evidence.cells")
    touching = _changes_by_record(told.values, told, cells, program)
    looked_at = _changes_by_record(records, told, cells, program)
    _enough(cells, touching, looked_at, kept, 1 if declared.relation == ADD_REMOVE else 2)
    alignment = an_object(evidence.get("alignment"), "evidence.alignment")
    if alignment.get("method") != "alignment" or "foretold" in alignment or "range" in alignment:
        refuse(
            "some cells are looked at by an alignment that foretells nothing, for its costs alone", "evidence.alignment"
        )
    shown = proved_by_alignment(_some(program, bounds, kept, told, records), alignment, limits)
    return replace(
        shown,
        statement=f"{shown.statement}; {len(cells)} cells are independent, and {len(kept)} of them stand for all",
        details={**shown.details, "method": "cells", "cells": len(cells), "kept": len(kept)},
    )


def _bounds(value: object, program: Program) -> list[int]:
    """Where the cells begin, and where the last one ends."""
    listed = [an_integer(each, "evidence.cells") for each in a_list(value, "evidence.cells")]
    within(len(listed), _MOST_CELLS, "cells", "evidence.cells")
    if len(listed) < 2 or listed[0] != 0 or any(one >= other for one, other in pairwise(listed)):
        refuse("the cells follow each other, from the first instruction on", "evidence.cells")
    last = program.code[-1]
    if listed[-1] != len(program.code) - 1 or not isinstance(last, Return) or last.parts:
        refuse("after the cells there is a return that shows nothing", "evidence.cells")
    return listed


def _expressions_read(step: Instruction) -> tuple[Expression, ...]:
    """What an instruction of a cell reads; refuses instructions that cells do not have."""
    match step:
        case Assign(_, value):
            return (value,)
        case Sample(_, _, center, _, _, where):
            return (center,) if where is None else (center, where)
        case Whole(_, low, high):
            return (low, high)
        case EmitOutput(parts):
            return parts
        case Test(condition):
            return (condition,)
        case Jump() | Forget() | Coin():
            return ()
    refuse(f"{type(step).__name__.lower()} inside a cell", "question.code")


def _written_name(step: Instruction) -> str | None:
    return step.name if isinstance(step, Assign | Sample | Whole | Forget | Coin) else None


def _apart(program: Program, bounds: list[int]) -> None:
    """Refuse cells that share a variable, or know more of the data than totals."""
    owner: dict[str, int] = {}
    for number in range(len(bounds) - 1):
        for at in range(bounds[number], bounds[number + 1]):
            step = program.code[at]
            names = [
                part.name for each in _expressions_read(step) for part in parts_within(each) if part.head == "variable"
            ]
            written = _written_name(step)
            for name in names if written is None else (*names, written):
                if name not in program.declared.inputs and owner.setdefault(name, number) != number:
                    refuse(f"two cells have the variable {name[:40]!r}", f"question.code[{at}]")
            for part in (part for each in _expressions_read(step) for part in parts_within(each)):
                if part.head in ("read", "length", "entry", "part", "count", "position"):
                    refuse("a cell knows of data by totals alone", f"question.code[{at}]")


def _cell(program: Program, first: int, end: int) -> _Cell:
    """A cell; refuses one that is left in the middle, or that has a loop."""
    known = _constants(program, first, end)
    names: dict[str, int] = {}
    added: list[Expression] = []

    def expression(given: Expression) -> Form:
        given = _decide_tests(_fill_constants(given, known))
        if given.head == "total":
            added.append(given.parts[0])
            return ("total", given.sort, given.name)
        name: object = given.name
        if given.head == "variable" and given.name not in program.declared.inputs:
            name = names.setdefault(given.name, len(names))
        return (given.head, given.sort, name, given.value, *map(expression, given.parts))

    def target(at: int, to: int) -> int:
        if not at < to <= end:
            refuse("a cell is left, or has a loop", f"question.code[{at}]")
        return to - first

    def instruction(at: int, step: Instruction) -> Form:
        match step:
            case Assign(name) if name in known:
                return ("constant",)
            case EmitOutput(parts, processed):
                shown = tuple(
                    expression(each) for each in parts if _decide_tests(_fill_constants(each, known)).head != "literal"
                )
                return ("Emit", processed, *shown)
            case Jump(to):
                return ("Jump", target(at, to))
            case Test(condition, then, otherwise):
                return ("Test", expression(condition), target(at, then), target(at, otherwise))
            case Sample():
                read = tuple(map(expression, _expressions_read(step)))
                return (
                    "Sample",
                    step.law,
                    program.variables[step.name],
                    names.setdefault(step.name, len(names)),
                    *read,
                )
            case Assign(name) | Whole(name) | Forget(name) | Coin(name):
                read = tuple(map(expression, _expressions_read(step)))
                own = names.setdefault(name, len(names))
                return (type(step).__name__, program.variables[name], own, *read)
        refuse(f"{type(step).__name__.lower()} inside a cell", f"question.code[{at}]")

    form = tuple(instruction(at, program.code[at]) for at in range(first, end))
    for each in added:
        if any(part.head == "variable" for part in parts_within(each)):
            refuse("what a record adds to a cell depends on variables", f"question.code[{first}]")
    return _Cell(form, tuple(added))


def _constants(program: Program, first: int, end: int) -> dict[str, Expression]:
    """Variables that are given a constant once, before any test and before they are read."""
    steps = program.code[first:end]
    written = [_written_name(step) for step in steps]
    read: set[str] = set()
    found: dict[str, Expression] = {}
    for at, step in enumerate(steps):
        if isinstance(step, Test) or (isinstance(step, Jump) and step.target != first + at + 1):
            break
        read |= {
            part.name for each in _expressions_read(step) for part in parts_within(each) if part.head == "variable"
        }
        if not isinstance(step, Assign) or step.value.head != "literal" or step.name in read:
            continue
        if written.count(step.name) == 1 and program.variables[step.name] == step.value.sort:
            found[step.name] = step.value
    return found


def _fill_constants(given: Expression, known: Mapping[str, Expression]) -> Expression:
    """An expression with constants in the place of variables; what it is made of alone is new, not what is known of it."""
    if given.head == "variable":
        return known.get(given.name, given)
    if not given.parts:
        return given
    return replace(given, parts=tuple(_fill_constants(each, known) for each in given.parts), place="", constant=None)


def _telling_input(source: ProgramInput, value: object) -> ProgramInput:
    """What of a record tells which cell it is of: the record itself, or one of its fields; its values are listed."""
    told = source
    if source.fields:
        if not isinstance(value, str) or value not in source.fields:
            refuse("a field of the records tells the cells", "evidence.field")
        told = source.fields[value]
    elif value is not None:
        refuse("the records have no fields", "evidence.field")
    if not told.values or told.within is not None or source.within is not None:
        refuse("what tells the cells is one of some values, and changes in any way", "evidence.field")
    return told


def _changes_by_record(
    values: Iterable[Scalar], told: ProgramInput, cells: list[_Cell], program: Program
) -> list[tuple[int, Form] | None]:
    """For every record the cell whose totals it adds something to, and what; None if there is none, and refuses if there are several."""
    known = [Rational(program.tags.number(each)) if told.sort == "tag" else each for each in values]
    places: dict[object, list[int]] = {}
    for place, each in enumerate(known):
        places.setdefault(each, []).append(place)
    found: list[tuple[int, Form] | None] = [None] * len(known)

    def added(cell: _Cell, value: object) -> Form | None:
        assert isinstance(value, Rational | bool)
        literal = Expression("literal", told.sort, "", value=value)
        forms = tuple(_form(_decide_tests(each, {told.name: literal})) for each in cell.added)
        return None if all(each[0] == "literal" and each[2] == 0 for each in forms) else forms

    for number, cell in enumerate(cells):
        compared = _compared_tags(cell, told)
        if compared is not None and added(cell, _OTHER) is not None:
            compared = None
        for value in places if compared is None else compared & places.keys():
            forms = added(cell, value)
            for place in () if forms is None else places[value]:
                if found[place] is not None:
                    refuse("one record touches two cells", "evidence.cells")
                assert forms is not None
                found[place] = number, forms
    return found


def _compared_tags(cell: _Cell, told: ProgramInput) -> set[object] | None:
    """The tags that decide what a record adds to a cell, whose tag is compared with them and looked at nowhere else; None otherwise."""
    if told.sort != "tag":
        return None
    found: set[object] = set()
    waiting = list(cell.added)
    while waiting:
        part = waiting.pop()
        if part.head in ("==", "!=") and any(_is_record(side, told) for side in part.parts):
            others = [side for side in part.parts if not _is_record(side, told)]
            if any(side.head != "literal" for side in others):
                return None
            found |= {side.value for side in others}
        elif _is_record(part, told):
            return None
        else:
            waiting.extend(part.parts)
    return found


def _is_record(part: Expression, told: ProgramInput) -> bool:
    return part.head == "record" and part.name == told.name


def _form(given: Expression) -> Form:
    if given.head == "literal":
        return ("literal", given.sort, given.value)
    return (given.head, given.sort, given.name, *map(_form, given.parts))


def _decide_tests(given: Expression, known: Mapping[str, Expression] = NOTHING) -> Expression:
    """An expression, where so much is known of the record: tests that this or constants decide are decided."""
    if given.head == "record" and given.name in known:
        return known[given.name]
    if given.head == "total":
        return given
    if given.head == "if":
        test, then, otherwise = given.parts
        decided = _decide_tests(test, known)
        if decided.head == "literal":
            return _decide_tests(then if decided.value else otherwise, known)
    parts = tuple(_decide_tests(each, known) for each in given.parts)
    values = [each.value for each in parts if each.head == "literal"]
    if given.head in ("and", "or"):
        decisive = given.head == "or"
        if any(each is decisive for each in values):
            return Expression("literal", "bool", "", value=decisive)
        if len(values) == len(parts):
            return Expression("literal", "bool", "", value=not decisive)
    elif parts and len(values) == len(parts):
        result = {
            "==": lambda: values[0] == values[1],
            "!=": lambda: values[0] != values[1],
            "not": lambda: not values[0],
        }.get(given.head)
        if result is not None:
            return Expression("literal", "bool", "", value=result())
    return replace(given, parts=parts, place="", constant=None) if parts else given


def _enough(
    cells: list[_Cell],
    touching: list[tuple[int, Form] | None],
    looked_at: list[tuple[int, Form] | None],
    kept: list[int],
    many: int,
) -> None:
    """Refuse cells and records that do not stand for all."""
    ways: dict[int, set[Form]] = {number: set() for number in range(len(cells))}
    for each in touching:
        if each is not None:
            ways[each[0]].add(each[1])
    seen: dict[int, set[Form]] = {number: set() for number in kept}
    for each in looked_at:
        if each is not None and each[0] not in seen:
            refuse("a record touches a cell that is not looked at", "evidence.records")
        if each is not None:
            seen[each[0]].add(each[1])
    if any(seen[number] != ways[number] for number in kept):
        refuse("a cell is touched in a way that is not looked at", "evidence.records")
    if None in touching and None not in looked_at:
        refuse("records that touch no cell are not looked at", "evidence.records")
    missing: dict[object, int] = {}
    for number, cell in _touched_cells(cells, ways):
        kind = (cell.form, frozenset(ways[number]))
        missing[kind] = min(missing.get(kind, 0) + 1, many)
    for number in kept:
        kind = (cells[number].form, frozenset(ways[number]))
        if kind in missing:
            missing[kind] -= 1
    if any(count > 0 for count in missing.values()):
        refuse(f"cells of one kind are not looked at, or fewer than {many}", "evidence.kept")


def _touched_cells(cells: list[_Cell], ways: Mapping[int, set[Form]]) -> Iterator[tuple[int, _Cell]]:
    """The cells that records touch; the others run alike."""
    for number, cell in enumerate(cells):
        if ways[number]:
            yield number, cell


def _some(program: Program, bounds: list[int], kept: list[int], told: ProgramInput, records: list[Scalar]) -> Program:
    """The program with some of its cells alone, on some of its records."""
    code: list[Instruction] = []
    variables: dict[str, str] = {}
    for number in kept:
        by = len(code) - bounds[number]
        for step in program.code[bounds[number] : bounds[number + 1]]:
            match step:
                case Jump(target):
                    code.append(Jump(target + by))
                case Test(condition, then, otherwise):
                    code.append(Test(condition, then + by, otherwise + by))
                case _:
                    code.append(step)
            read = [
                part.name for each in _expressions_read(step) for part in parts_within(each) if part.head == "variable"
            ]
            written = _written_name(step)
            for name in read if written is None else (*read, written):
                if name in program.variables:
                    variables[name] = program.variables[name]
    code.append(program.code[-1])
    [source] = program.declared.private
    few = replace(told, values=tuple(records))
    if source.fields:
        fields = {name: few if each.name == told.name else each for name, each in source.fields.items()}
        few = replace(source, fields=fields)
    declared = replace(program.declared, inputs={**program.declared.inputs, source.name: few})
    return replace(program, declared=declared, code=tuple(code), variables=variables)
