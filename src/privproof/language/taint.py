"""Which variables of a mechanism tell what: public, private or noisy.

* *public*: equal on both sides of every comparison: constants, parameters, public inputs, and what is computed from these alone;
* *private*: a function of the inputs without noise: it may differ between neighbours, by a distance that is known;
* *noisy*: noise had a part in it.

A variable is as high as anything assigned to it, and as the tests under which it is assigned: what is assigned under a private test tells
the test.  The analysis does not follow the order of statements, so a variable has one level in the whole mechanism.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import IntEnum

from privproof.language.inputs import Input
from privproof.language.syntax import Block, Each, Expression, If, Operation, Sample, Variable, While
from privproof.language.walking import blocks, parts, reads, statements, writes


class Level(IntEnum):
    """How much a value may tell."""

    PUBLIC = 0
    PRIVATE = 1
    NOISY = 2


def levels(body: Block, inputs: Mapping[str, Input]) -> dict[str, Level]:
    """The level of every variable, inputs included.

    >>> from privproof.language import geometric, integer, mechanism
    >>> @mechanism
    ... def noisy(count: integer(0, 5), bonus=1):
    ...     shifted = count + bonus
    ...     step = bonus + 1
    ...     return geometric(shifted, alpha="1/2") > step
    >>> found = levels(noisy.translated.body, noisy.inputs)
    >>> found["shifted"].name, found["step"].name
    ('PRIVATE', 'PUBLIC')
    """
    result = {name: Level.PUBLIC if declared.public else Level.PRIVATE for name, declared in inputs.items()}
    while True:
        before = dict(result)
        _assigned(body, Level.PUBLIC, result, inputs)
        if before == result:
            return result


def level(expression: Expression, known: Mapping[str, Level], inputs: Collection[str]) -> Level:
    """The level of an expression; the length of an input list is public."""
    match expression:
        case Variable(name):
            return known.get(name, Level.PUBLIC)
        case Operation("len" | "turns", (Variable(name),)) if name in inputs:
            return Level.PUBLIC
        case _:
            return _highest(level(part, known, inputs) for part in parts(expression))


def _highest(found: Iterable[Level]) -> Level:
    return max(found, default=Level.PUBLIC)


def _assigned(block: Block, under: Level, result: dict[str, Level], inputs: Collection[str]) -> None:
    """Raise the levels of what a block assigns, under tests of a level."""
    for statement in block:
        here = _highest(level(expression, result, inputs) for expression in reads(statement))
        name = writes(statement)
        if name is not None:
            raised = Level.NOISY if isinstance(statement, Sample) else here
            if isinstance(statement, Each):
                raised = result.get(statement.stream, Level.PRIVATE)
            result[name] = max(result.get(name, Level.PUBLIC), raised, under)
        inside = max(under, here) if isinstance(statement, If | While) else under
        for inner in blocks(statement):
            _assigned(inner, inside, result, inputs)


def samples(body: Block) -> tuple[Sample, ...]:
    """The places that sample, in the order of the source."""
    return tuple(statement for statement in statements(body) if isinstance(statement, Sample))
