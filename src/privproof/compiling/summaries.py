"""Summaries: a loop over records that only adds up, as one number whose change between neighbours is known.

Neighbouring data differ in one record, so ``sum(e(r) for r in data)`` differs by ``e(r') - e(r)``, where r is the record in one run and r'
in the other; by ``e(r)`` alone where the record is added or removed.  All sums of a program change by the *same* record: what a record
may be decides jointly by how much they do.  The number of records is of no concern, and no loop over them is left.

Four operations of the language of instructions speak of this, and only this module and `list_parts` make them:

* ``total(data, e)``: the sum of e over the records of a list;
* ``record(data)``: inside e, the record of the turn;
* ``field(record(data), name)``: a part of a record that has named parts;
* ``position(data)``: inside e, the place of the record in its list, where lengths do not differ.

Recognised are ``sum(e for r in data if p)``, ``sum(1 for ...)``, ``sum(data)``, ``data.count(v)``, ``len([r for r in data if p])``,
``len(data)`` where lengths differ, all of these but the last for a part ``data[i:j]`` where they do not, and every loop over the list that
adds to variables what depends on the record of the turn and on what the loop does not change.  What relates records to each other (an
order, a set, an index) is left as it stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from privproof.compiling.branches import placeless
from privproof.compiling.failing import Values
from privproof.compiling.list_parts import PART_ENDS, held_ends, is_safe, unconditional
from privproof.compiling.measured import measured_lists
from privproof.compiling.needs import read_counts, variables_read_first
from privproof.compiling.strides import Signs
from privproof.compiling.turns import TurnEffect
from privproof.language.flow import Instruction, instruction_reads
from privproof.language.inputs import ADD_REMOVE, Input
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
    parts,
    reads,
    rewrite_expression,
    statements,
    variables,
    with_blocks,
    with_reads,
    within,
    writes,
)

SUMMED = ("one", ADD_REMOVE)
"""The relations under which one record changes."""

_TRUTHS = ("==", "!=", "<", "<=", ">", ">=", "not", "is", "is not", "in", "not in", "bool")


def summed_lists(mechanism: Mechanism) -> dict[str, Input]:
    """The lists whose sums are summarised: private ones, where one record changes."""
    if mechanism.neighbours not in SUMMED:
        return {}
    return {n: d for n, d in mechanism.inputs.items() if d.shape == "list" and not d.public}


def summarise_loops(body: Block, mechanism: Mechanism, differing: set[str]) -> Block:
    """The statements with summaries in the place of loops that only add up.

    Args:
        body: the statements, parameters filled in.
        mechanism: the mechanism.
        differing: the variables that may differ between the runs: nothing that is added up may depend on them.
    """
    lists = summed_lists(mechanism)
    if not lists:
        return body
    lengths = mechanism.neighbours == ADD_REMOVE
    body = measured_lists(body, mechanism.inputs)
    signs = Signs(body, mechanism.inputs)
    made = _Summaries(lists, differing, signs, Values(body, mechanism.inputs), lengths=lengths).block(body)
    return _shared(made, {}, set())


def _shared(block: Block, known: Mapping[Expression, str], named: set[str]) -> Block:
    """The statements with every total computed once, as long as nothing that it speaks of changes.

    Args:
        block: the statements.
        known: the totals computed before, by what they are, with the variables that hold them.
        named: these variables, and those that the totals speak of.
    """
    now, spoken, result = dict(known), set(named), list[Statement]()
    for statement in block:
        changed = {writes(s) for s in statements((statement,))}
        if isinstance(statement, While) and changed & spoken:  # a turn may follow another one
            now = {total: name for total, name in now.items() if not changed & {name, *variables(total)}}
        inner = with_blocks(statement, lambda each, now=now, spoken=spoken: _shared(each, now, spoken))  # type: ignore[misc]
        summed = placeless(statement.value) if isinstance(statement, Assign) else None
        is_total = isinstance(summed, Operation) and summed.name == "total"
        if isinstance(statement, Assign) and is_total and summed in now:
            inner = Assign(statement.name, Variable(now[summed], statement.place), statement.place)
        if changed & spoken:
            now = {total: name for total, name in now.items() if not changed & {name, *variables(total)}}
        if (
            isinstance(statement, Assign)
            and is_total
            and summed is not None
            and statement.name not in variables(summed)
        ):
            now.setdefault(summed, statement.name)
            spoken |= {statement.name, *variables(summed)}
        result.append(inner)
    return tuple(result)


def sums_up(code: Iterable[Instruction]) -> bool:
    """Whether there is a total among instructions."""
    return any(
        isinstance(part, Operation) and part.name == "total"
        for step in code
        for expression in instruction_reads(step)
        for part in within(expression)
    )


def total(source: Variable, added: Expression, place: Place) -> Expression:
    """The sum of an expression over a list; of a truth value, how often it holds."""
    return Operation("total", (source, _number(rewrite_expression(added, _as_product))), place)


_LARGEST_POWER = 8
"""A power beyond is left as it stands: its ends grow out of every scale."""


def _as_product(expression: Expression) -> Expression:
    """A power as a product."""
    match expression:
        case Operation("**", (base, Constant(int() as exponent)), place) if 1 <= exponent <= _LARGEST_POWER:
            product = base
            for _ in range(exponent - 1):
                product = Operation("*", (product, base), place)
            return product
        case _:
            return expression


def record(source: Variable, place: Place) -> Expression:
    """The record of the turn."""
    return Operation("record", (source,), place)


def _is_truth(expression: Expression) -> bool:
    """Whether an expression is surely a truth value; ``x or 1`` is a number."""
    match expression:
        case Operation("and" | "or", sides):
            return all(map(_is_truth, sides))
        case Operation(name):
            return name in _TRUTHS
        case Constant(value):
            return isinstance(value, bool)
        case _:
            return False


def _number(added: Expression) -> Expression:
    """What is added, as a number: of ``and`` and ``or`` the side that Python takes, where these are more than truth values."""
    match added:
        case Operation(_, _, place) if _is_truth(added):
            return Conditional(added, Constant(1, place), Constant(0, place), place)
        case Operation("and", (first, *rest), place):
            last = rest[0] if len(rest) == 1 else Operation("and", tuple(rest), place)
            return Conditional(
                first, _number(last), Constant(0, place), place
            )  # what is not taken for true adds nothing
        case Operation("or", (first, *rest), place):
            last = rest[0] if len(rest) == 1 else Operation("or", tuple(rest), place)
            return Conditional(first, _number(first), _number(last), place)
        case Constant(bool() as value, place):
            return Constant(int(value), place)
        case Conditional(test, then, otherwise, place):
            return Conditional(test, _number(then), _number(otherwise), place)
        case _:
            return added


@dataclass(frozen=True)
class _Adding:
    """What one turn of a loop does: the value of every variable that it assigns, in terms of those before it."""

    source: Variable
    counter: str
    values: Mapping[str, Expression]


class _Summaries:
    def __init__(
        self, lists: Mapping[str, Input], differing: set[str], signs: Signs, values: Values, *, lengths: bool
    ) -> None:
        self.lists, self.lengths, self.differing, self.signs, self.values = lists, lengths, differing, signs, values
        self.made = 0
        self.outside: Counter[str] = Counter()
        self.certain: list[Expression] = []
        """The parts of the statement at hand that are evaluated whenever it is executed."""

    def block(self, body: Block) -> Block:
        """A whole body with its summaries."""
        self.outside = read_counts(body)
        for loop in self.loops(body):
            own = {name for s in statements(loop.body) if (name := writes(s)) is not None} - variables_read_first(
                loop.body, set()
            )[0]
            self.outside -= Counter({name: n for name, n in read_counts((loop,)).items() if name in own})
        return self.change(body)

    def loops(self, body: Block) -> Iterator[While]:
        """The loops over records."""
        for statement in body:
            match statement:
                case While(Operation("<", (_, Operation("turns" | "len", (Variable(name),))))) if name in self.lists:
                    yield statement
                case _:
                    for inner in blocks(statement):
                        yield from self.loops(inner)

    def change(self, block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            if isinstance(statement, While):
                summed = self.summed(statement, result[-1] if result else None)
                if summed is not None:
                    result += summed
                    continue
            before: list[Statement] = []
            self.certain = [part for read in reads(statement) for part in unconditional(read)]
            outer = with_reads(statement, lambda e, b=before: self.counted(e, b))  # type: ignore[misc]
            if isinstance(statement, While) and before:
                outer, before = with_reads(statement, lambda e: self.counted(e, None)), []
            result += [*before, with_blocks(outer, self.change)]
        return tuple(result)

    def counted(self, expression: Expression, before: list[Statement] | None) -> Expression | None:
        """The summary that an expression is; kept in a variable of its own where there is room for one."""
        found: Expression | None
        match expression:
            case Operation("count", (Variable(name) as source, value), place) if name in self.lists:
                same = Operation("==", (record(source, place), value), place)
                found = self.fitting(source, same, place)
            case Operation("sum", (Variable(name) as source,), place) if name in self.lists:
                found = self.fitting(source, record(source, place), place)
            case Operation("len", (Variable(name) as source,), place) if name in self.lists and self.lengths:
                found = self.fitting(source, Constant(1, place), place)
            case Operation("sum" | "count", (Operation("slice", (Variable(name), _, _)), *_), place) if (
                name in self.lists and before is not None
            ):
                found = self.of_part(expression, before)
            case _:
                return None
        if found is None or before is None:
            return found
        kept = self.kept(place)
        before.append(Assign(kept.name, found, place))
        return kept

    def of_part(self, expression: Operation, before: list[Statement]) -> Expression | None:
        """The sum of a part of a list, or how often a value is in it: a total of the records whose places lie between its ends."""
        part, *wanted = expression.arguments
        assert isinstance(part, Operation)
        source, *ends = part.arguments
        assert isinstance(source, Variable)
        if self.lengths or any(self.mixed(rewrite_expression(end, self.length_alike), source.name) for end in ends):
            return None
        if expression not in self.certain and not all(map(is_safe, ends)):
            return None
        place = expression.place
        self.made += 1
        held, inside = held_ends(f"{PART_ENDS}{self.made}", (ends[0], ends[1]), source, place, self.signs)
        taken = record(source, place)
        one: Expression = Operation("==", (taken, wanted[0]), place) if wanted else taken
        if _truth_values(self.lists[source.name]) and not wanted:
            one = Operation("bool", (taken,), place)
        found = self.fitting(source, Conditional(inside, one, Constant(0, place), place), place)
        if found is not None:
            before += held
        return found

    def fitting(self, source: Variable, added: Expression, place: Place) -> Expression | None:
        """A total, if what is added depends on the record and on what is the same in both runs."""
        if self.mixed(added, source.name):
            return None
        return total(source, self.as_number(_number(added), self.lists[source.name]), place)

    def as_number(self, added: Expression, declared: Input) -> Expression:
        """What is added, with 1 and 0 in the place of records and fields that are truth values."""
        match added:
            case Conditional(_, then, otherwise):
                return replace(
                    added, then=self.as_number(then, declared), otherwise=self.as_number(otherwise, declared)
                )
            case Operation("field", (_, Constant(str() as name)), place):
                known = dict(declared.fields).get(name)
            case Operation("record", _, place):
                known = declared
            case _:
                return added
        if known is None or not _truth_values(known):
            return added
        return Conditional(added, Constant(1, place), Constant(0, place), place)

    def length_alike(self, expression: Expression) -> Expression | None:
        """A number in the place of the length of a list, which is the same in both runs where records are replaced."""
        match expression:
            case Operation("len" | "turns", (Variable(name),), place) if name in self.lists:
                return Constant(0, place)
            case _:
                return None

    def mixed(self, added: Expression, source: str) -> bool:
        """Whether an expression reads the data in another way than by the record, or something that differs between the runs."""
        match added:
            case Operation("record", (Variable(name),)):
                return name != source
            case Operation("position", (Variable(name),)):
                return name != source or self.lengths
            case Operation("total"):
                return True
            case Variable(name):
                return name in self.differing
            case _:
                return any(self.mixed(part, source) for part in parts(added))

    def kept(self, place: Place) -> Variable:
        self.made += 1
        return Variable(f"#total{self.made}", place)

    def summed(self, loop: While, before: Statement | None) -> list[Statement] | None:
        """The loop as summaries, if it only adds up; None otherwise."""
        turn = self.turn(loop, before)
        if turn is None:
            return None
        totals: list[Statement] = []
        sums: list[Statement] = []
        source, place = turn.source, loop.place
        inside, needed = read_counts((loop,)), variables_read_first(loop.body, set())[0]
        for name, value in turn.values.items():
            used_later = self.outside[name] > (inside[name] if name in needed else 0)
            if name == turn.counter:
                if used_later:
                    return None
                continue
            added = _added(value, name)
            if added is None or name in variables(added):
                if used_later or name in {v for n, e in turn.values.items() if n != name for v in variables(e)}:
                    return None
                continue  # of the turn alone
            if any(other in variables(added) for other in turn.values):
                return None
            if isinstance(added, Constant) and added.value == 0:
                continue
            summary = self.fitting(source, added, place)
            if summary is None:
                return None
            kept = self.kept(place)
            more = Operation("+", (Variable(name, place), kept), place)
            totals.append(Assign(kept.name, summary, place))
            sums.append(Assign(name, more, place))
        return [*totals, *sums]

    def turn(self, loop: While, before: Statement | None) -> _Adding | None:
        """One turn of a loop over a list from its first element to its last."""
        match loop.test, before:
            case (
                Operation("<", (Variable(counter), Operation("turns" | "len", (Variable(name) as source,)))),
                Assign(begun, Constant(0)),
            ) if name in self.lists and begun == counter:
                pass
            case _:
                return None

        def taken(expression: Expression) -> Expression | None:
            match expression:
                case Element(Variable(found), Variable(index), place) if (found, index) == (source.name, counter):
                    return record(source, place)
                case Element(Operation("record") as whole, Constant(str()) as name, place):
                    return Operation("field", (whole, name), place)
                case Operation("==" | "!=", (Operation("tuple of", some), Operation("tuple of", others)), place) if (
                    some
                ):
                    return _compared(expression.name, some, others, place)
                case _:
                    return None

        turn = TurnEffect(lambda value: rewrite_expression(value, taken), self.values)
        values = turn.after(loop.body)
        if values is None:
            return None
        onward = values.get(counter)
        match onward:
            case Operation("+", (Variable(same), Constant(1))) if same == counter:
                pass
            case _:
                return None
        added = [name for name, value in values.items() if name != counter and _added(value, name) is not None]
        if any(counter in variables(values[name]) for name in added):
            return None
        if not turn.succeeds({writes(s) for s in statements(loop.body)} - {counter, *added}):
            return None
        return _Adding(source, counter, values)


def _compared(sign: str, some: tuple[Expression, ...], others: tuple[Expression, ...], place: Place) -> Expression:
    """Whether two tuples are equal, or differ: part by part."""
    if len(some) != len(others):
        return Constant(sign == "!=", place)
    pairs = tuple(Operation(sign, pair, place) for pair in zip(some, others, strict=True))
    return pairs[0] if len(pairs) == 1 else Operation("and" if sign == "==" else "or", pairs, place)


def _truth_values(declared: Input) -> bool:
    return declared.values is not None and all(isinstance(value, bool) for value in declared.values)


def _added(value: Expression, name: str) -> Expression | None:
    """What is added to a variable, if the expression is the variable plus something."""
    match value:
        case Variable(found, place) if found == name:
            return Constant(0, place)
        case Operation("+" | "extend", (left, right), place):
            for one, other in ((left, right), (right, left)):
                if name in variables(one) and name not in variables(other):
                    more = _added(one, name)
                    return None if more is None else _plus("+", more, _number(other), place)
            return None
        case Operation("-", (left, right), place) if name in variables(left) and name not in variables(right):
            more = _added(left, name)
            return None if more is None else _plus("-", more, _number(right), place)
        case Conditional(test, then, otherwise, place) if name not in variables(test):
            taken, passed = _added(then, name), _added(otherwise, name)
            return None if taken is None or passed is None else Conditional(test, taken, passed, place)
        case _:
            return None


def _plus(sign: str, left: Expression, right: Expression, place: Place) -> Expression:
    if isinstance(left, Constant) and left.value == 0:
        return right if sign == "+" else Operation("neg", (right,), place)
    return Operation(sign, (left, right), place)
