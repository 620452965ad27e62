"""One walk over the language: what is directly inside an expression or a statement, and the same with its parts changed.

Whoever asks something of a whole program folds these; a new kind of node that is not told here is an error of the type checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias, assert_never

from privproof.exact.patience import pause
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Conditional,
    Constant,
    Continue,
    Each,
    Element,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Replace,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)

Change: TypeAlias = "Callable[[Expression], Expression | None]"
"""What an expression becomes; None where it stays."""


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside an expression."""
    match expression:
        case Element(sequence, index):
            return (sequence, index)
        case Operation(_, arguments):
            return arguments
        case Conditional(test, then, otherwise):
            return (test, then, otherwise)
        case Constant() | Variable():
            return ()
        case _:
            assert_never(expression)


def with_parts(expression: Expression, changed: tuple[Expression, ...]) -> Expression:
    """An expression with other parts."""
    match expression:
        case Element(_, _, place):
            sequence, index = changed
            return Element(sequence, index, place)
        case Operation(name, _, place):
            return Operation(name, changed, place)
        case Conditional(_, _, _, place):
            test, then, otherwise = changed
            return Conditional(test, then, otherwise, place)
        case Constant() | Variable():
            return expression
        case _:
            assert_never(expression)


def within(expression: Expression) -> Iterator[Expression]:
    """An expression and everything inside it, from the outside in."""
    yield expression
    for part in parts(expression):
        yield from within(part)


def variables(expression: Expression) -> Iterator[str]:
    """The names that an expression reads."""
    return (part.name for part in within(expression) if isinstance(part, Variable))


def rewrite_expression(expression: Expression, change: Change) -> Expression:
    """An expression with parts replaced, the innermost first."""
    inside = parts(expression)
    if inside:
        expression = with_parts(expression, tuple(rewrite_expression(part, change) for part in inside))
    changed = change(expression)
    return expression if changed is None else changed


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks directly inside a statement."""
    match statement:
        case If(_, then, otherwise):
            return (then, otherwise)
        case While(_, body) | Each(_, _, body) | Inline(_, body):
            return (body,)
        case Assign() | Replace() | Append() | Sample() | Break() | Continue() | Result() | Emit() | Return():
            return ()
        case _:
            assert_never(statement)


def with_blocks(statement: Statement, change: Callable[[Block], Block]) -> Statement:
    """A statement with its blocks changed."""
    match statement:
        case If(_, then, otherwise):
            return replace(statement, then=change(then), otherwise=change(otherwise))
        case While() | Each() | Inline():
            return replace(statement, body=change(statement.body))
        case Assign() | Replace() | Append() | Sample() | Break() | Continue() | Result() | Emit() | Return():
            return statement
        case _:
            assert_never(statement)


def statements(block: Block) -> Iterator[Statement]:
    """Every statement of a block, those inside others included."""
    for statement in block:
        yield statement
        for inner in blocks(statement):
            yield from statements(inner)


def reads(statement: Statement) -> tuple[Expression, ...]:
    """The expressions directly inside a statement."""
    match statement:
        case Assign(_, value) | Append(_, value) | Result(value) | Emit(value) | Return(value):
            return (value,)
        case Replace(_, index, value):
            return (index, value)
        case Sample(_, _, arguments, where=where):
            return arguments if where is None else (*arguments, where)
        case If(test) | While(test):
            return (test,)
        case Each() | Break() | Continue() | Inline():
            return ()
        case _:
            assert_never(statement)


def with_reads(statement: Statement, change: Change) -> Statement:
    """A statement with the expressions directly inside it rewritten."""
    match statement:
        case Assign() | Append() | Result() | Emit() | Return():
            return replace(statement, value=rewrite_expression(statement.value, change))
        case Replace(_, index, value):
            return replace(statement, index=rewrite_expression(index, change), value=rewrite_expression(value, change))
        case Sample(_, _, arguments, where=where):
            asked = None if where is None else rewrite_expression(where, change)
            made = tuple(rewrite_expression(argument, change) for argument in arguments)
            return replace(statement, arguments=made, where=asked)
        case If() | While():
            return replace(statement, test=rewrite_expression(statement.test, change))
        case Each() | Break() | Continue() | Inline():
            return statement
        case _:
            assert_never(statement)


def writes(statement: Statement) -> str | None:
    """The variable that a statement changes by itself."""
    match statement:
        case Assign(name) | Replace(name) | Append(name) | Sample(name) | Each(name) | Inline(name):
            return name
        case If() | While() | Break() | Continue() | Result() | Emit() | Return():
            return None
        case _:
            assert_never(statement)


def map_expressions(block: Block, change: Change) -> Block:
    """A block with all its expressions rewritten."""
    pause()
    return tuple(
        with_blocks(with_reads(statement, change), lambda inner: map_expressions(inner, change)) for statement in block
    )


def with_statements(block: Block, change: Callable[[Statement], Iterable[Statement] | None]) -> Block:
    """A block with statements replaced, from the outside in; None where a statement stays and is looked into."""
    result: list[Statement] = []
    for statement in block:
        changed = change(statement)
        if changed is None:
            changed = (with_blocks(statement, lambda inner: with_statements(inner, change)),)
        result += changed
    return tuple(result)


def with_names(block: Block, names: Mapping[str, str]) -> Block:
    """A block with other names for some of its variables."""

    def read(expression: Expression) -> Expression | None:
        match expression:
            case Variable(name, place) if name in names:
                return Variable(names[name], place)
            case _:
                return None

    def written(statement: Statement) -> Statement:
        match statement:
            case Inline(name) if name in names:
                return replace(statement, result=names[name])
            case Assign(name) | Replace(name) | Append(name) | Sample(name) | Each(name) if name in names:
                return replace(statement, name=names[name])
            case _:
                return statement

    def change(inner: Block) -> Block:
        return tuple(with_blocks(written(with_reads(statement, read)), change) for statement in inner)

    return change(block) if names else block


def values_assigned_once(block: Block) -> dict[str, Expression]:
    """The values of the variables that one assignment writes and nothing else."""
    found: dict[str, Expression | None] = {}
    for statement in statements(block):
        name = writes(statement)
        if name is not None:
            found[name] = statement.value if isinstance(statement, Assign) and name not in found else None
    return {name: value for name, value in found.items() if value is not None}


def _results(statement: Statement) -> Iterator[Result]:
    """Where a function that is called ends with what it gives back; nothing for other statements."""
    waiting = list(statement.body) if isinstance(statement, Inline) else []
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Result):
            yield inner
        elif not isinstance(inner, Inline):
            waiting += [s for block in blocks(inner) for s in block]


def variables_reached(block: Block, begun: Iterable[str], flows: Callable[[Statement, set[str]], bool]) -> set[str]:
    """Some variables, and those written by statements that something flows through, given the variables it has reached."""
    found = set(begun)
    while True:
        pause()
        more = {
            name
            for s in statements(block)
            if (name := writes(s)) is not None and any(flows(each, found) for each in (s, *_results(s)))
        }
        if more <= found:
            return found
        found |= more


def reads_any(statement: Statement, names: set[str]) -> bool:
    """Whether a statement reads one of some variables."""
    return any(name in names for expression in reads(statement) for name in variables(expression))
