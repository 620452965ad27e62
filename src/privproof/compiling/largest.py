"""Lists of noisy values of which only the largest is read: the largest so far, and its place, are kept instead.

``noisy.index(max(noisy))`` is the first place of a largest value: the place at which a loop stops that goes on only where a value is
larger than all before.  So where every turn of a loop over an input puts one value into a list, and afterwards the list is only read in
``xs.index(max(xs))``, ``np.argmax(xs)`` and ``max(xs)``, or the same with ``min``, the list is not needed.  The same holds where values are
put into it one after the other, without a loop.  Ties go to the first, as in Python, and nothing is assumed about them.  An empty list
has no largest value: there the function fails, whatever the noise.
"""

from __future__ import annotations

from dataclasses import dataclass

from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Constant,
    Continue,
    Expression,
    If,
    Operation,
    Place,
    Return,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import map_expressions, parts, reads, statements, variables, writes

_BETTER = {"max": ">", "min": "<"}
_EXTREMES = {"argmax": "max", "argmin": "min"}
"""``np.argmax(xs)`` is ``xs.index(max(xs))``: both are the first place."""


def largest_kept(body: Block) -> tuple[Block, int]:
    """The body without a list of which only the largest value is read, and the least length of lists on which it does not fail."""
    found = _kept(body)
    if found is not None:
        return _rewritten(body, found), 1
    listed = _listed(body)
    return (body, 0) if listed is None else (_followed(body, listed), 0)


@dataclass(frozen=True)
class _Kept:
    """A list that is filled, and whose largest (or smallest) value is read after that.

    Attributes:
        names: the variables that stand for it.
        begin: where it begins.
        added: what puts values into it.
        extreme: ``max`` or ``min``.
    """

    names: frozenset[str]
    begin: Assign
    added: tuple[Append, ...]
    extreme: str

    def read(self, expression: Expression) -> Expression | None:
        """The largest value, or its place, where an expression says so."""
        name = self.added[0].name
        match expression:
            case Operation("index" | "argmax" | "argmin", (Variable(one), *_), at) if one in self.names:
                return Variable(f"{name}.place", at)
            case Operation("max" | "min", (Variable(one),), at) if one in self.names:
                return Variable(f"{name}.best", at)
        return None


@dataclass(frozen=True)
class _InLoop:
    """A list that is filled in one loop over all elements of an input, and the counter of the loop."""

    kept: _Kept
    loop: While
    counter: str


def _kept(body: Block) -> _InLoop | None:
    for number, loop in enumerate(body):
        counter = _counter(loop)
        if counter is None or not isinstance(loop, While) or not _from_zero(body, number, counter):
            continue
        for added in loop.body:
            if isinstance(added, Append) and not _leaves_before(loop.body, added):
                found = _only_extreme(body, number, (added,))
                if found is not None:
                    return _InLoop(found, loop, counter)
    return None


def _listed(body: Block) -> _Kept | None:
    """A list into which values are put one after the other."""
    for name in dict.fromkeys(s.name for s in body if isinstance(s, Append)):
        added = tuple(s for s in body if isinstance(s, Append) and s.name == name)
        last = max(number for number, s in enumerate(body) if s is added[-1])
        if not any(isinstance(s, Break | Continue | Return) for s in statements(body[:last])):
            found = _only_extreme(body, last, added)
            if found is not None:
                return found
    return None


def _counter(loop: Statement) -> str | None:
    """The counter of a loop over all elements of a list: it is read at its first turn and goes up by one in every turn."""
    match loop:
        case While(Operation("<", (Variable(counter), Operation("len" | "turns", (Variable(listed),)))), body):
            steps = [s for s in statements(body) if writes(s) == counter]
            match steps:
                case [Assign(_, Operation("+", (Variable(same), Constant(1)))) as step] if same == counter:
                    return counter if step in body and all(writes(s) != listed for s in statements(body)) else None
    return None


def _from_zero(body: Block, number: int, counter: str) -> bool:
    """Whether a counter is 0 before a loop: then it is the place of what a turn puts into a list."""
    begun = [s for s in statements(body[:number]) if writes(s) == counter]
    match begun:
        case [Assign(_, Constant(0)) as begin]:
            return begin in body
    return False


def _leaves_before(block: Block, added: Append) -> bool:
    """Whether a turn may end before a value is put into the list, or the loop be left at all."""
    before = block[: block.index(added)]
    cut = any(isinstance(s, Break | Continue | Return) for s in statements(before))
    return cut or any(isinstance(s, Break | Return) for s in statements(block))


def _only_extreme(body: Block, number: int, added: tuple[Append, ...]) -> _Kept | None:
    own = added[0].name
    names = {own}
    for statement in body[number + 1 :]:
        match statement:
            case Assign(name, Variable(other)) if other in names:
                names.add(name)
    begins = [s for s in body[:number] if isinstance(s, Assign) and s.name == own]
    aliases = [s for s in body[number + 1 :] if isinstance(s, Assign) and s.name in names]
    changing = [s for s in statements(body) if writes(s) in names]
    if len(begins) != 1 or begins[0].value != Operation("list of", (), begins[0].value.place):
        return None
    if len(changing) != 1 + len(added) + len(aliases) or len({s.name for s in aliases}) != len(aliases):
        return None
    extremes: set[str] = set()

    def fine(expression: Expression) -> bool:
        match expression:
            case Operation("index", (Variable(one), Operation("max" | "min" as extreme, (Variable(other),)))) if (
                one in names and other in names
            ):
                extremes.add(extreme)
                return True
            case Operation("max" | "min" | "argmax" | "argmin" as extreme, (Variable(name),)) if name in names:
                extremes.add(_EXTREMES.get(extreme, extreme))
                return True
            case Variable(name):
                return name not in names
            case _:
                return all(map(fine, parts(expression)))

    after = set(map(id, statements(body[number + 1 :])))
    for statement in statements(body):
        if statement in aliases:
            continue
        read = [expression for expression in reads(statement) if names & set(variables(expression))]
        if read and (id(statement) not in after or not all(map(fine, read))):
            return None
    if len(extremes) != 1:
        return None
    return _Kept(frozenset(names), begins[0], added, extremes.pop())


def _followed(body: Block, kept: _Kept) -> Block:
    """The body with the largest value and its place followed from one value to the next."""
    name = kept.added[0].name
    best, place, new = (f"{name}.{what}" for what in ("best", "place", "new"))
    result: list[Statement] = []
    for statement in body:
        at = statement.place
        if any(statement is each for each in kept.added):
            assert isinstance(statement, Append)
            number = next(k for k, each in enumerate(kept.added) if statement is each)
            here = Assign(place, Constant(number, at), at)
            if number == 0:
                result += [Assign(best, statement.value, at), here]
                continue
            better = Operation(_BETTER[kept.extreme], (Variable(new, at), Variable(best, at)), at)
            result.append(Assign(new, statement.value, at))
            result.append(If(better, (Assign(best, Variable(new, at), at), here), (), at))
        elif not (isinstance(statement, Assign) and statement.name in kept.names):
            result += map_expressions((statement,), kept.read)
    return tuple(result)


def _rewritten(body: Block, found: _InLoop) -> Block:
    kept, [added] = found.kept, found.kept.added
    name = added.name
    best, place, here, new = (f"{name}.{what}" for what in ("best", "place", "here", "new"))

    def chosen(at: Place) -> tuple[Statement, ...]:
        none = Operation("is", (Variable(best, at), Constant(None, at)), at)
        better = Operation(_BETTER[kept.extreme], (Variable(new, at), Variable(best, at)), at)
        then = (Assign(best, Variable(new, at), at), Assign(place, Variable(here, at), at))
        return Assign(new, added.value, at), If(Operation("or", (none, better), at), then, (), at)

    result: list[Statement] = []
    for statement in body:
        if statement is kept.begin:
            at = statement.place
            result += [Assign(best, Constant(None, at), at), Assign(place, Constant(0, at), at)]
        elif statement is found.loop:
            inside: list[Statement] = [Assign(here, Variable(found.counter, statement.place), statement.place)]
            for inner in found.loop.body:
                inside += chosen(inner.place) if inner is added else (inner,)
            result.append(While(found.loop.test, tuple(inside), statement.place))
        elif not (isinstance(statement, Assign) and statement.name in kept.names):
            result += map_expressions((statement,), kept.read)
    return tuple(result)
