"""The linear program of ratio cones: how much of one vector covers another, when moving mass from s to t costs a factor.

Given non-negative u and v and factors ``rho_st`` with ``h_s <= rho_st h_t``, the smallest r with ``u h <= r v h`` for all such h is the
optimum of a transportation problem: ship every ``u_s`` to places t, and let ``r v_t`` hold what arrives there,

    minimise r   subject to   sum_t x_st = u_s,   sum_s rho_st x_st <= r v_t,   x >= 0

(linear programming duality; the x are Farkas multipliers).  It is solved by the simplex method in rational numbers, with Bland's rule,
from the shipment of every u_s to the place that is cheapest by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from privproof.exact import ONE, ZERO, Rational

Shares: TypeAlias = dict[tuple[int, int], Rational]
"""How much is shipped from where to where."""

_MOST_CELLS = 60_000
"""Entries of the table that is worked on, a second for a table that is full; larger problems are not tried."""


class ProgramTooLarge(Exception):
    """The linear program is larger than what is tried."""


def cheapest_shipment(
    amounts: Mapping[int, Rational], rooms: Mapping[int, Rational], factor: Callable[[int, int], Rational | None]
) -> tuple[Rational, Shares] | None:
    """The smallest r, and a shipment that needs no more; None where some amount has nowhere to go.

    Args:
        amounts: u, positive entries only.
        rooms: v, positive entries only.
        factor: rho from one place to another, None for infinite.

    Raises:
        TooLarge: there are too many places.

    >>> from privproof.exact import rational as q
    >>> r, _ = cheapest_shipment({0: q(1)}, {0: q("1/2"), 1: q("1/2")}, lambda s, t: q(1) if s == t else q(2))
    >>> r
    4/3
    """
    pairs = [(s, t, rho) for s in amounts for t in rooms if (rho := factor(s, t)) is not None]
    if {s for s, _, _ in pairs} != set(amounts):
        return None
    if (len(amounts) + len(rooms)) * (len(pairs) + len(rooms)) > _MOST_CELLS:
        raise ProgramTooLarge
    return _SimplexTable(amounts, rooms, pairs).solve()


class _SimplexTable:
    """A simplex table: the columns are the pairs, then r, then the room left at each place; the last entry of a row is its value."""

    def __init__(
        self,
        amounts: Mapping[int, Rational],
        rooms: Mapping[int, Rational],
        pairs: list[tuple[int, int, Rational]],
    ) -> None:
        self.pairs = pairs
        self.bound = len(pairs)
        width = len(pairs) + 1 + len(rooms) + 1
        self.rows: list[list[Rational]] = []
        self.basis: list[int] = []
        loads = dict.fromkeys(rooms, ZERO)
        for s, amount in amounts.items():
            row = [ZERO] * width
            mine = [(rho / rooms[t], i) for i, (a, t, rho) in enumerate(pairs) if a == s]
            for _, i in mine:
                row[i] = ONE
            row[-1] = amount
            _, first = min(mine)
            loads[pairs[first][1]] += pairs[first][2] * amount
            self.rows.append(row)
            self.basis.append(first)
        fullest = max(rooms, key=lambda t: loads[t] / rooms[t])
        for number, (t, room) in enumerate(rooms.items()):
            row = [ZERO] * width
            for i, (_, other, rho) in enumerate(pairs):
                if other == t:
                    row[i] = rho
            row[self.bound] = -room
            row[self.bound + 1 + number] = ONE
            self.rows.append(row)
            self.basis.append(self.bound if t == fullest else self.bound + 1 + number)
        chosen = list(self.basis)
        for i in sorted(
            range(len(chosen)), key=lambda i: chosen[i] == self.bound
        ):  # r last: it stands in all rows of places
            self._pivot(i, chosen[i])

    def _pivot(self, number: int, column: int) -> None:
        row = self.rows[number]
        scale = row[column]
        if scale != 1:
            row = self.rows[number] = [x / scale if x != 0 else x for x in row]
        filled = [j for j, x in enumerate(row) if x != 0]
        for i, other in enumerate(self.rows):
            share = other[column]
            if i != number and share != 0:
                for j in filled:
                    other[j] = other[j] - share * row[j]
        self.basis[number] = column

    def solve(self) -> tuple[Rational, Shares]:
        """Pivot until r cannot become smaller."""
        while True:
            place = self.basis.index(self.bound)
            entering = next(
                (j for j, x in enumerate(self.rows[place][:-1]) if x > 0 and j != self.bound and j not in self.basis),
                None,
            )
            if entering is None:
                break
            leaving = min(
                (i for i, row in enumerate(self.rows) if row[entering] > 0),
                key=lambda i: (self.rows[i][-1] / self.rows[i][entering], i != place, self.basis[i]),
            )
            if leaving == place:  # r becomes zero
                self._pivot(leaving, entering)
                return ZERO, self._shares()
            self._pivot(leaving, entering)
        return self.rows[self.basis.index(self.bound)][-1], self._shares()

    def _shares(self) -> Shares:
        found: Shares = {}
        for column, row in zip(self.basis, self.rows, strict=True):
            if column < self.bound and row[-1] != 0:
                s, t, _ = self.pairs[column]
                found[s, t] = row[-1]
        return found
