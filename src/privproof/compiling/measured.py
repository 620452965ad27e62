"""Lists that are only measured: appended to, counted and summed, they become two numbers each.

``len([r for r in data if r == "A"])`` and ``clipped = [min(x, 10) for x in data]; sum(clipped), len(clipped)`` are then loops that add up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from privproof.compiling.failing import Values
from privproof.language.inputs import Input
from privproof.language.syntax import Append, Assign, Block, Constant, Expression, Operation, Place, Statement, Variable
from privproof.language.walking import (
    map_expressions,
    parts,
    reads,
    statements,
    variables,
    with_names,
    with_statements,
    writes,
)


def measured_lists(body: Block, inputs: Mapping[str, Input]) -> Block:
    """The statements with two numbers in the place of every list of which only the length and the sum are asked.

    A sum that nobody asks for is left out where nothing fails that it is made of.
    """
    body = one_name(body)
    lists = _only_measured(body)
    if not lists:
        return body

    def asked(expression: Expression) -> Expression | None:
        match expression:
            case Operation("len" | "turns", (Variable(name),), place) if name in lists:
                return Variable(_count(name), place)
            case Operation("sum", (Variable(name),), place) if name in lists:
                return Variable(_sum(name), place)
            case _:
                return None

    body = with_statements(map_expressions(body, asked), lambda s: _measured(s, lists))
    known = Values(body, inputs)
    sums = {_sum(name) for name in lists if all(map(known.surely, _summands(body, _sum(name))))}
    return _without_unread(body, [*map(_count, lists), *sums])


def _count(name: str) -> str:
    return f"#count.{name}"


def _sum(name: str) -> str:
    return f"#sum.{name}"


def _measured(statement: Statement, lists: Collection[str]) -> list[Statement] | None:
    match statement:
        case Assign(name, _, place) if name in lists:
            return [Assign(made, Constant(0, place), place) for made in (_count(name), _sum(name))]
        case Append(name, value, place) if name in lists:
            return [_more(_count(name), Constant(1, place), place), _more(_sum(name), value, place)]
        case _:
            return None


def _more(name: str, added: Expression, place: Place) -> Assign:
    return Assign(name, Operation("+", (Variable(name, place), added), place), place)


def _summands(body: Block, name: str) -> Iterator[Expression]:
    """What is added to a sum."""
    for statement in statements(body):
        match statement:
            case Assign(made, Operation("+", (_, value))) if made == name:
                yield value
            case _:
                pass


def _only_measured(body: Block) -> list[str]:
    """The lists that begin empty, are appended to, and of which only the length and the sum are asked."""
    found = []
    for name in dict.fromkeys(s.name for s in statements(body) if isinstance(s, Append)):
        written = [s for s in statements(body) if writes(s) == name and not isinstance(s, Append)]
        empty = all(isinstance(s, Assign) and _is_empty(s.value) for s in written)
        if written and empty and all(_measures(e, name) for s in statements(body) for e in reads(s)):
            found.append(name)
    return found


def _is_empty(value: Expression) -> bool:
    return isinstance(value, Operation) and value.name == "list of" and not value.arguments


def _measures(expression: Expression, name: str) -> bool:
    """Whether an expression asks for nothing but the length and the sum of a list."""
    match expression:
        case Operation("len" | "turns" | "sum", (Variable(found),)) if found == name:
            return True
        case Variable(found):
            return found != name
        case _:
            return all(_measures(part, name) for part in parts(expression))


def _without_unread(body: Block, names: Collection[str]) -> Block:
    """The statements without the numbers, among some, that only they themselves read."""
    read = {name for s in statements(body) for e in reads(s) for name in variables(e) if writes(s) != name}
    return _unassigned(body, {name for name in names if name not in read})


def _unassigned(body: Block, names: Collection[str]) -> Block:
    """The statements without those that assign some variables."""
    return with_statements(body, lambda s: () if isinstance(s, Assign) and s.name in names else None)


def one_name(body: Block) -> Block:
    """The statements with lists that a comprehension makes under the name that they are given, where it is their only one."""
    for made, name in list(_given_names(body)):
        body = with_names(_unassigned(body, (name,)), {name: made})
    return body


def _given_names(body: Block) -> Iterator[tuple[str, str]]:
    appended = {s.name for s in statements(body) if isinstance(s, Append) and s.name.startswith("#l")}
    for statement in statements(body):
        match statement:
            case Assign(name, Variable(made) | Operation("list", (Variable(made),))) if made in appended:
                once = sum(writes(s) == name for s in statements(body)) == 1
                read = sum(found == made for s in statements(body) for e in reads(s) for found in variables(e))
                if once and read == 1:
                    yield made, name
