"""Between which numbers what a record adds to a total lies, by the declared ends of what the record holds.

Ends are those of interval arithmetic: each operation takes the least and the largest that any operands within their ends give, so that
the value of an expression is never outside.  A product of two equal factors is a square.
"""

from __future__ import annotations

from typing import TypeAlias

from privproof_checker.numbers import ZERO, Rational
from privproof_checker.programs.program_expressions import Expression
from privproof_checker.programs.program_inputs import Declared, ProgramInput

Ends: TypeAlias = "tuple[Rational | None, Rational | None]"
_NOWHERE: Ends = (None, None)


def ends_of(expression: Expression, declared: Declared) -> Ends:
    """The least and the largest value of an expression of records and constants; None where there is no bound."""
    if expression.constant is not None:
        return expression.constant, expression.constant
    if expression.head == "literal" and not isinstance(expression.value, bool):
        return expression.value, expression.value
    if expression.head == "record":
        return _declared_ends(declared, expression.name)
    parts = [ends_of(part, declared) for part in expression.parts]
    known = [(low, high) for low, high in parts if low is not None and high is not None]
    if expression.head == "if":
        known = known[-2:] if None not in (*parts[1], *parts[2]) else []
        return (min(low for low, _ in known), max(high for _, high in known)) if known else _NOWHERE
    if len(known) < len(parts) or not known:
        return _NOWHERE
    (low, high), (second, third) = known[0], known[-1]
    match expression.head:
        case "+":
            return low + second, high + third
        case "-":
            return low - third, high - second
        case "neg":
            return -high, -low
        case "abs":
            return max(low, -high, ZERO), max(-low, high)
        case "max" | "min" as head:
            better = max if head == "max" else min
            return better(low for low, _ in known), better(high for _, high in known)
        case "*":
            found = [a * b for a in (low, high) for b in (second, third)]
            square = _same(*expression.parts)
            return max(min(found), ZERO) if square else min(found), max(found)
    return _NOWHERE


def _declared_ends(declared: Declared, name: str) -> Ends:
    """The ends of a record, or of a field of it: its name is that of the list, a point, and its own."""
    known: ProgramInput | None = declared.inputs.get(name)
    if known is None or known.fields:
        fields = (each for held in declared.inputs.values() for each in held.fields.values())
        known = next((each for each in fields if each.name == name), None)
    if known is None:
        return _NOWHERE
    if known.values is None:
        return known.low, known.high
    numbers = [value for value in known.values if isinstance(value, Rational)]
    return (min(numbers), max(numbers)) if len(numbers) == len(known.values) else _NOWHERE


def _same(one: Expression, other: Expression) -> bool:
    """Whether two expressions are the same but for their places."""
    return (one.head, one.sort, one.name, one.value, len(one.parts)) == (
        other.head,
        other.sort,
        other.name,
        other.value,
        len(other.parts),
    ) and all(_same(a, b) for a, b in zip(one.parts, other.parts, strict=True))
