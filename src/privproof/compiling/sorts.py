"""Sorts: every variable of a program holds whole numbers, numbers, truth values, or tags (texts and None), and nothing else.

Python takes the truth of anything; a program takes that of truth values alone.  `settle_sorts` says ``n != 0`` where a number stands in the
place of a truth value, and refuses what no program can say: a tuple that is kept, the truth of a text, a comparison of a number with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeAlias

from privproof.compiling.rewriting import Unsupported
from privproof.language import laws
from privproof.language.flow import Instruction, Next, Test
from privproof.language.inputs import Input
from privproof.language.laws import WEIGHED
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Replace,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import parts, variables

Sort: TypeAlias = Literal["int", "real", "bool", "tag"]
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
BITS = (">>", "<<", "&", "|", "^", "**", "bit_length")
"""Operations on public whole numbers of which alignments know nothing but that both runs get the same."""
PURE = ("laplace", "exponential", "gumbel")
"""The noises on the line that are shifted at a cost in epsilon alone; exponential and Gumbel noise only upwards."""
CONTINUOUS = laws.CONTINUOUS
SHIFTED = (*CONTINUOUS, *laws.WHOLE)
"""The noises that an alignment moves; noise on the integers by whole numbers."""
PROCESSED = "processed"
"""The operation of an output with what it is computed from, see `compiling.postprocessing`."""
PLACE, OTHERS, RANKED = "place", "others", "ranked"
"""The draws of a selection that are no noise of their own, see `compiling.selections`."""
CHOICE = "exponential_mechanism"
CHOICES = (CHOICE, WEIGHED)
"""The choices of a place by the scores of all: with rounded weights, and with those that are meant."""
_TRUTHS = ("bernoulli", RANKED)
_REALS = (*CONTINUOUS, OTHERS)
_NUMBERS = ("int", "real")


def sort_of(expression: Expression, sorts: Mapping[str, Sort], mechanism: Mechanism) -> Sort | None:
    """The sort of an expression, None if it is not known yet."""
    match expression:
        case Constant(bool()):
            return "bool"
        case Constant(int()):
            return "int"
        case Constant(Fraction()):
            return "real"
        case Constant():
            return "tag"
        case Variable(name):
            return sorts.get(name)
        case Element(Variable(name)):
            return input_sort(mechanism.inputs[name])
        case Conditional(_, then, otherwise):
            return _join(sort_of(then, sorts, mechanism), sort_of(otherwise, sorts, mechanism))
        case Operation("and" | "or", arguments):
            found = {sort_of(a, sorts, mechanism) for a in arguments} - {None}
            if found - {"bool"}:
                raise Unsupported(f"and/or of something that is no truth value, {expression.place}")
            return "bool"
        case Operation(name) if name in (*COMPARISONS, "not", "is", "is not", "bool"):
            return "bool"
        case Operation("len" | "turns" | "//" | "whole" | "length" | "position"):
            return "int"
        case Operation("entry" | "part", (held, *_)) | Operation("filled", (_, held)):
            return sort_of(held, sorts, mechanism)
        case Operation("copied", (Variable(name),)):
            return input_sort(mechanism.inputs[name]) if name in mechanism.inputs else sorts.get(name)
        case Operation("record", (Variable(name),)):
            return input_sort(mechanism.inputs[name])
        case Operation("field", (Operation("record", (Variable(name),)), Constant(field))):
            return input_sort(field_of(mechanism.inputs[name], field))
        case Operation("total", (_, added)):
            return sort_of(added, sorts, mechanism)
        case Operation("/"):
            return "real"
        case Operation(_, arguments):
            found_: Sort | None = None
            for argument in arguments:
                found_ = _join(found_, sort_of(argument, sorts, mechanism))
            return found_
    return None


def _join(one: Sort | None, other: Sort | None) -> Sort | None:
    if one is None or one == other:
        return other
    if other is None:
        return one
    if {one, other} == {"int", "real"}:
        return "real"
    raise Unsupported(f"a variable holds a {_SAID[one]} and a {_SAID[other]}")


_SAID = {"int": "whole number", "real": "number", "bool": "truth value", "tag": "text or None"}


def input_sort(declared: Input) -> Sort:
    """The sort of an input's values."""
    if declared.within is None and declared.values is not None:
        kinds = {type(value) for value in declared.values}
        if kinds & {str, type(None)}:
            return "tag"
        return "bool" if kinds == {bool} else "real" if Fraction in kinds else "int"
    return "real" if declared.real else "int"


def is_listed(declared: Input) -> bool:
    """Whether the values of an input are given one by one, and are no range of whole numbers."""
    return declared.within is None and declared.values is not None and not declared.fields


def field_of(declared: Input, name: object) -> Input:
    """A field of records."""
    found = dict(declared.fields).get(str(name))
    if found is None:
        raise Unsupported(f"{declared} has no field {name!r}")
    return found


def mixed_values(declared: Input) -> bool:
    """Whether the listed values of an input are of no common sort.

    >>> from privproof.language import records
    >>> mixed_values(records("a", None)), mixed_values(records(1, "a")), mixed_values(records(2, True))
    (False, True, True)
    """
    if declared.fields:
        return any(is_listed(each) and mixed_values(each) for _, each in declared.fields)
    kinds: list[set[type]] = [{bool}, {int, Fraction}, {str, type(None)}]
    found = {type(value) for value in declared.values or ()}
    return declared.values is not None and not any(found <= kind for kind in kinds)


def variable_sorts(code: tuple[Instruction, ...], mechanism: Mechanism) -> tuple[dict[str, Sort], dict[object, int]]:
    """The sorts of variables, as far as their values tell them, and the texts (and None) with their numbers."""
    sorts: dict[str, Sort] = {}
    tags: dict[object, int] = {}
    for name, declared in mechanism.inputs.items():
        if declared.shape == "value":
            sorts[name] = input_sort(declared)

    for declared in mechanism.inputs.values():
        for each in [field for _, field in declared.fields] or [declared]:
            if is_listed(each) and input_sort(each) == "tag":
                for value in each.values or ():
                    tags.setdefault(value, len(tags))

    def note(expression: Expression) -> None:
        if isinstance(expression, Constant) and (expression.value is None or isinstance(expression.value, str)):
            tags.setdefault(expression.value, len(tags))
        for part in parts(expression):
            note(part)

    for _ in range(len(code) + 2):
        before = dict(sorts)
        for step in code:
            match step:
                case Assign(name, value) | Replace(name, _, value) | Append(name, value):
                    if _is_missing(value):
                        continue
                    note(value)
                    try:
                        joined = _join(sorts.get(name), sort_of(value, sorts, mechanism))
                    except Unsupported as problem:
                        raise Unsupported(f"{name}: {problem}, {step.place}") from None
                    if joined is not None:
                        sorts[name] = joined
                case Sample(name, noise, _):
                    made: Sort = "bool" if noise in _TRUTHS else "real" if noise in _REALS else "int"
                    sorts[name] = _join(sorts.get(name), made) or made
                case Next(name, stream):
                    sorts[name] = input_sort(mechanism.inputs[stream])
                case Test(test):
                    note(test)
                case Emit(value) | Return(value):
                    note(value)
                case _:
                    pass
        if before == sorts:
            break
    for step in code:
        if isinstance(step, Assign) and _is_missing(step.value):
            sorts.setdefault(step.name, "int")  # it never has a value: any sort will do
    return sorts, tags


def _is_missing(value: Expression) -> bool:
    return isinstance(value, Constant) and value.value is MISSING


def output_parts(value: Expression) -> tuple[Expression, ...]:
    """The parts of an output."""
    match value:
        case Operation("tuple of", arguments):
            return arguments
        case Operation("processed", (_, *ingredients)):
            return tuple(ingredients)
        case Constant(None):
            return ()
        case _:
            return (value,)


def is_choice(sample: Sample, kind: str) -> bool:
    """Whether Gumbel noise stands for a choice by scores of this kind, which the function makes."""
    made = sample.arguments[2] if sample.noise == "gumbel" and len(sample.arguments) > 2 else None
    return isinstance(made, Constant) and made.value == kind


def refuse_choices(code: tuple[Instruction, ...], sorts: Mapping[str, Sort]) -> None:
    """Refuse choices by scores that may not be whole.

    The exponential mechanism draws from powers of a number that is rounded, and which power that is depends on the denominators of scores.
    """
    for step in code:
        if isinstance(step, Sample) and is_choice(step, CHOICE):
            center = step.arguments[0]
            if not isinstance(center, Variable) or sorts.get(center.name) != "int":
                raise Unsupported(f"{CHOICE} with scores that may not be whole, {step.place}; gumbel(score, scale=...)")


def settle_sorts(
    code: tuple[Instruction, ...],
    sorts: Mapping[str, Sort],
    noisy: frozenset[str],
    optional: Mapping[str, str],
    mechanism: Mechanism,
) -> tuple[Instruction, ...]:
    """The instructions with a truth value wherever one is needed.

    Args:
        code: the instructions.
        sorts: the sorts of variables.
        noisy: the variables in whose value noise has a part.
        optional: the variables that may be None.
        mechanism: the mechanism.

    Raises:
        Unsupported: values that do not fit stand together, or a variable is read that never has a value.
    """
    settling = _Settling(sorts, noisy, optional, mechanism)
    return tuple(settling.instruction(step) for step in code)


class _Settling:
    def __init__(
        self, sorts: Mapping[str, Sort], noisy: frozenset[str], optional: Mapping[str, str], mechanism: Mechanism
    ) -> None:
        self.sorts, self.noisy, self.optional, self.mechanism = sorts, noisy, optional, mechanism

    def instruction(self, step: Instruction) -> Instruction:
        """An instruction with its expressions settled."""
        match step:
            case Assign(name, value, place):
                if _is_missing(value):
                    return step
                if isinstance(value, Operation) and value.name == "tuple of":
                    raise Unsupported(f"a tuple is kept, {place}; alignments know outputs, numbers and truth values")
                settled = self.value(value)
                made = isinstance(value, Operation) and value.name in ("filled", "copied")
                if name not in self.sorts and not made:
                    raise Unsupported(f"{name} has no value, {place}")
                return replace(step, value=settled)
            case Replace(_, index, value):
                return replace(step, index=self.value(index), value=self.value(value))
            case Append(_, value):
                return replace(step, value=self.value(value))
            case Sample():
                where = None if step.where is None else self.truth(step.where)
                return replace(step, arguments=tuple(self.value(each) for each in step.arguments), where=where)
            case Test(test):
                return replace(step, test=self.truth(test))
            case Emit(Operation("processed", (shown, *given)) as value) | Return(
                Operation("processed", (shown, *given)) as value
            ):
                return replace(step, value=replace(value, arguments=(shown, *map(self.value, given))))
            case Emit(value) | Return(value):
                if isinstance(value, Operation) and value.name == "tuple of":
                    return replace(step, value=replace(value, arguments=tuple(map(self.value, value.arguments))))
                return replace(step, value=self.value(value))
        return step

    def truth(self, expression: Expression) -> Expression:
        """An expression whose truth is taken, as a truth value."""
        match expression:
            case Operation("and" | "or" | "not", arguments):
                return replace(expression, arguments=tuple(map(self.truth, arguments)))
            case Conditional(test, then, otherwise):
                return replace(
                    expression, test=self.truth(test), then=self.truth(then), otherwise=self.truth(otherwise)
                )
        settled = self.value(expression)
        sort = self.sort(settled)
        if sort == "bool":
            return settled
        if sort == "tag":
            raise Unsupported(f"the truth of a text or of None, {expression.place}")
        if isinstance(expression, Variable) and expression.name in self.optional:
            raise Unsupported(f"the truth of {expression.name}, which may be None, {expression.place}")
        if self.noisy.intersection(variables(expression)):
            raise Unsupported(f"the truth of a noisy number, {expression.place}")
        return Operation("!=", (settled, Constant(0, expression.place)), expression.place)

    def value(self, expression: Expression) -> Expression:
        """An expression with the truth values inside it settled."""
        match expression:
            case Constant():
                return expression
            case Variable(name, place):
                if name not in self.sorts:
                    raise Unsupported(f"{name} has no value, {place}")
                return expression
            case Element(_, index):
                return replace(expression, index=self.value(index))
            case Conditional(test, then, otherwise):
                return replace(
                    expression, test=self.truth(test), then=self.value(then), otherwise=self.value(otherwise)
                )
            case Operation("bool", (inner,)):
                return self.truth(inner)
            case Operation("not", (inner,)):
                return replace(expression, arguments=(self.truth(inner),))
            case Operation("len" | "turns" | "record" | "position" | "field" | "length" | "copied"):
                return expression
            case Operation("entry" | "part", (held, *places)):
                return replace(expression, arguments=(held, *map(self.value, places)))
            case Operation("total", (source, added), place):
                settled = Operation("total", (source, self.value(added)), place)
                self.fits(replace(settled, arguments=settled.arguments[1:]))
                return settled
            case Operation(name, arguments, place):
                if name == "tuple of":
                    raise Unsupported(f"a tuple inside a larger expression, {place}")
                settled = replace(expression, arguments=tuple(map(self.value, arguments)))
                self.fits(settled)
                return settled
        raise Unsupported(f"an expression at {expression.place}")

    def fits(self, operation: Operation) -> None:
        """Refuse an operation whose operands are of sorts that it is not about."""
        found = {self.sort(argument) for argument in operation.arguments}
        name, place = operation.name, operation.place
        if name in ("and", "or"):
            if found != {"bool"}:
                raise Unsupported(f"and/or of something that is no truth value, {place}")
        elif name in ("==", "!=", "is", "is not"):
            if len(found) > 1 and not found <= set(_NUMBERS):
                said = " and a ".join(sorted(_SAID[sort] for sort in found))
                raise Unsupported(f"a {said} are compared, {place}")
        elif not found <= set(_NUMBERS):
            said = "truth value" if "bool" in found else "text or None"
            raise Unsupported(f"a {said} where a number is needed, {place}")

    def sort(self, expression: Expression) -> Sort:
        """The sort of an expression whose variables all have one."""
        found = sort_of(expression, self.sorts, self.mechanism)
        if found is None:
            raise Unsupported(f"nothing tells what is computed, {expression.place}")
        return found
