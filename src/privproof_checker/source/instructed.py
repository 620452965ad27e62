"""A program of instructions on numbers that are left open: what a certificate's question says, step by step.

Truth values and tags are always known: a comparison that the facts do not settle raises `Open` before anything has happened.  A variable
without a value may hold anything; so may one that was forgotten.  It may be copied, but nothing may be made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from privproof_checker.numbers import fraction
from privproof_checker.outcomes import refuse
from privproof_checker.programs.instruction_kinds import (
    Assign,
    Coin,
    EmitOutput,
    Forget,
    Instruction,
    Jump,
    Logarithm,
    NextValue,
    Program,
    Return,
    Sample,
    Test,
    Whole,
)
from privproof_checker.programs.program_expressions import Expression
from privproof_checker.source.code import needed_from
from privproof_checker.source.facts import Asked, Path
from privproof_checker.source.following import OPEN, Answers, entry_of
from privproof_checker.source.running import Work
from privproof_checker.source.symbols import Atom, Parts, Term, constant_of, number_of, parts_of, plus, times
from privproof_checker.source.values import Beyond

_OBSERVED = Sample | Coin | Whole | EmitOutput | Return | NextValue


@dataclass(frozen=True)
class Tag:
    """A text, or None, by its number."""

    number: int


@dataclass(frozen=True)
class Anything:
    """No value: any one."""


ANYTHING = Anything()
Held: TypeAlias = "Term | bool | Tag | Anything"


@dataclass(eq=False)
class Executing:
    """Where the program is: the next instruction, and the variables that have a value."""

    at: int = 0
    variables: dict[str, Held] = field(default_factory=dict)
    leaving: bool = False


class Instructed:
    """Executes a program.

    Attributes:
        program: the program.
        path: what is known on the way.
        given: the inputs that are lists, and those that are values.
        heads: the instructions that a loop comes back to.
        live: for every instruction the variables that are needed from there on.
    """

    def __init__(self, program: Program, path: Path, work: Work, lists: Mapping[str, Answers]) -> None:
        self.program, self.path, self.work, self.lists = program, path, work, lists
        targets = [(at, target) for at in range(len(program.code)) for target in program.following(at)]
        if any(target >= len(program.code) for _, target in targets):
            refuse("the code ends without a return", "question.code")
        self.heads = frozenset(target for at, target in targets if target <= at)
        work.spend(len(program.code))
        onward = [program.following(at) for at in range(len(program.code))]
        written = [getattr(step, "name", None) for step in program.code]
        self.live = needed_from(onward, [_read(step) for step in program.code], written)

    def advance(self, side: Executing) -> Instruction | None:
        """Execute up to the next instruction that can be observed, or to the head of a loop (None)."""
        while True:
            step = self.program.code[side.at]
            if not side.leaving and side.at in self.heads:
                return None
            if isinstance(step, _OBSERVED) and not self.idle(step, side):
                return step
            self.work.spend(OPEN)
            match step:
                case Assign(name, value):
                    side.variables[name] = self.value(value, side)
                case Forget(name):
                    side.variables[name] = ANYTHING
                case Test(condition, then, otherwise):
                    side.at = then if self.truth(condition, side) else otherwise
                case Sample(name):
                    side.variables[name] = self.path.term(self.path.atoms.new(Atom(whole=step.whole)))
                case Jump(target):
                    side.at = target
            if not isinstance(step, Test | Jump):
                side.at += 1
            side.leaving = False

    def idle(self, step: Instruction, side: Executing) -> bool:
        """Whether an instruction draws noise that the text does not draw: then what follows must be right for every value of it."""
        return isinstance(step, Sample) and step.where is not None and not self.truth(step.where, side)

    def trimmed(self, side: Executing) -> dict[str, Held]:
        """The variables that are needed from here on, by name; those without a value too."""
        return {name: side.variables.get(name, ANYTHING) for name in sorted(self.live[side.at])}

    def truth(self, expression: Expression, side: Executing) -> bool:
        """A truth value."""
        found = self.value(expression, side)
        if not isinstance(found, bool):
            raise Beyond("a truth value without a value is used", expression.place)
        return found

    def number(self, expression: Expression, side: Executing) -> Term:
        """A number."""
        found = self.value(expression, side)
        if not isinstance(found, Term):
            raise Beyond("a number without a value is used", expression.place)
        return found

    def value(self, expression: Expression, side: Executing) -> Held:
        """The value of an expression; only what is needed is evaluated."""
        head, parts, sort = expression.head, expression.parts, expression.sort
        match head:
            case "literal":
                if isinstance(expression.value, bool):
                    return expression.value
                assert expression.value is not None
                if sort == "tag":
                    return Tag(int(expression.value.p))
                return Term(parts_of(fraction(expression.value)), sort == "int")
            case "variable":
                return side.variables.get(expression.name, ANYTHING)
            case "length":
                return Term(parts_of(self.lists[expression.name].length), whole=True)
            case "read":
                return self._entry(expression, side)
            case "total":
                raise Beyond("a sum over records is not followed in the text", expression.place)
            case "if":
                return self.value(parts[1] if self.truth(parts[0], side) else parts[2], side)
            case "not":
                return not self.truth(parts[0], side)
            case "and" | "or":
                return self._joined(head, parts, side)
        if sort == "bool":
            left, right = (self.value(part, side) for part in parts)
            return self._compared(head, left, right, expression.place)
        return self._arithmetic(head, [self.number(part, side) for part in parts], whole=sort == "int")

    def _joined(self, head: str, parts: tuple[Expression, ...], side: Executing) -> bool:
        return all(self.truth(p, side) for p in parts) if head == "and" else any(self.truth(p, side) for p in parts)

    def _entry(self, expression: Expression, side: Executing) -> Term:
        """An entry of a list."""
        answers = self.lists[expression.name]
        index = self.number(expression.parts[0], side)
        if self.path.less(index, 0) or not self.path.less(index, answers.length):
            raise Beyond(f"an index may lie outside of {answers.name!r}", expression.place)
        return entry_of(self.path, answers.name, index.parts, answers.entry)

    def _compared(self, head: str, left: Held, right: Held, place: str) -> bool:
        if isinstance(left, Term) and isinstance(right, Term):
            match head:
                case "==" | "!=":
                    return self.path.equal(left, right) == (head == "==")
                case "<" | ">":
                    return self.path.less(*((left, right) if head == "<" else (right, left)))
                case _:
                    return not self.path.less(*((right, left) if head == "<=" else (left, right)))
        if type(left) is not type(right) or isinstance(left, Anything) or head not in ("==", "!="):
            raise Beyond("something without a value is compared", place)
        return (left == right) == (head == "==")

    def _arithmetic(self, head: str, values: list[Term], *, whole: bool) -> Term:
        first = values[0].parts
        match head:
            case "+" | "-":
                found = plus(first, values[1].parts, 1 if head == "+" else -1)
            case "neg":
                found = plus({}, first, -1)
            case "*":
                found = times(first, values[1].parts)
            case "/":
                found = times(first, {(): 1 / constant_of(values[1].parts)})
            case "//" | "%":
                above, below = (number_of(value.parts, whole=value.whole) for value in values)
                if self.path.facts.answer(Asked("zero", parts_of(below))) is not False:
                    raise Beyond("a divisor may be 0", "question.code")
                found = parts_of(self.path.divided(above, below, "FloorDiv" if head == "//" else "Mod"))
            case "abs":
                found = plus({}, first, -1) if self.path.less(values[0], 0) else first
            case "max" | "min":
                best, *others = values
                for other in others:
                    if self.path.less(*((best, other) if head == "max" else (other, best))):
                        best = other
                found = best.parts
            case _:
                raise Beyond(f"the operation {head[:40]!r}", "question.code")
        return Term(found, whole)


def scale_of(sample: Sample, given: Mapping[str, Held]) -> Parts:
    """The scale of a noise: a factor times public numbers."""
    found: Parts = {(): fraction(sample.factor)}
    assert not isinstance(sample.group, Logarithm)
    for name in sample.group if isinstance(sample.group, tuple) else ():
        value = given[name]
        assert isinstance(value, Term)
        found = times(found, value.parts)
    return found


def _read(step: Instruction) -> frozenset[str]:
    """The variables that an instruction reads."""
    match step:
        case Sample(_, _, value, where=where):
            return _names(value) if where is None else _names(value, where)
        case Assign(_, value):
            return _names(value)
        case Whole(_, low, high):
            return _names(low, high)
        case EmitOutput(parts) | Return(parts):
            return _names(*parts)
        case Test(condition):
            return _names(condition)
    return frozenset()


def _names(*expressions: Expression) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(expressions)
    while waiting:
        part = waiting.pop()
        if part.head == "variable":
            found.add(part.name)
        waiting.extend(part.parts)
    return frozenset(found)
