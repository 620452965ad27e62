"""Values in two runs at once: the first run's, and how far the second run's is from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from privproof.compiling.rewriting import Unsupported
from privproof.compiling.sorts import Sort
from privproof.engines.laplace.solver import z3

Term: TypeAlias = Any


@dataclass(frozen=True)
class Value:
    """A value in both runs.

    Attributes:
        sort: its sort.
        one: the value in the first run.
        other: None where it is the same in the second; for numbers the distance, otherwise the value in the second.
    """

    sort: Sort
    one: Term
    other: Term = None

    @property
    def two(self) -> Term:
        """The value in the second run."""
        if self.other is None:
            return self.one
        return self.one + self.other if self.sort in ("int", "real") else self.other

    @property
    def distance(self) -> Term:
        """The distance of a number."""
        return z3.RealVal(0) if self.other is None else self.other


def symbol(name: str, sort: Sort) -> Term:
    """The symbol of a variable."""
    match sort:
        case "real":
            return z3.Real(name)
        case "bool":
            return z3.Bool(name)
        case _:
            return z3.Int(name)


def number(value: object) -> Term:
    """A rational as a term."""
    return z3.RealVal(str(value))


def known_value(term: Term) -> Any:
    """The value of a term without symbols: a whole number, a fraction or a truth value."""
    simple = z3.simplify(term)
    if z3.is_int_value(simple):
        return simple.as_long()
    if z3.is_rational_value(simple):
        exact = Fraction(simple.as_fraction())
        return int(exact) if exact.denominator == 1 else exact
    return z3.is_true(simple)


def real(term: Term) -> Term:
    """A number as a real."""
    return z3.ToReal(term) if z3.is_int(term) else term


def size_of(term: Term) -> Term:
    """The absolute value."""
    return z3.If(term >= 0, term, -term)


def gap(value: Value) -> Term:
    """The distance of a number; zero where it is the same in both runs."""
    if value.other is not None:
        return value.other
    return z3.IntVal(0) if value.sort == "int" else z3.RealVal(0)


def as_sort(sort: Sort, value: Value, *, high: bool = False) -> Value:
    """A value as one of a sort; where it may differ, with its distance."""
    if sort == "real" and value.sort == "int":
        value = Value("real", z3.ToReal(value.one), None if value.other is None else z3.ToReal(value.other))
    if high and value.other is None:
        return Value(value.sort, value.one, gap(value) if value.sort in ("int", "real") else value.one)
    return value


def alike(a: Value, b: Value) -> tuple[Value, Value]:
    """Two numbers as numbers of one sort."""
    if {a.sort, b.sort} == {"int", "real"}:
        return as_sort("real", a), as_sort("real", b)
    return a, b


def add_values(a: Value, b: Value, sign: int) -> Value:
    """The sum (or difference) of two numbers."""
    a, b = alike(a, b)
    if a.sort not in ("int", "real") or a.sort != b.sort:
        raise Unsupported("a sum of things that are no numbers")
    other = None
    if a.other is not None or b.other is not None:
        other = gap(a) + gap(b) if sign > 0 else gap(a) - gap(b)
    return Value(a.sort, a.one + b.one if sign > 0 else a.one - b.one, other)


def choose_value(test: Value, a: Value, b: Value) -> Value:
    """One of two numbers, as each run's own test says."""
    one = z3.If(test.one, a.one, b.one)
    if test.other is None and a.other is None and b.other is None:
        return Value(a.sort, one)
    two = z3.If(test.two, a.two, b.two)
    return Value(a.sort, one, two - one)


def compare_values(name: str, a: Value, b: Value) -> Value:
    """A comparison in both runs."""
    a, b = alike(a, b)
    if a.sort != b.sort:
        different = name in ("!=", "is not")
        if name in ("==", "is", "!=", "is not"):
            return Value("bool", z3.BoolVal(different))
        raise Unsupported("a comparison of things that are not alike")
    signs: dict[str, Callable[[Term, Term], Term]] = {
        "==": lambda x, y: x == y,
        "is": lambda x, y: x == y,
        "!=": lambda x, y: x != y,
        "is not": lambda x, y: x != y,
        "<": lambda x, y: x < y,
        "<=": lambda x, y: x <= y,
        ">": lambda x, y: x > y,
        ">=": lambda x, y: x >= y,
    }
    compare = signs[name]
    if a.other is None and b.other is None:
        return Value("bool", compare(a.one, b.one))
    return Value("bool", compare(a.one, b.one), compare(a.two, b.two))
