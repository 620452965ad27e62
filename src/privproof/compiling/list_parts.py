"""Parts of a list of which one record changes, ``q[low:high]``: as all of the list, where the place of a record lies between two ends.

Neighbours that differ in one record have it at the same place.  So a sum over a part is a sum over the whole list of what a record adds
if ``low <= place < high``, and nothing otherwise: it differs by what the record adds, where its place lies in the part, and by nothing
where it does not.  Where a record is added or removed, those behind it move, and a part may differ in all its places: there a part is left
as it stands.

Ends are what Python makes of them.  One below 0 counts from the end of the list; one that is still below 0, or beyond the end, is as if it
were the end of the list; a part whose ends are the wrong way round is empty.  A part with a step is left as it stands.  One operation
speaks of this: ``position(data)``, inside of what a record adds to a sum, the place of the record in its list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from privproof.compiling.strides import Signs
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Expression,
    If,
    Operation,
    Place,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    blocks,
    map_expressions,
    parts,
    reads,
    rewrite_expression,
    statements,
    variables,
    with_statements,
    writes,
)

POSITION = "position"
"""The place of a record in its list, inside of what it adds to a sum."""

PART_ENDS = "#part"
"""How the variables begin that hold the ends of a part without a name."""
_ENDS = "#ends."
"""How the variables begin that hold the ends of a part with a name."""

_SAFE = ("+", "-", "*", "neg", "pos", "whole", "len", "turns", "min", "max", "abs")
"""What never fails on whole numbers, so that it may be computed where Python would pass it over."""


def held_ends(
    name: str, ends: tuple[Expression, Expression], source: Variable, place: Place, signs: Signs
) -> tuple[Block, Expression]:
    """The ends of a part in variables of their own, and that the place of a record lies between them."""
    low, high = ends
    held: list[Statement] = []
    inside: list[Expression] = []
    at = Operation(POSITION, (source,), place)
    for end, label, sign in ((low, "low", "<="), (high, "high", ">")):
        if isinstance(end, Constant) and (end.value is None or (label == "low" and end.value == 0)):
            continue
        own = end if is_held(end) and isinstance(end, Variable) else Variable(f"{name}.{label}", place)
        if own is not end:
            front = end if signs.least(end) is not None else _from_front(end, source, place)
            held.append(Assign(own.name, front, place))
        inside.append(Operation(sign, (own, at), place))
    if not inside:
        return (), Constant(value=True, place=place)
    return tuple(held), inside[0] if len(inside) == 1 else Operation("and", tuple(inside), place)


def _from_front(end: Expression, source: Variable, place: Place) -> Expression:
    """An end as Python counts it: one below 0 from the end of the list, and from no further than its beginning."""
    zero = Constant(0, place)
    later = Operation("max", (zero, Operation("+", (end, Operation("len", (source,), place)), place)), place)
    if isinstance(end, Constant) and isinstance(end.value, int):
        return later
    return Conditional(Operation("<", (end, zero), place), later, end, place)


def is_end(name: str) -> bool:
    """Whether a variable holds an end of a part."""
    return name.startswith((_ENDS, PART_ENDS))


def is_held(end: Expression) -> bool:
    """Whether an end is that of a part which has a name: it is counted from the front already."""
    return isinstance(end, Variable) and end.name.startswith(_ENDS)


def is_safe(end: Expression) -> bool:
    """Whether an end may be computed in any case: it does not fail."""
    match end:
        case Constant() | Variable():
            return True
        case Operation(name, arguments) if name in _SAFE:
            return all(map(is_safe, arguments))
        case _:
            return False


def unconditional(expression: Expression) -> Iterator[Expression]:
    """The parts of an expression that are evaluated whenever it is."""
    yield expression
    match expression:
        case Conditional(test):
            yield from unconditional(test)
        case Operation("and" | "or", (first, *_)):
            yield from unconditional(first)
        case _:
            for part in parts(expression):
                yield from unconditional(part)


# ------------------------------------------------------------------------------------------------------- parts with a name


def whole_walks(body: Block, lists: Collection[str], signs: Signs) -> Block:
    """The statements with loops over all of a list in the place of loops over a part of it that only assign.

    A part that has a name, and of which only sums, the length and such loops are asked, is known by its ends.
    """
    while (made := _named_part(body, lists)) is not None:
        body = _without_name(body, made, signs)
    return body


def _named_part(body: Block, lists: Collection[str]) -> Assign | None:
    """What gives a name to a part of a list, where the name stands for nothing else, and only what its ends tell is asked of it."""
    written = Counter(writes(s) for s in statements(body))
    for statement in statements(body):
        match statement:
            case Assign(name, Operation("slice", (Variable(source), _, _))) if source in lists:
                if written[name] == 1 and not written[source] and _only_asked(body, name):
                    return statement
            case _:
                pass
    return None


def _only_asked(body: Block, name: str) -> bool:
    """Whether only sums and loops that assign are asked of a part."""
    walks = list(_walks(body, name))
    inside = {id(s) for _, loop in walks for s in statements((loop,))}

    def fine(expression: Expression) -> bool:
        match expression:
            case Variable(found):
                return found != name
            case Operation("sum", (Variable(),)):
                return True
            case Operation("count", (Variable(), value)):
                return fine(value)
            case _:
                return all(map(fine, parts(expression)))

    return all(id(s) in inside or all(map(fine, reads(s))) for s in statements(body))


def _walks(body: Block, name: str) -> Iterator[tuple[Assign, While]]:
    """The loops over a part that only assign, each with the beginning of its counter."""
    for before, statement in zip((None, *body), body, strict=False):
        for inner in blocks(statement):
            yield from _walks(inner, name)
        match before, statement:
            case (
                Assign(counter, Constant(0)) as begin,
                While(
                    Operation("<", (Variable(counted), Operation("turns", (Variable(walked),)))),
                    (Assign(_, Element(Variable(read), Variable(index))), onward, *rest),
                ) as loop,
            ) if counter[:1] == "#" and counter == counted == index and name == walked == read:
                if _is_next(onward, counter) and _only_assigns(tuple(rest), (counter, name)):
                    yield begin, loop
            case _:
                pass


def _is_next(statement: Statement, counter: str) -> bool:
    match statement:
        case Assign(name, Operation("+", (Variable(same), Constant(1)))):
            return name == same == counter
        case _:
            return False


def _only_assigns(block: Block, others: tuple[str, str]) -> bool:
    """Whether statements do nothing but assign, and neither read nor write some variables."""
    return all(
        isinstance(s, Assign | If)
        and writes(s) not in others
        and not any(name in others for expression in reads(s) for name in variables(expression))
        for s in statements(block)
    )


def _without_name(body: Block, made: Assign, signs: Signs) -> Block:
    """The statements without the name of a part."""
    assert isinstance(made.value, Operation)
    name, (source, *ends) = made.name, made.value.arguments
    assert isinstance(source, Variable)
    held, inside = held_ends(f"{_ENDS}{name}", (ends[0], ends[1]), source, made.place, signs)
    named = {each.name for each in held if isinstance(each, Assign)}
    own = [f"{_ENDS}{name}.{label}" for label in ("low", "high")]
    low, high = (Variable(each, made.place) if each in named else end for each, end in zip(own, ends, strict=True))
    walks = {id(loop) for _, loop in _walks(body, name)}

    def change(statement: Statement) -> list[Statement] | None:
        if statement is made:
            return list(held)
        if id(statement) not in walks:
            return None
        assert isinstance(statement, While)
        taken, onward, *rest = statement.body
        assert isinstance(taken, Assign)
        assert isinstance(taken.value, Element)
        first = Assign(taken.name, Element(source, taken.value.index, taken.place), taken.place)
        test = rewrite_expression(
            statement.test, lambda e: source if isinstance(e, Variable) and e.name == name else None
        )
        return [While(test, (If(inside, (first, *rest), (), statement.place), onward), statement.place)]

    def asked(expression: Expression) -> Expression | None:
        match expression:
            case Operation("sum" | "count", (Variable(found), *more), place) if found == name:
                part = Operation("slice", (source, low, high), place)
                return Operation(expression.name, (part, *more), place)
            case _:
                return None

    return map_expressions(with_statements(body, change), asked)
