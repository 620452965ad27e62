"""Sums of integrals over registers, as a program makes them: noisy values in registers and cells, and the states that hold them.

What a state is, how a noisy value becomes a register, when two states are added up, and when a register is integrated out (`registers`
explains why) never depends on the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from privproof.compiling.relational import Program
from privproof.exact import ONE, ZERO, Rational


@dataclass(frozen=True)
class RegisterForm:
    """``constant + sum of factors``: of entries of the data by their names, of noisy values by numbers, of register i by ``-1 - i``."""

    constant: Rational
    terms: tuple[tuple[int | str, Rational], ...] = ()

    def plus(self, other: RegisterForm, times: Rational = ONE) -> RegisterForm:
        """The sum with a multiple of another form."""
        found = dict(self.terms)
        for key, factor in other.terms:
            found[key] = found.get(key, ZERO) + times * factor
        terms = tuple(sorted(((k, f) for k, f in found.items() if f != 0), key=term_order))
        return RegisterForm(self.constant + times * other.constant, terms)

    def times(self, factor: Rational) -> RegisterForm:
        """A multiple."""
        return RegisterForm(ZERO).plus(self, factor)

    @property
    def noisy(self) -> list[tuple[int, Rational]]:
        """The noisy values and registers in it."""
        return [(key, factor) for key, factor in self.terms if isinstance(key, int)]

    @property
    def plain(self) -> RegisterForm:
        """The rest: what depends on data alone."""
        return RegisterForm(self.constant, tuple(term for term in self.terms if isinstance(term[0], str)))


def term_order(term: tuple[int | str, Rational]) -> tuple[bool, str, int]:
    key = term[0]
    return (isinstance(key, int), "" if isinstance(key, int) else key, key if isinstance(key, int) else 0)


@dataclass(frozen=True)
class DrawnRegister:
    """A noisy value: which draw it is, its law, and the number around which it lies: a constant and a multiple of one entry of the data.

    Attributes:
        draw: the site and how many draws there were before it.
        kind: the law.
        scale: its scale.
        center: its center.
        turned: whether exponential noise goes to the left.
    """

    draw: tuple[int, int]
    kind: str
    scale: Rational
    center: RegisterForm
    turned: bool = False

    @property
    def entry(self) -> str | None:
        """The entry of the data in its center."""
        return str(self.center.terms[0][0]) if self.center.terms else None


Value: TypeAlias = "RegisterForm | bool | str | None"
Tuples: TypeAlias = frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class Term:
    """A sum of integrals over registers.

    Attributes:
        registers: how many there are.
        tuples: the noisy values that take their turns in them.
        cells: of the other noisy values, and of these while it is not their turn, the cells in which they may lie, as bits; a value that is
            not named may lie anywhere.
    """

    registers: int
    tuples: Tuples
    cells: Mapping[int, int]


@dataclass(frozen=True)
class Outcome:
    """What is shown, and its probability: a sum of integrals.

    Attributes:
        output: what is written and returned, each by its parts.
        terms: the integrals.
    """

    output: tuple[Any, ...]
    terms: tuple[Term, ...]

    @property
    def text(self) -> str:
        """What is shown, in words."""
        shown = [
            ", ".join(map(str, parts)) if len(parts) == 1 else f"({', '.join(map(str, parts))})"
            for parts in self.output
        ]
        return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"


@dataclass(frozen=True)
class Registers:
    """A mechanism at a size.

    Attributes:
        program: the program that was run.
        noises: all noisy values.
        outcomes: everything that can be shown.
        entries: the entries of the data by name: ``q[0]``, ``q[1]``, ...
    """

    program: Program
    noises: tuple[DrawnRegister, ...]
    outcomes: tuple[Outcome, ...]
    entries: tuple[str, ...]


@dataclass
class RegisterState:
    at: int
    held: dict[str, Value]
    tuples: Tuples = frozenset({()})
    cells: dict[int, int] = field(default_factory=dict)
    draws: dict[int, int] = field(default_factory=dict)
    written: tuple[Any, ...] = ()
    registers: int = 0

    def copy(self) -> RegisterState:
        """The same state, with variables of its own; what else it has is never changed in place."""
        return RegisterState(
            self.at, dict(self.held), self.tuples, self.cells, self.draws, self.written, self.registers
        )

    @property
    def everywhere(self) -> int:
        """All cells, as bits."""
        return (1 << (self.registers + 1)) - 1

    def renamed(self, names: Mapping[int, int]) -> None:
        """Call noisy values and registers by other numbers, wherever they are held."""
        for name, value in self.held.items():
            if isinstance(value, RegisterForm) and any(key in names for key, _ in value.noisy):
                terms = ((names.get(k, k) if isinstance(k, int) else k, f) for k, f in value.terms)
                self.held[name] = RegisterForm(value.constant, tuple(sorted(terms, key=term_order)))

    def with_register(self, atom: int, cell: int) -> RegisterState:
        """A noisy value becomes a register in a cell."""
        made = self.copy()
        made.tuples = frozenset((*each[:cell], atom, *each[cell:]) for each in self.tuples)
        below = (1 << cell) - 1
        made.cells = {
            other: mask & below | (3 if mask >> cell & 1 else 0) << cell | mask >> (cell + 1) << (cell + 2)
            for other, mask in self.cells.items()
            if other != atom
        }
        made.registers += 1
        moved = {-1 - k: -2 - k for k in range(cell, self.registers)}
        made.renamed({**moved, atom: -1 - cell})
        return made

    def places(self, atom: int) -> Iterator[int]:
        """The cells in which a noisy value may lie."""
        mask = self.cells.get(atom, self.everywhere)
        return (cell for cell in range(self.registers + 1) if mask >> cell & 1)

    def without(self, register: int) -> RegisterState | None:
        """The state with a register integrated out that nobody reads; None where that takes an integral (Leibniz, above)."""
        rests: dict[tuple[int, ...], set[int]] = {}
        for each in self.tuples:
            rests.setdefault((*each[:register], *each[register + 1 :]), set()).add(each[register])
        sensitive = {a for a, mask in self.cells.items() if (mask >> register & 1) != (mask >> (register + 1) & 1)}
        inside: set[int] = set()
        for rest, turns in rests.items():
            if turns | (sensitive.difference(rest)) != turns:
                return None
            masks = {self.cells.get(atom) for atom in turns} if len(turns) > 1 else set()
            if masks and masks not in ({1 << register}, {2 << register}):
                return None
            inside |= turns
        made = self.copy()
        made.registers -= 1
        made.tuples = frozenset(rests)
        below = (1 << (register + 1)) - 1
        made.cells = {a: mask & below | mask >> (register + 2) << (register + 1) for a, mask in self.cells.items()}
        for rest, turns in rests.items():  # a value that took its turn elsewhere lies where its own turn would put it
            for atom in inside.difference(turns, rest):
                if made.cells.get(atom, made.everywhere) != 1 << register:
                    return None
        for atom in inside:
            made.cells[atom] = 1 << register
        made.cells = {a: mask for a, mask in made.cells.items() if mask != made.everywhere}
        made.renamed({-1 - k: -k for k in range(register + 1, self.registers)})
        return made

    def used(self) -> set[int]:
        """The noisy values and registers that some variable holds."""
        return {key for value in self.held.values() if isinstance(value, RegisterForm) for key, _ in value.noisy}

    def reduced(self, *, ended: bool = False) -> RegisterState:
        """The state with all registers integrated out that need no integral and that nobody reads."""
        state = self
        while True:
            used = set() if ended else state.used()
            for register in range(state.registers):
                made = state.without(register) if -1 - register not in used else None
                if made is not None:
                    state = made
                    break
            else:
                return state

    def key(self) -> Any:
        """What must be equal for two states to be added up."""
        return (
            self.at,
            tuple(sorted((name, type(value).__name__, value) for name, value in self.held.items())),
            self.written,
            tuple(sorted(self.draws.items())),
            self.registers,
        )

    def joined(self, other: RegisterState) -> RegisterState | None:
        """The sum of two states with equal keys, where it has the same form."""
        if self.tuples == other.tuples:
            return self._with_cells(other)
        if self.tuples & other.tuples:
            return None
        mine, theirs = (frozenset.intersection(*map(frozenset, s.tuples)) for s in (self, other))
        cells = dict(self.cells)
        for atom, mask in other.cells.items():
            if atom in cells:
                if cells[atom] != mask:
                    return None
            elif atom in mine:
                cells[atom] = mask
            else:
                return None
        if any(atom not in other.cells and atom not in theirs for atom in self.cells):
            return None
        return replace(self, tuples=self.tuples | other.tuples, cells=cells)

    def _with_cells(self, other: RegisterState) -> RegisterState | None:
        """The sum of two states in which one value lies in different cells."""
        everywhere = self.everywhere
        differing = [
            atom
            for atom in {**self.cells, **other.cells}
            if self.cells.get(atom, everywhere) != other.cells.get(atom, everywhere)
        ]
        if len(differing) != 1:
            return None
        [atom] = differing
        one, two = (each.cells.get(atom, everywhere) for each in (self, other))
        if one & two or any(atom in each for each in self.tuples):
            return None
        cells = dict(self.cells)
        cells[atom] = one | two
        if cells[atom] == everywhere:
            del cells[atom]
        return replace(self, cells=cells)


def added_up(states: Sequence[RegisterState], *, ended: bool = False) -> list[RegisterState]:
    """States with equal keys, as few as possible."""
    kept: list[RegisterState] = []
    for each in states:
        state = each.reduced(ended=ended)
        for number, other in enumerate(kept):
            if other.registers == state.registers and (both := other.joined(state)) is not None:
                kept[number] = both
                break
        else:
            kept.append(state)
    made = [state.reduced(ended=ended) for state in kept]
    smaller = len(kept) < len(states) or any(a is not b for a, b in zip(made, kept, strict=True))
    return added_up(made, ended=ended) if smaller and len(made) > 1 else made
