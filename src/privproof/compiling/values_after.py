"""What statements come to that do nothing but compute: expressions in the values that variables had before.

A branch becomes a condition.  Where a turn or a function ends early, what comes after its test is repeated on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping

from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Expression,
    If,
    Inline,
    Result,
    Return,
    Variable,
)
from privproof.language.walking import rewritten

MOST_WAYS = 64
"""The ways through a turn that ends early somewhere, and through a function that it calls; each repeats what comes after its tests."""


def value_returned(block: Block, values: Mapping[str, Expression], computed: list[Expression]) -> Expression | None:
    """What a function gives back, as an expression in values before; None where it does anything but compute that.

    Args:
        block: its statements.
        values: what variables hold before them.
        computed: is given all that is computed on the way, in the same terms, also what is not needed in the end.
    """
    now = dict(values)
    for at, statement in enumerate(block):
        match statement:
            case Assign(name, value):
                now[name] = with_values(value, now)
                computed.append(now[name])
            case Inline(name, body):
                inner = value_returned(body, now, computed)
                if inner is None:
                    return None
                now[name] = inner
            case Result(value) | Return(value):
                computed.append(with_values(value, now))
                return computed[-1]
            case If(test, then, otherwise, place):
                if ways_through(block[at:]) > MOST_WAYS:
                    return None
                one, other = (value_returned((*side, *block[at + 1 :]), now, computed) for side in (then, otherwise))
                if one is None or other is None:
                    return None
                asked = with_values(test, now)
                computed.append(asked)
                return one if one == other else Conditional(asked, one, other, place)
            case _:
                return None
    return None


def ways_through(block: Block) -> int:
    """How many ways there are through tests that follow each other, at most."""
    ways = 1
    for statement in block:
        if isinstance(statement, If):
            ways *= ways_through(statement.then) + ways_through(statement.otherwise)
    return ways


def with_values(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """An expression in values before."""
    return rewritten(expression, lambda part: values.get(part.name) if isinstance(part, Variable) else None)
