"""The counters of a loop over a list of open length: which variables count its elements, and what else the program does with the list."""

from __future__ import annotations

from dataclasses import replace

from privproof.language.flow import Flow, Instruction, Jump, Next, Test, following
from privproof.language.syntax import Assign, Block, Constant, Expression, Operation, Statement, Variable
from privproof.language.walking import parts, reads, statements, with_blocks, within


def other_names(body: Block, fed: str) -> frozenset[str]:
    """The variables that may stand for a list or a number: its name, and those that it is assigned to."""
    names = {fed}
    count = 0
    while count != len(names):
        count = len(names)
        for statement in statements(body):
            match statement:
                case Assign(name, Variable(other)) if other in names:
                    names.add(name)
    return frozenset(names)


def loop_counters(body: Block, fed: str) -> frozenset[str]:
    """The variables that are compared with the length of a list."""
    names = other_names(body, fed)
    lengths: set[str] = set()

    def length(expression: Expression) -> bool:
        match expression:
            case Operation("len" | "turns", (Variable(name),)):
                return name in names
            case Operation("whole", (inner,)):
                return length(inner)
            case Variable(name):
                return name in lengths
        return False

    found: set[str] = set()
    count = -1
    while count != len(lengths):
        count = len(lengths)
        for statement in statements(body):
            match statement:
                case Assign(name, value) if length(value):
                    lengths.add(name)
    for statement in statements(body):
        for expression in reads(statement):
            for part in within(expression):
                match part:
                    case Operation("<", (Variable(name), stop)) | Operation(">", (stop, Variable(name))) if length(
                        stop
                    ):
                        found.add(name)
    return frozenset(found)


def own_counters(body: Block) -> frozenset[str]:
    """The variables that begin at a number and are counted up one by one."""
    begun, up = set(), set()
    for statement in statements(body):
        match statement:
            case Assign(name, Constant(value)) if type(value) is int:
                begun.add(name)
            case _ if (counter := _counted_up(statement)) is not None:
                up.add(counter)
    return frozenset(begun & up)


def _counted_up(statement: Statement) -> str | None:
    """The variable that a statement makes larger by one."""
    match statement:
        case Assign(name, Operation("+" | "extend", (Variable(same), Constant(1)))) if name == same:
            return name
    return None


def counting(body: Block, fed: str, counters: frozenset[str]) -> Block:
    """The statements with counters that begin at the first element of a list."""

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            match statement:
                case Assign(name, Constant(value) as begin, place) if name in counters and type(value) is int:
                    first = Operation("first turn", (Variable(fed, place), begin), place)
                    result.append(replace(statement, value=first))
                case Assign(name, Operation(_, (Variable() as counter, _)), place) if (
                    name in counters and _counted_up(statement) is not None
                ):
                    result.append(replace(statement, value=Operation("next turn", (counter,), place)))
                case _:
                    result.append(with_blocks(statement, change))
        return tuple(result)

    return change(body)


def reading_on(flow: Flow, names: frozenset[str]) -> tuple[bool, ...]:
    """For every instruction whether a loop may still go on to an element from there on; that its length is read does not count."""
    found = [_uses(instruction, names) for instruction in flow.code]
    changed = True
    while changed:
        changed = False
        for number, instruction in enumerate(flow.code):
            if not found[number] and any(
                found[after] for after in following(number, instruction) if after < len(found)
            ):
                found[number] = changed = True
    return tuple(found)


def _uses(instruction: Instruction, names: frozenset[str]) -> bool:
    """Whether an instruction uses a list otherwise than by its length, or counts its elements."""

    def used(expression: Expression) -> bool:
        match expression:
            case Operation("first turn" | "next turn"):
                return True
            case Operation("len" | "turns" | "not", (Variable(name),)) if name in names:
                return False
            case Variable(name):
                return name in names
            case _:
                return any(map(used, parts(expression)))

    match instruction:
        case Jump() | Next() | Test(Variable()):
            return False
        case Test(test):
            return used(test)
        case Assign(_, Variable()):  # another name, whose own uses count
            return False
        case _:
            return any(map(used, reads(instruction)))
