"""Kinds of numbers: whole numbers and fractions that are equal print differently, and an observer sees what is printed.

Programs are compared on numbers: for an alignment two outputs are the same if they are equal.  In Python 1 and Fraction(1) are equal, and
their texts are not.  So a number that is shown must be of one kind, whichever way a run goes: then equal numbers print alike.  The kinds of
a variable are those of everything that is assigned to it, wherever; what has two that may be equal is refused.  Continuous noise makes a
float of everything that it meets, and equals a number of another kind with probability zero.  Numbers that the caller gives as public
ones are taken as numbers, whatever their kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, Literal, TypeAlias

from privproof.compiling.rewriting import Unsupported
from privproof.compiling.sorts import COMPARISONS, CONTINUOUS
from privproof.language.inputs import Input
from privproof.language.laws import WHOLE
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Conditional,
    Constant,
    Each,
    Element,
    Emit,
    Expression,
    Inline,
    Operation,
    Replace,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
)
from privproof.language.walking import map_expressions, statements

Kind: TypeAlias = Literal["whole", "fraction", "float", "given", "noise"]
"""What a number is: an int, a Fraction, a float, whatever the caller gives, or a float with continuous noise."""


@dataclass(frozen=True, order=True)
class Number:
    """A kind of number, and the number where it is a constant."""

    kind: Kind
    value: Fraction | None = None


Kinds: TypeAlias = frozenset[Number]
_NONE: Kinds = frozenset()
_WHOLE: Kinds = frozenset((Number("whole"),))
_FRACTION: Kinds = frozenset((Number("fraction"),))
_NOISE: Kinds = frozenset((Number("noise"),))
_STRONGEST: tuple[Kind, ...] = ("noise", "given", "float", "fraction", "whole")
"""Of two numbers in a sum or product the first of these is the kind of the result."""
_ARITHMETIC = ("+", "-", "*", "%", "**", "extend")
_ROUNDING = ("int", "floor", "ceil", "trunc", "round")
_COUNTS = ("len", "turns", "count", "index", "whole", "//", *_ROUNDING)
_TRUTHS = (*COMPARISONS, "not", "is", "is not", "in", "not in", "bool", "all", "any", "has key", "holds", "alike")
_HOLDING = ("tuple of", "list of", "fixed list of", "record of", "table of")


def refuse_several_kinds(mechanism: Mechanism) -> None:
    """Refuse a mechanism that shows a number which may be whole or a fraction.

    Its statements are looked at as they were written: what is computed beforehand need not keep the kind.

    Raises:
        Unsupported: there is one; the message says where.
    """
    body = mechanism.translated.body
    kinds = _Kinds(mechanism.inputs, mechanism.parameters)
    kinds.follow(body)
    for statement in statements(body):
        match statement:
            case Return(value) | Emit(value) | Append(_, value) | Replace(_, _, value):
                for leaf in _leaves(value):
                    for one, other in combinations(kinds.of(leaf), 2):
                        if _may_be_equal(one, other):
                            said = " or ".join(sorted((_SAID[one.kind], _SAID[other.kind])))
                            raise Unsupported(
                                f"what is shown may be {said}, which print differently where they are equal, "
                                f"{leaf.place}; make them all Fraction(...), or none"
                            )


def whole_already(body: Block, mechanism: Mechanism) -> Block:
    """The body without rounding of what is a whole number: ``int(count + geometric(0, alpha="1/2"))``."""
    kinds = _Kinds(mechanism.inputs, mechanism.parameters)
    kinds.follow(body)

    def unrounded(expression: Expression) -> Expression | None:
        match expression:
            case Operation(name, (inner,), place) if name in _ROUNDING:
                if {number.kind for number in kinds.of(inner)} == {"whole"}:
                    return Operation("whole", (inner,), place)
        return None

    return map_expressions(body, unrounded)


_SAID: Mapping[Kind, str] = {"whole": "a whole number", "fraction": "a fraction", "float": "a float"}


def _may_be_equal(one: Number, other: Number) -> bool:
    """Whether two numbers of different kinds may be equal."""
    if one.kind == other.kind or not {one.kind, other.kind} <= _SAID.keys():
        return False
    if one.value is not None and other.value is not None:
        return one.value == other.value
    for constant, any_number in ((one, other), (other, one)):
        if constant.value is not None and any_number.kind == "whole":
            return constant.value.denominator == 1
    return True


def _leaves(value: Expression) -> Iterator[Expression]:
    match value:
        case Operation(name, arguments) if name in _HOLDING:
            for argument in arguments:
                yield from _leaves(argument)
        case _:
            yield value


class _Kinds:
    """The kinds of variables, as far as they are known."""

    def __init__(self, inputs: Mapping[str, Input], parameters: Mapping[str, Any]) -> None:
        self.known: dict[str, Kinds] = {name: _input_kinds(declared) for name, declared in inputs.items()}
        self.known |= {name: _value_kinds(value) for name, value in parameters.items()}

    def follow(self, body: Block) -> None:
        """Find the kinds of all variables: the smallest sets that all assignments agree with."""
        changed = True
        while changed:
            changed = False
            for name, found in self._assigned(body):
                if not found <= self.known.get(name, _NONE):
                    self.known[name] = self.known.get(name, _NONE) | found
                    changed = True

    def _assigned(self, block: Block) -> Iterator[tuple[str, Kinds]]:
        for statement in statements(block):
            match statement:
                case Assign(name, value) | Append(name, value) | Replace(name, _, value):
                    yield name, self.of(value)
                case Sample(name, noise, arguments):
                    yield name, self._noise(noise, arguments)
                case Each(name, stream):
                    yield name, self.known.get(stream, _NONE)
                case Inline(name, inner):
                    for value in _results(inner):
                        yield name, self.of(value)

    def _noise(self, noise: str, arguments: tuple[Expression, ...]) -> Kinds:
        if noise in CONTINUOUS:
            return _NOISE
        if noise.endswith("geometric") or noise in WHOLE:
            return _WHOLE
        return self._union(arguments)

    def _union(self, expressions: tuple[Expression, ...]) -> Kinds:
        return _NONE.union(*map(self.of, expressions))

    def of(self, expression: Expression) -> Kinds:
        """The kinds that an expression may have; none for what is no number."""
        match expression:
            case Constant(value):
                return _value_kinds(value)
            case Variable(name):
                return self.known.get(name, _NONE)
            case Element(sequence):
                return self.of(sequence)
            case Conditional(_, then, otherwise):
                return self.of(then) | self.of(otherwise)
            case Operation(name) if name in _COUNTS:
                return _WHOLE
            case Operation(name) if name in _TRUTHS:
                return _NONE
            case Operation("Fraction", (Constant(int(above)), Constant(int(below)))) if below != 0:
                return _value_kinds(Fraction(above, below))
            case Operation("Fraction", (Constant(int(number)),)):
                return _value_kinds(Fraction(number))
            case Operation("Fraction"):
                return _FRACTION
            case Operation("/", (left, right)):
                return _combined(self.of(left), self.of(right), whole="float")
            case Operation(name, (left, right)) if name in _ARITHMETIC:
                return _combined(self.of(left), self.of(right), whole="whole")
            case Operation(_, arguments):
                return self._union(arguments)


def _combined(left: Kinds, right: Kinds, *, whole: Kind) -> Kinds:
    """The kinds of a sum or product, or of a quotient: that of two whole numbers is named."""
    if not left or not right:
        return frozenset(Number(each.kind) for each in left | right)
    found = (next(kind for kind in _STRONGEST if kind in (one.kind, other.kind)) for one, other in product(left, right))
    return frozenset(Number(whole if kind == "whole" else kind) for kind in found)


def _results(block: Block) -> Iterator[Expression]:
    """What a called function gives back."""
    found: list[Statement] = list(statements(block))
    return (statement.value for statement in found if isinstance(statement, Result))


def _input_kinds(declared: Input) -> Kinds:
    if declared.fields:
        return _NONE.union(*(_input_kinds(each) for _, each in declared.fields))
    if declared.within is None and declared.values is not None:
        return _NONE.union(*map(_value_kinds, declared.values))
    return frozenset((Number("given"),)) if declared.real else _WHOLE


def _value_kinds(value: Any) -> Kinds:
    match value:
        case bool():
            return _NONE
        case int():
            return frozenset((Number("whole", Fraction(value)),))
        case Fraction():
            return frozenset((Number("fraction", value),))
        case float():
            return frozenset((Number("float"),))
        case tuple() | list():
            return _NONE.union(*map(_value_kinds, value))
        case Mapping():
            return _NONE.union(*map(_value_kinds, value.values()))
        case _:
            return _NONE
