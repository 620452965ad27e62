"""What is asked of a whole list, found in one walk through it: ``any(q)``, ``all(q)``, ``max(q)``, ``min(q)``, ``q.count(v)``.

The list does not change, so these may be found before anything else is done, all in one loop.  A list of every length is read once: so
there may be no other loop over it.  Where the list is empty, ``max`` and ``min`` fail where they stand, and not before.
"""

from __future__ import annotations

from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Expression,
    Operation,
    Place,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import map_expressions, reads, statements, within, writes

_COUNTER, _ENTRY = "#walk", "#walk.entry"


def expand_list_aggregates(body: Block, fed: str) -> Block:
    """The statements with what is asked of a whole list found in a loop over it; as they are where nothing is asked."""
    asked = [e for s in statements(body) for read in reads(s) for e in within(read) if _is_asked(e, fed)]
    if not asked or any(writes(s) == fed for s in statements(body)):
        return body
    names = {_key(e): f"#walk{number}" for number, e in enumerate({_key(e): e for e in asked}.values())}
    place = asked[0].place
    first: list[Statement] = [Assign(_COUNTER, Constant(0, place), place)]
    turn: list[Statement] = [
        Assign(_ENTRY, Element(Variable(fed, place), Variable(_COUNTER, place), place), place),
        Assign(_COUNTER, Operation("+", (Variable(_COUNTER, place), Constant(1, place)), place), place),
    ]
    for expression in {_key(e): e for e in asked}.values():
        begin, step = _found(expression, Variable(names[_key(expression)], place), Variable(_ENTRY, place), place)
        first.append(begin)
        turn.append(step)
    test = Operation("<", (Variable(_COUNTER, place), Operation("turns", (Variable(fed, place),), place)), place)

    def change(expression: Expression) -> Expression | None:
        if not _is_asked(expression, fed):
            return None
        assert isinstance(expression, Operation)
        name, at = Variable(names[_key(expression)], expression.place), expression.place
        if expression.name not in ("max", "min"):
            return name
        nothing = Operation(expression.name, (Operation("list of", (), at),), at)
        return Conditional(Operation("is", (name, Constant(None, at)), at), nothing, name, at)

    return (*first, While(test, tuple(turn), place), *map_expressions(body, change))


def _is_asked(expression: Expression, fed: str) -> bool:
    match expression:
        case Operation("any" | "all" | "max" | "min", (Variable(name),)):
            return name == fed
        case Operation("count", (Variable(name), Constant())):
            return name == fed
    return False


def _key(expression: Expression) -> tuple[str, ...]:
    assert isinstance(expression, Operation)
    return (expression.name, *(repr(part.value) for part in expression.arguments if isinstance(part, Constant)))


def _found(asked: Expression, name: Variable, entry: Variable, place: Place) -> tuple[Statement, Statement]:
    """What stands for something that is asked before the loop, and what a turn makes of it."""

    def chosen(test: Expression, then: Expression, otherwise: Expression) -> Statement:
        return Assign(name.name, Conditional(test, then, otherwise, place), place)

    yes, no, nothing = Constant(value=True, place=place), Constant(value=False, place=place), Constant(None, place)
    zero, one = Constant(0, place), Constant(1, place)
    match asked:
        case Operation("any"):
            return Assign(name.name, no, place), chosen(entry, yes, name)
        case Operation("all"):
            return Assign(name.name, yes, place), chosen(entry, name, no)
        case Operation("count", (_, value)):
            more = Conditional(Operation("==", (entry, value), place), one, zero, place)
            return Assign(name.name, zero, place), Assign(name.name, Operation("+", (name, more), place), place)
        case Operation(extreme):
            better = Operation(">" if extreme == "max" else "<", (entry, name), place)
            test = Operation("or", (Operation("is", (name, nothing), place), better), place)
            return Assign(name.name, nothing, place), chosen(test, entry, name)
    raise AssertionError(f"{asked} is not asked of a list")
