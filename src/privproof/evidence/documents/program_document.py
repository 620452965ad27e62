"""Questions about mechanisms with continuous noise as plain data: inputs, claim, and the program of instructions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from privproof.compiling.coins import TossedProgram
from privproof.compiling.sorts import (
    CONTINUOUS,
    OTHERS,
    PLACE,
    PROCESSED,
    RANKED,
    input_sort,
    is_listed,
    mixed_values,
    output_parts,
)
from privproof.evidence.question_documents import OtherQuestion, with_source
from privproof.evidence.question_sources import program_source
from privproof.exact.affine import Affine
from privproof.language.flow import Jump, Next, Test
from privproof.language.syntax import (
    Append,
    Assign,
    Conditional,
    Constant,
    Element,
    Emit,
    Operation,
    Replace,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import MISSING
from privproof.scenarios.program_questions import ProgramQuestion, is_geometric

if TYPE_CHECKING:
    from privproof.compiling.coins import Tossed
    from privproof.compiling.relational import Program
    from privproof.language.flow import Instruction
    from privproof.language.inputs import Input
    from privproof.language.syntax import Expression

_SAME = {"extend": "+", "repeat": "*", "is": "==", "is not": "!="}


def document(question: ProgramQuestion, compiled: Program | TossedProgram | None) -> dict[str, object]:
    """The question as plain data, with its source.

    Raises:
        OtherQuestion: the program is that of another question.
    """
    tossed = compiled if isinstance(compiled, TossedProgram) else None
    program = compiled.program if isinstance(compiled, TossedProgram) else compiled
    if program is not None:
        of = program.mechanism if tossed is None else tossed.tossed.original
        if (of, program.size) != (question.mechanism, question.size):
            raise OtherQuestion(f"the program is that of {program.mechanism.name} at size {program.size}")
    said = program_document(question, program)
    if tossed is not None:
        said["coins"] = {tossed.tossed.source: coins_document(tossed.tossed)}
    return with_source(said, program_source(question.mechanism, question.size))


def coins_document(tossed: Tossed) -> dict[str, object]:
    """The coins that are tossed for a record, by name: their sorts, and their laws by the records in the order of their declaration."""
    return {
        name: {
            "sort": input_sort(declared),
            **({"laws": [[[_value(value), str(p)] for value, p in law] for law in coin.laws]} if coin.laws else {}),
        }
        for coin in tossed.coins
        for name, declared in tossed.mechanism.inputs[tossed.source].fields
        if name == coin.name
    }


def program_document(question: ProgramQuestion, program: Program | None) -> dict[str, object]:
    """The question, with the program of instructions where the certificate is about one."""
    inputs: dict[str, dict[str, object]] = {}
    for name, declared in question.mechanism.inputs.items():
        inputs[name] = {
            "shape": declared.shape,
            "sort": input_sort(declared),
            "public": declared.public,
            "within": None if declared.public or declared.within is None else str(declared.within),
            "low": None if declared.low is None else str(declared.low),
            "high": None if declared.high is None else str(declared.high),
            "size": declared.size,
        }
        if declared.fields:
            inputs[name] |= {"sort": "row", "fields": {part: _field(each) for part, each in declared.fields}}
        elif not declared.public and is_listed(declared) and not mixed_values(declared):
            inputs[name]["values"] = _values(declared)
    result: dict[str, object] = {
        "kind": "program",
        "title": question.name,
        "inputs": inputs,
        "relation": question.relation,
        "size": question.size,
    }
    if question.budget is not None:
        result["epsilon"] = str(question.budget.epsilon)
        if question.budget.delta != 0:
            result["delta"] = str(question.budget.delta)
    if question.delta is not None and question.claim is not None:
        result |= {"epsilon": str(question.claim.value_at({})), "delta": affine_document(question.delta)}
    if question.claim is not None and not (question.budget is not None and is_geometric(question.mechanism)):
        result["claim"] = affine_document(question.claim)
    if program is not None:
        result["sorts"] = {name: sort for name, sort in program.sorts.items() if name not in program.lists}
        if program.kept:
            result["lists"] = dict(program.kept)
        result["code"] = [_instruction(step, program) for step in program.code]
    return result


def _field(declared: Input) -> dict[str, object]:
    """A field of records."""
    return {
        "sort": input_sort(declared),
        "low": None if declared.low is None else str(declared.low),
        "high": None if declared.high is None else str(declared.high),
        "values": _values(declared) if is_listed(declared) else None,
    }


def _values(declared: Input) -> list[object]:
    return [_value(v) for v in declared.values or ()]


def _value(value: object) -> object:
    return value if isinstance(value, bool | str | None) else str(value)


def affine_document(value: Affine) -> dict[str, object]:
    """An expression in the size and public numbers as plain data."""
    made: dict[str, object] = {"constant": str(value.constant)}
    made["terms"] = {name: str(factor) for name, factor in value.terms}
    return made if value.ratio is None else {**made, "ratio": str(value.ratio)}


def _instruction(step: Instruction, program: Program) -> list[object]:
    match step:
        case Assign(name, Operation("filled", (count, value))):
            return ["fill", name, expression(count), expression(value)]
        case Assign(name, Operation("copied", (Variable(source),))):
            return ["copy", name, source]
        case Replace(name, index, value):
            return ["put", name, expression(index), expression(value)]
        case Append(name, value):
            return ["append", name, expression(value)]
        case Assign(name, value):
            if isinstance(value, Constant) and value.value is MISSING:
                return ["forget", name]
            return ["assign", name, expression(value)]
        case Sample(where=where) if where is not None:
            return [*_instruction(replace(step, where=None), program), expression(where)]
        case Sample(name, noise, arguments):
            if noise == "geometric":
                return ["sample", name, noise, expression(arguments[0]), {"alpha": str(program.scale(step).alpha)}]
            if noise == "discrete_gaussian":
                return [
                    "sample", name, noise, expression(arguments[0]), {"variance": str(program.scale(step).factor)},
                ]  # fmt: skip
            if noise in (PLACE, OTHERS, RANKED):
                return _selection_part(name, noise, arguments)
            if noise in CONTINUOUS:
                scale = program.scale(step)
                return [
                    "sample", name, noise, expression(arguments[0]),
                    {"factor": str(scale.factor), "names": list(scale.names)}
                    | ({} if scale.bound is None else {"bound": str(scale.bound)}),
                ]  # fmt: skip
            if noise == "uniform":
                return ["sample", name, noise, expression(arguments[0]), expression(arguments[1])]
            return ["sample", name, noise]
        case Emit(value):
            return ["emit", [expression(part) for part in output_parts(value)], *_processed_mark(value)]
        case Return(value):
            return ["return", [expression(part) for part in output_parts(value)], *_processed_mark(value)]
        case Test(test, then, otherwise):
            return ["test", expression(test), then, otherwise]
        case Jump(target):
            return ["jump", target]
        case Next(name, stream):
            return ["next", name, stream]
    raise AssertionError(step)


def _processed_mark(value: Expression) -> list[object]:
    """Whether an output is computed from its parts, and is not these themselves."""
    return [PROCESSED] if isinstance(value, Operation) and value.name == PROCESSED else []


def _selection_part(name: str, kind: str, arguments: tuple[Expression, ...]) -> list[object]:
    """A part of a selection."""
    if kind == RANKED:
        return ["ranked", [argument.name for argument in arguments if isinstance(argument, Variable)]]
    match arguments:
        case (Operation(_, (Variable(listed),)), *rest):
            names = [argument.name for argument in rest if isinstance(argument, Variable)]
            return [kind, name, listed, names] if kind == PLACE else [kind, name, listed, names[0], names[1:]]
        case (Constant(int() as count), *rest):
            names = [argument.name for argument in rest if isinstance(argument, Variable)]
            return [kind, name, count, names] if kind == PLACE else [kind, name, count, names[0], names[1:]]
    raise AssertionError(arguments)


def expression(value: Expression) -> list[object]:
    """An expression as plain data."""
    match value:
        case Constant(bool() as constant):
            return ["bool", constant]
        case Constant(int() as constant):
            return ["int", int(constant)]
        case Constant(Fraction() as constant):
            return ["rational", str(constant)]
        case Constant(constant):
            return ["tag", constant]
        case Variable(name):
            return ["variable", name]
        case Element(Variable(name), index):
            return ["read", name, expression(index)]
        case Conditional(test, then, otherwise):
            return ["if", expression(test), expression(then), expression(otherwise)]
        case Operation("len" | "turns", (Variable(name),)):
            return ["length", name]
        case Operation("entry" | "part" as name, (Variable(held), *places)):
            return [name, held, *map(expression, places)]
        case Operation("length", (Variable(held),)):
            return ["count", held]
        case Operation("whole" | "pos" | "bool", (inner,)):
            return expression(inner)
        case Operation("record" | "position" as head, (Variable(name),)):
            return [head, name]
        case Operation("field", (Operation("record", (Variable(name),)), Constant(part))):
            return ["record", name, part]
        case Operation("total", (Variable(name), added)):
            return ["total", name, expression(added)]
        case Operation(name, arguments):
            return [_SAME.get(name, name), *(expression(argument) for argument in arguments)]
    raise AssertionError(value)
