"""What a block needs: the variables that it reads, and those among them that it has not written itself before."""

from __future__ import annotations

from collections import Counter

from privproof.language.syntax import Append, Block, Each, If, Replace
from privproof.language.walking import blocks, reads, statements, variables, writes


def read_counts(block: Block) -> Counter[str]:
    """How often every variable is read."""
    return Counter(name for s in statements(block) for expression in reads(s) for name in variables(expression))


def variables_read_first(block: Block, written: set[str]) -> tuple[set[str], set[str]]:
    """The variables that a block may read before it writes them, and those that it has surely written at its end."""
    found: set[str] = set()
    for statement in block:
        found |= {name for expression in reads(statement) for name in variables(expression)} - written
        name = writes(statement)
        match statement:
            case Append() | Replace():
                found |= {statement.name} - written
            case If(_, then, otherwise):
                (a, one), (b, other) = (variables_read_first(branch, set(written)) for branch in (then, otherwise))
                found, written = found | a | b, one & other
            case _:
                for inner in blocks(statement):
                    found |= variables_read_first(inner, set(written))[0]
        if name is not None and not isinstance(statement, Each):
            written = written | {name}
    return found, written


def exposed_after(block: Block) -> list[set[str]]:
    """For every statement of a block the variables that what follows it there may read before it writes them."""
    found: list[set[str]] = []
    later = set[str]()
    for statement in reversed(block):
        found.append(later)
        needed, written = variables_read_first((statement,), set())
        later = needed | (later - written)
    return found[::-1]
