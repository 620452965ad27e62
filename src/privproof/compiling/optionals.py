"""Variables that may be None: a number and a truth value in the place of each.

``best = None`` before a loop says that there is no number yet.  The truth value tells whether it is None, wherever the number is copied to
and wherever it is shown: a number that stands for None must never be taken for an output.  An output that is a number on one way and None
or a text on the other, ``x if test else None``, is two outputs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from privproof.compiling.sorts import PROCESSED, output_parts
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Conditional,
    Constant,
    Emit,
    Expression,
    If,
    Operation,
    Place,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
)
from privproof.language.walking import map_expressions, statements, variables_reached, with_blocks, writes


def split_optional_variables(body: Block) -> tuple[Block, dict[str, str]]:
    """Variables and outputs that are None at times and numbers at others: as a number and a truth value that tells whether it is None, and
    as two outputs.
    """

    def nothing(value: Expression) -> bool:
        return isinstance(value, Constant) and value.value is None

    empty = {s.name for s in statements(body) if isinstance(s, Assign) and nothing(s.value)}
    texts = _text_variables(body)
    filled = {s.name for s in statements(body) if isinstance(s, Sample)}
    filled |= {
        s.name
        for s in statements(body)
        if isinstance(s, Assign) and not nothing(s.value) and not _tells_text(s.value, texts)
    }
    truths = ("not", "and", "or", "<", "<=", ">", ">=", "==", "!=")
    told_true = {
        name
        for name in empty
        if all(
            isinstance(s, Assign)
            and (nothing(s.value) or _truth(s.value) or (isinstance(s.value, Operation) and s.value.name in truths))
            for s in statements(body)
            if writes(s) == name
        )
    }
    flags = {name: f"{name} is None" for name in _copies(body, empty & filled)}
    body = map_expressions(body, lambda e: _needed_there(e, flags))

    def nil(name: str, place: Place) -> Constant:
        return Constant(False if name in told_true else 0, place)

    def told(expression: Expression) -> Expression | None:
        match expression:
            case Operation("is" | "==" | "is not" | "!=" as name, (Variable(x, place), other)) if (
                x in flags and nothing(other)
            ):
                flag = Variable(flags[x], place)
                return flag if name in ("is", "==") else Operation("not", (flag,), place)
            case _:
                return None

    def released(value: Expression) -> Expression:
        if isinstance(value, Operation) and value.name == PROCESSED:
            shown_, *given = value.arguments
            asked = (part for each in given for part in output_parts(released(each)))
            return Operation(PROCESSED, (released(shown_), *asked), value.place)
        parts_ = value.arguments if isinstance(value, Operation) and value.name == "tuple of" else (value,)
        if not any(isinstance(part, Variable) and part.name in flags for part in parts_):
            return value
        shown: list[Expression] = []
        for part in parts_:
            if isinstance(part, Variable) and part.name in flags:
                flag = Variable(flags[part.name], part.place)
                shown += [flag, Conditional(flag, nil(part.name, part.place), part, part.place)]
            else:
                shown.append(part)
        return Operation("tuple of", tuple(shown), value.place)

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            changed = with_blocks(statement, change)
            mixed = _mixed_part(changed.value) if isinstance(changed, Emit | Return | Append) else None
            match changed:
                case Emit(value, place) | Return(value, place) | Append(_, value, place) if mixed is not None:
                    whole = value.arguments if isinstance(value, Operation) else (value,)
                    ways = []
                    for way in (mixed.then, mixed.otherwise):
                        shown = tuple(way if part is mixed else part for part in whole)
                        one = replace(value, arguments=shown) if isinstance(value, Operation) else way
                        ways.append(change((replace(changed, value=one),)))
                    result.append(If(mixed.test, ways[0], ways[1], place))
                case Assign(name, value, place) if name in flags and nothing(value):
                    result += [
                        Assign(name, nil(name, place), place),
                        Assign(flags[name], Constant(value=True, place=place), place),
                    ]
                case Assign(name, Variable(other, inner), place) if name in flags and other in flags:
                    result += [
                        Assign(name, Variable(other, inner), place),
                        Assign(flags[name], Variable(flags[other], inner), place),
                    ]
                case Assign(name, _, place) | Sample(name, _, _, _, place) if name in flags:
                    result += [changed, Assign(flags[name], Constant(value=False, place=place), place)]
                case Emit(value, place):
                    result.append(Emit(released(value), place))
                case Return(value, place):
                    result.append(Return(released(value), place))
                case Result(Variable(name) as value, place) if name in flags:
                    result.append(Result(Operation("pos", (value,), place), place))  # it must be a number there
                case _:
                    result.append(changed)
        return tuple(result)

    return change(map_expressions(body, told)), flags


def _mixed_part(value: Expression) -> Conditional | None:
    """The first part of an output that is a word or None on one way, and neither on the other."""
    for part in value.arguments if isinstance(value, Operation) and value.name in ("tuple of", "list of") else (value,):
        if isinstance(part, Conditional) and _is_word(part.then) != _is_word(part.otherwise):
            return part
    return None


def _is_word(value: Expression) -> bool:
    if isinstance(value, Conditional):
        return _is_word(value.then) and _is_word(value.otherwise)
    return isinstance(value, Constant) and (value.value is None or isinstance(value.value, str))


def _text_variables(body: Block) -> set[str]:
    """The variables that hold texts and None alone: constants, or copies of one another."""
    writers: dict[str, list[Statement]] = {}
    for statement in statements(body):
        name = writes(statement)
        if name is not None:
            writers.setdefault(name, []).append(statement)
    found = set(writers)
    while True:
        fine = {
            name for name in found if all(isinstance(s, Assign) and _tells_text(s.value, found) for s in writers[name])
        }
        if fine == found:
            return found
        found = fine


def _tells_text(value: Expression, texts: Collection[str]) -> bool:
    if isinstance(value, Constant):
        return value.value is None or isinstance(value.value, str)
    return isinstance(value, Variable) and value.name in texts


def _copies(body: Block, names: Collection[str]) -> list[str]:
    """Some variables that may be None, with those that they are assigned to."""

    def copies(statement: Statement, found: set[str]) -> bool:
        return isinstance(statement, Assign) and isinstance(statement.value, Variable) and statement.value.name in found

    return sorted(variables_reached(body, names, copies))


def _needed_there(expression: Expression, names: Collection[str]) -> Expression | None:
    """A conditional expression that takes a variable which may be None: it must be a number where it is taken."""
    match expression:
        case Conditional(test, then, otherwise, place):

            def taken(value: Expression) -> Expression:
                may_be_none = isinstance(value, Variable) and value.name in names
                return Operation("pos", (value,), value.place) if may_be_none else value

            return Conditional(test, taken(then), taken(otherwise), place)
        case _:
            return None


def _truth(value: Expression) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, bool)
