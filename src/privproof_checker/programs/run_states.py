"""States of two runs: the symbols that describe a pair of runs at a cut, and what is known about the inputs.

A low variable x has one symbol, ``x``.  A high number has its value in run 1, ``x``, and its value in run 2 minus that,
``x: distance``; a high truth value or tag has ``x`` and ``x: other``.  The inputs have symbols of the same kind, constant
throughout, and so have the common length of the lists (``size``), what changes under the relation ``one`` (``changed``,
``by``, and ``which`` if there are several private inputs), the direction under ``monotone`` (``up``), whether run 2 has the
entry more under ``add-remove`` (``added``), the one record that changes in a list that is totalled (``record: data``, and
``record: data: other`` in run 2 where it is no number; a number is ``by`` more; of rows ``record: data.age`` and its
``other`` for every field) and the foretold parts of the result (``output 0``).
Where all differences of a list are within a norm, ``passed: q`` is how many of its first entries are passed, and ``spent: q`` what those
take of the norm that were read when they were not: no entry takes its part twice, so this is at most what all entries may take.
A list that is kept has its length, ``xs: length``, and the places at which the runs may differ, ``xs: place 1``, each with a difference,
``xs: distance 1``: entry j differs by the sum of the differences whose place is j.
``read: s`` counts what was taken from the stream s, ``cost N`` adds up what the noise with scales in multiples of N has
cost, ``cost ln(2)``, an integer, how many times this logarithm, ``cost mu^2`` what Gaussian noise has cost in squares,
``cost tail 0`` counts how often the first promise was given, and
``ok`` says whether everything asked so far held, where the result is foretold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import refuse
from privproof_checker.programs.flow import Flow
from privproof_checker.programs.instruction_kinds import Group, Logarithm, Sample
from privproof_checker.programs.program_inputs import ADD_REMOVE, NORMS, SIZE, ProgramInput, Rows, Scalar
from privproof_checker.programs.symbol_products import inequalities, product_of
from privproof_checker.programs.terms import (
    BOOL,
    INT,
    KINDS,
    REAL,
    StateSymbol,
    both,
    either,
    implies,
    number,
    plus,
    real,
    zero,
)


def distance_of(name: str) -> str:
    """The symbol of a difference."""
    return f"{name}: distance"


def other_of(name: str) -> str:
    """The symbol of a value in run 2."""
    return f"{name}: other"


def cost_of(group: Group) -> str:
    """The symbol of a cost."""
    return " ".join(("cost", *group)) if isinstance(group, tuple) else f"cost {group}"


def read_of(stream: str) -> str:
    """The symbol that counts what was taken from a stream."""
    return f"read: {stream}"


def passed_of(name: str) -> str:
    """The symbol that counts the entries of a list that are passed."""
    return f"passed: {name}"


def spent_of(name: str) -> str:
    """The symbol of what the entries that were read take of a norm."""
    return f"spent: {name}"


def record_of(name: str) -> str:
    """The symbol of the record that changes in a list."""
    return f"record: {name}"


def length_of(name: str) -> str:
    """The symbol of the length of a list that is kept."""
    return f"{name}: length"


def place_of(name: str, number: int) -> str:
    """The symbol of a place at which the runs may differ in a list that is kept."""
    return f"{name}: place {number + 1}"


def distance_at(name: str, number: int) -> str:
    """The symbol of the difference there."""
    return f"{name}: distance {number + 1}"


def output_of(position: int) -> str:
    """The symbol of a foretold part of the result."""
    return f"output {position}"


class State:
    """The symbols of a program's state.

    Attributes:
        flow: the program and its data flow.
        symbols: every symbol by its name in certificates.
        changing: the names of those that instructions change.
        counted: what is counted besides costs: how often promises were given.
        places: at how many places the runs may differ in a list that is kept.
        groups: what costs are counted in: those of the scales, and those that costs are exchanged into.
        products: the products of public integers that have a symbol, each after those of some of its names.
    """

    def __init__(
        self, flow: Flow, counted: Iterable[str] = (), places: int = 1, exchanged: Iterable[Group] = ()
    ) -> None:
        self.flow = flow
        self.places = places
        self.groups = (*flow.groups, *(group for group in dict.fromkeys(exchanged) if group not in flow.groups))
        self.products = flow.products
        self.counted = tuple(counted)
        self.declared = flow.program.declared
        self.symbols: dict[str, StateSymbol] = {}
        self.changing: list[str] = []
        self._private = {each.name: i for i, each in enumerate(self.declared.private)}
        for name, sort in self._fixed():
            self._add(name, sort)
        for name, sort in self._moving():
            self._add(name, sort)
            self.changing.append(name)

    def own(self, name: str) -> str:
        """Our own name of a symbol."""
        return self.symbols[name].own

    def _add(self, name: str, sort: str) -> None:
        if name in self.symbols:
            refuse(f"two parts of the state are called {name[:80]!r}; a variable needs another name", "question.sorts")
        self.symbols[name] = StateSymbol(name, f"s{len(self.symbols)}", sort)

    def _fixed(self) -> Iterator[tuple[str, str]]:
        for each in self.declared.inputs.values():
            if each.shape == "value":
                yield from self._variable(each.name, each.sort)
        yield SIZE, INT
        for names in self.products:
            yield product_of(names), INT
        if self.declared.relation == "one":
            yield "changed", INT
            yield "by", self._by
            if len(self._private) > 1:
                yield "which", INT
        if self.declared.relation == "monotone":
            yield "up", BOOL
        if self.declared.relation == ADD_REMOVE:
            yield "added", BOOL
        for name in self.flow.summed:
            yield from self._recorded(self.declared.inputs[name])
        for position, sort in self.flow.outputs.items():
            yield output_of(position), KINDS[sort]

    @property
    def _by(self) -> str:
        """The sort of the one change: an integer where all private numbers are integers."""
        return REAL if any(each.sort == "real" for each in self.declared.private) else INT

    def _recorded(self, declared: ProgramInput) -> Iterator[tuple[str, str]]:
        """The symbols of the record that changes in a list."""
        if self.declared.relation not in ("one", ADD_REMOVE):
            refuse("totals are known where one record changes", "question.relation")
        for each in self._parts(declared):
            yield record_of(each.name), KINDS[each.sort]
            if self.declared.relation == "one" and not (each is declared and each.numeric):
                yield other_of(record_of(each.name)), KINDS[each.sort]

    @staticmethod
    def _parts(declared: ProgramInput) -> list[ProgramInput]:
        """What a record consists of: its fields, or itself."""
        return list(declared.fields.values()) or [declared]

    def _moving(self) -> Iterator[tuple[str, str]]:
        for name, sort in self.flow.program.variables.items():
            yield from self._variable(name, sort)
        for name, sort in self.flow.program.kept.items():
            yield length_of(name), INT
            for k in range(self.places):
                yield place_of(name, k), INT
                yield distance_at(name, k), KINDS[sort]
        for each in self.declared.inputs.values():
            if each.shape == "stream":
                yield read_of(each.name), INT
        if self.declared.relation in NORMS:
            for each in self.declared.private:
                yield passed_of(each.name), INT
                yield spent_of(each.name), REAL
        for group in self.groups:
            yield cost_of(group), INT if isinstance(group, Logarithm) else REAL
        for name in self.counted:
            yield name, REAL
        if self.flow.prophecy:
            yield "ok", BOOL

    def _variable(self, name: str, sort: str) -> Iterator[tuple[str, str]]:
        yield name, KINDS[sort]
        if name in self.flow.high:
            yield (distance_of(name) if sort in ("int", "real") else other_of(name)), KINDS[sort]

    def length(self, name: str) -> str:
        """The length of a list."""
        size = self.declared.inputs[name].size
        return self.own(SIZE) if size is None else str(size)

    def facts(self) -> list[str]:
        """What holds throughout: bounds of the inputs, and that they are neighbours."""
        size = self.own(SIZE)
        known = [f"(<= 0 {size})" if self.declared.size is None else f"(= {size} {self.declared.size})"]
        if not any(isinstance(step, Sample) and not step.group for step in self.flow.program.code):
            known.append(f"(= {self.own(cost_of(()))} 0.0)")  # nothing ever changes it
        own = {name: symbol.own for name, symbol in self.symbols.items()}
        for names in self.products:
            known += inequalities(names, self.declared, own)
        if self.declared.relation == "one":
            known += self._change()
        for name in self.flow.summed:
            known += self._records(self.declared.inputs[name])
        if self.declared.change is not None and self.declared.change.name in self.flow.summed:
            known.append(either(self._changes(one, other) for one, other in self.declared.change.between))
        for each in self.declared.inputs.values():
            if each.shape != "value":
                continue
            one = self.own(each.name)
            if each.public:
                known += self.bounded(each, one)
            elif each.numeric:
                known += self.neighbours(each, one, self.own(distance_of(each.name)), None)
            else:
                known += self.others(each, one, self.own(other_of(each.name)), None)
        return known

    def _records(self, declared: ProgramInput) -> Iterator[str]:
        """What the record that changes in a list may be in both runs; where another input changes, nothing is said of run 2."""
        for each in self._parts(declared):
            yield from self.bounded(each, self.record(each.name, 1))
            for fact in self.bounded(each, self.record(each.name, 2)):
                yield implies(self._here(declared), fact)

    def _here(self, declared: ProgramInput) -> str:
        """That the one change is in this input."""
        several = self.declared.relation == "one" and len(self._private) > 1
        return f"(= {self.own('which')} {self._private[declared.name]})" if several else "true"

    def _changes(self, one: Rows, other: Rows | None) -> str:
        """That the record goes from some rows to others, or back; or that it is one of them, where it is added or removed."""
        if other is None:
            return self._among(one, 1)
        there, back = ((self._among(one, a), self._among(other, b)) for a, b in ((1, 2), (2, 1)))
        return either((both(there), both(back)))

    def _among(self, rows: Rows, run: int) -> str:
        """That the record of a run is one of some rows."""
        assert self.declared.change is not None
        fields = self.declared.inputs[self.declared.change.name].fields
        return either(
            both(
                f"(= {self.record(fields[part].name, run)} {self.literal(value, KINDS[fields[part].sort])})"
                for part, value in row.items()
            )
            for row in rows
        )

    def start(self) -> list[str]:
        """What holds before the first instruction: no cost, nothing read."""
        costs = [self.symbols[cost_of(group)] for group in self.groups]
        costs += [self.symbols[name] for name in self.counted]
        known = [f"(= {cost.own} {zero(cost.sort)})" for cost in costs]
        if self.declared.relation in NORMS:
            for each in self.declared.private:
                known += [f"(= {self.own(passed_of(each.name))} 0)", f"(= {self.own(spent_of(each.name))} 0.0)"]
        known += [f"(= {self.own(read_of(e.name))} 0)" for e in self.declared.inputs.values() if e.shape == "stream"]
        return [*known, self.own("ok")] if self.flow.prophecy else known

    def record(self, name: str, run: int) -> str:
        """The record that changes in a list, or a field of it, in one of the runs."""
        one = self.own(record_of(name))
        if run == 1 or self.declared.relation == ADD_REMOVE:
            return one
        if other_of(record_of(name)) in self.symbols:
            return self.own(other_of(record_of(name)))
        by, declared = self.own("by"), self.declared.inputs[name]
        return plus(one, f"(to_int {by})" if (declared.sort, self._by) == ("int", REAL) else by)

    def moved(self, name: str, one: str, two: str, sort: str) -> str:
        """By how much a total changes, from what the record adds to it in the two runs."""
        if self.declared.relation == ADD_REMOVE:
            return f"(ite {self.own('added')} {one} (- {one}))"
        gap = f"(- {two} {one})"
        if len(self._private) == 1:
            return gap
        return f"(ite (= {self.own('which')} {self._private[name]}) {gap} {zero(sort)})"

    def bounded(self, declared: ProgramInput, term: str) -> list[str]:
        """The declared bounds of a value."""
        sort = KINDS[declared.sort]
        value = real(term, sort)
        known = []
        if declared.low is not None:
            known.append(f"(<= {number(declared.low, REAL)} {value})")
        if declared.high is not None:
            known.append(f"(<= {value} {number(declared.high, REAL)})")
        if declared.values is not None:
            known.append(either(f"(= {term} {self.literal(each, sort)})" for each in declared.values))
        return known

    def literal(self, value: Scalar, sort: str) -> str:
        """A declared value as a term."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return number(value if isinstance(value, Rational) else self.flow.program.tags.number(value), sort)

    def neighbours(self, declared: ProgramInput, one: str, gap: str, index: str | None) -> list[str]:
        """What is known of a private number, its value in run 1 and the difference, at an index of a list or stream."""
        sort = KINDS[declared.sort]
        known = [*self.bounded(declared, one), *self.bounded(declared, f"(+ {one} {gap})")]
        exact = real(gap, sort)
        apart = declared.within
        if self.declared.relation == "one":
            if self._by == INT:
                return [*known, f"(= {gap} (ite {self._changed(declared, index)} {self.own('by')} 0))"]
            return [*known, f"(= {exact} (ite {self._changed(declared, index)} {self.own('by')} 0.0))"]
        above, below = f"(<= 0.0 {exact})", f"(<= {exact} 0.0)"
        if apart is not None:
            high, low = f"(<= {exact} {number(apart, REAL)})", f"(<= {number(-apart, REAL)} {exact})"
            known += [high, low]
        if self.declared.relation == "monotone":
            known.append(f"(ite {self.own('up')} {above} {below})")
        return known

    def others(self, declared: ProgramInput, one: str, two: str, index: str | None) -> list[str]:
        """What is known of a private truth value or tag in the two runs."""
        known = [*self.bounded(declared, one), *self.bounded(declared, two)]
        if self.declared.relation == "one":
            known.append(implies(f"(not {self._changed(declared, index)})", f"(= {one} {two})"))
        return known

    def _changed(self, declared: ProgramInput, index: str | None) -> str:
        """That this entry is the one that changes."""
        here = self._here(declared)
        return here if index is None else both((here, f"(= {self.own('changed')} {index})"))

    def _change(self) -> Iterator[str]:
        """What is known of the one change."""
        by = real(self.own("by"), self._by)
        yield f"(<= 0 {self.own('changed')})"
        if len(self._private) > 1:
            yield f"(and (<= 0 {self.own('which')}) (< {self.own('which')} {len(self._private)}))"
        for each in self.declared.private:
            here = self._here(each)
            if each.within is not None:
                low, high = number(-each.within, REAL), number(each.within, REAL)
                yield implies(here, f"(and (<= {low} {by}) (<= {by} {high}))")
            if each.sort == "int" and self._by == REAL:
                yield implies(here, f"(= {by} (to_real (to_int {by})))")
