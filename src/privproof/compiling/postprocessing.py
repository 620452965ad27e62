"""Post-processing: what is computed from released numbers costs nothing, whatever it is.

An output such as ``noisy / len(q)``, ``noisy_sum / noisy_count`` or ``noisy // 1`` is a function of a few numbers.  Where these are equal
in both runs the output is, so that these are asked for in its place.  The output itself is kept beside them, and is what the program
shows where it is run next to the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from privproof.compiling.failing import Values
from privproof.compiling.rewriting import ROUNDED
from privproof.compiling.sorts import CONTINUOUS, PROCESSED
from privproof.compiling.turns import TurnEffect
from privproof.compiling.versions import written_apart
from privproof.language.inputs import Input
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Constant,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
)
from privproof.language.walking import (
    parts,
    reads,
    reads_any,
    rewrite_expression,
    statements,
    variables,
    variables_reached,
    with_statements,
    within,
    writes,
)

Test: TypeAlias = "Callable[[Expression], bool]"
_OUTPUTS = (Return, Emit, Append)
_LARGEST = 2_000
"""Parts of an output that stands for a whole end of a program; a larger one is left as it stands."""
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


def computed_in_the_end(body: Block, differing: Collection[str], inputs: Mapping[str, Input]) -> Block:
    """The body with all that comes after the last noise and the last look at the data as one output, where branches compute it.

    A quotient of noisy numbers that is compared, or computed on one side of a test, is beyond alignments: ``total / n if n > 0 else 0``.
    What is put out in the end is a function of the numbers that are known by then, whatever they are compared with on the way.  With noise
    on the integers the body stays as it is: what fails there at some number, and is not needed, fails with a probability.
    """
    noises = {s.noise for s in statements(body) if isinstance(s, Sample)}
    if not noises <= set(CONTINUOUS):
        return body
    is_beyond = _beyond(differing)
    start = 1 + max((at for at, s in enumerate(body) if not _only_computes(s, inputs)), default=-1)
    end = body[start:]
    inside = tuple(s for s in end if isinstance(s, If))
    held = variables_reached(end, (), lambda s, found: any(_holds(e, found, is_beyond) for e in reads(s)))
    if not any(_holds(e, held, is_beyond) for s in statements(inside) for e in reads(s)):
        return body
    known = Values(body, inputs)
    turn = TurnEffect(lambda expression: expression, known)
    value = turn.returned(end)
    if value is None or sum(1 for _ in within(value)) > _LARGEST:
        return body
    asked = {name for s in statements(end) for e in reads(s) for name in variables(e)} & set(differing)
    if not asked - {writes(s) for s in statements(end)} <= set(variables(value)):
        return body  # what fails on a number that is not put out would be left out with it
    kept = set(within(value))
    if any(part not in kept and not known.defined(part) for each in turn.computed for part in within(each)):
        return body  # whether the function fails there is seen, too
    return (*body[:start], Return(value, end[0].place))


def _only_computes(statement: Statement, inputs: Collection[str]) -> bool:
    """Whether a statement draws nothing, puts out nothing but in the end, and looks at no input."""
    return all(
        isinstance(s, Assign | If | Inline | Result | Return) and not reads_any(s, set(inputs))
        for s in statements((statement,))
    )


def _holds(expression: Expression, held: Collection[str], is_beyond: Test) -> bool:
    """Whether something beyond alignments is computed, or read where a variable holds it."""
    return any(map(is_beyond, within(expression))) or not set(variables(expression)).isdisjoint(held)


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
