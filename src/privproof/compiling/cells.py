"""Programs that do the same for every cell, each by itself: few cells stand for all.

The cells of a histogram are independent of each other, and one record changes few of them.  So a claim is as good for a program of a
thousand cells as for one of two, if every cell does the same but for its key: what is found here is checked again by the theorem in
`privproof_checker.programs.cells`.  Without it there are as many paths as there are sets of cells that a threshold lets through.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from privproof.compiling.relational import Cells, Program
from privproof.compiling.sorts import SHIFTED, output_parts
from privproof.compiling.summaries import SUMMED
from privproof.language.flow import Instruction, Jump, Test, following, instruction_reads
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.syntax import (
    Assign,
    Conditional,
    Constant,
    Emit,
    Expression,
    Operation,
    Return,
    Sample,
    Variable,
)
from privproof.language.walking import parts, with_parts, within, writes

_FEW = 4
"""So many cells are looked at together as soon as two of them alone."""

Form: TypeAlias = "tuple[Any, ...]"
"""What two cells are compared by."""

_OTHER = object()
"""A value of a record that is none of those a cell speaks of."""


@dataclass(frozen=True)
class _Told:
    """What of a record tells which cell it is of: the record itself, or a field."""

    source: str
    field: str | None
    values: tuple[object, ...]


def few_cells(program: Program) -> Program:
    """The program with few of its cells, on few of its records, where these stand for all; otherwise the program itself."""
    if program.cells is not None or program.kept or program.between or len(program.cuts) > 1:
        return program
    private = [(name, each) for name, each in program.inputs.items() if not each.public]
    if len(private) != 1 or program.relation not in SUMMED or not _is_plain(program):
        return program
    bounds = _bounds(program)
    if len(bounds) <= _FEW:
        return program
    for told in _tellers(*private[0]):
        found = _looked_at(program, bounds, told)
        if found is not None:
            return _some(program, found, private[0][1])
    return program


def _is_plain(program: Program) -> bool:
    """Whether a program consists of what cells may have, and a return that shows nothing; what it knows of lists are totals."""
    *steps, last = program.code
    for step in steps:
        if not isinstance(step, Assign | Emit | Test | Jump | Sample):
            return False
        if isinstance(step, Sample) and step.noise not in SHIFTED:
            return False
        for expression in instruction_reads(step):
            listed = [part for part in within(expression) if isinstance(part, Variable) and part.name in program.lists]
            summed = [
                part.arguments[0]
                for part in within(expression)
                if isinstance(part, Operation) and part.name in ("total", "record")
            ]
            if len(listed) != len(summed):
                return False
    return isinstance(last, Return) and not output_parts(last.value)


def _tellers(name: str, declared: Input) -> Iterator[_Told]:
    if declared.values is not None and not declared.fields and declared.within is None:
        yield _Told(name, None, declared.values)
    for part, each in declared.fields:
        if each.values is not None and each.within is None:
            yield _Told(name, part, each.values)


def _bounds(program: Program) -> tuple[int, ...]:
    """Where nothing is kept, and no jump leads over."""
    code = program.code
    ahead = accumulate((max(following(i, step), default=0) for i, step in enumerate(code)), max, initial=0)
    free = (not set(program.live[i]) - program.inputs.keys() for i in range(len(code)))
    return tuple(i for i, (target, alone) in enumerate(zip(ahead, free, strict=False)) if target <= i and alone)


def _looked_at(program: Program, bounds: tuple[int, ...], told: _Told) -> Cells | None:
    """The cells, and those of them that stand for all; None where all are needed, or where they are not told by the records."""
    touching = [_touching(program.code[one:other], told) for one, other in pairwise(bounds)]
    if any(each is None for each in touching):
        return None
    bounds = _merged(bounds, [each or {} for each in touching])
    cells = [program.code[one:other] for one, other in pairwise(bounds)]
    ways = [_touching(cell, told) or {} for cell in cells]
    if sum(map(bool, ways)) <= _FEW:
        return None
    many = 1 if program.relation == ADD_REMOVE else 2
    seen: dict[object, int] = {}
    kept = []
    for number, (cell, way) in enumerate(zip(cells, ways, strict=True)):
        kind = (_form(cell, bounds[number]), frozenset(way.values()))
        seen[kind] = seen.get(kind, 0) + bool(way)
        if way and seen[kind] <= many:
            kept.append(number)
    if 2 * len(kept) > sum(map(bool, ways)):
        return None
    records: list[object] = []
    for number in kept:
        records += {way: value for value, way in ways[number].items()}.values()
    touched = {value for way in ways for value in way}
    records += [value for value in told.values if value not in touched][:1]
    return Cells(program, bounds, tuple(kept), told.source, told.field, tuple(records))


def _merged(bounds: tuple[int, ...], touching: list[dict[object, Form]]) -> tuple[int, ...]:
    """The bounds without those between two cells that one record touches."""
    last: dict[object, int] = {}
    for number, each in enumerate(touching):
        last |= dict.fromkeys(each, number)
    found, open_until = [bounds[0]], 0
    for number, each in enumerate(touching):
        open_until = max([open_until, *(last[value] for value in each)])
        if open_until <= number:
            found.append(bounds[number + 1])
    return tuple(found)


def _constants(steps: tuple[Instruction, ...]) -> dict[str, Expression]:
    """Variables of a cell that are its constants, such as its key."""
    found: dict[str, Expression] = {}
    for step in steps:
        if isinstance(step, Test):
            break
        if isinstance(step, Assign) and isinstance(step.value, Constant):
            found[step.name] = step.value
    return found


def _totals(steps: tuple[Instruction, ...]) -> Iterator[Operation]:
    for step in steps:
        for expression in instruction_reads(step):
            for part in within(expression):
                if isinstance(part, Operation) and part.name == "total":
                    yield part


def _touching(steps: tuple[Instruction, ...], told: _Told) -> dict[object, Form] | None:
    """The values of a record that add something to the totals of a cell, with what they add; None where this is not known."""
    known = _constants(steps)
    added = [_filled(total.arguments[1], known) for total in _totals(steps)]
    if not added:
        return {}

    def ways(value: object) -> Form:
        return tuple(_expression_form(_settled(each, told, value), {}) for each in added)

    nothing = tuple(("constant", "int", 0) for _ in added)
    if ways(_OTHER) != nothing:
        return None
    spoken = {part.value for each in added for part in within(each) if isinstance(part, Constant)}
    return {value: way for value in told.values if value in spoken and (way := ways(value)) != nothing}


def _filled(expression: Expression, known: dict[str, Expression]) -> Expression:
    if isinstance(expression, Variable):
        return known.get(expression.name, expression)
    return with_parts(expression, tuple(_filled(each, known) for each in parts(expression)))


def _settled(expression: Expression, told: _Told | None = None, value: object = None) -> Expression:
    """An expression, where this much is known of the record: tests that this or constants decide are decided."""
    match expression:
        case Operation("record", (Variable(name),), place) if told and told.field is None and name == told.source:
            return Constant(value, place)
        case Operation("field", (Operation("record"), Constant(part)), place) if told and part == told.field:
            return Constant(value, place)
        case Conditional(test, then, otherwise):
            match _settled(test, told, value):
                case Constant(bool() as decided):
                    return _settled(then if decided else otherwise, told, value)
    changed = with_parts(expression, tuple(_settled(each, told, value) for each in parts(expression)))
    match changed:
        case Operation("==" | "!=" as name, (Constant(one), Constant(other)), place):
            return Constant((one == other) == (name == "=="), place)
        case Operation("not", (Constant(bool() as one),), place):
            return Constant(not one, place)
        case Operation("and" | "or" as name, sides, place):
            values = [each.value for each in sides if isinstance(each, Constant)]
            if (name == "or") in values:
                return Constant(name == "or", place)
            if len(values) == len(sides):
                return Constant(name == "and", place)
    return changed


def _form(steps: tuple[Instruction, ...], first: int) -> Form:
    """The instructions of a cell without places, names, and what tells it from the others."""
    known, names = _constants(steps), dict[str, int]()

    def expression(given: Expression) -> Form:
        return _expression_form(_settled(_filled(given, known)), names)

    def instruction(step: Instruction) -> Form:
        match step:
            case Assign(name) if name in known:
                return ("constant",)
            case Emit(value):
                shown = (expression(each) for each in output_parts(value))
                return ("emit", *(each for each in shown if each[0] != "constant"))
            case Jump(target):
                return ("jump", target - first)
            case Test(test, then, otherwise):
                return ("test", expression(test), then - first, otherwise - first)
            case Sample(name, noise, arguments):
                return ("sample", noise, names.setdefault(name, len(names)), *map(expression, arguments))
            case _:
                name = writes(step) or ""  # type: ignore[arg-type]
                own = names.setdefault(name, len(names))
                return (type(step).__name__, own, *map(expression, instruction_reads(step)))

    return tuple(map(instruction, steps))


def _expression_form(given: Expression, names: dict[str, int]) -> Form:
    match given:
        case Variable(name):
            return ("variable", names.setdefault(name, len(names)))
        case Constant(value):
            return ("constant", type(value).__name__, value)
        case Operation("total", (Variable(name), _)):
            return ("total", name)
    inner = (_expression_form(each, names) for each in parts(given))
    return (type(given).__name__, given.name if isinstance(given, Operation) else "", *inner)


def _some(program: Program, cells: Cells, declared: Input) -> Program:
    """The program with the cells that stand for all, on the records that do."""
    code: list[Instruction] = []
    live: list[tuple[str, ...]] = []
    for number in cells.kept:
        first, end = cells.bounds[number], cells.bounds[number + 1]
        by = len(code) - first
        for step in program.code[first:end]:
            if isinstance(step, Jump):
                step = replace(step, target=step.target + by)
            elif isinstance(step, Test):
                step = replace(step, then=step.then + by, otherwise=step.otherwise + by)
            code.append(step)
        live += program.live[first:end]
    named = {name for step in code if (name := _named(step)) is not None}
    few = replace(declared, values=cells.records)
    if cells.field is not None:
        fields = tuple(
            (part, replace(each, values=cells.records) if part == cells.field else each)
            for part, each in declared.fields
        )
        few = replace(declared, fields=fields)
    return replace(
        program,
        code=(*code, program.code[-1]),
        live=(*live, program.live[-1]),
        sorts={name: sort for name, sort in program.sorts.items() if name in named or name in program.inputs},
        few={cells.source: few},
        cells=cells,
    )


def _named(step: Instruction) -> str | None:
    return step.name if isinstance(step, Assign | Sample) else None
