"""Loops over ranges whose step is computed, and loops over numbers that are written out: levels of a tree of sums, and their widths.

``range(low, high, step)`` counts up where its step is above 0, down where it is below, and fails where it is 0.  Alignments know loops
that count up.  A step is above 0 if all that it is computed from is: constants, public numbers that are declared so, powers and products
of such numbers, the largest of several.  ``for width in (1, 2, 4)`` counts the numbers, and each of them is told by its place, where loops
inside go as far as it says or in its steps; other loops over numbers are written out turn by turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from privproof.compiling.branches import placeless
from privproof.compiling.rewriting import Unsupported
from privproof.language.inputs import Input
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Expression,
    Operation,
    Place,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    blocks,
    map_expressions,
    reads,
    statements,
    variables,
    variables_reached,
    with_blocks,
    with_statements,
    within,
    writes,
)

STRIDE = "stride"
"""A step of a range, which is not 0."""


def counting_up(body: Block, mechanism: Mechanism, *, by_place: bool = True) -> Block:
    """The statements with loops that count up in the place of those whose step is above 0.

    Args:
        body: the statements.
        mechanism: whose they are.
        by_place: whether numbers that loops inside count by are told by their places; selections go through them one by one.

    Raises:
        Unsupported: a step may be 0 or below.
    """
    if by_place:
        body = _told_by_place(body)
    steps = [part for s in statements(body) for read in reads(s) for part in within(read) if _is_stride(part)]
    if not steps:
        return body
    signs = Signs(body, mechanism.inputs)
    for step in steps:
        assert isinstance(step, Operation)
        if signs.least(step.arguments[0]) != 1:
            raise Unsupported(f"a step of a range that may be 0 or below, {step.place}")

    def change(expression: Expression) -> Expression | None:
        match expression:
            case Operation("stride", (step,)):
                return step
            case Conditional(Operation(">", (Variable(step), Constant(0))), Operation("<") as up, Operation(">")):
                return up if step in strided else None
            case _:
                return None

    strided = {s.name for s in statements(body) if isinstance(s, Assign) and _is_stride(s.value)}
    return map_expressions(_said_once(body), change)


def _said_once(body: Block) -> Block:
    """The statements with a step that is computed, and stays, named where a loop says again what it is: ``range(0, n, 2**k)``."""
    result: list[Statement] = []
    for before, statement in zip((None, *body), body, strict=False):
        inner = with_blocks(statement, _said_once)
        match before, inner:
            case Assign(name, Operation("stride", (Operation("whole", (step,)),))), While(_, turn):
                if isinstance(step, Operation) and not _changes(turn, step):
                    said = placeless(step)
                    again = map_expressions(
                        turn,
                        lambda e, n=name, s=said: Variable(n, e.place) if placeless(e) == s else None,  # type: ignore[misc]
                    )
                    inner = replace(inner, body=again)
            case _:
                pass
        result.append(inner)
    return tuple(result)


def _changes(turn: Block, step: Expression) -> bool:
    """Whether a loop changes what a step is computed from."""
    spoken = set(variables(step))
    return any(writes(s) in spoken for s in statements(turn))


def _is_stride(expression: Expression) -> bool:
    return isinstance(expression, Operation) and expression.name == STRIDE


class Signs:
    """Which numbers are above 0, and which are not below it, by the values that variables are assigned."""

    def __init__(self, body: Block, inputs: Mapping[str, Input]) -> None:
        self.inputs = inputs
        self.written: dict[str, list[Statement]] = {}
        for statement in statements(body):
            name = writes(statement)
            if name is not None:
                self.written.setdefault(name, []).append(statement)
        self.known: dict[str, int | None] = dict.fromkeys(self.written, 1)
        before: dict[str, int | None] = {}
        while before != self.known:  # what is assumed of all is dropped until the rest keeps itself
            before = dict(self.known)
            for name, changes in self.written.items():
                found = [self.least(each.value) if isinstance(each, Assign) else None for each in changes]
                self.known[name] = _lesser((self.known[name], *found))

    def least(self, expression: Expression) -> int | None:
        """1 where a whole number is above 0, 0 where it is not below; None where neither is known."""
        match expression:
            case Constant(bool()):
                return None
            case Constant(int() as value):
                return None if value < 0 else min(value, 1)
            case Variable(name) if name in self.written:
                return self.known[name] if name not in self.inputs else None
            case Variable(name) if name in self.inputs:
                return self._declared(self.inputs[name])
            case Conditional(_, then, otherwise):
                return _lesser((self.least(then), self.least(otherwise)))
            case Operation("len" | "turns"):
                return 0
            case Operation("whole" | "pos" | "stride", (inner,)):
                return self.least(inner)
            case Operation("+" | "extend", (left, right)):
                found = self.least(left), self.least(right)
                return None if None in found else max(each for each in found if each is not None)
            case Operation("*" | "repeat" | "min", arguments):
                return _lesser(tuple(map(self.least, arguments)))
            case Operation("max", arguments) if len(arguments) > 1:
                return max((each for each in map(self.least, arguments) if each is not None), default=None)
            case Operation("**" | "<<", (base, _)):  # whole numbers only, or the range fails
                return 1 if self.least(base) == 1 else None
            case _:
                return None

    @staticmethod
    def _declared(declared: Input) -> int | None:
        whole = declared.shape == "value" and declared.public and declared.low is not None
        return None if not whole or declared.low < 0 else min(int(declared.low), 1)  # type: ignore[operator, arg-type]


def _lesser(found: tuple[int | None, ...]) -> int | None:
    return None if None in found else min(each for each in found if each is not None)


def _told_by_place(body: Block) -> Block:
    """The statements with numbers that a loop is over, where they are written out, told by their places."""
    for name, numbers in _written_out(body):
        body = _Told(name, numbers, {id(loop) for loop in _walks(body, name)}).block(body)
    return body


@dataclass(frozen=True)
class _Told:
    """A list of numbers that are written out, and the loops over it."""

    name: str
    numbers: tuple[Constant, ...]
    walks: set[int]

    def block(self, body: Block) -> Block:
        """The statements without the list."""
        return with_statements(body, self.statement)

    def statement(self, statement: Statement) -> list[Statement] | None:
        if isinstance(statement, Assign) and statement.name == self.name:
            return []
        if id(statement) not in self.walks:
            return None
        assert isinstance(statement, While)
        assert isinstance(statement.test, Operation)
        taken, *rest = statement.body
        assert isinstance(taken, Assign)
        assert isinstance(taken.value, Element)
        first = replace(taken, value=_at(self.numbers, taken.value.index, taken.place))
        many = Constant(len(self.numbers), statement.place)
        test = replace(statement.test, arguments=(statement.test.arguments[0], many))
        return [replace(statement, test=test, body=(first, *self.block(tuple(rest))))]


def _at(numbers: tuple[Constant, ...], index: Expression, place: Place) -> Expression:
    """The number at a place that there is."""
    found: Expression = numbers[-1]
    for number in range(len(numbers) - 2, -1, -1):
        here = Operation("==", (index, Constant(number, place)), place)
        found = Conditional(here, numbers[number], found, place)
    return found


def _written_out(body: Block) -> list[tuple[str, tuple[Constant, ...]]]:
    """The lists of whole numbers that are written out, and of which nothing but a loop is asked in which others count by them."""
    found: list[tuple[str, tuple[Constant, ...]]] = []
    for statement in statements(body):
        match statement:
            case Assign(name, Operation("list of" | "tuple of", (_, *_) as numbers)) if all(
                isinstance(each, Constant) and type(each.value) is int for each in numbers
            ):
                written = [s for s in statements(body) if writes(s) == name]
                if len(written) == 1 and _only_walked(body, name) and any(map(_is_counted_by, _walks(body, name))):
                    found.append((name, tuple(each for each in numbers if isinstance(each, Constant))))
            case _:
                pass
    return found


def _is_counted_by(loop: While) -> bool:
    """Whether a loop inside a loop over numbers goes as far as they say, or in their steps, perhaps by what is computed from them."""
    taken, rest = loop.body[0], loop.body[1:]
    assert isinstance(taken, Assign)

    def flows(statement: Statement, reached: set[str]) -> bool:
        return isinstance(statement, Assign) and not reached.isdisjoint(variables(statement.value))

    told = variables_reached(rest, [taken.name], flows)
    return any(not told.isdisjoint(variables(s.test)) for s in statements(rest) if isinstance(s, While))


def _only_walked(body: Block, name: str) -> bool:
    heads = {id(each) for loop in _walks(body, name) for each in (loop, loop.body[0])}
    return bool(heads) and not any(
        name in variables(expression) for s in statements(body) if id(s) not in heads for expression in reads(s)
    )


def _walks(body: Block, name: str) -> Iterator[While]:
    """The loops over a list, whose counters begin at 0 and are theirs alone."""
    for before, statement in zip((None, *body), body, strict=False):
        for inner in blocks(statement):
            yield from _walks(inner, name)
        match before, statement:
            case (
                Assign(counter, Constant(0)),
                While(
                    Operation("<", (Variable(counted), Operation("turns", (Variable(walked),)))),
                    (Assign(_, Element(Variable(read), Variable(index))), *_),
                ) as loop,
            ) if counter[:1] == "#" and counter == counted == index and name == walked == read:
                yield loop
            case _:
                pass
