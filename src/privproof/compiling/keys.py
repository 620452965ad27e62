"""Loops over public keys that are written out, turn by turn: ``for city in ("A", "B")`` has two turns, each with its key.

What is done for one key is then as plain as if it had been written for it alone: the cells of a histogram are so many noisy counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from privproof.compiling.needs import read_counts, variables_read_first
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Constant,
    Continue,
    Each,
    Element,
    Expression,
    Operation,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    blocks,
    map_expressions,
    reads,
    statements,
    variables,
    with_blocks,
    with_names,
    with_statements,
    writes,
)

_MOST_TURNS = 1000
"""A loop with more keys stays a loop: every turn that is written out makes the paths that are looked at longer."""


_LISTED = ("tuple of", "list of", "fixed list of")


def written_out(body: Block) -> Block:
    """The statements with loops over constant tuples written out, and with ``x in ("A", "B")`` as ``x == "A" or x == "B"``.

    Then lists have so many entries, and loops over these are written out as well.
    """
    body, known = _loops_written_out(body, {}), frozenset[str]()
    while True:
        body, entries = _with_entries(body, known)
        if not entries:
            return map_expressions(body, _one_of_keys)
        known |= entries.keys()
        body = _loops_written_out(body, entries)


def _with_entries(body: Block, known: frozenset[str]) -> tuple[Block, dict[str, tuple[Expression, ...]]]:
    """The statements with the entries of lists in variables, and these by the names of the lists.

    A list counts that is begun empty, is changed by appending alone, every time and before it is walked over.
    """
    found: dict[str, tuple[Expression, ...]] = {}
    written = Counter(writes(s) for s in statements(body))
    walked = {source for s in statements(body) if isinstance(s, While) and (source := _walked(s)) is not None}
    for begin in body:
        match begin:
            case Assign(name, Operation("list of", ())) if name not in known:
                pass
            case _:
                continue
        added = [i for i, s in enumerate(body) if isinstance(s, Append) and s.name == name]
        first = next(i for i, s in enumerate(body) if s is begin)
        if not 0 < len(added) <= _MOST_TURNS or written[name] != len(added) + 1 or added[0] < first:
            continue
        alike = {s.name for s in body[added[-1] :] if isinstance(s, Assign) and _is_name(s.value, name)}
        names = {name, *(each for each in alike if written[each] == 1)}
        if not names & walked or any(_reads(s, names) for s in body[: added[-1]]):
            continue
        values = {i: s.value for i in added if isinstance(s := body[i], Append)}
        holding = {i: Variable(f"#e{k}{name}", body[i].place) for k, i in enumerate(added)}
        body = tuple(
            part
            for i, s in enumerate(body)
            for part in (
                (Assign(holding[i].name, values[i], s.place), Append(name, holding[i], s.place))
                if i in holding
                else (s,)
            )
        )
        found |= dict.fromkeys(names, tuple(holding.values()))
    return body, found


def _is_name(value: Expression, name: str) -> bool:
    return isinstance(value, Variable) and value.name == name


def _reads(statement: Statement, names: set[str]) -> bool:
    """Whether a statement reads a list, and does more than to append to it."""
    return any(names & set(variables(e)) for s in statements((statement,)) for e in reads(s))


def _walked(loop: While) -> str | None:
    """The list that a loop walks over."""
    match loop.test:
        case Operation("<", (Variable(), Operation("turns", (Variable(name),)))):
            return name
        case _:
            return None


def _one_of_keys(expression: Expression) -> Expression | None:
    match expression:
        case Operation("in" | "not in" as name, (value, Operation(listed, keys)), place) if (
            listed in _LISTED and 0 < len(keys) <= _MOST_TURNS
        ):
            if {type(each.value) if isinstance(each, Constant) else None for each in keys} not in ({int}, {str}):
                return None
            tests = tuple(Operation("==", (value, key), place) for key in keys)
            found = tests[0] if len(tests) == 1 else Operation("or", tests, place)
            return found if name == "in" else Operation("not", (found,), place)
        case _:
            return None


def _loops_written_out(body: Block, entries: dict[str, tuple[Expression, ...]]) -> Block:
    listed: dict[str, tuple[Expression, ...] | None] = {}
    for statement in statements(body):
        name = writes(statement)
        if name is not None:
            listed[name] = None if name in listed else _keys(statement)
    keys = {name: found for name, found in listed.items() if found is not None} | entries
    taken = {name for s in statements(body) if (name := writes(s)) is not None}
    sites = iter(range(1 + max((s.site for s in statements(body) if isinstance(s, Sample)), default=0), 10**9))

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            turns = _turns(statement, result[-1] if result else None, keys) if isinstance(statement, While) else None
            if turns is None or not isinstance(statement, While):
                result.append(with_blocks(statement, change))
                continue
            own = _own_names(statement, body)
            for number, turn in enumerate(turns):
                again = _apart(own, number, taken) if number else {}
                taken.update(again.values())
                keys.update({again[name]: keys[name] for name in again.keys() & keys.keys()})
                named = with_names(turn, again)
                result += _own_sites(change(named), sites if number else None)
        return tuple(result)

    return _without_keys(change(body), keys)


def _keys(statement: Statement) -> tuple[Expression, ...] | None:
    match statement:
        case Assign(_, Operation(listed, arguments)) if listed in _LISTED and all(
            isinstance(each, Constant) for each in arguments
        ):
            return arguments
        case Assign(_, Constant(tuple() as values, place)):
            return tuple(Constant(value, place) for value in values)
        case _:
            return None


def _turns(loop: While, before: Statement | None, keys: dict[str, tuple[Expression, ...]]) -> list[Block] | None:
    """The turns of a loop over keys; None where it is another loop, or is left in the middle."""
    match loop.test, before:
        case (
            Operation("<", (Variable(counter), Operation("turns", (Variable() | Constant(tuple()) as source,)))),
            Assign(begun, Constant(0)),
        ) if begun == counter and counter.startswith("#i"):
            pass
        case _:
            return None
    found = keys.get(source.name) if isinstance(source, Variable) else _keys(Assign("", source, loop.place))
    if found is None or len(found) > _MOST_TURNS or any(_leaves(loop.body)):
        return None
    if sum(writes(s) == counter for s in statements(loop.body)) != 1:
        return None
    turns = []
    for key in found:

        def chosen(expression: Expression, key: Expression = key) -> Expression | None:
            match expression:
                case Element(sequence, Variable(index)) if sequence == replace(source, place=sequence.place):
                    return key if index == counter else None
                case _:
                    return None

        turns.append(map_expressions(loop.body, chosen))
    return turns


def _leaves(block: Block) -> Iterator[bool]:
    """Whether a block leaves the loop that it is the turn of, or its turn."""
    for statement in block:
        match statement:
            case Break() | Continue():
                yield True
            case While() | Each():
                continue
            case _:
                for inner in blocks(statement):
                    yield from _leaves(inner)


def _own_names(loop: While, body: Block) -> list[str]:
    """The variables that belong to one turn: written before they are read there, and read nowhere else."""
    inside, everywhere = (read_counts(block) for block in ((loop,), body))
    written = dict.fromkeys(name for s in statements(loop.body) if (name := writes(s)) is not None)
    needed = variables_read_first(loop.body, set())[0]
    return [n for n in written if n not in needed and inside.get(n, 0) >= everywhere.get(n, 0)]


def _apart(names: list[str], number: int, taken: set[str]) -> dict[str, str]:
    """Names for the variables of a later turn that nothing else has: loops inside of loops have turns of their own."""
    found = {name: _numbered(name, number) for name in names}
    return found if taken.isdisjoint(found.values()) else _apart(names, number + 1, taken)


def _numbered(name: str, number: int) -> str:
    """The name of a variable in a later turn."""
    stem, dot, shown = name.rpartition(".")
    return f"{stem}_{number}.{shown}" if dot else f"{name}_{number}" if name.startswith("#") else f"#k{number}.{name}"


def _without_keys(body: Block, keys: dict[str, tuple[Expression, ...]]) -> Block:
    """The statements without the tuples that nothing reads any more."""
    read = read_counts(body)

    def is_idle(statement: Statement) -> bool:
        return isinstance(statement, Assign | Append) and statement.name in keys and not read[statement.name]

    return with_statements(body, lambda s: () if is_idle(s) else None)


def _own_sites(block: Block, sites: Iterator[int] | None) -> Block:
    """A turn whose noise is told apart from that of the other turns."""
    if sites is None:
        return block
    return tuple(
        with_blocks(replace(s, site=next(sites)) if isinstance(s, Sample) else s, lambda b: _own_sites(b, sites))
        for s in block
    )
