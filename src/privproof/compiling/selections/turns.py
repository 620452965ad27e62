"""Loops over noisy values, followed on ranks.

Before a turn every variable holds a constant, the value or the place of a rank so far, or what is computed from these; the new value takes
a rank of its own, and those below it move down by one.  Comparisons of values are decided by their ranks, and equal values have
probability zero.  There are finitely many states.  If after every number of turns there is but one, the loop finds what these
variables hold, whatever the values are; this is a proof by induction over the turns, and nothing is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from privproof.compiling.needs import variables_read_first
from privproof.compiling.selections.ranks import (
    BEFORE,
    NONE,
    NOWHERE,
    STEMS,
    NoSelection,
    as_each,
    at_rank,
    compare,
    holds_ranks,
    listed,
    part_of,
    place,
    rank_of,
    ranks,
    simple,
    value,
)
from privproof.compiling.sorts import COMPARISONS, PURE
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
    Operation,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import parts, reads, rewrite_expression, statements, variables, within, writes

_DEEPEST = 6
"""Ranks that a loop may keep, and turns that are told apart; a loop that keeps more has no selection. The textbooks keep two."""
_MOST_STATES = 500
"""States of a loop on ranks before it is given up: a selection has one for every number of turns and rank of the new value."""
_GROWING = Operation("growing", (), NOWHERE)
"""A list that takes an element in every turn."""
_EMPTY = Operation("list of", (), NOWHERE)
_NEXT = Operation("next", (), NOWHERE)
_NOISE = Operation("noise", (), NOWHERE)
"""Noise around a constant, to which data are still to be added."""

State = tuple[tuple[str, Expression], ...]
"""What the variables hold, by name."""


@dataclass(frozen=True)
class DrawnRank:
    """The noise of a turn, and the centre in terms of the place of the turn."""

    sample: Sample
    center: Expression


@dataclass(frozen=True)
class Followed:
    """What a loop does.

    Attributes:
        ways: what the variables hold after a number of turns; the last entry is for so many and more.
        elements: the lists that take an element in every turn, each with this element.
        drawn: the noise of every turn, if it draws.
    """

    ways: Mapping[int, Mapping[str, Expression]]
    elements: Mapping[str, Expression]
    drawn: DrawnRank | None

    def after(self, turns: int) -> Mapping[str, Expression]:
        """What the variables hold after a number of turns."""
        return self.ways[min(turns, self.most)]

    @property
    def most(self) -> int:
        """From so many turns on all numbers of turns are alike."""
        return max(self.ways)


@dataclass
class _Turn:
    """One turn of a loop on ranks.

    Attributes:
        held: what the variables hold.
        rank: the rank of the new value among those before; rank 0 stands for the new value itself until the turn is over.
        count: how many turns came before; at least so many, where `many`.
        many: whether the count is only a least one.
        largest: whether the first rank has the largest value.
        selection: the number of the selection.
    """

    held: dict[str, Expression]
    rank: int
    count: int
    many: bool
    largest: bool
    counters: frozenset[str]
    selection: int
    mechanism: Mechanism
    drawn: DrawnRank | None = None
    appended: dict[str, list[Expression]] = field(default_factory=dict)

    def block(self, block: Block) -> None:
        """Follow some statements."""
        for statement in block:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign(name, step) if name in self.counters:
                if not _is_step(step, name):
                    raise NoSelection
                self.held[name] = _NEXT
            case Append(name, element) | Assign(
                name, Operation("+", (Variable(), Operation("list of", (element,))))
            ) if self.held.get(name) == _GROWING and grown_by(statement) == name:
                self.appended.setdefault(name, []).append(self.value(element))
            case Assign(name, new):
                self.held[name] = self.value(new)
            case Sample(name, noise, (center, *_)) if noise in PURE and self.drawn is None:
                middle = self.value(center)
                self.drawn = DrawnRank(statement, middle)
                self.held[name] = _NOISE if isinstance(middle, Constant) else value(0, self.selection)
            case If(test, then, otherwise):
                self.block(then if self.truth(test) else otherwise)
            case _:
                raise NoSelection

    def truth(self, expression: Expression) -> bool:
        """How a test goes."""
        found = self.value(expression)
        if isinstance(found, Constant) and isinstance(found.value, bool):
            return found.value
        raise NoSelection

    def value(self, expression: Expression) -> Expression:
        """What an expression is, in terms of ranks."""
        match expression:
            case Constant(constant):
                return Constant(constant, NOWHERE)
            case Variable(name):
                found = self.held.get(name, Variable(name, NOWHERE))
                if found == _GROWING:
                    raise NoSelection
                return found
            case Operation("and" | "or" as name, arguments):
                for argument in arguments:
                    if self.truth(argument) == (name == "or"):
                        return Constant(name == "or", NOWHERE)
                return Constant(name == "and", NOWHERE)
            case Operation("not", (inner,)):
                return Constant(not self.truth(inner), NOWHERE)
            case Conditional(test, then, otherwise):
                return self.value(then if self.truth(test) else otherwise)
        inside = [self.value(part) for part in parts(expression)]
        if _NOISE in inside:
            return self.moved(expression, inside)
        match expression:
            case Operation("max" | "min" as name) if len(inside) > 1 and all(
                rank_of(e, "#value") is not None for e in inside
            ):
                return self.extreme(name, inside)
            case Operation("is" | "is not" | "==" | "!=" as name, _) if NONE in inside:
                return self.nothing(name, inside)
            case Operation(name, _) if name in COMPARISONS:
                return self.compared(name, *inside)
            case Operation("whole" | "pos", _):
                return inside[0]
            case Operation(name, _):
                return simple(Operation(name, tuple(inside), NOWHERE))
            case Element():
                return self.element(inside[0], inside[1])
        raise NoSelection

    def moved(self, expression: Expression, inside: list[Expression]) -> Expression:
        """Noise around a constant with data added: this is the value, and the data are its centre."""
        assert self.drawn is not None
        match expression, inside:
            case Operation("+"), [one, other]:
                data = other if one == _NOISE else one
            case Operation("pos"), [_]:
                return _NOISE
            case _:
                raise NoSelection
        around = self.drawn.sample.arguments[0]
        if not isinstance(around, Constant) or holds_noise(data):
            raise NoSelection
        center = data if around.value == 0 else Operation("+", (data, Constant(around.value, NOWHERE)), NOWHERE)
        if not isinstance(self.drawn.center, Constant) and self.drawn.center != center:
            raise NoSelection
        self.drawn = DrawnRank(self.drawn.sample, center)
        return value(0, self.selection)

    def element(self, sequence: Expression, index: Expression) -> Expression:
        part = part_of(sequence, index)
        if part is not None:
            return part
        rank, each = rank_of(index, "#place"), as_each(sequence)
        if isinstance(index, Constant) and index.value == self.count and not self.many:
            rank = (0, self.selection)
        if each is not None and rank is not None:
            if rank[1] != self.selection or each[1] not in (0, self.selection):
                raise NoSelection
            return self.at(each[0], rank[0])
        if isinstance(sequence, Variable) and sequence.name in self.mechanism.inputs:
            return listed(sequence, index)
        raise NoSelection

    def at(self, element: Expression, rank: int) -> Expression:
        """The element of a list at the place of a rank so far."""

        def change(expression: Expression) -> Expression | None:
            for stem, made in (("#value", value), ("#place", place)):
                found = rank_of(expression, stem)
                if found is not None and found[0] == 0:
                    return made(rank, self.selection)
            return None

        return rewrite_expression(element, change)

    def nothing(self, name: str, inside: list[Expression]) -> Expression:
        """A test for None."""
        other = inside[0] if inside[1] == NONE else inside[1]
        known = isinstance(other, Constant) or any(rank_of(other, stem) is not None for stem in STEMS)
        if not known:
            raise NoSelection
        return Constant((other == NONE) == (name in ("is", "==")), NOWHERE)

    def extreme(self, name: str, inside: list[Expression]) -> Expression:
        best = inside[0]
        for other in inside[1:]:
            if self.above(other, best) == (name == "max"):
                best = other
        return best

    def above(self, one: Expression, other: Expression) -> bool:
        """Whether one value is larger than another one."""
        first, second = rank_of(one, "#value"), rank_of(other, "#value")
        assert first is not None
        assert second is not None
        if first == second or {first[1], second[1]} != {self.selection}:
            raise NoSelection
        return (self.order(first[0]) < self.order(second[0])) == self.largest

    def order(self, rank: int) -> float:
        """Where a value stands: the new one just before the one whose rank it takes."""
        return self.rank - 0.5 if rank == 0 else rank

    def compared(self, name: str, one: Expression, other: Expression) -> Expression:
        if rank_of(one, "#value") is not None and rank_of(other, "#value") is not None:
            if name in ("==", "!="):
                raise NoSelection
            same = one == other
            return Constant(name in (">=", "<=") if same else self.above(one, other) == (name in (">", ">=")), NOWHERE)
        decided = self.counted(name, one, other)
        if decided is None:
            raise NoSelection
        return Constant(decided, NOWHERE)

    def counted(self, name: str, one: Expression, other: Expression) -> bool | None:
        """How the number of the turn compares with a constant."""
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        match one, other:
            case Constant(int() as left), Constant(int() as right):
                return compare(name, left, right)
            case Variable(), Constant(int() as right) if rank_of(one, "#place") == (0, self.selection):
                return self.settled(name, right)
            case Constant(int() as left), Variable() if rank_of(other, "#place") == (0, self.selection):
                return self.settled(turned.get(name, name), left)
            case _:
                return None

    def settled(self, name: str, number: int) -> bool | None:
        if self.many and number >= self.count:
            return None
        return compare(name, self.count, number)

    def after(self) -> State:
        """What the variables hold when the turn is over, by the new ranks."""

        def moved(expression: Expression) -> Expression | None:
            for stem, made in (("#value", value), ("#place", place)):
                found = rank_of(expression, stem)
                if found is not None and found[1] == self.selection:
                    rank = found[0]
                    return made(self.rank if rank == 0 else rank + (rank >= self.rank), self.selection)
            return None

        kept = ((name, held) for name, held in self.held.items() if name not in self.counters)
        return tuple(sorted((name, held if as_each(held) else rewrite_expression(held, moved)) for name, held in kept))


def follow(
    loop: While,
    counter: str,
    held: Mapping[str, Expression],
    selection: int,
    mechanism: Mechanism,
    *,
    start: int,
    largest: bool,
    rest: Block,
) -> Followed:
    """What a loop does whose counter goes through all places.

    Args:
        loop: the loop.
        counter: its counter.
        held: what the variables hold before it; what is no constant and no list is left open.
        selection: the number of the selection that it makes or reads.
        mechanism: the mechanism.
        start: where the counter begins: 0, or 1 if the first turn is done.
        largest: whether the first rank has the largest value.
        rest: what comes after the loop.

    Raises:
        NoSelection: what the variables hold depends on the order of the turns, or on more than ranks.
    """
    begin = left_open(held)
    growing = {name for s in statements(loop.body) if (name := grown_by(s)) is not None}
    for name in growing:
        if begin.get(name) != _EMPTY:
            raise NoSelection
        begin[name] = _GROWING
    later = frozenset(variables_read_first(rest, set())[0])
    needed = _needed(loop.body, _needed(loop.body, later) | later) | later
    counters = _counters(loop, counter, begin, later, start)
    indices = _indices(loop.body, counters)
    if start == 1:
        begin = {name: _first_turn(name, held.get(name, old), old, indices, selection) for name, old in begin.items()}
    first: State = tuple(sorted((name, held) for name, held in begin.items() if name in needed | growing))
    states: dict[int, dict[str, State]] = {start: {repr(first): first}}
    last = _DEEPEST + 1
    waiting = [(start, first)]
    elements: dict[str, Expression] = {}
    drawn: DrawnRank | None = None
    done = 0
    while waiting:
        count, state = waiting.pop()
        done += 1
        if done > _MOST_STATES:
            raise NoSelection
        for rank in _new_ranks(count, state, last):
            turn = _Turn(
                {**begin, **dict(state), **dict.fromkeys(counters, place(0, selection))}, rank, count, count == last,
                largest, counters, selection, mechanism,
            )  # fmt: skip
            turn.block(loop.body)
            if any(turn.held.get(name) != _NEXT for name in counters) or set(turn.appended) != growing:
                raise NoSelection
            if drawn is not None and turn.drawn != drawn:
                raise NoSelection
            if turn.drawn is None and drawn is not None:
                raise NoSelection
            drawn = turn.drawn
            for name, found in turn.appended.items():
                if len(found) != 1 or elements.setdefault(name, found[0]) != found[0] or not _of_its_turn(found[0]):
                    raise NoSelection
            after = min(count + 1, last)
            kept = tuple((name, value) for name, value in turn.after() if name in needed | growing)
            if after == 1:
                kept = tuple((name, _first_turn(name, value, value, indices, selection)) for name, value in kept)
            if any(r > _DEEPEST for _, held in kept for stem in STEMS for r, _ in ranks(held, stem)):
                raise NoSelection
            if repr(kept) not in states.setdefault(after, {}):
                states[after][repr(kept)] = kept
                waiting.append((after, kept))
    if any(len(found) > 1 for found in states.values()):
        raise NoSelection
    ways = {
        count: {name: value for name, value in next(iter(found.values())) if name in later and name not in growing}
        for count, found in sorted(states.items())
    }
    most = max(ways)
    while most > start and repr(ways[most - 1]) == repr(ways[most]):
        del ways[most]
        most -= 1
    return Followed(ways, elements, drawn)


def grown_by(statement: Statement) -> str | None:
    """The list that a statement puts one element at the end of."""
    match statement:
        case Append(name):
            return name
        case Assign(name, Operation("+", (Variable(same), Operation("list of", (_,))))) if name == same:
            return name
        case _:
            return None


def _of_its_turn(element: Expression) -> bool:
    """Whether an element is made of the value and the place of its turn, and of data."""
    found = [rank for stem in STEMS for rank, _ in ranks(element, stem)]
    unknown = any(isinstance(part, Operation) and part.name in (BEFORE, "noise") for part in within(element))
    return all(rank == 0 for rank in found) and not unknown


def holds_noise(expression: Expression) -> bool:
    """Whether an expression speaks of noise, or of what variables hold that is not known."""
    values = any(True for _ in ranks(expression, "#value"))
    return values or any(isinstance(part, Operation) and part.name in (BEFORE, "noise") for part in within(expression))


def _new_ranks(count: int, state: State, last: int) -> range:
    """The ranks that a new value may take: beyond those that variables hold all are alike."""
    if count < last:
        return range(1, count + 2)
    held = [r for _, value in state if not as_each(value) for stem in STEMS for r, _ in ranks(value, stem)]
    return range(1, max(held, default=0) + 2)


def _is_step(step: Expression, counter: str) -> bool:
    match step:
        case Operation("+", (Variable(name), Constant(1))):
            return name == counter
        case _:
            return False


def _counters(
    loop: While, counter: str, begin: Mapping[str, Expression], later: frozenset[str], start: int
) -> frozenset[str]:
    """The counter of a loop, and other variables that begin where it begins and count its turns as it does."""
    written = [writes(s) for s in statements(loop.body)]
    twins = {
        s.name
        for s in loop.body
        if isinstance(s, Assign) and _is_step(s.value, s.name) and written.count(s.name) == 1 and s.name not in later
    }
    return frozenset({counter, *(name for name in twins if begin.get(name) == Constant(start, NOWHERE))})


def _indices(block: Block, counters: frozenset[str]) -> frozenset[str]:
    """The variables that hold places: they say which element of a list is read, or are assigned the number of a turn."""
    inside = [part for s in statements(block) for e in reads(s) for part in within(e)]
    read = {e.index.name for e in inside if isinstance(e, Element) and isinstance(e.index, Variable)}
    copies = {
        s.name: s.value.name for s in statements(block) if isinstance(s, Assign) and isinstance(s.value, Variable)
    }
    numbers = {name for name, source in copies.items() if source in counters or copies.get(source) in counters}
    return frozenset(read | numbers)


def _first_turn(name: str, found: Expression, known: Expression, indices: frozenset[str], selection: int) -> Expression:
    """What a variable holds after one turn: then place 0 is that of rank 1, and the first value that of rank 1."""
    match found:
        case Constant(0) if name in indices and not isinstance(found.value, bool):
            return place(1, selection)
        case Element(sequence, Constant(0)) if (each := as_each(sequence)) is not None and each[1] == selection:
            return at_rank(each[0], 1, selection)
        case _:
            return known


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


def left_open(held: Mapping[str, Expression]) -> dict[str, Expression]:
    """What a loop may know of the variables before it: constants and lists; of others only that they were there."""

    def known(name: str, value: Expression) -> Expression:
        if isinstance(value, Constant) or value == _EMPTY or as_each(value) is not None:
            return value
        if not holds_ranks(value) and isinstance(value, Operation) and value.name in ("len", "turns"):
            return value
        return Operation(BEFORE, (Variable(name, NOWHERE),), NOWHERE)

    return {name: known(name, value) for name, value in held.items()}
