"""Selections: a noisy value for every element of a list, and what the largest (or smallest) of them are, without a loop.

Noisy max, its gap to the runner-up and the top k say little of their many noisy values: the places of the k largest, these values, and the
largest of the others.  Whichever way a function finds them (a loop that keeps the best so far, ``noisy.index(max(noisy))``,
``max(range(n), key=...)``, ``sorted(noisy)``), it is the same selection, and it has no loop:

* ``place``: a place of the list, other than those before; both runs have it in common, like the outcome of a test;
* the noisy value at every such place, a `Sample` like any other;
* ``others``: the largest noisy value at all other places;
* ``ranked``: these values come in this order.

A loop is followed on *ranks*.  Before a turn every variable holds a constant, the value or the place of a rank so far, or what is computed
from these; the new value takes a rank of its own, and those below it move down by one.  Comparisons of values are decided by their ranks,
and equal values have probability zero.  There are finitely many states.  If after every number of turns there is but one, the loop is
a selection; this is a proof by induction, and nothing is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from privproof.compiling.sorts import COMPARISONS, OTHERS, PLACE, PURE, RANKED
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Expression,
    If,
    Inline,
    Operation,
    Place,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.values import MISSING
from privproof.language.walking import parts, reads, rewritten, statements, variables, with_blocks, with_reads, writes

_DEEPEST = 6
"""Ranks that a loop may keep, and turns that are told apart; a loop that keeps more has no selection. The textbooks keep two."""
_MOST_STATES = 500
"""States of a loop on ranks before it is given up: a selection has one for every number of turns and rank of the new value."""
_NOWHERE = Place("", 0, 0)
_NOISY = Operation("noisy list", (), _NOWHERE)
_PLACES = Operation("list of places", (), _NOWHERE)
_BEFORE = "before"
"""The operation that stands for what a variable holds before a loop."""


class _NoSelection(Exception):
    """What is done to noisy values is no selection."""


def selected(body: Block, mechanism: Mechanism) -> tuple[Block, int] | None:
    """The body with its first loop over noisy values as a selection, and the least length of lists on which it does not fail.

    None if it has no such loop, or if neighbours have lists of different length.
    """
    if mechanism.neighbours not in ("each", "one", "monotone"):
        return None
    for largest in (True, False):
        for number, statement in enumerate(body):
            if isinstance(statement, While):
                try:
                    return _Selection(body, number, mechanism, largest=largest).block()
                except _NoSelection:
                    break
    return None


def _value(rank: int) -> Variable:
    return Variable(f"#value{rank}", _NOWHERE)


def _place(rank: int) -> Variable:
    return Variable(f"#place{rank}", _NOWHERE)


def _rank(expression: Expression, stem: str) -> int | None:
    """The rank whose value or place an expression is."""
    match expression:
        case Variable(name) if name.startswith(stem) and name.removeprefix(stem).isdigit():
            return int(name.removeprefix(stem))
        case _:
            return None


def _ranks(expression: Expression, stem: str) -> Iterator[int]:
    """The ranks whose values or places an expression reads."""
    for name in variables(expression):
        rank = _rank(Variable(name, _NOWHERE), stem)
        if rank is not None:
            yield rank


@dataclass(frozen=True)
class _Source:
    """Where noisy values come from: a loop over the elements of a list, with one sample in every turn."""

    listed: str
    counter: str
    sample: Sample
    center: Expression


State = tuple[tuple[str, Expression], ...]
"""What the variables hold, by name."""


@dataclass
class _Turn:
    """One turn of a loop on ranks.

    Attributes:
        held: what the variables hold.
        rank: the rank of the new value among those before; rank 0 stands for the new value itself until the turn is over.
        count: how many turns came before; at least so many, where `many`.
        many: whether the count is only a least one.
        largest: whether the first rank has the largest value.
    """

    held: dict[str, Expression]
    rank: int
    count: int
    many: bool
    largest: bool
    counter: str
    mechanism: Mechanism
    source: _Source | None = None
    drawn: Sample | None = None
    center: Expression | None = None
    looked: set[int] = field(default_factory=set)
    appended: list[str] = field(default_factory=list)
    """The lists that the new value was appended to: a list of all values takes every one, once."""

    def block(self, block: Block) -> None:
        """Follow some statements."""
        for statement in block:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign(name, value) if name == self.counter:
                if not _is_step(value, name):
                    raise _NoSelection
                self.held[name] = Operation("next", (), _NOWHERE)
            case Assign(name, value):
                self.held[name] = self.value(value)
            case Sample(name, noise, (center, *_)) if noise in PURE and self.drawn is None and self.source is None:
                self.drawn, self.center = statement, self.value(center)
                self.held[name] = _value(0)
            case Append(name, value) if self.value(value) == _value(0) and self.held.get(name) == _NOISY:
                self.appended.append(name)
            case If(test, then, otherwise):
                self.block(then if self.truth(test) else otherwise)
            case Inline(result, (*inner, Result(value))) if not any(
                isinstance(s, Result) for s in statements(tuple(inner))
            ):
                self.block(tuple(inner))
                self.held[result] = self.value(value)
            case _:
                raise _NoSelection

    def truth(self, expression: Expression) -> bool:
        """How a test goes."""
        found = self.value(expression)
        if isinstance(found, Constant) and isinstance(found.value, bool):
            return found.value
        raise _NoSelection

    def value(self, expression: Expression) -> Expression:
        """What an expression is, in terms of ranks."""
        match expression:
            case Constant(value):
                return Constant(value, _NOWHERE)
            case Variable(name):
                return self.held.get(name, Variable(name, _NOWHERE))
            case Operation("and" | "or" as name, arguments):
                for argument in arguments:
                    if self.truth(argument) == (name == "or"):
                        return Constant(name == "or", _NOWHERE)
                return Constant(name == "and", _NOWHERE)
            case Operation("not", (inner,)):
                return Constant(not self.truth(inner), _NOWHERE)
            case Conditional(test, then, otherwise):
                return self.value(then if self.truth(test) else otherwise)
        inside = [self.value(part) for part in parts(expression)]
        match expression:
            case Operation("max" | "min" as name) if len(inside) > 1 and all(
                _rank(e, "#value") is not None for e in inside
            ):
                return self.extreme(name, inside)
            case Operation("is" | "is not" | "==" | "!=" as name, _) if Constant(None, _NOWHERE) in inside:
                return self.nothing(name, inside)
            case Operation(name, _) if name in COMPARISONS:
                return self.compared(name, *inside)
            case Operation("whole" | "pos", _):
                return inside[0]
            case Operation(name, _):
                return _simple(Operation(name, tuple(inside), _NOWHERE))
            case Element():
                return self.element(inside[0], inside[1])
        raise _NoSelection

    def element(self, sequence: Expression, index: Expression) -> Expression:
        rank = _rank(index, "#place")
        if sequence == _NOISY and rank is not None:
            return _value(rank)
        if sequence == _PLACES and rank is not None:
            return index
        if isinstance(sequence, Variable) and sequence.name in self.mechanism.inputs:
            return Element(sequence, index, _NOWHERE)
        raise _NoSelection

    def nothing(self, name: str, inside: list[Expression]) -> Expression:
        """A test for None."""
        other = inside[0] if inside[1] == Constant(None, _NOWHERE) else inside[1]
        known = isinstance(other, Constant) or any(_rank(other, stem) is not None for stem in ("#value", "#place"))
        if not known:
            raise _NoSelection
        same = other == Constant(None, _NOWHERE)
        return Constant(same == (name in ("is", "==")), _NOWHERE)

    def extreme(self, name: str, inside: list[Expression]) -> Expression:
        best = inside[0]
        for other in inside[1:]:
            if self.above(other, best) == (name == "max"):
                best = other
        return best

    def above(self, one: Expression, other: Expression) -> bool:
        """Whether one value is larger than another one."""
        first, second = _rank(one, "#value"), _rank(other, "#value")
        assert first is not None
        assert second is not None
        if first == second:
            raise _NoSelection
        before = self.order(first) < self.order(second)
        return before == self.largest

    def order(self, rank: int) -> float:
        """Where a value stands: the new one just before the one whose rank it takes."""
        self.looked.add(rank)
        return self.rank - 0.5 if rank == 0 else rank

    def compared(self, name: str, one: Expression, other: Expression) -> Expression:
        if _rank(one, "#value") is not None and _rank(other, "#value") is not None:
            if name in ("==", "!="):
                raise _NoSelection
            return Constant(self.above(one, other) == (name in (">", ">=")), _NOWHERE)
        decided = self.counted(name, one, other)
        if decided is None:
            raise _NoSelection
        return Constant(decided, _NOWHERE)

    def counted(self, name: str, one: Expression, other: Expression) -> bool | None:
        """How the number of the turn compares with a constant."""
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        match one, other:
            case Constant(int() as left), Constant(int() as right):
                return _compare(name, left, right)
            case Variable("#place0"), Constant(int() as right):
                return self.settled(name, right)
            case Constant(int() as left), Variable("#place0"):
                return self.settled(turned.get(name, name), left)
            case _:
                return None

    def settled(self, name: str, number: int) -> bool | None:
        outcomes = {
            _compare(name, count, number) for count in (self.count, *((self.count + 1, 10**9) if self.many else ()))
        }
        if self.many and number >= self.count:
            return None
        return outcomes.pop() if len(outcomes) == 1 else None

    def after(self) -> State:
        """What the variables hold when the turn is over, by the new ranks."""

        def moved(expression: Expression) -> Expression | None:
            for stem, made in (("#value", _value), ("#place", _place)):
                rank = _rank(expression, stem)
                if rank is not None:
                    return made(self.rank if rank == 0 else rank + (rank >= self.rank))
            return None

        return tuple(sorted((name, rewritten(value, moved)) for name, value in self.held.items()))


def _simple(operation: Operation) -> Expression:
    """A constant where only constants are added."""
    match operation:
        case Operation("+" | "-" as sign, (Constant(int() as a), Constant(int() as b))):
            return Constant(a + b if sign == "+" else a - b, _NOWHERE)
        case _:
            return operation


def _compare(name: str, left: int, right: int) -> bool:
    return {
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[name]


def _is_step(value: Expression, counter: str) -> bool:
    match value:
        case Operation("+", (Variable(name), Constant(1))):
            return name == counter
        case _:
            return False


class _Selection:
    """The rewriting of one body."""

    def __init__(self, body: Block, number: int, mechanism: Mechanism, *, largest: bool) -> None:
        self.body, self.number, self.mechanism, self.largest = body, number, mechanism, largest
        self.ways: dict[int, dict[str, Expression]] = {}
        """What the variables hold after a number of turns; the last entry is for so many and more."""
        self.source: _Source | None = None
        self.seen: _Source | None = None
        self.most = self.least = 0
        self.sites = count(1 + max((s.site for s in statements(body) if isinstance(s, Sample)), default=0))

    # ---------------------------------------------------------------------------------------------------- recognising

    def block(self) -> tuple[Block, int]:
        """The body without its loop."""
        loop = self.body[self.number]
        assert isinstance(loop, While)
        before = self.body[: self.number]
        self.ways = self.followed(loop, _holding(before), self.body[self.number + 1 :])
        self.source, self.most = self.seen, max(self.ways)
        rest = self.body[self.number + 1 :]
        early: list[Statement] = []
        while (found := self.consumer(rest)) is not None:
            number, more, statements_ = found
            self.joined(more)
            early += statements_
            rest = rest[number + 1 :]
        return self.written(before, early, rest)

    def consumer(self, rest: Block) -> tuple[int, dict[int, dict[str, Expression]], list[Statement]] | None:
        """The next loop over the values, if one comes next: its number, what it finds, and what is assigned before it."""
        early: list[Statement] = []
        for number, statement in enumerate(rest):
            match statement:
                case While(_, body) if any(self.listed(e) for s in statements(body) for e in reads(s)):
                    lists = {name: value for name, value in self.ways[self.most].items() if value in (_NOISY, _PLACES)}
                    held = {**lists, **_holding(tuple(early))}
                    return number, self.followed(statement, held, rest[number + 1 :]), early
                case Assign(name, value, place):
                    if self.understood(statement):
                        continue
                    if isinstance(value, Element) and self.known(value.sequence) == _PLACES:
                        early.append(Assign(name, value.index, place))  # the places are 0, 1, 2, ...
                        self.least = 1
                        continue
                    if any(read in self.ways[self.most] for read in variables(value)):
                        return None
                    early.append(statement)
                case _:
                    return None
        return None

    def listed(self, expression: Expression) -> bool:
        return any(self.ways[self.most].get(name) in (_NOISY, _PLACES) for name in variables(expression))

    def known(self, expression: Expression) -> Expression | None:
        return self.ways[self.most].get(expression.name) if isinstance(expression, Variable) else None

    def understood(self, statement: Assign) -> bool:
        """Note an assignment that only gives a list another name, or lists the places."""
        match statement.value:
            case Variable(name) if self.ways[self.most].get(name) in (_NOISY, _PLACES):
                made = self.ways[self.most][name]
            case Operation("list", (Operation("range", arguments),)) if self.length(arguments[-1]):
                if len(arguments) > 1 and arguments[0] != Constant(0, arguments[0].place):
                    return False
                made = _PLACES
            case _:
                return False
        for way in self.ways.values():
            way[statement.name] = made
        return True

    def length(self, expression: Expression) -> bool:
        """Whether an expression is the length of the list, or of what was made of it."""
        match expression:
            case Operation("whole", (inner,)):
                return self.length(inner)
            case Operation("len" | "turns", (Variable(name),)):
                if self.source is not None and self.ways and self.ways[self.most].get(name) in (_NOISY, _PLACES):
                    return True
                declared = self.mechanism.inputs.get(name)
                if declared is None or declared.shape != "list":
                    return False
                return self.source is None or declared.size == self.mechanism.inputs[self.source.listed].size
            case _:
                return False

    def joined(self, more: Mapping[int, Mapping[str, Expression]]) -> None:
        """What a second loop over the values finds, beside what the first one did."""
        before, most = self.ways, max(self.most, max(more))
        last, late = before[self.most], more[max(more)]
        self.ways = {n: {**before.get(n, last), **more.get(n, late)} for n in range(most + 1)}
        self.most = most

    def followed(self, loop: While, held: Mapping[str, Expression], rest: Block) -> dict[int, dict[str, Expression]]:
        """What the variables hold after a loop, by the number of its turns; the last entry is for so many and more."""
        match loop.test:
            case Operation("<", (Variable(counter), bound)) if self.length(bound):
                pass
            case _:
                raise _NoSelection
        if held.get(counter) != Constant(0, _NOWHERE):
            raise _NoSelection
        begin = dict(held)
        for name in self.appended(loop.body):
            if begin.get(name) != Operation("list of", (), _NOWHERE):
                raise _NoSelection
            begin[name] = _NOISY
        first: State = tuple(sorted(begin.items()))
        states: dict[int, dict[str, State]] = {0: {repr(first): first}}
        later = frozenset(name for s in statements(rest) for e in reads(s) for name in variables(e))
        needed = _needed(loop.body, _needed(loop.body, later) | later) | later
        last = _DEEPEST + 1
        waiting = [(0, first)]
        done = 0
        while waiting:
            count, state = waiting.pop()
            done += 1
            if done > _MOST_STATES:
                raise _NoSelection
            for rank in self.ranks(count, state, last):
                turn = _Turn(
                    {**dict(state), counter: _place(0)}, rank, count, count == last, self.largest, counter,
                    self.mechanism, self.source,
                )  # fmt: skip
                turn.block(loop.body)
                self.drew(turn, bound, counter)
                if sorted(turn.appended) != sorted(self.appended(loop.body)):
                    raise _NoSelection
                if turn.held.get(counter) != Operation("next", (), _NOWHERE):
                    raise _NoSelection
                after = min(count + 1, last)
                made = tuple((name, value) for name, value in turn.after() if name != counter)
                kept = tuple((name, value) for name, value in made if name in needed)
                if any(
                    rank > _DEEPEST
                    for _, value in kept
                    for stem in ("#value", "#place")
                    for rank in _ranks(value, stem)
                ):
                    raise _NoSelection
                if repr(kept) not in states.setdefault(after, {}):
                    states[after][repr(kept)] = kept
                    waiting.append((after, kept))
        if any(len(found) > 1 for found in states.values()):
            raise _NoSelection
        ways = {count: dict(next(iter(found.values()))) for count, found in sorted(states.items())}
        most = max(ways)
        while most > 0 and _alike(ways[most - 1], ways[most]):
            del ways[most]
            most -= 1
        return ways

    def appended(self, block: Block) -> set[str]:
        return {s.name for s in statements(block) if isinstance(s, Append)}

    def ranks(self, count: int, state: State, last: int) -> range:
        """The ranks that a new value may take: beyond those that variables hold all are alike."""
        if count < last:
            return range(1, count + 2)
        held = [r for _, value in state for stem in ("#value", "#place") for r in _ranks(value, stem)]
        return range(1, max(held, default=0) + 2)

    def drew(self, turn: _Turn, bound: Expression, counter: str) -> None:
        """Note the noise of a turn: the same in every turn, and around what data of this turn say."""
        if self.source is not None:
            if turn.drawn is not None:
                raise _NoSelection
            return
        if turn.drawn is None or turn.center is None:
            raise _NoSelection
        allowed = {"#place0", *self.mechanism.inputs}
        if any(name not in allowed for name in variables(turn.center)):
            raise _NoSelection
        if not any(isinstance(part, Element) for part in _within(turn.center)):
            raise _NoSelection
        match bound:
            case Operation(_, (Variable(listed),)):
                pass
            case _:
                raise _NoSelection
        found = _Source(listed, counter, turn.drawn, turn.center)
        if self.seen is not None and self.seen != found:
            raise _NoSelection
        self.seen = found

    # --------------------------------------------------------------------------------------------------------- writing

    def written(self, before: Block, early: list[Statement], rest: Block) -> tuple[Block, int]:
        """The body with a selection in the place of the loops."""
        source = self.source
        assert source is not None
        last = dict(self.ways[self.most])
        changed = self.rewritten(rest, last)
        used = {name for s in statements(changed) for e in reads(s) for name in variables(e)}
        kept = {name for name, value in last.items() if name in used and value not in (_NOISY, _PLACES)}
        kept -= {name for name in kept if all(_unchanged(name, way) for way in self.ways.values())}
        held = [way[name] for way in self.ways.values() for name in kept if name in way]
        if any(isinstance(part, Operation) and part.name == _BEFORE for value in held for part in _within(value)):
            raise _NoSelection
        wanted: list[Expression] = [*held, *(e for s in statements(changed) for e in reads(s))]
        places = max((r for e in wanted for r in _ranks(e, "#place")), default=0)
        values = max((r for e in wanted for r in _ranks(e, "#value")), default=0)
        if not places and not values:
            raise _NoSelection
        winners = max(places, values - 1, 1)
        direct = max((r for s in statements(changed) for e in reads(s) for r in _ranks(e, "#value")), default=0)
        direct = max(
            direct, max((r for s in statements(changed) for e in reads(s) for r in _ranks(e, "#place")), default=0)
        )
        prefix = tuple(s for s in before if not (isinstance(s, Assign) and s.name in self.appended(self.body)))
        length = Operation("turns", (Variable(source.listed, source.sample.place),), source.sample.place)
        block = self.by_length(length, max(winners + 1, self.most), winners, kept, direct)
        return (*prefix, *early, *block, *changed), max(direct, self.least)

    def by_length(self, length: Expression, most: int, winners: int, kept: set[str], least: int) -> Block:
        """The selection for every number of values, the largest first."""
        here = self.source.sample.place if self.source is not None else _NOWHERE
        result: Block = ()
        for turns in range(most + 1):
            way = self.ways[min(turns, self.most)]
            many = turns == most
            block = self.selection(min(turns, winners), others=turns > winners)
            block += tuple(Assign(name, way[name], here) for name in sorted(kept) if name in way)
            for rank in range(min(turns, winners + 1) + 1, least + 1):  # there the function fails, whatever the data
                block += (Assign(_value(rank).name, Constant(MISSING, here), here),)
                block += (Assign(_place(rank).name, Constant(MISSING, here), here),)
            if turns == 0:
                result = block
                continue
            sign = ">=" if many else "=="
            result = (If(Operation(sign, (length, Constant(turns, here)), here), block, result, here),)
        return result

    def selection(self, winners: int, *, others: bool) -> Block:
        """The draws of a selection with so many places."""
        source = self.source
        assert source is not None
        if not winners:
            return ()
        here, sample = source.sample.place, source.sample
        length = Operation("turns", (Variable(source.listed, here),), here)
        places = [_placed(_place(rank), here) for rank in range(1, winners + 1)]
        centers = [Variable(f"#center of {rank}", here) for rank in range(1, winners + 1)]
        values = [_placed(_value(rank), here) for rank in range(1, winners + 1)]
        block: list[Statement] = []
        for k, place in enumerate(places):
            block.append(Sample(place.name, PLACE, (length, *places[:k]), next(self.sites), here))
        for place, center in zip(places, centers, strict=True):
            put = _at(source.center, place, here)
            block.append(Assign(center.name, put, here))
        if others:
            values.append(_placed(_value(winners + 1), here))
            block.append(Sample(values[-1].name, OTHERS, (length, centers[0], *places), next(self.sites), here))
        for center, value in zip(centers, values, strict=False):
            arguments = (center, *sample.arguments[1:])
            block.append(replace(sample, name=value.name, arguments=arguments, site=next(self.sites)))
        order = values if self.largest else values[::-1]
        block.append(Sample("#ranked", RANKED, tuple(order), next(self.sites), here))
        return tuple(block)

    def rewritten(self, rest: Block, last: dict[str, Expression]) -> Block:
        """What comes after the loops, with the lists of values replaced by ranks."""
        lists = {name for name, value in last.items() if value in (_NOISY, _PLACES)}
        ranked: dict[str, bool] = {}
        """Names of the values in order; whether the first is that of rank 1."""
        counts = [writes(s) for s in statements(self.body)]
        named = {name: value for name, value in last.items() if name not in [writes(s) for s in statements(rest)]}
        """Variables that hold the value or the place of a rank."""

        def down(expression: Expression) -> bool | None:
            match expression:
                case Operation("sorted" | "sorted down" as name, (Variable(listed),)) if last.get(listed) == _NOISY:
                    return (name == "sorted down") == self.largest
                case Variable(name):
                    return ranked.get(name)
                case _:
                    return None

        def meant(expression: Expression) -> Expression:
            return named.get(expression.name, expression) if isinstance(expression, Variable) else expression

        def change(expression: Expression) -> Expression | None:
            match expression:
                case Operation("max" | "min" as name, (Variable(listed),)) if last.get(listed) == _NOISY:
                    if (name == "max") != self.largest:
                        raise _NoSelection
                    return _value(1)
                case Operation("index", (Variable(listed), value)) if last.get(listed) == _NOISY:
                    rank = _rank(meant(value), "#value")
                    if rank is None:
                        raise _NoSelection
                    return _place(rank)
                case Operation("len" | "turns", (Variable(listed),)) if listed in lists:
                    assert self.source is not None
                    return Operation("turns", (Variable(self.source.listed, expression.place),), expression.place)
                case Element(sequence, Constant(int() as number)) if down(sequence) is not None:
                    if number < 0 or not down(sequence):
                        raise _NoSelection
                    return _value(number + 1)
                case Element(Variable(listed), index) if last.get(listed) == _NOISY:
                    rank = _rank(meant(index), "#place")
                    if rank is None:
                        raise _NoSelection
                    return _value(rank)
                case Element(Variable(listed), index) if last.get(listed) == _PLACES:
                    return index
                case _:
                    return None

        def block(given: Block) -> Block:
            result: list[Statement] = []
            for statement in given:
                if isinstance(statement, Assign):
                    order = down(statement.value)
                    if order is not None:
                        ranked[statement.name] = order
                        continue
                    if isinstance(statement.value, Variable) and statement.value.name in lists:
                        if counts.count(statement.name) > 1:
                            raise _NoSelection
                        last[statement.name] = last[statement.value.name]
                        lists.add(statement.name)
                        continue
                made = with_blocks(with_reads(statement, change), block)
                if isinstance(made, Assign) and counts.count(made.name) == 1:
                    named[made.name] = meant(made.value)
                result.append(made)
            return tuple(result)

        found = block(rest)
        for statement in statements(found):
            for expression in reads(statement):
                if any(name in lists or name in ranked for name in variables(expression)):
                    raise _NoSelection
            if writes(statement) in lists:
                raise _NoSelection
        return found


def _unchanged(name: str, way: Mapping[str, Expression]) -> bool:
    """Whether the loop leaves a variable as it was."""
    return way.get(name) == Operation(_BEFORE, (Variable(name, _NOWHERE),), _NOWHERE)


def _alike(one: Mapping[str, Expression], other: Mapping[str, Expression]) -> bool:
    """Whether two numbers of turns leave the same; what only one of them knows does not count."""
    return all(repr(one[name]) == repr(other[name]) for name in one if name in other)


def _needed(block: Block, after: frozenset[str]) -> frozenset[str]:
    """The variables whose values before a block are needed in it, or after it where these are."""
    for statement in reversed(block):
        read = frozenset(name for expression in reads(statement) for name in variables(expression))
        match statement:
            case Assign(name) | Sample(name):
                after = (after - {name}) | read
            case If(_, then, otherwise):
                after = _needed(then, after) | _needed(otherwise, after) | read
            case Append(name):
                after |= read | {name}
            case _:
                inside = [name for s in statements((statement,)) for e in reads(s) for name in variables(e)]
                after |= read.union(inside)
    return after


def _holding(block: Block) -> dict[str, Expression]:
    """What variables hold after some statements: constants, empty lists, or whatever it is."""
    held: dict[str, Expression] = {}
    for statement in block:
        for inner in statements((statement,)):
            name = writes(inner)
            if name is not None:
                held[name] = Operation(_BEFORE, (Variable(name, _NOWHERE),), _NOWHERE)
        match statement:
            case Assign(name, Constant(constant)):
                held[name] = Constant(constant, _NOWHERE)
            case Assign(name, Operation("list of", ())):
                held[name] = Operation("list of", (), _NOWHERE)
            case While() | Return():
                raise _NoSelection
    return held


def _placed(variable: Variable, place: Place) -> Variable:
    return Variable(variable.name, place)


def _at(center: Expression, place: Variable, here: Place) -> Expression:
    def change(expression: Expression) -> Expression | None:
        match expression:
            case Variable("#place0"):
                return place
            case Variable() | Constant() | Operation() | Element() | Conditional():
                return replace(expression, place=here)

    return rewritten(center, change)


def _within(expression: Expression) -> Iterator[Expression]:
    yield expression
    for part in parts(expression):
        yield from _within(part)
