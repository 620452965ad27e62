"""Expressions evaluated in two runs at once, symbolically.

Every value is a pair: its term in run 1, and in run 2 (for numbers by the difference).  Entries of private lists and
streams are numbered in the order in which they are first read; two reads whose indices are equal as affine terms are the
same entry.  That an index lies within its list is an obligation in the runs that evaluate the read: ``if``, ``and`` and
``or`` evaluate only what they need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import within
from privproof_checker.programs.program_ends import ends_of
from privproof_checker.programs.program_expressions import BITS, Expression, parts_within
from privproof_checker.programs.program_inputs import NORMS, ProgramInput
from privproof_checker.programs.run_states import (
    State,
    distance_at,
    distance_of,
    length_of,
    other_of,
    passed_of,
    place_of,
    spent_of,
)
from privproof_checker.programs.symbol_products import monomial, product_of
from privproof_checker.programs.terms import (
    INT,
    KINDS,
    REAL,
    affine_key,
    both,
    either,
    implies,
    number,
    plus,
    real,
    times,
    zero,
)

_LONGEST = 160
"""A term with more characters gets a symbol of its own, so that the terms made of it stay short."""
_ROOTS = 10**6
"""The square of a difference has a tangent near the difference that all entries may have at once: a multiple of the inverse of this."""
_MOST_SYMBOLS = 20_000
"""The condition of one path may declare so many symbols; beyond, the evidence is refused."""


@dataclass(frozen=True)
class Value:
    """A value in two runs: the terms, and for numbers the difference."""

    sort: str
    one: str
    two: str
    gap: str = ""

    @classmethod
    def low(cls, sort: str, term: str) -> Value:
        """The same in both runs."""
        return cls(sort, term, term, zero(KINDS[sort]) if sort in ("int", "real") else "")

    @classmethod
    def apart(cls, sort: str, one: str, gap: str) -> Value:
        """A number and its difference."""
        return cls(sort, one, plus(one, gap), gap)

    @classmethod
    def pair(cls, sort: str, one: str, two: str) -> Value:
        """Two terms."""
        if one == two:
            return cls.low(sort, one)
        return cls(sort, one, two, f"(- {two} {one})" if sort in ("int", "real") else "")

    def as_sort(self, sort: str) -> Value:
        """The value, an integer possibly as a real."""
        if sort == self.sort:
            return self
        assert (self.sort, sort) == ("int", "real")
        return Value("real", real(self.one, INT), real(self.two, INT), real(self.gap, INT))

    @property
    def equal(self) -> str:
        """That it is the same in both runs."""
        return "true" if self.one == self.two else f"(= {self.one} {self.two})"


@dataclass(frozen=True)
class Entry:
    """An entry of a private list or stream that was read on the path."""

    declared: ProgramInput
    index: str
    value: Value


class Evaluator:
    """Evaluates expressions on one path.

    Attributes:
        symbols: the sorts of the symbols introduced on the path.
        known: what the symbols mean, and what holds of them.
        obligations: what has to hold, each with words.
        entries: the private entries in the order in which they were first read.
        now: the present terms of the changing symbols.
        hidden: the numbers of entries whose places depend on noise: no shift may speak of them.
    """

    def __init__(self, state: State, place: str) -> None:
        self.state = state
        self.place = place
        self.symbols: dict[str, str] = {}
        self.known: list[str] = []
        self.obligations: list[tuple[str, str]] = []
        self.entries: list[Entry] = []
        self.hidden: set[int] = set()
        self.now = {name: state.own(name) for name in state.changing}
        self._found: dict[tuple[str, str], Value] = {}
        self._short: dict[str, str] = {}
        self._products: dict[tuple[str, ...], str] = {}
        self._context: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._run = 0

    def fresh(self, sort: str) -> str:
        """A new symbol."""
        return self._declare(f"t{len(self.symbols)}", sort)

    def _declare(self, symbol: str, sort: str) -> str:
        self.symbols[symbol] = sort
        within(len(self.symbols), _MOST_SYMBOLS, "symbols", self.place)
        return symbol

    def named(self, term: str, sort: str) -> str:
        """The term, by a symbol of its own if it is long."""
        if len(term) <= _LONGEST:
            return term
        if term not in self._short:
            symbol = self.fresh(sort)
            self.known.append(f"(= {symbol} {term})")
            self._short[term] = symbol
        return self._short[term]

    def value(self, expression: Expression) -> Value:
        """The value of an expression, with short terms."""
        value = self._value(expression)
        kind = KINDS[value.sort]
        if value.one == value.two:
            return Value.low(value.sort, self.named(value.one, kind))
        one, gap = self.named(value.one, kind), self.named(value.gap, kind) if value.gap else ""
        return Value(value.sort, one, plus(one, gap) if gap else self.named(value.two, kind), gap)

    def entry(self, declared: ProgramInput, index: str) -> Value:
        """The entry of a list or stream at an index."""
        key = (declared.name, affine_key(index))
        if key in self._found:
            return self._found[key]
        kind = KINDS[declared.sort]
        one = self.fresh(kind)
        if declared.public:
            self.known += self.state.bounded(declared, one)
            value = Value.low(declared.sort, one)
        elif declared.numeric:
            gap = self.fresh(kind)
            self.known += self.state.neighbours(declared, one, gap, index)
            value = Value.apart(declared.sort, one, gap)
            distance = self._declare(f"d{len(self.entries)}", REAL)
            self.known.append(f"(= {distance} {real(gap, kind)})")
            if self.state.declared.relation in NORMS:
                self._spend(declared, index, distance)
            if kind == INT:
                self.known.append(f"(= {self._declare(f'w{len(self.entries)}', INT)} {gap})")
        else:
            two = self.fresh(kind)
            self.known += self.state.others(declared, one, two, index)
            value = Value(declared.sort, one, two)
        if not declared.public:
            position = self._declare(f"j{len(self.entries)}", INT)
            self.known.append(f"(= {position} {index})")
            self.entries.append(Entry(declared, index, value))
        self._found[key] = value
        return value

    def _spend(self, declared: ProgramInput, index: str, distance: str) -> None:
        """What an entry takes of the norm, ``|d|`` or ``d^2``: it is counted if the entry is not passed yet, which it is then.

        An entry that does not exist, because its read is not evaluated, differs by 0 and takes nothing.
        """
        assert declared.within is not None
        part = self._declare(f"p{len(self.entries)}", REAL)
        size = f"(ite (<= 0.0 {distance}) {distance} (- {distance}))"
        most = declared.within
        if self.state.declared.relation == "l1":
            self.known.append(f"(= {part} {size})")
        else:  # of the square: its sign, that it vanishes where the difference does, and that it lies above each of its tangents
            self.known.append(f"(and (<= 0.0 {part}) (<= {part} {times(most, size, REAL)}))")
            length = declared.size or self.state.declared.size
            if length:
                near = most * Rational(isqrt(_ROOTS * _ROOTS // length), _ROOTS)
                if isqrt(length) ** 2 == length:
                    near = most / isqrt(length)
                tangent = f"(- {times(2 * near, size, REAL)} {number(near * near, REAL)})"
                self.known.append(f"(<= {tangent} {part})")
            most = most * most
        passed, spent = passed_of(declared.name), spent_of(declared.name)
        first = f"(<= {self.now[passed]} {index})"
        total = self.fresh(REAL)
        self.known.append(f"(= {total} (+ {self.now[spent]} (ite {first} {part} 0.0)))")
        self.known.append(f"(<= {total} {number(most, REAL)})")
        self.now[passed] = self.named(f"(ite {first} (+ {index} 1) {self.now[passed]})", INT)
        self.now[spent] = total

    def _value(self, expression: Expression) -> Value:
        sort, head = expression.sort, expression.head
        if head == "literal":
            literal = expression.value
            if isinstance(literal, bool):
                return Value.low(sort, "true" if literal else "false")
            assert literal is not None
            return Value.low(sort, number(literal, KINDS[sort]))
        if head == "variable":
            return self._variable(expression)
        if head == "length":
            return Value.low(sort, self.state.length(expression.name))
        if head == "read":
            return self._read(expression)
        if head in ("entry", "part", "count"):
            return self._of_kept(expression)
        if head == "total":
            return self._total(expression)
        if head == "record":
            return Value.low(sort, self.state.record(expression.name, self._run))
        if head == "position":
            return Value.low(sort, self.state.own("changed"))
        if head in ("if", "and", "or"):
            return self._choice(expression)
        values = [self.value(part) for part in expression.parts]
        if head == "not":
            return Value.pair("bool", f"(not {values[0].one})", f"(not {values[0].two})")
        if sort == "bool":
            return self._comparison(head, values)
        return self._arithmetic(expression, values)

    def _variable(self, expression: Expression) -> Value:
        def term(name: str) -> str:
            return self.now[name] if name in self.now else self.state.own(name)

        name, sort = expression.name, expression.sort
        if name not in self.state.flow.high:
            return Value.low(sort, term(name))
        if sort in ("int", "real"):
            return Value.apart(sort, term(name), term(distance_of(name)))
        return Value(sort, term(name), term(other_of(name)))

    def _read(self, expression: Expression) -> Value:
        index = self.value(expression.parts[0])
        assert index.one == index.two
        inside = f"(and (<= 0 {index.one}) (< {index.one} {self.state.length(expression.name)}))"
        evaluated = either(both(context) for context in self._context)
        self.obligations.append((f"{expression.place}: the index lies within the list", implies(evaluated, inside)))
        return self.entry(self.state.declared.inputs[expression.name], index.one)

    def place_in(self, name: str, index: Expression) -> str:
        """A place of a list that is kept: an index below 0 counts from the end, and where there is no such place both runs fail."""
        at, length = self.value(index), self.now[length_of(name)]
        assert at.one == at.two
        place = self.named(f"(ite (< {at.one} 0) (+ {at.one} {length}) {at.one})", INT)
        self.fail_unless(f"{index.place}: the index lies within the list", f"(and (<= 0 {place}) (< {place} {length}))")
        return place

    def fail_unless(self, words: str, term: str) -> None:
        """Where a condition does not hold the function fails.

        That is left out where it does so whatever the data and the noise, because the condition is on what both runs share; otherwise,
        and where it is on a record, it must not.
        """
        if self.state.flow.fails_alike and self._context == ((), ()) and not self._run:
            self.known.append(term)
            return
        evaluated = either(both(context) for context in self._context)
        self.obligations.append((words, implies(evaluated, term)))

    def gap_between(self, name: str, low: str, high: str) -> str:
        """By how much the sum of the entries of a list between two places differs: what differs there, added up."""
        kind = KINDS[self.state.flow.program.kept[name]]
        parts = []
        for k in range(self.state.places):
            place, gap = self.now[place_of(name, k)], self.now[distance_at(name, k)]
            parts.append(f"(ite (and (<= {low} {place}) (< {place} {high})) {gap} {zero(kind)})")
        return self.named(plus(*parts), kind)

    def _of_kept(self, expression: Expression) -> Value:
        """An entry of a list that is kept, or the sum of a part of it: any number, which differs as the list does there."""
        name, sort = expression.name, expression.sort
        if expression.head == "count":
            return Value.low("int", self.now[length_of(name)])
        if expression.head == "entry":
            low = self.place_in(name, expression.parts[0])
            high = f"(+ {low} 1)"
        else:
            length = self.now[length_of(name)]
            ends = [self.value(each).one for each in expression.parts]
            low, high = (self.named(f"(ite (< {end} 0) (+ {end} {length}) {end})", INT) for end in ends)
        one = self.fresh(KINDS[sort])
        if name not in self.state.flow.high:
            return Value.low(sort, one)
        return Value.apart(sort, one, self.gap_between(name, low, high))

    def _total(self, expression: Expression) -> Value:
        """A sum over all records: any number in run 1; in run 2 it is moved by what the record that changes adds."""
        kind = KINDS[expression.sort]
        one, two = (self._adds(expression.parts[0], run) for run in (1, 2))
        gap = self.named(self.state.moved(expression.name, one, two, kind), kind)
        return Value.apart(expression.sort, self.fresh(kind), gap)

    def _adds(self, added: Expression, run: int) -> str:
        """What the record that changes adds to a total in one of the runs."""
        self._run = run
        value = self.value(added)
        self._run = 0
        assert value.one == value.two
        return self.named(value.one, KINDS[added.sort])

    def _choice(self, expression: Expression) -> Value:
        """``if``, ``and``, ``or``: what comes later is evaluated only where it is needed."""
        before = self._context
        head, first = expression.head, self.value(expression.parts[0])
        if head == "if":
            self._narrow(first.one, first.two)
            one = self.value(expression.parts[1]).as_sort(expression.sort)
            self._context = before
            self._narrow(f"(not {first.one})", f"(not {first.two})")
            two = self.value(expression.parts[2]).as_sort(expression.sort)
            self._context = before
            return Value.pair(
                expression.sort, f"(ite {first.one} {one.one} {two.one})", f"(ite {first.two} {one.two} {two.two})"
            )
        values = [first]
        for part in expression.parts[1:]:
            last = values[-1]
            if head == "and":
                self._narrow(last.one, last.two)
            else:
                self._narrow(f"(not {last.one})", f"(not {last.two})")
            values.append(self.value(part))
        self._context = before
        joined = both if head == "and" else either
        return Value.pair("bool", joined(v.one for v in values), joined(v.two for v in values))

    def _narrow(self, one: str, two: str) -> None:
        self._context = ((*self._context[0], one), (*self._context[1], two))

    def _comparison(self, head: str, values: list[Value]) -> Value:
        left, right = values
        if left.sort != right.sort:
            left, right = left.as_sort("real"), right.as_sort("real")
        if head in ("==", "!="):
            one, two = f"(= {left.one} {right.one})", f"(= {left.two} {right.two})"
            return Value.pair("bool", *((one, two) if head == "==" else (f"(not {one})", f"(not {two})")))
        return Value.pair("bool", f"({head} {left.one} {right.one})", f"({head} {left.two} {right.two})")

    def _arithmetic(self, expression: Expression, values: list[Value]) -> Value:
        sort, head = expression.sort, expression.head
        kind = KINDS[sort]
        if head in ("//", "%"):
            return self._division(expression, values)
        if head in BITS:
            return self._bits(expression, values)
        if head == "*" and all(part.constant is None for part in expression.parts):
            if self._run and any(part.head == "record" for part in parts_within(expression)):
                return self._of_record(expression, values)
            product = monomial(expression, self.state.declared)
            if product is None or product[1] not in self.state.products:
                return Value.low(sort, self.fresh(kind))
            return Value.low(sort, times(product[0], self.state.own(product_of(product[1])), kind))
        values = [value.as_sort(sort) for value in values]
        if head in ("*", "/"):
            divided, other = (
                (values[0], expression.parts[1].constant) if head == "/" else self._factor(expression, values)
            )
            assert other is not None
            factor = number(1 / other if head == "/" else other, kind)
            return _linear(sort, [divided], lambda terms: f"(* {factor} {terms[0]})")
        if head in ("+", "-", "neg"):
            sign = "+" if head == "+" else "-"
            return _linear(sort, values, lambda terms: f"({sign} {' '.join(terms)})")
        if head == "abs":
            return Value.pair(
                sort, *(f"(ite (<= {zero(kind)} {t}) {t} (- {t}))" for t in (values[0].one, values[0].two))
            )
        best = values[0]
        relation = "<=" if head == "max" else ">="
        for value in values[1:]:
            one, two = (
                f"(ite ({relation} {a} {b}) {b} {a})" for a, b in ((best.one, value.one), (best.two, value.two))
            )
            found = Value.pair(sort, self.named(one, kind), self.named(two, kind))
            best = found if best.one != best.two or value.one != value.two else Value.low(sort, found.one)
        return best

    def _of_record(self, product: Expression, values: list[Value]) -> Value:
        """A product of what a record holds: any number between its ends, the same one for the same factors."""
        low, high = ends_of(product, self.state.declared)
        key = ("*", *(value.one for value in values))
        if key not in self._products:
            symbol = self._products[key] = self.fresh(KINDS[product.sort])
            value = real(symbol, KINDS[product.sort])
            self.known += [] if low is None else [f"(<= {number(low, REAL)} {value})"]
            self.known += [] if high is None else [f"(<= {value} {number(high, REAL)})"]
        return Value.low(product.sort, self._products[key])

    def _factor(self, expression: Expression, values: list[Value]) -> tuple[Value, Rational | None]:
        constant = expression.parts[1].constant
        return (values[0], constant) if constant is not None else (values[1], expression.parts[0].constant)

    def _bits(self, expression: Expression, values: list[Value]) -> Value:
        """An operation on integers that both runs share: any integer; a power of a number above 0 is above 0.

        A negative exponent would give none.
        """
        if expression.head == "**":
            evaluated = either(both(context) for context in self._context)
            words = f"{expression.place}: the exponent is not below 0"
            self.obligations.append((words, implies(evaluated, f"(<= 0 {values[1].one})")))
        if expression.head in ("<<", ">>"):
            self.fail_unless(f"{expression.place}: the shift is not below 0", f"(<= 0 {values[1].one})")
        found = self.fresh(INT)
        if expression.head in ("**", "<<"):
            self.known.append(f"(=> (and (<= 1 {values[0].one}) (<= 0 {values[1].one})) (<= 1 {found}))")
        return Value.low("int", found)

    def _division(self, expression: Expression, values: list[Value]) -> Value:
        divisor = expression.parts[1].constant
        if divisor is None or divisor <= 0:
            self._not_by_zero(f"{expression.place}: the divisor is not 0", values[1].one)
            return Value.low("int", self.fresh(INT))
        function = "div" if expression.head == "//" else "mod"
        return Value.low("int", f"({function} {values[0].one} {number(divisor, INT)})")

    def _not_by_zero(self, words: str, divisor: str) -> None:
        """A division by 0 fails: a record must not lead to one, nor may one run alone come to it."""
        one, two = (both(context) for context in self._context)
        if self._run or one != two:
            evaluated = either((one, two)) if self._run else f"(not (= {one} {two}))"
            self.obligations.append((words, implies(evaluated, f"(not (= {divisor} 0))")))


def _linear(sort: str, values: list[Value], write: Callable[[list[str]], str]) -> Value:
    """A linear operation, which acts on differences as on values."""
    one = write([value.one for value in values])
    if all(value.one == value.two for value in values):
        return Value.low(sort, one)
    return Value.apart(sort, one, write([value.gap for value in values]))
