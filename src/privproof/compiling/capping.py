"""Counters that grow with a list and matter only up to a bound: they need not be counted beyond it.

A variable that begins at a number, to which only whole numbers of at least 0 are added, and that is otherwise only read in ``min(n, k)``
and in comparisons with a number k, is *capped* at the largest K = k + 1 of these: ``min(min(n, K) + e, K) = min(n + e, K)`` for e >= 0
(induction over the additions), and no reading tells n from min(n, K).  So the states between two elements are finitely many where the
count itself has infinitely many values.  A list of which only the length is read is such a counter as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from privproof.compiling.counters import other_names
from privproof.language.syntax import Append, Assign, Block, Constant, Expression, Operation, Statement, Variable
from privproof.language.walking import map_expressions, parts, reads, statements, variables, with_blocks, writes

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def cap_counters(body: Block, constants: Mapping[str, Any]) -> Block:
    """The statements with counters that are counted no further than they are read.

    Args:
        body: the statements.
        constants: the parameters with their values.
    """
    body = _counted_lists(body)
    for group in _counters(body):
        bound = _bound(body, group, constants)
        if bound is not None:
            body = _with_cap(body, group.grown, bound)
    return body


# --------------------------------------------------------------------------------------------------------- counted lists


def _counted_lists(body: Block) -> Block:
    """The statements with a counter for every list of which only the length is read."""
    begun = [s.name for s in statements(body) if isinstance(s, Assign) and _is_empty(s.value)]
    for name in dict.fromkeys(begun):
        if _only_counted(body, name):
            body = _counting_up(body, name)
    return body


def _is_empty(value: Expression) -> bool:
    return isinstance(value, Operation) and value.name == "list of" and not value.arguments


def _only_counted(body: Block, listed: str) -> bool:
    def fine(expression: Expression) -> bool:
        match expression:
            case Operation("len", (Variable(name),)) if name == listed:
                return True
            case Variable(name):
                return name != listed
            case _:
                return all(map(fine, parts(expression)))

    for statement in statements(body):
        match statement:
            case Append(name, Variable() | Constant()) if name == listed:
                pass
            case Assign(name, Operation("list of", ())) if name == listed:
                pass
            case _ if writes(statement) == listed:
                return False
        if not all(map(fine, reads(statement))):
            return False
    return True


def _counting_up(body: Block, listed: str) -> Block:
    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            match statement:
                case Assign(name, _, place) if name == listed:
                    result.append(replace(statement, value=Constant(0, place)))
                case Append(name, _, place) if name == listed:
                    more = Operation("+", (Variable(name, place), Constant(1, place)), place)
                    result.append(Assign(name, more, place))
                case _:
                    result.append(with_blocks(statement, change))
        return tuple(result)

    def counted(expression: Expression) -> Expression | None:
        match expression:
            case Operation("len", (Variable(name) as only,)) if name == listed:
                return only
        return None

    return map_expressions(change(body), counted)


# --------------------------------------------------------------------------------------------------------------- counters


@dataclass(frozen=True)
class _Group:
    """A counter and the variables that it is copied to.

    Attributes:
        grown: the counter.
        names: it and its copies.
    """

    grown: str
    names: frozenset[str]


def _counters(body: Block) -> Iterator[_Group]:
    for grown in dict.fromkeys(name for s in statements(body) if (name := _added(s)) is not None):
        names = other_names(body, grown)
        if all(_begins_or_grows(s, grown, names) for s in statements(body) if writes(s) in names):
            yield _Group(grown, names)


def _added(statement: Statement) -> str | None:
    """The variable that a statement adds to."""
    match statement:
        case Assign(name, Operation("+" | "extend", (Variable(same), more))) if name == same:
            return name if name not in variables(more) else None
    return None


def _begins_or_grows(statement: Statement, grown: str, names: frozenset[str]) -> bool:
    match statement:
        case Assign(_, Constant(value)):
            return type(value) is int
        case Assign(name, Variable(other)):
            return name != grown and other in names
    return _added(statement) == grown


def _bound(body: Block, group: _Group, constants: Mapping[str, Any]) -> int | None:
    """The largest number as far as a counter must be counted; None where it is read in another way, or not at all."""
    found: list[int] = []

    def number(expression: Expression) -> int | None:
        match expression:
            case Constant(value):
                return value if type(value) is int else None
            case Variable(name) if name in constants and not any(writes(s) == name for s in statements(body)):
                return constants[name] if type(constants[name]) is int else None
        return None

    def fine(expression: Expression) -> bool:
        match expression:
            case Operation("min", (one, other)):
                sides = (one, other)
            case Operation(name, (one, other)) if name in _COMPARISONS:
                sides = (one, other)
            case Variable(name):
                return name not in group.names
            case _:
                return all(map(fine, parts(expression)))
        for counter, bound in (sides, sides[::-1]):
            limit = number(bound)
            if isinstance(counter, Variable) and counter.name in group.names and limit is not None:
                found.append(limit + 1)
                return True
        return all(map(fine, sides))

    for statement in statements(body):
        match statement:
            case Assign(name, Variable(other)) if name in group.names and other in group.names:
                continue
            case Assign(_, Operation(_, (_, more))) if _added(statement) == group.grown:
                expressions: tuple[Expression, ...] = (more,)
            case _:
                expressions = reads(statement)
        if not all(map(fine, expressions)):
            return None
    return max(found, default=None)


def _with_cap(body: Block, grown: str, bound: int) -> Block:
    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            match statement:
                case Assign(_, Operation(_, (counter, more)), place) if _added(statement) == grown:
                    value = Operation("capped sum", (counter, more, Constant(bound, place)), place)
                    result.append(replace(statement, value=value))
                case _:
                    result.append(with_blocks(statement, change))
        return tuple(result)

    return change(body)
