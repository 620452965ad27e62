"""Probabilities of outcomes as functions of the data: what counts of an entry is its *role*.

In an outcome a noisy value is in a register, or takes its turn in one, or lies in some cells.  Values with equal laws that do the same may
change places: so the probability of an outcome is a function of how often each letter stands in each role.  `DensityLaw`s that differ
only by the entry of the data in their center are one *shape*; a *part* is a shape, the registers it may be in, and its cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from flint import arb

from privproof.compiling.register_states import DrawnRegister, Outcome, Registers, Term
from privproof.compiling.rewriting import Unsupported
from privproof.engines.integrals.density_curves import DensityLaw
from privproof.engines.integrals.integration_panels import Grid
from privproof.engines.registers.register_integrals import Factor, Monomial, integrals
from privproof.exact import ZERO, Rational

Part: TypeAlias = tuple[int, tuple[int, ...], int]
"""A shape by its number, the registers that it may be in, and its cells while it is in none; 0 for none."""
Role: TypeAlias = tuple[tuple[Part, ...], ...]
"""What an entry of the data does: for every integral of an outcome its parts."""
Counts: TypeAlias = tuple[tuple[Role, int, int], ...]
"""How often each letter, by number, stands in each role."""
Sum: TypeAlias = tuple[tuple[Monomial, int], ...]


@dataclass(frozen=True)
class ShapedOutcome:
    """An outcome by roles.

    Attributes:
        outcome: the outcome.
        fixed: for every integral the parts that no entry has a share in.
        registers: for every integral how many registers it has.
        roles: the roles of entries, by their numbers; those without one are not there.
    """

    outcome: Outcome
    fixed: Role
    registers: tuple[int, ...]
    roles: Mapping[int, Role]


@dataclass
class Roles:
    """All outcomes of a mechanism by roles.

    Attributes:
        model: the mechanism.
        letters: the values that entries of the data may have.
        shaped: the outcomes.
    """

    model: Registers
    letters: tuple[Rational, ...]
    shaped: tuple[ShapedOutcome, ...] = ()
    shapes: dict[tuple[str, Rational, Rational, Rational, bool], int] = field(default_factory=dict)
    laws: list[DensityLaw] = field(default_factory=list)
    _numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    _known: dict[Monomial, arb] = field(default_factory=dict)
    _sums: dict[tuple[Role, tuple[int, ...], Counts], Sum] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = {entry: number for number, entry in enumerate(self.model.entries)}
        shape_of = [self._shape(drawn) for drawn in self.model.noises]
        entry_of = [None if drawn.entry is None else places[drawn.entry] for drawn in self.model.noises]
        self.shaped = tuple(self._shaped(each, shape_of, entry_of) for each in self.model.outcomes)

    def _shape(self, drawn: DrawnRegister) -> int:
        factor = drawn.center.terms[0][1] if drawn.center.terms else ZERO
        key = (drawn.kind, drawn.scale, drawn.center.constant, factor, drawn.turned)
        return self.shapes.setdefault(key, len(self.shapes))

    def _shaped(self, outcome: Outcome, shape_of: Sequence[int], entry_of: Sequence[int | None]) -> ShapedOutcome:
        fixed: list[list[Part]] = []
        roles: dict[int, list[list[Part]]] = {}
        count = len(outcome.terms)
        for number, term in enumerate(outcome.terms):
            fixed.append([])
            for atom, slots in _candidates(term).items():
                part = (shape_of[atom], slots, term.cells.get(atom, 0))
                entry = entry_of[atom]
                row = fixed if entry is None else roles.setdefault(entry, [[] for _ in range(count)])
                row[number].append(part)
        return ShapedOutcome(
            outcome,
            _role(fixed),
            tuple(term.registers for term in outcome.terms),
            {entry: _role(rows) for entry, rows in roles.items()},
        )

    def law(self, shape: int, letter: int) -> int:
        """The number of the law of a shape at a letter."""
        if (shape, letter) not in self._numbers:
            kind, scale, constant, factor, turned = list(self.shapes)[shape]
            law = DensityLaw(kind, constant + factor * self.letters[letter], scale, turned)  # type: ignore[arg-type]
            if law not in self.laws:
                self.laws.append(law)
            self._numbers[shape, letter] = self.laws.index(law)
        return self._numbers[shape, letter]

    def sum(self, shaped: ShapedOutcome, counts: Counts) -> Sum:
        """The probability of an outcome as a sum of monomials, each with how often it occurs."""
        key = (shaped.fixed, shaped.registers, counts)
        if key not in self._sums:
            total: Counter[Monomial] = Counter()
            for number, registers in enumerate(shaped.registers):
                parts: Counter[tuple[int, tuple[int, ...], int]] = Counter()
                for shape, slots, cells in shaped.fixed[number]:
                    parts[self.law(shape, 0), slots, cells] += 1
                for role, letter, times in counts:
                    for shape, slots, cells in role[number]:
                        parts[self.law(shape, letter), slots, cells] += times
                for monomial, times in _monomials(parts, registers):
                    total[monomial] += times
            self._sums[key] = tuple(total.items())
        return self._sums[key]

    def evaluate(self, sums: Iterable[Sum], pause: Callable[[], None], grid: Grid | None = None) -> None:
        """Integrate everything that is needed for some sums."""
        missing = {monomial for each in sums for monomial, _ in each if monomial not in self._known}
        self._known |= integrals(self.laws, missing, pause, grid)

    def value(self, each: Sum) -> arb:
        """The value of a sum that was integrated."""
        return sum((times * self._known[monomial] for monomial, times in each), arb(0))

    def counted(self, shaped: ShapedOutcome, data: Sequence[int]) -> Counts:
        """How often each letter of some data stands in each role of an outcome."""
        found: Counter[tuple[Role, int]] = Counter()
        for entry, role in shaped.roles.items():
            found[role, data[entry]] += 1
        return counts_of(found)


def counts_of(found: Mapping[tuple[Role, int], int]) -> Counts:
    """Counts in their order, without those that are 0."""
    return tuple(sorted((role, letter, times) for (role, letter), times in found.items() if times))


def _role(rows: Sequence[Sequence[Part]]) -> Role:
    return tuple(tuple(sorted(row)) for row in rows)


def _candidates(term: Term) -> dict[int, tuple[int, ...]]:
    """For every noisy value of an integral the registers in which it takes its turn.

    Raises:
        Unsupported: not every combination of turns occurs.
    """
    turns = [{each[slot] for each in term.tuples} for slot in range(term.registers)]
    combinations = sum(len(set(each)) == len(each) for each in product(*turns)) if term.registers else 1
    if combinations != len(term.tuples):
        raise Unsupported("noisy numbers take their turns in registers in some combinations, and not in all")
    atoms = dict.fromkeys(sorted({*term.cells, *(atom for each in turns for atom in each)}))
    return {atom: tuple(slot for slot, each in enumerate(turns) if atom in each) for atom in atoms}


def _monomials(parts: Mapping[tuple[int, tuple[int, ...], int], int], registers: int) -> Iterator[tuple[Monomial, int]]:
    """All ways to choose who is in the registers, equal ones counted together."""
    waiting: list[tuple[tuple[int, ...], int, dict[tuple[int, tuple[int, ...], int], int]]] = [((), 1, dict(parts))]
    for slot in range(registers):
        following = []
        for chosen, times, left in waiting:
            for part, count in left.items():
                if slot in part[1] and count > 0:
                    following.append(((*chosen, part[0]), times * count, {**left, part: count - 1}))
        waiting = following
    for chosen, times, left in waiting:
        powers: Counter[Factor] = Counter()
        possible = True
        for (law, _, cells), count in left.items():
            if count and not cells:
                possible = False  # somebody who is always in a register was left out
            elif count:
                powers[law, cells] += count
        if possible:
            yield Monomial(chosen, tuple(sorted(powers.items()))), times
