"""Rewriting the statements of a mechanism into those that alignments speak of, pass by pass.

Parameters become constants; a list that is only appended to and returned becomes outputs on the way; ``sum(q)`` becomes a loop; an ``if``
that only guards assignments becomes conditional expressions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from privproof.errors import LanguageError
from privproof.language.laws import CONTINUOUS
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    If,
    Operation,
    Place,
    Replace,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    map_expressions,
    parts,
    reads,
    reads_any,
    rewrite_expression,
    statements,
    variables,
    variables_reached,
    with_blocks,
    with_reads,
    with_statements,
    within,
    writes,
)


class Unsupported(Exception):
    """The program cannot be brought into the form that alignments are about; the message says why and where."""


def substitute_parameters(body: Block, parameters: Mapping[str, Any]) -> Block:
    """Parameters that are never assigned become constants, and what is constant is computed."""
    assigned = {writes(statement) for statement in statements(body)}

    def change(expression: Expression) -> Expression | None:
        match expression:
            case Element(Variable(name) as sequence, Constant(int() as index), place) if (
                name not in parameters and index < 0
            ):
                length = Operation("turns", (sequence,), place)
                return Element(sequence, Operation("-", (length, Constant(-index, place)), place), place)
            case Variable(name, place) if name in parameters and name not in assigned:
                value = parameters[name]
                return Constant(value, place) if not isinstance(value, list | dict) else None
            case _:
                return _folded(expression)

    return map_expressions(body, change)


_ARITHMETIC: Mapping[str, Callable[[Fraction, Fraction], Fraction | int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


def is_number(value: object) -> bool:
    """Whether a constant is a number."""
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def fold_constants(expression: Expression) -> Expression:
    """An expression in which what is constant is computed."""
    return rewrite_expression(expression, _folded)


def _folded(expression: Expression) -> Expression | None:
    """The constant that an expression is, if it is one."""
    match expression:
        case Operation("Fraction", arguments, place) if all(isinstance(a, Constant) for a in arguments):
            values: list[Any] = [a.value for a in arguments if isinstance(a, Constant)]
            return Constant(Fraction(*values), place)
        case Operation(name, (Constant(int() | Fraction() as left), Constant(int() | Fraction() as right)), place) if (
            name in _ARITHMETIC and is_number(left) and is_number(right)
        ):
            if name in ("/", "//", "%") and right == 0:
                raise LanguageError("zero", "a division by zero", place=str(place))
            result = Fraction(_ARITHMETIC[name](Fraction(left), Fraction(right)))
            return Constant(int(result) if result.denominator == 1 else result, place)
        case Operation("/", (inner, Constant(1))) | Operation("*", (inner, Constant(1)) | (Constant(1), inner)):
            return inner
        case Operation("neg", (Constant(value),), place) if is_number(value):
            return Constant(-value, place)  # type: ignore[operator]
        case Operation("whole" | "pos", (Constant(value),), place) if is_number(value):
            return Constant(value, place)
        case _:
            return None


_CONTAINERS = ("tuple of", "list of", "fixed list of")
_PLACED = ("sorted", "set")
"""What is made of lists of places and other discrete parts: whoever sees the parts in their order sees it."""
ROUNDED = ("round", "floor", "ceil", "trunc", "int")
"""What makes a whole number of a noisy one."""
_COMPUTED = ("/", "*", "**", "//", "%")
_TRUTHS = ("not", "and", "or", "<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in", "bool")


def released_parts(body: Block) -> tuple[Block, dict[Place, Expression]]:
    """Outputs that are tables, lists, objects, or computed from noisy numbers, as the parts that they are made of.

    Who sees the parts can make the output of them, so what is proved of the parts holds for the output.  Outputs of different
    forms are told apart by a number.  The second value says what stood where the output is given in parts.
    """
    noisy = continuous_variables(body)
    outputs = [s for s in statements(body) if isinstance(s, Return | Emit)]
    ends = [s for s in outputs if not (isinstance(s, Return) and _constant_none(s.value))]
    if all(_is_flat(s.value, noisy) for s in ends):
        return body, {}
    forms: dict[str, int] = {}
    made: dict[int, tuple[str, tuple[Expression, ...]]] = {}
    for s in ends:
        found: list[Expression] = []
        form = _form(s.value, noisy, found)
        forms.setdefault(form, len(forms))
        made[id(s)] = (form, tuple(found))
    if len(forms) > 1 and len(ends) < len(outputs) - 1:
        raise Unsupported(f"it returns None or something else, {outputs[0].place}")
    shown: dict[Place, Expression] = {}

    def change(statement: Statement) -> tuple[Statement] | None:
        if id(statement) not in made or not isinstance(statement, Return | Emit):
            return None
        form, found = made[id(statement)]
        place = statement.value.place
        if shown.setdefault(statement.place, statement.value) != statement.value:
            raise Unsupported(f"two outputs in one place, {statement.place}")
        told = (Constant(forms[form], place), *found) if len(forms) > 1 or not found else found
        return (replace(statement, value=told[0] if len(told) == 1 else Operation("tuple of", told, place)),)

    return with_statements(body, change), shown


def continuous_variables(body: Block) -> frozenset[str]:
    """The variables in whose value continuous noise has a part."""

    def flows(statement: Statement, found: set[str]) -> bool:
        drawn = isinstance(statement, Sample) and statement.noise in CONTINUOUS
        return drawn or reads_any(statement, found)

    return frozenset(variables_reached(body, (), flows))


def _constant_none(value: Expression) -> bool:
    return isinstance(value, Constant) and value.value is None


def _is_flat(value: Expression, noisy: frozenset[str]) -> bool:
    """Whether an output is a number, truth value or text, or a tuple of such, that alignments speak of as it is."""
    if isinstance(value, Operation) and value.name == "tuple of":
        return all(not _is_made(part) and not _is_computed(part, noisy) for part in value.arguments)
    return not _is_made(value) and not _is_computed(value, noisy)


def _is_made(value: Expression) -> bool:
    return isinstance(value, Operation) and value.name in (*_CONTAINERS, *_PLACED, "table of", "record of")


def _is_computed(value: Expression, noisy: frozenset[str]) -> bool:
    """Whether an output is computed from noisy numbers in a way that alignments do not speak of."""
    if not isinstance(value, Operation) or not noisy.intersection(variables(value)) or value.name in _TRUTHS:
        return False
    several = [part for part in value.arguments if not isinstance(part, Constant)]
    if value.name in ROUNDED:
        return not (isinstance(value.arguments[0], Operation) and value.arguments[0].name in _TRUTHS)
    if value.name in _COMPUTED and (len(several) > 1 or value.name not in ("/", "*")):
        return True
    return any(_is_computed(part, noisy) for part in value.arguments)


def _form(value: Expression, noisy: frozenset[str], found: list[Expression]) -> str:
    """What an output looks like without its parts, and the parts."""
    match value:
        case Constant(known):
            return f"{type(known).__name__} {known!r}"
        case Operation("table of", arguments):
            rows = zip(arguments[::2], arguments[1::2], strict=True)
            return f"table({', '.join(f'{_form(k, noisy, found)}: {_form(v, noisy, found)}' for k, v in rows)})"
        case Operation("record of", (Constant(shape), *arguments)):
            return f"{shape!r}({', '.join(_form(part, noisy, found) for part in arguments)})"
        case Operation(name, arguments) if name in (*_CONTAINERS, *_PLACED):
            return f"{name}({', '.join(_form(part, noisy, found) for part in arguments)})"
        case Operation(name, arguments) if _is_computed(value, noisy):
            return f"{name}({', '.join(_form(part, noisy, found) for part in arguments)})"
        case _:
            found.append(value)
            return "."


def released_table(body: Block) -> Block:
    """A table that begins empty, is only given entries and returned, as the list of these: who sees them sees the table."""
    returned = {s.value.name for s in statements(body) if isinstance(s, Return) and isinstance(s.value, Variable)}
    for name in returned:
        written = [s for s in statements(body) if writes(s) == name]
        begun = [s for s in written if isinstance(s, Assign) and s.value == Operation("table of", (), s.value.place)]
        added = [s for s in written if isinstance(s, Assign) and _entry(s) is not None]
        read = sum(
            v == name for s in statements(body) if not isinstance(s, Return) for e in reads(s) for v in variables(e)
        )
        if len(begun) != 1 or begun[0] not in body or len(written) != 1 + len(added) or read != len(added) or not added:
            continue

        def change(statement: Statement, name: str = name) -> tuple[Statement, ...] | None:
            if not isinstance(statement, Assign) or statement.name != name:
                return None
            entry = _entry(statement)
            if entry is None:
                return (replace(statement, value=Operation("list of", (), statement.place)),)
            return (Append(name, Operation("tuple of", entry, statement.place), statement.place),)

        body = with_statements(body, change)
    return body


def _entry(statement: Assign) -> tuple[Expression, Expression] | None:
    """The key and the value that a table is given."""
    match statement:
        case Assign(name, Operation("with entry", (Variable(held), key, value))) if held == name:
            return key, value
        case _:
            return None


def released_list(body: Block) -> Block:
    """A list that is only appended to and returned, as outputs on the way."""
    returned = [s for s in statements(body) if isinstance(s, Return)]
    kept = [s for s in returned if not (isinstance(s.value, Constant) and s.value.value is None)]
    names = {_listed(s.value) for s in kept}
    if len(names) != 1 or None in names or not kept:
        return body
    (name,) = names
    assert name is not None
    appended = [s for s in statements(body) if isinstance(s, Append) and s.name == name]
    if not appended:
        return body
    final = body[-1]
    unreached = len(kept) < len(returned) and returned[-1] is final
    if len(kept) + unreached != len(returned):
        raise Unsupported(f"it returns a list in some cases and nothing in others, {returned[0].place}")
    for statement in statements(body):
        if isinstance(statement, Assign) and statement.name == name:
            if not (
                isinstance(statement.value, Operation)
                and statement.value == Operation("list of", (), statement.value.place)
            ):
                raise Unsupported(f"the list {name} does not begin empty, {statement.place}")
        elif isinstance(statement, Replace) and statement.name == name:
            raise Unsupported(f"the list {name} is changed after it was written, {statement.place}")
        if not isinstance(statement, Return) and any(name in variables(e) for e in reads(statement)):
            raise Unsupported(f"the list {name} is read again, {statement.place}")
    first = next((i for i, s in enumerate(body) if isinstance(s, Assign) and s.name == name), None)
    if first is None or any(
        isinstance(s, Assign) and s.name == name for i, t in enumerate(body) for s in statements((t,)) if i != first
    ):
        raise Unsupported(f"the list {name} is begun more than once")

    def change(statement: Statement) -> tuple[Statement, ...] | None:
        match statement:
            case Assign(written) if written == name:
                return ()
            case Append(written, value, place) if written == name:
                return (Emit(value, place),)
            case Return(_, place):
                return (Return(Constant(None, place), place),)
            case _:
                return None

    return with_statements(body, change)


def _listed(value: Expression) -> str | None:
    """The list that is returned, perhaps as a tuple."""
    match value:
        case Variable(name) | Operation("tuple" | "list", (Variable(name),)):
            return name
        case _:
            return None


def expand_sum_calls(body: Block, mechanism: Mechanism) -> Block:
    """``sum(q)`` of an input list, as a loop before the statement."""
    for statement in statements(body):
        if isinstance(statement, While) and any(_sums(statement.test, mechanism)):
            raise Unsupported(f"a sum in the test of a loop, {statement.place}")
    return walked_sums(body, mechanism.inputs, "#sum", "#at")


def walked_sums(body: Block, lists: Collection[str], total: str, index: str) -> Block:
    """``sum(q)`` of some lists as a loop before the statement, but for the tests of loops; total and index begin its variables' names."""
    counter = iter(range(10**6))

    def replaced(loops: list[Statement], expression: Expression) -> Expression | None:
        match expression:
            case Operation("sum", (Variable(name),), place) if name in lists:
                number = next(counter)
                entry = Element(Variable(name, place), Variable(f"{index}{number}", place), place)
                return _walk(name, f"{total}{number}", f"{index}{number}", lambda more: (more(entry),), loops, place)
            case _:
                return None

    return _computed_before(body, replaced, lambda statement: not isinstance(statement, While))


def expand_count_calls(body: Block, lists: Collection[str]) -> Block:
    """``q.count(x)`` of an input list, where x is a variable or a constant, as a loop before the statement: it goes through the list once.

    In a statement that may not evaluate it, x might have no value: there, and in the test of a loop, it stays.
    """
    counter = iter(range(10**6))

    def replaced(loops: list[Statement], expression: Expression) -> Expression | None:
        match expression:
            case Operation("count", (Variable(name), Variable() | Constant() as wanted), place) if name in lists:
                number = next(counter)
                entry = Element(Variable(name, place), Variable(f"#to{number}", place), place)
                equal = Operation("==", (entry, wanted), place)
                one = Constant(1, place)
                return _walk(
                    name,
                    f"#count{number}",
                    f"#to{number}",
                    lambda more: (If(equal, (more(one),), (), place),),
                    loops,
                    place,
                )
            case _:
                return None

    def evaluated(statement: Statement) -> bool:
        return not isinstance(statement, While) and not any(map(_maybe, reads(statement)))

    return _computed_before(body, replaced, evaluated)


def _walk(
    listed: str,
    total: str,
    index: str,
    turn: Callable[[Callable[[Expression], Statement]], Block],
    loops: list[Statement],
    place: Place,
) -> Expression:
    """What a loop over a list adds up, which is put before; a turn is given how to add something."""
    sum_, at = Variable(total, place), Variable(index, place)

    def more(added: Expression) -> Statement:
        return Assign(total, Operation("+", (sum_, added), place), place)

    onward = Assign(index, Operation("+", (at, Constant(1, place)), place), place)
    test = Operation("<", (at, Operation("turns", (Variable(listed, place),), place)), place)
    loops += [Assign(name, Constant(0, place), place) for name in (total, index)]
    loops.append(While(test, (*turn(more), onward), place))
    return sum_


def _computed_before(
    body: Block,
    replaced: Callable[[list[Statement], Expression], Expression | None],
    applies: Callable[[Statement], bool],
) -> Block:
    """The body with what statements read replaced, and what that needs computed before each of them."""
    result: list[Statement] = []
    for statement in body:
        before: list[Statement] = []
        found = with_reads(statement, partial(replaced, before)) if applies(statement) else statement
        result += [*before, with_blocks(found, lambda block: _computed_before(block, replaced, applies))]
    return tuple(result)


def _maybe(expression: Expression) -> bool:
    """Whether a part of an expression may not be evaluated."""
    return any(
        isinstance(part, Conditional) or (isinstance(part, Operation) and part.name in ("and", "or"))
        for part in within(expression)
    )


def separate_noise_centres(body: Block) -> Block:
    """The value that noise is added to, in a variable of its own where it is computed: shifts may speak of its distance."""
    counter = iter(range(10**6))

    def change(statement: Statement) -> tuple[Statement, ...] | None:
        match statement:
            case Sample(
                _,
                "laplace"
                | "exponential"
                | "gumbel"
                | "gaussian"
                | "geometric"
                | "discrete_gaussian"
                | "truncated_laplace",
                (Operation() | Conditional() as center, *rest),
                _,
                place,
            ):
                name = f"#center{next(counter)}"
                drawn = replace(statement, arguments=(Variable(name, place), *rest))
                return Assign(name, center, place), drawn
            case _:
                return None

    return with_statements(body, change)


def _sums(expression: Expression, mechanism: Mechanism) -> Iterator[bool]:
    if isinstance(expression, Operation) and expression.name == "sum":
        yield True
    for part in parts(expression):
        yield from _sums(part, mechanism)


def drop_returned_constants(body: Block) -> tuple[Block, int]:
    """A whole number that is returned after a constant was added, without the constant; and the constant.

    The result tells as much as before: who returns ``i + 1`` could return ``i``.  Alignments may then speak of the index.
    """
    shown = [s for s in statements(body) if isinstance(s, Return) and not _constant(s.value)]
    names = {s.value.name if isinstance(s.value, Variable) else None for s in shown}
    name = next(iter(names)) if len(names) == 1 else None
    changed: list[Expression] = [s.value for s in shown]
    if name is not None:
        assigned = [s for s in statements(body) if writes(s) == name]
        read = any(name in variables(e) for s in statements(body) if not isinstance(s, Return) for e in reads(s))
        if read or not all(isinstance(s, Assign) for s in assigned):
            return body, 0
        changed = [s.value for s in assigned if isinstance(s, Assign) and not _constant(s.value)]
    offsets = {_offset(value) for value in changed}
    if len(offsets) != 1 or None in offsets or 0 in offsets:
        return body, 0
    offset = next(iter(offsets)) or 0
    used = {name, *(v for value in changed for v in variables(value))}
    if any(
        isinstance(s, Assign) and s.name in used and s.value == Constant(None, s.value.place) for s in statements(body)
    ):
        return body, 0

    def less(value: Expression) -> Expression:
        match value:
            case Operation("+", (inner, Constant(int()))):
                return inner
            case Constant(int() as number, place) if not isinstance(number, bool):
                return Constant(number - offset, place)
            case _:
                return value

    def change(statement: Statement) -> tuple[Statement] | None:
        match statement:
            case Assign(written, value) if written == name:
                return (replace(statement, value=less(value)),)
            case Return(value) if name is None or _constant(value):
                return (replace(statement, value=less(value)),)
            case _:
                return None

    return with_statements(body, change), offset


def _constant(value: Expression) -> bool:
    return isinstance(value, Constant)


def _offset(value: Expression) -> int | None:
    match value:
        case Operation("+", (_, Constant(int() as number))) if not isinstance(number, bool):
            return number
        case _:
            return None


def guards_as_conditionals(body: Block, differing: Collection[str]) -> Block:
    """Tests on data or noise that only guard assignments, as conditional expressions."""
    counter = iter(range(10**6))

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            if isinstance(statement, If):
                then, otherwise = change(statement.then), change(statement.otherwise)
                plain = all(isinstance(s, Assign) for s in (*then, *otherwise))
                if plain and set(differing).intersection(variables(statement.test)):
                    test = Variable(f"#if{next(counter)}", statement.place)
                    result.append(Assign(test.name, statement.test, statement.place))
                    for guarded, taken in ((then, True), (otherwise, False)):
                        for s in guarded:
                            assert isinstance(s, Assign)
                            old = Variable(s.name, s.place)
                            one, other = (s.value, old) if taken else (old, s.value)
                            result.append(Assign(s.name, Conditional(test, one, other, s.place), s.place))
                else:
                    result.append(replace(statement, then=then, otherwise=otherwise))
            else:
                result.append(with_blocks(statement, change))
        return tuple(result)

    return change(body)
