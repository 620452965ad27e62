"""Formulas over reals, integers and truth values as clauses over numbered literals.

What a literal stands for is settled here, in the order in which it is met, so that multipliers in a certificate may speak of it by
number:

- every comparison of numbers becomes an *atom* ``form + constant >= 0`` or ``> 0`` in one normal form.  If all variables are
  integers the coefficients are integers without a common divisor and the constant is rounded down, so that the negation of
  ``e + c >= 0`` is ``-e - c - 1 >= 0``; otherwise the first coefficient is 1 or -1.  Of an atom and its negation the one whose first
  coefficient is above 0 has the number, and the other one its negative.  An equation is two atoms;
- a choice between numbers becomes a new variable v, with ``v = a`` where the condition holds and ``v = b`` where it does not; the
  integer part of t becomes a new integer v with ``v <= t < v + 1``, and the quotient of an integer t by a constant k a new integer v
  with ``0 <= t - k v < |k|``;
- connectives become a literal of their own with the clauses that define it.

Each step keeps what has a solution: a solution of the formulas gives one of the clauses, by the values of the new variables and literals.
So if the clauses have none, neither have the formulas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import gcd, lcm
from typing import TypeAlias

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import refuse, within

TRUE = 1
"""The literal that always holds."""
_TOKEN = re.compile(r"[()]|[^\s()]+")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)(?:\.0)?")
_DEEPEST = 400
"""Formulas nested more deeply than this are refused, before the recursion over them is too deep for Python."""
_MOST_LITERALS = 200_000
"""So many literals may a condition have, and so many clauses; beyond, it is refused."""

Node: TypeAlias = "str | list[Node]"
Clause: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class LinearForm:
    """A linear form: multiples of variables, by number in rising order, and a constant."""

    parts: tuple[tuple[int, Rational], ...]
    constant: Rational

    def plus(self, other: LinearForm, factor: Rational = ONE) -> LinearForm:
        """The sum with a multiple of another form."""
        total = dict(self.parts)
        for variable, coefficient in other.parts:
            total[variable] = total.get(variable, ZERO) + factor * coefficient
        kept = tuple((variable, x) for variable, x in sorted(total.items()) if x != 0)
        return LinearForm(kept, self.constant + factor * other.constant)

    def times(self, factor: Rational) -> LinearForm:
        """A multiple of the form."""
        return LinearForm((), ZERO).plus(self, factor)


@dataclass(frozen=True)
class FormRow:
    """That a form is at least 0, or above 0."""

    form: LinearForm
    strict: bool


Value: TypeAlias = "int | LinearForm"


@dataclass
class Clauses:
    """The clauses of some formulas, and what their literals stand for.

    Attributes:
        whole: whether a variable is an integer, by number.
        rows: the atoms by number.
        clauses: the clauses, in the order of the formulas.
        size: the largest number of a literal.
    """

    whole: list[bool] = field(default_factory=list)
    rows: dict[int, FormRow] = field(default_factory=dict)
    clauses: list[Clause] = field(default_factory=lambda: [(TRUE,)])
    size: int = TRUE
    _atoms: dict[FormRow, int] = field(default_factory=dict, repr=False)
    _gates: dict[tuple[object, ...], Value] = field(default_factory=dict, repr=False)

    def variable(self, *, whole: bool) -> LinearForm:
        """A new variable."""
        self.whole.append(whole)
        return LinearForm(((len(self.whole) - 1, ONE),), ZERO)

    def literal(self) -> int:
        """A new literal."""
        self.size += 1
        within(self.size, _MOST_LITERALS, "literals of a condition", "evidence")
        return self.size

    def row(self, literal: int) -> FormRow | None:
        """What a literal says of numbers; None where it is no atom."""
        found = self.rows.get(abs(literal))
        return found if found is None or literal > 0 else self._opposite(found)

    def at_least(self, form: LinearForm, *, strict: bool) -> int:
        """The literal that says that a form is at least 0, or above 0."""
        if not form.parts:
            return TRUE if form.constant > 0 or (form.constant == 0 and not strict) else -TRUE
        row = self._normal(form, strict=strict)
        return self._atom(row) if row.form.parts[0][1] > 0 else -self._atom(self._opposite(row))

    def _opposite(self, row: FormRow) -> FormRow:
        """What a row in normal form says if it does not hold."""
        if self._integral(row.form):
            return FormRow(row.form.times(-ONE).plus(LinearForm((), -ONE)), strict=False)
        return FormRow(row.form.times(-ONE), strict=not row.strict)

    def _integral(self, form: LinearForm) -> bool:
        return all(self.whole[variable] for variable, _ in form.parts)

    def _normal(self, form: LinearForm, *, strict: bool) -> FormRow:
        if not self._integral(form):
            first = form.parts[0][1]
            return FormRow(form.times(ONE / (first if first > 0 else -first)), strict=strict)
        shared = lcm(*(int(x.q) for _, x in form.parts))
        divisor = gcd(*(int(x.p) * (shared // int(x.q)) for _, x in form.parts))
        scaled = form.times(Rational(shared, divisor))
        constant = scaled.constant
        rounded = (constant.ceil() - 1) if strict else constant.floor()
        return FormRow(LinearForm(scaled.parts, Rational(rounded)), strict=False)

    def _atom(self, row: FormRow) -> int:
        found = self._atoms.get(row)
        if found is None:
            found = self._atoms[row] = self.literal()
            self.rows[found] = row
        return found

    def demand(self, clause: Iterable[int]) -> None:
        """A clause that has to hold."""
        self.clauses.append(tuple(clause))
        within(len(self.clauses), _MOST_LITERALS, "clauses of a condition", "evidence")

    def every(self, literals: Iterable[int]) -> int:
        """The literal of a conjunction."""
        listed = tuple(dict.fromkeys(each for each in literals if each != TRUE))
        if -TRUE in listed or any(-each in listed for each in listed):
            return -TRUE
        if len(listed) < 2:
            return listed[0] if listed else TRUE
        key = ("and", *listed)
        found = self._gates.get(key)
        if found is None:
            found = self._gates[key] = self.literal()
            for each in listed:
                self.demand((-found, each))
            self.demand((found, *(-each for each in listed)))
        assert isinstance(found, int)
        return found

    def some(self, literals: Iterable[int]) -> int:
        """The literal of a disjunction."""
        return -self.every(-each for each in literals)

    def same(self, one: int, other: int) -> int:
        """The literal that says that two literals agree."""
        return self.every((self.some((-one, other)), self.some((one, -other))))

    def equal(self, one: LinearForm, other: LinearForm) -> int:
        """The literal that says that two numbers are equal."""
        difference = one.plus(other, -ONE)
        below = self.at_least(difference.times(-ONE), strict=False)
        return self.every((self.at_least(difference, strict=False), below))

    def choice(self, when: int, one: LinearForm, other: LinearForm) -> LinearForm:
        """The number that is the one where a literal holds, and the other one elsewhere."""
        if when in (TRUE, -TRUE) or one == other:
            return other if when == -TRUE else one
        key = ("ite", when, one, other)
        found = self._gates.get(key)
        if found is None:
            whole = all(self._integral(each) and _counts(each) for each in (one, other))
            found = self._gates[key] = self.variable(whole=whole)
            self.demand((-when, self.equal(found, one)))
            self.demand((when, self.equal(found, other)))
        assert isinstance(found, LinearForm)
        return found

    def floor(self, of: LinearForm) -> LinearForm:
        """The integer part of a number."""
        if self._integral(of) and _counts(of):
            return of
        key = ("floor", of)
        found = self._gates.get(key)
        if found is None:
            found = self._gates[key] = self.variable(whole=True)
            self.demand((self.at_least(of.plus(found, -ONE), strict=False),))
            self.demand((self.at_least(found.plus(of, -ONE).plus(LinearForm((), ONE)), strict=True),))
        assert isinstance(found, LinearForm)
        return found

    def quotient(self, of: LinearForm, by: Rational) -> LinearForm:
        """The quotient of an integer by a constant integer, such that the remainder is at least 0."""
        if by.q != 1 or by == 0 or not (self._integral(of) and _counts(of)):
            refuse("quotients are of integers by constant integers other than 0", "evidence")
        key = ("quotient", of, by)
        found = self._gates.get(key)
        if found is None:
            found = self._gates[key] = self.variable(whole=True)
            remainder = of.plus(found, -by)
            self.demand((self.at_least(remainder, strict=False),))
            self.demand((self.at_least(LinearForm((), abs(by)).plus(remainder, -ONE), strict=True),))
        assert isinstance(found, LinearForm)
        return found


def _counts(form: LinearForm) -> bool:
    """Whether a form of integers is an integer."""
    return all(x.q == 1 for _, x in form.parts) and form.constant.q == 1


def clauses_of(script: str) -> Clauses:
    """The clauses of a text of definitions, declarations and assertions in SMT-LIB, as `solving` writes them."""
    reading = _CommandReading()
    for command in _parse_script(script):
        reading.command(command)
    return reading.clauses


def _parse_script(text: str) -> list[Node]:
    stack: list[list[Node]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
            within(len(stack), _DEEPEST, "levels of nesting", "evidence")
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


class _CommandReading:
    """Reads commands one after the other."""

    def __init__(self) -> None:
        self.clauses = Clauses()
        self._names: dict[str, Value] = {"true": TRUE, "false": -TRUE}
        self._functions: dict[str, tuple[list[str], Node]] = {}

    def command(self, given: Node) -> None:
        match given:
            case ["set-logic", _]:
                return
            case ["declare-const", str(name), str(sort)]:
                new = self.clauses.literal() if sort == "Bool" else self.clauses.variable(whole=sort == "Int")
                self._names[name] = new
            case ["define-fun", str(name), list(parameters), "Bool", body]:
                self._functions[name] = [str(each[0]) for each in parameters], body
            case ["assert", formula]:
                self.clauses.demand((self._truth(formula, self._names),))
            case _:
                refuse(f"{str(given)[:60]} is no formula of linear arithmetic", "evidence")

    def _truth(self, node: Node, scope: Mapping[str, Value]) -> int:
        found = self._value(node, scope)
        assert isinstance(found, int)
        return found

    def _number(self, node: Node, scope: Mapping[str, Value]) -> LinearForm:
        found = self._value(node, scope)
        assert isinstance(found, LinearForm)
        return found

    def _value(self, node: Node, scope: Mapping[str, Value]) -> Value:
        if isinstance(node, str):
            if node in scope:
                return scope[node]
            if _NUMBER.fullmatch(node):
                return LinearForm((), Rational(int(node.removesuffix(".0"))))
            refuse(f"{node[:60]} is unknown", "evidence")
        head, *operands = node
        if head == "let":
            bindings, body = operands
            inner = {str(each[0]): self._value(each[1], scope) for each in bindings}
            return self._value(body, {**scope, **inner})
        if isinstance(head, str) and head in self._functions:
            names, body = self._functions[head]
            given = [self._value(each, scope) for each in operands]
            return self._value(body, {**self._names, **dict(zip(names, given, strict=True))})
        values = [self._value(each, scope) for each in operands]
        numbers = [each for each in values if isinstance(each, LinearForm)]
        if len(numbers) == len(values):
            return self._of_numbers(str(head), numbers)
        truths = [each for each in values if isinstance(each, int)]
        if head == "ite" and len(numbers) == 2 and len(truths) == 1:
            return self.clauses.choice(truths[0], *numbers)
        if numbers:
            refuse(f"{str(head)[:60]} has operands that do not go together", "evidence")
        return self._of_truths(str(head), truths)

    def _of_truths(self, head: str, given: Sequence[int]) -> int:
        clauses = self.clauses
        match head, given:
            case "and", _:
                return clauses.every(given)
            case "or", _:
                return clauses.some(given)
            case "not", [one]:
                return -one
            case "=>", [*premises, conclusion]:
                return clauses.some((*(-each for each in premises), conclusion))
            case "=", [one, other]:
                return clauses.same(one, other)
            case "ite", [when, one, other]:
                return clauses.every((clauses.some((-when, one)), clauses.some((when, other))))
            case _:
                refuse(f"{head[:60]} is no connective", "evidence")

    def _of_numbers(self, head: str, given: Sequence[LinearForm]) -> Value:
        clauses = self.clauses
        match head, given:
            case "+", [first, *rest]:
                return _sum(first, rest, ONE)
            case "-", [only]:
                return only.times(-ONE)
            case "-", [first, *rest]:
                return _sum(first, rest, -ONE)
            case "*", [one, other] if not one.parts or not other.parts:
                return other.times(one.constant) if not one.parts else one.times(other.constant)
            case "/", [one, other] if not other.parts and other.constant != 0:
                return one.times(ONE / other.constant)
            case "to_real", [only]:
                return only
            case "to_int", [only]:
                return clauses.floor(only)
            case "div", [one, other] if not other.parts:
                return clauses.quotient(one, other.constant)
            case "mod", [one, other] if not other.parts:
                return one.plus(clauses.quotient(one, other.constant), -other.constant)
            case (("=" | ">=" | "<=" | ">" | "<"), [_, _, *_]):
                return clauses.every([self._compared(head, one, other) for one, other in pairwise(given)])
            case _:
                refuse(f"{head[:60]} of {len(given)} numbers is not linear", "evidence")

    def _compared(self, head: str, one: LinearForm, other: LinearForm) -> int:
        if head == "=":
            return self.clauses.equal(one, other)
        above, below = (one, other) if head in (">=", ">") else (other, one)
        return self.clauses.at_least(above.plus(below, -ONE), strict=head in (">", "<"))


def _sum(first: LinearForm, rest: Iterable[LinearForm], factor: Rational) -> LinearForm:
    for each in rest:
        first = first.plus(each, factor)
    return first
