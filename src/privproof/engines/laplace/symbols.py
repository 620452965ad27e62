"""The symbols of two runs side by side: what is fixed throughout, the state at every cut, and what is known of both."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Self

from privproof.compiling.differing import differs
from privproof.compiling.relational import Program
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.sampled import root_part
from privproof.compiling.scales import SIZE, SQUARES, common_lists
from privproof.compiling.sorts import BITS, SHIFTED, Sort, input_sort, output_parts, sort_of
from privproof.engines.laplace.kept import Kept, kept_symbol
from privproof.engines.laplace.products import (
    Exchange,
    product_facts,
    product_in,
    product_name,
    whole_range,
    with_parts,
)
from privproof.engines.laplace.promises import Promise
from privproof.engines.laplace.reaches import reaches
from privproof.engines.laplace.records import Records
from privproof.engines.laplace.solver import true, z3
from privproof.engines.laplace.values import Term, Value, number, real, symbol
from privproof.exact import ONE, ZERO, Rational, rational
from privproof.exact.affine import Affine
from privproof.language.flow import Next, instruction_reads
from privproof.language.inputs import ADD_REMOVE, NORMS, Norm
from privproof.language.syntax import (
    Constant,
    Each,
    Element,
    Emit,
    Expression,
    Operation,
    Return,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import reads, statements, within

_MEASURING = ("len", "turns", "copied", "position")
"""Operations that depend on the length of a list, or on the place of an entry in it."""
COUNTED = ("read: ", "passed: ", "spent: ")
"""How the symbols begin that count along a run, from 0 on."""


@dataclass(frozen=True)
class Results:
    """The results that may be foretold.

    Attributes:
        many: how many there are, of which an event has some.
        paid: for how many delta is paid: one less where an event with all of them is certain on both sides.
        ranges: of each whole number in them the least, and the largest as an expression.
    """

    many: Affine
    paid: Affine
    ranges: Mapping[int, tuple[Rational, Affine]]


def _comes_to_its_end(statement: Statement) -> bool:
    """Whether a statement never fails, and is no loop but one over a list or a range."""
    operations = (part.name for read in reads(statement) for part in within(read) if isinstance(part, Operation))
    if any(name in ("//", "%", *BITS) for name in operations):
        return False
    match statement:
        case While(Operation("<", (Variable(name), _))):
            return name.startswith("#")  # no name of the function's own
        case While() | Each():
            return False
    return True


class Symbols:
    """The symbols of a program and of its state, in both runs."""

    def __init__(
        self,
        program: Program,
        reach: int = 1,
        promises: tuple[Promise, ...] = (),
        *,
        foretell: bool = False,
        spare: int = 0,
        places: int = 1,
    ) -> None:
        self.program = program
        self.mechanism = program.mechanism
        wider = self._wider(reach)
        self.reaches = {at: wider * most for at, most in reaches(program).items()}
        """How far Gaussian noise may be shifted at most, by its instruction."""
        self.promises = promises
        """What is promised of noise, up to a small probability."""
        self.foretell = foretell
        """Whether all discrete parts of the result are foretold, and shifts of Gaussian noise may depend on them."""
        self.spare = spare
        """How much larger than the last index a whole number of the result may be."""
        self.places = places
        """At how many places the two runs may differ in a list that is kept."""
        self.exchanges: tuple[Exchange, ...] = ()
        """How costs are exchanged between counters."""
        self._fresh = 0
        self._states: dict[int, dict[str, Term]] = {}
        self.remainders: list[tuple[Term, str, Term, Term]] = []
        """The symbols that stand for quotients and remainders by public numbers, and what they are of."""

    def _wider(self, reach: int) -> Fraction:
        """By how much a reach is wider than one change: within the norm l2, of all changes of a list of known length at once."""
        length = max((self.program.inputs[name].size or self.program.size or 0 for name in self.private), default=0)
        return 1 / root_part(length) if self.norm == "l2" and reach > 1 and length else Fraction(reach)

    @cached_property
    def private(self) -> tuple[str, ...]:
        """The private inputs."""
        return tuple(name for name, declared in self.program.inputs.items() if not declared.public)

    @property
    def norm(self) -> Norm | None:
        """The norm that all changes are within together; None where each is within its own bounds."""
        return next((norm for norm in NORMS if norm == self.program.relation), None)

    @cached_property
    def measured(self) -> bool:
        """Whether anything depends on the length of a list or on an element of it."""
        return any(
            isinstance(part, Element) or (isinstance(part, Operation) and part.name in _MEASURING)
            for step in self.program.code
            for expression in instruction_reads(step)
            for part in within(expression)
        ) or any(isinstance(step, Next) for step in self.program.code)

    @cached_property
    def summed(self) -> tuple[str, ...]:
        """The lists that are summed up."""
        found = {
            part.arguments[0].name
            for step in self.program.code
            for expression in instruction_reads(step)
            for part in within(expression)
            if isinstance(part, Operation) and part.name == "total" and isinstance(part.arguments[0], Variable)
        }
        return tuple(name for name in self.private if name in found)

    @cached_property
    def records(self) -> Records:
        """The record that changes."""
        return Records(self)

    @cached_property
    def fixed(self) -> dict[str, Term]:
        """The symbols that keep their value throughout, by name."""
        result: dict[str, Term] = {}
        for name, declared in self.program.inputs.items():
            if declared.shape == "value":
                result[name] = symbol(name, self.program.sorts[name])
                if not declared.public and self.program.relation != "one":
                    result[f"{name}: distance"] = symbol(f"{name}: distance", self.program.sorts[name])
        if any(self.program.inputs[name].size is None for name in self.program.lists):
            result["size"] = z3.Int("size")
        result |= {product_name(names): z3.Int(product_name(names)) for names in self.products}
        if self.program.relation == "one":
            if self.measured:
                result["changed"] = z3.Int("changed")
            sorts = {input_sort(d) for name in self.private if not (d := self.program.inputs[name]).fields}
            if sorts & {"int", "real"}:
                result["by"] = z3.Real("by") if "real" in sorts else z3.Int("by")
            if len(self.private) > 1:
                result["which"] = z3.Int("which")
        if self.program.relation == ADD_REMOVE:
            result["added"] = z3.Bool("added")
        for name in self.summed:
            result |= {label: symbol(label, sort) for label, sort in self.records.symbols(name)}
        if self.program.relation == "monotone":
            result["up"] = z3.Bool("up")
        for k, sort in self.prophesied.items():
            result[f"output {k}"] = symbol(f"output {k}", sort)
        return result

    @cached_property
    def facts(self) -> Term:
        """What holds of the fixed symbols."""
        found: list[Term] = []
        relation = self.program.relation
        for name, declared in self.program.inputs.items():
            if declared.shape != "value":
                continue
            value = Value(
                self.program.sorts[name], self.fixed[name], None if declared.public else self.apart(name, None)
            )
            found += self._ranged(name, value)
            if not declared.public and relation != "one":
                found += self._within(name, value.other)
        if "size" in self.fixed:
            size = self.fixed["size"]
            found.append(size == self.program.size if self.program.size is not None else size >= 0)
        for names in self.products:
            found += product_facts(names, self.fixed, self._ranges)
        if relation == "one":
            by = self.fixed.get("by")
            for k, name in enumerate(self.private):
                declared = self.program.inputs[name]
                here = true() if len(self.private) == 1 else self.fixed["which"] == k
                if declared.within is not None:
                    bound = number(declared.within)
                    found.append(z3.Implies(here, z3.And(real(by) <= bound, -bound <= real(by))))
                if not declared.fields and input_sort(declared) == "int" and z3.is_real(by):
                    found.append(z3.Implies(here, z3.IsInt(by)))
            if "changed" in self.fixed and self.summed:
                found.append(self.fixed["changed"] >= 0)
            if len(self.private) > 1:
                found += [self.fixed["which"] >= 0, self.fixed["which"] < len(self.private)]
        for name in self.summed:
            found += self.records.facts(name)
        return z3.And(*found) if found else true()

    @cached_property
    def products(self) -> tuple[tuple[str, ...], ...]:
        """The products of public numbers in scales and expressions, each after those of some of its numbers."""
        drawn = (group for group in self.groups if group not in (SQUARES, *self.logarithms))
        said = (
            known[1]
            for step in self.program.code
            for expression in instruction_reads(step)
            for part in within(expression)
            if (known := self.product_in(part)) is not None
        )
        return with_parts(chain(drawn, said))

    def product_in(self, expression: Expression) -> tuple[int, tuple[str, ...]] | None:
        """An expression as a multiple of a product of public numbers; None where it is none."""
        if not (isinstance(expression, Operation) and expression.name == "*"):
            return None
        return product_in(expression, self.mechanism.public_numbers, common_lists(self.mechanism))

    @cached_property
    def _ranges(self) -> dict[str, tuple[int | None, int | None]]:
        """The least and the largest value of what products are of."""
        size = self.program.size
        found = {name: whole_range(self.program.inputs[name]) for name in self.mechanism.public_numbers}
        return {**found, SIZE: (0, None) if size is None else (size, size)}

    def apart(self, name: str, index: Term) -> Term:
        """The distance of a private value, or of an element of a private list, where the relation says it."""
        if self.program.relation != "one":
            return self.fixed[f"{name}: distance"]
        here = []
        if len(self.private) > 1:
            here.append(self.fixed["which"] == self.private.index(name))
        if index is not None:
            here.append(index == self.fixed["changed"])
        by = self.fixed["by"]
        real_valued = input_sort(self.program.inputs[name]) == "real"
        if not real_valued and z3.is_real(by):
            by = z3.ToInt(by)
        zero = z3.RealVal(0) if real_valued else z3.IntVal(0)
        return z3.If(z3.And(*here), by, zero) if here else by

    def _within(self, name: str, distance: Term) -> list[Term]:
        declared = self.program.inputs[name]
        bound = number(declared.within)
        if self.program.relation == "monotone":
            up = self.fixed["up"]
            return [
                z3.If(
                    up, z3.And(distance >= 0, real(distance) <= bound), z3.And(distance <= 0, real(distance) >= -bound)
                )
            ]
        return [real(distance) <= bound, real(distance) >= -bound]

    def _ranged(self, name: str, value: Value) -> list[Term]:
        declared = self.program.inputs[name]
        found = []
        for one in (value.one, value.two) if value.other is not None else (value.one,):
            if declared.within is None and not declared.public:
                found += self.records.allowed(declared, one)
            if value.sort not in ("int", "real"):
                continue
            if declared.low is not None:
                found.append(real(one) >= number(declared.low))
            if declared.high is not None:
                found.append(real(one) <= number(declared.high))
        return found

    @cached_property
    def prophesied(self) -> dict[int, Sort]:
        """The parts of the returned value that are foretold: discrete, and perhaps different in the two runs."""
        found: dict[int, Sort] = {}
        kinds: dict[int, set[Sort | None]] = {}
        for step in self.program.code:
            if isinstance(step, Return):
                for k, part in enumerate(output_parts(step.value)):
                    sort = self._sort(part)
                    told = self.foretell or differs(part, self.program.high, self.mechanism)
                    if sort in ("int", "bool", "tag") and told:
                        found[k] = sort
                    kinds.setdefault(k, set()).add(sort)
        if found and len({len(output_parts(s.value)) for s in self.program.code if isinstance(s, Return)}) > 1:
            raise Unsupported("it returns values of different shapes")
        if any(len(kinds[k]) > 1 for k in found):
            raise Unsupported("it returns values of different kinds")
        return found

    @cached_property
    def results(self) -> Results | None:
        """How many results may be foretold, where shifts of Gaussian noise depend on them."""
        if not self.foretell:
            return None
        returned = [output_parts(step.value) for step in self.program.code if isinstance(step, Return)]
        many, ranges = ONE, {}
        for k, sort in self.prophesied.items():
            written = [part.value for parts in returned if isinstance(part := parts[k], Constant)]
            if sort == "int":
                least = min((rational(value) for value in written if isinstance(value, int)), default=ZERO)
                ranges[k] = (min(least, ZERO), Affine(self.spare - ONE, (("size", ONE),)))
            elif sort == "bool":
                many *= 2
            else:
                raise Unsupported("its result is a text, which is not foretold to Gaussian noise")
        if len(ranges) > 1 or (ranges and "size" not in self.fixed):
            raise Unsupported("its result is not one of so many as the list is long")
        width = Affine(ONE)
        for low, high in ranges.values():
            width = high.plus(Affine(ONE - low))
        width = width.times(many)
        alone = all(len(parts) == len(self.prophesied) for parts in returned)
        alone = alone and not any(isinstance(step, Emit | Next) for step in self.program.code)
        certain = alone and all(_comes_to_its_end(each) for each in statements(self.mechanism.translated.body))
        return Results(width, width.plus(Affine(ONE), -1) if certain else width, ranges)

    def _sort(self, part: Expression) -> Sort | None:
        return sort_of(part, self.program.sorts, self.mechanism)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """What costs are counted in: the products of public numbers that scales are multiples of, and logarithms."""
        found = {self.program.scale(s).group for s in self.program.sites if s.noise in SHIFTED}
        return tuple(sorted(found)) or ((),)

    @property
    def counters(self) -> tuple[tuple[str, ...], ...]:
        """Everything that is counted: costs, also those that others are exchanged for, and how often promises are given."""
        more = dict.fromkeys(each.others for each in self.exchanges if each.others not in self.groups)
        return (*self.groups, *more, *(promise.group for promise in self.promises))

    def exchanging(self, exchanges: tuple[Exchange, ...]) -> Self:
        """The same, where costs are exchanged between counters."""
        made = copy(self)
        made.exchanges = exchanges
        return made

    @cached_property
    def logarithms(self) -> dict[tuple[str, ...], Rational]:
        """The groups that geometric noise is counted in, each with the ratio whose logarithm is its unit."""
        scales = [self.program.scale(s) for s in self.program.sites if s.noise in SHIFTED]
        return {scale.group: scale.ratio for scale in scales if scale.ratio is not None}

    def state(self, cut: int) -> Mapping[str, Term]:
        """The symbols of the state at a cut, by name; the fixed ones not included."""
        if cut not in self._states:
            self._states[cut] = self._state(cut)
        return self._states[cut]

    def _state(self, cut: int) -> dict[str, Term]:
        result: dict[str, Term] = {}
        for name in self.program.live[cut]:
            if name in self.program.kept:
                result |= self.kept_state(name).symbols(name)
            if name in self.program.inputs or name not in self.program.sorts:
                continue
            sort = self.program.sorts[name]
            result[name] = symbol(name, sort)
            if name in self.program.high:
                numeric = sort in ("int", "real")
                label = f"{name}: distance" if numeric else f"{name}: other"
                result[label] = symbol(label, sort)
        for name, declared in self.program.inputs.items():
            if declared.shape == "stream":
                result[f"read: {name}"] = z3.Int(f"read: {name}")
            if self.norm is not None and not declared.public:
                result[f"passed: {name}"] = z3.Int(f"passed: {name}")
                result[f"spent: {name}"] = z3.Real(f"spent: {name}")
        return result

    def initial(self) -> dict[str, Term]:
        """The state at the beginning, by symbol."""
        return {
            name: (z3.IntVal(0) if z3.is_int(term) else z3.RealVal(0)) if name.startswith(COUNTED) else term
            for name, term in self.state(0).items()
        }

    def kept_state(self, name: str) -> Kept:
        """A list that is kept, as it is at a cut."""
        return kept_symbol(name, self.program.kept[name], self.places)

    def state_value(self, name: str) -> Value:
        sort = self.program.sorts[name]
        if name not in self.program.high:
            return Value(sort, symbol(name, sort))
        label = f"{name}: distance" if sort in ("int", "real") else f"{name}: other"
        return Value(sort, symbol(name, sort), symbol(label, sort))
