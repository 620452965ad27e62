"""Totals as the loops that they stand for: what a certificate writes as one sum, the text adds up record by record.

``x = total(data, e)`` is ``x = 0; i = 0; while i < len(data): x = x + e(data[i]); i = i + 1``, by the meaning of a total.  Totals over one
list that follow each other share a loop: so a loop of the text that adds to several variables has one loop to be compared with.  The
total of ones is the length.
"""

from __future__ import annotations

from dataclasses import replace

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.programs.instruction_kinds import Assign, Instruction, Jump, Program, Test
from privproof_checker.programs.program_expressions import Expression

_PLACE = "question.code"


def unfolded(program: Program) -> Program:
    """The same program with loops in the place of totals that are assigned to variables."""
    targets = {
        t for at, step in enumerate(program.code) if isinstance(step, Test | Jump) for t in program.following(at)
    }
    code: list[Instruction] = []
    moved: dict[int, int] = {}
    variables = dict(program.variables)
    plain: set[int] = set()
    at = 0
    while at < len(program.code):
        moved[at] = len(code)
        group = _group(program, at, targets)
        if len(group) == 1 and group[0].value.parts[0].constant == 1:
            code.append(Assign(group[0].name, Expression("length", "int", _PLACE, name=group[0].value.name)))
            at += 1
        elif group:
            index = f"total: index {at}"
            variables[index] = "int"
            code += _loop(group, index, program, len(code))
            at += len(group)
        else:
            plain.add(len(code))
            code.append(program.code[at])
            at += 1
    aimed = [_aimed(step, moved) if number in plain else step for number, step in enumerate(code)]
    return replace(program, variables=variables, code=tuple(aimed))


def _group(program: Program, at: int, targets: set[int]) -> list[Assign]:
    """The totals over one list that follow each other from here on, none of which another is made of."""
    found: list[Assign] = []
    while at < len(program.code):
        step = program.code[at]
        if not isinstance(step, Assign) or step.value.head != "total" or (found and at in targets):
            break
        if step.value.parts[0].constant == 1 and found:
            break
        if found and (step.value.name != found[0].value.name or _names(step.value) & {each.name for each in found}):
            break
        found.append(step)
        at += 1
        if step.value.parts[0].constant == 1:
            break
    return found


def _names(expression: Expression) -> set[str]:
    own = {expression.name} if expression.head == "variable" else set()
    return own.union(*(_names(part) for part in expression.parts))


def _loop(group: list[Assign], index: str, program: Program, start: int) -> list[Instruction]:
    name = group[0].value.name
    counter = Expression("variable", "int", _PLACE, name=index)
    begin: list[Instruction] = [Assign(each.name, _number(ZERO, program.variables[each.name])) for each in group]
    begin.append(Assign(index, _number(ZERO, "int")))
    head = start + len(begin)
    end = head + len(group) + 3
    length = Expression("length", "int", _PLACE, name=name)
    loop: list[Instruction] = [Test(Expression("<", "bool", _PLACE, (counter, length)), head + 1, end)]
    for each in group:
        sort = program.variables[each.name]
        before = Expression("variable", sort, _PLACE, name=each.name)
        loop.append(Assign(each.name, Expression("+", sort, _PLACE, (before, _read(each.value.parts[0], counter)))))
    loop += [Assign(index, Expression("+", "int", _PLACE, (counter, _number(ONE, "int")))), Jump(head)]
    return [*begin, *loop]


def _number(value: Rational, sort: str) -> Expression:
    return Expression("literal", sort, _PLACE, value=value, constant=value)


def _read(expression: Expression, counter: Expression) -> Expression:
    """What is added, of the record of the turn."""
    if expression.head == "record":
        return Expression("read", expression.sort, expression.place, (counter,), expression.name)
    if expression.head == "position":
        return counter
    return replace(expression, parts=tuple(_read(part, counter) for part in expression.parts))


def _aimed(step: Instruction, moved: dict[int, int]) -> Instruction:
    match step:
        case Test(condition, then, otherwise):
            return Test(condition, moved[then], moved[otherwise])
        case Jump(target):
            return Jump(moved[target])
        case _:
            return step
