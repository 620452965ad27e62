"""What statements come to that do nothing but compute: expressions in the values that variables had before.

A branch becomes a condition.  Where a turn or a function ends early, what comes after its test is repeated on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping

from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Continue,
    Expression,
    If,
    Inline,
    Result,
    Return,
    Variable,
)
from privproof.language.walking import rewritten, statements

_MOST_WAYS = 64
"""The ways through a turn that ends early somewhere, and through a function that it calls; each repeats what comes after its tests."""


def values_after(
    block: Block, values: Mapping[str, Expression], computed: list[Expression]
) -> dict[str, Expression] | None:
    """What the turn of a loop does to variables, as expressions in their values before; None where it does anything else.

    Args:
        block: the statements of the turn.
        values: what variables hold before them.
        computed: is given everything that is computed on the way, in the same terms, also what is not needed afterwards.
    """
    now = dict(values)
    for at, statement in enumerate(block):
        match statement:
            case Assign(name, value):
                now[name] = with_values(value, now)
                computed.append(now[name])
            case Inline(name, body):
                result = value_returned(body, now, computed)
                if result is None:
                    return None
                now[name] = result
            case If(test, then, otherwise, place):
                early = any(isinstance(s, Continue) for s in statements((*then, *otherwise)))
                if early and _ways(block[at:]) > _MOST_WAYS:
                    return None
                rest = block[at + 1 :] if early else ()
                one, other = (values_after((*side, *rest), now, computed) for side in (then, otherwise))
                if one is None or other is None:
                    return None
                asked = with_values(test, now)
                computed.append(asked)
                for name in dict.fromkeys((*one, *other)):
                    a, b = (side.get(name, Variable(name, place)) for side in (one, other))
                    now[name] = a if a == b else Conditional(asked, a, b, place)
                if early:
                    return now
            case Continue():
                return now
            case _:
                return None
    return now


def value_returned(block: Block, values: Mapping[str, Expression], computed: list[Expression]) -> Expression | None:
    """What a function gives back, as an expression in values before; None where it does anything but compute that."""
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
                if _ways(block[at:]) > _MOST_WAYS:
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


def _ways(block: Block) -> int:
    """How many ways there are through tests that follow each other, at most."""
    ways = 1
    for statement in block:
        if isinstance(statement, If):
            ways *= _ways(statement.then) + _ways(statement.otherwise)
    return ways


def with_values(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    return rewritten(expression, lambda part: values.get(part.name) if isinstance(part, Variable) else None)
