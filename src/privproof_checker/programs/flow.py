"""Data flow: which variables are the same in both runs, and into which of them noise flows.

A variable is *low* if it is assigned from low expressions only; then two runs that take the same path give it the
same value.  Private inputs, totals over them and samples that are shifted are high.  A variable is *noisy* if such a sample flows into
it, also through the test of a conditional expression.  Both are least fixpoints over all assignments, whatever the order
of execution.

From this it follows which parts of the result are foretold (a prophecy): those that are high and discrete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass

from privproof_checker.graph_algorithms import beyond, reachable
from privproof_checker.outcomes import refuse
from privproof_checker.programs.instruction_kinds import (
    SQUARES,
    Assign,
    Copy,
    EmitOutput,
    Fill,
    Group,
    NextValue,
    Others,
    Program,
    Put,
    Return,
    Sample,
    SelectionPlace,
    Test,
    Whole,
)
from privproof_checker.programs.program_expressions import BITS, Expression, parts_within
from privproof_checker.programs.program_inputs import ADD_REMOVE
from privproof_checker.programs.ranked_selections import selections_of
from privproof_checker.programs.symbol_products import monomial, with_parts

_HELD = ("variable", "entry", "part")
"""The expressions that hold what a variable or a list holds."""


@dataclass(frozen=True)
class Flow:
    """What flows where.

    Attributes:
        program: the program.
        high: the variables and inputs that may differ between the runs.
        noisy: the variables into which noise flows that is shifted.
        outputs: the sort of each foretold part of the result, by position: ``int``, ``tag`` or ``bool``.
        groups: the groups of public integers in the scales, the empty one always among them, and the logarithms.
        others: the variables that hold the largest of the other values of a selection, and nothing else.
        selections: the first and the last instruction of every selection.
        products: the products of public integers in scales and expressions, each after those of some of its names.
    """

    program: Program
    high: frozenset[str]
    noisy: frozenset[str]
    outputs: dict[int, str]
    groups: tuple[Group, ...]
    others: frozenset[str]
    selections: dict[int, int]
    products: tuple[tuple[str, ...], ...]

    @property
    def summed(self) -> tuple[str, ...]:
        """The lists that are totalled."""
        found = {
            part.name for each in _expressions(self.program) for part in parts_within(each) if part.head == "total"
        }
        return tuple(each.name for each in self.program.declared.private if each.name in found)

    @property
    def fails_alike(self) -> bool:
        """Whether both runs fail together where they do: every test is decided by what they share.

        Then, for given public inputs and coins, either all runs fail, and nothing is shown, or none does.
        """
        return not any(
            isinstance(step, SelectionPlace | NextValue)
            or (isinstance(step, Test) and _is_high(step.condition, self.high, self.program))
            for step in self.program.code
        )

    @property
    def prophecy(self) -> bool:
        """Whether a part of the result is foretold."""
        return bool(self.outputs)


def flow_of(program: Program, *, foretell: bool = False) -> Flow:
    """The data flow of a program; refuses what the two-run meaning does not cover.

    Args:
        program: the program.
        foretell: whether all discrete parts of the result are foretold, also those that no run can change.
    """
    high = {each.name for each in program.declared.private if each.shape == "value"}
    noisy: set[str] = set()
    for instruction in program.code:
        if isinstance(instruction, Sample | Others):
            high.add(instruction.name)
            noisy.add(instruction.name)
        if isinstance(instruction, NextValue) and not program.declared.inputs[instruction.stream].public:
            high.add(instruction.name)
    before = -1
    while before != len(high) + len(noisy):
        before = len(high) + len(noisy)
        for instruction in program.code:
            if isinstance(instruction, Assign | Put):
                if _is_high(instruction.value, high, program):
                    high.add(instruction.name)
                if any(part.head in _HELD and part.name in noisy for part in parts_within(instruction.value)):
                    noisy.add(instruction.name)
            if isinstance(instruction, Copy):
                known = program.declared.inputs.get(instruction.source)
                if instruction.source in high or (known is not None and not known.public):
                    high.add(instruction.name)
                if instruction.source in noisy:
                    noisy.add(instruction.name)
    _same_operands(program, high)
    outputs = _outputs(program, high, foretell=foretell)
    if outputs and any(isinstance(instruction, NextValue) for instruction in program.code):
        refuse("the result of a mechanism that reads a stream is not foretold", "question.code")
    scales = {instruction.group for instruction in program.code if isinstance(instruction, Sample)}
    _ends(program)
    selections = _selections(program, noisy)
    streams = any(isinstance(instruction, NextValue) for instruction in program.code)
    if SQUARES in scales and (selections or streams):
        refuse("Gaussian noise beside a selection or a stream is not covered", "question.code")
    others = {instruction.name for instruction in program.code if isinstance(instruction, Others)}
    others -= {step.name for step in program.code if isinstance(step, Assign | Sample | NextValue)}
    return Flow(
        program,
        frozenset(high),
        frozenset(noisy),
        outputs,
        tuple(sorted(scales | {()}, key=str)),
        frozenset(others),
        selections,
        with_parts(_products(program, scales)),
    )


def _products(program: Program, scales: set[Group]) -> Iterator[tuple[str, ...]]:
    """The products of public integers in scales and in expressions."""
    yield from (group for group in scales if isinstance(group, tuple))
    for expression in _expressions(program):
        for part in parts_within(expression):
            product = monomial(part, program.declared) if part.head == "*" else None
            yield () if product is None else product[1]


def _selections(program: Program, noisy: set[str]) -> dict[int, int]:
    """The selections of a program; refuses centres into which noise flows."""
    selections = selections_of(program)
    for instruction in program.code:
        if isinstance(instruction, Others) and instruction.center in noisy:
            refuse("noise flows into the centres of a selection", "question.code")
    return selections


def _is_high(expression: Expression, high: set[str] | frozenset[str], program: Program) -> bool:
    return any(
        (part.head in _HELD and part.name in high)
        or (part.head == "read" and not program.declared.inputs[part.name].public)
        or part.head == "total"
        for part in parts_within(expression)
    )


def _expressions(program: Program) -> Iterator[Expression]:
    for instruction in program.code:
        match instruction:
            case Assign(_, value) | Sample(center=value):
                yield value
            case Fill(_, count, value):
                yield from (count, value)
            case Put(_, index, value):
                yield from (value,) if index is None else (index, value)
            case Whole(_, least, most):
                yield from (least, most)
            case EmitOutput(parts) | Return(parts):
                yield from parts
            case Test(condition):
                yield condition


def _same_operands(program: Program, high: set[str]) -> None:
    """Refuse an index, a bound, or an operand of ``//``, ``%`` or a product that may differ between the runs."""
    for instruction in program.code:
        if isinstance(instruction, Whole):
            for bound in (instruction.low, instruction.high):
                if _is_high(bound, high, program):
                    refuse("a bound of a random whole number depends on private inputs or noise", bound.place)
        if isinstance(instruction, Fill):
            for same in (instruction.count, instruction.value):
                if _is_high(same, high, program):
                    refuse("a list is filled with what depends on private inputs or noise", same.place)
        if (
            isinstance(instruction, Put)
            and instruction.index is not None
            and _is_high(instruction.index, high, program)
        ):
            refuse("an index depends on private inputs or noise", instruction.index.place)
    for expression in _expressions(program):
        for part in parts_within(expression):
            if part.head in ("entry", "part", *BITS) and any(_is_high(each, high, program) for each in part.parts):
                refuse(f"an operand of {part.head} depends on private inputs or noise", part.place)
            if part.head == "read" and _is_high(part.parts[0], high, program):
                refuse("an index depends on private inputs or noise", part.place)
            if part.head == "total" and _is_high(part.parts[0], high, program):
                refuse("what a total adds up differs between the runs in every record", part.place)
            if part.head == "position" and program.declared.relation != "one":
                refuse("the place of a record is the same in both runs only where one is replaced", part.place)
            if program.declared.relation == ADD_REMOVE and part.head in ("read", "length"):
                if not program.declared.inputs[part.name].public:
                    refuse("a list of which one run has an entry more is known by totals alone", part.place)
                continue
            if part.head in ("//", "%") and _is_high(part, high, program):
                refuse(f"an operand of {part.head} depends on private inputs or noise", part.place)
            variable = part.head == "*" and all(factor.constant is None for factor in part.parts)
            if variable and _is_high(part, high, program):
                refuse("no factor of a product is a constant, and one depends on private inputs or noise", part.place)


def _outputs(program: Program, high: set[str], *, foretell: bool) -> dict[int, str]:
    returns = [instruction for instruction in program.code if isinstance(instruction, Return)]
    found: dict[int, str] = {}
    for instruction in returns:
        for position, part in enumerate(instruction.parts):
            if part.sort != "real" and (foretell or _is_high(part, high, program)):
                found.setdefault(position, part.sort)
    if found and len({len(instruction.parts) for instruction in returns}) > 1:
        refuse("the results have different numbers of parts, and one is foretold", "question.code")
    for position, sort in found.items():
        if any(instruction.parts[position].sort != sort for instruction in returns):
            refuse(f"part {position} of the result has several sorts, and it is foretold", "question.code")
    return dict(sorted(found.items()))


def afterwards(program: Program, number: int) -> Set[int]:
    """The instructions that may come after one."""
    return beyond(number, lambda at: [target for target in program.following(at) if target < len(program.code)])


def _ends(program: Program) -> None:
    """Refuse code that runs beyond its end, or from which the end cannot be reached."""
    before: dict[int, list[int]] = defaultdict(list)

    def following(number: int) -> tuple[int, ...]:
        for target in program.following(number):
            if target >= len(program.code):
                refuse("the code ends without a return", f"question.code[{number}]")
            before[target].append(number)
        return program.following(number)

    met = reachable([0], following)
    ending = [number for number in met if isinstance(program.code[number], Return | NextValue)]
    if stuck := met - reachable(ending, before.__getitem__):
        refuse("from here no run ever ends", f"question.code[{min(stuck)}]")
