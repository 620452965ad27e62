"""Lists that are kept, in two runs at once: their length, and the places at which the runs may differ.

The difference of the two lists is a sum of few unit vectors, ``d_1 e_p1 + d_2 e_p2``: entry j differs by the sum of the ``d_k`` with
``p_k = j``.  Reading gives any number that differs so.  Writing at i takes away what stood there and adds what the new entry differs by,
at a place that is free; that there is one is an obligation.  Places that are taken come first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from privproof.compiling.sorts import Sort
from privproof.engines.laplace.solver import z3
from privproof.engines.laplace.values import Term, real, symbol


@dataclass(frozen=True)
class Kept:
    """A list in both runs.

    Attributes:
        sort: the sort of its entries.
        count: its length.
        places: where the runs may differ.
        distances: by how much, place by place.
    """

    sort: Sort
    count: Term
    places: tuple[Term, ...]
    distances: tuple[Term, ...]

    @property
    def zero(self) -> Term:
        """No distance."""
        return z3.IntVal(0) if self.sort == "int" else z3.RealVal(0)

    def index(self, index: Term) -> Term:
        """A place by an index, which counts from the end where it is negative."""
        return z3.simplify(z3.If(index < 0, index + self.count, index))

    def holds(self, place: Term) -> Term:
        """That there is such a place."""
        return z3.And(place >= 0, place < self.count)

    def entry(self, place: Term) -> Term:
        """By how much the entry at a place differs."""
        return self.part(place, place + 1)

    def part(self, low: Term, high: Term) -> Term:
        """By how much the sum of a part differs."""
        total = self.zero
        for place, distance in zip(self.places, self.distances, strict=True):
            total = total + z3.If(z3.And(low <= place, place < high), distance, self.zero)
        return z3.simplify(total)

    def with_entry(self, place: Term, distance: Term) -> tuple[Kept, Term]:
        """The list with another entry, and that there is room for its difference."""
        if self.sort == "real":
            distance = real(distance)
        waiting = [
            (at, z3.If(at == place, self.zero, apart)) for at, apart in zip(self.places, self.distances, strict=True)
        ]
        waiting.append((place, distance))
        done: list[tuple[Term, Term]] = []
        for _ in self.places:  # what differs moves to the front
            for k in range(len(waiting) - 1, 0, -1):
                (first, one), (second, other) = waiting[k - 1 : k + 1]
                moves = z3.And(one == 0, other != 0)
                waiting[k - 1] = z3.If(moves, second, first), z3.If(moves, other, one)
                waiting[k] = z3.If(moves, first, second), z3.If(moves, self.zero, other)
            done.append(waiting.pop(0))
        made = replace(
            self,
            places=tuple(z3.simplify(at) for at, _ in done),
            distances=tuple(z3.simplify(apart) for _, apart in done),
        )
        return made, z3.simplify(waiting[0][1] == 0)

    def with_more(self, distance: Term) -> tuple[Kept, Term]:
        """The list with one entry more."""
        made, room = self.with_entry(self.count, distance)
        return replace(made, count=z3.simplify(self.count + 1)), room

    def symbols(self, name: str) -> dict[str, Term]:
        """What a list is, by the names of its symbols."""
        return dict(zip(symbol_names(name, len(self.places)), (self.count, *self.places, *self.distances), strict=True))


def symbol_names(name: str, places: int) -> list[str]:
    """The names of the symbols of a list that differs at so many places."""
    numbers = range(1, places + 1)
    return [
        f"{name}: length",
        *(f"{name}: place {k}" for k in numbers),
        *(f"{name}: distance {k}" for k in numbers),
    ]


def kept_symbol(name: str, sort: Sort, places: int) -> Kept:
    """A list of which nothing is known."""
    length, *rest = symbol_names(name, places)
    return Kept(
        sort,
        z3.Int(length),
        tuple(z3.Int(each) for each in rest[:places]),
        tuple(symbol(each, sort) for each in rest[places:]),
    )


def equal_entries_list(sort: Sort, count: Term, places: int) -> Kept:
    """A list whose entries are all the same in both runs."""
    zero = z3.IntVal(0) if sort == "int" else z3.RealVal(0)
    length = z3.simplify(z3.If(count > 0, count, z3.IntVal(0)))
    return Kept(sort, length, (z3.IntVal(-1),) * places, (zero,) * places)
