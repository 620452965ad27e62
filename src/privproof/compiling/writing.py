"""Lists that are filled in a loop and returned: what is put into them is written on the way, and need not be kept.

A mechanism that returns one answer for every record has as many outputs as there are lists of answers, and no finite state holds the
list.  But nobody reads it before the end: so putting a value into it is *writing* it, in the step that reads the record, and what is
returned in the end is the list of all that was written (`Written`).  For every word of steps

    P(the list is l | data) = the sum of P(word | data) over the words whose values, one after the other, are l.

The steps are compared one by one, so l must have one word only, whatever the data of that length are: then the probability of l *is* that
of its word, and nothing is lost or added (`decodable`).  Two words of the same values are looked for in pairs of runs of equal length
that write the same, one of which may be ahead of the other (as for codes: Sardinas and Patterson, 1953).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from privproof.compiling.counters import other_names
from privproof.compiling.steps import alike
from privproof.errors import LanguageError
from privproof.exact import Rational
from privproof.language.indices import Written
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
    While,
)
from privproof.language.values import indices, parts_of, tails, text, with_written
from privproof.language.walking import reads, statements, variables, with_blocks, writes
from privproof.models import Transducer
from privproof.scenarios import Several

_MOST_AHEAD = 8
"""By how many values one of two runs may be ahead of the other; beyond it they are not followed, and a size is asked for."""
_MOST_PAIRS = 100_000
"""Pairs of runs that are followed; with more of them a size is asked for."""
_HOLDING = ("tuple of", "list of", "fixed list of", "record of", "table of")
"""Operations whose value holds its arguments as they are."""


def written_list(body: Block, fed: str) -> str | None:
    """The list that is filled while another list is read, and only returned; None where there is not exactly one."""
    found = [name for name in _filled(body, fed) if _only_returned(body, name)]
    return found[0] if len(found) == 1 else None


def _filled(body: Block, fed: str) -> list[str]:
    """The lists that begin empty, once and outside of loops, and get values in a loop over a list of open length."""
    names = other_names(body, fed)
    begun = [s.name for s in _outside_loops(body) if isinstance(s, Assign) and _is_empty(s.value)]
    once = [name for name in begun if sum(isinstance(s, Assign) and s.name == name for s in statements(body)) == 1]
    grown: set[str] = set()
    for loop in statements(body):
        if isinstance(loop, While) and any(name in names for s in (loop, *loop.body) for name in _read(s)):
            grown.update(s.name for s in statements(loop.body) if isinstance(s, Append))
    return [name for name in once if name in grown]


def _outside_loops(block: Block) -> Iterator[Statement]:
    for statement in block:
        if not isinstance(statement, While):
            yield statement


def _read(statement: Statement) -> Iterator[str]:
    return (name for expression in reads(statement) for name in variables(expression))


def _is_empty(value: Expression) -> bool:
    return isinstance(value, Operation) and value.name == "list of" and not value.arguments


def _only_returned(body: Block, listed: str) -> bool:
    """Whether a list, under all its names, is only added to and returned, by itself or in a tuple, list or table."""
    names = other_names(body, listed)

    def held(expression: Expression) -> bool:
        match expression:
            case Variable():
                return True
            case Operation("tuple", (Variable(name),)) if name in names:
                return True
            case Operation(name, arguments) if name in _HOLDING:
                return all(map(held, arguments))
            case _:
                return not any(name in names for name in variables(expression))

    for statement in statements(body):
        match statement:
            case Assign(name, Variable(other)) if other in names:
                if sum(writes(s) == name for s in statements(body)) > 1:
                    return False
            case Assign(name) if name in names and name != listed:
                return False
            case Append(name, value) if name in names:
                if name != listed or any(other in names for other in variables(value)):
                    return False
            case Return(value):
                if not held(value):
                    return False
            case _:
                if writes(statement) in names - {listed} or any(name in names for name in _read(statement)):
                    return False
                if writes(statement) == listed and not isinstance(statement, Assign):
                    return False
    return True


def writing(body: Block, listed: str) -> Block:
    """The statements with the list written on the way."""

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            match statement:
                case Assign(name, _, place) if name == listed:
                    result.append(replace(statement, value=Constant(Written(), place)))
                case Append(name, value, place) if name == listed:
                    result.append(Emit(value, place))
                case _:
                    result.append(with_blocks(statement, change))
        return tuple(result)

    return change(body)


def yielding(body: Block) -> Block:
    """The statements of a generator, whose output is the list of all that it yields."""

    def change(block: Block) -> Block:
        return tuple(
            Return(Constant(Written(), statement.place), statement.place)
            if isinstance(statement, Return)
            else with_blocks(statement, change)
            for statement in block
        )

    return change(body)


@dataclass(frozen=True)
class Token:
    """A value that was written, as far as it tells two lists apart.

    Attributes:
        told: what tells it from others.
        fixed: whether it holds the index of the element that was read, so that it equals none of another step.
    """

    told: Any
    fixed: bool


@dataclass(frozen=True)
class Tokens:
    """What the outputs of a model write.

    Attributes:
        written: for every output the values, in order.
        ends: for every output of the end the rest of what is returned.
    """

    written: Mapping[str | None, tuple[Token, ...]]
    ends: Mapping[str, Any]


def output_tokens(letters: Mapping[str, Any], results: Mapping[str, Any]) -> Tokens:
    """What the outputs of steps, and those of the end, write.

    Where a value is unbounded, one name stands for many numbers, so numbers are not told apart.
    """
    unbounded = any(True for value in (*letters.values(), *results.values()) for _ in tails(_values(value)))

    def token(value: Any) -> Token:
        return Token(alike(value) if unbounded else text(value), any(True for _ in indices(value)))

    written: dict[str | None, tuple[Token, ...]] = {None: ()}
    ends = {}
    for name, value in letters.items():
        written[name] = tuple(map(token, _values(value)))
    for name, value in results.items():
        ends[name] = token(with_written(value, lambda found: replace(found, last=()))).told
        written[name] = tuple(map(token, _written_last(value)))
    return Tokens(written, ends)


def _written_last(value: Any) -> tuple[Any, ...]:
    """What is written at the end, before the list is returned."""
    if isinstance(value, Written):
        return value.last
    return next((found for item in parts_of(value) or () if (found := _written_last(item))), ())


def _values(output: Any) -> tuple[Any, ...]:
    return output.values if isinstance(output, Several) else (output,)


def refuse_ambiguous(model: Transducer, begins: Sequence[Mapping[str, Rational]], tokens: Tokens) -> None:
    """Refuse a model in which two words of one length write the same list, from one of its beginnings on.

    Raises:
        LanguageError: there are two, or it could not be found out.
    """
    assert model.finish is not None
    rows = {
        state: sorted({(b.output, b.target) for branches in row.values() for b in branches}, key=str)
        for state, row in model.steps[0].items()
    }
    silent = _silent(model, rows, tokens)
    waiting: list[tuple[str, str, bool, tuple[Token, ...]]] = []
    waiting += ((one, other, False, ()) for begin in begins for one in begin for other in begin)
    seen = set(waiting)
    for one, other, differ, ahead in waiting:  # grows while it is read; `one` is ahead of `other`
        for last in model.finish[one]:
            for end in model.finish[other]:
                left, right = (*ahead, *tokens.written[last]), tokens.written[end]
                if (differ or last != end) and left == right and tokens.ends[last] == tokens.ends[end]:
                    raise _ambiguous("two ways of filling the list give the same list, so it does not tell its steps")
        for output, target in rows[one]:
            for second, beside in rows[other]:
                node = _followed((*ahead, *tokens.written[output]), tokens.written[second], target, beside)
                if node is None:
                    continue
                leading, behind, rest = node
                if rest and silent[behind]:
                    continue
                pair = (leading, behind, differ or output != second, rest)
                if len(rest) > _MOST_AHEAD:
                    raise _ambiguous("what is put into the list may differ in number from element to element")
                if pair not in seen:
                    seen.add(pair)
                    waiting.append(pair)
                    if len(seen) > _MOST_PAIRS:
                        raise _ambiguous(f"more than {_MOST_PAIRS} pairs of runs fill the list")


def _followed(
    left: tuple[Token, ...], right: tuple[Token, ...], one: str, other: str
) -> tuple[str, str, tuple[Token, ...]] | None:
    """Two runs after a step: the one that is ahead, the other one, and by which values; None where they write different lists."""
    common = min(len(left), len(right))
    if left[:common] != right[:common]:
        return None
    rest = left[common:] or right[common:]
    if any(token.fixed for token in rest):  # no later value is the same
        return None
    return (one, other, rest) if len(left) >= len(right) else (other, one, rest)


def _silent(model: Transducer, rows: Mapping[str, Sequence[tuple[str | None, str]]], tokens: Tokens) -> dict[str, bool]:
    """The states from which on nothing is written any more."""
    assert model.finish is not None
    result = {state: not any(tokens.written[o] for o in model.finish[state]) for state in rows}
    changed = True
    while changed:
        changed = False
        for state, row in rows.items():
            if result[state] and any(tokens.written[output] or not result[target] for output, target in row):
                result[state], changed = False, True
    return result


def _ambiguous(why: str) -> LanguageError:
    return LanguageError("length", why, hint="--size 3, or one value for every element")
