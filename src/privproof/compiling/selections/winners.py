"""Functions over public cells, run once on symbols: noisy values that are only compared with each other become one list of them.

A histogram of ten cells has ten draws, and there are many ways to find the largest: a loop that keeps the best so far, ``max(noisy,
key=noisy.get)`` of a table, pairs that are sorted.  All of them only ask for the order of the draws.  So a function whose loops
over keys are written out is run on symbols: constants, draws, tuples, lists and tables of such are known; what data add up to stays as it
is written, in variables of their own.  A value that depends on the order of some draws is known by its rank: ``best``, after the values
x and y were compared, is the draw of rank 1 among (x, y), and the key beside it is the one that belongs to that draw.

A comparison of a new draw with the largest of the earlier ones, which only assigns, makes it the largest of all:

    if v > best: best, winner = v, "c"      best: rank 1 of (x, y), (x, y)   ->   rank 1 of (x, y, v), (x, y, v)
                                            winner: rank 1 of (x, y), ("a", "b")   ->   rank 1 of (x, y, v), ("a", "b", "c")

Ties have probability 0, so that it does not matter how they are broken.  In the end the draws of a rank are put into a list, of which
the program reads ``argmax`` and ``argsort``; `cells` and `evaluating` know such lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from privproof.compiling.selections.ranks import NOWHERE, NoSelection
from privproof.compiling.sorts import PURE
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Conditional,
    Constant,
    Continue,
    Element,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Replace,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import parts, reads, statements, variables, with_parts, within, writes

_MOST_STATEMENTS = 20_000
"""Statements that are followed: a thousand cells with a few for each."""
_RANK = "rank"
"""The operation of a value that depends on the order of draws: the rank, whether 1 is the largest, the draws as a tuple, and the value
that belongs to each."""
_SEQUENCES = ("tuple of", "list of", "fixed list of")
_KNOWN = (*_SEQUENCES, "table of", _RANK)


def with_winners(body: Block) -> Block:
    """The body with the draws that are compared in lists, and what depends on their order in terms of these.

    Raises:
        NoSelection: it does something else.
    """
    draws = [s for s in statements(body) if isinstance(s, Sample)]
    if not draws or not all(s.noise in PURE for s in draws):
        raise NoSelection
    run = _Run(1 + max(s.site for s in draws))
    run.block(body)
    if not run.ranked:
        raise NoSelection
    return tuple(run.out)


class _Run:
    """One run on symbols.

    Attributes:
        out: the statements that are left.
        known: what variables hold that no statement that is left writes: constants, draws, and what is made of them.
        ranked: the lists of draws that were put into the statements, by the draws.
    """

    def __init__(self, site: int) -> None:
        self.out: list[Statement] = []
        self.known: dict[str, Expression] = {}
        self.ranked: dict[Expression, Variable] = {}
        self.sites, self.names = count(site), count(1)
        self.drawn: dict[str, Sample] = {}
        self.read: set[str] = set()

    def block(self, body: Block) -> None:
        waiting, followed = list(reversed(body)), 0
        while waiting:
            statement = waiting.pop()
            followed += 1
            if followed > _MOST_STATEMENTS:
                raise NoSelection
            match statement:
                case Assign(name, value):
                    self.assign(name, self.value(value), statement)
                case Sample():
                    self.known[statement.name] = self.draw(statement)
                case Append(name, value):
                    self.change(name, (*self.items(self.listed(name)), self.own(self.value(value))))
                case Replace(name, index, value):
                    self.put(name, self.value(index), self.own(self.value(value)))
                case If(test, then, otherwise):
                    asked = self.value(test)
                    if isinstance(asked, Constant):
                        waiting += reversed(then if asked.value else otherwise)
                    elif otherwise or not self.compare(asked, then):
                        self.opaque(statement)
                case While(test, inside):
                    asked = self.value(test)
                    if not isinstance(asked, Constant):
                        self.opaque(statement)
                    elif asked.value:
                        if any(isinstance(s, Break | Continue) for s in statements(inside)):
                            raise NoSelection
                        waiting += [statement, *reversed(inside)]
                case Return(value) | Emit(value):
                    self.out.append(replace(statement, value=self.written(self.value(value))))
                    if isinstance(statement, Return):
                        return
                case _:
                    raise NoSelection

    # ---------------------------------------------------------------------------------------------------- statements

    def assign(self, name: str, value: Expression, statement: Assign) -> None:
        if self.is_known(value):
            self.known[name] = value
        else:
            self.known.pop(name, None)
            self.out.append(replace(statement, value=self.written(value)))

    def own(self, value: Expression) -> Expression:
        """A value that stays what it is: what is made of data is kept in a variable of its own."""
        if self.is_known(value):
            return value
        kept = Variable(f"#kept{next(self.names)}", value.place)
        self.out.append(Assign(kept.name, self.written(value), value.place))
        return kept

    def draw(self, sample: Sample) -> Expression:
        center, *law = map(self.value, sample.arguments)
        if any(not isinstance(each, Constant) for each in law):
            raise NoSelection
        name = f"#drawn{next(self.names)}"
        made = replace(sample, name=name, arguments=(self.written(self.own(center)), *law), site=next(self.sites))
        self.out.append(made)
        self.drawn[name] = made
        return Variable(name, sample.place)

    def moved(self, draw: Variable, by: Expression) -> Expression:
        """A draw with something added to it: a draw around another centre, which is made later, once this is known."""
        if draw.name in self.read:
            raise NoSelection
        old = self.drawn.pop(draw.name)
        self.out.remove(old)
        center = Operation("+", (by, old.arguments[0]), draw.place) if old.arguments[0] != Constant(0, NOWHERE) else by
        return self.draw(replace(old, arguments=(center, *old.arguments[1:])))

    def listed(self, name: str) -> Operation:
        """A list that may change: nothing else may hold it."""
        held = self.known.get(name)
        if not isinstance(held, Operation) or held.name not in ("list of", "table of"):
            raise NoSelection
        for other, value in self.known.items():
            if other != name and any(part is held for part in within(value)):
                raise NoSelection
        return held

    def change(self, name: str, items: Sequence[Expression]) -> None:
        self.known[name] = Operation("list of", tuple(items), NOWHERE)

    def put(self, name: str, index: Expression, value: Expression) -> None:
        held = self.listed(name)
        if not isinstance(index, Constant):
            raise NoSelection
        if held.name == "list of":
            items = list(held.arguments)
            items[self.at(index.value, len(items))] = value
            self.change(name, items)
            return
        entries = list(held.arguments)
        for k in range(0, len(entries), 2):
            if entries[k] == replace(index, place=entries[k].place):
                entries[k + 1] = value
                self.known[name] = replace(held, arguments=tuple(entries))
                return
        raise NoSelection

    @staticmethod
    def at(index: object, length: int) -> int:
        if type(index) is not int or not -length <= index < length:
            raise NoSelection
        return index

    def opaque(self, statement: Statement) -> None:
        """A statement that stays as it is: what it reads and writes is kept in variables again, the counter of a loop right before it."""
        touched = {name for s in statements((statement,)) for e in reads(s) for name in variables(e)}
        changed = {name for s in statements((statement,)) if (name := writes(s)) is not None}
        if any(isinstance(s, Sample | Return | Emit | Inline) for s in statements((statement,))):
            raise NoSelection
        asked = {name for e in reads(statement) for name in variables(e)}
        for name in sorted((touched | changed) & self.known.keys(), key=lambda name: (name in asked, name)):
            self.out.append(Assign(name, self.written(self.known[name]), statement.place))
            if name in changed:
                del self.known[name]
        self.out.append(statement)

    def compare(self, test: Expression, then: Block) -> bool:
        """A new draw is compared with the largest of others, and assignments depend on it; False where it is anything else."""
        match test:
            case Operation("<" | "<=" | ">" | ">=" as sign, (one, other)):
                larger = sign in (">", ">=")
            case _:
                return False
        if not isinstance(one, Variable) or (isinstance(other, Variable) and self.is_older(one, other)):
            one, other, larger = other, one, not larger
        rank = other if isinstance(other, Operation) and other.name == _RANK else _first(other, largest=larger)
        if not isinstance(one, Variable) or one.name not in self.drawn or rank is None:
            return False
        if _largest(rank) != larger:
            if len(_draws(rank).arguments) > 1:
                return False
            rank = _ranked(1, _draws(rank), _values(rank), largest=larger)
        group = _draws(rank)
        if _values(rank) != group.arguments or _rank(rank) != 1 or one in group.arguments:
            return False
        if not all(isinstance(each, Assign) for each in then):
            return False
        before = dict(self.known)
        for each in then:
            assert isinstance(each, Assign)
            new = self.value(each.value)
            if not self.is_known(new) and not isinstance(new, Variable):
                raise NoSelection  # it would be computed where it is not asked for
            self.known[each.name] = self.own(new)
        changed = {each.name for each in then if isinstance(each, Assign)}
        wider = replace(group, arguments=(*group.arguments, one))
        for name in changed:
            if name not in before:
                raise NoSelection
            old = _belonging(before[name], group, largest=larger)
            self.known[name] = _ranked(1, wider, (*old, self.known[name]), largest=larger)
        return True

    def is_older(self, one: Variable, other: Variable) -> bool:
        """Whether one draw was made before another one."""
        names = (one.name, other.name)
        return set(names) <= self.drawn.keys() and next(name for name in self.drawn if name in names) == one.name

    # ----------------------------------------------------------------------------------------------------------- values

    def is_known(self, value: Expression) -> bool:
        match value:
            case Constant():
                return True
            case Variable(name):
                return name in self.drawn or name.startswith("#kept")
            case Operation("neg", (Variable(name),)):
                return name in self.drawn
            case Operation(name):
                return name in _KNOWN
            case _:
                return False

    def is_something(self, value: Expression) -> bool:
        """Whether a value is surely not None; what is kept of data, or belongs to one of several draws, may be None."""
        match value:
            case Constant():
                return not _is_none(value)
            case Operation("rank"):
                return all(map(self.is_something, _values(value)))
            case Variable(name):
                return name in self.drawn
            case _:
                return self.is_known(value)

    def value(self, expression: Expression) -> Expression:
        match expression:
            case Constant():
                return expression
            case Variable(name):
                return self.known.get(name, expression)
        inside = tuple(map(self.value, parts(expression)))
        match expression:
            case Element():
                return self.element(inside[0], inside[1], expression)
            case Operation(name):
                return self.operation(name, inside, expression)
            case Conditional() if isinstance(inside[0], Constant):
                return inside[1] if inside[0].value else inside[2]
        return with_parts(expression, inside)

    def items(self, value: Expression) -> tuple[Expression, ...]:
        """The entries of a list or tuple, or the keys of a table."""
        match value:
            case Operation(name, entries) if name in _SEQUENCES:
                return entries
            case Operation("table of", entries):
                return entries[::2]
            case Constant(tuple() as values):
                return tuple(Constant(each, value.place) for each in values)
            case _:
                raise NoSelection

    def element(self, sequence: Expression, index: Expression, expression: Expression) -> Expression:
        for one, other in ((index, sequence), (sequence, index)):
            if isinstance(one, Operation) and one.name == _RANK and self.is_known(other):
                made = tuple(
                    self.element(*((other, each) if one is index else (each, other)), expression)
                    for each in _values(one)
                )
                return _ranked(_rank(one), _draws(one), made, largest=_largest(one))
        match sequence, index:
            case Operation("table of", entries), Constant(key):
                found = [v for k, v in zip(entries[::2], entries[1::2], strict=True) if k == Constant(key, k.place)]
                if len(found) != 1:
                    raise NoSelection
                return found[0]
            case Operation(name), Constant(number) if name in _SEQUENCES:
                entries = self.items(sequence)
                return entries[self.at(number, len(entries))]
            case _:
                return with_parts(expression, (sequence, index))

    def operation(self, name: str, inside: tuple[Expression, ...], expression: Operation) -> Expression:
        here = expression.place
        constants = [each.value for each in inside if isinstance(each, Constant)]
        if len(constants) == len(inside) and name not in _SEQUENCES:
            folded = _folded(name, constants)
            if folded is not None:
                return replace(folded, place=here)
        match name, inside:
            case (("tuple of" | "list of" | "table of" | "fixed list of"), _):
                return Operation(name, tuple(map(self.own, inside)), here)
            case (("list" | "tuple"), (Operation("range", bounds),)):
                numbers = range(*(_whole(each) or 0 for each in bounds))
                return Operation(f"{name} of", tuple(Constant(each, here) for each in numbers), here)
            case (("list" | "tuple"), (Operation("zip", lists),)):
                pairs = zip(*map(self.items, lists), strict=False)
                return Operation("list of", tuple(Operation("tuple of", each, here) for each in pairs), here)
            case (("list" | "tuple"), (Operation("enumerate", (inner, Constant(int() as start))),)):
                rows = ((Constant(k, here), each) for k, each in enumerate(self.items(inner), start))
                return Operation("list of", tuple(Operation("tuple of", each, here) for each in rows), here)
            case (("list" | "tuple" | "copy"), (inner,)) if self.is_known(inner):
                return Operation("tuple of" if name == "tuple" else "list of", self.items(inner), here)
            case (("len" | "turns"), (inner,)) if self.is_known(inner):
                return Constant(len(self.items(inner)), here)
            case (("whole" | "pos" | "int"), (inner,)) if isinstance(inner, Constant) and type(inner.value) is int:
                return inner
            case "unpack", (inner, Constant(number)) if self.is_known(inner) and _is_sequence(inner):
                if len(self.items(inner)) != number:
                    raise NoSelection
                return inner
            case "unpack", (Operation("rank") as inner, Constant(int() as number)):
                entries = (self.element(inner, Constant(k, here), Element(inner, inner, here)) for k in range(number))
                return Operation("tuple of", tuple(entries), here)
            case "slice", (Operation(listed) as inner, *bounds) if listed in _SEQUENCES:
                wanted = slice(*map(_whole, bounds))
                return replace(inner, arguments=self.items(inner)[wanted])
            case "+", (Operation("list of", one), Operation("list of", other)):
                return Operation("list of", (*one, *other), here)
            case (("is" | "is not" | "==" | "!="), (one, other)) if _is_none(one) != _is_none(other):
                if self.is_something(other if _is_none(one) else one):
                    return Constant(name in ("is not", "!="), here)
            case (("and" | "or"), _):
                left = list(inside)
                while len(left) > 1 and _is_truth(left[0], name == "and"):
                    left.pop(0)
                if len(left) == 1 or _is_truth(left[0], name == "or"):
                    return left[0]
            case "+", (one, other):
                for draw, by in ((one, other), (other, one)):
                    if isinstance(draw, Variable) and draw.name in self.drawn and not self.speaks_of_draws(by):
                        return self.moved(draw, by)
        made = self.ordered(name, inside)
        return replace(expression, arguments=inside) if made is None else made

    def ordered(self, name: str, inside: tuple[Expression, ...]) -> Expression | None:
        """What depends on the order of draws; None where an operation is none of those."""
        match name, inside:
            case (("max" | "min"), (listed,)) if self.is_known(listed):
                return self.by_rank(self.items(listed), self.items(listed), largest=name == "max")[0]
            case (("argmax" | "argmin"), (listed,)) if self.is_known(listed):
                keys = self.items(listed)
                return self.by_rank(_counted(keys), keys, largest=name == "argmax")[0]
            case "argsort", (listed,) if self.is_known(listed):
                keys = self.items(listed)
                return Operation("list of", self.by_rank(_counted(keys), keys, largest=False), NOWHERE)
            case "index", (listed, Operation("rank") as wanted) if self.is_known(listed):
                entries = self.items(listed)
                if any(each not in entries for each in _values(wanted)) or len(set(entries)) != len(entries):
                    raise NoSelection
                places = tuple(Constant(entries.index(each), NOWHERE) for each in _values(wanted))
                return _ranked(_rank(wanted), _draws(wanted), places, largest=_largest(wanted))
            case (("sorted" | "sorted down"), (listed,)) if self.is_known(listed):
                entries = self.items(listed)
                return Operation("list of", self.by_rank(entries, entries, largest=name == "sorted down"), NOWHERE)
            case "sort", (listed, Constant(bool() as down)) if self.is_known(listed):
                entries = self.items(listed)
                return Operation("list of", self.by_rank(entries, entries, largest=down), NOWHERE)
            case "sorted by", (listed, keys, Constant(bool() as down)) if self.is_known(listed) and self.is_known(keys):
                return Operation("list of", self.by_rank(self.items(listed), self.items(keys), largest=down), NOWHERE)
            case _:
                return None

    def by_rank(
        self, values: Sequence[Expression], keys: Sequence[Expression], *, largest: bool
    ) -> tuple[Expression, ...]:
        """Values in the order of their keys, which begin with draws."""
        drawn, negative = list[Variable](), list[bool]()
        for each in keys:
            key = each.arguments[0] if isinstance(each, Operation) and each.name == "tuple of" else each
            negative.append(isinstance(key, Operation) and key.name == "neg")
            if isinstance(key, Operation) and key.name == "neg":
                key = key.arguments[0]
            if not isinstance(key, Variable) or key.name not in self.drawn:
                raise NoSelection
            drawn.append(key)
        if len(values) != len(keys) or not keys or len(set(negative)) > 1 or len({d.name for d in drawn}) < len(drawn):
            raise NoSelection
        group = Operation("tuple of", tuple(drawn), NOWHERE)
        first = largest != negative[0]
        return tuple(_ranked(rank, group, tuple(values), largest=first) for rank in range(1, len(drawn) + 1))

    def speaks_of_draws(self, value: Expression) -> bool:
        return any(
            (isinstance(part, Variable) and part.name in self.drawn)
            or (isinstance(part, Operation) and part.name in _KNOWN)
            for part in within(value)
        )

    # ---------------------------------------------------------------------------------------------------------- outputs

    def written(self, value: Expression) -> Expression:
        """A value in terms of what statements that are left know."""
        match value:
            case Operation("rank"):
                return self.at_rank(value)
            case Variable(name):
                return self.as_drawn(value) if name.startswith("#drawn") else value
            case Constant():
                return value
            case _:
                return with_parts(value, tuple(map(self.written, parts(value))))

    def as_drawn(self, draw: Expression) -> Expression:
        """A draw that a statement reads: nothing may be added to it from here on."""
        assert isinstance(draw, Variable)
        if draw.name not in self.drawn:
            raise NoSelection  # something was added to it, and it is read as it was
        self.read.add(draw.name)
        return draw

    def at_rank(self, value: Operation) -> Expression:
        """A value that depends on the order of draws, in terms of a list of them."""
        values, group, here = _values(value), _draws(value), value.place
        sizes = {
            len(each.arguments) if isinstance(each, Operation) and each.name == "tuple of" else -1 for each in values
        }
        if len(sizes) == 1 and sizes != {-1}:
            entries = [
                _ranked(_rank(value), group, tuple(_entry(each, k) for each in values), largest=_largest(value))
                for k in range(sizes.pop())
            ]
            return Operation("tuple of", tuple(map(self.written, entries)), here)
        listed = self.ranked.get(group)
        if listed is None:
            listed = self.ranked[group] = Variable(f"#draws{next(self.names)}", here)
            self.out.append(Assign(listed.name, Operation("list of", (), here), here))
            self.out += [Append(listed.name, self.as_drawn(each), here) for each in group.arguments]
        size = len(group.arguments)
        extreme = "max" if _largest(value) else "min"
        at = Constant(size - _rank(value) if _largest(value) else _rank(value) - 1, here)

        def ranked(first: str, order: str) -> Expression:
            if _rank(value) == 1:
                return Operation(first, (listed,), here)
            return Element(Operation(order, (listed,), here), at, here)

        if values == group.arguments:
            return ranked(extreme, "sorted")
        place = ranked(f"arg{extreme}", "argsort")
        if [each.value if isinstance(each, Constant) else None for each in values] == list(range(size)):
            return place
        if any(self.speaks_of_draws(each) for each in values):
            raise NoSelection
        return Element(Operation("tuple of", tuple(map(self.written, values)), here), place, here)


def _folded(name: str, values: list[object]) -> Constant | None:
    """An operation on whole numbers, texts and truth values."""
    kinds = {type(each) for each in values}
    two = len(values) == 2
    if two and name in ("is", "is not") and None in values:
        return Constant((values[0] is values[1]) == (name == "is"), NOWHERE)
    if two and name in ("==", "!=") and kinds in ({int}, {str}):
        return Constant((values[0] == values[1]) == (name == "=="), NOWHERE)
    if name == "not" and kinds == {bool}:
        return Constant(not values[0], NOWHERE)
    if not two or kinds != {int}:
        return None
    one, other = values
    assert isinstance(one, int)
    assert isinstance(other, int)
    match name:
        case "+" | "extend":
            return Constant(one + other, NOWHERE)
        case "-":
            return Constant(one - other, NOWHERE)
        case "<":
            return Constant(one < other, NOWHERE)
        case "<=":
            return Constant(one <= other, NOWHERE)
        case ">":
            return Constant(one > other, NOWHERE)
        case ">=":
            return Constant(one >= other, NOWHERE)
        case _:
            return None


def _ranked(rank: int, group: Operation, values: Sequence[Expression], *, largest: bool) -> Operation:
    """A value that depends on the order of draws."""
    head = (Constant(rank, NOWHERE), Constant(largest, NOWHERE), group)
    return Operation(_RANK, (*head, *values), NOWHERE)


def _rank(value: Operation) -> int:
    [rank, *_] = value.arguments
    assert isinstance(rank, Constant)
    return int(str(rank.value))


def _largest(value: Operation) -> bool:
    [_, largest, *_] = value.arguments
    assert isinstance(largest, Constant)
    return bool(largest.value)


def _draws(value: Operation) -> Operation:
    group = value.arguments[2]
    assert isinstance(group, Operation)
    return group


def _values(value: Operation) -> tuple[Expression, ...]:
    return value.arguments[3:]


def _first(value: Expression, *, largest: bool) -> Operation | None:
    """A draw as the largest of itself."""
    if not isinstance(value, Variable):
        return None
    return _ranked(1, Operation("tuple of", (value,), NOWHERE), (value,), largest=largest)


def _belonging(value: Expression, group: Operation, *, largest: bool) -> tuple[Expression, ...]:
    """What a value is for each of the draws that may be the first."""
    match value:
        case Operation("rank"):
            if (
                _draws(value) == group
                and _rank(value) == 1
                and (_largest(value) == largest or len(_values(value)) == 1)
            ):
                return _values(value)
            raise NoSelection
        case _:
            return (value,) * len(group.arguments)


def _counted(values: Sequence[Expression]) -> tuple[Expression, ...]:
    return tuple(Constant(k, NOWHERE) for k in range(len(values)))


def _whole(value: Expression) -> int | None:
    """A bound of a range or a part of a list."""
    if not isinstance(value, Constant) or not (value.value is None or type(value.value) is int):
        raise NoSelection
    return value.value


def _entry(value: Expression, k: int) -> Expression:
    assert isinstance(value, Operation)
    return value.arguments[k]


def _is_sequence(value: Expression) -> bool:
    return isinstance(value, Operation) and value.name in _SEQUENCES


def _is_none(value: Expression) -> bool:
    return isinstance(value, Constant) and value.value is None


def _is_truth(value: Expression, truth: bool) -> bool:  # noqa: FBT001
    """Whether a value is this truth value; a number is none, even where Python takes it for one."""
    return isinstance(value, Constant) and value.value is truth
