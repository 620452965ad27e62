"""What one turn of a loop does to variables, or what the end of a program gives back: as expressions in their values before it.

Tests and calls that only compute become conditional expressions; a turn that ends early, by ``continue``, has what comes after its test
on the other side alone.  All that a turn computes on its way is kept, so that somebody who leaves a part of it out can see whether that
may fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from privproof.compiling.failing import Values
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Continue,
    Expression,
    If,
    Inline,
    Result,
    Return,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import rewrite_expression, statements, variables

Found = TypeVar("Found")
_MOST_WAYS = 64
"""The ways through a turn that ends early somewhere, and through a function that it calls; each repeats what comes after its tests."""


class TurnEffect:
    """A turn of a loop over records, or the end of a program.

    Args:
        taken: an expression with the record of the turn in the place of the element that the loop reads; in the end of a program, as it is.
        known: what is known of the values of expressions about a record.
    """

    def __init__(self, taken: Callable[[Expression], Expression], known: Values) -> None:
        self.taken, self.known = taken, known
        self.computed: list[Expression] = []
        """What is computed on the way, in terms of the values before the turn."""

    def after(self, block: Block) -> dict[str, Expression] | None:
        """The values of variables after a turn; None where it does anything else."""
        return self._followed(block, {})

    def returned(self, block: Block) -> Expression | None:
        """What statements give back; None where they do anything but compute that."""
        return self._result(block, {})

    def succeeds(self, own: set[str | None]) -> bool:
        """Whether all that is computed has a value on every record, where some variables may have none before the turn."""
        return all(own.isdisjoint(variables(each)) and self.known.surely(each) for each in self.computed)

    def _value(self, expression: Expression, values: Mapping[str, Expression]) -> Expression:
        """An expression in terms of the values before."""
        found = self.taken(_with_values(expression, values))
        if not (isinstance(expression, Constant) and expression.value is MISSING):  # that a variable has no value yet
            self.computed.append(found)
        return found

    def _sides(
        self,
        follow: Callable[[Block, Mapping[str, Expression]], Found],
        test: Expression,
        then: Block,
        otherwise: Block,
        values: Mapping[str, Expression],
    ) -> tuple[Found, Found]:
        """What is found on both sides of a test; nothing counts as computed on one that the declared values never lead to."""
        decided, found = self.known.decided(test), []
        for side, block in ((True, then), (False, otherwise)):
            before = len(self.computed)
            found.append(follow(block, values))
            if decided is not None and decided is not side:
                del self.computed[before:]
        return found[0], found[1]

    def _followed(self, block: Block, values: Mapping[str, Expression]) -> dict[str, Expression] | None:
        now = dict(values)
        for at, statement in enumerate(block):
            match statement:
                case Assign(name, value):
                    now[name] = self._value(value, now)
                case Inline(name, body):
                    result = self._result(body, now)
                    if result is None:
                        return None
                    now[name] = result
                case If(test, then, otherwise, place):
                    asked = self._value(test, now)
                    early = any(isinstance(s, Continue) for s in statements((*then, *otherwise)))
                    if early and _ways(block[at:]) > _MOST_WAYS:
                        return None
                    rest = block[at + 1 :] if early else ()
                    one, other = self._sides(self._followed, asked, (*then, *rest), (*otherwise, *rest), now)
                    if one is None or other is None:
                        return None
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

    def _result(self, block: Block, values: Mapping[str, Expression]) -> Expression | None:
        """What a function that is called gives back, as an expression in values before; None where it does anything but compute that."""
        now = dict(values)
        for at, statement in enumerate(block):
            match statement:
                case Assign(name, value):
                    now[name] = self._value(value, now)
                case Inline(name, body):
                    inner = self._result(body, now)
                    if inner is None:
                        return None
                    now[name] = inner
                case Result(value) | Return(value):
                    return self._value(value, now)
                case If(test, then, otherwise, place):
                    asked = self._value(test, now)
                    if _ways(block[at:]) > _MOST_WAYS:
                        return None
                    rest = block[at + 1 :]
                    one, other = self._sides(self._result, asked, (*then, *rest), (*otherwise, *rest), now)
                    if one is None or other is None:
                        return None
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


def _with_values(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """An expression in values before."""
    return rewrite_expression(expression, lambda part: values.get(part.name) if isinstance(part, Variable) else None)
