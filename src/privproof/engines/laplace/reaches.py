"""How far Gaussian noise is shifted at most: by the change of what it is added to.

The square of a shift is bounded by a *reach* times its size, so the reach of a noise should be near to the largest shift that it needs.
It is estimated from the changes of the data that meet the noise, of a sum over records from the values that a record adds.  An estimate is
only tried: that shifts stay within their reaches is a condition of the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeGuard

from privproof.compiling.branches import placeless
from privproof.compiling.relational import Program
from privproof.exact import fraction
from privproof.language.flow import instruction_reads
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.laws import GAUSSIAN
from privproof.language.syntax import Assign, Conditional, Constant, Element, Expression, Operation, Sample, Variable
from privproof.language.walking import variables

Ends: TypeAlias = "tuple[Fraction, Fraction]"
Choose: TypeAlias = "Callable[[list[Fraction]], Fraction]"


def reaches(program: Program) -> dict[int, Fraction]:
    """The reach of every Gaussian noise, by its instruction."""
    changes = _changes(program)
    declared = [fraction(each.within) for each in program.inputs.values() if each.within is not None]
    known = [change for change in changes.values() if change]
    widest = max(declared or known, default=Fraction(1))
    found = {}
    for at, step in enumerate(program.code):
        if isinstance(step, Sample) and step.noise in GAUSSIAN:
            met = [
                _change(expression, changes, program)
                for other in program.code
                for whole in instruction_reads(other)
                for expression in _parts(whole)
                if step.name in variables(expression)
            ]
            met.append(_change(step.arguments[0], changes, program))
            found[at] = max((each for each in met if each), default=widest)
    return found


def _parts(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Operation("tuple of" | "list of", arguments):
            return arguments
        case _:
            return (expression,)


def _changes(program: Program) -> dict[str, Fraction | None]:
    """By how much every variable may change where no noise is shifted, in one pass over the instructions; None where no bound is found."""
    found: dict[str, Fraction | None] = {}
    for step in program.code:
        match step:
            case Assign(name, value) | Sample(name, _, (value, *_)):
                found[name] = _change(value, found, program)
    return found


def _change(expression: Expression, known: Mapping[str, Fraction | None], program: Program) -> Fraction | None:
    """By how much an expression may change."""
    match expression:
        case Constant():
            return Fraction(0)
        case Variable(name) | Element(Variable(name)) if name in program.inputs:
            declared = program.inputs[name]
            return Fraction(0) if declared.public else None if declared.within is None else fraction(declared.within)
        case Variable(name):
            return known.get(name, Fraction(0))
        case Operation("total", (Variable(name), added)):
            return _of_total(values_added(added, program.inputs[name]), add_remove=program.relation == ADD_REMOVE)
        case Operation("*" | "/", (one, Constant(number))) | Operation("*", (Constant(number), one)) if _is_number(
            number
        ):
            change = _change(one, known, program)
            factor = Fraction(number) if expression.name == "*" or not number else 1 / Fraction(number)
            return None if change is None else abs(factor) * change
        case Operation("max" | "min" | "abs" | "neg" | "pos" | "whole", arguments):
            changes = [_change(each, known, program) for each in arguments]
            return None if None in changes else max((each for each in changes if each is not None), default=Fraction(0))
        case Operation("+" | "-" | "extend" | "<" | "<=" | ">" | ">=", (one, other)):
            first, second = _change(one, known, program), _change(other, known, program)
            return None if first is None or second is None else first + second
        case Conditional(_, Constant(one), Constant(other)) if _is_number(one) and _is_number(other):
            return abs(Fraction(one) - Fraction(other))
        case _:
            return None


def _is_number(value: object) -> TypeGuard[int | Fraction]:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _of_total(values: Ends | None, *, add_remove: bool) -> Fraction | None:
    """By how much a sum over records changes whose terms lie between two numbers."""
    if values is None:
        return None
    low, high = values
    return max(abs(low), abs(high)) if add_remove else high - low


def values_added(added: Expression, declared: Input) -> Ends | None:
    """Between which numbers lies what a record adds; None where that is not known.

    Args:
        added: what it adds, an expression of the record and constants.
        declared: the list that the record is of.
    """
    match added:
        case Constant(number) if _is_number(number):
            return Fraction(number), Fraction(number)
        case Operation("record"):
            return _range(declared)
        case Operation("field", (_, Constant(name))):
            return next((_range(each) for known, each in declared.fields if known == name), None)
        case Conditional(_, then, otherwise):
            return _ends([values_added(then, declared), values_added(otherwise, declared)], min, max)
        case Operation("min" | "max" as name, arguments):
            better = min if name == "min" else max
            return _ends([values_added(each, declared) for each in arguments], better, better)
        case Operation("+", (one, other)):
            return _ends([values_added(one, declared), values_added(other, declared)], _sum, _sum)
        case Operation("-", (one, other)):
            return values_added(Operation("+", (one, Operation("neg", (other,), added.place)), added.place), declared)
        case Operation("*", (one, other)):
            first, second = values_added(one, declared), values_added(other, declared)
            if first is None or second is None:
                return None
            found = [a * b for a in first for b in second]
            return max(min(found), Fraction(0)) if placeless(one) == placeless(other) else min(found), max(found)
        case Operation("abs" | "neg" | "whole" | "pos" as name, (one,)):
            ends = values_added(one, declared)
            if ends is None or name in ("whole", "pos"):
                return ends
            low, high = ends
            return (-high, -low) if name == "neg" else (max(low, -high, Fraction(0)), max(-low, high))
        case _:
            return None


def _ends(found: Sequence[Ends | None], low: Choose, high: Choose) -> Ends | None:
    """What is made of the lower ends, and of the upper ends."""
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return low([each[0] for each in known]), high([each[1] for each in known])


def _sum(numbers: list[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))


def _range(declared: Input) -> Ends | None:
    if declared.values is not None and all(_is_number(value) for value in declared.values):
        return Fraction(min(declared.values)), Fraction(max(declared.values))
    if declared.low is not None and declared.high is not None:
        return fraction(declared.low), fraction(declared.high)
    return None
