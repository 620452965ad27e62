"""Lists however they are read: by index, taken apart, or over a list that an earlier loop made of the records.

``for i in range(len(data)): data[i]`` goes through the same elements as ``for r in data``.  And ``sick = [p for p in people if p.ill]``
followed by a loop over ``sick`` is one loop over ``people``: what made an element of the list is done again where the element is looked
at, which is the same as long as it draws nothing and speaks of nothing that changes in between.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from privproof.compiling.measured import one_name
from privproof.compiling.needs import read_counts, variables_read_first
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Constant,
    Continue,
    Element,
    Expression,
    If,
    Inline,
    Operation,
    Result,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    map_expressions,
    parts,
    reads,
    statements,
    values_assigned_once,
    variables,
    with_blocks,
    with_names,
    with_statements,
    writes,
)

_MOST_LISTS = 16
"""Lists that are made of others, one after the other; each repeats what made the ones before."""


def walks_over_records(body: Block, lists: Collection[str]) -> Block:
    """The statements with loops over some input lists in the place of loops by index, and of loops over what was made of them."""
    body = _by_element(one_name(body), lists)
    for _ in range(_MOST_LISTS):
        made = next((m for s in body if isinstance(s, While) and (m := _made(body, s)) is not None), None)
        if made is None:
            return body
        body = _walked(body, made)
    return body


def taken_apart(body: Block, sizes: Mapping[str, int | None]) -> Block:
    """The statements with entries of input lists in the place of names that they are unpacked to, ``a, b = q``.

    Args:
        body: the statements.
        sizes: the input lists, each with the length that it is declared with; others fail at other lengths, and stay.
    """
    held, whole = dict[str, Variable](), dict[str, Variable]()
    for name, value in values_assigned_once(body).items():
        match value:
            case Variable(source) if source in sizes and name.startswith("#"):
                whole[name] = value
            case Operation("unpack", (Variable(source) as listed, Constant(count))) if name.startswith("#"):
                listed = whole.get(source, listed)
                if count is not None and sizes.get(listed.name) == count:
                    held[name] = listed

    def entry(expression: Expression) -> Expression | None:
        match expression:
            case Element(Variable(name), Constant() as index, place) if name in held:
                return Element(held[name], index, place)
            case _:
                return None

    def without(block: Block, names: Collection[str]) -> Block:
        return with_statements(block, lambda s: () if isinstance(s, Assign) and s.name in names else None)

    result = without(map_expressions(body, entry), held)
    read = read_counts(result)
    return without(result, [name for name in whole if not read[name]])


# ------------------------------------------------------------------------------------------------------------- by index


def _by_element(body: Block, lists: Collection[str]) -> Block:
    """The statements, where ``range(len(data))`` is the walk through a list that it is."""
    counts = read_counts(body)
    written = [writes(s) for s in statements(body)]

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            changed = with_blocks(statement, change)
            match result[-2:], changed:
                case (
                    [
                        Assign(counter, Constant(0)) as begun,
                        Assign(end, Operation("whole", (Operation("len", (Variable(name) as source,)),))),
                    ],
                    While(Operation("<", (Variable(asked), Variable(bound)), place), inner),
                ) if (
                    (asked, bound) == (counter, end)
                    and name in lists
                    and counts[end] == 1
                    and written.count(end) == 1
                    and name not in written
                ):
                    turns = Operation("turns", (source,), place)
                    test = Operation("<", (Variable(counter, place), turns), place)
                    result[-2:] = [begun, While(test, inner, changed.place)]
                case _:
                    result.append(changed)
        return tuple(result)

    return change(body)


# -------------------------------------------------------------------------------------------------------- made of others


@dataclass(frozen=True)
class _Made:
    """A list that one loop makes and others walk over.

    Attributes:
        name: the list.
        counter: what counts the turns of the loop.
        source: what it goes through.
        turn: what it does with an element.
        own: the variables of the turn.
    """

    name: str
    counter: str
    source: Expression
    turn: Block
    own: frozenset[str]


def _made(body: Block, loop: While) -> _Made | None:
    """The list that a loop of the function's own block makes, if nothing but loops walk over it, or ask how long it is."""
    match loop.test:
        case Operation("<", (Variable(counter), Operation("turns" | "len", (Variable(source_name),)) as asked)):
            source = asked.arguments[0]
        case _:
            return None
    if any(not isinstance(s, Assign | If | Inline | Append | Continue | Result) for s in statements(loop.body)):
        return None
    own = frozenset(
        name for s in statements(loop.body) if (name := writes(s)) is not None and not isinstance(s, Append)
    )
    appended = [s.name for s in statements(loop.body) if isinstance(s, Append)]
    needed = variables_read_first(loop.body, set())[0] - set(appended)
    if (needed & own) - {counter} or not _begins_at_zero(body, loop, counter):
        return None
    everywhere = [writes(s) for s in statements(body)]
    if any(everywhere.count(name) > 1 for name in needed - {counter}) or everywhere.count(source_name) > 1:
        return None
    for name in dict.fromkeys(appended):
        begun = [s.value for s in body if isinstance(s, Assign) and s.name == name]
        empty = [isinstance(value, Operation) and (value.name, value.arguments) == ("list of", ()) for value in begun]
        if everywhere.count(name) == 2 and appended.count(name) == 1 and empty == [True] and _only_walked(body, name):
            return _Made(name, counter, source, loop.body, own)
    return None


def _begins_at_zero(body: Block, loop: While, counter: str) -> bool:
    """Whether a loop's counter is 0 before it, and is counted up at the beginning of each turn and nowhere else."""
    at = next(i for i, s in enumerate(body) if s is loop)
    match body[at - 1] if at else None:
        case Assign(begun, Constant(0)) if begun == counter:
            return _steps(loop.body, counter)
    return False


def _steps(turn: Block, counter: str) -> bool:
    """Whether a turn takes its element and then counts up, and does not look at its number again."""
    match turn:
        case (
            Assign(_, Element(_, Variable(at))),
            Assign(counted, Operation("+", (Variable(before), Constant(1)))),
            *rest,
        ):
            later = any(counter in variables(e) for s in statements(tuple(rest)) for e in reads(s))
            again = any(writes(s) == counter for s in statements(tuple(rest)))
            return (at, counted, before) == (counter, counter, counter) and not later and not again
    return False


def _only_walked(body: Block, name: str) -> bool:
    """Whether some loop walks over a list, all that read its elements do nothing else, and the rest ask for its length and its sum."""
    walks = _walks(body, name)
    elements = sum(_elements(e, name) for s in statements(body) for e in reads(s))
    return bool(walks) and elements == len(walks)


def _walks(body: Block, name: str) -> list[While]:
    """The loops that go through a list from its beginning to its end."""
    found: list[While] = []

    def look(block: Block) -> Block:
        before: Statement | None = None
        for statement in block:
            match before, statement:
                case (
                    Assign(begun, Constant(0)),
                    While(Operation("<", (Variable(counter), Operation("turns" | "len", (Variable(over),)))), turn),
                ) if begun == counter and over == name and _takes(turn, name, counter):
                    found.append(statement)
            with_blocks(statement, look)
            before = statement
        return block

    look(body)
    return found


def _takes(turn: Block, name: str, counter: str) -> bool:
    return _steps(turn, counter) and isinstance(turn[0], Assign) and _elements(turn[0].value, name) == 1


def _elements(expression: Expression, name: str) -> int:
    """How often a list is read in another way than by its length and its sum."""
    match expression:
        case Operation("len" | "turns" | "sum", (Variable(found),)) if found == name:
            return 0
        case Variable(found):
            return int(found == name)
        case _:
            return sum(_elements(part, name) for part in parts(expression))


def _walked(body: Block, made: _Made) -> Block:
    """The statements with one loop over the source in the place of every loop over what was made of it."""
    walks = _walks(body, made.name)

    def change(statement: Statement) -> tuple[Statement, ...] | None:
        number = next((i for i, walk in enumerate(walks) if walk is statement), None)
        if number is None:
            return None
        assert isinstance(statement, While)
        assert isinstance(statement.test, Operation)
        counter, (taken, _, *rest) = statement.test.arguments[0], statement.body
        assert isinstance(counter, Variable)
        assert isinstance(taken, Assign)
        again = {each: f"{each}~{made.name}.{number}" for each in made.own} | {made.counter: counter.name}
        turn = with_names(made.turn, again)

        def put(inner: Statement) -> tuple[Statement, ...] | None:
            match inner:
                case Append(name, value, place) if name == made.name:
                    return (Assign(taken.name, value, place), *rest)
                case Append():
                    return ()
                case _:
                    return None

        turns = Operation("turns", (made.source,), statement.test.place)
        test = Operation("<", (counter, turns), statement.test.place)
        return (While(test, with_statements(turn, put), statement.place),)

    return with_statements(body, change)
