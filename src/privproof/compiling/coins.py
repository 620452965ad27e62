"""Coins that are tossed for every record, as parts of the record: a mechanism that draws a sample of its data, or answers for a record at
random, becomes one that does not, on records that know how their coins fell.

``[r for r in data if bernoulli("1/4")]`` and ``total += randomized_response(r, truth="3/4")`` draw noise once for every record, by a law
that depends on this record alone.  So the outcome may as well stand in the record: the mechanism is a mixture, over the coins of all
records, of the mechanism that reads them as fields.  What that one loses where a record and its coins change is found by alignments; what
the mixture loses follows (`engines.laplace.mixtures`).

Only loops over the list that stand at the outermost level are looked at: they are gone through once, so that every coin is tossed once
for every record.  Lists of records that such a loop keeps are lists of the data: a loop over them is one over the data that passes over
the records that were not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from privproof.compiling.keys import written_out
from privproof.compiling.levelling import rename_reserved_variables
from privproof.compiling.measured import one_name
from privproof.compiling.relational import Program
from privproof.compiling.rewriting import expand_count_calls, substitute_parameters, walked_sums
from privproof.compiling.summaries import SUMMED
from privproof.errors import LanguageError
from privproof.exact import Rational
from privproof.language.evaluating import WRONG, evaluator
from privproof.language.inputs import ADD_REMOVE, Input, one_of
from privproof.language.laws import CONTINUOUS, WHOLE, TableLaw
from privproof.language.mechanism import Mechanism
from privproof.language.noise import NOISES
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
    Place,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.values import plain
from privproof.language.walking import (
    map_expressions,
    parts,
    reads,
    rewrite_expression,
    statements,
    variables,
    with_blocks,
    with_reads,
    with_statements,
    within,
    writes,
)

VALUE = "value"
"""The part of a record that is the record itself, where it has no fields of its own."""
_MOST_RECORDS = 60
"""Coins whose law depends on the record are for so many different records; beyond them nothing is found."""
_ROW = "#row"


@dataclass(frozen=True)
class Coin:
    """A coin that is tossed for every record.

    Attributes:
        name: the field that says how it fell.
        site: where it is tossed.
        laws: its outcomes with their probabilities, for every record that is declared, in this order; one law if they are all the same.
            None are listed of noise on the line or on all integers: nothing is said of it but that its law depends on the record alone.
        whole: whether such noise is a whole number.
    """

    name: str
    site: int
    laws: tuple[tuple[tuple[Any, Rational], ...], ...]
    whole: bool = False


@dataclass(frozen=True)
class Tossed:
    """A mechanism whose coins stand in its records.

    Attributes:
        mechanism: it tosses none.
        original: the mechanism that tosses them.
        source: the list of records.
        coins: what is tossed for each of them.
        body: the statements of the original.
    """

    mechanism: Mechanism
    original: Mechanism
    source: str
    coins: tuple[Coin, ...]
    body: Block


@dataclass(frozen=True)
class TossedProgram:
    """The program of a mechanism whose coins stand in its records, for the certificate of the one that tosses them."""

    tossed: Tossed
    program: Program


def record_coins_of(mechanism: Mechanism) -> Tossed | None:
    """A mechanism with the coins of its records as parts of them; None where it tosses none, or not in this form."""
    found = _tossed(mechanism)
    return found if found is not None and all(coin.laws for coin in found.coins) else None


def noisy_records(mechanism: Mechanism) -> Tossed | None:
    """A mechanism with the noise that it draws for its records as parts of them; None where it draws none, or not in this form.

    The record that only one list has comes with any noise: what holds for all of it holds for its mixture, whatever the law.
    """
    if mechanism.neighbours != ADD_REMOVE:
        return None
    found = _tossed(mechanism)
    return found if found is not None and not any(coin.laws for coin in found.coins) else None


def _tossed(mechanism: Mechanism) -> Tossed | None:
    """A mechanism with coins and noise of its records as parts of them."""
    private = [(name, declared) for name, declared in mechanism.inputs.items() if not declared.public]
    if len(private) != 1 or mechanism.neighbours not in SUMMED or mechanism.stream is not None:
        return None
    [(source, declared)] = private
    if declared.shape != "list" or declared.array:
        return None
    body = one_name(
        written_out(
            rename_reserved_variables(substitute_parameters(mechanism.translated.body, mechanism.parameters), mechanism)
        )
    )
    body = walked_sums(expand_count_calls(body, (source,)), (source,), "#summed", "#summed.at")
    changed_inputs = {writes(statement) for statement in statements(body)}
    public = frozenset(n for n, each in mechanism.inputs.items() if each.public and n not in changed_inputs)
    found = _Tossing(source, declared, public)
    try:
        changed = found.block(body)
    except _Other:
        return None
    if not found.coins:
        return None
    fields = declared.fields or ((VALUE, _alone(declared)),)
    names = {name for name, _ in fields}
    if any(coin.name in names for coin in found.coins):
        return None
    coins = tuple((coin.name, one_of(*_outcomes(coin)) if coin.laws else _any_number(coin)) for coin in found.coins)
    inner = Input("list", None, None, declared.text, size=declared.size, fields=(*fields, *coins))
    inputs = MappingProxyType({**mechanism.inputs, source: inner})
    made = replace(
        mechanism,
        inputs=inputs,
        relation=mechanism.neighbours,
        proposed=replace(mechanism.translated, body=changed),
        pin=None,
    )
    return Tossed(made, mechanism, source, tuple(found.coins), body)


def _alone(declared: Input) -> Input:
    """A record as a field."""
    return replace(declared, shape="value", within=None, size=None)


def _any_number(coin: Coin) -> Input:
    """Noise as a field."""
    return Input("value", None, None, "integer()" if coin.whole else "real()", real=not coin.whole)


def _outcomes(coin: Coin) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(value for law in coin.laws for value, _ in law))


class _Other(Exception):
    """The loops over the data are not of the form."""


@dataclass(frozen=True)
class _Kept:
    """A list of records that a loop keeps: which ones, and what of them, in terms of the row."""

    guard: Expression
    value: Expression


class _Tossing:
    """Puts the coins of loops over a list into its records."""

    def __init__(self, source: str, declared: Input, public: frozenset[str]) -> None:
        self.source, self.declared, self.public = source, declared, public
        self.coins: list[Coin] = []
        self.kept: dict[str, _Kept] = {}

    def block(self, body: Block) -> Block:
        """A whole body, its outermost loops first."""
        result: list[Statement] = []
        for number, statement in enumerate(body):
            over = _counter(statement, (self.source,))
            if isinstance(statement, While) and over is not None:
                statement = self.loop(statement, over[0], body[:number], body[number + 1 :])
            result.append(statement)
        made = _reading(tuple(result), self.kept, self.source)
        return map_expressions(made if self.declared.fields else map_expressions(made, self.valued), _whole_row)

    def valued(self, expression: Expression) -> Expression | None:
        """The record itself, where it is a part of a row."""
        match expression:
            case Element(Variable(name), _, place) if name == self.source:
                return Element(expression, Constant(VALUE, place), place)
            case Element(
                Element(Element(Variable(name), _) as row, Constant(part)), Constant(str() as field), place
            ) if name == self.source and part == VALUE:
                return Element(row, Constant(field, place), place)
            case _:
                return None

    def loop(self, loop: While, counter: str, before: Block, after: Block) -> While:
        """A loop over the list, with its coins read from the record of the turn."""
        if not any(isinstance(s, Sample) for s in statements(loop.body)):
            return loop
        here = loop.place
        known: dict[str, Expression] = {}
        appended: list[tuple[str, _Kept]] = []
        begun = len(self.coins)
        body = self.turn(loop.body, counter, known, Constant(value=True, place=here), appended)
        if len(self.coins) == begun:
            return loop
        for name, kept in appended:
            if sum(each == name for each, _ in appended) == 1 and _only_listed(name, before, after):
                self.kept[name] = kept
        dropped = with_statements(body, lambda s: () if isinstance(s, Append) and s.name in self.kept else None)
        first = Assign(_ROW, Operation(_ROW, (Variable(self.source, here), Variable(counter, here)), here), here)
        return replace(loop, body=(first, *dropped))

    def turn(
        self,
        block: Block,
        counter: str,
        known: dict[str, Expression],
        guard: Expression,
        appended: list[tuple[str, _Kept]],
    ) -> Block:
        """The statements of a turn without draws; `known` holds what variables are in terms of the row."""
        result: list[Statement] = []

        def now(expression: Expression) -> Expression:
            def change(part: Expression) -> Expression | None:
                match part:
                    case Variable(name):
                        return known.get(name)
                    case Element(Variable(name), Variable(index), place) if (name, index) == (self.source, counter):
                        return Variable(_ROW, place)
                    case _:
                        return None

            return rewrite_expression(expression, change)

        for statement in block:
            match statement:
                case Assign(name, value, place):
                    known[name] = now(value)
                    if name == counter:
                        known.pop(name)
                    result.append(statement)
                case Sample(name, noise, arguments, site, place):
                    coin = self.coin(noise, site, tuple(now(argument) for argument in arguments))
                    said = Element(Variable(_ROW, place), Constant(coin.name, place), place)
                    known[name] = said
                    result.append(Assign(name, said, place))
                case Append(name, value, place):
                    appended.append((name, _Kept(guard, now(value))))
                    result.append(statement)
                case If(test, then, otherwise, place):
                    asked = now(test)
                    sides = (dict(known), dict(known))
                    yes = self.turn(then, counter, sides[0], _both(guard, asked), appended)
                    no = self.turn(otherwise, counter, sides[1], _both(guard, _negated(asked)), appended)
                    for name in dict.fromkeys((*sides[0], *sides[1])):
                        a, b = (side.get(name, Variable(name, place)) for side in sides)
                        known[name] = a if a == b else Conditional(asked, a, b, place)
                    result.append(If(test, yes, no, place))
                case _:
                    raise _Other
        return tuple(result)

    def coin(self, noise: str, site: int, arguments: tuple[Expression, ...]) -> Coin:
        """The coin that is tossed by a draw whose arguments are known in terms of the row."""
        read = {name for argument in arguments for name in variables(argument)}
        if noise in (*CONTINUOUS, *WHOLE):
            if read - {_ROW, *self.public}:
                raise _Other
            made = Coin(f"noise {len(self.coins) + 1}", site, (), noise in WHOLE)
            self.coins.append(made)
            return made
        if any(_tosses(argument) for argument in arguments) or read - {_ROW}:
            raise _Other
        law = NOISES[noise].law
        given = [evaluator(argument) for argument in arguments]
        records = (None,)
        if read:
            if self.declared.fields or self.declared.values is None or len(self.declared.values) > _MOST_RECORDS:
                raise _Other
            records = self.declared.values
        laws = []
        for record in records:
            try:
                found = law(*(plain(each({_ROW: record})) for each in given))
            except (*WRONG, LanguageError):
                raise _Other from None
            if not isinstance(found, TableLaw):
                raise _Other
            laws.append(found.possible)
        if all(each == laws[0] for each in laws):
            laws = laws[:1]
        made = Coin(f"coin {len(self.coins) + 1}", site, tuple(laws))
        self.coins.append(made)
        return made


def _whole_row(expression: Expression) -> Expression | None:
    """The row of a turn, where it is read as a whole."""
    match expression:
        case Operation(name, (sequence, index), place) if name == _ROW:
            return Element(sequence, index, place)
        case _:
            return None


def _tosses(expression: Expression) -> bool:
    """Whether an expression reads how a coin fell."""
    return any(isinstance(part, Element) and isinstance(part.index, Constant) for part in within(expression))


def _both(one: Expression, two: Expression) -> Expression:
    if isinstance(one, Constant):
        return two
    return Operation("and", (one, two), two.place)


def _negated(test: Expression) -> Expression:
    return Operation("not", (test,), test.place)


def _counter(statement: Statement, lists: tuple[str, ...] | Mapping[str, Any]) -> tuple[str, str] | None:
    """The counter and the list of a loop over one of some lists."""
    match statement:
        case While(Operation("<", (Variable(counter), Operation("turns" | "len", (Variable(name),))))) if name in lists:
            return counter, name
        case _:
            return None


def _only_listed(name: str, before: Block, after: Block) -> bool:
    """Whether a list begins empty, and is afterwards only counted, summed and gone through."""
    written = [s for s in statements(before) if writes(s) == name]
    empty = len(written) == 1 and isinstance(written[0], Assign) and _is_empty(written[0].value)
    if not empty or any(writes(s) == name for s in statements(after)):
        return False
    if any(name in variables(e) for s in statements(before) for e in reads(s)):
        return False
    return all(_listed(e, name) for s in statements(after) for e in reads(s))


def _is_empty(value: Expression) -> bool:
    return isinstance(value, Operation) and value.name == "list of" and not value.arguments


def _listed(expression: Expression, name: str) -> bool:
    match expression:
        case Operation("len" | "turns" | "sum", (Variable(found),)) if found == name:
            return True
        case Operation("count", (Variable(found), wanted)) if found == name:
            return _listed(wanted, name)
        case Element(Variable(found), Variable()) if found == name:
            return True
        case Variable(found):
            return found != name
        case _:
            return all(_listed(part, name) for part in parts(expression))


def _reading(body: Block, kept: Mapping[str, _Kept], source: str) -> Block:
    """The statements with loops over the data in the place of lists that were kept of it."""
    if not kept:
        return body
    numbers = iter(range(10**6))

    def at(expression: Expression, row: Expression) -> Expression:
        return rewrite_expression(expression, lambda e: row if isinstance(e, Variable) and e.name == _ROW else None)

    def walk(name: str, place: Place, added: Expression) -> tuple[list[Statement], Variable]:
        """A loop that adds up something over what was kept."""
        number = next(numbers)
        total, index = Variable(f"#kept{number}", place), Variable(f"#kept.at{number}", place)
        row = Element(Variable(source, place), index, place)
        more = Assign(total.name, Operation("+", (total, at(added, row)), place), place)
        onward = Assign(index.name, Operation("+", (index, Constant(1, place)), place), place)
        test = Operation("<", (index, Operation("turns", (Variable(source, place),), place)), place)
        turn = If(at(kept[name].guard, row), (more,), (), place)
        begin: list[Statement] = [Assign(each.name, Constant(0, place), place) for each in (total, index)]
        return [*begin, While(test, (turn, onward), place)], total

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            over = _counter(statement, kept)
            if isinstance(statement, While) and over is not None:
                result.append(passing(statement, *over))
                continue
            first: list[Statement] = []

            def asked(expression: Expression, first: list[Statement] = first) -> Expression | None:
                match expression:
                    case Operation("count", (Variable(name), wanted), place) if name in kept:
                        same = Operation("==", (kept[name].value, wanted), place)
                        one, none = Constant(1, place), Constant(0, place)
                        loop, total = walk(name, place, Conditional(same, one, none, place))
                    case Operation("sum", (Variable(name),), place) if name in kept:
                        loop, total = walk(name, place, kept[name].value)
                    case Operation("len" | "turns", (Variable(name),), place) if name in kept:
                        loop, total = walk(name, place, Constant(1, place))
                    case _:
                        return None
                first += loop
                return total

            changed = with_reads(statement, asked)
            if isinstance(statement, While) and first:
                raise _Other
            if isinstance(statement, Assign) and statement.name in kept:
                continue
            result += [*first, with_blocks(changed, change)]
        return tuple(result)

    def passing(loop: While, counter: str, name: str) -> While:
        """A loop over a kept list, as one over the data."""
        own = [s for s in loop.body if writes(s) == counter]
        match own:
            case [Assign(_, Operation("+", (Variable(same), Constant(1))))] if same == counter:
                pass
            case _:
                raise _Other
        if sum(writes(s) == counter for s in statements(loop.body)) != 1:
            raise _Other
        place = loop.place
        row = Element(Variable(source, place), Variable(counter, place), place)

        def taken(expression: Expression) -> Expression | None:
            match expression:
                case Element(Variable(found), Variable(index)) if (found, index) == (name, counter):
                    return at(kept[name].value, row)
                case _:
                    return None

        inside = map_expressions(tuple(s for s in loop.body if s is not own[0]), taken)
        if any(counter in _bare(e) for s in statements(inside) for e in reads(s)):
            raise _Other
        test = Operation("<", (Variable(counter, place), Operation("turns", (Variable(source, place),), place)), place)
        return While(test, (If(at(kept[name].guard, row), change(inside), (), place), own[0]), place)

    def _bare(expression: Expression) -> Iterator[str]:
        """The variables of an expression, but for the index that a row is read at."""
        match expression:
            case Element(Variable(found), Variable()) if found == source:
                return
            case Variable(found):
                yield found
            case _:
                for part in parts(expression):
                    yield from _bare(part)

    return change(body)
