"""The one record in which neighbouring data differ, in both runs, as symbols: what totals change by.

Under ``one`` the record is some value in the first run and another one in the second, each of those declared: a number is ``by`` more, by
no more than the sensitivity where there is one.  Under ``add-remove`` it is in one of the runs only, and ``added`` says whether in the
second.  All totals speak of the same two symbols, so that what they change by is bounded jointly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from privproof.compiling.relational import Class
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.sorts import Sort, field_of, input_sort, is_listed
from privproof.engines.laplace.solver import true, z3
from privproof.engines.laplace.values import Term, Value, known_value, number, real, symbol
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.row import Row
from privproof.language.syntax import Constant, Operation, Variable

if TYPE_CHECKING:
    from privproof.engines.laplace.symbols import Symbols


def record_symbol(name: str, run: int = 1) -> str:
    """The name of the symbol of a record in one of the runs."""
    return f"record: {name}" if run == 1 else f"record: {name}: other"


def _plain(term: Term, known: Sequence[tuple[Term, Term]]) -> Any:
    """The value of a term, from the values of symbols."""
    return known_value(z3.substitute(term, *known))


class Records:
    """The record that changes, for every list that is summed up."""

    def __init__(self, symbols: Symbols) -> None:
        self.runs, self.program = symbols, symbols.program

    def symbols(self, name: str) -> Iterator[tuple[str, Sort]]:
        """The symbols of a list, with their sorts."""
        for place, declared in self._parts(name):
            sort = input_sort(declared)
            yield record_symbol(place), sort
            if self.program.relation == "one" and (place != name or sort not in ("int", "real")):
                yield record_symbol(place, 2), sort

    def facts(self, name: str) -> list[Term]:
        """What a record may be, in both runs; where another input changes, nothing is said of the second run."""
        found: list[Term] = []
        here = self.here(name)
        for place, declared in self._parts(name):
            found += self.allowed(declared, self._record(name, place, 1))
            if self.program.relation == "one":
                found += [z3.Implies(here, fact) for fact in self.allowed(declared, self._record(name, place, 2))]
        if self.program.between:
            found.append(z3.Or(*(self._changes(name, one, other) for one, other in self.program.between)))
        return found

    def _changes(self, name: str, one: Class, other: Class | None) -> Term:
        """That the record changes from one class to another, or back; or that it is of a class, where it is added or removed."""
        if other is None:
            return self._of_class(name, one, 1)
        there = z3.And(self._of_class(name, one, 1), self._of_class(name, other, 2))
        back = z3.And(self._of_class(name, other, 1), self._of_class(name, one, 2))
        return z3.Or(there, back)

    def _of_class(self, name: str, rows: Class, run: int) -> Term:
        parts = dict(self._parts(name))
        return z3.Or(
            *(
                z3.And(*(self._is(parts, name, part, value, run) for part, value in row.items())) if row else true()
                for row in rows
            )
        )

    def _is(self, parts: Mapping[str, Input], name: str, part: str, value: object, run: int) -> Term:
        """That a field has a value."""
        place = f"{name}.{part}"
        [same] = self.allowed(replace(parts[place], values=(value,)), self._record(name, place, run))
        return same

    def value(self, expression: Operation, run: int) -> Value:
        """The record of a run, or a field of it."""
        match expression:
            case Operation("record", (Variable(name),)) if run and not self.program.inputs[name].fields:
                return Value(input_sort(self.program.inputs[name]), self._record(name, name, run))
            case Operation("field", (Operation("record", (Variable(name),)), Constant(str() as part))) if run:
                sort = input_sort(field_of(self.program.inputs[name], part))
                return Value(sort, self._record(name, f"{name}.{part}", run))
            case _:
                raise Unsupported(f"a record outside of a sum over all of them, or as a whole, {expression.place}")

    def _parts(self, name: str) -> list[tuple[str, Input]]:
        """What a record consists of: its fields, or itself; each by the name of its symbol."""
        declared = self.program.inputs[name]
        return [(f"{name}.{part}", each) for part, each in declared.fields] or [(name, declared)]

    def moved(self, name: str, one: Term, two: Term) -> Term:
        """By how much a total changes, from what the record adds to it in both runs."""
        if self.program.relation == ADD_REMOVE:
            return z3.If(self.runs.fixed["added"], one, -one)
        if len(self.runs.private) == 1:
            return two - one
        return z3.If(self.here(name), two - one, z3.RealVal(0) if z3.is_real(one) else z3.IntVal(0))

    def here(self, name: str) -> Term:
        """That the one change is in this list."""
        return true() if len(self.runs.private) == 1 else self.runs.fixed["which"] == self.runs.private.index(name)

    def sides(self, name: str, known: Sequence[tuple[Term, Term]]) -> tuple[list[Any], list[Any]]:
        """The record in both runs, from the values of symbols; in a list of nothing else, which is empty where it is not there."""
        here = True
        if len(self.runs.private) > 1:
            here = _plain(self.runs.fixed["which"], known) == self.runs.private.index(name)
        found = []
        for run in (1, 2) if here else (1, 1):
            parts = {place: self._shown(name, place, each, run, known) for place, each in self._parts(name)}
            plain = {place.partition(".")[2]: value for place, value in parts.items()}
            found.append([parts[name] if name in parts else Row(**plain)])
        if self.program.relation == ADD_REMOVE:
            found[0 if _plain(self.runs.fixed["added"], known) else 1] = []
        return found[0], found[1]

    def _shown(self, name: str, place: str, declared: Input, run: int, known: Sequence[tuple[Term, Term]]) -> Any:
        value = _plain(self._record(name, place, run), known)
        if input_sort(declared) != "tag":
            return value
        return next(tag for tag, number_ in self.program.tags.items() if number_ == value)

    def _record(self, name: str, place: str, run: int) -> Term:
        sort = input_sort(dict(self._parts(name))[place])
        one = symbol(record_symbol(place), sort)
        if run == 1 or self.program.relation == ADD_REMOVE:
            return one
        if place != name or sort not in ("int", "real"):
            return symbol(record_symbol(place, 2), sort)
        by = self.runs.fixed["by"]
        return one + (z3.ToInt(by) if sort == "int" and z3.is_real(by) else by)

    def allowed(self, declared: Input, term: Term) -> list[Term]:
        """That a value is one of those declared."""
        if is_listed(declared):
            values = declared.values or ()
            tags = self.program.tags
            if z3.is_bool(term):
                return [z3.Or(*(term == z3.BoolVal(value) for value in values))]
            if input_sort(declared) == "tag":
                return [z3.Or(*(term == tags[value] for value in values))]
            return [z3.Or(*(real(term) == number(value) for value in values))]
        found = [] if declared.low is None else [real(term) >= number(declared.low)]
        return found if declared.high is None else [*found, real(term) <= number(declared.high)]
