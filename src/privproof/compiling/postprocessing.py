"""Post-processing: what is computed from released numbers costs nothing, whatever it is.

An output such as ``noisy / len(q)``, ``noisy_sum / noisy_count`` or ``noisy // 1`` is a function of a few numbers.  Where these are equal
in both runs the output is, so that these are asked for in its place.  The output itself is kept beside them, and is what the program
shows where it is run next to the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TypeAlias

from privproof.compiling.rewriting import ROUNDED
from privproof.compiling.sorts import PROCESSED
from privproof.compiling.versions import written_apart
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Constant,
    Emit,
    Expression,
    Operation,
    Return,
    Statement,
    Variable,
)
from privproof.language.walking import (
    parts,
    reads,
    rewrite_expression,
    statements,
    variables,
    with_statements,
    within,
    writes,
)

Test: TypeAlias = "Callable[[Expression], bool]"
_OUTPUTS = (Return, Emit, Append)
WRITTEN = ("format", "text of", "join", "text method", "float", "curve")
"""What makes a text of a noisy number, the float that it is anyway, or the value of a function at it, such as its root."""


def computed_last(body: Block, differing: Collection[str]) -> Block:
    """The body with numbers that no alignment speaks of, and that are computed only for an output, computed where they are put out."""
    return inlined_outputs(body, _beyond(differing))


def drop_post_processing(body: Block, differing: Collection[str]) -> Block:
    """The body with outputs that no alignment speaks of replaced by what they are computed from.

    Args:
        body: the statements.
        differing: the variables that private data or noise flow into.
    """

    is_beyond = _beyond(differing)
    return _with_outputs(body, lambda value: _released(value, is_beyond))


def operands_apart(body: Block, differing: Collection[str]) -> Block:
    """The body with a name for every value of the variables of which an output is computed that no alignment speaks of."""
    is_beyond = _beyond(differing)
    computed = [s for s in body if isinstance(s, Assign) and any(map(is_beyond, within(s.value)))]
    return written_apart(body, {name for s in computed for name in variables(s.value)})


def _beyond(differing: Collection[str]) -> Test:
    """Whether an expression of private data or noise is beyond alignments."""
    return lambda expression: _is_beyond(expression) and bool(set(differing).intersection(variables(expression)))


def _with_outputs(body: Block, change: Callable[[Expression], Expression]) -> Block:
    """The body with other outputs."""

    def changed(statement: Statement) -> tuple[Statement] | None:
        return (replace(statement, value=change(statement.value)),) if isinstance(statement, _OUTPUTS) else None

    return with_statements(body, changed)


def _released(value: Expression, is_beyond: Test) -> Expression:
    if not any(map(is_beyond, within(value))):
        return value
    return Operation(PROCESSED, (value, *dict.fromkeys(_ingredients(value, is_beyond))), value.place)


def _ingredients(value: Expression, is_beyond: Test) -> Iterator[Expression]:
    """What an output is computed from, as far as alignments speak of it."""
    if isinstance(value, Constant):
        return
    if not any(map(is_beyond, within(value))) and not (isinstance(value, Operation) and value.name == "tuple of"):
        yield value
        return
    for part in parts(value):
        yield from _ingredients(part, is_beyond)


def _is_beyond(expression: Expression) -> bool:
    """Whether an operation is beyond alignments: a quotient by what is no constant, a product, rounding."""
    match expression:
        case Operation("/", (_, below)):
            return not isinstance(below, Constant)
        case Operation("*", (left, right)):
            return not isinstance(left, Constant) and not isinstance(right, Constant)
        case Operation(name, _):
            return name in ("//", "%", *ROUNDED, *WRITTEN)
        case _:
            return False


def inlined_outputs(body: Block, is_beyond: Test) -> Block:
    """The body with variables that hold such an output, and are read in outputs alone, replaced by their values, copies too."""
    written = Counter(name for s in statements(body) if (name := writes(s)) is not None)
    shown, read = set[str](), set[str]()
    for s in statements(body):
        names = shown if isinstance(s, _OUTPUTS) else read
        names.update(name for e in reads(s) for name in variables(e))
    held = {
        s.name for s in body if isinstance(s, Assign) and written[s.name] == 1 and any(map(is_beyond, within(s.value)))
    }
    for s in body:
        if isinstance(s, Assign) and isinstance(s.value, Variable) and s.value.name in held and written[s.name] == 1:
            held.add(s.name)
    values = {
        s.name: s.value
        for s in body
        if isinstance(s, Assign)
        and s.name in held & (shown - read)
        and all(written[name] <= 1 for name in variables(s.value))
    }
    if not values:
        return body

    def change(expression: Expression) -> Expression | None:
        return values.get(expression.name) if isinstance(expression, Variable) else None

    without = with_statements(body, lambda s: () if isinstance(s, Assign) and s.name in values else None)
    return inlined_outputs(_with_outputs(without, lambda value: rewrite_expression(value, change)), is_beyond)
