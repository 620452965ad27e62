"""What alignments do not speak of: refused, with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from privproof.compiling.differing import differing_by_assignment, differs
from privproof.compiling.rewriting import Unsupported, is_number
from privproof.compiling.sorts import (
    BITS,
    COMPARISONS,
    CONTINUOUS,
    OTHERS,
    PLACE,
    RANKED,
    SHIFTED,
    input_sort,
    mixed_values,
)
from privproof.compiling.summaries import SUMMED
from privproof.errors import LanguageError
from privproof.language.flow import Instruction, Test
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Replace,
    Return,
    Sample,
    Statement,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import parts, reads, rewrite_expression, statements, variables, variables_reached


def refuse_input(name: str, declared: Input, mechanism: Mechanism) -> None:
    """Refuse inputs that alignments do not speak of: of records they know totals, where one of them changes."""
    if declared.public:
        return
    relation = mechanism.neighbours
    if relation == ADD_REMOVE and (declared.shape != "list" or declared.size is not None):
        raise Unsupported(f"the input {name} has no records to add or remove: {declared}")
    if relation == ADD_REMOVE and sum(not each.public for each in mechanism.inputs.values()) > 1:
        raise Unsupported("there are several private inputs, and a record is added to one of them")
    if declared.within is None and (declared.shape != "list" or relation not in SUMMED):
        raise Unsupported(f"the input {name} is no number: {declared}")
    if declared.within is None and mixed_values(declared):
        raise Unsupported(f"the records of {name} are of different kinds: {declared}")


def refuse_outside(body: Block, mechanism: Mechanism) -> None:
    """Refuse what no engine for continuous noise can be right about, with its place.

    Raises:
        LanguageError: a scale that depends on the data, a product of two private values, a test for equality on noise.
    """
    high = differing_by_assignment(body, mechanism)

    def flows(statement: Statement, found: set[str]) -> bool:
        if isinstance(statement, Sample) and statement.noise in (PLACE, RANKED, *CONTINUOUS, OTHERS):
            return statement.noise not in (PLACE, RANKED)
        return any(found.intersection(_values(expression)) for expression in reads(statement))

    noisy = variables_reached(body, (), flows)  # by continuous noise, of which equality has probability 0

    def look(expression: Expression) -> None:
        match expression:
            case Operation("processed", (_, *given)):
                for part in given:
                    look(part)
                return
            case Operation("total", (Variable(data), added)) if high.isdisjoint(set(variables(added)) - {data}):
                return  # what it adds up speaks of one record and public numbers alone: its ends bound the change
            case Operation("*" | "repeat", (left, right), place) if differs(left, high, mechanism) and differs(
                right, high, mechanism
            ):
                raise LanguageError(
                    "product",
                    "two values that depend on the data or on noise are multiplied",
                    place=str(place),
                    hint="a product of private values has no bounded sensitivity; multiply by constants",
                )
            case Operation("/", (_, below), place) if differs(below, high, mechanism):
                raise LanguageError(
                    "quotient",
                    "a value is divided by one that depends on the data or on noise",
                    place=str(place),
                    hint="divide by constants and public numbers",
                )
            case Operation("==" | "!=" | "in" | "not in", operands, place) if any(
                noisy.intersection(_values(operand)) and not _discrete(operand) for operand in operands
            ):
                raise LanguageError(
                    "equality",
                    "a noisy number is tested for equality, which has probability 0",
                    place=str(place),
                    hint="compare with < or >=",
                )
            case Operation("//" | "%" | "int" | "**" as name, operands, place) if any(
                noisy.intersection(_values(operand)) for operand in operands
            ):
                raise LanguageError(
                    "rounding", f"{name} of a noisy number", place=str(place), hint="release the noisy number as it is"
                )
            case _:
                pass
        for part in parts(expression):
            look(part)

    decided = {s.name for s in statements(body) if isinstance(s, Assign) and _discrete(s.value)}
    noisy -= decided - {
        s.name for s in statements(body) if isinstance(s, Sample) or (isinstance(s, Assign) and not _discrete(s.value))
    }
    for statement in statements(body):
        for expression in reads(statement):
            look(expression)
        if isinstance(statement, Sample) and statement.noise in (*CONTINUOUS, "discrete_gaussian"):
            _, scale, *more = statement.arguments
            if any(differs(each, high, mechanism) for each in (scale, *more)):
                raise LanguageError(
                    "scale",
                    "the scale of the noise depends on the data or on noise",
                    place=str(statement.place),
                    hint="a scale of constants, parameters and public numbers",
                )
            if isinstance(scale, Constant) and is_number(scale.value) and scale.value <= 0:  # type: ignore[operator]
                raise LanguageError(
                    "scale", f"scale={scale.value} is not above 0", place=str(statement.place), hint="scale=1"
                )


def _values(expression: Expression) -> Iterator[str]:
    """The variables whose numbers flow into an expression; not those that are only compared."""
    match expression:
        case Operation(name, _) if name in (*COMPARISONS, "not", "and", "or", "len", "is", "is not"):
            return
        case Variable(name):
            yield name
        case Conditional(_, then, otherwise):
            yield from _values(then)
            yield from _values(otherwise)
        case _:
            for part in parts(expression):
                yield from _values(part)


def _discrete(expression: Expression) -> bool:
    """Whether an expression has a truth value, a text or None, or a whole number that noise only selects."""
    match expression:
        case Constant():
            return True
        case Operation(name, _):
            return name in (*COMPARISONS, "not", "and", "or", "is", "is not", "in", "not in", "bool")
        case Conditional(_, then, otherwise):
            return _discrete(then) and _discrete(otherwise)
        case _:
            return False


_KNOWN = {
    "+", "extend", "-", "*", "repeat", "/", "//", "%", "neg", "pos", "not", "and", "or", "len", "turns", "whole", "is", "is not",
    "max", "min", "abs", "tuple of", "bool", "total", "record", "field", "filled", *BITS, *COMPARISONS,
}  # fmt: skip


_KEPT = {"list of": "a list is kept", "fixed list of": "a list is used", "slice": "a part of a list"}


def refuse_instruction(step: Instruction, mechanism: Mechanism, kept: Collection[str] = ()) -> None:
    """Refuse instructions that alignments do not speak of; some lists are kept."""
    match step:
        case Append(name, _, place) | Replace(name, _, _, place) if name not in kept:
            raise Unsupported(f"the list {name} is kept, {place}; alignments know outputs, numbers and truth values")
        case Append(_, value):
            _expression(value, mechanism)
        case Replace(_, index, value):
            _expression(index, mechanism)
            _expression(value, mechanism)
        case Sample(_, noise, arguments, _, place):
            if noise not in (*SHIFTED, "bernoulli", "uniform", PLACE, OTHERS, RANKED):
                raise Unsupported(
                    f"{noise} noise, {place}; alignments are for laplace, exponential, gaussian and geometric noise"
                )
            for argument in arguments:
                _expression(argument, mechanism)
        case Test(test):
            _expression(test, mechanism)
        case Emit(Operation("processed", (_, *given))) | Return(Operation("processed", (_, *given))):
            for part in given:
                _expression(part, mechanism)
        case Assign(_, value) | Emit(value) | Return(value):
            if not (isinstance(value, Constant) and value.value is MISSING):
                _expression(value, mechanism)
        case _:
            pass


_PART = "the sum of a part of a list"
_TOTALS = "alignments know the sum of all of it, of a part whose ends are known where one value changes, and what a loop adds up"


def _somewhere(expression: Expression) -> Expression | None:
    """A number in the place of where a record is."""
    is_place = isinstance(expression, Operation) and expression.name == "position"
    return Constant(0, expression.place) if is_place else None


def _expression(expression: Expression, mechanism: Mechanism) -> None:
    match expression:
        case Operation("len" | "turns", (Variable(name),), place) if name in mechanism.inputs:
            if differs(expression, frozenset(), mechanism):
                raise Unsupported(f"a loop over {name}, which may have one element more, {place}")
            return
        case Operation("record" | "field" | "length"):
            return
        case Operation("position", _, place):
            raise Unsupported(f"{_PART}, {place}; {_TOTALS}")
        case Operation("copied", (Variable(name),), place):
            if name in mechanism.inputs and mechanism.neighbours == ADD_REMOVE and not mechanism.inputs[name].public:
                raise Unsupported(f"a copy of {name}, which may have one element more, {place}")
            return
        case Operation("entry" | "part", (_, *places)):
            for each in places:
                _expression(each, mechanism)
            return
        case Operation("total", (_, added)):
            _expression(rewrite_expression(added, _somewhere), mechanism)
            return
        case Operation("sum", (Operation("slice"),), place):
            raise Unsupported(f"{_PART}, {place}; {_TOTALS}")
        case Operation(name, arguments, place):
            if name not in _KNOWN:
                what = _KEPT.get(name, name.removesuffix(" of"))
                raise Unsupported(f"{what}, {place}; alignments know sums, multiples and comparisons of numbers")
            if name in ("max", "min") and len(arguments) < 2:
                raise Unsupported(f"{name} of a list, {place}; write the loop out")
        case Element(Variable(name), _, place):
            if mechanism.inputs.get(name) is None or mechanism.inputs[name].shape != "list":
                raise Unsupported(f"an element of {name}, which is no input list, {place}")
            declared = mechanism.inputs[name]
            other = bool(declared.fields) or input_sort(declared) not in ("int", "real")
            if not declared.public and (other or mechanism.neighbours == ADD_REMOVE):
                raise Unsupported(f"a record of {name} is read outside of a sum over all of them, {place}")
            _expression(expression.index, mechanism)
            return
        case Element(_, _, place):
            raise Unsupported(f"an element of something that is no input list, {place}")
        case Variable(name, place) if name in mechanism.inputs and mechanism.inputs[name].shape == "list":
            raise Unsupported(f"the whole list {name} is used, {place}")
        case Constant(value, place) if isinstance(value, tuple):
            raise Unsupported(f"a tuple, {place}")
        case _:
            pass
    for part in parts(expression):
        _expression(part, mechanism)
