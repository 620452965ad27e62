"""Lists that a mechanism keeps: filled, changed entry by entry and read again, as the partial sums of a tree of sums are.

Of the entries of such a list an alignment knows nothing, but where the two runs may differ in them: at few places, where a list of partial
sums holds the one value that changed.  So a list is known by its length, which both runs share, and by these places, each with a
distance.  Four operations of the language of instructions speak of this, and only this module makes them:

* ``filled(count, value)``, ``copied(xs)``: what a list is assigned, ``[0] * levels`` and ``list(q)``;
* ``entry(xs, i)``: ``xs[i]``;
* ``part(xs, low, high)``: ``sum(xs[low:high])``;
* ``length(xs)``: ``len(xs)``.

``xs[i] = value`` and ``xs.append(value)`` stay the statements that they are.  A list of which anything else is asked, or that might have
two names while it changes, is left as it stands, and refused where alignments meet it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Constant,
    Element,
    Expression,
    Operation,
    Replace,
    Statement,
    Variable,
)
from privproof.language.walking import (
    blocks,
    parts,
    reads,
    rewrite_expression,
    statements,
    variables,
    with_blocks,
    with_reads,
    within,
    writes,
)

FILLED, COPIED, ENTRY, PART, LENGTH = "filled", "copied", "entry", "part", "length"
"""The operations of kept lists."""
MAKERS = (FILLED, COPIED)
"""Those that a list is assigned; the others are numbers."""


def kept_lists(body: Block, mechanism: Mechanism) -> Block:
    """The statements with operations of kept lists in the place of what they are made of."""
    names = kept_names(body, mechanism)
    return _rewritten_block(body, names) if names else body


def list_names(body: Block) -> frozenset[str]:
    """The lists that are kept, where they are told by their operations."""
    return frozenset(
        s.name
        for s in statements(body)
        if isinstance(s, Assign) and isinstance(s.value, Operation) and s.value.name in MAKERS
    )


def kept_names(body: Block, mechanism: Mechanism) -> frozenset[str]:
    """The variables that hold lists which can be kept, and nothing else."""
    written: dict[str, list[Statement]] = {}
    for statement in statements(body):
        if (name := writes(statement)) is not None:
            written.setdefault(name, []).append(statement)
    found: set[str] = set()
    before = -1
    while before != (before := len(found)):
        found |= {
            name
            for name, changes in written.items()
            if name not in mechanism.inputs and all(_is_change(each, found | {name}) for each in changes)
        }
    if not any(isinstance(each, Replace) for name in found for each in written[name]) and not any(
        isinstance(part, Element | Operation) and _is_read_again(part, found)
        for s in statements(body)
        for expression in reads(s)
        for part in within(expression)
    ):
        return frozenset()
    while True:
        moved = {id(s): s.name for s in statements(body) if isinstance(s, Assign) and _moved(s, found) is not None}
        wrong = {
            name
            for s in statements(body)
            for expression in reads(s)
            for name in _other_uses(expression, found, moves=id(s) in moved)
        }
        wrong |= {
            s.name
            for s in statements(body)
            if isinstance(s, Assign) and s.name in found and _is_of_unknown(s.value, found, mechanism)
        }
        wrong |= {
            name
            for s in statements(body)
            if isinstance(s, Assign) and (name := _moved(s, found)) is not None and not _is_done(name, s, body)
        }
        if not wrong & found:
            return frozenset(found)
        found -= wrong


def _is_change(statement: Statement, names: set[str]) -> bool:
    """Whether a statement makes or changes a list in a way that is known."""
    match statement:
        case Replace() | Append():
            return True
        case Assign(name, Variable(other)):
            return other in names and other != name
        case Assign(_, value):
            return _made(value) is not None
        case _:
            return False


def _is_read_again(part: Expression, names: set[str]) -> bool:
    """Whether entries of one of some lists are read."""
    match part:
        case Element(Variable(name)) | Operation("sum", (Variable(name),)):
            return name in names
        case Operation("sum", (Operation("slice", (Variable(name), *_)),)):
            return name in names
        case _:
            return False


def _made(value: Expression) -> Expression | None:
    """What a list is assigned, as an operation; None where it is none of those."""
    match value:
        case Operation("*" | "repeat", (Operation("list of", (entry,)), count), place) | Operation(
            "*" | "repeat", (count, Operation("list of", (entry,))), place
        ):
            return Operation(FILLED, (count, entry), place)
        case Operation("list of", (), place):
            return Operation(FILLED, (Constant(0, place), Constant(0, place)), place)
        case Operation("list of", (entry,), place):
            return Operation(FILLED, (Constant(1, place), entry), place)
        case Operation("list" | "copy", (Variable(_) as copied,), place):
            return Operation(COPIED, (copied,), place)
        case _:
            return None


def _moved(statement: Assign, names: set[str]) -> str | None:
    """The list that is given a second name."""
    match statement.value:
        case Variable(name) if name in names and statement.name in names:
            return name
        case _:
            return None


def _is_of_unknown(value: Expression, names: set[str], mechanism: Mechanism) -> bool:
    """Whether a list is made of something that is no list which is known."""
    match value:
        case Variable(name):
            return name not in names
        case Operation("list" | "copy", (Variable(name),)):
            declared = mechanism.inputs.get(name)
            return name not in names and (declared is None or declared.shape != "list" or bool(declared.fields))
        case _:
            return False


def _is_done(name: str, move: Assign, body: Block) -> bool:
    """Whether a list that is given a second name is read and changed before only: a comprehension that is assigned.

    It is begun and moved in one block, everything that is done to it stands between, and nothing but the move reads all of it.
    """
    own = [s for s in statements(body) if writes(s) == name or any(name in variables(e) for e in reads(s))]
    for block in _blocks(body):
        if not any(each is move for each in block):
            continue
        end = next(i for i, each in enumerate(block) if each is move)
        begin = next((i for i, each in enumerate(block) if isinstance(each, Assign) and each.name == name), None)
        if begin is None or begin > end:
            return False
        inside = {id(s) for s in statements(block[begin : end + 1])}
        return all(id(s) in inside for s in own)
    return False


def _blocks(body: Block) -> Iterator[Block]:
    yield body
    for statement in body:
        for inner in blocks(statement):
            yield from _blocks(inner)


def _other_uses(expression: Expression, names: set[str], *, moves: bool) -> Iterator[str]:
    """The lists of which something else is asked than an entry, a sum or the length."""
    match expression:
        case Variable(name):
            if name in names and not moves:
                yield name
        case Element(Variable(name), index) if name in names:
            yield from _other_uses(index, names, moves=False)
        case Operation("sum" | "len" | "turns" | "list" | "copy", (Variable(name),)) if name in names:
            return
        case Operation("sum", (Operation("slice", (Variable(name), low, high)),)) if name in names:
            for end in (low, high):
                yield from _other_uses(end, names, moves=False)
        case _:
            for part in parts(expression):
                yield from _other_uses(part, names, moves=False)


def _rewritten_block(body: Block, names: frozenset[str]) -> Block:
    def change(expression: Expression) -> Expression | None:
        match expression:
            case Element(Variable(name) as held, index, place) if name in names:
                return Operation(ENTRY, (held, index), place)
            case Operation("len" | "turns", (Variable(name) as held,), place) if name in names:
                return Operation(LENGTH, (held,), place)
            case Operation("sum", (Variable(name) as held,), place) if name in names:
                return Operation(PART, (held, Constant(0, place), Operation(LENGTH, (held,), place)), place)
            case Operation("sum", (Operation("slice", (Variable(name) as held, low, high)),), place) if name in names:
                first = Constant(0, place) if _is_none(low) else low
                last = Operation(LENGTH, (held,), place) if _is_none(high) else high
                return Operation(PART, (held, first, last), place)
            case _:
                return None

    result: list[Statement] = []
    for statement in body:
        if isinstance(statement, Assign) and statement.name in names:
            match statement.value:
                case Variable(_) as moved:
                    made: Expression | None = Operation(COPIED, (moved,), statement.place)
                case value:
                    made = _made(value)
            assert made is not None
            result.append(replace(statement, value=rewrite_expression(made, change)))
            continue
        changed = with_reads(statement, change)
        result.append(with_blocks(changed, lambda block: _rewritten_block(block, names)))
    return tuple(result)


def _is_none(end: Expression) -> bool:
    return isinstance(end, Constant) and end.value is None
