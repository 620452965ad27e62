"""The least cost of shifts that keep a way through the mechanism, as a linear program over one set of rows for all neighbours.

If the data move by v, shifts s of the noise keep a region where ``A s + B v >= 0``, and a released number where its own row vanishes,
``E s + F v = 0``.  They cost ``sum |s_j| / c_j``.  With ``s = p - n`` and p, n >= 0 all costs are positive, so the basis of the slack
variables is dual feasible whatever the data: the dual simplex method needs no first phase.  Another corner of the neighbours has only
another right-hand side, under which the last basis stays dual feasible, so it goes on from there with a pivot or two (Chvátal, *Linear
Programming*, chapters 10 and 16).  It computes in floats: what is found here is verified exactly by whoever uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_TINY = 1e-9
"""What is nearer to zero is zero: coefficients are small fractions, and the sizes of data are about one."""
_INEXACT = 1e-7
"""A solution that misses a row by more has lost its digits, and is computed again from the beginning, without the pivots before it."""
_MOST_PIVOTS = 20
"""Pivots for each row and column, after which it is lost; from the first on the rule is one that does not go in circles."""


class Lost(ArithmeticError):
    """The digits of a float do not suffice."""


class LeastShifts:
    """The linear program of a region, for any move of the data.

    >>> program = LeastShifts([1.0, 1.0], [[1.0, -1.0]], [], (False, False))
    >>> cost, shifts, prices = program.solve(np.array([-2.0]), np.array([]))
    >>> float(cost), [float(each) for each in shifts], [float(each) for each in prices]
    (2.0, [2.0, 0.0], [-1.0])
    """

    def __init__(self, costs: Sequence[float], rows: Any, equal: Any, never_down: Sequence[bool]) -> None:
        """The rows of a region.

        Args:
            costs: what a shift by one costs, for every noise; above zero.
            rows: the coefficients A of what must not become negative.
            equal: the coefficients E of what must stay as it is.
            never_down: which noises may only be shifted up.
        """
        count = len(costs)
        above = np.reshape(np.asarray(rows, dtype=float), (len(rows), count))
        fixed = np.reshape(np.asarray(equal, dtype=float), (len(equal), count))
        up = np.vstack([-above, fixed])
        self.count, self.inequalities = count, len(above)
        self.matrix = np.hstack([up, -up, np.eye(len(up))])
        self.costs = np.array([*costs, *costs])
        self.enters = np.ones(self.matrix.shape[1], dtype=bool)
        self.enters[count : 2 * count] = ~np.asarray(never_down, dtype=bool)
        self.enters[2 * count + self.inequalities :] = False  # a slack of an equation stays zero once it is
        self._begin()

    def _begin(self) -> None:
        """The basis of the slack variables."""
        rows, columns = self.matrix.shape
        self.table = self.matrix.copy()
        self.reduced = np.zeros(columns)
        self.reduced[: 2 * self.count] = self.costs
        self.basis = np.arange(columns - rows, columns)

    def solve(self, above: Any, fixed: Any) -> tuple[float, Any, Any] | None:
        """The least cost, its shifts, and how the cost grows with every right-hand side; None where no shifts keep the region.

        Args:
            above: B v, for the rows that must not become negative.
            fixed: F v, for those that must stay as they are.

        Raises:
            Lost: the digits of a float do not suffice.
        """
        right = np.concatenate([above, -fixed])
        for _ in range(2):
            values, blocked = self._feasible(right)
            if blocked is not None:
                if self._proves_infeasible(right, blocked):
                    return None
            else:
                full = np.zeros(self.matrix.shape[1])
                full[self.basis] = values
                if np.all(np.abs(self.matrix @ full - right) <= _INEXACT):
                    shifts = full[: self.count] - full[self.count : 2 * self.count]
                    return float(self.costs @ full[: 2 * self.count]), shifts, -self.reduced[2 * self.count :]
            self._begin()
        raise Lost

    def _feasible(self, right: Any) -> tuple[Any, int | None]:
        """The values of the basic variables after as many pivots as it takes, and the row that shows that there are none, if one does."""
        first_slack = 2 * self.count
        equation = self.basis >= first_slack + self.inequalities
        values = self.table[:, first_slack:] @ right
        usual = 1 + sum(self.matrix.shape)
        for number in range(_MOST_PIVOTS * usual):
            missing = np.where(equation, -np.abs(values), values)
            if not len(missing) or missing.min() >= -_TINY:
                return values, None
            row = int(missing.argmin())
            if number > usual:  # by the smallest index, it goes in no circle (Bland)
                row = int(min(np.flatnonzero(missing < -_TINY), key=self.basis.__getitem__))
            line = self.table[row] if values[row] < 0 else -self.table[row]
            able = self.enters & (line < -_TINY)
            able[self.basis] = False
            if not able.any():
                return values, row
            ratios = np.full(len(line), np.inf)
            ratios[able] = self.reduced[able] / -line[able]
            column = int((ratios <= ratios.min() + _TINY).argmax() if number > usual else ratios.argmin())
            pivot = self.table[row] / self.table[row, column]
            by = self.table[:, column].copy()
            by[row] = 0.0
            value = values[row] / self.table[row, column]
            self.table -= np.outer(by, pivot)
            self.table[row] = pivot
            values = values - by * value
            values[row] = value
            self.reduced = self.reduced - self.reduced[column] * pivot
            self.basis[row] = column
            equation[row] = False
        raise Lost

    def _proves_infeasible(self, right: Any, row: int) -> bool:
        """Whether a row of the table, computed anew, is a sum of rows that no shifts fulfil."""
        factors = self.table[row, 2 * self.count :]
        if factors @ right > 0:
            factors = -factors
        return bool(factors @ right < 0 and np.all((factors @ self.matrix)[self.enters] >= -_INEXACT))
